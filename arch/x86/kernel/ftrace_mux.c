// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer on x86_64: entries and calls, see <linux/ftrace_mux_arch.h>.
 *
 * A combination has a trampoline, which makes the calls. It is of one of three kinds:
 *
 * - static, in the kernel image, if all tracers of the combination have static IDs (those below
 *   CONFIG_FTRACE_MUX_STATIC_IDS), each call passes the ops of its tracer, and the combination does
 *   not count its calls;
 * - a copy of a static one, if the combination counts its calls, and the rest is true;
 * - made of a template, for all other combinations.
 *
 * Copies and made trampolines are allocated: function_tracers_info shows both as "on_demand". An
 * entry is a jump to a trampoline. See ftrace_mux_code.c for the code.
 *
 * Protected by ftrace_lock, with one exception: the unwinder, perf and kallsyms look up
 * entries and trampolines from any context. Entries are never freed. Allocated trampolines
 * are in a latched tree and a list that are safe under RCU.
 */

/* The unwinder calls some functions here in any context: the branch tracer must not record them */
#define DISABLE_BRANCH_PROFILING

#include <linux/bug.h>
#include <linux/ftrace_mux_arch.h>
#include <linux/kallsyms.h>
#include <linux/memory.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include <asm/text-patching.h>

#include "ftrace_mux_code.h"

#define MUX_ENTRIES_SYM		"ftrace_mux_entries"
#define MUX_TRAMPOLINE_SYM	"ftrace_mux_trampoline"

/* The addresses of the chunks of entries, one page each */
static unsigned long entry_chunks[FTRACE_MUX_MAX_CHUNKS];
static unsigned int nr_entry_chunks;

/* Changes of code, in batches */

/* Takes text_mutex until arch_ftrace_mux_end() */
void arch_ftrace_mux_begin(void)
{
	mutex_lock(&text_mutex);
}

/* On return, all CPUs execute the new code */
void arch_ftrace_mux_end(void)
{
	smp_text_poke_batch_finish();
	mutex_unlock(&text_mutex);
}

/* Entries */

int arch_ftrace_mux_add_entries(unsigned int first)
{
	unsigned int nr = first / FTRACE_MUX_CHUNK_ENTRIES;
	void *page;

	static_assert(FTRACE_MUX_CHUNK_ENTRIES * FTRACE_MUX_ENTRY_SIZE == PAGE_SIZE);
	static_assert(JMP32_INSN_SIZE <= FTRACE_MUX_ENTRY_SIZE);

	page = ftrace_mux_alloc_code(1);
	if (!page)
		return -ENOMEM;

	entry_chunks[nr] = (unsigned long)page;
	/* Pairs with smp_load_acquire() in is_entry() and ftrace_mux_get_kallsym() */
	smp_store_release(&nr_entry_chunks, nr + 1);
	/* No perf_event_text_poke() for breakpoints: patching an entry sends one */
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, (unsigned long)page, PAGE_SIZE, false,
			   MUX_ENTRIES_SYM);

	return 0;
}

/* The address of the entry */
unsigned long arch_ftrace_mux_call_target(unsigned int index)
{
	return entry_chunks[index / FTRACE_MUX_CHUNK_ENTRIES] +
	       index % FTRACE_MUX_CHUNK_ENTRIES * FTRACE_MUX_ENTRY_SIZE;
}

void arch_ftrace_mux_set_entry(unsigned int index, const struct ftrace_mux_combo *combo)
{
	ftrace_mux_patch_entry(arch_ftrace_mux_call_target(index), combo->arch.tramp);
}

/* Calls */

void arch_ftrace_mux_set_call(const struct ftrace_mux_combo *combo, unsigned int n)
{
	const struct arch_ftrace_mux_combo *arch = &combo->arch;

	ftrace_mux_patch_call(arch->tramp, combo->nr, n, combo->regs,
			      arch->kind == FTRACE_MUX_TRAMP_MADE, combo->calls[n].func);
}

/* Allocated trampolines, by address */

static struct latch_tree_root tramp_tree __cacheline_aligned;
static LIST_HEAD(tramps);

static __always_inline struct ftrace_mux_combo *combo_of(struct latch_tree_node *n)
{
	return container_of(n, struct ftrace_mux_combo, arch.tree);
}

static __always_inline bool tramp_tree_less(struct latch_tree_node *a,
					    struct latch_tree_node *b)
{
	return combo_of(a)->arch.tramp < combo_of(b)->arch.tramp;
}

static __always_inline int tramp_tree_comp(void *key, struct latch_tree_node *n)
{
	const struct arch_ftrace_mux_combo *arch = &combo_of(n)->arch;
	unsigned long addr = (unsigned long)key;

	if (addr < arch->tramp)
		return -1;
	if (addr >= arch->tramp + arch->size)
		return 1;

	return 0;
}

static const struct latch_tree_ops tramp_tree_ops = {
	.less	= tramp_tree_less,
	.comp	= tramp_tree_comp,
};

/* The combination of the allocated trampoline that @addr is in, NULL if there is none */
static struct ftrace_mux_combo *combo_at(unsigned long addr)
{
	struct latch_tree_node *n;

	n = latch_tree_find((void *)addr, &tramp_tree, &tramp_tree_ops);

	return n ? combo_of(n) : NULL;
}

static void publish(struct ftrace_mux_combo *combo)
{
	struct arch_ftrace_mux_combo *arch = &combo->arch;

	latch_tree_insert(&arch->tree, &tramp_tree, &tramp_tree_ops);
	/* kallsyms first, then the perf events: see ftrace_update_trampoline() */
	list_add_tail_rcu(&arch->node, &tramps);
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, arch->tramp, arch->size, false,
			   MUX_TRAMPOLINE_SYM);
	perf_event_text_poke((void *)arch->tramp, NULL, 0, (void *)arch->tramp, arch->size);
}

static void withdraw(struct ftrace_mux_combo *combo)
{
	struct arch_ftrace_mux_combo *arch = &combo->arch;

	perf_event_text_poke((void *)arch->tramp, (void *)arch->tramp, arch->size, NULL, 0);
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, arch->tramp, arch->size, true,
			   MUX_TRAMPOLINE_SYM);
	list_del_rcu(&arch->node);
	latch_tree_erase(&arch->tree, &tramp_tree, &tramp_tree_ops);
}

/* Combinations */

/*
 * The static IDs of the tracers of @combo as a mask; 0 if @combo cannot have a static trampoline: a
 * tracer has no static ID, or a call does not pass the ops of its tracer. @calls are in the order
 * of IDs (struct ftrace_mux_set), as are the calls of a static trampoline.
 */
static unsigned int static_mask(const struct ftrace_mux_combo *combo)
{
	unsigned int mask = 0;

	for (unsigned int n = 0; n < combo->nr; n++) {
		unsigned int id = combo->ops[n]->mux.id;

		/* Several graph tracers pass their set, a timed call what time.c needs */
		if (!id || id > CONFIG_FTRACE_MUX_STATIC_IDS ||
		    combo->calls[n].arg != combo->ops[n])
			return 0;
		mask |= BIT(id - 1);
	}

	return mask;
}

static void init_static(struct ftrace_mux_combo *combo, unsigned long tramp)
{
	combo->arch.kind = FTRACE_MUX_TRAMP_STATIC;
	combo->arch.tramp = tramp;

	arch_ftrace_mux_begin();
	for (unsigned int n = 0; n < combo->nr; n++)
		arch_ftrace_mux_set_call(combo, n);
	arch_ftrace_mux_end();
}

/* The trampoline that counts the calls of @combo, which has the static trampoline @tramp */
static int init_copy(struct ftrace_mux_combo *combo, unsigned long tramp)
{
	struct arch_ftrace_mux_combo *arch = &combo->arch;

	arch->tramp = ftrace_mux_copy_static(combo, tramp, &arch->size, &arch->exit_offset);
	if (!arch->tramp)
		return -ENOMEM;

	arch->kind = FTRACE_MUX_TRAMP_COPY;
	publish(combo);

	return 0;
}

/* Takes text_mutex */
int arch_ftrace_mux_init_combo(struct ftrace_mux_combo *combo)
{
	unsigned int mask = static_mask(combo);
	unsigned long tramp;

	if (mask) {
		tramp = ftrace_mux_static_tramp(mask, combo->regs);
		for (unsigned int n = 0; n < combo->nr; n++)
			ftrace_mux_set_static_arg(combo->ops[n]->mux.id - 1, combo->ops[n]);
		if (combo->count)
			return init_copy(combo, tramp);
		init_static(combo, tramp);
		return 0;
	}

	combo->arch.tramp = ftrace_mux_make_tramp(combo->calls, combo->nr, combo->regs,
						  combo->count, &combo->arch.size);
	if (!combo->arch.tramp)
		return -ENOMEM;

	combo->arch.kind = FTRACE_MUX_TRAMP_MADE;
	publish(combo);

	return 0;
}

/* Takes text_mutex */
void arch_ftrace_mux_exit_combo(struct ftrace_mux_combo *combo)
{
	if (combo->arch.kind == FTRACE_MUX_TRAMP_STATIC)
		return;

	withdraw(combo);
	ftrace_mux_free_tramp(combo->arch.tramp, combo->arch.size);
}

void arch_ftrace_mux_free_id(unsigned int id)
{
	if (id < CONFIG_FTRACE_MUX_STATIC_IDS)
		ftrace_mux_set_static_arg(id, NULL);
}

/* 0 if the trampoline is static */
unsigned int arch_ftrace_mux_combo_size(const struct ftrace_mux_combo *combo)
{
	return combo->arch.size;
}

void arch_ftrace_mux_show_combo(struct seq_file *m, const struct ftrace_mux_combo *combo)
{
	if (combo->arch.kind != FTRACE_MUX_TRAMP_STATIC)
		seq_puts(m, MUX_TRAMPOLINE_SYM);
	else
		seq_printf(m, "%ps", (void *)combo->arch.tramp);
}

/* Entries and trampolines by address, from any context */

static bool is_entry(unsigned long addr)
{
	/* Pairs with smp_store_release() in arch_ftrace_mux_add_entries() */
	unsigned int nr = smp_load_acquire(&nr_entry_chunks);

	while (nr--) {
		if (addr - entry_chunks[nr] < PAGE_SIZE)
			return true;
	}

	return false;
}

/**
 * is_ftrace_mux_trampoline - whether an address is in memory of the multiplexer
 * @addr: any address
 *
 * Context: any, NMI included.
 *
 * Return: true if it is in an entry, or in an allocated trampoline.
 */
bool is_ftrace_mux_trampoline(unsigned long addr)
{
	guard(preempt_notrace)();

	return is_entry(addr) || combo_at(addr);
}

/**
 * ftrace_mux_unwind_ip - where to look up how to unwind from a trampoline
 * @ip: any address
 *
 * Context: any, NMI included.
 *
 * Return: an address in the kernel's text whose unwind information is right for
 * @ip, 0 if @ip is neither in an entry nor in an allocated trampoline.
 */
unsigned long ftrace_mux_unwind_ip(unsigned long ip)
{
	struct ftrace_mux_combo *combo;

	guard(preempt_notrace)();

	/* At an entry, the stack is as at the start of a trampoline */
	if (is_entry(ip))
		return ftrace_mux_template_ip(0, false, 0);

	combo = combo_at(ip);
	if (!combo)
		return 0;

	return ftrace_mux_template_ip(ip - combo->arch.tramp, combo->regs,
				      combo->arch.exit_offset);
}

/**
 * ftrace_mux_get_kallsym - name a page of entries, or a trampoline, for /proc/kallsyms
 * @symnum: index among these
 * @value: its address
 * @name: its name, KSYM_NAME_LEN bytes
 *
 * Context: preemption disabled.
 *
 * Return: 0, or -ERANGE if there are not so many.
 */
int ftrace_mux_get_kallsym(unsigned int symnum, unsigned long *value, char *name)
{
	/* Pairs with smp_store_release() in arch_ftrace_mux_add_entries() */
	unsigned int nr = smp_load_acquire(&nr_entry_chunks);
	struct ftrace_mux_combo *combo;

	if (symnum < nr) {
		*value = entry_chunks[symnum];
		strscpy(name, MUX_ENTRIES_SYM, KSYM_NAME_LEN);
		return 0;
	}

	symnum -= nr;
	list_for_each_entry_rcu(combo, &tramps, arch.node) {
		if (symnum--)
			continue;
		*value = combo->arch.tramp;
		strscpy(name, MUX_TRAMPOLINE_SYM, KSYM_NAME_LEN);
		return 0;
	}

	return -ERANGE;
}

#if IS_ENABLED(CONFIG_FTRACE_MUX_TEST)
/*
 * The address of the call instruction of a traced function, from the ip of its record; 0 if there
 * is none. It is the ip itself, unless <asm/ftrace.h> defines another ftrace_call_address(), with
 * CONFIG_KTRACE.
 */
#ifndef ftrace_call_address
#define ftrace_call_address(ip)	(ip)
#endif

bool arch_ftrace_mux_site_calls(const struct dyn_ftrace *rec, unsigned int index)
{
	unsigned long ip = ftrace_call_address(rec->ip);
	union text_poke_insn insn;

	if (!ip)
		return false;
	memcpy(&insn, (void *)ip, CALL_INSN_SIZE);
	/* A debugger's breakpoint leaves the displacement alone */
	if (insn.opcode != CALL_INSN_OPCODE && insn.opcode != INT3_INSN_OPCODE)
		return false;

	return ip + CALL_INSN_SIZE + insn.disp == arch_ftrace_mux_call_target(index);
}
#endif

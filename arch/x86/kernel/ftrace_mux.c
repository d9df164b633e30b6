// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer on x86_64: entries and calls, see <linux/ftrace_mux_arch.h>.
 *
 * A combination has a trampoline, which makes the calls. If all its tracers have static IDs,
 * and each call passes the ops of its tracer, this is a static trampoline, or a copy of it if the
 * combination counts its calls; else one that is made on demand. An entry is a jump to
 * a trampoline. See ftrace_mux_code.c for the code.
 *
 * Protected by ftrace_lock, with one exception: the unwinder, perf and kallsyms look up
 * entries and trampolines from any context. Pages of entries are never freed. Trampolines
 * are in a latched tree and a list that are safe under RCU.
 */

/* The unwinder calls some functions here from any context */
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

/* Pages of entries, which are never freed */
static unsigned long mux_pages[FTRACE_MUX_MAX_CHUNKS];
static unsigned int mux_nr_pages;

/* Changes of code, in batches */

/**
 * arch_ftrace_mux_begin - start a batch of changes of entries and calls
 *
 * Context: process context, may sleep; ftrace_lock held. Takes text_mutex, until
 * arch_ftrace_mux_end().
 */
void arch_ftrace_mux_begin(void)
{
	mutex_lock(&text_mutex);
}

/**
 * arch_ftrace_mux_end - finish a batch
 *
 * On return, all CPUs execute the new code.
 *
 * Context: that of arch_ftrace_mux_begin().
 */
void arch_ftrace_mux_end(void)
{
	smp_text_poke_batch_finish();
	mutex_unlock(&text_mutex);
}

/* Entries */

/**
 * arch_ftrace_mux_add_entries - add FTRACE_MUX_CHUNK_ENTRIES entries
 * @first: the index of the first: 0 in the first call, then that after the last one
 *
 * Context: process context, may sleep; ftrace_lock held.
 *
 * Return: 0, -ENOMEM.
 */
int arch_ftrace_mux_add_entries(unsigned int first)
{
	unsigned int nr = first / FTRACE_MUX_CHUNK_ENTRIES;
	void *page;

	static_assert(FTRACE_MUX_CHUNK_ENTRIES * FTRACE_MUX_ENTRY_SIZE == PAGE_SIZE);
	static_assert(JMP32_INSN_SIZE <= FTRACE_MUX_ENTRY_SIZE);

	page = ftrace_mux_alloc_code(1);
	if (!page)
		return -ENOMEM;

	mux_pages[nr] = (unsigned long)page;
	/* Pairs with smp_load_acquire() in is_entry() and ftrace_mux_get_kallsym() */
	smp_store_release(&mux_nr_pages, nr + 1);
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, (unsigned long)page, PAGE_SIZE, false,
			   MUX_ENTRIES_SYM);

	return 0;
}

/**
 * arch_ftrace_mux_site_addr - what a call site with an entry calls
 * @index: the index of the entry
 *
 * Context: ftrace_lock held.
 *
 * Return: the address of the entry.
 */
unsigned long arch_ftrace_mux_site_addr(unsigned int index)
{
	return mux_pages[index / FTRACE_MUX_CHUNK_ENTRIES] +
	       index % FTRACE_MUX_CHUNK_ENTRIES * FTRACE_MUX_ENTRY_SIZE;
}

/**
 * arch_ftrace_mux_set_entry - let an entry lead to a combination
 * @index: the index of the entry. The indexes have to ascend in a batch:
 *	smp_text_poke_batch_add() ends the batch otherwise.
 * @combo: the combination
 *
 * Context: between arch_ftrace_mux_begin() and arch_ftrace_mux_end().
 */
void arch_ftrace_mux_set_entry(unsigned int index, const struct ftrace_mux_combo *combo)
{
	ftrace_mux_write_entry(arch_ftrace_mux_site_addr(index), combo->arch.tramp);
}

/* Calls */

/**
 * arch_ftrace_mux_set_call - change a call of a combination
 * @combo: the combination
 * @n: which of its calls to change, from 0
 *
 * Context: between arch_ftrace_mux_begin() and arch_ftrace_mux_end().
 */
void arch_ftrace_mux_set_call(const struct ftrace_mux_combo *combo, unsigned int n)
{
	const struct arch_ftrace_mux_combo *arch = &combo->arch;

	ftrace_mux_write_call(arch->tramp, combo->nr, n, combo->regs,
			      arch->size && !arch->copied, combo->calls[n].func);
}

/* Trampolines on demand, by address */

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

/* The combination of the trampoline on demand that @addr is in, NULL if there is none */
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

/* The static IDs of the tracers of @combo as a mask, 0 if a call has no static ID */
static unsigned int static_mask(const struct ftrace_mux_combo *combo)
{
	unsigned int mask = 0;

	for (unsigned int n = 0; n < combo->nr; n++) {
		unsigned int id = combo->ops[n]->mux.id;

		/* Several graph tracers have their set as the argument */
		if (!id || id > FTRACE_MUX_STATIC_IDS || combo->calls[n].arg != combo->ops[n])
			return 0;
		mask |= BIT(id - 1);
	}

	return mask;
}

static void init_static(struct ftrace_mux_combo *combo, unsigned long tramp)
{
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

	arch->tramp = ftrace_mux_copy_static(combo, tramp, &arch->size, &arch->end);
	if (!arch->tramp)
		return -ENOMEM;

	arch->copied = true;
	publish(combo);

	return 0;
}

/**
 * arch_ftrace_mux_init_combo - prepare to make the calls of a combination
 * @combo: the combination, with @arch all zero, and @count, if it counts its calls
 *
 * Context: process context, may sleep; ftrace_lock held. Takes text_mutex.
 *
 * Return: 0, -ENOMEM.
 */
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

	combo->arch.tramp = ftrace_mux_create_tramp(combo->calls, combo->nr, combo->regs,
						    combo->count, &combo->arch.size);
	if (!combo->arch.tramp)
		return -ENOMEM;

	publish(combo);

	return 0;
}

/**
 * arch_ftrace_mux_exit_combo - undo arch_ftrace_mux_init_combo()
 * @combo: the combination; no entry leads to it, and no task can be among its calls.
 *	It is freed after a grace period of RCU.
 *
 * Context: process context, may sleep; ftrace_lock held. Takes text_mutex.
 */
void arch_ftrace_mux_exit_combo(struct ftrace_mux_combo *combo)
{
	if (!combo->arch.size)
		return;

	withdraw(combo);
	ftrace_mux_free_tramp(combo->arch.tramp, combo->arch.size);
}

/**
 * arch_ftrace_mux_free_id - forget the tracer that had an ID
 * @id: the ID
 *
 * Context: ftrace_lock held. No task is in a static trampoline of the ID.
 */
void arch_ftrace_mux_free_id(unsigned int id)
{
	if (id < FTRACE_MUX_STATIC_IDS)
		ftrace_mux_set_static_arg(id, NULL);
}

/**
 * arch_ftrace_mux_combo_size - size of the code that was made for a combination
 * @combo: the combination
 *
 * Context: ftrace_lock held.
 *
 * Return: the size in bytes, 0 if its trampoline is a static one.
 */
unsigned int arch_ftrace_mux_combo_size(const struct ftrace_mux_combo *combo)
{
	return combo->arch.size;
}

/**
 * arch_ftrace_mux_show_combo - name what makes the calls of a combination
 * @m: where to
 * @combo: the combination
 *
 * Context: ftrace_lock held.
 */
void arch_ftrace_mux_show_combo(struct seq_file *m, const struct ftrace_mux_combo *combo)
{
	if (combo->arch.size)
		seq_puts(m, MUX_TRAMPOLINE_SYM);
	else
		seq_printf(m, "%ps", (void *)combo->arch.tramp);
}

/**
 * arch_ftrace_mux_show_alone - show what a function with a single tracer calls
 * @m: where to
 * @ops: the tracer
 * @index: the index of its entry
 *
 * Context: ftrace_lock held.
 *
 * Return: true, since ftrace shows the graph tracers behind @ops as well.
 */
bool arch_ftrace_mux_show_alone(struct seq_file *m, struct ftrace_ops *ops, unsigned int index)
{
	seq_printf(m, "\ttramp: %pS (%pS) ->%pS", (void *)arch_ftrace_mux_site_addr(index),
		   (void *)ops->func, (void *)ftrace_ops_get_func(ops));

	return true;
}

/* Entries and trampolines by address, from any context */

static bool is_entry(unsigned long addr)
{
	/* Pairs with smp_store_release() in arch_ftrace_mux_add_entries() */
	unsigned int nr = smp_load_acquire(&mux_nr_pages);

	while (nr--) {
		if (addr - mux_pages[nr] < PAGE_SIZE)
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
 * Return: true if it is in an entry, or in a trampoline that was made on demand.
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
 * @ip, 0 if @ip is neither in an entry nor in a trampoline that was made on demand.
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

	return ftrace_mux_template_ip(ip - combo->arch.tramp, combo->regs, combo->arch.end);
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
	unsigned int nr = smp_load_acquire(&mux_nr_pages);
	struct ftrace_mux_combo *combo;

	if (symnum < nr) {
		*value = mux_pages[symnum];
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
/* Where the call of a traced function is, from the ip of its record */
#ifndef ftrace_call_address
#define ftrace_call_address(ip)	(ip)
#endif

/**
 * arch_ftrace_mux_site_calls - whether the call site of a function calls an entry
 * @rec: the record of the function
 * @index: the index of the entry
 *
 * Context: text_mutex held, which keeps the site from being rewritten.
 *
 * Return: true if it does.
 */
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

	return ip + CALL_INSN_SIZE + insn.disp == arch_ftrace_mux_site_addr(index);
}
#endif

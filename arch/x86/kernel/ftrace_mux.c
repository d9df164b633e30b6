// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: entries, trampolines and call sites on x86_64.
 *
 * The trampolines themselves are in ftrace_mux_64.S.
 */
#include <linux/bitmap.h>
#include <linux/bug.h>
#include <linux/execmem.h>
#include <linux/ftrace.h>
#include <linux/ftrace_mux.h>
#include <linux/list.h>
#include <linux/memory.h>
#include <linux/perf_event.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/alternative.h>
#include <asm/ftrace_mux.h>
#include <asm/text-patching.h>

/*
 * The third argument of the call that each static trampoline makes for an ID. Read
 * by the trampolines. Written under ftrace_lock, and changed only while no task can
 * be in a trampoline that makes such a call.
 */
struct ftrace_ops *ftrace_mux_ops[FTRACE_MUX_STATIC_IDS] __read_mostly;

/**
 * arch_ftrace_mux_set_ops - give a static ID to a tracer
 * @id: the ID, 0 to FTRACE_MUX_STATIC_IDS - 1
 * @ops: what the static trampolines pass for the ID
 *
 * Context: ftrace_lock held. No task may be in a static trampoline of the ID if
 * @ops is not the previous one.
 */
void arch_ftrace_mux_set_ops(unsigned int id, struct ftrace_ops *ops)
{
	WRITE_ONCE(ftrace_mux_ops[id], ops);
}

/**
 * arch_ftrace_mux_caller - the static trampoline of a combination of tracers
 * @mask: the static IDs of the tracers, 1 to (1 << FTRACE_MUX_STATIC_IDS) - 1
 * @regs: whether any of them needs a full pt_regs
 *
 * Context: any.
 *
 * Return: the address of the trampoline.
 */
unsigned long arch_ftrace_mux_caller(unsigned int mask, bool regs)
{
	const u32 *offsets = regs ? ftrace_mux_regs_caller_offsets :
				    ftrace_mux_caller_offsets;

	return (unsigned long)ftrace_mux_caller_1 + offsets[mask];
}

/* What a trampoline calls for @func: its call thunk, if there are any */
static void *call_dest(void *func)
{
	if (!cpu_feature_enabled(X86_FEATURE_CALL_DEPTH))
		return func;

	return callthunks_translate_call_dest(func);
}

/* Changes of code, in batches */

/**
 * arch_ftrace_mux_begin - start a batch of changes of entries and trampolines
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

static void queue_insn(void *addr, const void *insn)
{
	if (!memcmp(addr, insn, JMP32_INSN_SIZE))
		return;

	/* There is no int3 handler yet, and no second CPU that would need it */
	if (system_state == SYSTEM_BOOTING)
		text_poke_copy_locked(addr, insn, JMP32_INSN_SIZE, true);
	else
		smp_text_poke_batch_add(addr, insn, JMP32_INSN_SIZE, NULL);
}

/**
 * arch_ftrace_mux_set_entry - let an entry jump to a trampoline
 * @entry: address of the entry
 * @tramp: address of the trampoline
 *
 * Context: between arch_ftrace_mux_begin() and arch_ftrace_mux_end().
 */
void arch_ftrace_mux_set_entry(unsigned long entry, unsigned long tramp)
{
	/*
	 * No call thunk: the trampoline accounts for the call of the entry, and a
	 * jump adds nothing to the depth.
	 */
	queue_insn((void *)entry, text_gen_insn(JMP32_INSN_OPCODE, (void *)entry,
						(void *)tramp));
}

/**
 * arch_ftrace_mux_set_call - let a trampoline call a function
 * @tramp: address of the trampoline
 * @nr: how many calls it makes
 * @n: which of them to change, from 0
 * @regs: whether it saves a full pt_regs
 * @func: the function to call from now on
 *
 * Context: between arch_ftrace_mux_begin() and arch_ftrace_mux_end().
 */
void arch_ftrace_mux_set_call(unsigned long tramp, unsigned int nr, unsigned int n,
			      bool regs, void *func)
{
	const struct ftrace_mux_layout *l = &ftrace_mux_layouts[regs];
	unsigned int offset;
	void *call;

	/* Static trampolines lie before the template in memory; those on demand do not */
	if (tramp - (unsigned long)ftrace_mux_caller_1 >= l->start)
		offset = l->again - l->start - CALL_INSN_SIZE + n * (l->end - l->again);
	else if (nr == 1)
		offset = l->single_call;
	else
		offset = l->first_call + n * l->stride;

	call = (void *)tramp + offset;
	if (WARN_ON_ONCE(*(u8 *)call != CALL_INSN_OPCODE))
		return;

	queue_insn(call, text_gen_insn(CALL_INSN_OPCODE, call, call_dest(func)));
}

#if IS_ENABLED(CONFIG_FTRACE_MUX_TEST)
/* Where the call of a traced function is, from the ip of its record */
#ifndef ftrace_call_address
#define ftrace_call_address(ip)	(ip)
#endif

/**
 * arch_ftrace_mux_callee - what a call site calls
 * @ip: address of the call site
 *
 * For check.c only: the record of a function tells what its call site calls.
 *
 * Context: text_mutex held, which keeps the site from being rewritten.
 *
 * Return: the address, or 0 if there is no call at @ip.
 */
unsigned long arch_ftrace_mux_callee(unsigned long ip)
{
	union text_poke_insn insn;

	ip = ftrace_call_address(ip);
	if (!ip)
		return 0;
	memcpy(&insn, (void *)ip, CALL_INSN_SIZE);
	/* A debugger's breakpoint leaves the displacement alone */
	if (insn.opcode != CALL_INSN_OPCODE && insn.opcode != INT3_INSN_OPCODE)
		return 0;

	return ip + CALL_INSN_SIZE + insn.disp;
}
#endif

/* A page of code that is read-only when in use, and full of breakpoints */
static void *alloc_code(unsigned int pages)
{
	void *code = execmem_alloc_rw(EXECMEM_FTRACE, pages * PAGE_SIZE);

	if (!code)
		return NULL;

	memset(code, INT3_INSN_OPCODE, pages * PAGE_SIZE);
	if (!set_memory_rox((unsigned long)code, pages))
		return code;

	execmem_free(code);

	return NULL;
}

/**
 * arch_ftrace_mux_alloc_entries - get memory for FTRACE_MUX_CHUNK_ENTRIES entries
 *
 * Context: process context, may sleep.
 *
 * Return: the address of the first, the others are FTRACE_MUX_ENTRY_SIZE bytes
 * apart; 0 if there is no memory.
 */
unsigned long arch_ftrace_mux_alloc_entries(void)
{
	static_assert(FTRACE_MUX_CHUNK_ENTRIES * FTRACE_MUX_ENTRY_SIZE == PAGE_SIZE);
	static_assert(JMP32_INSN_SIZE <= FTRACE_MUX_ENTRY_SIZE);

	return (unsigned long)alloc_code(1);
}

/* Memory for trampolines: pages that are cut into units, read-only when in use */

#define MUX_UNIT		64
#define MUX_UNITS_PER_PAGE	(PAGE_SIZE / MUX_UNIT)

struct mux_chunk {
	struct list_head	node;
	void			*base;
	unsigned int		units;
	unsigned long		used[];
};

/* Protected by ftrace_lock */
static LIST_HEAD(mux_chunks);

static struct mux_chunk *create_chunk(unsigned int units)
{
	unsigned int pages = DIV_ROUND_UP(units, MUX_UNITS_PER_PAGE);
	struct mux_chunk *chunk;

	units = pages * MUX_UNITS_PER_PAGE;
	chunk = kzalloc(struct_size(chunk, used, BITS_TO_LONGS(units)), GFP_KERNEL);
	if (!chunk)
		return NULL;

	chunk->units = units;
	chunk->base = alloc_code(pages);
	if (!chunk->base) {
		kfree(chunk);
		return NULL;
	}

	list_add(&chunk->node, &mux_chunks);

	return chunk;
}

static void *alloc_from_chunk(struct mux_chunk *chunk, unsigned int units)
{
	unsigned long first;

	first = bitmap_find_next_zero_area(chunk->used, chunk->units, 0, units, 0);
	if (first >= chunk->units)
		return NULL;

	bitmap_set(chunk->used, first, units);

	return chunk->base + first * MUX_UNIT;
}

static void *alloc_units(unsigned int units)
{
	struct mux_chunk *chunk;
	void *p;

	list_for_each_entry(chunk, &mux_chunks, node) {
		p = alloc_from_chunk(chunk, units);
		if (p)
			return p;
	}

	chunk = create_chunk(units);

	return chunk ? alloc_from_chunk(chunk, units) : NULL;
}

static void free_units(void *p, unsigned int units)
{
	struct mux_chunk *chunk;

	list_for_each_entry(chunk, &mux_chunks, node) {
		if (p >= chunk->base && p < chunk->base + chunk->units * MUX_UNIT)
			break;
	}

	if (WARN_ON_ONCE(list_entry_is_head(chunk, &mux_chunks, node)))
		return;

	bitmap_clear(chunk->used, (p - chunk->base) / MUX_UNIT, units);
	if (!bitmap_empty(chunk->used, chunk->units)) {
		text_poke_set(p, INT3_INSN_OPCODE, units * MUX_UNIT);
		return;
	}

	list_del(&chunk->node);
	execmem_free(chunk->base);
	kfree(chunk);
}

/* Trampolines on demand */

/* The first call of a trampoline, with what comes before it, or a further one */
static void write_call(u8 *buf, void *ip, const struct ftrace_mux_layout *l,
		       unsigned int n, const struct ftrace_mux_call *call)
{
	u32 start = n ? l->again : l->start, len = (n ? l->end : l->again) - start;
	u64 arg = (unsigned long)call->arg;
	s32 disp;

	memcpy(buf, ftrace_mux_caller_1 + start, len);
	/*
	 * Only the accounting of the call depth depends on the address. To find it takes
	 * long, and all of it may be traced.
	 */
	if (!n && cpu_feature_enabled(X86_FEATURE_CALL_DEPTH))
		text_poke_apply_relocation(buf, ip, len, (void *)ftrace_mux_caller_1 + start,
					   len);

	/* movabs $imm64, %rdx; call */
	buf += len - CALL_INSN_SIZE;
	WARN_ON_ONCE(buf[0] != CALL_INSN_OPCODE || buf[-10] != 0x48 || buf[-9] != 0xba);
	memcpy(buf - sizeof(arg), &arg, sizeof(arg));
	disp = (long)call_dest(call->func) - (long)(ip + len);
	memcpy(buf + 1, &disp, sizeof(disp));
}

/**
 * arch_ftrace_mux_create - make a trampoline for a combination of tracers
 * @calls: what it is to call
 * @nr: their number, at least 1
 * @regs: whether any of them needs a full pt_regs
 * @size: size of the trampoline in bytes
 *
 * Context: process context, may sleep; ftrace_lock held, takes text_mutex.
 *
 * Return: the address of the trampoline, 0 if there is no memory.
 */
unsigned long arch_ftrace_mux_create(const struct ftrace_mux_call *calls, unsigned int nr,
				     bool regs, unsigned int *size)
{
	const struct ftrace_mux_layout *l = &ftrace_mux_layouts[regs];
	unsigned int pos = 0;
	void *tramp;

	*size = l->again - l->start + (nr - 1) * (l->end - l->again) + JMP32_INSN_SIZE;

	u8 *buf __free(kfree) = kmalloc(*size, GFP_KERNEL);
	if (!buf)
		return 0;

	tramp = alloc_units(DIV_ROUND_UP(*size, MUX_UNIT));
	if (!tramp)
		return 0;

	guard(mutex)(&text_mutex);
	for (unsigned int n = 0; n < nr; n++) {
		write_call(buf + pos, tramp + pos, l, n, &calls[n]);
		pos += n ? l->end - l->again : l->again - l->start;
	}
	__text_gen_insn(buf + pos, JMP32_INSN_OPCODE, tramp + pos, ftrace_mux_caller_1 + l->end,
			JMP32_INSN_SIZE);
	text_poke_copy_locked(tramp, buf, *size, false);

	return (unsigned long)tramp;
}

/**
 * arch_ftrace_mux_free - free a trampoline
 * @tramp: what arch_ftrace_mux_create() has returned
 * @size: and its size
 *
 * Context: process context, may sleep; ftrace_lock held, takes text_mutex. No
 * task may be in the trampoline, or come to it.
 */
void arch_ftrace_mux_free(unsigned long tramp, unsigned int size)
{
	free_units((void *)tramp, DIV_ROUND_UP(size, MUX_UNIT));
}

/**
 * arch_ftrace_mux_unwind_ip - where to look up how to unwind a trampoline
 * @offset: offset in a trampoline made by arch_ftrace_mux_create()
 * @regs: what it was made with
 *
 * Context: any, NMI included.
 *
 * Return: an address in the kernel's text where the stack is the same. Behind
 * the entry, all of a trampoline has one layout of the stack.
 */
unsigned long arch_ftrace_mux_unwind_ip(unsigned long offset, bool regs)
{
	const struct ftrace_mux_layout *l = &ftrace_mux_layouts[regs];

	return (unsigned long)ftrace_mux_caller_1 + min(l->start + offset, (unsigned long)l->again);
}

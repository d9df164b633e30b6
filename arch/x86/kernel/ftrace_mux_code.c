// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer on x86_64: the code of entries and trampolines.
 *
 * An entry is a jump to a trampoline. A trampoline makes calls. The static trampolines,
 * and the templates of which others are made, are in ftrace_mux_64.S. Allocated trampolines,
 * which are copied or made, share read-only pages.
 *
 * Protected by ftrace_lock.
 */

/* As in ftrace_mux.c: the unwinder calls ftrace_mux_template_ip() in any context */
#define DISABLE_BRANCH_PROFILING

#include <linux/bitmap.h>
#include <linux/bug.h>
#include <linux/execmem.h>
#include <linux/ftrace.h>
#include <linux/ftrace_mux_arch.h>
#include <linux/list.h>
#include <linux/memory.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/alternative.h>
#include <asm/text-patching.h>

#include "ftrace_mux_code.h"

/*
 * The third argument of the call that each static trampoline makes for an ID. Read
 * by the trampolines. An ID gets another tracer only after no task can be in a trampoline
 * that makes such a call: see kernel/trace/mux/ids.c.
 */
struct ftrace_ops *ftrace_mux_static_args[CONFIG_FTRACE_MUX_STATIC_IDS] __read_mostly;

/**
 * ftrace_mux_set_static_arg - set what the static trampolines pass for an ID
 * @id: the ID, 0 to CONFIG_FTRACE_MUX_STATIC_IDS - 1
 * @ops: the tracer that has the ID, NULL for none
 *
 * Context: ftrace_lock held. If @ops is not what the ID passes already, no task may be in a
 * static trampoline of the ID. Before a task can come to such a trampoline, an entry or a call
 * site is patched. That synchronizes all CPUs, so they see the store.
 */
void ftrace_mux_set_static_arg(unsigned int id, struct ftrace_ops *ops)
{
	WRITE_ONCE(ftrace_mux_static_args[id], ops);
}

/**
 * ftrace_mux_static_tramp - the static trampoline of a combination of tracers
 * @mask: the static IDs of the tracers, 1 to (1 << CONFIG_FTRACE_MUX_STATIC_IDS) - 1
 * @regs: whether any of them needs a full pt_regs
 *
 * Context: any.
 *
 * Return: the address of the trampoline.
 */
unsigned long ftrace_mux_static_tramp(unsigned int mask, bool regs)
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

/*
 * While the system boots, changes the code at once. Later, the caller ends the batch with
 * smp_text_poke_batch_finish(), and holds text_mutex until then.
 */
static void queue_insn(void *addr, const void *insn)
{
	if (!memcmp(addr, insn, JMP32_INSN_SIZE))
		return;

	/*
	 * Only one CPU runs, and text_poke_copy_locked() writes with interrupts disabled: no
	 * breakpoint is needed. Jump labels are patched in this way, too.
	 */
	if (system_state == SYSTEM_BOOTING)
		text_poke_copy_locked(addr, insn, JMP32_INSN_SIZE, true);
	else
		smp_text_poke_batch_add(addr, insn, JMP32_INSN_SIZE, NULL);
}

/**
 * ftrace_mux_patch_entry - let an entry jump to a trampoline
 * @entry: address of the entry
 * @tramp: address of the trampoline
 *
 * Context: text_mutex held. Takes effect with smp_text_poke_batch_finish(), or at once while
 * the system boots.
 */
void ftrace_mux_patch_entry(unsigned long entry, unsigned long tramp)
{
	/*
	 * No call thunk: the trampoline accounts for the call of the entry, and a
	 * jump adds nothing to the depth.
	 */
	queue_insn((void *)entry, text_gen_insn(JMP32_INSN_OPCODE, (void *)entry,
						(void *)tramp));
}

/* Where call @n of a static trampoline that makes @nr calls is, or of a copy of it */
static unsigned int static_call_offset(const struct ftrace_mux_layout *l, unsigned int nr,
				       unsigned int n)
{
	return nr == 1 ? l->single_call : l->first_call + n * l->stride;
}

/**
 * ftrace_mux_patch_call - let a trampoline call a function
 * @tramp: address of the trampoline
 * @nr: how many calls it makes
 * @n: which of them to change, from 0
 * @regs: whether it saves a full pt_regs
 * @made: whether ftrace_mux_make_tramp() has made it; else it is static, or a copy of a static one
 * @func: the function to call from now on
 *
 * Context: text_mutex held. Takes effect with smp_text_poke_batch_finish(), or at once while
 * the system boots.
 */
void ftrace_mux_patch_call(unsigned long tramp, unsigned int nr, unsigned int n,
			   bool regs, bool made, void *func)
{
	const struct ftrace_mux_layout *l = &ftrace_mux_layouts[regs];
	unsigned int offset;
	void *call;

	if (made)
		offset = l->again - l->start - CALL_INSN_SIZE + n * (l->end - l->again);
	else
		offset = static_call_offset(l, nr, n);

	call = (void *)tramp + offset;
	if (WARN_ON_ONCE(*(u8 *)call != CALL_INSN_OPCODE))
		return;

	queue_insn(call, text_gen_insn(CALL_INSN_OPCODE, call, call_dest(func)));
}

/* Memory */

/**
 * ftrace_mux_alloc_code - allocate pages of code
 * @pages: their number
 *
 * Context: process context, may sleep.
 *
 * Return: the pages, which are read-only, and full of breakpoints; NULL if there is no
 * memory.
 */
void *ftrace_mux_alloc_code(unsigned int pages)
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

/* A block is some pages for trampolines, cut into units */

#define MUX_UNIT		64	/* bytes */
#define MUX_UNITS_PER_PAGE	(PAGE_SIZE / MUX_UNIT)

struct tramp_block {
	struct list_head	node;
	void			*base;
	unsigned int		units;
	unsigned long		used[];
};

/* Protected by ftrace_lock */
static LIST_HEAD(tramp_blocks);

static struct tramp_block *create_block(unsigned int units)
{
	unsigned int pages = DIV_ROUND_UP(units, MUX_UNITS_PER_PAGE);
	struct tramp_block *block;

	units = pages * MUX_UNITS_PER_PAGE;
	block = kzalloc(struct_size(block, used, BITS_TO_LONGS(units)), GFP_KERNEL);
	if (!block)
		return NULL;

	block->units = units;
	block->base = ftrace_mux_alloc_code(pages);
	if (!block->base) {
		kfree(block);
		return NULL;
	}

	list_add(&block->node, &tramp_blocks);

	return block;
}

static void *alloc_from_block(struct tramp_block *block, unsigned int units)
{
	unsigned long first;

	first = bitmap_find_next_zero_area(block->used, block->units, 0, units, 0);
	if (first >= block->units)
		return NULL;

	bitmap_set(block->used, first, units);

	return block->base + first * MUX_UNIT;
}

static void *alloc_units(unsigned int units)
{
	struct tramp_block *block;
	void *p;

	list_for_each_entry(block, &tramp_blocks, node) {
		p = alloc_from_block(block, units);
		if (p)
			return p;
	}

	block = create_block(units);

	return block ? alloc_from_block(block, units) : NULL;
}

static void free_units(void *p, unsigned int units)
{
	struct tramp_block *block;

	list_for_each_entry(block, &tramp_blocks, node) {
		if (p >= block->base && p < block->base + block->units * MUX_UNIT)
			break;
	}

	if (WARN_ON_ONCE(list_entry_is_head(block, &tramp_blocks, node)))
		return;

	bitmap_clear(block->used, (p - block->base) / MUX_UNIT, units);
	if (!bitmap_empty(block->used, block->units)) {
		text_poke_set(p, INT3_INSN_OPCODE, units * MUX_UNIT);
		return;
	}

	list_del(&block->node);
	execmem_free(block->base);
	kfree(block);
}

/* Allocated trampolines */

/* Call @n of a made trampoline; if it is the first, with the code in front of it */
static void emit_call(u8 *buf, void *ip, const struct ftrace_mux_layout *l, unsigned int n,
		      const struct ftrace_mux_call *call)
{
	u32 start = n ? l->again : l->start, len = (n ? l->end : l->again) - start;
	u64 arg = (unsigned long)call->arg;
	s32 disp;

	memcpy(buf, ftrace_mux_caller_1 + start, len);
	/*
	 * Only the accounting of the call depth, in the first part, depends on the address. Skip
	 * text_poke_apply_relocation() otherwise: it decodes each instruction, and calls functions
	 * that may be traced.
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

/* movabs $imm64, %rdx; incq %gs:(%rdx) */
#define MUX_COUNT_SIZE		(IS_ENABLED(CONFIG_SMP) ? 14 : 13)

/*
 * Count the calls of a trampoline, behind the last one: there, the flags and %rdx are free.
 * Returns the size of the code.
 */
static unsigned int emit_count(u8 *buf, u64 __percpu *count)
{
	u64 addr = (__force unsigned long)count;

	if (!count)
		return 0;

	*buf++ = 0x48;
	*buf++ = 0xba;
	memcpy(buf, &addr, sizeof(addr));
	buf += sizeof(addr);
	if (IS_ENABLED(CONFIG_SMP))
		*buf++ = 0x65;
	*buf++ = 0x48;
	*buf++ = 0xff;
	*buf++ = 0x02;

	return MUX_COUNT_SIZE;
}

/**
 * ftrace_mux_make_tramp - make a trampoline for a combination of tracers
 * @calls: what it is to call
 * @nr: their number, at least 1
 * @regs: whether any of them needs a full pt_regs
 * @count: what it increments each time, NULL if nothing
 * @size: set to the size of the trampoline in bytes, if it is made
 *
 * Context: process context, may sleep; ftrace_lock held, takes text_mutex.
 *
 * Return: the address of the trampoline, 0 if there is no memory.
 */
unsigned long ftrace_mux_make_tramp(const struct ftrace_mux_call *calls, unsigned int nr,
				    bool regs, u64 __percpu *count, unsigned int *size)
{
	const struct ftrace_mux_layout *l = &ftrace_mux_layouts[regs];
	unsigned int len, pos = 0;
	void *tramp;

	len = l->again - l->start + (nr - 1) * (l->end - l->again) +
	      (count ? MUX_COUNT_SIZE : 0) + JMP32_INSN_SIZE;

	u8 *buf __free(kfree) = kmalloc(len, GFP_KERNEL);
	if (!buf)
		return 0;

	tramp = alloc_units(DIV_ROUND_UP(len, MUX_UNIT));
	if (!tramp)
		return 0;

	guard(mutex)(&text_mutex);
	for (unsigned int n = 0; n < nr; n++) {
		emit_call(buf + pos, tramp + pos, l, n, &calls[n]);
		pos += n ? l->end - l->again : l->again - l->start;
	}
	pos += emit_count(buf + pos, count);
	__text_gen_insn(buf + pos, JMP32_INSN_OPCODE, tramp + pos, ftrace_mux_caller_1 + l->end,
			JMP32_INSN_SIZE);
	text_poke_copy_locked(tramp, buf, len, false);
	*size = len;

	return (unsigned long)tramp;
}

static void emit_copy(u8 *buf, void *ip, const void *code, unsigned int len)
{
	memcpy(buf, code, len);
	text_poke_apply_relocation(buf, ip, len, (u8 *)code, len);
}

/**
 * ftrace_mux_copy_static - make a copy of a static trampoline that counts its calls
 * @combo: the combination, with a count
 * @from: the static trampoline of the combination
 * @size: set to the size of the copy in bytes, if it is made
 * @exit_offset: set, too: to the offset of the code that restores registers and returns; to 0 if
 *	the copy jumps there
 *
 * Context: process context, may sleep; ftrace_lock held, takes text_mutex.
 *
 * Return: the address of the copy, 0 if there is no memory.
 */
unsigned long ftrace_mux_copy_static(const struct ftrace_mux_combo *combo, unsigned long from,
				     unsigned int *size, unsigned int *exit_offset)
{
	const struct ftrace_mux_layout *l = &ftrace_mux_layouts[combo->regs];
	unsigned int calls = static_call_offset(l, combo->nr, combo->nr - 1) + CALL_INSN_SIZE;
	unsigned int tail = l->stop - l->end;
	unsigned int pos = calls + MUX_COUNT_SIZE;
	unsigned int len = pos + (tail ?: JMP32_INSN_SIZE);
	void *copy;

	u8 *buf __free(kfree) = kmalloc(len, GFP_KERNEL);
	if (!buf)
		return 0;

	copy = alloc_units(DIV_ROUND_UP(len, MUX_UNIT));
	if (!copy)
		return 0;

	guard(mutex)(&text_mutex);
	emit_copy(buf, copy, (void *)from, calls);
	for (unsigned int n = 0; n < combo->nr; n++) {
		unsigned int call = static_call_offset(l, combo->nr, n);

		__text_gen_insn(buf + call, CALL_INSN_OPCODE, copy + call,
				call_dest(combo->calls[n].func), CALL_INSN_SIZE);
	}
	emit_count(buf + calls, combo->count);
	if (tail)
		emit_copy(buf + pos, copy + pos, ftrace_mux_caller_1 + l->end, tail);
	else
		__text_gen_insn(buf + pos, JMP32_INSN_OPCODE, copy + pos,
				ftrace_mux_caller_1 + l->exit, JMP32_INSN_SIZE);
	text_poke_copy_locked(copy, buf, len, false);
	*size = len;
	*exit_offset = tail ? pos : 0;

	return (unsigned long)copy;
}

/**
 * ftrace_mux_free_tramp - free a trampoline
 * @tramp: what ftrace_mux_make_tramp() or ftrace_mux_copy_static() has returned
 * @size: and its size
 *
 * Context: process context, may sleep; ftrace_lock held, takes text_mutex. No
 * task may be in the trampoline, or come to it.
 */
void ftrace_mux_free_tramp(unsigned long tramp, unsigned int size)
{
	free_units((void *)tramp, DIV_ROUND_UP(size, MUX_UNIT));
}

/**
 * ftrace_mux_template_ip - where a template has the stack that a trampoline has at an address
 * @offset: offset of the address in an allocated trampoline, in bytes
 * @regs: whether the trampoline saves a full pt_regs
 * @exit_offset: offset of the code that restores registers and returns; 0 if the trampoline jumps
 *	there
 *
 * Context: any, NMI included.
 *
 * Return: the address in the template.
 */
unsigned long ftrace_mux_template_ip(unsigned long offset, bool regs,
				     unsigned int exit_offset)
{
	const struct ftrace_mux_layout *l = &ftrace_mux_layouts[regs];

	if (exit_offset && offset >= exit_offset)
		return (unsigned long)ftrace_mux_caller_1 + l->end + offset - exit_offset;

	/* From the first call to the exit code, the stack stays as it is at @again */
	return (unsigned long)ftrace_mux_caller_1 + min(l->start + offset, (unsigned long)l->again);
}

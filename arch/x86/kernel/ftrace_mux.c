// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: slots, trampolines and call sites on x86_64.
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
 * The third argument of the function that each slot jumps to. Read by the
 * trampolines. Written under ftrace_lock, and changed only while no task can be
 * in a trampoline that calls the slot.
 */
struct ftrace_ops *ftrace_mux_ops[FTRACE_MUX_STATIC_IDS] __read_mostly;

/**
 * arch_ftrace_mux_set_slot - give a slot to a tracer, or take it back
 * @id: the slot, 0 to FTRACE_MUX_STATIC_IDS - 1
 * @ops: what the trampolines pass as third argument to @func
 * @func: the function the slot jumps to, ftrace_stub() for a free slot
 *
 * On return every CPU runs the new jump and sees the new @ops.
 *
 * The caller must make sure that no task can still be in a trampoline that
 * calls this slot when @ops differs from the slot's previous ops: the two are
 * not changed together. Changing @func alone is always safe.
 *
 * Context: process context, may sleep; ftrace_lock held, takes text_mutex.
 */
void arch_ftrace_mux_set_slot(unsigned int id, struct ftrace_ops *ops,
			      ftrace_mux_func_t func)
{
	void *slot = (void *)ftrace_mux_base + ftrace_mux_slot_offsets[id];
	const void *insn;

	WRITE_ONCE(ftrace_mux_ops[id], ops);

	guard(mutex)(&text_mutex);
	/*
	 * No call thunk for @func: the depth was accounted when the trampoline
	 * called the slot, and a jump adds nothing to it.
	 */
	insn = text_gen_insn(JMP32_INSN_OPCODE, slot, func);
	if (memcmp(slot, insn, JMP32_INSN_SIZE))
		text_poke_bp(slot, insn, JMP32_INSN_SIZE, NULL);
}

/**
 * arch_ftrace_mux_caller - the trampoline of a combination of tracers
 * @mask: the static IDs of the tracers, 1 to (1 << FTRACE_MUX_STATIC_IDS) - 1
 * @regs: whether any of them needs a full pt_regs
 *
 * Context: any.
 *
 * Return: the address a call site has to call.
 */
unsigned long arch_ftrace_mux_caller(unsigned int mask, bool regs)
{
	const u32 *offsets = regs ? ftrace_mux_regs_caller_offsets :
				    ftrace_mux_caller_offsets;

	return (unsigned long)ftrace_mux_base + offsets[mask];
}

/**
 * arch_ftrace_mux_is_caller - whether a static trampoline starts at an address
 * @addr: the address
 *
 * Context: any.
 *
 * Return: true if arch_ftrace_mux_caller() may return @addr.
 */
bool arch_ftrace_mux_is_caller(unsigned long addr)
{
	u32 offset = addr - (unsigned long)ftrace_mux_base;
	const u32 *offsets = offset < ftrace_mux_regs_caller_offsets[1] ?
			     ftrace_mux_caller_offsets :
			     ftrace_mux_regs_caller_offsets;
	unsigned int low = 1, high = (1 << FTRACE_MUX_STATIC_IDS) - 1;

	if (addr < (unsigned long)ftrace_mux_callers ||
	    addr >= (unsigned long)ftrace_mux_callers_end)
		return false;

	/* The trampolines are in order of their offsets */
	while (low < high) {
		unsigned int mid = (low + high + 1) / 2;

		if (offsets[mid] <= offset)
			low = mid;
		else
			high = mid - 1;
	}

	return offsets[low] == offset;
}

/**
 * arch_ftrace_mux_callee - what a call site calls now
 * @ip: address of the call site
 *
 * The call instruction itself is the record of it: of the trampolines, struct
 * dyn_ftrace only tells which one is wanted.
 *
 * Context: ftrace_lock held, which keeps the site from being rewritten.
 *
 * Return: the address, or 0 if there is no call at @ip.
 */
unsigned long arch_ftrace_mux_callee(unsigned long ip)
{
	union text_poke_insn insn;

	memcpy(&insn, (void *)ip, CALL_INSN_SIZE);
	/* A debugger's breakpoint leaves the displacement alone */
	if (insn.opcode != CALL_INSN_OPCODE && insn.opcode != INT3_INSN_OPCODE)
		return 0;

	return ip + CALL_INSN_SIZE + insn.disp;
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
	chunk->base = execmem_alloc(EXECMEM_FTRACE, pages * PAGE_SIZE);
	if (!chunk->base)
		goto free_chunk;

	memset(chunk->base, INT3_INSN_OPCODE, pages * PAGE_SIZE);
	if (set_memory_rox((unsigned long)chunk->base, pages))
		goto free_base;

	list_add(&chunk->node, &mux_chunks);

	return chunk;

free_base:
	execmem_free(chunk->base);
free_chunk:
	kfree(chunk);
	return NULL;
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

static const struct ftrace_mux_template *find_template(bool regs)
{
	return &ftrace_mux_templates[regs];
}

/* Code that is being written to @buf, to be run at @ip */
struct mux_code {
	const struct ftrace_mux_template	*template;
	u8					*buf;
	unsigned long				ip;
	unsigned int				size;
};

/* Without a buffer, only count bytes */
static void emit_piece(struct mux_code *code, u32 start, u32 end)
{
	unsigned int len = end - start;
	u8 *p = code->buf + code->size;

	if (code->buf) {
		memcpy(p, ftrace_mux_base + start, len);
		text_poke_apply_relocation(p, (void *)code->ip + code->size, len,
					   (void *)ftrace_mux_base + start, len);
	}
	code->size += len;
}

/* Let the instruction that ends at @end, an offset, go to @dest */
static void set_target(struct mux_code *code, unsigned int end, unsigned long dest)
{
	s32 disp = dest - (code->ip + end);

	if (code->buf)
		memcpy(code->buf + end - sizeof(disp), &disp, sizeof(disp));
}

/* A conditional jump that is the last of a piece gets its target later */
static void set_jump(struct mux_code *code, unsigned int end)
{
	if (end)
		set_target(code, end, code->ip + code->size);
}

/* movabs $imm64, %rdx; call */
static bool template_is_sane(const struct ftrace_mux_template *t)
{
	const u8 *end = (const u8 *)ftrace_mux_base + t->unguard;

	return end[-15] == 0x48 && end[-14] == 0xba && end[-5] == CALL_INSN_OPCODE;
}

static void emit_call(struct mux_code *code, struct ftrace_mux_call *call, bool args_loaded)
{
	const struct ftrace_mux_template *t = code->template;
	u64 arg = (unsigned long)call->arg;

	emit_piece(code, args_loaded ? t->call : t->args, t->unguard);
	call->offset = code->size - CALL_INSN_SIZE;
	if (!code->buf)
		return;

	memcpy(code->buf + call->offset - sizeof(arg), &arg, sizeof(arg));
	set_target(code, code->size,
		   (unsigned long)callthunks_translate_call_dest(call->func));
}

static void emit_exit(struct mux_code *code)
{
	if (code->buf)
		__text_gen_insn(code->buf + code->size, JMP32_INSN_OPCODE,
				(void *)code->ip + code->size,
				ftrace_mux_base + code->template->end, JMP32_INSN_SIZE);
	code->size += JMP32_INSN_SIZE;
}

static void emit_trampoline(struct mux_code *code, struct ftrace_mux_call *calls,
			    unsigned int nr)
{
	const struct ftrace_mux_template *t = code->template;
	unsigned int not_guarded = 0, no_rcu = 0, i;
	enum ftrace_mux_how how = MUX_CALL;

	code->size = 0;
	emit_piece(code, t->entry, t->guard);

	for (i = 0; i < nr; i++) {
		if (how == MUX_CALL && calls[i].how != MUX_CALL) {
			emit_piece(code, t->guard, t->rcu);
			not_guarded = code->size;
		}
		if (how != MUX_CALL_RCU && calls[i].how == MUX_CALL_RCU) {
			emit_piece(code, t->rcu, t->args);
			no_rcu = code->size;
		}
		how = calls[i].how;
		emit_call(code, &calls[i], i == 0 && how == MUX_CALL);
	}

	set_jump(code, no_rcu);
	if (how != MUX_CALL)
		emit_piece(code, t->unguard, t->end);
	set_jump(code, not_guarded);

	emit_exit(code);
}

/**
 * arch_ftrace_mux_create - make a trampoline for a combination of tracers
 * @calls: what it is to call, first those that need no help, then those that
 *	need the recursion guard, then those that also need RCU to be watching;
 *	the offset of each call is filled in
 * @nr: their number, at least 1
 * @regs: whether any of them needs a full pt_regs
 * @more: how many calls there has to be room for at the end
 * @size: size of the code in bytes
 * @room: size of the whole trampoline in bytes
 *
 * Context: process context, may sleep; ftrace_lock held, takes text_mutex.
 *
 * Return: the address a call site has to call, 0 if there is no memory.
 */
unsigned long arch_ftrace_mux_create(struct ftrace_mux_call *calls, unsigned int nr,
				     bool regs, unsigned int more,
				     unsigned int *size, unsigned int *room)
{
	struct mux_code code = { .template = find_template(regs) };
	const struct ftrace_mux_template *t = code.template;
	void *tramp;

	if (WARN_ON_ONCE(!template_is_sane(t)))
		return 0;

	emit_trampoline(&code, calls, nr);
	*size = code.size;
	*room = round_up(code.size + more * (t->unguard - t->args + JMP32_INSN_SIZE),
			 MUX_UNIT);

	u8 *buf __free(kfree) = kmalloc(code.size, GFP_KERNEL);
	if (!buf)
		return 0;

	tramp = alloc_units(*room / MUX_UNIT);
	if (!tramp)
		return 0;

	code.buf = buf;
	code.ip = (unsigned long)tramp;

	guard(mutex)(&text_mutex);
	emit_trampoline(&code, calls, nr);
	text_poke_copy_locked(tramp, buf, code.size, false);

	return code.ip;
}

/**
 * arch_ftrace_mux_append - let a trampoline call one more tracer
 * @tramp: what arch_ftrace_mux_create() has returned
 * @regs: what it was made with
 * @call: what it is to call in addition, after all others, without any help;
 *	the offset is filled in
 * @size: size of its code, which grows
 * @room: size of the whole trampoline
 *
 * On return, every CPU that comes to the trampoline makes the call.
 *
 * Context: process context, may sleep; ftrace_lock held, takes text_mutex.
 *
 * Return: 0, or -ENOSPC if there is no room for it.
 */
int arch_ftrace_mux_append(unsigned long tramp, bool regs, struct ftrace_mux_call *call,
			   unsigned int *size, unsigned int room)
{
	const struct ftrace_mux_template *t = find_template(regs);
	void *last = (void *)tramp + *size - JMP32_INSN_SIZE;
	u8 buf[64];
	struct mux_code code = {
		.template = t, .buf = buf, .ip = tramp + *size,
	};

	if (WARN_ON_ONCE(t->unguard - t->args + JMP32_INSN_SIZE > sizeof(buf)) ||
	    *size + t->unguard - t->args + JMP32_INSN_SIZE > room)
		return -ENOSPC;

	guard(mutex)(&text_mutex);
	emit_call(&code, call, false);
	emit_exit(&code);
	text_poke_copy_locked((void *)code.ip, buf, code.size, false);
	perf_event_text_poke((void *)code.ip, NULL, 0, buf, code.size);
	call->offset += *size;
	*size += code.size;

	/* So far this was the end. From now on, go on from here. */
	text_poke_bp(last, x86_nops[JMP32_INSN_SIZE], JMP32_INSN_SIZE, NULL);

	return 0;
}

/**
 * arch_ftrace_mux_free - free a trampoline
 * @tramp: what arch_ftrace_mux_create() has returned
 * @room: and its size
 *
 * Context: process context, may sleep; ftrace_lock held, takes text_mutex. No
 * task may be in the trampoline, or come to it.
 */
void arch_ftrace_mux_free(unsigned long tramp, unsigned int room)
{
	free_units((void *)tramp, room / MUX_UNIT);
}

/**
 * arch_ftrace_mux_set_call - let a trampoline call another function
 * @ip: address of the call instruction in it, or of what was one
 * @func: the function to call from now on, NULL for none
 *
 * Context: process context, may sleep; ftrace_lock held, takes text_mutex.
 */
void arch_ftrace_mux_set_call(unsigned long ip, void *func)
{
	const void *insn;

	guard(mutex)(&text_mutex);
	if (func)
		insn = text_gen_insn(CALL_INSN_OPCODE, (void *)ip,
				     callthunks_translate_call_dest(func));
	else
		insn = x86_nops[CALL_INSN_SIZE];
	if (memcmp((void *)ip, insn, CALL_INSN_SIZE))
		text_poke_bp((void *)ip, insn, CALL_INSN_SIZE, NULL);
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
	const struct ftrace_mux_template *t = find_template(regs);

	if (offset >= t->guard - t->entry)
		return (unsigned long)ftrace_mux_base + t->call;

	return (unsigned long)ftrace_mux_base + t->entry + offset;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: slots, trampolines and call sites on x86_64.
 *
 * The trampolines themselves are in ftrace_mux_64.S.
 */
#include <linux/bug.h>
#include <linux/ftrace.h>
#include <linux/ftrace_mux.h>
#include <linux/memory.h>
#include <linux/string.h>

#include <asm/ftrace_mux.h>
#include <asm/text-patching.h>

/*
 * The third argument of the function each slot jumps to. Read by the
 * trampolines, written under ftrace_lock, and changed only while no task can be
 * on its way to the slot.
 */
struct ftrace_ops *ftrace_mux_ops[FTRACE_MUX_IDS] __read_mostly;

/**
 * arch_ftrace_mux_set_slot - give a slot to a tracer, or take it back
 * @id: the slot, 0 to FTRACE_MUX_IDS - 1
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
 * @mask: the static IDs of the tracers, 1 to (1 << FTRACE_MUX_IDS) - 1
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

/* Whether @addr is where a trampoline starts. They are in order of @offset. */
static bool is_trampoline(unsigned long addr)
{
	u32 offset = addr - (unsigned long)ftrace_mux_base;
	const u32 *offsets = offset < ftrace_mux_regs_caller_offsets[1] ?
			     ftrace_mux_caller_offsets :
			     ftrace_mux_regs_caller_offsets;
	unsigned int low = 1, high = (1 << FTRACE_MUX_IDS) - 1;

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
 * arch_ftrace_mux_callee - the trampoline a call site calls now
 * @ip: address of the call site
 *
 * The call instruction itself is the record of it: of the trampolines, struct
 * dyn_ftrace only tells which one is wanted.
 *
 * Context: ftrace_lock held, which keeps the site from being rewritten.
 *
 * Return: the address, or 0 if @ip does not call one of the trampolines.
 */
unsigned long arch_ftrace_mux_callee(unsigned long ip)
{
	union text_poke_insn insn;
	unsigned long addr;

	memcpy(&insn, (void *)ip, CALL_INSN_SIZE);
	/* A debugger's breakpoint leaves the displacement alone */
	if (insn.opcode != CALL_INSN_OPCODE && insn.opcode != INT3_INSN_OPCODE)
		return 0;

	addr = ip + CALL_INSN_SIZE + insn.disp;
	if (addr < (unsigned long)ftrace_mux_callers ||
	    addr >= (unsigned long)ftrace_mux_callers_end || !is_trampoline(addr))
		return 0;

	return addr;
}

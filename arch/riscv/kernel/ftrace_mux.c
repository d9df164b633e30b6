// SPDX-License-Identifier: GPL-2.0-only
/*
 * Function tracer multiplexer on RISC-V, see <linux/ftrace_mux_arch.h>.
 *
 * In front of each function, there is a literal: the address of an ops, which ftrace_caller()
 * loads. If the function has an entry, the literal is the address of the entry, which looks like
 * an ops: see kernel/trace/mux/ops_entries.c.
 *
 * The entry is written first; then, after smp_wmb(), the literal; then, if the function was not
 * traced, the call site, which becomes a JALR. The loads of ftrace_caller() depend on the literal,
 * so they see what is in the entry.
 *
 * ftrace_lock serializes all changes. Traced functions read without it.
 */
#include <linux/ftrace_mux_arch.h>
#include <linux/align.h>

#include <asm/insn.h>

/* Keep in sync with ftrace_mux_calls.S */
static_assert(offsetof(struct ftrace_mux_ops_entry, call) == 16);
static_assert(offsetof(struct ftrace_mux_call, func) == 0);
static_assert(offsetof(struct ftrace_mux_call, arg) == 8);
static_assert(sizeof(struct ftrace_mux_call) == 16);
static_assert(offsetof(struct ftrace_mux_counted, count) == 0);
static_assert(offsetof(struct ftrace_mux_counted, call) == 8);

#if IS_ENABLED(CONFIG_FTRACE_MUX_TEST)
/**
 * arch_ftrace_mux_site_calls - whether the call site of a function calls an entry
 * @rec: the record of the function
 * @index: the index of the entry
 *
 * Context: ftrace_lock and text_mutex held.
 *
 * Return: true if the literal of the function is the entry, and its call site is a JALR.
 */
bool arch_ftrace_mux_site_calls(const struct dyn_ftrace *rec, unsigned int index)
{
	/* As in ftrace_rec_set_ops() */
	const unsigned long *literal = (const unsigned long *)ALIGN_DOWN(rec->ip - 12, 8);

	return READ_ONCE(*literal) == (unsigned long)ftrace_mux_ops_entry_at(index) &&
	       riscv_insn_is_jalr(*(u32 *)rec->ip);
}
#endif

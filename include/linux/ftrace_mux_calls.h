/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Function tracer multiplexer: combinations and entries that are data, not code.
 *
 * For architectures where data says which entry a function has: the literal in front of the
 * function (DYNAMIC_FTRACE_WITH_CALL_OPS, on arm64 and riscv), or an operand of the call site
 * (MIPS). kernel/trace/mux/calls.c and ops_entries.c provide most of <linux/ftrace_mux_arch.h>:
 *
 * - calls.c provides ftrace_mux_entry_regs(), and all functions of <linux/ftrace_mux_arch.h> except
 *   arch_ftrace_mux_add_entries(), arch_ftrace_mux_call_target() and arch_ftrace_mux_site_calls().
 * - With a literal, ops_entries.c provides these three exceptions, and also
 *   arch_ftrace_mux_call_ptr() and ftrace_mux_rec_ops(). The architecture provides
 *   ftrace_mux_call_entry().
 * - With an operand, the architecture provides the three exceptions and arch_ftrace_mux_call_ptr().
 * - In either case, the architecture provides ftrace_mux_count(), and ftrace_mux_call_2() to
 *   ftrace_mux_call_8().
 */
#ifndef _LINUX_FTRACE_MUX_CALLS_H
#define _LINUX_FTRACE_MUX_CALLS_H

#include <linux/align.h>
#include <linux/ftrace.h>
#include <linux/types.h>

#ifdef CONFIG_FTRACE_MUX

/**
 * struct ftrace_mux_counted - a call that is counted
 * @count: the per-CPU count, see struct ftrace_mux_combo for how to increment it
 * @call: the call that is made then
 */
struct ftrace_mux_counted {
	u64 __percpu		*count;
	const struct ftrace_mux_call *call;
};

/**
 * struct arch_ftrace_mux_combo - what the entries of a combination point to
 * @all: if there are several calls: a call of the function that makes all of them
 * @count_call: if the combination counts its calls: a call of ftrace_mux_count(), with @counted
 * @counted: its argument
 */
struct arch_ftrace_mux_combo {
	struct ftrace_mux_call	all;
	struct ftrace_mux_call	count_call;
	struct ftrace_mux_counted counted;
};

/**
 * struct ftrace_mux_ops_entry - the part of an entry that a traced call reads, with ops_entries.c
 * @func: ftrace_mux_call_entry(), in assembly
 * @direct_call: always 0: ftrace_caller calls @func
 * @call: the call to make: the only one of a combination, or arch.all of it, or arch.count_call of
 *	it while calls are counted; stale if no function has the entry
 *
 * @func is at the same offset as in struct ftrace_ops, and so is @direct_call, if struct ftrace_ops
 * has one: ftrace_caller takes an entry for an ops. One store changes @call. The argument of a
 * call never changes. Its function may: the old and the new one take the same argument. An entry
 * does not cross a cache line.
 */
struct ftrace_mux_ops_entry {
	void			*func;
	unsigned long		direct_call;
	const struct ftrace_mux_call *call;
} __aligned(32);

/* For tests: the literal of the function whose call site is at @ip, as in ftrace_rec_set_ops() */
static inline const unsigned long *ftrace_mux_literal(unsigned long ip)
{
	return (const unsigned long *)ALIGN_DOWN(ip - 12, 8);
}

const struct ftrace_ops *ftrace_mux_rec_ops(const struct dyn_ftrace *rec);
bool ftrace_mux_entry_regs(unsigned int index);

/**
 * arch_ftrace_mux_call_ptr - where an entry has the pointer to its call
 * @index: the index of the entry
 *
 * Context: ftrace_lock held.
 *
 * Return: the address of the pointer.
 */
const struct ftrace_mux_call **arch_ftrace_mux_call_ptr(unsigned int index);

/*
 * The functions below are called like callbacks, in any context, NMI included. They may be
 * preempted, and interrupted by themselves.
 */

/* Makes the call that an entry points to; @op is the struct ftrace_mux_ops_entry */
void ftrace_mux_call_entry(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			   struct ftrace_regs *fregs);
/* Adds one to a count, and makes a call; @op is a struct ftrace_mux_counted */
void ftrace_mux_count(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		      struct ftrace_regs *fregs);

/* Make as many calls as the name says; @op is the array of struct ftrace_mux_call */
#define DECLARE_FTRACE_MUX_CALL(nr)						\
	void ftrace_mux_call_##nr(unsigned long ip, unsigned long parent_ip,	\
				  struct ftrace_ops *op, struct ftrace_regs *fregs)

DECLARE_FTRACE_MUX_CALL(2);
DECLARE_FTRACE_MUX_CALL(3);
DECLARE_FTRACE_MUX_CALL(4);
DECLARE_FTRACE_MUX_CALL(5);
DECLARE_FTRACE_MUX_CALL(6);
DECLARE_FTRACE_MUX_CALL(7);
DECLARE_FTRACE_MUX_CALL(8);

#else /* !CONFIG_FTRACE_MUX */
static inline const struct ftrace_ops *ftrace_mux_rec_ops(const struct dyn_ftrace *rec)
{
	return NULL;
}
#endif

#endif /* _LINUX_FTRACE_MUX_CALLS_H */

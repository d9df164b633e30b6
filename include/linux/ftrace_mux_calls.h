/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Function tracer multiplexer: combinations and entries that are data, not code.
 *
 * For architectures where data beside a call site, as the literal of arm64, holds the address
 * of its entry: kernel/trace/mux/calls.c provides <linux/ftrace_mux_arch.h> for them, except
 * for arch_ftrace_mux_site_addr() and arch_ftrace_mux_site_calls(). These, and the functions
 * at the end of this file, are the architecture's.
 */
#ifndef _LINUX_FTRACE_MUX_CALLS_H
#define _LINUX_FTRACE_MUX_CALLS_H

#include <linux/ftrace.h>
#include <linux/types.h>

/**
 * struct ftrace_mux_counted - a call that is counted
 * @count: the per-CPU count, which is incremented on the processor of the task, or on one that
 *	it has just left
 * @call: the call that is made then
 */
struct ftrace_mux_counted {
	unsigned long __percpu	*count;
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
 * struct ftrace_mux_cell - the part of an entry that a traced call reads
 * @func: ftrace_mux_call_entry(), in assembly
 * @direct_call: always 0: ftrace_caller calls @func
 * @call: the call to make: the only one of a combination, or @all or @count_call of it; stale if no
 *	function has the entry
 *
 * @func and @direct_call, if struct ftrace_ops has a direct_call, are at the same offsets as
 * there: ftrace_caller takes an entry for an ops. One store changes @call. The argument of a
 * call never changes. Its function may: the old and the new one take the same argument. All of
 * it is in one cache line.
 */
struct ftrace_mux_cell {
	void			*func;
	unsigned long		direct_call;
	const struct ftrace_mux_call *call;
} __aligned(32);

struct ftrace_mux_cell *ftrace_mux_cell_at(unsigned int index);

/* Provided by the architecture */

void ftrace_mux_call_entry(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			   struct ftrace_regs *fregs);
/* @op is a struct ftrace_mux_counted */
void ftrace_mux_count(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		      struct ftrace_regs *fregs);
ftrace_func_t arch_ftrace_mux_call_func(unsigned int nr);

#endif /* _LINUX_FTRACE_MUX_CALLS_H */

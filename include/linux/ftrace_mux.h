/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Function tracer multiplexer.
 *
 * Documentation/trace/function-tracers.rst says what it does for users,
 * kernel/trace/mux/entries.c and updates.c how it works, <linux/ftrace_mux_arch.h>
 * what an architecture does.
 */
#ifndef _LINUX_FTRACE_MUX_H
#define _LINUX_FTRACE_MUX_H

#include <linux/errno.h>
#include <linux/types.h>

struct dyn_ftrace;
struct fgraph_ops;
struct fgraph_set;
struct ftrace_ops;
struct ftrace_regs;
struct trace_array;

#ifdef CONFIG_FTRACE_MUX

/* Number of IDs: struct dyn_ftrace has room for masks of this size */
#define FTRACE_MUX_IDS		8

/**
 * struct ftrace_mux_rec - data of the multiplexer in a struct dyn_ftrace
 * @entry: index of the entry that the function has (<linux/ftrace_mux_arch.h>), 0 for none
 * @filter_ids: mask of the IDs of tracers whose filter selects the function
 * @notrace_ids: those of @filter_ids whose notrace list contains the function
 *
 * Written with ftrace_lock held.
 */
struct ftrace_mux_rec {
	u16			entry;
	u8			filter_ids;
	u8			notrace_ids;
};

/**
 * struct ftrace_mux_profiler - for the profiler, which has the filter of the function tracer until
 *	it is given one of its own
 * @ops: the profiler
 * @mod_trace: filters of its own for modules that are not loaded yet
 * @mod_notrace: the same for its notrace list
 * @own: the user has given it a filter that is not empty: it is kept when the profiler is
 *	unregistered
 *
 * @ops is set once. The rest is changed with ftrace_lock held. Filter files and the loading of a
 * module hold ftrace_mux_files_mutex as well.
 */
struct ftrace_mux_profiler {
	struct ftrace_ops	*ops;
	struct list_head	mod_trace;
	struct list_head	mod_notrace;
	bool			own;
};

/**
 * struct ftrace_mux_time - how long calls took
 * @cycles: sum of the calls that were measured, in units of ftrace_mux_clock()
 * @preempted: number of the other calls: the task was preempted during the call
 */
struct ftrace_mux_time {
	u64			cycles;
	u64			preempted;
};

/**
 * struct ftrace_mux_usage - how often a tracer was called
 * @calls: number of calls
 * @time: how long they took, if that was measured; for a graph tracer, only the calls at the entry
 *	of functions
 * @return_cycles: how long the calls of the retfunc of a graph tracer took, without those during
 *	which the task was preempted
 */
struct ftrace_mux_usage {
	u64			calls;
	struct ftrace_mux_time	time;
	u64			return_cycles;
};

/**
 * struct ftrace_mux_tracer - data of the multiplexer in a struct ftrace_ops
 * @node: link in the list of registered tracers, in order of registration
 * @tr: trace instance whose files show the tracer, NULL for the top instance
 * @profiler: for the profiler, NULL for all others
 * @seq: number of this registration, never used twice; 0 if not registered
 * @nr: number of the tracer among registered tracers of the same name
 * @name_hash: hash of the name, to find tracers of the same name
 * @usage: how often it was called by combinations that have been freed. Begins when it is
 *	registered, or when the counting of calls begins, whichever is later; see count.c
 * @since: ktime_get_ns() when it was registered; 0 if calls were not counted then
 * @return_start: for a graph tracer, the cycles of fgraph_read_ret_time() when the measurement of
 *	its calls at returns began
 * @checked_cycles: ftrace_mux_stat_cycles() when limit.c looked the last time
 * @missed: how many calls it has missed since it was registered, see ftrace_missed(); for a graph
 *	tracer: how many calls all graph tracers together had missed when it was registered
 * @id: ID of the tracer plus one; 0 if it has none
 * @is_default: set_ftrace_filter of @tr changes the filter of this tracer
 * @chosen: became the default by a write to function_tracers
 * @held: keep @is_default and @chosen while the tracer is unregistered, see
 *	ftrace_mux_hold_default()
 * @owner_waits: the owner waits before it frees the tracer, see ftrace_mux_set_owner_waits()
 * @incomplete: some of its calls were not counted, see count.c
 *
 * Protected by ftrace_lock, but for @missed. @tr and @owner_waits are also set before the tracer is
 * registered, without the lock. @owner_waits shares a word with other bits, but nothing else writes
 * to this word then: ftrace does not know the tracer yet.
 */
struct ftrace_mux_tracer {
	struct list_head	node;
	struct trace_array	*tr;
	struct ftrace_mux_profiler *profiler;
	u64			seq;
	struct ftrace_mux_usage	usage;
	u64			since;
	u64			return_start;
	u64			checked_cycles;
	atomic_t		missed;
	u32			nr : 24;
	u8			id;
	u32			name_hash : 24;
	bool			is_default : 1;
	bool			chosen : 1;
	bool			held : 1;
	bool			owner_waits : 1;
	bool			incomplete : 1;
};

/**
 * struct ftrace_mux_call - a call that a combination of tracers makes
 * @func: the function that is called, an ftrace_func_t; may change
 * @arg: its third argument: the ops of the tracer if @func is a callback; else what @func takes,
 *	such as a struct fgraph_set (ftrace_graph_set_func()) or a struct ftrace_mux_timed_call
 */
struct ftrace_mux_call {
	void	(*func)(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			struct ftrace_regs *fregs);
	void	*arg;
};

/* Provided by the architecture, or by calls.c if the entries of the architecture are data */
bool is_ftrace_mux_trampoline(unsigned long addr);
int ftrace_mux_get_kallsym(unsigned int symnum, unsigned long *value, char *name);

/* Provided by fgraph.c if arch_fgraph_return_slot is defined, else by the architecture */
void ftrace_graph_set_func(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *op, struct ftrace_regs *fregs);

#else /* !CONFIG_FTRACE_MUX */

static inline bool is_ftrace_mux_trampoline(unsigned long addr) { return false; }
static inline int ftrace_mux_get_kallsym(unsigned int symnum, unsigned long *value,
					 char *name)
{
	return -ERANGE;
}

#endif /* CONFIG_FTRACE_MUX */

struct fgraph_set_member {
	struct fgraph_ops	*gops;
	int			idx;
};

/**
 * struct fgraph_set - the graph tracers that want a function
 * @nr: number of graph tracers
 * @members: the graph tracers, with their indexes in fgraph_array[] when the set was
 *	made; a graph tracer that is no longer at its index may have been freed
 */
struct fgraph_set {
	unsigned int		nr;
	struct fgraph_set_member	members[] __counted_by(nr);
};

/* Not for an architecture that defines arch_fgraph_return_slot */
int function_graph_enter_set(unsigned long ret, unsigned long func,
			     unsigned long frame_pointer, unsigned long *retp,
			     struct ftrace_regs *fregs, const struct fgraph_set *set);

#endif /* _LINUX_FTRACE_MUX_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer: which tracers a function has, see sets.c */
#ifndef _KERNEL_TRACE_MUX_SETS_H
#define _KERNEL_TRACE_MUX_SETS_H

#include <linux/ftrace.h>

/* A function with more tracers than this goes through the list of all registered ops */
#define FTRACE_MUX_MAX_TRACERS	256

/**
 * struct ftrace_mux_set - a set of tracers
 * @graph: indexes of the graph tracers that want the function, as a mask, if several graph
 *	tracers are registered
 * @nr: number of tracers
 * @ops: the tracers, without stubs, which are never called: first the tracers with an ID,
 *	lowest first, then the others, in order of registration
 */
struct ftrace_mux_set {
	unsigned long		graph;
	unsigned int		nr;
	struct ftrace_ops	*ops[FTRACE_MUX_MAX_TRACERS];
};

extern struct ftrace_ops *ftrace_mux_graph_ops;

bool ftrace_mux_has_graph_sets(void);
bool ftrace_mux_wants(struct ftrace_ops *ops, struct dyn_ftrace *rec);
bool ftrace_mux_collect(struct dyn_ftrace *rec, struct ftrace_mux_set *set);
bool ftrace_mux_set_needs_regs(const struct ftrace_mux_set *set);

#endif /* _KERNEL_TRACE_MUX_SETS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer: combinations of tracers, see combinations.c */
#ifndef _KERNEL_TRACE_MUX_COMBINATIONS_H
#define _KERNEL_TRACE_MUX_COMBINATIONS_H

#include <linux/ftrace_mux_arch.h>

struct ftrace_mux_set;

extern struct list_head ftrace_mux_combos;
extern unsigned long ftrace_mux_combos_failed;

/* Whether one of several graph tracers is in the graph set of a combination */
static inline bool ftrace_mux_combo_has_graph(const struct ftrace_mux_combo *combo,
					      const struct ftrace_ops *ops)
{
	const struct fgraph_set *set = combo->graph_set;

	for (unsigned int n = 0; set && n < set->nr; n++) {
		if (&set->members[n].gops->ops == ops)
			return true;
	}

	return false;
}

/*
 * Whether a tracer is one of a combination. False for the only graph tracer: the combination has
 * the manager.
 */
static inline bool ftrace_mux_combo_has(const struct ftrace_mux_combo *combo,
					const struct ftrace_ops *ops)
{
	for (unsigned int n = 0; n < combo->nr; n++) {
		if (combo->ops[n] == ops)
			return true;
	}

	return ftrace_mux_combo_has_graph(combo, ops);
}

struct ftrace_mux_combo *ftrace_mux_combo_find(const struct ftrace_mux_set *set);
struct ftrace_mux_combo *ftrace_mux_combo_find_or_create(const struct ftrace_mux_set *set);
void ftrace_mux_combo_to_set(const struct ftrace_mux_combo *combo, struct ftrace_mux_set *set);
void ftrace_mux_combo_free(struct ftrace_mux_combo *combo);
bool ftrace_mux_combo_equals(const struct ftrace_mux_combo *combo,
			     const struct ftrace_mux_set *set);
bool ftrace_mux_combo_reaches(const struct ftrace_mux_combo *combo,
			      const struct ftrace_ops *ops);
unsigned long ftrace_mux_combo_functions(const struct ftrace_mux_combo *combo);

#endif /* _KERNEL_TRACE_MUX_COMBINATIONS_H */

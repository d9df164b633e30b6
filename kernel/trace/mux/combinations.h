/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer: combinations of tracers, see combinations.c */
#ifndef _KERNEL_TRACE_MUX_COMBINATIONS_H
#define _KERNEL_TRACE_MUX_COMBINATIONS_H

#include <linux/ftrace.h>
#include <linux/rbtree_latch.h>

/* A function with more tracers than this goes through the list of all */
#define FTRACE_MUX_MAX_TRACERS	256

#define FTRACE_MUX_TRAMPOLINE_SYM	"ftrace_mux_trampoline"

/**
 * struct ftrace_mux_set - a set of tracers
 * @graph: indexes of the graph tracers, as a mask, if there are several
 * @nr: number of tracers
 * @ops: the tracers: those with an ID, lowest first, then the others, in order of
 *	registration
 */
struct ftrace_mux_set {
	unsigned long		graph;
	unsigned int		nr;
	struct ftrace_ops	*ops[FTRACE_MUX_MAX_TRACERS];
};

/**
 * struct ftrace_mux_combo - a combination of tracers, and its trampoline
 * @tree: link in the tree of trampolines on demand, by address
 * @hash: link in the table of combinations, unless @set is out of date
 * @node: link in the list of all combinations
 * @entries: the entries that lead to @tramp
 * @rcu: for kfree_rcu()
 * @tramp: address of the trampoline
 * @size: its size in bytes; 0 if it is a static one
 * @regs: @tramp saves a full pt_regs, since one of the tracers has FTRACE_OPS_FL_SAVE_REGS
 * @left: an entry has been pointed to another trampoline since the last sweep
 * @graph: indexes of the graph tracers, as a mask, if there are several
 * @set: the same, for ftrace_graph_set_func()
 * @nr: number of tracers
 * @ops: the tracers, in the order of struct ftrace_mux_set
 */
struct ftrace_mux_combo {
	struct latch_tree_node	tree;
	struct hlist_node	hash;
	struct list_head	node;
	struct list_head	entries;
	struct rcu_head		rcu;
	unsigned long		tramp;
	unsigned int		size;
	bool			regs;
	bool			left;
	unsigned long		graph;
	struct fgraph_set	*set;
	unsigned int		nr;
	struct ftrace_ops	*ops[] __counted_by(nr);
};

extern struct list_head ftrace_mux_combos;
extern unsigned long ftrace_mux_combos_failed;
extern struct ftrace_ops *ftrace_mux_graph_ops;

bool ftrace_mux_wants(struct ftrace_ops *ops, struct dyn_ftrace *rec);
struct ftrace_ops *ftrace_mux_graph_manager(void);

bool ftrace_mux_collect(struct dyn_ftrace *rec, struct ftrace_mux_set *set);
bool ftrace_mux_set_equals(const struct ftrace_mux_set *set,
			   const struct ftrace_mux_combo *combo);

struct ftrace_mux_combo *ftrace_mux_combo_find(const struct ftrace_mux_set *set);
struct ftrace_mux_combo *ftrace_mux_combo_get(const struct ftrace_mux_set *set);
void ftrace_mux_combo_free(struct ftrace_mux_combo *combo);
bool ftrace_mux_combo_has(const struct ftrace_mux_combo *combo,
			  const struct ftrace_ops *ops);
struct ftrace_mux_combo *ftrace_mux_combo_at(unsigned long addr);

#endif /* _KERNEL_TRACE_MUX_COMBINATIONS_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: which tracers a function has.
 *
 * If a tracer has an ID, the masks in the record of a function tell whether it wants the
 * function. If it has none, its filter tells. All graph tracers share one ops, the manager. If
 * there are several, their filters tell which of them want a function that the manager wants.
 *
 * Protected by ftrace_lock.
 */
#include <linux/bitops.h>
#include <linux/minmax.h>

#include "../ftrace_internal.h"
#include "ids.h"
#include "sets.h"

/* The manager: set when the first graph tracer is registered, and never changed */
struct ftrace_ops *ftrace_mux_graph_ops;

static bool filter_selects(struct ftrace_ops *ops, unsigned long ip)
{
	struct ftrace_hash *notrace_hash = ftrace_locked_hash(ops->func_hash->notrace_hash);
	struct ftrace_hash *filter = ftrace_locked_hash(ops->func_hash->filter_hash);

	return (ftrace_hash_empty(filter) || ftrace_lookup_ip(filter, ip)) &&
	       !ftrace_lookup_ip(notrace_hash, ip);
}

/**
 * ftrace_mux_wants - whether a tracer wants a function
 * @ops: the tracer
 * @rec: record of the function
 *
 * Context: ftrace_lock held.
 *
 * Return: true if @ops is registered and wants the function: by the masks if it has an ID, else by
 * its filter.
 */
bool ftrace_mux_wants(struct ftrace_ops *ops, struct dyn_ftrace *rec)
{
	if (ops->mux.id)
		return ftrace_mux_rec_mask(rec) & BIT(ops->mux.id - 1);

	return ops->flags & FTRACE_OPS_FL_ENABLED && filter_selects(ops, rec->ip);
}

/**
 * ftrace_mux_has_graph_sets - whether functions have sets of graph tracers
 *
 * Context: ftrace_lock held.
 *
 * Return: true if two or more graph tracers are registered.
 */
bool ftrace_mux_has_graph_sets(void)
{
	lockdep_assert_held(&ftrace_lock);

	return ftrace_mux_graph_ops && !list_empty(&ftrace_mux_graph_ops->subop_list) &&
	       !list_is_singular(&ftrace_mux_graph_ops->subop_list);
}

/* The graph tracers of @rec, as a mask of their indexes */
static unsigned long collect_graph(struct dyn_ftrace *rec)
{
	unsigned long graph = 0;
	struct fgraph_ops *gops;

	list_for_each_entry(gops, &ftrace_mux_graph_ops->subop_list, ops.list) {
		if (filter_selects(&gops->ops, rec->ip))
			graph |= BIT(gops->idx);
	}

	return graph;
}

/**
 * ftrace_mux_collect - find the tracers of a function
 * @rec: record of the function
 * @set: filled in with its tracers
 *
 * Tracers with an ID are found by the masks of the record, others by their filters.
 *
 * Context: ftrace_lock held.
 *
 * Return: false if there are too many, or their number is not ftrace_rec_count(), which would be a
 * bug of ftrace: the function gets no entry, and goes through the list, which loses no call.
 */
bool ftrace_mux_collect(struct dyn_ftrace *rec, struct ftrace_mux_set *set)
{
	unsigned int count = ftrace_rec_count(rec), stubs = 0, first, id;
	unsigned long mask = ftrace_mux_rec_mask(rec);
	struct ftrace_ops *ops;

	lockdep_assert_held(&ftrace_lock);

	set->nr = 0;
	set->graph = 0;
	if (count > FTRACE_MUX_MAX_TRACERS)
		return false;

	if (ftrace_mux_has_graph_sets() && ftrace_mux_wants(ftrace_mux_graph_ops, rec))
		set->graph = collect_graph(rec);

	for_each_set_bit(id, &mask, FTRACE_MUX_IDS)
		set->ops[set->nr++] = ftrace_mux_id_owner(id);

	if (set->nr == count)
		return true;

	first = set->nr;
	do_for_each_ftrace_op(ops, ftrace_ops_list) {
		if (ops->mux.id || !ftrace_mux_wants(ops, rec))
			continue;
		if (ops->flags & FTRACE_OPS_FL_STUB)
			stubs++;
		else if (set->nr + stubs < count)
			set->ops[set->nr++] = ops;
		else
			return false;
	} while_for_each_ftrace_op(ops);

	/* The list starts with the tracer that was registered last */
	for (unsigned int last = set->nr; first + 1 < last; first++, last--)
		swap(set->ops[first], set->ops[last - 1]);

	return set->nr + stubs == count;
}

/**
 * ftrace_mux_set_needs_regs - whether a tracer of a set needs all registers
 * @set: the set
 *
 * Context: ftrace_lock held.
 *
 * Return: true if one has FTRACE_OPS_FL_SAVE_REGS.
 */
bool ftrace_mux_set_needs_regs(const struct ftrace_mux_set *set)
{
	for (unsigned int n = 0; n < set->nr; n++) {
		if (set->ops[n]->flags & FTRACE_OPS_FL_SAVE_REGS)
			return true;
	}

	return false;
}

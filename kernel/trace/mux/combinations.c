// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: combinations of tracers.
 *
 * A combination is a set of tracers that some functions have. There is one object for
 * each set, found by a hash of its members. It lists the calls that the architecture
 * makes for these functions, one for each tracer. All graph tracers share one ops, the manager.
 * If several are registered, the call of the manager is made to ftrace_graph_set_func(), with
 * the set of the graph tracers that want the function.
 *
 * Functions reach a combination through entries, see entries.c. A combination is freed
 * if no entry leads to it, and no task can be in one of its calls: see quiesce.c.
 *
 * Protected by ftrace_lock. The architecture may look up a combination from any
 * context, by RCU.
 */
#include <linux/bitops.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "combinations.h"
#include "count.h"
#include "entries.h"
#include "fault.h"
#include "mux.h"
#include "sets.h"
#include "time.h"

static DEFINE_HASHTABLE(combo_hash, 10);

/* All combinations */
LIST_HEAD(ftrace_mux_combos);

/* How often since boot a combination could not be made */
unsigned long ftrace_mux_combos_failed;

/* Graph tracers */

static struct fgraph_set *create_graph_set(unsigned long graph)
{
	struct fgraph_ops *gops;
	struct fgraph_set *set;

	set = kzalloc(struct_size(set, members, hweight_long(graph)), GFP_KERNEL);
	if (!set)
		return NULL;

	list_for_each_entry(gops, &ftrace_mux_graph_ops->subop_list, ops.list) {
		if (!(graph & BIT(gops->idx)))
			continue;
		set->nr++;
		set->members[set->nr - 1].gops = gops;
		set->members[set->nr - 1].idx = gops->idx;
	}

	return set;
}

static bool passes_graph_set(const struct ftrace_mux_combo *combo, unsigned int n)
{
	return combo->graph && combo->ops[n] == ftrace_mux_graph_ops;
}

/* Combinations */

/**
 * ftrace_mux_combo_equals - whether a combination is that of a set
 * @combo: the combination
 * @set: the set
 *
 * Graph tracers are compared by their indexes, and a new graph tracer may get the index of one that
 * is gone. So @combo must be in the table: when a graph tracer is removed,
 * ftrace_mux_combo_forget_graph() takes its combinations off the table. If graph tracers have not
 * changed since the last update, @combo may also be the combination of an entry that functions
 * have. An update after such a change checks all records, and does not compare the combinations of
 * entries.
 *
 * Context: ftrace_lock held.
 *
 * Return: true if they have the same tracers, and need the same registers.
 */
bool ftrace_mux_combo_equals(const struct ftrace_mux_combo *combo,
			     const struct ftrace_mux_set *set)
{
	return combo->nr == set->nr && combo->graph == set->graph &&
	       combo->regs == ftrace_mux_set_needs_regs(set) &&
	       !memcmp(combo->ops, set->ops, set->nr * sizeof(*set->ops));
}

static u32 set_hash(const struct ftrace_mux_set *set)
{
	return jhash(set->ops, set->nr * sizeof(*set->ops), set->graph);
}

/**
 * ftrace_mux_combo_find - the combination of a set of tracers, if there is one
 * @set: the tracers
 *
 * Combinations of an earlier generation are not found: they were made before the mode of
 * function_tracers_stat (enum ftrace_mux_mode) changed, and may count calls, or measure their time,
 * although the mode does not do that any more, or the other way round. See count.c.
 *
 * Context: ftrace_lock held.
 *
 * Return: the combination, NULL if it does not exist.
 */
struct ftrace_mux_combo *ftrace_mux_combo_find(const struct ftrace_mux_set *set)
{
	struct ftrace_mux_combo *combo;

	lockdep_assert_held(&ftrace_lock);

	hash_for_each_possible(combo_hash, combo, hash, set_hash(set)) {
		if (ftrace_mux_count_is_current(combo) &&
		    ftrace_mux_combo_equals(combo, set))
			return combo;
	}

	return NULL;
}

static ftrace_func_t call_func(const struct ftrace_mux_combo *combo, unsigned int n)
{
	return passes_graph_set(combo, n) ? ftrace_graph_set_func :
					    ftrace_ops_get_func(combo->ops[n]);
}

static int init_calls(struct ftrace_mux_combo *combo)
{
	combo->calls = kmalloc_array(combo->nr, sizeof(*combo->calls), GFP_KERNEL);
	if (!combo->calls || ftrace_mux_should_fail())
		return -ENOMEM;

	if (combo->graph) {
		combo->graph_set = create_graph_set(combo->graph);
		if (!combo->graph_set)
			return -ENOMEM;
	}

	for (unsigned int n = 0; n < combo->nr; n++) {
		combo->calls[n].func = call_func(combo, n);
		combo->calls[n].arg = passes_graph_set(combo, n) ? (void *)combo->graph_set :
								   combo->ops[n];
	}

	return 0;
}

static void free_calls(struct ftrace_mux_combo *combo)
{
	kfree(combo->calls);
	kfree(combo->graph_set);
}

/* Without memory to count the calls, they are made nevertheless */
static int init_arch(struct ftrace_mux_combo *combo)
{
	ftrace_mux_count_init(combo);
	if (combo->count) {
		if (!ftrace_mux_should_fail() && !arch_ftrace_mux_init_combo(combo))
			return 0;
		ftrace_mux_count_cancel(combo);
	}

	return arch_ftrace_mux_init_combo(combo);
}

static struct ftrace_mux_combo *create_combo(const struct ftrace_mux_set *set)
{
	struct ftrace_mux_combo *combo;

	if (ftrace_mux_should_fail())
		return NULL;

	combo = kzalloc(struct_size(combo, ops, set->nr), GFP_KERNEL);
	if (!combo)
		return NULL;

	INIT_LIST_HEAD(&combo->entries);
	combo->nr = set->nr;
	combo->graph = set->graph;
	memcpy(combo->ops, set->ops, set->nr * sizeof(*set->ops));
	combo->regs = ftrace_mux_set_needs_regs(set);

	if (init_calls(combo) || init_arch(combo)) {
		free_calls(combo);
		kfree(combo);
		return NULL;
	}

	list_add_tail(&combo->node, &ftrace_mux_combos);
	hash_add(combo_hash, &combo->hash, set_hash(set));

	return combo;
}

/**
 * ftrace_mux_combo_find_or_create - the combination of a set of tracers, which may be new
 * @set: the tracers, at least one
 *
 * Context: process context, may sleep; ftrace_lock held.
 *
 * Return: the combination, NULL if there is no memory for it.
 */
struct ftrace_mux_combo *ftrace_mux_combo_find_or_create(const struct ftrace_mux_set *set)
{
	struct ftrace_mux_combo *combo = ftrace_mux_combo_find(set);

	if (combo)
		return combo;

	combo = create_combo(set);
	if (!combo)
		ftrace_mux_combos_failed++;

	return combo;
}

/**
 * ftrace_mux_combo_to_set - copy the tracers of a combination to a set
 * @combo: the combination, in use
 * @set: filled in with its tracers
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_combo_to_set(const struct ftrace_mux_combo *combo, struct ftrace_mux_set *set)
{
	set->graph = combo->graph;
	set->nr = combo->nr;
	memcpy(set->ops, combo->ops, combo->nr * sizeof(*combo->ops));
}

/**
 * ftrace_mux_combo_free - free a combination
 * @combo: the combination; no entry leads to it, no task can be in one of its calls
 *
 * Context: process context, may sleep; ftrace_lock held.
 */
void ftrace_mux_combo_free(struct ftrace_mux_combo *combo)
{
	lockdep_assert_held(&ftrace_lock);

	hash_del(&combo->hash);
	list_del(&combo->node);
	arch_ftrace_mux_exit_combo(combo);
	ftrace_mux_count_free(combo);
	free_calls(combo);
	kfree_rcu(combo, rcu);
}

/**
 * ftrace_mux_combo_reaches - whether functions with a combination call a tracer now, itself or
 *	through the manager of graph tracers
 * @combo: the combination, which functions have
 * @ops: the tracer, registered
 *
 * If there is only one graph tracer, it is called through the manager.
 *
 * Context: ftrace_lock held.
 *
 * Return: true if they do.
 */
bool ftrace_mux_combo_reaches(const struct ftrace_mux_combo *combo, const struct ftrace_ops *ops)
{
	if (combo->graph || !(ops->flags & FTRACE_OPS_FL_SUBOP))
		return ftrace_mux_combo_has(combo, ops);

	return list_is_singular(&ops->managed->subop_list) &&
	       ftrace_mux_combo_has(combo, ops->managed);
}

/**
 * ftrace_mux_combo_functions - how many functions have a combination
 * @combo: the combination
 *
 * Context: ftrace_lock held.
 *
 * Return: their number.
 */
unsigned long ftrace_mux_combo_functions(const struct ftrace_mux_combo *combo)
{
	struct ftrace_mux_entry *entry;
	unsigned long functions = 0;

	list_for_each_entry(entry, &combo->entries, node)
		functions += entry->functions;

	return functions;
}

static void set_call(struct ftrace_mux_combo *combo, unsigned int n, ftrace_func_t func)
{
	if (combo->timed) {
		ftrace_mux_time_set_func(combo, n, func);
		return;
	}

	WRITE_ONCE(combo->calls[n].func, func);
	arch_ftrace_mux_set_call(combo, n);
}

/* In all combinations, have the function of @ops called, or ftrace_stub() if @silent */
static void set_calls(struct ftrace_ops *ops, bool silent)
{
	struct ftrace_mux_combo *combo;

	lockdep_assert_held(&ftrace_lock);

	arch_ftrace_mux_begin();
	list_for_each_entry(combo, &ftrace_mux_combos, node) {
		for (unsigned int n = 0; n < combo->nr; n++) {
			if (combo->ops[n] == ops)
				set_call(combo, n, silent ? ftrace_stub : call_func(combo, n));
		}
	}
	arch_ftrace_mux_end();
}

/**
 * ftrace_mux_update_func - follow a change of the function of a tracer
 * @ops: the tracer whose ops->func has changed, registered or about to be
 *
 * Context: process context, may sleep; ftrace_lock held.
 *
 * Return: true if that is all. False if @ops has a trampoline of its own, which ftrace has to
 * update, or if the multiplexer is off, and ftrace may have to make one.
 */
bool ftrace_mux_update_func(struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);

	set_calls(ops, false);

	return ftrace_mux_enabled && !ops->trampoline;
}

/**
 * ftrace_mux_combo_silence - have ftrace_stub() called instead of a tracer
 * @ops: a tracer that could not be unregistered because ftrace is dead
 *
 * Call sites and entries stay as they are. A task may still be in the function of @ops until a
 * grace period of both flavors of Tasks RCU has passed. @ops may be freed after that.
 *
 * Context: process context, may sleep; ftrace_lock held.
 */
void ftrace_mux_combo_silence(struct ftrace_ops *ops)
{
	set_calls(ops, true);
}

/**
 * ftrace_mux_combo_forget_graph - forget a graph tracer that was removed
 * @ops: the graph tracer
 *
 * Another one may get its index: take its combinations off the table.
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_combo_forget_graph(struct ftrace_ops *ops)
{
	struct ftrace_mux_combo *combo;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(combo, &ftrace_mux_combos, node) {
		if (ftrace_mux_combo_has_graph(combo, ops))
			hash_del(&combo->hash);
	}
}

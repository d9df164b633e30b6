// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: combinations of tracers, and their trampolines.
 *
 * A combination is a set of tracers that some function has. There is one object
 * for each set, found by a hash of its members, and it has a trampoline that calls
 * exactly these. If all of them have static IDs, that is the static trampoline of
 * their mask, else one that is made on demand. So is that for several graph
 * tracers, which share an ops: it passes their set to ftrace_graph_set_func().
 *
 * Functions reach the trampoline through entries, see entries.c. A combination is
 * freed if no entry leads to its trampoline, and no task is in it: see quiesce.c.
 *
 * Protected by ftrace_lock, with one exception: the unwinder, perf and kallsyms
 * look up trampolines from any context, in a latched tree and a list that are safe
 * under RCU.
 */
#include <linux/bitops.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/perf_event.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "check.h"
#include "combinations.h"
#include "ids.h"
#include "mux.h"

static DEFINE_HASHTABLE(combo_hash, 10);
static struct latch_tree_root combo_tree __cacheline_aligned;

/* All combinations */
LIST_HEAD(ftrace_mux_combos);

/* How often since boot a trampoline could not be made */
unsigned long ftrace_mux_combos_failed;

/* The ops that all graph tracers share, NULL before the first of them */
struct ftrace_ops *ftrace_mux_graph_ops;

/* Trampolines by address */

static __always_inline struct ftrace_mux_combo *combo_of(struct latch_tree_node *n)
{
	return container_of(n, struct ftrace_mux_combo, tree);
}

static __always_inline bool combo_tree_less(struct latch_tree_node *a,
					    struct latch_tree_node *b)
{
	return combo_of(a)->tramp < combo_of(b)->tramp;
}

static __always_inline int combo_tree_comp(void *key, struct latch_tree_node *n)
{
	const struct ftrace_mux_combo *combo = combo_of(n);
	unsigned long addr = (unsigned long)key;

	if (addr < combo->tramp)
		return -1;
	if (addr >= combo->tramp + combo->size)
		return 1;

	return 0;
}

static const struct latch_tree_ops combo_tree_ops = {
	.less	= combo_tree_less,
	.comp	= combo_tree_comp,
};

/**
 * ftrace_mux_combo_at - find a trampoline that was made on demand
 * @addr: an address in it, or not
 *
 * Context: any, NMI included; preemption disabled.
 *
 * Return: its combination, NULL if there is no such trampoline.
 */
struct ftrace_mux_combo *ftrace_mux_combo_at(unsigned long addr)
{
	struct latch_tree_node *n;

	n = latch_tree_find((void *)addr, &combo_tree, &combo_tree_ops);

	return n ? combo_of(n) : NULL;
}

/* Which tracers a record has */

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
 * Return: true if it does, be it registered with an ID or without.
 */
bool ftrace_mux_wants(struct ftrace_ops *ops, struct dyn_ftrace *rec)
{
	if (ops->mux.id)
		return ftrace_mux_rec_mask(rec) & BIT(ops->mux.id - 1);

	return ops->flags & FTRACE_OPS_FL_ENABLED && filter_selects(ops, rec->ip);
}

/**
 * ftrace_mux_graph_manager - the ops of the graph tracers, if there are several
 *
 * Context: ftrace_lock held.
 *
 * Return: the ops, NULL if there are less than two graph tracers: nothing needs
 * to be told apart then.
 */
struct ftrace_ops *ftrace_mux_graph_manager(void)
{
	lockdep_assert_held(&ftrace_lock);

	if (!ftrace_mux_graph_ops || list_empty(&ftrace_mux_graph_ops->subop_list) ||
	    list_is_singular(&ftrace_mux_graph_ops->subop_list))
		return NULL;

	return ftrace_mux_graph_ops;
}

/* The graph tracers of @rec, as a mask of their indexes */
static unsigned long collect_graph(struct ftrace_ops *manager, struct dyn_ftrace *rec)
{
	unsigned long graph = 0;
	struct fgraph_ops *gops;

	list_for_each_entry(gops, &manager->subop_list, ops.list) {
		if (filter_selects(&gops->ops, rec->ip))
			graph |= BIT(gops->idx);
	}

	return graph;
}

static struct fgraph_set *create_graph_set(unsigned long graph)
{
	struct fgraph_ops *gops;
	struct fgraph_set *set;

	set = kzalloc(struct_size(set, gops, hweight_long(graph)), GFP_KERNEL);
	if (!set)
		return NULL;

	list_for_each_entry(gops, &ftrace_mux_graph_ops->subop_list, ops.list) {
		if (!(graph & BIT(gops->idx)))
			continue;
		set->nr++;
		set->gops[set->nr - 1].gops = gops;
		set->gops[set->nr - 1].idx = gops->idx;
	}

	return set;
}

static bool graph_set_has(const struct fgraph_set *set, const struct ftrace_ops *ops)
{
	for (unsigned int i = 0; set && i < set->nr; i++) {
		if (&set->gops[i].gops->ops == ops)
			return true;
	}

	return false;
}

/**
 * ftrace_mux_collect - find the tracers of a function by their filters
 * @rec: record of the function
 * @set: filled in with its tracers
 *
 * Context: ftrace_lock held.
 *
 * Return: false if there are too many, or not those that have been counted.
 */
bool ftrace_mux_collect(struct dyn_ftrace *rec, struct ftrace_mux_set *set)
{
	unsigned int count = ftrace_rec_count(rec), stubs = 0, first, id;
	unsigned long mask = ftrace_mux_rec_mask(rec);
	struct ftrace_ops *manager = ftrace_mux_graph_manager();
	struct ftrace_ops *ops;

	lockdep_assert_held(&ftrace_lock);

	set->nr = 0;
	set->graph = 0;
	if (count > FTRACE_MUX_MAX_TRACERS)
		return false;

	if (manager && ftrace_mux_wants(manager, rec))
		set->graph = collect_graph(manager, rec);

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

	/* The list starts with the one that was registered last */
	for (unsigned int last = set->nr; first + 1 < last; first++, last--)
		swap(set->ops[first], set->ops[last - 1]);

	return set->nr + stubs == count;
}

/* Whether the trampoline of a set has to save all registers */
static bool set_needs_regs(const struct ftrace_mux_set *set)
{
	for (unsigned int n = 0; n < set->nr; n++) {
		if (set->ops[n]->flags & FTRACE_OPS_FL_SAVE_REGS)
			return true;
	}

	return false;
}

/**
 * ftrace_mux_set_equals - whether a combination is that of a set
 * @set: the set
 * @combo: the combination
 *
 * Return: true if they have the same tracers, and need the same trampoline.
 */
bool ftrace_mux_set_equals(const struct ftrace_mux_set *set,
			   const struct ftrace_mux_combo *combo)
{
	return combo->nr == set->nr && combo->graph == set->graph &&
	       combo->regs == set_needs_regs(set) &&
	       !memcmp(combo->ops, set->ops, set->nr * sizeof(*set->ops));
}

/* Combinations */

static u32 set_hash(const struct ftrace_mux_set *set)
{
	return jhash(set->ops, set->nr * sizeof(*set->ops), set->graph);
}

/**
 * ftrace_mux_combo_find - the combination of a set of tracers, if there is one
 * @set: the tracers
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
		if (ftrace_mux_set_equals(set, combo))
			return combo;
	}

	return NULL;
}

static void publish(struct ftrace_mux_combo *combo)
{
	latch_tree_insert(&combo->tree, &combo_tree, &combo_tree_ops);
	/* kallsyms first, then the perf events: see ftrace_update_trampoline() */
	list_add_tail_rcu(&combo->node, &ftrace_mux_combos);
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, combo->tramp, combo->size,
			   false, FTRACE_MUX_TRAMPOLINE_SYM);
	perf_event_text_poke((void *)combo->tramp, NULL, 0,
			     (void *)combo->tramp, combo->size);
}

static bool passes_graph_set(const struct ftrace_mux_combo *combo, unsigned int n)
{
	return combo->graph && combo->ops[n] == ftrace_mux_graph_ops;
}

/* The function that the trampoline of @combo calls for its n-th tracer */
static void *call_func(const struct ftrace_mux_combo *combo, unsigned int n)
{
	return passes_graph_set(combo, n) ? ftrace_graph_set_func :
					    (void *)ftrace_ops_get_func(combo->ops[n]);
}

static void set_call(struct ftrace_mux_combo *combo, unsigned int n, void *func)
{
	arch_ftrace_mux_set_call(combo->tramp, combo->nr, n, combo->regs, func);
}

static void set_calls(struct ftrace_mux_combo *combo)
{
	arch_ftrace_mux_begin();
	for (unsigned int n = 0; n < combo->nr; n++)
		set_call(combo, n, call_func(combo, n));
	arch_ftrace_mux_end();
}

/* The static trampoline of @combo, 0 if there is none */
static unsigned long static_trampoline(struct ftrace_mux_combo *combo)
{
	unsigned int mask = 0;

	if (combo->graph)
		return 0;

	for (unsigned int n = 0; n < combo->nr; n++) {
		if (!combo->ops[n]->mux.id || combo->ops[n]->mux.id > FTRACE_MUX_STATIC_IDS)
			return 0;
		mask |= BIT(combo->ops[n]->mux.id - 1);
	}

	return arch_ftrace_mux_caller(mask, combo->regs);
}

static bool make_trampoline(struct ftrace_mux_combo *combo)
{
	struct ftrace_mux_call *calls __free(kfree) =
		kmalloc_array(combo->nr, sizeof(*calls), GFP_KERNEL);

	if (!calls || ftrace_mux_fails())
		return false;

	if (combo->graph) {
		combo->set = create_graph_set(combo->graph);
		if (!combo->set)
			return false;
	}

	for (unsigned int n = 0; n < combo->nr; n++) {
		calls[n].func = call_func(combo, n);
		calls[n].arg = combo->ops[n];
		if (passes_graph_set(combo, n))
			calls[n].arg = combo->set;
	}

	combo->tramp = arch_ftrace_mux_create(calls, combo->nr, combo->regs, &combo->size);

	return combo->tramp;
}

static struct ftrace_mux_combo *create_combo(const struct ftrace_mux_set *set)
{
	struct ftrace_mux_combo *combo;

	if (ftrace_mux_fails())
		return NULL;

	combo = kzalloc(struct_size(combo, ops, set->nr), GFP_KERNEL);
	if (!combo)
		return NULL;

	INIT_LIST_HEAD(&combo->entries);
	combo->nr = set->nr;
	combo->graph = set->graph;
	memcpy(combo->ops, set->ops, set->nr * sizeof(*set->ops));
	combo->regs = set_needs_regs(set);

	combo->tramp = static_trampoline(combo);
	if (combo->tramp) {
		set_calls(combo);
		list_add_tail_rcu(&combo->node, &ftrace_mux_combos);
	} else if (make_trampoline(combo)) {
		publish(combo);
	} else {
		kfree(combo->set);
		kfree(combo);
		return NULL;
	}

	hash_add(combo_hash, &combo->hash, set_hash(set));

	return combo;
}

/**
 * ftrace_mux_combo_get - the combination of a set of tracers
 * @set: the tracers, at least one
 *
 * Context: process context, may sleep; ftrace_lock held.
 *
 * Return: the combination, NULL if there is no memory for it.
 */
struct ftrace_mux_combo *ftrace_mux_combo_get(const struct ftrace_mux_set *set)
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
 * ftrace_mux_combo_free - free a combination
 * @combo: the combination; no entry leads to its trampoline, no task is in it
 *
 * Context: process context, may sleep; ftrace_lock held.
 */
void ftrace_mux_combo_free(struct ftrace_mux_combo *combo)
{
	lockdep_assert_held(&ftrace_lock);

	hash_del(&combo->hash);
	if (combo->size) {
		perf_event_text_poke((void *)combo->tramp, (void *)combo->tramp,
				     combo->size, NULL, 0);
		perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, combo->tramp, combo->size,
				   true, FTRACE_MUX_TRAMPOLINE_SYM);
		latch_tree_erase(&combo->tree, &combo_tree, &combo_tree_ops);
		arch_ftrace_mux_free(combo->tramp, combo->size);
	}
	list_del_rcu(&combo->node);
	kfree(combo->set);
	kfree_rcu(combo, rcu);
}

/**
 * ftrace_mux_combo_has - whether a tracer is one of a combination
 * @combo: the combination
 * @ops: the tracer, also one of the graph tracers, if there are several
 *
 * Context: ftrace_lock held.
 *
 * Return: true if it is.
 */
bool ftrace_mux_combo_has(const struct ftrace_mux_combo *combo,
			  const struct ftrace_ops *ops)
{
	for (unsigned int n = 0; n < combo->nr; n++) {
		if (combo->ops[n] == ops)
			return true;
	}

	return graph_set_has(combo->set, ops);
}

/**
 * ftrace_mux_combo_set_calls - patch the calls of a tracer in all trampolines
 * @ops: the tracer
 * @silent: whether they are to call ftrace_stub(). If not, they call what they would
 *	call if they were made now: the function of @ops may have changed.
 *
 * A tracer that could not be unregistered because ftrace has failed is silenced. Call
 * sites and entries stay as they are. A task may still be in its function until a grace
 * period of both flavors of Tasks RCU has passed. Then it may be freed.
 *
 * Context: process context, may sleep; ftrace_lock held.
 */
void ftrace_mux_combo_set_calls(struct ftrace_ops *ops, bool silent)
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
 * ftrace_mux_combo_forget_graph - a graph tracer has been removed
 * @ops: the graph tracer
 *
 * Another one may get its index: do not find its combinations any more.
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_combo_forget_graph(struct ftrace_ops *ops)
{
	struct ftrace_mux_combo *combo;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(combo, &ftrace_mux_combos, node) {
		if (graph_set_has(combo->set, ops))
			hash_del(&combo->hash);
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: trampolines on demand.
 *
 * The static trampolines serve combinations of the tracers with the lowest IDs.
 * A trampoline is made on demand
 *
 *  - for a combination with a tracer that has a higher ID, or none;
 *  - for a combination with several tracers that need the recursion guard: the
 *    trampoline takes it once for all of them, where ftrace_ops_assist_func()
 *    takes it for each;
 *  - for a function with several graph tracers, which share an ops: the
 *    trampoline passes their set to ftrace_graph_set_func().
 *
 * All functions with the same tracers share a trampoline.
 *
 * ftrace_mux_prepare() makes all trampolines that are missing, before call sites
 * are updated. The update only looks them up: it gets the same answer however
 * often it asks for a record, and it patches code where it cannot allocate. If
 * there is no memory, the combination is kept without a trampoline. Its functions
 * go through a static trampoline if that calls all their tracers, else through
 * ftrace_ops_list_func(). The next update tries again.
 *
 * If all functions that share a trampoline get one more tracer, or lose the same
 * one, follow() patches the trampoline: it makes one call more or less. That is one
 * patch instead of one for each call site. No call is added while a task may be in
 * the trampoline for a function that does not share it any more: a tracer would be
 * called for a function that it does not want.
 *
 * Some time after an update, ftrace_mux_combo_sweep() looks for trampolines without
 * call sites. They are not used for new call sites, and are freed after a grace
 * period of both flavors of Tasks RCU, see tracers.c. If ftrace_shutdown() has
 * waited for such a grace period, because the ops of a tracer may be freed, the
 * trampolines of this tracer are freed at once.
 *
 * Protected by ftrace_lock, with one exception: the unwinder, perf and kallsyms
 * look up trampolines from any context, in a latched tree and a list that are safe
 * under RCU.
 */
#include <linux/bitops.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/kprobes.h>
#include <linux/perf_event.h>
#include <linux/rbtree_latch.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/trace_recursion.h>

#include "../trace.h"
#include "mux.h"

/* A function with more tracers than this goes through the list of all */
#define MUX_MAX_CALLS		256

/* Further tracers that a trampoline has room for */
#define MUX_MORE_CALLS		4

struct ftrace_mux_combo {
	struct latch_tree_node	tree;		/* by address, if there is a trampoline */
	struct hlist_node	hash;		/* by tracers, unless retired */
	struct list_head	node;
	struct rcu_head		rcu;
	unsigned long		tramp;		/* 0 if there was no memory */
	unsigned int		size;		/* of the code */
	unsigned int		room;		/* of the memory for the code */
	bool			regs;
	bool			left;		/* by call sites, since the last sweep */
	bool			quiescing;	/* by call sites, before the grace period */
	unsigned long		graph;		/* indexes of graph tracers, if there are several */
	struct fgraph_set	*set;		/* the same, for ftrace_graph_set_func() */
	unsigned long		users;		/* call sites */
	unsigned long		touched;	/* call sites whose tracers change */
	struct dyn_ftrace	*sample;	/* record of one of these */
	struct ftrace_ops	**ops;		/* the tracers, in the order of collect() */
	unsigned int		nr;
	unsigned int		nr_calls;	/* including calls that were removed */
	unsigned int		max_calls;
	struct ftrace_mux_call	calls[] __counted_by(max_calls);
};

/* What identifies the trampoline of a record */
struct combo_key {
	struct ftrace_ops	**ops;
	unsigned int		nr;
	unsigned long		graph;
	bool			regs;
};

static DEFINE_HASHTABLE(combo_hash, 7);
static LIST_HEAD(combo_list);
static struct latch_tree_root combo_tree __cacheline_aligned;

/* How often since boot a trampoline could not be made */
static unsigned long nr_failed;

/* There was no memory for a combination without a trampoline either */
static bool not_even_failed;

/* Where collect() puts the tracers of a record */
static struct ftrace_ops *collected[MUX_MAX_CALLS];

/* The last look-up by mask: records in a row often have the same tracers */
static struct {
	struct ftrace_mux_combo	*combo;
	unsigned int		mask;
	unsigned long		graph;
	bool			regs;
} last_answer;

/* The last look-up by address: they often call the same trampoline */
static struct {
	struct ftrace_mux_combo	*combo;
	unsigned long		addr;
} last_callee;

static void forget_callee(void)
{
	last_callee.combo = NULL;
	last_callee.addr = 0;
}

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
	if (addr >= combo->tramp + combo->room)
		return 1;

	return 0;
}

static const struct latch_tree_ops combo_tree_ops = {
	.less	= combo_tree_less,
	.comp	= combo_tree_comp,
};

/* The trampoline that @addr is in; under ftrace_lock or with preemption off */
static struct ftrace_mux_combo *find_by_addr(unsigned long addr)
{
	struct latch_tree_node *n;

	n = latch_tree_find((void *)addr, &combo_tree, &combo_tree_ops);

	return n ? combo_of(n) : NULL;
}

/**
 * is_ftrace_mux_trampoline - whether an address is in a trampoline made on demand
 * @addr: the address
 *
 * Context: any, NMI included.
 *
 * Return: true if it is.
 */
bool is_ftrace_mux_trampoline(unsigned long addr)
{
	guard(preempt_notrace)();

	return find_by_addr(addr);
}

/**
 * ftrace_mux_unwind_ip - where to look up how to unwind from a trampoline
 * @ip: an address in the trampoline, or not
 *
 * Context: any, NMI included.
 *
 * Return: an address in the kernel's text whose unwind information is right for
 * @ip, 0 if @ip is in no trampoline that was made on demand.
 */
unsigned long ftrace_mux_unwind_ip(unsigned long ip)
{
	struct ftrace_mux_combo *combo;

	guard(preempt_notrace)();

	combo = find_by_addr(ip);
	if (!combo)
		return 0;

	return arch_ftrace_mux_unwind_ip(ip - combo->tramp, combo->regs);
}

/**
 * ftrace_mux_combo_starts - whether a trampoline made on demand starts at @addr
 * @addr: the address
 *
 * Context: ftrace_lock held.
 *
 * Return: true if it does.
 */
bool ftrace_mux_combo_starts(unsigned long addr)
{
	struct ftrace_mux_combo *combo;

	lockdep_assert_held(&ftrace_lock);

	combo = find_by_addr(addr);

	return combo && combo->tramp == addr;
}

/**
 * ftrace_mux_get_kallsym - name a trampoline for /proc/kallsyms
 * @symnum: index among the trampolines made on demand
 * @value: its address
 * @name: its name, KSYM_NAME_LEN bytes
 *
 * Context: preemption disabled.
 *
 * Return: 0, or -ERANGE if there are not so many.
 */
int ftrace_mux_get_kallsym(unsigned int symnum, unsigned long *value, char *name)
{
	struct ftrace_mux_combo *combo;

	list_for_each_entry_rcu(combo, &combo_list, node,
				lockdep_is_held(&ftrace_lock)) {
		if (!combo->tramp || symnum--)
			continue;
		*value = combo->tramp;
		strscpy(name, FTRACE_MUX_TRAMPOLINE_SYM, KSYM_NAME_LEN);
		return 0;
	}

	return -ERANGE;
}

/* The recursion guard that tracers share */

/**
 * ftrace_mux_guard_enter - protect the tracers that need it against recursion
 * @ip: address of the call site
 * @parent_ip: return address of the traced function
 *
 * As ftrace_ops_assist_func() and ftrace_ops_list_func() do: it is the same
 * guard. Called by trampolines only.
 *
 * Context: any, NMI included. Preemption is disabled until
 * ftrace_mux_guard_leave().
 *
 * Return: a negative number if the tracers must not be called, else what
 * ftrace_mux_guard_leave() wants. Bit 0 is set if RCU is watching.
 */
notrace int ftrace_mux_guard_enter(unsigned long ip, unsigned long parent_ip)
{
	int bit = trace_test_and_set_recursion(ip, parent_ip, TRACE_LIST_START);

	if (bit < 0)
		return bit;

	return bit << 1 | rcu_is_watching();
}

NOKPROBE_SYMBOL(ftrace_mux_guard_enter);

/**
 * ftrace_mux_guard_leave - end what ftrace_mux_guard_enter() has begun
 * @guard: what that has returned, not negative
 *
 * Context: that of ftrace_mux_guard_enter().
 */
notrace void ftrace_mux_guard_leave(int guard)
{
	trace_clear_recursion(guard >> 1);
}

NOKPROBE_SYMBOL(ftrace_mux_guard_leave);

/* Which tracers a record has */

static bool filter_selects(struct ftrace_ops *ops, unsigned long ip)
{
	struct ftrace_hash *exempt = ftrace_locked_hash(ops->func_hash->notrace_hash);
	struct ftrace_hash *filter = ftrace_locked_hash(ops->func_hash->filter_hash);

	return (ftrace_hash_empty(filter) || ftrace_lookup_ip(filter, ip)) &&
	       !ftrace_lookup_ip(exempt, ip);
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

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
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

static struct fgraph_set *create_set(struct ftrace_ops *manager, unsigned long graph)
{
	struct fgraph_ops *gops;
	struct fgraph_set *set;

	set = kzalloc(struct_size(set, gops, hweight_long(graph)), GFP_KERNEL);
	if (!set)
		return NULL;

	list_for_each_entry(gops, &manager->subop_list, ops.list) {
		if (!(graph & BIT(gops->idx)))
			continue;
		/* A graph tracer that could not be removed may have the index of another */
		graph &= ~BIT(gops->idx);
		set->nr++;
		set->gops[set->nr - 1].gops = gops;
		set->gops[set->nr - 1].idx = gops->idx;
	}

	return set;
}

static bool set_has(struct fgraph_set *set, struct ftrace_ops *ops)
{
	for (unsigned int i = 0; set && i < set->nr; i++) {
		if (&set->gops[i].gops->ops == ops)
			return true;
	}

	return false;
}

static void *graph_set_func(void)
{
	return ftrace_graph_set_func;
}
#else
static unsigned long collect_graph(struct ftrace_ops *manager, struct dyn_ftrace *rec)
{
	return 0;
}

static struct fgraph_set *create_set(struct ftrace_ops *manager, unsigned long graph)
{
	return NULL;
}

static bool set_has(struct fgraph_set *set, struct ftrace_ops *ops)
{
	return false;
}

static void *graph_set_func(void)
{
	return NULL;
}
#endif

/*
 * List the tracers of @rec: those with an ID first, then the others. Returns
 * false if there are too many, or not those that have been counted.
 */
static bool collect(struct dyn_ftrace *rec, struct combo_key *key)
{
	unsigned long mask = ftrace_mux_rec_mask(rec);
	unsigned int count = ftrace_rec_count(rec), stubs = 0, id;
	struct ftrace_ops *ops;

	key->nr = 0;
	if (count > MUX_MAX_CALLS)
		return false;

	for_each_set_bit(id, &mask, FTRACE_MUX_IDS)
		key->ops[key->nr++] = ftrace_mux_id_owner(id);

	if (key->nr == count)
		return true;

	do_for_each_ftrace_op(ops, ftrace_ops_list) {
		if (ops->mux.id || !ftrace_mux_wants(ops, rec))
			continue;
		if (ops->flags & FTRACE_OPS_FL_STUB)
			stubs++;
		else if (key->nr + stubs < count)
			key->ops[key->nr++] = ops;
		else
			return false;
	} while_for_each_ftrace_op(ops);

	return key->nr + stubs == count;
}

/* Combinations */

static u32 key_hash(const struct combo_key *key)
{
	return jhash(key->ops, key->nr * sizeof(*key->ops), key->graph << 1 | key->regs);
}

static struct ftrace_mux_combo *find_combo(const struct combo_key *key)
{
	struct ftrace_mux_combo *combo;

	hash_for_each_possible(combo_hash, combo, hash, key_hash(key)) {
		if (combo->nr == key->nr && combo->regs == key->regs &&
		    combo->graph == key->graph &&
		    !memcmp(combo->ops, key->ops, key->nr * sizeof(*key->ops)))
			return combo;
	}

	return NULL;
}

static bool is_among(struct ftrace_ops *ops, struct ftrace_ops *const *among,
		     unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (among[i] == ops)
			return true;
	}

	return false;
}

static bool has_tracer(struct ftrace_mux_combo *combo, struct ftrace_ops *ops)
{
	return is_among(ops, combo->ops, combo->nr) || set_has(combo->set, ops);
}

static enum ftrace_mux_how how_to_call(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_RCU)
		return MUX_CALL_RCU;

	return ops->flags & FTRACE_OPS_FL_RECURSION ? MUX_CALL_GUARDED : MUX_CALL;
}

/* The function of @ops, called with a guard around it or not */
static void *call_func(struct ftrace_ops *ops, enum ftrace_mux_how how)
{
	return how == MUX_CALL ? ftrace_ops_get_func(ops) : ops->func;
}

static void fill_calls(struct ftrace_mux_combo *combo)
{
	struct ftrace_mux_call *call = combo->calls;
	struct ftrace_ops *manager = ftrace_mux_graph_manager();
	unsigned int helped = 0;

	for (unsigned int i = 0; i < combo->nr; i++)
		helped += how_to_call(combo->ops[i]) != MUX_CALL;

	for (enum ftrace_mux_how how = MUX_CALL; how <= MUX_CALL_RCU; how++) {
		for (unsigned int i = 0; i < combo->nr; i++) {
			struct ftrace_ops *ops = combo->ops[i];
			/* The assist function has the guard, if a single tracer needs it */
			enum ftrace_mux_how needed = helped > 1 ? how_to_call(ops) : MUX_CALL;

			if (needed != how)
				continue;

			call->how = how;
			call->func = call_func(ops, how);
			call->arg = ops;
			if (combo->set && ops == manager) {
				call->func = graph_set_func();
				call->arg = combo->set;
			}
			call++;
		}
	}
	combo->nr_calls = combo->nr;
}

static void publish(struct ftrace_mux_combo *combo)
{
	latch_tree_insert(&combo->tree, &combo_tree, &combo_tree_ops);
	forget_callee();
	/* kallsyms first, then the perf events: see ftrace_update_trampoline() */
	list_add_rcu(&combo->node, &combo_list);
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, combo->tramp, combo->room,
			   false, FTRACE_MUX_TRAMPOLINE_SYM);
	perf_event_text_poke((void *)combo->tramp, NULL, 0,
			     (void *)combo->tramp, combo->size);
}

static void make_trampoline(struct ftrace_mux_combo *combo)
{
	if (combo->graph) {
		combo->set = create_set(ftrace_mux_graph_manager(), combo->graph);
		if (!combo->set)
			return;
	}

	fill_calls(combo);
	combo->tramp = arch_ftrace_mux_create(combo->calls, combo->nr, combo->regs,
					      MUX_MORE_CALLS, &combo->size, &combo->room);
}

static void set_tracers(struct ftrace_mux_combo *combo, const struct combo_key *key)
{
	combo->nr = key->nr;
	memcpy(combo->ops, key->ops, key->nr * sizeof(*key->ops));
}

static void create_combo(const struct combo_key *key)
{
	unsigned int max_calls = key->nr + MUX_MORE_CALLS;
	size_t ops_size = max_calls * sizeof(*key->ops);
	struct ftrace_mux_combo *combo;

	combo = kzalloc(size_add(struct_size(combo, calls, max_calls), ops_size), GFP_KERNEL);
	if (!combo) {
		nr_failed++;
		not_even_failed = true;
		return;
	}

	combo->max_calls = max_calls;
	combo->ops = (void *)(combo->calls + max_calls);
	set_tracers(combo, key);
	combo->regs = key->regs;
	combo->graph = key->graph;
	make_trampoline(combo);
	hash_add(combo_hash, &combo->hash, key_hash(key));
	if (combo->tramp) {
		publish(combo);
	} else {
		nr_failed++;
		list_add_rcu(&combo->node, &combo_list);
	}
}

/* Do not use @combo for further call sites */
static void retire_combo(struct ftrace_mux_combo *combo)
{
	hash_del(&combo->hash);
	last_answer.combo = NULL;
	forget_callee();
}

/* Free @combo, which no call site calls and no task is in */
static void free_combo(struct ftrace_mux_combo *combo)
{
	retire_combo(combo);
	/* Leak the trampoline: a task may still execute it */
	if (WARN_ON_ONCE(combo->users))
		return;

	if (combo->tramp) {
		perf_event_text_poke((void *)combo->tramp, (void *)combo->tramp,
				     combo->size, NULL, 0);
		perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, combo->tramp, combo->room,
				   true, FTRACE_MUX_TRAMPOLINE_SYM);
		latch_tree_erase(&combo->tree, &combo_tree, &combo_tree_ops);
		arch_ftrace_mux_free(combo->tramp, combo->room);
	}
	list_del_rcu(&combo->node);
	kfree(combo->set);
	kfree_rcu(combo, rcu);
}

static struct ftrace_mux_combo *get_combo(struct dyn_ftrace *rec, bool create)
{
	struct combo_key key = { .ops = collected };
	struct ftrace_ops *manager = ftrace_mux_graph_manager();
	unsigned int mask = ftrace_mux_rec_mask(rec);
	bool simple = hweight16(mask) == ftrace_rec_count(rec);
	struct ftrace_mux_combo *combo;

	key.regs = rec->flags & FTRACE_FL_REGS;
	if (manager && ftrace_mux_wants(manager, rec))
		key.graph = collect_graph(manager, rec);

	if (simple && last_answer.combo && last_answer.mask == mask &&
	    last_answer.graph == key.graph && last_answer.regs == key.regs)
		return last_answer.combo;

	if (!collect(rec, &key))
		return NULL;

	combo = find_combo(&key);
	if (!combo && create) {
		create_combo(&key);
		combo = find_combo(&key);
	}

	if (combo && simple) {
		last_answer.combo = combo;
		last_answer.mask = mask;
		last_answer.graph = key.graph;
		last_answer.regs = key.regs;
	}

	return combo;
}

/**
 * ftrace_mux_combo_addr - the trampoline that was made for a function
 * @rec: record of the function
 *
 * Context: ftrace_lock held.
 *
 * Return: the address of the trampoline that calls exactly the tracers of @rec,
 * 0 if there is none.
 */
unsigned long ftrace_mux_combo_addr(struct dyn_ftrace *rec)
{
	struct ftrace_mux_combo *combo;

	lockdep_assert_held(&ftrace_lock);

	combo = get_combo(rec, false);

	return combo ? combo->tramp : 0;
}

/**
 * ftrace_mux_combo_prepare - make a trampoline for a function if it has none
 * @rec: record of the function
 *
 * Context: process context, may sleep; ftrace_lock held.
 */
void ftrace_mux_combo_prepare(struct dyn_ftrace *rec)
{
	lockdep_assert_held(&ftrace_lock);

	get_combo(rec, true);
}

/**
 * ftrace_mux_combo_retry - remove combinations without a trampoline
 *
 * Context: process context; ftrace_lock held.
 *
 * Return: true if there was anything.
 */
bool ftrace_mux_combo_retry(void)
{
	struct ftrace_mux_combo *combo, *next;
	bool found = not_even_failed;

	lockdep_assert_held(&ftrace_lock);

	not_even_failed = false;

	list_for_each_entry_safe(combo, next, &combo_list, node) {
		if (!combo->tramp) {
			free_combo(combo);
			found = true;
		}
	}

	return found;
}

/**
 * ftrace_mux_combo_new_ids - IDs have changed hands
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_combo_new_ids(void)
{
	lockdep_assert_held(&ftrace_lock);

	last_answer.combo = NULL;
}

/**
 * ftrace_mux_combo_update_func - follow a change of the function of a tracer
 * @ops: the tracer
 *
 * Context: process context, may sleep; ftrace_lock held.
 */
void ftrace_mux_combo_update_func(struct ftrace_ops *ops)
{
	struct ftrace_mux_combo *combo;
	struct ftrace_mux_call *call;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(combo, &combo_list, node) {
		for (call = combo->calls; call < combo->calls + combo->nr_calls; call++) {
			if (!combo->tramp || !call->func || call->arg != ops)
				continue;
			call->func = call_func(ops, call->how);
			arch_ftrace_mux_set_call(combo->tramp + call->offset, call->func);
		}
	}
}

/**
 * ftrace_mux_combo_drop - a tracer is gone, and so are its trampolines
 * @ops: the tracer, also one of the graph tracers; on no call site any more,
 *	unless it is one of these
 * @quiescent: whether no task can be in a trampoline that calls it
 *
 * Context: process context, may sleep; ftrace_lock held.
 */
void ftrace_mux_combo_drop(struct ftrace_ops *ops, bool quiescent)
{
	struct ftrace_mux_combo *combo, *next;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry_safe(combo, next, &combo_list, node) {
		if (!has_tracer(combo, ops))
			continue;
		if (quiescent)
			free_combo(combo);
		else
			retire_combo(combo);
	}
}

/* Call sites of a trampoline */

/* The trampoline that @rec calls now, if it was made on demand */
static struct ftrace_mux_combo *callee_of(struct dyn_ftrace *rec)
{
	unsigned long addr;

	if (!(rec->flags & FTRACE_FL_MUX_EN))
		return NULL;

	addr = arch_ftrace_mux_callee(rec->ip);
	if (addr != last_callee.addr) {
		last_callee.combo = find_by_addr(addr);
		last_callee.addr = addr;
	}

	return last_callee.combo;
}

/**
 * ftrace_mux_combo_enter - a call site will call a trampoline from now on
 * @addr: address of the trampoline, made on demand or not
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_combo_enter(unsigned long addr)
{
	struct ftrace_mux_combo *combo;

	lockdep_assert_held(&ftrace_lock);

	combo = find_by_addr(addr);
	if (combo)
		combo->users++;
}

/**
 * ftrace_mux_combo_leave - a call site will not call its trampoline any more
 * @rec: record of the function, whose code has not changed yet
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_combo_leave(struct dyn_ftrace *rec)
{
	struct ftrace_mux_combo *combo;

	lockdep_assert_held(&ftrace_lock);

	combo = callee_of(rec);
	if (!combo)
		return;

	combo->users--;
	if (combo->left)
		return;

	combo->left = true;
	ftrace_mux_queue_sweep();
}

/**
 * ftrace_mux_combo_touch - the tracers of a function are about to change
 * @rec: record of the function, which is traced
 *
 * Context: ftrace_lock held.
 *
 * Return: true if its trampoline will see to it, or say that it can not, when
 * ftrace_mux_combo_settle() is called.
 */
bool ftrace_mux_combo_touch(struct dyn_ftrace *rec)
{
	struct ftrace_mux_combo *combo;

	lockdep_assert_held(&ftrace_lock);

	combo = callee_of(rec);
	if (!combo)
		return false;

	combo->touched++;
	combo->sample = rec;

	return true;
}

static struct ftrace_mux_call *find_call(struct ftrace_mux_combo *combo,
					 struct ftrace_ops *ops)
{
	for (unsigned int i = 0; i < combo->nr_calls; i++) {
		if (combo->calls[i].arg == ops)
			return &combo->calls[i];
	}

	return NULL;
}

/* Add a call of @ops, or restore it if it was removed */
static bool add_call(struct ftrace_mux_combo *combo, struct ftrace_ops *ops)
{
	struct ftrace_mux_call *call = find_call(combo, ops);

	if (call) {
		if (call->how != how_to_call(ops))
			return false;
		call->func = call_func(ops, call->how);
		arch_ftrace_mux_set_call(combo->tramp + call->offset, call->func);
		return true;
	}

	if (combo->nr_calls == combo->max_calls || how_to_call(ops) != MUX_CALL)
		return false;

	call = &combo->calls[combo->nr_calls];
	call->how = MUX_CALL;
	call->func = call_func(ops, MUX_CALL);
	call->arg = ops;
	if (arch_ftrace_mux_append(combo->tramp, combo->regs, call, &combo->size, combo->room))
		return false;

	combo->nr_calls++;

	return true;
}

static bool remove_call(struct ftrace_mux_combo *combo, struct ftrace_ops *ops)
{
	struct ftrace_mux_call *call = find_call(combo, ops);

	if (!call)
		return false;

	call->func = NULL;
	arch_ftrace_mux_set_call(combo->tramp + call->offset, NULL);

	return true;
}

/* A removed call still executes five instructions */
static bool worth_keeping(struct ftrace_mux_combo *combo, struct dyn_ftrace *rec,
			  unsigned int nr)
{
	return combo->nr_calls - nr <= MUX_MORE_CALLS && ftrace_mux_needs_combo(rec);
}

/*
 * Let @combo be the trampoline for what its functions want now: the tracers they
 * had, and @ops, or without @ops. They all had the same tracers before, so one of
 * them stands for all. Not if there is another trampoline for that already.
 */
static bool follow(struct ftrace_mux_combo *combo, struct ftrace_ops *ops, bool added)
{
	struct dyn_ftrace *rec = combo->sample;
	struct combo_key key = { .ops = collected };

	if (combo->touched != combo->users || hlist_unhashed(&combo->hash) ||
	    combo->graph || !!(rec->flags & FTRACE_FL_REGS) != combo->regs)
		return false;

	key.regs = combo->regs;
	if (!collect(rec, &key) || key.nr != combo->nr + (added ? 1 : -1) ||
	    key.nr < 2 || is_among(ops, key.ops, key.nr) != added || find_combo(&key))
		return false;

	/* A task may still be on its way through it for a function that has left */
	if (added && (combo->left || combo->quiescing))
		return false;

	if (!added && !worth_keeping(combo, rec, key.nr))
		return false;

	if (added ? !add_call(combo, ops) : !remove_call(combo, ops))
		return false;

	retire_combo(combo);
	set_tracers(combo, &key);
	hash_add(combo_hash, &combo->hash, key_hash(&key));

	return true;
}

/**
 * ftrace_mux_combo_settle - the tracers of functions have changed
 * @ops: the only one that has been added to those of the functions, or removed;
 *	NULL if that is not all
 * @added: which of the two
 *
 * Context: process context, may sleep; ftrace_lock held.
 *
 * Return: true if the trampolines of all functions for which
 * ftrace_mux_combo_touch() has returned true call exactly the right tracers now.
 */
bool ftrace_mux_combo_settle(struct ftrace_ops *ops, bool added)
{
	struct ftrace_mux_combo *combo;
	bool settled = true;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(combo, &combo_list, node) {
		if (!combo->touched)
			continue;
		if (!ops || !follow(combo, ops, added))
			settled = false;
		combo->touched = 0;
		combo->sample = NULL;
	}

	return settled;
}

/* Check the numbers of users, which are updated where call sites change */
static void check_users(void)
{
	struct ftrace_mux_combo *combo;
	struct ftrace_rec_iter *iter;

	if (!IS_ENABLED(CONFIG_FTRACE_MUX_TEST))
		return;

	for_ftrace_rec_iter(iter) {
		combo = callee_of(ftrace_rec_iter_record(iter));
		if (combo)
			combo->touched++;
	}

	list_for_each_entry(combo, &combo_list, node) {
		WARN_ONCE(combo->touched != combo->users,
			  "trampoline has %lu users, not %lu\n", combo->touched, combo->users);
		combo->touched = 0;
	}
}

/**
 * ftrace_mux_combo_sweep - find trampolines that call sites have left
 *
 * Context: process context; ftrace_lock held.
 *
 * Return: true if there are any: call ftrace_mux_combo_reap() after a grace
 * period of both flavors of Tasks RCU.
 */
bool ftrace_mux_combo_sweep(void)
{
	struct ftrace_mux_combo *combo;
	bool found = false;

	lockdep_assert_held(&ftrace_lock);

	if (list_empty(&combo_list))
		return false;

	check_users();
	list_for_each_entry(combo, &combo_list, node) {
		if (!combo->users)
			retire_combo(combo);
		else if (!combo->left)
			continue;
		combo->left = false;
		combo->quiescing = true;
		found = true;
	}

	return found;
}

/**
 * ftrace_mux_combo_reap - free trampolines that no call site leads to
 *
 * Context: process context, may sleep; ftrace_lock held.
 */
void ftrace_mux_combo_reap(void)
{
	struct ftrace_mux_combo *combo, *next;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry_safe(combo, next, &combo_list, node) {
		if (!combo->quiescing)
			continue;
		combo->quiescing = false;
		/* The last call sites may have left during the grace period */
		if (!combo->users && !combo->left)
			free_combo(combo);
	}
}

/**
 * ftrace_mux_combo_any - whether there are trampolines made on demand
 *
 * Context: ftrace_lock held.
 *
 * Return: true if there are, in use or not.
 */
bool ftrace_mux_combo_any(void)
{
	lockdep_assert_held(&ftrace_lock);

	return !list_empty(&combo_list);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
static void show_set(struct seq_file *m, struct ftrace_mux_combo *combo)
{
	struct ftrace_ops *manager = ftrace_mux_graph_manager();
	struct fgraph_ops *gops;

	/* Those that are still there */
	if (!manager)
		return;

	list_for_each_entry(gops, &manager->subop_list, ops.list) {
		if (set_has(combo->set, &gops->ops))
			ftrace_mux_show_member(m, &gops->ops);
	}
}
#else
static void show_set(struct seq_file *m, struct ftrace_mux_combo *combo) { }
#endif

/**
 * ftrace_mux_combo_show - show the trampolines made on demand that are in use
 * @m: where to
 *
 * Context: process context; ftrace_lock held.
 */
void ftrace_mux_combo_show(struct seq_file *m)
{
	struct ftrace_mux_combo *combo;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(combo, &combo_list, node) {
		if (!combo->users)
			continue;
		ftrace_mux_show_combination(m, combo->users, "on_demand", combo->regs);
		for (unsigned int i = 0; i < combo->nr; i++) {
			if (combo->set && !list_empty(&combo->ops[i]->subop_list))
				show_set(m, combo);
			else
				ftrace_mux_show_member(m, combo->ops[i]);
		}
		seq_putc(m, '\n');
	}
}

/**
 * ftrace_mux_combo_show_totals - show what the trampolines made on demand take
 * @m: where to
 *
 * Context: process context; ftrace_lock held.
 */
void ftrace_mux_combo_show_totals(struct seq_file *m)
{
	unsigned long trampolines = 0, bytes = 0;
	struct ftrace_mux_combo *combo;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(combo, &combo_list, node) {
		if (!combo->tramp)
			continue;
		trampolines++;
		bytes += combo->room;
	}

	seq_printf(m, "on_demand_trampolines %lu\n", trampolines);
	seq_printf(m, "on_demand_bytes %lu\n", bytes);
	seq_printf(m, "on_demand_failed %lu\n", nr_failed);
}

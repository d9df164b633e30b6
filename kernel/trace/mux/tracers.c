// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: the registered tracers, their IDs, and which
 * tracers each function has.
 *
 * Each registered tracer (struct ftrace_ops) gets an ID, if one is free. The
 * record of each traceable function (struct dyn_ftrace) has two masks: the IDs
 * of the tracers whose filter selects the function, and the IDs of those whose
 * notrace list contains it. Both together give the combination of tracers that
 * want the function. If there are several, the call site is patched to a
 * trampoline that calls exactly these.
 *
 * The kernel contains a static trampoline for each combination of the lowest
 * IDs. It calls the tracers through the slots of their IDs. A slot is a jump to
 * the function that ftrace_ops_get_func() returns. Any other combination gets a
 * trampoline on demand, which calls the tracers themselves: see combinations.c.
 *
 * The multiplexer does not change the rest: the call site of a function without
 * tracers is a nop. A function with a single tracer calls the trampoline that
 * ftrace has made for that tracer, or the direct function. If a trampoline
 * cannot be made, the function goes through ftrace_ops_list_func().
 *
 * States of an ID and its slot
 *
 *	FREE	 -> USED	in ftrace_mux_register(), before the ID is in a
 *				mask: first the slot is set, then call sites are
 *				patched.
 *	USED	 -> RESTING	after the last call site was patched to another
 *				trampoline. A task may be preempted in a
 *				trampoline, before it calls the slot. The slot
 *				keeps its tracer. Such a task still calls the
 *				tracer, as with any static ftrace_ops.
 *	RESTING -> USED		only for the tracer that the slot has kept.
 *	RESTING -> FREE		after a grace period of Tasks RCU and of Tasks
 *				Rude RCU: no task can call the slot any more, see
 *				ftrace_shutdown().
 *	USED	 -> FREE	at once, if the ID has no slot.
 *
 * ftrace_shutdown() waits for this grace period only if the ftrace_ops may be
 * freed. For the slots of all others, a work item waits.
 *
 * Which tracers have an ID
 *
 * Without an ID, the filter of a tracer is looked up for each function that it
 * may want. So the tracers with the most functions get the IDs, in whatever order
 * they are registered. If none is free, a tracer takes the ID of the tracer with
 * the fewest functions, if that has fewer. Among equals, the older one keeps its
 * ID. This is checked again when a tracer is unregistered and when a filter
 * changes. The ID gets its new tracer when its slot is free.
 *
 * Protected by ftrace_lock.
 */
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kstrtox.h>
#include <linux/rcupdate.h>
#include <linux/stringhash.h>
#include <linux/sysctl.h>
#include <linux/workqueue.h>

#include "../trace.h"
#include "mux.h"

/* In struct dyn_ftrace, 16 bits are set aside for each mask, above the flags */
#ifdef __BIG_ENDIAN
#error "the masks overlay the flags"
#endif
static_assert(FTRACE_MUX_IDS <= 16);
/* Code that clears a flag must not clear the masks */
static_assert((~FTRACE_FL_ENABLED & FTRACE_FL_MUX_MASKS) == FTRACE_FL_MUX_MASKS);
static_assert((~FTRACE_FL_TRAMP & FTRACE_FL_MUX_MASKS) == FTRACE_FL_MUX_MASKS);
static_assert(offsetof(struct dyn_ftrace, mux_filter) ==
	      offsetof(struct dyn_ftrace, flags) + sizeof(u32));

enum slot_state {
	SLOT_FREE,
	SLOT_USED,
	SLOT_RESTING,
};

struct ftrace_mux_slot {
	struct ftrace_ops	*ops;		/* NULL if FREE */
	enum slot_state		state;
	bool			quiescing;	/* RESTING since before the grace period */
};

/* One for each ID, including those without a jump */
static struct ftrace_mux_slot slots[FTRACE_MUX_IDS];

/* IDs of tracers that need the recursion guard; bits of free IDs may be set */
static u16 guarded_ids;

/* The ops that all graph tracers share, NULL before the first of them */
static struct ftrace_ops *graph_manager;

/* Between ftrace_mux_prepare() and ftrace_mux_updated() */
static bool updating;

/* Whether several graph tracers were told apart at the last update */
static bool had_graph_sets;

/* All registered tracers, in order of registration */
LIST_HEAD(ftrace_mux_tracers);

static u64 last_seq;

/* Whether call sites use the trampolines: ftrace_mux=, kernel.ftrace_mux */
static int ftrace_mux_enabled = 1;

static void ftrace_mux_work_func(struct work_struct *work);
static DECLARE_WORK(ftrace_mux_work, ftrace_mux_work_func);

/* Delay between an update and the search for trampolines without call sites */
#define FTRACE_MUX_SWEEP_DELAY	HZ

static void ftrace_mux_sweep_func(struct work_struct *work);
static DECLARE_DELAYED_WORK(ftrace_mux_sweep, ftrace_mux_sweep_func);

/* ftrace_ops_get_func() returns an assist function for these */
static bool needs_guard(struct ftrace_ops *ops)
{
	return ops->flags & (FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU);
}

/* Records and call sites */

/**
 * ftrace_mux_id_owner - the tracer that has an ID
 * @id: the ID, less than FTRACE_MUX_IDS, in the masks of a record
 *
 * Context: ftrace_lock held.
 *
 * Return: the tracer.
 */
struct ftrace_ops *ftrace_mux_id_owner(unsigned int id)
{
	lockdep_assert_held(&ftrace_lock);

	return slots[id].ops;
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

	if (!graph_manager || list_empty(&graph_manager->subop_list) ||
	    list_is_singular(&graph_manager->subop_list))
		return NULL;

	return graph_manager;
}

/* Whether the graph tracers of @rec have to be told apart */
static bool needs_graph_set(struct dyn_ftrace *rec)
{
	struct ftrace_ops *manager = ftrace_mux_graph_manager();

	return manager && ftrace_mux_wants(manager, rec);
}

/* TRAMP is set for a single tracer only, and DIRECT comes before TRAMP */
static bool has_own_callee(struct dyn_ftrace *rec)
{
	return rec->flags & FTRACE_FL_TRAMP ||
	       (rec->flags & FTRACE_FL_DIRECT && ftrace_rec_count(rec) == 1);
}

/**
 * ftrace_mux_needs_combo - whether a static trampoline will not do
 * @rec: record of a function that is traced
 *
 * Context: ftrace_lock held.
 *
 * Return: true if no static trampoline is, or is as good as, what @rec wants.
 */
bool ftrace_mux_needs_combo(struct dyn_ftrace *rec)
{
	unsigned int mask = ftrace_mux_rec_mask(rec);

	return mask >> FTRACE_MUX_STATIC_IDS ||
	       hweight16(mask) != ftrace_rec_count(rec) ||
	       hweight16(mask & guarded_ids) > 1 || needs_graph_set(rec);
}

/*
 * The masks of @rec have only the tracers with an ID. If the count of @rec is
 * higher, the static trampoline of the masks would not call all tracers.
 */
static unsigned long static_caller(struct dyn_ftrace *rec)
{
	unsigned int mask = ftrace_mux_rec_mask(rec);

	if (mask >> FTRACE_MUX_STATIC_IDS || hweight16(mask) != ftrace_rec_count(rec))
		return 0;

	return arch_ftrace_mux_caller(mask, rec->flags & FTRACE_FL_REGS);
}

/**
 * ftrace_mux_addr - the multiplexer's trampoline for a function
 * @rec: record of the function
 *
 * Context: ftrace_lock held.
 *
 * Return: the address that the call site of @rec has to call, or 0 if it is
 * none of the multiplexer's: nobody wants the function, its only tracer has a
 * trampoline of its own or is a direct one, no trampoline could be made for its
 * tracers, or the multiplexer is switched off.
 */
unsigned long ftrace_mux_addr(struct dyn_ftrace *rec)
{
	unsigned long addr;

	lockdep_assert_held(&ftrace_lock);

	if (!ftrace_mux_enabled || !ftrace_rec_count(rec))
		return 0;

	if (has_own_callee(rec))
		return needs_graph_set(rec) ? ftrace_mux_combo_addr(rec) : 0;

	if (ftrace_mux_needs_combo(rec)) {
		addr = ftrace_mux_combo_addr(rec);
		if (addr)
			return addr;
	}

	return static_caller(rec);
}

/**
 * ftrace_mux_callee - the multiplexer's trampoline a function calls now
 * @rec: record of the function, with FTRACE_FL_MUX_EN set
 *
 * Context: ftrace_lock held.
 *
 * Return: the address its call site calls, or would if there was no breakpoint
 * on it; 0 if that is not a trampoline of the multiplexer, which means that the
 * text was changed by other code.
 */
unsigned long ftrace_mux_callee(struct dyn_ftrace *rec)
{
	unsigned long addr;

	lockdep_assert_held(&ftrace_lock);

	addr = arch_ftrace_mux_callee(rec->ip);
	if (!arch_ftrace_mux_is_caller(addr) && !ftrace_mux_combo_starts(addr))
		return 0;

	return addr;
}

/* False if the tracers of @rec are the same as when it was patched */
static bool may_have_changed(struct dyn_ftrace *rec)
{
	return ftrace_check_all || rec->flags & FTRACE_FL_MUX_DIRTY ||
	       !(rec->flags & FTRACE_FL_ENABLED);
}

static bool needs_other_callee(struct dyn_ftrace *rec)
{
	unsigned long addr = ftrace_mux_addr(rec);

	if (!(rec->flags & FTRACE_FL_MUX_EN))
		return addr;

	return !addr || addr != arch_ftrace_mux_callee(rec->ip);
}

/**
 * ftrace_mux_rec_changed - whether a traced function needs another trampoline
 * @rec: record of the function
 *
 * Context: ftrace_lock held.
 *
 * Return: true if the call site of @rec has to be patched for the sake of the
 * multiplexer: to, between or from its trampolines.
 */
bool ftrace_mux_rec_changed(struct dyn_ftrace *rec)
{
	if (!may_have_changed(rec))
		return false;

	/* The trampolines are known only after ftrace_mux_prepare() */
	if (!updating)
		return ftrace_mux_enabled || rec->flags & FTRACE_FL_MUX_EN;

	if (needs_other_callee(rec))
		return true;

	rec->flags &= ~FTRACE_FL_MUX_DIRTY;

	return false;
}

/**
 * ftrace_mux_rec_touch - the tracers of a function are about to change
 * @rec: record of the function
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_rec_touch(struct dyn_ftrace *rec)
{
	lockdep_assert_held(&ftrace_lock);

	/* A record that is not enabled is checked when it is enabled */
	if (rec->flags & FTRACE_FL_ENABLED && !ftrace_mux_combo_touch(rec))
		rec->flags |= FTRACE_FL_MUX_DIRTY;
}

/**
 * ftrace_mux_settle - a tracer has been added to all its functions, or removed
 * @ops: the tracer
 * @added: which of the two
 *
 * Context: process context, may sleep; ftrace_lock held.
 *
 * Return: true if call sites have to be updated because of
 * ftrace_mux_rec_touch(), beyond those that ftrace knows of.
 */
bool ftrace_mux_settle(struct ftrace_ops *ops, bool added)
{
	lockdep_assert_held(&ftrace_lock);

	if (ftrace_mux_combo_settle(ftrace_mux_enabled ? ops : NULL, added))
		return false;

	ftrace_check_all = true;

	return true;
}

/**
 * ftrace_mux_rec_switch - the call site of a function is about to be patched
 * @rec: record of the function, for which ftrace_mux_rec_changed() is true
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_rec_switch(struct dyn_ftrace *rec)
{
	unsigned long addr = ftrace_mux_addr(rec);

	lockdep_assert_held(&ftrace_lock);

	ftrace_mux_combo_leave(rec);
	if (addr) {
		ftrace_mux_combo_enter(addr);
		rec->flags |= FTRACE_FL_MUX_EN;
	} else {
		rec->flags &= ~FTRACE_FL_MUX_EN;
	}
}

/**
 * ftrace_mux_rec_leave - the call site of a function is about to go
 * @rec: record of the function, whose code has not changed yet
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_rec_leave(struct dyn_ftrace *rec)
{
	lockdep_assert_held(&ftrace_lock);

	if (!ftrace_is_dead())
		ftrace_mux_combo_leave(rec);
}

/**
 * ftrace_mux_is_enabled - whether the multiplexer is switched on
 *
 * Context: ftrace_lock held.
 *
 * Return: true if it is.
 */
bool ftrace_mux_is_enabled(void)
{
	lockdep_assert_held(&ftrace_lock);

	return ftrace_mux_enabled;
}

/* Whether any record may need a trampoline that is made on demand */
static bool may_need_combos(void)
{
	unsigned int helped = 0;
	struct ftrace_ops *ops;

	if (!ftrace_mux_enabled)
		return false;

	if (ftrace_mux_graph_manager())
		return true;

	do_for_each_ftrace_op(ops, ftrace_ops_list) {
		if (!ops->mux.id || ops->mux.id > FTRACE_MUX_STATIC_IDS)
			return true;
		helped += needs_guard(ops);
	} while_for_each_ftrace_op(ops);

	return helped > 1;
}

/**
 * ftrace_mux_prepare_rec - have a trampoline ready for a function
 * @rec: record of the function
 *
 * Context: process context, may sleep; ftrace_lock held.
 */
void ftrace_mux_prepare_rec(struct dyn_ftrace *rec)
{
	lockdep_assert_held(&ftrace_lock);

	if (!ftrace_mux_enabled || !ftrace_rec_count(rec))
		return;

	if (has_own_callee(rec) ? needs_graph_set(rec) : ftrace_mux_needs_combo(rec))
		ftrace_mux_combo_prepare(rec);
}

/**
 * ftrace_mux_prepare - call sites are about to be updated
 *
 * Makes all trampolines that they will need.
 *
 * Context: process context, may sleep; ftrace_lock held.
 */
void ftrace_mux_prepare(void)
{
	bool graph_sets = ftrace_mux_graph_manager();
	unsigned int least = graph_sets ? 1 : 2;
	struct ftrace_rec_iter *iter;
	struct dyn_ftrace *rec;

	lockdep_assert_held(&ftrace_lock);

	/* After more than one change, trampolines are not patched: check all call sites */
	if (!ftrace_mux_combo_settle(NULL, false))
		ftrace_check_all = true;
	if (ftrace_mux_combo_retry() || graph_sets || had_graph_sets)
		ftrace_check_all = true;
	had_graph_sets = graph_sets;
	updating = true;

	if (may_need_combos()) {
		for_ftrace_rec_iter(iter) {
			rec = ftrace_rec_iter_record(iter);
			if (ftrace_rec_count(rec) >= least && may_have_changed(rec))
				ftrace_mux_prepare_rec(rec);
		}
	}

	/* This update may leave trampolines without call sites */
	if (ftrace_mux_combo_any())
		ftrace_mux_queue_sweep();
}

/**
 * ftrace_mux_updated - call sites have been updated
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_updated(void)
{
	lockdep_assert_held(&ftrace_lock);

	updating = false;
}

/**
 * ftrace_mux_graph_changed - graph tracers have come, gone or changed filters
 *
 * Their common ops may have the same filter as before, so that nobody else
 * updates the call sites.
 *
 * Context: process context, may sleep; ftrace_lock held.
 */
void ftrace_mux_graph_changed(void)
{
	lockdep_assert_held(&ftrace_lock);

	if (ftrace_mux_enabled && ftrace_enabled && !ftrace_is_dead() &&
	    (ftrace_mux_graph_manager() || ftrace_mux_combo_any()))
		ftrace_run_update_code(FTRACE_UPDATE_CALLS);
}

/* The tracers of @rec are the same, but their IDs change */
static void mark_dirty(struct dyn_ftrace *rec)
{
	if (!(rec->flags & FTRACE_FL_ENABLED))
		return;

	rec->flags |= FTRACE_FL_MUX_DIRTY;
	ftrace_check_all = true;
}

/* Set the ID of @ops, which is registered already, in the masks of its functions */
static void mark_records(struct ftrace_ops *ops)
{
	struct ftrace_hash *exempt = ftrace_locked_hash(ops->func_hash->notrace_hash);
	struct ftrace_hash *filter = ftrace_locked_hash(ops->func_hash->filter_hash);
	struct ftrace_rec_iter *iter;
	struct dyn_ftrace *rec;

	for_ftrace_rec_iter(iter) {
		rec = ftrace_rec_iter_record(iter);

		/* As __ftrace_hash_rec_update() does */
		if (rec->flags & FTRACE_FL_DISABLED &&
		    !(rec->flags & FTRACE_FL_ENABLED))
			continue;

		if (ftrace_hash_empty(filter) || ftrace_lookup_ip(filter, rec->ip)) {
			ftrace_mux_rec_add(ops, rec, ftrace_lookup_ip(exempt, rec->ip));
			mark_dirty(rec);
		}
	}
}

/* Take the ID of @ops out of all masks */
static void unmark_records(struct ftrace_ops *ops)
{
	struct ftrace_rec_iter *iter;
	struct dyn_ftrace *rec;

	for_ftrace_rec_iter(iter) {
		rec = ftrace_rec_iter_record(iter);
		if (ftrace_mux_wants(ops, rec))
			mark_dirty(rec);
		ftrace_mux_rec_del(ops, rec);
	}
}

/* IDs and slots */

static bool is_static(unsigned int id)
{
	return id < FTRACE_MUX_STATIC_IDS;
}

static void use_slot(unsigned int id, struct ftrace_ops *ops)
{
	slots[id].ops = ops;
	slots[id].state = SLOT_USED;
	slots[id].quiescing = false;
	if (is_static(id))
		arch_ftrace_mux_set_slot(id, ops, ftrace_ops_get_func(ops));
	if (needs_guard(ops))
		guarded_ids |= BIT(id);
	else
		guarded_ids &= ~BIT(id);
	ops->mux.id = id + 1;
	ftrace_mux_combo_new_ids();
}

static void free_slot(unsigned int id)
{
	slots[id].ops = NULL;
	slots[id].state = SLOT_FREE;
	slots[id].quiescing = false;
	if (is_static(id))
		arch_ftrace_mux_set_slot(id, NULL, ftrace_stub);
	ftrace_mux_combo_new_ids();
}

/* There are no workqueues yet if a tracer is registered early (ftrace=) */
static void kick_work(void)
{
	if (system_unbound_wq)
		queue_work(system_unbound_wq, &ftrace_mux_work);
}

/**
 * ftrace_mux_queue_sweep - look for trampolines without call sites in a while
 *
 * Context: any that can queue work.
 */
void ftrace_mux_queue_sweep(void)
{
	if (system_unbound_wq)
		queue_delayed_work(system_unbound_wq, &ftrace_mux_sweep,
				   FTRACE_MUX_SWEEP_DELAY);
}

/* Handle slots of tracers that were unregistered before Tasks RCU was there */
static int __init ftrace_mux_late_init(void)
{
	kick_work();

	return 0;
}
late_initcall(ftrace_mux_late_init);

static void rest_slot(unsigned int id)
{
	/* No slot: trampolines on demand call the tracer itself */
	if (!is_static(id)) {
		free_slot(id);
		/* Give the ID to a tracer without one */
		kick_work();
		return;
	}

	slots[id].state = SLOT_RESTING;
	slots[id].quiescing = false;
	kick_work();
}

/* The slot @ops may use at once, -1 if there is none */
static int find_slot(struct ftrace_ops *ops)
{
	int free = -1;

	for (int id = 0; id < FTRACE_MUX_IDS; id++) {
		/* Tasks that still call this slot call @ops */
		if (slots[id].ops == ops)
			return id;
		if (free < 0 && slots[id].state == SLOT_FREE)
			free = id;
	}

	return free;
}

/* Number of functions of @ops: tracers with more of them get the IDs */
static unsigned long tracer_span(struct ftrace_ops *ops)
{
	struct ftrace_hash *filter = ftrace_locked_hash(ops->func_hash->filter_hash);

	return ftrace_hash_empty(filter) ? ULONG_MAX : filter->count;
}

/* Make the tracer with the smallest span give up its ID, if less than @span */
static bool displace_tracer(unsigned long span)
{
	struct ftrace_ops *ops, *victim = NULL;

	for (int id = 0; id < FTRACE_MUX_IDS; id++) {
		/* Wait for this ID, which is free or becomes free */
		if (slots[id].state != SLOT_USED)
			return false;

		ops = slots[id].ops;
		if (tracer_span(ops) < span) {
			span = tracer_span(ops);
			victim = ops;
		}
	}

	if (!victim)
		return false;

	unmark_records(victim);
	rest_slot(victim->mux.id - 1);
	victim->mux.id = 0;

	return true;
}

/* Stubs are counted, but never called */
static bool wants_id(struct ftrace_ops *ops)
{
	return !ops->mux.id && !(ops->flags & FTRACE_OPS_FL_STUB);
}

/* Give free IDs to registered tracers without one */
static void hand_out_ids(void)
{
	struct ftrace_ops *ops, *next;
	bool update = false;
	int id;

	for (;;) {
		next = NULL;
		do_for_each_ftrace_op(ops, ftrace_ops_list) {
			if (ops->flags & FTRACE_OPS_FL_ENABLED && wants_id(ops) &&
			    (!next || tracer_span(ops) >= tracer_span(next)))
				next = ops;
		} while_for_each_ftrace_op(ops);

		if (!next)
			break;

		id = find_slot(next);
		if (id < 0) {
			update |= displace_tracer(tracer_span(next));
			break;
		}

		use_slot(id, next);
		mark_records(next);
		update = true;
	}

	if (update && ftrace_enabled)
		ftrace_run_update_code(FTRACE_UPDATE_CALLS);
}

/* Returns true if a grace period is needed */
static bool start_quiescing(void)
{
	bool resting = false;

	guard(mutex)(&ftrace_lock);

	for (int id = 0; id < FTRACE_MUX_IDS; id++) {
		if (slots[id].state != SLOT_RESTING)
			continue;
		slots[id].quiescing = true;
		resting = true;
	}

	return resting;
}

static void ftrace_mux_work_func(struct work_struct *work)
{
	if (start_quiescing()) {
		/* As in ftrace_shutdown() */
		synchronize_rcu_tasks_rude();
		synchronize_rcu_tasks();
	}

	guard(mutex)(&ftrace_lock);

	if (ftrace_is_dead())
		return;

	/* Slots that are RESTING since then have queued the work again */
	for (int id = 0; id < FTRACE_MUX_IDS; id++) {
		if (slots[id].quiescing)
			free_slot(id);
	}

	hand_out_ids();
}

static void ftrace_mux_sweep_func(struct work_struct *work)
{
	scoped_guard(mutex, &ftrace_lock) {
		if (ftrace_is_dead() || !ftrace_mux_combo_sweep())
			return;
	}

	/* As in ftrace_shutdown() */
	synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();

	guard(mutex)(&ftrace_lock);

	if (!ftrace_is_dead())
		ftrace_mux_combo_reap();
}

/**
 * ftrace_mux_register - get an ID for a tracer that is being registered
 * @ops: the tracer, on no call site yet
 *
 * Registration does not depend on an ID: without one, the functions that @ops
 * shares with others have trampolines that are made on demand.
 *
 * Context: process context, may sleep; ftrace_lock held.
 *
 * Return: true if another tracer had to give up its ID, so that call sites
 * have to be updated whether or not @ops changes any.
 */
bool ftrace_mux_register(struct ftrace_ops *ops)
{
	int id;

	lockdep_assert_held(&ftrace_lock);

	/* The tracers that a manager stands for are linked on their own */
	if (list_empty(&ops->subop_list))
		ftrace_mux_link(ops);
	else
		graph_manager = ops;

	if (!wants_id(ops))
		return false;

	id = find_slot(ops);
	if (id < 0)
		return displace_tracer(tracer_span(ops));

	use_slot(id, ops);

	return false;
}

/**
 * ftrace_mux_release - give back the ID of a tracer
 * @ops: the tracer, on no call site any more
 * @quiescent: whether a Tasks RCU grace period of both flavors has passed
 *	since it left the last call site; must be true if @ops may be freed
 *
 * Context: process context, may sleep; ftrace_lock held.
 */
void ftrace_mux_release(struct ftrace_ops *ops, bool quiescent)
{
	lockdep_assert_held(&ftrace_lock);

	ops->mux.id = 0;
	ftrace_mux_combo_drop(ops, quiescent);

	for (int id = 0; id < FTRACE_MUX_IDS; id++) {
		if (slots[id].ops != ops)
			continue;

		if (!quiescent) {
			if (slots[id].state == SLOT_USED)
				rest_slot(id);
			continue;
		}

		free_slot(id);
		/* Give the ID to a tracer without one */
		kick_work();
	}
}

/**
 * ftrace_mux_update_func - follow a change of the function of a tracer
 * @ops: the tracer whose ops->func has changed, registered or about to be
 *
 * Context: process context, may sleep; ftrace_lock held.
 */
void ftrace_mux_update_func(struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);

	if (ops->mux.id && is_static(ops->mux.id - 1))
		arch_ftrace_mux_set_slot(ops->mux.id - 1, ops,
					 ftrace_ops_get_func(ops));
	ftrace_mux_combo_update_func(ops);
}

/**
 * ftrace_mux_filter_changed - see who has earned an ID now
 * @ops: the tracer whose filter has changed, registered or not
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_filter_changed(struct ftrace_ops *ops)
{
	struct ftrace_ops *other;

	lockdep_assert_held(&ftrace_lock);

	if (!(ops->flags & FTRACE_OPS_FL_ENABLED))
		return;

	do_for_each_ftrace_op(other, ftrace_ops_list) {
		if (wants_id(other)) {
			kick_work();
			return;
		}
	} while_for_each_ftrace_op(other);
}

/* Names and defaults */

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
static bool is_graph_tracer(struct ftrace_ops *ops, struct trace_array *tr)
{
	return tr && tr->gops && ops == &tr->gops->ops;
}
#else
static bool is_graph_tracer(struct ftrace_ops *ops, struct trace_array *tr)
{
	return false;
}
#endif

/* Empty the own filter of @ops, which is not registered */
static void drop_filter(struct ftrace_ops *ops)
{
	struct ftrace_hash *filter, *exempt;

	filter = rcu_replace_pointer(ops->local_hash.filter_hash, ftrace_copy_hash(NULL),
				     lockdep_is_held(&ftrace_lock));
	exempt = rcu_replace_pointer(ops->local_hash.notrace_hash, ftrace_copy_hash(NULL),
				     lockdep_is_held(&ftrace_lock));
	free_ftrace_hash_rcu(filter);
	free_ftrace_hash_rcu(exempt);
}

/**
 * ftrace_mux_init_tracer - make a tracer known to the user
 * @ops: the tracer, before it is registered
 * @name: its name in function_tracers, a constant
 * @tr: the trace instance it works for, NULL for the top one
 *
 * The function and the graph tracer of @tr have one filter for good. Any other
 * has one of its own, see ftrace_mux_get_default(), unless
 * ftrace_mux_share_filter() says otherwise. Where several tracers or instances
 * use one ops in turn, each starts with an empty one.
 *
 * Context: process context, may sleep; takes ftrace_lock.
 */
void ftrace_mux_init_tracer(struct ftrace_ops *ops, const char *name,
			    struct trace_array *tr)
{
	struct ftrace_ops *function = tr ? tr->ops : &global_ops;

	ftrace_ops_init(ops);

	guard(mutex)(&ftrace_lock);

	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		return;

	if (ops != function && !is_graph_tracer(ops, tr) &&
	    (ops->name != name || ops->mux.tr != ftrace_mux_instance(tr)))
		drop_filter(ops);

	ops->name = name;
	ops->flags |= FTRACE_OPS_FL_USER;
	ops->mux.tr = ftrace_mux_instance(tr);
}

/**
 * ftrace_mux_share_filter - let a tracer start with that of the function tracer
 * @ops: a tracer of the top instance, before it is registered, but after
 *	ftrace_mux_init_tracer()
 *
 * It keeps the filter of the function tracer until it is given another.
 *
 * Context: process context, may sleep; takes ftrace_lock.
 */
void ftrace_mux_share_filter(struct ftrace_ops *ops)
{
	guard(mutex)(&ftrace_lock);

	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		return;

	if (!ops->mux.shared_hash) {
		INIT_LIST_HEAD(&ops->mux.mod_trace);
		INIT_LIST_HEAD(&ops->mux.mod_notrace);
	}
	ops->mux.shared_hash = &global_ops.local_hash;
	if (!ops->mux.own_filter)
		ops->func_hash = ops->mux.shared_hash;
}

/* The name of @ops before it is made unique, in @buf if it is not a constant */
static const char *base_name(struct ftrace_ops *ops, char *buf)
{
	const char *name = ops->name;

	/* The tracers behind the graph tracer's manager have no ftrace callback */
	if (!name && ops->flags & FTRACE_OPS_FL_SUBOP)
		return "graph";
	if (!name)
		name = kallsyms_lookup((unsigned long)ops->saved_func,
				       NULL, NULL, NULL, buf);

	return name ?: "unknown";
}

/**
 * ftrace_mux_has_files - whether set_ftrace_filter is about a tracer
 * @ops: the tracer
 * @tr: the trace instance, NULL for the top one
 *
 * A tracer that does not get its filter from the function tracer leaves these
 * files to those that do, as it did before there were several filters, unless
 * it was chosen to be the default.
 *
 * Context: ftrace_lock held.
 */
bool ftrace_mux_has_files(struct ftrace_ops *ops, struct trace_array *tr)
{
	lockdep_assert_held(&ftrace_lock);

	return ops->flags & FTRACE_OPS_FL_USER &&
	       ops->mux.tr == ftrace_mux_instance(tr) &&
	       (!ops->mux.private_filter || ops->mux.chosen);
}

/**
 * ftrace_mux_count_users - number of tracers that set_ftrace_filter is about
 * @tr: the trace instance, NULL for the top one
 *
 * Context: ftrace_lock held.
 *
 * Return: how many registered tracers of @tr ftrace_mux_has_files() is true of.
 */
unsigned int ftrace_mux_count_users(struct trace_array *tr)
{
	struct ftrace_ops *ops;
	unsigned int count = 0;

	lockdep_assert_held(&ftrace_lock);

	for_each_ftrace_mux_tracer(ops)
		count += ftrace_mux_has_files(ops, tr);

	return count;
}

static void __set_default(struct ftrace_ops *def, bool chosen)
{
	struct ftrace_ops *ops;

	for_each_ftrace_mux_tracer(ops) {
		if (ops->mux.tr != def->mux.tr)
			continue;
		ops->mux.is_default = ops == def;
		ops->mux.chosen = ops == def && chosen;
	}
}

/**
 * ftrace_mux_set_default - make set_ftrace_filter the filter of a tracer
 * @ops: the tracer, registered and with FTRACE_OPS_FL_USER
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_set_default(struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);

	__set_default(ops, true);
}

/**
 * ftrace_mux_get_default - the tracer that set_ftrace_filter is the filter of
 * @tr: the trace instance, NULL for the top one
 *
 * Context: ftrace_lock held.
 *
 * Return: the tracer, NULL if it is the function tracer because there is no
 * other choice.
 */
struct ftrace_ops *ftrace_mux_get_default(struct trace_array *tr)
{
	struct ftrace_ops *ops;

	lockdep_assert_held(&ftrace_lock);

	for_each_ftrace_mux_tracer(ops) {
		if (ops->mux.is_default && ops->mux.tr == ftrace_mux_instance(tr))
			return ops;
	}

	return NULL;
}

/**
 * ftrace_mux_link - list a tracer among the registered ones
 * @ops: the tracer
 *
 * One that set_ftrace_filter is about becomes the default.
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_link(struct ftrace_ops *ops)
{
	struct trace_array *tr = ops->mux.tr;
	char sym[KSYM_SYMBOL_LEN];
	struct ftrace_ops *other;
	const char *name;

	lockdep_assert_held(&ftrace_lock);

	if (ops->flags & FTRACE_OPS_FL_STUB)
		return;

	/* If two names have the same hash, one gets a number without need */
	name = base_name(ops, sym);
	ops->mux.name_hash = full_name_hash(NULL, name, strlen(name));
	ops->mux.nr = 0;
	for_each_ftrace_mux_tracer(other) {
		if (other->mux.tr == tr &&
		    other->mux.name_hash == ops->mux.name_hash)
			ops->mux.nr = max(ops->mux.nr, other->mux.nr + 1);
	}

	ops->mux.private_filter = ops->func_hash == &ops->local_hash &&
				  ops != (tr ? tr->ops : &global_ops) &&
				  !ops->mux.shared_hash;
	ops->mux.seq = ++last_seq;
	list_add_tail(&ops->mux.node, &ftrace_mux_tracers);

	if (ftrace_mux_has_files(ops, tr) && ops->mux.hold != MUX_HOLD_OTHER)
		__set_default(ops, ops->mux.hold == MUX_HOLD_CHOSEN);
	ops->mux.hold = MUX_HOLD_NONE;
}

/**
 * ftrace_mux_hold_default - prepare to unregister a tracer and register it again
 * @ops: the tracer, registered
 *
 * A new tracer becomes the default. This one is the default after it was
 * registered again only if it is now.
 *
 * Context: process context, may sleep; takes ftrace_lock.
 */
void ftrace_mux_hold_default(struct ftrace_ops *ops)
{
	guard(mutex)(&ftrace_lock);

	if (!ops->mux.is_default)
		ops->mux.hold = MUX_HOLD_OTHER;
	else
		ops->mux.hold = ops->mux.chosen ? MUX_HOLD_CHOSEN : MUX_HOLD_DEFAULT;
}

/**
 * ftrace_mux_set_instance - say which instance a tracer of the kernel works for
 * @ops: the tracer, before it is registered
 * @tr: the trace instance, NULL for the top one
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_set_instance(struct ftrace_ops *ops, struct trace_array *tr)
{
	lockdep_assert_held(&ftrace_lock);

	ops->mux.tr = ftrace_mux_instance(tr);
}

/**
 * ftrace_mux_unlink - take a tracer off the list of registered ones
 * @ops: the tracer; nothing happens if it is not on the list
 *
 * If it was the default, the one registered before it takes over; if there is
 * none, the last one.
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_unlink(struct ftrace_ops *ops)
{
	struct ftrace_ops *other, *next = NULL;

	lockdep_assert_held(&ftrace_lock);

	if (!ops->mux.seq)
		return;

	for_each_ftrace_mux_tracer(other) {
		if (other == ops && next)
			break;
		if (other != ops && ftrace_mux_has_files(other, ops->mux.tr))
			next = other;
	}

	list_del(&ops->mux.node);
	ops->mux.seq = 0;

	if (ops->mux.is_default && next)
		__set_default(next, false);
	ops->mux.is_default = false;
	ops->mux.chosen = false;
}

/**
 * ftrace_mux_find - look up a tracer by its registration
 * @seq: the number of the registration, not 0
 *
 * Context: ftrace_lock held.
 *
 * Return: the tracer, NULL if it has been unregistered, even if it has been
 * registered again since.
 */
struct ftrace_ops *ftrace_mux_find(u64 seq)
{
	struct ftrace_ops *ops;

	lockdep_assert_held(&ftrace_lock);

	for_each_ftrace_mux_tracer(ops) {
		if (ops->mux.seq == seq)
			return ops;
	}

	return NULL;
}

/**
 * ftrace_mux_name - the unique name of a registered tracer
 * @ops: the tracer
 * @buf: where to put it
 * @size: room in @buf, KSYM_SYMBOL_LEN is always enough
 *
 * A tracer that brings no name has that of its callback. Where that leaves
 * several with the same name in a trace instance, a number is added to those
 * that came later.
 *
 * Context: process context; ftrace_lock held.
 *
 * Return: @buf.
 */
const char *ftrace_mux_name(struct ftrace_ops *ops, char *buf, size_t size)
{
	char sym[KSYM_SYMBOL_LEN];
	const char *name;

	lockdep_assert_held(&ftrace_lock);

	name = base_name(ops, sym);
	if (ops->mux.nr)
		snprintf(buf, size, "%s#%u", name, ops->mux.nr);
	else
		strscpy(buf, name, size);

	return buf;
}

/* The switch */

static int __init set_ftrace_mux(char *str)
{
	bool enabled;

	if (kstrtobool(str, &enabled))
		return 0;

	ftrace_mux_enabled = enabled;
	return 1;
}
__setup("ftrace_mux=", set_ftrace_mux);

#ifdef CONFIG_SYSCTL
static int ftrace_mux_sysctl(const struct ctl_table *table, int write,
			     void *buffer, size_t *lenp, loff_t *ppos)
{
	int enabled;
	struct ctl_table tmp = *table;
	int ret;

	guard(mutex)(&ftrace_lock);

	enabled = ftrace_mux_enabled;
	tmp.data = &enabled;
	ret = proc_dointvec_minmax(&tmp, write, buffer, lenp, ppos);
	if (ret || !write || enabled == ftrace_mux_enabled)
		return ret;

	if (ftrace_is_dead())
		return -ENODEV;

	ftrace_mux_enabled = enabled;
	ftrace_check_all = true;
	if (ftrace_enabled)
		ftrace_run_update_code(FTRACE_UPDATE_CALLS);

	return 0;
}

static struct ctl_table ftrace_mux_sysctls[] = {
	{
		.procname	= "ftrace_mux",
		.data		= &ftrace_mux_enabled,
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= ftrace_mux_sysctl,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
};

static int __init ftrace_mux_sysctl_init(void)
{
	register_sysctl_init("kernel", ftrace_mux_sysctls);
	return 0;
}
late_initcall(ftrace_mux_sysctl_init);
#endif /* CONFIG_SYSCTL */

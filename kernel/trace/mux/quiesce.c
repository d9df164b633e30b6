// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: what updates leave behind, and when it is freed.
 *
 * A task may be at an entry, among the calls of a combination, or in a callback after no
 * call site leads there any more. At the end of a grace period of Tasks RCU and of Tasks Rude
 * RCU that started when no call site led there, no task is there. Before that
 *
 *  - an entry without call sites, and a combination without entries, are not freed, nor
 *    used for something else (updates.c, "Late callers")
 *  - an ID is not given to another tracer (ids.c)
 *  - an ftrace_ops is not freed.
 *
 * ftrace waits for the grace period if the ftrace_ops may be freed as soon as
 * unregister_ftrace_function() returns. Then ftrace_mux_release() frees all that
 * belongs to the tracer. Otherwise a sweep does it, some seconds after an update.
 * So to unregister a tracer takes no grace period if its ftrace_ops is never freed, or
 * if its owner has called ftrace_mux_set_owner_waits() and it has no trampoline of its
 * own. Such an owner calls ftrace_mux_clear_owner_waits_sync() before it frees the ftrace_ops.
 * This calls ftrace_mux_wait_for_callbacks(), which waits for a sweep if one waits for its grace
 * period, or if a tracer was unregistered without a grace period since the last sweep started.
 *
 * Protected by ftrace_lock.
 */
#include <linux/hashtable.h>
#include <linux/init.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>

#include "check.h"
#include "combinations.h"
#include "entries.h"
#include "ids.h"
#include "mux.h"
#include "quiesce.h"

/*
 * A sweep marks what is unused (start_quiescing()), waits for a grace period, and frees what is
 * still unused (reap()).
 *
 * Delay between an update and the sweep that frees unused entries and combinations: one
 * grace period serves many updates.
 */
#define MUX_SWEEP_DELAY		(5 * HZ)

/* A sweep has been requested, and has not started */
static bool needs_sweep;

/* A tracer was unregistered since the last sweep started, and nobody has waited */
static bool needs_grace;

/* A sweep waits for its grace period */
static bool sweeping;

static void sweep_func(struct work_struct *work);
static DECLARE_DELAYED_WORK(sweep_work, sweep_func);

/**
 * ftrace_mux_request_sweep - request a sweep, since there is something to wait for or to free
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_request_sweep(void)
{
	lockdep_assert_held(&ftrace_lock);

	if (needs_sweep)
		return;

	needs_sweep = true;
	/* Before there are workqueues (ftrace=), ftrace_mux_late_init() queues it */
	if (system_dfl_long_wq)
		queue_delayed_work(system_dfl_long_wq, &sweep_work, MUX_SWEEP_DELAY);
}

/* Returns true if there is anything to wait for */
static bool start_quiescing(void)
{
	bool found = ftrace_mux_ids_quiesce() || needs_grace;
	struct ftrace_mux_combo *combo;
	struct ftrace_mux_entry *entry;
	unsigned int pos;

	needs_sweep = false;
	needs_grace = false;

	for_each_ftrace_mux_entry(entry, pos) {
		entry->quiescing = entry->site_left || !entry->functions;
		entry->site_left = false;
		found |= entry->quiescing;
	}

	/*
	 * No mark is needed for reap(): a combination that gets an entry until then is not empty,
	 * one that an entry leaves has entry_left, and no task can be in one that is new.
	 */
	list_for_each_entry(combo, &ftrace_mux_combos, node) {
		found |= combo->entry_left || list_empty(&combo->entries);
		combo->entry_left = false;
	}

	sweeping = found;

	return found;
}

/* Free what nobody has used since start_quiescing() */
static void reap(void)
{
	struct ftrace_mux_combo *combo, *next;
	struct ftrace_mux_entry *entry;
	unsigned int pos;

	for_each_ftrace_mux_entry(entry, pos) {
		if (!entry->quiescing)
			continue;
		entry->quiescing = false;
		if (!entry->functions && !entry->site_left)
			ftrace_mux_entry_free(entry);
	}

	list_for_each_entry_safe(combo, next, &ftrace_mux_combos, node) {
		if (list_empty(&combo->entries) && !combo->entry_left)
			ftrace_mux_combo_free(combo);
	}

	ftrace_mux_ids_reap();
}

static void sweep_func(struct work_struct *work)
{
	scoped_guard(mutex, &ftrace_lock) {
		ftrace_mux_check_recs();
		if (!start_quiescing())
			return;
	}

	ftrace_wait_for_callers();

	guard(mutex)(&ftrace_lock);

	sweeping = false;
	if (!ftrace_is_dead())
		reap();
}

static int __init ftrace_mux_late_init(void)
{
	guard(mutex)(&ftrace_lock);

	needs_sweep = false;
	ftrace_mux_request_sweep();

	return 0;
}
late_initcall(ftrace_mux_late_init);

/* Free the combinations with @ops, and their entries. No task is in one of them. */
static void free_combos_of(struct ftrace_ops *ops)
{
	struct ftrace_mux_combo *combo, *next_combo;
	struct ftrace_mux_entry *entry, *next;

	list_for_each_entry_safe(combo, next_combo, &ftrace_mux_combos, node) {
		if (!ftrace_mux_combo_has(combo, ops))
			continue;

		list_for_each_entry_safe(entry, next, &combo->entries, node) {
			if (!entry->functions)
				ftrace_mux_entry_free(entry);
		}

		/* Leak the combination if a call site leads to it, and do not find it again */
		if (WARN_ON_ONCE(!list_empty(&combo->entries)))
			hash_del(&combo->hash);
		else
			ftrace_mux_combo_free(combo);
	}
}

/**
 * ftrace_mux_release - free, now or later, what belongs to a tracer that has been unregistered
 * @ops: the tracer, on no call site any more; or a graph tracer, which has no ID
 * @quiescent: whether a grace period of both flavors of Tasks RCU has passed
 *	since it left the last call site. It may be false if @ops is never freed (it has no
 *	FTRACE_OPS_FL_DYNAMIC), if the owner of @ops waits before it frees @ops (see
 *	ftrace_mux_may_skip_wait()), and for a graph tracer: after it was removed, combinations
 *	only compare its address.
 *
 * If @quiescent is false, a sweep frees the ID and the combinations.
 *
 * Context: process context, may sleep; ftrace_lock held.
 */
void ftrace_mux_release(struct ftrace_ops *ops, bool quiescent)
{
	lockdep_assert_held(&ftrace_lock);

	/* A call site that was not patched may lead anywhere: free nothing, see sweep_func() */
	quiescent = quiescent && !ftrace_is_dead();
	ftrace_mux_put_id(ops, quiescent);
	if (quiescent) {
		free_combos_of(ops);
		return;
	}

	needs_grace = true;
	ftrace_mux_request_sweep();
}

/**
 * ftrace_mux_sweep_sync - sweep at once, and wait until it is done
 *
 * Context: process context, may sleep for seconds; ftrace_lock not held.
 */
void ftrace_mux_sweep_sync(void)
{
	mod_delayed_work(system_dfl_long_wq, &sweep_work, 0);
	flush_delayed_work(&sweep_work);
}

/**
 * ftrace_mux_wait_for_callbacks - wait until no task is in the callback of a tracer that was
 *	unregistered without a grace period
 *
 * Waits for all tracers, since a callback may use what belongs to another one.
 *
 * Context: process context, may sleep for seconds; ftrace_lock not held.
 */
void ftrace_mux_wait_for_callbacks(void)
{
	scoped_guard(mutex, &ftrace_lock) {
		if (!needs_grace && !sweeping)
			return;
	}

	ftrace_mux_sweep_sync();
}

/**
 * ftrace_mux_clear_owner_waits_sync - undo ftrace_mux_set_owner_waits(), and wait
 * @ops: the tracer, which the caller is about to free
 *
 * First, clears the flag: if @ops is registered and unregistered again, then
 * unregister_ftrace_function() waits. After that, waits as ftrace_mux_wait_for_callbacks() does:
 * for all tracers that were unregistered without a grace period, and not only for @ops.
 *
 * Context: process context, may sleep for seconds; ftrace_lock not held.
 */
void ftrace_mux_clear_owner_waits_sync(struct ftrace_ops *ops)
{
	scoped_guard(mutex, &ftrace_lock)
		ops->mux.owner_waits = false;

	ftrace_mux_wait_for_callbacks();
}

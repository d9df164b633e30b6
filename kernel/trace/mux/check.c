// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: a check of records and call sites, for tests.
 */
#include <kunit/visibility.h>
#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/memory.h>
#include <linux/mutex.h>

#include "../ftrace_internal.h"
#include "check.h"
#include "combinations.h"
#include "entries.h"
#include "sets.h"

/* Tests that want the check of each sweep */
static atomic_t nr_checkers;

/**
 * ftrace_mux_start_checks - have each sweep check all records
 *
 * Unless a module has called this, ftrace_mux_check_recs() does nothing, so that a kernel whose
 * tests are modules does not walk all records when none is loaded.
 *
 * Context: any.
 */
void ftrace_mux_start_checks(void)
{
	atomic_inc(&nr_checkers);
}
EXPORT_SYMBOL_IF_KUNIT(ftrace_mux_start_checks);

/**
 * ftrace_mux_stop_checks - undo one ftrace_mux_start_checks()
 *
 * Context: any.
 */
void ftrace_mux_stop_checks(void)
{
	atomic_dec(&nr_checkers);
}
EXPORT_SYMBOL_IF_KUNIT(ftrace_mux_stop_checks);

static void check_rec(struct dyn_ftrace *rec, struct ftrace_mux_entry *entry)
{
	static struct ftrace_mux_set set;

	WARN_ONCE(!entry->combo || !ftrace_mux_collect(rec, &set) ||
		  !ftrace_mux_combo_equals(entry->combo, &set),
		  "%pS has other tracers than its entry\n", (void *)rec->ip);
	WARN_ONCE(!arch_ftrace_mux_site_calls(rec, entry->index),
		  "%pS does not call its entry\n", (void *)rec->ip);
}

/**
 * ftrace_mux_check_recs - check what the updates have made of records and call sites
 *
 * Does nothing if no test module has asked for the checks, or if ftrace is dead.
 *
 * Warns if the combination of an entry differs from what ftrace_mux_collect() finds, if a call
 * site calls something else than its entry, or if the functions of an entry are miscounted.
 *
 * Context: process context; ftrace_lock held, no update going on. Takes text_mutex.
 */
void ftrace_mux_check_recs(void)
{
	struct ftrace_mux_entry *entry;
	struct ftrace_rec_iter *iter;
	struct dyn_ftrace *rec;
	unsigned int pos;

	lockdep_assert_held(&ftrace_lock);

	if (!atomic_read(&nr_checkers) || ftrace_is_dead())
		return;

	guard(mutex)(&text_mutex);

	/* Without an update, the plans are free to count call sites */
	for_ftrace_rec_iter(iter) {
		rec = ftrace_rec_iter_record(iter);
		if (!rec->mux.entry)
			continue;
		entry = ftrace_mux_rec_entry(rec);
		entry->plan.functions++;
		check_rec(rec, entry);
		cond_resched();
	}

	for_each_ftrace_mux_entry(entry, pos) {
		WARN_ONCE(entry->plan.functions != entry->functions,
			  "entry %u has %u call sites, not %u\n", entry->index,
			  entry->plan.functions, entry->functions);
		entry->plan.functions = 0;
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: a check of call sites, and allocations that fail, for tests.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/memory.h>
#include <linux/mutex.h>

#include "../ftrace_internal.h"
#include "check.h"
#include "combinations.h"
#include "entries.h"

/* Modules that want the check of each sweep */
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
		  !ftrace_mux_set_equals(&set, entry->combo),
		  "%pS has other tracers than its entry\n", (void *)rec->ip);
	WARN_ONCE(arch_ftrace_mux_callee(rec->ip) != ftrace_mux_entry_addr(entry),
		  "%pS does not call its entry\n", (void *)rec->ip);
}

/**
 * ftrace_mux_check_recs - check what the updates have made of records and call sites
 *
 * Does nothing if no test module has asked for the checks, or if ftrace is dead.
 *
 * Warns if a function has other tracers than its filters say, if its call site calls
 * something else than its entry, or if the users of an entry are miscounted.
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

	for_ftrace_rec_iter(iter) {
		rec = ftrace_rec_iter_record(iter);
		if (!rec->mux_entry)
			continue;
		entry = ftrace_mux_rec_entry(rec);
		entry->touches++;
		check_rec(rec, entry);
		cond_resched();
	}

	for_each_ftrace_mux_entry(entry, pos) {
		WARN_ONCE(entry->touches != entry->users,
			  "entry %u has %u call sites, not %u\n", entry->index, entry->touches,
			  entry->users);
		entry->touches = 0;
	}
}

/**
 * ftrace_mux_fails - whether an allocation has to fail
 *
 * A test replaces this function.
 *
 * Context: any.
 *
 * Return: true if the caller shall return as if there was no memory.
 */
bool ftrace_mux_fails(void)
{
	KUNIT_STATIC_STUB_REDIRECT(ftrace_mux_fails);

	return false;
}
EXPORT_SYMBOL_IF_KUNIT(ftrace_mux_fails);

// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: counts the calls of combinations of tracers.
 *
 * While calls are counted, each combination of tracers has a per-CPU count of how often its calls
 * are made. The calls of a tracer are the sum of the counts of all combinations with it, also of
 * those that have been freed since. A combination that counts has code of its own, so that no
 * traced call has to test whether calls are counted.
 *
 * What a tracer drops itself, because of its PID filter or in a recursion, is counted: it has
 * been called. Some calls are not counted, and make the count of a tracer incomplete:
 *
 *  - calls of functions without an entry: those that go through ftrace_ops_list_func(), and all
 *    calls while the multiplexer is off
 *  - calls of combinations for which there was no memory to count.
 *
 * If an entry or a combination cannot be allocated, the counts of all tracers are incomplete. CPUs
 * that go offline keep their counts.
 *
 * combinations.c gives each combination its count, and stat.c changes the mode. Protected by
 * ftrace_lock.
 */
#include <linux/math64.h>
#include <linux/percpu.h>

#include "combinations.h"
#include "count.h"
#include "mux.h"
#include "sets.h"
#include "time.h"

static enum ftrace_mux_mode mode;

/* Incremented when the mode changes: the counts of an older generation are not read any more */
static unsigned int generation;

/*
 * A graph tracer is listed, and gets its seq, only after its combinations were made. If one of
 * these does not count, the tracer cannot be marked yet. So keep ftrace_mux_last_seq() of the last
 * time that calls went uncounted: a graph tracer whose seq is the next one is incomplete. With
 * U64_MAX, none is: no tracer has the seq 0.
 */
static u64 last_incomplete_seq = U64_MAX;

/**
 * ftrace_mux_count_mode - what is counted
 *
 * Context: ftrace_lock held.
 *
 * Return: the mode.
 */
enum ftrace_mux_mode ftrace_mux_count_mode(void)
{
	lockdep_assert_held(&ftrace_lock);

	return mode;
}

/**
 * ftrace_mux_count_new_generation - start a new generation of combinations
 * @new_mode: what combinations that are made from now on count
 *
 * The counts of those that exist are not read any more. The caller moves entries off them.
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_count_new_generation(enum ftrace_mux_mode new_mode)
{
	lockdep_assert_held(&ftrace_lock);

	generation++;
	mode = new_mode;
	if (mode != FTRACE_MUX_MODE_OFF)
		last_incomplete_seq = U64_MAX;
}

/**
 * ftrace_mux_count_is_current - whether what a combination counts is of the present mode
 * @combo: the combination
 *
 * Context: ftrace_lock held.
 *
 * Return: false if it was made before the last change of the mode.
 */
bool ftrace_mux_count_is_current(const struct ftrace_mux_combo *combo)
{
	lockdep_assert_held(&ftrace_lock);

	return combo->generation == generation;
}

/**
 * ftrace_mux_count_belongs_to - whether the count of a combination is a part of that of a tracer
 * @combo: the combination
 * @ops: the tracer, registered
 *
 * combo->last_seq is ftrace_mux_last_seq() when the combination was made. A tracer gets its seq
 * before its first combination is made: seq <= last_seq. A graph tracer gets it just afterwards:
 * its seq is last_seq + 1. Unregistering takes a number, too. So a later tracer at the same address
 * has at least last_seq + 2.
 *
 * Context: ftrace_lock held.
 *
 * Return: false also if @ops is another tracer, which uses the address again.
 */
bool ftrace_mux_count_belongs_to(const struct ftrace_mux_combo *combo, const struct ftrace_ops *ops)
{
	if (!ftrace_mux_count_is_current(combo) || ops->mux.seq > combo->last_seq + 1)
		return false;

	return combo->only_graph == ops || ftrace_mux_combo_has(combo, ops);
}

/**
 * ftrace_mux_count_sum - how often the calls of a combination were made since the mode has changed
 * @combo: the combination
 *
 * Context: ftrace_lock held.
 *
 * Return: the sum of all CPUs; 0 if the combination does not count.
 */
u64 ftrace_mux_count_sum(const struct ftrace_mux_combo *combo)
{
	u64 sum = 0;
	int cpu;

	if (!combo->count || !ftrace_mux_count_is_current(combo))
		return 0;

	for_each_possible_cpu(cpu)
		sum += ftrace_mux_read_counter(per_cpu_ptr(combo->count, cpu));

	return sum;
}

static void mark_combo_incomplete(const struct ftrace_mux_combo *combo)
{
	struct ftrace_ops *ops;

	last_incomplete_seq = ftrace_mux_last_seq();
	for_each_ftrace_mux_tracer(ops)
		ops->mux.incomplete |= ftrace_mux_count_belongs_to(combo, ops);
}

/*
 * The graph tracer that @combo calls through the manager, if only one is registered; else NULL. If
 * several are registered and combo->graph is 0, none of them wants the functions. @combo may have
 * the manager nevertheless, if there was no memory to make the filter of the manager smaller.
 */
static const struct ftrace_ops *only_graph(const struct ftrace_mux_combo *combo)
{
	if (combo->graph || ftrace_mux_has_graph_sets() || !ftrace_mux_graph_ops ||
	    !ftrace_mux_combo_has(combo, ftrace_mux_graph_ops))
		return NULL;

	return list_first_entry_or_null(&ftrace_mux_graph_ops->subop_list, struct ftrace_ops, list);
}

/**
 * ftrace_mux_count_cancel - take the count of a combination back
 * @combo: the combination, for which there is not enough memory to count
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_count_cancel(struct ftrace_mux_combo *combo)
{
	mark_combo_incomplete(combo);
	ftrace_mux_time_cancel(combo);
	free_percpu(combo->count);
	combo->count = NULL;
}

/**
 * ftrace_mux_count_init - give a combination a count, if calls are counted
 * @combo: the combination, which the architecture has not prepared yet
 *
 * Context: process context, may sleep; ftrace_lock held.
 */
void ftrace_mux_count_init(struct ftrace_mux_combo *combo)
{
	combo->generation = generation;
	combo->last_seq = ftrace_mux_last_seq();
	combo->only_graph = only_graph(combo);
	if (mode == FTRACE_MUX_MODE_OFF)
		return;

	combo->count = alloc_percpu(u64);
	if (!combo->count || (mode == FTRACE_MUX_MODE_TIME && ftrace_mux_time_init(combo)))
		ftrace_mux_count_cancel(combo);
}

/*
 * Which of the calls of @combo is that of @ops, or of the manager if @ops is a graph tracer. @combo
 * counts for @ops.
 */
static unsigned int call_of(const struct ftrace_mux_combo *combo, const struct ftrace_ops *ops)
{
	unsigned int n = 0;

	if (ops->flags & FTRACE_OPS_FL_SUBOP)
		ops = ftrace_mux_graph_ops;

	/* One of the calls is that of @ops */
	while (n < combo->nr - 1 && combo->ops[n] != ops)
		n++;

	return n;
}

/**
 * ftrace_mux_count_add_usage - add the calls of a tracer that a combination has made
 * @sum: to add to
 * @combo: the combination
 * @calls: ftrace_mux_count_sum(@combo)
 * @ops: the tracer, registered
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_count_add_usage(struct ftrace_mux_usage *sum, const struct ftrace_mux_combo *combo,
				u64 calls, const struct ftrace_ops *ops)
{
	struct ftrace_mux_time time;

	if (!calls || !ftrace_mux_count_belongs_to(combo, ops))
		return;

	sum->calls += calls;
	if (!combo->timed)
		return;

	time = ftrace_mux_time_of_call(combo, call_of(combo, ops));
	/*
	 * One call for several graph tracers: divide the time equally. All of them were preempted
	 * if one was, so time.preempted is not divided.
	 */
	if (combo->graph_set && ops->flags & FTRACE_OPS_FL_SUBOP)
		time.cycles = div_u64(time.cycles, combo->graph_set->nr);

	sum->time.cycles += time.cycles;
	sum->time.preempted += time.preempted;
}

/**
 * ftrace_mux_count_free - free the count of a combination, and add it to that of its tracers
 * @combo: the combination; no task makes its calls
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_count_free(struct ftrace_mux_combo *combo)
{
	u64 calls = ftrace_mux_count_sum(combo);
	struct ftrace_ops *ops;

	lockdep_assert_held(&ftrace_lock);

	for_each_ftrace_mux_tracer(ops)
		ftrace_mux_count_add_usage(&ops->mux.usage, combo, calls, ops);
	ftrace_mux_time_free(combo);
	free_percpu(combo->count);
}

/**
 * ftrace_mux_count_mark_incomplete - note that the calls of a function are not counted
 * @rec: record of the function, which has no entry
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_count_mark_incomplete(struct dyn_ftrace *rec)
{
	struct ftrace_ops *ops;

	lockdep_assert_held(&ftrace_lock);

	if (mode == FTRACE_MUX_MODE_OFF)
		return;

	last_incomplete_seq = ftrace_mux_last_seq();
	for_each_ftrace_mux_tracer(ops)
		ops->mux.incomplete |= ftrace_mux_wants(ops, rec);
}

/**
 * ftrace_mux_count_mark_all_incomplete - note that some calls of each tracer are not counted
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_count_mark_all_incomplete(void)
{
	struct ftrace_ops *ops;

	last_incomplete_seq = ftrace_mux_last_seq();
	for_each_ftrace_mux_tracer(ops)
		ops->mux.incomplete = true;
}

/**
 * ftrace_mux_count_is_complete - whether all calls of a new graph tracer are counted
 * @ops: the tracer, which is being registered
 *
 * Its combinations are made before it is on the list of tracers. So it cannot be marked when one
 * of them does not count.
 *
 * Context: ftrace_lock held.
 *
 * Return: false if some are not. Also false if calls of any tracer went uncounted since the last
 * registration or unregistration before this one.
 */
bool ftrace_mux_count_is_complete(const struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);

	return ops->mux.seq != last_incomplete_seq + 1;
}

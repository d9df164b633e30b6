// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: starting and stopping channels.
 *
 * By the provider or through the file "state", with gtsc_mutex held.
 */

#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/rcupdate.h>

#include "gtsc.h"
#include "read.h"

const char * const gtsc_state_names[GTSC_NR_STATES] = {
	[GTSC_SETUP]	= "setup",
	[GTSC_RUNNING]	= "running",
	[GTSC_STOPPED]	= "stopped",
};

static void start(struct trace_info *trace)
{
	/* Before @live: see move_horizon() */
	WRITE_ONCE(trace->state, GTSC_RUNNING);
	/* Pairs with the address dependency in trace_reserve() */
	smp_store_release(&trace->live, trace->buffer);
}

static void stop_writers(struct trace_info *trace)
{
	WRITE_ONCE(trace->live, NULL);
}

/* After a grace period of RCU since stop_writers() */
static void stopped(struct trace_info *trace)
{
	WRITE_ONCE(trace->state, GTSC_STOPPED);
	gtsc_wake_readers(trace);
}

/* Stop a channel whose files have been removed, and wait for its writers */
void gtsc_end_writers(struct trace_info *trace)
{
	lockdep_assert_held(&gtsc_mutex);

	stop_writers(trace);
	synchronize_rcu();
	if (trace->state == GTSC_RUNNING)
		stopped(trace);
}

static bool may_become(struct trace_info *trace, enum gtsc_state state)
{
	switch (state) {
	case GTSC_RUNNING:
		return trace->state != GTSC_RUNNING;
	case GTSC_STOPPED:
		return trace->state == GTSC_RUNNING;
	default:
		return false;
	}
}

int gtsc_set_state(struct trace_info *trace, enum gtsc_state state)
{
	guard(mutex)(&gtsc_mutex);

	if (trace->dying)
		return -ENODEV;
	if (!may_become(trace, state))
		return -EINVAL;

	if (state == GTSC_RUNNING) {
		start(trace);
		return 0;
	}

	stop_writers(trace);
	synchronize_rcu();
	stopped(trace);

	return 0;
}

/* Change all channels that are not in @state, with one grace period */
int gtsc_group_set_state(struct trace_group *group, enum gtsc_state state)
{
	struct trace_info *trace;
	unsigned int nr = 0;

	guard(mutex)(&gtsc_mutex);

	if (group->dying)
		return -ENODEV;

	list_for_each_entry(trace, &group->channels, node) {
		if (!may_become(trace, state))
			continue;
		nr++;
		if (state == GTSC_RUNNING)
			start(trace);
		else
			stop_writers(trace);
	}

	if (!nr)
		return -EINVAL;
	if (state == GTSC_RUNNING)
		return 0;

	synchronize_rcu();
	list_for_each_entry(trace, &group->channels, node) {
		if (may_become(trace, GTSC_STOPPED))
			stopped(trace);
	}

	return 0;
}

/**
 * trace_start - let records into a channel
 * @trace: the channel
 *
 * Records that are in the buffer stay there.
 *
 * Context: process context, may sleep.
 *
 * Return: 0; -EINVAL if it is running already.
 */
int trace_start(struct trace_info *trace)
{
	return gtsc_set_state(trace, GTSC_RUNNING);
}
EXPORT_SYMBOL_GPL(trace_start);

/**
 * trace_stop - let no more records into a channel
 * @trace: the channel
 *
 * Waits until all records that have been reserved are committed or discarded.
 *
 * Context: process context, may sleep.
 *
 * Return: 0; -EINVAL if it is not running.
 */
int trace_stop(struct trace_info *trace)
{
	return gtsc_set_state(trace, GTSC_STOPPED);
}
EXPORT_SYMBOL_GPL(trace_stop);

/**
 * trace_group_start - start all channels of a trace that are not running
 * @group: the trace
 *
 * Context: process context, may sleep.
 *
 * Return: 0; -EINVAL if there is none to start.
 */
int trace_group_start(struct trace_group *group)
{
	return gtsc_group_set_state(group, GTSC_RUNNING);
}
EXPORT_SYMBOL_GPL(trace_group_start);

/**
 * trace_group_stop - stop all channels of a trace that are running
 * @group: the trace
 *
 * As trace_stop() for each of them, but with one wait.
 *
 * Context: process context, may sleep.
 *
 * Return: 0; -EINVAL if none is running.
 */
int trace_group_stop(struct trace_group *group)
{
	return gtsc_group_set_state(group, GTSC_STOPPED);
}
EXPORT_SYMBOL_GPL(trace_group_stop);

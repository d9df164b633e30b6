// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: starting and stopping channels.
 *
 * By the provider or through the file "state". All but gtsc_get_state() and gtsc_freeze() hold
 * gtsc_mutex.
 */

#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/irq_work.h>
#include <linux/rcupdate.h>
#include <kunit/visibility.h>

#include "gtsc.h"
#include "read.h"

const char * const gtsc_state_names[GTSC_NR_STATES] = {
	[GTSC_SETUP]	= "setup",
	[GTSC_RUNNING]	= "running",
	[GTSC_STOPPED]	= "stopped",
};

/* The state as users see it: a channel that was frozen is stopped */
enum gtsc_state gtsc_get_state(struct gtsc_channel *ch)
{
	enum gtsc_state state = READ_ONCE(ch->state);

	return state == GTSC_RUNNING && !gtsc_running(ch) ? GTSC_STOPPED : state;
}
EXPORT_SYMBOL_IF_KUNIT(gtsc_get_state);

/* Before the channel is started */
static int arm(struct gtsc_channel *ch)
{
	int ret;

	lockdep_assert_held(&gtsc_mutex);

	if (!ch->fn)
		return 0;
	ret = ch->fn(true, ch->fn_data);
	ch->armed = !ret;

	return ret;
}

static void disarm(struct gtsc_channel *ch)
{
	lockdep_assert_held(&gtsc_mutex);

	/* A user may have started the channel before there was @fn */
	if (ch->armed && ch->fn)
		ch->fn(false, ch->fn_data);
	ch->armed = false;
}

static void start(struct gtsc_channel *ch)
{
	/* Before @live: see move_horizon() */
	WRITE_ONCE(ch->state, GTSC_RUNNING);
	/* Pairs with the address dependency in gtsc_reserve() */
	smp_store_release(&ch->live, ch->buffers);
}

static void stop_writers(struct gtsc_channel *ch)
{
	disarm(ch);
	WRITE_ONCE(ch->live, NULL);
}

/* After a grace period of RCU since stop_writers() */
static void stopped(struct gtsc_channel *ch)
{
	/* Pairs with the acquire in move_horizon() */
	smp_store_release(&ch->state, GTSC_STOPPED);
	gtsc_wake_readers(ch);
}

/* Nobody was told that a channel was frozen, or has waited for its writers */
static void end_freeze(struct gtsc_channel *ch)
{
	if (ch->state == gtsc_get_state(ch))
		return;

	stop_writers(ch);
	synchronize_rcu();
	stopped(ch);
}

/* Stop a channel whose files have been removed, and wait for its writers */
void gtsc_end_writers(struct gtsc_channel *ch)
{
	lockdep_assert_held(&gtsc_mutex);

	if (ch->state == GTSC_RUNNING)
		stop_writers(ch);
	synchronize_rcu();
	if (ch->state == GTSC_RUNNING)
		stopped(ch);
}

static bool may_become(struct gtsc_channel *ch, enum gtsc_state state)
{
	switch (state) {
	case GTSC_RUNNING:
		return ch->state != GTSC_RUNNING;
	case GTSC_STOPPED:
		return ch->state == GTSC_RUNNING;
	default:
		return false;
	}
}

int gtsc_set_state(struct gtsc_channel *ch, enum gtsc_state state)
{
	int ret;

	guard(mutex)(&gtsc_mutex);

	if (ch->dying)
		return -ENODEV;
	end_freeze(ch);
	if (!may_become(ch, state))
		return -EINVAL;

	if (state == GTSC_RUNNING) {
		ret = arm(ch);
		if (!ret)
			start(ch);
		return ret;
	}

	stop_writers(ch);
	synchronize_rcu();
	stopped(ch);

	return 0;
}

/* All channels that are not running, or none */
static int arm_group(struct gtsc_group *group)
{
	struct gtsc_channel *ch;
	int ret;

	list_for_each_entry(ch, &group->channels, node) {
		ret = may_become(ch, GTSC_RUNNING) ? arm(ch) : 0;
		if (ret)
			goto disarm;
	}

	return 0;

disarm:
	list_for_each_entry_continue_reverse(ch, &group->channels, node) {
		if (may_become(ch, GTSC_RUNNING))
			disarm(ch);
	}

	return ret;
}

static unsigned int end_freezes(struct gtsc_group *group, enum gtsc_state state)
{
	struct gtsc_channel *ch;
	unsigned int nr = 0;

	list_for_each_entry(ch, &group->channels, node) {
		end_freeze(ch);
		nr += may_become(ch, state);
	}

	return nr;
}

/* Change all channels that are not in @state, with one grace period if none was frozen */
int gtsc_group_set_state(struct gtsc_group *group, enum gtsc_state state)
{
	struct gtsc_channel *ch;
	int ret;

	guard(mutex)(&gtsc_mutex);

	if (group->dying)
		return -ENODEV;
	if (!end_freezes(group, state))
		return -EINVAL;

	if (state == GTSC_RUNNING) {
		ret = arm_group(group);
		if (ret)
			return ret;
	}
	list_for_each_entry(ch, &group->channels, node) {
		if (!may_become(ch, state))
			continue;
		if (state == GTSC_RUNNING)
			start(ch);
		else
			stop_writers(ch);
	}
	if (state == GTSC_RUNNING)
		return 0;

	synchronize_rcu();
	list_for_each_entry(ch, &group->channels, node) {
		if (may_become(ch, GTSC_STOPPED))
			stopped(ch);
	}

	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(gtsc_group_set_state);

/**
 * gtsc_start - let records into a channel
 * @ch: the channel
 *
 * Records that are in the buffer stay there.
 *
 * Context: process context, may sleep.
 *
 * Return: 0; -EINVAL if it is running already; what the function of gtsc_set_switch() has returned.
 */
int gtsc_start(struct gtsc_channel *ch)
{
	return gtsc_set_state(ch, GTSC_RUNNING);
}
EXPORT_SYMBOL_GPL(gtsc_start);

/**
 * gtsc_stop - let no more records into a channel
 * @ch: the channel
 *
 * Waits until all records that have been reserved are committed or discarded.
 *
 * Context: process context, may sleep.
 *
 * Return: 0; -EINVAL if it is not running.
 */
int gtsc_stop(struct gtsc_channel *ch)
{
	return gtsc_set_state(ch, GTSC_STOPPED);
}
EXPORT_SYMBOL_GPL(gtsc_stop);

/**
 * gtsc_freeze - let no more records into a channel, at once
 * @ch: the channel
 *
 * For a flight recorder, when what it is to show has happened: as gtsc_stop(), but does
 * not wait for records that have been reserved, and does not tell the provider, which
 * gtsc_set_switch() has asked for. gtsc_start() starts it again.
 *
 * Context: any, including NMI.
 */
void gtsc_freeze(struct gtsc_channel *ch)
{
	int cpu;

	WRITE_ONCE(ch->live, NULL);
	/* On this CPU, all of them: for readers that wait for a watermark */
	for_each_cpu(cpu, ch->cpus)
		irq_work_queue(&gtsc_cpu(ch, cpu)->wake);
}
EXPORT_SYMBOL_GPL(gtsc_freeze);

/**
 * gtsc_set_switch - have the provider told when its channel starts and stops
 * @ch: the channel
 * @fn: called with true before a start, and with false before the next stop, also if the user
 *	starts or stops the channel, or it ends while it is running; NULL: none. If it returns a
 *	negative errno for a start, the channel is not started.
 * @data: for @fn
 *
 * A provider need not have its probes armed while nothing is recorded. @fn is called in
 * process context and may sleep, but must not call the functions of GTSC that may sleep,
 * or take a lock that is held while they are called.
 *
 * Context: process context, may sleep.
 */
void gtsc_set_switch(struct gtsc_channel *ch, int (*fn)(bool on, void *data), void *data)
{
	guard(mutex)(&gtsc_mutex);

	ch->fn = fn;
	ch->fn_data = data;
}
EXPORT_SYMBOL_GPL(gtsc_set_switch);

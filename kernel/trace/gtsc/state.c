// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: starting and stopping channels, by the provider or through the
 * file "state".
 *
 * All functions but gtsc_get_state() hold gtsc_mutex, also while they wait for a grace period, and
 * while a provider's switch waits for its tracer's callbacks. Meanwhile all channels can be read
 * and written to, but not changed.
 */

#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/rcupdate.h>
#include <kunit/visibility.h>

#include "gtsc.h"
#include "read.h"

const char * const gtsc_state_names[GTSC_NR_STATES] = {
	[GTSC_SETUP]	= "setup",
	[GTSC_RUNNING]	= "running",
	[GTSC_STOPPED]	= "stopped",
};

enum gtsc_state gtsc_get_state(struct gtsc_channel *ch)
{
	return READ_ONCE(ch->state);
}
EXPORT_SYMBOL_IF_KUNIT(gtsc_get_state);

/* Before the channel is started */
static int switch_on(struct gtsc_channel *ch)
{
	int ret;

	lockdep_assert_held(&gtsc_mutex);

	if (!ch->switch_fn)
		return 0;
	ret = ch->switch_fn(true, ch->switch_data);
	ch->switched_on = !ret;

	return ret;
}

static void switch_off(struct gtsc_channel *ch)
{
	lockdep_assert_held(&gtsc_mutex);

	/* Not switched on: a user has started the channel before gtsc_set_switch() */
	if (ch->switched_on && ch->switch_fn)
		ch->switch_fn(false, ch->switch_data);
	ch->switched_on = false;
}

static void let_writers_in(struct gtsc_channel *ch)
{
	/* Store @state first: while a writer can see @live, move_horizon() must see RUNNING */
	WRITE_ONCE(ch->state, GTSC_RUNNING);
	/* Pairs with the address dependency in gtsc_reserve_record() */
	smp_store_release(&ch->live, ch->buffers);
}

static void begin_stop(struct gtsc_channel *ch)
{
	switch_off(ch);
	WRITE_ONCE(ch->live, NULL);
}

/* After a grace period of RCU since begin_stop() */
static void finish_stop(struct gtsc_channel *ch)
{
	/* Pairs with the acquire in move_horizon() */
	smp_store_release(&ch->state, GTSC_STOPPED);
	gtsc_wake_readers(ch);
}

/* Stop a channel that is running, and wait for writers, also if it was stopped before */
void gtsc_stop_and_wait(struct gtsc_channel *ch)
{
	lockdep_assert_held(&gtsc_mutex);

	if (ch->state == GTSC_RUNNING)
		begin_stop(ch);
	/* Also if the channel is stopped: writers may still look at @live */
	synchronize_rcu();
	if (ch->state == GTSC_RUNNING)
		finish_stop(ch);
}

static bool may_become(struct gtsc_channel *ch, enum gtsc_state state)
{
	switch (state) {
	case GTSC_RUNNING:
		return ch->state != GTSC_RUNNING && !ch->dying;
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
	if (!may_become(ch, state))
		return -EINVAL;

	if (state == GTSC_RUNNING) {
		ret = switch_on(ch);
		if (!ret)
			let_writers_in(ch);
		return ret;
	}

	begin_stop(ch);
	synchronize_rcu();
	finish_stop(ch);

	return 0;
}

/* All channels that are not running, or none */
static int switch_group_on(struct gtsc_group *group)
{
	struct gtsc_channel *ch;
	int ret;

	list_for_each_entry(ch, &group->channels, node) {
		ret = may_become(ch, GTSC_RUNNING) ? switch_on(ch) : 0;
		if (ret)
			goto err;
	}

	return 0;

err:
	list_for_each_entry_continue_reverse(ch, &group->channels, node) {
		if (may_become(ch, GTSC_RUNNING))
			switch_off(ch);
	}

	return ret;
}

static bool any_may_become(struct gtsc_group *group, enum gtsc_state state)
{
	struct gtsc_channel *ch;

	list_for_each_entry(ch, &group->channels, node) {
		if (may_become(ch, state))
			return true;
	}

	return false;
}

/* Start all channels that are not running, or stop all that are, with one grace period */
int gtsc_group_set_state(struct gtsc_group *group, enum gtsc_state state)
{
	struct gtsc_channel *ch;
	int ret;

	guard(mutex)(&gtsc_mutex);

	if (group->dying)
		return -ENODEV;
	if (!any_may_become(group, state))
		return -EINVAL;

	if (state == GTSC_RUNNING) {
		ret = switch_group_on(group);
		if (ret)
			return ret;
	}
	list_for_each_entry(ch, &group->channels, node) {
		if (!may_become(ch, state))
			continue;
		if (state == GTSC_RUNNING)
			let_writers_in(ch);
		else
			begin_stop(ch);
	}
	if (state == GTSC_RUNNING)
		return 0;

	synchronize_rcu();
	list_for_each_entry(ch, &group->channels, node) {
		if (may_become(ch, GTSC_STOPPED))
			finish_stop(ch);
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
 * Waits until all records that have been reserved are committed.
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
 * gtsc_set_switch - have the provider told when its channel starts and stops
 * @ch: the channel
 * @fn: called with true before a start, and with false before the next stop, also if the user
 *	starts or stops the channel, or it ends while it is running. If it returns a negative errno
 *	for a start, the channel is not started. If another channel of the group refuses the start,
 *	it is called with false although the channel was not started.
 * @data: for @fn
 *
 * A provider need not have its probes armed while nothing is recorded. @fn is called in
 * process context and may sleep, but must not call the functions of GTSC that may sleep,
 * or take a lock that is held while they are called.
 *
 * Call it once, before the provider starts the channel. If a user has started the channel already,
 * @fn is not called before the next start.
 *
 * Context: process context, may sleep.
 */
void gtsc_set_switch(struct gtsc_channel *ch, int (*fn)(bool on, void *data), void *data)
{
	guard(mutex)(&gtsc_mutex);

	ch->switch_fn = fn;
	ch->switch_data = data;
}
EXPORT_SYMBOL_GPL(gtsc_set_switch);

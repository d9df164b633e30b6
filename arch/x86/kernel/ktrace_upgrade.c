// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace: functions whose first instruction is shorter than the jump, from a breakpoint to
 * the jump.
 *
 * If they can be moved, all instructions of such a function that begin in the place of the jump are
 * displaced. The function is traced by a breakpoint at once, and the slot executes these
 * instructions. A task that has executed the first one before may be preempted in front of
 * the next, which the jump is to overwrite. When the breakpoint has been there for a grace
 * period of Tasks RCU, no task is there any more, and none will be: the breakpoint becomes a
 * jump. With a jump of two bytes:
 *
 *	func	push	%rbx		int3			jmp	func-5
 *	func+1	mov	%rdi,%rbx	mov	%rdi,%rbx
 *	func+4	...
 *
 * The code of the slot is the same in all three states, since a task may be in it for any time.
 *
 * A kprobe of an instruction behind the first would not be hit in the slot. The function is
 * traced by a breakpoint again, and for ever, and the slot is split: a breakpoint in place of
 * its second instruction leads to that of the function. From then on, a task that gets to the
 * slot executes the first instruction there, and goes on in the function. This covers tasks
 * that Tasks RCU does not wait for: a task that sleeps in a direct call and returns to the
 * slot, and a task in a direct call that calls the slot (ktrace_resume()). After a grace period
 * of Tasks RCU no task is in the rest of the slot: an optimized kprobe may overwrite the
 * instructions in the function, since kprobes waits for such a grace period.
 *
 *	slot+9	push	%rbx		push	%rbx
 *	slot+10	mov	%rdi,%rbx	int3
 *	slot+13	jmp	func+4		...
 *
 * If the kprobe comes before the slot, only the first instruction is displaced.
 */
#include <linux/cleanup.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/ktrace.h>
#include <linux/lockdep.h>
#include <linux/memory.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include <asm/text-patching.h>

#include "ktrace_entry.h"
#include "ktrace_loc.h"
#include "ktrace_slot.h"
#include "ktrace_upgrade.h"

/* Is the breakpoint there, and behind it what the jump is to overwrite? */
static bool has_breakpoint(const struct ktrace_loc *loc)
{
	return ktrace_is_loc_right(loc, ktrace_loc_callee(loc)) &&
	       !memcmp((void *)loc->entry + 1, loc->original + 1, ktrace_jump_len() - 1);
}

static void patch_jump(struct ktrace_slot *slot)
{
	struct ktrace_loc loc;

	ktrace_get_loc(ktrace_slot_func(slot), &loc);
	if (WARN_ONCE(!has_breakpoint(&loc), "%pS: %*ph\n", (void *)loc.func, KTRACE_PATCH_MAX,
		      (void *)loc.entry))
		return;

	*ktrace_slot_state(slot) = KTRACE_STATE_UPGRADED;
	ktrace_loc_set_jump(&loc);
	smp_text_poke_batch_add((void *)loc.entry, loc.patch, loc.patch_len, NULL);
}

static void start_waiting(void)
{
	struct ktrace_slot *slot;
	unsigned int pos = 0;

	guard(mutex)(&text_mutex);

	while ((slot = ktrace_next_entry_slot(&pos))) {
		u8 *state = ktrace_slot_state(slot);

		if (*state == KTRACE_STATE_FRESH)
			*state = KTRACE_STATE_WAITING;
	}
}

/* After the grace period, no task is behind the breakpoint of a function that waits */
static void patch_jumps(void)
{
	struct ktrace_slot *slot;
	unsigned int pos = 0;

	guard(mutex)(&text_mutex);

	/* After ftrace_kill(), code is left as it is */
	if (ktrace_is_dead())
		return;

	while ((slot = ktrace_next_entry_slot(&pos))) {
		if (*ktrace_slot_state(slot) == KTRACE_STATE_WAITING)
			patch_jump(slot);
	}
	smp_text_poke_batch_finish();
}

static void ktrace_upgrade_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(upgrade_work, ktrace_upgrade_work);

/* Collect functions for so long, then wait once for all */
#define UPGRADE_DELAY	(HZ / 10)

/* Protected by text_mutex: can the work wait for Tasks RCU? Did functions come before? */
static bool can_wait, upgrade_due;

static void queue_upgrade(void)
{
	queue_delayed_work(system_dfl_long_wq, &upgrade_work, UPGRADE_DELAY);
}

static void ktrace_upgrade_work(struct work_struct *work)
{
	start_waiting();

	/* Interrupts of idle tasks, which Tasks RCU does not watch; tasks that were preempted */
	synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();

	patch_jumps();
}

/* See ktrace_upgrade_later() */
void __ktrace_upgrade_later(const struct ktrace_loc *loc)
{
	lockdep_assert_held(&text_mutex);

	*ktrace_slot_state(loc->slot) = KTRACE_STATE_FRESH;
	/* One work item handles all functions of an update: queue it for the first only */
	if (!can_wait)
		upgrade_due = true;
	else if (!delayed_work_pending(&upgrade_work))
		queue_upgrade();
}

/* With ftrace=, functions are traced before Tasks RCU begins: on Linux 7.3 in a core_initcall() */
static int __init upgrade_since_boot(void)
{
	guard(mutex)(&text_mutex);

	can_wait = true;
	if (upgrade_due)
		queue_upgrade();

	return 0;
}
postcore_initcall(upgrade_since_boot);

void __ktrace_no_upgrade(const struct ktrace_loc *loc)
{
	lockdep_assert_held(&text_mutex);

	*ktrace_slot_state(loc->slot) = KTRACE_STATE_UNTRACED;
}

/**
 * ktrace_forget_upgrades - make no more jumps in functions whose memory is freed
 * @start: address of the first
 * @end: behind the last
 *
 * Context: process context, may sleep; takes text_mutex.
 */
void ktrace_forget_upgrades(unsigned long start, unsigned long end)
{
	struct ktrace_slot *slot;
	unsigned int pos = 0;

	guard(mutex)(&text_mutex);

	while ((slot = ktrace_next_entry_slot(&pos))) {
		unsigned long func = ktrace_slot_func(slot);

		if (func >= start && func < end)
			*ktrace_slot_state(slot) = KTRACE_STATE_UNTRACED;
	}
}

/* Probes behind the first instruction */

/* Back from a jump to a breakpoint */
static void patch_breakpoint(const struct ktrace_loc *loc)
{
	u8 breakpoint[KTRACE_PATCH_MAX];

	memcpy(breakpoint, loc->original, sizeof(breakpoint));
	breakpoint[0] = INT3_INSN_OPCODE;
	smp_text_poke_single((void *)loc->entry, breakpoint, loc->patch_len,
			     loc->emulate);
}

static int split_slot(const struct ktrace_loc *loc)
{
	static const u8 breakpoint = INT3_INSN_OPCODE;
	bool has_jump = loc->patch_len != INT3_INSN_SIZE;

	/* Something else may have put a breakpoint there */
	if (has_jump && *(u8 *)loc->entry != loc->patch[0])
		return -EBUSY;

	if (has_jump)
		patch_breakpoint(loc);
	*ktrace_slot_state(loc->slot) = KTRACE_STATE_SPLIT;
	smp_text_poke_single((void *)ktrace_slot_second(loc->slot), &breakpoint,
			     sizeof(breakpoint), NULL);

	return 0;
}

/**
 * ktrace_prepare_probe - let a kprobe be hit at a displaced instruction, and refuse it in padding
 * @addr: address of an instruction
 *
 * From then on, the function executes the instruction at @addr in place and not in its slot.
 * This cannot be undone: call it when nothing else can make register_kprobe() fail.
 *
 * Context: process context, may sleep; text_mutex held.
 *
 * Return: 0, -EINVAL if @addr is in padding that ktrace uses, or -EBUSY if something else has
 * changed the entry of the function.
 */
int ktrace_prepare_probe(unsigned long addr)
{
	struct ktrace_loc loc;

	lockdep_assert_held(&text_mutex);

	if (ktrace_may_write_padding(addr))
		return -EINVAL;
	if (!ktrace_is_under_jump(addr, &loc))
		return 0;

	if (ktrace_slot_executes_several(&loc))
		return split_slot(&loc);
	if (!loc.call)
		ktrace_mark_one_insn(loc.entry);

	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace: functions whose first instruction is shorter than the jump, from a breakpoint to
 * the jump.
 *
 * Where it can be, all instructions of such a function that begin in the place of the jump are
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
 * The slot does the same in each of these states: a task may be in it for any time.
 *
 * A kprobe of an instruction behind the first would not be hit in the slot. The function then
 * gets a slot with one instruction, and keeps its breakpoint for ever.
 */
#include <linux/cleanup.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/jiffies.h>
#include <linux/ktrace.h>
#include <linux/lockdep.h>
#include <linux/memory.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include <asm/text-patching.h>

#include "ktrace_code.h"
#include "ktrace_int3.h"
#include "ktrace_site.h"
#include "ktrace_slot.h"
#include "ktrace_upgrade.h"

static void make_jump(unsigned long func)
{
	struct ktrace_site site;

	ktrace_get_site(func, &site);
	if (WARN_ON_ONCE(!ktrace_can_upgrade(&site)))
		return;

	ktrace_make_jump(&site);
	smp_text_poke_batch_add((void *)site.entry, site.patch, site.len, NULL);
}

/* The slot of the next function that is so far */
static struct ktrace_slot *next_slot(enum ktrace_upgrade from, unsigned int *pos)
{
	struct ktrace_slot *slot;

	do {
		slot = ktrace_next_entry_slot(pos);
	} while (slot && ktrace_slot_state(slot)->upgrade != from);

	return slot;
}

static void start_waiting(void)
{
	struct ktrace_slot *slot;
	unsigned int pos = 0;

	guard(mutex)(&text_mutex);

	while ((slot = next_slot(KTRACE_FRESH, &pos)))
		ktrace_slot_state(slot)->upgrade = KTRACE_WAITING;
}

/* Those that wait have a breakpoint that no task has passed by */
static void make_jumps(void)
{
	struct ktrace_slot *slot;
	unsigned int pos = 0;

	guard(mutex)(&text_mutex);

	while ((slot = next_slot(KTRACE_WAITING, &pos))) {
		ktrace_slot_state(slot)->upgrade = KTRACE_UPGRADED;
		make_jump(ktrace_slot_func(slot));
	}
	smp_text_poke_batch_finish();
}

static void ktrace_upgrade_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(upgrade_work, ktrace_upgrade_work);

/* For all that is enabled in a while, wait once */
#define UPGRADE_DELAY	(HZ / 10)

static void ktrace_upgrade_work(struct work_struct *work)
{
	start_waiting();

	/* The idle tasks, and the others */
	synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();

	make_jumps();
}

/* See ktrace_upgrade_later() */
void __ktrace_upgrade_later(const struct ktrace_site *site)
{
	lockdep_assert_held(&text_mutex);

	ktrace_slot_state(site->slot)->upgrade = KTRACE_FRESH;
	/* Most functions of an update are not the first */
	if (!delayed_work_pending(&upgrade_work))
		queue_delayed_work(system_dfl_long_wq, &upgrade_work, UPGRADE_DELAY);
}

void __ktrace_no_upgrade(const struct ktrace_site *site)
{
	lockdep_assert_held(&text_mutex);

	ktrace_slot_state(site->slot)->upgrade = KTRACE_UNTRACED;
}

/**
 * ktrace_forget_upgrades - do not change functions any more, whose memory is freed
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
			ktrace_slot_state(slot)->upgrade = KTRACE_UNTRACED;
	}
}

/* Probes behind the first instruction */

/* The function was never traced. If it needs no slot, or has another breakpoint, it gets none. */
static int add_code_for_one(const struct ktrace_site *site)
{
	struct ktrace_slot *slot;

	if (site->len || !ktrace_is_site_right(site, 0))
		return 0;
	if (ktrace_alloc_slots())
		return -ENOMEM;

	slot = ktrace_add_slot(site, (unsigned long)ftrace_stub, true);
	if (!slot)
		return 0;
	ktrace_add_slot_pad(site->func, slot);
	ktrace_write_code();

	return 0;
}

/* Back from a jump to a breakpoint, and from several instructions to one */
static int change_slot(struct ktrace_site *site)
{
	void *jmp = &ktrace_slot_pad_of(site->func)->jmp;
	bool has_jump = site->len != INT3_INSN_SIZE;
	u8 breakpoint[KTRACE_PATCH_MAX];
	struct ktrace_slot *slot;

	/* Something else may have put a breakpoint there */
	if (has_jump && *(u8 *)site->entry != site->patch[0])
		return -EBUSY;

	slot = ktrace_add_slot(site, ktrace_site_callee(site), true);
	if (!slot)
		return -ENOMEM;
	ktrace_write_code();

	ktrace_no_upgrade(site);
	if (has_jump) {
		memcpy(breakpoint, site->original, sizeof(breakpoint));
		breakpoint[0] = INT3_INSN_OPCODE;
		smp_text_poke_single((void *)site->entry, breakpoint, site->len, site->emulate);
	}
	/* Whoever is in the old slot goes on there */
	if (ktrace_uses_padding())
		smp_text_poke_single(jmp, text_gen_insn(JMP32_INSN_OPCODE, jmp, &slot->call),
				     JMP32_INSN_SIZE, NULL);

	return 0;
}

/**
 * ktrace_prepare_probe - do not displace an instruction at which a kprobe is to be
 * @addr: address of an instruction
 *
 * Context: process context, may sleep; text_mutex held.
 *
 * Return: 0, or
 * * -EBUSY: the function has had a direct call that may call the displaced instruction, or
 *   something else has changed its entry
 * * -ENOMEM: there is no memory for slots
 */
int ktrace_prepare_probe(unsigned long addr)
{
	struct ktrace_site site;

	lockdep_assert_held(&text_mutex);

	if (!ktrace_is_under_jump(addr, &site))
		return 0;
	if (!site.call)
		return add_code_for_one(&site);
	if (!ktrace_can_upgrade(&site))
		return 0;

	return ktrace_slot_state(site.slot)->resumed ? -EBUSY : change_slot(&site);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace: functions whose first instruction has one byte, from a breakpoint to a jump.
 *
 * Where it can be, the second instruction of such a function is displaced, too. The function
 * is traced by a breakpoint at once, and the slot executes both instructions. A task that
 * has executed the first one before may be preempted in front of the second, whose first
 * byte the jump is to overwrite. When the breakpoint has been there for a grace period of
 * Tasks RCU, no task is there any more, and none will be: the breakpoint becomes a jump.
 *
 *	func	push	%rbx		int3			jmp	func-5
 *	func+1	mov	%rdi,%rbx	mov	%rdi,%rbx
 *	func+4	...
 *
 * The slot does the same in each of these states: a task may be in it for any time.
 *
 * A kprobe of the second instruction would not be hit in the slot. The function then gets a
 * slot with one instruction, and keeps its breakpoint for ever.
 */
#include <linux/cleanup.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/jiffies.h>
#include <linux/ktrace.h>
#include <linux/lockdep.h>
#include <linux/memory.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>

#include <asm/text-patching.h>

#include "ktrace_code.h"
#include "ktrace_site.h"
#include "ktrace_slot.h"
#include "ktrace_upgrade.h"

static void make_jump(const struct ktrace_slot *slot)
{
	struct ktrace_site site;

	ktrace_get_site(ktrace_slot_func(slot), &site);
	if (WARN_ON_ONCE(site.slot != slot || *(u8 *)site.entry != INT3_INSN_OPCODE))
		return;

	ktrace_make_jump(&site);
	text_poke_queue((void *)site.entry, site.patch, site.len, NULL);
}

static void ktrace_upgrade_work(struct work_struct *work)
{
	scoped_guard(mutex, &text_mutex)
		ktrace_visit_upgrades(KTRACE_FRESH, KTRACE_WAITING, NULL);

	/* The idle tasks, and the others */
	synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();

	guard(mutex)(&text_mutex);

	ktrace_visit_upgrades(KTRACE_WAITING, KTRACE_SETTLED, make_jump);
	text_poke_finish();
}

static DECLARE_DELAYED_WORK(upgrade_work, ktrace_upgrade_work);

/* For all that is enabled in a while, wait once */
#define UPGRADE_DELAY	(HZ / 10)

static bool can_upgrade(const struct ktrace_site *site)
{
	return site->slot && site->slot->form == KTRACE_SLOT_BOTH;
}

/**
 * ktrace_upgrade_later - put a jump in place of the breakpoint of a function later
 * @site: the function, which is traced now
 *
 * Context: text_mutex held.
 */
void ktrace_upgrade_later(const struct ktrace_site *site)
{
	if (!can_upgrade(site))
		return;

	ktrace_set_upgrade(site->slot, KTRACE_FRESH);
	queue_delayed_work(system_unbound_wq, &upgrade_work, UPGRADE_DELAY);
}

/**
 * ktrace_no_upgrade - do not do that
 * @site: the function, which is not traced any more
 *
 * Context: text_mutex held.
 */
void ktrace_no_upgrade(const struct ktrace_site *site)
{
	if (can_upgrade(site))
		ktrace_set_upgrade(site->slot, KTRACE_SETTLED);
}

/* Probes of the second instruction */

static bool has_short_insn(unsigned long entry)
{
	u8 code[KTRACE_SLOT_CODE];
	struct ktrace_moved moved;

	return !ktrace_displace((u8 *)entry, entry, INT3_INSN_SIZE, MODULES_VADDR, code, &moved) &&
	       moved.len == INT3_INSN_SIZE;
}

/* The function was never traced */
static int add_code_for_one(const struct ktrace_site *site)
{
	struct ktrace_slot *slot;

	if (site->len || !has_short_insn(site->entry))
		return 0;
	if (!ktrace_is_site_right(site, 0))
		return -EBUSY;
	if (ktrace_alloc_slots())
		return -ENOMEM;

	slot = ktrace_add_slot(site, (unsigned long)ftrace_stub, true);
	if (!slot)
		return -EBUSY;
	ktrace_add_slot_pad(site->func, slot);
	ktrace_write_code();

	return 0;
}

/* Back from a jump to a breakpoint, and from two instructions to one */
static int change_slot(struct ktrace_site *site)
{
	const u8 breakpoint[] = { INT3_INSN_OPCODE, site->original[1] };
	void *jmp = &ktrace_slot_pad_of(site->func)->jmp;
	struct ktrace_slot *slot;

	slot = ktrace_add_slot(site, ktrace_site_callee(site), true);
	if (!slot)
		return -EBUSY;
	ktrace_write_code();

	ktrace_no_upgrade(site);
	if (*(u8 *)site->entry == JMP8_INSN_OPCODE)
		text_poke_bp((void *)site->entry, breakpoint, sizeof(breakpoint), site->emulate);
	text_poke_bp(jmp, text_gen_insn(JMP32_INSN_OPCODE, jmp, &slot->call), JMP32_INSN_SIZE,
		     NULL);

	return 0;
}

/**
 * ktrace_prepare_probe - do not displace an instruction at which a kprobe is to be
 * @addr: address of an instruction, at which no kprobe is yet
 *
 * Context: process context, may sleep; text_mutex held.
 *
 * Return: 0, or
 * * -EBUSY: the function has a direct call, which may call the displaced instruction; or too
 *   many functions have such kprobes
 * * -ENOMEM: there is no memory for slots
 */
int ktrace_prepare_probe(unsigned long addr)
{
	unsigned long func = ALIGN_DOWN(addr, KTRACE_FUNC_ALIGN);
	struct ktrace_site site;

	lockdep_assert_held(&text_mutex);

	if (!ktrace_may_change_code(addr))
		return 0;

	ktrace_get_site(func, &site);
	if (addr != site.entry + 1)
		return 0;
	if (!site.call)
		return add_code_for_one(&site);
	if (!can_upgrade(&site))
		return 0;

	return ftrace_find_rec_direct(func) ? -EBUSY : change_slot(&site);
}

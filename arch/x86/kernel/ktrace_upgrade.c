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
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sort.h>
#include <linux/workqueue.h>

#include <asm/text-patching.h>

#include "ktrace_code.h"
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
	text_poke_queue((void *)site.entry, site.patch, site.len, NULL);
}

struct func_list {
	unsigned int	nr;
	unsigned long	*funcs;
};

static void add_func(unsigned long func, void *data)
{
	struct func_list *list = data;

	list->funcs[list->nr++] = func;
}

/* Those that wait have a breakpoint that no task has passed by. False: there is no memory. */
static bool make_jumps(void)
{
	unsigned int nr = ktrace_visit_upgrades(KTRACE_WAITING, KTRACE_WAITING, NULL, NULL);
	struct func_list list = { };

	if (!nr)
		return true;

	unsigned long *funcs __free(kvfree) = kvmalloc_array(nr, sizeof(*funcs), GFP_KERNEL);
	if (!funcs)
		return false;

	list.funcs = funcs;
	ktrace_visit_upgrades(KTRACE_WAITING, KTRACE_UPGRADED, add_func, &list);
	/* In order, or text_poke_queue() makes many batches */
	sort(funcs, nr, sizeof(*funcs), ktrace_cmp_addresses, NULL);
	for (unsigned int i = 0; i < nr; i++)
		make_jump(funcs[i]);
	text_poke_finish();

	return true;
}

static void ktrace_upgrade_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(upgrade_work, ktrace_upgrade_work);

/* For all that is enabled in a while, wait once */
#define UPGRADE_DELAY	(HZ / 10)
#define RETRY_DELAY	(10 * HZ)

static void ktrace_upgrade_work(struct work_struct *work)
{
	scoped_guard(mutex, &text_mutex)
		ktrace_visit_upgrades(KTRACE_FRESH, KTRACE_WAITING, NULL, NULL);

	/* The idle tasks, and the others */
	synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();

	guard(mutex)(&text_mutex);

	if (!make_jumps())
		queue_delayed_work(system_unbound_wq, &upgrade_work, RETRY_DELAY);
}

/* See ktrace_upgrade_later() */
void __ktrace_upgrade_later(const struct ktrace_site *site)
{
	lockdep_assert_held(&text_mutex);

	ktrace_slot_state(site->slot)->upgrade = KTRACE_FRESH;
	/* Most functions of an update are not the first */
	if (!delayed_work_pending(&upgrade_work))
		queue_delayed_work(system_unbound_wq, &upgrade_work, UPGRADE_DELAY);
}

void __ktrace_no_upgrade(const struct ktrace_site *site)
{
	lockdep_assert_held(&text_mutex);

	ktrace_slot_state(site->slot)->upgrade = KTRACE_UNTRACED;
}

/* Probes of the second instruction */

static bool has_short_insn(unsigned long entry)
{
	u8 code[KTRACE_SLOT_CODE];
	struct ktrace_moved moved;

	return !ktrace_displace((u8 *)entry, entry, INT3_INSN_SIZE, MODULES_VADDR, code, &moved) &&
	       moved.len == INT3_INSN_SIZE;
}

/* The function was never traced. If it cannot be, it needs nothing. */
static int add_code_for_one(const struct ktrace_site *site)
{
	struct ktrace_slot *slot;

	if (site->len || !has_short_insn(site->entry) || !ktrace_is_site_right(site, 0))
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

/* Back from a jump to a breakpoint, and from two instructions to one */
static int change_slot(struct ktrace_site *site)
{
	const u8 breakpoint[] = { INT3_INSN_OPCODE, site->original[1] };
	void *jmp = &ktrace_slot_pad_of(site->func)->jmp;
	bool has_jump = site->len == JMP8_INSN_SIZE;
	struct ktrace_slot *slot;

	/* Something else may have put a breakpoint there */
	if (has_jump && *(u8 *)site->entry != JMP8_INSN_OPCODE)
		return -EBUSY;

	slot = ktrace_add_slot(site, ktrace_site_callee(site), true);
	if (!slot)
		return -EBUSY;
	ktrace_write_code();

	ktrace_no_upgrade(site);
	if (has_jump)
		text_poke_bp((void *)site->entry, breakpoint, sizeof(breakpoint), site->emulate);
	/* Whoever is in the old slot goes on there */
	text_poke_bp(jmp, text_gen_insn(JMP32_INSN_OPCODE, jmp, &slot->call), JMP32_INSN_SIZE,
		     NULL);

	return 0;
}

/**
 * ktrace_prepare_probe - do not displace an instruction at which a kprobe is to be
 * @addr: address of an instruction
 *
 * Context: process context, may sleep; text_mutex held.
 *
 * Return: 0, or
 * * -EBUSY: the function has had a direct call that may call the displaced instruction;
 *   something else has changed its entry; or there is no slot left after a failed update
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
	if (!ktrace_can_upgrade(&site))
		return 0;

	return ktrace_slot_state(site.slot)->resumed ? -EBUSY : change_slot(&site);
}

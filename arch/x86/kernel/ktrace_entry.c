// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace: the table from the entry of a function to its slot, and the breakpoints that need it.
 *
 * Where the first instruction of a function is shorter than the jump, a breakpoint is put in
 * its place. It stays for good, or until it can be replaced by the jump (ktrace_upgrade.c). The
 * handler goes on in the slot of the function. A slot that was split (ktrace_upgrade.c, too) has
 * a breakpoint, whose handler goes on in the function.
 *
 * exc_int3() calls the handler right after smp_text_poke_int3_handler(), before anything that
 * can be traced. Anything that it called might be traced by a breakpoint, too. So it looks into
 * nothing but the slots and a sorted table of the entries, which is replaced when functions
 * come or go.
 *
 * If the padding of functions is not used, all functions are in this table: their slots are
 * found here.
 */
#include <linux/bsearch.h>
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/ktrace.h>
#include <linux/lockdep.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/ptrace.h>
#include <linux/slab.h>

#include <asm/text-patching.h>

#include "ktrace_entry.h"
#include "ktrace_slot.h"

/*
 * Text of the kernel and of modules, and slots, are in the highest 2 GiB: 32 bits, extended with
 * their sign, are the address
 */
struct slot_ref {
	s32	entry;		/* where the first instruction of a function is */
	s32	slot;		/* 0 or NO_SLOT_ONE_INSN if it has none */
};

/*
 * The function has no slot. When it gets one, displace only the first instruction: there is, or
 * was, a kprobe behind it.
 */
#define NO_SLOT_ONE_INSN	1

struct entry_table {
	unsigned int	nr;
	struct slot_ref	refs[] __counted_by(nr);	/* sorted */
};

/* Changed, and replaced, with text_mutex held. Read with it held, or with interrupts disabled. */
static struct entry_table *entry_table;

static __always_inline int cmp_ref(const void *entry, const void *ref)
{
	long x = *(const long *)entry, y = ((const struct slot_ref *)ref)->entry;

	return x < y ? -1 : x > y;
}

static __always_inline struct slot_ref *find_ref(struct entry_table *table, long entry)
{
	if (!table)
		return NULL;

	return __inline_bsearch(&entry, table->refs, table->nr, sizeof(*table->refs), cmp_ref);
}

static __always_inline struct ktrace_slot *ref_slot(struct slot_ref *ref)
{
	long slot = ref ? READ_ONCE(ref->slot) : 0;

	return slot == NO_SLOT_ONE_INSN ? NULL : (struct ktrace_slot *)slot;
}

/* The breakpoint of a slot is in place of its second instruction */
static __always_inline bool leave_slot(struct pt_regs *regs)
{
	const struct ktrace_slot *slot = __ktrace_slot_at(regs->ip - INT3_INSN_SIZE);

	if (!slot || slot->form != KTRACE_SLOT_SEVERAL ||
	    regs->ip - INT3_INSN_SIZE != (unsigned long)ktrace_slot_second(slot))
		return false;

	int3_emulate_jmp(regs, ktrace_entry_of(ktrace_slot_func(slot)) + slot->first_len);

	return true;
}

/**
 * ktrace_int3_handler - emulate a breakpoint of ktrace
 * @regs: registers at a breakpoint
 *
 * At the entry of a function, goes on at the call in its slot; in a slot that was split, in the
 * function.
 *
 * Context: exc_int3(); calls nothing that can be traced.
 *
 * Return: whether the breakpoint was that of ktrace.
 */
noinstr bool ktrace_int3_handler(struct pt_regs *regs)
{
	struct ktrace_slot *slot;

	if (user_mode(regs))
		return false;

	/* Written in this order: the slot, the table, the breakpoint. So the slot is found. */
	slot = ref_slot(find_ref(READ_ONCE(entry_table), regs->ip - INT3_INSN_SIZE));
	if (!slot)
		return leave_slot(regs);
	/* Such an entry has a jump: the breakpoint is of somebody else */
	if (slot->form == KTRACE_SLOT_JUMP)
		return false;

	int3_emulate_jmp(regs, (unsigned long)&slot->call);

	return true;
}

/* Interrupts are disabled, or text_mutex is held */
static struct slot_ref *find_near_last(unsigned long entry)
{
	/* Updates visit functions in order, and ask twice for each */
	static unsigned int last;
	struct entry_table *table = READ_ONCE(entry_table);
	unsigned int i = READ_ONCE(last);
	struct slot_ref *found;

	if (!table)
		return NULL;
	if (i < table->nr && table->refs[i].entry == (long)entry)
		return &table->refs[i];

	i++;
	if (i < table->nr && table->refs[i].entry == (long)entry)
		found = &table->refs[i];
	else
		found = find_ref(table, entry);
	if (found)
		WRITE_ONCE(last, found - table->refs);

	return found;
}

/**
 * ktrace_entry_slot - the slot of a function
 * @entry: where its first instruction is
 *
 * Context: any in which the function cannot go away.
 *
 * Return: the slot, NULL if it has none, or is not in the table.
 */
struct ktrace_slot *ktrace_entry_slot(unsigned long entry)
{
	struct ktrace_slot *slot;
	unsigned long flags;

	raw_local_irq_save(flags);
	slot = ref_slot(find_near_last(entry));
	raw_local_irq_restore(flags);

	return slot;
}

/**
 * ktrace_set_entry_slot - enter the slot of a function, which has been written, into the table
 * @entry: where its first instruction is
 * @slot: the slot
 *
 * Context: text_mutex held.
 */
void ktrace_set_entry_slot(unsigned long entry, struct ktrace_slot *slot)
{
	struct slot_ref *found;

	lockdep_assert_held(&text_mutex);

	found = find_near_last(entry);
	if (WARN_ON_ONCE(!found))
		return;

	/* After the code of the slot. Pairs with the address dependency in those who find it. */
	smp_store_release(&found->slot, (long)slot);
}

/**
 * ktrace_mark_one_insn - displace only the first instruction when the function gets its slot
 * @entry: where its first instruction is
 *
 * There is, or was, a kprobe behind the first instruction. Does nothing if the function has a
 * slot, or is not in the table: no other instruction would be displaced.
 *
 * Context: text_mutex held.
 */
void ktrace_mark_one_insn(unsigned long entry)
{
	struct slot_ref *found;

	lockdep_assert_held(&text_mutex);

	found = find_near_last(entry);
	if (found && !found->slot)
		WRITE_ONCE(found->slot, NO_SLOT_ONE_INSN);
}

/**
 * ktrace_needs_one_insn - was ktrace_mark_one_insn() called for a function that has no slot?
 * @entry: where its first instruction is
 *
 * Context: text_mutex held.
 *
 * Return: whether it was.
 */
bool ktrace_needs_one_insn(unsigned long entry)
{
	struct slot_ref *found;

	lockdep_assert_held(&text_mutex);

	found = find_near_last(entry);

	return found && found->slot == NO_SLOT_ONE_INSN;
}

/**
 * ktrace_next_entry_slot - the slots of all functions in the table that have one
 * @pos: 0 at first; set to where to go on
 *
 * Context: text_mutex held, from the first to the last.
 *
 * Return: the slot of the next function, in order of addresses; NULL behind the last.
 */
struct ktrace_slot *ktrace_next_entry_slot(unsigned int *pos)
{
	struct ktrace_slot *slot;

	lockdep_assert_held(&text_mutex);

	while (entry_table && *pos < entry_table->nr) {
		slot = ref_slot(&entry_table->refs[(*pos)++]);
		if (slot)
			return slot;
	}

	return NULL;
}

static struct entry_table *alloc_table(unsigned int nr, gfp_t gfp)
{
	struct entry_table *table = kvmalloc(struct_size(table, refs, nr), gfp);

	if (table)
		table->nr = nr;

	return table;
}

static void replace_table(struct entry_table *table)
{
	struct entry_table *old = entry_table;

	lockdep_assert_held(&text_mutex);

	/* Pairs with the address dependency in those who read it */
	smp_store_release(&entry_table, table);
	if (!old)
		return;

	/* Wait until no CPU reads it */
	lockdep_assert_cpus_held();
	smp_text_poke_sync_each_cpu();
	kvfree(old);
}

/* Both are sorted */
static void merge(struct entry_table *table, const struct entry_table *old,
		  const unsigned long *entries, unsigned int nr)
{
	unsigned int nr_old = old ? old->nr : 0, i = 0, j = 0;

	while (i + j < table->nr) {
		struct slot_ref *ref = &table->refs[i + j];

		if (i < nr_old && (j == nr || old->refs[i].entry < (long)entries[j]))
			*ref = old->refs[i++];
		else
			*ref = (struct slot_ref) { .entry = (long)entries[j++] };
	}
}

/**
 * ktrace_add_entries - add functions to the table, before one of them is traced
 * @entries: where their first instructions are, sorted
 * @nr: their number
 *
 * Context: process context, may sleep; takes cpus_read_lock() and text_mutex.
 *
 * Return: 0, or -ENOMEM.
 */
int ktrace_add_entries(const unsigned long *entries, unsigned int nr)
{
	struct entry_table *old, *table;

	if (!nr)
		return 0;

	/* replace_table() waits for the CPUs that are online: none comes or goes */
	guard(cpus_read_lock)();
	guard(mutex)(&text_mutex);

	old = entry_table;
	table = alloc_table((old ? old->nr : 0) + nr, GFP_KERNEL);
	if (!table)
		return -ENOMEM;

	merge(table, old, entries, nr);
	replace_table(table);

	return 0;
}

static bool is_between(const struct slot_ref *ref, unsigned long start, unsigned long end)
{
	unsigned long addr = (long)ref->entry;

	return addr >= start && addr < end;
}

/**
 * ktrace_remove_entries - remove functions of a module from the table
 * @start: address of the first; no task executes them any more
 * @end: behind the last
 *
 * Something else may be loaded there, with breakpoints of its own.
 *
 * Context: process context, may sleep; takes cpus_read_lock() and text_mutex.
 */
void ktrace_remove_entries(unsigned long start, unsigned long end)
{
	struct entry_table *old, *table;
	unsigned int nr = 0;

	guard(cpus_read_lock)();
	guard(mutex)(&text_mutex);

	old = entry_table;
	if (!old)
		return;

	for (unsigned int i = 0; i < old->nr; i++)
		nr += !is_between(&old->refs[i], start, end);
	if (nr == old->nr)
		return;

	table = alloc_table(nr, GFP_KERNEL | __GFP_NOFAIL);
	nr = 0;
	for (unsigned int i = 0; i < old->nr; i++) {
		if (!is_between(&old->refs[i], start, end))
			table->refs[nr++] = old->refs[i];
	}
	replace_table(table);
}

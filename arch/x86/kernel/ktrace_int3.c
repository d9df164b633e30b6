// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace: functions whose entry is too short for a jump.
 *
 * Where the first instruction has one byte, a breakpoint is put in its place, for good or
 * until a jump can be (ktrace_upgrade.c). The handler goes on in the padding of the function,
 * from where a jump leads to the slot.
 *
 * exc_int3() calls the handler right after that of text_poke_bp(), before anything that can
 * be traced. Anything that it called might be traced by a breakpoint, too. So it looks into
 * nothing but a sorted array of the entries, which is replaced when functions come or go.
 */
#include <linux/bsearch.h>
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/kernel.h>
#include <linux/ktrace.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/ptrace.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include <asm/text-patching.h>

#include "ktrace_int3.h"
#include "ktrace_slot.h"

struct entry_table {
	unsigned int	nr;
	unsigned long	entries[] __counted_by(nr);	/* sorted */
};

/* Replaced under table_lock. The handler reads it with interrupts disabled. */
static struct entry_table *entry_table;
static DEFINE_MUTEX(table_lock);

/**
 * ktrace_int3_handler - go on where a traced function calls its tracers
 * @regs: registers at a breakpoint
 *
 * Context: exc_int3(); calls nothing.
 *
 * Return: whether the breakpoint was that of ktrace.
 */
noinstr bool ktrace_int3_handler(struct pt_regs *regs)
{
	struct entry_table *table = READ_ONCE(entry_table);
	unsigned long entry = regs->ip - INT3_INSN_SIZE;
	struct ktrace_slot_pad *pad;

	if (user_mode(regs) || !table ||
	    !__inline_bsearch(&entry, table->entries, table->nr, sizeof(entry),
			      ktrace_cmp_addresses))
		return false;

	/*
	 * The padding is written before the first breakpoint. When it gets another slot,
	 * text_poke_bp() has a breakpoint there, and handles it.
	 */
	pad = ktrace_slot_pad_of(ALIGN_DOWN(entry, KTRACE_FUNC_ALIGN));
	if (pad->jmp != JMP32_INSN_OPCODE && pad->jmp != INT3_INSN_OPCODE)
		return false;

	int3_emulate_jmp(regs, (unsigned long)&pad->jmp);

	return true;
}

static struct entry_table *alloc_table(unsigned int nr, gfp_t gfp)
{
	struct entry_table *table = kvmalloc(struct_size(table, entries, nr), gfp);

	if (table)
		table->nr = nr;

	return table;
}

static void replace_table(struct entry_table *table)
{
	struct entry_table *old = entry_table;

	lockdep_assert_held(&table_lock);

	/* Pairs with the address dependency in ktrace_int3_handler() */
	smp_store_release(&entry_table, table);
	if (!old)
		return;

	/*
	 * The handler has interrupts disabled: wait until no CPU is in it. CPUs that
	 * are not online do not answer: see that none comes or goes.
	 */
	scoped_guard(cpus_read_lock)
		text_poke_sync();
	kvfree(old);
}

/**
 * ktrace_add_int3 - have the handler know functions, before one of them is traced
 * @entries: where their first instructions are
 * @nr: their number
 *
 * Context: process context, may sleep.
 *
 * Return: 0, or -ENOMEM.
 */
int ktrace_add_int3(const unsigned long *entries, unsigned int nr)
{
	struct entry_table *old, *table;
	unsigned int nr_old;

	if (!nr)
		return 0;

	guard(mutex)(&table_lock);

	old = entry_table;
	nr_old = old ? old->nr : 0;
	table = alloc_table(nr_old + nr, GFP_KERNEL);
	if (!table)
		return -ENOMEM;

	if (old)
		memcpy(table->entries, old->entries, nr_old * sizeof(*entries));
	memcpy(table->entries + nr_old, entries, nr * sizeof(*entries));
	sort(table->entries, table->nr, sizeof(*entries), ktrace_cmp_addresses, NULL);
	replace_table(table);

	return 0;
}

static bool is_entry_between(const struct entry_table *table, unsigned int i,
			     unsigned long start, unsigned long end)
{
	return table->entries[i] >= start && table->entries[i] < end;
}

/**
 * ktrace_remove_int3 - have the handler forget functions of a module
 * @start: address of the first; no task executes them any more
 * @end: behind the last
 *
 * Something else may be loaded there, with breakpoints of its own.
 *
 * Context: process context, may sleep.
 */
void ktrace_remove_int3(unsigned long start, unsigned long end)
{
	struct entry_table *old, *table;
	unsigned int nr = 0;

	guard(mutex)(&table_lock);

	old = entry_table;
	if (!old)
		return;

	for (unsigned int i = 0; i < old->nr; i++)
		nr += !is_entry_between(old, i, start, end);
	if (nr == old->nr)
		return;

	table = alloc_table(nr, GFP_KERNEL | __GFP_NOFAIL);
	nr = 0;
	for (unsigned int i = 0; i < old->nr; i++) {
		if (!is_entry_between(old, i, start, end))
			table->entries[nr++] = old->entries[i];
	}
	replace_table(table);
}

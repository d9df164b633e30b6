// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: entries.
 *
 * An entry is a jump to the trampoline of a combination of tracers. The call site
 * of a traced function calls an entry, and the record of the function has its index:
 *
 *	record -> entry -> combination -> trampoline -> callbacks
 *
 * So if all functions of an entry get one more tracer, or lose one, the jump is all
 * that is patched: see updates.c. A combination may have several entries, since two
 * can become equal. Entries are freed after a grace period: see quiesce.c.
 *
 * Protected by ftrace_lock. is_ftrace_mux_trampoline(), ftrace_mux_unwind_ip() and
 * ftrace_mux_get_kallsym() are called from any context: chunks are never freed.
 */
#include <linux/bitmap.h>
#include <linux/perf_event.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "check.h"
#include "combinations.h"
#include "entries.h"
#include "mux.h"

#define MUX_ENTRIES_SYM		"ftrace_mux_entries"

struct ftrace_mux_chunk *ftrace_mux_chunks[FTRACE_MUX_MAX_CHUNKS];
static unsigned int nr_chunks;

/* Functions without an entry */
struct ftrace_mux_entry ftrace_mux_no_entry;

/* Entries whose jump has to be patched: how many, and one of them */
static unsigned int nr_moved;
static struct ftrace_mux_entry *moved_entry;

/**
 * ftrace_mux_entry_addr - address of an entry
 * @entry: the entry
 *
 * Return: the address, which call sites call.
 */
unsigned long ftrace_mux_entry_addr(const struct ftrace_mux_entry *entry)
{
	return ftrace_mux_chunks[entry->index / FTRACE_MUX_CHUNK_ENTRIES]->text +
	       entry->index % FTRACE_MUX_CHUNK_ENTRIES * FTRACE_MUX_ENTRY_SIZE;
}

/**
 * ftrace_mux_next_entry - the next entry in use
 * @index: where to begin; set to the index after that entry
 *
 * Context: ftrace_lock held.
 *
 * Return: the entry, NULL if there is none.
 */
struct ftrace_mux_entry *ftrace_mux_next_entry(unsigned int *index)
{
	struct ftrace_mux_chunk *chunk;
	unsigned int n;

	while (*index < nr_chunks * FTRACE_MUX_CHUNK_ENTRIES) {
		chunk = ftrace_mux_chunks[*index / FTRACE_MUX_CHUNK_ENTRIES];
		n = find_next_bit(chunk->used, FTRACE_MUX_CHUNK_ENTRIES,
				  *index % FTRACE_MUX_CHUNK_ENTRIES);
		*index += n - *index % FTRACE_MUX_CHUNK_ENTRIES;
		if (n == FTRACE_MUX_CHUNK_ENTRIES)
			continue;
		(*index)++;
		return &chunk->entry[n];
	}

	return NULL;
}

static struct ftrace_mux_chunk *create_chunk(void)
{
	struct ftrace_mux_chunk *chunk;

	if (nr_chunks == FTRACE_MUX_MAX_CHUNKS)
		return NULL;

	chunk = kvzalloc_obj(*chunk);
	if (!chunk)
		return NULL;

	chunk->text = arch_ftrace_mux_alloc_entries();
	if (!chunk->text) {
		kvfree(chunk);
		return NULL;
	}

	/* Index 0 is for functions without an entry */
	if (!nr_chunks)
		__set_bit(0, chunk->used);

	ftrace_mux_chunks[nr_chunks] = chunk;
	/* Pairs with smp_load_acquire() in find_chunk() */
	smp_store_release(&nr_chunks, nr_chunks + 1);
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, chunk->text,
			   FTRACE_MUX_CHUNK_ENTRIES * FTRACE_MUX_ENTRY_SIZE, false,
			   MUX_ENTRIES_SYM);

	return chunk;
}

static struct ftrace_mux_entry *alloc_from_chunk(unsigned int nr)
{
	struct ftrace_mux_chunk *chunk = ftrace_mux_chunks[nr];
	struct ftrace_mux_entry *entry;
	unsigned int n;

	n = find_first_zero_bit(chunk->used, FTRACE_MUX_CHUNK_ENTRIES);
	if (n == FTRACE_MUX_CHUNK_ENTRIES)
		return NULL;

	__set_bit(n, chunk->used);
	entry = &chunk->entry[n];
	entry->index = nr * FTRACE_MUX_CHUNK_ENTRIES + n;

	return entry;
}

static struct ftrace_mux_entry *alloc_entry(void)
{
	struct ftrace_mux_entry *entry;

	if (ftrace_mux_fails())
		return NULL;

	for (unsigned int nr = 0; nr < nr_chunks; nr++) {
		entry = alloc_from_chunk(nr);
		if (entry)
			return entry;
	}

	return create_chunk() ? alloc_from_chunk(nr_chunks - 1) : NULL;
}

/**
 * ftrace_mux_entry_free - free an entry
 * @entry: an entry that no call site calls, and that no task can be at
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_entry_free(struct ftrace_mux_entry *entry)
{
	struct ftrace_mux_chunk *chunk = ftrace_mux_chunks[entry->index / FTRACE_MUX_CHUNK_ENTRIES];

	list_del(&entry->node);
	__clear_bit(entry->index % FTRACE_MUX_CHUNK_ENTRIES, chunk->used);
	memset(entry, 0, sizeof(*entry));
}

/**
 * ftrace_mux_entry_move - have an entry jump to another trampoline
 * @entry: the entry
 * @combo: the combination that has the trampoline
 *
 * Takes effect when ftrace_mux_patch_entries() is called.
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_entry_move(struct ftrace_mux_entry *entry, struct ftrace_mux_combo *combo)
{
	if (entry->combo) {
		entry->combo->left = true;
		ftrace_mux_request_sweep();
		list_del(&entry->node);
	}
	list_add_tail(&entry->node, &combo->entries);
	entry->combo = combo;
	nr_moved += !entry->moved;
	entry->moved = true;
	moved_entry = entry;
}

static void patch_entry(struct ftrace_mux_entry *entry)
{
	arch_ftrace_mux_set_entry(ftrace_mux_entry_addr(entry), entry->combo->tramp);
	entry->moved = false;
}

/**
 * ftrace_mux_patch_entries - patch the jumps of all entries that have moved
 *
 * Context: process context, may sleep; ftrace_lock held.
 */
void ftrace_mux_patch_entries(void)
{
	struct ftrace_mux_entry *entry;
	unsigned int pos;

	if (!nr_moved)
		return;

	arch_ftrace_mux_begin();
	if (nr_moved == 1) {
		patch_entry(moved_entry);
	} else {
		/* In order of their addresses, or text_poke_queue() makes many batches */
		for_each_ftrace_mux_entry(entry, pos) {
			if (entry->moved)
				patch_entry(entry);
		}
	}
	arch_ftrace_mux_end();
	nr_moved = 0;
}

/**
 * ftrace_mux_entry_for - the entry for functions that get a set of tracers
 * @set: the tracers
 *
 * Context: process context, may sleep; ftrace_lock held.
 *
 * Return: an entry of their combination, both of which may be new; NULL if there is
 * no memory.
 */
struct ftrace_mux_entry *ftrace_mux_entry_for(const struct ftrace_mux_set *set)
{
	struct ftrace_mux_combo *combo = ftrace_mux_combo_get(set);
	struct ftrace_mux_entry *entry;

	if (!combo)
		return NULL;

	if (!list_empty(&combo->entries))
		return list_first_entry(&combo->entries, struct ftrace_mux_entry, node);

	entry = alloc_entry();
	if (entry)
		ftrace_mux_entry_move(entry, combo);
	else	/* Free the combination, which has no entry */
		ftrace_mux_request_sweep();

	return entry;
}

/**
 * ftrace_mux_callee - what the call site of a function calls now
 * @rec: record of the function
 *
 * Context: ftrace_lock held.
 *
 * Return: address of its entry, 0 if it has none.
 */
unsigned long ftrace_mux_callee(struct dyn_ftrace *rec)
{
	lockdep_assert_held(&ftrace_lock);

	return rec->mux_entry ? ftrace_mux_entry_addr(ftrace_mux_entry_at(rec->mux_entry)) : 0;
}

/* Entries and trampolines by address, from any context */

static struct ftrace_mux_chunk *find_chunk(unsigned long addr)
{
	/* Pairs with smp_store_release() in create_chunk() */
	unsigned int nr = smp_load_acquire(&nr_chunks);

	while (nr--) {
		if (addr - ftrace_mux_chunks[nr]->text <
		    FTRACE_MUX_CHUNK_ENTRIES * FTRACE_MUX_ENTRY_SIZE)
			return ftrace_mux_chunks[nr];
	}

	return NULL;
}

/**
 * is_ftrace_mux_trampoline - whether an address is in memory of the multiplexer
 * @addr: the address
 *
 * Context: any, NMI included.
 *
 * Return: true if it is in an entry, or in a trampoline that was made on demand.
 */
bool is_ftrace_mux_trampoline(unsigned long addr)
{
	guard(preempt_notrace)();

	return find_chunk(addr) || ftrace_mux_combo_at(addr);
}

/**
 * ftrace_mux_unwind_ip - where to look up how to unwind from a trampoline
 * @ip: an address in the trampoline, or not
 *
 * Context: any, NMI included.
 *
 * Return: an address in the kernel's text whose unwind information is right for
 * @ip, 0 if @ip is neither in an entry nor in a trampoline that was made on demand.
 */
unsigned long ftrace_mux_unwind_ip(unsigned long ip)
{
	struct ftrace_mux_combo *combo;

	guard(preempt_notrace)();

	/* At an entry, the stack is as at the start of a trampoline */
	if (find_chunk(ip))
		return arch_ftrace_mux_unwind_ip(0, false);

	combo = ftrace_mux_combo_at(ip);
	if (!combo)
		return 0;

	return arch_ftrace_mux_unwind_ip(ip - combo->tramp, combo->regs);
}

/**
 * ftrace_mux_get_kallsym - name a trampoline, or the entries, for /proc/kallsyms
 * @symnum: index among these
 * @value: its address
 * @name: its name, KSYM_NAME_LEN bytes
 *
 * Context: preemption disabled.
 *
 * Return: 0, or -ERANGE if there are not so many.
 */
int ftrace_mux_get_kallsym(unsigned int symnum, unsigned long *value, char *name)
{
	/* Pairs with smp_store_release() in create_chunk() */
	unsigned int nr = smp_load_acquire(&nr_chunks);
	struct ftrace_mux_combo *combo;

	if (symnum < nr) {
		*value = ftrace_mux_chunks[symnum]->text;
		strscpy(name, MUX_ENTRIES_SYM, KSYM_NAME_LEN);
		return 0;
	}

	symnum -= nr;
	list_for_each_entry_rcu(combo, &ftrace_mux_combos, node,
				lockdep_is_held(&ftrace_lock)) {
		if (!combo->size || symnum--)
			continue;
		*value = combo->tramp;
		strscpy(name, FTRACE_MUX_TRAMPOLINE_SYM, KSYM_NAME_LEN);
		return 0;
	}

	return -ERANGE;
}

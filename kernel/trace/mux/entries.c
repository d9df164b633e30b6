// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: entries.
 *
 * An entry leads to a combination of tracers. The call site of a traced function calls
 * an entry, and the record of the function has its index:
 *
 *	record -> entry -> combination -> callbacks
 *
 * So if all functions of an entry get one more tracer, or lose one, the entry is all
 * that is changed: see updates.c. A combination may have several entries, since
 * entries of different combinations may move to the same one. Entries are freed
 * after a grace period: see quiesce.c.
 *
 * Protected by ftrace_lock.
 */
#include <linux/slab.h>

#include "combinations.h"
#include "entries.h"
#include "fault.h"
#include "mux.h"

struct ftrace_mux_chunk *ftrace_mux_chunks[FTRACE_MUX_MAX_CHUNKS];
static unsigned int nr_chunks;

/*
 * Stands for "no entry": its plan is that of all functions without an entry, its combo is always
 * NULL.
 */
struct ftrace_mux_entry ftrace_mux_entryless;

/* How many entries are dirty, and the last of them: if it is the only one, no walk is needed */
static unsigned int nr_dirty;
static struct ftrace_mux_entry *last_dirty;

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

static bool create_chunk(void)
{
	struct ftrace_mux_chunk *chunk;

	if (nr_chunks == FTRACE_MUX_MAX_CHUNKS)
		return false;

	chunk = kvzalloc_obj(*chunk);
	if (!chunk)
		return false;

	if (arch_ftrace_mux_add_entries(nr_chunks * FTRACE_MUX_CHUNK_ENTRIES)) {
		kvfree(chunk);
		return false;
	}

	/* Index 0 is for functions without an entry */
	if (!nr_chunks)
		__set_bit(0, chunk->used);

	ftrace_mux_chunks[nr_chunks++] = chunk;

	return true;
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

	if (ftrace_mux_should_fail())
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
 * ftrace_mux_entry_move - have an entry lead to another combination
 * @entry: the entry
 * @combo: the combination
 *
 * Takes effect when ftrace_mux_write_entries() is called. The combination that the entry has
 * led to may be unused then: the caller has to call ftrace_mux_request_sweep().
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_entry_move(struct ftrace_mux_entry *entry, struct ftrace_mux_combo *combo)
{
	if (entry->combo) {
		WARN_ON_ONCE(ARCH_FTRACE_MUX_SITE_REGS && entry->combo->regs != combo->regs);
		entry->combo->entry_left = true;
		list_del(&entry->node);
	}
	list_add_tail(&entry->node, &combo->entries);
	entry->combo = combo;
	nr_dirty += !entry->dirty;
	entry->dirty = true;
	last_dirty = entry;
}

static void write_entry(struct ftrace_mux_entry *entry)
{
	arch_ftrace_mux_set_entry(entry->index, entry->combo);
	entry->dirty = false;
}

/**
 * ftrace_mux_write_entries - make the dirty entries lead to their combinations
 *
 * Context: process context, may sleep; ftrace_lock held.
 */
void ftrace_mux_write_entries(void)
{
	struct ftrace_mux_entry *entry;
	unsigned int pos;

	if (!nr_dirty)
		return;

	arch_ftrace_mux_begin();
	if (nr_dirty == 1) {
		write_entry(last_dirty);
	} else {
		for_each_ftrace_mux_entry(entry, pos) {
			if (entry->dirty)
				write_entry(entry);
		}
	}
	arch_ftrace_mux_end();
	nr_dirty = 0;
}

/**
 * ftrace_mux_entry_for - the entry for functions that get a set of tracers
 * @set: the tracers
 *
 * Context: process context, may sleep; ftrace_lock held.
 *
 * Return: an entry of their combination, both of which may be new; NULL if there is
 * no memory, or no free index. If it is NULL, there may be a new combination without an entry: the
 * caller has to call ftrace_mux_request_sweep().
 */
struct ftrace_mux_entry *ftrace_mux_entry_for(const struct ftrace_mux_set *set)
{
	struct ftrace_mux_combo *combo = ftrace_mux_combo_find_or_create(set);
	struct ftrace_mux_entry *entry;

	if (!combo)
		return NULL;

	if (!list_empty(&combo->entries))
		return list_first_entry(&combo->entries, struct ftrace_mux_entry, node);

	entry = alloc_entry();
	if (entry)
		ftrace_mux_entry_move(entry, combo);

	return entry;
}

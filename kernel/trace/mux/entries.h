/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer: entries of combinations, see entries.c */
#ifndef _KERNEL_TRACE_MUX_ENTRIES_H
#define _KERNEL_TRACE_MUX_ENTRIES_H

#include <linux/bitmap.h>
#include <linux/ftrace_mux_arch.h>

struct ftrace_mux_set;

/**
 * struct ftrace_mux_plan - what an update does to the functions of an entry
 * @new_entry: the entry that the changing functions get; NULL for none
 * @link: link in the list of entries with changing functions
 * @sample: the record of one of the changing functions
 * @functions: number of changing functions
 * @total_changes: how often a tracer is added to them or removed, in all
 * @change_mask: which of the changes of the update they have
 * @look_up: no function stands for all of them: look up the tracers of each
 */
struct ftrace_mux_plan {
	struct ftrace_mux_entry	*new_entry;
	struct ftrace_mux_entry	*link;
	struct dyn_ftrace	*sample;
	unsigned int		functions;
	unsigned int		total_changes;
	u8			change_mask;
	bool			look_up;
};

/**
 * struct ftrace_mux_entry - an entry, and the functions that have it
 * @combo: the combination that it leads to, see @dirty; NULL if not in use
 * @node: link in the entries of @combo
 * @plan: all zero, except during an update or a check (check.c)
 * @functions: number of functions that have it
 * @index: its index in records, 0 for functions without an entry
 * @dirty: the architecture still leads it to its previous combination, until
 *	ftrace_mux_write_entries()
 * @site_left: a call site has left it since the last sweep started
 * @quiescing: when the current grace period started, it had no functions, or a call site had left
 *	it. After the grace period it is freed if it has no functions and no call site has left it
 *	since.
 */
struct ftrace_mux_entry {
	struct ftrace_mux_combo	*combo;
	struct list_head	node;
	struct ftrace_mux_plan	plan;
	unsigned int		functions;
	u16			index;
	bool			dirty : 1;
	bool			site_left : 1;
	bool			quiescing : 1;
};

/* Entries with consecutive indexes; never freed */
struct ftrace_mux_chunk {
	DECLARE_BITMAP(used, FTRACE_MUX_CHUNK_ENTRIES);
	struct ftrace_mux_entry	entry[FTRACE_MUX_CHUNK_ENTRIES];
};

extern struct ftrace_mux_chunk *ftrace_mux_chunks[FTRACE_MUX_MAX_CHUNKS];
extern struct ftrace_mux_entry ftrace_mux_entryless;

static inline struct ftrace_mux_entry *ftrace_mux_entry_at(unsigned int index)
{
	struct ftrace_mux_chunk *chunk = ftrace_mux_chunks[index / FTRACE_MUX_CHUNK_ENTRIES];

	return &chunk->entry[index % FTRACE_MUX_CHUNK_ENTRIES];
}

static __always_inline struct ftrace_mux_entry *
ftrace_mux_rec_entry(const struct dyn_ftrace *rec)
{
	return rec->mux.entry ? ftrace_mux_entry_at(rec->mux.entry) : &ftrace_mux_entryless;
}

struct ftrace_mux_entry *ftrace_mux_next_entry(unsigned int *index);

/* All entries in use, in order of their indexes */
#define for_each_ftrace_mux_entry(entry, pos)	\
	for (pos = 1; (entry = ftrace_mux_next_entry(&(pos))); )

struct ftrace_mux_entry *ftrace_mux_entry_for(const struct ftrace_mux_set *set);
void ftrace_mux_entry_move(struct ftrace_mux_entry *entry, struct ftrace_mux_combo *combo);
void ftrace_mux_entry_free(struct ftrace_mux_entry *entry);
void ftrace_mux_write_entries(void);

#endif /* _KERNEL_TRACE_MUX_ENTRIES_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer: entries of combinations, see entries.c */
#ifndef _KERNEL_TRACE_MUX_ENTRIES_H
#define _KERNEL_TRACE_MUX_ENTRIES_H

#include <linux/ftrace.h>

struct ftrace_mux_combo;
struct ftrace_mux_set;

/**
 * struct ftrace_mux_entry - an entry, and the functions that have it
 * @combo: the combination whose trampoline it jumps to; NULL if not in use
 * @node: link in the entries of @combo
 * @next: during an update, the entry of the functions that change; NULL for none
 * @next_touched: link in the list of entries with functions that change
 * @sample: one of the functions that change
 * @users: call sites
 * @touched: how many of these change
 * @touches: how often a tracer has been added to them or removed
 * @index: its index in records, 0 for functions without an entry
 * @changes: which of changes[] they have
 * @by_filters: functions that change are looked up in filters
 * @moved: the jump has to be patched
 * @left: by call sites since the last sweep
 * @quiescing: left by call sites before the grace period that is going on
 */
struct ftrace_mux_entry {
	struct ftrace_mux_combo	*combo;
	struct list_head	node;
	struct ftrace_mux_entry	*next;
	struct ftrace_mux_entry	*next_touched;
	struct dyn_ftrace	*sample;
	unsigned int		users;
	unsigned int		touched;
	unsigned int		touches;
	u16			index;
	u8			changes;
	bool			by_filters : 1;
	bool			moved : 1;
	bool			left : 1;
	bool			quiescing : 1;
};

struct ftrace_mux_chunk {
	unsigned long		text;
	DECLARE_BITMAP(used, FTRACE_MUX_CHUNK_ENTRIES);
	struct ftrace_mux_entry	entry[FTRACE_MUX_CHUNK_ENTRIES];
};

#define FTRACE_MUX_MAX_CHUNKS	((U16_MAX + 1) / FTRACE_MUX_CHUNK_ENTRIES)

extern struct ftrace_mux_chunk *ftrace_mux_chunks[FTRACE_MUX_MAX_CHUNKS];
extern struct ftrace_mux_entry ftrace_mux_no_entry;

static inline struct ftrace_mux_entry *ftrace_mux_entry_at(unsigned int index)
{
	struct ftrace_mux_chunk *chunk = ftrace_mux_chunks[index / FTRACE_MUX_CHUNK_ENTRIES];

	return &chunk->entry[index % FTRACE_MUX_CHUNK_ENTRIES];
}

static __always_inline struct ftrace_mux_entry *
ftrace_mux_rec_entry(const struct dyn_ftrace *rec)
{
	return rec->mux_entry ? ftrace_mux_entry_at(rec->mux_entry) : &ftrace_mux_no_entry;
}

unsigned long ftrace_mux_entry_addr(const struct ftrace_mux_entry *entry);
struct ftrace_mux_entry *ftrace_mux_next_entry(unsigned int *index);

/* All entries in use, in order of their addresses */
#define for_each_ftrace_mux_entry(entry, pos)	\
	for (pos = 1; (entry = ftrace_mux_next_entry(&(pos))); )

struct ftrace_mux_entry *ftrace_mux_entry_for(const struct ftrace_mux_set *set);
void ftrace_mux_entry_move(struct ftrace_mux_entry *entry, struct ftrace_mux_combo *combo);
void ftrace_mux_entry_free(struct ftrace_mux_entry *entry);
void ftrace_mux_patch_entries(void);

#endif /* _KERNEL_TRACE_MUX_ENTRIES_H */

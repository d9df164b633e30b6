// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: entries that look like an ops.
 *
 * For architectures with DYNAMIC_FTRACE_WITH_CALL_OPS: a literal in front of each function holds
 * the address of an ops, or of an entry.
 *
 * The entry is written first; then, after smp_wmb(), the literal; then, if the function was not
 * traced, its call site. The loads of ftrace_caller() depend on the literal, so they see what is in
 * the entry.
 *
 * ftrace_lock serializes all changes. Traced functions read without it.
 */
#include <linux/ftrace_mux_arch.h>
#include <linux/slab.h>

#include "../ftrace_internal.h"

/* Like the chunks of entries.c, never freed: the index of a free entry may be used again */
static struct ftrace_mux_ops_entry *mux_ops_entries[FTRACE_MUX_MAX_CHUNKS];

/* Keep in sync with ftrace_mux_calls.S of the architectures */
static_assert(offsetof(struct ftrace_mux_ops_entry, call) == 16);
static_assert(offsetof(struct ftrace_mux_call, func) == 0);
static_assert(offsetof(struct ftrace_mux_call, arg) == 8);
static_assert(sizeof(struct ftrace_mux_call) == 16);
static_assert(offsetof(struct ftrace_mux_counted, count) == 0);
static_assert(offsetof(struct ftrace_mux_counted, call) == 8);

static_assert(offsetof(struct ftrace_mux_ops_entry, func) == offsetof(struct ftrace_ops, func));
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
static_assert(offsetof(struct ftrace_mux_ops_entry, direct_call) ==
	      offsetof(struct ftrace_ops, direct_call));
#endif

static struct ftrace_mux_ops_entry *ops_entry_at(unsigned int index)
{
	return &mux_ops_entries[index / FTRACE_MUX_CHUNK_ENTRIES][index % FTRACE_MUX_CHUNK_ENTRIES];
}

/**
 * ftrace_mux_rec_ops - the entry of a function, as an ops for its literal
 * @rec: the record of the function
 *
 * Context: ftrace_lock held.
 *
 * Return: the entry, which looks like an ops to ftrace_caller(); NULL if the function has none. The
 * caller then chooses an ops.
 */
const struct ftrace_ops *ftrace_mux_rec_ops(const struct dyn_ftrace *rec)
{
	return rec->mux.entry ? (const struct ftrace_ops *)ops_entry_at(rec->mux.entry) :
				NULL;
}

/* The literal tells the entry */
unsigned long arch_ftrace_mux_call_target(unsigned int index)
{
	return FTRACE_ADDR;
}

const struct ftrace_mux_call **arch_ftrace_mux_call_ptr(unsigned int index)
{
	return &ops_entry_at(index)->call;
}

int arch_ftrace_mux_add_entries(unsigned int first)
{
	struct ftrace_mux_ops_entry *entries;

	entries = kvcalloc(FTRACE_MUX_CHUNK_ENTRIES, sizeof(*entries), GFP_KERNEL);
	if (!entries)
		return -ENOMEM;

	for (unsigned int n = 0; n < FTRACE_MUX_CHUNK_ENTRIES; n++)
		entries[n].func = ftrace_mux_call_entry;
	mux_ops_entries[first / FTRACE_MUX_CHUNK_ENTRIES] = entries;

	return 0;
}

#if IS_ENABLED(CONFIG_FTRACE_MUX_TEST)
bool arch_ftrace_mux_site_calls(const struct dyn_ftrace *rec, unsigned int index)
{
	return READ_ONCE(*ftrace_mux_literal(rec->ip)) == (unsigned long)ops_entry_at(index) &&
	       arch_ftrace_site_is_on(rec->ip);
}
#endif

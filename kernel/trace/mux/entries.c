// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: entries, and which of them each call site calls.
 *
 * An entry is a jump to the trampoline of a combination of tracers. The call site
 * of a traced function calls an entry, and the record of the function has its index:
 *
 *	record -> entry -> combination -> trampoline -> callbacks
 *
 * If all functions of an entry get one more tracer, or lose one, the jump is
 * patched: the entry moves to another combination as a whole. If only some of them
 * do, their call sites are patched to an entry of their new combination. So the
 * call site of a function is patched only if its own tracers change, and if the
 * functions that it shares an entry with do not change likewise.
 *
 * An update has these steps, all of them under one hold of ftrace_lock:
 *
 *  1. ftrace changes the references of records. ftrace_mux_rec_touch() counts for
 *     each entry how many of its functions change, and which tracers they get or
 *     lose.
 *  2. ftrace_mux_prepare() moves the entries of which all functions change in the
 *     same way, finds entries for the other functions, and patches the jumps. All
 *     memory is allocated here.
 *  3. ftrace patches call sites. target() says which entry a function has from now
 *     on. It gives the same answer however often it is asked.
 *  4. ftrace_mux_updated() ends the update.
 *
 * If the functions of an entry do not change in the same way, or if all call sites
 * have to be checked (ftrace_check_all), the tracers of a function are looked up in
 * their filters: ftrace_mux_collect().
 *
 * Functions without an entry are those that are not traced, those with a direct
 * call only, and those for which there was no memory: these go through
 * ftrace_ops_list_func(), and the next update tries again.
 *
 * Late callers
 *
 * A task may have executed the call of an entry, or be in a trampoline, when the
 * call site is patched to another entry. It calls the tracers that the function had
 * before, as ftrace does without the multiplexer. If the old entry then moved to a
 * combination with a new tracer, the task could call it for a function that it does
 * not want; livepatch would redirect the task to the replacement of another
 * function. So an entry that call sites have left does not move, until a grace
 * period of Tasks RCU and of Tasks Rude RCU has passed. There are two exceptions: a
 * tracer that wants all functions, and one that is being unregistered. Entries
 * without call sites, and combinations without entries, are freed after such a
 * grace period, or when ftrace has waited for one because their tracer may be freed.
 *
 * Protected by ftrace_lock. is_ftrace_mux_trampoline(), ftrace_mux_unwind_ip() and
 * ftrace_mux_get_kallsym() are called from any context: chunks are never freed.
 */
#include <linux/bitmap.h>
#include <linux/init.h>
#include <linux/kstrtox.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <linux/workqueue.h>

#include "../trace.h"
#include "combinations.h"
#include "entries.h"
#include "ids.h"
#include "mux.h"

#define MUX_ENTRIES_SYM		"ftrace_mux_entries"

/* An entry with less call sites is not moved if there is one to merge it with */
#define MUX_MERGE_USERS		16

/* Different changes of tracers in one update */
#define MUX_MAX_CHANGES		8

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

struct mux_chunk {
	unsigned long		text;
	DECLARE_BITMAP(used, FTRACE_MUX_CHUNK_ENTRIES);
	struct ftrace_mux_entry	entry[FTRACE_MUX_CHUNK_ENTRIES];
};

#define MUX_MAX_CHUNKS		((U16_MAX + 1) / FTRACE_MUX_CHUNK_ENTRIES)

static struct mux_chunk *chunks[MUX_MAX_CHUNKS];
static unsigned int nr_chunks;

/* Functions without an entry */
static struct ftrace_mux_entry no_entry;

/* What happens to tracers in this update */
static struct mux_change {
	struct ftrace_ops	*ops;
	bool			add;
} changes[MUX_MAX_CHANGES];
static unsigned int nr_changes;

/* What ftrace_mux_rec_touch() was called for last */
static struct {
	struct ftrace_ops	*ops;
	bool			add;
	bool			modify;
	u16			index;
	struct ftrace_mux_entry	*entry;
} touching;

static struct ftrace_mux_entry *touched_entries;

/* Entries whose jump has to be patched: how many, and one of them */
static unsigned int nr_moved;
static struct ftrace_mux_entry *moved_entry;

/* What target() goes by */
static enum {
	TARGET_CURRENT,		/* nothing changes */
	TARGET_NEXT,		/* the functions that have been touched change */
	TARGET_BY_FILTERS,	/* any function may change */
} target_mode;

/* An update could not get memory for all functions */
static bool no_memory;

/* Several graph tracers were told apart at the last update */
static bool had_graph_sets;

/* There is something to wait for and to free */
static bool needs_sweep;

/* Grace periods of sweeps: how many have started, and how many of them have ended */
static u32 grace_started, grace_ended;
/* A tracer was unregistered since the last one started, and nobody has waited */
static bool needs_grace;

/* Whether call sites use the trampolines: ftrace_mux=, kernel.ftrace_mux */
int ftrace_mux_enabled = 1;

/* Where the tracers of a function, or of an entry, are put together */
static struct ftrace_mux_set scratch;

/*
 * Delay between an update and the search for what it has left. That ends with a grace
 * period of Tasks Rude RCU, which disturbs all CPUs: do it once for many updates.
 */
#define MUX_SWEEP_DELAY		(5 * HZ)

static void sweep_func(struct work_struct *work);
static DECLARE_DELAYED_WORK(sweep_work, sweep_func);

/* Before there are workqueues (ftrace=), ftrace_mux_late_init() has to do it */
static void request_sweep(void)
{
	if (needs_sweep)
		return;

	needs_sweep = true;
	if (system_unbound_wq)
		queue_delayed_work(system_unbound_wq, &sweep_work, MUX_SWEEP_DELAY);
}

/* Entries */

static struct ftrace_mux_entry *get_entry(unsigned int index)
{
	return &chunks[index / FTRACE_MUX_CHUNK_ENTRIES]->entry[index % FTRACE_MUX_CHUNK_ENTRIES];
}

static __always_inline struct ftrace_mux_entry *rec_entry(const struct dyn_ftrace *rec)
{
	return rec->mux_entry ? get_entry(rec->mux_entry) : &no_entry;
}

static unsigned long entry_addr(const struct ftrace_mux_entry *entry)
{
	return chunks[entry->index / FTRACE_MUX_CHUNK_ENTRIES]->text +
	       entry->index % FTRACE_MUX_CHUNK_ENTRIES * FTRACE_MUX_ENTRY_SIZE;
}

/* The next entry in use, from @index on; NULL if there is none */
static struct ftrace_mux_entry *next_entry(unsigned int *index)
{
	struct mux_chunk *chunk;
	unsigned int n;

	while (*index < nr_chunks * FTRACE_MUX_CHUNK_ENTRIES) {
		chunk = chunks[*index / FTRACE_MUX_CHUNK_ENTRIES];
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

#define for_each_entry(entry, pos)	\
	for (pos = 1; (entry = next_entry(&(pos))); )

static struct mux_chunk *create_chunk(void)
{
	struct mux_chunk *chunk;

	if (nr_chunks == MUX_MAX_CHUNKS)
		return NULL;

	chunk = kvzalloc(sizeof(*chunk), GFP_KERNEL);
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

	chunks[nr_chunks] = chunk;
	/* Pairs with smp_load_acquire() in find_chunk() */
	smp_store_release(&nr_chunks, nr_chunks + 1);
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, chunk->text,
			   FTRACE_MUX_CHUNK_ENTRIES * FTRACE_MUX_ENTRY_SIZE, false,
			   MUX_ENTRIES_SYM);

	return chunk;
}

static struct ftrace_mux_entry *alloc_from_chunk(unsigned int nr)
{
	struct mux_chunk *chunk = chunks[nr];
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

	for (unsigned int nr = 0; nr < nr_chunks; nr++) {
		entry = alloc_from_chunk(nr);
		if (entry)
			return entry;
	}

	return create_chunk() ? alloc_from_chunk(nr_chunks - 1) : NULL;
}

static void free_entry(struct ftrace_mux_entry *entry)
{
	struct mux_chunk *chunk = chunks[entry->index / FTRACE_MUX_CHUNK_ENTRIES];

	list_del(&entry->node);
	__clear_bit(entry->index % FTRACE_MUX_CHUNK_ENTRIES, chunk->used);
	memset(entry, 0, sizeof(*entry));
}

/* Have @entry jump to the trampoline of @combo when patch_entries() is called */
static void set_combo(struct ftrace_mux_entry *entry, struct ftrace_mux_combo *combo)
{
	if (entry->combo) {
		entry->combo->left = true;
		request_sweep();
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
	arch_ftrace_mux_set_entry(entry_addr(entry), entry->combo->tramp);
	entry->moved = false;
}

static void patch_entries(void)
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
		for_each_entry(entry, pos) {
			if (entry->moved)
				patch_entry(entry);
		}
	}
	arch_ftrace_mux_end();
	nr_moved = 0;
}

/* The entry for functions that get the tracers of @set; NULL without memory */
static struct ftrace_mux_entry *entry_for(const struct ftrace_mux_set *set)
{
	struct ftrace_mux_combo *combo = ftrace_mux_combo_get(set);
	struct ftrace_mux_entry *entry;

	if (!combo)
		return NULL;

	if (!list_empty(&combo->entries))
		return list_first_entry(&combo->entries, struct ftrace_mux_entry, node);

	entry = alloc_entry();
	if (entry)
		set_combo(entry, combo);
	else	/* Free the combination, which has no entry */
		request_sweep();

	return entry;
}

/* Which entry a function has from now on */

/* As without the multiplexer, a call site calls a single direct function itself */
static bool is_direct(const struct dyn_ftrace *rec)
{
	return rec->flags & FTRACE_FL_DIRECT && ftrace_rec_count(rec) == 1;
}

static struct ftrace_mux_entry *find_by_filters(struct dyn_ftrace *rec)
{
	struct ftrace_mux_combo *combo;

	if (!ftrace_mux_collect(rec, &scratch) || !scratch.nr)
		return NULL;

	combo = ftrace_mux_combo_find(&scratch);
	if (!combo)
		return NULL;

	return list_first_entry_or_null(&combo->entries, struct ftrace_mux_entry, node);
}

/* Have an entry ready for what find_by_filters() looks for */
static void prepare_by_filters(struct dyn_ftrace *rec)
{
	/* ftrace does not patch the disabled ones: see skip_record() */
	if (!ftrace_rec_count(rec) || is_direct(rec) ||
	    (rec->flags & FTRACE_FL_DISABLED && !(rec->flags & FTRACE_FL_ENABLED)))
		return;

	if (!ftrace_mux_collect(rec, &scratch) || !scratch.nr)
		return;

	if (!entry_for(&scratch))
		no_memory = true;
}

/* A function without an entry has the tracer that has come, if it is the only one */
static bool is_by_filters(const struct ftrace_mux_entry *entry, const struct dyn_ftrace *rec)
{
	return entry->by_filters || (entry == &no_entry && ftrace_rec_count(rec) != 1);
}

/*
 * The entry that @rec has after the update, NULL if none. Do not ask after
 * ftrace_mux_rec_move(): the new entry may change in this update, too.
 */
static struct ftrace_mux_entry *target(struct dyn_ftrace *rec)
{
	struct ftrace_mux_entry *entry = rec_entry(rec);

	if (!ftrace_mux_enabled || !ftrace_rec_count(rec) || is_direct(rec))
		return NULL;

	if (target_mode == TARGET_BY_FILTERS)
		return find_by_filters(rec);

	if (target_mode == TARGET_NEXT && entry->touched) {
		if (is_by_filters(entry, rec))
			return find_by_filters(rec);
		entry = entry->next;
	}

	return entry == &no_entry ? NULL : entry;
}

/**
 * __ftrace_mux_rec_test - what the update does to the entry of a function
 * @rec: record of the function, which is traced
 *
 * Context: ftrace_lock held.
 *
 * Return: see enum ftrace_mux_move.
 */
enum ftrace_mux_move __ftrace_mux_rec_test(struct dyn_ftrace *rec)
{
	struct ftrace_mux_entry *entry = target(rec);

	lockdep_assert_held(&ftrace_lock);

	if ((entry ? entry->index : 0) != rec->mux_entry)
		return FTRACE_MUX_MOVES;

	return entry ? FTRACE_MUX_STAYS : FTRACE_MUX_NONE;
}

/**
 * ftrace_mux_addr - what the call site of a function has to call
 * @rec: record of the function
 *
 * Context: ftrace_lock held.
 *
 * Return: address of its entry; 0 if it has none, which means that it does not call
 * the multiplexer.
 */
unsigned long ftrace_mux_addr(struct dyn_ftrace *rec)
{
	struct ftrace_mux_entry *entry = target(rec);

	lockdep_assert_held(&ftrace_lock);

	return entry ? entry_addr(entry) : 0;
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

	return rec->mux_entry ? entry_addr(get_entry(rec->mux_entry)) : 0;
}

/**
 * ftrace_mux_rec_leave - the call site of a function is about to leave its entry
 * @rec: record of the function
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_rec_leave(struct dyn_ftrace *rec)
{
	struct ftrace_mux_entry *entry = rec_entry(rec);

	lockdep_assert_held(&ftrace_lock);

	if (entry == &no_entry)
		return;

	entry->users--;
	entry->left = true;
	request_sweep();
	rec->mux_entry = 0;
}

/**
 * ftrace_mux_rec_move - the call site of a function is about to be patched
 * @rec: record of the function, for which ftrace_mux_rec_test() says so
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_rec_move(struct dyn_ftrace *rec)
{
	struct ftrace_mux_entry *entry = target(rec);

	lockdep_assert_held(&ftrace_lock);

	ftrace_mux_rec_leave(rec);

	/* These are about call sites that do not call an entry */
	rec->flags &= ~(FTRACE_FL_REGS_EN | FTRACE_FL_TRAMP_EN | FTRACE_FL_DIRECT_EN);
	if (entry) {
		entry->users++;
		rec->mux_entry = entry->index;
		return;
	}

	if (rec->flags & FTRACE_FL_REGS)
		rec->flags |= FTRACE_FL_REGS_EN;
	if (rec->flags & FTRACE_FL_TRAMP)
		rec->flags |= FTRACE_FL_TRAMP_EN;
	if (is_direct(rec))
		rec->flags |= FTRACE_FL_DIRECT_EN;
}

/* Step 1: what changes */

/* The mask of a change in the entries that have it, 0 if there are too many */
static unsigned int change_mask(struct ftrace_ops *ops, bool add)
{
	for (unsigned int n = 0; n < nr_changes; n++) {
		if (changes[n].ops == ops && changes[n].add == add)
			return BIT(n);
	}

	if (nr_changes == MUX_MAX_CHANGES) {
		ftrace_check_all = true;
		return 0;
	}

	changes[nr_changes].ops = ops;
	changes[nr_changes].add = add;

	return BIT(nr_changes++);
}

static noinline bool start_touching(struct ftrace_ops *ops, struct dyn_ftrace *rec, bool add)
{
	struct ftrace_mux_entry *entry = rec_entry(rec);

	if (!ftrace_enabled)
		return false;

	if (!entry->touches) {
		entry->next_touched = touched_entries;
		touched_entries = entry;
	}
	entry->changes |= change_mask(ops, add);
	entry->sample = rec;

	touching.ops = ops;
	touching.add = add;
	touching.index = rec->mux_entry;
	touching.modify = add && ops->flags & (FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT);
	touching.entry = entry;

	return true;
}

/**
 * __ftrace_mux_rec_touch - a tracer has been added to a function, or removed
 * @ops: the tracer
 * @rec: record of the function, with its new count
 * @add: which of the two
 * @again: whether the function has been touched in this update before
 *
 * Context: ftrace_lock held.
 *
 * Return: false if the multiplexer does not care, and ftrace has to test the record.
 */
bool __ftrace_mux_rec_touch(struct ftrace_ops *ops, struct dyn_ftrace *rec, bool add,
			    bool again)
{
	/* It is the same change, and often the same entry, for all functions of a tracer */
	if ((touching.ops != ops || touching.add != add ||
	     touching.index != rec->mux_entry) && !start_touching(ops, rec, add))
		return false;

	touching.entry->touches++;
	touching.entry->touched += !again;
	/* If the entry moves, ftrace_check_record() does not do this */
	if (touching.modify)
		rec->flags |= FTRACE_FL_MODIFIED;

	return true;
}

/* Step 2: get ready */

/* Functions without an entry have no tracer but the one that comes, or are looked up */
static bool first_set(struct ftrace_mux_set *set)
{
	if (!is_power_of_2(no_entry.changes))
		return false;

	set->ops[0] = changes[ilog2(no_entry.changes)].ops;
	set->nr = !(set->ops[0]->flags & FTRACE_OPS_FL_STUB);
	set->graph = 0;

	return changes[ilog2(no_entry.changes)].add;
}

/*
 * The tracers of the functions of @entry that are touched, after the update. They
 * have had the same ones. If none of the changes misses any of the functions, they
 * still have, and one of them stands for all.
 */
static bool next_set(const struct ftrace_mux_entry *entry, struct ftrace_mux_set *set)
{
	unsigned long mask = entry->changes;
	unsigned int n;

	if (entry->touches != entry->touched * hweight8(entry->changes))
		return false;

	/* Which of several graph tracers a function has is in their filters */
	for_each_set_bit(n, &mask, nr_changes) {
		if (changes[n].ops == ftrace_mux_graph_manager())
			return false;
	}

	if (entry == &no_entry)
		return first_set(set);

	/* If a direct call is all that is left, the function may need no entry */
	return ftrace_mux_collect(entry->sample, set) &&
	       (set->nr != 1 || !(set->ops[0]->flags & FTRACE_OPS_FL_DIRECT));
}

static bool wants_all(struct ftrace_ops *ops)
{
	return ftrace_hash_empty(ftrace_locked_hash(ops->func_hash->filter_hash)) &&
	       ftrace_hash_empty(ftrace_locked_hash(ops->func_hash->notrace_hash));
}

/* Whether late callers of @entry may see its changes */
static bool late_callers_agree(const struct ftrace_mux_entry *entry)
{
	unsigned long mask = entry->changes;
	unsigned int n;

	if (!entry->left && !entry->quiescing)
		return true;

	for_each_set_bit(n, &mask, nr_changes) {
		struct ftrace_ops *ops = changes[n].ops;

		if (changes[n].add ? !wants_all(ops) : ops->flags & FTRACE_OPS_FL_ENABLED)
			return false;
	}

	return true;
}

/* Move all functions of @entry to the combination of @set, if that is right */
static bool move_entry(struct ftrace_mux_entry *entry, const struct ftrace_mux_set *set)
{
	struct ftrace_mux_combo *combo;

	if (entry->touched != entry->users || !late_callers_agree(entry))
		return false;

	combo = ftrace_mux_combo_get(set);
	if (!combo || (entry->users < MUX_MERGE_USERS && !list_empty(&combo->entries)))
		return false;

	set_combo(entry, combo);

	return true;
}

/*
 * Say where the functions of each entry go. First the entries that move: others may
 * go to what these are afterwards. Returns true if call sites have to be patched.
 */
static bool plan_entries(void)
{
	struct ftrace_mux_entry *entry;
	bool sites = false;

	for (entry = touched_entries; entry; entry = entry->next_touched) {
		entry->next = NULL;
		entry->by_filters = !next_set(entry, &scratch);
		if (entry->by_filters || entry == &no_entry || !scratch.nr)
			continue;
		if (ftrace_mux_set_equals(&scratch, entry->combo) || move_entry(entry, &scratch))
			entry->next = entry;
	}

	for (entry = touched_entries; entry; entry = entry->next_touched) {
		if (entry->next)
			continue;
		sites = true;
		if (entry->by_filters || !next_set(entry, &scratch) || !scratch.nr)
			continue;
		entry->next = entry_for(&scratch);
		if (!entry->next)
			no_memory = true;
	}

	return sites;
}

/* Have entries ready for all functions that are looked up in filters */
static void prepare_recs(void)
{
	struct ftrace_rec_iter *iter;
	struct dyn_ftrace *rec;

	for_ftrace_rec_iter(iter) {
		rec = ftrace_rec_iter_record(iter);
		if (target_mode == TARGET_BY_FILTERS || is_by_filters(rec_entry(rec), rec))
			prepare_by_filters(rec);
		cond_resched();
	}
}

static bool any_by_filters(void)
{
	struct ftrace_mux_entry *entry;

	for (entry = touched_entries; entry; entry = entry->next_touched) {
		/* Its functions tell on their own */
		if (entry->by_filters || entry == &no_entry)
			return true;
	}

	return false;
}

/**
 * ftrace_mux_prepare - call sites are about to be updated
 *
 * Has entries and trampolines ready, and moves entries.
 *
 * Context: process context, may sleep; ftrace_lock held.
 *
 * Return: false if no call site has to be patched.
 */
bool ftrace_mux_prepare(void)
{
	bool sites = true;

	lockdep_assert_held(&ftrace_lock);

	ftrace_check_all |= no_memory;
	no_memory = false;
	had_graph_sets = ftrace_mux_graph_manager();

	if (!ftrace_mux_enabled)
		return true;

	target_mode = ftrace_check_all ? TARGET_BY_FILTERS : TARGET_NEXT;
	if (target_mode == TARGET_NEXT)
		sites = plan_entries();
	if (target_mode == TARGET_BY_FILTERS || any_by_filters())
		prepare_recs();
	patch_entries();

	if (no_memory)
		pr_warn_once("ftrace: no memory for the tracers of some functions, which use the list of all\n");

	return sites || !touched_entries;
}

/**
 * ftrace_mux_prepare_rec - have an entry ready for a function of a new module
 * @rec: record of the function
 *
 * Context: process context, may sleep; ftrace_lock held, until
 * ftrace_mux_updated().
 */
void ftrace_mux_prepare_rec(struct dyn_ftrace *rec)
{
	lockdep_assert_held(&ftrace_lock);

	if (!ftrace_mux_enabled || !ftrace_enabled)
		return;

	target_mode = TARGET_BY_FILTERS;
	prepare_by_filters(rec);
	patch_entries();
}

/* Step 4: done */

/**
 * ftrace_mux_updated - call sites have been updated
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_updated(void)
{
	struct ftrace_mux_entry *entry;

	lockdep_assert_held(&ftrace_lock);

	for (; touched_entries; touched_entries = entry) {
		entry = touched_entries->next_touched;
		touched_entries->next = NULL;
		touched_entries->sample = NULL;
		touched_entries->touched = 0;
		touched_entries->touches = 0;
		touched_entries->changes = 0;
		touched_entries->by_filters = false;
	}
	nr_changes = 0;
	touching.ops = NULL;
	target_mode = TARGET_CURRENT;
}

/**
 * ftrace_mux_graph_changes - graph tracers have come or gone, or their filters change
 *
 * Their common ops may have the same functions as before, and these other tracers.
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_graph_changes(void)
{
	lockdep_assert_held(&ftrace_lock);

	if (had_graph_sets || ftrace_mux_graph_manager())
		ftrace_check_all = true;
}

/* What updates leave behind */

/* Check what the updates have made of records and call sites */
static void check_recs(void)
{
	struct ftrace_mux_entry *entry;
	struct ftrace_rec_iter *iter;
	struct dyn_ftrace *rec;
	unsigned int pos;

	if (!IS_ENABLED(CONFIG_FTRACE_MUX_TEST))
		return;

	for_ftrace_rec_iter(iter) {
		rec = ftrace_rec_iter_record(iter);
		if (!rec->mux_entry)
			continue;
		entry = rec_entry(rec);
		entry->touches++;
		WARN_ONCE(!entry->combo || !ftrace_mux_collect(rec, &scratch) ||
			  !ftrace_mux_set_equals(&scratch, entry->combo),
			  "%pS has other tracers than its entry\n", (void *)rec->ip);
		WARN_ONCE(arch_ftrace_mux_callee(rec->ip) != entry_addr(entry),
			  "%pS does not call its entry\n", (void *)rec->ip);
	}

	for_each_entry(entry, pos) {
		WARN_ONCE(entry->touches != entry->users,
			  "entry %u has %u call sites, not %u\n", entry->index, entry->touches,
			  entry->users);
		entry->touches = 0;
	}
}

/* Returns true if there is anything to wait for */
static bool start_quiescing(void)
{
	bool found = ftrace_mux_ids_quiesce() || needs_grace;
	struct ftrace_mux_combo *combo;
	struct ftrace_mux_entry *entry;
	unsigned int pos;

	needs_sweep = false;
	needs_grace = false;

	for_each_entry(entry, pos) {
		entry->quiescing = entry->left || !entry->users;
		entry->left = false;
		found |= entry->quiescing;
	}

	list_for_each_entry(combo, &ftrace_mux_combos, node) {
		found |= combo->left || list_empty(&combo->entries);
		combo->left = false;
	}

	grace_started += found;

	return found;
}

/* Free what nobody has used since start_quiescing() */
static void reap(void)
{
	struct ftrace_mux_combo *combo, *next;
	struct ftrace_mux_entry *entry;
	unsigned int pos;

	for_each_entry(entry, pos) {
		if (!entry->quiescing)
			continue;
		entry->quiescing = false;
		if (!entry->users && !entry->left)
			free_entry(entry);
	}

	list_for_each_entry_safe(combo, next, &ftrace_mux_combos, node) {
		if (list_empty(&combo->entries) && !combo->left)
			ftrace_mux_combo_free(combo);
	}

	ftrace_mux_ids_reap();
}

/* See ftrace_wait_for_callers() */
static void wait_for_callers(void)
{
	synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();
}

static void sweep_func(struct work_struct *work)
{
	scoped_guard(mutex, &ftrace_lock) {
		if (ftrace_is_dead())
			return;
		check_recs();
		if (!start_quiescing())
			return;
	}

	wait_for_callers();

	guard(mutex)(&ftrace_lock);

	if (ftrace_is_dead())
		return;
	reap();
	grace_ended = grace_started;
}

static int __init ftrace_mux_late_init(void)
{
	guard(mutex)(&ftrace_lock);

	needs_sweep = false;
	request_sweep();

	return 0;
}
late_initcall(ftrace_mux_late_init);

/* Free what belongs to @ops, which no task can be in */
static void free_combos_of(struct ftrace_ops *ops)
{
	struct ftrace_mux_combo *combo, *next_combo;
	struct ftrace_mux_entry *entry, *next;

	list_for_each_entry_safe(combo, next_combo, &ftrace_mux_combos, node) {
		if (!ftrace_mux_combo_has(combo, ops))
			continue;

		list_for_each_entry_safe(entry, next, &combo->entries, node) {
			if (!entry->users)
				free_entry(entry);
		}

		/* Leak the trampoline: a call site leads to it */
		if (!WARN_ON_ONCE(!list_empty(&combo->entries)))
			ftrace_mux_combo_free(combo);
	}
}

/**
 * ftrace_mux_release - a tracer has been unregistered
 * @ops: the tracer, on no call site any more
 * @quiescent: whether a grace period of both flavors of Tasks RCU has passed
 *	since it left the last call site; must be true if @ops may be freed
 *
 * Context: process context, may sleep; ftrace_lock held.
 */
void ftrace_mux_release(struct ftrace_ops *ops, bool quiescent)
{
	lockdep_assert_held(&ftrace_lock);

	if (quiescent) {
		ftrace_mux_put_id(ops, true);
		free_combos_of(ops);
		return;
	}

	if (ops->mux.waits_later) {
		ops->mux.grace = grace_started + 1;
		needs_grace = true;
		request_sweep();
	}
	if (ftrace_mux_put_id(ops, false))
		request_sweep();
}

/* Whether a task may still call @ops, for which nobody has waited */
static bool has_late_callers(const struct ftrace_ops *ops)
{
	return ops->mux.grace && (s32)(ops->mux.grace - grace_ended) > 0;
}

/**
 * ftrace_mux_wait - wait until no task can call a tracer
 * @ops: the tracer, with ftrace_mux_wait_later(), unregistered
 *
 * If it is registered again, unregister_ftrace_function() waits.
 *
 * Context: process context, may sleep for seconds; ftrace_lock not held.
 */
void ftrace_mux_wait(struct ftrace_ops *ops)
{
	bool wait;

	scoped_guard(mutex, &ftrace_lock) {
		ops->mux.waits_later = false;
		wait = has_late_callers(ops);
	}

	if (!wait)
		return;

	wait_for_callers();

	guard(mutex)(&ftrace_lock);
	ftrace_mux_release(ops, true);
}

/* Entries and trampolines by address, from any context */

static struct mux_chunk *find_chunk(unsigned long addr)
{
	/* Pairs with smp_store_release() in create_chunk() */
	unsigned int nr = smp_load_acquire(&nr_chunks);

	while (nr--) {
		if (addr - chunks[nr]->text <
		    FTRACE_MUX_CHUNK_ENTRIES * FTRACE_MUX_ENTRY_SIZE)
			return chunks[nr];
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

	return arch_ftrace_mux_unwind_ip(ip - combo->tramp, combo->flags & FTRACE_OPS_FL_SAVE_REGS);
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

	if (symnum >= nr)
		return ftrace_mux_combo_get_kallsym(symnum - nr, value, name);

	*value = chunks[symnum]->text;
	strscpy(name, MUX_ENTRIES_SYM, KSYM_NAME_LEN);

	return 0;
}

/* For the files */

/**
 * ftrace_mux_rec_combo - the combination that a function calls
 * @rec: record of the function
 *
 * Context: ftrace_lock held.
 *
 * Return: the combination, NULL if it calls none.
 */
struct ftrace_mux_combo *ftrace_mux_rec_combo(const struct dyn_ftrace *rec)
{
	lockdep_assert_held(&ftrace_lock);

	return rec_entry(rec)->combo;
}

/**
 * ftrace_mux_combo_users - number of functions that call a combination
 * @combo: the combination
 *
 * Context: ftrace_lock held.
 *
 * Return: the number.
 */
unsigned long ftrace_mux_combo_users(const struct ftrace_mux_combo *combo)
{
	struct ftrace_mux_entry *entry;
	unsigned long users = 0;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(entry, &combo->entries, node)
		users += entry->users;

	return users;
}

/**
 * ftrace_mux_show_totals - show what the entries and the trampolines take
 * @m: where to
 *
 * Context: process context; ftrace_lock held.
 */
void ftrace_mux_show_totals(struct seq_file *m)
{
	struct ftrace_mux_entry *entry;
	unsigned int entries = 0, pos;

	lockdep_assert_held(&ftrace_lock);

	for_each_entry(entry, pos)
		entries++;

	seq_printf(m, "entries %u\n", entries);
	ftrace_mux_combo_show_totals(m);
}

/* The switch */

/**
 * ftrace_mux_update_func - follow a change of the function of a tracer
 * @ops: the tracer whose ops->func has changed, registered or about to be
 *
 * Context: process context, may sleep; ftrace_lock held.
 *
 * Return: false if it needs a trampoline that is only for itself.
 */
bool ftrace_mux_update_func(struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);

	ftrace_mux_combo_update_func(ops);

	return ftrace_mux_enabled && !ops->trampoline;
}

static int __init set_ftrace_mux(char *str)
{
	bool enabled;

	if (kstrtobool(str, &enabled))
		return 0;

	ftrace_mux_enabled = enabled;
	return 1;
}
__setup("ftrace_mux=", set_ftrace_mux);

#ifdef CONFIG_SYSCTL
static int ftrace_mux_sysctl(const struct ctl_table *table, int write,
			     void *buffer, size_t *lenp, loff_t *ppos)
{
	int enabled;
	struct ctl_table tmp = *table;
	int ret;

	guard(mutex)(&ftrace_lock);

	enabled = ftrace_mux_enabled;
	tmp.data = &enabled;
	ret = proc_dointvec_minmax(&tmp, write, buffer, lenp, ppos);
	if (ret || !write || enabled == ftrace_mux_enabled)
		return ret;

	if (ftrace_is_dead())
		return -ENODEV;

	ftrace_mux_enabled = enabled;
	ftrace_check_all = true;
	/* Tracers have trampolines of their own only if this is off */
	if (!enabled)
		ftrace_update_trampolines();
	if (ftrace_enabled)
		ftrace_run_update_code(FTRACE_UPDATE_CALLS);

	return 0;
}

static struct ctl_table ftrace_mux_sysctls[] = {
	{
		.procname	= "ftrace_mux",
		.data		= &ftrace_mux_enabled,
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= ftrace_mux_sysctl,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
};

static int __init ftrace_mux_sysctl_init(void)
{
	register_sysctl_init("kernel", ftrace_mux_sysctls);
	return 0;
}
late_initcall(ftrace_mux_sysctl_init);
#endif /* CONFIG_SYSCTL */

// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: which entry each call site calls.
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
 * before. Without the multiplexer, this happens to functions with a single tracer:
 * for others, ftrace_ops_list_func() tests the filters.
 *
 * If the old entry then moved to a combination with a new tracer, the task could
 * call it for a function that it does not want; livepatch would redirect the task to
 * the replacement of another function. So an entry that call sites have left does
 * not move, until a grace period of Tasks RCU and of Tasks Rude RCU has passed. There
 * are two exceptions: a tracer that wants all functions, and one that is being
 * unregistered. A tracer whose filter changes, or that is registered again, may be
 * called for a function that it wanted before. A callback that must not be called
 * tests its filter itself: function_trace_probe_call().
 *
 * Protected by ftrace_lock.
 */
#include <linux/sched.h>

#include "combinations.h"
#include "entries.h"
#include "mux.h"

/* An entry with less call sites is not moved if there is one to merge it with */
#define MUX_MERGE_USERS		16

/* Different changes of tracers in one update */
#define MUX_MAX_CHANGES		8

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

/*
 * Any function may change: target() goes by the filters. If not, only the functions that
 * have been touched change.
 */
static bool all_by_filters;

/*
 * What target() has answered last. In an update, it is asked several times for each
 * function, one after the other.
 */
static struct {
	bool			updating;
	struct dyn_ftrace	*rec;
	struct ftrace_mux_entry	*entry;
} answer;

/* An update could not get memory for all functions */
static bool no_memory;

/* Several graph tracers were told apart at the last update */
static bool had_graph_sets;

/* Where the tracers of a function, or of an entry, are put together */
static struct ftrace_mux_set scratch;

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

	if (!ftrace_mux_entry_for(&scratch))
		no_memory = true;
}

/* A function without an entry has the tracer that has come, if it is the only one */
static bool is_by_filters(const struct ftrace_mux_entry *entry, const struct dyn_ftrace *rec)
{
	return entry->by_filters || (entry == &ftrace_mux_no_entry && ftrace_rec_count(rec) != 1);
}

static struct ftrace_mux_entry *find_target(struct dyn_ftrace *rec)
{
	struct ftrace_mux_entry *entry = ftrace_mux_rec_entry(rec);

	if (!ftrace_mux_enabled || !ftrace_rec_count(rec) || is_direct(rec))
		return NULL;

	if (all_by_filters || (entry->touched && is_by_filters(entry, rec)))
		return find_by_filters(rec);

	if (entry->touched)
		entry = entry->next;

	return entry == &ftrace_mux_no_entry ? NULL : entry;
}

/*
 * The entry that @rec has after the update, NULL if none. Do not ask after
 * ftrace_mux_rec_move(): the new entry may change in this update, too.
 */
static struct ftrace_mux_entry *target(struct dyn_ftrace *rec)
{
	if (!answer.updating)
		return find_target(rec);

	if (answer.rec != rec) {
		answer.entry = find_target(rec);
		answer.rec = rec;
	}

	return answer.entry;
}

static void start_answers(bool updating)
{
	answer.updating = updating;
	answer.rec = NULL;
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

	return entry ? ftrace_mux_entry_addr(entry) : 0;
}

/**
 * ftrace_mux_rec_leave - the call site of a function is about to leave its entry
 * @rec: record of the function
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_rec_leave(struct dyn_ftrace *rec)
{
	struct ftrace_mux_entry *entry = ftrace_mux_rec_entry(rec);

	lockdep_assert_held(&ftrace_lock);

	if (entry == &ftrace_mux_no_entry)
		return;

	entry->users--;
	entry->left = true;
	ftrace_mux_request_sweep();
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
	struct ftrace_mux_entry *entry = ftrace_mux_rec_entry(rec);

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

/*
 * Functions without an entry have no tracer but the one that comes, or are looked up.
 * They get none for a stub, which is never called, and none for a direct call alone.
 */
static bool first_set(struct ftrace_mux_set *set)
{
	if (!is_power_of_2(ftrace_mux_no_entry.changes))
		return false;

	set->ops[0] = changes[ilog2(ftrace_mux_no_entry.changes)].ops;
	set->nr = !(set->ops[0]->flags & (FTRACE_OPS_FL_STUB | FTRACE_OPS_FL_DIRECT));
	set->graph = 0;

	return changes[ilog2(ftrace_mux_no_entry.changes)].add;
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

	if (entry == &ftrace_mux_no_entry)
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

	ftrace_mux_entry_move(entry, combo);

	return true;
}

/* Have entries ready for all functions that are looked up in filters */
static void prepare_recs(void)
{
	struct ftrace_rec_iter *iter;
	struct dyn_ftrace *rec;

	for_ftrace_rec_iter(iter) {
		rec = ftrace_rec_iter_record(iter);
		if (all_by_filters || is_by_filters(ftrace_mux_rec_entry(rec), rec))
			prepare_by_filters(rec);
		cond_resched();
	}
}

/*
 * Say where the functions of each entry go. First the entries that move: others may
 * go to what these are afterwards. Returns true if call sites have to be patched.
 */
static bool plan_entries(void)
{
	bool sites = false, by_filters = false;
	struct ftrace_mux_entry *entry;

	for (entry = touched_entries; entry; entry = entry->next_touched) {
		entry->next = NULL;
		entry->by_filters = !next_set(entry, &scratch);
		/* Functions without an entry tell on their own */
		by_filters |= entry->by_filters || entry == &ftrace_mux_no_entry;
		if (entry->by_filters || entry == &ftrace_mux_no_entry || !scratch.nr)
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
		entry->next = ftrace_mux_entry_for(&scratch);
		if (!entry->next)
			no_memory = true;
	}

	if (by_filters)
		prepare_recs();

	return sites;
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

	all_by_filters = ftrace_check_all;
	if (all_by_filters)
		prepare_recs();
	else
		sites = plan_entries();
	ftrace_mux_patch_entries();
	start_answers(true);

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

	all_by_filters = true;
	prepare_by_filters(rec);
	ftrace_mux_patch_entries();
	start_answers(true);
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
	all_by_filters = false;
	start_answers(false);
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

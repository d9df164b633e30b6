// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: which entry each call site calls.
 *
 * If all functions of an entry get one more tracer, or lose one, the entry moves to
 * another combination as a whole. If only some of them do, their call sites are
 * patched to call an entry of their new combination. So the call site of a function is
 * patched if its tracers change, and its entry cannot move as a whole. If all records are
 * checked (ftrace_check_all), it may also be patched to another entry of the same
 * combination.
 *
 * An update has these steps, all of them under one hold of ftrace_lock:
 *
 *  1. ftrace changes the references of records. ftrace_mux_rec_note_change() counts for
 *     each entry how many of its functions change, and which tracers they get or
 *     lose.
 *  2. ftrace_mux_prepare() moves the entries of which all functions change in the
 *     same way, and finds entries for the other functions. All memory is allocated
 *     here.
 *  3. ftrace patches call sites. target() says which entry a function has after the
 *     update. It gives the same answer until the record has the new entry.
 *  4. ftrace_mux_updated() ends the update.
 *
 * If the functions of an entry do not change in the same way, or if all records are
 * checked, ftrace_mux_collect() finds the tracers of each function.
 *
 * A function has no entry
 *
 *  - if it is not traced, or only by stubs, which are never called
 *  - if a direct call is its only tracer
 *  - if the multiplexer is off: its call site does what it does without the multiplexer
 *  - if it has more than FTRACE_MUX_MAX_TRACERS tracers, or ftrace_mux_collect() finds another
 *    number of them than the record counts: it goes through ftrace_ops_list_func()
 *  - if there was no memory or no free index for its entry: it goes through
 *    ftrace_ops_list_func() until the next update, which tries again.
 *
 * Late callers
 *
 * A task may have executed the call of an entry, or be among the calls of its
 * combination, when the call site is patched to call another entry. It calls the tracers
 * that the function had before. Without the multiplexer, this happens to functions with a
 * single tracer: for others, ftrace_ops_list_func() tests the filters.
 *
 * If the old entry then moved to a combination with a new tracer, the task would call the
 * new tracer for a function that this tracer does not want; livepatch would redirect the
 * task to the replacement of another function. So an entry that call sites have left does
 * not move, until a grace period of Tasks RCU and of Tasks Rude RCU has passed. It may move
 * earlier if each tracer that is added wants all functions, and each tracer that is removed
 * is being unregistered.
 *
 * So a task may call a tracer for a function that the tracer wanted before its filter changed.
 * A callback that must not be called then tests its filter: function_trace_probe_call().
 *
 * Protected by ftrace_lock.
 */
#include <linux/sched.h>

#include "combinations.h"
#include "count.h"
#include "entries.h"
#include "mux.h"
#include "quiesce.h"
#include "sets.h"

/*
 * If an entry has fewer functions than this, and their new combination has an entry already, their
 * call sites are patched to call that entry, so that entries of the same combination do not pile
 * up.
 */
#define MUX_MERGE_FUNCTIONS		16

/* Different changes of tracers in one update. If there are more, all records are checked. */
#define MUX_MAX_CHANGES		8

static_assert(BITS_PER_BYTE * sizeof_field(struct ftrace_mux_plan, change_mask) >= MUX_MAX_CHANGES);

/* A tracer is added to functions, or removed */
struct mux_change {
	struct ftrace_ops	*ops;
	bool			add;
};

/**
 * struct mux_update - an update of call sites
 * @changes: the changes of tracers
 * @nr_changes: their number
 * @last: what __ftrace_mux_rec_note_change() was called for last: the change, whether it sets
 *	FTRACE_FL_MODIFIED, and the entry
 * @planned: the entries with functions that change, by plan.link
 * @look_up_all: the tracers of each record that ftrace asks for are looked up. If not, only those
 *	of changed records that must_look_up() selects.
 * @prepared: step 2 is done: target() keeps its last answer in @rec and @target
 * @rec: what target() was asked for last
 * @target: what it has answered
 * @set: the tracers of a function; too large for the stack
 */
struct mux_update {
	struct mux_change		changes[MUX_MAX_CHANGES];
	unsigned int			nr_changes;
	struct {
		struct ftrace_ops	*ops;
		bool			add;
		bool			modify;
		u16			index;
		struct ftrace_mux_entry	*entry;
	} last;
	struct ftrace_mux_entry		*planned;
	bool				look_up_all;
	bool				prepared;
	struct dyn_ftrace		*rec;
	struct ftrace_mux_entry		*target;
	struct ftrace_mux_set		set;
};

/* There is one update at a time, from the first record that changes on */
static struct mux_update update;

/* The last update had no entry for some functions: the next one tries again */
static bool no_entry;

/* Several graph tracers were told apart at the last update */
static bool had_graph_sets;

/* Step 3: which entry a function has from now on */

/*
 * Whether a direct call is the only tracer of @rec. Such a function has no entry: ftrace
 * patches its call site as without the multiplexer. On MIPS, the function goes through the list of
 * all tracers then.
 */
static bool is_direct(const struct dyn_ftrace *rec)
{
	return rec->flags & FTRACE_FL_DIRECT && ftrace_rec_count(rec) == 1;
}

static struct ftrace_mux_entry *find_entry(struct mux_update *u, struct dyn_ftrace *rec)
{
	struct ftrace_mux_combo *combo;

	if (!ftrace_mux_collect(rec, &u->set) || !u->set.nr)
		return NULL;

	combo = ftrace_mux_combo_find(&u->set);
	if (!combo)
		return NULL;

	return list_first_entry_or_null(&combo->entries, struct ftrace_mux_entry, node);
}

/*
 * Whether the tracers of @rec, a changed record that has @entry, have to be looked up. If a
 * function without an entry has one tracer now, that is the tracer that was added.
 */
static bool must_look_up(const struct ftrace_mux_entry *entry, const struct dyn_ftrace *rec)
{
	return entry->plan.look_up ||
	       (entry == &ftrace_mux_entryless && ftrace_rec_count(rec) != 1);
}

static struct ftrace_mux_entry *find_target(struct mux_update *u, struct dyn_ftrace *rec)
{
	struct ftrace_mux_entry *entry = ftrace_mux_rec_entry(rec);

	if (!ftrace_mux_enabled || !ftrace_rec_count(rec) || is_direct(rec))
		return NULL;

	if (u->look_up_all || (entry->plan.functions && must_look_up(entry, rec)))
		return find_entry(u, rec);

	if (entry->plan.functions)
		entry = entry->plan.new_entry;

	return entry == &ftrace_mux_entryless ? NULL : entry;
}

/*
 * The entry that @rec has after the update, NULL if none. Ask for records that are marked as
 * changed, or for any if all are checked. ftrace asks several times for each record, one
 * after the other. Do not ask after ftrace_mux_rec_switch(): the record has its new entry then, and
 * the plan of that entry would be applied to it.
 */
static struct ftrace_mux_entry *target(struct mux_update *u, struct dyn_ftrace *rec)
{
	lockdep_assert_held(&ftrace_lock);

	if (!u->prepared)
		return find_target(u, rec);

	if (u->rec != rec) {
		u->target = find_target(u, rec);
		u->rec = rec;
	}

	return u->target;
}

/**
 * __ftrace_mux_rec_test - what the update does to the entry of a function
 * @rec: record of the function, which is traced
 *
 * Context: ftrace_lock held.
 *
 * Return: see enum ftrace_mux_rec_change.
 */
enum ftrace_mux_rec_change __ftrace_mux_rec_test(struct dyn_ftrace *rec)
{
	struct ftrace_mux_entry *entry = target(&update, rec);

	if ((entry ? entry->index : 0) != rec->mux.entry)
		return FTRACE_MUX_OTHER_ENTRY;

	return entry ? FTRACE_MUX_SAME_ENTRY : FTRACE_MUX_NO_ENTRY;
}

/**
 * ftrace_mux_addr_new - what the call site of a function has to call after the update
 * @rec: record of the function
 *
 * Context: ftrace_lock held.
 *
 * Return: the address for its entry; 0 if it has none, which means that it does not call
 * the multiplexer.
 */
unsigned long ftrace_mux_addr_new(struct dyn_ftrace *rec)
{
	struct ftrace_mux_entry *entry = target(&update, rec);

	return entry ? arch_ftrace_mux_call_target(entry->index) : 0;
}

/**
 * ftrace_mux_addr_curr - what the call site of a function calls now
 * @rec: record of the function
 *
 * Context: ftrace_lock held.
 *
 * Return: the address for its entry, 0 if it has none.
 */
unsigned long ftrace_mux_addr_curr(struct dyn_ftrace *rec)
{
	lockdep_assert_held(&ftrace_lock);

	return rec->mux.entry ? arch_ftrace_mux_call_target(rec->mux.entry) : 0;
}

/**
 * ftrace_mux_rec_leave - take a function off its entry, before its call site is patched or its
 *	record is freed
 * @rec: record of the function
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_rec_leave(struct dyn_ftrace *rec)
{
	struct ftrace_mux_entry *entry = ftrace_mux_rec_entry(rec);

	lockdep_assert_held(&ftrace_lock);

	if (entry == &ftrace_mux_entryless)
		return;

	entry->functions--;
	entry->site_left = true;
	ftrace_mux_request_sweep();
	rec->mux.entry = 0;
}

/**
 * ftrace_mux_rec_switch - give a function its new entry, or none, before its call site is patched
 * @rec: record of the function, for which ftrace_mux_rec_test() returns FTRACE_MUX_OTHER_ENTRY
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_rec_switch(struct dyn_ftrace *rec)
{
	struct ftrace_mux_entry *entry = target(&update, rec);

	ftrace_mux_rec_leave(rec);

	/* These flags are about call sites that do not call an entry */
	rec->flags &= ~(FTRACE_FL_REGS_EN | FTRACE_FL_TRAMP_EN | FTRACE_FL_DIRECT_EN |
			FTRACE_FL_CALL_OPS_EN);
	if (entry) {
		entry->functions++;
		rec->mux.entry = entry->index;
		return;
	}

	if (rec->flags & FTRACE_FL_REGS)
		rec->flags |= FTRACE_FL_REGS_EN;
	if (rec->flags & FTRACE_FL_TRAMP)
		rec->flags |= FTRACE_FL_TRAMP_EN;
	if (is_direct(rec))
		rec->flags |= FTRACE_FL_DIRECT_EN;
	if (rec->flags & FTRACE_FL_CALL_OPS && ftrace_rec_count(rec) == 1)
		rec->flags |= FTRACE_FL_CALL_OPS_EN;
}

/* Step 1: what changes */

/*
 * The bit of a change in change_mask. If there are too many changes, returns 0 and sets
 * ftrace_check_all, which ftrace_mux_prepare() reads.
 */
static unsigned int note_change(struct mux_update *u, struct ftrace_ops *ops, bool add)
{
	for (unsigned int n = 0; n < u->nr_changes; n++) {
		if (u->changes[n].ops == ops && u->changes[n].add == add)
			return BIT(n);
	}

	if (u->nr_changes == MUX_MAX_CHANGES) {
		ftrace_check_all = true;
		return 0;
	}

	u->changes[u->nr_changes].ops = ops;
	u->changes[u->nr_changes].add = add;

	return BIT(u->nr_changes++);
}

/*
 * For __ftrace_mux_rec_note_change(), if the change or the entry is not that of its last call: adds
 * the entry to u->planned, unless it is there already, notes the change in its plan, and remembers
 * both in u->last. Returns false, and does nothing, if ftrace_enabled is 0.
 */
static noinline bool select_change(struct mux_update *u, struct ftrace_ops *ops,
				   struct dyn_ftrace *rec, bool add)
{
	struct ftrace_mux_entry *entry = ftrace_mux_rec_entry(rec);

	if (!ftrace_enabled)
		return false;

	if (!entry->plan.total_changes) {
		entry->plan.link = u->planned;
		u->planned = entry;
	}
	entry->plan.change_mask |= note_change(u, ops, add);
	entry->plan.sample = rec;

	u->last.ops = ops;
	u->last.add = add;
	u->last.index = rec->mux.entry;
	u->last.modify = add && ops->flags & (FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT);
	u->last.entry = entry;

	return true;
}

/**
 * __ftrace_mux_rec_note_change - note that a tracer was added to a function, or removed
 * @ops: the tracer
 * @rec: record of the function, with its new count
 * @add: which of the two
 * @again: whether this was called for the function in this update before
 *
 * Context: ftrace_lock held.
 *
 * Return: false if ftrace_enabled is 0: nothing is noted, and ftrace has to test the record.
 */
bool __ftrace_mux_rec_note_change(struct ftrace_ops *ops, struct dyn_ftrace *rec, bool add,
				  bool again)
{
	struct mux_update *u = &update;

	/* It is the same change, and often the same entry, for all functions of a tracer */
	if ((u->last.ops != ops || u->last.add != add || u->last.index != rec->mux.entry) &&
	    !select_change(u, ops, rec, add))
		return false;

	u->last.entry->plan.total_changes++;
	u->last.entry->plan.functions += !again;
	/* ftrace_check_record() does this if it patches the call site, but the entry may move */
	if (u->last.modify)
		rec->flags |= FTRACE_FL_MODIFIED;

	return true;
}

/* Step 2: prepare */

/* An entry for @set. If there is none to be had, its functions go through the list of all ops. */
static struct ftrace_mux_entry *get_entry(const struct ftrace_mux_set *set)
{
	struct ftrace_mux_entry *entry = ftrace_mux_entry_for(set);

	if (!entry) {
		no_entry = true;
		ftrace_mux_count_mark_all_incomplete();
		ftrace_mux_request_sweep();
	}

	return entry;
}

/* Have an entry ready for what find_entry() looks for */
static void prepare_function(struct mux_update *u, struct dyn_ftrace *rec)
{
	/* ftrace does not patch the disabled ones: see skip_record() */
	if (!ftrace_rec_count(rec) || is_direct(rec) ||
	    (rec->flags & FTRACE_FL_DISABLED && !(rec->flags & FTRACE_FL_ENABLED)))
		return;

	if (!ftrace_mux_collect(rec, &u->set))
		ftrace_mux_count_mark_incomplete(rec);
	else if (u->set.nr)
		get_entry(&u->set);
}

/*
 * Finds the tracers, after the update, of the functions that have no entry and get their
 * first tracer. They get no entry for a stub, which is never called, and none for a direct
 * call alone: the set is empty. Returns false, and the set is undefined, if each function
 * has to be looked up.
 */
static bool set_of_first_tracer(struct mux_update *u)
{
	struct ftrace_mux_set *set = &u->set;
	unsigned int mask = ftrace_mux_entryless.plan.change_mask;
	struct mux_change *change;

	if (!mask || mask & (mask - 1))
		return false;

	change = &u->changes[__ffs(mask)];
	/* If a function without an entry loses a tracer, look up which tracers it still has */
	if (!change->add)
		return false;

	set->ops[0] = change->ops;
	set->nr = !(change->ops->flags & (FTRACE_OPS_FL_STUB | FTRACE_OPS_FL_DIRECT));
	set->graph = 0;

	return true;
}

/*
 * Whether the functions of @entry that change may get different sets of tracers, so that none of
 * them stands for all
 */
static bool changes_differ(const struct mux_update *u, const struct ftrace_mux_entry *entry)
{
	const struct ftrace_mux_plan *plan = &entry->plan;
	unsigned long mask = plan->change_mask;
	unsigned int n;

	if (plan->total_changes != plan->functions * hweight8(plan->change_mask))
		return true;

	if (!ftrace_mux_has_graph_sets())
		return false;

	/* Which of several graph tracers a function has is in their filters */
	for_each_set_bit(n, &mask, u->nr_changes) {
		if (u->changes[n].ops == ftrace_mux_graph_ops)
			return true;
	}

	return false;
}

/*
 * Finds the tracers, after the update, of the functions of @entry that change. These
 * had the same tracers. If all of them have all of the changes, they have the
 * same tracers again, and one of the functions stands for all. Returns false, and the set
 * is undefined, if each function has to be looked up.
 */
static bool compute_set(struct mux_update *u, const struct ftrace_mux_entry *entry)
{
	struct ftrace_mux_set *set = &u->set;

	if (changes_differ(u, entry))
		return false;

	if (entry == &ftrace_mux_entryless)
		return set_of_first_tracer(u);

	/*
	 * If only a direct call is left, the functions get no entry: @entry must not move to a
	 * combination of the direct call alone.
	 */
	return ftrace_mux_collect(entry->plan.sample, set) &&
	       (set->nr != 1 || !(set->ops[0]->flags & FTRACE_OPS_FL_DIRECT));
}

static bool wants_all(struct ftrace_ops *ops)
{
	return ftrace_hash_empty(ftrace_locked_hash(ops->func_hash->filter_hash)) &&
	       ftrace_hash_empty(ftrace_locked_hash(ops->func_hash->notrace_hash));
}

/* Whether @entry may move although a task may be between a call site and its combination */
static bool safe_for_late_callers(const struct mux_update *u, const struct ftrace_mux_entry *entry)
{
	unsigned long mask = entry->plan.change_mask;
	unsigned int n;

	if (!entry->site_left && !entry->quiescing)
		return true;

	/*
	 * A late caller may be of any function that the entry had. It may call a new tracer that
	 * wants all functions, and may miss a tracer that is being unregistered: it is not enabled.
	 */
	for_each_set_bit(n, &mask, u->nr_changes) {
		struct ftrace_ops *ops = u->changes[n].ops;

		if (u->changes[n].add ? !wants_all(ops) : ops->flags & FTRACE_OPS_FL_ENABLED)
			return false;
	}

	return true;
}

/* Move all functions of @entry to the combination of the set, if that is right */
static bool move_entry(struct mux_update *u, struct ftrace_mux_entry *entry)
{
	struct ftrace_mux_combo *combo;

	if (entry->plan.functions != entry->functions || !safe_for_late_callers(u, entry))
		return false;

	combo = ftrace_mux_combo_find_or_create(&u->set);
	if (combo && ARCH_FTRACE_MUX_SITE_REGS && combo->regs != entry->combo->regs)
		return false;
	if (!combo || (entry->functions < MUX_MERGE_FUNCTIONS && !list_empty(&combo->entries)))
		return false;

	ftrace_mux_entry_move(entry, combo);
	/* The combination that it leaves may have no other entry */
	ftrace_mux_request_sweep();

	return true;
}

/*
 * Have entries ready for all functions that are looked up one by one. This does not test whether a
 * record changes. For one that does not, it may prepare an entry that no function gets.
 */
static void prepare_recs(struct mux_update *u)
{
	struct ftrace_rec_iter *iter;
	struct dyn_ftrace *rec;

	for_ftrace_rec_iter(iter) {
		rec = ftrace_rec_iter_record(iter);
		if (u->look_up_all || must_look_up(ftrace_mux_rec_entry(rec), rec))
			prepare_function(u, rec);
		cond_resched();
	}
}

/* Move the entries that can move. Returns true if functions of the others need other entries. */
static bool plan_moves(struct mux_update *u)
{
	bool sites = false;

	for (struct ftrace_mux_entry *entry = u->planned; entry; entry = entry->plan.link) {
		struct ftrace_mux_plan *plan = &entry->plan;

		plan->new_entry = NULL;
		plan->look_up = !compute_set(u, entry);
		/* The set may be that of the entry: a tracer was removed and added again */
		if (!plan->look_up && entry != &ftrace_mux_entryless && u->set.nr &&
		    (ftrace_mux_combo_equals(entry->combo, &u->set) ||
		     move_entry(u, entry)))
			plan->new_entry = entry;
		sites |= !plan->new_entry;
	}

	return sites;
}

/* Find entries for the functions that change, and whose entry does not move */
static void plan_sites(struct mux_update *u)
{
	bool look_up = false;

	for (struct ftrace_mux_entry *entry = u->planned; entry; entry = entry->plan.link) {
		struct ftrace_mux_plan *plan = &entry->plan;

		/* must_look_up() may be true of some functions without an entry */
		look_up |= plan->look_up || entry == &ftrace_mux_entryless;
		if (plan->new_entry || plan->look_up)
			continue;
		/* Again: plan_moves() has used the set for other entries since */
		compute_set(u, entry);
		if (u->set.nr)
			plan->new_entry = get_entry(&u->set);
	}

	if (look_up)
		prepare_recs(u);
}

/*
 * Say where the functions of each entry go. Entries move first, since functions of another
 * entry may get one that has moved. Returns false if it is enough that entries move. If no
 * entry is planned, call sites change for another reason.
 */
static bool plan_update(struct mux_update *u)
{
	if (u->planned && !plan_moves(u))
		return false;

	plan_sites(u);

	return true;
}

static void finish_preparing(struct mux_update *u)
{
	ftrace_mux_write_entries();
	u->prepared = true;
	u->rec = NULL;
}

/**
 * ftrace_mux_prepare - get ready for an update of call sites
 *
 * Has entries and combinations ready, and moves entries.
 *
 * Context: process context, may sleep; ftrace_lock held.
 *
 * Return: false if no call site has to be patched.
 */
bool ftrace_mux_prepare(void)
{
	struct mux_update *u = &update;
	bool sites = true;

	lockdep_assert_held(&ftrace_lock);

	ftrace_check_all |= no_entry;
	no_entry = false;
	had_graph_sets = ftrace_mux_has_graph_sets();

	if (!ftrace_mux_enabled)
		return true;

	u->look_up_all = ftrace_check_all;
	if (u->look_up_all)
		prepare_recs(u);
	else
		sites = plan_update(u);
	finish_preparing(u);

	if (no_entry)
		pr_warn_once("ftrace: no memory or index for the entries of some functions: they go through the list of all tracers\n");

	return sites;
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
	struct mux_update *u = &update;

	lockdep_assert_held(&ftrace_lock);

	if (!ftrace_mux_enabled || !ftrace_enabled)
		return;

	u->look_up_all = true;
	prepare_function(u, rec);
	finish_preparing(u);
}

/* Step 4: end */

/**
 * ftrace_mux_updated - end an update of call sites
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_updated(void)
{
	struct ftrace_mux_entry *entry, *next;
	struct mux_update *u = &update;

	lockdep_assert_held(&ftrace_lock);

	for (entry = u->planned; entry; entry = next) {
		next = entry->plan.link;
		memset(&entry->plan, 0, sizeof(entry->plan));
	}

	u->planned = NULL;
	u->nr_changes = 0;
	u->last.ops = NULL;
	u->look_up_all = false;
	u->prepared = false;
	u->rec = NULL;
}

/**
 * ftrace_mux_graph_changes - note that graph tracers have come or gone, or their filters change
 *
 * The manager may keep a function because another graph tracer wants it, while the set of graph
 * tracers of the function changes: have the next update check all records.
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_graph_changes(void)
{
	lockdep_assert_held(&ftrace_lock);

	if (had_graph_sets || ftrace_mux_has_graph_sets())
		ftrace_check_all = true;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: the IDs of tracers.
 *
 * A tracer gets an ID when it is registered, if one is free, and keeps it. Direct calls,
 * of which there may be many, leave the IDs to the tracers of many functions. The masks
 * in the record of a function (struct dyn_ftrace) consist of these IDs. A tracer
 * without an ID is found by its filter: see sets.c. An architecture may have a trampoline
 * in the kernel image for each combination of the lowest IDs.
 *
 * States of an ID
 *
 *	FREE	-> USED		in ftrace_startup(), before the ID is in a mask
 *	USED	-> RESTING	when the tracer is unregistered, and no call site
 *				leads to it. A task that has passed a call site may
 *				still call the tracer.
 *	RESTING -> USED		only for the same tracer
 *	RESTING -> FREE		after a grace period of Tasks RCU and of Tasks Rude
 *				RCU: no task can be about to call the tracer
 *	USED	-> FREE		at once, if ftrace has waited for this grace
 *				period when it has unregistered the tracer
 *
 * So a static trampoline, which loads the ftrace_ops from an array by ID, never passes the
 * ftrace_ops of one tracer to the function of another.
 *
 * Protected by ftrace_lock.
 */
#include <linux/ftrace_mux_arch.h>

#include "ids.h"
#include "mux.h"

static_assert(BITS_PER_BYTE * sizeof_field(struct ftrace_mux_rec, filter_ids) >= FTRACE_MUX_IDS);
#ifdef CONFIG_64BIT
/* The upper half of the flags is struct ftrace_mux_rec: "flags &= ~FTRACE_FL_x" must keep it */
static_assert((~FTRACE_FL_ENABLED & FTRACE_FL_MUX) == FTRACE_FL_MUX);
static_assert((~FTRACE_FL_TRAMP & FTRACE_FL_MUX) == FTRACE_FL_MUX);
static_assert(offsetof(struct dyn_ftrace, mux) == offsetof(struct dyn_ftrace, flags) +
	      (IS_ENABLED(CONFIG_CPU_BIG_ENDIAN) ? 0 : sizeof(u32)));
#endif

struct mux_id {
	struct ftrace_ops	*ops;		/* NULL if FREE */
	bool			used;		/* RESTING if not */
	bool			quiescing;	/* RESTING since before the grace period */
};

static struct mux_id ids[FTRACE_MUX_IDS];

/**
 * ftrace_mux_id_owner - the tracer that has an ID
 * @id: the ID, less than FTRACE_MUX_IDS, in the masks of a record
 *
 * Context: ftrace_lock held.
 *
 * Return: the tracer.
 */
struct ftrace_ops *ftrace_mux_id_owner(unsigned int id)
{
	lockdep_assert_held(&ftrace_lock);

	return ids[id].ops;
}

/**
 * ftrace_mux_only_ops - the tracer of a function that has one
 * @rec: record of the function, with a count of one
 *
 * Context: ftrace_lock held.
 *
 * Return: the tracer; NULL if it has no ID.
 */
struct ftrace_ops *ftrace_mux_only_ops(const struct dyn_ftrace *rec)
{
	unsigned int mask = ftrace_mux_rec_mask(rec);

	return mask ? ftrace_mux_id_owner(__ffs(mask)) : NULL;
}

static void set_owner(unsigned int id, struct ftrace_ops *ops)
{
	ids[id].ops = ops;
	ids[id].used = ops;
	ids[id].quiescing = false;
	if (!ops)
		arch_ftrace_mux_free_id(id);
}

/**
 * ftrace_mux_get_id - give a tracer an ID, if it needs one, and one is free or was its last
 * @ops: the tracer, on no call site yet
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_get_id(struct ftrace_ops *ops)
{
	int found = -1;

	lockdep_assert_held(&ftrace_lock);

	/* Stubs are never called. Direct calls, of few functions each, would take all IDs. */
	if (ops->flags & (FTRACE_OPS_FL_STUB | FTRACE_OPS_FL_DIRECT))
		return;

	for (int id = FTRACE_MUX_IDS - 1; id >= 0; id--) {
		/* A RESTING ID that @ops had: late callers of this ID call @ops */
		if (ids[id].ops == ops) {
			found = id;
			break;
		}
		if (!ids[id].ops)
			found = id;
	}

	if (found < 0)
		return;

	set_owner(found, ops);
	ops->mux.id = found + 1;
}

/**
 * ftrace_mux_put_id - take back the ID of a tracer, if it has one
 * @ops: the tracer, on no call site any more
 * @quiescent: whether a grace period of both flavors of Tasks RCU has passed since
 *	it left the last call site. If not, the ID is RESTING: see
 *	ftrace_mux_ids_quiesce().
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_put_id(struct ftrace_ops *ops, bool quiescent)
{
	unsigned int id = ops->mux.id - 1;

	lockdep_assert_held(&ftrace_lock);

	if (!ops->mux.id)
		return;

	ops->mux.id = 0;
	ids[id].used = false;
	if (quiescent)
		set_owner(id, NULL);
}

/**
 * ftrace_mux_ids_quiesce - mark the RESTING IDs for the grace period that starts
 *
 * Context: ftrace_lock held.
 *
 * Return: true if any ID is RESTING: call ftrace_mux_ids_reap() after a grace
 * period of both flavors of Tasks RCU.
 */
bool ftrace_mux_ids_quiesce(void)
{
	bool found = false;

	lockdep_assert_held(&ftrace_lock);

	for (int id = 0; id < FTRACE_MUX_IDS; id++) {
		ids[id].quiescing = ids[id].ops && !ids[id].used;
		found |= ids[id].quiescing;
	}

	return found;
}

/**
 * ftrace_mux_ids_reap - free the IDs that have been RESTING for a grace period
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_ids_reap(void)
{
	lockdep_assert_held(&ftrace_lock);

	for (int id = 0; id < FTRACE_MUX_IDS; id++) {
		if (ids[id].quiescing)
			set_owner(id, NULL);
	}
}

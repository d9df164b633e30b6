// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace: patching of functions on x86_64.
 *
 * An update has three passes over the records, with text_mutex held:
 *
 *  1. The code of each function is compared with its record. Functions that were never
 *     traced get the code in their padding, if it is used, and a slot, if they need one. Nobody
 *     executes padding and slots yet, so that they are written without breakpoints, before
 *     pass 3 patches the entry of any of the functions.
 *  2. Slots that were used before, and call something else now, are changed, if there are
 *     any.
 *  3. The entries of functions are patched, and calls in padding that were used before.
 *
 * Passes 2 and 3 use smp_text_poke_batch_add(), which writes its batch whenever an address is
 * below the one before. Slots are not beside their functions: if one pass changed both, batches
 * would be small.
 */
#define pr_fmt(fmt) "ktrace: " fmt

#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/cpufeature.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/ktrace.h>
#include <linux/memory.h>

#include <asm/insn.h>
#include <asm/nops.h>

#include "ktrace_code.h"
#include "ktrace_loc.h"
#include "ktrace_slot.h"
#include "ktrace_upgrade.h"

/* The kernel's text can be patched */
static bool ktrace_started __ro_after_init;
/* A tracer was registered before ktrace_started: arch_ktrace_start() allocates the slots */
static bool ktrace_wanted;

/**
 * arch_ktrace_start - allow to patch the kernel's text
 *
 * Context: after alternatives were applied; ftrace_lock held; takes slot_lock.
 *
 * Return: 0, -EBUSY if call depth tracking is on and ktrace_stuffing_requested is not set, or
 * -ENOMEM.
 */
int __init arch_ktrace_start(void)
{
	int ret = 0;

	/*
	 * Call depth tracking is on, but neither retbleed=stuff nor
	 * indirect_target_selection=stuff was parsed when the traceable functions were selected.
	 */
	if (cpu_feature_enabled(X86_FEATURE_CALL_DEPTH) && !ktrace_stuffing_requested) {
		pr_warn("call depth tracking, not by a known option: no function can be traced\n");
		return -EBUSY;
	}

	if (ktrace_wanted)
		ret = ktrace_alloc_slots();
	if (ret)
		pr_warn("no memory for slots: no function can be traced\n");
	ktrace_started = !ret;

	return ret;
}

/**
 * arch_ktrace_prepare - get what patching needs
 *
 * Context: process context, may sleep; ftrace_lock held; takes slot_lock.
 *
 * Return: 0, or -ENOMEM.
 */
int arch_ktrace_prepare(void)
{
	/* Until arch_ktrace_start(), which allocates the slots, no memory can be made executable */
	ktrace_wanted = true;

	return ktrace_started ? ktrace_alloc_slots() : 0;
}

/* Updates */

static int verify(const struct ktrace_loc *loc, unsigned long callee)
{
	if (ktrace_is_loc_right(loc, callee))
		return 0;

	WARN(1, "%pS: %*phN\n", (void *)loc->func, KTRACE_FUNC_ALIGN, (void *)loc->func);
	if (ktrace_uses_padding())
		pr_err("padding %*phN\n", (int)sizeof(struct ktrace_pad),
		       (void *)loc->func - sizeof(struct ktrace_pad));
	if (loc->slot)
		pr_err("call %*phN, expected to call %pS\n", CALL_INSN_SIZE, loc->call,
		       (void *)callee);

	return -EINVAL;
}

/* Which of the calls that functions have kept since they were traced last have to be changed */
struct stale_calls {
	bool	slots;
	bool	pads;
};

/* Pass 1 */
static int prepare_record(struct dyn_ftrace *rec, int enable, struct stale_calls *stale)
{
	int update = ftrace_test_record(rec, enable);
	struct ktrace_loc loc __uninitialized;
	int ret;

	if (update == FTRACE_UPDATE_IGNORE)
		return 0;

	ktrace_get_loc(rec->ip, &loc);
	ret = verify(&loc, update == FTRACE_UPDATE_MAKE_CALL ? 0 : ftrace_get_addr_curr(rec));
	if (ret || update == FTRACE_UPDATE_MAKE_NOP)
		return ret;

	if (!loc.call)
		return ktrace_add_code(&loc, ftrace_get_addr_new(rec));

	if (ktrace_loc_callee(&loc) != ftrace_get_addr_new(rec))
		*(loc.slot ? &stale->slots : &stale->pads) = true;

	return 0;
}

static void set_call(u8 *call, unsigned long callee)
{
	const u8 *code = text_gen_insn(CALL_INSN_OPCODE, call, (void *)callee);

	smp_text_poke_batch_add(call, code, CALL_INSN_SIZE, NULL);
}

static void update_call(const struct ktrace_loc *loc, struct dyn_ftrace *rec)
{
	unsigned long callee = ftrace_get_addr_new(rec);

	if (ktrace_loc_callee(loc) != callee)
		set_call(loc->call, callee);
}

/* Pass 2 */
static void update_slot(struct dyn_ftrace *rec, int enable)
{
	struct ktrace_loc loc __uninitialized;

	switch (ftrace_test_record(rec, enable)) {
	case FTRACE_UPDATE_MAKE_CALL:
	case FTRACE_UPDATE_MODIFY_CALL:
		ktrace_get_loc(rec->ip, &loc);
		if (loc.slot)
			update_call(&loc, rec);
	}
}

static void trace(const struct ktrace_loc *loc)
{
	smp_text_poke_batch_add((void *)loc->entry, loc->patch, loc->patch_len, NULL);
	ktrace_upgrade_later(loc);
}

static void untrace(const struct ktrace_loc *loc)
{
	ktrace_no_upgrade(loc);
	smp_text_poke_batch_add((void *)loc->entry, loc->original, loc->patch_len,
				loc->emulate);
}

/* Pass 3 */
static void update_record(struct dyn_ftrace *rec, int enable, bool stale_pads)
{
	int update = ftrace_test_record(rec, enable);
	struct ktrace_loc loc __uninitialized;

	if (update == FTRACE_UPDATE_IGNORE)
		return;

	ktrace_get_loc(rec->ip, &loc);
	if (stale_pads && update != FTRACE_UPDATE_MAKE_NOP && !loc.slot)
		update_call(&loc, rec);
	if (update == FTRACE_UPDATE_MAKE_CALL)
		trace(&loc);
	else if (update == FTRACE_UPDATE_MAKE_NOP)
		untrace(&loc);

	ftrace_update_record(rec, enable);
}

void ftrace_replace_code(int enable)
{
	struct ftrace_rec_iter *iter;
	struct stale_calls stale = { };
	int ret;

	if (!ktrace_started)
		return;

	for_ftrace_rec_iter(iter) {
		ret = prepare_record(ftrace_rec_iter_record(iter), enable, &stale);
		if (ret) {
			/* Not written later: the module of the function may be gone by then */
			ktrace_drop_code();
			ftrace_bug(ret, ftrace_rec_iter_record(iter));
			return;
		}
	}
	ktrace_write_code();

	if (stale.slots) {
		for_ftrace_rec_iter(iter)
			update_slot(ftrace_rec_iter_record(iter), enable);
	}
	for_ftrace_rec_iter(iter)
		update_record(ftrace_rec_iter_record(iter), enable, stale.pads);
	smp_text_poke_batch_finish();
}

/* A module is loaded while its functions are to be traced */
int ftrace_make_call(struct dyn_ftrace *rec, unsigned long addr)
{
	struct ktrace_loc loc;
	int ret;

	ktrace_get_loc(rec->ip, &loc);
	ret = verify(&loc, 0);
	if (ret)
		return ret;

	if (loc.call) {
		set_call(loc.call, addr);
	} else {
		ret = ktrace_add_code(&loc, addr);
		if (ret)
			return ret;
		ktrace_write_code();
		ktrace_get_loc(rec->ip, &loc);
	}
	trace(&loc);

	return 0;
}

/* ftrace_replace_code() above does not call these */
int ftrace_make_nop(struct module *mod, struct dyn_ftrace *rec, unsigned long addr)
{
	WARN_ON_ONCE(1);
	return -EINVAL;
}

int ftrace_modify_call(struct dyn_ftrace *rec, unsigned long old_addr, unsigned long addr)
{
	WARN_ON_ONCE(1);
	return -EINVAL;
}

/* Direct calls */

/**
 * ktrace_resume - where to call a traced function so that its tracers are not called
 * @func: address of a function that can be traced, and whose module is pinned
 *
 * A direct call that calls the function itself has to call this. If the function needs a
 * slot, it gets one, which stays with it.
 *
 * Context: process context, may sleep; takes text_mutex and slot_lock.
 *
 * Return: if the function has a slot, the address of the displaced instruction there; else the
 * address behind the ENDBR. An error is in the range of IS_ERR_VALUE(): -EOPNOTSUPP if functions
 * cannot be traced, or if ftrace was dead before the call, -ENOMEM if there is no memory for slots,
 * -EBUSY if something else has changed the function.
 */
unsigned long ktrace_resume(unsigned long func)
{
	struct ktrace_loc loc;

	if (!ktrace_started || ktrace_is_dead())
		return -EOPNOTSUPP;
	if (ktrace_alloc_slots())
		return -ENOMEM;

	guard(mutex)(&text_mutex);

	ktrace_get_loc(func, &loc);
	if (!loc.call) {
		/* It calls ftrace_stub() until a tracer is enabled */
		if (!ktrace_is_loc_right(&loc, 0) ||
		    ktrace_add_code(&loc, (unsigned long)ftrace_stub))
			return -EBUSY;
		ktrace_write_code();
		ktrace_get_loc(func, &loc);
	}

	return loc.slot ? (unsigned long)loc.slot->code : func + ENDBR_INSN_SIZE;
}
EXPORT_SYMBOL_IF_KUNIT(ktrace_resume);

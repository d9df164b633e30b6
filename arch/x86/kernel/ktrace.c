// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace on x86_64: functions are traced by a call in the padding before their entry.
 *
 *	func-11	.long	2
 *	func-7	call	trampoline
 *	func-2	jmp	func+4
 *	func	jmp	func-7		over the first two bytes of ENDBR
 *	func+4	...
 *
 * The ENDBR has no effect: it is sealed, or the CPU has no IBT. So it may be overwritten, and
 * no instruction of the function is moved.
 *
 * Otherwise the first instruction, behind an ENDBR if there is one, is displaced into a slot
 * (ktrace_slot.c):
 *
 *	func-5	jmp	slot+4
 *	func	(ENDBR)
 *	entry	jmp	func-5		over the first two bytes of the instruction
 *
 *	slot	.long	func - (slot+9)
 *	slot+4	call	trampoline
 *	slot+9	the instruction
 *		jmp	the next one
 *
 * At first, only bytes of one instruction are overwritten: a task is in front of it or behind
 * it, and never between these bytes. If the instruction is shorter than the jump, a breakpoint
 * is in its place, whose handler goes on in the slot (ktrace_entry.c). The next instructions that
 * begin in the place of the jump are displaced, too, if they can be. The breakpoint becomes a
 * jump when no task is between them (ktrace_upgrade.c).
 *
 * If the padding is used by something else, or there is none, each function has a slot, to
 * which a jump of five bytes leads:
 *
 *	entry	jmp	slot+4
 *
 * The call leaves the stack as a call at the entry does: the trampolines of ftrace and of
 * the multiplexer need no change but that they find the function by the distance in front of
 * the call.
 *
 * The padding and the slot keep their code when the function is not traced any more. A task
 * may be preempted there for any time; what it calls next must be there. ftrace_shutdown()
 * waits for such tasks before it frees an ops.
 */
#define pr_fmt(fmt) "ktrace: " fmt

#include <linux/bsearch.h>
#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/ktrace.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sort.h>
#include <linux/string.h>

#include <asm/alternative.h>
#include <asm/insn.h>
#include <asm/nospec-branch.h>
#include <asm/paravirt.h>

#include "ktrace_entry.h"
#include "ktrace_loc.h"
#include "ktrace_slot.h"
#include "ktrace_upgrade.h"

static int cmp_addresses(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

/* The ENDBRs that apply_seal_endbr() will overwrite, sorted */
static unsigned long *sealed_endbrs(unsigned int *nr)
{
	unsigned long *sealed;
	s32 *s;

	sealed = kvmalloc_array(__ibt_endbr_seal_end - __ibt_endbr_seal, sizeof(*sealed),
				GFP_KERNEL);
	/* Then no ENDBR counts as sealed: more slots are reserved, fewer functions can be traced */
	if (!sealed)
		return NULL;

	*nr = 0;
	for (s = __ibt_endbr_seal; s < __ibt_endbr_seal_end; s++)
		sealed[(*nr)++] = (unsigned long)s + *s;
	sort(sealed, *nr, sizeof(*sealed), cmp_addresses, NULL);

	return sealed;
}

static bool is_sealed(unsigned long func, const unsigned long *sealed, unsigned int nr)
{
	return sealed && bsearch(&func, sealed, nr, sizeof(*sealed), cmp_addresses);
}

/* Until apply_returns() runs, a return is a jump to __x86_return_thunk */
static bool is_return(unsigned long entry)
{
	if (!IS_ENABLED(CONFIG_MITIGATION_RETHUNK) || *(u8 *)entry != JMP32_INSN_OPCODE)
		return false;

	return entry + JMP32_INSN_SIZE + *(s32 *)(entry + 1) == (unsigned long)__x86_return_thunk;
}

/*
 * Until alternatives are applied, `call *pv_op(%rip)` is in the place of a direct call, or of an
 * instruction. Both can be in a slot, but not sti, which replaces the call of irq_enable.
 */
static bool is_displaceable_pv_call(unsigned long entry)
{
	static const u8 call_indirect[] = { 0xff, 0x15 };

	if (memcmp((void *)entry, call_indirect, sizeof(call_indirect)))
		return false;

#ifdef CONFIG_PARAVIRT_XXL
	if (entry + 6 + *(s32 *)(entry + sizeof(call_indirect)) ==
	    (unsigned long)&pv_ops.irq.irq_enable)
		return false;
#endif
	return true;
}

/* Can the instruction at @entry be in a slot? @is_short is set if a jump is, or may be, longer. */
static bool can_displace(unsigned long entry, unsigned int class, bool *is_short)
{
	u8 code[KTRACE_SLOT_CODE];
	struct ktrace_moved moved;

	if (class == KTRACE_SITE_FIXED || ktrace_is_smp_lock(entry))
		return false;

	*is_short = true;
	if (class == KTRACE_SITE_ALTERNATIVE && is_displaceable_pv_call(entry))
		return true;
	/* There is no slot yet. Slots and text are in the highest 2 GiB: any address will do */
	if (ktrace_make_slot_code((u8 *)entry, entry, INT3_INSN_SIZE, MODULES_VADDR, code, &moved))
		return false;

	if (class != KTRACE_SITE_ALTERNATIVE && !is_return(entry))
		*is_short = moved.old_len < ktrace_jump_len();

	return true;
}

/**
 * arch_ktrace_is_still_traceable - can a function be traced after alternatives were applied?
 * @func: address of a function that arch_ktrace_traceable() has selected before
 *
 * Context: boot, before any call site is patched.
 *
 * Return: true if the function needs no slot, or its first instruction can be displaced.
 */
bool __init arch_ktrace_is_still_traceable(unsigned long func)
{
	unsigned long entry = ktrace_entry_of(func);
	bool is_short;

	/* After alternatives, its first instruction is one like any other */
	return !ktrace_needs_slot(func) || can_displace(entry, KTRACE_SITE_ANY, &is_short);
}

static bool is_livepatch(struct module *mod)
{
#ifdef CONFIG_MODULES
	return mod && is_livepatch_module(mod);
#else
	return false;
#endif
}

/**
 * arch_ktrace_traceable - select the functions that can be traced, and reserve what they need
 * @mod: the module, after its alternatives were applied, or NULL for the kernel
 * @funcs: addresses of the functions plus their class, KTRACE_SITE_*, sorted. On return, the
 *	addresses of those that can be traced come first, sorted.
 * @nr: their number
 *
 * Functions get an entry in the table of ktrace_entry.c, and slots. These stay until
 * arch_ktrace_free(), after an error as well.
 *
 * Context: process context, may sleep; takes cpus_read_lock(), text_mutex and slot_lock.
 *
 * Return: the number of functions that can be traced, or -ENOMEM.
 */
int arch_ktrace_traceable(struct module *mod, unsigned long *funcs, unsigned int nr)
{
	unsigned long *sealed __free(kvfree) = NULL, *entries __free(kvfree) = NULL;
	unsigned int nr_sealed = 0, nr_entries = 0, nr_slots = 0, nr_shorts = 0;
	int ret, traceable = 0;

	if (!mod && ktrace_uses_padding() && ktrace_must_keep_endbr())
		sealed = sealed_endbrs(&nr_sealed);

	entries = kvmalloc_array(nr, sizeof(*entries), GFP_KERNEL);
	if (!entries)
		return -ENOMEM;

	for (unsigned int i = 0; i < nr; i++) {
		unsigned int class = funcs[i] & KTRACE_SITE_CLASS;
		unsigned long func = funcs[i] - class;

		/* klp_apply_section_relocs() may change the code while it is traced */
		if (is_livepatch(mod))
			class = KTRACE_SITE_FIXED;
		if (!ktrace_is_padding_free(func))
			continue;
		if (ktrace_needs_slot(func) && !is_sealed(func, sealed, nr_sealed)) {
			unsigned long entry = ktrace_entry_of(func);
			bool is_short;

			if (!can_displace(entry, class, &is_short))
				continue;
			nr_slots++;
			nr_shorts += is_short;
			if (is_short || !ktrace_uses_padding())
				entries[nr_entries++] = entry;
		}
		funcs[traceable++] = func;
	}

	ret = ktrace_add_entries(entries, nr_entries);
	if (!ret)
		ret = ktrace_add_slots(mod, nr_slots);
	if (ret)
		return ret;

	if (!mod)
		pr_info("%u functions need a slot, at most %u of them a breakpoint\n",
			nr_slots, nr_shorts);

	return traceable;
}

/**
 * arch_ktrace_forget - forget the upgrades and entries of functions in a range
 * @mod: the module, or NULL for the kernel
 * @start: of the range; no task executes its functions any more
 * @end: behind the last
 *
 * Context: process context, may sleep; takes text_mutex, and cpus_read_lock() for a module.
 */
void arch_ktrace_forget(struct module *mod, unsigned long start, unsigned long end)
{
	ktrace_forget_upgrades(start, end);
	/* The kernel's init text is never used again: its entries and slots may stay */
	if (mod)
		ktrace_remove_entries(start, end);
}

#ifdef CONFIG_MODULES
/**
 * arch_ktrace_free - free what functions of a module have needed
 * @mod: the module, whose code no task executes any more
 *
 * Context: process context, may sleep; takes cpus_read_lock(), text_mutex and slot_lock.
 */
void arch_ktrace_free(struct module *mod)
{
	static const enum mod_mem_type types[] = { MOD_TEXT, MOD_INIT_TEXT };

	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++) {
		const struct module_memory *mem = &mod->mem[types[i]];
		unsigned long start = (unsigned long)mem->base;

		arch_ktrace_forget(mod, start, start + mem->size);
	}
	ktrace_free_slots(mod);
}
#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace: what the code of a function is when it is traced, and when it is not.
 *
 * Both are found out from what is in memory: from the padding, of which only the target of its call
 * changes once it is written, and from the slot. If the padding is not used, ktrace_entry.c knows
 * the slot. Whether a function has a breakpoint or a jump, if it can have
 * both, is in the state of its slot. Probes ask this, from any context.
 */
#include <kunit/visibility.h>
#include <linux/cpufeature.h>
#include <linux/export.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/ktrace.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include <asm/ibt.h>
#include <asm/insn.h>
#include <asm/nops.h>

#include "ktrace_entry.h"
#include "ktrace_loc.h"

static_assert(sizeof(struct ktrace_pad) == sizeof(struct ktrace_slot_pad));

/* From the function to the call in its padding */
#define PAD_CALL		(KTRACE_PAD_CALL_END + CALL_INSN_SIZE)

static_assert(sizeof(s32) + CALL_INSN_SIZE == -KTRACE_DISTANCE_OFFSET);

bool ktrace_padding_taken __ro_after_init;
bool ktrace_stuffing_requested __ro_after_init;

static int __init set_padding_taken(char *str)
{
	ktrace_padding_taken = true;

	return 0;
}
early_param("ktrace_no_padding", set_padding_taken);

/*
 * Call depth tracking is chosen later than the functions that can be traced. Look for "stuff" on
 * the whole command line, since bugs.c has cut @value at its commas. If only another option has
 * "stuff", or a later option turns call depth tracking off, the padding is left alone without
 * need, and functions that begin with a call cannot be traced.
 */
static int __init parse_stuffing(char *value)
{
	if (IS_ENABLED(CONFIG_MITIGATION_CALL_DEPTH_TRACKING) &&
	    strstr(boot_command_line, "stuff")) {
		ktrace_padding_taken = true;
		ktrace_stuffing_requested = true;
	}

	return 0;
}
__setup_param("retbleed", ktrace_retbleed, parse_stuffing, 1);
__setup_param("indirect_target_selection", ktrace_its, parse_stuffing, 1);

/* What a traced function begins with */
static const u8 traced_jmp[JMP8_INSN_SIZE] = {
	JMP8_INSN_OPCODE, (u8)-(PAD_CALL + JMP8_INSN_SIZE)
};

/* What its first two bytes do when it is not traced: go on behind ENDBR */
static const u8 skip_jmp[JMP8_INSN_SIZE] = {
	JMP8_INSN_OPCODE, ENDBR_INSN_SIZE - JMP8_INSN_SIZE
};

#define FOUR_NOPS		(BYTES_NOP1 * 0x01010101U)

static struct ktrace_pad *pad_of(unsigned long func)
{
	return (struct ktrace_pad *)func - 1;
}

/* Has the padding a call, be the function traced or not? */
static bool has_call(const struct ktrace_pad *pad)
{
	/* smp_text_poke_batch_finish() writes a breakpoint while it changes the call */
	return ktrace_uses_padding() && pad->distance == KTRACE_PAD_CALL_END &&
	       (pad->call == CALL_INSN_OPCODE || pad->call == INT3_INSN_OPCODE) &&
	       pad->jmp[0] == JMP8_INSN_OPCODE && pad->jmp[1] == ENDBR_INSN_SIZE;
}

/**
 * ktrace_is_padding_free - is the padding that of the compiler?
 * @func: address of the function
 *
 * Return: whether the bytes that ktrace would write are NOPs, or it would not write any.
 */
bool ktrace_is_padding_free(unsigned long func)
{
	const u8 *pad = (u8 *)pad_of(func);

	if (!ktrace_uses_padding())
		return true;

	/* Three comparisons cover the eleven bytes */
	static_assert(sizeof(struct ktrace_pad) == 11);
	return get_unaligned((u32 *)pad) == FOUR_NOPS &&
	       get_unaligned((u32 *)(pad + 4)) == FOUR_NOPS &&
	       get_unaligned((u32 *)(pad + 7)) == FOUR_NOPS;
}

/* ENDBR */

/* For tests on a CPU that does not need ENDBRs */
static bool keep_endbr __ro_after_init;

static int __init set_keep_endbr(char *str)
{
	keep_endbr = IS_ENABLED(CONFIG_KTRACE_KUNIT_TEST);

	return 0;
}
early_param("ktrace_keep_endbr", set_keep_endbr);

static __always_inline bool must_keep_endbr(void)
{
	return keep_endbr || cpu_feature_enabled(X86_FEATURE_IBT);
}

/**
 * ktrace_must_keep_endbr - must the ENDBRs that are not sealed stay?
 *
 * Return: true if the CPU has IBT, or the kernel's command line asks for it.
 */
bool ktrace_must_keep_endbr(void)
{
	return must_keep_endbr();
}

static bool has_code(unsigned long addr, const u8 *code, u8 len)
{
	const u8 *at = (void *)addr;

	if (at[0] != code[0] || (len >= JMP8_INSN_SIZE && at[1] != code[1]))
		return false;

	return len < JMP32_INSN_SIZE ||
	       get_unaligned((u32 *)(at + 1)) == get_unaligned((u32 *)(code + 1));
}

static __always_inline bool needs_slot(unsigned long func)
{
	u32 insn = *(u32 *)func;

	if (!ktrace_uses_padding())
		return true;
	if (has_code(func, traced_jmp, sizeof(traced_jmp)) || insn == gen_endbr_poison())
		return false;

	return !__is_endbr(insn) || must_keep_endbr();
}

/**
 * ktrace_needs_slot - does a function need a slot to be traced?
 * @func: address of the function
 *
 * Context: text_mutex held, if the function may be traced.
 *
 * Return: false if padding is used, and the function begins with an ENDBR that may be overwritten,
 * or with the jump that has overwritten it; else true.
 */
bool ktrace_needs_slot(unsigned long func)
{
	return needs_slot(func);
}

/* The ENDBR that the function begins with when it is not traced, 0 if there is none */
static u32 untraced_endbr(unsigned long func)
{
	/* The last two bytes of ENDBR are left in place, and so are those of a sealed one */
	u16 rest = *(u16 *)(func + JMP8_INSN_SIZE);

	if (rest == gen_endbr() >> 16)
		return gen_endbr();

	return rest == gen_endbr_poison() >> 16 ? gen_endbr_poison() : 0;
}

/* Functions with a slot */

static struct ktrace_slot *find_slot(unsigned long func)
{
	struct ktrace_slot_pad *pad = ktrace_slot_pad_of(func);
	struct ktrace_slot *slot;

	slot = (void *)func + pad->disp - offsetof(struct ktrace_slot, call);
	/* If the padding has a call, its displacement may look like a jump */
	if (ktrace_slot_at((unsigned long)slot) != slot || ktrace_slot_func(slot) != func)
		return NULL;

	return slot;
}

/* The slot of the function, be it traced or not; NULL if it does not have one */
static __always_inline struct ktrace_slot *slot_of(unsigned long func)
{
	u8 jmp;

	if (!ktrace_uses_padding())
		return ktrace_entry_slot(ktrace_entry_of(func));

	jmp = ktrace_slot_pad_of(func)->jmp;

	/* Most functions have no slot: do not search the tree for them */
	return jmp == JMP32_INSN_OPCODE ? find_slot(func) : NULL;
}

/* How a function is patched */

static void get_pad_loc(struct ktrace_loc *loc)
{
	u32 endbr = untraced_endbr(loc->func);

	loc->entry = loc->func;
	loc->kind = endbr ? KTRACE_KIND_PADDING : KTRACE_KIND_DAMAGED;
	loc->patch_len = JMP8_INSN_SIZE;
	memcpy(loc->patch, traced_jmp, sizeof(traced_jmp));
	memcpy(loc->original, &endbr, sizeof(endbr));
	memcpy(loc->emulate, skip_jmp, sizeof(skip_jmp));
}

static void set_jump_to_padding(struct ktrace_loc *loc)
{
	unsigned long jmp = (unsigned long)&ktrace_slot_pad_of(loc->func)->jmp;

	loc->patch[0] = JMP8_INSN_OPCODE;
	loc->patch[1] = jmp - (loc->entry + JMP8_INSN_SIZE);
}

static void set_jump_to_slot(struct ktrace_loc *loc)
{
	s32 disp = (unsigned long)loc->call - (loc->entry + JMP32_INSN_SIZE);

	loc->patch[0] = JMP32_INSN_OPCODE;
	memcpy(loc->patch + 1, &disp, sizeof(disp));
}

/**
 * ktrace_loc_set_jump - set @loc to patch a function by a jump, into its padding or to its slot
 * @loc: the function, which has a slot; @loc->entry and @loc->call are set
 */
void ktrace_loc_set_jump(struct ktrace_loc *loc)
{
	loc->patch_len = ktrace_jump_len();
	if (ktrace_uses_padding())
		set_jump_to_padding(loc);
	else
		set_jump_to_slot(loc);
	/*
	 * The displaced instruction cannot be emulated: while it is put back, CPUs that meet the
	 * breakpoint still go to the slot.
	 */
	memcpy(loc->emulate, loc->patch, sizeof(loc->emulate));
}

static void set_breakpoint(struct ktrace_loc *loc)
{
	loc->patch_len = INT3_INSN_SIZE;
	loc->patch[0] = INT3_INSN_OPCODE;
	loc->emulate[0] = INT3_INSN_OPCODE;
}

static bool has_jump(const struct ktrace_loc *loc)
{
	/* Decide by the slot: a debugger may have put a breakpoint at the entry */
	if (loc->slot->form == KTRACE_SLOT_SEVERAL)
		return *ktrace_slot_state(loc->slot) == KTRACE_STATE_UPGRADED;

	return loc->slot->form == KTRACE_SLOT_JUMP;
}

static void get_slot_loc(struct ktrace_loc *loc)
{
	loc->kind = KTRACE_KIND_SLOT;
	loc->call = &loc->slot->call;
	memcpy(loc->original, loc->slot->replaced, sizeof(loc->original));
	if (has_jump(loc))
		ktrace_loc_set_jump(loc);
	else
		set_breakpoint(loc);
}

/**
 * ktrace_get_loc - what is changed in the code of a function, or is to be
 * @func: address of a function that can be traced
 * @loc: is filled
 *
 * Context: any in which the function cannot go away: its module is pinned, or preemption
 * is disabled. Without text_mutex, a function that was never traced may get its code meanwhile,
 * and @loc->patch_len may be stale for a function that can have a breakpoint or a jump.
 */
void ktrace_get_loc(unsigned long func, struct ktrace_loc *loc)
{
	struct ktrace_pad *pad = pad_of(func);

	loc->func = func;
	loc->call = has_call(pad) ? &pad->call : NULL;
	loc->slot = loc->call ? NULL : slot_of(func);
	loc->kind = KTRACE_KIND_NO_SLOT;

	if (loc->call || (!loc->slot && !needs_slot(func))) {
		get_pad_loc(loc);
		return;
	}

	loc->entry = ktrace_entry_of(func);
	if (loc->slot)
		get_slot_loc(loc);
}

/**
 * ktrace_loc_callee - what the call of a function calls
 * @loc: the function; @loc->call is not NULL
 *
 * Context: text_mutex held.
 *
 * Return: the address.
 */
unsigned long ktrace_loc_callee(const struct ktrace_loc *loc)
{
	return (unsigned long)loc->call + CALL_INSN_SIZE + *(s32 *)(loc->call + 1);
}

/**
 * ktrace_is_loc_right - is the code of a function what its record tells?
 * @loc: the function
 * @callee: what it calls, 0 if it is not traced
 *
 * Context: text_mutex held.
 *
 * Return: whether it is.
 */
bool ktrace_is_loc_right(const struct ktrace_loc *loc, unsigned long callee)
{
	/* Never traced: there must be no foreign breakpoint, and the padding must be free */
	if (!loc->call)
		return !callee && *(u8 *)loc->entry != INT3_INSN_OPCODE &&
		       ktrace_is_padding_free(loc->func);

	if (loc->kind == KTRACE_KIND_DAMAGED)
		return false;
	if (!callee)
		return has_code(loc->entry, loc->original, loc->patch_len);

	return has_code(loc->entry, loc->patch, loc->patch_len) &&
	       ktrace_loc_callee(loc) == callee;
}

/**
 * ktrace_call_address - where the call is that a traced function executes first
 * @func: address of a function that can be traced
 *
 * Context: text_mutex held.
 *
 * Return: the address. If the function has no call yet: the address that a call in its padding has,
 * also if the function will get a slot; 0 if padding is not used.
 */
unsigned long ktrace_call_address(unsigned long func)
{
	struct ktrace_loc loc;

	ktrace_get_loc(func, &loc);

	if (!loc.call && ktrace_uses_padding())
		loc.call = &pad_of(func)->call;

	return (unsigned long)loc.call;
}
EXPORT_SYMBOL_IF_KUNIT(ktrace_call_address);

/* Probes */

/**
 * ktrace_may_write_padding - may ktrace write to the padding in which an address is?
 * @addr: any address
 *
 * Nobody else may put a breakpoint there: ktrace would overwrite it, or take the padding for
 * damaged and disable ftrace.
 *
 * Context: any.
 *
 * Return: whether it is padding of a function that can be traced, and padding is used.
 */
bool ktrace_may_write_padding(unsigned long addr)
{
	unsigned long func = ALIGN(addr, KTRACE_FUNC_ALIGN);

	/*
	 * The byte 16 bytes in front of the function is not refused, since ALIGN() does not change
	 * its address: even an optimized kprobe there, a jump of five bytes, ends before struct
	 * ktrace_pad.
	 */
	static_assert(JMP32_INSN_SIZE + sizeof(struct ktrace_pad) <= KTRACE_FUNC_ALIGN);
	return ktrace_uses_padding() && func != addr && ftrace_location_range(func, func) == func;
}

/* How many bytes ktrace changes, now or later */
static unsigned int changed_len(const struct ktrace_loc *loc)
{
	if (!loc->slot || loc->slot->form == KTRACE_SLOT_JUMP ||
	    ktrace_slot_executes_several(loc))
		return ktrace_jump_len();

	return INT3_INSN_SIZE;
}

/**
 * ktrace_untraced_code - what is at an address without what ktrace has changed there
 * @addr: address of an instruction
 * @buf: a copy of at least five bytes at @addr, left as it is if ktrace does not change them
 *
 * Context: as ktrace_get_loc().
 */
void ktrace_untraced_code(unsigned long addr, u8 *buf)
{
	struct ktrace_loc loc;
	unsigned int offset, len;

	/* A function, or what follows its ENDBR, or one of the next instructions */
	ktrace_get_loc(ALIGN_DOWN(addr, KTRACE_FUNC_ALIGN), &loc);
	if (!loc.call || loc.kind == KTRACE_KIND_DAMAGED)
		return;

	offset = addr - loc.entry;
	len = changed_len(&loc);
	if (offset < len)
		memcpy(buf, loc.original + offset, len - offset);
}
EXPORT_SYMBOL_IF_KUNIT(ktrace_untraced_code);

/**
 * ktrace_may_change_code - may ktrace change the instruction at an address?
 * @addr: address of an instruction
 *
 * Context: any.
 *
 * Return: whether it is the first one of a function that can be traced, or so near behind it
 * that a jump may be there.
 */
bool ktrace_may_change_code(unsigned long addr)
{
	unsigned long func = ALIGN_DOWN(addr, KTRACE_FUNC_ALIGN);

	return addr - func < ENDBR_INSN_SIZE + ktrace_jump_len() &&
	       ftrace_location_range(func, func) == func;
}

/* Set @loc to the function whose code ktrace may change at @addr; false if there is none */
static bool get_loc_at(unsigned long addr, struct ktrace_loc *loc)
{
	if (!ktrace_may_change_code(addr))
		return false;

	ktrace_get_loc(ALIGN_DOWN(addr, KTRACE_FUNC_ALIGN), loc);

	return true;
}

static bool is_under_jump(unsigned long addr, const struct ktrace_loc *loc)
{
	return addr > loc->entry && addr < loc->entry + ktrace_jump_len();
}

/**
 * ktrace_is_under_jump - is an instruction in the place of a jump, but not the first one there?
 * @addr: address of the instruction
 * @loc: set to the function, if it is
 *
 * Context: as ktrace_get_loc().
 *
 * Return: whether it is.
 */
bool ktrace_is_under_jump(unsigned long addr, struct ktrace_loc *loc)
{
	return get_loc_at(addr, loc) && is_under_jump(addr, loc);
}

/**
 * ktrace_refuses_breakpoint - must there be no breakpoint at an instruction?
 * @addr: address of the instruction
 *
 * For breakpoints of others than kprobes.
 *
 * Context: as ktrace_get_loc().
 *
 * Return: whether ktrace takes a breakpoint there for its own, displaces the instruction with the
 * first of its function, or uses the padding where it is.
 */
bool ktrace_refuses_breakpoint(unsigned long addr)
{
	struct ktrace_loc loc;

	if (ktrace_may_write_padding(addr))
		return true;
	if (!get_loc_at(addr, &loc) || !loc.slot)
		return false;
	if (addr == loc.entry)
		return loc.slot->form != KTRACE_SLOT_JUMP;

	return is_under_jump(addr, &loc) && ktrace_slot_executes_several(&loc);
}
EXPORT_SYMBOL_IF_KUNIT(ktrace_refuses_breakpoint);

/**
 * ktrace_first_len - length of the instruction at the address of a function, which may be ENDBR
 * @func: address of a function that can be traced
 *
 * Context: text_mutex held.
 *
 * Return: the length in bytes when the function is not traced, 0 if that is no instruction.
 */
unsigned int ktrace_first_len(unsigned long func)
{
	u8 code[MAX_INSN_SIZE];
	struct insn insn;

	memcpy(code, (void *)func, sizeof(code));
	ktrace_untraced_code(func, code);

	return insn_decode_kernel(&insn, code) ? 0 : insn.length;
}

/* Does the function begin with ENDBR when it is not traced? */
static bool has_endbr(unsigned long func)
{
	/* A call in the padding is only for these, and does not change like the first bytes */
	return __is_endbr(*(u32 *)func) || has_call(pad_of(func));
}

/**
 * ktrace_func_at - the function of which an address is the entry
 * @addr: address of an instruction
 *
 * Context: any.
 *
 * Return: the function that begins at @addr, or with an ENDBR before it, and can be traced;
 * 0 if there is none.
 */
unsigned long ktrace_func_at(unsigned long addr)
{
	unsigned long func = ALIGN_DOWN(addr, KTRACE_FUNC_ALIGN);

	if (addr != func && addr != func + ENDBR_INSN_SIZE)
		return 0;
	if (ftrace_location_range(func, func) != func)
		return 0;

	return addr == func || has_endbr(func) ? func : 0;
}

/**
 * ktrace_is_in_pad_code - is a task in the padding of a function, or called from there?
 * @func: address of a function
 * @ip: where the task is, or its return address
 *
 * Context: any in which the function cannot go away.
 *
 * Return: whether @ip is in the code that ktrace has written to the padding of @func.
 */
bool ktrace_is_in_pad_code(unsigned long func, unsigned long ip)
{
	if (!ktrace_uses_padding())
		return false;

	switch (func - ip) {
	case PAD_CALL:
	case PAD_CALL - INT3_INSN_SIZE:		/* at a breakpoint there */
	case KTRACE_PAD_CALL_END:
		return has_call(pad_of(func));
	case JMP32_INSN_SIZE:
		return slot_of(func);
	default:
		return false;
	}
}

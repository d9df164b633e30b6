/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ktrace: where and how a function is patched, see ktrace_loc.c.
 *
 * Four properties of a function:
 *
 *  class	what the build allows to do with its first instructions (KTRACE_SITE_*)
 *  kind	where its call is (enum ktrace_loc_kind)
 *  form	what it is patched by, if it has a slot (enum ktrace_slot_form)
 *  state	how far the upgrade from a breakpoint to a jump is (enum ktrace_slot_state)
 */
#ifndef _ARCH_X86_KERNEL_KTRACE_LOC_H
#define _ARCH_X86_KERNEL_KTRACE_LOC_H

#include <linux/ftrace.h>
#include <linux/types.h>

#include <asm/ibt.h>
#include <asm/text-patching.h>

#include "ktrace_slot.h"

/* The padding of a function whose ENDBR is free: it has the call */
struct ktrace_pad {
	s32	distance;		/* from the end of the call to the function */
	u8	call;
	s32	disp;
	u8	jmp[JMP8_INSN_SIZE];	/* over ENDBR */
} __packed;

/* From the function to the return address of the call */
#define KTRACE_PAD_CALL_END	JMP8_INSN_SIZE

/**
 * ktrace_make_pad - the padding of a function whose ENDBR is free
 * @pad: is filled
 * @func: address of the function
 * @callee: what it calls
 */
static inline void ktrace_make_pad(struct ktrace_pad *pad, unsigned long func,
				   unsigned long callee)
{
	pad->distance = KTRACE_PAD_CALL_END;
	pad->call = CALL_INSN_OPCODE;
	pad->disp = callee - (func - KTRACE_PAD_CALL_END);
	pad->jmp[0] = JMP8_INSN_OPCODE;
	pad->jmp[1] = ENDBR_INSN_SIZE;
}

/* The padding of functions must not be used: all functions have a slot */
extern bool ktrace_padding_taken;
/* The kernel's command line asks for call depth tracking: displace no call */
extern bool ktrace_stuffing_requested;

static inline bool ktrace_uses_padding(void)
{
	return IS_ENABLED(CONFIG_CALL_PADDING) && !ktrace_padding_taken;
}

/* The length of a jump at the entry of a function: into its padding, or to its slot */
static inline unsigned int ktrace_jump_len(void)
{
	return ktrace_uses_padding() ? JMP8_INSN_SIZE : JMP32_INSN_SIZE;
}

/* The most bytes that are changed at the entry of a function */
#define KTRACE_PATCH_MAX	JMP32_INSN_SIZE

/* Where the call of the tracers of a function is, or is to be */
enum ktrace_loc_kind {
	KTRACE_KIND_PADDING,	/* in its padding; it needs no slot */
	KTRACE_KIND_SLOT,
	KTRACE_KIND_NO_SLOT,	/* it needs a slot, and has none: it was never traced */
	KTRACE_KIND_DAMAGED,	/* something else has changed its code */
};

/**
 * struct ktrace_loc - where and how a function is patched
 * @func: address of the function
 * @entry: where it is patched: @func, or behind its ENDBR
 * @call: the call of its tracers, in the padding or in its slot; NULL if it was never traced, and
 *	ktrace_resume() has not added the call
 * @slot: NULL if it has none
 * @kind: what follows is not set for KTRACE_KIND_NO_SLOT; @original is wrong for
 *	KTRACE_KIND_DAMAGED
 * @patch_len: how many bytes are patched, as the code is now
 * @patch: what is at @entry when the function is traced
 * @original: what is there when it is not; not only the first @patch_len bytes, if there are
 *	more that ktrace may change
 * @emulate: what a CPU that gets to @entry executes while @patch is removed again
 */
struct ktrace_loc {
	unsigned long		func;
	unsigned long		entry;
	u8			*call;
	struct ktrace_slot	*slot;
	enum ktrace_loc_kind	kind;
	u8			patch_len;
	u8			patch[KTRACE_PATCH_MAX];
	u8			original[KTRACE_PATCH_MAX];
	u8			emulate[KTRACE_PATCH_MAX];
};

void ktrace_get_loc(unsigned long func, struct ktrace_loc *loc);
void ktrace_loc_set_jump(struct ktrace_loc *loc);
bool ktrace_is_under_jump(unsigned long addr, struct ktrace_loc *loc);
bool ktrace_is_loc_right(const struct ktrace_loc *loc, unsigned long callee);
unsigned long ktrace_loc_callee(const struct ktrace_loc *loc);

/* Several instructions are displaced, and the slot has not been split */
static inline bool ktrace_slot_executes_several(const struct ktrace_loc *loc)
{
	return loc->slot && loc->slot->form == KTRACE_SLOT_SEVERAL &&
	       *ktrace_slot_state(loc->slot) != KTRACE_STATE_SPLIT;
}

bool ktrace_must_keep_endbr(void);
bool ktrace_needs_slot(unsigned long func);
bool ktrace_is_padding_free(unsigned long func);
bool ktrace_may_write_padding(unsigned long addr);
bool ktrace_is_in_pad_code(unsigned long func, unsigned long ip);

#endif /* _ARCH_X86_KERNEL_KTRACE_LOC_H */

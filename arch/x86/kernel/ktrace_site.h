/* SPDX-License-Identifier: GPL-2.0 */
/* ktrace: the code of a function, as it is traced or not, see ktrace_site.c */
#ifndef _ARCH_X86_KERNEL_KTRACE_SITE_H
#define _ARCH_X86_KERNEL_KTRACE_SITE_H

#include <linux/ftrace.h>
#include <linux/types.h>

#include <asm/ibt.h>
#include <asm/text-patching.h>

#include "ktrace_slot.h"

/* The padding of a function, with a call for one whose ENDBR is free */
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

static inline bool ktrace_uses_padding(void)
{
	return IS_ENABLED(CONFIG_CALL_PADDING) && !ktrace_padding_taken;
}

/* The length of a jump at the entry of a function: into its padding, or to its slot */
static inline unsigned int ktrace_jump_len(void)
{
	return ktrace_uses_padding() ? JMP8_INSN_SIZE : JMP32_INSN_SIZE;
}

/* What is changed at the entry of a function */
#define KTRACE_PATCH_MAX	JMP32_INSN_SIZE

/* Where the call of the tracers of a function is, or is to be */
enum ktrace_site_kind {
	KTRACE_KIND_PADDING,	/* in its padding; it needs no slot */
	KTRACE_KIND_SLOT,
	KTRACE_KIND_NO_SLOT,	/* it needs a slot, and has none: it was never traced */
	KTRACE_KIND_DAMAGED,	/* something else has changed its code */
};

/**
 * struct ktrace_site - what is changed in the code of a function
 * @func: address of the function
 * @entry: where it is patched: @func, or behind its ENDBR
 * @call: the call of its tracers, in the padding or in its slot; NULL if it was never traced
 * @slot: NULL if it has none
 * @kind: what follows is set for KTRACE_KIND_PADDING and KTRACE_KIND_SLOT only
 * @patch_len: how many bytes are patched, as the code is now
 * @patch: what is at @entry when the function is traced
 * @original: what is there when it is not; not only the first @patch_len bytes, if there are
 *	more that ktrace may change
 * @emulate: what a CPU does that gets there while one is replaced by the other
 */
struct ktrace_site {
	unsigned long		func;
	unsigned long		entry;
	u8			*call;
	struct ktrace_slot	*slot;
	enum ktrace_site_kind	kind;
	u8			patch_len;
	u8			patch[KTRACE_PATCH_MAX];
	u8			original[KTRACE_PATCH_MAX];
	u8			emulate[KTRACE_PATCH_MAX];
};

void ktrace_get_site(unsigned long func, struct ktrace_site *site);
void ktrace_make_jump(struct ktrace_site *site);
bool ktrace_is_under_jump(unsigned long addr, struct ktrace_site *site);
bool ktrace_is_site_right(const struct ktrace_site *site, unsigned long callee);
unsigned long ktrace_site_callee(const struct ktrace_site *site);

/* Several instructions are displaced, and the slot has not been split */
static inline bool ktrace_slot_executes_several(const struct ktrace_site *site)
{
	return site->slot && site->slot->form == KTRACE_SLOT_SEVERAL &&
	       *ktrace_slot_state(site->slot) != KTRACE_SPLIT;
}

bool ktrace_must_keep_endbr(void);
bool ktrace_is_endbr_free(unsigned long func);
bool ktrace_is_padding_free(unsigned long func);
bool ktrace_is_in_padding(unsigned long func, unsigned long ip);

#endif /* _ARCH_X86_KERNEL_KTRACE_SITE_H */

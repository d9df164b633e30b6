/* SPDX-License-Identifier: GPL-2.0 */
/* ktrace: the slots for instructions that are displaced from the entry of a function */
#ifndef _ARCH_X86_KERNEL_KTRACE_SLOT_H
#define _ARCH_X86_KERNEL_KTRACE_SLOT_H

#include <linux/types.h>

#include <asm/ibt.h>
#include <asm/text-patching.h>

#include "ktrace_reloc.h"

struct module;

/*
 * Room for what is displaced, and a jump back to the function. In the kernel that the tests build,
 * it is enough for the first instruction of every function, and for the first five bytes of 99 %
 * of them.
 */
#define KTRACE_SLOT_CODE	17

/* What is patched in a function that has the slot */
enum ktrace_slot_form {
	KTRACE_SLOT_JUMP,	/* a jump in place of its first instruction */
	KTRACE_SLOT_BREAKPOINT,	/* a breakpoint: the instruction is shorter than a jump */
	KTRACE_SLOT_SEVERAL,	/* more are displaced with it: a breakpoint, later a jump */
};

/* How far a function with KTRACE_SLOT_SEVERAL is, see ktrace_upgrade.c */
enum ktrace_slot_state {
	KTRACE_STATE_UNTRACED,	/* the function is not traced, or its code was freed */
	KTRACE_STATE_FRESH,		/* it has a breakpoint */
	KTRACE_STATE_WAITING,		/* ... that was there before the grace period began */
	KTRACE_STATE_UPGRADED,	/* it has a jump */
	/*
	 * The function keeps its breakpoint whenever it is traced. After its first instruction,
	 * the slot leads back to the function, through a breakpoint.
	 */
	KTRACE_STATE_SPLIT,
};

struct ktrace_slot {
	s32	distance;		/* from the end of the call to the function */
	u8	call;
	s32	disp;
	u8	code[KTRACE_SLOT_CODE];
	u8	form : 4;		/* enum ktrace_slot_form */
	u8	first_len : 4;		/* length of the first instruction */
	u8	replaced[JMP32_INSN_SIZE];	/* the first bytes that were displaced */
} __packed;

/* The padding of a function that has a slot */
struct ktrace_slot_pad {
	u8	nops[6];
	u8	jmp;			/* to the call in the slot */
	s32	disp;
} __packed;

bool ktrace_is_smp_lock(unsigned long addr);
int ktrace_make_slot_code(const u8 *insns, unsigned long entry, unsigned int min, unsigned long to,
			  u8 *code, struct ktrace_moved *moved);
int ktrace_add_slots(struct module *mod, unsigned int nr);
int ktrace_alloc_slots(void);
void ktrace_free_slots(struct module *mod);
struct ktrace_slot *ktrace_take_slot(unsigned long func);
const struct ktrace_slot *__ktrace_slot_at(unsigned long ip);
const struct ktrace_slot *ktrace_slot_at(unsigned long ip);
u8 *ktrace_slot_state(const struct ktrace_slot *slot);

static __always_inline unsigned long ktrace_slot_func(const struct ktrace_slot *slot)
{
	return (unsigned long)slot->code + slot->distance;
}

/* Where a function that needs a slot is patched: its first instruction, behind an ENDBR */
static __always_inline unsigned long ktrace_entry_of(unsigned long func)
{
	return __is_endbr(*(u32 *)func) ? func + ENDBR_INSN_SIZE : func;
}

/* Where the second instruction is in a slot that has several */
static __always_inline const u8 *ktrace_slot_second(const struct ktrace_slot *slot)
{
	/* A conditional jump has got 32 bits */
	bool is_jcc = slot->code[0] == 0x0f && (slot->code[1] & 0xf0) == 0x80;

	return slot->code + (is_jcc ? KTRACE_JCC32_SIZE : slot->first_len);
}

static __always_inline struct ktrace_slot_pad *ktrace_slot_pad_of(unsigned long func)
{
	return (struct ktrace_slot_pad *)func - 1;
}

#endif /* _ARCH_X86_KERNEL_KTRACE_SLOT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* ktrace: the slots for instructions that are displaced from the entry of a function */
#ifndef _ARCH_X86_KERNEL_KTRACE_SLOT_H
#define _ARCH_X86_KERNEL_KTRACE_SLOT_H

#include <linux/types.h>

#include <asm/text-patching.h>

struct module;

/* At least the longest instruction, and a jump back to the function */
#define KTRACE_SLOT_CODE	21

struct ktrace_slot {
	s32	distance;		/* from the end of the call to the function */
	u8	call;
	s32	disp;
	u8	code[KTRACE_SLOT_CODE];
	u8	replaced[JMP8_INSN_SIZE];	/* what the function has a jump in place of */
} __packed;

int ktrace_add_slots(struct module *mod, unsigned int nr);
int ktrace_alloc_slots(void);
struct ktrace_slot *ktrace_take_slot(unsigned long func);
const struct ktrace_slot *ktrace_slot_at(unsigned long ip);

static inline unsigned long ktrace_slot_func(const struct ktrace_slot *slot)
{
	return (unsigned long)slot->code + slot->distance;
}

#endif /* _ARCH_X86_KERNEL_KTRACE_SLOT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* ktrace: the slots for instructions that are displaced from the entry of a function */
#ifndef _ARCH_X86_KERNEL_KTRACE_SLOT_H
#define _ARCH_X86_KERNEL_KTRACE_SLOT_H

#include <linux/types.h>

#include <asm/text-patching.h>

struct module;

#define KTRACE_FUNC_ALIGN	16

/* The longest instruction, and a jump back to the function */
#define KTRACE_SLOT_CODE	20

struct ktrace_slot {
	s32	distance;		/* from the end of the call to the function */
	u8	call;
	s32	disp;
	u8	code[KTRACE_SLOT_CODE];
	u8	len;			/* of what is patched: a breakpoint, or a jump */
	u8	replaced[JMP8_INSN_SIZE];	/* what that is in place of */
} __packed;

/* The padding of a function that has a slot */
struct ktrace_slot_pad {
	u8	nops[6];
	u8	jmp;			/* to the call in the slot */
	s32	disp;
} __packed;

int ktrace_displace(unsigned long entry, unsigned long to, u8 *code);
int ktrace_add_slots(struct module *mod, unsigned int nr);
int ktrace_alloc_slots(void);
void ktrace_free_slots(struct module *mod);
struct ktrace_slot *ktrace_take_slot(unsigned long func);
const struct ktrace_slot *ktrace_slot_at(unsigned long ip);

static inline unsigned long ktrace_slot_func(const struct ktrace_slot *slot)
{
	return (unsigned long)slot->code + slot->distance;
}

static __always_inline struct ktrace_slot_pad *ktrace_slot_pad_of(unsigned long func)
{
	return (struct ktrace_slot_pad *)func - 1;
}

#endif /* _ARCH_X86_KERNEL_KTRACE_SLOT_H */

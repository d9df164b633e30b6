/* SPDX-License-Identifier: GPL-2.0 */
/* Moving the first instructions of a function, see ktrace_reloc.c */
#ifndef _ARCH_X86_KERNEL_KTRACE_RELOC_H
#define _ARCH_X86_KERNEL_KTRACE_RELOC_H

#include <linux/types.h>

#include <asm/insn.h>

/* The largest min of ktrace_relocate(): a jump with 32 bits */
#define KTRACE_RELOC_MIN_MAX	5

/* Bytes that it reads for @min: the last instruction may begin at the last of the @min bytes */
#define KTRACE_RELOC_CODE(min)	((min) - 1 + MAX_INSN_SIZE)

/* Size of a conditional jump that it has moved: each one gets a displacement of 32 bits */
#define KTRACE_JCC32_SIZE	6

/*
 * Bytes that it writes at most: two short conditional jumps become 12 bytes and leave one
 * byte, with which the longest instruction begins; behind it is the jump back
 */
#define KTRACE_RELOC_SIZE_MAX	(2 * KTRACE_JCC32_SIZE + MAX_INSN_SIZE + 5)

/**
 * struct ktrace_moved - what ktrace_relocate() has done
 * @old_len: bytes of the function that were displaced
 * @nr: instructions that were displaced
 * @new_len: bytes that were written, with the jump back
 * @first_len: length of the first instruction
 * @is_call: the last one is a call, of which a push and a jump were made
 */
struct ktrace_moved {
	u8	old_len;
	u8	nr;
	u8	new_len;
	u8	first_len;
	bool	is_call;
};

int ktrace_relocate(const u8 *code, unsigned long from, unsigned int min, u8 *buf,
		    unsigned long to, unsigned int size, struct ktrace_moved *moved);

#endif /* _ARCH_X86_KERNEL_KTRACE_RELOC_H */

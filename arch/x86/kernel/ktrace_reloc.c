// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace on x86_64: instructions at the entry of a function are moved to a slot, to make
 * room for a jump or a breakpoint.
 *
 *	func	jmp	to		to	displaced instructions
 *	func+n	...			...	jmp	func+n
 *
 * What depends on the address of an instruction is made to fit: operands relative to RIP,
 * and branches, which all get 32 bits. A displaced call pushes the return address that it
 * has in the function: no task returns to the slot, and stack traces do not show it.
 *
 * This decides from the instructions alone. That nothing else branches to the displaced
 * bytes, and that no table of the kernel has an address in them (exceptions, alternatives,
 * jump labels, static calls), is what objtool has found out (tools/objtool/ktrace.c).
 *
 * tools/testing/ktrace compiles this file as well, and executes what it writes.
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#include <asm/insn.h>

#include "ktrace_reloc.h"

#define PUSH_IMM32_OPCODE	0x68
#define JMP_OPCODE		0xe9
/* Behind 0x0f, with the condition in the four low bits */
#define JCC_OPCODE		0x80

/* What is done with an instruction */
enum insn_action {
	ACTION_COPY,
	ACTION_RETURN,	/* is copied, and nothing behind it is executed */
	ACTION_JMP,
	ACTION_JCC,
	ACTION_CALL,
};

struct relocation {
	const u8		*code;
	unsigned long		from;
	u8			*buf;
	unsigned long		to;
	unsigned int		size;
	struct ktrace_moved	moved;		/* so far */
	unsigned long		targets;	/* a bit for each byte of code branched to */
	int			err;		/* of what could not be written */
};

/* The address of the instruction that is moved next */
static unsigned long old_ip(const struct relocation *r)
{
	return r->from + r->moved.old_len;
}

/* Where it is moved to */
static unsigned long new_ip(const struct relocation *r)
{
	return r->to + r->moved.new_len;
}

static void write_bytes(struct relocation *r, const void *bytes, unsigned int len)
{
	if (len > r->size - r->moved.new_len) {
		r->err = -ENOSPC;
		return;
	}

	memcpy(r->buf + r->moved.new_len, bytes, len);
	r->moved.new_len += len;
}

/* 32 bits that the CPU extends with their sign */
static s32 fit(struct relocation *r, long value)
{
	if (value != (s32)value)
		r->err = -ERANGE;

	return value;
}

static void write_branch(struct relocation *r, const u8 *opcode, unsigned int len,
			 unsigned long target)
{
	s32 disp = fit(r, target - (new_ip(r) + len + sizeof(disp)));

	write_bytes(r, opcode, len);
	write_bytes(r, &disp, sizeof(disp));
}

static void write_jmp(struct relocation *r, unsigned long target)
{
	write_branch(r, (u8[]){ JMP_OPCODE }, 1, target);
}

static void write_jcc(struct relocation *r, struct insn *insn, unsigned long target)
{
	u8 condition = insn->opcode.bytes[insn->opcode.nbytes - 1] & 0xf;

	write_branch(r, (u8[]){ 0x0f, JCC_OPCODE | condition }, 2, target);
}

static void write_call(struct relocation *r, struct insn *insn, unsigned long target)
{
	s32 ret = fit(r, old_ip(r) + insn->length);

	write_bytes(r, (u8[]){ PUSH_IMM32_OPCODE }, 1);
	write_bytes(r, &ret, sizeof(ret));
	write_jmp(r, target);
}

static void write_copy(struct relocation *r, struct insn *insn)
{
	u8 bytes[MAX_INSN_SIZE];
	s32 disp;

	memcpy(bytes, insn->kaddr, insn->length);
	if (insn_rip_relative(insn)) {
		/* Relative to the end of the instruction, whose length stays the same */
		disp = fit(r, insn->displacement.value + old_ip(r) - new_ip(r));
		memcpy(bytes + insn_offset_displacement(insn), &disp, sizeof(disp));
	}

	write_bytes(r, bytes, insn->length);
}

static void write_insn(struct relocation *r, struct insn *insn, enum insn_action action)
{
	unsigned long target = old_ip(r) + insn->length + insn->immediate.value;

	if (action == ACTION_COPY || action == ACTION_RETURN) {
		write_copy(r, insn);
		return;
	}

	if (target - r->from < BITS_PER_LONG)
		r->targets |= BIT(target - r->from);

	if (action == ACTION_JCC)
		write_jcc(r, insn, target);
	else if (action == ACTION_CALL)
		write_call(r, insn, target);
	else
		write_jmp(r, target);
}

/* The action of a relative branch, whose prefixes are not written again */
static int branch_action(struct insn *insn, enum insn_action action)
{
	/*
	 * Hints, padding by the assembler, and bnd do not matter. Lock (f0) is not valid. CPUs
	 * do not agree on what the operand size (66) does to the length and the target.
	 */
	for (unsigned int i = 0; i < ARRAY_SIZE(insn->prefixes.bytes); i++) {
		if (insn->prefixes.bytes[i] == 0x66 || insn->prefixes.bytes[i] == 0xf0)
			return -EILSEQ;
	}

	return action;
}

static int two_byte_action(struct insn *insn)
{
	switch (insn->opcode.bytes[1]) {
	case JCC_OPCODE ... JCC_OPCODE + 0xf:
		return branch_action(insn, ACTION_JCC);
	case 0x05: case 0x07:			/* syscall, sysret */
	case 0x34: case 0x35:			/* sysenter, sysexit */
		return -EPERM;
	case 0x0b: case 0xb9: case 0xff:	/* ud2, ud1, ud0 */
		return -EFAULT;
	default:
		return ACTION_COPY;
	}
}

static int one_byte_action(struct insn *insn)
{
	switch (insn->opcode.bytes[0]) {
	case 0x70 ... 0x7f:
		return branch_action(insn, ACTION_JCC);
	case 0xe8:
		return branch_action(insn, ACTION_CALL);
	case JMP_OPCODE: case 0xeb:
		return branch_action(insn, ACTION_JMP);
	case 0xc2: case 0xc3:
		return ACTION_RETURN;
	case 0x8e:				/* mov to a segment register */
		/* To SS: no interrupt between it and the next instruction, nor behind sti */
		return insn_masking_exception(insn) ? -EOPNOTSUPP : ACTION_COPY;
	case 0xfb:				/* sti */
	case 0xe0 ... 0xe3:			/* loop, jrcxz */
		return -EOPNOTSUPP;
	case 0xc7:				/* mov, or xbegin */
		return X86_MODRM_REG(insn->modrm.bytes[0]) ? -EOPNOTSUPP : ACTION_COPY;
	case 0xca: case 0xcb: case 0xcf:	/* far ret, iret */
		return -EPERM;
	case 0xff:				/* call and jmp, near and far */
		return X86_MODRM_REG(insn->modrm.bytes[0]) - 2U < 4 ? -EPERM : ACTION_COPY;
	case 0xcc: case 0xcd: case 0xf1:	/* int3, int, int1 */
		return -EFAULT;
	default:
		return ACTION_COPY;
	}
}

/* Which enum insn_action, or why the instruction cannot be moved */
static int insn_action(struct insn *insn)
{
	/* The decoder takes a prefix for an opcode if it is not in its place, or one of many */
	if (insn->attr & INAT_PFX_MASK)
		return -EILSEQ;

	/* This prefix is of APX, of which the kernel uses neither the registers nor the jump */
	if (insn_is_rex2(insn))
		return -EILSEQ;

	/* ud2 and a name: a hypervisor looks at what follows */
	if (insn_has_emulate_prefix(insn))
		return -EFAULT;

	/* Their opcodes are others: that of vzeroupper would be a jump */
	if (insn->vex_prefix.value)
		return ACTION_COPY;

	return insn->opcode.nbytes == 1 ? one_byte_action(insn) : two_byte_action(insn);
}

/* Move one instruction. Returns its action, or an error. */
static int move_insn(struct relocation *r)
{
	struct insn insn __uninitialized;
	int action;

	if (insn_decode(&insn, r->code + r->moved.old_len, MAX_INSN_SIZE, INSN_MODE_64))
		return -EILSEQ;

	action = insn_action(&insn);
	if (action < 0)
		return action;

	write_insn(r, &insn, action);
	if (!r->moved.nr)
		r->moved.first_len = insn.length;
	r->moved.old_len += insn.length;
	r->moved.nr++;

	return r->err ?: action;
}

/**
 * ktrace_relocate - move whole instructions from the entry of a function to another address
 * @code: a copy of the KTRACE_RELOC_CODE(@min) bytes at @from. Those behind the last
 *	instruction that is moved do not matter.
 * @from: address of the first instruction of the function, behind its ENDBR
 * @min: move instructions until they cover this many bytes: 1 for a breakpoint, 2 or 5 for
 *	a jump
 * @buf: what is to be executed at @to is written here, and nothing behind it
 * @to: address that the first moved instruction gets
 * @size: size of @buf; KTRACE_RELOC_SIZE_MAX is enough
 * @moved: set if the instructions were moved
 *
 * What is written does the same as the instructions, and goes on where they do. It pushes
 * the return address before it jumps to the target of a call: in between, the stack is that
 * of the first instruction of the target.
 *
 * Context: any. Takes no lock, and only reads @code.
 *
 * Return: 0, or
 * * -EILSEQ: an instruction cannot be decoded, or means different things on different CPUs
 * * -EFAULT: one of them is a trap: the kernel looks up its address
 * * -EPERM: an indirect or far jump, call or return, or a system call
 * * -EOPNOTSUPP: loop, jrcxz or xbegin, or sti or mov to SS, which affect what follows
 * * -EADDRINUSE: a call ends within the first @min bytes: it would return into displaced bytes
 * * -ELOOP: one of the instructions branches to the displaced bytes
 * * -ENODATA: a jump or return ends the code within the first @min bytes
 * * -ERANGE: the target of a branch or an operand is out of reach from @to, or a return
 *   address is not in the lowest or highest 2 GiB
 * * -ENOSPC: @size is too small
 */
int ktrace_relocate(const u8 *code, unsigned long from, unsigned int min, u8 *buf,
		    unsigned long to, unsigned int size, struct ktrace_moved *moved)
{
	struct relocation r = {
		.code = code, .from = from, .buf = buf, .to = to, .size = size,
	};
	int action;

	for (;;) {
		action = move_insn(&r);
		if (action < 0)
			return action;
		if (r.moved.old_len >= min)
			break;
		if (action == ACTION_CALL)
			return -EADDRINUSE;
		if (action == ACTION_JMP || action == ACTION_RETURN)
			return -ENODATA;
	}

	if (r.targets & GENMASK(r.moved.old_len - 1, 0))
		return -ELOOP;

	r.moved.is_call = action == ACTION_CALL;
	if (action == ACTION_COPY || action == ACTION_JCC)
		write_jmp(&r, old_ip(&r));
	if (!r.err)
		*moved = r.moved;

	return r.err;
}

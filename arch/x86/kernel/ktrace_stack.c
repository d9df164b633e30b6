// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace: what stack traces and the unwinder make of an address in padding or in a slot.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/ktrace.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include <asm/insn.h>

#include "ktrace_reloc.h"
#include "ktrace_loc.h"
#include "ktrace_slot.h"

/**
 * arch_ktrace_text_address - the address to report for one in code that ktrace has written
 * @ip: any address
 *
 * Padding and slots belong to no function, or to a symbol of their own. A task there has
 * entered the function: users of stack traces, live patching among them, have to find the
 * function.
 *
 * Context: any, NMI included.
 *
 * Return: the address behind the first byte of the function if @ip is the address of an
 * instruction that ktrace has written to its padding, the return address of the call there, or
 * an address in its slot; @ip else.
 */
unsigned long arch_ktrace_text_address(unsigned long ip)
{
	/* Padding and @ip are in the same 16 bytes */
	unsigned long func = ALIGN(ip, KTRACE_FUNC_ALIGN);
	const struct ktrace_slot *slot;

	/* Keep the slot of a module from being freed */
	guard(preempt_notrace)();

	slot = ktrace_slot_at(ip);
	if (slot)
		return ktrace_slot_func(slot) + 1;

	if (func - ip > sizeof(struct ktrace_pad) || func == ip)
		return ip;

	/* A wild jump may have led there. Init text may not be mapped once it has been freed. */
	if (!kernel_text_address(ip))
		return ip;

	return ktrace_is_in_pad_code(func, ip) ? func + 1 : ip;
}
EXPORT_SYMBOL_IF_KUNIT(arch_ktrace_text_address);

/*
 * Is it a short conditional jump, of which ktrace_relocate() makes one of six bytes? A long one has
 * six bytes at least: nothing is displaced behind it.
 */
static bool is_jcc(struct insn *insn)
{
	return !insn->vex_prefix.value && insn->opcode.nbytes == 1 &&
	       (insn->opcode.bytes[0] & 0xf0) == 0x70;
}

/*
 * The address of the displaced instruction that is @offset bytes behind the first in the slot,
 * 0 if there is none
 */
static unsigned long displaced_ip(const struct ktrace_slot *slot, unsigned int offset)
{
	unsigned long entry = ktrace_entry_of(ktrace_slot_func(slot));
	u8 code[KTRACE_RELOC_CODE(KTRACE_RELOC_MIN_MAX)] = { };
	unsigned int old = 0, new = 0;
	struct insn insn;

	/* Only the last displaced instruction can end behind these bytes */
	memcpy(code, slot->replaced, sizeof(slot->replaced));
	while (new < offset && old < sizeof(slot->replaced)) {
		if (insn_decode(&insn, code + old, MAX_INSN_SIZE, INSN_MODE_64))
			return 0;
		old += insn.length;
		new += is_jcc(&insn) ? KTRACE_JCC32_SIZE : insn.length;
	}

	return new == offset ? entry + old : 0;
}

/**
 * ktrace_unwind_ip - an address with the same unwind information as one in a slot
 * @ip: any address
 *
 * Context: any in which the slot cannot go away, see ktrace_slot_at(); NMI included.
 *
 * Return: an address that the unwinder knows, 0 if @ip is not in a slot.
 */
unsigned long ktrace_unwind_ip(unsigned long ip)
{
	const struct ktrace_slot *slot = ktrace_slot_at(ip);
	unsigned long jmp_end = ip + JMP32_INSN_SIZE;

	if (!slot)
		return 0;

	/* The first instruction of the function is not executed yet */
	if (ip <= (unsigned long)slot->code)
		return ktrace_slot_func(slot);

	/* The breakpoint of a slot that was split: on to the function */
	if (slot->form == KTRACE_SLOT_SEVERAL && *(u8 *)(ip - 1) == INT3_INSN_OPCODE &&
	    ip - 1 == (unsigned long)ktrace_slot_second(slot))
		return ktrace_entry_of(ktrace_slot_func(slot)) + slot->first_len;

	/*
	 * A jump out of the slot, or to the target of a displaced call: only the ip changes, so
	 * that the target has the same unwind information
	 */
	if (*(u8 *)ip == JMP32_INSN_OPCODE)
		return jmp_end + *(s32 *)(ip + 1);

	return displaced_ip(slot, ip - (unsigned long)slot->code);
}

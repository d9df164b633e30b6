// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace: what a function gets when it is traced for the first time: code in its padding, and
 * a slot if it needs one.
 *
 * Nobody executes these yet, so that they are written without breakpoints, many at a time.
 *
 * All is called with text_mutex held. ktrace_add_code() takes slot_lock.
 */
#include <linux/ktrace.h>
#include <linux/lockdep.h>
#include <linux/memory.h>
#include <linux/perf_event.h>
#include <linux/string.h>

#include <asm/insn.h>
#include <asm/text-patching.h>

#include "ktrace_code.h"
#include "ktrace_entry.h"
#include "ktrace_loc.h"
#include "ktrace_slot.h"

struct new_code {
	unsigned int		nr;
	struct text_poke_block	blocks[TEXT_POKE_WRITES];
};

static struct new_code new_pads, new_slots;

static_assert(sizeof(new_pads.blocks[0].code) == KTRACE_FUNC_ALIGN);

#define BLOCKS_OF_SLOT		(sizeof(struct ktrace_slot) / KTRACE_FUNC_ALIGN)
static_assert(ARRAY_SIZE(new_slots.blocks) % BLOCKS_OF_SLOT == 0);
/* All that is written in front of a function is padding, of which the end is used */
static_assert(!IS_ENABLED(CONFIG_CALL_PADDING) ||
	      CONFIG_FUNCTION_PADDING_BYTES >= KTRACE_FUNC_ALIGN);
/* What is copied for a slot is in the sixteen bytes of the entry */
static_assert(ENDBR_INSN_SIZE + KTRACE_SLOT_CODE - JMP32_INSN_SIZE <= KTRACE_FUNC_ALIGN);

static void write_new_code(struct new_code *new)
{
	struct text_poke_block *block;

	/* perf decodes what was executed: tell it before somebody gets there */
	for (block = new->blocks; block < new->blocks + new->nr; block++)
		perf_event_text_poke(block->addr, block->addr, sizeof(block->code),
				     block->code, sizeof(block->code));

	text_poke_blocks(new->blocks, new->nr);
}

/*
 * Enter new slots into the table of ktrace_entry.c, if the function can have a breakpoint, since
 * the handler searches the table; or if the padding is not used, since then only the table tells
 * which slot a function has.
 */
static void publish_slots(void)
{
	for (unsigned int i = 0; i < new_slots.nr; i += BLOCKS_OF_SLOT) {
		struct ktrace_slot *slot = new_slots.blocks[i].addr;

		if (slot->form != KTRACE_SLOT_JUMP || !ktrace_uses_padding())
			ktrace_set_entry_slot(ktrace_entry_of(ktrace_slot_func(slot)), slot);
	}
}

static void write_slots(void)
{
	write_new_code(&new_slots);
	publish_slots();
	new_slots.nr = 0;
}

static void write_pads(void)
{
	write_new_code(&new_pads);
	new_pads.nr = 0;
}

/**
 * ktrace_write_code - write what was added
 */
void ktrace_write_code(void)
{
	lockdep_assert_held(&text_mutex);

	write_slots();
	write_pads();
}

/**
 * ktrace_drop_code - do not write what was added
 */
void ktrace_drop_code(void)
{
	lockdep_assert_held(&text_mutex);

	new_slots.nr = 0;
	new_pads.nr = 0;
}

static u8 *add_block(struct new_code *new, void *addr)
{
	struct text_poke_block *block = &new->blocks[new->nr++];

	block->addr = addr;

	return block->code;
}

/* The padding that is used is the end of the block in front of the function */
static void *add_pad(unsigned long func)
{
	void *addr = (void *)func - KTRACE_FUNC_ALIGN;
	u8 *code;

	/* Slots first: a pad may jump to a new one */
	if (new_pads.nr == ARRAY_SIZE(new_pads.blocks))
		ktrace_write_code();

	code = add_block(&new_pads, addr);
	memcpy(code, addr, KTRACE_FUNC_ALIGN);

	return code + KTRACE_FUNC_ALIGN - sizeof(struct ktrace_pad);
}

/* Can the instructions that begin in the jump's place be displaced with the first? */
static bool can_displace_several(const struct ktrace_loc *loc)
{
	/* Every byte, not only first bytes of instructions: a false match keeps the breakpoint */
	for (unsigned int i = 1; i < ktrace_jump_len(); i++) {
		if (ktrace_is_smp_lock(loc->entry + i))
			return false;
	}

	/* From .ktrace_sites: to keep it with the entry would need memory for each function */
	return ktrace_site_class(loc->func) == KTRACE_SITE_ANY;
}

/* All instructions in the place of the jump, if they can be displaced, or the first */
static int make_code(const struct ktrace_loc *loc, const u8 *insns, unsigned long at, u8 *code,
		     struct ktrace_moved *moved)
{
	int ret;

	/* A kprobe of another instruction than the first would not be hit in the slot */
	if (!ktrace_needs_one_insn(loc->entry)) {
		ret = ktrace_make_slot_code(insns, loc->entry, ktrace_jump_len(), at, code, moved);
		if (!ret && (moved->nr == 1 || can_displace_several(loc)))
			return 0;
	}

	return ktrace_make_slot_code(insns, loc->entry, INT3_INSN_SIZE, at, code, moved);
}

/* Fill the code of @slot, which is to be at @at */
static int fill_slot(const struct ktrace_loc *loc, unsigned long at, struct ktrace_slot *slot)
{
	/* Only what can fit into a slot: the bytes behind may be unmapped */
	const unsigned int max_len = sizeof(slot->code) - JMP32_INSN_SIZE;
	u8 insns[KTRACE_RELOC_CODE(JMP32_INSN_SIZE)] = { };
	unsigned int jump_len = ktrace_jump_len();
	struct ktrace_moved moved = { };
	int ret;

	memcpy(insns, (void *)loc->entry, max_len);
	memcpy(slot->replaced, insns, sizeof(slot->replaced));

	ret = make_code(loc, insns, at, slot->code, &moved);

	slot->first_len = moved.first_len;
	if (moved.nr > 1)
		slot->form = KTRACE_SLOT_SEVERAL;
	else
		slot->form = moved.first_len < jump_len ? KTRACE_SLOT_BREAKPOINT : KTRACE_SLOT_JUMP;

	return ret;
}

/*
 * Give a slot, whose call calls @callee, to a function. Returns the slot, or NULL if no slot is
 * left or the first instruction cannot be displaced. Neither happens for a function that has a
 * record, unless ftrace is dead: slots taken before ktrace_drop_code() are not given back.
 */
static struct ktrace_slot *add_slot(const struct ktrace_loc *loc, unsigned long callee)
{
	struct ktrace_slot *at = ktrace_take_slot(loc->func);
	struct ktrace_slot slot __uninitialized;
	unsigned long code;

	if (!at)
		return NULL;

	code = (unsigned long)at->code;
	slot.distance = loc->func - code;
	slot.call = CALL_INSN_OPCODE;
	slot.disp = callee - code;
	if (WARN_ON_ONCE(fill_slot(loc, code, &slot)))
		return NULL;

	if (new_slots.nr == ARRAY_SIZE(new_slots.blocks))
		write_slots();
	for (int i = 0; i < sizeof(slot); i += KTRACE_FUNC_ALIGN)
		memcpy(add_block(&new_slots, (void *)at + i), (void *)&slot + i,
		       KTRACE_FUNC_ALIGN);

	return at;
}

/* Add the jump from the padding of a function to its slot */
static void add_slot_pad(unsigned long func, struct ktrace_slot *slot)
{
	struct ktrace_slot_pad *pad;

	/* The jump at the entry leads to the slot */
	if (!ktrace_uses_padding())
		return;

	pad = add_pad(func);
	pad->jmp = JMP32_INSN_OPCODE;
	pad->disp = (unsigned long)&slot->call - func;
}

/**
 * ktrace_add_code - add what the function needs when it is traced for the first time
 * @loc: the function, for which this was not done yet
 * @callee: what its call calls
 *
 * Return: 0, or -EINVAL after a WARN().
 */
int ktrace_add_code(const struct ktrace_loc *loc, unsigned long callee)
{
	struct ktrace_slot *slot;

	if (loc->kind == KTRACE_KIND_PADDING) {
		ktrace_make_pad(add_pad(loc->func), loc->func, callee);
		return 0;
	}

	slot = add_slot(loc, callee);
	/* arch_ktrace_traceable() has counted it */
	if (WARN_ON_ONCE(!slot))
		return -EINVAL;
	add_slot_pad(loc->func, slot);

	return 0;
}

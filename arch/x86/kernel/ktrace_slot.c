// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace: memory for the instructions that are displaced from the entry of functions.
 *
 *	slot+0	.long	func - (slot+9)
 *	slot+4	call	trampoline
 *	slot+9	what is displaced: one instruction, or several
 *		jmp	the next one of the function
 *
 * The kernel, and each module, has an area with a slot for each function that needs one. The
 * areas are allocated before the first tracer starts, so that ftrace_replace_code() never
 * allocates. A slot is given to a function when it is traced for the first time, and
 * stays with it, because a task may be preempted in it, or sleep in a direct call that returns
 * to it. The slots of a module are freed with its code: a task in one of them is in the module.
 *
 * The unwinder looks into the tree of the areas in any context.
 */
#define pr_fmt(fmt) "ktrace: " fmt

#include <linux/cleanup.h>
#include <linux/execmem.h>
#include <linux/ftrace.h>
#include <linux/ktrace.h>
#include <linux/list.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/pgtable.h>
#include <linux/preempt.h>
#include <linux/rbtree_latch.h>
#include <linux/rcupdate.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "ktrace_loc.h"
#include "ktrace_reloc.h"
#include "ktrace_slot.h"

static_assert(sizeof(struct ktrace_slot) == 32);
static_assert(offsetof(struct ktrace_slot, code) == -KTRACE_DISTANCE_OFFSET);

#define LOCK_INSN_PREFIX	0xf0
#define DS_INSN_PREFIX	0x3e

/**
 * ktrace_is_smp_lock - has an instruction a LOCK that alternatives may change later?
 * @addr: address of the instruction
 *
 * With one CPU, they make LOCK a DS, and change it back when a second CPU comes.
 *
 * Context: any.
 *
 * Return: whether they may.
 */
bool ktrace_is_smp_lock(unsigned long addr)
{
	u8 prefix = *(u8 *)addr;

	if (prefix == LOCK_INSN_PREFIX)
		return num_present_cpus() == 1 || setup_max_cpus <= 1;

	return prefix == DS_INSN_PREFIX;
}

/**
 * ktrace_make_slot_code - make the code that a slot has in place of instructions
 * @insns: the instructions; KTRACE_RELOC_CODE(@min) bytes
 * @entry: address of the first
 * @min: displace instructions until they cover this many bytes
 * @to: address of the code
 * @code: is filled; KTRACE_SLOT_CODE bytes
 * @moved: set to what was displaced
 *
 * Context: any.
 *
 * Return: 0, an error of ktrace_relocate(), or -EPERM if a call would be displaced while
 * ktrace_stuffing_requested is set: call depth tracking would count the push and the jump that
 * replace the call, but the return stack buffer gets no entry.
 */
int ktrace_make_slot_code(const u8 *insns, unsigned long entry, unsigned int min, unsigned long to,
			  u8 *code, struct ktrace_moved *moved)
{
	int ret;

	memset(code, INT3_INSN_OPCODE, KTRACE_SLOT_CODE);
	ret = ktrace_relocate(insns, entry, min, code, to, KTRACE_SLOT_CODE, moved);
	if (ret)
		return ret;

	return moved->is_call && ktrace_stuffing_requested ? -EPERM : 0;
}

/*
 * Changed under slot_lock. Readers do not take it: they find @node in a tree with a latch, and may
 * see @used change. The states change under text_mutex. They are not in the slots, whose memory is
 * read-only.
 */
struct slot_area {
	struct list_head	list;
	struct latch_tree_node	node;		/* if it has slots */
	struct module		*mod;		/* NULL for the kernel */
	struct ktrace_slot	*slots;		/* NULL until a tracer starts */
	u8			*states;	/* of each: enum ktrace_slot_state */
	unsigned int		nr, used;
};

static DEFINE_MUTEX(slot_lock);
static LIST_HEAD(areas);
static struct latch_tree_root area_tree;
/* A tracer has started: modules that are loaded get their slots at once */
static bool allocated;

static __always_inline struct slot_area *node_area(struct latch_tree_node *node)
{
	return container_of(node, struct slot_area, node);
}

static __always_inline bool is_area_below(struct latch_tree_node *a, struct latch_tree_node *b)
{
	return node_area(a)->slots < node_area(b)->slots;
}

static __always_inline int cmp_area(void *ip, struct latch_tree_node *node)
{
	struct slot_area *area = node_area(node);

	if (ip < (void *)area->slots)
		return -1;

	return ip >= (void *)(area->slots + area->nr);
}

static const struct latch_tree_ops area_ops = {
	.less	= is_area_below,
	.comp	= cmp_area,
};

static size_t area_size(const struct slot_area *area)
{
	return PAGE_ALIGN(area->nr * sizeof(*area->slots));
}

static void tell_perf(const struct slot_area *area, bool gone)
{
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, (unsigned long)area->slots,
			   area_size(area), gone, "ktrace_slots");
}

static int alloc_area(struct slot_area *area)
{
	u8 *states __free(kvfree) = NULL;
	size_t size = area_size(area);
	struct ktrace_slot *slots;
	int ret;

	if (area->slots)
		return 0;

	states = kvcalloc(area->nr, sizeof(*states), GFP_KERNEL);
	if (!states)
		return -ENOMEM;

	slots = execmem_alloc_rw(EXECMEM_FTRACE, size);
	if (!slots)
		return -ENOMEM;

	memset(slots, INT3_INSN_OPCODE, size);
	ret = set_memory_rox((unsigned long)slots, size >> PAGE_SHIFT);
	if (ret) {
		execmem_free(slots);
		return ret;
	}

	area->slots = slots;
	area->states = no_free_ptr(states);
	latch_tree_insert(&area->node, &area_tree, &area_ops);
	tell_perf(area, false);

	return 0;
}

static int add_area(struct module *mod, unsigned int nr)
{
	struct slot_area *area __free(kfree) = kzalloc_obj(*area);
	int ret;

	lockdep_assert_held(&slot_lock);

	if (!area)
		return -ENOMEM;

	area->mod = mod;
	area->nr = nr;
	if (allocated) {
		ret = alloc_area(area);
		if (ret)
			return ret;
	}
	/* The kernel has most functions: its area comes first */
	if (mod)
		list_add_tail(&no_free_ptr(area)->list, &areas);
	else
		list_add(&no_free_ptr(area)->list, &areas);

	return 0;
}

/**
 * ktrace_add_slots - reserve slots for functions of the kernel or of a module
 * @mod: the module, or NULL
 * @nr: how many
 *
 * Context: process context, may sleep; takes slot_lock.
 *
 * Return: 0, or -ENOMEM.
 */
int ktrace_add_slots(struct module *mod, unsigned int nr)
{
	if (!nr)
		return 0;

	guard(mutex)(&slot_lock);

	return add_area(mod, nr);
}

/**
 * ktrace_alloc_slots - allocate all slots, unless this was done
 *
 * Context: process context, may sleep; takes slot_lock.
 *
 * Return: 0, or -ENOMEM. What was allocated is kept.
 */
int ktrace_alloc_slots(void)
{
	struct slot_area *area;
	int ret;

	guard(mutex)(&slot_lock);

	if (allocated)
		return 0;

	list_for_each_entry(area, &areas, list) {
		ret = alloc_area(area);
		if (ret)
			return ret;
	}
	allocated = true;

	return 0;
}

static void free_area(struct slot_area *area)
{
	if (area->slots) {
		tell_perf(area, true);
		execmem_free(area->slots);
		kvfree(area->states);
	}
	kfree(area);
}

/**
 * ktrace_free_slots - free the slots of a module
 * @mod: the module, whose records and entries are gone
 *
 * Context: process context, may sleep; takes slot_lock.
 */
void ktrace_free_slots(struct module *mod)
{
	struct slot_area *area, *next;
	bool had_slots = false;
	LIST_HEAD(gone);

	scoped_guard(mutex, &slot_lock) {
		list_for_each_entry_safe(area, next, &areas, list) {
			if (area->mod != mod)
				continue;
			list_move(&area->list, &gone);
			if (!area->slots)
				continue;
			latch_tree_erase(&area->node, &area_tree, &area_ops);
			had_slots = true;
		}
	}

	/* For ktrace_slot_at() */
	if (had_slots)
		synchronize_rcu();

	list_for_each_entry_safe(area, next, &gone, list)
		free_area(area);
}

static struct slot_area *area_with_room(unsigned long func)
{
	struct slot_area *area;

	lockdep_assert_held(&slot_lock);

	list_for_each_entry(area, &areas, list) {
		if (!area->slots || area->used == area->nr)
			continue;
		if (area->mod ? within_module(func, area->mod) : core_kernel_text(func))
			return area;
	}

	return NULL;
}

/**
 * ktrace_take_slot - give a slot to a function
 * @func: address of the function, whose module is pinned
 *
 * ktrace_slot_at() finds the slot at once. Until it is written, it is full of INT3: its distance
 * leads to no function, and its form is none of enum ktrace_slot_form.
 *
 * Context: process context, may sleep; takes slot_lock.
 *
 * Return: the slot; NULL if more are asked for than ktrace_add_slots() was told, or
 * ktrace_alloc_slots() has not allocated them.
 */
struct ktrace_slot *ktrace_take_slot(unsigned long func)
{
	struct slot_area *area;

	guard(mutex)(&slot_lock);

	area = area_with_room(func);
	if (!area)
		return NULL;

	WRITE_ONCE(area->used, area->used + 1);

	return &area->slots[area->used - 1];
}

/**
 * __ktrace_slot_at - the slot in which an address is
 * @ip: any address
 *
 * Context: preemption disabled, NMI included. Calls nothing.
 *
 * Return: the slot, NULL if there is none that a function has.
 */
noinstr const struct ktrace_slot *__ktrace_slot_at(unsigned long ip)
{
	struct latch_tree_node *node;
	struct slot_area *area;
	unsigned int nr;

	/* Where execmem_alloc() allocates */
	if (ip < MODULES_VADDR || ip >= MODULES_END)
		return NULL;

	node = latch_tree_find((void *)ip, &area_tree, &area_ops);
	if (!node)
		return NULL;
	area = node_area(node);

	nr = (ip - (unsigned long)area->slots) / sizeof(*area->slots);

	return nr < READ_ONCE(area->used) ? area->slots + nr : NULL;
}

/**
 * ktrace_slot_at - the slot in which an address is
 * @ip: any address
 *
 * Context: any, NMI included. The slot of a module may be freed, unless the caller has disabled
 * preemption, or has pinned the module.
 *
 * Return: the slot, NULL if there is none that a function has.
 */
const struct ktrace_slot *ktrace_slot_at(unsigned long ip)
{
	guard(preempt_notrace)();

	return __ktrace_slot_at(ip);
}

/**
 * arch_ktrace_is_slot - is an address in a slot?
 * @ip: any address
 *
 * Context: any, NMI included.
 *
 * Return: whether it is.
 */
bool arch_ktrace_is_slot(unsigned long ip)
{
	return ktrace_slot_at(ip);
}

/* Their state */

/**
 * ktrace_slot_state - the state of a slot
 * @slot: a slot that a function has
 *
 * Context: any in which the function cannot go away. To change it, text_mutex held.
 *
 * Return: pointer to the state (enum ktrace_slot_state).
 */
u8 *ktrace_slot_state(const struct ktrace_slot *slot)
{
	struct slot_area *area;

	guard(preempt_notrace)();

	area = node_area(latch_tree_find((void *)slot, &area_tree, &area_ops));

	return &area->states[slot - area->slots];
}

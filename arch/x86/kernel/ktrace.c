// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace on x86_64: functions are traced by a call in the padding before their entry.
 *
 *	func-11	.long	2
 *	func-7	call	trampoline
 *	func-2	jmp	func+4
 *	func	jmp	func-7		over the first two bytes of ENDBR
 *	func+4	...
 *
 * Nobody executes the ENDBR: it is sealed, or the CPU does not have IBT. No instruction
 * of the function is moved.
 *
 * Where the ENDBR is missing or is needed, the first instruction after it is displaced into
 * a slot (ktrace_slot.c):
 *
 *	func-5	jmp	slot+4
 *	func	(ENDBR)
 *	entry	jmp	func-5		over the first two bytes of the instruction
 *
 *	slot	.long	func - (slot+9)
 *	slot+4	call	trampoline
 *	slot+9	the instruction
 *		jmp	the next one
 *
 * It is one instruction of two bytes or more: a task is in front of it or behind it, and
 * never between bytes that are overwritten.
 *
 * The call leaves the stack as a call at the entry does: the trampolines of ftrace and of
 * the multiplexer need no change but that they find the function by the distance in front of
 * the call.
 *
 * The padding and the slot keep their code when the function is not traced any more. A task
 * may be preempted there for any time; what it calls next must be there. ftrace_shutdown()
 * waits for such tasks before it frees an ops.
 */
#define pr_fmt(fmt) "ktrace: " fmt

#include <kunit/visibility.h>
#include <linux/bsearch.h>
#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/ktrace.h>
#include <linux/memory.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/sort.h>
#include <linux/string.h>

#include <asm/alternative.h>
#include <asm/ibt.h>
#include <asm/insn.h>
#include <asm/nospec-branch.h>
#include <asm/nops.h>
#include <asm/text-patching.h>

#include "ktrace_reloc.h"
#include "ktrace_slot.h"

/* The padding of a function, with a call for one whose ENDBR is free */
struct ktrace_pad {
	s32	distance;		/* from the end of the call to the function */
	u8	call;
	s32	disp;
	u8	jmp[JMP8_INSN_SIZE];	/* over ENDBR */
} __packed;

/* The padding of a function that has a slot */
struct ktrace_slot_pad {
	u8	nops[6];
	u8	jmp;			/* to the call in the slot */
	s32	disp;
} __packed;

static_assert(sizeof(struct ktrace_pad) == sizeof(struct ktrace_slot_pad));

#define PAD_CALL_END		JMP8_INSN_SIZE
#define PAD_CALL		(JMP8_INSN_SIZE + CALL_INSN_SIZE)

static_assert(sizeof(s32) + CALL_INSN_SIZE == -KTRACE_DISTANCE);

static const u8 pad_jmp[JMP8_INSN_SIZE] = { JMP8_INSN_OPCODE, ENDBR_INSN_SIZE };
/* What a traced function begins with */
static const u8 traced_jmp[JMP8_INSN_SIZE] = {
	JMP8_INSN_OPCODE, (u8)-(PAD_CALL + JMP8_INSN_SIZE)
};

/* What its first two bytes do when it is not traced: go on behind ENDBR */
static const u8 skip_jmp[JMP8_INSN_SIZE] = {
	JMP8_INSN_OPCODE, ENDBR_INSN_SIZE - JMP8_INSN_SIZE
};

/* The kernel's text can be patched */
static bool ktrace_started __ro_after_init;
/* Something is to be patched then */
static bool ktrace_wanted;

static struct ktrace_pad *pad_of(unsigned long func)
{
	return (struct ktrace_pad *)func - 1;
}

static bool is_traced(unsigned long func)
{
	return !memcmp((void *)func, traced_jmp, sizeof(traced_jmp));
}

static struct ktrace_slot_pad *slot_pad_of(unsigned long func)
{
	return (struct ktrace_slot_pad *)func - 1;
}

/* Has the padding a call, be the function traced or not? */
static bool has_call(const struct ktrace_pad *pad)
{
	/* text_poke_bp() writes a breakpoint while it changes the call */
	return pad->distance == PAD_CALL_END &&
	       (pad->call == CALL_INSN_OPCODE || pad->call == INT3_INSN_OPCODE) &&
	       !memcmp(pad->jmp, pad_jmp, sizeof(pad_jmp));
}

/* Must the ENDBRs that are not sealed stay? For tests on a CPU that does not need them. */
static bool keep_endbr __ro_after_init;

static int __init set_keep_endbr(char *str)
{
	keep_endbr = IS_ENABLED(CONFIG_KTRACE_KUNIT_TEST);

	return 0;
}
early_param("ktrace_keep_endbr", set_keep_endbr);

static bool must_keep_endbr(void)
{
	return keep_endbr || cpu_feature_enabled(X86_FEATURE_IBT);
}

/* Does the function begin with an ENDBR that may be overwritten, or is? */
static bool is_endbr_free(unsigned long func)
{
	u32 insn = *(u32 *)func;

	if (is_traced(func) || insn == gen_endbr_poison())
		return true;

	return is_endbr(insn) && !must_keep_endbr();
}

/* Functions with a slot */

/* Where a function is patched that has, or needs, a slot */
static unsigned long slot_entry(unsigned long func)
{
	return is_endbr(*(u32 *)func) ? func + ENDBR_INSN_SIZE : func;
}

/* The slot of the function, be it traced or not; NULL if it does not have one */
static struct ktrace_slot *slot_of(unsigned long func)
{
	struct ktrace_slot_pad *pad = slot_pad_of(func);
	struct ktrace_slot *slot;

	if (pad->jmp != JMP32_INSN_OPCODE)
		return NULL;

	/* It may be a byte of a call */
	slot = (void *)func + pad->disp - offsetof(struct ktrace_slot, call);
	if (ktrace_slot_at((unsigned long)slot) != slot || ktrace_slot_func(slot) != func)
		return NULL;

	return slot;
}

static void slot_jmp(unsigned long func, u8 jmp[JMP8_INSN_SIZE])
{
	unsigned long end = slot_entry(func) + JMP8_INSN_SIZE;

	jmp[0] = JMP8_INSN_OPCODE;
	jmp[1] = (unsigned long)&slot_pad_of(func)->jmp - end;
}

static bool is_slot_traced(unsigned long func)
{
	u8 jmp[JMP8_INSN_SIZE];

	slot_jmp(func, jmp);

	return !memcmp((void *)slot_entry(func), jmp, sizeof(jmp));
}

static unsigned long slot_callee(const struct ktrace_slot *slot)
{
	return (unsigned long)slot->code + slot->disp;
}

/* The first instruction after ENDBR, as code for @slot; -E2BIG if the jump is longer than it */
static int displace_insn(unsigned long func, const struct ktrace_slot *slot,
			 u8 code[KTRACE_SLOT_CODE])
{
	unsigned long entry = slot_entry(func);
	struct ktrace_moved moved;
	int ret;

	ret = ktrace_relocate((void *)entry, entry, 1, code, (unsigned long)slot->code,
			      KTRACE_SLOT_CODE, &moved);
	if (ret)
		return ret;

	return moved.len >= JMP8_INSN_SIZE ? 0 : -E2BIG;
}

/* Which functions can be traced */

static int cmp_addresses(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

/* The ENDBRs that apply_seal_endbr() will overwrite, sorted */
static unsigned long *sealed_endbrs(unsigned int *nr)
{
	unsigned long *sealed;
	s32 *s;

	sealed = kvmalloc_array(__ibt_endbr_seal_end - __ibt_endbr_seal, sizeof(*sealed),
				GFP_KERNEL);
	if (!sealed)
		return NULL;

	*nr = 0;
	for (s = __ibt_endbr_seal; s < __ibt_endbr_seal_end; s++)
		sealed[(*nr)++] = (unsigned long)s + *s;
	sort(sealed, *nr, sizeof(*sealed), cmp_addresses, NULL);

	return sealed;
}

static bool is_sealed(unsigned long func, const unsigned long *sealed, unsigned int nr)
{
	return sealed && bsearch(&func, sealed, nr, sizeof(*sealed), cmp_addresses);
}

static enum ktrace_obstacle padding_obstacle(unsigned long func)
{
	if (memchr_inv(pad_of(func), BYTES_NOP1, sizeof(struct ktrace_pad)))
		return KTRACE_PADDING_USED;

	return KTRACE_NO_OBSTACLE;
}

/* Before alternatives were applied, this is what a return is */
static bool is_return(unsigned long entry)
{
	if (!IS_ENABLED(CONFIG_MITIGATION_RETHUNK) || *(u8 *)entry != JMP32_INSN_OPCODE)
		return false;

	return entry + JMP32_INSN_SIZE + *(s32 *)(entry + 1) == (unsigned long)__x86_return_thunk;
}

#define LOCK_INSN_PREFIX	0xf0
#define DS_INSN_PREFIX	0x3e

/* What is in the way of a slot? */
static enum ktrace_obstacle slot_obstacle(unsigned long func, unsigned int class)
{
	unsigned long entry = slot_entry(func);
	u8 code[KTRACE_SLOT_CODE];

	/* With one CPU, LOCK is DS until a second CPU comes */
	if (class == KTRACE_SITE_PADDING ||
	    *(u8 *)entry == LOCK_INSN_PREFIX || *(u8 *)entry == DS_INSN_PREFIX)
		return KTRACE_INSN_FIXED;

	if (is_return(entry))
		return KTRACE_INSN_SHORT;

	switch (displace_insn(func, (void *)MODULES_VADDR, code)) {
	case 0:
		return KTRACE_NO_OBSTACLE;
	case -E2BIG:
		return KTRACE_INSN_SHORT;
	default:
		return KTRACE_INSN_FIXED;
	}
}

/**
 * arch_ktrace_obstacle - why the code of a function cannot be patched
 * @func: address of the function
 * @class: what the build tells of its first instructions, KTRACE_SITE_*
 *
 * Context: any in which the function cannot go away: its module is pinned, or preemption
 * is disabled.
 *
 * Return: the reason, or KTRACE_NO_OBSTACLE.
 */
enum ktrace_obstacle arch_ktrace_obstacle(unsigned long func, unsigned int class)
{
	enum ktrace_obstacle ret = padding_obstacle(func);

	return ret || is_endbr_free(func) ? ret : slot_obstacle(func, class);
}
EXPORT_SYMBOL_IF_KUNIT(arch_ktrace_obstacle);

/**
 * arch_ktrace_traceable - select the functions that can be traced
 * @mod: the module, after its alternatives were applied, or NULL for the kernel
 * @funcs: addresses of the functions plus their class, KTRACE_SITE_*, sorted. On return, the
 *	addresses of those that can be traced come first, sorted.
 * @nr: their number
 *
 * Context: process context, may sleep.
 *
 * Return: the number of functions that can be traced, or -ENOMEM.
 */
int arch_ktrace_traceable(struct module *mod, unsigned long *funcs, unsigned int nr)
{
	unsigned long *sealed __free(kvfree) = NULL;
	unsigned int nr_sealed = 0, nr_slots = 0;
	int ret, traceable = 0;

	if (!mod && must_keep_endbr())
		sealed = sealed_endbrs(&nr_sealed);

	for (unsigned int i = 0; i < nr; i++) {
		unsigned int class = funcs[i] & KTRACE_SITE_CLASS;
		unsigned long func = funcs[i] - class;

		/* klp_apply_section_relocs() changes the code when it is in use */
		if (mod && is_livepatch_module(mod))
			class = KTRACE_SITE_PADDING;
		if (padding_obstacle(func))
			continue;
		if (!is_endbr_free(func) && !is_sealed(func, sealed, nr_sealed)) {
			if (slot_obstacle(func, class))
				continue;
			nr_slots++;
		}
		funcs[traceable++] = func;
	}

	ret = ktrace_add_slots(mod, nr_slots);
	if (ret)
		return ret;

	if (!mod)
		pr_info("%u functions need a slot\n", nr_slots);

	return traceable;
}

/**
 * arch_ktrace_start - allow to patch the kernel's text
 *
 * Context: after alternatives were applied; ftrace_lock held.
 *
 * Return: 0, -EBUSY if something else uses the padding, or -ENOMEM.
 */
int __init arch_ktrace_start(void)
{
	int ret = 0;

	if (cpu_feature_enabled(X86_FEATURE_CALL_DEPTH)) {
		pr_warn("call depth tracking (retbleed=stuff) uses the padding of functions: no function can be traced\n");
		return -EBUSY;
	}

	if (ktrace_wanted)
		ret = ktrace_alloc_slots();
	if (ret)
		pr_warn("no memory for slots: no function can be traced\n");
	ktrace_started = !ret;

	return ret;
}

/**
 * arch_ktrace_prepare - get what patching needs
 *
 * Context: process context, may sleep; ftrace_lock held.
 *
 * Return: 0, or -ENOMEM.
 */
int arch_ktrace_prepare(void)
{
	/* arch_ktrace_start() does this when memory can be made executable */
	ktrace_wanted = true;

	return ktrace_started ? ktrace_alloc_slots() : 0;
}

/* Patching */

static unsigned long pad_callee(const struct ktrace_pad *pad)
{
	return (unsigned long)pad->jmp + pad->disp;
}

static struct ktrace_pad pad_code(unsigned long func, unsigned long callee)
{
	return (struct ktrace_pad) {
		.distance	= PAD_CALL_END,
		.call		= CALL_INSN_OPCODE,
		.disp		= callee - (unsigned long)pad_of(func)->jmp,
		.jmp		= { pad_jmp[0], pad_jmp[1] },
	};
}

/* What is to be written at @at */
static int slot_code(unsigned long func, const struct ktrace_slot *at, unsigned long callee,
		     struct ktrace_slot *slot)
{
	unsigned long entry = slot_entry(func);

	slot->distance = func - (unsigned long)at->code;
	slot->call = CALL_INSN_OPCODE;
	slot->disp = callee - (unsigned long)at->code;
	memset(slot->code, INT3_INSN_OPCODE, sizeof(slot->code));
	memcpy(slot->replaced, (void *)entry, sizeof(slot->replaced));

	return displace_insn(func, at, slot->code);
}

/* Code that is written for the first time, with text_mutex held */
static struct {
	unsigned int		nr;
	void			*addrs[TEXT_POKE_WRITES];
	struct ktrace_pad	codes[TEXT_POKE_WRITES];
	/* What is to be queued then: jumps that go to these pads, and all behind them */
	unsigned int		nr_jmps;
	struct {
		unsigned long	addr;
		u8		code[JMP8_INSN_SIZE];
	} jmps[2 * TEXT_POKE_WRITES];
} new_pads;

static struct {
	unsigned int		nr;
	void			*addrs[TEXT_POKE_WRITES];
	struct ktrace_slot	codes[TEXT_POKE_WRITES];
	void			*pad_addrs[TEXT_POKE_WRITES];
	struct ktrace_slot_pad	pad_codes[TEXT_POKE_WRITES];
} new_slots;

/* Where all bytes are @fill so far */
static void write_codes(void *const *addrs, const void *codes, size_t len, unsigned int nr,
			u8 fill)
{
	u8 old[sizeof(struct ktrace_slot)];

	text_poke_array(addrs, codes, len, nr);

	/* perf decodes what was executed: tell it before somebody gets there */
	memset(old, fill, sizeof(old));
	for (unsigned int i = 0; i < nr; i++)
		perf_event_text_poke(addrs[i], old, len, codes + i * len, len);
}

/* Nobody can be in padding that was not used yet: no breakpoint is needed to write it */
static void write_new_pads(void)
{
	write_codes(new_pads.addrs, new_pads.codes, sizeof(new_pads.codes[0]), new_pads.nr,
		    BYTES_NOP1);

	new_pads.nr = 0;

	for (unsigned int i = 0; i < new_pads.nr_jmps; i++)
		text_poke_queue((void *)new_pads.jmps[i].addr, new_pads.jmps[i].code,
				JMP8_INSN_SIZE, NULL);
	new_pads.nr_jmps = 0;
}

/* text_poke_queue() takes addresses that go up: jumps of functions before @addr go first */
static void queue_poke(void *addr, const u8 *code, size_t len, const u8 *emulate)
{
	if (new_pads.nr_jmps)
		write_new_pads();

	text_poke_queue(addr, code, len, emulate);
}

static void add_entry_jmp(unsigned long entry, const u8 jmp[JMP8_INSN_SIZE])
{
	unsigned int i;

	if (new_pads.nr_jmps == ARRAY_SIZE(new_pads.jmps))
		write_new_pads();

	i = new_pads.nr_jmps++;
	new_pads.jmps[i].addr = entry;
	memcpy(new_pads.jmps[i].code, jmp, JMP8_INSN_SIZE);
}

static void add_new_pad(unsigned long func, unsigned long callee)
{
	unsigned int i;

	if (new_pads.nr == ARRAY_SIZE(new_pads.addrs))
		write_new_pads();

	i = new_pads.nr++;
	new_pads.addrs[i] = pad_of(func);
	new_pads.codes[i] = pad_code(func, callee);
}

static void write_new_slots(void)
{
	write_codes(new_slots.addrs, new_slots.codes, sizeof(new_slots.codes[0]), new_slots.nr,
		    INT3_INSN_OPCODE);
	write_codes(new_slots.pad_addrs, new_slots.pad_codes, sizeof(new_slots.pad_codes[0]),
		    new_slots.nr, BYTES_NOP1);
	new_slots.nr = 0;
}

/* Nobody executes what this writes before add_entry_jmp() */
static int add_new_slot(unsigned long func, unsigned long callee)
{
	struct ktrace_slot *slot = ktrace_take_slot(func);
	struct ktrace_slot_pad *pad;
	unsigned int i;

	if (new_slots.nr == ARRAY_SIZE(new_slots.addrs))
		write_new_slots();

	i = new_slots.nr;
	/* arch_ktrace_traceable() has seen that it can be done */
	if (WARN_ON_ONCE(!slot || slot_code(func, slot, callee, &new_slots.codes[i])))
		return -EINVAL;

	pad = &new_slots.pad_codes[i];
	memset(pad->nops, BYTES_NOP1, sizeof(pad->nops));
	pad->jmp = JMP32_INSN_OPCODE;
	pad->disp = (unsigned long)&slot->call - func;
	new_slots.addrs[i] = slot;
	new_slots.pad_addrs[i] = slot_pad_of(func);
	new_slots.nr++;

	return 0;
}

/* The ENDBR that the function begins with when it is not traced, 0 if there is none */
static u32 untraced_endbr(unsigned long func)
{
	u32 insns[] = { gen_endbr(), gen_endbr_poison() };

	/* The last two bytes of ENDBR are left in place, and so are those of a sealed one */
	for (unsigned int i = 0; i < ARRAY_SIZE(insns); i++) {
		if (!memcmp((u8 *)func + JMP8_INSN_SIZE, (u8 *)&insns[i] + JMP8_INSN_SIZE,
			    ENDBR_INSN_SIZE - JMP8_INSN_SIZE))
			return insns[i];
	}

	return 0;
}

/**
 * ktrace_untraced_code - what is at an address without what ktrace has changed there
 * @addr: address of an instruction
 * @buf: a copy of at least two bytes at @addr, left as it is if ktrace does not change them
 *
 * Context: as arch_ktrace_obstacle().
 */
void ktrace_untraced_code(unsigned long addr, u8 *buf)
{
	/* A function, or what follows its ENDBR */
	unsigned long func = ALIGN_DOWN(addr, 16);
	struct ktrace_slot *slot = slot_of(func);
	u32 endbr = untraced_endbr(func);

	if (slot && addr == slot_entry(func))
		memcpy(buf, slot->replaced, JMP8_INSN_SIZE);
	else if (addr == func && endbr && has_call(pad_of(func)))
		memcpy(buf, &endbr, JMP8_INSN_SIZE);
}
EXPORT_SYMBOL_IF_KUNIT(ktrace_untraced_code);

static void set_call(u8 *call, unsigned long callee)
{
	const u8 *code = text_gen_insn(CALL_INSN_OPCODE, call, (void *)callee);

	if (memcmp(call, code, CALL_INSN_SIZE))
		queue_poke(call, code, CALL_INSN_SIZE, NULL);
}

static void trace_func(unsigned long func, unsigned long callee)
{
	struct ktrace_pad *pad = pad_of(func);

	if (!has_call(pad))
		add_new_pad(func, callee);
	else
		set_call(&pad->call, callee);
	if (!is_traced(func))
		add_entry_jmp(func, traced_jmp);
}

/* Its slot has the call */
static void trace_by_slot(unsigned long func)
{
	u8 jmp[JMP8_INSN_SIZE];

	if (is_slot_traced(func))
		return;

	slot_jmp(func, jmp);
	add_entry_jmp(slot_entry(func), jmp);
}

static void untrace_func(unsigned long func)
{
	struct ktrace_slot *slot = slot_of(func);
	unsigned long entry = slot ? slot_entry(func) : func;
	u8 code[JMP8_INSN_SIZE], jmp[JMP8_INSN_SIZE];

	ktrace_untraced_code(entry, code);
	if (slot)
		slot_jmp(func, jmp);
	/* The instruction that a slot has cannot be emulated: it is traced for the last time */
	queue_poke((void *)entry, code, JMP8_INSN_SIZE, slot ? jmp : skip_jmp);
}

/**
 * ktrace_call_address - where the call is that a traced function executes first
 * @func: address of a function that has a record
 *
 * Context: text_mutex or ftrace_lock held.
 *
 * Return: the address. There is no call if the function was never traced.
 */
unsigned long ktrace_call_address(unsigned long func)
{
	struct ktrace_slot *slot = slot_of(func);

	return slot ? (unsigned long)&slot->call : (unsigned long)&pad_of(func)->call;
}

/* Is the code of a function whose ENDBR is free what its record tells? */
static bool is_pad_right(unsigned long func, unsigned long callee)
{
	if (!callee)
		return is_endbr(*(u32 *)func);

	return is_traced(func) && pad_callee(pad_of(func)) == callee && untraced_endbr(func);
}

/* Is the code of a function that needs a slot what its record tells? */
static bool is_slot_right(unsigned long func, unsigned long callee)
{
	struct ktrace_slot *slot = slot_of(func);

	/* add_new_slot() decodes the instruction */
	if (!slot)
		return !callee && !padding_obstacle(func) &&
		       *(u8 *)slot_entry(func) != INT3_INSN_OPCODE;

	if (callee)
		return is_slot_traced(func) && slot_callee(slot) == callee;

	return !memcmp((void *)slot_entry(func), slot->replaced, JMP8_INSN_SIZE);
}

static int verified(bool is_right)
{
	if (is_right)
		return 0;

	WARN_ON(1);

	return -EINVAL;
}

/* Is the code of the function what its record tells? */
static int verify_func(unsigned long func, unsigned long callee)
{
	return verified(is_endbr_free(func) ? is_pad_right(func, callee) :
					      is_slot_right(func, callee));
}

/* Sees to it that the function has a slot. Sets @stale if it has one with another call. */
static int prepare_slot(unsigned long func, unsigned long callee, bool *stale)
{
	struct ktrace_slot *slot = slot_of(func);
	int ret = verified(is_slot_right(func, 0));

	if (ret)
		return ret;
	if (!slot)
		return add_new_slot(func, callee);

	*stale |= slot_callee(slot) != callee;

	return 0;
}

static int verify_record(struct dyn_ftrace *rec, int enable, bool *stale)
{
	struct ktrace_slot *slot;

	switch (ftrace_test_record(rec, enable)) {
	case FTRACE_UPDATE_MAKE_CALL:
		if (is_endbr_free(rec->ip))
			return verified(is_pad_right(rec->ip, 0));
		return prepare_slot(rec->ip, ftrace_get_addr_new(rec), stale);
	case FTRACE_UPDATE_MODIFY_CALL:
		slot = slot_of(rec->ip);
		*stale |= slot && slot_callee(slot) != ftrace_get_addr_new(rec);
		fallthrough;
	case FTRACE_UPDATE_MAKE_NOP:
		return verify_func(rec->ip, ftrace_get_addr_curr(rec));
	default:
		return 0;
	}
}

static void trace_any_func(unsigned long func, unsigned long callee)
{
	if (is_endbr_free(func))
		trace_func(func, callee);
	else
		trace_by_slot(func);
}

/* Before any function: slots are at other addresses */
static void update_slot(struct dyn_ftrace *rec, int enable)
{
	struct ktrace_slot *slot = slot_of(rec->ip);

	if (!slot)
		return;

	switch (ftrace_test_record(rec, enable)) {
	case FTRACE_UPDATE_MAKE_CALL:
	case FTRACE_UPDATE_MODIFY_CALL:
		set_call(&slot->call, ftrace_get_addr_new(rec));
	}
}

static void update_record(struct dyn_ftrace *rec, int enable)
{
	switch (ftrace_test_record(rec, enable)) {
	case FTRACE_UPDATE_MAKE_CALL:
	case FTRACE_UPDATE_MODIFY_CALL:
		trace_any_func(rec->ip, ftrace_get_addr_new(rec));
		break;
	case FTRACE_UPDATE_MAKE_NOP:
		untrace_func(rec->ip);
		break;
	default:
		return;
	}

	ftrace_update_record(rec, enable);
}

void ftrace_replace_code(int enable)
{
	struct ftrace_rec_iter *iter;
	bool stale = false;
	int ret;

	if (!ktrace_started)
		return;

	for_ftrace_rec_iter(iter) {
		ret = verify_record(ftrace_rec_iter_record(iter), enable, &stale);
		if (ret) {
			ftrace_bug(ret, ftrace_rec_iter_record(iter));
			return;
		}
	}

	/* A function that jumps to its slot finds the call there as it is to be */
	write_new_slots();
	if (stale) {
		for_ftrace_rec_iter(iter)
			update_slot(ftrace_rec_iter_record(iter), enable);
	}
	for_ftrace_rec_iter(iter)
		update_record(ftrace_rec_iter_record(iter), enable);
	write_new_pads();
	text_poke_finish();
}

/* A module is loaded while its functions are to be traced */
int ftrace_make_call(struct dyn_ftrace *rec, unsigned long addr)
{
	bool stale = false;	/* It was never traced */
	int ret;

	if (is_endbr_free(rec->ip))
		ret = verified(is_pad_right(rec->ip, 0));
	else
		ret = prepare_slot(rec->ip, addr, &stale);
	if (ret)
		return ret;

	write_new_slots();
	trace_any_func(rec->ip, addr);
	write_new_pads();

	return 0;
}

/* ftrace_replace_code() above does not call these */
int ftrace_make_nop(struct module *mod, struct dyn_ftrace *rec, unsigned long addr)
{
	WARN_ON_ONCE(1);
	return -EINVAL;
}

int ftrace_modify_call(struct dyn_ftrace *rec, unsigned long old_addr, unsigned long addr)
{
	WARN_ON_ONCE(1);
	return -EINVAL;
}

/* Probes */

/**
 * ktrace_func_at - the function whose code ktrace may change at an address
 * @addr: address of an instruction
 *
 * Context: any.
 *
 * Return: the function that begins at @addr, or with an ENDBR before it, and has a record;
 * 0 if there is none.
 */
unsigned long ktrace_func_at(unsigned long addr)
{
	unsigned long func = ALIGN_DOWN(addr, 16);

	if (addr != func && addr != func + ENDBR_INSN_SIZE)
		return 0;
	if (ftrace_location_range(func, func) != func)
		return 0;

	return addr == func || ktrace_has_endbr(func) ? func : 0;
}

/**
 * ktrace_has_endbr - does a function begin with ENDBR when it is not traced?
 * @func: address of a function that has a record
 *
 * Context: as arch_ktrace_obstacle().
 */
bool ktrace_has_endbr(unsigned long func)
{
	/* A call in the padding is only for these, and does not change like the first bytes */
	return is_endbr(*(u32 *)func) || has_call(pad_of(func));
}

/* Stack traces */

/* Is @ip where a task is that executes the padding of @func, or that is called from there? */
static bool is_in_padding(unsigned long func, unsigned long ip)
{
	switch (func - ip) {
	case PAD_CALL:
	case PAD_CALL_END:
		return has_call(pad_of(func));
	case JMP32_INSN_SIZE:
		return slot_of(func);
	default:
		return false;
	}
}

/**
 * ktrace_text_address - the address to report for one in code that ktrace has written
 * @ip: any address
 *
 * Padding and slots belong to no function, or to a symbol of their own. A task there has
 * entered the function: users of stack traces, live patching among them, have to find the
 * function.
 *
 * Context: any, NMI included.
 *
 * Return: the address behind the first byte of the function if @ip is that of an instruction
 * in its padding that ktrace has written, of the return address of the call there, or in the
 * slot of the function; @ip else.
 */
unsigned long ktrace_text_address(unsigned long ip)
{
	/* Padding and @ip are in the same 16 bytes */
	unsigned long func = ALIGN(ip, 16);
	const struct ktrace_slot *slot;

	/* For the slot */
	guard(preempt_notrace)();

	slot = ktrace_slot_at(ip);
	if (slot)
		return ktrace_slot_func(slot) + 1;

	if (func - ip > PAD_CALL || func == ip)
		return ip;

	/* It may be where a wild jump has led to */
	if (!__kernel_text_address(ip))
		return ip;

	return is_in_padding(func, ip) ? func + 1 : ip;
}
EXPORT_SYMBOL_IF_KUNIT(ktrace_text_address);

/**
 * ktrace_unwind_ip - where in the kernel the stack is what it is in a slot
 * @ip: any address
 *
 * Context: any with preemption disabled, NMI included.
 *
 * Return: an address that the unwinder knows, 0 if @ip is not in a slot.
 */
unsigned long ktrace_unwind_ip(unsigned long ip)
{
	const struct ktrace_slot *slot = ktrace_slot_at(ip);
	unsigned long jmp_end = ip + JMP32_INSN_SIZE;

	if (!slot)
		return 0;

	/* The instruction of the function is not executed yet */
	if (ip <= (unsigned long)slot->code)
		return ktrace_slot_func(slot);

	/* The rest are jumps: out of the slot, or the second half of a call */
	return *(u8 *)ip == JMP32_INSN_OPCODE ? jmp_end + *(s32 *)(ip + 1) : 0;
}

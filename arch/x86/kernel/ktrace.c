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
 * of the function is moved. The call leaves the stack as a call at the entry does: the
 * trampolines of ftrace and of the multiplexer need no change but that they find the
 * function by the distance in front of the call.
 *
 * The padding keeps its call when the function is not traced any more. A task may be
 * preempted in it for any time; what it calls next must be there. ftrace_shutdown() waits
 * for such tasks before it frees an ops.
 */
#define pr_fmt(fmt) "ktrace: " fmt

#include <kunit/visibility.h>
#include <linux/bsearch.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/ktrace.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/sort.h>
#include <linux/string.h>

#include <asm/alternative.h>
#include <asm/ibt.h>
#include <asm/nops.h>
#include <asm/text-patching.h>

struct ktrace_pad {
	s32	distance;		/* from the end of the call to the function */
	u8	call;
	s32	disp;
	u8	jmp[JMP8_INSN_SIZE];	/* over ENDBR */
} __packed;

#define PAD_CALL_END		JMP8_INSN_SIZE
#define PAD_CALL		(JMP8_INSN_SIZE + CALL_INSN_SIZE)

static_assert(sizeof(s32) + CALL_INSN_SIZE == -KTRACE_DISTANCE);
static_assert(PAD_CALL == -FTRACE_CALL_OFFSET);

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

static struct ktrace_pad *pad_of(unsigned long func)
{
	return (struct ktrace_pad *)func - 1;
}

static bool is_traced(unsigned long func)
{
	return !memcmp((void *)func, traced_jmp, sizeof(traced_jmp));
}

/* Has the padding a call, be the function traced or not? */
static bool has_call(const struct ktrace_pad *pad)
{
	/* text_poke_bp() writes a breakpoint while it changes the call */
	return pad->distance == PAD_CALL_END &&
	       (pad->call == CALL_INSN_OPCODE || pad->call == INT3_INSN_OPCODE) &&
	       !memcmp(pad->jmp, pad_jmp, sizeof(pad_jmp));
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

/**
 * arch_ktrace_obstacle - why the code of a function cannot be patched
 * @func: address of the function
 *
 * Context: any in which the function cannot go away: its module is pinned, or preemption
 * is disabled.
 *
 * Return: the reason, or KTRACE_NO_OBSTACLE.
 */
enum ktrace_obstacle arch_ktrace_obstacle(unsigned long func)
{
	u32 insn = *(u32 *)func;

	if (!is_endbr(insn))
		return KTRACE_NO_ENDBR;

	if (memchr_inv(pad_of(func), BYTES_NOP1, sizeof(struct ktrace_pad)))
		return KTRACE_PADDING_USED;

	if (insn != gen_endbr_poison() && cpu_feature_enabled(X86_FEATURE_IBT))
		return KTRACE_ENDBR_USED;

	return KTRACE_NO_OBSTACLE;
}
EXPORT_SYMBOL_IF_KUNIT(arch_ktrace_obstacle);

static bool can_trace(unsigned long func, const unsigned long *sealed, unsigned int nr_sealed)
{
	switch (arch_ktrace_obstacle(func)) {
	case KTRACE_NO_OBSTACLE:
		return true;
	case KTRACE_ENDBR_USED:
		return sealed && bsearch(&func, sealed, nr_sealed, sizeof(*sealed),
					 cmp_addresses);
	default:
		return false;
	}
}

/**
 * arch_ktrace_traceable - select the functions that can be traced
 * @mod: the module, after its alternatives were applied, or NULL for the kernel
 * @funcs: addresses of the functions, sorted. On return, those that can be traced come
 *	first, sorted.
 * @nr: their number
 *
 * Context: process context, may sleep.
 *
 * Return: the number of functions that can be traced.
 */
unsigned int arch_ktrace_traceable(struct module *mod, unsigned long *funcs, unsigned int nr)
{
	unsigned long *sealed __free(kvfree) = NULL;
	unsigned int nr_sealed = 0, traceable = 0;

	if (!mod && cpu_feature_enabled(X86_FEATURE_IBT))
		sealed = sealed_endbrs(&nr_sealed);

	for (unsigned int i = 0; i < nr; i++) {
		if (can_trace(funcs[i], sealed, nr_sealed))
			funcs[traceable++] = funcs[i];
	}

	return traceable;
}

/**
 * arch_ktrace_start - allow to patch the kernel's text
 *
 * Context: after alternatives were applied; ftrace_lock held.
 *
 * Return: 0, or -EBUSY if something else uses the padding.
 */
int __init arch_ktrace_start(void)
{
	if (cpu_feature_enabled(X86_FEATURE_CALL_DEPTH)) {
		pr_warn("call depth tracking (retbleed=stuff) uses the padding of functions: no function can be traced\n");
		return -EBUSY;
	}

	ktrace_started = true;

	return 0;
}

/* Patching */

static unsigned long pad_callee(const struct ktrace_pad *pad)
{
	return (unsigned long)pad->jmp + pad->disp;
}

/* What the function calls first, 0 if it is not traced */
static unsigned long callee_of(unsigned long func)
{
	return is_traced(func) ? pad_callee(pad_of(func)) : 0;
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

/* Functions whose padding gets its first call, with text_mutex held */
static struct {
	unsigned int		nr;
	void			*addrs[TEXT_POKE_WRITES];
	struct ktrace_pad	codes[TEXT_POKE_WRITES];
} new_pads;

static void write_new_pads(void)
{
	u8 nops[sizeof(struct ktrace_pad)];

	memset(nops, BYTES_NOP1, sizeof(nops));
	text_poke_array(new_pads.addrs, new_pads.codes, sizeof(nops), new_pads.nr);
	for (unsigned int i = 0; i < new_pads.nr; i++) {
		void *pad = new_pads.addrs[i];

		/* perf decodes what was executed: tell it before somebody gets there */
		perf_event_text_poke(pad, nops, sizeof(nops), &new_pads.codes[i], sizeof(nops));
		text_poke_queue(pad + sizeof(nops), traced_jmp, JMP8_INSN_SIZE, NULL);
	}
	new_pads.nr = 0;
}

/* Nobody can be in padding that was not used yet: no breakpoint is needed to write it */
static void add_new_pad(unsigned long func, unsigned long callee)
{
	if (new_pads.nr == ARRAY_SIZE(new_pads.addrs))
		write_new_pads();

	new_pads.addrs[new_pads.nr] = pad_of(func);
	new_pads.codes[new_pads.nr++] = pad_code(func, callee);
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
 * ktrace_untraced_code - the first bytes of a function without what ktrace changes
 * @func: address of the function
 * @buf: a copy of at least its first two bytes, left as it is if the function does not
 *	begin with an ENDBR
 *
 * Context: as arch_ktrace_obstacle().
 */
void ktrace_untraced_code(unsigned long func, u8 *buf)
{
	u32 insn = untraced_endbr(func);

	if (insn)
		memcpy(buf, &insn, JMP8_INSN_SIZE);
}
EXPORT_SYMBOL_IF_KUNIT(ktrace_untraced_code);

static void trace_func(unsigned long func, unsigned long callee)
{
	struct ktrace_pad *pad = pad_of(func), new = pad_code(func, callee);

	if (!has_call(pad)) {
		add_new_pad(func, callee);
		return;
	}

	if (pad->disp != new.disp)
		text_poke_queue(&pad->call, &new.call, CALL_INSN_SIZE, NULL);
	if (!is_traced(func))
		text_poke_queue((void *)func, traced_jmp, JMP8_INSN_SIZE, NULL);
}

static void untrace_func(unsigned long func)
{
	u8 code[JMP8_INSN_SIZE];

	ktrace_untraced_code(func, code);
	text_poke_queue((void *)func, code, JMP8_INSN_SIZE, skip_jmp);
}

/* Is the code of the function what its record tells? */
static int verify_func(unsigned long func, unsigned long callee)
{
	bool ok = callee ? callee_of(func) == callee && untraced_endbr(func) :
			   is_endbr(*(u32 *)func);

	if (ok)
		return 0;

	WARN_ON(1);

	return -EINVAL;
}

static int verify_record(struct dyn_ftrace *rec, int enable)
{
	switch (ftrace_test_record(rec, enable)) {
	case FTRACE_UPDATE_MAKE_CALL:
		return verify_func(rec->ip, 0);
	case FTRACE_UPDATE_MODIFY_CALL:
	case FTRACE_UPDATE_MAKE_NOP:
		return verify_func(rec->ip, ftrace_get_addr_curr(rec));
	default:
		return 0;
	}
}

static void update_record(struct dyn_ftrace *rec, int enable)
{
	switch (ftrace_test_record(rec, enable)) {
	case FTRACE_UPDATE_MAKE_CALL:
	case FTRACE_UPDATE_MODIFY_CALL:
		trace_func(rec->ip, ftrace_get_addr_new(rec));
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
	int ret;

	if (!ktrace_started)
		return;

	for_ftrace_rec_iter(iter) {
		ret = verify_record(ftrace_rec_iter_record(iter), enable);
		if (ret) {
			ftrace_bug(ret, ftrace_rec_iter_record(iter));
			return;
		}
	}

	for_ftrace_rec_iter(iter)
		update_record(ftrace_rec_iter_record(iter), enable);
	write_new_pads();
	text_poke_finish();
}

/* A module is loaded while its functions are to be traced */
int ftrace_make_call(struct dyn_ftrace *rec, unsigned long addr)
{
	int ret = verify_func(rec->ip, 0);

	if (ret)
		return ret;

	trace_func(rec->ip, addr);
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

/* Stack traces */

/**
 * ktrace_text_address - the address to report for one in the padding of a function
 * @ip: any address
 *
 * Padding belongs to no function, or to a symbol of its own. A task there has entered the
 * function: users of stack traces, live patching among them, have to find the function.
 *
 * Context: any, NMI included.
 *
 * Return: the address behind the first byte of the function if @ip is that of the call in
 * its padding, or its return address; @ip else.
 */
unsigned long ktrace_text_address(unsigned long ip)
{
	/* Padding and @ip are in the same 16 bytes */
	unsigned long func = ALIGN(ip, 16);

	if (func - ip != PAD_CALL_END && func - ip != PAD_CALL)
		return ip;

	/* It may be where a wild jump has led to */
	if (!__kernel_text_address(ip))
		return ip;

	return has_call(pad_of(func)) ? func + 1 : ip;
}
EXPORT_SYMBOL_IF_KUNIT(ktrace_text_address);

// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of ktrace: the code and the record of a function that is traced, and what
 * the unwinder finds when a task is at any instruction that ktrace has written.
 *
 * Nothing but calls refers to most of the functions, so that their ENDBR is sealed. They
 * return their return address: the call in front of it has the address of the function.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/ftrace.h>
#include <linux/hw_breakpoint.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/ktrace.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include <asm/asm-offsets.h>
#include <asm/cpufeature.h>
#include <asm/ibt.h>
#include <asm/linkage.h>
#include <asm/nospec-branch.h>
#include <asm/text-patching.h>
#include <asm/unwind.h>

#include "kunit.h"

/* Offsets from the function, and from its slot, as Documentation/trace/ktrace.rst has them */
#define PADDING		(-16)
#define DISTANCE	(-11)
#define CALL		(-7)
#define CALL_DISP	(-6)
#define CALL_END	(-2)
#define BODY		4
#define SLOT_JMP	(-5)
#define SLOT_CALL	4
#define SLOT_CODE	9
#define PUSH_RBX	0x53
#define PUSH_R15	0x5741

/* A NOP of four bytes */
#define FOUR_BYTES	".byte 0x0f, 0x1f, 0x40, 0x00"

/*
 * The functions. @nr keeps the compiler from using one for all. There are five bytes in front
 * of the return.
 */
#define TEST_FUNC(name, nr)							\
noinline unsigned long ktrace_test_##name(void)					\
{										\
	asm volatile(FOUR_BYTES : : "i" (nr) : "memory");			\
	return (unsigned long)__builtin_return_address(0);			\
}

TEST_FUNC(traced, 1)
TEST_FUNC(other, 2)
TEST_FUNC(untraced, 3)
/* Has an ENDBR that is not sealed, since its address is taken */
static TEST_FUNC(pointed, 4)
/* Has no ENDBR */
static TEST_FUNC(local, 5)

/* The call is its first instruction */
static noinline unsigned long ktrace_test_calling(void)
{
	ktrace_test_untraced();
	return (unsigned long)__builtin_return_address(0);
}

/* Have no ENDBR, and save a register by an instruction of one byte */
#define PUSHING_FUNC(name, nr)							\
static noinline unsigned long ktrace_test_##name(void)				\
{										\
	asm volatile("" : : "i" (nr) : "rbx", "memory");			\
	return (unsigned long)__builtin_return_address(0);			\
}

PUSHING_FUNC(pushing, 1)
PUSHING_FUNC(probed, 2)
PUSHING_FUNC(probed_first, 3)
PUSHING_FUNC(probed_direct, 4)

/*
 * Has no ENDBR, saves a register, too, and begins with instructions of 1, 3 and 1 bytes: what
 * is displaced ends before the jump of an optimized probe of the second one would
 */
static noinline unsigned long ktrace_test_asleep(unsigned long arg)
{
	asm volatile("nop\n\t" FOUR_BYTES : : "b" (arg) : "memory");
	return (unsigned long)__builtin_return_address(0);
}

/* Has no ENDBR, and begins with instructions of two bytes that change the stack */
static noinline unsigned long ktrace_test_saving(void)
{
	asm volatile("" : : : "r12", "r13", "r14", "r15", "memory");
	return (unsigned long)__builtin_return_address(0);
}

static unsigned long traced, other, untraced, pointed, local, calling, pushing, probed;
static unsigned long probed_first, probed_direct, asleep, saving;
/* The one that the tests of stacks are about */
static unsigned long subject;

/* Calls that track their depth go to the padding */
static unsigned long to_func(unsigned long callee)
{
	return ALIGN(callee, 16);
}

/* The function that is called by the call in front of @ret, 0 if there is no such call */
static unsigned long called_before(unsigned long ret)
{
	if (*(u8 *)(ret - CALL_INSN_SIZE) != CALL_INSN_OPCODE)
		return 0;

	return to_func(ret + get_unaligned((s32 *)(ret - sizeof(s32))));
}

static int ktrace_test_suite_init(struct kunit_suite *suite)
{
	traced = called_before(ktrace_test_traced());
	other = called_before(ktrace_test_other());
	untraced = called_before(ktrace_test_untraced());
	local = called_before(ktrace_test_local());
	calling = called_before(ktrace_test_calling());
	pushing = called_before(ktrace_test_pushing());
	probed = called_before(ktrace_test_probed());
	probed_first = called_before(ktrace_test_probed_first());
	probed_direct = called_before(ktrace_test_probed_direct());
	asleep = called_before(ktrace_test_asleep(jiffies));
	saving = called_before(ktrace_test_saving());
	pointed = (unsigned long)ktrace_test_pointed;

	return traced && other && untraced && local && calling && pushing && probed &&
	       probed_first && probed_direct && asleep && saving ? 0 : -EINVAL;
}

/* Has the function a slot? Else, its call is in its padding. It was traced. */
static bool has_slot(unsigned long func)
{
	return func - ktrace_call_address(func) > -PADDING;
}

/* What was traced and has an ENDBR that is sealed needs a slot only if all functions do */
static bool uses_padding(void)
{
	return !has_slot(traced);
}

static u8 jump_opcode(void)
{
	return uses_padding() ? JMP8_INSN_OPCODE : JMP32_INSN_OPCODE;
}

/* What a function is traced by at first whose first instruction has @len bytes */
static u8 first_opcode(unsigned int len)
{
	unsigned int jump_len = uses_padding() ? JMP8_INSN_SIZE : JMP32_INSN_SIZE;

	return len < jump_len ? INT3_INSN_OPCODE : jump_opcode();
}

static void need_padding(struct kunit *test)
{
	if (!uses_padding())
		kunit_skip(test, "the padding is not used");
}

/* The tracers */

/* A callback that has all registers unwinds from them */
static bool unwind_registers;
static notrace void unwind_from(struct pt_regs *regs);

#define NR_TRACERS	2

static struct test_tracer {
	struct ftrace_ops	ops;
	bool			used;
	unsigned int		calls;
	unsigned long		ip;		/* of the last call */
} tracers[NR_TRACERS];

#define TEST_CALLBACK(nr)							\
static notrace void ktrace_test_callback##nr(unsigned long ip,			\
					     unsigned long parent_ip,		\
					     struct ftrace_ops *ops,		\
					     struct ftrace_regs *fregs)		\
{										\
	tracers[nr].calls++;							\
	tracers[nr].ip = ip;							\
	if (unwind_registers)							\
		unwind_from(ftrace_get_regs(fregs));				\
}

TEST_CALLBACK(0)
TEST_CALLBACK(1)

static const ftrace_func_t callbacks[NR_TRACERS] = {
	ktrace_test_callback0, ktrace_test_callback1,
};

static void start_tracer(struct kunit *test, unsigned int nr, unsigned long flags,
			 unsigned long *funcs, unsigned int nr_funcs)
{
	struct test_tracer *tracer = &tracers[nr];

	memset(tracer, 0, sizeof(*tracer));
	tracer->ops.func = callbacks[nr];
	tracer->ops.flags = flags;
	tracer->used = true;
	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ips(&tracer->ops, funcs, nr_funcs, 0, 1));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(&tracer->ops));
}

static void stop_tracer(unsigned int nr)
{
	struct test_tracer *tracer = &tracers[nr];

	if (!tracer->used)
		return;

	if (tracer->ops.flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(&tracer->ops);
	ftrace_free_filter(&tracer->ops);
	tracer->used = false;
}

static struct {
	struct fgraph_ops	ops;
	bool			used;
	unsigned int		entries;
	unsigned int		returns;
} graph;

static notrace int ktrace_test_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
				     struct ftrace_regs *fregs)
{
	graph.entries++;

	return 1;
}

static notrace void ktrace_test_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops,
				       struct ftrace_regs *fregs)
{
	graph.returns++;
}

static void start_graph(struct kunit *test)
{
	memset(&graph, 0, sizeof(graph));
	graph.ops.entryfunc = ktrace_test_entry;
	graph.ops.retfunc = ktrace_test_return;
	graph.used = true;
	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ip(&graph.ops.ops, traced, 0, 1));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&graph.ops));
}

static void stop_graph(void)
{
	if (!graph.used)
		return;

	unregister_ftrace_graph(&graph.ops);
	ftrace_free_filter(&graph.ops.ops);
	graph.used = false;
}

/* A thread that calls a function */
static struct task_struct *caller;

/* Direct calls */

unsigned int ktrace_test_direct_calls;

asm(".pushsection .text, \"ax\", @progbits\n\t"
	".type ktrace_test_direct, @function\n\t"
	".globl ktrace_test_direct\n"
	"ktrace_test_direct:\n\t"
	ASM_ENDBR
	"incl ktrace_test_direct_calls(%rip)\n\t"
	ASM_RET
	".size ktrace_test_direct, .-ktrace_test_direct\n\n\t"

	".type ktrace_test_direct_sleep, @function\n\t"
	".globl ktrace_test_direct_sleep\n"
	"ktrace_test_direct_sleep:\n\t"
	ASM_ENDBR
	"pushq %rbp\n\t"
	"movq %rsp, %rbp\n\t"
	CALL_DEPTH_ACCOUNT
	"pushq %rdi\n\t"
	"call ktrace_test_sleep\n\t"
	"popq %rdi\n\t"
	"leave\n\t"
	ASM_RET
	".size ktrace_test_direct_sleep, .-ktrace_test_direct_sleep\n\t"
	".popsection\n");

static DECLARE_COMPLETION(fell_asleep);
static DECLARE_COMPLETION(woken);

void ktrace_test_sleep(void)
{
	if (current != caller)
		return;

	complete(&fell_asleep);
	wait_for_completion(&woken);
}

static struct ftrace_ops direct;
static unsigned long direct_callee;

static void start_direct(struct kunit *test, unsigned long func, void (*callee)(void))
{
	memset(&direct, 0, sizeof(direct));
	direct_callee = (unsigned long)callee;
	ktrace_test_direct_calls = 0;
	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ip(&direct, func, 0, 1));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_direct(&direct, direct_callee));
}

static void stop_direct(void)
{
	if (direct.flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_direct(&direct, direct_callee, true);
}

#ifdef CONFIG_KPROBES
static struct kprobe probe;
static bool probing;

static void stop_probe(void)
{
	if (probing)
		unregister_kprobe(&probe);
	probing = false;
}
#else
static void stop_probe(void) { }
#endif

static void stop_calling(void)
{
	complete_all(&woken);
	if (!IS_ERR_OR_NULL(caller))
		kthread_stop(caller);
	caller = NULL;
}

static int ktrace_test_init(struct kunit *test)
{
	/* What it has when it was traced, it keeps */
	start_tracer(test, 0, 0, &traced, 1);
	stop_tracer(0);
	subject = traced;

	return 0;
}

static void ktrace_test_exit(struct kunit *test)
{
	unwind_registers = false;
	stop_calling();
	stop_probe();
	for (unsigned int i = 0; i < NR_TRACERS; i++)
		stop_tracer(i);
	stop_graph();
	stop_direct();
}

/* The unwinder, from a breakpoint of the CPU at an instruction */

#define MAX_DEPTH	48

struct test_stack {
	unsigned int	nr;
	bool		failed;		/* the unwinder has not found the end of the stack */
	unsigned long	ips[MAX_DEPTH];
};

/* What a breakpoint has seen */
static struct {
	unsigned long		addr;
	unsigned int		hits;
	struct test_stack	from_regs;	/* from the registers there */
	struct test_stack	from_handler;	/* from the handler, but only what is there */
} seen;

/* Unwind from @from, or from here if that is NULL. Keep what comes after @regs. */
static notrace void unwind(struct test_stack *stack, struct pt_regs *from, struct pt_regs *regs)
{
	struct unwind_state state;
	bool found = from;
	unsigned long ip;

	memset(stack, 0, sizeof(*stack));
	for (unwind_start(&state, current, from, NULL); !unwind_done(&state);
	     unwind_next_frame(&state)) {
		found |= unwind_get_entry_regs(&state, NULL) == regs;
		ip = unwind_get_return_address(&state);
		if (!ip || stack->nr == MAX_DEPTH)
			break;
		if (found)
			stack->ips[stack->nr++] = ip;
	}
	stack->failed = !unwind_done(&state) || unwind_error(&state);
}

static notrace void on_breakpoint(struct perf_event *event, struct perf_sample_data *data,
				  struct pt_regs *regs)
{
	seen.addr = regs->ip;
	seen.hits++;
	unwind(&seen.from_regs, regs, regs);
	unwind(&seen.from_handler, NULL, regs);
}

static notrace void unwind_from(struct pt_regs *regs)
{
	seen.addr = regs->ip;
	seen.hits++;
	unwind(&seen.from_regs, regs, regs);
}

static __always_inline void call_subject(void)
{
	if (subject == local)
		ktrace_test_local();
	else if (subject == pointed)
		ktrace_test_pointed();
	else if (subject == calling)
		ktrace_test_calling();
	else if (subject == pushing)
		ktrace_test_pushing();
	else if (subject == probed)
		ktrace_test_probed();
	else if (subject == probed_first)
		ktrace_test_probed_first();
	else if (subject == probed_direct)
		ktrace_test_probed_direct();
	else if (subject == asleep)
		ktrace_test_asleep(jiffies);
	else if (subject == saving)
		ktrace_test_saving();
	else if (subject == (unsigned long)ktrace_test_assembly)
		ktrace_test_assembly();
	else
		ktrace_test_traced();
}

/* Call the function with a breakpoint at @addr. @above gets the callers of this function. */
static noinline notrace void ktrace_test_caller(struct kunit *test, unsigned long addr,
						struct test_stack *above)
{
	struct perf_event_attr attr;
	struct perf_event *event;

	memset(&seen, 0, sizeof(seen));
	hw_breakpoint_init(&attr);
	attr.bp_addr = addr;
	attr.bp_len = sizeof(long);
	attr.bp_type = HW_BREAKPOINT_X;
	event = register_user_hw_breakpoint(&attr, on_breakpoint, NULL, current);
	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(event), "no breakpoint at %pS: %pe\n",
			       (void *)addr, event);

	above->nr = stack_trace_save(above->ips, MAX_DEPTH, 1);
	call_subject();
	unregister_hw_breakpoint(event);
}

/* Does the symbol at @ip begin with @prefix? */
static bool is_in(unsigned long ip, const char *prefix)
{
	static char symbol[KSYM_SYMBOL_LEN];

	sprint_symbol_no_offset(symbol, ip);

	return strstarts(symbol, prefix);
}

/*
 * The number of addresses in front of those of ktrace_test_caller() and its callers, -1 if
 * the stack does not end with these
 */
static int nr_below(const struct test_stack *stack, const struct test_stack *above)
{
	int nr = stack->nr - above->nr - 1;

	if (stack->failed || !above->nr || nr < 0 ||
	    memcmp(&stack->ips[nr + 1], above->ips, above->nr * sizeof(above->ips[0])))
		return -1;

	return is_in(stack->ips[nr], "ktrace_test_caller") ? nr : -1;
}

static bool show_stack(struct kunit *test, const char *name, const struct test_stack *stack)
{
	kunit_info(test, "%s%s:\n", name, stack->failed ? " (the unwinder failed)" : "");
	for (unsigned int i = 0; i < stack->nr; i++)
		kunit_info(test, "  %pS\n", (void *)stack->ips[i]);

	return false;
}

static bool show_seen(struct kunit *test)
{
	kunit_info(test, "%u hits at %pS\n", seen.hits, (void *)seen.addr);
	show_stack(test, "from its registers", &seen.from_regs);
	show_stack(test, "from its handler", &seen.from_handler);

	return false;
}

/* At @addr in the function or in its padding, which @shown stands for in stack traces */
static bool unwinds_in_func(unsigned long addr, unsigned long shown,
			    const struct test_stack *above)
{
	return seen.hits == 1 && seen.addr == addr &&
	       nr_below(&seen.from_regs, above) == 0 &&
	       nr_below(&seen.from_handler, above) == 1 && seen.from_handler.ips[0] == shown;
}

/* Is the last of @nr addresses the only one in the function, and none in padding? */
static bool ends_in_func(const unsigned long *ips, int nr)
{
	for (int i = 0; i < nr - 1; i++) {
		if (is_in(ips[i], "__pfx_") || arch_ktrace_text_address(ips[i]) != ips[i] ||
		    (ips[i] >= subject && ips[i] < subject + 16))
			return false;
	}

	return nr > 1 && ips[nr - 1] == subject + 1;
}

static bool unwinds_in_callback(unsigned long addr, const struct test_stack *above)
{
	return seen.hits == 1 && seen.addr == addr && seen.from_handler.ips[0] == addr &&
	       ends_in_func(seen.from_regs.ips, nr_below(&seen.from_regs, above)) &&
	       ends_in_func(seen.from_handler.ips, nr_below(&seen.from_handler, above));
}

static void check_at(struct kunit *test, unsigned long addr, int shown)
{
	struct test_stack above;

	ktrace_test_caller(test, addr, &above);
	KUNIT_EXPECT_TRUE_MSG(test, unwinds_in_func(addr, subject + shown, &above) ||
			      show_seen(test), "at %pS, %pS%+ld\n", (void *)addr,
			      (void *)subject, (long)(addr - subject));
}

static void check_in_func(struct kunit *test, int offset, int shown)
{
	check_at(test, subject + offset, shown);
}

static void check_in_callback(struct kunit *test, unsigned long addr)
{
	struct test_stack above;

	ktrace_test_caller(test, addr, &above);
	KUNIT_EXPECT_TRUE_MSG(test, unwinds_in_callback(addr, &above) || show_seen(test),
			      "at %pS\n", (void *)addr);
}

/* The registers that a callback gets are those at the entry of the function */
static void check_regs(struct kunit *test, unsigned long func)
{
	struct test_stack above;

	subject = func;
	start_tracer(test, 0, FTRACE_OPS_FL_SAVE_REGS, &func, 1);
	unwind_registers = true;
	/* The breakpoint is where nobody gets */
	ktrace_test_caller(test, untraced + CALL, &above);
	unwind_registers = false;
	stop_tracer(0);
	KUNIT_EXPECT_TRUE_MSG(test, (seen.hits == 1 && seen.addr == func &&
				     nr_below(&seen.from_regs, &above) == 0) ||
			      show_seen(test), "%pS\n", (void *)func);
}

static void ktrace_test_unwind_from_regs(struct kunit *test)
{
	check_regs(test, traced);
	check_regs(test, pointed);
	check_regs(test, local);
	check_regs(test, pushing);
}

static void check_in_slot(struct kunit *test, unsigned long entry, u8 opcode);

/* At each instruction that a traced function executes before its own */
static void check_in_traced(struct kunit *test)
{
	if (!uses_padding()) {
		check_in_slot(test, traced + BODY, first_opcode(4));
		return;
	}

	check_in_func(test, 0, 0);
	check_in_func(test, CALL, 1);
	check_in_func(test, CALL_END, 1);
	check_in_func(test, BODY, BODY);
}

static void ktrace_test_unwind_untraced(struct kunit *test)
{
	struct test_stack above;

	check_in_func(test, 0, 0);
	check_in_func(test, BODY, BODY);

	/* A function that is not traced does not execute its padding */
	ktrace_test_caller(test, traced + CALL, &above);
	KUNIT_EXPECT_EQ(test, seen.hits, 0);
}

static void ktrace_test_unwind_one(struct kunit *test)
{
	start_tracer(test, 0, 0, &traced, 1);
	check_in_traced(test);
	check_in_callback(test, (unsigned long)callbacks[0]);
}

static void ktrace_test_unwind_regs(struct kunit *test)
{
	start_tracer(test, 0, FTRACE_OPS_FL_SAVE_REGS, &traced, 1);
	check_in_traced(test);
	check_in_callback(test, (unsigned long)callbacks[0]);
}

static void ktrace_test_unwind_two(struct kunit *test)
{
	start_tracer(test, 0, 0, &traced, 1);
	start_tracer(test, 1, FTRACE_OPS_FL_SAVE_REGS, &traced, 1);
	check_in_traced(test);
	check_in_callback(test, (unsigned long)callbacks[0]);
	check_in_callback(test, (unsigned long)callbacks[1]);
}

static void ktrace_test_unwind_graph(struct kunit *test)
{
	start_graph(test);
	check_in_traced(test);
	check_in_callback(test, (unsigned long)ktrace_test_entry);
	KUNIT_EXPECT_GT(test, graph.entries, 0);
	KUNIT_EXPECT_EQ(test, graph.entries, graph.returns);

	start_tracer(test, 0, 0, &traced, 1);
	check_in_traced(test);
	check_in_callback(test, (unsigned long)callbacks[0]);
	check_in_callback(test, (unsigned long)ktrace_test_entry);
}

/* Functions with a slot */

/* The slot of a function, 0 if it has none */
static unsigned long slot_of(unsigned long func)
{
	unsigned long call = ktrace_call_address(func);

	return call && has_slot(func) ? call - SLOT_CALL : 0;
}

/* That of the subject */
static unsigned long slot(void)
{
	return slot_of(subject);
}

/* The length of what is displaced, 0 if the slot does not jump back behind it */
static unsigned int displaced_len(unsigned long entry)
{
	for (unsigned long ip = slot() + SLOT_CODE; ip < slot() + 32 - JMP32_INSN_SIZE; ip++) {
		unsigned int len = ip - slot() - SLOT_CODE;

		/* The breakpoint of a split slot leads back to the function as well */
		if (*(u8 *)ip == INT3_INSN_OPCODE)
			return len;
		if (*(u8 *)ip == JMP32_INSN_OPCODE && ip + JMP32_INSN_SIZE +
		    get_unaligned((s32 *)(ip + 1)) == entry + len)
			return len;
	}

	return 0;
}

static void check_opcode(struct kunit *test, unsigned long entry, u8 opcode)
{
	u8 now = *(u8 *)entry;

	/* What was a breakpoint may be a jump by now */
	if (now == jump_opcode() && opcode == INT3_INSN_OPCODE && displaced_len(entry) > 1)
		return;

	KUNIT_EXPECT_EQ(test, now, opcode);
}

/* At each instruction from the entry of the function to the first that is not displaced */
static void check_in_slot(struct kunit *test, unsigned long entry, u8 opcode)
{
	unsigned int len;

	KUNIT_ASSERT_NE(test, slot(), 0);
	len = displaced_len(entry);
	KUNIT_ASSERT_GT(test, len, 0);
	check_opcode(test, entry, opcode);

	check_at(test, subject, 0);
	check_at(test, entry, entry - subject);
	/* The handler of a breakpoint goes on in the slot */
	if (*(u8 *)entry == JMP8_INSN_OPCODE)
		check_at(test, subject + SLOT_JMP, 1);
	check_at(test, slot() + SLOT_CALL, 1);
	check_at(test, slot() + SLOT_CODE, 1);
	if (*(u8 *)(slot() + SLOT_CODE) == PUSH_RBX)
		check_at(test, slot() + SLOT_CODE + 1, 1);
	if (*(u16 *)(slot() + SLOT_CODE) == PUSH_R15) {
		for (unsigned int i = 2; i < len; i += 2)
			check_at(test, slot() + SLOT_CODE + i, 1);
	}
	check_at(test, slot() + SLOT_CODE + len, 1);
	check_at(test, entry + len, entry + len - subject);
}

/* Only the bytes of a jump differ, at most, and it is known what they were */
static void check_code(struct kunit *test, unsigned long func, unsigned long entry,
		       const u8 *before)
{
	u8 buf[16];

	memcpy(buf, (void *)func, sizeof(buf));
	KUNIT_EXPECT_MEMNEQ(test, buf, before, sizeof(buf));
	ktrace_untraced_code(entry, buf + (entry - func));
	KUNIT_EXPECT_MEMEQ(test, buf, before, sizeof(buf));

	memcpy(buf, (void *)func, sizeof(buf));
	ktrace_untraced_code(entry + 1, buf + (entry + 1 - func));
	KUNIT_EXPECT_EQ(test, buf[entry + 1 - func], before[entry + 1 - func]);
}

static void check_slot(struct kunit *test, unsigned long func, unsigned long entry, u8 opcode)
{
	u8 before[16];

	subject = func;
	memcpy(before, (void *)func, sizeof(before));

	start_tracer(test, 0, 0, &subject, 1);
	check_in_slot(test, entry, opcode);
	check_in_callback(test, (unsigned long)callbacks[0]);
	start_tracer(test, 1, FTRACE_OPS_FL_SAVE_REGS, &subject, 1);
	check_in_slot(test, entry, opcode);
	check_in_callback(test, (unsigned long)callbacks[0]);
	check_in_callback(test, (unsigned long)callbacks[1]);
	KUNIT_EXPECT_EQ(test, tracers[0].ip, func);
	KUNIT_EXPECT_EQ(test, tracers[1].ip, func);
	check_code(test, func, entry, before);

	stop_tracer(1);
	tracers[0].calls = 0;
	call_subject();
	KUNIT_EXPECT_EQ(test, tracers[0].calls, 1);
	stop_tracer(0);
	KUNIT_EXPECT_MEMEQ(test, (void *)func, before, sizeof(before));
	call_subject();
	KUNIT_EXPECT_EQ(test, tracers[0].calls, 1);

	/* A task may still be there */
	KUNIT_EXPECT_EQ(test, arch_ktrace_text_address(slot() + SLOT_CALL), func + 1);
	if (uses_padding())
		KUNIT_EXPECT_EQ(test, arch_ktrace_text_address(func + SLOT_JMP), func + 1);
}

static void ktrace_test_slot(struct kunit *test)
{
	check_slot(test, local, local, first_opcode(4));
	check_slot(test, saving, saving, first_opcode(2));
}

static void need_push(struct kunit *test, unsigned long func)
{
	if (*(u8 *)func != PUSH_RBX)
		kunit_skip(test, "the function does not begin with a push");
}

/* Wait until @addr has @opcode, up to 200 seconds */
static void wait_for_opcode(struct kunit *test, unsigned long addr, u8 opcode)
{
	for (unsigned int i = 0; READ_ONCE(*(u8 *)addr) != opcode; i++) {
		KUNIT_ASSERT_LT_MSG(test, i, 2000, "there is no jump after 200 seconds\n");
		msleep(100);
	}
}

static void wait_for_jump(struct kunit *test, unsigned long entry)
{
	wait_for_opcode(test, entry, jump_opcode());
}

/* A breakpoint is in place of one byte, and after a while a jump of two instructions */
static void ktrace_test_slot_upgrade(struct kunit *test)
{
	u8 before[16];

	need_push(test, pushing);
	memcpy(before, (void *)pushing, sizeof(before));
	check_slot(test, pushing, pushing, INT3_INSN_OPCODE);

	start_tracer(test, 0, 0, &subject, 1);
	KUNIT_EXPECT_GT(test, displaced_len(pushing), 1);
	KUNIT_EXPECT_TRUE(test, ktrace_refuses_breakpoint(pushing));
	KUNIT_EXPECT_TRUE(test, ktrace_refuses_breakpoint(pushing + 1));
	wait_for_jump(test, pushing);
	check_in_slot(test, pushing, jump_opcode());
	check_code(test, pushing, pushing, before);

	/* The other way to call both, and back */
	start_tracer(test, 1, FTRACE_OPS_FL_SAVE_REGS, &subject, 1);
	check_in_slot(test, pushing, jump_opcode());
	check_in_callback(test, (unsigned long)callbacks[1]);
	stop_tracer(0);
	check_in_slot(test, pushing, jump_opcode());
	stop_tracer(1);
	KUNIT_EXPECT_MEMEQ(test, (void *)pushing, before, sizeof(before));

	check_slot(test, pushing, pushing, INT3_INSN_OPCODE);
}

#ifdef CONFIG_KPROBES
static unsigned int probe_hits;

static int ktrace_test_probe(struct kprobe *kp, struct pt_regs *regs)
{
	probe_hits++;
	return 0;
}

static int start_probe(unsigned long addr)
{
	int ret;

	probe = (struct kprobe){
		.addr = (void *)addr, .pre_handler = ktrace_test_probe,
	};
	probe_hits = 0;

	ret = register_kprobe(&probe);
	probing = !ret;

	return ret;
}

static void check_probed(struct kunit *test)
{
	probe_hits = 0;
	call_subject();
	/* The compiler does not see that the call changes it */
	KUNIT_EXPECT_EQ(test, READ_ONCE(probe_hits), 1);
}

/* The subject has a tracer, and a probe of its second instruction */
static void check_traced_and_probed(struct kunit *test)
{
	tracers[0].calls = 0;
	check_probed(test);
	KUNIT_EXPECT_EQ(test, tracers[0].calls, 1);
	KUNIT_EXPECT_EQ(test, *(u8 *)subject, INT3_INSN_OPCODE);
	KUNIT_EXPECT_EQ(test, displaced_len(subject), 1);
	KUNIT_EXPECT_FALSE(test, ktrace_refuses_breakpoint(subject + 1));
	check_in_slot(test, subject, INT3_INSN_OPCODE);
}

/* Meanwhile, other CPUs call the function, whose entry, padding and slot change */
static int call_probed(void *data)
{
	while (!kthread_should_stop()) {
		ktrace_test_probed();
		cond_resched_tasks_rcu_qs();
	}

	return 0;
}

static void start_calling(struct kunit *test)
{
	caller = kthread_run(call_probed, NULL, "ktrace_test");
	KUNIT_ASSERT_FALSE(test, IS_ERR(caller));
}

/* A probe of the second instruction, when that is displaced */
static void ktrace_test_slot_probe(struct kunit *test)
{
	u8 before[16];

	need_push(test, probed);
	subject = probed;
	if (slot() && !ktrace_refuses_breakpoint(probed + 1))
		kunit_skip(test, "the test has run before, and the slot stays\n");
	memcpy(before, (void *)probed, sizeof(before));

	start_tracer(test, 0, 0, &subject, 1);
	start_calling(test);
	wait_for_jump(test, probed);
	KUNIT_ASSERT_EQ(test, start_probe(probed + 1), 0);
	stop_calling();
	check_traced_and_probed(test);
	stop_tracer(0);
	check_probed(test);
	start_tracer(test, 0, 0, &subject, 1);
	check_traced_and_probed(test);
	/* The slot was split, and keeps its breakpoint */
	KUNIT_EXPECT_EQ(test, *(u8 *)(slot() + SLOT_CODE + 1), INT3_INSN_OPCODE);
	stop_probe();
	stop_tracer(0);
	KUNIT_EXPECT_MEMEQ(test, (void *)probed, before, sizeof(before));

	check_slot(test, probed, probed, INT3_INSN_OPCODE);
}

/*
 * A probe of the second instruction is hit also when the address of ktrace_resume() is called,
 * as a direct call does.
 */
static void ktrace_test_slot_probe_direct(struct kunit *test)
{
	unsigned long resume;

	if (cpu_feature_enabled(X86_FEATURE_IBT))
		kunit_skip(test, "the CPU does not allow an indirect call behind ENDBR");

	need_push(test, probed_direct);
	subject = probed_direct;
	resume = ktrace_resume(probed_direct);
	KUNIT_ASSERT_EQ(test, resume, slot() + SLOT_CODE);

	KUNIT_ASSERT_EQ(test, start_probe(probed_direct + 1), 0);
	((unsigned long (*)(void))resume)();
	KUNIT_EXPECT_EQ(test, READ_ONCE(probe_hits), 1);
	check_probed(test);
}

static int call_asleep(void *data)
{
	ktrace_test_asleep(jiffies);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ / 10);

	return 0;
}

/*
 * A probe, optimized or not, is hit by a task that returns to the slot from a direct call in
 * which it slept.
 */
static void ktrace_test_slot_probe_asleep(struct kunit *test)
{
	need_push(test, asleep);
	subject = asleep;
	if (slot() && !ktrace_refuses_breakpoint(asleep + 1))
		kunit_skip(test, "the test has run before, and the slot stays\n");

	start_direct(test, asleep, ktrace_test_direct_sleep);
	wait_for_jump(test, asleep);
	KUNIT_EXPECT_EQ(test, displaced_len(asleep), uses_padding() ? 4 : 5);

	reinit_completion(&fell_asleep);
	reinit_completion(&woken);
	caller = kthread_create(call_asleep, NULL, "ktrace_test");
	KUNIT_ASSERT_FALSE(test, IS_ERR(caller));
	wake_up_process(caller);
	KUNIT_ASSERT_NE(test, 0, wait_for_completion_timeout(&fell_asleep, 60 * HZ));

	KUNIT_ASSERT_EQ(test, start_probe(asleep + 1), 0);
	if (IS_ENABLED(CONFIG_OPTPROBES))
		wait_for_opcode(test, asleep + 1, JMP32_INSN_OPCODE);
	stop_calling();
	KUNIT_EXPECT_EQ(test, READ_ONCE(probe_hits), 1);
	check_probed(test);
}

/* A probe of the second instruction, when the function was never traced before */
static void ktrace_test_slot_probe_first(struct kunit *test)
{
	need_push(test, probed_first);
	subject = probed_first;

	KUNIT_ASSERT_EQ(test, start_probe(probed_first + 1), 0);
	check_probed(test);
	start_tracer(test, 0, 0, &subject, 1);
	check_traced_and_probed(test);
	stop_probe();
	stop_tracer(0);

	check_slot(test, probed_first, probed_first, INT3_INSN_OPCODE);
}

static void check_padding_is_refused(struct kunit *test, unsigned long func)
{
	for (int offset = PADDING + 1; offset < 0; offset++) {
		KUNIT_EXPECT_TRUE_MSG(test, ktrace_refuses_breakpoint(func + offset),
				      "%pS, offset %d\n", (void *)func, offset);
		KUNIT_EXPECT_NE_MSG(test, start_probe(func + offset), 0,
				    "%pS, offset %d\n", (void *)func, offset);
		stop_probe();
	}
}

/*
 * Another breakpoint in the padding would be taken for damage when the function is traced: with a
 * call or a jump to a slot in the padding, or before there is one
 */
static void ktrace_test_padding(struct kunit *test)
{
	need_padding(test);
	start_tracer(test, 0, 0, &local, 1);
	stop_tracer(0);

	check_padding_is_refused(test, untraced);
	check_padding_is_refused(test, traced);
	check_padding_is_refused(test, local);
	KUNIT_EXPECT_FALSE(test, ktrace_refuses_breakpoint(traced + PADDING));
	KUNIT_EXPECT_FALSE(test, ktrace_refuses_breakpoint(traced));
}
#endif

/* Between the return address on the stack and the jump that are in place of a call */
static void ktrace_test_slot_call(struct kunit *test)
{
	unsigned long jmp, ret = calling + CALL_INSN_SIZE;
	struct test_stack above;

	if (*(u8 *)calling != CALL_INSN_OPCODE)
		kunit_skip(test, "the function does not begin with a call");

	if (cpu_feature_enabled(X86_FEATURE_CALL_DEPTH)) {
		/* Not traceable: the push and the jump in its place would be counted */
		KUNIT_EXPECT_EQ(test, ftrace_set_filter_ip(&tracers[0].ops, calling, 0, 1),
				-EINVAL);
		return;
	}

	subject = calling;
	start_tracer(test, 0, 0, &subject, 1);
	KUNIT_ASSERT_NE(test, slot(), 0);
	jmp = slot() + SLOT_CODE + 5;
	KUNIT_EXPECT_EQ(test, *(u8 *)calling, jump_opcode());
	KUNIT_ASSERT_EQ(test, *(u8 *)jmp, JMP32_INSN_OPCODE);
	KUNIT_EXPECT_EQ(test, untraced,
			to_func(jmp + JMP32_INSN_SIZE + get_unaligned((s32 *)(jmp + 1))));

	check_at(test, slot() + SLOT_CODE, 1);
	ktrace_test_caller(test, jmp, &above);
	KUNIT_EXPECT_TRUE_MSG(test, (seen.hits == 1 && seen.from_handler.ips[0] == calling + 1 &&
				     seen.from_handler.ips[1] == ret &&
				     nr_below(&seen.from_handler, &above) == 2) ||
			      show_seen(test), "behind the return address\n");
	KUNIT_EXPECT_EQ(test, tracers[0].calls, 2);
	KUNIT_EXPECT_EQ(test, tracers[0].ip, calling);
}

static void ktrace_test_slot_endbr(struct kunit *test)
{
	start_tracer(test, 0, 0, &pointed, 1);
	if (*(u32 *)pointed != gen_endbr())
		kunit_skip(test, "the ENDBR is not kept");
	stop_tracer(0);

	check_slot(test, pointed, pointed + BODY, first_opcode(4));
}

/* Direct calls */

static void check_calls(struct kunit *test, unsigned int of_direct, unsigned int of_tracer)
{
	KUNIT_EXPECT_EQ(test, ktrace_test_direct_calls, of_direct);
	KUNIT_EXPECT_EQ(test, tracers[0].calls, of_tracer);
}

/* A function with a direct call, alone and with a tracer. Its code goes on at @resume. */
static void check_direct(struct kunit *test, unsigned long func, unsigned long resume)
{
	subject = func;
	memset(&tracers[0], 0, sizeof(tracers[0]));
	start_direct(test, func, ktrace_test_direct);
	call_subject();
	check_calls(test, 1, 0);
	check_at(test, resume, resume - func < 16 ? resume - func : 1);
	check_calls(test, 2, 0);

	start_tracer(test, 0, 0, &func, 1);
	call_subject();
	check_calls(test, 3, 1);

	/* As a direct call does that calls the function itself */
	KUNIT_EXPECT_EQ(test, ktrace_resume(func), resume);
	((unsigned long (*)(void))resume)();
	check_calls(test, 3, 1);

	stop_direct();
	call_subject();
	check_calls(test, 3, 2);
	stop_tracer(0);
	call_subject();
	check_calls(test, 3, 2);
}

static void ktrace_test_direct_call(struct kunit *test)
{
	const unsigned long with_slot[] = { local, pushing, saving };
	unsigned long resume;

	if (cpu_feature_enabled(X86_FEATURE_IBT))
		kunit_skip(test, "the CPU does not allow an indirect call behind ENDBR");

	check_direct(test, traced, uses_padding() ? traced + BODY : ktrace_resume(traced));
	for (unsigned int i = 0; i < ARRAY_SIZE(with_slot); i++) {
		subject = with_slot[i];
		resume = ktrace_resume(subject);
		KUNIT_ASSERT_NE(test, slot(), 0);
		KUNIT_EXPECT_EQ(test, resume, slot() + SLOT_CODE);
		check_direct(test, subject, resume);
	}
}

/* Addresses in padding */

static void check_addresses(struct kunit *test, unsigned long func, bool used)
{
	for (int offset = PADDING; offset <= 0; offset++) {
		/* CALL_DISP is where a task is that meets a breakpoint in place of the call */
		bool shown = used && (offset == CALL || offset == CALL_DISP ||
				      offset == CALL_END);

		KUNIT_EXPECT_EQ_MSG(test, arch_ktrace_text_address(func + offset),
				    shown ? func + 1 : func + offset, "offset %d\n", offset);
	}
}

static void ktrace_test_text_address(struct kunit *test)
{
	unsigned long plain = (unsigned long)ktrace_test_text_address + BODY;

	need_padding(test);
	check_addresses(test, untraced, false);
	start_tracer(test, 0, 0, &traced, 1);
	check_addresses(test, traced, true);
	check_addresses(test, untraced, false);
	stop_tracer(0);
	/* A task may still be there */
	check_addresses(test, traced, true);

	for (unsigned int i = 0; i < 16; i++) {
		KUNIT_EXPECT_EQ(test, arch_ktrace_text_address(plain + i), plain + i);
		KUNIT_EXPECT_EQ(test, arch_ktrace_text_address(traced + 1 + i), traced + 1 + i);
	}
}

/*
 * Stacks have addresses of init functions, also after these were freed. With page table isolation,
 * the memory is not mapped then.
 */
static void ktrace_test_init_text(struct kunit *test)
{
	unsigned long start = ktrace_get_init_text();

	for (unsigned long ip = start; ip < start - PADDING; ip++)
		KUNIT_EXPECT_EQ(test, arch_ktrace_text_address(ip), ip);
}

/* The code of a function */

static void ktrace_test_endbr(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, *(u32 *)untraced, gen_endbr_poison());
	KUNIT_EXPECT_TRUE(test, __is_endbr(*(u32 *)pointed));
	KUNIT_EXPECT_NE(test, *(u32 *)pointed, gen_endbr_poison());
	KUNIT_EXPECT_FALSE(test, __is_endbr(*(u32 *)local));
}

static void check_untraced_code(struct kunit *test, unsigned long func, u32 insn)
{
	u8 buf[] = { 0, 0, 0xaa };

	ktrace_untraced_code(func, buf);
	KUNIT_EXPECT_MEMEQ(test, buf, &insn, JMP8_INSN_SIZE);
	KUNIT_EXPECT_EQ(test, buf[JMP8_INSN_SIZE], 0xaa);
}

static void ktrace_test_untraced_code(struct kunit *test)
{
	u8 buf[] = { 0xcc, 0xcc };

	need_padding(test);
	start_tracer(test, 0, 0, &traced, 1);
	KUNIT_EXPECT_NE(test, *(u32 *)traced, gen_endbr_poison());
	check_untraced_code(test, traced, gen_endbr_poison());
	stop_tracer(0);

	/* Code that ktrace does not change */
	ktrace_untraced_code(traced + BODY, buf);
	KUNIT_EXPECT_EQ(test, buf[0], 0xcc);
	KUNIT_EXPECT_EQ(test, buf[1], 0xcc);
}

/* What the call in the padding of the traced function calls, 0 if the padding is not used */
static unsigned long callee(void)
{
	const u8 *func = (u8 *)traced;

	if (get_unaligned((s32 *)(func + DISTANCE)) != -CALL_END ||
	    func[CALL] != CALL_INSN_OPCODE ||
	    func[CALL_END] != JMP8_INSN_OPCODE || func[CALL_END + 1] != BODY)
		return 0;

	return traced + CALL_END + get_unaligned((s32 *)(func + CALL_DISP));
}

static unsigned long callee_on_record(void)
{
	struct ktrace_record record;

	return ktrace_get_record(traced, &record) ? 0 : record.callee;
}

static void ktrace_test_code(struct kunit *test)
{
	static const u8 jump[] = { JMP8_INSN_OPCODE, (u8)(CALL - JMP8_INSN_SIZE) };
	unsigned long both[] = { traced, other }, first;
	const u8 *func = (u8 *)traced;
	u8 before[64], padding[DISTANCE - PADDING];

	need_padding(test);
	memcpy(before, func, sizeof(before));
	memcpy(padding, func + PADDING, sizeof(padding));

	start_tracer(test, 0, 0, both, ARRAY_SIZE(both));
	KUNIT_EXPECT_MEMEQ(test, func, jump, sizeof(jump));
	KUNIT_EXPECT_MEMEQ(test, func + sizeof(jump), before + sizeof(jump), BODY - sizeof(jump));
	first = callee();
	KUNIT_EXPECT_NE(test, first, 0);
	KUNIT_EXPECT_EQ(test, first, callee_on_record());
	ktrace_test_traced();
	KUNIT_EXPECT_EQ(test, tracers[0].calls, 1);
	KUNIT_EXPECT_EQ(test, tracers[0].ip, traced);

	/* Not traced: only the padding differs. Its call goes to what it called last. */
	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ip(&tracers[0].ops, traced, 1, 0));
	KUNIT_EXPECT_MEMEQ(test, func, before, BODY);
	KUNIT_EXPECT_EQ(test, callee(), first);
	ktrace_test_traced();
	KUNIT_EXPECT_EQ(test, tracers[0].calls, 1);

	/* The first tracer, and what it is called by, stay with the other function */
	start_tracer(test, 1, FTRACE_OPS_FL_SAVE_REGS, &traced, 1);
	KUNIT_EXPECT_MEMEQ(test, func, jump, sizeof(jump));
	KUNIT_EXPECT_NE(test, callee(), first);
	KUNIT_EXPECT_EQ(test, callee(), callee_on_record());
	ktrace_test_traced();
	KUNIT_EXPECT_EQ(test, tracers[0].calls, 1);
	KUNIT_EXPECT_EQ(test, tracers[1].calls, 1);
	KUNIT_EXPECT_EQ(test, tracers[1].ip, traced);

	stop_tracer(0);
	stop_tracer(1);
	KUNIT_EXPECT_MEMEQ(test, func, before, sizeof(before));
	KUNIT_EXPECT_MEMEQ(test, func + PADDING, padding, sizeof(padding));
	KUNIT_EXPECT_NE(test, callee(), 0);
}

/* Records */

#define ALL_FLAGS	(FTRACE_REF_MAX | FTRACE_FL_ENABLED | FTRACE_FL_REGS |		\
			 FTRACE_FL_IPMODIFY | FTRACE_FL_DISABLED | FTRACE_FL_DIRECT |	\
			 FTRACE_FL_DIRECT_EN | FTRACE_FL_CALL_OPS | FTRACE_FL_TOUCHED |	\
			 FTRACE_FL_MODIFIED)

static void check_flags(struct kunit *test, unsigned long func, unsigned long flags)
{
	struct ktrace_record record;

	KUNIT_ASSERT_EQ(test, 0, ktrace_get_record(func, &record));
	KUNIT_EXPECT_EQ_MSG(test, record.flags & ALL_FLAGS, flags, "%pS: %lx\n",
			    (void *)func, record.flags);
	KUNIT_EXPECT_EQ(test, !record.callee, !(flags & FTRACE_FL_ENABLED));
}

static void ktrace_test_records(struct kunit *test)
{
	const unsigned long on = FTRACE_FL_ENABLED | FTRACE_FL_TOUCHED;
	struct ktrace_record record;

	check_flags(test, untraced, 0);
	KUNIT_EXPECT_EQ(test, ktrace_get_record(untraced + BODY, &record), -ENOENT);

	start_tracer(test, 0, 0, &traced, 1);
	check_flags(test, traced, on | 1);
	start_tracer(test, 1, FTRACE_OPS_FL_SAVE_REGS, &traced, 1);
	check_flags(test, traced, on | FTRACE_FL_REGS | 2);
	stop_tracer(1);
	check_flags(test, traced, on | 1);
	start_tracer(test, 1, FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY, &traced, 1);
	check_flags(test, traced,
		    on | FTRACE_FL_REGS | FTRACE_FL_IPMODIFY | FTRACE_FL_MODIFIED | 2);
	stop_tracer(1);
	stop_tracer(0);
	check_flags(test, traced, FTRACE_FL_TOUCHED | FTRACE_FL_MODIFIED);
	check_flags(test, untraced, 0);
}

/* A function in assembly, which is traced on request only */
static void ktrace_test_optin(struct kunit *test)
{
	unsigned long func = (unsigned long)ktrace_test_assembly;
	struct ktrace_record record;

	if (ktrace_get_record(func, &record))
		kunit_skip(test, "ktrace.optin= does not name ktrace_test_assembly");

	start_tracer(test, 0, 0, &func, 1);
	KUNIT_EXPECT_EQ(test, called_before(ktrace_test_assembly()), func);
	KUNIT_EXPECT_EQ(test, tracers[0].calls, 1);
	KUNIT_EXPECT_EQ(test, tracers[0].ip, func);
	/* Its padding has unwind information */
	subject = func;
	check_in_callback(test, (unsigned long)callbacks[0]);
	KUNIT_EXPECT_EQ(test, tracers[0].calls, 2);

	stop_tracer(0);
	ktrace_test_assembly();
	KUNIT_EXPECT_EQ(test, tracers[0].calls, 2);

	/* A live patch would be passed by when a tracer calls the function */
	tracers[0].ops.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY;
	tracers[0].used = true;
	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ip(&tracers[0].ops, func, 0, 1));
	KUNIT_EXPECT_EQ(test, -EBUSY, register_ftrace_function(&tracers[0].ops));
	KUNIT_ASSERT_EQ(test, 0, ktrace_get_record(func, &record));
	KUNIT_EXPECT_EQ(test, record.flags & FTRACE_FL_IPMODIFY, 0);
}

static struct kunit_case ktrace_test_cases[] = {
	KUNIT_CASE(ktrace_test_unwind_untraced),
	KUNIT_CASE(ktrace_test_unwind_one),
	KUNIT_CASE(ktrace_test_unwind_regs),
	KUNIT_CASE(ktrace_test_unwind_from_regs),
	KUNIT_CASE(ktrace_test_unwind_two),
	KUNIT_CASE(ktrace_test_unwind_graph),
	KUNIT_CASE(ktrace_test_slot),
	KUNIT_CASE_SLOW(ktrace_test_slot_upgrade),
#ifdef CONFIG_KPROBES
	KUNIT_CASE_SLOW(ktrace_test_slot_probe),
	KUNIT_CASE(ktrace_test_slot_probe_first),
	KUNIT_CASE(ktrace_test_slot_probe_direct),
	KUNIT_CASE_SLOW(ktrace_test_slot_probe_asleep),
	KUNIT_CASE(ktrace_test_padding),
#endif
	KUNIT_CASE(ktrace_test_slot_call),
	KUNIT_CASE(ktrace_test_slot_endbr),
	KUNIT_CASE(ktrace_test_text_address),
	KUNIT_CASE(ktrace_test_init_text),
	KUNIT_CASE(ktrace_test_endbr),
	KUNIT_CASE(ktrace_test_untraced_code),
	KUNIT_CASE(ktrace_test_code),
	KUNIT_CASE(ktrace_test_records),
	KUNIT_CASE(ktrace_test_optin),
	/* Leaves a flag in records */
	KUNIT_CASE(ktrace_test_direct_call),
	{}
};

static struct kunit_suite ktrace_test_suite = {
	.name = "ktrace",
	.suite_init = ktrace_test_suite_init,
	.init = ktrace_test_init,
	.exit = ktrace_test_exit,
	.test_cases = ktrace_test_cases,
};

kunit_test_suite(ktrace_test_suite);

MODULE_DESCRIPTION("KUnit tests of ktrace");
MODULE_INFO(import_ns, "EXPORTED_FOR_KUNIT_TESTING");
MODULE_LICENSE("GPL");

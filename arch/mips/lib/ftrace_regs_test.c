// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit test of the registers that pass through the trampolines of ftrace
 *
 * While it runs, user space can trace its functions, too: see test_return_value().
 */

#include <kunit/test.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/math.h>
#include <linux/module.h>
#include <linux/string.h>

#include "ftrace_regs_test.h"

#define NR_REG_ARGS	(IS_ENABLED(CONFIG_32BIT) ? 4 : 8)

/* zero, k0 and k1, gp, sp, ra: these can't be set */
#define REGS_FIXED	(BIT(0) | BIT(26) | BIT(27) | BIT(28) | BIT(29) | BIT(31))
/* at, and what the call site overwrites */
#define REGS_SITE	(BIT(1) | BIT(FTRACE_SITE_RA_REG) | BIT(FTRACE_SITE_CELL_REG))
/* What a function preserves */
#define REGS_SAVED	(GENMASK(23, 16) | BIT(30))
/* What a caller may pass to a function; $15 is the static chain */
#define REGS_GIVEN \
	(GENMASK(4 + NR_REG_ARGS - 1, 4) | BIT(15) | BIT(28) | BIT(29) | BIT(31))

struct ftrace_test_regs ftrace_test_seen;
unsigned long ftrace_test_direct_calls;

/* What the tracer has seen, and what it is to do */
static struct {
	int calls;
	unsigned long ip;
	unsigned long parent_ip;
	struct ftrace_ops *op;
	bool has_regs;
	bool user;
	struct pt_regs regs;
	unsigned long args[12];
	unsigned long sp;
	unsigned long fregs_ip;

	bool change;
	unsigned long goto_ip;
} traced;

static struct ftrace_test_regs in;
static struct ftrace_test_regs out;

/* The value that the tracer puts in a register */
static unsigned long changed(int reg)
{
	return in.regs[reg] ^ 0x5a5a5a;
}

static void tracer(unsigned long ip, unsigned long parent_ip,
		   struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);
	int i;

	traced.calls++;
	traced.ip = ip;
	traced.parent_ip = parent_ip;
	traced.op = op;
	traced.has_regs = regs;
	traced.sp = ftrace_regs_get_stack_pointer(fregs);
	traced.fregs_ip = ftrace_regs_get_instruction_pointer(fregs);
	for (i = 0; i < NR_REG_ARGS + FTRACE_TEST_STACK_ARGS; i++)
		traced.args[i] = ftrace_regs_get_argument(fregs, i);

	if (regs) {
		traced.regs = *regs;
		traced.user = user_mode(regs);
	}

	if (regs && traced.change) {
		for (i = 0; i < 32; i++)
			if (!(REGS_FIXED & BIT(i)))
				regs->regs[i] = changed(i);
		regs->hi = ~in.hi;
		regs->lo = ~in.lo;
	}

	if (traced.goto_ip)
		ftrace_regs_set_instruction_pointer(fregs, traced.goto_ip);
}

static struct ftrace_ops args_ops = {
	.func	= tracer,
};

static struct ftrace_ops regs_ops = {
	.func	= tracer,
	.flags	= FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
};

static struct ftrace_ops direct_ops;

static void call(void)
{
	ftrace_test_call(&in, &out);
}

static void plant(void (*func)(void))
{
	int i;

	memset(&traced, 0, sizeof(traced));
	memset(&out, 0, sizeof(out));
	memset(&ftrace_test_seen, 0, sizeof(ftrace_test_seen));

	for (i = 0; i < 32; i++)
		in.regs[i] = 0x9e3779b97f4a7c15ULL * (i + 1);
	in.hi = 0x12345678;
	in.lo = 0x76543210;
	in.regs[25] = (unsigned long)func;
}

static void trace_start(struct kunit *test, struct ftrace_ops *ops,
			void (*func)(void))
{
	int ret;

	ret = ftrace_set_filter_ip(ops, (unsigned long)func, 0, 1);
	KUNIT_ASSERT_EQ(test, ret, 0);
	ret = register_ftrace_function(ops);
	KUNIT_ASSERT_EQ(test, ret, 0);
}

static void reset_filter(struct kunit *test, struct ftrace_ops *ops,
			 void (*func)(void))
{
	int ret;

	ret = ftrace_set_filter_ip(ops, (unsigned long)func, 1, 0);
	KUNIT_EXPECT_EQ(test, ret, 0);
}

static void trace_stop(struct kunit *test, struct ftrace_ops *ops,
		       void (*func)(void))
{
	KUNIT_EXPECT_EQ(test, unregister_ftrace_function(ops), 0);
	reset_filter(test, ops, func);
}

/* Call plant() before, and then tell the tracer what to do. */
static void call_traced(struct kunit *test, struct ftrace_ops *ops,
			void (*func)(void))
{
	trace_start(test, ops, func);
	call();
	trace_stop(test, ops, func);
}

static void expect_regs(struct kunit *test, const char *who,
			const unsigned long *regs, unsigned long mask,
			unsigned long (*value)(int reg))
{
	int i;

	for (i = 0; i < 32; i++)
		if (mask & BIT(i))
			KUNIT_EXPECT_EQ_MSG(test, regs[i], value(i),
					    "%s: register %d", who, i);
}

static unsigned long planted(int reg)
{
	switch (reg) {
	case 28:
		return (unsigned long)current_thread_info();
	case 29:
		return out.regs[29];
	case 31:
		return (unsigned long)ftrace_test_call_return;
	default:
		return in.regs[reg];
	}
}

static void expect_hi_lo(struct kunit *test, unsigned long hi, unsigned long lo,
			 unsigned long want_hi, unsigned long want_lo)
{
	if (MIPS_ISA_REV >= 6)
		return;

	KUNIT_EXPECT_EQ(test, hi, want_hi);
	KUNIT_EXPECT_EQ(test, lo, want_lo);
}

static void expect_traced(struct kunit *test, struct ftrace_ops *ops,
			  void (*func)(void), bool has_regs)
{
	int i;

	KUNIT_EXPECT_EQ(test, traced.calls, 1);
	KUNIT_EXPECT_PTR_EQ(test, traced.op, ops);
	KUNIT_EXPECT_EQ(test, traced.ip, (unsigned long)func);
	KUNIT_EXPECT_EQ(test, traced.fregs_ip, (unsigned long)func);
	KUNIT_EXPECT_EQ(test, traced.parent_ip, planted(31));
	KUNIT_EXPECT_EQ(test, traced.sp, planted(29));
	KUNIT_EXPECT_EQ(test, traced.has_regs, has_regs);

	for (i = 0; i < NR_REG_ARGS; i++)
		KUNIT_EXPECT_EQ(test, traced.args[i], in.regs[4 + i]);
	for (i = 0; i < FTRACE_TEST_STACK_ARGS; i++)
		KUNIT_EXPECT_EQ(test, traced.args[NR_REG_ARGS + i],
				~in.regs[4 + i]);
}

/* A call site that is off has no effect. */
static void test_off(struct kunit *test)
{
	plant(ftrace_test_target);
	call();

	KUNIT_EXPECT_EQ(test, traced.calls, 0);
	KUNIT_EXPECT_EQ(test, out.regs[2], FTRACE_TEST_TARGET_RET);
	expect_regs(test, "function", ftrace_test_seen.regs,
		    (~REGS_FIXED | REGS_GIVEN) & ~REGS_SITE, planted);
	expect_regs(test, "caller", out.regs, REGS_SAVED, planted);
}

static void test_args(struct kunit *test)
{
	plant(ftrace_test_target);
	call_traced(test, &args_ops, ftrace_test_target);

	expect_traced(test, &args_ops, ftrace_test_target, false);
	KUNIT_EXPECT_EQ(test, out.regs[2], FTRACE_TEST_TARGET_RET);
	expect_regs(test, "function", ftrace_test_seen.regs,
		    REGS_GIVEN | REGS_SAVED, planted);
	expect_regs(test, "caller", out.regs, REGS_SAVED, planted);
}

static void call_goto(struct kunit *test, struct ftrace_ops *ops, bool has_regs,
		      void (*to)(void))
{
	plant(ftrace_test_target);
	traced.goto_ip = (unsigned long)to;
	call_traced(test, ops, ftrace_test_target);

	expect_traced(test, ops, ftrace_test_target, has_regs);
}

static void check_goto(struct kunit *test, struct ftrace_ops *ops, bool has_regs)
{
	call_goto(test, ops, has_regs, ftrace_test_other);
	KUNIT_EXPECT_EQ(test, out.regs[2], FTRACE_TEST_OTHER_RET);
	KUNIT_EXPECT_EQ(test, ftrace_test_seen.regs[31], 0);
	expect_regs(test, "caller", out.regs, REGS_SAVED, planted);

	/* To the function itself: neither the call site nor the tracer runs again. */
	call_goto(test, ops, has_regs, ftrace_test_target);
	KUNIT_EXPECT_EQ(test, out.regs[2], FTRACE_TEST_TARGET_RET);
}

static void test_args_goto(struct kunit *test)
{
	check_goto(test, &args_ops, false);
}

static void test_regs(struct kunit *test)
{
	plant(ftrace_test_target);
	call_traced(test, &regs_ops, ftrace_test_target);

	expect_traced(test, &regs_ops, ftrace_test_target, true);
	KUNIT_EXPECT_FALSE(test, traced.user);
	KUNIT_EXPECT_EQ(test, traced.regs.regs[0], 0);
	KUNIT_EXPECT_EQ(test, traced.regs.cp0_epc,
			(unsigned long)ftrace_test_target);
	KUNIT_EXPECT_EQ(test, traced.regs.cp0_cause, 0);
	KUNIT_EXPECT_EQ(test, out.regs[2], FTRACE_TEST_TARGET_RET);
	expect_regs(test, "tracer", traced.regs.regs,
		    (~REGS_FIXED | REGS_GIVEN) & ~REGS_SITE, planted);
	expect_hi_lo(test, traced.regs.hi, traced.regs.lo, in.hi, in.lo);
	expect_regs(test, "function", ftrace_test_seen.regs,
		    (~REGS_FIXED | REGS_GIVEN) & ~REGS_SITE, planted);
	expect_hi_lo(test, ftrace_test_seen.hi, ftrace_test_seen.lo,
		     in.hi, in.lo);
	expect_regs(test, "caller", out.regs, REGS_SAVED, planted);
}

static void test_regs_change(struct kunit *test)
{
	plant(ftrace_test_target);
	traced.change = true;
	call_traced(test, &regs_ops, ftrace_test_target);

	expect_traced(test, &regs_ops, ftrace_test_target, true);
	KUNIT_EXPECT_EQ(test, out.regs[2], FTRACE_TEST_TARGET_RET);
	/* All except gp, sp and ra, which the function needs to return */
	expect_regs(test, "function", ftrace_test_seen.regs,
		    ~(REGS_FIXED | REGS_SITE), changed);
	expect_regs(test, "function", ftrace_test_seen.regs,
		    BIT(28) | BIT(29) | BIT(31), planted);
	expect_hi_lo(test, ftrace_test_seen.hi, ftrace_test_seen.lo,
		     ~in.hi, ~in.lo);
}

static void test_regs_goto(struct kunit *test)
{
	check_goto(test, &regs_ops, true);
}

/* The cell of the call site, and FTRACE_SITE_SAVE_REGS, follow the ops that come and go. */
static void test_both(struct kunit *test)
{
	plant(ftrace_test_target);
	trace_start(test, &args_ops, ftrace_test_target);
	trace_start(test, &regs_ops, ftrace_test_target);
	call();
	KUNIT_EXPECT_EQ(test, traced.calls, 2);
	KUNIT_EXPECT_TRUE(test, traced.has_regs);
	expect_regs(test, "function", ftrace_test_seen.regs,
		    (~REGS_FIXED | REGS_GIVEN) & ~REGS_SITE, planted);

	trace_stop(test, &regs_ops, ftrace_test_target);
	plant(ftrace_test_target);
	call();
	expect_traced(test, &args_ops, ftrace_test_target, false);

	trace_start(test, &regs_ops, ftrace_test_target);
	trace_stop(test, &args_ops, ftrace_test_target);
	plant(ftrace_test_target);
	call();
	expect_traced(test, &regs_ops, ftrace_test_target, true);

	trace_stop(test, &regs_ops, ftrace_test_target);
	plant(ftrace_test_target);
	call();
	KUNIT_EXPECT_EQ(test, traced.calls, 0);
}

static void test_direct(struct kunit *test)
{
	int ret;

	ret = ftrace_set_filter_ip(&direct_ops,
				   (unsigned long)ftrace_test_target, 0, 1);
	KUNIT_ASSERT_EQ(test, ret, 0);
	ret = register_ftrace_direct(&direct_ops,
				     (unsigned long)ftrace_test_direct);
	KUNIT_ASSERT_EQ(test, ret, 0);

	plant(ftrace_test_target);
	ftrace_test_direct_calls = 0;
	call();
	KUNIT_EXPECT_EQ(test, ftrace_test_direct_calls, 1);
	KUNIT_EXPECT_EQ(test, out.regs[2], FTRACE_TEST_TARGET_RET);
	KUNIT_EXPECT_EQ(test, ftrace_test_seen.regs[FTRACE_SITE_RA_REG],
			(unsigned long)ftrace_test_target + MCOUNT_INSN_SIZE);
	expect_regs(test, "function", ftrace_test_seen.regs,
		    (~REGS_FIXED | REGS_GIVEN) & ~REGS_SITE, planted);

	/* Together with a tracer */
	trace_start(test, &args_ops, ftrace_test_target);
	plant(ftrace_test_target);
	call();
	KUNIT_EXPECT_EQ(test, ftrace_test_direct_calls, 2);
	KUNIT_EXPECT_EQ(test, traced.calls, 1);
	expect_regs(test, "function", ftrace_test_seen.regs,
		    (~REGS_FIXED | REGS_GIVEN) & ~REGS_SITE, planted);
	trace_stop(test, &args_ops, ftrace_test_target);

	ret = unregister_ftrace_direct(&direct_ops,
				       (unsigned long)ftrace_test_direct,
				       false);
	KUNIT_EXPECT_EQ(test, ret, 0);
	reset_filter(test, &direct_ops, ftrace_test_target);
}

/* A function of the kernel, compiled from C */
static void test_kernel_function(struct kunit *test)
{
	void (*func)(void) = (void (*)(void))int_sqrt;

	plant(func);
	in.regs[4] = 1000000;
	call_traced(test, &regs_ops, func);

	expect_traced(test, &regs_ops, func, true);
	KUNIT_EXPECT_EQ(test, out.regs[2], 1000);
	expect_regs(test, "tracer", traced.regs.regs,
		    (~REGS_FIXED | REGS_GIVEN) & ~REGS_SITE, planted);
	expect_regs(test, "caller", out.regs, REGS_SAVED, planted);
}

#ifdef CONFIG_KRETPROBES
static int returned_to_probe;
static unsigned long returned_value;

static int probe_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	returned_to_probe++;
	returned_value = regs_return_value(regs);

	return 0;
}

static void test_return_to_probe(struct kunit *test)
{
	struct kretprobe probe = {
		.kp.addr	= (kprobe_opcode_t *)ftrace_test_return,
		.handler	= probe_return,
	};

	returned_to_probe = 0;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&probe), 0);
	KUNIT_EXPECT_EQ(test, ftrace_test_return(), FTRACE_TEST_RETURN_RET);
	unregister_kretprobe(&probe);
	KUNIT_EXPECT_EQ(test, returned_to_probe, 1);
	KUNIT_EXPECT_EQ(test, returned_value, FTRACE_TEST_RETURN_RET);
}
#else
static void test_return_to_probe(struct kunit *test) { }
#endif

/*
 * Stale stack must not make a return value look like that of a failed system
 * call.  This test does not register a graph tracer, so it does not see what one
 * gets: one that is set from user space shows 10 or more calls that return
 * FTRACE_TEST_RETURN_RET.
 */
static void test_return_value(struct kunit *test)
{
	int i;

	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, ftrace_test_return(), FTRACE_TEST_RETURN_RET);

	test_return_to_probe(test);
}

#ifdef CONFIG_KPROBES_ON_FTRACE
static int probe_hits;

static int probe_recurse(struct kprobe *p, struct pt_regs *regs)
{
	probe_hits++;
	ftrace_test_target();

	return 0;
}

/* A probe that its own handler hits is counted as missed. */
static void test_kprobe_recursion(struct kunit *test)
{
	struct kprobe probe = {
		.addr		= (kprobe_opcode_t *)ftrace_test_target,
		.pre_handler	= probe_recurse,
	};

	probe_hits = 0;
	KUNIT_ASSERT_EQ(test, register_kprobe(&probe), 0);
	KUNIT_EXPECT_TRUE(test, kprobe_ftrace(&probe));
	ftrace_test_target();
	unregister_kprobe(&probe);
	KUNIT_EXPECT_EQ(test, probe_hits, 1);
	KUNIT_EXPECT_EQ(test, probe.nmissed, 1);
}
#endif

static struct kunit_case ftrace_regs_test_cases[] = {
	KUNIT_CASE(test_off),
	KUNIT_CASE(test_args),
	KUNIT_CASE(test_args_goto),
	KUNIT_CASE(test_regs),
	KUNIT_CASE(test_regs_change),
	KUNIT_CASE(test_regs_goto),
	KUNIT_CASE(test_both),
	KUNIT_CASE(test_direct),
	KUNIT_CASE(test_kernel_function),
	KUNIT_CASE(test_return_value),
#ifdef CONFIG_KPROBES_ON_FTRACE
	KUNIT_CASE(test_kprobe_recursion),
#endif
	{}
};

static struct kunit_suite ftrace_regs_test_suite = {
	.name		= "mips_ftrace_regs",
	.test_cases	= ftrace_regs_test_cases,
};

kunit_test_suite(ftrace_regs_test_suite);

MODULE_DESCRIPTION("KUnit test of the registers that pass through ftrace");
MODULE_LICENSE("GPL");

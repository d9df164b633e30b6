// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the function tracer multiplexer: a module registers tracers, and
 * checks which of them are called, how often, and with which arguments.
 *
 * ftrace promises the same with and without the multiplexer, so the suite also
 * passes with kernel.ftrace_mux=0.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/ftrace_mux_arch.h>
#include <linux/kallsyms.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "check.h"
#include "fault.h"
#include "mux.h"

static unsigned int cycles = 20;
module_param(cycles, uint, 0444);
MODULE_PARM_DESC(cycles, "How often tracers are registered and unregistered under load");

static unsigned long seed = 1;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "Seed of the random sequence of changes");

#define NR_FUNCS	8
#define NR_TRACERS	24
#define NR_CALLBACKS	4
/* By how much the stack pointer at a call site is less than that of the caller */
#ifdef CONFIG_X86_64
#define SITE_SP_OFFSET	sizeof(long)		/* the return address */
#else
#define SITE_SP_OFFSET	0
#endif

/* Some architectures have no full registers for tracers */
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_REGS
#define SAVE_REGS	FTRACE_OPS_FL_SAVE_REGS
#else
#define SAVE_REGS	0
#endif

/* IDs that have static trampolines, if there are any */
#ifdef CONFIG_FTRACE_MUX_STATIC_IDS
#define NR_STATIC_IDS	CONFIG_FTRACE_MUX_STATIC_IDS
#else
#define NR_STATIC_IDS	FTRACE_MUX_IDS
#endif
/* More than have static IDs */
#define NR_OVERRIDES	(NR_STATIC_IDS + 3)

/* The functions to be traced */

#define CALL_MAGIC	0x6d757874UL	/* "muxt" */
#define ARG_MAGIC(n)	(~0UL / 0xf * (n))	/* 0x1111... * (n) */

/* One call of one function: made by the caller, filled in by the tracers */
struct test_call {
	unsigned long	magic;
	int		func;
	unsigned long	sp;			/* of make_call() */
	unsigned long	parent;			/* where the function returns to */
	bool		replaced;		/* by test_replacement() */
	int		order;			/* tracers that have been called */
	int		seen[NR_TRACERS];	/* times called */
	int		nth[NR_TRACERS];	/* called as the n-th, from 1 */
	unsigned long	ip[NR_TRACERS];
	unsigned long	parent_ip[NR_TRACERS];
	bool		regs[NR_TRACERS];	/* ftrace_get_regs() had some */
	bool		bad_sp[NR_TRACERS];
	unsigned long	regs_ip[NR_TRACERS];
	bool		bad_args[NR_TRACERS];
};

/* The result is wrong if a trampoline has not preserved an argument */
static __always_inline unsigned long test_body(int func, struct test_call *call,
					       unsigned long b, unsigned long c,
					       unsigned long d, unsigned long e,
					       unsigned long f)
{
	call->parent = (unsigned long)__builtin_return_address(0);

	return (b ^ ARG_MAGIC(2)) | (c ^ ARG_MAGIC(3)) | (d ^ ARG_MAGIC(4)) |
	       (e ^ ARG_MAGIC(5)) | (f ^ ARG_MAGIC(6)) | (call->func ^ func);
}

#define TEST_FUNC(n)								\
static noinline unsigned long							\
mux_test_f##n(struct test_call *call, unsigned long b, unsigned long c,		\
	      unsigned long d, unsigned long e, unsigned long f)		\
{										\
	return test_body(n, call, b, c, d, e, f);				\
}

TEST_FUNC(0)
TEST_FUNC(1)
TEST_FUNC(2)
TEST_FUNC(3)
TEST_FUNC(4)
TEST_FUNC(5)
TEST_FUNC(6)
TEST_FUNC(7)

typedef unsigned long (*test_func_t)(struct test_call *call, unsigned long b,
				     unsigned long c, unsigned long d,
				     unsigned long e, unsigned long f);

static const test_func_t funcs[NR_FUNCS] = {
	mux_test_f0, mux_test_f1, mux_test_f2, mux_test_f3,
	mux_test_f4, mux_test_f5, mux_test_f6, mux_test_f7,
};

static notrace noinline unsigned long
test_replacement(struct test_call *call, unsigned long b, unsigned long c,
		 unsigned long d, unsigned long e, unsigned long f)
{
	call->replaced = true;

	return test_body(call->func, call, b, c, d, e, f);
}

static notrace unsigned long make_call(struct test_call *call, int func)
{
	unsigned long ret;

	memset(call, 0, sizeof(*call));
	call->magic = CALL_MAGIC;
	call->func = func;
	call->sp = current_stack_pointer;
	ret = funcs[func](call, ARG_MAGIC(2), ARG_MAGIC(3), ARG_MAGIC(4), ARG_MAGIC(5),
			  ARG_MAGIC(6));
	/* Not as a tail call: the stack pointer would be that of the caller */
	barrier();

	return ret;
}

/* The tracers */

#define TRACER_ALIVE	0x616c6976UL
#define TRACER_DEAD	0x64656164UL

struct test_tracer {
	struct ftrace_ops	ops;
	unsigned long		state;
	unsigned int		index;
	unsigned long		filter;		/* masks of functions */
	unsigned long		excluded;
	ftrace_func_t		func;		/* the callback that is its own */
	bool			registered;
	atomic_long_t		calls[NR_FUNCS];
	atomic_long_t		bad_owner;	/* callback or ops of another */
	atomic_long_t		bad_ip;
};

static struct test_tracer *tracers[NR_TRACERS];

/* Calls that came after unregister_ftrace_function() had returned */
static atomic_long_t late_calls;
/* The sum of bad_owner and bad_ip of tracers that are no more */
static atomic_long_t past_strays;
/* Holds the task that calls it until it is NULL again */
static struct test_tracer *holder;
static unsigned long hold_until;	/* in jiffies */
static bool is_held;
/* Redirects a call to test_replacement() if it is this one's */
static struct test_tracer *redirector;
/* Its callback calls the function that it traces */
static struct test_tracer *recurser;
/* How often a callback may be called for one call of make_call() */
#define MAX_DEPTH	5

/* Index of the function with the call site @ip, -1 if there is none */
static notrace int func_index(unsigned long ip)
{
	for (int i = 0; i < NR_FUNCS; i++) {
		if (ip - (unsigned long)funcs[i] <= ARCH_FTRACE_MAX_SITE_OFFSET)
			return i;
	}

	return -1;
}

static notrace void check_args(struct test_tracer *tracer, unsigned long ip,
			       unsigned long parent_ip, struct ftrace_regs *fregs)
{
	struct test_call *call = (void *)ftrace_regs_get_argument(fregs, 0);
	unsigned int index = tracer->index;

	/* The others tell whether the first can be relied on */
	for (int n = 2; n <= 6; n++) {
		if (ftrace_regs_get_argument(fregs, n - 1) != ARG_MAGIC(n)) {
			atomic_long_inc(&tracer->bad_owner);
			return;
		}
	}

	if (call->magic != CALL_MAGIC) {
		atomic_long_inc(&tracer->bad_owner);
		return;
	}

	call->seen[index]++;
	call->nth[index] = ++call->order;
	call->ip[index] = ip;
	call->parent_ip[index] = parent_ip;
	call->regs[index] = ftrace_get_regs(fregs);
	call->bad_sp[index] = call->sp - ftrace_regs_get_stack_pointer(fregs) != SITE_SP_OFFSET;
	call->regs_ip[index] = ftrace_regs_get_instruction_pointer(fregs);

	if (tracer == READ_ONCE(redirector))
		ftrace_regs_set_instruction_pointer(fregs, (unsigned long)test_replacement);
}

static notrace void call_again(struct test_tracer *tracer, int func, struct ftrace_regs *fregs)
{
	struct test_call *call = (void *)ftrace_regs_get_argument(fregs, 0);

	if (call->seen[tracer->index] < MAX_DEPTH)
		funcs[func](call, ARG_MAGIC(2), ARG_MAGIC(3), ARG_MAGIC(4), ARG_MAGIC(5),
			    ARG_MAGIC(6));
}

static __always_inline void test_callback(unsigned long ip, unsigned long parent_ip,
					  struct ftrace_ops *op,
					  struct ftrace_regs *fregs,
					  ftrace_func_t self)
{
	struct test_tracer *tracer = container_of(op, struct test_tracer, ops);
	int func = func_index(ip);

	if (READ_ONCE(tracer->state) != TRACER_ALIVE) {
		atomic_long_inc(&late_calls);
		return;
	}

	/* Neither a slot's function nor its ops may have changed alone */
	if (op->private != tracer || tracer->func != self) {
		atomic_long_inc(&tracer->bad_owner);
		return;
	}

	if (func < 0 || !(tracer->filter & ~tracer->excluded & BIT(func))) {
		atomic_long_inc(&tracer->bad_ip);
		return;
	}

	atomic_long_inc(&tracer->calls[func]);
	check_args(tracer, ip, parent_ip, fregs);
	if (tracer == READ_ONCE(recurser))
		call_again(tracer, func, fregs);

	while (tracer == READ_ONCE(holder) && time_before(jiffies, hold_until)) {
		WRITE_ONCE(is_held, true);
		cpu_relax();
	}
}

#define TEST_CALLBACK(n)							\
static notrace void mux_test_cb##n(unsigned long ip, unsigned long parent_ip,	\
				   struct ftrace_ops *op,			\
				   struct ftrace_regs *fregs)			\
{										\
	test_callback(ip, parent_ip, op, fregs, mux_test_cb##n);		\
}

TEST_CALLBACK(0)
TEST_CALLBACK(1)
TEST_CALLBACK(2)
TEST_CALLBACK(3)

static const ftrace_func_t callbacks[NR_CALLBACKS] = {
	mux_test_cb0, mux_test_cb1, mux_test_cb2, mux_test_cb3,
};

/* Make @index a new tracer of the functions @filter, but for @excluded */
static int start_tracer(unsigned int index, unsigned long filter,
			unsigned long excluded, unsigned long flags)
{
	struct test_tracer *tracer;
	unsigned long ips[NR_FUNCS];
	unsigned int nr = 0;
	unsigned int i;
	int ret = 0;

	tracer = kzalloc_obj(*tracer);
	if (!tracer)
		return -ENOMEM;

	tracer->state = TRACER_ALIVE;
	tracer->index = index;
	tracer->filter = filter;
	tracer->excluded = excluded;
	tracer->func = callbacks[index % NR_CALLBACKS];
	tracer->ops.func = tracer->func;
	tracer->ops.flags = flags;
	tracer->ops.private = tracer;
	tracers[index] = tracer;

	for_each_set_bit(i, &filter, NR_FUNCS)
		ips[nr++] = (unsigned long)funcs[i];
	ret = ftrace_set_filter_ips(&tracer->ops, ips, nr, 0, 1);

	for_each_set_bit(i, &excluded, NR_FUNCS) {
		char name[] = "mux_test_f0";

		name[sizeof(name) - 2] += i;
		if (!ret)
			ret = ftrace_set_notrace(&tracer->ops, name, strlen(name), 0);
	}

	if (!ret)
		ret = register_ftrace_function(&tracer->ops);
	tracer->registered = !ret;

	return ret;
}

/* A call of the tracer after this returns is counted as late */
static int stop_tracer(unsigned int index)
{
	struct test_tracer *tracer = tracers[index];
	int ret;

	if (!tracer->registered)
		return 0;

	ret = unregister_ftrace_function(&tracer->ops);
	WRITE_ONCE(tracer->state, TRACER_DEAD);
	tracer->registered = false;

	return ret;
}

/* Late calls are counted until this; after it, they are for KASAN to find */
static void free_tracer(unsigned int index)
{
	if (!tracers[index])
		return;

	stop_tracer(index);
	atomic_long_add(atomic_long_read(&tracers[index]->bad_owner) +
			atomic_long_read(&tracers[index]->bad_ip), &past_strays);
	ftrace_free_filter(&tracers[index]->ops);
	kfree(tracers[index]);
	tracers[index] = NULL;
}

static bool wants(unsigned int index, int func)
{
	struct test_tracer *tracer = tracers[index];

	return tracer && tracer->registered &&
	       tracer->filter & ~tracer->excluded & BIT(func);
}

static bool wants_regs(unsigned int index, int func)
{
	return wants(index, func) &&
	       tracers[index]->ops.flags & SAVE_REGS;
}

static long total(atomic_long_t *counts)
{
	long sum = 0;

	for (int i = 0; i < NR_FUNCS; i++)
		sum += atomic_long_read(&counts[i]);

	return sum;
}

/* What must be 0 whatever has happened */
static void expect_no_strays(struct kunit *test)
{
	for (int i = 0; i < NR_TRACERS; i++) {
		if (!tracers[i])
			continue;
		KUNIT_EXPECT_EQ_MSG(test, atomic_long_read(&tracers[i]->bad_owner), 0,
				    "tracer %d: ops, callback or arguments of another", i);
		KUNIT_EXPECT_EQ_MSG(test, atomic_long_read(&tracers[i]->bad_ip), 0,
				    "tracer %d: functions it has not asked for", i);
	}
	KUNIT_EXPECT_EQ(test, atomic_long_read(&past_strays), 0);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&late_calls), 0);
}

/*
 * IDs are looked at without ftrace_lock, and only for what they become: they
 * come back, and change hands, some time after a tracer has gone.
 */
static unsigned int id_of(unsigned int index)
{
	return READ_ONCE(tracers[index]->ops.mux.id);
}

/* Wait until tracer @index has the ID @id, any ID if that is 0 */
static bool await_id(unsigned int index, unsigned int id)
{
	unsigned long deadline = jiffies + 120 * HZ;

	while (!id_of(index) || (id && id_of(index) != id)) {
		if (time_after(jiffies, deadline))
			return false;
		msleep(20);
	}

	return true;
}

/*
 * The function itself, or what comes after its call. All callbacks get the same
 * registers: those behind the redirector find what it has put there.
 */
static bool regs_ip_is_right(struct test_call *call, unsigned int i, int func)
{
	struct test_tracer *first = READ_ONCE(redirector);

	if (first && call->seen[first->index] && call->nth[i] > call->nth[first->index])
		return call->regs_ip[i] == (unsigned long)test_replacement;

	return call->regs_ip[i] - (unsigned long)funcs[func] <=
	       ARCH_FTRACE_MAX_SITE_OFFSET + MCOUNT_INSN_SIZE;
}

/* Call all functions once and check all that every tracer was handed */
static void check_calls(struct kunit *test, struct test_call *call)
{
	for (int func = 0; func < NR_FUNCS; func++) {
		unsigned long site = 0;
		bool regs = false;

		KUNIT_EXPECT_EQ_MSG(test, make_call(call, func), 0,
				    "f%d: arguments not preserved", func);

		for (int i = 0; i < NR_TRACERS; i++)
			regs |= wants_regs(i, func);

		for (int i = 0; i < NR_TRACERS; i++) {
			KUNIT_EXPECT_EQ_MSG(test, call->seen[i], wants(i, func),
					    "f%d: tracer %d", func, i);
			if (!call->seen[i])
				continue;

			KUNIT_EXPECT_EQ_MSG(test, func_index(call->ip[i]), func,
					    "f%d: ip of tracer %d", func, i);
			if (!site)
				site = call->ip[i];
			KUNIT_EXPECT_EQ_MSG(test, call->ip[i], site,
					    "f%d: ip of tracer %d", func, i);
			KUNIT_EXPECT_EQ_MSG(test, call->parent_ip[i], call->parent,
					    "f%d: parent ip of tracer %d", func, i);
			KUNIT_EXPECT_FALSE_MSG(test, call->bad_sp[i],
					       "f%d: stack pointer of tracer %d", func, i);
			KUNIT_EXPECT_TRUE_MSG(test, regs_ip_is_right(call, i, func),
					      "f%d: ip in the regs of tracer %d", func, i);
			KUNIT_EXPECT_EQ_MSG(test, call->regs[i], regs,
					    "f%d: regs of tracer %d", func, i);
		}
	}
}

static struct test_call *new_call(struct kunit *test)
{
	struct test_call *call = kunit_kzalloc(test, sizeof(*call), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, call);

	return call;
}

/* The load: threads that call all functions on every CPU */

struct load_thread {
	struct task_struct	*task;
	unsigned long		rounds;		/* of NR_FUNCS calls */
	unsigned long		limit;		/* 0: until stopped */
	unsigned long		bad_results;
};

static struct load_thread *load;

static int load_func(void *data)
{
	struct load_thread *thread = data;
	struct test_call call;

	while (!kthread_should_stop()) {
		if (thread->limit && thread->rounds == thread->limit) {
			schedule_timeout_interruptible(1);
			continue;
		}
		for (int i = 0; i < NR_FUNCS; i++)
			thread->bad_results += make_call(&call, i) != 0;
		WRITE_ONCE(thread->rounds, thread->rounds + 1);
		/* Tasks RCU waits for everybody to sleep once */
		if (thread->rounds % 64 == 0)
			cond_resched_tasks_rcu_qs();
	}

	return 0;
}

/* Returns the number of rounds all threads together have made */
static unsigned long stop_load(struct kunit *test)
{
	unsigned long rounds = 0;

	if (!load)
		return 0;

	for (int cpu = 0; cpu < nr_cpu_ids; cpu++) {
		if (!load[cpu].task)
			continue;
		kthread_stop(load[cpu].task);
		rounds += load[cpu].rounds;
		KUNIT_EXPECT_EQ_MSG(test, load[cpu].bad_results, 0,
				    "arguments not preserved on CPU %d", cpu);
	}

	kfree(load);
	load = NULL;

	return rounds;
}

static void start_load(struct kunit *test, unsigned long limit)
{
	struct task_struct *task;
	int cpu;

	load = kcalloc(nr_cpu_ids, sizeof(*load), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, load);

	for_each_online_cpu(cpu) {
		load[cpu].limit = limit;
		task = kthread_create(load_func, &load[cpu], "mux_test/%d", cpu);
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		kthread_bind(task, cpu);
		load[cpu].task = task;
		wake_up_process(task);
	}
}

/* Let every CPU make @rounds more */
static void await_load(struct kunit *test, unsigned long rounds)
{
	unsigned long deadline = jiffies + 60 * HZ;

	for (int cpu = 0; cpu < nr_cpu_ids; cpu++) {
		unsigned long goal = READ_ONCE(load[cpu].rounds) + rounds;

		if (!load[cpu].task)
			continue;
		if (load[cpu].limit)
			goal = min(goal, load[cpu].limit);
		while (READ_ONCE(load[cpu].rounds) < goal && time_before(jiffies, deadline))
			schedule_timeout_uninterruptible(1);
		KUNIT_EXPECT_GE(test, READ_ONCE(load[cpu].rounds), goal);
	}
}

/* Tracer i of n wants every function that is no multiple of i + 2 ... */
static unsigned long overlapping_filter(unsigned int i)
{
	unsigned long mask = 0;

	for (int func = 0; func < NR_FUNCS; func++) {
		if ((func + 1) % (i + 2))
			mask |= BIT(func);
	}

	return mask;
}

/* ... and every third tracer excludes two of them */
static unsigned long some_excluded(unsigned int i)
{
	return i % 3 == 1 ? BIT(i % NR_FUNCS) | BIT((i + 3) % NR_FUNCS) : 0;
}

static void mux_test_counts(struct kunit *test)
{
	const unsigned long rounds = 500;
	unsigned int cpus = num_online_cpus();

	for (int nr = 1; nr <= 10; nr++) {
		long seen = 0, expected = 0;

		/* Tracers 0 to nr - 2 are those of the round before */
		KUNIT_ASSERT_EQ(test, 0, start_tracer(nr - 1, overlapping_filter(nr - 1),
						      some_excluded(nr - 1), 0));
		for (int i = 0; i < nr; i++)
			memset(tracers[i]->calls, 0, sizeof(tracers[i]->calls));

		start_load(test, rounds);
		await_load(test, rounds);
		KUNIT_EXPECT_EQ(test, stop_load(test), rounds * cpus);

		for (int i = 0; i < nr; i++) {
			for (int func = 0; func < NR_FUNCS; func++) {
				long want = wants(i, func) ? rounds * cpus : 0;

				KUNIT_EXPECT_EQ_MSG(test, want,
						    atomic_long_read(&tracers[i]->calls[func]),
						    "tracer %d of %d, f%d", i, nr, func);
				expected += want;
			}
			seen += total(tracers[i]->calls);
		}
		kunit_info(test, "%d tracers: %ld calls seen, %ld expected, on %u CPUs",
			   nr, seen, expected, cpus);
	}

	expect_no_strays(test);
}

static void mux_test_arguments(struct kunit *test)
{
	struct test_call *call = new_call(test);

	for (int nr = 1; nr <= 10; nr++) {
		KUNIT_ASSERT_EQ(test, 0, start_tracer(nr - 1, overlapping_filter(nr - 1),
						      some_excluded(nr - 1), 0));
		check_calls(test, call);
	}
	/* The other way round */
	for (int nr = 0; nr < 9; nr++) {
		KUNIT_ASSERT_EQ(test, 0, stop_tracer(nr));
		check_calls(test, call);
	}

	kunit_info(test, "1 to 10 tracers, up and down: %d calls checked", 19 * NR_FUNCS);
	expect_no_strays(test);
}

static void mux_test_regs(struct kunit *test)
{
	struct test_call *call = new_call(test);
	unsigned int with = 0, without = 0;

	if (!SAVE_REGS)
		kunit_skip(test, "no full registers");

	/* f0 to f3 have tracers that do not ask for regs, f2 to f5 some that do */
	for (int i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, 0, start_tracer(i, 0x0f, 0, 0));
	check_calls(test, call);

	for (int i = 3; i < 6; i++) {
		KUNIT_ASSERT_EQ(test, 0, start_tracer(i, 0x3c, 0x08,
						      SAVE_REGS));
		check_calls(test, call);
	}

	for (int func = 0; func < NR_FUNCS; func++) {
		make_call(call, func);
		for (int i = 0; i < 6; i++) {
			if (call->seen[i] && call->regs[i])
				with++;
			else if (call->seen[i])
				without++;
		}
	}
	/* f2, f4 and f5 with regs: 3 + 3, 3, 3; f0, f1 and f3 without: 3 each */
	KUNIT_EXPECT_EQ(test, with, 12);
	KUNIT_EXPECT_EQ(test, without, 9);

	/* When the last one that asks goes, so do the regs */
	for (int i = 3; i < 6; i++) {
		KUNIT_ASSERT_EQ(test, 0, stop_tracer(i));
		check_calls(test, call);
	}
	make_call(call, 2);
	KUNIT_EXPECT_FALSE(test, call->regs[0]);

	kunit_info(test, "of 21 callbacks, %u with regs and %u without", with, without);
	expect_no_strays(test);
}

/* Callbacks behind the recursion or the RCU helper */
static void mux_test_assist(struct kunit *test)
{
	static const unsigned long flags[] = {
		0, FTRACE_OPS_FL_RECURSION, FTRACE_OPS_FL_RCU,
		FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU,
		FTRACE_OPS_FL_RECURSION | SAVE_REGS,
	};
	struct test_call *call = new_call(test);
	unsigned int callbacks_seen = 0;

	for (int i = 0; i < ARRAY_SIZE(flags); i++) {
		KUNIT_ASSERT_EQ(test, 0, start_tracer(i, overlapping_filter(i), 0, flags[i]));
		check_calls(test, call);
	}

	for (int func = 0; func < NR_FUNCS; func++) {
		make_call(call, func);
		callbacks_seen += call->order;
	}
	kunit_info(test, "%u callbacks for %d calls", callbacks_seen, NR_FUNCS);
	expect_no_strays(test);
}

static void mux_test_ipmodify(struct kunit *test)
{
	struct test_call *call = new_call(test);
	unsigned int later = 0, replaced = 0;

	for (int regs = 0; regs < 2; regs++) {
		/* Some that come before it and some that come after */
		for (int i = 0; i < 5; i++) {
			unsigned long flags = 0;

			if (i == 1)
				flags = FTRACE_OPS_FL_IPMODIFY;
			else if (regs && i == 3)
				flags = SAVE_REGS;
			KUNIT_ASSERT_EQ(test, 0, start_tracer(i, 0x07, 0, flags));
		}

		check_calls(test, call);
		WRITE_ONCE(redirector, tracers[1]);
		check_calls(test, call);

		for (int func = 0; func < 3; func++) {
			make_call(call, func);
			replaced += call->replaced;
			for (int i = 0; i < 5; i++)
				later += call->nth[i] > call->nth[1];
		}

		WRITE_ONCE(redirector, NULL);
		make_call(call, 0);
		KUNIT_EXPECT_FALSE(test, call->replaced);

		for (int i = 0; i < 5; i++)
			free_tracer(i);
	}

	KUNIT_EXPECT_EQ(test, replaced, 2 * 3);
	/* Or nothing has been tested */
	KUNIT_EXPECT_GT(test, later, 0);
	kunit_info(test, "%u of 6 calls redirected, %u callbacks after that", replaced, later);
	expect_no_strays(test);
}

/*
 * A callback may change the ip without FTRACE_OPS_FL_IPMODIFY, as an fprobe does whose BPF
 * program calls bpf_override_return(). The call goes to the new ip from a static
 * trampoline, and from one that was made on demand.
 */
static void mux_test_override(struct kunit *test)
{
	struct test_call *call = new_call(test);
	unsigned int replaced = 0;

	for (int i = 0; i < NR_OVERRIDES; i++) {
		KUNIT_ASSERT_EQ(test, 0, start_tracer(i, BIT(0), 0, 0));
		for (int n = 0; n <= i; n++) {
			WRITE_ONCE(redirector, tracers[n]);
			make_call(call, 0);
			KUNIT_EXPECT_TRUE_MSG(test, call->replaced, "%d of %d tracers", n, i + 1);
			KUNIT_EXPECT_EQ(test, call->order, i + 1);
			replaced += call->replaced;
		}
		WRITE_ONCE(redirector, NULL);
		make_call(call, 0);
		KUNIT_EXPECT_FALSE(test, call->replaced);
	}

	KUNIT_EXPECT_EQ(test, replaced, NR_OVERRIDES * (NR_OVERRIDES + 1) / 2);
	expect_no_strays(test);
}

#ifdef CONFIG_X86_64
/* With nothing but the call, or the compiler may use the registers in between */
static notrace noinline __no_sanitize_address unsigned long
__call_with_registers(struct test_call *call)
{
	register unsigned long r8 asm("r8") = ARG_MAGIC(5);
	register unsigned long r9 asm("r9") = ARG_MAGIC(6);
	unsigned long b = ARG_MAGIC(2), c = ARG_MAGIC(3), d = ARG_MAGIC(4);
	unsigned long lost = 0;

	asm volatile("movq $0x5b5b5b01, %%rbx\n\t"
		     "movq $0x5b5b5b12, %%r12\n\t"
		     "movq $0x5b5b5b13, %%r13\n\t"
		     "movq $0x5b5b5b14, %%r14\n\t"
		     "movq $0x5b5b5b15, %%r15\n\t"
		     "call mux_test_f0\n\t"
		     "subq $0x5b5b5b01, %%rbx\n\t"
		     "subq $0x5b5b5b12, %%r12\n\t"
		     "subq $0x5b5b5b13, %%r13\n\t"
		     "subq $0x5b5b5b14, %%r14\n\t"
		     "subq $0x5b5b5b15, %%r15\n\t"
		     "orq %%rbx, %%rax\n\t"
		     "orq %%r12, %%rax\n\t"
		     "orq %%r13, %%rax\n\t"
		     "orq %%r14, %%rax\n\t"
		     "orq %%r15, %%rax\n\t"
		     : "=a" (lost), ASM_CALL_CONSTRAINT,
		       "+D" (call), "+S" (b), "+d" (c), "+c" (d), "+r" (r8), "+r" (r9)
		     : : "rbx", "r10", "r11", "r12", "r13", "r14", "r15", "cc", "memory");

	return lost;
}
#endif /* CONFIG_X86_64 */

#ifdef CONFIG_ARM64
/* As above: collects what x19 to x28 differ by from what was put there */
static notrace noinline __no_sanitize_address unsigned long
__call_with_registers(struct test_call *call)
{
	register unsigned long x0 asm("x0") = (unsigned long)call;
	register unsigned long x1 asm("x1") = ARG_MAGIC(2);
	register unsigned long x2 asm("x2") = ARG_MAGIC(3);
	register unsigned long x3 asm("x3") = ARG_MAGIC(4);
	register unsigned long x4 asm("x4") = ARG_MAGIC(5);
	register unsigned long x5 asm("x5") = ARG_MAGIC(6);

	asm volatile(".irp n, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28\n\t"
		     "mov x\\n, #0x5b00 + \\n\n\t"
		     ".endr\n\t"
		     "bl mux_test_f0\n\t"
		     ".irp n, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28\n\t"
		     "mov x9, #0x5b00 + \\n\n\t"
		     "sub x9, x9, x\\n\n\t"
		     "orr x0, x0, x9\n\t"
		     ".endr\n\t"
		     : "+r" (x0), "+r" (x1), "+r" (x2), "+r" (x3), "+r" (x4), "+r" (x5)
		     : : "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
			 "x16", "x17", "x19", "x20", "x21", "x22", "x23", "x24", "x25",
			 "x26", "x27", "x28", "x30", "cc", "memory");

	return x0;
}
#endif /* CONFIG_ARM64 */

#ifdef CONFIG_MIPS
#ifdef CONFIG_64BIT
#define CALL_MUX_TEST_F0	"jal mux_test_f0\n\t"
#else
/* The last two arguments are on the stack */
#define CALL_MUX_TEST_F0	"addiu $sp, -24\n\t"		\
				"sw $8, 16($sp)\n\t"		\
				"sw $9, 20($sp)\n\t"		\
				"jal mux_test_f0\n\t"		\
				"addiu $sp, 24\n\t"
#endif

/* As above: collects what $16 to $23 differ by from what was put there */
static notrace noinline __no_sanitize_address unsigned long
__call_with_registers(struct test_call *call)
{
	register unsigned long r2 asm("$2");
	register unsigned long r4 asm("$4") = (unsigned long)call;
	register unsigned long r5 asm("$5") = ARG_MAGIC(2);
	register unsigned long r6 asm("$6") = ARG_MAGIC(3);
	register unsigned long r7 asm("$7") = ARG_MAGIC(4);
	register unsigned long r8 asm("$8") = ARG_MAGIC(5);
	register unsigned long r9 asm("$9") = ARG_MAGIC(6);

	asm volatile(".irp n, 16, 17, 18, 19, 20, 21, 22, 23\n\t"
		     "li $\\n, 0x5b00 + \\n\n\t"
		     ".endr\n\t"
		     CALL_MUX_TEST_F0
		     ".irp n, 16, 17, 18, 19, 20, 21, 22, 23\n\t"
		     "xori $3, $\\n, 0x5b00 + \\n\n\t"
		     "or $2, $2, $3\n\t"
		     ".endr\n\t"
		     : "=r" (r2), "+r" (r4), "+r" (r5), "+r" (r6), "+r" (r7), "+r" (r8), "+r" (r9)
		     : : "$1", "$3", "$10", "$11", "$12", "$13", "$14", "$15", "$16", "$17",
			 "$18", "$19", "$20", "$21", "$22", "$23", "$24", "$25", "$31", "hi",
			 "lo", "memory");

	return r2;
}
#endif /* CONFIG_MIPS */

#ifdef CONFIG_RISCV
/* As above: collects what s1 to s11 differ by from what was put there. s0 is the frame pointer. */
static notrace noinline __no_sanitize_address unsigned long
__call_with_registers(struct test_call *call)
{
	register unsigned long a0 asm("a0") = (unsigned long)call;
	register unsigned long a1 asm("a1") = ARG_MAGIC(2);
	register unsigned long a2 asm("a2") = ARG_MAGIC(3);
	register unsigned long a3 asm("a3") = ARG_MAGIC(4);
	register unsigned long a4 asm("a4") = ARG_MAGIC(5);
	register unsigned long a5 asm("a5") = ARG_MAGIC(6);

	asm volatile(".irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n\t"
		     "li s\\n, 0x5b00 + \\n\n\t"
		     ".endr\n\t"
		     "call mux_test_f0\n\t"
		     ".irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n\t"
		     "li t0, 0x5b00 + \\n\n\t"
		     "xor t0, t0, s\\n\n\t"
		     "or a0, a0, t0\n\t"
		     ".endr\n\t"
		     : "+r" (a0), "+r" (a1), "+r" (a2), "+r" (a3), "+r" (a4), "+r" (a5)
		     : : "a6", "a7", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "s1", "s2", "s3",
			 "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "ra", "memory");

	return a0;
}
#endif /* CONFIG_RISCV */

/* The result of the call is wrong if a register that it preserves was lost */
static notrace unsigned long call_with_registers(struct test_call *call)
{
	memset(call, 0, sizeof(*call));
	call->magic = CALL_MAGIC;

	return __call_with_registers(call);
}

static void mux_test_registers(struct kunit *test)
{
	struct test_call *call = new_call(test);

	for (int i = 0; i < 8; i++) {
		KUNIT_ASSERT_EQ(test, 0, start_tracer(i, BIT(0), 0,
						      i > 3 ? SAVE_REGS : 0));
		KUNIT_EXPECT_EQ_MSG(test, call_with_registers(call), 0, "%d tracers", i + 1);
		KUNIT_EXPECT_EQ(test, call->order, i + 1);
	}

	kunit_info(test, "1 to 8 tracers: arguments and callee-saved registers preserved");
	expect_no_strays(test);
}

/* The tracers that are there all the time must have seen all of the load */
static void expect_all_calls(struct kunit *test, unsigned int index, unsigned long rounds)
{
	for (int func = 0; func < NR_FUNCS; func++) {
		if (wants(index, func))
			KUNIT_EXPECT_EQ_MSG(test, rounds,
					    atomic_long_read(&tracers[index]->calls[func]),
					    "tracer %u, f%d", index, func);
	}
}

static void mux_test_unregister(struct kunit *test)
{
	unsigned int nr_others = NR_STATIC_IDS - 1;
	long victims = 0, heirs = 0;
	unsigned long rounds;

	if (nr_others < 2)
		kunit_skip(test, "too few IDs");

	/* Leave one ID with a slot: the heir has to take that of the victim */
	KUNIT_ASSERT_EQ(test, 0, start_tracer(0, 0xff, 0, 0));
	KUNIT_ASSERT_EQ(test, 0, start_tracer(1, 0x3f, 0x03, SAVE_REGS));
	for (int i = 2; i < nr_others; i++)
		KUNIT_ASSERT_EQ(test, 0, start_tracer(2 + i, 0xff, 0, 0));
	for (int i = 0; i < nr_others; i++)
		KUNIT_ASSERT_TRUE(test, await_id(i < 2 ? i : 2 + i, 0));
	start_load(test, 0);

	for (int n = 0; n < cycles; n++) {
		/* Every other time on functions that have not had regs so far */
		unsigned long filter = n % 2 ? 0x0f : 0xc3;
		unsigned int id;

		KUNIT_ASSERT_EQ(test, 0, start_tracer(2, filter, 0, 0));
		KUNIT_EXPECT_TRUE(test, await_id(2, 0));
		id = id_of(2);
		await_load(test, 20);
		KUNIT_EXPECT_GT(test, total(tracers[2]->calls), 0);
		KUNIT_EXPECT_EQ(test, 0, stop_tracer(2));

		/* This one waits for the ID: with another callback and filter */
		KUNIT_ASSERT_EQ(test, 0, start_tracer(3, ~filter & 0xff, 0, 0));
		await_load(test, 20);
		KUNIT_EXPECT_TRUE(test, await_id(3, id));
		await_load(test, 20);
		KUNIT_EXPECT_EQ(test, 0, stop_tracer(3));
		await_load(test, 20);

		victims += total(tracers[2]->calls);
		heirs += total(tracers[3]->calls);
		expect_no_strays(test);
		free_tracer(2);
		free_tracer(3);
	}

	rounds = stop_load(test);
	expect_all_calls(test, 0, rounds);
	expect_all_calls(test, 1, rounds);
	kunit_info(test,
		   "%u times another one's ID, %lu calls: seen by the victims %ld, by the heirs %ld, late %ld",
		   cycles, rounds * NR_FUNCS, victims, heirs, atomic_long_read(&late_calls));
	expect_no_strays(test);
}

/* Register and unregister tracers, in pairs, until stopped */
static atomic_long_t churned;

static int churn_func(void *data)
{
	unsigned int index = (unsigned long)data;
	int ret = 0;

	for (unsigned int n = 0; !kthread_should_stop(); n++) {
		if (n < cycles && !ret) {
			ret = start_tracer(index, overlapping_filter(n % 6), some_excluded(n),
					   n % 4 == 3 ? SAVE_REGS : 0);
			ret = ret ?: stop_tracer(index);
			free_tracer(index);
			atomic_long_inc(&churned);
		} else {
			schedule_timeout_interruptible(1);
		}
	}

	return ret;
}

static void mux_test_churn(struct kunit *test)
{
	struct task_struct *churner[2];
	/* Only so that it ends: a grace period may take tens of seconds */
	unsigned long deadline = jiffies + 600 * HZ;
	unsigned long rounds;

	for (int i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, 0, start_tracer(i, 0xff >> i, 0, 0));
	start_load(test, 0);
	atomic_long_set(&churned, 0);

	for (unsigned long i = 0; i < 2; i++) {
		churner[i] = kthread_run(churn_func, (void *)(8 + i), "mux_churn/%lu", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(churner[i]));
	}

	while (atomic_long_read(&churned) < 2 * cycles && time_before(jiffies, deadline))
		msleep(20);
	for (int i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, kthread_stop(churner[i]), 0);

	rounds = stop_load(test);
	for (int i = 0; i < 3; i++)
		expect_all_calls(test, i, rounds);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&churned), 2 * cycles);
	kunit_info(test, "%ld cycles by two threads, %lu calls seen by three tracers each",
		   atomic_long_read(&churned), rounds * NR_FUNCS);
	expect_no_strays(test);
}

static int call_f0(void *data)
{
	return make_call(data, 0) != 0;
}

/*
 * A task is in the trampoline of f0 and f1, in the callback of their first tracer,
 * when f0 gets another trampoline, and f1 another tracer. That one must not be
 * called for f0.
 */
static void mux_test_late_caller(struct kunit *test)
{
	const int first = FTRACE_MUX_IDS;
	const int cpu = raw_smp_processor_id();
	struct test_call *call = new_call(test);
	struct task_struct *task;
	int ret;

	if (num_online_cpus() < 2)
		kunit_skip(test, "too few processors");

	/*
	 * Not on the processor of the held task, which disables preemption if the
	 * multiplexer is off: on PREEMPT_RT, no timer expires there meanwhile.
	 */
	KUNIT_ASSERT_EQ(test, 0, set_cpus_allowed_ptr(current, cpumask_of(cpu)));

	/* Without an ID, it is a trampoline on demand */
	for (int i = 0; i < first; i++)
		KUNIT_ASSERT_EQ(test, 0, start_tracer(i, 0xfc, 0, 0));
	for (int i = 0; i < first; i++)
		KUNIT_ASSERT_TRUE(test, await_id(i, 0));
	KUNIT_ASSERT_EQ(test, 0, start_tracer(first, 0x03, 0, 0));
	KUNIT_ASSERT_EQ(test, 0, start_tracer(first + 1, 0x03, 0, 0));

	WRITE_ONCE(is_held, false);
	/* Only so that it ends: somebody may wait for this task under ftrace_lock */
	hold_until = jiffies + 60 * HZ;
	WRITE_ONCE(holder, tracers[first]);
	task = kthread_create(call_f0, call, "mux_test_late");
	if (IS_ERR(task)) {
		WRITE_ONCE(holder, NULL);
		KUNIT_FAIL(test, "no thread");
		return;
	}
	kthread_bind(task, cpumask_any_but(cpu_online_mask, cpu));
	get_task_struct(task);
	wake_up_process(task);
	while (!READ_ONCE(is_held) && time_before(jiffies, hold_until))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(is_held));

	/* This one may still be called for f0 */
	ret = ftrace_set_filter_ip(&tracers[first + 1]->ops, (unsigned long)funcs[0], 1, 0);
	KUNIT_EXPECT_EQ(test, 0, ret);
	/* This one may not */
	KUNIT_EXPECT_EQ(test, 0, start_tracer(first + 2, 0x02, 0, 0));

	KUNIT_EXPECT_TRUE(test, time_before(jiffies, hold_until));
	WRITE_ONCE(holder, NULL);
	KUNIT_EXPECT_EQ(test, 0, kthread_stop(task));
	put_task_struct(task);
	KUNIT_EXPECT_EQ(test, 1, total(tracers[first]->calls));
	KUNIT_EXPECT_EQ(test, 0, total(tracers[first + 2]->calls));
	expect_no_strays(test);

	tracers[first + 1]->filter = 0x02;
	check_calls(test, call);
}

/* More tracers than IDs: those without one see as much as those with */
static void mux_test_beyond_ids(struct kunit *test)
{
	const int nr = FTRACE_MUX_IDS + 3;
	unsigned int without = 0;
	unsigned long rounds;

	static_assert(FTRACE_MUX_IDS + 3 <= NR_TRACERS);
	for (int i = 0; i < nr; i++) {
		KUNIT_ASSERT_EQ(test, 0, start_tracer(i, 0xff, 0, 0));
		without += !id_of(i);
	}
	/* Or nothing has been tested */
	KUNIT_EXPECT_GE(test, without, 3);

	start_load(test, 0);
	await_load(test, 20);
	rounds = stop_load(test);
	for (int i = 0; i < nr; i++)
		expect_all_calls(test, i, rounds);
	kunit_info(test, "%d tracers, %u without ID: %lu calls each seen by its own", nr,
		   without, rounds * NR_FUNCS);
	expect_no_strays(test);
}

static int change_filter(unsigned int index, unsigned long filter)
{
	unsigned long ips[NR_FUNCS];
	unsigned int nr = 0, i;

	for_each_set_bit(i, &filter, NR_FUNCS)
		ips[nr++] = (unsigned long)funcs[i];
	tracers[index]->filter = filter;

	return ftrace_set_filter_ips(&tracers[index]->ops, ips, nr, 0, 1);
}

/*
 * If a tracer goes, and one with FTRACE_OPS_FL_RECURSION remains, this one is still called
 * through the helper. The helper allows one nested call, which could be that of an interrupt.
 */
static void mux_test_recursion(struct kunit *test)
{
	static const unsigned long others[] = { 0, FTRACE_OPS_FL_RECURSION };
	struct test_call *call = new_call(test);

	KUNIT_ASSERT_EQ(test, 0, start_tracer(0, 0x0f, 0, FTRACE_OPS_FL_RECURSION));
	for (int i = 0; i < ARRAY_SIZE(others); i++) {
		KUNIT_ASSERT_EQ(test, 0, start_tracer(1, 0x3c, 0, others[i]));
		check_calls(test, call);
		/* It leaves some functions when its filter changes, the others when it goes */
		KUNIT_ASSERT_EQ(test, 0, change_filter(1, 0x38));
		check_calls(test, call);
		KUNIT_ASSERT_EQ(test, 0, stop_tracer(1));
		check_calls(test, call);

		WRITE_ONCE(recurser, tracers[0]);
		for (int func = 0; func < 4; func++) {
			make_call(call, func);
			KUNIT_EXPECT_EQ_MSG(test, call->seen[0], 2, "f%d", func);
		}
		WRITE_ONCE(recurser, NULL);
		free_tracer(1);
	}
	expect_no_strays(test);
}

/*
 * Tracers come and go, and their filters change, at random: entries move as a whole,
 * lose some of their functions, and are merged. After each step, each function calls
 * exactly the tracers that want it, as their filters have it.
 */
static void mux_test_random(struct kunit *test)
{
	struct test_call *call = new_call(test);
	unsigned int added = 0, removed = 0, changed = 0;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, seed);
	for (int step = 0; step < cycles * 20; step++) {
		unsigned int i = prandom_u32_state(&rnd) % NR_TRACERS;
		unsigned long filter = prandom_u32_state(&rnd) % BIT(NR_FUNCS) ?: 0xff;
		unsigned long excluded = prandom_u32_state(&rnd) % 4 ? 0 : BIT(step % NR_FUNCS);
		unsigned long flags = prandom_u32_state(&rnd) % 4 ? 0 : SAVE_REGS;

		/* Many with the same functions, so that there are entries to move */
		if (step % 3)
			filter = step % 2 ? 0xff : 0x3c;

		if (!tracers[i]) {
			KUNIT_ASSERT_EQ(test, 0, start_tracer(i, filter, excluded, flags));
			added++;
		} else if (step % 5 == 0) {
			free_tracer(i);
			removed++;
		} else {
			KUNIT_ASSERT_EQ(test, 0, change_filter(i, filter));
			changed++;
		}
		check_calls(test, call);
	}
	kunit_info(test, "seed %lu: %u tracers added, %u removed, %u filters changed", seed,
		   added, removed, changed);
	expect_no_strays(test);
}

/* What call sites call */

#ifdef CONFIG_X86_64
/* What the call site of a function calls, 0 if it is not traced */
static unsigned long callee(int func)
{
	const u8 *site = (const u8 *)funcs[func];
	s32 disp;

	/* Or objtool finds an address behind ENDBR */
	OPTIMIZER_HIDE_VAR(site);
	if (IS_ENABLED(CONFIG_KTRACE)) {
		/* It begins with a jump to the call in its padding if it is traced */
		if (*site != JMP8_INSN_OPCODE)
			return 0;
		site += JMP8_INSN_SIZE + (s8)site[1];
	} else if (*site != CALL_INSN_OPCODE) {
		site += ENDBR_INSN_SIZE;
	}
	if (*site != CALL_INSN_OPCODE)
		return 0;
	memcpy(&disp, site + 1, sizeof(disp));

	return (unsigned long)site + CALL_INSN_SIZE + disp;
}

static bool calls_list(int func)
{
	char name[KSYM_SYMBOL_LEN];

	sprint_symbol(name, callee(func));

	return strstarts(name, "ftrace_caller+") || strstarts(name, "ftrace_regs_caller+");
}
#endif /* CONFIG_X86_64 */

#ifdef CONFIG_HAVE_FTRACE_MUX_OPS_ENTRIES
/* What the literal of the function is: an ops or an entry; 0 if it is not traced */
static unsigned long callee(int func)
{
	unsigned long site = (unsigned long)funcs[func] + ARCH_FTRACE_MAX_SITE_OFFSET;

	return arch_ftrace_site_is_on(site) ? READ_ONCE(*ftrace_mux_literal(site)) : 0;
}

static bool calls_list(int func)
{
	char name[KSYM_SYMBOL_LEN];

	sprint_symbol(name, callee(func));

	return strstarts(name, "ftrace_list_ops+");
}
#endif /* CONFIG_HAVE_FTRACE_MUX_OPS_ENTRIES */

#ifdef CONFIG_MIPS
/* What the call site names, its third word; 0 if it is not traced: the second word is a NOP */
static unsigned long callee(int func)
{
	const u32 *site = (const u32 *)funcs[func];

	return READ_ONCE(site[1]) ? READ_ONCE(site[2]) : 0;
}

/* The first cell is the list */
static bool calls_list(int func)
{
	return callee(func) && !(callee(func) & (FTRACE_SITE_SAVE_REGS - 1));
}
#endif /* CONFIG_MIPS */

/* The functions whose call site calls @addr, as a mask */
static unsigned long callers(unsigned long addr)
{
	unsigned long mask = 0;

	for (int func = 0; func < NR_FUNCS; func++) {
		if (callee(func) == addr)
			mask |= BIT(func);
	}

	return mask;
}

/* Functions share an entry as long as they have the same tracers */
static void mux_test_moves(struct kunit *test)
{
	struct test_call *call = new_call(test);
	unsigned long entry, second;

	if (!ftrace_mux_enabled)
		kunit_skip(test, "no entries");

	KUNIT_ASSERT_EQ(test, 0, start_tracer(0, 0xff, 0, 0));
	check_calls(test, call);
	entry = callee(0);
	KUNIT_EXPECT_EQ(test, 0xff, callers(entry));

	/* All functions of the entry: it moves, unless call sites have to save more registers */
	KUNIT_ASSERT_EQ(test, 0, start_tracer(1, 0xff, 0,
					      ARCH_FTRACE_MUX_SITE_REGS ? 0 : SAVE_REGS));
	check_calls(test, call);
	KUNIT_EXPECT_EQ(test, 0xff, callers(entry));
	KUNIT_ASSERT_EQ(test, 0, stop_tracer(1));
	check_calls(test, call);
	KUNIT_EXPECT_EQ(test, 0xff, callers(entry));

	/* Some of them: their call sites are patched */
	KUNIT_ASSERT_EQ(test, 0, start_tracer(2, 0x0f, 0, 0));
	check_calls(test, call);
	second = callee(0);
	KUNIT_EXPECT_EQ(test, 0xf0, callers(entry));
	KUNIT_EXPECT_EQ(test, 0x0f, callers(second));
	KUNIT_ASSERT_EQ(test, 0, change_filter(2, 0x3c));
	check_calls(test, call);
	KUNIT_EXPECT_EQ(test, 0xc3, callers(entry));
	KUNIT_EXPECT_EQ(test, 0x3c, callers(second));

	/* They have the tracers of the others again: the entries are merged */
	KUNIT_ASSERT_EQ(test, 0, stop_tracer(2));
	check_calls(test, call);
	KUNIT_EXPECT_EQ(test, 0xff, callers(entry));

	/* Functions that are not traced any more have none */
	KUNIT_ASSERT_EQ(test, 0, change_filter(0, 0x3f));
	check_calls(test, call);
	KUNIT_EXPECT_EQ(test, 0x3f, callers(entry));
	KUNIT_EXPECT_EQ(test, 0xc0, callers(0));
	expect_no_strays(test);
}

/* Allocations of the multiplexer: how many so far, and which of them fails */
static unsigned int nr_allocs;
static unsigned int failing;
#define FAIL_ALL	UINT_MAX

static bool fail_alloc(void)
{
	nr_allocs++;

	return failing == FAIL_ALL || nr_allocs == failing;
}

/* Number of traced functions that do not call an entry, but the list of all tracers */
static unsigned int nr_listed(void)
{
	unsigned int nr = 0;

	for (int func = 0; func < NR_FUNCS; func++)
		nr += calls_list(func);

	return nr;
}

/* Returns how many functions have called the list */
static unsigned int change_without_memory(struct kunit *test, struct test_call *call)
{
	unsigned int listed = 0;

	for (int step = 0; step < 5; step++) {
		int ret = 0;

		switch (step) {
		case 0:
			ret = start_tracer(8, 0xff, 0, 0);
			break;
		case 1:
			ret = start_tracer(9, 0x3c, 0, 0);
			break;
		case 2:
			ret = start_tracer(10, 0xff, 0, SAVE_REGS);
			break;
		case 3:
			ret = change_filter(9, 0x0f);
			break;
		case 4:
			ret = stop_tracer(9);
		}
		KUNIT_EXPECT_EQ(test, 0, ret);
		check_calls(test, call);
		listed += nr_listed();
	}

	return listed;
}

/* The next update finds the memory that the last one has not found */
static void change_with_memory(struct kunit *test, struct test_call *call)
{
	kunit_deactivate_static_stub(test, ftrace_mux_should_fail);
	KUNIT_EXPECT_EQ(test, 0, start_tracer(11, 0x01, 0, 0));
	check_calls(test, call);
	KUNIT_EXPECT_EQ(test, 0, nr_listed());
	for (int i = 8; i < 12; i++)
		free_tracer(i);
}

static void test_no_memory(struct kunit *test, struct test_call *call)
{
	unsigned int listed = 0, n;

	for (n = 1; ; n++) {
		failing = n;
		nr_allocs = 0;
		kunit_activate_static_stub(test, ftrace_mux_should_fail, fail_alloc);
		listed += change_without_memory(test, call);
		change_with_memory(test, call);
		if (nr_allocs < n)
			break;
	}
	/* Or nothing has been tested */
	KUNIT_EXPECT_GT(test, n, 4);
	KUNIT_EXPECT_GT(test, listed, 0);

	failing = FAIL_ALL;
	kunit_activate_static_stub(test, ftrace_mux_should_fail, fail_alloc);
	KUNIT_EXPECT_GT(test, change_without_memory(test, call), 0);
	change_with_memory(test, call);
	kunit_info(test, "each of %u allocations, and all, have failed", n - 1);
}

/* Without memory, functions call the list of all tracers, until there is some */
static void mux_test_no_memory(struct kunit *test)
{
	struct test_call *call = new_call(test);

	if (!ftrace_mux_enabled)
		kunit_skip(test, "no entries");

	test_no_memory(test, call);

	/* With these, the trampolines of the others are made on demand */
	for (int i = 0; i < NR_STATIC_IDS; i++)
		KUNIT_ASSERT_EQ(test, 0, start_tracer(i, 0x80, 0, 0));
	test_no_memory(test, call);
	expect_no_strays(test);
}

static int mux_test_init(struct kunit *test)
{
	atomic_long_set(&late_calls, 0);
	atomic_long_set(&past_strays, 0);
	WRITE_ONCE(redirector, NULL);

	return 0;
}

/* Only what a user types finds a system call by other names than its symbol. */
static void mux_test_syscall_names(struct kunit *test)
{
	struct ftrace_ops ops = { };
	char call[] = "sys_read";
	char alias[] = ARCH_FTRACE_SYSCALL_PREFIX "sys_getpid";
	char symbol[] = ARCH_FTRACE_SYSCALL_PREFIX "sys_read";

	/* Where the symbol of a system call is another one, only users find it by this */
	if (*ARCH_FTRACE_SYSCALL_PREFIX)
		KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, call, strlen(call), 1), -EINVAL);
	/* Only there, the wrapper has a second symbol */
	if (IS_ENABLED(CONFIG_X86_64))
		KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, alias, strlen(alias), 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ftrace_set_filter(&ops, symbol, strlen(symbol), 1), 0);
	ftrace_free_filter(&ops);
}

static void mux_test_exit(struct kunit *test)
{
	stop_load(test);
	for (int i = 0; i < NR_TRACERS; i++)
		free_tracer(i);
}

static struct kunit_case mux_test_cases[] = {
	KUNIT_CASE_SLOW(mux_test_counts),
	KUNIT_CASE_SLOW(mux_test_arguments),
	KUNIT_CASE_SLOW(mux_test_regs),
	KUNIT_CASE_SLOW(mux_test_assist),
	KUNIT_CASE_SLOW(mux_test_recursion),
	KUNIT_CASE_SLOW(mux_test_ipmodify),
	KUNIT_CASE(mux_test_override),
	KUNIT_CASE_SLOW(mux_test_registers),
	KUNIT_CASE_SLOW(mux_test_unregister),
	KUNIT_CASE_SLOW(mux_test_churn),
	KUNIT_CASE_SLOW(mux_test_late_caller),
	KUNIT_CASE_SLOW(mux_test_beyond_ids),
	KUNIT_CASE_SLOW(mux_test_random),
	KUNIT_CASE(mux_test_moves),
	KUNIT_CASE_SLOW(mux_test_no_memory),
	KUNIT_CASE(mux_test_syscall_names),
	{}
};

static int mux_test_suite_init(struct kunit_suite *suite)
{
	ftrace_mux_start_checks();

	return 0;
}

static void mux_test_suite_exit(struct kunit_suite *suite)
{
	ftrace_mux_stop_checks();
}

static struct kunit_suite mux_test_suite = {
	.name = "ftrace_mux",
	.suite_init = mux_test_suite_init,
	.suite_exit = mux_test_suite_exit,
	.init = mux_test_init,
	.exit = mux_test_exit,
	.test_cases = mux_test_cases,
};

kunit_test_suite(mux_test_suite);

MODULE_DESCRIPTION("KUnit tests of the function tracer multiplexer");
MODULE_INFO(import_ns, "EXPORTED_FOR_KUNIT_TESTING");
MODULE_LICENSE("GPL");

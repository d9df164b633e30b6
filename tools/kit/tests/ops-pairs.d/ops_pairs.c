// SPDX-License-Identifier: GPL-2.0
/*
 * A task is preempted in a trampoline while tracers come and go. Does the trampoline then
 * call the function of one tracer with the ftrace_ops of another?
 *
 * A write of the number STEP to the parameter run does this:
 *
 *	register A and B on victim()
 *	let a task call victim(), and hold it before an instruction of the trampoline: the
 *	one with the number STEP, from 1, without what the trampoline calls
 *	unregister A and B, register B and C, unregister C
 *	let the task go on
 *	unregister B
 *
 * Reading run prints the place, how often the task has called the functions of A, B and C,
 * and how many of these calls had the ops of another; "end" if there is no such place,
 * "elsewhere" if the task does not come there (arm64).
 *
 * At the end, B is the only tracer. The stock ftrace_caller of x86 calls its function directly
 * then, since B is static: its ops are in the data of the kernel. Those of a module are not,
 * so this module takes the ops of kprobes and of the stack tracer, which are of no use
 * afterwards. On arm64, that does not matter: it takes its own, and makes ftrace believe that
 * they are static. To unregister another one waits for the task. This module is for the guests
 * of a test, and cannot be unloaded.
 *
 * A and B also trace some functions that nobody calls: entries of few functions do not move if
 * there is another one.
 */
#include <linux/ftrace.h>
#include <linux/module.h>

#ifdef CONFIG_ARM64
#include "held_task_arm64.h"
#else
#include "held_task.h"
#endif

/* A, B and C */
#define NR_TRACERS	3
#define MAX_OTHERS	16

static unsigned long addresses[NR_TRACERS];
module_param_array_named(ops, addresses, ulong, NULL, 0400);
MODULE_PARM_DESC(ops, "Addresses of three static ftrace_ops of the kernel");

static struct ftrace_ops own[NR_TRACERS];

static bool save_regs;
module_param_named(regs, save_regs, bool, 0400);
MODULE_PARM_DESC(regs, "Whether these ask for all registers");

static struct ftrace_ops others[MAX_OTHERS];
static unsigned int nr_others;
module_param_named(others, nr_others, uint, 0400);
MODULE_PARM_DESC(others, "Number of tracers of another function");

static noinline void victim(void)
{
	barrier_data("victim");
}

#define IDLE(n)								\
static noinline __used void idle_##n(void)				\
{									\
	asm volatile("" : : "i" (__COUNTER__));				\
}
IDLE(0) IDLE(1) IDLE(2) IDLE(3) IDLE(4) IDLE(5) IDLE(6) IDLE(7)
IDLE(8) IDLE(9) IDLE(10) IDLE(11) IDLE(12) IDLE(13) IDLE(14) IDLE(15)

static void (* const idle[])(void) = {
	idle_0, idle_1, idle_2, idle_3, idle_4, idle_5, idle_6, idle_7,
	idle_8, idle_9, idle_10, idle_11, idle_12, idle_13, idle_14, idle_15,
};

static noinline void other(void)
{
	barrier_data("other");
}

/* Tracers */

static unsigned int seen[NR_TRACERS], wrong;

static notrace __always_inline void see(unsigned int n, struct ftrace_ops *op)
{
	seen[n]++;
	if ((unsigned long)op != addresses[n])
		wrong++;
}

#define TRACER_FUNC(name, n)							\
static notrace void name(unsigned long ip, unsigned long parent_ip,		\
			 struct ftrace_ops *op, struct ftrace_regs *fregs)	\
{										\
	see(n, op);								\
}

TRACER_FUNC(func_a, 0)
TRACER_FUNC(func_b, 1)
TRACER_FUNC(func_c, 2)

static const ftrace_func_t tracer_funcs[NR_TRACERS] = { func_a, func_b, func_c };

static notrace void func_other(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
}

static struct ftrace_ops *tracer(char name)
{
	return (struct ftrace_ops *)addresses[name - 'A'];
}

static int add(struct ftrace_ops *ops, void (*func)(void))
{
	int ret = ftrace_set_filter_ip(ops, (unsigned long)func, 0, 1);

	for (int i = 0; !ret && func == victim && i < ARRAY_SIZE(idle); i++)
		ret = ftrace_set_filter_ip(ops, (unsigned long)idle[i], 0, 0);
	if (ret)
		return ret;

	ret = register_ftrace_function(ops);
	if (IS_ENABLED(CONFIG_ARM64))
		ops->flags &= ~FTRACE_OPS_FL_DYNAMIC;

	return ret;
}

/* "+A" registers a tracer, "-A" unregisters it */
static int change(const char *what)
{
	int ret = 0;

	for (; !ret && *what; what += 2)
		ret = *what == '+' ? add(tracer(what[1]), victim) :
				     unregister_ftrace_function(tracer(what[1]));

	return ret;
}

static int run(unsigned int hold_at)
{
	int ret;

	memset(seen, 0, sizeof(seen));
	wrong = 0;

	ret = held_task_start(victim, victim, hold_at);
	if (ret)
		return ret;
	if (held.ip)
		ret = change("-A-B+B+C-C");
	held_task_end();

	return ret ?: change(held.ip ? "-B" : "-A-B");
}

static int set_run(const char *val, const struct kernel_param *kp)
{
	unsigned int hold_at;
	int ret = kstrtouint(val, 0, &hold_at);

	return ret ?: change("+A+B") ?: run(hold_at);
}

static int get_run(char *buf, const struct kernel_param *kp)
{
	if (held_task_no_such_step())
		return sysfs_emit(buf, "end\n");
	if (!held.ip)
		return sysfs_emit(buf, "elsewhere\n");

	return sysfs_emit(buf, "%pS %u %u %u %u\n", (void *)held.ip, seen[0], seen[1], seen[2],
			  wrong);
}

static const struct kernel_param_ops run_param = {
	.set = set_run,
	.get = get_run,
};
module_param_cb(run, &run_param, NULL, 0600);
MODULE_PARM_DESC(run, "Which instruction to hold the task before");

static int __init notrace ops_pairs_init(void)
{
	if (nr_others > MAX_OTHERS)
		return -EINVAL;

	for (int i = 0; i < NR_TRACERS; i++) {
		struct ftrace_ops *ops;

		if (IS_ENABLED(CONFIG_ARM64))
			addresses[i] = (unsigned long)&own[i];
		ops = (struct ftrace_ops *)addresses[i];
		if (!ops || ops->flags & FTRACE_OPS_FL_ENABLED)
			return -EINVAL;
		memset(ops, 0, sizeof(*ops));
		ops->func = tracer_funcs[i];
		ops->flags = save_regs ? FTRACE_OPS_FL_SAVE_REGS : 0;
	}

	/* From here on, the module has to stay */
	for (int i = 0; i < nr_others; i++) {
		others[i].func = func_other;
		WARN_ON(add(&others[i], other));
	}

	return held_task_init();
}
module_init(ops_pairs_init);

MODULE_DESCRIPTION("Which ftrace_ops the functions of tracers get from a preempted task");
MODULE_LICENSE("GPL");

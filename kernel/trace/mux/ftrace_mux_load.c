// SPDX-License-Identifier: GPL-2.0
/*
 * A workload with known numbers for tests of the function tracer multiplexer.
 *
 * The module has functions to be traced, mux_load_f0() to mux_load_f7(). It calls
 * them a given number of times, and registers tracers that count. Writes to its
 * parameters control it:
 *
 *	run "N [MASK]"		calls each function in MASK (all by default) N
 *				times in the task that writes
 *	run_cpus "N [MASK]"	the same on every online CPU at a time
 *	hammer MASK		calls these on every online CPU, until 0 is
 *				written
 *	calls			calls made so far, one number for each function;
 *				a write sets them to 0, and the tracers' counts
 *	ops N			this many tracers on all of f0 to f7
 *	ops_calls		calls they have seen: a line for each
 *	singles N		this many tracers on one function each, all
 *				different: mux_load_s00() to mux_load_s99()
 *	singles_run N		calls each of these N times
 *	singles_calls		the fewest and the most calls they have seen
 *	recursing 0|1		a tracer of mux_load_s99() that calls it
 *	slow_return 0|1		a graph tracer of mux_load_s98() that takes 500 us when
 *				it returns
 *	busy 0|1		a task that does not give up its CPU: no grace
 *				period of Tasks RCU ends
 *	system N		this many tracers on two functions that the
 *				system itself calls all the time
 *	system_calls		calls the last of them has seen
 *	strays			calls for a function the tracer did not ask for
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/cleanup.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/ftrace_mux_arch.h>
#include <linux/kstrtox.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "check.h"

#define NR_FUNCS	8
#define NR_SINGLES	100
#define NR_OPS		32
#define NR_SYSTEM	8
#define SLOW_RETURN	(500 * NSEC_PER_USEC)
#define ALL_FUNCS	((1UL << NR_FUNCS) - 1)

/* The functions to be traced: no two alike, or the compiler merges them */

#define MUX_LOAD_FUNC(name)						\
static noinline void mux_load_##name(void)				\
{									\
	barrier_data(#name);						\
}

MUX_LOAD_FUNC(f0)
MUX_LOAD_FUNC(f1)
MUX_LOAD_FUNC(f2)
MUX_LOAD_FUNC(f3)
MUX_LOAD_FUNC(f4)
MUX_LOAD_FUNC(f5)
MUX_LOAD_FUNC(f6)
MUX_LOAD_FUNC(f7)

MUX_LOAD_FUNC(s00) MUX_LOAD_FUNC(s01) MUX_LOAD_FUNC(s02) MUX_LOAD_FUNC(s03) MUX_LOAD_FUNC(s04)
MUX_LOAD_FUNC(s05) MUX_LOAD_FUNC(s06) MUX_LOAD_FUNC(s07) MUX_LOAD_FUNC(s08) MUX_LOAD_FUNC(s09)
MUX_LOAD_FUNC(s10) MUX_LOAD_FUNC(s11) MUX_LOAD_FUNC(s12) MUX_LOAD_FUNC(s13) MUX_LOAD_FUNC(s14)
MUX_LOAD_FUNC(s15) MUX_LOAD_FUNC(s16)
MUX_LOAD_FUNC(s17) MUX_LOAD_FUNC(s18) MUX_LOAD_FUNC(s19)
MUX_LOAD_FUNC(s20) MUX_LOAD_FUNC(s21) MUX_LOAD_FUNC(s22) MUX_LOAD_FUNC(s23) MUX_LOAD_FUNC(s24)
MUX_LOAD_FUNC(s25) MUX_LOAD_FUNC(s26) MUX_LOAD_FUNC(s27) MUX_LOAD_FUNC(s28) MUX_LOAD_FUNC(s29)
MUX_LOAD_FUNC(s30) MUX_LOAD_FUNC(s31) MUX_LOAD_FUNC(s32)
MUX_LOAD_FUNC(s33) MUX_LOAD_FUNC(s34)
MUX_LOAD_FUNC(s35) MUX_LOAD_FUNC(s36) MUX_LOAD_FUNC(s37) MUX_LOAD_FUNC(s38) MUX_LOAD_FUNC(s39)
MUX_LOAD_FUNC(s40) MUX_LOAD_FUNC(s41) MUX_LOAD_FUNC(s42) MUX_LOAD_FUNC(s43) MUX_LOAD_FUNC(s44)
MUX_LOAD_FUNC(s45) MUX_LOAD_FUNC(s46) MUX_LOAD_FUNC(s47) MUX_LOAD_FUNC(s48) MUX_LOAD_FUNC(s49)
MUX_LOAD_FUNC(s50) MUX_LOAD_FUNC(s51) MUX_LOAD_FUNC(s52) MUX_LOAD_FUNC(s53) MUX_LOAD_FUNC(s54)
MUX_LOAD_FUNC(s55) MUX_LOAD_FUNC(s56) MUX_LOAD_FUNC(s57) MUX_LOAD_FUNC(s58) MUX_LOAD_FUNC(s59)
MUX_LOAD_FUNC(s60) MUX_LOAD_FUNC(s61) MUX_LOAD_FUNC(s62) MUX_LOAD_FUNC(s63) MUX_LOAD_FUNC(s64)
MUX_LOAD_FUNC(s65) MUX_LOAD_FUNC(s66) MUX_LOAD_FUNC(s67) MUX_LOAD_FUNC(s68) MUX_LOAD_FUNC(s69)
MUX_LOAD_FUNC(s70) MUX_LOAD_FUNC(s71) MUX_LOAD_FUNC(s72) MUX_LOAD_FUNC(s73) MUX_LOAD_FUNC(s74)
MUX_LOAD_FUNC(s75) MUX_LOAD_FUNC(s76) MUX_LOAD_FUNC(s77) MUX_LOAD_FUNC(s78) MUX_LOAD_FUNC(s79)
MUX_LOAD_FUNC(s80) MUX_LOAD_FUNC(s81) MUX_LOAD_FUNC(s82) MUX_LOAD_FUNC(s83) MUX_LOAD_FUNC(s84)
MUX_LOAD_FUNC(s85) MUX_LOAD_FUNC(s86) MUX_LOAD_FUNC(s87) MUX_LOAD_FUNC(s88) MUX_LOAD_FUNC(s89)
MUX_LOAD_FUNC(s90) MUX_LOAD_FUNC(s91) MUX_LOAD_FUNC(s92) MUX_LOAD_FUNC(s93) MUX_LOAD_FUNC(s94)
MUX_LOAD_FUNC(s95) MUX_LOAD_FUNC(s96) MUX_LOAD_FUNC(s97) MUX_LOAD_FUNC(s98) MUX_LOAD_FUNC(s99)

typedef void (*mux_load_func_t)(void);

static const mux_load_func_t funcs[NR_FUNCS] = {
	mux_load_f0, mux_load_f1, mux_load_f2, mux_load_f3,
	mux_load_f4, mux_load_f5, mux_load_f6, mux_load_f7,
};

static const mux_load_func_t singles_funcs[NR_SINGLES] = {
	mux_load_s00, mux_load_s01, mux_load_s02, mux_load_s03, mux_load_s04,
	mux_load_s05, mux_load_s06, mux_load_s07, mux_load_s08, mux_load_s09,
	mux_load_s10, mux_load_s11, mux_load_s12, mux_load_s13, mux_load_s14,
	mux_load_s15, mux_load_s16, mux_load_s17, mux_load_s18, mux_load_s19,
	mux_load_s20, mux_load_s21, mux_load_s22, mux_load_s23, mux_load_s24,
	mux_load_s25, mux_load_s26, mux_load_s27, mux_load_s28, mux_load_s29,
	mux_load_s30, mux_load_s31, mux_load_s32, mux_load_s33, mux_load_s34,
	mux_load_s35, mux_load_s36, mux_load_s37, mux_load_s38, mux_load_s39,
	mux_load_s40, mux_load_s41, mux_load_s42, mux_load_s43, mux_load_s44,
	mux_load_s45, mux_load_s46, mux_load_s47, mux_load_s48, mux_load_s49,
	mux_load_s50, mux_load_s51, mux_load_s52, mux_load_s53, mux_load_s54,
	mux_load_s55, mux_load_s56, mux_load_s57, mux_load_s58, mux_load_s59,
	mux_load_s60, mux_load_s61, mux_load_s62, mux_load_s63, mux_load_s64,
	mux_load_s65, mux_load_s66, mux_load_s67, mux_load_s68, mux_load_s69,
	mux_load_s70, mux_load_s71, mux_load_s72, mux_load_s73, mux_load_s74,
	mux_load_s75, mux_load_s76, mux_load_s77, mux_load_s78, mux_load_s79,
	mux_load_s80, mux_load_s81, mux_load_s82, mux_load_s83, mux_load_s84,
	mux_load_s85, mux_load_s86, mux_load_s87, mux_load_s88, mux_load_s89,
	mux_load_s90, mux_load_s91, mux_load_s92, mux_load_s93, mux_load_s94,
	mux_load_s95, mux_load_s96, mux_load_s97, mux_load_s98, mux_load_s99,
};

/* Tracers that count */

struct mux_load_ops {
	struct ftrace_ops	ops;
	atomic_long_t		calls[NR_FUNCS];
};

struct mux_load_single {
	struct ftrace_ops	ops;
	mux_load_func_t		func;
	atomic_long_t		calls;
};

static struct mux_load_ops *ops[NR_OPS];
static struct mux_load_single *singles[NR_SINGLES];
static struct mux_load_single *systems[NR_SYSTEM];
static struct mux_load_single *recursing;
static unsigned int nr_ops, nr_singles, nr_systems, nr_recursing, nr_slow_return;
static atomic_long_t calls[NR_FUNCS];
static atomic_long_t strays;

/* Whether @ip is the call site at the start of @func */
static notrace bool is_site(unsigned long ip, mux_load_func_t func)
{
	return ip - (unsigned long)func <= ARCH_FTRACE_MAX_SITE_OFFSET;
}

static notrace void count_func(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct mux_load_ops *self = container_of(op, struct mux_load_ops, ops);

	for (int i = 0; i < NR_FUNCS; i++) {
		if (is_site(ip, funcs[i])) {
			atomic_long_inc(&self->calls[i]);
			return;
		}
	}

	atomic_long_inc(&strays);
}

static notrace void count_single(unsigned long ip, unsigned long parent_ip,
				 struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct mux_load_single *self = container_of(op, struct mux_load_single, ops);

	if (is_site(ip, self->func))
		atomic_long_inc(&self->calls);
	else
		atomic_long_inc(&strays);
}

static notrace void count_system(unsigned long ip, unsigned long parent_ip,
				 struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	atomic_long_inc(&container_of(op, struct mux_load_single, ops)->calls);
}

static int add_ops(void)
{
	unsigned long ips[NR_FUNCS];
	struct mux_load_ops *new;
	int ret;

	new = kzalloc_obj(*new);
	if (!new)
		return -ENOMEM;

	for (int i = 0; i < NR_FUNCS; i++)
		ips[i] = (unsigned long)funcs[i];

	new->ops.func = count_func;
	ret = ftrace_set_filter_ips(&new->ops, ips, NR_FUNCS, 0, 1);
	if (!ret)
		ret = register_ftrace_function(&new->ops);
	if (ret) {
		ftrace_free_filter(&new->ops);
		kfree(new);
		return ret;
	}

	ops[nr_ops++] = new;
	return 0;
}

static struct mux_load_single *create_single(mux_load_func_t func, ftrace_func_t callback,
					     unsigned long flags)
{
	struct mux_load_single *new;
	int ret;

	new = kzalloc_obj(*new);
	if (!new)
		return ERR_PTR(-ENOMEM);

	new->func = func;
	new->ops.func = callback;
	new->ops.flags = flags;
	ret = ftrace_set_filter_ip(&new->ops, (unsigned long)new->func, 0, 1);
	if (!ret)
		ret = register_ftrace_function(&new->ops);
	if (ret) {
		ftrace_free_filter(&new->ops);
		kfree(new);
		return ERR_PTR(ret);
	}

	return new;
}

static int add_single(void)
{
	struct mux_load_single *new = create_single(singles_funcs[nr_singles], count_single, 0);

	if (IS_ERR(new))
		return PTR_ERR(new);

	singles[nr_singles++] = new;
	return 0;
}

static notrace void call_again(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			       struct ftrace_regs *fregs)
{
	container_of(op, struct mux_load_single, ops)->func();
}

static int add_recursing(void)
{
	struct mux_load_single *new = create_single(singles_funcs[NR_SINGLES - 1], call_again,
						    FTRACE_OPS_FL_RECURSION);

	if (IS_ERR(new))
		return PTR_ERR(new);

	recursing = new;
	nr_recursing = 1;
	return 0;
}

/* One is called by tasks, the other by the timer interrupt */
static int add_system(void)
{
	unsigned char by_task[] = "vfs_read", by_irq[] = "update_process_times";
	struct mux_load_single *new;
	int ret;

	new = kzalloc_obj(*new);
	if (!new)
		return -ENOMEM;

	new->ops.func = count_system;
	ret = ftrace_set_filter(&new->ops, by_task, strlen(by_task), 0) ?:
	      ftrace_set_filter(&new->ops, by_irq, strlen(by_irq), 0);
	if (!ret)
		ret = register_ftrace_function(&new->ops);
	if (ret) {
		ftrace_free_filter(&new->ops);
		kfree(new);
		return ret;
	}

	systems[nr_systems++] = new;
	return 0;
}

static void del_ops(void)
{
	struct mux_load_ops *old = ops[--nr_ops];

	WARN_ON(unregister_ftrace_function(&old->ops));
	ftrace_free_filter(&old->ops);
	kfree(old);
}

static void destroy_single(struct mux_load_single *old)
{
	WARN_ON(unregister_ftrace_function(&old->ops));
	ftrace_free_filter(&old->ops);
	kfree(old);
}

static void del_single(void)
{
	destroy_single(singles[--nr_singles]);
}

static notrace int slow_return_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
				     struct ftrace_regs *fregs)
{
	return 1;
}

static notrace void slow_return_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops,
				       struct ftrace_regs *fregs)
{
	u64 start = ktime_get_mono_fast_ns();

	/* Not udelay(), which depends on how busy the machine was at boot */
	while (ktime_get_mono_fast_ns() - start < SLOW_RETURN)
		cpu_relax();
}

static struct fgraph_ops slow_return = {
	.entryfunc	= slow_return_entry,
	.retfunc	= slow_return_return,
};

static int add_slow_return(void)
{
	int ret = ftrace_set_filter_ip(&slow_return.ops, (unsigned long)mux_load_s98, 0, 1);

	if (!ret)
		ret = register_ftrace_graph(&slow_return);
	if (ret)
		ftrace_free_filter(&slow_return.ops);
	else
		nr_slow_return = 1;

	return ret;
}

static void del_slow_return(void)
{
	unregister_ftrace_graph(&slow_return);
	ftrace_free_filter(&slow_return.ops);
	/* On Linux 6.12, a task may be preempted in slow_return_return() */
	synchronize_rcu_tasks();
	nr_slow_return = 0;
}

static void del_recursing(void)
{
	destroy_single(recursing);
	nr_recursing = 0;
}

static void del_system(void)
{
	destroy_single(systems[--nr_systems]);
}

/* Add or remove tracers until there are as many as @val says */
static int set_nr(const char *val, unsigned int *nr, unsigned int max,
		  int (*add)(void), void (*del)(void))
{
	unsigned int wanted;
	int ret;

	ret = kstrtouint(val, 0, &wanted);
	if (ret)
		return ret;
	if (wanted > max)
		return -EINVAL;

	while (*nr > wanted)
		del();
	while (!ret && *nr < wanted)
		ret = add();

	return ret;
}

static int set_ops(const char *val, const struct kernel_param *kp)
{
	return set_nr(val, &nr_ops, NR_OPS, add_ops, del_ops);
}

static int set_singles(const char *val, const struct kernel_param *kp)
{
	return set_nr(val, &nr_singles, NR_SINGLES, add_single, del_single);
}

static int set_system(const char *val, const struct kernel_param *kp)
{
	return set_nr(val, &nr_systems, NR_SYSTEM, add_system, del_system);
}

static const struct kernel_param_ops system_param = {
	.set = set_system,
	.get = param_get_uint,
};
module_param_cb(system, &system_param, &nr_systems, 0644);
MODULE_PARM_DESC(system, "Number of tracers on functions that the system calls");

static int get_system_calls(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%ld\n", nr_systems ?
			  atomic_long_read(&systems[nr_systems - 1]->calls) : 0);
}

static const struct kernel_param_ops system_calls_param = {
	.get = get_system_calls,
};
module_param_cb(system_calls, &system_calls_param, NULL, 0444);
MODULE_PARM_DESC(system_calls, "Calls that the last of these tracers has seen");

static const struct kernel_param_ops ops_param = {
	.set = set_ops,
	.get = param_get_uint,
};
module_param_cb(ops, &ops_param, &nr_ops, 0644);
MODULE_PARM_DESC(ops, "Number of tracers on all of mux_load_f0() to mux_load_f7()");

static const struct kernel_param_ops singles_param = {
	.set = set_singles,
	.get = param_get_uint,
};
module_param_cb(singles, &singles_param, &nr_singles, 0644);
MODULE_PARM_DESC(singles, "Number of tracers on a function of their own");

static int set_recursing(const char *val, const struct kernel_param *kp)
{
	return set_nr(val, &nr_recursing, 1, add_recursing, del_recursing);
}

static const struct kernel_param_ops recursing_param = {
	.set = set_recursing,
	.get = param_get_uint,
};
module_param_cb(recursing, &recursing_param, &nr_recursing, 0644);
MODULE_PARM_DESC(recursing, "Number of tracers of mux_load_s99() that call it");

static int set_slow_return(const char *val, const struct kernel_param *kp)
{
	return set_nr(val, &nr_slow_return, 1, add_slow_return, del_slow_return);
}

static const struct kernel_param_ops slow_return_param = {
	.set = set_slow_return,
	.get = param_get_uint,
};
module_param_cb(slow_return, &slow_return_param, &nr_slow_return, 0644);
MODULE_PARM_DESC(slow_return, "Number of graph tracers of mux_load_s98() that are slow to return");

static int get_strays(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%ld\n", atomic_long_read(&strays));
}

static const struct kernel_param_ops strays_param = {
	.get = get_strays,
};
module_param_cb(strays, &strays_param, NULL, 0444);
MODULE_PARM_DESC(strays, "Calls for a function the tracer did not ask for");

/* Print NR_FUNCS counts as a line */
static int emit_counts(char *buf, int at, atomic_long_t *counts)
{
	int len = 0;

	for (int i = 0; i < NR_FUNCS; i++)
		len += sysfs_emit_at(buf, at + len, "%ld%c", atomic_long_read(&counts[i]),
				     i == NR_FUNCS - 1 ? '\n' : ' ');

	return len;
}

static int get_ops_calls(char *buf, const struct kernel_param *kp)
{
	int len = 0;

	for (int i = 0; i < nr_ops; i++)
		len += emit_counts(buf, len, ops[i]->calls);

	return len;
}

static const struct kernel_param_ops ops_calls_param = {
	.get = get_ops_calls,
};
module_param_cb(ops_calls, &ops_calls_param, NULL, 0444);
MODULE_PARM_DESC(ops_calls, "Calls the tracers have seen, a line for each");

static int get_singles_calls(char *buf, const struct kernel_param *kp)
{
	long least = nr_singles ? LONG_MAX : 0, most = 0;

	for (int i = 0; i < nr_singles; i++) {
		least = min(least, atomic_long_read(&singles[i]->calls));
		most = max(most, atomic_long_read(&singles[i]->calls));
	}

	return sysfs_emit(buf, "%ld %ld\n", least, most);
}

static const struct kernel_param_ops singles_calls_param = {
	.get = get_singles_calls,
};
module_param_cb(singles_calls, &singles_calls_param, NULL, 0444);
MODULE_PARM_DESC(singles_calls, "The fewest and the most calls the single tracers have seen");

static int set_calls(const char *val, const struct kernel_param *kp)
{
	for (int i = 0; i < NR_FUNCS; i++) {
		atomic_long_set(&calls[i], 0);
		for (int j = 0; j < nr_ops; j++)
			atomic_long_set(&ops[j]->calls[i], 0);
	}

	for (int i = 0; i < nr_singles; i++)
		atomic_long_set(&singles[i]->calls, 0);
	atomic_long_set(&strays, 0);

	return 0;
}

static int get_calls(char *buf, const struct kernel_param *kp)
{
	return emit_counts(buf, 0, calls);
}

static const struct kernel_param_ops calls_param = {
	.set = set_calls,
	.get = get_calls,
};
module_param_cb(calls, &calls_param, NULL, 0644);
MODULE_PARM_DESC(calls, "Calls made so far; a write resets all counts");

/* Calls */

/* The caller that tests expect */
static noinline void call_funcs(unsigned long mask)
{
	unsigned int i;

	for_each_set_bit(i, &mask, NR_FUNCS) {
		funcs[i]();
		atomic_long_inc(&calls[i]);
	}
}

struct mux_load_thread {
	struct task_struct	*task;
	struct completion	done;
	unsigned long		mask;
	unsigned long		limit;		/* 0: until stopped */
};

static int thread_func(void *data)
{
	struct mux_load_thread *thread = data;

	for (unsigned long n = 0; !thread->limit || n < thread->limit; n++) {
		if (kthread_should_stop())
			break;
		call_funcs(thread->mask);
		/* Let everybody on, and RCU Tasks with its grace periods */
		if (n % 64 == 63)
			cond_resched_tasks_rcu_qs();
	}

	complete(&thread->done);

	/* The task has to be there when it is stopped */
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);

	return 0;
}

static DEFINE_PER_CPU(struct mux_load_thread, threads);
static unsigned long hammer_mask;

static void stop_threads(void)
{
	struct mux_load_thread *thread;
	int cpu;

	for_each_possible_cpu(cpu) {
		thread = per_cpu_ptr(&threads, cpu);
		if (thread->task)
			kthread_stop(thread->task);
		thread->task = NULL;
	}
}

static int start_threads(unsigned long mask, unsigned long limit)
{
	struct mux_load_thread *thread;
	struct task_struct *task;
	int cpu;

	guard(cpus_read_lock)();

	for_each_online_cpu(cpu) {
		thread = per_cpu_ptr(&threads, cpu);
		thread->mask = mask;
		thread->limit = limit;
		init_completion(&thread->done);
		task = kthread_create(thread_func, thread, "mux_load/%d", cpu);
		if (IS_ERR(task)) {
			stop_threads();
			return PTR_ERR(task);
		}
		kthread_bind(task, cpu);
		thread->task = task;
	}

	for_each_online_cpu(cpu)
		wake_up_process(per_cpu(threads, cpu).task);

	return 0;
}

static int parse_run(const char *val, unsigned long *nr, unsigned long *mask)
{
	unsigned int funcs_mask = ALL_FUNCS;

	if (sscanf(val, "%lu %i", nr, &funcs_mask) < 1 || !*nr ||
	    !funcs_mask || funcs_mask & ~ALL_FUNCS)
		return -EINVAL;

	*mask = funcs_mask;

	return 0;
}

static int set_run(const char *val, const struct kernel_param *kp)
{
	unsigned long nr, mask;
	int ret;

	ret = parse_run(val, &nr, &mask);
	if (ret)
		return ret;

	while (nr--) {
		call_funcs(mask);
		cond_resched();
	}

	return 0;
}

static const struct kernel_param_ops run_param = {
	.set = set_run,
};
module_param_cb(run, &run_param, NULL, 0200);
MODULE_PARM_DESC(run, "Number of calls to make in this task, and mask of functions");

static int set_run_cpus(const char *val, const struct kernel_param *kp)
{
	unsigned long nr, mask;
	int ret, cpu;

	ret = parse_run(val, &nr, &mask);
	if (ret)
		return ret;

	if (hammer_mask)
		return -EBUSY;

	ret = start_threads(mask, nr);
	if (ret)
		return ret;

	for_each_possible_cpu(cpu) {
		if (per_cpu(threads, cpu).task)
			wait_for_completion(&per_cpu(threads, cpu).done);
	}
	stop_threads();

	return 0;
}

static const struct kernel_param_ops run_cpus_param = {
	.set = set_run_cpus,
};
module_param_cb(run_cpus, &run_cpus_param, NULL, 0200);
MODULE_PARM_DESC(run_cpus, "Number of calls to make on each CPU, and mask of functions");

static int set_hammer(const char *val, const struct kernel_param *kp)
{
	unsigned long mask;
	int ret;

	ret = kstrtoul(val, 0, &mask);
	if (ret)
		return ret;
	if (mask & ~ALL_FUNCS)
		return -EINVAL;

	stop_threads();
	hammer_mask = 0;
	if (!mask)
		return 0;

	ret = start_threads(mask, 0);
	if (!ret)
		hammer_mask = mask;

	return ret;
}

static const struct kernel_param_ops hammer_param = {
	.set = set_hammer,
	.get = param_get_ulong,
};
module_param_cb(hammer, &hammer_param, &hammer_mask, 0644);

static struct task_struct *busy_task;
static bool busy;

static int busy_func(void *data)
{
	while (!kthread_should_stop())
		cpu_relax();

	return 0;
}

static void stop_busy(void)
{
	if (busy_task)
		kthread_stop(busy_task);
	busy_task = NULL;
	busy = false;
}

static int busy_set(const char *val, const struct kernel_param *kp)
{
	struct task_struct *task;
	bool start;
	int ret;

	/* The task would not let others have its CPU */
	if (!preempt_model_preemptible())
		return -EOPNOTSUPP;

	ret = kstrtobool(val, &start);
	if (ret || start == busy)
		return ret;

	if (!start) {
		stop_busy();
		return 0;
	}

	task = kthread_run(busy_func, NULL, "mux_load/busy");
	if (IS_ERR(task))
		return PTR_ERR(task);

	busy_task = task;
	busy = true;

	return 0;
}

static const struct kernel_param_ops busy_param = {
	.set = busy_set,
	.get = param_get_bool,
};
module_param_cb(busy, &busy_param, &busy, 0644);
MODULE_PARM_DESC(hammer, "Functions to call on every CPU until 0 is written");

static int set_singles_run(const char *val, const struct kernel_param *kp)
{
	unsigned int nr;
	int ret;

	ret = kstrtouint(val, 0, &nr);
	if (ret)
		return ret;

	while (nr--) {
		for (int i = 0; i < NR_SINGLES; i++)
			singles_funcs[i]();
		cond_resched();
	}

	return 0;
}

static const struct kernel_param_ops singles_run_param = {
	.set = set_singles_run,
};
module_param_cb(singles_run, &singles_run_param, NULL, 0200);
MODULE_PARM_DESC(singles_run, "Number of calls of each of mux_load_s00() to mux_load_s99()");

static int __init mux_load_init(void)
{
	ftrace_mux_start_checks();

	return 0;
}

static void __exit mux_load_exit(void)
{
	stop_busy();
	stop_threads();
	while (nr_ops)
		del_ops();
	while (nr_singles)
		del_single();
	while (nr_systems)
		del_system();
	if (nr_recursing)
		del_recursing();
	if (nr_slow_return)
		del_slow_return();
	ftrace_mux_stop_checks();
}

module_init(mux_load_init);
module_exit(mux_load_exit);

MODULE_DESCRIPTION("Workload for tests of the function tracer multiplexer");
MODULE_INFO(import_ns, "EXPORTED_FOR_KUNIT_TESTING");
MODULE_LICENSE("GPL");

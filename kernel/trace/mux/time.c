// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: measures the time of callbacks.
 *
 * While the time is measured, ftrace_mux_timed_func() replaces the func of each struct
 * ftrace_mux_call of a combination. It calls the original function, and adds the elapsed cycles to
 * a per-CPU sum. The arg of such a call is a struct ftrace_mux_timed_call, and not the ops of a
 * tracer. The architecture passes this arg instead of an ops, as it passes the struct fgraph_set
 * of a call for several graph tracers. fgraph.c measures the calls of graph tracers at the return
 * of functions in a similar way.
 *
 * The time of a call includes interrupts during the callback, and the tracers that they call. If
 * the task was preempted during the callback, the cycles are dropped, and preempted is incremented.
 */
#include <linux/ftrace_mux_arch.h>
#include <linux/kprobes.h>
#include <linux/slab.h>

#include "time.h"

/**
 * struct ftrace_mux_timed_call - a call whose time is measured
 * @call: the original call; ftrace_mux_time_set_func() may change its func while tasks call it
 * @time: per-CPU time of @call; element n of one per-CPU array for the call with index n
 */
struct ftrace_mux_timed_call {
	struct ftrace_mux_call		call;
	struct ftrace_mux_time __percpu	*time;
};

/* @op is the arg of the call, a struct ftrace_mux_timed_call. Called in any context. */
static void ftrace_mux_timed_func(unsigned long ip, unsigned long parent_ip,
				  struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	const struct ftrace_mux_timed_call *timed = (const void *)op;
	ftrace_func_t func = READ_ONCE(timed->call.func);
	struct ftrace_mux_timer timer = ftrace_mux_timer_start();

	func(ip, parent_ip, timed->call.arg, fregs);
	ftrace_mux_timer_stop(timer, timed->time);
}

/* A kprobe here would be hit by each call of a tracer, that of kprobes included */
NOKPROBE_SYMBOL(ftrace_mux_timed_func);

/**
 * ftrace_mux_time_init - measure the time of the calls of a combination
 * @combo: the combination, with its @calls, before arch_ftrace_mux_init_combo()
 *
 * Context: process context, may sleep; ftrace_lock held.
 *
 * Return: 0, or -ENOMEM, and nothing has changed.
 */
int ftrace_mux_time_init(struct ftrace_mux_combo *combo)
{
	struct ftrace_mux_time __percpu *time;
	struct ftrace_mux_timed_call *timed;

	timed = kmalloc_array(combo->nr, sizeof(*timed), GFP_KERNEL);
	if (!timed)
		return -ENOMEM;

	time = __alloc_percpu(array_size(combo->nr, sizeof(*time)), __alignof__(*time));
	if (!time) {
		kfree(timed);
		return -ENOMEM;
	}

	for (unsigned int n = 0; n < combo->nr; n++) {
		timed[n].call = combo->calls[n];
		timed[n].time = &time[n];
		combo->calls[n].func = ftrace_mux_timed_func;
		combo->calls[n].arg = &timed[n];
	}
	combo->timed = timed;

	return 0;
}

/**
 * ftrace_mux_time_cancel - undo ftrace_mux_time_init()
 * @combo: the combination, for which arch_ftrace_mux_init_combo() has not succeeded
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_time_cancel(struct ftrace_mux_combo *combo)
{
	if (!combo->timed)
		return;

	for (unsigned int n = 0; n < combo->nr; n++)
		combo->calls[n] = combo->timed[n].call;
	ftrace_mux_time_free(combo);
}

/**
 * ftrace_mux_time_free - free the times of a combination
 * @combo: the combination; no entry leads to it, no task can be in one of its calls
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_time_free(struct ftrace_mux_combo *combo)
{
	if (!combo->timed)
		return;

	/* That of the first call is the start of the allocation */
	free_percpu(combo->timed[0].time);
	kfree(combo->timed);
	combo->timed = NULL;
}

/**
 * ftrace_mux_time_set_func - change the original function of a call
 * @combo: the combination, whose time is measured
 * @n: index of the call in its @calls, whose func stays ftrace_mux_timed_func()
 * @func: the new function
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_time_set_func(struct ftrace_mux_combo *combo, unsigned int n, ftrace_func_t func)
{
	WRITE_ONCE(combo->timed[n].call.func, func);
}

/**
 * ftrace_mux_time_sum - add up the time on all CPUs
 * @time: to be added up; CPUs may be adding to it
 *
 * Context: any.
 *
 * Return: the sums.
 */
struct ftrace_mux_time ftrace_mux_time_sum(const struct ftrace_mux_time __percpu *time)
{
	struct ftrace_mux_time sum = { };
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct ftrace_mux_time *this = per_cpu_ptr(time, cpu);

		sum.cycles += ftrace_mux_read_counter(&this->cycles);
		sum.preempted += ftrace_mux_read_counter(&this->preempted);
	}

	return sum;
}

/**
 * ftrace_mux_time_of_call - the time of a call of a combination
 * @combo: the combination, whose time is measured
 * @n: index of the call in its @calls
 *
 * Context: ftrace_lock held.
 *
 * Return: the sums; calls in progress may be missing.
 */
struct ftrace_mux_time ftrace_mux_time_of_call(const struct ftrace_mux_combo *combo,
					       unsigned int n)
{
	return ftrace_mux_time_sum(combo->timed[n].time);
}

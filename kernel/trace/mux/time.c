// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: how long the callbacks of tracers take.
 *
 * While this is measured, each call of a combination is made to ftrace_mux_timed_func(), which
 * makes the original call, and adds the time that it took to a per-CPU sum of this call. The
 * architecture knows nothing of it: to it, this is a call like others.
 *
 * The time includes that of interrupts that came meanwhile, and what these traced. If the task was
 * preempted, the time of others is in it: such a call is only counted.
 */
#include <linux/ftrace_mux_arch.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/timex.h>

#include "time.h"

/**
 * struct ftrace_mux_timed - a call whose time is measured
 * @call: the original call; its func may change
 * @time: the sum of its calls
 */
struct ftrace_mux_timed {
	struct ftrace_mux_call		call;
	struct ftrace_mux_time __percpu	*time;
};

/* @op is the struct ftrace_mux_timed */
static notrace __kprobes void ftrace_mux_timed_func(unsigned long ip, unsigned long parent_ip,
						    struct ftrace_ops *op,
						    struct ftrace_regs *fregs)
{
	const struct ftrace_mux_timed *timed = (const void *)op;
	/* A callback does not give up the CPU by itself */
	unsigned long preempted = READ_ONCE(current->nivcsw);
	cycles_t start = get_cycles();

	READ_ONCE(timed->call.func)(ip, parent_ip, timed->call.arg, fregs);

	start = get_cycles() - start;
	if (likely(READ_ONCE(current->nivcsw) == preempted))
		this_cpu_add(timed->time->cycles, start);
	else
		this_cpu_inc(timed->time->dropped);
}

/**
 * ftrace_mux_time_init - measure the time of the calls of a combination
 * @combo: the combination, which the architecture has not prepared yet
 *
 * Context: process context, may sleep; ftrace_lock held.
 *
 * Return: 0, -ENOMEM.
 */
int ftrace_mux_time_init(struct ftrace_mux_combo *combo)
{
	struct ftrace_mux_time __percpu *time;
	struct ftrace_mux_timed *timed;

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
 * @combo: the combination, which the architecture has not prepared
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
 * ftrace_mux_time_free - free what the times of a combination are added to
 * @combo: the combination; no task makes its calls
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_time_free(struct ftrace_mux_combo *combo)
{
	if (!combo->timed)
		return;

	free_percpu(combo->timed->time);
	kfree(combo->timed);
	combo->timed = NULL;
}

/**
 * ftrace_mux_time_set_func - change the original function of a call
 * @combo: the combination, whose time is measured
 * @n: the call
 * @func: what it is to call
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_time_set_func(struct ftrace_mux_combo *combo, unsigned int n, ftrace_func_t func)
{
	WRITE_ONCE(combo->timed[n].call.func, func);
}

/**
 * ftrace_mux_time_sum - how long a call of a combination took until now
 * @combo: the combination, whose time is measured
 * @n: the call
 *
 * Context: ftrace_lock held.
 *
 * Return: the sum of all CPUs.
 */
struct ftrace_mux_time ftrace_mux_time_sum(const struct ftrace_mux_combo *combo, unsigned int n)
{
	struct ftrace_mux_time sum = { };
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct ftrace_mux_time *time = per_cpu_ptr(combo->timed[n].time, cpu);

		sum.cycles += READ_ONCE(time->cycles);
		sum.dropped += READ_ONCE(time->dropped);
	}

	return sum;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer: measures the time of callbacks, see time.c */
#ifndef _KERNEL_TRACE_MUX_TIME_H
#define _KERNEL_TRACE_MUX_TIME_H

#include <linux/ftrace.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/timex.h>

struct ftrace_mux_combo;

#ifdef CONFIG_FTRACE_MUX

#include <asm/ftrace_mux.h>

/*
 * The clock that measures calls. It has 64 bits; its unit is unspecified. A call is measured on one
 * CPU. But the time since counting began, or since the last check of limits, is right only if all
 * CPUs agree on the clock: on x86, if the TSC is synchronized.
 */
static __always_inline u64 ftrace_mux_clock(void)
{
#ifdef ARCH_FTRACE_MUX_CLOCK
	return ARCH_FTRACE_MUX_CLOCK();
#else
	return get_cycles();
#endif
}

/* When a call began. nivcsw: how often the task had been preempted by then */
struct ftrace_mux_timer {
	unsigned long	nivcsw;
	u64		start;
};

static __always_inline struct ftrace_mux_timer ftrace_mux_timer_start(void)
{
	struct ftrace_mux_timer timer;

	/*
	 * Read nivcsw first: if the task is preempted between the two reads, nivcsw has changed at
	 * the end of the call, and ftrace_mux_timer_stop() drops the cycles.
	 */
	timer.nivcsw = READ_ONCE(current->nivcsw);
	timer.start = ftrace_mux_clock();

	return timer;
}

/*
 * Add the time of the call to that of this CPU in @time. A callback never sleeps: if the task was
 * not preempted, nothing but interrupts has run meanwhile.
 */
static __always_inline void ftrace_mux_timer_stop(struct ftrace_mux_timer timer,
						  struct ftrace_mux_time __percpu *time)
{
	u64 cycles = ftrace_mux_clock() - timer.start;

	if (likely(READ_ONCE(current->nivcsw) == timer.nivcsw))
		this_cpu_add(time->cycles, cycles);
	else
		this_cpu_inc(time->preempted);
}

/*
 * Read a counter that its CPU may be adding to. With 32 bits, that takes two loads: read until two
 * readings are the same. (They may both be wrong if the CPU stops between its two stores.)
 */
static inline u64 ftrace_mux_read_counter(const u64 *counter)
{
	u64 again, val = READ_ONCE(*counter);

	while (!IS_ENABLED(CONFIG_64BIT) && (again = READ_ONCE(*counter)) != val)
		val = again;

	return val;
}

struct ftrace_mux_time ftrace_mux_time_sum(const struct ftrace_mux_time __percpu *time);

int ftrace_mux_time_init(struct ftrace_mux_combo *combo);
void ftrace_mux_time_cancel(struct ftrace_mux_combo *combo);
void ftrace_mux_time_free(struct ftrace_mux_combo *combo);
void ftrace_mux_time_set_func(struct ftrace_mux_combo *combo, unsigned int n, ftrace_func_t func);
struct ftrace_mux_time ftrace_mux_time_of_call(const struct ftrace_mux_combo *combo,
					       unsigned int n);

/* fgraph.c: the same for the calls at the return of functions */

void fgraph_set_ret_timing(struct fgraph_ops *gops, bool timed);
struct ftrace_mux_time fgraph_read_ret_time(const struct fgraph_ops *gops);

#endif /* CONFIG_FTRACE_MUX */
#endif /* _KERNEL_TRACE_MUX_TIME_H */

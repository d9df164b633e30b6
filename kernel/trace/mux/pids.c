// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: the PID filter of the profiler.
 *
 * While a user has chosen the profiler in function_tracers, set_ftrace_pid and
 * set_ftrace_notrace_pid of the top directory are about the profiler. Otherwise, they are about the
 * function tracer and the graph tracer, as they are without the multiplexer.
 *
 * ftrace keeps a PID filter in a struct trace_array. That of the profiler is in one that nothing
 * else uses: it is on no list, and has no buffer.
 */
#include <linux/cleanup.h>
#include <linux/percpu.h>

#include "../trace.h"
#include "mux.h"

static DEFINE_PER_CPU(struct trace_array_cpu, profiler_cpu) = {
	.ftrace_ignore_pid = FTRACE_PID_TRACE,
};

static struct trace_array profiler_array = {
	.array_buffer.data = &profiler_cpu,
};

/**
 * ftrace_mux_own_pids - give the profiler a PID filter
 * @ops: the profiler's
 *
 * Context: process context; @ops is not registered.
 */
void ftrace_mux_own_pids(struct ftrace_ops *ops)
{
	ops->private = &profiler_array;
	ops->flags |= FTRACE_OPS_FL_PID;
}

/**
 * ftrace_mux_pids - the PID filter that the files of an instance are about
 * @tr: the trace instance
 *
 * Context: process context, may sleep; takes ftrace_lock.
 *
 * Return: @tr, or what has the PID filter of the profiler.
 */
struct trace_array *ftrace_mux_pids(struct trace_array *tr)
{
	struct ftrace_ops *def;

	guard(mutex)(&ftrace_lock);

	def = ftrace_mux_get_default(tr);

	return def && def->mux.chosen && def->private == &profiler_array ? &profiler_array : tr;
}

/**
 * ftrace_mux_profiler_pids - the PID filter that has the same function-fork option as an instance
 * @tr: the trace instance, or what this function has returned
 *
 * Context: any.
 *
 * Return: what has the PID filter of the profiler, if @tr is the top instance; else NULL.
 */
struct trace_array *ftrace_mux_profiler_pids(struct trace_array *tr)
{
	return tr->ops == &global_ops ? &profiler_array : NULL;
}

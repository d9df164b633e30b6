// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: the PID filter of the profiler.
 *
 * While a user has chosen the profiler in function_tracers, set_ftrace_pid and
 * set_ftrace_notrace_pid of the top directory are about the profiler. Otherwise, they are about the
 * function tracer and the graph tracer, as they are without the multiplexer.
 *
 * ftrace keeps a PID filter in a struct trace_array. That of the profiler is in one that nothing
 * else uses: it is on no list, and has no ring buffer. It has array_buffer.data because
 * ftrace_ignore_pid is there.
 */
#include <linux/cleanup.h>
#include <linux/percpu.h>

#include "../trace.h"
#include "mux.h"

/*
 * ftrace_ignore_pid is the only PID that is traced on this CPU now, or one of FTRACE_PID_*. If it
 * was 0, only the idle tasks would be profiled.
 */
static DEFINE_PER_CPU(struct trace_array_cpu, profiler_cpu) = {
	.ftrace_ignore_pid = FTRACE_PID_TRACE,
};

static struct trace_array profiler_array;

/* Set when the profiler is enabled for the first time, always to the same ops */
static struct ftrace_ops *profiler_ops;

/**
 * ftrace_mux_init_profiler_pids - give the profiler a PID filter
 * @ops: the profiler's
 *
 * Context: process context; @ops is not registered.
 */
void ftrace_mux_init_profiler_pids(struct ftrace_ops *ops)
{
	profiler_ops = ops;
	profiler_array.array_buffer.data = &profiler_cpu;
	ops->private = &profiler_array;
	ops->flags |= FTRACE_OPS_FL_PID;
}

/**
 * ftrace_mux_pid_tr - the trace array with the PID filter that the files of an instance are about
 * @tr: the trace instance
 *
 * Context: process context, may sleep; takes ftrace_lock.
 *
 * Return: @tr, or the array of the profiler, if the user has chosen the profiler.
 */
struct trace_array *ftrace_mux_pid_tr(struct trace_array *tr)
{
	struct ftrace_ops *def;

	guard(mutex)(&ftrace_lock);

	def = ftrace_mux_get_default(tr);

	return def && def->mux.chosen && ftrace_mux_is_profiler(def) ? &profiler_array : tr;
}

/**
 * ftrace_mux_profiler_tr - the trace array with the PID filter of the profiler
 * @tr: a trace array
 *
 * Context: any.
 *
 * Return: the array, NULL if @tr is not the top instance. It is NULL for the array of the profiler,
 * too, which ends the recursion of ftrace_pid_follow_fork().
 */
struct trace_array *ftrace_mux_profiler_tr(struct trace_array *tr)
{
	return tr->ops == &global_ops ? &profiler_array : NULL;
}

/**
 * ftrace_mux_idle_profiler_tr - ftrace_mux_profiler_tr(), but only while the profiler is off
 * @tr: a trace array
 *
 * While the profiler is off, nobody can choose it to clear its PID filter. So it is cleared with
 * that of the top instance.
 *
 * Context: process context, may sleep; takes ftrace_lock.
 *
 * Return: the array; NULL if @tr is not the top instance, if the profiler is on, or if it was never
 * on and so has no PIDs.
 */
struct trace_array *ftrace_mux_idle_profiler_tr(struct trace_array *tr)
{
	guard(mutex)(&ftrace_lock);

	return profiler_ops && !profiler_ops->mux.seq ? ftrace_mux_profiler_tr(tr) : NULL;
}

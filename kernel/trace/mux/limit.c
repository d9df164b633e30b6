// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: how much of a CPU a tracer may take, in function_tracers_limit.
 *
 * Each instance has a limit, in percent of one CPU, for what its user starts: the function tracer,
 * the graph tracer and, in the top directory, the profiler. While an instance has a limit, stat.c
 * measures the time of calls, and a worker looks every second what these tracers have taken in the
 * last one. One that has taken more is switched off: nop becomes the current tracer, and the
 * trace stays as it is, but for a line at its end.
 *
 * A graph tracer takes about twice as much as is measured, since returns are not.
 *
 * trace_types_lock protects the limits, and is taken before ftrace_lock.
 */
#include <linux/fs.h>
#include <linux/math64.h>
#include <linux/timekeeping.h>
#include <linux/trace.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "../trace.h"
#include "mux.h"
#include "stat.h"

/* How often the worker looks */
#define LIMIT_PERIOD	HZ

/* How many instances have a limit */
static unsigned int limits;

/* When the worker has looked the last time, in ns */
static u64 last_check;

static void check_limits(struct work_struct *work);
static DECLARE_DELAYED_WORK(limit_work, check_limits);

/* Is it the tracer in current_tracer that has registered the ops of @tr, and no latency tracer? */
static bool is_function_tracer(const struct tracer *tracer)
{
	return !strcmp(tracer->name, "function") || !strcmp(tracer->name, "function_graph");
}

/* Does the limit of @tr apply to @ops? */
static bool is_limited(const struct ftrace_ops *ops, struct trace_array *tr)
{
	if (ops->mux.tr != ftrace_mux_instance(tr))
		return false;
	if (ops->mux.filter)
		return true;
	if (!is_function_tracer(tr->current_trace))
		return false;
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (tr->gops && ops == &tr->gops->ops)
		return true;
#endif
	return ops == tr->ops;
}

/* What a tracer has taken since the last check, in percent of a CPU */
static u64 recent_share(struct ftrace_ops *ops, u64 elapsed)
{
	u64 used = ftrace_mux_stat_used(ops);
	u64 before = min(ops->mux.checked, used);

	ops->mux.checked = used;

	return mul_u64_u64_div_u64(used - before, 100, elapsed);
}

/* Say so at the end of the trace, and in the log */
static void report(struct trace_array *tr, const char *name, u64 share)
{
	char text[128];
	int len;

	len = scnprintf(text, sizeof(text),
			"%s has taken %llu%% of a CPU, more than %u%%: switched off\n",
			name, share, READ_ONCE(tr->mux_limit));
	__trace_array_puts(tr, _THIS_IP_, text, len);
	pr_warn("ftrace: instance %s: %s", tr->name ?: "-", text);
}

/* Sets *@profiler to its share, if it has to be switched off */
static void check_instance(struct trace_array *tr, u64 elapsed, u64 *profiler)
{
	const char *name = tr->current_trace->name;
	struct ftrace_ops *ops;
	u64 share, tracer = 0;

	scoped_guard(mutex, &ftrace_lock) {
		for_each_ftrace_mux_tracer(ops) {
			if (!is_limited(ops, tr))
				continue;
			share = recent_share(ops, elapsed);
			if (share <= tr->mux_limit)
				continue;
			if (ops->mux.filter)
				*profiler = share;
			else
				tracer = share;
		}
	}

	if (tracer) {
		tracing_set_nop(tr);
		report(tr, name, tracer);
	}
}

static void check_limits(struct work_struct *work)
{
	u64 now = ktime_get_ns(), elapsed = max(now - last_check, 1ULL), profiler = 0;
	struct trace_array *tr;

	last_check = now;
	scoped_guard(mutex, &trace_types_lock) {
		list_for_each_entry(tr, &ftrace_trace_arrays, list) {
			if (tr->mux_limit)
				check_instance(tr, elapsed, &profiler);
		}
		if (limits)
			queue_delayed_work(system_dfl_long_wq, &limit_work, LIMIT_PERIOD);
	}

	if (profiler) {
		/* Takes ftrace_profile_lock, which nobody takes under trace_types_lock */
		ftrace_profile_stop();
		report(top_trace_array(), "function_profile", profiler);
	}
}

/* Set the limit of @tr, in percent of a CPU, 0: none */
static int set_limit(struct trace_array *tr, unsigned int limit)
{
	unsigned int nr = limits + !!limit - !!tr->mux_limit;
	int ret;

	ret = ftrace_mux_stat_hold(nr);
	if (ret)
		return ret;

	tr->mux_limit = limit;
	limits = nr;
	if (limits)
		queue_delayed_work(system_dfl_long_wq, &limit_work, LIMIT_PERIOD);

	return 0;
}

/**
 * ftrace_mux_limit_remove - forget the limit of an instance that is removed
 * @tr: the instance
 *
 * Context: process context, may sleep; trace_types_lock held.
 */
void ftrace_mux_limit_remove(struct trace_array *tr)
{
	lockdep_assert_held(&trace_types_lock);

	if (tr->mux_limit)
		set_limit(tr, 0);
}

/* The file */

static struct trace_array *instance_of(struct file *file)
{
	return file_inode(file)->i_private ?: top_trace_array();
}

static ssize_t limit_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = instance_of(file);
	char buf[16];
	int len;

	len = scnprintf(buf, sizeof(buf), "%u\n", READ_ONCE(tr->mux_limit));

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

static ssize_t limit_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = instance_of(file);
	unsigned int limit;
	int ret;

	ret = kstrtouint_from_user(ubuf, cnt, 10, &limit);
	if (ret)
		return ret;

	/* A tracer cannot take more than all CPUs */
	if (limit > 100 * num_possible_cpus())
		return -EINVAL;

	guard(mutex)(&trace_types_lock);

	ret = set_limit(tr, limit);
	if (ret)
		return ret;

	*ppos += cnt;
	return cnt;
}

/* function_tracers_limit */
const struct file_operations ftrace_mux_limit_fops = {
	.open		= tracing_open_generic_tr,
	.read		= limit_read,
	.write		= limit_write,
	.llseek		= default_llseek,
	.release	= tracing_release_generic_tr,
};

// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: switches off tracers that take more time than function_tracers_limit
 * allows.
 *
 * The limit of an instance is a percentage of one CPU, 0 for no limit. It applies to the function
 * tracer, the graph tracer and, in the top directory, the profiler, each by itself. While any
 * instance has a limit, stat.c measures the time of calls. Once a second, a worker checks how much
 * time each of these tracers has taken since the last check. If it is more than the limit, nop
 * becomes the current tracer, or function_profile_enabled becomes 0. The buffer is kept. A line in
 * the log of the kernel and, if the option trace_printk is set, in the buffer names the tracer.
 *
 * trace_types_lock protects what is here, and is taken before ftrace_profile_lock and ftrace_lock.
 * Limits are also read without it.
 */
#include <linux/fs.h>
#include <linux/math64.h>
#include <linux/trace.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "../trace.h"
#include "mux.h"
#include "stat.h"
#include "time.h"

/* Jiffies from one check to the next */
#define LIMIT_PERIOD	HZ

/* How many instances have a limit */
static unsigned int nr_limited;

/* ftrace_mux_clock() at the last check */
static u64 last_check;

static void check_limits(struct work_struct *work);
static DECLARE_DELAYED_WORK(limit_work, check_limits);

/*
 * Latency tracers have no limit, but they, too, register the ops of their instance (tr->ops). So
 * look at the name of the current tracer.
 */
static bool is_function_or_graph(const struct tracer *tracer)
{
	return !strcmp(tracer->name, "function") || !strcmp(tracer->name, "function_graph");
}

/* Does the limit of @tr apply to @ops? */
static bool is_limited(const struct ftrace_ops *ops, struct trace_array *tr)
{
	if (ops->mux.tr != ftrace_mux_instance(tr))
		return false;
	if (ftrace_mux_is_profiler(ops))
		return true;
	if (!is_function_or_graph(tr->current_trace))
		return false;

	return ops == tr->ops || (tr->gops && ops == &tr->gops->ops);
}

/*
 * What a tracer has taken since the last check, in percent of a CPU. @elapsed: cycles since that
 * check. If the tracer was registered later, its first share is too low.
 */
static u64 share_since_check(struct ftrace_ops *ops, s64 elapsed)
{
	u64 used = ftrace_mux_stat_cycles(ops);
	/*
	 * @used may be less than at the last check. If calls have become shorter, used_cycles()
	 * estimates less for those that were not measured. When kernel.ftrace_mux becomes 0, the
	 * cycles at returns are dropped.
	 */
	u64 before = min(ops->mux.checked_cycles, used);

	ops->mux.checked_cycles = used;
	/* A suspend of the machine may have reset the counter of cycles */
	if (elapsed <= 0)
		return 0;

	return div64_u64((used - before) * 100, elapsed);
}

/* A tracer that has taken more than the limit of its instance; @share is 0 if there is none */
struct over_limit {
	u64	share;
	/* Enough: mux.nr has 24 bits, so the longest name here is "trace_profile#16777215" */
	char	name[32];
};

/* Write to the buffer and to the log that a tracer has been switched off */
static void report(struct trace_array *tr, const struct over_limit *over)
{
	char text[128];
	int len;

	len = scnprintf(text, sizeof(text),
			"%s has taken %llu%% of a CPU, more than %u%%: switched off\n",
			over->name, over->share, tr->mux_limit);
	__trace_array_puts(tr, _THIS_IP_, text, len);
	pr_warn("ftrace: instance %s: %s", tr->name ?: "-", text);
}

/* Switch off what has taken more than its instance allows */
static void check_instance(struct trace_array *tr, s64 elapsed)
{
	struct over_limit tracer = { }, profiler = { };
	struct over_limit *over;
	struct ftrace_ops *ops;
	u64 share;

	scoped_guard(mutex, &ftrace_lock) {
		for_each_ftrace_mux_tracer(ops) {
			if (!is_limited(ops, tr))
				continue;
			share = share_since_check(ops, elapsed);
			if (share <= tr->mux_limit)
				continue;
			over = ftrace_mux_is_profiler(ops) ? &profiler : &tracer;
			over->share = share;
			ftrace_mux_name(ops, over->name, sizeof(over->name));
		}
	}

	if (tracer.share) {
		tracing_set_nop(tr);
		report(tr, &tracer);
	}
	if (profiler.share && ftrace_profile_stop())
		report(tr, &profiler);
}

static void check_limits(struct work_struct *work)
{
	struct trace_array *tr;
	s64 elapsed;
	u64 now;

	guard(mutex)(&trace_types_lock);

	/* This check was due for an earlier limit; set_limit() has queued one for the new limit */
	if (delayed_work_pending(&limit_work))
		return;

	now = ftrace_mux_clock();
	elapsed = now - last_check;
	last_check = now;
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		if (tr->mux_limit)
			check_instance(tr, elapsed);
	}
	if (nr_limited)
		queue_delayed_work(system_dfl_long_wq, &limit_work, LIMIT_PERIOD);
}

/* Leave out of the first check what tracers have taken before there was a limit */
static void leave_out_past(struct trace_array *tr)
{
	struct ftrace_ops *ops;

	guard(mutex)(&ftrace_lock);

	for_each_ftrace_mux_tracer(ops) {
		if (is_limited(ops, tr))
			ops->mux.checked_cycles = ftrace_mux_stat_cycles(ops);
	}
}

/* @limit: in percent of one CPU, 0 for none. Returns 0, -ENOMEM or -ENODEV. */
static int set_limit(struct trace_array *tr, unsigned int limit)
{
	int ret;

	lockdep_assert_held(&trace_types_lock);

	if (limit && !tr->mux_limit) {
		ret = ftrace_mux_stat_begin_timing();
		if (ret)
			return ret;
		leave_out_past(tr);
		if (!nr_limited++) {
			last_check = ftrace_mux_clock();
			/* The check of an earlier limit may still be pending */
			mod_delayed_work(system_dfl_long_wq, &limit_work, LIMIT_PERIOD);
		}
	} else if (!limit && tr->mux_limit) {
		if (!--nr_limited)
			ftrace_mux_stat_end_timing();
	}
	WRITE_ONCE(tr->mux_limit, limit);

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
	set_limit(tr, 0);
}

/* The file */

static ssize_t limit_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = file_inode(file)->i_private;
	char buf[16];
	int len;

	len = scnprintf(buf, sizeof(buf), "%u\n", READ_ONCE(tr->mux_limit));

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

static ssize_t limit_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = file_inode(file)->i_private;
	unsigned int limit;
	int ret;

	ret = kstrtouint_from_user(ubuf, cnt, 10, &limit);
	if (ret)
		return ret;

	/* More than all CPUs have */
	if (limit > 100 * num_possible_cpus())
		return -EINVAL;

	if (limit)
		ftrace_mux_stat_prepare_timing();

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

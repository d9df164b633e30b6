// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: the functions and tasks that gtsc_functions.c and gtsc_graph.c
 * trace.
 *
 * A task is recorded if the bit of its PID is set. A new task gets the bit of the task that has
 * created it, so that no bit has to be cleared when a task ends. Workers of io_uring and vhost are
 * not created by fork(): they have the bit that the last task with their PID had.
 */

#include <linux/bitmap.h>
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/ftrace.h>
#include <linux/pid.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/threads.h>
#include <linux/vmalloc.h>
#include <trace/events/sched.h>

#include "calls.h"
#include "gtsc.h"

/* Bytes of a sub-buffer */
#define SUB_SIZE	65536

/* Before the child runs for the first time */
static void follow_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	unsigned long *tasks = data;

	/* An earlier task with this PID may have left it set */
	clear_bit(child->pid, tasks);
	/* Clear before the test. Pairs with the barrier in set_descendants(). */
	smp_mb__after_atomic();
	if (test_bit(parent->pid, tasks))
		set_bit(child->pid, tasks);
}

static bool descends_from(struct task_struct *task, struct task_struct *ancestor)
{
	for (; task->pid; task = rcu_dereference(task->real_parent)) {
		if (same_thread_group(task, ancestor))
			return true;
	}

	return false;
}

/*
 * A new task is put on the list after its creator, and before follow_fork() is called. Either
 * follow_fork() finds the bit of the creator, or set_descendants() finds the child and sets its bit
 * after follow_fork() has cleared it. Children of a task that has ended, or ends meanwhile, may be
 * missed, and so may a child with another parent than its creator (CLONE_PARENT).
 */
static void set_descendants(unsigned long *tasks, struct task_struct *ancestor)
{
	struct task_struct *process, *task;

	for_each_process_thread(process, task) {
		if (!descends_from(task, ancestor))
			continue;
		set_bit(task->pid, tasks);
		/* Set it before the next task is read. Pairs with the barrier in follow_fork(). */
		smp_mb__after_atomic();
	}
}

/* If @process creates a thread meanwhile, the thread may be recorded. gtsc creates none then. */
static void clear_threads(unsigned long *tasks, struct task_struct *process)
{
	struct task_struct *task;

	for_each_thread(process, task)
		clear_bit(task->pid, tasks);
}

static int choose_tasks(unsigned long *tasks, pid_t pid, pid_t except)
{
	struct task_struct *task;

	guard(rcu)();

	if (pid) {
		task = pid_task(find_vpid(pid), PIDTYPE_PID);
		if (!task)
			return -ESRCH;
		set_descendants(tasks, task);
	}

	task = except ? pid_task(find_vpid(except), PIDTYPE_PID) : NULL;
	if (task)
		clear_threads(tasks, task);

	return 0;
}

/*
 * calls->except is the process that reads the records. Children that it has already keep their
 * bits, so that gtsc can fork the command first and have it recorded. Children that it creates
 * later are not recorded.
 */
static int init_tasks(struct gtsc_calls *calls)
{
	int ret;

	if (!calls->pid && !calls->except)
		return 0;

	calls->tasks = vzalloc(BITS_TO_LONGS(PID_MAX_LIMIT) * sizeof(long));
	if (!calls->tasks)
		return -ENOMEM;

	/* Before the first follow_fork(), which clears bits */
	if (!calls->pid)
		bitmap_fill(calls->tasks, PID_MAX_LIMIT);

	ret = register_trace_sched_process_fork(follow_fork, calls->tasks);
	if (!ret)
		return choose_tasks(calls->tasks, calls->pid, calls->except);
	vfree(calls->tasks);
	calls->tasks = NULL;

	return ret;
}

static void free_tasks(struct gtsc_calls *calls)
{
	if (!calls->tasks)
		return;

	unregister_trace_sched_process_fork(follow_fork, calls->tasks);
	tracepoint_synchronize_unregister();
	vfree(calls->tasks);
	calls->tasks = NULL;
}

static int set_pattern(struct ftrace_ops *ops, char *pattern)
{
	if (*pattern == '!')
		return ftrace_set_notrace(ops, pattern + 1, strlen(pattern + 1), 0);

	return ftrace_set_filter(ops, pattern, strlen(pattern), 0);
}

/* @patterns: names of functions, NULL: all functions */
static int set_functions(struct ftrace_ops *ops, const char *patterns)
{
	char *copy __free(kfree) = kstrdup(patterns, GFP_KERNEL);
	char *rest = copy, *pattern;
	int ret;

	if (patterns && !copy)
		return -ENOMEM;

	while ((pattern = strsep(&rest, ","))) {
		ret = set_pattern(ops, pattern);
		if (ret)
			return ret;
	}

	return 0;
}

static int start_channel(struct gtsc_calls *calls, const char *format)
{
	int ret = gtsc_set_format(calls->channel, format) ?:
		  set_functions(calls->ops, calls->functions) ?: init_tasks(calls);

	if (ret)
		return ret;
	/* Not earlier: from here on, a start by the user registers @ops, too */
	gtsc_set_switch(calls->channel, calls->switch_fn, NULL);

	return gtsc_start(calls->channel);
}

/**
 * gtsc_start_calls - set up the channel of a provider, and record calls
 * @calls: the provider
 * @format: of its records, see gtsc_set_format()
 *
 * Context: process context, may sleep. The parameters @pid and @except are of the PID namespace of
 * the caller.
 *
 * Return: 0; -EINVAL if no function matches a pattern; -ESRCH if there is no task with @pid;
 * -ENOMEM; -EBUSY or -EINVAL if a user has started the channel meanwhile; the errors of
 * gtsc_setup() and of @switch_fn.
 */
int gtsc_start_calls(struct gtsc_calls *calls, const char *format)
{
	int ret;

	calls->channel = gtsc_setup("gtsc", calls->name, SUB_SIZE, calls->nr_sub,
				    GTSC_HEADER | (calls->flight ? GTSC_FLIGHT : 0));
	if (IS_ERR(calls->channel))
		return PTR_ERR(calls->channel);

	ret = start_channel(calls, format);
	if (ret) {
		pr_err("%s: cannot trace %s: %d\n", calls->ops->name,
		       calls->functions ?: "functions", ret);
		gtsc_cleanup_calls(calls);
	}

	return ret;
}
EXPORT_SYMBOL_GPL(gtsc_start_calls);

/**
 * gtsc_cleanup_calls - record no more calls, and end the channel
 * @calls: from gtsc_start_calls()
 *
 * Context: process context, may sleep.
 */
void gtsc_cleanup_calls(struct gtsc_calls *calls)
{
	gtsc_cleanup(calls->channel);
	free_tasks(calls);
	ftrace_free_filter(calls->ops);
}
EXPORT_SYMBOL_GPL(gtsc_cleanup_calls);

// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: which calls the providers of calls record.
 *
 * A task is recorded if the bit of its PID is set. A new task gets the bit of the task that has
 * created it, so that no bit has to be cleared when a task ends. Workers of io_uring and vhost are
 * not created by fork(): they have the bit that the last task with their PID had.
 */

#include <linux/bitmap.h>
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/ftrace.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/threads.h>
#include <linux/vmalloc.h>
#include <trace/events/sched.h>

#include "calls.h"

/* Before the child runs for the first time */
static void follow_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct gtsc_tasks *tasks = data;

	assign_bit(child->pid, tasks->bits, test_bit(parent->pid, tasks->bits));
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
 * A new task is put on the list behind its creator, and before follow_fork() is called: either the
 * creator has its bit when follow_fork() looks, or both get theirs here.
 */
static void set_descendants(struct gtsc_tasks *tasks, struct task_struct *ancestor)
{
	struct task_struct *process, *task;

	for_each_process_thread(process, task) {
		if (descends_from(task, ancestor))
			set_bit(task->pid, tasks->bits);
	}
}

static void clear_threads(struct gtsc_tasks *tasks, struct task_struct *process)
{
	struct task_struct *task;

	for_each_thread(process, task)
		clear_bit(task->pid, tasks->bits);
}

static int choose_tasks(struct gtsc_tasks *tasks, pid_t pid, pid_t except)
{
	struct task_struct *task;

	guard(rcu)();

	if (pid) {
		task = pid_task(find_vpid(pid), PIDTYPE_PID);
		if (!task)
			return -ESRCH;
		set_descendants(tasks, task);
	} else {
		bitmap_fill(tasks->bits, PID_MAX_LIMIT);
	}

	task = except ? pid_task(find_vpid(except), PIDTYPE_PID) : NULL;
	if (task)
		clear_threads(tasks, task);

	return 0;
}

/**
 * gtsc_init_tasks - choose the tasks whose calls are recorded
 * @tasks: the tasks
 * @pid: of a process that is recorded with its threads and its descendants, as the caller's PID
 *	namespace has it; 0: all tasks are recorded
 * @except: of a process whose threads are not recorded: the one that reads the records. Children
 *	that it has keep their bits, so that it can have one recorded. 0: none
 *
 * A task that is created later gets the bit of its creator.
 *
 * Context: process context, may sleep.
 *
 * Return: 0; -ESRCH if there is no task with @pid; -ENOMEM.
 */
int gtsc_init_tasks(struct gtsc_tasks *tasks, pid_t pid, pid_t except)
{
	int ret;

	tasks->bits = NULL;
	if (!pid && !except)
		return 0;

	tasks->bits = vzalloc(BITS_TO_LONGS(PID_MAX_LIMIT) * sizeof(long));
	if (!tasks->bits)
		return -ENOMEM;

	ret = register_trace_sched_process_fork(follow_fork, tasks);
	if (ret) {
		vfree(tasks->bits);
		tasks->bits = NULL;
		return ret;
	}

	ret = choose_tasks(tasks, pid, except);
	if (ret)
		gtsc_free_tasks(tasks);

	return ret;
}
EXPORT_SYMBOL_GPL(gtsc_init_tasks);

/**
 * gtsc_free_tasks - no more calls are recorded
 * @tasks: from gtsc_init_tasks()
 *
 * Context: process context, may sleep.
 */
void gtsc_free_tasks(struct gtsc_tasks *tasks)
{
	if (!tasks->bits)
		return;

	unregister_trace_sched_process_fork(follow_fork, tasks);
	tracepoint_synchronize_unregister();
	vfree(tasks->bits);
	tasks->bits = NULL;
}
EXPORT_SYMBOL_GPL(gtsc_free_tasks);

static int set_pattern(struct ftrace_ops *ops, char *pattern)
{
	if (*pattern == '!')
		return ftrace_set_notrace(ops, pattern + 1, strlen(pattern + 1), 0);

	return ftrace_set_filter(ops, pattern, strlen(pattern), 0);
}

/**
 * gtsc_set_functions - choose the functions whose calls are recorded
 * @ops: a tracer that is not registered
 * @patterns: names of functions, with * and ? as for set_ftrace_filter, and commas between them.
 *	Functions that match one with a ! before it are left out. NULL: all functions
 *
 * Context: process context, may sleep.
 *
 * Return: 0; -ENOMEM; -EINVAL if no function matches a pattern. Then ftrace_free_filter() frees
 * what was set.
 */
int gtsc_set_functions(struct ftrace_ops *ops, const char *patterns)
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
EXPORT_SYMBOL_GPL(gtsc_set_functions);

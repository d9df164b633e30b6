/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic trace setup and control: which calls the providers of calls record.
 */
#ifndef _KERNEL_TRACE_GTSC_CALLS_H
#define _KERNEL_TRACE_GTSC_CALLS_H

#include <linux/bitops.h>
#include <linux/sched.h>

struct ftrace_ops;

/* Bytes of a sub-buffer */
#define GTSC_CALLS_SUB_SIZE	65536

/**
 * struct gtsc_tasks - the tasks whose calls are recorded
 * @bits: one for each PID; NULL: all tasks
 */
struct gtsc_tasks {
	unsigned long	*bits;
};

int gtsc_init_tasks(struct gtsc_tasks *tasks, pid_t pid, pid_t except);
void gtsc_free_tasks(struct gtsc_tasks *tasks);
int gtsc_set_functions(struct ftrace_ops *ops, const char *patterns);

/* Whether the calls of the current task are recorded. Context: any. */
static __always_inline bool gtsc_has_current(const struct gtsc_tasks *tasks)
{
	return !tasks->bits || test_bit(current->pid, tasks->bits);
}

#endif /* _KERNEL_TRACE_GTSC_CALLS_H */

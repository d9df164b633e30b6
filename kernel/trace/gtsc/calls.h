/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic trace setup and control: the functions and tasks that gtsc_functions.c and gtsc_graph.c
 * trace.
 */
#ifndef _KERNEL_TRACE_GTSC_CALLS_H
#define _KERNEL_TRACE_GTSC_CALLS_H

#include <linux/bitops.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>

struct ftrace_ops;
struct gtsc_channel;

/**
 * struct gtsc_calls - a provider that records calls of functions
 * @name: of its channel in the directory gtsc
 * @ops: its tracer
 * @switch_fn: for gtsc_set_switch(): registers @ops, or unregisters it and returns when no task is
 *	in a function of it
 * @functions: this and the next four are module parameters, see GTSC_CALLS_PARAMETERS()
 * @nr_sub: sub-buffers for each CPU
 * @flight: whether the channel is a flight recorder
 * @pid: of a process that is recorded with its descendants, 0: all tasks
 * @except: of a process that is not recorded, 0: none
 * @channel: set by gtsc_start_calls()
 * @tasks: whose calls are recorded, a bit for each PID; NULL: all tasks
 */
struct gtsc_calls {
	const char		*name;
	struct ftrace_ops	*ops;
	int			(*switch_fn)(bool on, void *unused);

	char			*functions;
	unsigned int		nr_sub;
	bool			flight;
	int			pid;
	int			except;

	struct gtsc_channel	*channel;
	unsigned long		*tasks;
};

#define GTSC_CALLS_PARAMETERS(calls)						\
	module_param_named(functions, (calls).functions, charp, 0444);		\
	MODULE_PARM_DESC(functions, "Names, with * and ?: vfs_*,!vfs_read (default all)");	\
	module_param_named(nr_sub, (calls).nr_sub, uint, 0444);			\
	MODULE_PARM_DESC(nr_sub, "Sub-buffers of 64 KiB for each CPU (default 32)");	\
	module_param_named(flight, (calls).flight, bool, 0444);			\
	MODULE_PARM_DESC(flight, "Keep the newest calls, not the oldest (default N)");	\
	module_param_named(pid, (calls).pid, int, 0444);			\
	MODULE_PARM_DESC(pid, "Only this process and its descendants (default 0: all)");	\
	module_param_named(except, (calls).except, int, 0444);			\
	MODULE_PARM_DESC(except, "Not the calls of this process (default 0: none)")

/* The default of @nr_sub */
#define GTSC_CALLS_NR_SUB	32

int gtsc_start_calls(struct gtsc_calls *calls, const char *format);
void gtsc_cleanup_calls(struct gtsc_calls *calls);

/* Whether the calls of the current task are recorded. Context: any. */
static __always_inline bool gtsc_records_current(const struct gtsc_calls *calls)
{
	return !calls->tasks || test_bit(current->pid, calls->tasks);
}

#endif /* _KERNEL_TRACE_GTSC_CALLS_H */

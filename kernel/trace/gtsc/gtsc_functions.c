// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic trace setup and control: calls of kernel functions in a trace channel.
 *
 * A function tracer with the name gtsc_functions. A record has the address of a function, where it
 * was called from, and the task; "gtsc functions" records them and prints names.
 */
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "calls.h"
#include "write.h"

struct call {
	u64	ip;
	u64	parent_ip;
	s32	pid;
	char	comm[TASK_COMM_LEN];
};

/* Without what the compiler adds */
#define CALL_LEN	offsetofend(struct call, comm)

static struct gtsc_calls calls;

static void notrace trace_call(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct gtsc_record record;
	struct call *call;
	int bit;

	if (!gtsc_records_current(&calls))
		return;
	/* A function that reads the clock may be traced, too. This also disables preemption. */
	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (bit < 0)
		return;

	/* RCU need not watch: switch_fn(false) waits for this function before the channel stops */
	if (gtsc_reserve_record(calls.channel, &record, CALL_LEN)) {
		call = record.data;
		call->ip = ip;
		call->parent_ip = parent_ip;
		call->pid = current->pid;
		/* It may change meanwhile */
		memcpy(call->comm, current->comm, TASK_COMM_LEN);
		gtsc_end_record(calls.channel, &record);
	}
	ftrace_test_recursion_unlock(bit);
}

static struct ftrace_ops ops = {
	.func	= trace_call,
	.flags	= FTRACE_OPS_FL_USER,	/* listed in function_tracers, see function-tracers.rst */
	.name	= "gtsc_functions",
};

/* If @on is false, waits until no task is in trace_call() */
static int switch_fn(bool on, void *unused)
{
	return on ? register_ftrace_function(&ops) : unregister_ftrace_function(&ops);
}

static struct gtsc_calls calls = {
	.name		= "functions",
	.ops		= &ops,
	.switch_fn	= switch_fn,
	.nr_sub		= GTSC_CALLS_NR_SUB,
};

GTSC_CALLS_PARAMETERS(calls);

static int __init gtsc_functions_init(void)
{
	return gtsc_start_calls(&calls, "ksym ip; ksym parent_ip; s32 pid; char comm[16]");
}
module_init(gtsc_functions_init);

static void __exit gtsc_functions_exit(void)
{
	gtsc_cleanup_calls(&calls);
}
module_exit(gtsc_functions_exit);

MODULE_DESCRIPTION("Calls of kernel functions in a trace channel");
MODULE_LICENSE("GPL");

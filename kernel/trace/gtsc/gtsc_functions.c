// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic trace setup and control: calls of kernel functions in a trace channel.
 *
 * A function tracer with the name gtsc_functions. A record has the address of a function, where it
 * was called from, and the task; "gtsc functions" records them and prints names.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "calls.h"
#include "write.h"

static char *functions;
module_param(functions, charp, 0444);
MODULE_PARM_DESC(functions, "Names of functions, with * and ?, and commas between them; those after ! are left out (default all functions)");

static unsigned int nr_sub = 32;
module_param(nr_sub, uint, 0444);
MODULE_PARM_DESC(nr_sub, "Sub-buffers of 64 KiB for each CPU (default 32)");

static bool flight;
module_param(flight, bool, 0444);
MODULE_PARM_DESC(flight, "Keep the newest calls, not the oldest (default N)");

static int pid;
module_param(pid, int, 0444);
MODULE_PARM_DESC(pid, "Only the calls of this process and its descendants (default 0: all)");

static int except;
module_param(except, int, 0444);
MODULE_PARM_DESC(except, "Not the calls of this process (default 0: none)");

struct call {
	u64	ip;
	u64	parent_ip;
	s32	pid;
	char	comm[TASK_COMM_LEN];
};

/* Without what the compiler adds */
#define CALL_LEN	offsetofend(struct call, comm)

static struct gtsc_channel *channel;
static struct gtsc_tasks tasks;

static void notrace trace_call(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct gtsc_record record;
	struct call *call;
	int bit;

	if (!gtsc_has_current(&tasks))
		return;
	/* The clock may be read by a function that is traced, too. Disables preemption. */
	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (bit < 0)
		return;

	/* RCU need not watch: the channel stops when arm(false) has returned */
	if (gtsc_reserve_record(channel, &record, CALL_LEN)) {
		call = record.data;
		call->ip = ip;
		call->parent_ip = parent_ip;
		call->pid = current->pid;
		/* It may change meanwhile */
		memcpy(call->comm, current->comm, TASK_COMM_LEN);
		gtsc_end_record(channel, &record);
	}
	ftrace_test_recursion_unlock(bit);
}

static struct ftrace_ops ops = {
	.func	= trace_call,
	.name	= "gtsc_functions",
};

/* Returns when no task is in trace_call(), if it is off */
static int arm(bool on, void *unused)
{
	return on ? register_ftrace_function(&ops) : unregister_ftrace_function(&ops);
}

static int start(void)
{
	gtsc_set_switch(channel, arm, NULL);

	return gtsc_set_format(channel, "ksym ip; ksym parent_ip; s32 pid; char comm[16]") ?:
	       gtsc_set_functions(&ops, functions) ?:
	       gtsc_init_tasks(&tasks, pid, except) ?: gtsc_start(channel);
}

static void end(void)
{
	gtsc_cleanup(channel);
	gtsc_free_tasks(&tasks);
	ftrace_free_filter(&ops);
}

static int __init gtsc_functions_init(void)
{
	int ret;

	channel = gtsc_setup("gtsc", "functions", GTSC_CALLS_SUB_SIZE, nr_sub,
			     GTSC_HEADER | (flight ? GTSC_FLIGHT : 0));
	if (IS_ERR(channel))
		return PTR_ERR(channel);

	ret = start();
	if (ret) {
		pr_err("cannot trace %s: %d\n", functions ?: "functions", ret);
		end();
	}

	return ret;
}
module_init(gtsc_functions_init);

static void __exit gtsc_functions_exit(void)
{
	end();
}
module_exit(gtsc_functions_exit);

MODULE_DESCRIPTION("Calls of kernel functions in a trace channel");
MODULE_LICENSE("GPL");

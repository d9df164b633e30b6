// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic trace setup and control: calls of kernel functions and their durations in a trace
 * channel.
 *
 * A graph tracer with the name gtsc_graph. It writes one record for each call, when the function
 * returns; the header of the record has the time of the return. "gtsc graph" records them, and
 * "gtsc report" shows them.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "../trace.h"	/* __fgraph_reserve_data() */
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

static bool retval;
module_param(retval, bool, 0444);
MODULE_PARM_DESC(retval, "Record what functions return, too (default N)");

struct call {
	u64	ip;
	u64	duration;	/* nanoseconds */
	s32	pid;
	u32	depth;		/* of calls that any graph tracer traces */
	char	comm[TASK_COMM_LEN];
	u64	retval;		/* only with the parameter */
};

static struct gtsc_channel *channel;
static struct gtsc_tasks tasks;

static notrace int trace_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
			       struct ftrace_regs *fregs)
{
	u64 *start;

	if (!gtsc_has_current(&tasks))
		return 0;
	start = __fgraph_reserve_data(gops->idx, sizeof(*start));
	if (!start)
		return 0;
	*start = gtsc_timestamp();

	return 1;
}

/*
 * Preemption is disabled. RCU need not watch: when arm(false) returns, nobody is here, and only
 * then the channel stops.
 */
static __always_inline void write_call(struct ftrace_graph_ret *trace, u64 start, size_t len)
{
	struct gtsc_record record;
	struct call *call;
	u64 end;

	if (!gtsc_reserve_record(channel, &record, len))
		return;

	call = record.data;
	end = gtsc_header_of(&record)->time;
	call->ip = trace->func;
	/* An NMI can see the clock go back */
	call->duration = end > start ? end - start : 0;
	call->pid = current->pid;
	call->depth = trace->depth;
	/* It may change meanwhile */
	memcpy(call->comm, current->comm, TASK_COMM_LEN);
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	if (len == sizeof(*call))
		call->retval = trace->retval;
#endif
	gtsc_end_record(channel, &record);
}

static notrace void trace_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops,
				 struct ftrace_regs *fregs)
{
	u64 *start = __fgraph_retrieve_data(gops->idx);

	if (!start)
		return;
	guard(preempt_notrace)();
	write_call(trace, *start, offsetof(struct call, retval));
}

static notrace void trace_return_value(struct ftrace_graph_ret *trace, struct fgraph_ops *gops,
				       struct ftrace_regs *fregs)
{
	u64 *start = __fgraph_retrieve_data(gops->idx);

	if (!start)
		return;
	guard(preempt_notrace)();
	write_call(trace, *start, sizeof(struct call));
}

static struct fgraph_ops graph_ops = {
	.ops.name = "gtsc_graph",
};

static int arm(bool on, void *unused)
{
	if (on)
		return register_ftrace_graph(&graph_ops);
	unregister_ftrace_graph(&graph_ops);
	/* It does not wait: until no task is in a function of @graph_ops */
	synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();

	return 0;
}

static const char *format(void)
{
	return retval ? "ksym ip; u64 duration; s32 pid; u32 depth; char comm[16]; u64 retval" :
			"ksym ip; u64 duration; s32 pid; u32 depth; char comm[16]";
}

static int start(void)
{
	/* A cast, since these functions have no @fregs on Linux 6.12 */
	graph_ops.entryfunc = (void *)trace_entry;
	graph_ops.retfunc = retval ? (void *)trace_return_value : (void *)trace_return;
	gtsc_set_switch(channel, arm, NULL);

	return gtsc_set_format(channel, format()) ?:
	       gtsc_set_functions(&graph_ops.ops, functions) ?:
	       gtsc_init_tasks(&tasks, pid, except) ?: gtsc_start(channel);
}

static void end(void)
{
	gtsc_cleanup(channel);
	gtsc_free_tasks(&tasks);
	ftrace_free_filter(&graph_ops.ops);
}

static int __init gtsc_graph_init(void)
{
	int ret;

	if (retval && !IS_ENABLED(CONFIG_FUNCTION_GRAPH_RETVAL))
		return -EOPNOTSUPP;

	channel = gtsc_setup("gtsc", "graph", GTSC_CALLS_SUB_SIZE, nr_sub,
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
module_init(gtsc_graph_init);

static void __exit gtsc_graph_exit(void)
{
	end();
}
module_exit(gtsc_graph_exit);

MODULE_DESCRIPTION("Calls of kernel functions and their durations in a trace channel");
MODULE_LICENSE("GPL");

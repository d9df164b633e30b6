// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic trace setup and control: calls of kernel functions and their durations in a trace
 * channel.
 *
 * A graph tracer with the name gtsc_graph. It writes one record for each call, when the function
 * returns; the header of the record has the time of the return. "gtsc graph" records them, and
 * "gtsc report" shows them.
 */
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "../trace.h"	/* __fgraph_reserve_data() and fgraph_find_word() */
#include "calls.h"
#include "write.h"

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

static struct gtsc_calls calls;

static notrace int trace_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
			       struct ftrace_regs *fregs)
{
	u64 *start;

	if (!gtsc_records_current(&calls))
		return 0;
	start = __fgraph_reserve_data(gops->idx, sizeof(*start));
	if (!start)
		return 0;
	*start = gtsc_timestamp();

	return 1;
}

/*
 * fgraph.c guards this against recursion, with preemption disabled. RCU need not watch: when
 * switch_fn(false) returns, nobody is here, and only then the channel stops.
 * @len: of the record
 */
static __always_inline void write_call(struct ftrace_graph_ret *trace, struct fgraph_ops *gops,
				       size_t len)
{
	/* Not __fgraph_retrieve_data(): an earlier tracer may have stored data of another size */
	unsigned long *data_end = fgraph_find_word((long)current->curr_ret_stack - 1, gops->idx,
						   sizeof(u64) / sizeof(long));
	struct gtsc_channel *ch = calls.channel;
	struct gtsc_record record;
	struct call *call;
	u64 start, end;

	if (!data_end)
		return;
	/*
	 * What trace_entry() has stored ends at the word that was found, which fgraph.c has put
	 * behind the data to describe them. If the function began before this tracer got the index,
	 * these are data of the same size that an earlier tracer with the index has stored, and the
	 * duration may be wrong. This is rare: before fgraph.c uses an index again, it uses all
	 * other free ones, at most 15.
	 */
	start = *((u64 *)data_end - 1);
	if (!gtsc_reserve_record(ch, &record, len))
		return;

	call = record.data;
	end = gtsc_header_of(&record)->time;
	call->ip = trace->func;
	/* The clock may go back when the machine resumes */
	call->duration = likely(end > start) ? end - start : 0;
	call->pid = current->pid;
	call->depth = trace->depth;
	/* It may change meanwhile */
	memcpy(call->comm, current->comm, TASK_COMM_LEN);
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	if (len == sizeof(*call))
		call->retval = trace->retval;
#endif
	gtsc_end_record(ch, &record);
}

static notrace void trace_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops,
				 struct ftrace_regs *fregs)
{
	write_call(trace, gops, offsetof(struct call, retval));
}

static notrace void trace_return_value(struct ftrace_graph_ret *trace, struct fgraph_ops *gops,
				       struct ftrace_regs *fregs)
{
	write_call(trace, gops, sizeof(struct call));
}

static struct fgraph_ops graph_ops = {
	/* Listed in function_tracers, see function-tracers.rst */
	.ops.flags	= FTRACE_OPS_FL_USER,
	.ops.name	= "gtsc_graph",
	.entryfunc	= trace_entry,
	.retfunc	= trace_return,
};

static int switch_fn(bool on, void *unused)
{
	if (on)
		return register_ftrace_graph(&graph_ops);
	unregister_ftrace_graph(&graph_ops);
	/* unregister_ftrace_graph() does not wait until no task is in a function of @graph_ops */
	synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();

	return 0;
}

static struct gtsc_calls calls = {
	.name		= "graph",
	.ops		= &graph_ops.ops,
	.switch_fn	= switch_fn,
	.nr_sub		= GTSC_CALLS_NR_SUB,
};

GTSC_CALLS_PARAMETERS(calls);

static const char *format(void)
{
	return retval ? "ksym ip; u64 duration; s32 pid; u32 depth; char comm[16]; u64 retval" :
			"ksym ip; u64 duration; s32 pid; u32 depth; char comm[16]";
}

static int __init gtsc_graph_init(void)
{
	if (retval && !IS_ENABLED(CONFIG_FUNCTION_GRAPH_RETVAL))
		return -EOPNOTSUPP;
	if (retval)
		graph_ops.retfunc = trace_return_value;

	return gtsc_start_calls(&calls, format());
}
module_init(gtsc_graph_init);

static void __exit gtsc_graph_exit(void)
{
	gtsc_cleanup_calls(&calls);
}
module_exit(gtsc_graph_exit);

MODULE_DESCRIPTION("Calls of kernel functions and their durations in a trace channel");
MODULE_LICENSE("GPL");

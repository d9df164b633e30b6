// SPDX-License-Identifier: GPL-2.0-only
/*
 * A function tracer that writes into a trace channel: 16 bytes for each call, the
 * address of the function and where it was called from, after a header with time
 * and CPU.
 *
 *	# modprobe gtsc_ftrace
 *	# cat /sys/kernel/tracing/function_tracers
 *	 gtsc_sample
 *	# gtsc record -o calls.gtsc /sys/kernel/debug/gtsc_example/ftrace
 *	# gtsc print -f function calls.gtsc
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/ftrace.h>
#include <linux/gtsc.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#define SUB_SIZE	65536

static char *functions = "vfs_*";
module_param(functions, charp, 0444);
MODULE_PARM_DESC(functions, "Functions to trace, as for set_ftrace_filter (default vfs_*)");

static unsigned int nr_sub = 16;
module_param(nr_sub, uint, 0444);
MODULE_PARM_DESC(nr_sub, "Sub-buffers of 64 KiB for each CPU (default 16)");

static bool flight;
module_param(flight, bool, 0444);
MODULE_PARM_DESC(flight, "Keep the newest calls, not the oldest (default N)");

/* Records are aligned to 4 bytes */
struct call {
	u64	ip;
	u64	parent_ip;
} __packed __aligned(4);

static struct trace_info *trace;

static void notrace trace_call(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct trace_record record;
	struct call *call;

	call = trace_reserve(trace, &record, sizeof(*call));
	if (!call)
		return;

	call->ip = ip;
	call->parent_ip = parent_ip;
	trace_commit(trace, &record);
}

/* The flags make ftrace check for recursion, and that RCU is watching */
static struct ftrace_ops ops = {
	.func	= trace_call,
	.name	= "gtsc_sample",
	.flags	= FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU,
};

/* ftrace_set_filter() writes into the pattern that it parses */
static int set_filter(void)
{
	char *pattern __free(kfree) = kstrdup(functions, GFP_KERNEL);

	if (!pattern)
		return -ENOMEM;

	return ftrace_set_filter(&ops, pattern, strlen(pattern), 1);
}

static int __init gtsc_ftrace_init(void)
{
	int ret;

	trace = trace_setup("gtsc_example", "ftrace", SUB_SIZE, nr_sub,
			    TRACE_HEADER_CHANNEL | (flight ? TRACE_FLIGHT_CHANNEL : 0));
	if (IS_ERR(trace))
		return PTR_ERR(trace);

	ret = trace_start(trace);
	if (!ret)
		ret = set_filter();
	if (!ret)
		ret = register_ftrace_function(&ops);
	if (ret) {
		pr_err("no function tracer of %s: %d\n", functions, ret);
		ftrace_free_filter(&ops);
		trace_cleanup(trace);
	}

	return ret;
}
module_init(gtsc_ftrace_init);

static void __exit gtsc_ftrace_exit(void)
{
	unregister_ftrace_function(&ops);
	ftrace_free_filter(&ops);
	trace_cleanup(trace);
}
module_exit(gtsc_ftrace_exit);

MODULE_DESCRIPTION("A function tracer into a trace channel");
MODULE_LICENSE("GPL");

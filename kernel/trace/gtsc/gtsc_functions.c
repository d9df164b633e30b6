// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic trace setup and control: calls of kernel functions in a trace channel.
 *
 * A function tracer with the name gtsc_functions. A record has the address of a function,
 * and of where it was called from; "gtsc functions" records them and prints names.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "write.h"

#define SUB_SIZE	65536

static char *functions;
module_param(functions, charp, 0444);
MODULE_PARM_DESC(functions, "Patterns as for set_ftrace_filter, with commas between them (default all functions)");

static unsigned int nr_sub = 32;
module_param(nr_sub, uint, 0444);
MODULE_PARM_DESC(nr_sub, "Sub-buffers of 64 KiB for each CPU (default 32)");

static bool flight;
module_param(flight, bool, 0444);
MODULE_PARM_DESC(flight, "Keep the newest calls, not the oldest (default N)");

struct call {
	u64	ip;
	u64	parent_ip;
};

static struct gtsc_channel *channel;

static void notrace trace_call(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct gtsc_record record;
	struct call *call;
	int bit;

	/* The clock may be read by a function that is traced, too. Disables preemption. */
	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (bit < 0)
		return;

	/* gtsc_stop() waits for RCU */
	if (rcu_is_watching() && gtsc_reserve_record(channel, &record, sizeof(*call))) {
		call = record.data;
		call->ip = ip;
		call->parent_ip = parent_ip;
		gtsc_end_record(channel, &record);
	}
	ftrace_test_recursion_unlock(bit);
}

static struct ftrace_ops ops = {
	.func	= trace_call,
	.name	= "gtsc_functions",
};

static int set_filter(void)
{
	char *patterns __free(kfree) = kstrdup(functions, GFP_KERNEL);
	char *rest = patterns, *pattern;
	int ret;

	if (!patterns)
		return -ENOMEM;

	while ((pattern = strsep(&rest, ","))) {
		ret = ftrace_set_filter(&ops, pattern, strlen(pattern), 0);
		if (ret)
			return ret;
	}

	return 0;
}

static int __init gtsc_functions_init(void)
{
	int ret;

	channel = gtsc_setup("gtsc", "functions", SUB_SIZE, nr_sub,
			     GTSC_HEADER | (flight ? GTSC_FLIGHT : 0));
	if (IS_ERR(channel))
		return PTR_ERR(channel);

	ret = gtsc_set_format(channel, "x64 ip; x64 parent_ip") ?: gtsc_start(channel);
	if (!ret && functions)
		ret = set_filter();
	if (!ret)
		ret = register_ftrace_function(&ops);
	if (ret) {
		pr_err("cannot trace %s: %d\n", functions ?: "functions", ret);
		ftrace_free_filter(&ops);
		gtsc_cleanup(channel);
	}

	return ret;
}
module_init(gtsc_functions_init);

static void __exit gtsc_functions_exit(void)
{
	unregister_ftrace_function(&ops);
	ftrace_free_filter(&ops);
	gtsc_cleanup(channel);
}
module_exit(gtsc_functions_exit);

MODULE_DESCRIPTION("Calls of kernel functions in a trace channel");
MODULE_LICENSE("GPL");

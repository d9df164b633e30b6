// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the time and the process ID into a trace channel each time that a
 * function is called: the example that GTSC came with in 2007.
 *
 *	# modprobe gtsc_kprobe
 *	# cat /sys/kernel/debug/gtsc_example/kernel_clone/trace0
 *
 * The function may be called on every CPU and in interrupts: writing takes no
 * lock. The records of all CPUs are in one file, in the order of their time, and
 * the newest ones are kept.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/gtsc_2007.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>

#define SUB_SIZE	4096
#define NR_SUB		8

static char *symbol = "kernel_clone";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "Function to trace (default kernel_clone)");

static struct trace_info *trace;

static int handler_pre(struct kprobe *p, struct pt_regs *regs)
{
	gtsc_printf(trace, "[%llu] %d\n", trace_timestamp(), current->pid);

	return 0;
}

static struct kprobe kp = {
	.pre_handler	= handler_pre,
};

static int __init gtsc_kprobe_init(void)
{
	int ret;

	trace = trace_setup("gtsc_example", symbol, SUB_SIZE, NR_SUB,
			    TRACE_GLOBAL_CHANNEL | TRACE_FLIGHT_CHANNEL);
	if (IS_ERR(trace))
		return PTR_ERR(trace);

	kp.symbol_name = symbol;
	ret = gtsc_set_format(trace, "text") ?: trace_start(trace);
	if (!ret)
		ret = register_kprobe(&kp);
	if (ret) {
		pr_err("no kprobe on %s: %d\n", symbol, ret);
		trace_cleanup(trace);
	}

	return ret;
}
module_init(gtsc_kprobe_init);

static void __exit gtsc_kprobe_exit(void)
{
	/* Waits for handlers: no writer is left */
	unregister_kprobe(&kp);
	trace_cleanup(trace);
}
module_exit(gtsc_kprobe_exit);

MODULE_DESCRIPTION("Writes from a kprobe into a trace channel");
MODULE_LICENSE("GPL");

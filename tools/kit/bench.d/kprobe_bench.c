// SPDX-License-Identifier: GPL-2.0
/*
 * A kernel module with a kprobe at the entry of a function. The handler does nothing, to
 * measure the cost of the probe itself: insmod kprobe_bench.ko symbol=NAME
 */
#include <linux/kprobes.h>
#include <linux/module.h>

static char symbol[KSYM_NAME_LEN];
module_param_string(symbol, symbol, sizeof(symbol), 0444);
MODULE_PARM_DESC(symbol, "The function");

static int notrace nothing(struct kprobe *p, struct pt_regs *regs)
{
	return 0;
}

static struct kprobe kp = {
	.symbol_name	= symbol,
	.pre_handler	= nothing,
};

static int __init kprobe_bench_init(void)
{
	return register_kprobe(&kp);
}
module_init(kprobe_bench_init);

static void __exit kprobe_bench_exit(void)
{
	unregister_kprobe(&kp);
}
module_exit(kprobe_bench_exit);

MODULE_DESCRIPTION("A kprobe that does nothing");
MODULE_LICENSE("GPL");

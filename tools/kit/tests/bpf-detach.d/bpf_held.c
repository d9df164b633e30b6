// SPDX-License-Identifier: GPL-2.0
/*
 * A task is held on its way through the trampoline of a BPF program, while the program is
 * detached and freed.
 *
 * A write of the number STEP to the parameter run lets a task call the function, and holds
 * it before an instruction: the one with the number STEP, from 1, between the call site and
 * the return to the caller, without what the trampolines call. Reading run prints the place,
 * "end" if there is no such place.
 *
 * A write to call calls the function in the task that writes.
 *
 * A write to settle waits until what is freed after a grace period of RCU was freed, unless
 * the task holds the grace period up. A write to release lets the task go on, and waits
 * until it has returned.
 */
#include <linux/gcd.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "held_task.h"

/* Nobody else calls gcd() */
static noinline void call_gcd(void)
{
	WARN_ON(gcd(6, 4) != 2);
}

static int set_release(const char *val, const struct kernel_param *kp)
{
	if (!held.task)
		return -EINVAL;

	held_task_end();

	return 0;
}

static int set_run(const char *val, const struct kernel_param *kp)
{
	unsigned int hold_at;
	int ret;

	if (held.task)
		return -EBUSY;

	ret = kstrtouint(val, 0, &hold_at);

	return ret ?: held_task_start(gcd, call_gcd, hold_at);
}

static int get_run(char *buf, const struct kernel_param *kp)
{
	if (!held.ip)
		return sysfs_emit(buf, "end\n");

	return sysfs_emit(buf, "%pS\n", (void *)held.ip);
}

static int set_call(const char *val, const struct kernel_param *kp)
{
	call_gcd();

	return 0;
}

static int set_settle(const char *val, const struct kernel_param *kp)
{
	unsigned long gp = start_poll_synchronize_rcu();
	unsigned long end = jiffies + HZ / 4;

	while (!poll_state_synchronize_rcu(gp)) {
		/* The task is in a critical section: nothing is freed */
		if (time_after(jiffies, end))
			return 0;
		msleep(1);
	}

	/* Callbacks free memory in work items */
	rcu_barrier();
	msleep(20);

	return 0;
}

static const struct kernel_param_ops run_param = {
	.set = set_run,
	.get = get_run,
};
module_param_cb(run, &run_param, NULL, 0600);
MODULE_PARM_DESC(run, "Which instruction to hold the task before");

static const struct kernel_param_ops call_param = {
	.set = set_call,
};
module_param_cb(call, &call_param, NULL, 0200);
MODULE_PARM_DESC(call, "Call the function");

static const struct kernel_param_ops settle_param = {
	.set = set_settle,
};
module_param_cb(settle, &settle_param, NULL, 0200);
MODULE_PARM_DESC(settle, "Wait until memory was freed");

static const struct kernel_param_ops release_param = {
	.set = set_release,
};
module_param_cb(release, &release_param, NULL, 0200);
MODULE_PARM_DESC(release, "Let the task go on");

static int __init notrace bpf_held_init(void)
{
	return held_task_init();
}
module_init(bpf_held_init);

MODULE_DESCRIPTION("A task that is held in the trampoline of a BPF program");
MODULE_LICENSE("GPL");

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
 *
 * The task traps after each instruction, as in ops-pairs.d/ops_pairs.c. A held task executes
 * the same instruction again and again, and can be preempted there.
 */
#include <linux/delay.h>
#include <linux/gcd.h>
#include <linux/kdebug.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>

#include <asm/debugreg.h>
#include <asm/text-patching.h>

/* With ktrace, the call is in the padding in front of the function */
#ifdef CONFIG_KTRACE
#define CALL_OFFSET	(-7)
#else
#define CALL_OFFSET	0
#endif

enum { STEPPING, HELD, RELEASED, GOING_ON, DONE };

static struct task_struct *task;
static int state = DONE;
static unsigned int hold_at, step;
static unsigned long site, site_sp, return_ip, held_ip;

/* Where the held task is. It stays at the first instruction. */
static __naked void hold(void)
{
	asm volatile("nop");
}

/* Where functions return to that a trampoline has called: it traps behind the NOP */
static __naked void resume(void)
{
	asm volatile("pushfq; orq %0, (%%rsp); popfq; nop" : : "i" (X86_EFLAGS_TF));
}

/* A trap of the task, before the instruction that regs->ip points to */
static notrace void trap(struct pt_regs *regs)
{
	bool is_call = *(u8 *)regs->ip == CALL_INSN_OPCODE;

	switch (state) {
	case HELD:
		regs->ip = (unsigned long)hold;
		return;
	case RELEASED:
		regs->ip = held_ip;
		WRITE_ONCE(state, GOING_ON);
		fallthrough;
	case GOING_ON:
		regs->flags &= ~X86_EFLAGS_TF;
		return;
	}

	if (!site) {
		unsigned long entry = (unsigned long)gcd + CALL_OFFSET;

		/* The call site is the first call, behind an ENDBR if there is one */
		if (is_call && regs->ip - entry <= ENDBR_INSN_SIZE) {
			site = regs->ip;
			site_sp = regs->sp;
		}
		return;
	}

	/* The trampoline has returned, to the function or, with fexit programs, to its caller */
	if (regs->sp >= site_sp) {
		regs->flags &= ~X86_EFLAGS_TF;
		return;
	}

	/* Do not trap in what the trampoline calls: it may go to sleep */
	if (return_ip && *(unsigned long *)regs->sp == return_ip) {
		*(unsigned long *)regs->sp = (unsigned long)resume;
		regs->flags &= ~X86_EFLAGS_TF;
		return;
	}
	if (return_ip) {
		regs->ip = return_ip;
		is_call = *(u8 *)regs->ip == CALL_INSN_OPCODE;
	}
	return_ip = is_call ? regs->ip + CALL_INSN_SIZE : 0;

	if (++step != hold_at)
		return;

	held_ip = regs->ip;
	regs->ip = (unsigned long)hold;
	WRITE_ONCE(state, HELD);
}

static notrace int debug_exception(struct notifier_block *nb, unsigned long event, void *data)
{
	struct die_args *args = data;
	unsigned long *dr6 = (unsigned long *)args->err;

	if (event != DIE_DEBUG || current != READ_ONCE(task) || user_mode(args->regs) ||
	    !(*dr6 & DR_STEP))
		return NOTIFY_DONE;

	trap(args->regs);

	return NOTIFY_STOP;
}

static struct notifier_block debug_nb = {
	.notifier_call = debug_exception,
};

/* Nobody else calls gcd() */
static noinline void call_gcd(void)
{
	WARN_ON(gcd(6, 4) != 2);
}

static int call_function(void *unused)
{
	unsigned long flags = native_save_fl() | X86_EFLAGS_TF;

	asm volatile("push %0; popf" : : "r" (flags) : "memory", "cc");
	call_gcd();
	WRITE_ONCE(state, DONE);

	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);

	return 0;
}

static void wait_for(int wanted)
{
	while (READ_ONCE(state) != wanted && READ_ONCE(state) != DONE)
		usleep_range(100, 1000);
}

static int set_release(const char *val, const struct kernel_param *kp)
{
	if (!task)
		return -EINVAL;

	if (state == HELD)
		WRITE_ONCE(state, RELEASED);
	wait_for(DONE);
	kthread_stop(task);
	task = NULL;

	return 0;
}

static int set_run(const char *val, const struct kernel_param *kp)
{
	struct task_struct *new;
	int ret;

	if (task)
		return -EBUSY;

	ret = kstrtouint(val, 0, &hold_at);
	if (ret)
		return ret;

	state = STEPPING;
	site = 0;
	return_ip = 0;
	held_ip = 0;
	step = 0;

	new = kthread_create(call_function, NULL, "bpf_held");
	if (IS_ERR(new))
		return PTR_ERR(new);
	WRITE_ONCE(task, new);
	wake_up_process(new);
	wait_for(HELD);

	return 0;
}

static int get_run(char *buf, const struct kernel_param *kp)
{
	if (!held_ip)
		return sysfs_emit(buf, "end\n");

	return sysfs_emit(buf, "%pS\n", (void *)held_ip);
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
	return register_die_notifier(&debug_nb);
}
module_init(bpf_held_init);

MODULE_DESCRIPTION("A task that is held in the trampoline of a BPF program");
MODULE_LICENSE("GPL");

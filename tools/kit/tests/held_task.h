/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A task that calls a function, and is held on its way through the trampoline there: before
 * the instruction with the number STEP, from 1, between the call site and the return to the
 * function or its caller, without what the trampoline calls.
 *
 * The task traps after each instruction: a breakpoint would get in the way of ftrace, which
 * patches the trampolines. A held task executes the same instruction again and again, with the
 * registers that it had. There it can be preempted, and with one CPU it is: nothing else runs
 * otherwise.
 *
 * A module has one such task at a time.
 */
#include <linux/delay.h>
#include <linux/kdebug.h>
#include <linux/kthread.h>
#include <linux/ptrace.h>

#include <asm/debugreg.h>
#include <asm/text-patching.h>

/* With ktrace, the call is in the padding in front of the function */
#ifdef CONFIG_KTRACE
#define CALL_OFFSET	(-7)
#else
#define CALL_OFFSET	0
#endif

enum held_task_state { STEPPING, HELD, RELEASED, GOING_ON, DONE };

static struct {
	struct task_struct *task;
	enum held_task_state state;
	unsigned long func;
	void (*call)(void);
	unsigned int hold_at, step;
	/* The call or jump in @func, and the stack pointer there */
	unsigned long site, site_sp;
	/* Where a function returns to that the trampoline calls */
	unsigned long return_ip;
	/* 0 if the task was not held */
	unsigned long ip;
} held;

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

/* A call that leads just behind itself is for the return stack buffer: nothing is called */
static notrace bool calls_something(unsigned long ip)
{
	return *(u8 *)ip == CALL_INSN_OPCODE && *(u32 *)(ip + 1) > 8;
}

/* Since Linux 7.0, a function with an fexit program jumps to the trampoline */
static notrace bool enters_trampoline(unsigned long ip)
{
	return *(u8 *)ip == CALL_INSN_OPCODE || *(u8 *)ip == JMP32_INSN_OPCODE;
}

/* A trap of the task, before the instruction that regs->ip points to */
static notrace void trap(struct pt_regs *regs)
{
	bool is_call = calls_something(regs->ip);

	switch (held.state) {
	case HELD:
		regs->ip = (unsigned long)hold;
		return;
	case RELEASED:
		regs->ip = held.ip;
		WRITE_ONCE(held.state, GOING_ON);
		fallthrough;
	case GOING_ON:
		/* A trampoline that restores the flags restores this one, too */
		regs->flags &= ~X86_EFLAGS_TF;
		return;
	default:
		break;
	}

	if (!held.site) {
		/* The call site is behind an ENDBR if there is one */
		if (enters_trampoline(regs->ip) &&
		    regs->ip - (held.func + CALL_OFFSET) <= ENDBR_INSN_SIZE) {
			held.site = regs->ip;
			held.site_sp = regs->sp;
		}
		return;
	}

	/* The trampoline has returned, to the function or, with fexit programs, to its caller */
	if (regs->ip == held.site + CALL_INSN_SIZE || regs->sp > held.site_sp) {
		regs->flags &= ~X86_EFLAGS_TF;
		return;
	}

	/* Do not trap in what the trampoline calls: it may go to sleep */
	if (held.return_ip && *(unsigned long *)regs->sp == held.return_ip) {
		*(unsigned long *)regs->sp = (unsigned long)resume;
		regs->flags &= ~X86_EFLAGS_TF;
		return;
	}
	if (held.return_ip) {
		regs->ip = held.return_ip;
		is_call = calls_something(regs->ip);
	}
	held.return_ip = is_call ? regs->ip + CALL_INSN_SIZE : 0;

	if (++held.step != held.hold_at)
		return;

	held.ip = regs->ip;
	regs->ip = (unsigned long)hold;
	WRITE_ONCE(held.state, HELD);
}

static notrace int debug_exception(struct notifier_block *nb, unsigned long event, void *data)
{
	struct die_args *args = data;
	unsigned long *dr6 = (unsigned long *)args->err;

	if (event != DIE_DEBUG || current != READ_ONCE(held.task) || user_mode(args->regs) ||
	    !(*dr6 & DR_STEP))
		return NOTIFY_DONE;

	trap(args->regs);

	return NOTIFY_STOP;
}

static struct notifier_block held_task_nb = {
	.notifier_call = debug_exception,
};

static int held_task_thread(void *unused)
{
	unsigned long flags = native_save_fl() | X86_EFLAGS_TF;

	asm volatile("push %0; popf" : : "r" (flags) : "memory", "cc");
	held.call();
	WRITE_ONCE(held.state, DONE);

	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);

	return 0;
}

static void wait_for_state(enum held_task_state wanted)
{
	while (READ_ONCE(held.state) != wanted && READ_ONCE(held.state) != DONE)
		usleep_range(100, 1000);
}

/*
 * Let a task run @call, which calls @func, until it is held before the instruction @hold_at
 * or, if the trampoline has no such instruction, has returned: held.ip is 0 then. Return 0
 * or -ENOMEM.
 */
static int held_task_start(void *func, void (*call)(void), unsigned int hold_at)
{
	struct task_struct *task;

	memset(&held, 0, sizeof(held));
	held.func = (unsigned long)func;
	held.call = call;
	held.hold_at = hold_at;

	task = kthread_create(held_task_thread, NULL, "held_task");
	if (IS_ERR(task))
		return PTR_ERR(task);
	WRITE_ONCE(held.task, task);
	wake_up_process(task);
	wait_for_state(HELD);

	return 0;
}

/* Whether the trampoline has no instruction with the number of the last start */
static bool __maybe_unused held_task_no_such_step(void)
{
	return !held.ip;
}

/* Let the task go on, and wait until it has returned */
static void held_task_end(void)
{
	if (held.state == HELD)
		WRITE_ONCE(held.state, RELEASED);
	wait_for_state(DONE);
	kthread_stop(held.task);
	held.task = NULL;
}

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
 */
#include <linux/kdebug.h>
#include <linux/ptrace.h>

#include <asm/debugreg.h>
#include <asm/text-patching.h>

#include "held_task_common.h"

/* With ktrace, the call is in the padding in front of the function */
#ifdef CONFIG_KTRACE
#define CALL_OFFSET	(-7)
#else
#define CALL_OFFSET	0
#endif

/* How far the task has come */
static struct {
	unsigned long func;
	unsigned int hold_at, step;
	/* The call or jump in @func, and the stack pointer there */
	unsigned long site, site_sp;
	/* Where a function returns to that the trampoline calls */
	unsigned long return_ip;
} way;

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

	if (!way.site) {
		/* The call site is behind an ENDBR if there is one */
		if (enters_trampoline(regs->ip) &&
		    regs->ip - (way.func + CALL_OFFSET) <= ENDBR_INSN_SIZE) {
			way.site = regs->ip;
			way.site_sp = regs->sp;
		}
		return;
	}

	/* The trampoline has returned, to the function or, with fexit programs, to its caller */
	if (regs->ip == way.site + CALL_INSN_SIZE || regs->sp > way.site_sp) {
		regs->flags &= ~X86_EFLAGS_TF;
		return;
	}

	/* Do not trap in what the trampoline calls: it may go to sleep */
	if (way.return_ip && *(unsigned long *)regs->sp == way.return_ip) {
		*(unsigned long *)regs->sp = (unsigned long)resume;
		regs->flags &= ~X86_EFLAGS_TF;
		return;
	}
	if (way.return_ip) {
		regs->ip = way.return_ip;
		is_call = calls_something(regs->ip);
	}
	way.return_ip = is_call ? regs->ip + CALL_INSN_SIZE : 0;

	if (++way.step != way.hold_at)
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

/* Call this once, first. Return 0 or an error. */
static int held_task_init(void)
{
	return register_die_notifier(&held_task_nb);
}

static void held_task_call(void)
{
	unsigned long flags = native_save_fl() | X86_EFLAGS_TF;

	asm volatile("push %0; popf" : : "r" (flags) : "memory", "cc");
	held.call();
}

/*
 * Let a task run @call, which calls @func, until it is held before the instruction @hold_at
 * or, if the trampoline has no such instruction, has returned: held.ip is 0 then. Return 0
 * or an error.
 */
static int held_task_start(void *func, void (*call)(void), unsigned int hold_at)
{
	int ret = held_task_create(call);

	if (ret)
		return ret;
	memset(&way, 0, sizeof(way));
	way.func = (unsigned long)func;
	way.hold_at = hold_at;
	held_task_run();

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
	held_task_finish();
}

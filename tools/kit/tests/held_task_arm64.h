/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A task that calls a function, and is held on its way to the callbacks there: before the
 * instruction with the number STEP, from 1, of the code that the parameter code names.
 *
 * A breakpoint of the processor, which changes no code, sends the task to a loop, which uses
 * only x13: the code under test does not. There it can be preempted, and with one CPU it has
 * to be for anything else to run. Behind the loop, a second breakpoint sends it back.
 *
 * The kernel does not step over a breakpoint that has a handler of its own. So another task
 * that comes to one does not get on: nothing else may call traced functions.
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>

#include "held_task_common.h"

/* Whether the code has fewer instructions than STEP */
static bool no_such_step;

static unsigned long code[6];
static unsigned int nr_code;
module_param_array(code, ulong, &nr_code, 0400);
MODULE_PARM_DESC(code, "Addresses of the first and the last instruction of each function");

static int held_task_go;
extern char held_task_loop[], held_task_back[];

asm(".pushsection .text, \"ax\"\n"
"held_task_loop:\n\t"
	"adrp	x13, held_task_go\n\t"
	"ldr	w13, [x13, :lo12:held_task_go]\n\t"
	"cbz	w13, held_task_loop\n"
"held_task_back:\n\t"
	"nop\n"
"	.popsection");

static notrace void stop_task(struct perf_event *bp, struct perf_sample_data *data,
			      struct pt_regs *regs)
{
	if (current != READ_ONCE(held.task) || held.state != RUNNING)
		return;

	held.ip = regs->pc;
	regs->pc = (unsigned long)held_task_loop;
	WRITE_ONCE(held.state, HELD);
}

static notrace void send_back(struct perf_event *bp, struct perf_sample_data *data,
			      struct pt_regs *regs)
{
	regs->pc = held.ip;
}

static struct perf_event * __percpu *break_at(unsigned long addr, perf_overflow_handler_t handler)
{
	struct perf_event_attr attr;

	hw_breakpoint_init(&attr);
	attr.bp_addr = addr;
	attr.bp_len = HW_BREAKPOINT_LEN_4;
	attr.bp_type = HW_BREAKPOINT_X;

	return register_wide_hw_breakpoint(&attr, handler, NULL);
}

static unsigned long instruction(unsigned int number)
{
	for (unsigned int n = 0; n + 1 < nr_code; n += 2) {
		unsigned int nr = (code[n + 1] - code[n]) / 4 + 1;

		if (number < nr)
			return code[n] + 4 * number;
		number -= nr;
	}

	return 0;
}

static int held_task_init(void)
{
	return 0;
}

static void held_task_call(void)
{
	held.call();
}

/*
 * Let a task run @call, which calls a function (@func is for x86), until it is held before the
 * instruction @hold_at or, if it does not come there, has returned: held.ip is 0 then. Return
 * 0 or an error.
 */
static int held_task_start(void *func, void (*call)(void), unsigned int hold_at)
{
	struct perf_event * __percpu *bp;
	unsigned long addr = instruction(hold_at - 1);
	int ret;

	no_such_step = !addr;
	if (no_such_step) {
		held.ip = 0;
		return 0;
	}

	WRITE_ONCE(held_task_go, 0);
	ret = held_task_create(call);
	if (ret)
		return ret;

	bp = break_at(addr, stop_task);
	if (IS_ERR_PCPU(bp)) {
		kthread_stop(held.task);
		return PTR_ERR_PCPU(bp);
	}
	held_task_run();
	unregister_wide_hw_breakpoint(bp);

	return 0;
}

/* Whether the code has no instruction with the number of the last start */
static bool held_task_no_such_step(void)
{
	return no_such_step;
}

/* Let the task go on, and wait until it has returned */
static void held_task_end(void)
{
	struct perf_event * __percpu *bp;

	if (no_such_step)
		return;

	bp = break_at((unsigned long)held_task_back, send_back);
	if (WARN_ON(IS_ERR_PCPU(bp)))
		return;
	WRITE_ONCE(held_task_go, 1);
	held_task_finish();
	unregister_wide_hw_breakpoint(bp);
}

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
 *
 * A module has one such task at a time.
 */
#include <linux/delay.h>
#include <linux/hw_breakpoint.h>
#include <linux/kdebug.h>
#include <linux/kthread.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>

enum held_task_state { RUNNING, HELD, DONE };

static struct {
	struct task_struct *task;
	enum held_task_state state;
	void (*call)(void);
	/* 0 if the task was not held */
	unsigned long ip;
	/* Whether the code has fewer instructions than STEP */
	bool end;
} held;

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

static int held_task_thread(void *unused)
{
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
 * Let a task run @call, which calls a function (@func is for x86), until it is held before the
 * instruction @hold_at or, if it does not come there, has returned: held.ip is 0 then. Return
 * 0 or an error.
 */
static int held_task_start(void *func, void (*call)(void), unsigned int hold_at)
{
	struct perf_event * __percpu *bp;
	struct task_struct *task;
	unsigned long addr = instruction(hold_at - 1);

	memset(&held, 0, sizeof(held));
	WRITE_ONCE(held_task_go, 0);
	held.call = call;
	held.end = !addr;
	if (held.end)
		return 0;

	task = kthread_create(held_task_thread, NULL, "held_task");
	if (IS_ERR(task))
		return PTR_ERR(task);
	WRITE_ONCE(held.task, task);

	bp = break_at(addr, stop_task);
	if (IS_ERR_PCPU(bp)) {
		kthread_stop(task);
		return PTR_ERR_PCPU(bp);
	}
	wake_up_process(task);
	wait_for_state(HELD);
	unregister_wide_hw_breakpoint(bp);

	return 0;
}

/* Whether the code has no instruction with the number of the last start */
static bool held_task_no_such_step(void)
{
	return held.end;
}

/* Let the task go on, and wait until it has returned */
static void held_task_end(void)
{
	struct perf_event * __percpu *bp;

	if (held.end)
		return;

	bp = break_at((unsigned long)held_task_back, send_back);
	if (WARN_ON(IS_ERR_PCPU(bp)))
		return;
	WRITE_ONCE(held_task_go, 1);
	wait_for_state(DONE);
	unregister_wide_hw_breakpoint(bp);
	kthread_stop(held.task);
	held.task = NULL;
}

/* ops_pairs.c registers this, which x86 needs */
static int held_task_notify(struct notifier_block *nb, unsigned long event, void *data)
{
	return NOTIFY_DONE;
}

static struct notifier_block held_task_nb = {
	.notifier_call = held_task_notify,
};

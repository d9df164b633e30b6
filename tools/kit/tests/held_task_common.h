/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The task of held_task.h (x86) and held_task_arm64.h. A module has one at a time.
 */
#include <linux/delay.h>
#include <linux/kthread.h>

enum held_task_state { RUNNING, HELD, RELEASED, GOING_ON, DONE };

static struct {
	struct task_struct *task;
	enum held_task_state state;
	void (*call)(void);
	/* Where it is held; 0 if it was not */
	unsigned long ip;
} held;

/* Runs held.call(): the architecture's */
static void held_task_call(void);

static int held_task_thread(void *unused)
{
	held_task_call();
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

/* Create a task that does not run yet. Return 0 or an error. */
static int held_task_create(void (*call)(void))
{
	struct task_struct *task;

	memset(&held, 0, sizeof(held));
	held.call = call;

	task = kthread_create(held_task_thread, NULL, "held_task");
	if (IS_ERR(task))
		return PTR_ERR(task);
	WRITE_ONCE(held.task, task);

	return 0;
}

/* Let the task run until it is held or has returned */
static void held_task_run(void)
{
	wake_up_process(held.task);
	wait_for_state(HELD);
}

/* Wait until the task has returned, and end it */
static void held_task_finish(void)
{
	wait_for_state(DONE);
	kthread_stop(held.task);
	held.task = NULL;
}

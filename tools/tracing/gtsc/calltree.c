// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: a tree of calls for each task. A record tells of a call when the call returns, so
 * callees come before their caller: a call that has returned is pending until its caller
 * returns, which adopts it.
 *
 * A caller returns later than its callee, has not begun later, and has a smaller depth: not
 * always by one, as functions between them may not be traced. A call of depth 0 has no
 * caller, nor has what is pending before it.
 *
 * A caller that runs for a long time, such as the loop of a thread, has any number of callees
 * that are pending. If they are very many, those that are next to each other and have the same
 * depth are joined; the result begins when its first call does. Such calls have the same caller.
 * The exception: they have different callers that are not traced, below one that is.
 */
#include <stdlib.h>
#include <string.h>

#include "calltree.h"

/*
 * Up to this number, pending calls of a task are never joined. Above it, those of the older half
 * are.
 */
#define MAX_APART	(64 * 1024)
/*
 * gtsc top, without --keep, calls calls_reset() once a second. calls_reset() forgets tasks without
 * pending calls. A task that has some is forgotten after so many seconds without a new record: it
 * has ended, or its next record makes a new task.
 */
#define MAX_IDLE	60

struct calls *calls_new(void)
{
	return must(calloc(1, sizeof(struct calls)));
}

static void free_task(struct task *task)
{
	for (size_t i = 0; i < task->nr_pending; i++) {
		if (task->pending[i].frame)
			frame_free(task->pending[i].frame);
	}
	free(task->pending);
	frame_free(task->frame);
}

void calls_free(struct calls *calls)
{
	for (uint32_t i = 0; i < calls->nr_tasks; i++)
		free_task(&calls->tasks[i]);
	for (uint32_t i = 0; i < calls->nr_functions; i++)
		free((char *)calls->functions[i].name);
	free(calls->tasks);
	free(calls->functions);
	free(calls->cpus);
	map_free(&calls->by_ip);
	map_free(&calls->by_address);
	map_free(&calls->by_task);
	free(calls);
}

static char *make_name(const struct symbol *symbol, uint64_t address)
{
	char hex[24];

	if (symbol)
		return must(strdup(symbol->name));
	snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)address);

	return must(strdup(hex));
}

static uint32_t add_function(struct calls *calls, const struct symbol *symbol, uint64_t address)
{
	if (calls->nr_functions == calls->room_functions) {
		calls->room_functions = calls->room_functions ? calls->room_functions * 2 : 256;
		calls->functions = must(realloc(calls->functions, calls->room_functions *
						sizeof(*calls->functions)));
	}
	calls->functions[calls->nr_functions] = (struct function){
		.name = make_name(symbol, address),
	};

	return calls->nr_functions++;
}

/* The number of the function that has @ip, which may be a return address */
static uint32_t get_function(struct calls *calls, uint64_t ip)
{
	uint32_t number = map_find(&calls->by_ip, ip);
	const struct symbol *symbol;
	uint64_t address;

	if (number != MAP_FREE)
		return number;

	symbol = find_symbol(ip);
	address = symbol ? symbol->start : ip;
	number = map_find(&calls->by_address, address);
	if (number == MAP_FREE) {
		number = add_function(calls, symbol, address);
		map_add(&calls->by_address, address, number);
	}
	map_add(&calls->by_ip, ip, number);

	return number;
}

/* Each CPU has an idle task, all with the PID 0 */
static uint64_t task_key(const struct call *call)
{
	if (call->pid < 0)
		return MAX_PID;

	return call->pid ? (uint64_t)call->pid : MAX_PID + 1ULL + call->cpu;
}

static uint32_t add_task(struct calls *calls, uint64_t key, int32_t pid)
{
	if (calls->nr_tasks == calls->room_tasks) {
		calls->room_tasks = calls->room_tasks ? calls->room_tasks * 2 : 64;
		calls->tasks = must(realloc(calls->tasks, calls->room_tasks *
					    sizeof(*calls->tasks)));
	}
	calls->tasks[calls->nr_tasks] = (struct task){
		.key = key, .pid = pid, .frame = frame_new(NO_FUNCTION),
	};

	return calls->nr_tasks++;
}

static struct task *get_task(struct calls *calls, const struct call *call)
{
	uint64_t key = task_key(call);
	uint32_t number = map_find(&calls->by_task, key);
	struct task *task;

	if (number == MAP_FREE) {
		number = add_task(calls, key, call->pid);
		map_add(&calls->by_task, key, number);
	}
	task = &calls->tasks[number];
	memcpy(task->comm, call->comm, sizeof(task->comm));

	return task;
}

static struct times *get_cpu(struct calls *calls, unsigned int cpu)
{
	unsigned int nr = calls->nr_cpus;

	if (cpu >= nr) {
		calls->cpus = must(realloc(calls->cpus, (cpu + 1) * sizeof(*calls->cpus)));
		memset(calls->cpus + nr, 0, (cpu + 1 - nr) * sizeof(*calls->cpus));
		calls->nr_cpus = cpu + 1;
	}

	return &calls->cpus[cpu];
}

/* Pending calls */

static void join(struct pending *to, const struct pending *from)
{
	struct frame *frame;

	add_saturated(&to->duration, from->duration);
	if (from->start < to->start)
		to->start = from->start;
	if (!from->frame)
		return;
	if (!to->frame) {
		to->frame = from->frame;
		return;
	}
	if (to->frame->function != NO_FUNCTION) {
		frame = frame_new(NO_FUNCTION);
		frame_adopt(frame, to->frame);
		to->frame = frame;
	}
	frame_adopt(to->frame, from->frame);
}

/* Joins calls of the older half that are next to each other and have the same depth */
static void join_old(struct task *task)
{
	struct pending *pending = task->pending;
	size_t half = task->nr_pending / 2, last = 0;

	for (size_t i = 1; i < half; i++) {
		if (pending[i].depth == pending[last].depth)
			join(&pending[last], &pending[i]);
		else
			pending[++last] = pending[i];
	}
	last++;
	memmove(pending + last, pending + half, (task->nr_pending - half) * sizeof(*pending));
	task->nr_pending -= half - last;
}

/*
 * Makes room for one more call. The array is doubled unless joining has freed a quarter of it:
 * joining at each call would take quadratic time.
 */
static void make_room(struct task *task)
{
	if (task->nr_pending < task->room)
		return;
	if (task->room >= MAX_APART)
		join_old(task);
	if (task->room && task->nr_pending < task->room / 4 * 3)
		return;
	task->room = task->room ? task->room * 2 : 16;
	task->pending = must(realloc(task->pending, task->room * sizeof(*task->pending)));
}

static void add_pending(struct task *task, const struct call *call, struct frame *frame)
{
	make_room(task);
	task->pending[task->nr_pending++] = (struct pending){
		.start = call->start, .duration = call->duration, .depth = call->depth,
		.frame = frame,
	};
}

/* Puts the callees of @call below @frame. Returns their time. */
static uint64_t adopt_callees(struct task *task, const struct call *call, struct frame *frame)
{
	const struct pending *callee;
	uint64_t time = 0;

	while (task->nr_pending) {
		callee = &task->pending[task->nr_pending - 1];
		if (callee->depth <= call->depth || callee->start < call->start)
			break;
		add_saturated(&time, callee->duration);
		if (callee->frame)
			frame_adopt(frame, callee->frame);
		task->nr_pending--;
	}

	return time;
}

/* The pending calls have no caller */
static void end_pending(struct task *task)
{
	for (size_t i = 0; i < task->nr_pending; i++) {
		if (task->pending[i].frame)
			frame_adopt(task->frame, task->pending[i].frame);
	}
	task->nr_pending = 0;
}

/* Records */

static void add_return(struct calls *calls, const struct call *call)
{
	struct frame *frame = frame_new(get_function(calls, call->ip));
	struct task *task = get_task(calls, call);
	uint64_t in_callees, self;
	struct times times;

	in_callees = adopt_callees(task, call, frame);
	self = call->duration > in_callees ? call->duration - in_callees : 0;
	times = (struct times){ 1, call->duration, self, call->duration };
	add_times(&frame->times, &times);
	times.total = self;
	add_times(&task->times, &times);
	add_times(get_cpu(calls, call->cpu), &times);

	if (call->depth) {
		add_pending(task, call, frame);
		return;
	}
	end_pending(task);
	frame_adopt(task->frame, frame);
}

/*
 * An entry names its caller. The caller gets a frame without calls of its own, as nothing tells how
 * often it was called.
 */
static void add_entry(struct calls *calls, const struct call *call)
{
	uint32_t function = get_function(calls, call->ip);
	uint32_t caller = get_function(calls, call->parent_ip);
	struct task *task = get_task(calls, call);
	static const struct times once = { .calls = 1 };
	struct frame *frame;

	frame = frame_callee(frame_callee(task->frame, caller), function);
	add_times(&frame->times, &once);
	add_times(&task->times, &once);
	add_times(get_cpu(calls, call->cpu), &once);
}

/**
 * calls_add - add what a record tells
 * @calls: the calls before it
 * @item: the record, or that some were lost
 *
 * The first record of a call decides whether the calls have durations; those of the other
 * kind cannot be used.
 */
void calls_add(struct calls *calls, const struct item *item)
{
	struct call call;

	if (item->lost) {
		add_saturated(&calls->lost, item->lost);
		return;
	}
	if (!get_call(&calls->layout, item, &call) ||
	    (calls->nr_functions && calls->has_durations != call.returned)) {
		calls->unusable++;
		return;
	}

	calls->has_durations = call.returned;
	calls->reported++;
	if (call.returned)
		add_return(calls, &call);
	else
		add_entry(calls, &call);
}

/**
 * calls_end - take no more records
 * @calls: the calls, none of which is pending afterwards
 */
void calls_end(struct calls *calls)
{
	for (uint32_t i = 0; i < calls->nr_tasks; i++)
		end_pending(&calls->tasks[i]);
}

/* The pending calls of the task are not shown again */
static void reset_task(struct task *task)
{
	task->idle = task->times.calls ? 0 : task->idle + 1;
	task->times = (struct times){ };
	frame_free(task->frame);
	task->frame = frame_new(NO_FUNCTION);
	for (size_t i = 0; i < task->nr_pending; i++) {
		if (task->pending[i].frame)
			frame_free(task->pending[i].frame);
		task->pending[i].frame = NULL;
	}
}

/**
 * calls_reset - begin anew with numbers and times, while calls go on
 * @calls: the calls. Those that are pending stay, so that the time of their callers outside
 *	   of them is right, but are not shown again.
 */
void calls_reset(struct calls *calls)
{
	uint32_t nr = 0;

	calls->reported = 0;
	calls->lost = 0;
	calls->unusable = 0;
	for (unsigned int i = 0; i < calls->nr_cpus; i++)
		calls->cpus[i] = (struct times){ };

	map_free(&calls->by_task);
	for (uint32_t i = 0; i < calls->nr_tasks; i++) {
		struct task *task = &calls->tasks[i];

		reset_task(task);
		if (!task->nr_pending || task->idle == MAX_IDLE) {
			free_task(task);
			continue;
		}
		map_add(&calls->by_task, task->key, nr);
		calls->tasks[nr++] = *task;
	}
	calls->nr_tasks = nr;
}

/* Functions for calls after calls_end(). No record can be added then. */

static int by_comm(const void *a, const void *b)
{
	const struct task *x = a, *y = b;

	return strcmp(x->comm, y->comm);
}

static int by_comm_and_pid(const void *a, const void *b)
{
	const struct task *x = a, *y = b;

	return by_comm(a, b) ?: (x->pid > y->pid) - (x->pid < y->pid) ?:
	       (x->key > y->key) - (x->key < y->key);
}

static int all_the_same(const void *a, const void *b)
{
	return 0;
}

/* Tasks next to each other that compare as equal become one task, whose PID is not known */
static void join_tasks(struct calls *calls, int (*compare)(const void *, const void *))
{
	struct task *tasks = calls->tasks;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < calls->nr_tasks; i++) {
		if (nr && !compare(&tasks[nr - 1], &tasks[i])) {
			add_times(&tasks[nr - 1].times, &tasks[i].times);
			frame_merge(tasks[nr - 1].frame, tasks[i].frame);
			free(tasks[i].pending);
			continue;
		}
		tasks[nr] = tasks[i];
		tasks[nr++].pid = -1;
	}
	calls->nr_tasks = nr;
}

/**
 * calls_join_all - let all calls be those of one task
 * @calls: the calls, after calls_end()
 */
void calls_join_all(struct calls *calls)
{
	join_tasks(calls, all_the_same);
}

/**
 * calls_join_by_comm - let the calls of tasks with one name be those of one task
 * @calls: the calls, after calls_end()
 */
void calls_join_by_comm(struct calls *calls)
{
	if (calls->nr_tasks)
		qsort(calls->tasks, calls->nr_tasks, sizeof(*calls->tasks), by_comm_and_pid);
	join_tasks(calls, by_comm);
}

static int by_function_name(const void *a, const void *b, void *functions)
{
	uint32_t x = (*(struct frame **)a)->function, y = (*(struct frame **)b)->function;
	const struct function *f = functions;

	return strcmp(f[x].name, f[y].name) ?: (x > y) - (x < y);
}

/**
 * calls_sort - put tasks and callees in the order of their names
 * @calls: the calls, after calls_end()
 */
void calls_sort(struct calls *calls)
{
	if (calls->nr_tasks)
		qsort(calls->tasks, calls->nr_tasks, sizeof(*calls->tasks), by_comm_and_pid);
	for (uint32_t i = 0; i < calls->nr_tasks; i++)
		frame_sort(calls->tasks[i].frame, by_function_name, calls->functions);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: trees of calls, added up: a frame has the times of all calls of a function by one
 * path of callers. The depth of a callee is more than that of its caller, so no tree has
 * more than MAX_DEPTH levels below a frame of NO_FUNCTION.
 *
 * When two frames are merged, callees move from the smaller table to the larger one; callees that
 * both have are merged in their turn, and one of them is freed. So n frames move O(n log n) times,
 * all together.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "calltree.h"

#define FIRST_ROOM	4

void add_saturated(uint64_t *to, uint64_t n)
{
	if (__builtin_add_overflow(*to, n, to))
		*to = UINT64_MAX;
}

void add_times(struct times *to, const struct times *from)
{
	add_saturated(&to->calls, from->calls);
	add_saturated(&to->total, from->total);
	add_saturated(&to->self, from->self);
	if (from->maximum > to->maximum)
		to->maximum = from->maximum;
}

struct frame *frame_new(uint32_t function)
{
	struct frame *frame = must(calloc(1, sizeof(*frame)));

	frame->function = function;

	return frame;
}

/* The place of a callee, or a free one; there is a free one */
static struct frame **find_place(const struct frame *frame, uint32_t function)
{
	uint32_t i = map_hash(function) & (frame->room - 1);

	while (frame->callees[i] && frame->callees[i]->function != function)
		i = (i + 1) & (frame->room - 1);

	return &frame->callees[i];
}

static void grow(struct frame *frame)
{
	struct frame **old = frame->callees;
	uint32_t room = frame->room;

	frame->room = room ? room * 2 : FIRST_ROOM;
	frame->callees = must(calloc(frame->room, sizeof(*frame->callees)));
	for (uint32_t i = 0; i < room; i++) {
		if (old[i])
			*find_place(frame, old[i]->function) = old[i];
	}
	free(old);
}

/* @frame has no callee of this function */
static void add_callee(struct frame *frame, struct frame *callee)
{
	if (frame->nr >= frame->room / 4 * 3)
		grow(frame);
	*find_place(frame, callee->function) = callee;
	frame->nr++;
}

static struct frame *find_callee(const struct frame *frame, uint32_t function)
{
	return frame->room ? *find_place(frame, function) : NULL;
}

/* The callee of this function; it is made if there is none */
struct frame *frame_callee(struct frame *frame, uint32_t function)
{
	struct frame *callee = find_callee(frame, function);

	if (!callee) {
		callee = frame_new(function);
		add_callee(frame, callee);
	}

	return callee;
}

static void swap_callees(struct frame *a, struct frame *b)
{
	struct frame c = *a;

	a->callees = b->callees;
	a->nr = b->nr;
	a->room = b->room;
	b->callees = c.callees;
	b->nr = c.nr;
	b->room = c.room;
}

/*
 * A level of frame_merge(): @from is merged into @to, @next is the next callee of @from to look at
 */
struct merge {
	struct frame	*to, *from;
	uint32_t	next;
};

static struct merge start_merge(struct frame *to, struct frame *from)
{
	add_times(&to->times, &from->times);
	if (from->nr > to->nr)
		swap_callees(to, from);

	return (struct merge){ .to = to, .from = from };
}

/*
 * Moves callees of @m->from to @m->to, up to one whose function @m->to has, too. Returns that
 * callee, and sets @known to the one of @m->to. Returns NULL if all have been moved.
 */
static struct frame *move_callees(struct merge *m, struct frame **known)
{
	struct frame *callee;

	while (m->next < m->from->room) {
		callee = m->from->callees[m->next++];
		if (!callee)
			continue;
		*known = find_callee(m->to, callee->function);
		if (*known)
			return callee;
		add_callee(m->to, callee);
	}

	return NULL;
}

/**
 * frame_merge - add the times of a frame and of those below it to another one
 * @to: the other one
 * @from: the frame; is freed
 */
void frame_merge(struct frame *to, struct frame *from)
{
	struct merge stack[MAX_DEPTH + 1];
	struct frame *callee, *known;
	unsigned int level = 0;

	stack[0] = start_merge(to, from);
	for (;;) {
		callee = move_callees(&stack[level], &known);
		if (callee) {
			stack[++level] = start_merge(known, callee);
			continue;
		}
		free(stack[level].from->callees);
		free(stack[level].from);
		if (!level--)
			return;
	}
}

/**
 * frame_adopt - put a frame below another one
 * @frame: the other one
 * @callee: the frame; if its function is NO_FUNCTION, the frames below it
 */
void frame_adopt(struct frame *frame, struct frame *callee)
{
	struct frame *known;

	if (callee->function == NO_FUNCTION) {
		frame_merge(frame, callee);
		return;
	}
	known = find_callee(frame, callee->function);
	if (known)
		frame_merge(known, callee);
	else
		add_callee(frame, callee);
}

struct frame *walk_start(struct walk *walk, struct frame *frame)
{
	walk->level = 0;
	walk->path[0] = frame;
	walk->next[0] = 0;

	return frame;
}

/* Returns NULL at the end */
struct frame *walk_next(struct walk *walk)
{
	struct frame *frame, *callee;

	for (;;) {
		frame = walk->path[walk->level];
		while (walk->next[walk->level] < frame->room) {
			callee = frame->callees[walk->next[walk->level]++];
			if (!callee)
				continue;
			walk->path[++walk->level] = callee;
			walk->next[walk->level] = 0;
			return callee;
		}
		if (!walk->level--)
			return NULL;
	}
}

/* Passes over what is below the last frame */
void walk_skip(struct walk *walk)
{
	walk->next[walk->level] = walk->path[walk->level]->room;
}

/* Frees a frame and all below it */
void frame_free(struct frame *frame)
{
	struct frame *path[MAX_DEPTH + 1];
	unsigned int level = 0;

	path[0] = frame;
	for (;;) {
		frame = path[level];
		/* @room counts down: it says which callees are left to be freed */
		if (frame->room) {
			path[level + 1] = frame->callees[--frame->room];
			if (path[level + 1])
				level++;
			continue;
		}
		free(frame->callees);
		free(frame);
		if (!level--)
			return;
	}
}

static void sort_callees(struct frame *frame, int (*compare)(const void *, const void *, void *),
			 void *data)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < frame->room; i++) {
		if (frame->callees[i])
			frame->callees[nr++] = frame->callees[i];
	}
	if (nr)
		qsort_r(frame->callees, nr, sizeof(*frame->callees), compare, data);
	frame->nr = nr;
	frame->room = nr;
}

/**
 * frame_sort - give the callees of all frames an order
 * @frame: the first one; nothing can be added to it afterwards
 * @compare: of two pointers to pointers to frames
 * @data: for @compare
 */
void frame_sort(struct frame *frame, int (*compare)(const void *, const void *, void *),
		void *data)
{
	struct walk walk;

	for (frame = walk_start(&walk, frame); frame; frame = walk_next(&walk))
		sort_callees(frame, compare, data);
}

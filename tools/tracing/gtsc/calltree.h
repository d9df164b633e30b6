/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gtsc: the calls of functions that a trace of gtsc/functions or gtsc/graph has, added up.
 *
 *	call.c		what a record says of a call
 *	frame.c		trees of calls, added up by their paths
 *	calltree.c	such a tree for each task, built from records
 *
 * A file calls only files above it.
 */
#ifndef GTSC_CALLTREE_H
#define GTSC_CALLTREE_H

#include "gtsc.h"
#include "map.h"

/* The kernel's PID_MAX_LIMIT: each PID is less */
#define MAX_PID		(4 * 1024 * 1024)
/* A shadow stack of the kernel has 512 words, and a call needs several: its depth is less */
#define MAX_DEPTH	512

/* Call */

struct call {
	bool		returned;	/* false: the record tells of an entry */
	uint64_t	ip;
	uint64_t	time;		/* of the record */
	int		cpu;
	int32_t		pid;		/* -1: not known */
	char		comm[COMM_SIZE + 1];

	/* Only of a return */
	bool		has_retval;
	uint64_t	retval;
	uint64_t	start, duration;
	uint32_t	depth;

	/* Only of an entry */
	uint64_t	parent_ip;
};

/* Where the fields of a channel's records are; negative: there is no such field */
struct call_layout {
	const struct channel	*ch;
	bool			usable;
	bool			returns;	/* the records tell of returns, not of entries */
	int			ip, parent_ip, duration, retval, pid, depth, comm;
};

bool get_call(struct call_layout *layout, const struct item *item, struct call *call);

/* COMM-PID, not escaped; COMM may be any bytes but '\0' */
#define TASK_NAME_SIZE	(COMM_SIZE + 13)

void task_name(int32_t pid, const char *comm, char *name);

/* Frames */

/* In nanoseconds, but for @calls. Sums that would overflow stay at UINT64_MAX. */
struct times {
	uint64_t	calls;
	uint64_t	total;		/* from the entries to the returns */
	uint64_t	self;		/* of that, outside of callees */
	uint64_t	maximum;	/* of one call */
};

void add_saturated(uint64_t *to, uint64_t n);
void add_times(struct times *to, const struct times *from);

#define NO_FUNCTION	UINT32_MAX

/*
 * The calls of one function with the same path of callers. If @function is NO_FUNCTION, the frame
 * stands for no call: its callees are calls without a known caller.
 */
struct frame {
	uint32_t	function;
	uint32_t	nr, room;	/* of @callees; @room is a power of two, or 0 */
	struct frame	**callees;	/* by the hash of their functions, with gaps of NULL */
	struct times	times;
};

struct frame *frame_new(uint32_t function);
void frame_free(struct frame *frame);
struct frame *frame_callee(struct frame *frame, uint32_t function);
void frame_adopt(struct frame *frame, struct frame *callee);
void frame_merge(struct frame *to, struct frame *from);
void frame_sort(struct frame *frame, int (*compare)(const void *, const void *, void *),
		void *data);

/* Goes through a frame and all below it, callers before their callees */
struct walk {
	unsigned int	level;			/* 0: the frame where it began */
	uint32_t	next[MAX_DEPTH + 1];	/* of the callees of a frame in @path */
	struct frame	*path[MAX_DEPTH + 1];	/* up to the one at @level, which is the last */
};

struct frame *walk_start(struct walk *walk, struct frame *frame);
struct frame *walk_next(struct walk *walk);
void walk_skip(struct walk *walk);

/* Call trees */

struct function {
	const char	*name;		/* can be printed */
};

/* A call that has returned, and whose caller has not; or some that have the same caller */
struct pending {
	uint64_t	start;		/* of the first one */
	uint64_t	duration;	/* of all */
	uint32_t	depth;
	struct frame	*frame;		/* NULL: has been shown, see calls_reset() */
};

struct task {
	uint64_t	key;		/* differs for idle tasks, too */
	int32_t		pid;
	char		comm[COMM_SIZE + 1];	/* as in the newest record */
	struct times	times;		/* @total is the time in functions, as is @self */
	struct frame	*frame;		/* of NO_FUNCTION: the calls without a caller */
	struct pending	*pending;	/* by the times of their returns */
	size_t		nr_pending, room;
	unsigned int	idle;		/* how often calls_reset() found no new call */
};

struct calls {
	bool			has_durations;	/* and depths: the records are returns */
	uint64_t		reported, lost, unusable;
	struct function		*functions;
	uint32_t		nr_functions;
	struct task		*tasks;
	uint32_t		nr_tasks;
	struct times		*cpus;		/* as those of a task */
	unsigned int		nr_cpus;

	/* Of calltree.c alone */
	struct call_layout	layout;
	struct map		by_ip, by_address, by_task;
	uint32_t		room_functions, room_tasks;
};

struct calls *calls_new(void);
void calls_free(struct calls *calls);
void calls_add(struct calls *calls, const struct item *item);
void calls_end(struct calls *calls);
void calls_reset(struct calls *calls);
void calls_join_all(struct calls *calls);
void calls_join_by_comm(struct calls *calls);
void calls_sort(struct calls *calls);

#endif /* GTSC_CALLTREE_H */

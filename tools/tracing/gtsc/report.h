/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gtsc: calls of functions, for people and for other programs.
 *
 *	table.c		a table, of functions or of what has called them
 *	folded.c	a line for each path, for programs that draw flame graphs
 *	flame.c		a flame graph; flame_script.c lets it zoom
 *	perfetto.c	events for ui.perfetto.dev, as records come
 *	top.c		a table that is shown again each second
 *	report.c	the command
 */
#ifndef GTSC_REPORT_H
#define GTSC_REPORT_H

#include "calltree.h"

/* Table */

enum report_by {
	BY_FUNCTION, BY_CALLER, BY_PATH, BY_TASK, BY_COMM, BY_CPU,
};

enum table_sort {
	SORT_TOTAL, SORT_SELF, SORT_CALLS, SORT_AVERAGE, SORT_MAXIMUM, SORT_NAME,
};

struct table {
	enum report_by		by;
	enum table_sort		sort;	/* calls without durations: SORT_NAME, else as SORT_CALLS */
	unsigned long		lines;	/* without that of the names of columns; 0: all */
	unsigned int		width;	/* names are cut; 0: they are not */
};

#define SORT_WANTED	"total, self, calls, average, maximum or name"

int find_by(const char *name);
int find_sort(const char *name);
void show_table(struct calls *calls, const struct table *table, FILE *out);
void get_window(FILE *out, unsigned int *width, unsigned int *height);

/*
 * Paths. @by: BY_TASK and BY_COMM: the first name is that of the task; BY_FUNCTION: it is that
 * of a function. No calls can be added to @calls afterwards.
 */

void join_by(struct calls *calls, enum report_by by);
void show_folded(struct calls *calls, enum report_by by, FILE *out);

struct flame {
	enum report_by	by;
	double		minimum;	/* percent of the width: what is narrower is left out */
	const char	*title;
};

/* Pixels of the widest box */
#define FLAME_WIDTH	1180

/* Elements of SVG */
extern const char flame_style[], flame_script[];

void show_flame(struct calls *calls, const struct flame *flame, FILE *out);

/* Perfetto */

struct perfetto {
	FILE			*out;
	uint64_t		reported, lost, unusable;
	struct call_layout	layout;
	struct map		by_task;	/* the task's number in @comms */
	char			(*comms)[COMM_SIZE + 1];	/* as they were written last */
	uint32_t		nr, room;
	bool			any;		/* an event has been written */
};

void perfetto_start(struct perfetto *perfetto, FILE *out);
bool perfetto_take(const struct item *item, void *perfetto);
void perfetto_end(struct perfetto *perfetto);

/* Top */

struct top {
	/* Set by the caller */
	FILE			*out;
	struct table		table;	/* @by, not BY_PATH, and @sort; top.c sets the others */
	bool			keep;	/* add up from the start, not from the last time on */

	/* Of top.c alone */
	struct calls		*calls;
	uint64_t		shown;		/* when */
	uint64_t		reported;	/* that were there then */
};

void top_start(struct top *top);
bool top_take(const struct item *item, void *top);
bool top_pause(void *top);
void top_end(struct top *top);

#endif /* GTSC_REPORT_H */

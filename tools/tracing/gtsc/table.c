// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: calls as a table. Times are microseconds; the name is the last column, and the only
 * one with spaces.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report.h"

#define NO_ROW		SIZE_MAX
/* A column with less room for names is of no use */
#define MIN_NAME	12

struct row {
	char		*name;		/* can be printed */
	unsigned int	level;		/* of a path */
	unsigned int	open;		/* frames of this row on the path that is walked */
	struct times	times;		/* @total: without calls within a call of this row */
	uint64_t	durations;	/* of all calls */
};

struct rows {
	struct row	*list;
	size_t		nr, room;
	struct map	by_key;
};

static const char *const by_names[] = {
	[BY_FUNCTION] = "function", [BY_CALLER] = "caller", [BY_PATH] = "path",
	[BY_TASK] = "task", [BY_COMM] = "comm", [BY_CPU] = "cpu",
};

static const char *const sort_names[] = {
	[SORT_TOTAL] = "total", [SORT_SELF] = "self", [SORT_CALLS] = "calls",
	[SORT_AVERAGE] = "average", [SORT_MAXIMUM] = "maximum", [SORT_NAME] = "name",
};

static int find_name(const char *name, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(names[i], name))
			return i;
	}

	return -1;
}

/* An enum report_by; -1 if @name is none */
int find_by(const char *name)
{
	return find_name(name, by_names, ARRAY_SIZE(by_names));
}

/* An enum table_sort; -1 if @name is none */
int find_sort(const char *name)
{
	return find_name(name, sort_names, ARRAY_SIZE(sort_names));
}

/* Rows */

/* Returns its number: rows move */
static size_t add_row(struct rows *rows, char *name)
{
	if (rows->nr == rows->room) {
		rows->room = rows->room ? rows->room * 2 : 256;
		rows->list = must(realloc(rows->list, rows->room * sizeof(*rows->list)));
	}
	rows->list[rows->nr] = (struct row){ .name = name };

	return rows->nr++;
}

static void free_rows(struct rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++)
		free(rows->list[i].name);
	free(rows->list);
	map_free(&rows->by_key);
}

/* Of a function, or of a function and its caller */
static char *make_name(const struct calls *calls, uint32_t function, uint32_t caller)
{
	if (caller == NO_FUNCTION)
		return must(strdup(calls->functions[function].name));

	return must_printf("%s <- %s", calls->functions[function].name,
			   calls->functions[caller].name);
}

/* The row of the last frame of @walk */
static size_t get_row(struct rows *rows, const struct calls *calls, const struct walk *walk,
		      enum report_by by)
{
	uint32_t function = walk->path[walk->level]->function, caller = NO_FUNCTION;
	uint64_t key;
	uint32_t row;

	if (by == BY_CALLER && walk->level)
		caller = walk->path[walk->level - 1]->function;
	key = (uint64_t)function << 32 | caller;
	row = map_find(&rows->by_key, key);
	if (row == MAP_FREE) {
		row = add_row(rows, make_name(calls, function, caller));
		map_add(&rows->by_key, key, row);
	}

	return row;
}

/* A recursive call: its time is in the total of the outer one already */
static void add_frame(struct row *row, const struct frame *frame)
{
	struct times times = frame->times;

	add_saturated(&row->durations, times.total);
	if (row->open++)
		times.total = 0;
	add_times(&row->times, &times);
}

static void add_frames(struct rows *rows, const struct calls *calls, struct frame *frame,
		       enum report_by by)
{
	size_t open[MAX_DEPTH + 1], row;
	unsigned int nr_open = 0;
	struct walk walk;

	for (frame = walk_start(&walk, frame); frame; frame = walk_next(&walk)) {
		while (nr_open > walk.level) {
			if (open[--nr_open] != NO_ROW)
				rows->list[open[nr_open]].open--;
		}
		/* A caller of which no record tells has no calls */
		row = frame->function == NO_FUNCTION || !frame->times.calls ? NO_ROW :
		      get_row(rows, calls, &walk, by);
		if (row != NO_ROW)
			add_frame(&rows->list[row], frame);
		open[nr_open++] = row;
	}
	while (nr_open) {
		if (open[--nr_open] != NO_ROW)
			rows->list[open[nr_open]].open--;
	}
}

static void add_task_frames(struct rows *rows, const struct calls *calls, enum report_by by)
{
	for (uint32_t i = 0; i < calls->nr_tasks; i++) {
		const struct task *task = &calls->tasks[i];

		add_frames(rows, calls, task->frame, by);
		for (size_t j = 0; j < task->nr_pending; j++) {
			if (task->pending[j].frame)
				add_frames(rows, calls, task->pending[j].frame, by);
		}
	}
}

static void add_time_row(struct rows *rows, char *name, const struct times *times)
{
	size_t row;

	if (!times->calls) {
		free(name);
		return;
	}
	row = add_row(rows, name);
	rows->list[row].times = *times;
	rows->list[row].durations = times->total;
}

static void add_task_rows(struct rows *rows, const struct calls *calls, enum report_by by)
{
	char name[TASK_NAME_SIZE], escaped[4 * TASK_NAME_SIZE];

	for (uint32_t i = 0; i < calls->nr_tasks; i++) {
		const struct task *task = &calls->tasks[i];

		task_name(by == BY_COMM ? -1 : task->pid, task->comm, name);
		escape(escaped, sizeof(escaped), name);
		add_time_row(rows, must(strdup(escaped)), &task->times);
	}
}

static void add_cpu_rows(struct rows *rows, const struct calls *calls)
{
	char name[16];

	for (unsigned int i = 0; i < calls->nr_cpus; i++) {
		snprintf(name, sizeof(name), "%u", i);
		add_time_row(rows, must(strdup(name)), &calls->cpus[i]);
	}
}

static int by_row_name(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void join_rows(struct rows *rows)
{
	struct row *list = rows->list;
	size_t nr = 0;

	if (rows->nr)
		qsort(list, rows->nr, sizeof(*list), by_row_name);
	for (size_t i = 0; i < rows->nr; i++) {
		if (!nr || by_row_name(&list[nr - 1], &list[i])) {
			list[nr++] = list[i];
			continue;
		}
		add_times(&list[nr - 1].times, &list[i].times);
		add_saturated(&list[nr - 1].durations, list[i].durations);
		free(list[i].name);
	}
	rows->nr = nr;
}

/* Order */

static uint64_t average(const struct times *times, uint64_t durations)
{
	return times->calls ? durations / times->calls : 0;
}

static uint64_t sort_value(const struct times *times, uint64_t durations, enum table_sort sort)
{
	switch (sort) {
	case SORT_TOTAL:
		return times->total;
	case SORT_SELF:
		return times->self;
	case SORT_CALLS:
		return times->calls;
	case SORT_AVERAGE:
		return average(times, durations);
	case SORT_MAXIMUM:
		return times->maximum;
	default:
		return 0;
	}
}

/* The largest first; numbers of CPUs in the order of numbers */
static int compare_values(uint64_t a, uint64_t b, const char *a_name, const char *b_name)
{
	if (a != b)
		return a < b ? 1 : -1;

	return strverscmp(a_name, b_name);
}

static int compare_rows(const void *a, const void *b, void *data)
{
	const enum table_sort *sort = data;
	const struct row *x = a, *y = b;

	return compare_values(sort_value(&x->times, x->durations, *sort),
			      sort_value(&y->times, y->durations, *sort), x->name, y->name);
}

struct order {
	enum table_sort		sort;
	const struct function	*functions;
};

static int compare_frames(const void *a, const void *b, void *data)
{
	const struct frame *x = *(struct frame **)a, *y = *(struct frame **)b;
	const struct order *order = data;

	return compare_values(sort_value(&x->times, x->times.total, order->sort),
			      sort_value(&y->times, y->times.total, order->sort),
			      order->functions[x->function].name,
			      order->functions[y->function].name) ?:
	       (x->function > y->function) - (x->function < y->function);
}

static void add_path_rows(struct rows *rows, struct calls *calls, enum table_sort sort)
{
	struct order order = { sort, calls->functions };
	struct frame *frame;
	struct walk walk;
	size_t row;

	calls_end(calls);
	calls_join_all(calls);
	if (!calls->nr_tasks)
		return;
	frame_sort(calls->tasks[0].frame, compare_frames, &order);
	walk_start(&walk, calls->tasks[0].frame);
	while ((frame = walk_next(&walk))) {
		row = add_row(rows, make_name(calls, frame->function, NO_FUNCTION));
		rows->list[row].level = walk.level - 1;
		rows->list[row].times = frame->times;
		rows->list[row].durations = frame->times.total;
	}
}

static void make_rows(struct rows *rows, struct calls *calls, enum report_by by,
		      enum table_sort sort)
{
	if (by == BY_PATH) {
		add_path_rows(rows, calls, sort);
		return;
	}
	if (by == BY_FUNCTION || by == BY_CALLER)
		add_task_frames(rows, calls, by);
	else if (by == BY_CPU)
		add_cpu_rows(rows, calls);
	else
		add_task_rows(rows, calls, by);
	if (by == BY_COMM)
		join_rows(rows);
	if (rows->nr)
		qsort_r(rows->list, rows->nr, sizeof(*rows->list), compare_rows, &sort);
}

/* Columns */

enum column {
	CALLS, TOTAL, SELF, AVERAGE, MAXIMUM, NR_COLUMNS,
};

static const char *const column_names[] = {
	[CALLS] = "calls", [TOTAL] = "total/us", [SELF] = "self/us",
	[AVERAGE] = "average/us", [MAXIMUM] = "maximum/us",
};

static uint64_t column_value(const struct row *row, enum column column)
{
	static const enum table_sort sorts[] = {
		[CALLS] = SORT_CALLS, [TOTAL] = SORT_TOTAL, [SELF] = SORT_SELF,
		[AVERAGE] = SORT_AVERAGE, [MAXIMUM] = SORT_MAXIMUM,
	};

	return sort_value(&row->times, row->durations, sorts[column]);
}

/* Returns the length */
static int format_value(char *text, size_t size, uint64_t value, enum column column)
{
	if (column == CALLS)
		return snprintf(text, size, "%llu", (unsigned long long)value);

	return snprintf(text, size, "%llu.%03u", (unsigned long long)value / 1000,
			(unsigned int)(value % 1000));
}

/* The time of a task or a CPU is all its own, and not that of whole calls */
static bool has_column(const struct calls *calls, enum report_by by, enum column column)
{
	if (column == CALLS)
		return true;
	if (by == BY_TASK || by == BY_COMM || by == BY_CPU)
		return calls->has_durations && column != SELF && column != AVERAGE;

	return calls->has_durations;
}

/* Returns the width that is used; a column that is not shown has the width 0 */
static unsigned int find_widths(const struct calls *calls, const struct rows *rows,
				enum report_by by, unsigned int *widths)
{
	unsigned int all = 0;
	uint64_t value, most;
	char text[32];

	for (enum column column = 0; column < NR_COLUMNS; column++) {
		widths[column] = 0;
		if (!has_column(calls, by, column))
			continue;
		most = 0;
		for (size_t i = 0; i < rows->nr; i++) {
			value = column_value(&rows->list[i], column);
			most = value > most ? value : most;
		}
		widths[column] = format_value(text, sizeof(text), most, column);
		if (widths[column] < strlen(column_names[column]))
			widths[column] = strlen(column_names[column]);
		all += widths[column] + 2;
	}

	return all;
}

/* @room: for the name; 0: it is not cut */
static void put_name(const char *name, unsigned int level, unsigned int room, FILE *out)
{
	unsigned int indent = 2 * level;

	if (!room) {
		fprintf(out, "%*s%s\n", indent, "", name);
		return;
	}
	if (indent > room / 2)
		indent = room / 2;
	if (strlen(name) <= room - indent)
		fprintf(out, "%*s%s\n", indent, "", name);
	else
		fprintf(out, "%*s%.*s..\n", indent, "", (int)(room - indent - 2), name);
}

static void put_row(const struct row *row, const unsigned int *widths, unsigned int room,
		    FILE *out)
{
	char text[32];

	for (enum column column = 0; column < NR_COLUMNS; column++) {
		if (!widths[column])
			continue;
		format_value(text, sizeof(text), column_value(row, column), column);
		fprintf(out, "%*s  ", widths[column], text);
	}
	put_name(row->name, row->level, room, out);
}

static void put_rows(const struct calls *calls, const struct rows *rows,
		     const struct table *table, FILE *out)
{
	unsigned int widths[NR_COLUMNS], used, room = 0;
	size_t nr = rows->nr;

	used = find_widths(calls, rows, table->by, widths);
	if (table->width)
		room = table->width < used + MIN_NAME ? MIN_NAME : table->width - used;
	for (enum column column = 0; column < NR_COLUMNS; column++) {
		if (widths[column])
			fprintf(out, "%*s  ", widths[column], column_names[column]);
	}
	put_name(table->by == BY_CALLER ? "function <- caller" :
		 table->by == BY_PATH ? "function" : by_names[table->by], 0, room, out);
	if (table->lines && table->lines < nr)
		nr = table->lines;
	for (size_t i = 0; i < nr; i++)
		put_row(&rows->list[i], widths, room, out);
}

/**
 * show_table - print calls as a table
 * @calls: the calls; if it is BY_PATH, no calls can be added afterwards
 * @table: what is shown, and how
 * @out: where to
 */
void show_table(struct calls *calls, const struct table *table, FILE *out)
{
	enum table_sort sort = table->sort;
	struct rows rows = { };

	if (!calls->has_durations && sort != SORT_NAME)
		sort = SORT_CALLS;
	make_rows(&rows, calls, table->by, sort);
	put_rows(calls, &rows, table, out);
	free_rows(&rows);
}

/**
 * get_window - find the size of a terminal
 * @out: a file that may be one
 * @width: columns; 0: it is no terminal
 * @height: lines; 0: it is no terminal
 */
void get_window(FILE *out, unsigned int *width, unsigned int *height)
{
	struct winsize size = { };

	*width = 0;
	*height = 0;
	if (!isatty(fileno(out)))
		return;
	if (ioctl(fileno(out), TIOCGWINSZ, &size))
		size = (struct winsize){ };
	*width = size.ws_col ?: 80;
	*height = size.ws_row ?: 24;
}

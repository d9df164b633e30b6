// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: a line for each path, with the nanoseconds that the last function of it took without
 * its callees: `TASK;FUNCTION;FUNCTION NANOSECONDS`. Programs that draw flame graphs read it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

struct line {
	char		*text;
	size_t		len, room;
};

static void add_char(struct line *line, char c)
{
	if (line->len == line->room) {
		line->room = line->room ? line->room * 2 : 1024;
		line->text = must(realloc(line->text, line->room));
	}
	line->text[line->len++] = c;
}

/* As other programs do it, ';' becomes ':', and a space '_' */
static void add_name(struct line *line, const char *name)
{
	char text[4 * 256], *p;

	escape(text, sizeof(text), name);
	if (line->len)
		add_char(line, ';');
	for (p = text; *p; p++)
		add_char(line, *p == ';' ? ':' : *p == ' ' || *p == '\t' ? '_' : *p);
}

static void put_task(const struct calls *calls, struct frame *frame, struct line *line, FILE *out)
{
	size_t ends[MAX_DEPTH + 1];	/* of the line up to a level */
	struct walk walk;

	walk_start(&walk, frame);
	ends[0] = line->len;
	while ((frame = walk_next(&walk))) {
		line->len = ends[walk.level - 1];
		add_name(line, calls->functions[frame->function].name);
		ends[walk.level] = line->len;
		if (!frame->times.self)
			continue;
		fwrite(line->text, 1, line->len, out);
		fprintf(out, " %" PRIu64 "\n", frame->times.self);
	}
}

/**
 * join_by - let calls have the tasks that the user wants, in the order of their names
 * @calls: the calls, to which none can be added afterwards
 * @by: BY_TASK, BY_COMM or BY_FUNCTION
 */
void join_by(struct calls *calls, enum report_by by)
{
	calls_end(calls);
	if (by == BY_COMM)
		calls_join_by_comm(calls);
	else if (by == BY_FUNCTION)
		calls_join_all(calls);
	calls_sort(calls);
}

/**
 * show_folded - print paths
 * @calls: the calls, which have durations
 * @by: BY_TASK, BY_COMM or BY_FUNCTION
 * @out: where to
 */
void show_folded(struct calls *calls, enum report_by by, FILE *out)
{
	char name[TASK_NAME_SIZE];
	struct line line = { };

	join_by(calls, by);
	for (uint32_t i = 0; i < calls->nr_tasks; i++) {
		line.len = 0;
		task_name(calls->tasks[i].pid, calls->tasks[i].comm, name);
		if (by != BY_FUNCTION)
			add_name(&line, name);
		put_task(calls, calls->tasks[i].frame, &line, out);
	}
	free(line.text);
}

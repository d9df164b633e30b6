// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: calls as a table that is shown again each second. On a terminal it fills the window;
 * elsewhere, an empty line ends each table.
 */
#include "report.h"

/* Above the rows of the table, and below them, for the cursor */
#define OTHER_LINES	4

/**
 * top_start - begin to add up calls
 * @top: what the caller has set, all else zero. Its sink is
 *	 { .take = top_take, .pause = top_pause, .data = top }.
 */
void top_start(struct top *top)
{
	top->calls = calls_new();
	top->shown = now_ns();
	top->reported = 0;
}

bool top_take(const struct item *item, void *data)
{
	struct top *top = data;

	calls_add(top->calls, item);

	return true;
}

/* The rate is since the last table; the lost records are too, or with @keep since the start */
static void put_header(const struct top *top, uint64_t ns)
{
	const struct calls *calls = top->calls;

	fprintf(top->out, "%.0f calls/s, %llu lost", ns ?
		(calls->reported - top->reported) / (ns / 1e9) : 0,
		(unsigned long long)calls->lost);
	if (calls->unusable)
		fprintf(top->out, ", %llu could not be used", (unsigned long long)calls->unusable);
	fputs("\n\n", top->out);
}

static void show(struct top *top, uint64_t now)
{
	struct table table = top->table;
	unsigned int width, height;

	get_window(top->out, &width, &height);
	if (width) {
		table.width = width;
		table.lines = height > OTHER_LINES ? height - OTHER_LINES : 1;
		/* To the top left corner, and nothing below it */
		fputs("\x1b[H\x1b[J", top->out);
	}
	put_header(top, now - top->shown);
	show_table(top->calls, &table, top->out);
	if (!width)
		fputc('\n', top->out);
	fflush(top->out);

	if (!top->keep)
		calls_reset(top->calls);
	top->reported = top->calls->reported;
	top->shown = now;
}

/* Once a second at most. Returns false if it cannot be shown. */
bool top_pause(void *data)
{
	struct top *top = data;
	uint64_t now = now_ns();

	if (now - top->shown >= SECOND)
		show(top, now);

	return !ferror(top->out);
}

/* Shows what came after the last table; with @keep, all */
void top_end(struct top *top)
{
	show(top, now_ns());
	calls_free(top->calls);
}

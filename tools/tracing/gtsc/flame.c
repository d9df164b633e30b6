// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: a flame graph, an SVG that needs no other file. A function stands on its caller, and is
 * as wide as its part of the time; neighbours are in the order of their names. The script of
 * flame_script.c zooms and searches.
 *
 * Level 0 of the graph is all time. If tasks are shown, level 1 has the tasks.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define MARGIN		10
#define WIDTH		(FLAME_WIDTH + 2 * MARGIN)
#define TOP		72		/* above the graph: title, search, a line about a frame */
#define SEARCH_WIDTH	220
#define LEVEL		19		/* height of a level, */
#define BOX		18		/* and of a box in it */
#define CHAR_WIDTH	7.25		/* of the font, which has one width */
#define TEXT_MARGIN	4

/* All for the one graph */
struct drawing {
	const struct calls	*calls;
	const struct flame	*flame;
	FILE			*out;
	uint64_t		all;		/* nanoseconds of level 0 */
	double			minimum;	/* pixels of a box that is drawn */
	bool			counts_only;	/* nothing is drawn: finds @levels and @left_out */
	unsigned int		height, levels;
	uint64_t		left_out;	/* too narrow; without the boxes on them */
};

struct box {
	const char		*name;		/* put_xml() makes it XML */
	const char		*kind;		/* a class of the style sheet */
	unsigned int		level;
	double			x, width;
	struct times		times;
};

/* XML 1.0 has no way to write a control character, or U+FFFE and U+FFFF */
static bool is_xml(const char *p, size_t size)
{
	const uint8_t *s = (const uint8_t *)p;

	if (size == 1)
		return *s >= ' ' && *s != 0x7f;
	/* The control characters behind those of ASCII have two bytes */
	if (size == 2)
		return s[0] != 0xc2 || s[1] >= 0xa0;

	return size && !(s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe);
}

/* Bytes that are no characters of XML are written as \xNN */
static void put_xml(const char *s, size_t len, FILE *out)
{
	for (size_t size; len; s += size, len -= size) {
		size = utf8_size(s, len);
		if (!is_xml(s, size)) {
			size = 1;
			fprintf(out, "\\x%02x", (uint8_t)*s);
		} else if (*s == '<') {
			fputs("&lt;", out);
		} else if (*s == '>') {
			fputs("&gt;", out);
		} else if (*s == '&') {
			fputs("&amp;", out);
		} else {
			fwrite(s, 1, size, out);
		}
	}
}

/* The bytes that put_xml() writes as @chars characters at most */
static size_t prefix_len(const char *s, size_t len, size_t chars)
{
	size_t done = 0, size, shown;

	while (done < len) {
		size = utf8_size(s + done, len - done);
		shown = 1;
		if (!is_xml(s + done, size)) {
			size = 1;
			shown = 4;
		}
		if (shown > chars)
			break;
		chars -= shown;
		done += size;
	}

	return done;
}

static void put_text(const struct box *box, FILE *out)
{
	double room = (box->width - 2 * TEXT_MARGIN) / CHAR_WIDTH;
	size_t len = strlen(box->name);

	if (room < 3)
		return;
	if (prefix_len(box->name, len, room) == len) {
		put_xml(box->name, len, out);
		return;
	}
	put_xml(box->name, prefix_len(box->name, len, (size_t)room - 2), out);
	fputs("..", out);
}

/* With four digits or so, and its unit */
static void put_time(uint64_t ns, FILE *out)
{
	static const char *const units[] = { "us", "ms", "s" };
	double x = ns / 1e3;
	unsigned int i = 0;

	if (ns < 1000) {
		fprintf(out, "%u ns", (unsigned int)ns);
		return;
	}
	for (; x >= 1000 && i < 2; i++)
		x /= 1000;
	fprintf(out, "%.*f %s", x < 10 ? 3 : x < 100 ? 2 : 1, x, units[i]);
}

static void put_title(const struct drawing *d, const struct box *box)
{
	FILE *out = d->out;

	fputs("<title>", out);
	put_xml(box->name, strlen(box->name), out);
	fputc('\n', out);
	put_time(box->times.total, out);
	fprintf(out, " (%.2f %%), ", 100.0 * box->times.total / d->all);
	fprintf(out, "%" PRIu64 " calls", box->times.calls);
	if (box->times.self != box->times.total) {
		fputs(", self ", out);
		put_time(box->times.self, out);
	}
	fputs("</title>", out);
}

/* Of a name, always the same */
static uint32_t hash_name(const char *name)
{
	uint32_t hash = 2166136261U;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619U;

	return hash ^ hash >> 15;
}

/* Functions are from red to yellow, tasks are blue */
static void put_color(const struct box *box, FILE *out)
{
	uint32_t hash = hash_name(box->name);

	if (!strcmp(box->kind, "all"))
		fputs("#ddd", out);
	else if (!strcmp(box->kind, "task"))
		fprintf(out, "hsl(%u,45%%,%u%%)", 195 + hash % 31, 74 + (hash >> 8) % 8);
	else
		fprintf(out, "hsl(%u,%u%%,%u%%)", 14 + hash % 40, 76 + (hash >> 8) % 17,
			62 + (hash >> 16) % 11);
}

static void put_box(const struct drawing *d, const struct box *box)
{
	double width = box->width > 2 ? box->width - 0.5 : box->width;
	unsigned int y = d->height - MARGIN - (box->level + 1) * LEVEL;
	FILE *out = d->out;

	fprintf(out, "<g class=\"b\" data-x=\"%.4f\" data-w=\"%.4f\" data-l=\"%u\">",
		box->x, box->width, box->level);
	put_title(d, box);
	fprintf(out, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\" rx=\"2\" fill=\"",
		box->x, y, width, BOX);
	put_color(box, out);
	fprintf(out, "\"/><text x=\"%.2f\" y=\"%u\">", box->x + TEXT_MARGIN, y + 13);
	put_text(box, out);
	fputs("</text></g>\n", out);
}

/* The width of a time in pixels; @d->all is not 0 */
static double pixels(const struct drawing *d, uint64_t ns)
{
	return (double)ns / d->all * FLAME_WIDTH;
}

/* Where the next box of a level begins, and where the box below it ends */
struct cursor {
	double	x, end;
};

/*
 * Takes the place of a box. The times of a damaged trace may be more than that of the caller:
 * no box reaches over its caller. Returns false if the box is too narrow.
 */
static bool place_box(struct drawing *d, struct cursor *cursor, struct box *box)
{
	box->x = cursor->x;
	box->width = pixels(d, box->times.total);
	if (box->width > cursor->end - cursor->x)
		box->width = cursor->end - cursor->x;
	cursor->x += box->width;
	if (box->width < d->minimum || box->width <= 0) {
		d->left_out++;
		return false;
	}
	if (box->level >= d->levels)
		d->levels = box->level + 1;

	return true;
}

static void draw_box(struct drawing *d, const struct box *box)
{
	if (!d->counts_only)
		put_box(d, box);
}

/* The calls of a task, from @level on */
static void draw_frames(struct drawing *d, struct frame *frame, unsigned int level,
			const struct cursor *cursor)
{
	struct cursor cursors[MAX_DEPTH + 2];
	struct box box = { .kind = "function" };
	struct walk walk;

	walk_start(&walk, frame);
	cursors[1] = *cursor;
	while ((frame = walk_next(&walk))) {
		box.name = d->calls->functions[frame->function].name;
		box.level = level + walk.level - 1;
		box.times = frame->times;
		if (!place_box(d, &cursors[walk.level], &box)) {
			walk_skip(&walk);
			continue;
		}
		draw_box(d, &box);
		cursors[walk.level + 1] = (struct cursor){ box.x, box.x + box.width };
	}
}

/* What is below @frame, as level 0 or a task has it */
static struct times sum_callees(const struct frame *frame)
{
	struct times sum = { };

	for (uint32_t i = 0; i < frame->room; i++) {
		if (frame->callees[i])
			add_times(&sum, &frame->callees[i]->times);
	}

	return sum;
}

static struct times task_times(const struct task *task)
{
	struct times times = sum_callees(task->frame);

	times.calls = task->times.calls;
	times.self = times.total;

	return times;
}

static void draw_task(struct drawing *d, const struct task *task, struct cursor *cursor)
{
	struct box box = { .kind = "task", .level = 1 };
	char name[TASK_NAME_SIZE];

	if (d->flame->by == BY_FUNCTION) {
		draw_frames(d, task->frame, 1, cursor);
		return;
	}
	task_name(task->pid, task->comm, name);
	box.name = name;
	box.times = task_times(task);
	if (!place_box(d, cursor, &box))
		return;
	draw_box(d, &box);
	draw_frames(d, task->frame, 2, &(struct cursor){ box.x, box.x + box.width });
}

static void draw_all(struct drawing *d)
{
	struct cursor cursor = { MARGIN, MARGIN + FLAME_WIDTH };
	struct box box = { .name = "all", .kind = "all", .x = MARGIN, .width = FLAME_WIDTH };
	struct times times;

	for (uint32_t i = 0; i < d->calls->nr_tasks; i++) {
		times = task_times(&d->calls->tasks[i]);
		add_times(&box.times, &times);
	}
	d->levels = 1;
	d->left_out = 0;
	d->all = box.times.total ?: 1;
	draw_box(d, &box);
	for (uint32_t i = 0; i < d->calls->nr_tasks; i++)
		draw_task(d, &d->calls->tasks[i], &cursor);
}

static void put_head(const struct drawing *d)
{
	FILE *out = d->out;

	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
	fputs("<svg xmlns=\"http://www.w3.org/2000/svg\"", out);
	fprintf(out, " width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\"", WIDTH, d->height,
		WIDTH, d->height);
	fprintf(out, " data-char=\"%.2f\" data-margin=\"%u\">\n", CHAR_WIDTH, TEXT_MARGIN);
	fputs(flame_style, out);
	fprintf(out, "<rect width=\"%u\" height=\"%u\" fill=\"#fff\"/>\n", WIDTH, d->height);
	fprintf(out, "<text class=\"title\" x=\"%u\" y=\"27\">", MARGIN);
	put_xml(d->flame->title, prefix_len(d->flame->title, strlen(d->flame->title), 70), out);
	fputs("</text>\n", out);
}

/* What the script needs, and the line that says what is not drawn */
static void put_controls(const struct drawing *d)
{
	FILE *out = d->out;

	fprintf(out, "<text class=\"note\" id=\"note\" x=\"%u\" y=\"52\">", MARGIN);
	if (d->left_out)
		fprintf(out, "%" PRIu64 " boxes narrower than %.2f px are left out, and all above",
			d->left_out, d->minimum);
	fputs("</text>\n", out);
	fprintf(out, "<text class=\"note\" id=\"reset\" x=\"%u\" y=\"27\"",
		WIDTH - MARGIN - SEARCH_WIDTH - 10);
	fputs(" text-anchor=\"end\">reset</text>\n", out);
	fprintf(out, "<foreignObject x=\"%u\" y=\"10\" width=\"%u\" height=\"26\">",
		WIDTH - MARGIN - SEARCH_WIDTH, SEARCH_WIDTH);
	fputs("<input xmlns=\"http://www.w3.org/1999/xhtml\" id=\"find\"", out);
	fputs(" type=\"text\" placeholder=\"search\"/></foreignObject>\n", out);
	fprintf(out, "<text class=\"note\" id=\"found\" x=\"%u\" y=\"52\"", WIDTH - MARGIN);
	fputs(" text-anchor=\"end\"></text>\n", out);
}

/**
 * show_flame - write a flame graph
 * @calls: the calls, which have durations; none can be added afterwards
 * @flame: what is shown, and how
 * @out: where to
 */
void show_flame(struct calls *calls, const struct flame *flame, FILE *out)
{
	struct drawing d = {
		.calls = calls, .flame = flame, .out = out,
		.minimum = flame->minimum / 100 * FLAME_WIDTH, .counts_only = true,
	};

	join_by(calls, flame->by);
	draw_all(&d);
	d.counts_only = false;
	d.height = TOP + d.levels * LEVEL + MARGIN;
	put_head(&d);
	put_controls(&d);
	draw_all(&d);
	fprintf(out, "%s</svg>\n", flame_script);
}

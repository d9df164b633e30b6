// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: how records are printed. One function is one format.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gtsc.h"

static struct format *formats;

void add_format(struct format *format)
{
	struct format **p = &formats;

	while (*p && strcmp((*p)->name, format->name) < 0)
		p = &(*p)->next;
	format->next = *p;
	*p = format;
}

const struct format *find_format(const char *name)
{
	struct format *f;

	for (f = formats; f; f = f->next) {
		if (!strcmp(f->name, name))
			return f;
	}

	return NULL;
}

void list_formats(FILE *out)
{
	for (struct format *f = formats; f; f = f->next)
		fprintf(out, "  %-10s %s\n", f->name, f->help);
}

const struct format *print_format;
bool print_wall_clock;

static void print_date(uint64_t ns, FILE *out)
{
	static char text[32];
	static time_t last = -1;
	time_t seconds = ns / SECOND;
	struct tm tm;

	if (seconds != last) {
		localtime_r(&seconds, &tm);
		strftime(text, sizeof(text), "%F %T", &tm);
		last = seconds;
	}
	fprintf(out, "[%s.%09u]", text, (unsigned int)(ns % SECOND));
}

static void print_where(const struct item *item, FILE *out)
{
	if (print_wall_clock)
		print_date(wall_time(item->time), out);
	else
		fprintf(out, "[%5llu.%09llu]", item->time / SECOND,
			item->time % SECOND);
	if (item->cpu < 0)
		fprintf(out, "   - %s: ", item->ch->name);
	else
		fprintf(out, " %3d %s: ", item->cpu, item->ch->name);
}

GTSC_FORMAT(hex, "bytes in hexadecimal, and again as ASCII")
{
	const uint8_t *p = item->data;

	print_where(item, out);
	fprintf(out, "%u bytes\n", item->len);
	for (uint32_t i = 0; i < item->len; i += 16) {
		uint32_t n = item->len - i < 16 ? item->len - i : 16;

		fprintf(out, "    %04x ", i);
		for (uint32_t j = 0; j < 16; j++) {
			if (j < n)
				fprintf(out, " %02x", p[i + j]);
			else
				fputs("   ", out);
		}
		fputs("  ", out);
		for (uint32_t j = 0; j < n; j++)
			fputc(isprint(p[i + j]) ? p[i + j] : '.', out);
		fputc('\n', out);
	}
}

GTSC_FORMAT(text, "text, a line for each record")
{
	uint32_t len = item->len;
	const char *p = item->data;

	print_where(item, out);
	if (len && p[len - 1] == '\n')
		len--;
	put_escaped(p, len, out);
	fputc('\n', out);
}

GTSC_FORMAT(raw, "the bytes as they are")
{
	fwrite(item->data, item->len, 1, out);
}

GTSC_FORMAT(count, "the length of the record")
{
	print_where(item, out);
	fprintf(out, "%u\n", item->len);
}

GTSC_FORMAT(fields, "as the provider describes its records, else hexadecimal")
{
	const struct fields *fields = &item->ch->fields;

	if (fields->text) {
		print_text(item, out);
	} else if (fields->nr && item->len == fields->size) {
		print_where(item, out);
		show_fields(fields, item, out);
	} else {
		print_hex(item, out);
	}
}

/* A record, or that some were lost */
static bool print_item(const struct item *item, void *unused)
{
	if (!item->lost) {
		(print_format ?: &format_fields)->print(item, stdout);
	} else if (print_format != &format_raw) {
		/* Among raw bytes there is no place for a line */
		print_where(item, stdout);
		printf("lost %llu records\n", (unsigned long long)item->lost);
	}

	return !ferror(stdout);
}

static bool flush(void *unused)
{
	return !fflush(stdout) && !ferror(stdout);
}

const struct sink print_sink = { .take = print_item, .pause = flush };

/* COMM-PID, if the record has both */
static void print_task(const struct item *item, FILE *out)
{
	const struct fields *fields = &item->ch->fields;
	int pid = field_offset(fields, "pid", 4), comm = field_offset(fields, "comm", COMM_SIZE);
	const char *name = (const char *)item->data + comm;

	if (pid < 0 || comm < 0)
		return;
	put_escaped(name, strnlen(name, COMM_SIZE), out);
	fprintf(out, "-%d ", (int)get_number_at(item, pid, 4));
}

static bool get_addresses(const struct item *item, uint64_t *ip, uint64_t *parent_ip)
{
	const struct fields *fields = &item->ch->fields;
	int at = field_offset(fields, "ip", 8), parent = field_offset(fields, "parent_ip", 8);

	if (item->len != fields->size || at < 0 || parent < 0)
		return false;
	*ip = get_number_at(item, at, 8);
	*parent_ip = get_number_at(item, parent, 8);

	return true;
}

GTSC_FORMAT(function, "a function and its caller, as gtsc functions records them")
{
	uint64_t ip, parent_ip;

	print_where(item, out);
	if (!get_addresses(item, &ip, &parent_ip)) {
		fprintf(out, "%u bytes, not a function and its caller\n", item->len);
		return;
	}
	print_task(item, out);
	print_function_name(ip, out);
	fputs(" <- ", out);
	print_symbol(parent_ip, out);
	fputc('\n', out);
}

GTSC_FORMAT(graph, "a function and its duration, as gtsc graph records them")
{
	const struct fields *fields = &item->ch->fields;
	int ip = field_offset(fields, "ip", 8), depth = field_offset(fields, "depth", 4);
	int duration = field_offset(fields, "duration", 8), retval;
	unsigned int indent;
	uint64_t ns;

	print_where(item, out);
	if (item->len != fields->size || ip < 0 || depth < 0 || duration < 0) {
		fprintf(out, "%u bytes, not a function and its duration\n", item->len);
		return;
	}
	print_task(item, out);
	ns = get_number_at(item, duration, 8);
	indent = get_number_at(item, depth, 4);
	fprintf(out, "%9llu.%03u us | %*s", (unsigned long long)ns / 1000,
		(unsigned int)(ns % 1000), indent < 100 ? indent * 2 : 200, "");
	print_function_name(get_number_at(item, ip, 8), out);
	retval = field_offset(fields, "retval", 8);
	if (retval >= 0)
		fprintf(out, " = 0x%llx", (unsigned long long)get_number_at(item, retval, 8));
	fputc('\n', out);
}

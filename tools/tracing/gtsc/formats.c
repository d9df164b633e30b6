// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc, the data layer: how records are printed. One function is one format.
 */
#include <byteswap.h>
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

int64_t print_offset;

static void print_wall_clock(uint64_t ns, FILE *out)
{
	static char text[32];
	static time_t last = -1;
	time_t seconds = ns / 1000000000;
	struct tm tm;

	if (seconds != last) {
		localtime_r(&seconds, &tm);
		strftime(text, sizeof(text), "%F %T", &tm);
		last = seconds;
	}
	fprintf(out, "[%s.%09u]", text, (unsigned int)(ns % 1000000000));
}

static void print_where(const struct item *item, FILE *out)
{
	if (print_offset)
		print_wall_clock(item->time + print_offset, out);
	else
		fprintf(out, "[%5llu.%09llu]", (unsigned long long)item->time / 1000000000,
			(unsigned long long)item->time % 1000000000);
	if (item->cpu < 0)
		fprintf(out, "   - %s: ", item->ch->name);
	else
		fprintf(out, " %3d %s: ", item->cpu, item->ch->name);
}

GTSC_FORMAT(hex, "bytes in hexadecimal, and those that are text")
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

/**
 * print_item - print a record, or that some were lost
 * @item: the record
 * @format: how; NULL: as the provider of its channel describes it
 * @out: where to
 */
void print_item(const struct item *item, const struct format *format, FILE *out)
{
	if (!item->lost) {
		(format ?: &format_fields)->print(item, out);
		return;
	}

	/* Among raw bytes there is no place for a line */
	if (format == &format_raw)
		return;
	print_where(item, out);
	fprintf(out, "lost %llu records\n", (unsigned long long)item->lost);
}

/* Functions and their callers, of gtsc functions */

struct symbol {
	unsigned long long	address;
	char		*name;
};

FILE *kallsyms_file;	/* NULL: /proc/kallsyms */
static struct symbol *symbols;
static size_t nr_symbols;

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void load_symbols(void)
{
	static bool loaded;
	char line[512], text[256], name[256], type;
	size_t room = 0;
	unsigned long long address;
	FILE *f;

	if (loaded)
		return;
	loaded = true;

	f = kallsyms_file ?: fopen("/proc/kallsyms", "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %255s", &address, &type, text) != 3 ||
		    !address || !strchr("tTwW", type))
			continue;
		if (nr_symbols == room) {
			room = room ? room * 2 : 65536;
			symbols = must(realloc(symbols, room * sizeof(*symbols)));
		}
		symbols[nr_symbols].address = address;
		escape(name, sizeof(name), text);
		symbols[nr_symbols++].name = must(strdup(name));
	}
	if (f)
		fclose(f);
	qsort(symbols, nr_symbols, sizeof(*symbols), by_address);
}

static const char *symbol_at(unsigned long long address,
			     unsigned long long *offset)
{
	size_t low = 0, high = nr_symbols;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (symbols[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;
	*offset = address - symbols[low - 1].address;

	return symbols[low - 1].name;
}

static void print_symbol(unsigned long long address, bool with_offset, FILE *out)
{
	const char *name;
	unsigned long long offset;

	load_symbols();
	name = symbol_at(address, &offset);
	if (!name)
		fprintf(out, "0x%llx", address);
	else if (with_offset)
		fprintf(out, "%s+0x%llx", name, offset);
	else
		fputs(name, out);
}

GTSC_FORMAT(function, "two addresses of 64 bits: a function and its caller")
{
	uint64_t address[2];

	print_where(item, out);
	if (item->len != sizeof(address)) {
		fprintf(out, "%u bytes, not two addresses\n", item->len);
		return;
	}
	memcpy(address, item->data, sizeof(address));
	for (int i = 0; i < 2 && item->swapped; i++)
		address[i] = bswap_64(address[i]);
	print_symbol(address[0], false, out);
	fputs(" <- ", out);
	print_symbol(address[1], true, out);
	fputc('\n', out);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: how the provider of a channel describes its records, in the file `format`: the
 * word text, or fields without gaps, `TYPE NAME` or `TYPE NAME[N]`, separated by `;`. The
 * type ksym is an address in the kernel, of 64 bits.
 */
#include <byteswap.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gtsc.h"

static bool parse_type(const char *type, struct field *f)
{
	if (!strcmp(type, "char")) {
		f->type = 'c';
		f->bytes = 1;
		return true;
	}
	if (!strcmp(type, "ksym")) {
		f->type = 'k';
		f->bytes = 8;
		return true;
	}

	f->type = *type;
	if (!*type || !strchr("usx", *type))
		return false;
	for (f->bytes = 1; f->bytes <= 8; f->bytes *= 2) {
		char bits[4];

		snprintf(bits, sizeof(bits), "%u", f->bytes * 8);
		if (!strcmp(type + 1, bits))
			return true;
	}

	return false;
}

/* A name of C, as the metadata of a trace needs it */
static bool is_name(const char *s)
{
	if (!isalpha(*s) && *s != '_')
		return false;
	while (isalnum(*s) || *s == '_')
		s++;

	return !*s;
}

/* The number in the brackets, which are cut off */
static bool parse_count(char *name, unsigned int *count)
{
	char *bracket = strchr(name, '['), *end;
	unsigned long n;

	*count = 0;
	if (!bracket)
		return true;
	*bracket++ = '\0';
	n = strtoul(bracket, &end, 10);
	if (!isdigit(*bracket) || strcmp(end, "]") || !n || n > MAX_RECORD)
		return false;
	*count = n;

	return true;
}

static bool parse_field(char *text, struct fields *fields)
{
	struct field *f = &fields->list[fields->nr];
	char type[8], name[80], rest;

	if (fields->nr == MAX_FIELDS || sscanf(text, " %7s %79s %c", type, name, &rest) != 2)
		return false;
	if (!parse_type(type, f) || !parse_count(name, &f->count) || !is_name(name) ||
	    strlen(name) >= sizeof(f->name))
		return false;
	for (unsigned int i = 0; i < fields->nr; i++) {
		if (!strcmp(fields->list[i].name, name))
			return false;
	}

	snprintf(f->name, sizeof(f->name), "%s", name);
	if ((uint64_t)fields->size + (uint64_t)f->bytes * (f->count ?: 1) > MAX_RECORD)
		return false;
	fields->size += f->bytes * (f->count ?: 1);
	fields->nr++;

	return true;
}

static bool is_blank(const char *s)
{
	return !s[strspn(s, " \t\n")];
}

/**
 * parse_fields - understand the description of a channel's records
 * @text: as in the file `format`
 * @fields: filled in; without fields and not text if @text is empty or wrong
 *
 * Return: 0, or -EINVAL.
 */
int parse_fields(const char *text, struct fields *fields)
{
	char copy[FORMAT_SIZE], word[8], *part, *next, rest;

	memset(fields, 0, sizeof(*fields));
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return -EINVAL;
	if (sscanf(copy, " %7s %c", word, &rest) == 1 && !strcmp(word, "text")) {
		fields->text = true;
		return 0;
	}

	for (part = strtok_r(copy, ";", &next); part; part = strtok_r(NULL, ";", &next)) {
		if (is_blank(part) || parse_field(part, fields))
			continue;
		memset(fields, 0, sizeof(*fields));
		return -EINVAL;
	}

	return 0;
}

/* Whether there are addresses in the records */
bool has_symbols(const struct fields *fields)
{
	for (unsigned int i = 0; i < fields->nr; i++) {
		if (fields->list[i].type == 'k')
			return true;
	}

	return false;
}

static uint64_t get(const uint8_t *p, unsigned int bytes, bool swapped)
{
	uint16_t x16;
	uint32_t x32;
	uint64_t x64;

	switch (bytes) {
	case 1:
		return *p;
	case 2:
		memcpy(&x16, p, 2);
		return swapped ? bswap_16(x16) : x16;
	case 4:
		memcpy(&x32, p, 4);
		return swapped ? bswap_32(x32) : x32;
	default:
		memcpy(&x64, p, 8);
		return swapped ? bswap_64(x64) : x64;
	}
}

static void print_number(const struct field *f, uint64_t x, FILE *out)
{
	unsigned int unused = 64 - f->bytes * 8;

	if (f->type == 'k')
		print_symbol(x, out);
	else if (f->type == 'x')
		fprintf(out, "0x%" PRIx64, x);
	else if (f->type == 's')
		fprintf(out, "%" PRId64, (int64_t)(x << unused) >> unused);
	else
		fprintf(out, "%" PRIu64, x);
}

/* In quotes; what would break the line, the quotes or the terminal, as C writes it */
static void print_string(const uint8_t *p, unsigned int len, FILE *out)
{
	fputc('"', out);
	for (; len && *p; p++, len--) {
		if (*p == '"' || *p == '\\')
			fprintf(out, "\\%c", *p);
		else if (*p == '\t')
			fputs("\\x09", out);
		else
			put_escaped(p, 1, out);
	}
	fputc('"', out);
}

static void print_field(const struct field *f, const uint8_t *p, bool swapped, FILE *out)
{
	unsigned int count = f->count ?: 1;

	fprintf(out, "%s=", f->name);
	if (f->type == 'c') {
		print_string(p, count, out);
		return;
	}

	if (f->count)
		fputc('[', out);
	for (unsigned int i = 0; i < count; i++) {
		if (i)
			fputc(' ', out);
		print_number(f, get(p + i * f->bytes, f->bytes, swapped), out);
	}
	if (f->count)
		fputc(']', out);
}

/* For a record of the length that the fields have */
void show_fields(const struct fields *fields, const struct item *item, FILE *out)
{
	const uint8_t *p = item->data;

	for (unsigned int i = 0; i < fields->nr; i++) {
		const struct field *f = &fields->list[i];

		if (i)
			fputc(' ', out);
		print_field(f, p, item->swapped, out);
		p += f->bytes * (f->count ?: 1);
	}
	fputc('\n', out);
}

/**
 * field_offset - find a field in the records of a channel
 * @fields: how they are described
 * @name: the name of the field
 * @bytes: the size that the field has to have, with all of its elements
 *
 * Return: where it is in a record; -ENOENT if there is no field of this name and size.
 */
int field_offset(const struct fields *fields, const char *name, unsigned int bytes)
{
	unsigned int offset = 0;

	for (unsigned int i = 0; i < fields->nr; i++) {
		const struct field *f = &fields->list[i];

		if (!strcmp(f->name, name))
			return f->bytes * (f->count ?: 1) == bytes ? (int)offset : -ENOENT;
		offset += f->bytes * (f->count ?: 1);
	}

	return -ENOENT;
}

/* For a record that has the length of its fields, and an offset from field_offset() */
uint64_t get_number_at(const struct item *item, unsigned int offset, unsigned int bytes)
{
	return get((const uint8_t *)item->data + offset, bytes, item->swapped);
}

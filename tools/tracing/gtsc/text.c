// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: strings for a terminal. What comes from a trace or from its directory may contain
 * anything: each byte that is neither printable ASCII nor a tab is written as \xNN, its value
 * in hexadecimal (ESC: \x1b).
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "gtsc.h"

static bool is_printable(unsigned char c)
{
	return (c >= ' ' && c < 0x7f) || c == '\t';
}

/* How many bytes come before the first one that has to be escaped */
static size_t printable_run(const uint8_t *p, size_t len)
{
	size_t n = 0;

	while (n < len && is_printable(p[n]))
		n++;

	return n;
}

/**
 * put_escaped - write bytes that may be anything
 * @p: the bytes
 * @len: how many
 * @out: where to
 */
void put_escaped(const void *p, size_t len, FILE *out)
{
	const uint8_t *at = p;
	size_t n;

	while (len) {
		n = printable_run(at, len);
		fwrite(at, 1, n, out);
		at += n;
		len -= n;
		if (len) {
			fprintf(out, "\\x%02x", *at++);
			len--;
		}
	}
}

/**
 * escape - the same, for a string
 * @to: the string that can be printed; it ends early if there is no more room
 * @size: room
 * @from: the string
 */
void escape(char *to, size_t size, const char *from)
{
	char *end = to + size;

	for (; *from; from++) {
		bool printable = is_printable(*from);

		if (end - to <= (printable ? 1 : 4))
			break;
		if (printable)
			*to++ = *from;
		else
			to += sprintf(to, "\\x%02x", (unsigned char)*from);
	}
	*to = '\0';
}

/**
 * utf8_size - tell characters of UTF-8 from other bytes
 * @p: the bytes
 * @len: how many; at least one
 *
 * Return: the bytes of the first character; 0 if they do not begin with one.
 */
size_t utf8_size(const void *p, size_t len)
{
	/* Of each size; a smaller one has a shorter form */
	static const uint32_t first[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint8_t *s = p;
	uint32_t c = *s;
	size_t size;

	if (c < 0x80)
		return 1;
	size = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
	if (c < 0xc0 || c >= 0xf8 || size > len)
		return 0;

	c &= 0x7f >> size;
	for (size_t i = 1; i < size; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	/* Halves of UTF-16 are no characters */
	if (c < first[size] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;

	return size;
}

/* Returns NULL if there is no memory */
static __attribute__((format(printf, 1, 0))) char *format_text(const char *fmt, va_list args)
{
	char *text;

	return vasprintf(&text, fmt, args) < 0 ? NULL : text;
}

/* A line on the standard error, after the name of the program */
void complain(const char *fmt, ...)
{
	char *text;
	va_list args;

	va_start(args, fmt);
	text = format_text(fmt, args);
	va_end(args);
	if (!text)
		return;
	flockfile(stderr);
	fputs("gtsc: ", stderr);
	put_escaped(text, strlen(text), stderr);
	fputc('\n', stderr);
	funlockfile(stderr);
	free(text);
}

/**
 * complain_of - say what went wrong
 * @name: what it went wrong with
 * @error: a negative errno; 0: nothing is said
 *
 * Return: @error.
 */
int complain_of(const char *name, int error)
{
	if (error)
		complain("%s: %s", name, strerror(-error));

	return error;
}

/* Ends the program if there was no memory for @p */
void *must(void *p)
{
	if (!p) {
		complain("out of memory");
		exit(1);
	}

	return p;
}

/* A string of its own; ends the program if there was no memory for it */
char *must_printf(const char *fmt, ...)
{
	char *text;
	va_list args;

	va_start(args, fmt);
	text = format_text(fmt, args);
	va_end(args);

	return must(text);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: reads the metadata of a trace that gtsc has written. It looks only at lines that have
 * a name and a value, each on a line of its own: the environment and the names of functions,
 * both much the same in CTF 1.8 and in CTF 2.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctf.h"

/* Removes the quotes and escapes of the string at @s, in place. Returns NULL if there is none. */
static char *get_string(char *s)
{
	char *to = s, *start = s;

	if (*s++ != '"')
		return NULL;
	for (; *s && *s != '"'; s++) {
		if (*s == '\\' && s[1])
			s++;
		*to++ = *s;
	}
	*to = '\0';

	return start;
}

/* Splits `name = value` or `"name": value`; returns the value, NULL if it is no such line */
static char *split_line(char *line, char **name)
{
	bool quoted;
	char *end;

	line += strspn(line, " \t");
	quoted = *line == '"';
	line += quoted;
	*name = line;
	end = line + strcspn(line, " \":=");
	line = end + (*end == '"');
	line += strspn(line, " ");
	if (end == *name || *line != (quoted ? ':' : '='))
		return NULL;
	*end = '\0';
	line++;

	return line + strspn(line, " ");
}

/* The next two numbers, from the first address to the last one */
static char *get_range(char *s, uint64_t *first, uint64_t *last)
{
	uint64_t *numbers[] = { first, last };
	char *end;

	for (int i = 0; i < 2; i++) {
		s += strspn(s, " ,.[]");
		errno = 0;
		*numbers[i] = strtoull(s, &end, 10);
		if (end == s || errno)
			return NULL;
		s = end;
	}

	return s;
}

/* The quote that ends the string which begins with the quote at @s; NULL if there is none */
static char *find_quote(char *s)
{
	for (s++; *s && *s != '"'; s++) {
		if (*s == '\\' && s[1])
			s++;
	}

	return *s ? s : NULL;
}

/*
 * A function, `"NAME" = FIRST ... LAST` or `"NAME": [[FIRST, LAST], [FIRST, LAST]]`. A
 * function can have the name of an entry of the environment, so the syntax behind the name decides.
 * Returns false if the line is none.
 */
static bool parse_function(char *line)
{
	char *quote, *s, *name;
	uint64_t first, last;

	line += strspn(line, " \t");
	quote = *line == '"' ? find_quote(line) : NULL;
	if (!quote)
		return false;
	if (!strncmp(quote + 1, " = ", 3))
		s = quote + 4;
	else if (!strncmp(quote + 1, ": [[", 4))
		s = quote + 5;
	else
		return false;

	name = get_string(line);
	while ((s = get_range(s, &first, &last))) {
		if (first <= last && last != UINT64_MAX)
			load_symbol(first, last + 1, name);
	}

	return true;
}

static bool parse_uuid(const char *s, uint8_t *uuid)
{
	for (int i = 0; i < 16; i++) {
		unsigned int byte;

		s += *s == '-';
		if (!s[0] || !s[1] || sscanf(s, "%2x", &byte) != 1)
			return false;
		uuid[i] = byte;
		s += 2;
	}

	return true;
}

/* As put_env() writes them: the name of channel 0, its other lines, the name of channel 1, ... */
static void parse_channel_line(const char *name, char *value, struct metadata *m)
{
	struct channel *ch;
	unsigned int i;
	char what[16], rest, *s;

	if (sscanf(name, "%15[a-z]_%u%c", what, &i, &rest) != 2)
		return;
	s = get_string(value);
	if (!strcmp(what, "channel") && i == m->nr && s) {
		escape(add_channel(&m->channels, &m->nr)->name, NAME_SIZE, s);
		return;
	}
	if (i >= m->nr)
		return;
	ch = &m->channels[i];
	if (!strcmp(what, "global")) {
		ch->global = atoi(value);
	} else if (!strcmp(what, "format") && s) {
		snprintf(ch->format, sizeof(ch->format), "%s", s);
		parse_fields(ch->format, &ch->fields);
	}
}

static void parse_clock_line(const char *name, const char *value, struct wall_clock *clock)
{
	if (!strcmp(name, "clock_begin"))
		clock->begin = strtoull(value, NULL, 10);
	else if (!strcmp(name, "clock_offset"))
		clock->offset = strtoll(value, NULL, 10);
	else if (!strcmp(name, "clock_end"))
		clock->end = strtoull(value, NULL, 10);
	else if (!strcmp(name, "clock_offset_end"))
		clock->end_offset = strtoll(value, NULL, 10);
}

/**
 * parse_metadata - what gtsc needs of the metadata that it has written
 * @text: the metadata, which is changed
 * @m: filled in; has no channels yet
 *
 * If the metadata has names of functions, they are loaded, too.
 *
 * Return: 0; -EINVAL if gtsc has not written it.
 */
int parse_metadata(char *text, struct metadata *m)
{
	bool ours = false, has_uuid = false, has_names = false;
	char *line, *next, *name, *value, *s;

	for (line = strtok_r(text, "\n", &next); line; line = strtok_r(NULL, "\n", &next)) {
		if (parse_function(line)) {
			has_names = true;
			continue;
		}
		value = split_line(line, &name);
		if (!value)
			continue;
		if (!strcmp(name, "tracer_name"))
			ours = (s = get_string(value)) && !strcmp(s, "gtsc");
		else if (!strcmp(name, "trace_uuid"))
			has_uuid = (s = get_string(value)) && parse_uuid(s, m->uuid);
		else if (!strcmp(name, "boot_id"))
			m->same_boot = (s = get_string(value)) && is_this_boot(s);
		else if (!strncmp(name, "clock_", 6))
			parse_clock_line(name, value, &m->clock);
		else
			parse_channel_line(name, value, m);
	}
	if (has_names)
		load_symbols_end();

	return ours && has_uuid && m->nr ? 0 : -EINVAL;
}

bool is_our_metadata(FILE *f)
{
	char line[4096], *name, *value;
	bool ours = false;

	while (!ours && fgets(line, sizeof(line), f)) {
		value = split_line(line, &name);
		ours = value && !strcmp(name, "tracer_name") && !strncmp(value, "\"gtsc\"", 6);
	}

	return ours;
}

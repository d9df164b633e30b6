// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: values of options and arguments. The functions of gtsc.h return 0, or -EINVAL after a
 * message.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include "gtsc.h"

/* Thirty years */
#define MAX_SECONDS	1e9
/* The kernel has up to 65,535 sub-buffers of 64 KiB for a CPU */
#define MAX_MIB		4095

int bad_value(const char *option, const char *value, const char *wanted)
{
	complain("%s%s%s: has to be %s", option, *value ? " " : "", value, wanted);

	return -EINVAL;
}

int parse_seconds(const char *s, double *seconds)
{
	char *end;

	*seconds = strtod(s, &end);
	/* No comparison is true for what is not a number */
	if (*end || end == s || !(*seconds > 0 && *seconds <= MAX_SECONDS))
		return bad_value("-d", s, "a number of seconds, more than 0, at most 1e9");

	return 0;
}

int parse_pid(const char *s, pid_t *pid)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(s, &end, 10);
	if (errno || *end || end == s || number <= 0 || number > INT32_MAX)
		return bad_value("-p", s, "the number of a process");
	*pid = number;

	return 0;
}

/* Whether @s is a number from 1 to @max, in digits alone */
static bool parse_positive(const char *s, unsigned long max, unsigned long *number)
{
	char *end;

	errno = 0;
	*number = strtoul(s, &end, 10);

	return *s >= '0' && *s <= '9' && !*end && !errno && *number && *number <= max;
}

/* A size for each CPU */
int parse_mib(const char *s, unsigned long *mib)
{
	if (!parse_positive(s, MAX_MIB, mib))
		return bad_value("-b", s, "mebibytes for each CPU, 1 to 4095");

	return 0;
}

int parse_lines(const char *s, unsigned long *lines)
{
	if (!parse_positive(s, ULONG_MAX, lines))
		return bad_value("-n", s, "a number of lines, more than 0");

	return 0;
}

/* In any notation of C */
int parse_number(const char *s, unsigned long long *number)
{
	char *end;

	errno = 0;
	*number = strtoull(s, &end, 0);

	return errno || end == s || *end || *s == '-' ? bad_value("size", s, "a number") : 0;
}

int parse_percent(const char *s, double *percent)
{
	char *end;

	*percent = strtod(s, &end);
	if (end == s || *end || !(*percent >= 0 && *percent <= 100))
		return bad_value("--minimum", s, "a number from 0 to 100");

	return 0;
}

/* A string that is not empty */
int parse_text(const char *option, const char *s, const char *wanted, const char **text)
{
	*text = s;

	return *s ? 0 : bad_value(option, s, wanted);
}

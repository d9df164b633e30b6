// SPDX-License-Identifier: GPL-2.0
/*
 * tracing_multi fentry|fexit FILE: attaches a BPF program, by one link, to the functions
 * whose names FILE has, one a line. Prints
 *
 *   attached NUMBER NANOSECONDS	the processor time of the system call
 *
 * waits for a byte from its standard input, detaches, and prints
 *
 *   detached CALLS NANOSECONDS		the calls of the program
 *
 * Functions that have no type information or that the kernel refuses are left out.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../stress.d/bpf.h"

enum { MAX = 100000 };

static char *names[MAX];
static uint32_t ids[MAX];
static unsigned int nr_names, nr_ids, nr_accepted;
static enum bpf_attach_type type;
static int program;

static void fail(const char *what, int error)
{
	fprintf(stderr, "tracing_multi: %s: %s\n", what, strerror(-error));
	exit(1);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char * const *)a, *(char * const *)b);
}

static void read_names(const char *file)
{
	char line[512];
	FILE *f;

	f = fopen(file, "r");
	if (!f)
		fail(file, -errno);
	while (nr_names < MAX && fscanf(f, "%511s", line) == 1)
		names[nr_names++] = strdup(line);
	fclose(f);
	qsort(names, nr_names, sizeof(names[0]), compare);
}

static void found(const char *name, uint32_t id)
{
	if (nr_ids < MAX && bsearch(&name, names, nr_names, sizeof(names[0]), compare))
		ids[nr_ids++] = id;
}

/* The kernel refuses all if it refuses one: try halves */
static void select_accepted(const uint32_t *some, unsigned int nr)
{
	int link;

	link = bpf_attach_multi(program, type, some, nr);
	if (link >= 0) {
		close(link);
		memmove(ids + nr_accepted, some, nr * sizeof(ids[0]));
		nr_accepted += nr;
		return;
	}
	if (link == -EOPNOTSUPP && nr_accepted == 0 && nr == nr_ids)
		fail("BPF_LINK_CREATE", link);
	if (nr == 1)
		return;
	select_accepted(some, nr / 2);
	select_accepted(some + nr / 2, nr - nr / 2);
}

static unsigned long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

int main(int argc, char *argv[])
{
	unsigned long long start;
	int link;
	char c;

	if (argc != 3)
		return 2;
	type = strcmp(argv[1], "fexit") ? FENTRY_MULTI : FEXIT_MULTI;

	program = bpf_load(BPF_PROG_TYPE_TRACING, type, 0);
	if (program == -EINVAL) {
		puts("unsupported");
		return 4;
	}
	if (program < 0)
		fail("BPF_PROG_LOAD", program);

	read_names(argv[2]);
	bpf_functions(found);
	select_accepted(ids, nr_ids);
	link = bpf_count_calls();
	if (link < 0)
		fail("BPF_ENABLE_STATS", link);

	start = now();
	link = bpf_attach_multi(program, type, ids, nr_accepted);
	start = now() - start;
	if (link < 0)
		fail("BPF_LINK_CREATE", link);
	printf("attached %u %llu\n", nr_accepted, start);
	fflush(stdout);

	if (read(STDIN_FILENO, &c, 1) < 0)
		fail("standard input", -errno);

	start = now();
	close(link);
	start = now() - start;
	printf("detached %lld %llu\n", bpf_calls(program), start);

	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Actions on the module ftrace_mux_load. It has tracers with known functions, calls these
 * functions, and counts the calls. The actions compare the counts of its tracers with the
 * number of calls, while the other workers go on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stress.h"

#define LOAD	"/sys/module/ftrace_mux_load/parameters/"
#define NR_FUNCS 8

static int get_line(const char *file, unsigned long counts[NR_FUNCS], char *buf, size_t size)
{
	char *p = buf;
	int ret;

	ret = get(file, buf, size);
	if (ret < 0)
		return ret;
	for (int i = 0; i < NR_FUNCS; i++)
		counts[i] = strtoul(p, &p, 10);

	return 0;
}

/* Add the counts of the module to ours, and set them to 0 */
static int collect(void)
{
	unsigned long counts[NR_FUNCS];
	char buf[4096];
	int ret;

	ret = get_line(LOAD "calls", counts, buf, sizeof(buf));
	if (ret)
		return ret;
	for (int i = 0; i < NR_FUNCS; i++)
		atomic_fetch_add(&shared->calls, counts[i]);

	ret = get_line(LOAD "strays", counts, buf, sizeof(buf));
	if (ret)
		return ret;
	if (counts[0])
		complain("%lu calls of a tracer for functions that its filter does not have",
			 counts[0]);
	atomic_fetch_add(&shared->strays, counts[0]);

	return put(LOAD "calls", "0\n");
}

int act_tracers(struct worker *w, struct rng *rng)
{
	static const struct {
		const char *file;
		unsigned int few, many;
	} tracers[] = {
		{ LOAD "ops", 5, 33 }, { LOAD "ops", 7, 12 },
		{ LOAD "singles", 6, 40 }, { LOAD "system", 4, 9 },
	};
	unsigned int i = pick(rng, ARRAY_SIZE(tracers));
	unsigned int n = pick(rng, one_in(rng, 20) ? tracers[i].many : tracers[i].few);
	int ret;

	say(w, "tracers %s %u", strrchr(tracers[i].file, '/') + 1, n);
	if (one_in(rng, 3))
		fail_allocations(rng);
	ret = put(tracers[i].file, "%u\n", n);
	stop_failing();

	return ret;
}

/* Each tracer of the module must have counted exactly the calls that were made */
static int compare_calls(unsigned int n, unsigned int mask)
{
	unsigned long made[NR_FUNCS];
	char calls[4096], seen[4096], *line, *next;
	int ret;

	ret = get_line(LOAD "calls", made, calls, sizeof(calls));
	if (ret)
		return ret;
	ret = get(LOAD "ops_calls", seen, sizeof(seen));
	if (ret < 0)
		return ret;

	for (line = seen; *line; line = next) {
		next = strchr(line, '\n');
		next = next ? next + 1 : line + strlen(line);
		atomic_fetch_add(&shared->compared, 1);
		if (!strncmp(line, calls, next - line))
			continue;
		atomic_fetch_add(&shared->miscounted, 1);
		complain("%u calls of functions %#x: made %.*s, but counted %.*s", n, mask,
			 (int)strcspn(calls, "\n"), calls, (int)strcspn(line, "\n"), line);
	}

	return 0;
}

static int compare_singles(unsigned int n)
{
	unsigned long least, most;
	char buf[64];
	int ret;

	ret = get(LOAD "singles", buf, sizeof(buf));
	if (ret < 0)
		return ret;
	if (!atoi(buf))
		return 0;
	ret = get(LOAD "singles_calls", buf, sizeof(buf));
	if (ret < 0)
		return ret;
	if (sscanf(buf, "%lu %lu", &least, &most) != 2)
		return -EIO;

	atomic_fetch_add(&shared->compared, 1);
	atomic_fetch_add(&shared->calls, 100UL * n);
	if (least != n || most != n) {
		atomic_fetch_add(&shared->miscounted, 1);
		complain("single functions: %u calls made, but %lu to %lu counted", n, least, most);
	}

	return 0;
}

int act_compare(struct worker *w, struct rng *rng)
{
	const char *run = one_in(rng, 3) ? LOAD "run_cpus" : LOAD "run";
	unsigned int n = 1 + pick(rng, 200);
	unsigned int mask = 1 + pick(rng, 255);
	int ret;

	say(w, "compare %s %u %#x", strrchr(run, '/') + 1, n, mask);
	hold_counting(false);
	ret = collect();
	if (!ret)
		ret = put(run, "%u %#x\n", n, mask);
	if (!ret)
		ret = put(LOAD "singles_run", "%u\n", n);
	if (!ret)
		ret = compare_calls(n, mask);
	if (!ret)
		ret = compare_singles(n);
	release_counting();

	return ret;
}

int act_hammer(struct worker *w, struct rng *rng)
{
	unsigned int mask = 1 + pick(rng, 255), ms = pick(rng, 400);
	int ret, off;

	say(w, "hammer %#x for %u ms", mask, ms);
	hold_counting(false);
	ret = put(LOAD "hammer", "%u\n", mask);
	nap(ms);
	off = put(LOAD "hammer", "0\n");
	release_counting();

	return ret ?: off;
}

int act_reload(struct worker *w, struct rng *rng)
{
	static const char * const arguments[] = { "", "", "system=2", "ops=3 system=1" };
	const char *argument = PICK(rng, arguments);
	int ret, err;

	say(w, "reload ftrace_mux_load %s", argument);
	collect();
	ret = unload_module("ftrace_mux_load");
	/* It is not loaded */
	if (ret == -ENOENT)
		ret = 0;
	err = load_module("ftrace_mux_load", argument);

	return err ?: ret;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: the clock of the records, CLOCK_MONOTONIC_RAW, and the clock on the wall.
 *
 * The offset between the two changes: NTP slews the wall clock, somebody sets it, and only the
 * wall clock goes on while the machine is suspended. A clock of CTF has one offset, which is
 * that of the beginning of the recording. So the trace also says in its environment what the
 * offset was at the end, and print -w takes what lies between from a straight line. That is
 * right for a slew. For a clock that was set and for a suspend it is not, and print -w says so.
 */
#include <time.h>

#include "gtsc.h"

/* That of the records that are printed */
static struct wall_clock used;
static bool told;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);

	return ts.tv_sec * SECOND + ts.tv_nsec;
}

/* In the clock of the records */
uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC_RAW);
}

/* What to add to a record's time; of several tries that which took the least time */
static int64_t current_offset(void)
{
	uint64_t before, wall, after, best = UINT64_MAX;
	int64_t offset = 0;

	for (int i = 0; i < 10; i++) {
		before = now_ns();
		wall = clock_ns(CLOCK_REALTIME);
		after = now_ns();
		if (after - before >= best)
			continue;
		best = after - before;
		offset = wall - (before + best / 2);
	}

	return offset;
}

/* The offset of now, for the time from now on until end_wall_clock() */
void begin_wall_clock(struct wall_clock *clock)
{
	*clock = (struct wall_clock){ .begin = now_ns(), .offset = current_offset() };
}

void end_wall_clock(struct wall_clock *clock)
{
	clock->end = now_ns();
	clock->end_offset = current_offset();
}

/* For wall_time() */
void use_wall_clock(const struct wall_clock *clock)
{
	used = *clock;
	told = false;
}

/* Damaged metadata may have any numbers: no difference overflows */
static int64_t drift(void)
{
	return (uint64_t)used.end_offset - (uint64_t)used.offset;
}

/* More than 1 ms plus 0.1 % of the time is no slew: those of NTP are at most 0.05 % */
static void tell_drift(void)
{
	uint64_t bound = (used.end - used.begin) / 1000 + MS;
	int64_t ns = drift();

	told = true;
	if ((ns < 0 ? -(uint64_t)ns : (uint64_t)ns) > bound)
		complain("the wall clock was set, or the machine slept: -w may be off by %.3f s",
			 ns < 0 ? ns / -1e9 : ns / 1e9);
}

/**
 * wall_time - the time of a record on the wall clock
 * @time: the time in the record
 *
 * The first call for a time after the beginning of the recording also tells the user if times may
 * be wrong.
 *
 * Return: nanoseconds since 1970.
 */
uint64_t wall_time(uint64_t time)
{
	double ns;

	if (used.end <= used.begin || time <= used.begin)
		return time + used.offset;
	if (!told)
		tell_drift();
	if (time >= used.end)
		return time + used.end_offset;

	ns = (double)drift() / (used.end - used.begin) * (time - used.begin);
	/* Damaged metadata: does not fit into 64 bits */
	if (ns <= -0x1p63 || ns >= 0x1p63)
		return time + used.end_offset;

	return time + used.offset + (int64_t)ns;
}

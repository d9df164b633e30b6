// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of GTSC: writers that interrupt each other, and a reader, at every step.
 *
 * This is compiled with buffer.c and source.c themselves, whose gtsc_step() stands between
 * the instructions that publish something. At each of these steps of one, another one runs
 * as a whole: a writer that interrupts another one, or the reader, as on another CPU.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

static void test_step(void);
#define gtsc_step()	test_step()

#include "buffer.c"
#include "source.c"

/* What runs at the step @at of a run, and what runs at the steps of that */
struct run {
	void		(*fn)(void);
	int		at;
	int		step;
	struct run	*inner;
};

static struct run *running;

static void test_step(void)
{
	struct run *run = running;

	if (!run || !run->inner || run->step++ != run->at)
		return;

	running = run->inner;
	running->step = 0;
	running->fn();
	running = run;
}

/* Runs @run; returns how many steps it had */
static int start_run(struct run *run)
{
	run->step = 0;
	running = run;
	run->fn();
	running = NULL;

	return run->step;
}

/* Records: a number, which is not 0 when the record is complete, in so many bytes */
/* Four fit in a sub-buffer */
#define RECORD_SIZE	(PAGE_SIZE / 4 - 24)
#define MAX_RECORDS	4096

static struct kunit *test;
static struct gtsc_buffer *buffer;
static struct gtsc_counts counts;
static struct gtsc_channel channel;
static struct gtsc_source source;
static u64 attempts, written, nr_read, lost;
static u64 last_time;
static u8 seen[MAX_RECORDS];
static bool failed;

#define expect(condition)							\
	do {									\
		if (!(condition) && !failed) {					\
			KUNIT_FAIL(test, "%s", #condition);			\
			failed = true;						\
		}								\
	} while (0)

static void put(void)
{
	struct gtsc_record_header *header;
	u64 *number;

	attempts++;
	gtsc_begin(buffer);
	if (gtsc_reserve_space(buffer, gtsc_units(RECORD_SIZE), &header)) {
		header->len = RECORD_SIZE;
		header->type = GTSC_TYPE_RECORD;
		number = (u64 *)(header + 1);
		*number = 0;
		gtsc_step();
		*number = ++written;
		gtsc_step();
	}
	gtsc_end(buffer);
}

static void put_2(void)
{
	for (int i = 0; i < 2; i++)
		put();
}

/* More than all sub-buffers have room for */
static void put_20(void)
{
	for (int i = 0; i < 20; i++)
		put();
}

static void check_record(const struct gtsc_record_header *header)
{
	u64 number = *(const u64 *)(header + 1);

	expect(header->time >= last_time);
	last_time = header->time;
	if (header->type == GTSC_TYPE_LOST) {
		lost += number;
		return;
	}

	expect(header->len == RECORD_SIZE);
	expect(number && number <= written);
	if (number && number <= written) {
		expect(!seen[number]);
		seen[number] = 1;
	}
	nr_read++;
}

static void get(void)
{
	const struct gtsc_record_header *header;

	while ((header = gtsc_find_next(&channel, &source))) {
		check_record(header);
		gtsc_consume(&source, gtsc_record_size(header->len),
			     header->type == GTSC_TYPE_RECORD);
	}
}

/* Read one record */
static void get_1(void)
{
	const struct gtsc_record_header *header = gtsc_find_next(&channel, &source);

	if (!header)
		return;
	check_record(header);
	gtsc_consume(&source, gtsc_record_size(header->len), header->type == GTSC_TYPE_RECORD);
}

struct scenario {
	bool		flight;
	u64		lap;		/* to start with */
	unsigned int	nr_sub;
	unsigned int	before;		/* records that are there before */
	unsigned int	read;		/* and have been read */
};

static bool set_up(const struct scenario *s)
{
	memset(&counts, 0, sizeof(counts));
	memset(&source, 0, sizeof(source));
	memset(seen, 0, sizeof(seen));
	attempts = 0;
	written = 0;
	nr_read = 0;
	lost = 0;
	last_time = 0;
	channel.flags = s->flight ? GTSC_FLIGHT : 0;

	buffer = gtsc_buffer_alloc(0, 0, s->nr_sub, s->flight, &counts);
	if (!buffer)
		return false;
	init_slots(buffer, s->lap << GTSC_SLOT_BITS);
	INIT_LIST_HEAD(&source.held);
	source.buffer = buffer;

	for (int i = 0; i < s->before; i++)
		put();
	for (int i = 0; i < s->read; i++)
		get_1();

	return true;
}

static void tear_down(void)
{
	u64 dropped;

	get();
	dropped = count_dropped(&counts);
	expect(attempts == written + dropped);
	expect(gtsc_written(buffer) == written);
	expect(nr_read == atomic64_read(&source.nr_read));
	expect(written == nr_read + local64_read(&counts.overwritten));
	expect(channel.flags & GTSC_FLIGHT || !local64_read(&counts.overwritten));
	/* After one more sub-buffer, the reader knows of all */
	put_20();
	get();
	expect(lost <= count_dropped(&counts) + local64_read(&counts.overwritten));
	expect(lost >= dropped);

	gtsc_free_held(&source);
	gtsc_buffer_free(buffer);
}

/* @middle at each step of @outer, and @inner at each step of that */
static int step_through(const struct scenario *s, void (*outer)(void), void (*middle)(void),
			void (*inner)(void))
{
	struct run runs[3] = {
		{ .fn = outer, .inner = &runs[1] },
		{ .fn = middle, .inner = &runs[2] },
		{ .fn = inner },
	};
	int nr = 0, outer_steps, middle_steps;

	do {
		runs[1].at = 0;
		do {
			if (!set_up(s)) {
				KUNIT_FAIL(test, "no memory");
				return nr;
			}
			outer_steps = start_run(&runs[0]);
			middle_steps = runs[1].step;
			tear_down();
			nr++;
			if (failed) {
				kunit_info(test, "flight %d, %u sub-buffers, %u records, %u read: ",
					   s->flight, s->nr_sub, s->before, s->read);
				kunit_info(test, "at step %d, and step %d of that\n", runs[0].at,
					   runs[1].at);
				return nr;
			}
			cond_resched();
		} while (++runs[1].at < middle_steps);
	} while (++runs[0].at < outer_steps);

	return nr;
}

/* Four records fill a page: from empty to full, and what is read in between */
static void try_scenarios(struct kunit *t, void (*outer)(void), void (*middle)(void),
			  void (*inner)(void))
{
	int nr = 0;

	test = t;
	failed = false;
	for (int flight = 0; flight < 2; flight++) {
		for (int nr_sub = 2; nr_sub < 4; nr_sub++) {
			for (int before = 0; before < 16 && !failed; before++) {
				/* Every other time, the laps wrap in between */
				struct scenario s = {
					.flight = flight, .nr_sub = nr_sub, .before = before,
					.lap = before & 1 ? LAP_MASK : 1,
				};

				for (s.read = 0; s.read <= before && !failed; s.read += 3)
					nr += step_through(&s, outer, middle, inner);
			}
		}
	}
	kunit_info(t, "%d interleavings\n", nr);
}

static void test_writer_reader(struct kunit *t)
{
	try_scenarios(t, put, get, put);
	try_scenarios(t, put, get, put_20);
}

static void test_reader_writer(struct kunit *t)
{
	try_scenarios(t, get, put, put);
	try_scenarios(t, get, put_20, put);
	try_scenarios(t, get_1, put_20, put);
}

static void test_writer_writer_reader(struct kunit *t)
{
	try_scenarios(t, put, put, get);
	try_scenarios(t, put, put_2, get_1);
	try_scenarios(t, put, put_20, get);
}

static void test_three_writers(struct kunit *t)
{
	try_scenarios(t, put, put, put);
	try_scenarios(t, put, put_20, put_2);
	try_scenarios(t, put, put_2, put_20);
}

/* A flight recorder that nobody has read for many laps */
static void test_far_behind(struct kunit *t)
{
	static const u64 laps[] = {
		1, 2, LAP_MASK / 2 - 1, LAP_MASK / 2, LAP_MASK / 2 + 1, LAP_MASK / 2 + 2,
		LAP_MASK - 1, LAP_MASK,
	};
	struct scenario s = { .flight = true, .nr_sub = 3, .lap = LAP_MASK / 4, .before = 20 };

	test = t;
	failed = false;
	for (int i = 0; i < ARRAY_SIZE(laps); i++) {
		for (int slot = 0; slot < 3; slot++) {
			if (!set_up(&s))
				return;
			buffer->tail = (((buffer->tail >> GTSC_SLOT_BITS) - laps[i]) &
					LAP_MASK) << GTSC_SLOT_BITS | slot;
			get();
			KUNIT_EXPECT_GE(t, nr_read, 9);
			tear_down();
		}
	}
}

/*
 * A reader that is interrupted while a flight recorder goes around until positions are the
 * same again, and until a writer has begun the sub-buffer that the reader is about to take
 */

static u64 target;
static unsigned int target_mem;
static bool taken;

static void take_target(void)
{
	taken = gtsc_take(buffer, &target_mem);
}

/* A record that fills a sub-buffer; its writer goes on until gtsc_end() */
static void begin_full_record(void)
{
	struct gtsc_record_header *header;

	gtsc_begin(buffer);
	expect(gtsc_reserve_space(buffer, gtsc_units(gtsc_max_len(0)), &header));
}

static void go_around(void)
{
	do {
		begin_full_record();
		gtsc_end(buffer);
	} while (next_seq(buffer, seq_of(local64_read(&buffer->pos))) != target);
	begin_full_record();
}

static void test_all_laps(struct kunit *t)
{
	struct run runs[2] = { { .fn = take_target, .inner = &runs[1] }, { .fn = go_around } };
	struct scenario s = { .flight = true, .nr_sub = 2, .lap = 1, .before = 9 };
	int steps;

	test = t;
	failed = false;
	do {
		if (!set_up(&s))
			return;
		target = gtsc_oldest_seq(buffer);
		steps = start_run(&runs[0]);
		/* Not what a writer has begun and no record is committed in */
		if (taken && gtsc_is_in(local64_read(&buffer->pos), target_mem))
			expect(gtsc_is_in(atomic64_read(&buffer->commit), target_mem));
		if (failed)
			kunit_info(t, "at step %d\n", runs[0].at);
		gtsc_end(buffer);
		gtsc_buffer_free(buffer);
		cond_resched();
	} while (++runs[0].at < steps && !failed);
	KUNIT_EXPECT_GT(t, steps, 2);
}

/* Waiting until sub-buffers are full: at the record that makes them so, and not before */
static void test_watermark(struct kunit *t)
{
	struct scenario s = { .nr_sub = 4, .lap = LAP_MASK };

	test = t;
	for (int nr = 1; nr < 4; nr++) {
		for (s.before = 0; s.before < 12; s.before++) {
			for (s.read = 0; s.read <= s.before; s.read++) {
				int left = 0;

				failed = false;
				if (!set_up(&s))
					return;
				while (gtsc_wake_when_full(buffer, source.taken ? source.mem : -1,
							   nr)) {
					KUNIT_ASSERT_FALSE(t, buffer->wake);
					put();
					KUNIT_ASSERT_LT(t, left++, 20);
				}
				/* Woken at the same time as it is ready, if it had to wait */
				KUNIT_EXPECT_EQ(t, buffer->wake, left > 0);
				tear_down();
			}
		}
	}
}

static bool waits;

static bool request(void)
{
	return gtsc_wake_when_full(buffer, source.taken ? source.mem : -1, 1);
}

static bool ready(void)
{
	return gtsc_find_next(&channel, &source) && !request();
}

/* What gtsc_poll() does with a watermark of 1 */
static void poll_once(void)
{
	waits = false;
	do {
		if (ready())
			return;
	} while (!request());
	gtsc_recheck_watermark(buffer);
	waits = !ready();
}

/* A reader that begins to wait at any step of a writer that fills a sub-buffer */
static void test_watermark_steps(struct kunit *t)
{
	struct run runs[2] = { { .fn = put, .inner = &runs[1] }, { .fn = poll_once } };
	struct scenario s = { .nr_sub = 3, .lap = 1 };
	int steps;

	test = t;
	for (s.before = 0; s.before < 8; s.before++) {
		runs[0].at = 0;
		do {
			failed = false;
			if (!set_up(&s))
				return;
			waits = false;
			steps = start_run(&runs[0]);
			if (waits && !request())
				KUNIT_EXPECT_TRUE(t, buffer->wake);
			tear_down();
		} while (++runs[0].at < steps);
	}
}

static struct kunit_case gtsc_step_test_cases[] = {
	KUNIT_CASE(test_far_behind),
	KUNIT_CASE_SLOW(test_all_laps),
	KUNIT_CASE(test_watermark),
	KUNIT_CASE(test_watermark_steps),
	KUNIT_CASE_SLOW(test_writer_reader),
	KUNIT_CASE_SLOW(test_reader_writer),
	KUNIT_CASE_SLOW(test_writer_writer_reader),
	KUNIT_CASE_SLOW(test_three_writers),
	{}
};

static struct kunit_suite gtsc_step_test_suite = {
	.name = "gtsc_step",
	.test_cases = gtsc_step_test_cases,
};

kunit_test_suite(gtsc_step_test_suite);

MODULE_DESCRIPTION("KUnit tests of GTSC: writers and a reader at every step");
MODULE_LICENSE("GPL");

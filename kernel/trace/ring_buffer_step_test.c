// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the ring buffer: a writer is interrupted at each of its instructions.
 *
 * A writer runs with the trap flag set, so that each of its instructions raises a debug
 * exception. After one of these instructions, the handler of the exception does something
 * else: it writes to the buffer, as an NMI may do there, or reads, as another CPU may do, in
 * some tests once more some instructions later. Then the writer goes on without the trap flag.
 * This is repeated for each instruction of the writer, in several scenarios.
 *
 * All of this runs on one CPU: the order in which other CPUs see the accesses to memory is
 * not tested.
 */
#include <kunit/test.h>
#include <linux/kdebug.h>
#include <linux/module.h>
#include <linux/ring_buffer.h>
#include <asm/debugreg.h>
#include <asm/local.h>
#include <asm/processor-flags.h>

#define MAX_EVENTS	8192

/* The layout of a page, which is part of the format that user space reads */
struct test_page {
	u64		time_stamp;
	local_t		commit;
	unsigned char	data[];
};

#define CAPACITY	(PAGE_SIZE - offsetof(struct test_page, data))

/* Something that happens while the writer is interrupted */
struct interrupter {
	const char	*name;
	void		(*interrupt)(void);
};

/* How the writer is run */
struct scenario {
	const char	*name;
	bool		at_end;		/* close to the end of a page */
	unsigned int	excess;	/* bytes by which the event is too long for the page */
	u64		advance;	/* of the clock, with each reading */
	unsigned int	coarse;		/* number of low bits of the clock that are 0 */
	unsigned int	second_after;	/* steps to a second interruption, 0: there is none */
	bool		discard;	/* the writer discards its event */
};

static struct trace_buffer *buffer;
static int cpu;
/* Bytes of data in each event; the first four are its number */
static unsigned int size;

/* The stepped writer and its interrupter change these, each time with one instruction */
static atomic64_t now;
static atomic_t nr_written, nr_discarded, nr_failed;

static u64 advance, last_time;
static unsigned int coarse;
static u32 nr_read;
static DECLARE_BITMAP(expected, MAX_EVENTS);
static DECLARE_BITMAP(seen, MAX_EVENTS);

/*
 * The writer calls interrupt() after step first_step, and once more after last_step, if that is
 * another one.
 */
static void (*interrupt)(void);
static unsigned long first_step, last_step, step;
static bool stepping;

/* The first condition that did not hold. interrupt() must not print: it runs as an NMI does. */
static const char *failed_condition;

#define expect(condition)							\
	do {									\
		if (!(condition) && !failed_condition)					\
			failed_condition = #condition;					\
	} while (0)

static u64 notrace coarse_time(u64 time)
{
	return time >> coarse << coarse;
}

static u64 notrace test_clock(void)
{
	return coarse_time(atomic64_add_return(advance, &now));
}

/* What the clock has last returned */
static u64 last_reading(void)
{
	return coarse_time(atomic64_read(&now));
}

/* The bytes that an event with @bytes of data takes, without a time stamp */
static unsigned int event_length(unsigned int bytes)
{
	unsigned int length = ALIGN(bytes, 4) + (bytes > 112 ? 8 : 4);

	return length == 12 ? 16 : length;
}

/* Returns where the event of @bytes ends on its page, or 0 if it could not be written. */
static unsigned long write_event(unsigned int bytes, bool discard)
{
	struct ring_buffer_event *event = ring_buffer_lock_reserve(buffer, bytes);
	unsigned long end;
	u32 number;

	if (!event) {
		atomic_inc(&nr_failed);
		return 0;
	}

	end = ((unsigned long)event & ~PAGE_MASK) - offsetof(struct test_page, data) +
		event_length(bytes);
	number = atomic_inc_return(&nr_written) - 1;
	memcpy(ring_buffer_event_data(event), &number, sizeof(number));
	if (discard) {
		atomic_inc(&nr_discarded);
		ring_buffer_discard_commit(buffer, event);
		return end;
	}

	set_bit(number % MAX_EVENTS, expected);
	ring_buffer_unlock_commit(buffer);
	return end;
}

static void write_one(void)
{
	write_event(size, false);
}

static void discard_one(void)
{
	write_event(size, true);
}

static void write_and_discard(void)
{
	write_event(size, false);
	write_event(size, true);
}

static void write_three(void)
{
	for (int i = 0; i < 3; i++)
		write_event(size, false);
}

/* Fills the page, and writes the first event of the next one. */
static void write_page(void)
{
	unsigned long end, last = 0;

	while ((end = write_event(size, false)) > last)
		last = end;
}

static void consume(void)
{
	struct ring_buffer_event *event;
	unsigned long lost;
	u32 number;
	u64 time;

	while ((event = ring_buffer_consume(buffer, cpu, &time, &lost))) {
		memcpy(&number, ring_buffer_event_data(event), sizeof(number));
		expect(number < atomic_read(&nr_written));
		number %= MAX_EVENTS;
		expect(test_bit(number, expected));
		expect(!__test_and_set_bit(number, seen));
		expect(time >= last_time);
		expect(time <= last_reading());
		last_time = time;
		nr_read++;
	}
}

static int on_debug(struct notifier_block *nb, unsigned long val, void *data)
{
	struct die_args *args = data;
	unsigned long *dr6 = (unsigned long *)args->err;

	/* Others may single-step, too, on other CPUs */
	if (val != DIE_DEBUG || user_mode(args->regs) || raw_smp_processor_id() != cpu ||
	    !stepping || !(*dr6 & DR_STEP))
		return NOTIFY_DONE;

	if (step == last_step) {
		args->regs->flags &= ~X86_EFLAGS_TF;
		stepping = false;
	}
	if (step == first_step || step == last_step)
		interrupt();
	step++;
	return NOTIFY_STOP;
}

static struct notifier_block debug_notifier = { .notifier_call = on_debug };

/*
 * Writes an event, and calls @fn after step @at, counted from 0, and once more @second_after
 * steps later, if that is not 0. Returns false if the writer ended before.
 */
static noinline bool write_stepped(unsigned long at, unsigned int second_after,
				   void (*fn)(void), bool discard)
{
	unsigned long flags;

	interrupt = fn;
	first_step = at;
	last_step = at + second_after;
	step = 0;

	local_irq_save(flags);
	stepping = true;
	asm volatile("pushf; orl %0, (%%rsp); popf" : : "i" (X86_EFLAGS_TF) : "memory", "cc");
	write_event(size, discard);
	asm volatile("pushf; andl %0, (%%rsp); popf" : : "i" (~X86_EFLAGS_TF) : "memory", "cc");
	stepping = false;
	local_irq_restore(flags);

	return step > last_step;
}

/* Writes events until @room bytes are left on the page. */
static void fill_page(unsigned int room)
{
	const unsigned long wanted = CAPACITY - room;
	unsigned long end = 0;

	do {
		if (end + 512 < wanted)
			end = write_event(400, false);
		else	/* 8 bytes with the header, or 20 if the rest is no multiple of 8 */
			end = write_event((wanted - end) % 8 ? 16 : 4, false);
		consume();
	} while (end && end != wanted);
}

static void start_run(const struct scenario *scenario)
{
	consume();
	coarse = scenario->coarse;
	bitmap_zero(expected, MAX_EVENTS);
	bitmap_zero(seen, MAX_EVENTS);
	atomic_set(&nr_written, 0);
	atomic_set(&nr_discarded, 0);
	atomic_set(&nr_failed, 0);
	nr_read = 0;
	advance = 1 << coarse;
}

/* Returns false if the writer ended before step @at, so that @interrupter was not called. */
static bool run_once(const struct scenario *scenario, const struct interrupter *interrupter,
		     unsigned long at)
{
	bool interrupted;

	start_run(scenario);
	if (scenario->at_end)
		fill_page(event_length(size) - scenario->excess);

	advance = scenario->advance;
	interrupted = write_stepped(at, scenario->second_after, interrupter->interrupt,
				    scenario->discard);

	/* All that has been written has been committed */
	consume();
	expect(nr_read == atomic_read(&nr_written) - atomic_read(&nr_discarded));

	/* If the time stamps that the buffer keeps are wrong, these get wrong times, too */
	advance = 1 << coarse;
	write_event(size, false);
	write_event(size, false);
	consume();

	expect(last_time == last_reading());
	expect(!atomic_read(&nr_failed));
	expect(nr_read == atomic_read(&nr_written) - atomic_read(&nr_discarded));
	expect(bitmap_equal(expected, seen, MAX_EVENTS));
	return interrupted;
}

/* As run_once(), with a buffer that is full: events overwrite older ones. */
static bool run_full(const struct scenario *scenario, const struct interrupter *interrupter,
		     unsigned long at)
{
	unsigned long overrun, end;
	bool interrupted;

	start_run(scenario);
	overrun = ring_buffer_overrun_cpu(buffer, cpu);
	for (int i = 0; i < 6; i++)
		write_page();
	/* write_page() ends with the first event of a page: go to the end of that page */
	do {
		end = write_event(size, false);
	} while (end && end + event_length(size) <= CAPACITY);

	interrupted = write_stepped(at, scenario->second_after, interrupter->interrupt, false);

	write_event(size, false);
	consume();
	overrun = ring_buffer_overrun_cpu(buffer, cpu) - overrun;

	expect(last_time == last_reading());
	expect(!atomic_read(&nr_failed));
	expect(overrun);
	expect(nr_read == atomic_read(&nr_written) - atomic_read(&nr_discarded) - overrun);
	return interrupted;
}

static const struct interrupter interrupters[] = {
	{ "a writer", write_one },
	{ "a writer that discards its event", discard_one },
	{ "a writer, and one that discards its event", write_and_discard },
	{ "three writers", write_three },
	{ "writers that go to the next page", write_page },
	{ "a reader", consume },
};

typedef bool (*run_t)(const struct scenario *, const struct interrupter *, unsigned long);

static void step_through(struct kunit *test, run_t run, const struct scenario *scenario,
			 const struct interrupter *interrupter)
{
	unsigned long at = 0;

	failed_condition = NULL;
	migrate_disable();
	cpu = raw_smp_processor_id();
	while (run(scenario, interrupter, at) && !failed_condition) {
		at++;
		cond_resched();
	}
	migrate_enable();

	if (failed_condition)
		KUNIT_FAIL(test, "%s, %u bytes, interrupted by %s after step %lu: not %s",
			   scenario->name, size, interrupter->name, at, failed_condition);
	else	/* A writer has more instructions, if the trap flag works */
		KUNIT_EXPECT_GT(test, at, 50);
}

static void step_all(struct kunit *test, run_t run, const struct scenario *scenario)
{
	/* A length above 112 does not fit in type_len, and is stored in array[0] */
	static const unsigned int sizes[] = { 4, 16, 112, 116, 400 };

	for (int s = 0; s < ARRAY_SIZE(sizes); s++) {
		size = sizes[s];
		for (int v = 0; v < ARRAY_SIZE(interrupters); v++) {
			/* A page of small events takes long */
			if (interrupters[v].interrupt == write_page && size < 100)
				continue;
			step_through(test, run, scenario, &interrupters[v]);
		}
	}
}

static void test_usual(struct kunit *test)
{
	static const struct scenario scenario = { "on the page", .advance = 1 };

	step_all(test, run_once, &scenario);
}

/* The clock does not advance: an event is as old as the one before. */
static void test_same_time(struct kunit *test)
{
	static const struct scenario scenario = { "at the same time", .advance = 0 };

	step_all(test, run_once, &scenario);
}

/* The clock advances with some of its readings. */
static void test_coarse_time(struct kunit *test)
{
	static const struct scenario scenarios[] = {
		{ "by a coarse clock", .advance = 1, .coarse = 1 },
		{ "by a coarser clock", .advance = 1, .coarse = 2 },
		{ "by a coarse clock, twice", .advance = 1, .coarse = 1, .second_after = 9 },
		{ "by a coarse clock, on the next page", .advance = 1, .coarse = 1,
		  .at_end = true, .excess = 4 },
		{ "by a coarse clock, discarded", .advance = 4, .coarse = 1, .discard = true },
	};

	for (int i = 0; i < ARRAY_SIZE(scenarios); i++)
		step_all(test, run_once, &scenarios[i]);
}

/* The writer is interrupted twice. */
static void test_twice(struct kunit *test)
{
	static const struct scenario scenarios[] = {
		{ "twice, 1 step apart", .advance = 1, .second_after = 1 },
		{ "twice, 4 steps apart", .advance = 1, .second_after = 4 },
		{ "twice, 15 steps apart", .advance = 1, .second_after = 15 },
		{ "twice, 50 steps apart", .advance = 1, .second_after = 50 },
	};

	for (int i = 0; i < ARRAY_SIZE(scenarios); i++)
		step_all(test, run_once, &scenarios[i]);
}

/* The time since the last event does not fit its header. */
static void test_time_extend(struct kunit *test)
{
	static const struct scenario scenario = { "much later", .advance = 1 << 28 };

	step_all(test, run_once, &scenario);
}

static void test_end_of_page(struct kunit *test)
{
	static const struct scenario scenarios[] = {
		{ "the last on the page", .at_end = true, .advance = 1 },
		{ "4 bytes too long", .at_end = true, .excess = 4, .advance = 1 },
		{ "8 bytes too long", .at_end = true, .excess = 8, .advance = 1 },
		{ "much later, on the next page", .at_end = true, .excess = 4,
		  .advance = 1 << 28 },
	};

	for (int i = 0; i < ARRAY_SIZE(scenarios); i++)
		step_all(test, run_once, &scenarios[i]);
}

/*
 * The clock advances by 2: a discarded event that stays on the page has a delta of 1 instead of
 * 0, and readers take that for 0.
 */
static void test_discard(struct kunit *test)
{
	static const struct scenario scenarios[] = {
		{ "discarded", .advance = 2, .discard = true },
		{ "discarded, much later", .advance = 1 << 28, .discard = true },
		{ "discarded on the next page", .at_end = true, .excess = 4, .advance = 2,
		  .discard = true },
	};

	for (int i = 0; i < ARRAY_SIZE(scenarios); i++)
		step_all(test, run_once, &scenarios[i]);
}

static void test_absolute(struct kunit *test)
{
	static const struct scenario scenario = { "with an absolute time stamp", .advance = 1 };

	ring_buffer_set_time_stamp_abs(buffer, true);
	step_all(test, run_once, &scenario);
	ring_buffer_set_time_stamp_abs(buffer, false);
}

static void test_overwrite(struct kunit *test)
{
	static const struct scenario scenario = { "in a full buffer" };

	size = 400;
	for (int v = 0; v < ARRAY_SIZE(interrupters); v++) {
		/* A reader would spin until the writer has finished, which it interrupts */
		if (interrupters[v].interrupt != consume)
			step_through(test, run_full, &scenario, &interrupters[v]);
	}
}

static struct kunit_case test_cases[] = {
	KUNIT_CASE_SLOW(test_usual),
	KUNIT_CASE_SLOW(test_same_time),
	KUNIT_CASE_SLOW(test_coarse_time),
	KUNIT_CASE_SLOW(test_twice),
	KUNIT_CASE_SLOW(test_time_extend),
	KUNIT_CASE_SLOW(test_end_of_page),
	KUNIT_CASE_SLOW(test_discard),
	KUNIT_CASE_SLOW(test_absolute),
	KUNIT_CASE_SLOW(test_overwrite),
	{}
};

/* A buffer for each case: one that the ring buffer finds broken stays disabled. */
static int init_case(struct kunit *test)
{
	buffer = ring_buffer_alloc(4 * PAGE_SIZE, RB_FL_OVERWRITE);
	if (!buffer)
		return -ENOMEM;

	ring_buffer_set_clock(buffer, test_clock);
	return 0;
}

static void exit_case(struct kunit *test)
{
	if (buffer)
		ring_buffer_free(buffer);
	buffer = NULL;
}

static int init_suite(struct kunit_suite *suite)
{
	return register_die_notifier(&debug_notifier);
}

static void exit_suite(struct kunit_suite *suite)
{
	unregister_die_notifier(&debug_notifier);
}

static struct kunit_suite suite = {
	.name = "ring_buffer_step",
	.suite_init = init_suite,
	.suite_exit = exit_suite,
	.init = init_case,
	.exit = exit_case,
	.test_cases = test_cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests that interrupt a writer of the ring buffer at each instruction");
MODULE_LICENSE("GPL");

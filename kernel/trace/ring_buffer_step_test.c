// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the ring buffer: a writer is interrupted at each of its instructions.
 *
 * A writer runs with the trap flag set, so that each of its instructions raises a debug
 * exception. After one of these instructions, the handler of the exception does something
 * else: it writes to the buffer, as an NMI may do there, or reads, as another CPU may do, in
 * some tests once more some instructions later. Then the writer goes on without the trap flag.
 * This is repeated for each instruction of the writer, at each kind of place that its event
 * may be written to.
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
struct visitor {
	const char	*name;
	void		(*visit)(void);
};

/* Where the event of the writer lies, when, and what becomes of it */
struct place {
	const char	*name;
	bool		at_end;		/* close to the end of a page */
	unsigned int	lacking;	/* bytes by which the event is too long for the page */
	u64		advance;	/* of the clock, with each reading */
	unsigned int	coarse;		/* so many of the lowest bits of the clock are 0 */
	unsigned int	again;		/* steps until the second visit, 0 if there is none */
	bool		discard;	/* the writer discards its event */
};

static struct trace_buffer *buffer;
static int cpu;
/* Bytes of data in each event; the first four are its number */
static unsigned int size;

/* The stepped writer and its visitor change these, each time with one instruction */
static atomic64_t now;
static atomic_t nr_written, nr_discarded, nr_failed;

static u64 advance, last_time;
static unsigned int coarse;
static u32 nr_read;
static DECLARE_BITMAP(expected, MAX_EVENTS);
static DECLARE_BITMAP(seen, MAX_EVENTS);

/*
 * The steps of the writer: after step visit_at, visit() is called, and after visit_last once
 * more, if that is another one
 */
static void (*visit)(void);
static unsigned long visit_at, visit_last, step;
static bool stepping;

/* The first condition that did not hold. A visitor must not print: it runs as an NMI does. */
static const char *complaint;

#define expect(condition)							\
	do {									\
		if (!(condition) && !complaint)					\
			complaint = #condition;					\
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

	if (step == visit_last) {
		args->regs->flags &= ~X86_EFLAGS_TF;
		stepping = false;
	}
	if (step == visit_at || step == visit_last)
		visit();
	step++;
	return NOTIFY_STOP;
}

static struct notifier_block debug_notifier = { .notifier_call = on_debug };

/*
 * Writes an event, and calls @fn after step @at, counted from 0, and after @again more steps
 * once more. Returns false if the writer ended before.
 */
static noinline bool write_stepped(unsigned long at, unsigned int again, void (*fn)(void),
				   bool discard)
{
	unsigned long flags;

	visit = fn;
	visit_at = at;
	visit_last = at + again;
	step = 0;

	local_irq_save(flags);
	stepping = true;
	asm volatile("pushf; orl %0, (%%rsp); popf" : : "i" (X86_EFLAGS_TF) : "memory", "cc");
	write_event(size, discard);
	asm volatile("pushf; andl %0, (%%rsp); popf" : : "i" (~X86_EFLAGS_TF) : "memory", "cc");
	stepping = false;
	local_irq_restore(flags);

	return step > visit_last;
}

/* Writes events until @room bytes are left on the page. */
static void fill_page(unsigned int room)
{
	const unsigned long wanted = CAPACITY - room;
	unsigned long end = 0;

	do {
		if (end + 512 < wanted)
			end = write_event(400, false);
		else	/* Of 8 bytes, or of 20 bytes if that does not come out even */
			end = write_event((wanted - end) % 8 ? 16 : 4, false);
		consume();
	} while (end && end != wanted);
}

static void start_run(void)
{
	consume();
	bitmap_zero(expected, MAX_EVENTS);
	bitmap_zero(seen, MAX_EVENTS);
	atomic_set(&nr_written, 0);
	atomic_set(&nr_discarded, 0);
	atomic_set(&nr_failed, 0);
	nr_read = 0;
	advance = 1 << coarse;
}

/* Returns false if the writer ended before step @at, so that @visitor was not called. */
static bool run_once(const struct place *place, const struct visitor *visitor, unsigned long at)
{
	bool visited;

	coarse = place->coarse;
	start_run();
	if (place->at_end)
		fill_page(event_length(size) - place->lacking);

	advance = place->advance;
	visited = write_stepped(at, place->again, visitor->visit, place->discard);

	/* All that has been written has been committed */
	consume();
	expect(nr_read == atomic_read(&nr_written) - atomic_read(&nr_discarded));

	/* Two more events: the time stamps that the buffer keeps would make them wrong */
	advance = 1 << coarse;
	write_event(size, false);
	write_event(size, false);
	consume();

	expect(last_time == last_reading());
	expect(!atomic_read(&nr_failed));
	expect(nr_read == atomic_read(&nr_written) - atomic_read(&nr_discarded));
	expect(bitmap_equal(expected, seen, MAX_EVENTS));
	return visited;
}

/* As run_once(), with a buffer that is full: events overwrite older ones. */
static bool run_full(const struct place *place, const struct visitor *visitor, unsigned long at)
{
	unsigned long overrun, end;
	bool visited;

	start_run();
	overrun = ring_buffer_overrun_cpu(buffer, cpu);
	for (int i = 0; i < 6; i++)
		write_page();
	/* write_page() ends with the first event of a page: go to the end of that page */
	do {
		end = write_event(size, false);
	} while (end && end + event_length(size) <= CAPACITY);

	visited = write_stepped(at, place->again, visitor->visit, false);

	write_event(size, false);
	consume();
	overrun = ring_buffer_overrun_cpu(buffer, cpu) - overrun;

	expect(last_time == last_reading());
	expect(!atomic_read(&nr_failed));
	expect(overrun);
	expect(nr_read == atomic_read(&nr_written) - atomic_read(&nr_discarded) - overrun);
	return visited;
}

static const struct visitor visitors[] = {
	{ "a writer", write_one },
	{ "a writer that discards its event", discard_one },
	{ "a writer, and one that discards its event", write_and_discard },
	{ "three writers", write_three },
	{ "writers that go to the next page", write_page },
	{ "a reader", consume },
};

typedef bool (*run_t)(const struct place *, const struct visitor *, unsigned long);

static void step_through(struct kunit *test, run_t run, const struct place *place,
			 const struct visitor *visitor)
{
	unsigned long at = 0;

	complaint = NULL;
	migrate_disable();
	cpu = raw_smp_processor_id();
	while (run(place, visitor, at) && !complaint) {
		at++;
		cond_resched();
	}
	migrate_enable();

	/* A writer has more instructions: else, the trap flag did not work */
	KUNIT_EXPECT_GT(test, at, 50);
	if (complaint)
		KUNIT_FAIL(test, "%s, %u bytes, visited by %s after step %lu: not %s",
			   place->name, size, visitor->name, at, complaint);
}

static void step_all(struct kunit *test, run_t run, const struct place *place)
{
	/* A length above 112 does not fit in type_len, and is stored in array[0] */
	static const unsigned int sizes[] = { 4, 16, 112, 116, 400 };

	for (int s = 0; s < ARRAY_SIZE(sizes); s++) {
		size = sizes[s];
		for (int v = 0; v < ARRAY_SIZE(visitors); v++) {
			/* A page of small events takes long */
			if (visitors[v].visit == write_page && size < 100)
				continue;
			step_through(test, run, place, &visitors[v]);
		}
	}
}

static void test_usual(struct kunit *test)
{
	static const struct place place = { "on the page", .advance = 1 };

	step_all(test, run_once, &place);
}

/* The clock does not advance: an event is as old as the one before. */
static void test_same_time(struct kunit *test)
{
	static const struct place place = { "at the same time", .advance = 0 };

	step_all(test, run_once, &place);
}

/* The clock advances with some of its readings. */
static void test_coarse_time(struct kunit *test)
{
	static const struct place places[] = {
		{ "by a coarse clock", .advance = 1, .coarse = 1 },
		{ "by a coarser clock", .advance = 1, .coarse = 2 },
	};

	for (int i = 0; i < ARRAY_SIZE(places); i++)
		step_all(test, run_once, &places[i]);
}

/* The writer is interrupted twice. */
static void test_twice(struct kunit *test)
{
	static const struct place places[] = {
		{ "twice, 1 step apart", .advance = 1, .again = 1 },
		{ "twice, 4 steps apart", .advance = 1, .again = 4 },
		{ "twice, 15 steps apart", .advance = 1, .again = 15 },
		{ "twice, 50 steps apart", .advance = 1, .again = 50 },
	};

	for (int i = 0; i < ARRAY_SIZE(places); i++)
		step_all(test, run_once, &places[i]);
}

/* The time since the last event does not fit its header. */
static void test_time_extend(struct kunit *test)
{
	static const struct place place = { "much later", .advance = 1 << 28 };

	step_all(test, run_once, &place);
}

static void test_end_of_page(struct kunit *test)
{
	static const struct place places[] = {
		{ "the last on the page", .at_end = true, .advance = 1 },
		{ "4 bytes too long", .at_end = true, .lacking = 4, .advance = 1 },
		{ "8 bytes too long", .at_end = true, .lacking = 8, .advance = 1 },
		{ "much later, on the next page", .at_end = true, .lacking = 4,
		  .advance = 1 << 28 },
	};

	for (int i = 0; i < ARRAY_SIZE(places); i++)
		step_all(test, run_once, &places[i]);
}

/* Readers take a delta of 1 of a discarded event for none: the clock advances by 2. */
static void test_discard(struct kunit *test)
{
	static const struct place places[] = {
		{ "discarded", .advance = 2, .discard = true },
		{ "discarded, much later", .advance = 1 << 28, .discard = true },
		{ "discarded on the next page", .at_end = true, .lacking = 4, .advance = 2,
		  .discard = true },
	};

	for (int i = 0; i < ARRAY_SIZE(places); i++)
		step_all(test, run_once, &places[i]);
}

static void test_absolute(struct kunit *test)
{
	static const struct place place = { "with an absolute time stamp", .advance = 1 };

	ring_buffer_set_time_stamp_abs(buffer, true);
	step_all(test, run_once, &place);
	ring_buffer_set_time_stamp_abs(buffer, false);
}

static void test_overwrite(struct kunit *test)
{
	static const struct place place = { "in a full buffer" };

	size = 400;
	for (int v = 0; v < ARRAY_SIZE(visitors); v++) {
		/* A reader would wait for the writer to finish, which it does not on this CPU. */
		if (visitors[v].visit != consume)
			step_through(test, run_full, &place, &visitors[v]);
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

// SPDX-License-Identifier: GPL-2.0
/*
 * Measures what an event costs in the ring buffer of the tracers, in a buffer of its own.
 * The unit is a nanosecond of the clock; with icount, that is an instruction. The figures go
 * to the kernel's log, as "NAME:SIZE FIGURE"; then loading fails.
 *
 * Some functions are not exported. Their addresses, from /proc/kallsyms, are parameters.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/ring_buffer.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/trace_clock.h>

#define NR_PAGES	64
#define TRIES		5
/* Events that are timed one by one: of 16 bytes, some more than a page */
#define NR_SINGLE	300
/* The time in an event has 27 bits: the time since the last one does not fit */
#define JUMP		BIT_ULL(27)

static unsigned int events = 2000;
module_param(events, uint, 0444);
MODULE_PARM_DESC(events, "Events that are written for each figure (default 2000)");

#define ADDRESS(name)							\
	static unsigned long name;					\
	module_param(name, ulong, 0400);				\
	MODULE_PARM_DESC(name, "Address of this function, which is not exported")

ADDRESS(ring_buffer_set_clock_at);
ADDRESS(ring_buffer_set_time_stamp_abs_at);
ADDRESS(ring_buffer_nest_start_at);
ADDRESS(ring_buffer_nest_end_at);
ADDRESS(trace_clock_counter_at);
ADDRESS(trace_clock_x86_tsc_at);

static char data[PAGE_SIZE];
static struct trace_buffer *buffer;
static struct buffer_data_read_page *spare;
static struct ring_buffer_iter *iter;
static int cpu;

static void set_clock(u64 (*clock)(void))
{
	((typeof(&ring_buffer_set_clock))ring_buffer_set_clock_at)(buffer, clock);
}

static void set_time_stamp_abs(bool abs)
{
	((typeof(&ring_buffer_set_time_stamp_abs))ring_buffer_set_time_stamp_abs_at)(buffer, abs);
}

static void nest_start(void)
{
	((typeof(&ring_buffer_nest_start))ring_buffer_nest_start_at)(buffer);
}

static void nest_end(void)
{
	((typeof(&ring_buffer_nest_end))ring_buffer_nest_end_at)(buffer);
}

/* What is measured. Each does it @nr times; @size is that of the data of an event. */

static void nothing(unsigned int size, unsigned int nr)
{
	while (nr--)
		barrier();
}

/* Inlined: a call would be counted */
static __always_inline void write_one(unsigned int size)
{
	if (ring_buffer_lock_reserve(buffer, size))
		ring_buffer_unlock_commit(buffer);
}

static void reserve(unsigned int size, unsigned int nr)
{
	while (nr--)
		write_one(size);
}

static void copy(unsigned int size, unsigned int nr)
{
	while (nr--)
		ring_buffer_write(buffer, size, data);
}

static void discard(unsigned int size, unsigned int nr)
{
	struct ring_buffer_event *event;

	while (nr--) {
		event = ring_buffer_lock_reserve(buffer, size);
		if (event)
			ring_buffer_discard_commit(buffer, event);
	}
}

/* Events that are removed although there is a later one, which leaves a gap */
static void discard_nested(unsigned int size, unsigned int nr)
{
	struct ring_buffer_event *event;

	while (nr--) {
		event = ring_buffer_lock_reserve(buffer, size);
		write_one(size);
		if (event)
			ring_buffer_discard_commit(buffer, event);
	}
}

/* An event within another one, in the same context, as between two contexts */
static void nested_same(unsigned int size, unsigned int nr)
{
	struct ring_buffer_event *event;

	while (nr--) {
		event = ring_buffer_lock_reserve(buffer, size);
		write_one(size);
		if (event)
			ring_buffer_unlock_commit(buffer);
	}
}

static void nested_allowed(unsigned int size, unsigned int nr)
{
	struct ring_buffer_event *event;

	while (nr--) {
		event = ring_buffer_lock_reserve(buffer, size);
		nest_start();
		write_one(size);
		nest_end();
		if (event)
			ring_buffer_unlock_commit(buffer);
	}
}

/* The ring buffer knows the context of an event by the preemption count. */
static __always_inline void nested_in(unsigned int size, unsigned int nr, unsigned int context)
{
	struct ring_buffer_event *event;

	while (nr--) {
		event = ring_buffer_lock_reserve(buffer, size);
		__preempt_count_add(context);
		write_one(size);
		__preempt_count_sub(context);
		if (event)
			ring_buffer_unlock_commit(buffer);
	}
}

static void nested_softirq(unsigned int size, unsigned int nr)
{
	nested_in(size, nr, SOFTIRQ_OFFSET);
}

static void nested_irq(unsigned int size, unsigned int nr)
{
	nested_in(size, nr, HARDIRQ_OFFSET);
}

static void nested_nmi(unsigned int size, unsigned int nr)
{
	nested_in(size, nr, NMI_OFFSET + HARDIRQ_OFFSET);
}

/* An event in a context of its own, not within another one */
static void alone_irq(unsigned int size, unsigned int nr)
{
	__preempt_count_add(HARDIRQ_OFFSET);
	reserve(size, nr);
	__preempt_count_sub(HARDIRQ_OFFSET);
}

static void alone_nmi(unsigned int size, unsigned int nr)
{
	__preempt_count_add(NMI_OFFSET + HARDIRQ_OFFSET);
	reserve(size, nr);
	__preempt_count_sub(NMI_OFFSET + HARDIRQ_OFFSET);
}

/* How often a reader has found an event, or a page */
static unsigned long found;

static void consume(unsigned int size, unsigned int nr)
{
	while (nr--) {
		if (ring_buffer_consume(buffer, cpu, NULL, NULL))
			found++;
	}
}

static void iterate(unsigned int size, unsigned int nr)
{
	while (nr--) {
		if (ring_buffer_iter_peek(iter, NULL)) {
			found++;
			ring_buffer_iter_advance(iter);
		}
	}
}

static void read_page(unsigned int size, unsigned int nr)
{
	while (nr--) {
		if (ring_buffer_read_page(buffer, spare, PAGE_SIZE, cpu, 1) >= 0)
			found++;
	}
}

/* Clocks */

static u64 now;

/* Not slower than any other clock, and each event has another time */
static u64 notrace steps(void)
{
	return now += 20;
}

static u64 notrace jumps(void)
{
	return now += JUMP;
}

/* An NMI is to come */
static bool interrupt;
static unsigned int interrupt_size;

/*
 * A reserve reads the clock after it has looked at the buffer, and before it changes it: an
 * event that is written here is that of an NMI between the two.
 */
static u64 notrace interrupts(void)
{
	if (interrupt) {
		interrupt = false;
		__preempt_count_add(NMI_OFFSET + HARDIRQ_OFFSET);
		write_one(interrupt_size);
		__preempt_count_sub(NMI_OFFSET + HARDIRQ_OFFSET);
	}

	return now += 20;
}

static void interrupted(unsigned int size, unsigned int nr)
{
	interrupt_size = size;
	while (nr--) {
		interrupt = true;
		write_one(size);
	}
}

typedef void (*step_fn)(unsigned int size, unsigned int nr);

/* How many events have been written to the buffer since it was reset */
static unsigned long written(void)
{
	return ring_buffer_entries_cpu(buffer, cpu) + ring_buffer_overrun_cpu(buffer, cpu);
}

/* What the buffer has before the measurement */
enum state {
	EMPTY,		/* no event */
	FULL,		/* the next page has events */
};

static void prepare(enum state state, unsigned int size)
{
	ring_buffer_reset(buffer);
	if (state == FULL)
		reserve(size, NR_PAGES * PAGE_SIZE * 5 / 4 / (size + 4));
}

static u64 timed(step_fn step, unsigned int size, unsigned int nr)
{
	unsigned long flags;
	u64 start, end;

	local_irq_save(flags);
	start = ktime_get_mono_fast_ns();
	step(size, nr);
	end = ktime_get_mono_fast_ns();
	local_irq_restore(flags);

	return end - start;
}

/* Prints the least of some tries, less the empty loop. @want: events that each step adds */
static void measure(const char *name, enum state state, step_fn step, unsigned int size,
		    unsigned int nr, unsigned int want)
{
	u64 least = U64_MAX, empty = U64_MAX;
	unsigned long before;

	for (unsigned int i = 0; i < TRIES; i++) {
		prepare(state, size);
		before = written();
		least = min(least, timed(step, size, nr));
		before = written() - before;
		if (before != (unsigned long)want * nr) {
			pr_err("%s:%u adds %lu events, not %lu\n", name, size, before,
			       (unsigned long)want * nr);
			return;
		}
		empty = min(empty, timed(nothing, size, nr));
	}
	pr_info("%s:%u %llu\n", name, size, div_u64(least - empty + nr / 2, nr));
}

/* How many events of a size an empty buffer takes in any case */
static unsigned int fits(unsigned int size)
{
	unsigned int a_page = PAGE_SIZE / (size + 16);

	return min(events, (NR_PAGES - 4) * max(a_page, 1U));
}

static void measure_writes(unsigned int size)
{
	measure("reserve", FULL, reserve, size, events, 1);
	measure("write", FULL, copy, size, events, 1);
}

/* A buffer that does not overwrite: with room, and when it is full */
static void measure_keeping(unsigned int size)
{
	ring_buffer_change_overwrite(buffer, 0);
	measure("keep", EMPTY, reserve, size, fits(size), 1);
	measure("drop", FULL, reserve, size, events, 0);
	ring_buffer_change_overwrite(buffer, 1);
}

static void measure_contexts(unsigned int size)
{
	unsigned int nr = fits(size) / 2;

	measure("alone-irq", FULL, alone_irq, size, events, 1);
	measure("alone-nmi", FULL, alone_nmi, size, events, 1);
	measure("nested-same", EMPTY, nested_same, size, nr, 2);
	measure("nested-softirq", EMPTY, nested_softirq, size, nr, 2);
	measure("nested-irq", EMPTY, nested_irq, size, nr, 2);
	measure("nested-nmi", EMPTY, nested_nmi, size, nr, 2);
	if (ring_buffer_nest_start_at && ring_buffer_nest_end_at)
		measure("nested-allowed", EMPTY, nested_allowed, size, nr, 2);
	measure("discard", FULL, discard, size, events, 0);
	measure("discard-nested", EMPTY, discard_nested, size, nr, 1);
}

static void measure_disabled(unsigned int size)
{
	ring_buffer_record_disable(buffer);
	measure("disabled", EMPTY, reserve, size, events, 0);
	ring_buffer_record_enable(buffer);

	ring_buffer_record_off(buffer);
	measure("off", EMPTY, reserve, size, events, 0);
	ring_buffer_record_on(buffer);

	ring_buffer_record_disable_cpu(buffer, cpu);
	measure("disabled-cpu", EMPTY, reserve, size, events, 0);
	ring_buffer_record_enable_cpu(buffer, cpu);

	measure("too-long", EMPTY, reserve, PAGE_SIZE, events, 0);
}

/*
 * Events that are timed one by one: the first two in the buffer, a usual one, and the one that
 * takes most, which begins a page
 */
static void measure_single(const char *name, enum state state, unsigned int size)
{
	static u64 times[NR_SINGLE];
	u64 empty = U64_MAX, most = 0;

	memset(times, 0xff, sizeof(times));
	for (unsigned int i = 0; i < TRIES; i++) {
		prepare(state, size);
		for (unsigned int j = 0; j < NR_SINGLE; j++) {
			empty = min(empty, timed(nothing, size, 1));
			times[j] = min(times[j], timed(reserve, size, 1));
		}
	}
	for (unsigned int j = 1; j < NR_SINGLE; j++)
		most = max(most, times[j]);
	if (state == EMPTY) {
		pr_info("%s-first:%u %llu\n", name, size, times[0] - empty);
		pr_info("%s-second:%u %llu\n", name, size, times[1] - empty);
	}
	pr_info("%s-usual:%u %llu\n", name, size, times[NR_SINGLE / 10] - empty);
	pr_info("%s-crossing:%u %llu\n", name, size, most - empty);
}

static void measure_clock(const char *name, u64 (*clock)(void), unsigned int size)
{
	char figure[32];

	if (!clock)
		return;
	set_clock(clock);
	snprintf(figure, sizeof(figure), "clock-%s", name);
	measure(figure, FULL, reserve, size, events, 1);
}

static void measure_clocks(unsigned int size)
{
	measure_clock("local", trace_clock_local, size);
	measure_clock("global", trace_clock_global, size);
	measure_clock("counter", (void *)trace_clock_counter_at, size);
	measure_clock("uptime", trace_clock_jiffies, size);
	measure_clock("perf", trace_clock, size);
	measure_clock("mono", ktime_get_mono_fast_ns, size);
	measure_clock("mono_raw", ktime_get_raw_fast_ns, size);
	measure_clock("boot", ktime_get_boot_fast_ns, size);
	measure_clock("tai", ktime_get_tai_fast_ns, size);
	measure_clock("x86-tsc", (void *)trace_clock_x86_tsc_at, size);
	measure_clock("steps", steps, size);
	measure_clock("jumps", jumps, size);

	set_clock(interrupts);
	measure("interrupted", EMPTY, interrupted, size, fits(size) / 3, 2);
	set_clock(trace_clock_local);

	if (ring_buffer_set_time_stamp_abs_at) {
		set_time_stamp_abs(true);
		measure("absolute", FULL, reserve, size, events, 1);
		set_time_stamp_abs(false);
	}
}

/* Reads a full buffer, in which each step finds an event or a page */
static void measure_reads(unsigned int size)
{
	u64 by_iter = U64_MAX, by_event = U64_MAX, by_page = U64_MAX, empty = U64_MAX;
	unsigned int nr = fits(size), pages = NR_PAGES / 2;

	found = 0;
	for (unsigned int i = 0; i < TRIES; i++) {
		empty = min(empty, timed(nothing, size, nr));
		prepare(FULL, size);
		iter = ring_buffer_read_start(buffer, cpu, GFP_KERNEL);
		if (!iter)
			return;
		by_iter = min(by_iter, timed(iterate, size, nr));
		ring_buffer_read_finish(iter);
		by_event = min(by_event, timed(consume, size, nr));
		prepare(FULL, size);
		by_page = min(by_page, timed(read_page, size, pages));
	}
	if (found != TRIES * (2 * nr + pages)) {
		pr_err("a reader adds up to %lu, not %u\n", found, TRIES * (2 * nr + pages));
		return;
	}
	pr_info("iterate:%u %llu\n", size, div_u64(by_iter - empty, nr));
	pr_info("consume:%u %llu\n", size, div_u64(by_event - empty, nr));
	pr_info("read-page:%u %llu\n", size, div_u64(by_page, pages));
	measure("consume-empty", EMPTY, consume, size, nr, 0);
}

/* The last one is the most that a page of 4096 bytes takes. */
static const unsigned int sizes[] = {
	4, 8, 12, 16, 24, 32, 64, 112, 113, 116, 128, 256, 512, 1024, 2048, 4000, 4072
};

static void measure_all(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++)
		measure_writes(sizes[i]);
	measure("room", EMPTY, reserve, 16, fits(16), 1);
	measure_keeping(16);
	measure_contexts(16);
	measure_disabled(16);
	measure_single("room", EMPTY, 16);
	measure_single("overwrite", FULL, 16);
	if (ring_buffer_set_clock_at)
		measure_clocks(16);
	measure_reads(16);
}

static int __init record_bench_init(void)
{
	memset(data, 'x', sizeof(data));
	buffer = ring_buffer_alloc(NR_PAGES * PAGE_SIZE, RB_FL_OVERWRITE);
	if (!buffer)
		return -ENOMEM;

	migrate_disable();
	cpu = raw_smp_processor_id();
	if (!ring_buffer_alloc_read_page(buffer, cpu, &spare)) {
		measure_all();
		ring_buffer_free_read_page(buffer, cpu, spare);
	}
	migrate_enable();
	ring_buffer_free(buffer);

	return -EAGAIN;
}
module_init(record_bench_init);

MODULE_DESCRIPTION("What an event of the ring buffer of the tracers costs");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of GTSC: what needs no reader in user space.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/gtsc.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/ring_buffer.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "gtsc.h"
#include "read.h"

#define TEST_ROOT	"gtsc_kunit"

/* Sub-buffers, written by hand as the ring buffer writes them */

struct page_writer {
	struct gtsc_page	*page;
	unsigned int		pos;
};

static struct page_writer new_page(struct kunit *test, u64 time)
{
	struct page_writer w = { .page = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL) };

	KUNIT_ASSERT_NOT_NULL(test, w.page);
	w.page->time = time;

	return w;
}

static struct ring_buffer_event *put_event(struct page_writer *w, unsigned int type,
					   unsigned int delta, unsigned int words)
{
	struct ring_buffer_event *event = (void *)(w->page->data + w->pos);

	event->type_len = type;
	event->time_delta = delta;
	w->pos += sizeof(*event) + words * sizeof(u32);
	local_set(&w->page->commit, w->pos);

	return event;
}

/* A record of @len bytes, all of them @fill */
static void put_record(struct page_writer *w, unsigned int delta, u32 len, u8 fill)
{
	unsigned int words = DIV_ROUND_UP(sizeof(struct gtsc_slot) + len, sizeof(u32));
	struct ring_buffer_event *event;
	struct gtsc_slot *slot;

	if (words <= RINGBUF_TYPE_DATA_TYPE_LEN_MAX) {
		event = put_event(w, words, delta, words);
		slot = (struct gtsc_slot *)event->array;
	} else {
		event = put_event(w, 0, delta, words + 1);
		event->array[0] = (words + 1) * sizeof(u32);
		slot = (struct gtsc_slot *)(event->array + 1);
	}
	slot->len = len;
	memset(slot->data, fill, len);
}

static void expect_record(struct kunit *test, struct gtsc_cursor *cursor, u64 time,
			  u32 len, u8 fill)
{
	struct gtsc_record record;

	KUNIT_ASSERT_TRUE(test, gtsc_next_in_page(cursor, &record));
	KUNIT_EXPECT_EQ(test, record.time, time);
	KUNIT_EXPECT_EQ(test, record.len, len);
	KUNIT_EXPECT_NULL(test, memchr_inv(record.data, fill, len));
}

static void expect_end(struct kunit *test, struct gtsc_cursor *cursor)
{
	struct gtsc_record record;

	KUNIT_EXPECT_FALSE(test, gtsc_next_in_page(cursor, &record));
	KUNIT_EXPECT_FALSE(test, gtsc_next_in_page(cursor, &record));
}

static void test_page_lengths(struct kunit *test)
{
	struct page_writer w = new_page(test, 1000);
	/* Around the largest record whose length is in its event's header */
	static const u32 lengths[] = { 1, 2, 3, 4, 5, 7, 8, 13, 107, 108, 109, 112, 1024 };
	struct gtsc_cursor cursor;

	for (int i = 0; i < ARRAY_SIZE(lengths); i++)
		put_record(&w, i, lengths[i], i + 1);

	gtsc_open_page(&cursor, w.page);
	for (int i = 0, time = 1000; i < ARRAY_SIZE(lengths); i++) {
		time += i;
		expect_record(test, &cursor, time, lengths[i], i + 1);
	}
	expect_end(test, &cursor);
}

/* The same lengths, in a page that the ring buffer has written */
static void test_real_page(struct kunit *test)
{
	struct trace_buffer *buffer = ring_buffer_alloc(PAGE_SIZE, 0);
	static const u32 lengths[] = { 1, 2, 3, 4, 5, 8, 13, 107, 108, 109, 111, 112, 113, 1024 };
	struct buffer_data_read_page *page = NULL;
	struct ring_buffer_event *event;
	struct gtsc_cursor cursor;
	struct gtsc_record record;
	struct gtsc_slot *slot;
	u64 before, time = 0;
	int cpu, ret;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	before = ring_buffer_time_stamp(buffer);
	migrate_disable();
	cpu = smp_processor_id();
	for (int i = 0; i < ARRAY_SIZE(lengths); i++) {
		event = ring_buffer_lock_reserve(buffer, sizeof(*slot) + lengths[i]);
		if (!event)
			break;
		slot = ring_buffer_event_data(event);
		slot->len = lengths[i];
		memset(slot->data, i + 1, lengths[i]);
		if (i % 5 == 4)
			ring_buffer_discard_commit(buffer, event);
		else
			ring_buffer_unlock_commit(buffer);
	}
	migrate_enable();

	ret = ring_buffer_alloc_read_page(buffer, cpu, &page);
	if (!ret)
		ret = ring_buffer_read_page(buffer, page, PAGE_SIZE, cpu, 0);
	KUNIT_EXPECT_GE(test, ret, 0);
	if (ret < 0)
		goto out;

	gtsc_open_page(&cursor, ring_buffer_read_page_data(page));
	for (int i = 0; i < ARRAY_SIZE(lengths); i++) {
		if (i % 5 == 4)
			continue;
		KUNIT_EXPECT_TRUE(test, gtsc_next_in_page(&cursor, &record));
		KUNIT_EXPECT_EQ(test, record.len, lengths[i]);
		KUNIT_EXPECT_NULL(test, memchr_inv(record.data, i + 1, record.len));
		KUNIT_EXPECT_GE(test, record.time, max(time, before));
		time = record.time;
	}
	KUNIT_EXPECT_LE(test, time, ring_buffer_time_stamp(buffer));
	expect_end(test, &cursor);
out:
	if (page)
		ring_buffer_free_read_page(buffer, cpu, page);
	ring_buffer_free(buffer);
}

static void test_page_times(struct kunit *test)
{
	const u64 base = 0x1800000000000000ULL + 5;
	struct page_writer w = new_page(test, base);
	struct ring_buffer_event *event;
	struct gtsc_cursor cursor;

	put_record(&w, 10, 8, 1);
	event = put_event(&w, RINGBUF_TYPE_TIME_EXTEND, 3, 1);
	event->array[0] = 2;
	put_record(&w, 0, 8, 2);
	/* 59 bits of the time; those above stay */
	event = put_event(&w, RINGBUF_TYPE_TIME_STAMP, 7, 1);
	event->array[0] = 100;
	put_record(&w, 0, 8, 3);
	put_record(&w, 1, 8, 4);

	gtsc_open_page(&cursor, w.page);
	expect_record(test, &cursor, base + 10, 8, 1);
	expect_record(test, &cursor, base + 10 + (2ULL << 27) + 3, 8, 2);
	expect_record(test, &cursor, 0x1800000000000000ULL + (100ULL << 27) + 7, 8, 3);
	expect_record(test, &cursor, 0x1800000000000000ULL + (100ULL << 27) + 8, 8, 4);
	expect_end(test, &cursor);
}

static void test_page_padding(struct kunit *test)
{
	struct page_writer w = new_page(test, 0);
	struct ring_buffer_event *event;
	struct gtsc_cursor cursor;

	/* A discarded record has a time that others are counted from */
	event = put_event(&w, RINGBUF_TYPE_PADDING, 5, 3);
	event->array[0] = 12;
	/* One that had none is told by 1 */
	event = put_event(&w, RINGBUF_TYPE_PADDING, 1, 2);
	event->array[0] = 8;
	put_record(&w, 2, 4, 1);
	/* And this is the rest of the page */
	put_event(&w, RINGBUF_TYPE_PADDING, 0, 20);

	gtsc_open_page(&cursor, w.page);
	expect_record(test, &cursor, 7, 4, 1);
	expect_end(test, &cursor);

	w = new_page(test, 0);
	gtsc_open_page(&cursor, w.page);
	expect_end(test, &cursor);
}

static void test_page_flags(struct kunit *test)
{
	struct page_writer w = new_page(test, 0);
	struct gtsc_cursor cursor;

	put_record(&w, 1, 4, 1);
	/* Records were lost before this page, and their number is behind its end */
	local_set(&w.page->commit, w.pos | BIT(31) | BIT(30));
	put_record(&w, 1, 4, 2);
	local_set(&w.page->commit, 12 | BIT(31) | BIT(30));

	gtsc_open_page(&cursor, w.page);
	expect_record(test, &cursor, 1, 4, 1);
	expect_end(test, &cursor);
}

/* Names and sizes */

static void test_names(struct kunit *test)
{
	char name[TRACE_NAME_MAX + 2];

	memset(name, 'x', sizeof(name));
	name[TRACE_NAME_MAX + 1] = '\0';
	KUNIT_EXPECT_EQ(test, gtsc_check_name(name), -ENAMETOOLONG);
	name[TRACE_NAME_MAX] = '\0';
	KUNIT_EXPECT_EQ(test, gtsc_check_name(name), 0);
	name[10] = '/';
	KUNIT_EXPECT_EQ(test, gtsc_check_name(name), -EINVAL);
	KUNIT_EXPECT_EQ(test, gtsc_check_name(""), -EINVAL);
	KUNIT_EXPECT_EQ(test, gtsc_check_name(NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, gtsc_check_name("."), -EINVAL);
	KUNIT_EXPECT_EQ(test, gtsc_check_name(".."), -EINVAL);
	KUNIT_EXPECT_EQ(test, gtsc_check_name("..."), 0);
	KUNIT_EXPECT_EQ(test, gtsc_check_name("x"), 0);
}

static void test_orders(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, gtsc_order(0), -EINVAL);
	KUNIT_EXPECT_EQ(test, gtsc_order(1), 0);
	KUNIT_EXPECT_EQ(test, gtsc_order(PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, gtsc_order(PAGE_SIZE + 1), 1);
	KUNIT_EXPECT_EQ(test, gtsc_order(5 * PAGE_SIZE), 3);
	KUNIT_EXPECT_EQ(test, gtsc_order(PAGE_SIZE << GTSC_MAX_ORDER), GTSC_MAX_ORDER);
	KUNIT_EXPECT_EQ(test, gtsc_order((PAGE_SIZE << GTSC_MAX_ORDER) + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, gtsc_order(UINT_MAX), -EINVAL);
}

/* Channels */

static void test_setup_errors(struct kunit *test)
{
	struct trace_info *trace;

	KUNIT_EXPECT_PTR_EQ(test, trace_setup(TEST_ROOT, "x", 0, 8, 0), ERR_PTR(-EINVAL));
	KUNIT_EXPECT_PTR_EQ(test, trace_setup(TEST_ROOT, "x", 4096, 0, 0), ERR_PTR(-EINVAL));
	KUNIT_EXPECT_PTR_EQ(test, trace_setup(TEST_ROOT, "x/y", 4096, 8, 0), ERR_PTR(-EINVAL));
	KUNIT_EXPECT_PTR_EQ(test, trace_setup("", "x", 4096, 8, 0), ERR_PTR(-EINVAL));
	KUNIT_EXPECT_PTR_EQ(test, trace_setup(TEST_ROOT, "x", 4096, 8, 0x100), ERR_PTR(-EINVAL));
	KUNIT_EXPECT_PTR_EQ(test, trace_setup(TEST_ROOT, "x", 4096, 8, TRACE_PANIC_CHANNEL),
			    ERR_PTR(-EINVAL));
	KUNIT_EXPECT_PTR_EQ(test, trace_setup(TEST_ROOT, "x", SZ_512K, UINT_MAX, 0),
			    ERR_PTR(-ENOMEM));

	/* Nothing is left of them: the name is free */
	trace = trace_setup(TEST_ROOT, "x", 4096, 8, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace);
	KUNIT_EXPECT_PTR_EQ(test, trace_setup(TEST_ROOT, "x", 4096, 8, 0), ERR_PTR(-EEXIST));
	trace_cleanup(trace);
}

static void test_states(struct kunit *test)
{
	struct trace_info *trace = trace_setup(TEST_ROOT, "x", 4096, 8, 0);
	struct trace_record record;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace);
	KUNIT_EXPECT_EQ(test, trace_stop(trace), -EINVAL);
	KUNIT_EXPECT_FALSE(test, trace_running(trace));
	KUNIT_EXPECT_EQ(test, trace_write(trace, "x", 1), -ESHUTDOWN);
	KUNIT_EXPECT_NULL(test, trace_reserve(trace, &record, 1));

	KUNIT_EXPECT_EQ(test, trace_start(trace), 0);
	KUNIT_EXPECT_EQ(test, trace_start(trace), -EINVAL);
	KUNIT_EXPECT_TRUE(test, trace_running(trace));
	KUNIT_EXPECT_EQ(test, trace_resize(trace, 4096, 16), -EBUSY);

	KUNIT_EXPECT_EQ(test, trace_stop(trace), 0);
	KUNIT_EXPECT_EQ(test, trace_stop(trace), -EINVAL);
	KUNIT_EXPECT_EQ(test, trace_resize(trace, 4096, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, trace_resize(trace, (PAGE_SIZE << GTSC_MAX_ORDER) + 1, 8), -EINVAL);
	KUNIT_EXPECT_EQ(test, trace_resize(trace, 8192, 16), 0);
	KUNIT_EXPECT_EQ(test, trace_start(trace), 0);
	trace_cleanup(trace);
}

static void test_write(struct kunit *test)
{
	struct trace_info *trace = trace_setup(TEST_ROOT, "x", 4096, 2, 0);
	char *data = kunit_kzalloc(test, 2 * PAGE_SIZE, GFP_KERNEL);
	struct trace_record record;
	int nr = 0, ret;

	KUNIT_ASSERT_NOT_NULL(test, data);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace);
	KUNIT_ASSERT_EQ(test, trace_start(trace), 0);

	KUNIT_EXPECT_EQ(test, trace_write(trace, data, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, trace_write(trace, data, 2 * PAGE_SIZE), -E2BIG);
	KUNIT_EXPECT_EQ(test, trace_write(trace, data, SIZE_MAX), -E2BIG);
	KUNIT_EXPECT_EQ(test, trace_printf(trace, "%d", 42), 2);
	KUNIT_EXPECT_EQ(test, trace_printf(trace, "%*d", 127, 42), 127);
	KUNIT_EXPECT_EQ(test, trace_printf(trace, "%*d", 128, 42), 128);
	KUNIT_EXPECT_EQ(test, trace_printf(trace, "%*d", 1000, 42), 1000);
	KUNIT_EXPECT_EQ(test, trace_printf(trace, "%*d", (int)PAGE_SIZE, 42), -E2BIG);

	KUNIT_ASSERT_NOT_NULL(test, trace_reserve(trace, &record, 100));
	memset(record.data, 1, 100);
	trace_trim(&record, 50);
	trace_commit(trace, &record);
	KUNIT_ASSERT_NOT_NULL(test, trace_reserve(trace, &record, 100));
	trace_discard(trace, &record);

	migrate_disable();
	do {
		ret = trace_write(trace, data, 100);
	} while (!ret && nr++ < 1000);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, ret, -ENOBUFS);
	kunit_info(test, "%d records of 100 bytes after the others\n", nr);

	trace_cleanup(trace);
}

/* One in each context, and one more */
static void test_nested(struct kunit *test)
{
	struct trace_info *trace = trace_setup(TEST_ROOT, "x", 4096, 2, 0);
	struct trace_record record[3];
	int before = preempt_count();

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace);
	KUNIT_ASSERT_EQ(test, trace_start(trace), 0);

	KUNIT_EXPECT_NOT_NULL(test, trace_reserve(trace, &record[0], 8));
	KUNIT_EXPECT_NOT_NULL(test, trace_reserve(trace, &record[1], 8));
	KUNIT_EXPECT_NULL(test, trace_reserve(trace, &record[2], 8));
	trace_discard(trace, &record[1]);
	KUNIT_EXPECT_NOT_NULL(test, trace_reserve(trace, &record[1], 8));
	memset(record[1].data, 0, 8);
	trace_commit(trace, &record[1]);
	memset(record[0].data, 0, 8);
	trace_commit(trace, &record[0]);
	KUNIT_EXPECT_EQ(test, preempt_count(), before);

	trace_cleanup(trace);
}

static void test_group(struct kunit *test)
{
	struct trace_group *group = trace_group_setup(TEST_ROOT, "group");
	struct trace_info *low, *high;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group);
	KUNIT_EXPECT_EQ(test, trace_group_start(group), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, trace_setup(TEST_ROOT, "group", 4096, 8, 0),
			    ERR_PTR(-EEXIST));

	low = trace_group_channel(group, "low", 4096, 2, 0);
	high = trace_group_channel(group, "high", 4096, 8, TRACE_FLIGHT_CHANNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, low);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, high);
	KUNIT_EXPECT_PTR_EQ(test, trace_group_channel(group, "low", 4096, 2, 0),
			    ERR_PTR(-EEXIST));
	KUNIT_EXPECT_PTR_EQ(test, trace_group_channel(group, "state", 4096, 2, 0),
			    ERR_PTR(-EEXIST));

	KUNIT_EXPECT_EQ(test, trace_start(low), 0);
	KUNIT_EXPECT_EQ(test, trace_group_start(group), 0);
	KUNIT_EXPECT_EQ(test, trace_group_start(group), -EINVAL);
	KUNIT_EXPECT_TRUE(test, trace_running(low) && trace_running(high));
	KUNIT_EXPECT_EQ(test, trace_group_stop(group), 0);
	KUNIT_EXPECT_FALSE(test, trace_running(low) || trace_running(high));
	KUNIT_EXPECT_EQ(test, trace_group_stop(group), -EINVAL);

	trace_cleanup(low);
	KUNIT_EXPECT_EQ(test, trace_group_start(group), 0);
	trace_group_cleanup(group);
}

/* Waking readers */

/* Records that interrupt one that is then discarded are complete when that is done */
static void test_discard_wakes(struct kunit *test)
{
	struct trace_info *trace = trace_setup(TEST_ROOT, "x", 4096, 2, 0);
	struct trace_record outer, inner;
	struct gtsc_reader *reader;
	struct gtsc_cpu *cpu;
	bool waiting;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace);
	KUNIT_ASSERT_EQ(test, trace_start(trace), 0);

	KUNIT_ASSERT_NOT_NULL(test, trace_reserve(trace, &outer, 8));
	cpu = this_cpu_ptr(trace->cpu);
	reader = cpu->reader;
	if (trace_reserve(trace, &inner, 8)) {
		memset(inner.data, 0, 8);
		trace_commit(trace, &inner);
	}
	WRITE_ONCE(cpu->waiting, true);
	trace_discard(trace, &outer);
	waiting = READ_ONCE(cpu->waiting);

	KUNIT_EXPECT_FALSE(test, waiting);
	KUNIT_EXPECT_TRUE(test, gtsc_poll(reader, NULL));

	trace_cleanup(trace);
}

struct late_writer {
	struct trace_info	*trace;
	struct gtsc_cpu		*cpu;
	struct completion	ready;
};

/*
 * Writes as a CPU may that has its record in its store buffer while it looks at
 * @waiting: it sees it clear, and others do not see the record before some time
 * after they have set it.
 */
static int late_writer_fn(void *data)
{
	struct late_writer *w = data;
	struct {
		struct gtsc_slot	slot;
		u8			data[4];
	} record = { .slot.len = 4 };
	unsigned long flags;

	local_irq_save(flags);
	complete(&w->ready);
	/* Bounded, should the other CPU need this one */
	for (int i = 0; i < 2000 && !READ_ONCE(w->cpu->waiting); i++)
		mdelay(1);
	mdelay(20);
	ring_buffer_write(w->trace->buffer, sizeof(record), &record);
	local_irq_restore(flags);

	return 0;
}

static void test_poll_sees_late_record(struct kunit *test)
{
	struct late_writer w = { };
	struct task_struct *task;
	unsigned int cpu, other;

	cpu = raw_smp_processor_id();
	other = cpumask_any_but(cpu_online_mask, cpu);
	if (other >= nr_cpu_ids)
		kunit_skip(test, "needs two CPUs");
	set_cpus_allowed_ptr(current, cpumask_of(cpu));

	w.trace = trace_setup(TEST_ROOT, "x", 4096, 2, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, w.trace);
	KUNIT_ASSERT_EQ(test, trace_start(w.trace), 0);
	w.cpu = per_cpu_ptr(w.trace->cpu, other);
	init_completion(&w.ready);

	task = kthread_create_on_cpu(late_writer_fn, &w, other, "gtsc_test/%u");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	get_task_struct(task);
	wake_up_process(task);
	wait_for_completion(&w.ready);

	/* If it were false, poll() would sleep, and nobody would wake it */
	KUNIT_EXPECT_TRUE(test, gtsc_poll(gtsc_reader(w.trace, other), NULL));

	kthread_stop_put(task);
	trace_cleanup(w.trace);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

/* A set-up that fails when its files are there already */

static struct file *opened;

static int open_and_fail(struct trace_info *trace)
{
	opened = filp_open("/sys/kernel/debug/" TEST_ROOT "/x/trace0", O_RDONLY, 0);

	return -ENOMEM;
}

static void test_setup_fails_with_opener(struct kunit *test)
{
	struct gtsc_reader *reader;

	kunit_activate_static_stub(test, gtsc_add_cpus, open_and_fail);
	KUNIT_EXPECT_PTR_EQ(test, trace_setup(TEST_ROOT, "x", 4096, 8, TRACE_GLOBAL_CHANNEL),
			    ERR_PTR(-ENOMEM));
	kunit_deactivate_static_stub(test, gtsc_add_cpus);
	if (IS_ERR(opened))
		kunit_skip(test, "no debugfs");

	/* The open file has the only reference; without it, closing is use after free */
	reader = opened->private_data;
	KUNIT_ASSERT_EQ(test, kref_read(&reader->trace->ref), 1);
	KUNIT_EXPECT_FALSE(test, gtsc_poll(reader, opened));
	filp_close(opened, NULL);

	/* The name is free again */
	opened = filp_open("/sys/kernel/debug/" TEST_ROOT "/x/trace0", O_RDONLY, 0);
	KUNIT_EXPECT_PTR_EQ(test, opened, ERR_PTR(-ENOENT));
	test_setup_errors(test);
}

static struct kunit_case gtsc_test_cases[] = {
	KUNIT_CASE(test_page_lengths),
	KUNIT_CASE(test_real_page),
	KUNIT_CASE(test_page_times),
	KUNIT_CASE(test_page_padding),
	KUNIT_CASE(test_page_flags),
	KUNIT_CASE(test_names),
	KUNIT_CASE(test_orders),
	KUNIT_CASE(test_setup_errors),
	KUNIT_CASE(test_states),
	KUNIT_CASE(test_write),
	KUNIT_CASE(test_nested),
	KUNIT_CASE(test_group),
	KUNIT_CASE(test_discard_wakes),
	KUNIT_CASE(test_poll_sees_late_record),
	KUNIT_CASE(test_setup_fails_with_opener),
	{}
};

static struct kunit_suite gtsc_test_suite = {
	.name = "gtsc",
	.test_cases = gtsc_test_cases,
};

kunit_test_suite(gtsc_test_suite);

MODULE_DESCRIPTION("KUnit tests of GTSC");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of GTSC: what needs no reader in user space.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/cache.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/gtsc.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uio.h>

#include "gtsc.h"
#include "read.h"
#include "write.h"

#define TEST_ROOT	"gtsc_kunit"

/* Names and sizes */

static void test_names(struct kunit *test)
{
	char name[GTSC_NAME_MAX + 2];

	memset(name, 'x', sizeof(name));
	name[GTSC_NAME_MAX + 1] = '\0';
	KUNIT_EXPECT_EQ(test, gtsc_check_name(name), -ENAMETOOLONG);
	name[GTSC_NAME_MAX] = '\0';
	KUNIT_EXPECT_EQ(test, gtsc_check_name(name), 0);
	name[10] = '/';
	KUNIT_EXPECT_EQ(test, gtsc_check_name(name), -EINVAL);
	KUNIT_EXPECT_EQ(test, gtsc_check_name(""), -EINVAL);
	KUNIT_EXPECT_EQ(test, gtsc_check_name(NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, gtsc_check_name("."), -EINVAL);
	KUNIT_EXPECT_EQ(test, gtsc_check_name(".."), -EINVAL);
	KUNIT_EXPECT_EQ(test, gtsc_check_name(".x"), -EINVAL);
	KUNIT_EXPECT_EQ(test, gtsc_check_name("x."), 0);
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
	struct gtsc_channel *trace;

	KUNIT_EXPECT_PTR_EQ(test, gtsc_setup(TEST_ROOT, "x", 0, 8, 0), ERR_PTR(-EINVAL));
	KUNIT_EXPECT_PTR_EQ(test, gtsc_setup(TEST_ROOT, "x", 4096, 0, 0), ERR_PTR(-EINVAL));
	KUNIT_EXPECT_PTR_EQ(test, gtsc_setup(TEST_ROOT, "x/y", 4096, 8, 0), ERR_PTR(-EINVAL));
	KUNIT_EXPECT_PTR_EQ(test, gtsc_setup("", "x", 4096, 8, 0), ERR_PTR(-EINVAL));
	KUNIT_EXPECT_PTR_EQ(test, gtsc_setup(TEST_ROOT, "x", 4096, 8, 0x100), ERR_PTR(-EINVAL));
	KUNIT_EXPECT_PTR_EQ(test, gtsc_setup(TEST_ROOT, "x", 4096, 8, GTSC_PANIC),
			    ERR_PTR(-EINVAL));
	KUNIT_EXPECT_PTR_EQ(test, gtsc_setup(TEST_ROOT, "x", SZ_512K, UINT_MAX, 0),
			    ERR_PTR(-EINVAL));

	/* Nothing is left of them: the name is free */
	trace = gtsc_setup(TEST_ROOT, "x", 4096, 8, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace);
	KUNIT_EXPECT_PTR_EQ(test, gtsc_setup(TEST_ROOT, "x", 4096, 8, 0), ERR_PTR(-EEXIST));
	gtsc_cleanup(trace);
}

static void test_states(struct kunit *test)
{
	struct gtsc_channel *trace = gtsc_setup(TEST_ROOT, "x", 4096, 8, 0);
	struct gtsc_record record;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace);
	KUNIT_EXPECT_EQ(test, gtsc_stop(trace), -EINVAL);
	KUNIT_EXPECT_FALSE(test, gtsc_running(trace));
	KUNIT_EXPECT_EQ(test, gtsc_write(trace, "x", 1), -ESHUTDOWN);
	KUNIT_EXPECT_NULL(test, gtsc_reserve(trace, &record, 1));

	KUNIT_EXPECT_EQ(test, gtsc_start(trace), 0);
	KUNIT_EXPECT_EQ(test, gtsc_start(trace), -EINVAL);
	KUNIT_EXPECT_TRUE(test, gtsc_running(trace));
	KUNIT_EXPECT_EQ(test, gtsc_change_size(trace, 4096, 16, false), -EBUSY);

	KUNIT_EXPECT_EQ(test, gtsc_stop(trace), 0);
	KUNIT_EXPECT_EQ(test, gtsc_stop(trace), -EINVAL);
	KUNIT_EXPECT_EQ(test, gtsc_change_size(trace, (PAGE_SIZE << GTSC_MAX_ORDER) + 1, 8, false),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, gtsc_change_size(trace, 8192, 16, false), 0);
	KUNIT_EXPECT_EQ(test, gtsc_start(trace), 0);
	gtsc_cleanup(trace);
}

static void test_write(struct kunit *test)
{
	struct gtsc_channel *trace = gtsc_setup(TEST_ROOT, "x", 4096, 2, 0);
	char *data = kunit_kzalloc(test, 2 * PAGE_SIZE, GFP_KERNEL);
	int nr = 0, ret;

	KUNIT_ASSERT_NOT_NULL(test, data);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace);
	KUNIT_ASSERT_EQ(test, gtsc_start(trace), 0);

	KUNIT_EXPECT_EQ(test, gtsc_write(trace, data, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, gtsc_write(trace, data, 2 * PAGE_SIZE), -E2BIG);
	KUNIT_EXPECT_EQ(test, gtsc_write(trace, data, SIZE_MAX), -E2BIG);
	KUNIT_EXPECT_EQ(test, gtsc_printf(trace, "%d", 42), 2);
	KUNIT_EXPECT_EQ(test, gtsc_printf(trace, "%*d", 127, 42), 127);
	KUNIT_EXPECT_EQ(test, gtsc_printf(trace, "%*d", 128, 42), 128);
	KUNIT_EXPECT_EQ(test, gtsc_printf(trace, "%*d", 1000, 42), 1000);
	KUNIT_EXPECT_EQ(test, gtsc_printf(trace, "%*d", (int)PAGE_SIZE, 42), -E2BIG);

	migrate_disable();
	do {
		ret = gtsc_write(trace, data, 100);
	} while (!ret && nr++ < 2 * PAGE_SIZE / 100);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, ret, -ENOBUFS);
	kunit_info(test, "%d records of 100 bytes after the others\n", nr);

	gtsc_cleanup(trace);
}

/* However deep, until one of them has written around the buffer */
static void test_nested(struct kunit *test)
{
	struct gtsc_channel *trace = gtsc_setup(TEST_ROOT, "x", 4096, 2, GTSC_FLIGHT);
	struct gtsc_record record[8];
	int before = preempt_count(), nr;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace);
	KUNIT_ASSERT_EQ(test, gtsc_start(trace), 0);

	for (nr = 0; nr < ARRAY_SIZE(record); nr++) {
		if (!gtsc_reserve(trace, &record[nr], PAGE_SIZE / 3))
			break;
		memset(record[nr].data, 0, PAGE_SIZE / 3);
	}
	/* Two in each sub-buffer; the next one would overwrite the first */
	KUNIT_EXPECT_EQ(test, nr, 4);
	while (nr--)
		gtsc_commit(trace, &record[nr]);
	KUNIT_EXPECT_EQ(test, preempt_count(), before);

	gtsc_cleanup(trace);
}

static int count_switches(bool on, void *data)
{
	int *switches = data;

	switches[on]++;

	return 0;
}

static void test_switch(struct kunit *test)
{
	struct gtsc_channel *trace = gtsc_setup(TEST_ROOT, "x", 4096, 2, 0);
	int switches[2] = { };

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace);
	gtsc_set_switch(trace, count_switches, switches);
	gtsc_start(trace);
	KUNIT_EXPECT_EQ(test, switches[true], 1);
	gtsc_start(trace);
	KUNIT_EXPECT_EQ(test, switches[true], 1);
	gtsc_stop(trace);
	KUNIT_EXPECT_EQ(test, switches[false], 1);
	gtsc_start(trace);
	KUNIT_EXPECT_EQ(test, switches[true], 2);
	gtsc_cleanup(trace);
	KUNIT_EXPECT_EQ(test, switches[false], 2);
}

/* The user starts a channel before its provider has a switch: there is nothing to switch off */
static void test_late_switch(struct kunit *test)
{
	struct gtsc_channel *trace = gtsc_setup(TEST_ROOT, "x", 4096, 2, 0);
	int switches[2] = { };

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace);
	KUNIT_EXPECT_EQ(test, gtsc_start(trace), 0);
	gtsc_set_switch(trace, count_switches, switches);
	KUNIT_EXPECT_EQ(test, gtsc_stop(trace), 0);
	KUNIT_EXPECT_EQ(test, switches[false], 0);
	KUNIT_EXPECT_EQ(test, gtsc_start(trace), 0);
	gtsc_cleanup(trace);
	KUNIT_EXPECT_EQ(test, switches[true], 1);
	KUNIT_EXPECT_EQ(test, switches[false], 1);
}

static int refuse(bool on, void *data)
{
	int *calls = data;

	calls[on]++;

	return -ENOMEM;
}

/* A provider that cannot start leaves its channel, and those of its group, as they were */
static void test_refused_start(struct kunit *test)
{
	struct gtsc_group *group = gtsc_group_setup(TEST_ROOT, "refused");
	struct gtsc_channel *first, *second;
	int switches[2] = { }, refused[2] = { };

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group);
	first = gtsc_group_channel(group, "first", 4096, 2, 0);
	second = gtsc_group_channel(group, "second", 4096, 2, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, first);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, second);
	gtsc_set_switch(first, count_switches, switches);
	gtsc_set_switch(second, refuse, refused);

	KUNIT_EXPECT_EQ(test, gtsc_start(second), -ENOMEM);
	KUNIT_EXPECT_FALSE(test, gtsc_running(second));
	KUNIT_EXPECT_EQ(test, gtsc_group_set_state(group, GTSC_RUNNING), -ENOMEM);
	KUNIT_EXPECT_EQ(test, switches[true], switches[false]);
	KUNIT_EXPECT_EQ(test, gtsc_get_state(first), GTSC_SETUP);
	KUNIT_EXPECT_EQ(test, gtsc_get_state(second), GTSC_SETUP);
	KUNIT_EXPECT_EQ(test, refused[false], 0);
	gtsc_group_cleanup(group);
	KUNIT_EXPECT_EQ(test, refused[false], 0);
}

static void test_format(struct kunit *test)
{
	struct gtsc_channel *trace = gtsc_setup(TEST_ROOT, "x", 4096, 2, 0);
	char *long_format = kunit_kzalloc(test, GTSC_FORMAT_MAX + 2, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, long_format);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace);
	memset(long_format, 'x', GTSC_FORMAT_MAX + 1);
	KUNIT_EXPECT_EQ(test, gtsc_set_format(trace, long_format), -EINVAL);
	KUNIT_EXPECT_EQ(test, gtsc_set_format(trace, "text\n"), -EINVAL);
	KUNIT_EXPECT_EQ(test, gtsc_set_format(trace, "text"), 0);
	KUNIT_EXPECT_EQ(test, gtsc_set_format(trace, "u32 a; char b[4]"), 0);
	gtsc_start(trace);
	KUNIT_EXPECT_EQ(test, gtsc_set_format(trace, "text"), -EBUSY);
	gtsc_cleanup(trace);
}

static void test_group(struct kunit *test)
{
	struct gtsc_group *group = gtsc_group_setup(TEST_ROOT, "group");
	struct gtsc_channel *low, *high;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group);
	KUNIT_EXPECT_EQ(test, gtsc_group_set_state(group, GTSC_RUNNING), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, gtsc_setup(TEST_ROOT, "group", 4096, 8, 0),
			    ERR_PTR(-EEXIST));

	low = gtsc_group_channel(group, "low", 4096, 2, 0);
	high = gtsc_group_channel(group, "high", 4096, 8, GTSC_FLIGHT);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, low);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, high);
	KUNIT_EXPECT_PTR_EQ(test, gtsc_group_channel(group, "low", 4096, 2, 0),
			    ERR_PTR(-EEXIST));
	KUNIT_EXPECT_PTR_EQ(test, gtsc_group_channel(group, "state", 4096, 2, 0),
			    ERR_PTR(-EEXIST));

	KUNIT_EXPECT_EQ(test, gtsc_start(low), 0);
	KUNIT_EXPECT_EQ(test, gtsc_group_set_state(group, GTSC_RUNNING), 0);
	KUNIT_EXPECT_EQ(test, gtsc_group_set_state(group, GTSC_RUNNING), -EINVAL);
	KUNIT_EXPECT_TRUE(test, gtsc_running(low) && gtsc_running(high));
	KUNIT_EXPECT_EQ(test, gtsc_group_set_state(group, GTSC_STOPPED), 0);
	KUNIT_EXPECT_FALSE(test, gtsc_running(low) || gtsc_running(high));
	KUNIT_EXPECT_EQ(test, gtsc_group_set_state(group, GTSC_STOPPED), -EINVAL);

	gtsc_cleanup(low);
	KUNIT_EXPECT_EQ(test, gtsc_group_set_state(group, GTSC_RUNNING), 0);
	gtsc_group_cleanup(group);
}

/* Memory */

/* Writers on different CPUs share no cache line, however few sub-buffers there are */
static void test_cache_lines(struct kunit *test)
{
	struct gtsc_channel *trace = gtsc_setup(TEST_ROOT, "x", 4096, 2, 0);
	int cpu;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace);
	for_each_cpu(cpu, trace->cpus) {
		struct gtsc_buffer *b = gtsc_buffer(trace, cpu);

		KUNIT_EXPECT_EQ(test, (unsigned long)b % cache_line_size(), 0);
		KUNIT_EXPECT_EQ(test, (unsigned long)b->mem % cache_line_size(), 0);
		KUNIT_EXPECT_EQ(test, (unsigned long)b->slots % cache_line_size(), 0);
	}
	gtsc_cleanup(trace);
}

/* Buffers that have no room together are not begun, although that of a CPU has */
static void test_all_cpus_count(struct kunit *test)
{
	unsigned int nr_sub = si_mem_available() / 2 * 3 / num_online_cpus() >> GTSC_MAX_ORDER;
	struct gtsc_channel *trace = gtsc_setup(TEST_ROOT, "x", 4096, 2, 0);
	struct gtsc_buffer *__percpu *buffers;
	int cpu;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace);
	buffers = gtsc_table_alloc();
	KUNIT_ASSERT_TRUE(test, !!buffers);
	KUNIT_EXPECT_EQ(test, gtsc_make_buffers(trace, buffers, GTSC_MAX_ORDER, nr_sub), -ENOMEM);
	for_each_possible_cpu(cpu)
		KUNIT_EXPECT_PTR_EQ(test, *per_cpu_ptr(buffers, cpu), &gtsc_no_buffer);
	gtsc_table_free(buffers);
	gtsc_cleanup(trace);
}

/* Only the task itself changes its sighand */
static spinlock_t *own_siglock(void)
{
	return &rcu_dereference_protected(current->sighand, true)->siglock;
}

/* Makes SIGKILL pending for the current task, a kernel thread that does not handle signals */
static void set_killed(void)
{
	spinlock_t *lock = own_siglock();

	spin_lock_irq(lock);
	sigaddset(&current->pending.signal, SIGKILL);
	set_thread_flag(TIF_SIGPENDING);
	spin_unlock_irq(lock);
}

static void clear_killed(void)
{
	spinlock_t *lock = own_siglock();

	spin_lock_irq(lock);
	sigdelset(&current->pending.signal, SIGKILL);
	recalc_sigpending();
	spin_unlock_irq(lock);
}

/* A task that is killed gives up what it has allocated, and all is as it was */
static void test_killed(struct kunit *test)
{
	struct gtsc_channel *trace = gtsc_setup(TEST_ROOT, "x", 4096, 2, 0), *other;
	int ret;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace);
	set_killed();
	ret = gtsc_change_size(trace, 4096, 4, false);
	other = gtsc_setup(TEST_ROOT, "y", 4096, 2, 0);
	clear_killed();

	KUNIT_EXPECT_EQ(test, ret, -EINTR);
	KUNIT_EXPECT_EQ(test, trace->nr_sub, 2);
	KUNIT_EXPECT_PTR_EQ(test, other, ERR_PTR(-EINTR));
	if (!IS_ERR(other))
		gtsc_cleanup(other);
	gtsc_cleanup(trace);
}

static struct gtsc_channel *bystander;

/* Would wait for ever if a lock were held */
static int use_bystander(struct gtsc_channel *ch, struct gtsc_buffer *__percpu *buffers,
			 unsigned int order, unsigned int nr_sub)
{
	if (!gtsc_start(bystander))
		gtsc_stop(bystander);

	return -ENOMEM;
}

/* Other channels can be used while memory is allocated for one */
static void test_resize_blocks_nobody(struct kunit *test)
{
	struct gtsc_channel *trace = gtsc_setup(TEST_ROOT, "x", 4096, 2, 0);

	bystander = gtsc_setup(TEST_ROOT, "bystander", 4096, 2, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, bystander);
	kunit_activate_static_stub(test, gtsc_make_buffers, use_bystander);
	KUNIT_EXPECT_EQ(test, gtsc_change_size(trace, 8192, 4, false), -ENOMEM);
	KUNIT_EXPECT_EQ(test, gtsc_get_state(bystander), GTSC_STOPPED);
	KUNIT_EXPECT_EQ(test, trace->nr_sub, 2);
	KUNIT_EXPECT_PTR_EQ(test, gtsc_setup(TEST_ROOT, "y", 4096, 2, 0), ERR_PTR(-ENOMEM));
	kunit_deactivate_static_stub(test, gtsc_make_buffers);
	gtsc_cleanup(bystander);
	gtsc_cleanup(trace);
}

/* Waking readers */

/* Records that interrupt another can be read when that is complete */
static void test_outer_wakes(struct kunit *test)
{
	struct gtsc_channel *trace = gtsc_setup(TEST_ROOT, "x", 4096, 2, 0);
	struct gtsc_record outer, inner;
	struct gtsc_open_file of = { };
	struct gtsc_buffer *b;
	bool wake;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace);
	KUNIT_ASSERT_EQ(test, gtsc_start(trace), 0);

	KUNIT_ASSERT_NOT_NULL(test, gtsc_reserve(trace, &outer, 8));
	memset(outer.data, 0, 8);
	of.file = gtsc_trace_file(trace, smp_processor_id());
	b = gtsc_buffer(trace, smp_processor_id());
	WRITE_ONCE(b->wake, true);
	if (gtsc_reserve(trace, &inner, 8)) {
		memset(inner.data, 0, 8);
		gtsc_commit(trace, &inner);
	}
	/* Not yet: there is nothing to read before the outer one ends */
	wake = READ_ONCE(b->wake);
	gtsc_commit(trace, &outer);

	KUNIT_EXPECT_TRUE(test, wake);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(b->wake));
	KUNIT_EXPECT_TRUE(test, gtsc_poll(&of));

	gtsc_cleanup(trace);
}

struct late_writer {
	struct gtsc_channel	*trace;
	struct gtsc_buffer	*buffer;
	struct completion	ready;
};

/*
 * Writes as a CPU may that has its record in its store buffer while it looks at @wake: it
 * sees it clear, and others do not see the record before some time after they have set it.
 */
static int late_writer_fn(void *data)
{
	struct late_writer *w = data;
	unsigned long flags;

	local_irq_save(flags);
	complete(&w->ready);
	/* Bounded, should the other CPU need this one */
	for (int i = 0; i < 2000 && !READ_ONCE(w->buffer->wake); i++)
		mdelay(1);
	mdelay(20);
	WRITE_ONCE(w->buffer->wake, false);
	gtsc_write(w->trace, "late", 4);
	local_irq_restore(flags);

	return 0;
}

static void test_poll_sees_late_record(struct kunit *test)
{
	struct gtsc_open_file of = { };
	struct late_writer w = { };
	struct task_struct *task;
	unsigned int cpu, other;

	cpu = raw_smp_processor_id();
	other = cpumask_any_but(cpu_online_mask, cpu);
	if (other >= nr_cpu_ids)
		kunit_skip(test, "needs two CPUs");
	set_cpus_allowed_ptr(current, cpumask_of(cpu));

	w.trace = gtsc_setup(TEST_ROOT, "x", 4096, 2, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, w.trace);
	KUNIT_ASSERT_EQ(test, gtsc_start(w.trace), 0);
	w.buffer = gtsc_buffer(w.trace, other);
	of.file = gtsc_trace_file(w.trace, other);
	init_completion(&w.ready);

	task = kthread_create_on_cpu(late_writer_fn, &w, other, "gtsc_test/%u");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	get_task_struct(task);
	wake_up_process(task);
	wait_for_completion(&w.ready);

	/* If it were false, poll() would sleep, and nobody would wake it */
	KUNIT_EXPECT_TRUE(test, gtsc_poll(&of));

	kthread_stop_put(task);
	gtsc_cleanup(w.trace);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

/* The clock goes back */

static void write_b(void *trace)
{
	gtsc_write(trace, "b", 1);
}

/* As if it had been written before the clock went back by an hour */
static void write_later(struct kunit *test, struct gtsc_channel *trace)
{
	struct gtsc_record record;

	KUNIT_ASSERT_NOT_NULL(test, gtsc_reserve(trace, &record, 5));
	memcpy(record.data, "later", 5);
	gtsc_header_of(&record)->time += 3600ULL * NSEC_PER_SEC;
	gtsc_commit(trace, &record);
}

static size_t read_kernel(struct gtsc_channel *trace, void *buf, size_t len)
{
	struct gtsc_open_file of = { .file = gtsc_trace_file(trace, raw_smp_processor_id()) };
	struct kvec vec = { .iov_base = buf, .iov_len = len };
	struct iov_iter to;

	iov_iter_kvec(&to, ITER_DEST, &vec, 1, len);

	return gtsc_read(&of, &to);
}

/* A reader that waited until the clock is there again would take an hour */
static void test_clock_goes_back(struct kunit *test)
{
	struct gtsc_channel *trace = gtsc_setup(TEST_ROOT, "x", 4096, 2, GTSC_GLOBAL);
	char buf[8] = { };
	int other;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace);
	KUNIT_ASSERT_EQ(test, gtsc_start(trace), 0);

	migrate_disable();
	other = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	write_later(test, trace);
	gtsc_write(trace, "a", 1);
	if (other >= nr_cpu_ids || smp_call_function_single(other, write_b, trace, true))
		write_b(trace);
	migrate_enable();

	/* Records of other CPUs do not come before it for an hour */
	KUNIT_EXPECT_EQ(test, read_kernel(trace, buf, 5), 5);
	KUNIT_EXPECT_MEMEQ(test, buf, "later", 5);
	KUNIT_EXPECT_EQ(test, read_kernel(trace, buf, 1), 1);
	KUNIT_EXPECT_EQ(test, read_kernel(trace, buf + 1, 1), 1);
	KUNIT_EXPECT_MEMEQ(test, buf, "ab", 2);
	KUNIT_EXPECT_EQ(test, read_kernel(trace, buf, 8), 0);
	gtsc_cleanup(trace);
}

/* A set-up that fails when its files are there already */

static struct file *opened;

static int open_and_fail(struct gtsc_channel *trace)
{
	opened = filp_open("/sys/kernel/debug/" TEST_ROOT "/x/trace0", O_RDONLY, 0);

	return -ENOMEM;
}

static void test_setup_fails_with_opener(struct kunit *test)
{
	struct gtsc_open_file *of;

	kunit_activate_static_stub(test, gtsc_add_hotplug, open_and_fail);
	KUNIT_EXPECT_PTR_EQ(test, gtsc_setup(TEST_ROOT, "x", 4096, 8, GTSC_GLOBAL),
			    ERR_PTR(-ENOMEM));
	kunit_deactivate_static_stub(test, gtsc_add_hotplug);
	if (IS_ERR(opened))
		kunit_skip(test, "no debugfs");

	/* The open file has the only reference; without it, closing is use after free */
	of = opened->private_data;
	KUNIT_ASSERT_EQ(test, kref_read(&of->file->ch->ref), 1);
	KUNIT_EXPECT_FALSE(test, gtsc_poll(of));
	filp_close(opened, NULL);

	/* The name is free again */
	opened = filp_open("/sys/kernel/debug/" TEST_ROOT "/x/trace0", O_RDONLY, 0);
	KUNIT_EXPECT_PTR_EQ(test, opened, ERR_PTR(-ENOENT));
	test_setup_errors(test);
}

static struct kunit_case gtsc_test_cases[] = {
	KUNIT_CASE(test_names),
	KUNIT_CASE(test_orders),
	KUNIT_CASE(test_setup_errors),
	KUNIT_CASE(test_states),
	KUNIT_CASE(test_write),
	KUNIT_CASE(test_nested),
	KUNIT_CASE(test_switch),
	KUNIT_CASE(test_late_switch),
	KUNIT_CASE(test_refused_start),
	KUNIT_CASE(test_format),
	KUNIT_CASE(test_group),
	KUNIT_CASE(test_cache_lines),
	KUNIT_CASE(test_all_cpus_count),
	KUNIT_CASE(test_killed),
	KUNIT_CASE(test_resize_blocks_nobody),
	KUNIT_CASE(test_outer_wakes),
	KUNIT_CASE(test_poll_sees_late_record),
	KUNIT_CASE(test_clock_goes_back),
	KUNIT_CASE(test_setup_fails_with_opener),
	{}
};

static struct kunit_suite gtsc_test_suite = {
	.name = "gtsc",
	.test_cases = gtsc_test_cases,
};

kunit_test_suite(gtsc_test_suite);

MODULE_DESCRIPTION("KUnit tests of GTSC");
MODULE_INFO(import_ns, "EXPORTED_FOR_KUNIT_TESTING");
MODULE_LICENSE("GPL");

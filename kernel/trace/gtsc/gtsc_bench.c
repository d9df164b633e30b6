// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the cost to write a record with GTSC, the ring buffer of the tracers, relay and
 * trace_printk(), and the cost to call a function that may be traced. All records of a
 * size have the same bytes. The results go to the kernel's log; then loading fails.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/gtsc.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/relay.h>
#include <linux/ring_buffer.h>
#include <linux/smp.h>
#include <linux/string.h>

#define SUB_SIZE	PAGE_SIZE
#define NR_SUB		64
/* For records that are longer than a page */
#define BIG_SUB_SIZE	SZ_64K
#define BIG_NR_SUB	8
#define MAX_SIZE	65000

static unsigned int records = 10000;
module_param(records, uint, 0444);
MODULE_PARM_DESC(records, "Records that are written for each figure (default 10000)");

static bool calls;
module_param(calls, bool, 0444);
MODULE_PARM_DESC(calls, "Only call nsecs_to_jiffies64(), which may be traced (default N)");

static char data[MAX_SIZE];
static struct gtsc_channel *flight, *big, *channel;
static struct trace_buffer *buffer;
static struct rchan *chan;

/* Stores words one by one, as a provider does that builds its record in place */
#define DEFINE_RESERVE(n)							\
static __always_inline void fill_##n(u64 *to)					\
{										\
	_Pragma("GCC unroll 128")						\
	for (unsigned int i = 0; i < (n) / 8; i++)				\
		WRITE_ONCE(to[i], n);						\
}										\
										\
static void channel_reserve_##n(unsigned int size, unsigned int nr)		\
{										\
	struct gtsc_record record;						\
	u64 *p;									\
										\
	while (nr--) {								\
		p = gtsc_reserve(channel, &record, n);				\
		if (p) {							\
			fill_##n(p);						\
			gtsc_commit(channel, &record);				\
		}								\
	}									\
}										\
										\
static void ring_buffer_reserve_##n(unsigned int size, unsigned int nr)	\
{										\
	struct ring_buffer_event *event;					\
										\
	while (nr--) {								\
		event = ring_buffer_lock_reserve(buffer, n);			\
		if (event) {							\
			fill_##n(ring_buffer_event_data(event));		\
			ring_buffer_unlock_commit(buffer);			\
		}								\
	}									\
}

DEFINE_RESERVE(8)
DEFINE_RESERVE(64)
DEFINE_RESERVE(1024)

static void channel_write(unsigned int size, unsigned int nr)
{
	while (nr--)
		gtsc_write(channel, data, size);
}

static void channel_printf(unsigned int size, unsigned int nr)
{
	while (nr--)
		gtsc_printf(channel, "%0*u", size, size);
}

static void ring_buffer_copy(unsigned int size, unsigned int nr)
{
	while (nr--)
		ring_buffer_write(buffer, size, data);
}

/* As if a reader kept up, or records would be dropped */
static void relay(unsigned int size, unsigned int nr)
{
	unsigned int cpu = raw_smp_processor_id();

	while (nr--) {
		relay_write(chan, data, size);
		if (nr % (NR_SUB / 2) == 0)
			relay_subbufs_consumed(chan, cpu, NR_SUB);
	}
}

/* To be measured, not to be used */
#define TRACE_PRINTK trace_printk

static void printk_trace(unsigned int size, unsigned int nr)
{
	while (nr--)
		TRACE_PRINTK("%0*u\n", size, size);
}

static void call(unsigned int size, unsigned int nr)
{
	while (nr--)
		nsecs_to_jiffies64(size);
}

typedef void (*write_fn)(unsigned int size, unsigned int nr);

/* Writes @nr records; the mean, and the most that one took */
static void measure(const char *name, write_fn write, unsigned int size, unsigned int nr)
{
	u64 start, end, most = 0;
	unsigned long flags;

	local_irq_save(flags);
	start = ktime_get_mono_fast_ns();
	write(size, nr);
	end = ktime_get_mono_fast_ns();
	pr_info("%s:%u %llu\n", name, size, div_u64(end - start, nr));

	for (unsigned int i = 0; i < nr; i++) {
		start = ktime_get_mono_fast_ns();
		write(size, 1);
		most = max(most, ktime_get_mono_fast_ns() - start);
	}
	local_irq_restore(flags);
	pr_info("%s-most:%u %llu\n", name, size, most);
}

/* With all sub-buffers in use, so that the oldest are overwritten or the new dropped */
static void measure_full(const char *name, write_fn write, unsigned int size)
{
	write(size, records);
	measure(name, write, size, records);
}

static const struct {
	unsigned int	size;
	write_fn	channel;
	write_fn	ring_buffer;
} in_place[] = {
	{ 8, channel_reserve_8, ring_buffer_reserve_8 },
	{ 64, channel_reserve_64, ring_buffer_reserve_64 },
	{ 1024, channel_reserve_1024, ring_buffer_reserve_1024 },
};

static void use(struct gtsc_channel *ch)
{
	channel = ch;
}

static void measure_channels(unsigned int size)
{
	use(flight);
	measure_full("gtsc-write", channel_write, size);
	measure_full("gtsc-printf", channel_printf, size);
}

static void measure_others(unsigned int size)
{
	measure_full("ring_buffer-write", ring_buffer_copy, size);
	measure_full("relay-write", relay, size);
	measure_full("trace_printk", printk_trace, size);
}

/* A normal channel: while there is room in it, and when it is full */
static void measure_normal(unsigned int size)
{
	unsigned int nr = min(records, NR_SUB * SUB_SIZE / 4 / (size + 24));
	struct gtsc_channel *normal;

	normal = gtsc_setup("gtsc_bench", "normal", SUB_SIZE, NR_SUB, 0);
	if (IS_ERR(normal))
		return;
	if (!gtsc_start(normal)) {
		use(normal);
		measure("gtsc-empty", channel_write, size, max(nr, 1U));
		measure_full("gtsc-full", channel_write, size);
	}
	gtsc_cleanup(normal);
}

static void write_on_cpu(void *unused)
{
	channel_write(8, records);
}

/* All CPUs write at the same time: their instructions for a record, or nanoseconds */
static void measure_cpus(void)
{
	u64 start;

	use(flight);
	start = ktime_get_mono_fast_ns();
	on_each_cpu(write_on_cpu, NULL, true);
	pr_info("gtsc-cpus:%u %llu\n", num_online_cpus(),
		div_u64(ktime_get_mono_fast_ns() - start, records));
}

static const unsigned int sizes[] = { 1, 8, 16, 64, 256, 1024, 3900 };
static const unsigned int big_sizes[] = { 4096, 16384, 65000 };

static void measure_all(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		measure_channels(sizes[i]);
		measure_others(sizes[i]);
		measure_normal(sizes[i]);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(in_place); i++) {
		use(flight);
		measure_full("gtsc-reserve", in_place[i].channel, in_place[i].size);
		measure_full("ring_buffer-reserve", in_place[i].ring_buffer, in_place[i].size);
	}
	measure_cpus();
	use(big);
	for (unsigned int i = 0; i < ARRAY_SIZE(in_place); i++)
		measure_full("gtsc-big", in_place[i].channel, in_place[i].size);
	for (unsigned int i = 0; i < ARRAY_SIZE(big_sizes); i++)
		measure("gtsc-write", channel_write, big_sizes[i], min(records, 1000U));
}

static struct dentry *create_buf_file(const char *filename, struct dentry *parent,
				      umode_t mode, struct rchan_buf *buf, int *is_global)
{
	return debugfs_create_file(filename, mode, parent, buf, &relay_file_operations);
}

static int remove_buf_file(struct dentry *dentry)
{
	debugfs_remove(dentry);

	return 0;
}

static const struct rchan_callbacks callbacks = {
	.create_buf_file	= create_buf_file,
	.remove_buf_file	= remove_buf_file,
};

static int setup(void)
{
	flight = gtsc_setup("gtsc_bench", "flight", SUB_SIZE, NR_SUB, GTSC_FLIGHT);
	big = gtsc_setup("gtsc_bench", "big", BIG_SUB_SIZE, BIG_NR_SUB, GTSC_FLIGHT);
	buffer = ring_buffer_alloc(SUB_SIZE * NR_SUB, RB_FL_OVERWRITE);
	chan = relay_open("gtsc_bench_relay", NULL, SUB_SIZE, NR_SUB, &callbacks, NULL);
	if (IS_ERR(flight) || IS_ERR(big) || !buffer || !chan)
		return -ENOMEM;

	return gtsc_start(flight) ?: gtsc_start(big);
}

static void end(struct gtsc_channel *ch)
{
	if (!IS_ERR_OR_NULL(ch))
		gtsc_cleanup(ch);
}

static void cleanup(void)
{
	if (chan)
		relay_close(chan);
	if (buffer)
		ring_buffer_free(buffer);
	end(big);
	end(flight);
}

static int __init gtsc_bench_init(void)
{
	int ret;

	if (calls) {
		measure("call", call, 0, records);
		return -EAGAIN;
	}

	memset(data, 'x', sizeof(data));
	ret = setup();
	if (!ret) {
		migrate_disable();
		measure_all();
		migrate_enable();
		ret = -EAGAIN;
	}
	cleanup();

	return ret;
}
module_init(gtsc_bench_init);

MODULE_DESCRIPTION("What a record of GTSC costs");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the cost to write a record with GTSC, the ring buffer, relay and
 * trace_printk(). All buffers overwrite their oldest records, and all records have
 * the same bytes. The results go to the kernel's log; then loading fails.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/gtsc.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/relay.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>

#define SUB_SIZE	PAGE_SIZE
#define NR_SUB		64
#define MAX_SIZE	1024

static unsigned int records = 10000;
module_param(records, uint, 0444);
MODULE_PARM_DESC(records, "Records that are written for each figure (default 10000)");

static char data[MAX_SIZE];
static struct trace_info *trace;
static struct trace_buffer *buffer;
static struct rchan *chan;

static void gtsc_reserve(unsigned int size)
{
	struct trace_record record;
	void *p = trace_reserve(trace, &record, size);

	if (p) {
		memcpy(p, data, size);
		trace_commit(trace, &record);
	}
}

static void gtsc_write(unsigned int size)
{
	trace_write(trace, data, size);
}

static void gtsc_printf(unsigned int size)
{
	trace_printf(trace, "%0*u", size, size);
}

static void ring_buffer_reserve(unsigned int size)
{
	struct ring_buffer_event *event = ring_buffer_lock_reserve(buffer, size);

	if (event) {
		memcpy(ring_buffer_event_data(event), data, size);
		ring_buffer_unlock_commit(buffer);
	}
}

static void ring_buffer_copy(unsigned int size)
{
	ring_buffer_write(buffer, size, data);
}

static void relay(unsigned int size)
{
	relay_write(chan, data, size);
}

/* To be measured, not to be used */
#define TRACE_PRINTK trace_printk

static void printk_trace(unsigned int size)
{
	TRACE_PRINTK("%0*u\n", size, size);
}

static void measure(const char *name, void (*write)(unsigned int size), unsigned int size)
{
	unsigned long flags;
	u64 start, end;

	/* Fill it, so that it overwrites from the start */
	for (unsigned int i = 0; i < records; i++)
		write(size);

	local_irq_save(flags);
	start = ktime_get_mono_fast_ns();
	for (unsigned int i = 0; i < records; i++)
		write(size);
	end = ktime_get_mono_fast_ns();
	local_irq_restore(flags);

	pr_info("%s:%u %llu\n", name, size, div_u64(end - start, records));
}

static void measure_all(unsigned int size)
{
	measure("gtsc-reserve", gtsc_reserve, size);
	measure("gtsc-write", gtsc_write, size);
	measure("gtsc-printf", gtsc_printf, size);
	measure("ring_buffer-reserve", ring_buffer_reserve, size);
	measure("ring_buffer-write", ring_buffer_copy, size);
	measure("relay-write", relay, size);
	measure("trace_printk", printk_trace, size);
}

static int subbuf_start(struct rchan_buf *buf, void *subbuf, void *prev_subbuf,
			size_t prev_padding)
{
	return 1;
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
	.subbuf_start		= subbuf_start,
	.create_buf_file	= create_buf_file,
	.remove_buf_file	= remove_buf_file,
};

static int setup(void)
{
	trace = trace_setup("gtsc_bench", "bench", SUB_SIZE, NR_SUB, TRACE_FLIGHT_CHANNEL);
	if (IS_ERR(trace))
		return PTR_ERR(trace);

	buffer = ring_buffer_alloc(SUB_SIZE * NR_SUB, RB_FL_OVERWRITE);
	chan = relay_open("gtsc_bench_relay", NULL, SUB_SIZE, NR_SUB, &callbacks, NULL);
	if (!buffer || !chan)
		return -ENOMEM;

	return trace_start(trace);
}

static void cleanup(void)
{
	if (chan)
		relay_close(chan);
	if (buffer)
		ring_buffer_free(buffer);
	if (!IS_ERR(trace))
		trace_cleanup(trace);
}

static int __init gtsc_bench_init(void)
{
	int ret;

	memset(data, 'x', sizeof(data));
	ret = setup();
	if (!ret) {
		migrate_disable();
		/* The clock of the channel */
		ring_buffer_set_clock(buffer, ktime_get_mono_fast_ns);
		measure_all(8);
		measure_all(64);
		measure_all(1024);
		migrate_enable();
		ret = -EAGAIN;
	}
	cleanup();

	return ret;
}
module_init(gtsc_bench_init);

MODULE_DESCRIPTION("What a record of GTSC costs");
MODULE_LICENSE("GPL");

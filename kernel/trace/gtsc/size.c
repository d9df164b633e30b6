// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: the ring buffer of a channel, its size, and what it
 * has counted.
 *
 * With gtsc_mutex held. A buffer is replaced with the locks of all readers held, while
 * the channel is not running.
 */

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>
#include <kunit/visibility.h>

#include "gtsc.h"
#include "read.h"

/* The order of the sub-buffers that are not smaller than @sub_size */
VISIBLE_IF_KUNIT int gtsc_order(unsigned int sub_size)
{
	if (!sub_size || sub_size > PAGE_SIZE << GTSC_MAX_ORDER)
		return -EINVAL;

	return get_order(sub_size);
}
EXPORT_SYMBOL_IF_KUNIT(gtsc_order);

static size_t sub_capacity(int order)
{
	return (PAGE_SIZE << order) - offsetof(struct gtsc_page, data);
}

static struct trace_buffer *alloc_buffer(unsigned int flags, int order,
					 unsigned int nr_sub)
{
	struct trace_buffer *buffer;
	unsigned long size;
	int ret;

	if (check_mul_overflow((unsigned long)nr_sub,
			       (unsigned long)sub_capacity(order), &size))
		return ERR_PTR(-EINVAL);
	/* More than all memory: the ring buffer would allocate until memory is low */
	if ((u64)nr_sub << order > totalram_pages())
		return ERR_PTR(-ENOMEM);

	/* Small at first: a change of the order allocates all sub-buffers again */
	buffer = ring_buffer_alloc(PAGE_SIZE, flags & TRACE_FLIGHT_CHANNEL ?
				   RB_FL_OVERWRITE : 0);
	if (!buffer)
		return ERR_PTR(-ENOMEM);

	ring_buffer_set_clock(buffer, ktime_get_mono_fast_ns);
	ret = ring_buffer_subbuf_order_set(buffer, order);
	if (!ret)
		ret = ring_buffer_resize(buffer, size, RING_BUFFER_ALL_CPUS);
	if (ret < 0) {
		ring_buffer_free(buffer);
		return ERR_PTR(ret);
	}

	return buffer;
}

static void set_buffer(struct trace_info *trace, struct trace_buffer *buffer,
		       int order, unsigned int nr_sub)
{
	trace->buffer = buffer;
	trace->order = order;
	trace->nr_sub = nr_sub;
	trace->max_len = ring_buffer_max_event_size(buffer) - sizeof(struct gtsc_slot);
}

int gtsc_init_buffer(struct trace_info *trace, unsigned int sub_size, unsigned int nr_sub)
{
	struct trace_buffer *buffer;
	int order;

	order = gtsc_order(sub_size);
	if (order < 0)
		return order;
	if (!nr_sub)
		return -EINVAL;
	nr_sub = max(nr_sub, 2U);

	buffer = alloc_buffer(trace->flags, order, nr_sub);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	set_buffer(trace, buffer, order, nr_sub);

	return 0;
}

/* The counters of the ring buffer of one CPU, all of the same moment */
static void read_counts(struct trace_buffer *buffer, int cpu, struct gtsc_counts *now)
{
	unsigned long read;

	/* Entries: records that were neither overwritten nor read */
	do {
		now->overwritten = ring_buffer_overrun_cpu(buffer, cpu);
		read = ring_buffer_read_events_cpu(buffer, cpu);
		now->written = ring_buffer_entries_cpu(buffer, cpu) + now->overwritten + read;
	} while (now->overwritten != ring_buffer_overrun_cpu(buffer, cpu) ||
		 read != ring_buffer_read_events_cpu(buffer, cpu));

	now->full = ring_buffer_dropped_events_cpu(buffer, cpu) +
		    ring_buffer_commit_overrun_cpu(buffer, cpu);
}

/* The counters of the ring buffer may wrap: add the differences */
static void update_totals(struct trace_info *trace, int cpu)
{
	struct gtsc_source *source = &trace->sources[cpu];
	struct gtsc_counts now;

	read_counts(trace->buffer, cpu, &now);
	source->total.written += now.written - source->last.written;
	source->total.overwritten += now.overwritten - source->last.overwritten;
	source->total.full += now.full - source->last.full;
	source->last = now;
}

void gtsc_get_stats(struct trace_info *trace, struct gtsc_stats *stats)
{
	u64 refused = 0;
	int cpu;

	lockdep_assert_held(&gtsc_mutex);

	memset(stats, 0, sizeof(*stats));
	for_each_possible_cpu(cpu) {
		struct gtsc_source *source = &trace->sources[cpu];
		struct gtsc_cpu *c = per_cpu_ptr(trace->cpu, cpu);

		/* @read first, so that it is not greater than @written */
		stats->read += atomic64_read_acquire(&source->nr_read);
		update_totals(trace, cpu);
		stats->written += source->total.written;
		stats->overwritten += source->total.overwritten;
		stats->full += source->total.full;
		stats->too_big += local_read(&c->too_big);
		/* After @full: writers count @refused last */
		refused += local_read(&c->refused);
	}

	stats->nested = refused > stats->full ? refused - stats->full : 0;
	stats->unread = stats->written - stats->overwritten - stats->read;
}

/* Return the old buffer, which the caller frees without the locks of the readers */
static struct trace_buffer *replace_buffer(struct trace_info *trace,
					   struct trace_buffer *buffer,
					   int order, unsigned int nr_sub)
{
	struct trace_buffer *old = trace->buffer;
	int cpu;

	for_each_possible_cpu(cpu) {
		update_totals(trace, cpu);
		trace->sources[cpu].last = (struct gtsc_counts){ };
	}

	gtsc_forget_pages(trace);
	set_buffer(trace, buffer, order, nr_sub);

	/* A CPU without a page is left out of a dump */
	if (trace->flags & TRACE_PANIC_CHANNEL) {
		for_each_possible_cpu(cpu)
			gtsc_prepare_dump(trace, cpu);
	}

	return old;
}

static int may_resize(struct trace_info *trace)
{
	struct gtsc_stats stats;

	if (trace->dying)
		return -ENODEV;
	if (trace->state == GTSC_RUNNING)
		return -EBUSY;

	gtsc_get_stats(trace, &stats);

	return stats.unread ? -EBUSY : 0;
}

/* Zero: leave this size as it is */
int gtsc_resize(struct trace_info *trace, unsigned int sub_size, unsigned int nr_sub)
{
	struct trace_buffer *buffer;
	int order, ret;

	guard(mutex)(&gtsc_mutex);

	order = gtsc_order(sub_size ?: gtsc_sub_size(trace));
	if (order < 0)
		return order;
	nr_sub = max(nr_sub ?: trace->nr_sub, 2U);

	ret = may_resize(trace);
	if (ret)
		return ret;

	buffer = alloc_buffer(trace->flags, order, nr_sub);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);

	/* A rewind may have come in between */
	gtsc_lock_readers(trace);
	ret = may_resize(trace);
	if (!ret)
		buffer = replace_buffer(trace, buffer, order, nr_sub);
	gtsc_unlock_readers(trace);

	/* Either of them, and not with the locks: it waits for CPU hotplug */
	ring_buffer_free(buffer);

	return ret;
}

/**
 * trace_resize - change the size of a channel's buffers
 * @trace: the channel
 * @sub_size: bytes of a sub-buffer, up to 128 pages; rounded up to a power of
 *	two of pages
 * @nr_sub: their number for each CPU; 1 gives 2
 *
 * Context: process context, may sleep. Waits for readers.
 *
 * Return: 0; -EINVAL if a size is 0 or too big; -EBUSY if the channel is running
 * or has records that have not been read; -ENOMEM. After an error all is as it
 * was.
 */
int trace_resize(struct trace_info *trace, unsigned int sub_size,
		 unsigned int nr_sub)
{
	if (!sub_size || !nr_sub)
		return -EINVAL;

	return gtsc_resize(trace, sub_size, nr_sub);
}
EXPORT_SYMBOL_GPL(trace_resize);

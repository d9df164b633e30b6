// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: the buffers of a channel, their size, and what has been
 * counted.
 *
 * A CPU that is online gets its buffer when the channel is set up; another one, when it comes
 * online. If there is no memory then, that CPU gets its buffer the next time that it comes online,
 * or when the sizes change. A CPU that goes offline keeps its buffer.
 *
 * A resize allocates new buffers for all CPUs with only @resize held. It then takes gtsc_mutex, the
 * hotplug lock and the locks of all trace files, and replaces the buffers if the channel is not
 * running.
 */

#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/oom.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <kunit/static_stub.h>
#include <kunit/visibility.h>

#include "gtsc.h"
#include "read.h"

/* The order of the smallest sub-buffers that have @sub_size bytes or more */
VISIBLE_IF_KUNIT int gtsc_order(unsigned int sub_size)
{
	if (!sub_size || sub_size > PAGE_SIZE << GTSC_MAX_ORDER)
		return -EINVAL;

	return get_order(sub_size);
}
EXPORT_SYMBOL_IF_KUNIT(gtsc_order);

int gtsc_check_size(unsigned int sub_size, unsigned int nr_sub)
{
	int order = gtsc_order(sub_size);

	return order < 0 || !nr_sub || nr_sub > GTSC_MAX_SUBS ? -EINVAL : 0;
}

struct gtsc_buffer gtsc_no_buffer;
EXPORT_SYMBOL_IF_KUNIT(gtsc_no_buffer);

/* A table of buffers, in which no CPU has one yet. NULL if there is no memory. */
struct gtsc_buffer *__percpu *gtsc_table_alloc(void)
{
	struct gtsc_buffer *__percpu *buffers = alloc_percpu(struct gtsc_buffer *);
	int cpu;

	if (!buffers)
		return NULL;
	for_each_possible_cpu(cpu)
		per_cpu(*buffers, cpu) = &gtsc_no_buffer;

	return buffers;
}
EXPORT_SYMBOL_IF_KUNIT(gtsc_table_alloc);

void gtsc_table_free(struct gtsc_buffer *__percpu *buffers)
{
	struct gtsc_buffer *b;
	int cpu;

	if (!buffers)
		return;
	for_each_possible_cpu(cpu) {
		b = *per_cpu_ptr(buffers, cpu);
		if (b != &gtsc_no_buffer)
			gtsc_buffer_free(b);
	}
	free_percpu(buffers);
}
EXPORT_SYMBOL_IF_KUNIT(gtsc_table_free);

static struct gtsc_buffer *alloc_buffer(struct gtsc_channel *ch, unsigned int cpu,
					unsigned int order, unsigned int nr_sub)
{
	return gtsc_buffer_alloc(cpu, order, nr_sub, ch->flags & GTSC_FLIGHT,
				 &gtsc_cpu(ch, cpu)->counts);
}

/* Does @buffers lack a buffer for @cpu, which is online or has one in @ch? */
static bool is_missing(struct gtsc_channel *ch, struct gtsc_buffer *__percpu *buffers,
		       unsigned int cpu)
{
	return *per_cpu_ptr(buffers, cpu) == &gtsc_no_buffer &&
	       (cpu_online(cpu) || gtsc_buffer(ch, cpu));
}

static unsigned int count_missing(struct gtsc_channel *ch,
				  struct gtsc_buffer *__percpu *buffers)
{
	unsigned int nr = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		nr += is_missing(ch, buffers, cpu);

	return nr;
}

/* A guess, as in the ring buffer: do not begin what cannot succeed */
static bool is_available(unsigned int nr_cpus, unsigned int order, unsigned int nr_sub)
{
	s64 pages = (nr_sub + 1LL) * nr_cpus << order;

	return pages <= si_mem_available();
}

static int alloc_missing(struct gtsc_channel *ch, struct gtsc_buffer *__percpu *buffers,
			 unsigned int order, unsigned int nr_sub)
{
	struct gtsc_buffer *b;
	int cpu;

	for_each_possible_cpu(cpu) {
		if (!is_missing(ch, buffers, cpu))
			continue;
		b = alloc_buffer(ch, cpu, order, nr_sub);
		if (!b)
			return fatal_signal_pending(current) ? -EINTR : -ENOMEM;
		*per_cpu_ptr(buffers, cpu) = b;
	}

	return 0;
}

/*
 * Make the buffers that are missing in @buffers. CPUs may go online or offline meanwhile. It
 * takes long if the buffers are big.
 *
 * Context: process context, may sleep, no locks but @ch->resize.
 *
 * Return: 0, -ENOMEM, or -EINTR if the task is being killed. The caller frees @buffers also
 * after an error.
 */
VISIBLE_IF_KUNIT int gtsc_make_buffers(struct gtsc_channel *ch,
				       struct gtsc_buffer *__percpu *buffers,
				       unsigned int order, unsigned int nr_sub)
{
	bool is_user = current->mm;
	int ret;

	KUNIT_STATIC_STUB_REDIRECT(gtsc_make_buffers, ch, buffers, order, nr_sub);

	if (!is_available(count_missing(ch, buffers), order, nr_sub))
		return -ENOMEM;

	/* If memory runs out while this task allocates, let the OOM killer choose it */
	if (is_user)
		set_current_oom_origin();
	ret = alloc_missing(ch, buffers, order, nr_sub);
	if (is_user)
		clear_current_oom_origin();

	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(gtsc_make_buffers);

/* Make the buffers of a channel that is being allocated */
int gtsc_make_online_buffers(struct gtsc_channel *ch)
{
	int cpu, ret;

	ret = gtsc_make_buffers(ch, ch->buffers, ch->order, ch->nr_sub);
	if (ret)
		return ret;

	for_each_possible_cpu(cpu) {
		if (!gtsc_buffer(ch, cpu))
			continue;
		gtsc_set_buffer(gtsc_source(ch, cpu), gtsc_buffer(ch, cpu));
		cpumask_set_cpu(cpu, ch->cpus);
	}

	return 0;
}

/**
 * gtsc_make_cpu_buffer - make the buffer of a CPU, if it has none
 * @ch: the channel
 * @cpu: a possible CPU
 *
 * Context: process context, may sleep. The hotplug lock is held.
 *
 * Return: 0, or -ENOMEM.
 */
int gtsc_make_cpu_buffer(struct gtsc_channel *ch, unsigned int cpu)
{
	struct gtsc_buffer *b;

	if (gtsc_buffer(ch, cpu))
		return 0;

	b = is_available(1, ch->order, ch->nr_sub) ?
	    alloc_buffer(ch, cpu, ch->order, ch->nr_sub) : NULL;
	if (!b)
		return -ENOMEM;

	scoped_guard(mutex, &gtsc_trace_file(ch, cpu)->lock) {
		gtsc_set_buffer(gtsc_source(ch, cpu), b);
		cpumask_set_cpu(cpu, ch->cpus);
		/* Pairs with the address dependency in gtsc_buffer(), see gtsc_get_stats() */
		smp_store_release(per_cpu_ptr(ch->buffers, cpu), b);
	}
	/* Waiting readers have not set @wake in the new buffer: wake them */
	gtsc_wake_readers(ch);

	return 0;
}

static u64 count_written(struct gtsc_channel *ch, unsigned int cpu)
{
	struct gtsc_buffer *b = gtsc_buffer(ch, cpu);

	return gtsc_cpu(ch, cpu)->written + (b ? gtsc_written(b) : 0);
}

void gtsc_get_stats(struct gtsc_channel *ch, struct gtsc_stats *stats)
{
	int cpu;

	lockdep_assert_held(&gtsc_mutex);

	memset(stats, 0, sizeof(*stats));
	for_each_possible_cpu(cpu) {
		struct gtsc_cpu *c = gtsc_cpu(ch, cpu);

		/* @written after @read and @overwritten: it is not less than their sum */
		stats->read += atomic64_read_acquire(&c->source.nr_read);
		stats->overwritten += local64_read(&c->counts.overwritten);
		/* What is overwritten or read was written before */
		smp_rmb();
		stats->written += count_written(ch, cpu);
		stats->full += local64_read(&c->counts.full);
		stats->too_big += local64_read(&c->counts.too_big);
		stats->nested += local64_read(&c->counts.nested);
	}

	stats->unread = stats->written - stats->overwritten - stats->read;
}

static int may_resize(struct gtsc_channel *ch, bool discard)
{
	struct gtsc_stats stats;

	if (ch->dying)
		return -ENODEV;
	if (ch->state == GTSC_RUNNING)
		return -EBUSY;

	gtsc_get_stats(ch, &stats);

	return stats.unread && !discard ? -EBUSY : 0;
}

/* Count unread records, which go with the buffer, as overwritten */
static void discard_unread(struct gtsc_channel *ch, unsigned int cpu)
{
	struct gtsc_cpu *c = gtsc_cpu(ch, cpu);
	u64 unread;

	unread = count_written(ch, cpu) - local64_read(&c->counts.overwritten) -
		 atomic64_read(&c->source.nr_read);
	local64_add(unread, &c->counts.overwritten);
}

static void replace_buffer(struct gtsc_channel *ch, unsigned int cpu,
			   struct gtsc_buffer *__percpu *buffers)
{
	gtsc_cut_partial(gtsc_trace_file(ch, cpu));
	discard_unread(ch, cpu);
	gtsc_cpu(ch, cpu)->written = count_written(ch, cpu);
	swap(*per_cpu_ptr(buffers, cpu), *per_cpu_ptr(ch->buffers, cpu));
	gtsc_set_buffer(gtsc_source(ch, cpu), gtsc_buffer(ch, cpu));
}

static void replace_buffers(struct gtsc_channel *ch, struct gtsc_buffer *__percpu *buffers,
			    unsigned int order, unsigned int nr_sub)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		replace_buffer(ch, cpu, buffers);
		if (gtsc_buffer(ch, cpu))
			cpumask_set_cpu(cpu, ch->cpus);
	}
	ch->order = order;
	ch->nr_sub = nr_sub;
	WRITE_ONCE(ch->watermark, min(ch->watermark, nr_sub - 1));
}

/* Returns -EAGAIN if a CPU has come for which there is no buffer in @buffers */
static int use_buffers(struct gtsc_channel *ch, struct gtsc_buffer *__percpu *buffers,
		       unsigned int order, unsigned int nr_sub, bool discard)
{
	int ret;

	guard(mutex)(&gtsc_mutex);
	/* No CPU gets a buffer of the old sizes meanwhile */
	guard(cpus_read_lock)();

	if (count_missing(ch, buffers))
		return -EAGAIN;

	/*
	 * Lock before may_resize() looks: until then, a read may do a rewind that has waited, and
	 * records become unread again
	 */
	gtsc_lock_trace_files(ch);
	ret = may_resize(ch, discard);
	if (!ret)
		replace_buffers(ch, buffers, order, nr_sub);
	gtsc_unlock_trace_files(ch);

	/* Waiting readers have set @wake only in the old buffers: wake them */
	gtsc_wake_readers(ch);

	return ret;
}

static int change_size(struct gtsc_channel *ch, unsigned int sub_size, unsigned int nr_sub,
		       bool discard)
{
	struct gtsc_buffer *__percpu *buffers;
	unsigned int order;
	int ret;

	sub_size = sub_size ?: gtsc_sub_size(ch);
	nr_sub = max(nr_sub ?: ch->nr_sub, 2U);
	ret = gtsc_check_size(sub_size, nr_sub);
	if (ret)
		return ret;
	scoped_guard(mutex, &gtsc_mutex)
		ret = may_resize(ch, discard);
	if (ret)
		return ret;

	order = get_order(sub_size);
	buffers = gtsc_table_alloc();
	if (!buffers)
		return -ENOMEM;
	do {
		ret = gtsc_make_buffers(ch, buffers, order, nr_sub) ?:
		      use_buffers(ch, buffers, order, nr_sub, discard);
	} while (ret == -EAGAIN);
	/* The old ones, or after an error the new ones */
	gtsc_table_free(buffers);

	return ret;
}

/**
 * gtsc_change_size - change the size of a channel's buffers
 * @ch: the channel
 * @sub_size: bytes of a sub-buffer, up to 128 pages; rounded up to a power of two of pages; 0: as
 *	it is
 * @nr_sub: their number for each CPU, up to 65,535; 1 gives 2; 0: as it is
 * @discard: throw unread records away
 *
 * Context: process context, may sleep. Waits for readers.
 *
 * Return: 0; -EINVAL if a size is too big; -EBUSY if the channel is running, or has records that
 * have not been read; -ENOMEM, also if the buffers of all CPUs are more than the memory that is
 * available; -EINTR if the task is being killed; -ENODEV if the channel is being removed. After an
 * error all is as it was.
 */
int gtsc_change_size(struct gtsc_channel *ch, unsigned int sub_size, unsigned int nr_sub,
		     bool discard)
{
	int ret;

	if (mutex_lock_killable(&ch->resize))
		return -EINTR;
	ret = change_size(ch, sub_size, nr_sub, discard);
	mutex_unlock(&ch->resize);

	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(gtsc_change_size);

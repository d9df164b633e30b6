// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: reading trace files.
 *
 * A reader copies the records of its CPU to user space. The reader of a global channel
 * always takes the oldest record of all CPUs.
 */

#include <linux/cleanup.h>
#include <linux/minmax.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/ring_buffer.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <uapi/linux/gtsc.h>
#include <kunit/visibility.h>

#include "gtsc.h"
#include "read.h"

/* How often to fault the same memory in before it is -EFAULT */
#define MAX_FAULT_TRIES	16

static bool is_global(struct gtsc_reader *reader)
{
	return reader->trace->flags & TRACE_GLOBAL_CHANNEL;
}

static void look_again(struct gtsc_reader *reader)
{
	int cpu;

	for_each_cpu(cpu, reader->cpus)
		reader->trace->sources[cpu].empty = false;
}

/* The source with the oldest record, NULL if there is none */
struct gtsc_source *gtsc_oldest(struct gtsc_reader *reader, bool keep)
{
	struct gtsc_source *oldest = NULL;
	int cpu;

	for_each_cpu(cpu, reader->cpus) {
		struct gtsc_source *source = &reader->trace->sources[cpu];

		if (gtsc_find_next(reader->trace, source, keep) &&
		    (!oldest || source->next.time < oldest->next.time))
			oldest = source;
	}

	return oldest;
}

/*
 * A record gets its time when it is reserved, so an older record may still be
 * incomplete on another CPU. Its writer has preemption disabled until it commits:
 * after a grace period of RCU, all records that are older than now are complete.
 */
static void move_horizon(struct gtsc_reader *reader)
{
	u64 now = trace_timestamp();

	/* A channel that start() starts after this has only newer records */
	smp_mb();
	if (READ_ONCE(reader->trace->state) == GTSC_RUNNING)
		synchronize_rcu();

	reader->horizon = now;
	look_again(reader);
}

/* The record that @file has got a part of, or else the oldest one; NULL if none */
static struct gtsc_source *next_source(struct gtsc_reader *reader, const struct file *file,
				       bool may_wait)
{
	struct gtsc_source *source;

	/* Another file has got the head of the next record, and gets the rest */
	if (reader->partial)
		return reader->partial_file == file ? reader->partial : NULL;

	source = gtsc_oldest(reader, true);
	if (!is_global(reader))
		return source;

	while (source && source->next.time > reader->horizon) {
		if (!may_wait)
			return NULL;
		move_horizon(reader);
		source = gtsc_oldest(reader, true);
	}

	return source;
}

static size_t header_size(struct trace_info *trace)
{
	return trace->flags & TRACE_HEADER_CHANNEL ?
	       sizeof(struct gtsc_record_header) : 0;
}

/* Copy what has not been sent of the next record, as far as there is room for it */
static size_t copy_record(const struct gtsc_source *source, size_t header_len,
			  struct iov_iter *to)
{
	struct gtsc_record_header header = {
		.len	= source->next.len,
		.cpu	= source->cpu,
		.time	= source->next.time,
	};
	size_t sent = source->sent, n;

	if (sent < header_len) {
		sent += copy_to_iter((u8 *)&header + sent, header_len - sent, to);
		if (sent < header_len)
			return sent - source->sent;
	}
	n = sent - header_len;

	return sent - source->sent + copy_to_iter(source->next.data + n,
						  source->next.len - n, to);
}

static void wake_pollers(struct gtsc_reader *reader)
{
	wake_up_interruptible_poll(&reader->wait, EPOLLIN | EPOLLRDNORM);
}

/* The next record is all there again, for any file */
static void end_partial(struct gtsc_reader *reader)
{
	reader->partial = NULL;
	reader->partial_file = NULL;
	wake_pollers(reader);
}

/*
 * Copy the next record of @source, or as much of it as there is room for. Return
 * the number of bytes, or 0 if the memory is not present: a page fault may take as
 * long as user space likes, and must not be waited for with the lock held.
 */
static size_t send(struct gtsc_reader *reader, struct gtsc_source *source,
		   const struct file *file, struct iov_iter *to)
{
	size_t header = header_size(reader->trace);
	size_t left = header + source->next.len - source->sent;
	size_t want = min(left, iov_iter_count(to)), n;

	lockdep_assert_held(&reader->lock);

	pagefault_disable();
	n = copy_record(source, header, to);
	pagefault_enable();
	if (n < want) {
		iov_iter_revert(to, n);
		return 0;
	}

	if (n < left) {
		source->sent += n;
		reader->partial = source;
		reader->partial_file = file;
		return n;
	}

	gtsc_consume(source);
	if (reader->partial)
		end_partial(reader);

	return n;
}

/*
 * Copy records until there is no room for the next one. @first: not even a part of
 * a record has been copied yet. Return the number of bytes. @missing: 0, or how
 * many bytes of memory have to be made present to go on.
 */
static size_t read_records(struct gtsc_reader *reader, const struct file *file,
			   struct iov_iter *to, bool first, size_t *missing)
{
	size_t header = header_size(reader->trace);
	struct gtsc_source *source;
	size_t copied = 0, left, n;

	*missing = 0;
	look_again(reader);
	while (iov_iter_count(to)) {
		source = next_source(reader, file, first);
		if (!source)
			break;

		left = header + source->next.len - source->sent;
		if (!first && left > iov_iter_count(to))
			break;

		n = send(reader, source, file, to);
		if (!n) {
			*missing = min(left, iov_iter_count(to));
			break;
		}
		copied += n;
		first = false;
	}

	return copied;
}

/**
 * gtsc_read - read records
 * @reader: the records of the file
 * @file: the file, as it was opened
 * @to: where to
 *
 * As many whole records as there is room for. Only if there is no room for the
 * first one, a part of it, and the rest of it the next time. Until then there is
 * nothing to read for others that have opened the file.
 *
 * Context: process context, may sleep.
 *
 * Return: bytes; 0 if there is nothing to read; -EFAULT; -ERESTARTSYS.
 */
ssize_t gtsc_read(struct gtsc_reader *reader, const struct file *file,
		  struct iov_iter *to)
{
	size_t copied = 0, n, missing;
	unsigned int tries = 0;

	for (;;) {
		if (mutex_lock_interruptible(&reader->lock))
			return copied ?: -ERESTARTSYS;
		n = read_records(reader, file, to, !copied, &missing);
		mutex_unlock(&reader->lock);

		copied += n;
		if (!missing)
			return copied;

		/*
		 * Memory that was faulted in may be reclaimed before it is written, and
		 * some faults in but cannot be written, such as a shadow stack.
		 */
		tries = n ? 0 : tries + 1;
		if (tries > MAX_FAULT_TRIES || fault_in_iov_iter_writeable(to, missing))
			return copied ?: -EFAULT;
		if (signal_pending(current))
			return copied ?: -ERESTARTSYS;
	}
}

/* A file that has got a part of a record is closed: others get all of that record */
void gtsc_end_read(struct gtsc_reader *reader, const struct file *file)
{
	guard(mutex)(&reader->lock);

	if (reader->partial_file != file)
		return;

	reader->partial->sent = 0;
	end_partial(reader);
}

/* Whether a read of @file would return something */
static bool is_readable(struct gtsc_reader *reader, const struct file *file)
{
	lockdep_assert_held(&reader->lock);

	if (reader->partial)
		return reader->partial_file == file;

	look_again(reader);

	return gtsc_oldest(reader, true);
}

/* Whether another file than @file has got a part of a record */
bool gtsc_is_held(struct gtsc_reader *reader, const struct file *file)
{
	guard(mutex)(&reader->lock);

	return reader->partial && reader->partial_file != file;
}

static void full_barrier(void *unused)
{
	/* See arm_wake() */
	smp_mb();
}

/*
 * Have the next record that is committed wake those who poll the file.
 *
 * A writer commits its record and then looks at @waiting; a reader sets @waiting
 * and then looks for records. One of them has to see what the other has done. The
 * writer has no barrier between the two, so the reader interrupts its CPU: after
 * that, either the record is there, or its writer sees @waiting. Where @waiting is
 * set already, a reader that held the lock before has done so.
 */
static void arm_wake(struct gtsc_reader *reader)
{
	int cpu;

	lockdep_assert_held(&reader->lock);

	for_each_cpu(cpu, reader->cpus) {
		struct gtsc_cpu *c = per_cpu_ptr(reader->trace->cpu, cpu);

		if (READ_ONCE(c->waiting))
			continue;
		WRITE_ONCE(c->waiting, true);
		/* A CPU that is offline has no writer, and comes online with a barrier */
		smp_call_function_single(cpu, full_barrier, NULL, true);
	}
}

/**
 * gtsc_poll - whether a read would return something
 * @reader: the records of the file
 * @file: the file, as it was opened
 *
 * If not, the next record that is committed wakes @reader->wait, which the caller
 * is in already.
 *
 * Context: process context, may sleep.
 */
bool gtsc_poll(struct gtsc_reader *reader, const struct file *file)
{
	guard(mutex)(&reader->lock);

	if (is_readable(reader, file))
		return true;

	/* The end of another file's partial record wakes all */
	if (reader->partial)
		return false;

	arm_wake(reader);

	return is_readable(reader, file);
}
EXPORT_SYMBOL_IF_KUNIT(gtsc_poll);

static void wake(struct irq_work *work)
{
	struct gtsc_cpu *cpu = container_of(work, struct gtsc_cpu, wake);

	wake_pollers(cpu->reader);
}

/* A channel */

static void init_reader(struct trace_info *trace, struct gtsc_reader *reader,
			const struct cpumask *cpus)
{
	reader->trace = trace;
	reader->cpus = cpus;
	mutex_init(&reader->lock);
	init_waitqueue_head(&reader->wait);
}

int gtsc_init_readers(struct trace_info *trace)
{
	bool global = trace->flags & TRACE_GLOBAL_CHANNEL;
	int cpu;

	trace->readers = kcalloc(global ? 1 : nr_cpu_ids, sizeof(*trace->readers),
				 GFP_KERNEL);
	trace->sources = kcalloc(nr_cpu_ids, sizeof(*trace->sources), GFP_KERNEL);
	if (!trace->readers || !trace->sources)
		return -ENOMEM;

	if (global)
		init_reader(trace, trace->readers, cpu_possible_mask);

	for_each_possible_cpu(cpu) {
		struct gtsc_cpu *c = per_cpu_ptr(trace->cpu, cpu);

		if (!global)
			init_reader(trace, &trace->readers[cpu], cpumask_of(cpu));
		trace->sources[cpu].cpu = cpu;
		INIT_LIST_HEAD(&trace->sources[cpu].chunks);
		c->reader = gtsc_reader(trace, cpu);
		init_irq_work(&c->wake, wake);
	}

	return 0;
}

/* Free pages and chunks of the buffer, all records of which have been read */
void gtsc_forget_pages(struct trace_info *trace)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct gtsc_source *source = &trace->sources[cpu];

		gtsc_free_chunks(source);
		source->cursor = (struct gtsc_cursor){ };
		if (source->page)
			ring_buffer_free_read_page(trace->buffer, cpu, source->page);
		source->page = NULL;
	}
}

void gtsc_free_readers(struct trace_info *trace)
{
	int cpu;

	if (trace->sources && trace->readers) {
		gtsc_forget_pages(trace);
		for_each_possible_cpu(cpu)
			irq_work_sync(&per_cpu_ptr(trace->cpu, cpu)->wake);
	}
	kfree(trace->sources);
	kfree(trace->readers);
}

static unsigned int nr_readers(struct trace_info *trace)
{
	return trace->flags & TRACE_GLOBAL_CHANNEL ? 1 : nr_cpu_ids;
}

/* gtsc_mutex makes it safe to take the locks of all readers */
void gtsc_lock_readers(struct trace_info *trace)
{
	lockdep_assert_held(&gtsc_mutex);

	for (unsigned int i = 0; i < nr_readers(trace); i++) {
		if (trace->readers[i].trace)
			mutex_lock_nest_lock(&trace->readers[i].lock, &gtsc_mutex);
	}
}

void gtsc_unlock_readers(struct trace_info *trace)
{
	for (unsigned int i = 0; i < nr_readers(trace); i++) {
		if (trace->readers[i].trace)
			mutex_unlock(&trace->readers[i].lock);
	}
}

void gtsc_wake_readers(struct trace_info *trace)
{
	for (unsigned int i = 0; i < nr_readers(trace); i++) {
		if (trace->readers[i].trace)
			wake_up_interruptible_all(&trace->readers[i].wait);
	}
}

/* The next read of any file starts with the oldest record that is held */
void gtsc_rewind(struct trace_info *trace)
{
	int cpu;

	lockdep_assert_held(&gtsc_mutex);

	gtsc_lock_readers(trace);
	for_each_possible_cpu(cpu) {
		gtsc_rewind_source(&trace->sources[cpu]);
		gtsc_reader(trace, cpu)->partial = NULL;
		gtsc_reader(trace, cpu)->partial_file = NULL;
	}
	gtsc_unlock_readers(trace);
	gtsc_wake_readers(trace);
}

/* Allocate the page of a CPU now: a panic cannot */
void gtsc_prepare_dump(struct trace_info *trace, unsigned int cpu)
{
	struct gtsc_source *source = &trace->sources[cpu];

	if (!source->page)
		ring_buffer_alloc_read_page(trace->buffer, cpu, &source->page);
}

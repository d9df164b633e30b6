// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: reading trace files.
 *
 * A read copies the records of one CPU to user space; from a global channel, those of all CPUs, and
 * always the oldest one first.
 */

#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/gfp.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <kunit/visibility.h>

#include "gtsc.h"
#include "read.h"

/* Shorter records are gathered in a page, which is cheaper than to copy each by itself */
#define MAX_GATHERED	512UL

/* How often to fault the same memory in before it is -EFAULT */
#define MAX_FAULT_TRIES	16

static bool is_global(struct gtsc_trace_file *file)
{
	return file->ch->flags & GTSC_GLOBAL;
}

/* The sources of a trace file that have a record, by the time of that record */

static bool is_older(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct gtsc_source, node)->next_time <
	       rb_entry(b, struct gtsc_source, node)->next_time;
}

/*
 * A record from the future: the clock went back when the machine resumed. Sort it first.
 * Otherwise it would wait until the clock is there again.
 */
static u64 next_time(struct gtsc_trace_file *file, u64 time)
{
	if (is_global(file) && time > file->horizon && time > gtsc_timestamp())
		return 0;

	return time;
}

static void add_source(struct gtsc_trace_file *file, struct rb_root_cached *sources,
		       struct gtsc_source *source)
{
	const struct gtsc_record_header *header = gtsc_find_next(file->ch, source);

	if (!header)
		return;
	source->next_time = next_time(file, header->time);
	rb_add_cached(&source->node, sources, is_older);
}

/* A source without a record now is not looked at again until the next call */
static void find_sources(struct gtsc_trace_file *file, struct rb_root_cached *sources)
{
	int cpu;

	*sources = RB_ROOT_CACHED;
	for_each_cpu(cpu, file->cpus)
		add_source(file, sources, gtsc_source(file->ch, cpu));
}

static struct gtsc_source *oldest(struct rb_root_cached *sources)
{
	return rb_entry_safe(rb_first_cached(sources), struct gtsc_source, node);
}

/*
 * A record gets its time when it is reserved, so an older record may still be
 * incomplete on another CPU. Its writer has preemption disabled until it commits:
 * after a grace period of RCU, all records that are older than now are complete.
 */
static void move_horizon(struct gtsc_trace_file *file)
{
	u64 now = gtsc_timestamp();

	/*
	 * Pairs with the stores in let_writers_in(): if @state is not RUNNING below, records of a
	 * later start get a time after @now
	 */
	smp_mb();
	/* Pairs with the release in finish_stop() */
	if (smp_load_acquire(&file->ch->state) == GTSC_RUNNING)
		synchronize_rcu();

	file->horizon = now;
}

/* The record that @of has got a part of, or else the oldest one; NULL if there is none */
static struct gtsc_source *next_source(struct gtsc_open_file *of, struct rb_root_cached *sources,
				       bool may_wait)
{
	struct gtsc_trace_file *file = of->file;
	struct gtsc_source *source;

	/* An open file has got the head of the next record: only this one gets the rest */
	if (file->partial)
		return file->partial_of == of ? file->partial : NULL;

	source = oldest(sources);
	if (!is_global(file))
		return source;

	while (source && source->next_time > file->horizon) {
		if (!may_wait)
			return NULL;
		move_horizon(file);
		find_sources(file, sources);
		source = oldest(sources);
	}

	return source;
}

/* Also those who wait only for the end of the channel */
static void wake_pollers(struct gtsc_trace_file *file)
{
	wake_up_interruptible_poll(&file->wait, EPOLLIN | EPOLLRDNORM | EPOLLHUP);
}

static void rewind_sources(struct gtsc_trace_file *file)
{
	int cpu;

	for_each_cpu(cpu, file->cpus)
		gtsc_rewind_source(gtsc_source(file->ch, cpu));
}

/* No open file has a part of a record any more. Do a rewind that has waited for that. Wake all. */
static void end_partial(struct gtsc_trace_file *file)
{
	file->partial = NULL;
	file->partial_of = NULL;
	if (file->rewinds)
		rewind_sources(file);
	file->rewinds = false;
	wake_pollers(file);
}

/* The buffers are replaced: an open file that has got a part of a record does not get the rest */
void gtsc_cut_partial(struct gtsc_trace_file *file)
{
	lockdep_assert_held(&file->lock);

	if (file->partial_of)
		file->partial_of->cut = true;
	end_partial(file);
}

/*
 * Copy without page faults: they may take as long as user space likes, and must not be
 * waited for with the lock held. Return @n, or 0 if the memory is not present.
 */
static size_t copy_nofault(const void *from, size_t n, struct iov_iter *to)
{
	size_t copied;

	pagefault_disable();
	copied = copy_to_iter(from, n, to);
	pagefault_enable();
	if (copied == n)
		return n;
	iov_iter_revert(to, copied);

	return 0;
}

/* What an open file gets of a record: all of it, or the record without its header */
struct bytes {
	const void	*data;
	size_t		len;
};

static struct bytes bytes_for(const struct gtsc_open_file *of,
			      const struct gtsc_record_header *header)
{
	if (of->headers)
		return (struct bytes){ header, gtsc_record_size(header->len) };

	return (struct bytes){ header + 1, header->len };
}

static void consume_one(struct gtsc_source *source, const struct gtsc_record_header *header)
{
	gtsc_consume(source, gtsc_record_size(header->len), header->type == GTSC_TYPE_RECORD);
}

/* Copy a part of a record, for which there is no room, or the rest of one */
static size_t copy_part(struct gtsc_open_file *of, struct gtsc_source *source,
			const struct gtsc_record_header *header, struct iov_iter *to,
			size_t *missing)
{
	struct gtsc_trace_file *file = of->file;
	struct bytes bytes = bytes_for(of, header);
	size_t left = bytes.len - source->sent, n;

	*missing = min(left, iov_iter_count(to));
	n = copy_nofault(bytes.data + source->sent, *missing, to);
	if (!n)
		return 0;

	*missing = 0;
	if (n < left) {
		source->sent += n;
		file->partial = source;
		file->partial_of = of;
		return n;
	}
	consume_one(source, header);
	if (file->partial)
		end_partial(file);

	return n;
}

/* Copy records as they lie in the sub-buffer */
static size_t copy_run(struct gtsc_source *source, struct iov_iter *to, u64 until,
		       size_t *missing)
{
	size_t run, n;
	unsigned int nr;

	run = gtsc_find_run(source, iov_iter_count(to), until, &nr);
	n = copy_nofault(source->data + source->pos, run, to);
	if (n)
		gtsc_consume(source, n, nr);
	else
		*missing = run;

	return n;
}

/* Copy the bytes of records: of as many as there is room for in a page, or of a long one */
static size_t copy_bytes(struct gtsc_open_file *of, struct gtsc_source *source,
			 const struct gtsc_record_header *header, struct iov_iter *to,
			 u64 until, size_t *missing)
{
	struct gtsc_trace_file *file = of->file;
	size_t max = min(iov_iter_count(to), PAGE_SIZE), run, n;
	const void *from = header + 1;
	unsigned int nr = 1;

	if (!file->page)
		file->page = (void *)__get_free_page(GFP_KERNEL | __GFP_NOWARN);
	if (file->page && header->len <= min(max, MAX_GATHERED)) {
		n = gtsc_gather(source, file->page, max, until, &run, &nr);
		from = file->page;
	} else {
		n = header->len;
		run = gtsc_record_size(n);
	}

	if (!copy_nofault(from, n, to)) {
		*missing = n;
		return 0;
	}
	gtsc_consume(source, run, nr);

	return n;
}

/*
 * Copy records of @source up to the time @until. @first: nothing has been copied yet, so copy a
 * part of the next record if there is no room for all of it. Return the number of bytes.
 * @missing: 0, or how many bytes of memory have to be made present.
 */
static size_t copy_records(struct gtsc_open_file *of, struct gtsc_source *source,
			   struct iov_iter *to, bool first, u64 until, size_t *missing)
{
	const struct gtsc_record_header *header = source->data + source->pos;

	lockdep_assert_held(&of->file->lock);

	if (source->sent || bytes_for(of, header).len > iov_iter_count(to))
		return first || source->sent ? copy_part(of, source, header, to, missing) : 0;
	if (of->headers)
		return copy_run(source, to, until, missing);

	return copy_bytes(of, source, header, to, until, missing);
}

/*
 * Up to which time records of a source can be read, which was just taken out of @sources. In a
 * global channel: up to the first record of the other sources, and not beyond the horizon. The
 * first record of the source itself can always be read. Its time @first is later than both limits
 * if the clock has gone back.
 */
static u64 readable_until(struct gtsc_trace_file *file, struct rb_root_cached *sources, u64 first)
{
	struct gtsc_source *next = oldest(sources);
	u64 until = file->horizon;

	if (!is_global(file))
		return GTSC_TIME_MAX;
	if (next)
		until = min(next->next_time, until);

	return max(first, until);
}

/*
 * Copy records until there is no room for the next one. @first: not even a part of
 * a record has been copied yet. Return the number of bytes.
 * @missing: as in copy_records().
 */
static size_t read_records(struct gtsc_open_file *of, struct iov_iter *to, bool first,
			   size_t *missing)
{
	struct gtsc_trace_file *file = of->file;
	struct rb_root_cached sources;
	struct gtsc_source *source;
	size_t copied = 0, n;

	*missing = 0;
	find_sources(file, &sources);
	while (iov_iter_count(to)) {
		const struct gtsc_record_header *header;
		bool rewinds = file->rewinds;

		source = next_source(of, &sources, first);
		if (!source)
			break;

		header = source->data + source->pos;
		rb_erase_cached(&source->node, &sources);
		if (header->type == GTSC_TYPE_LOST && !of->headers) {
			consume_one(source, header);
		} else {
			n = copy_records(of, source, to, first,
					 readable_until(file, &sources, header->time),
					 missing);
			if (!n)
				break;
			copied += n;
			first = false;
			/* The rewind that had to wait for this record has moved all sources */
			if (rewinds && !file->rewinds)
				break;
		}
		add_source(file, &sources, source);
	}

	return copied;
}

/**
 * gtsc_read - read records
 * @of: the open file
 * @to: where to
 *
 * As many whole records as there is room for. Only if there is no room for the
 * first one, a part of it, and the rest of it the next time. Until then there is
 * nothing to read for other open files of the same records.
 *
 * Context: process context, may sleep.
 *
 * Return: bytes; 0 if there is nothing to read; -EIO, once, if the rest of the record was
 * discarded; -EFAULT; -ERESTARTSYS.
 */
ssize_t gtsc_read(struct gtsc_open_file *of, struct iov_iter *to)
{
	struct gtsc_trace_file *file = of->file;
	size_t copied = 0, missing, n;
	unsigned int tries = 0;
	bool cut;

	for (;;) {
		if (mutex_lock_interruptible(&file->lock))
			return copied ?: -ERESTARTSYS;
		/* After whole records, the next read tells */
		cut = of->cut;
		if (!copied)
			of->cut = false;
		n = cut ? 0 : read_records(of, to, !copied, &missing);
		mutex_unlock(&file->lock);

		if (cut)
			return copied ?: -EIO;
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
EXPORT_SYMBOL_IF_KUNIT(gtsc_read);

/* @of is closed. If it has got a part of a record, others get all of that record. */
void gtsc_give_up_part(struct gtsc_open_file *of)
{
	struct gtsc_trace_file *file = of->file;

	guard(mutex)(&file->lock);

	if (file->partial_of != of)
		return;

	file->partial->sent = 0;
	end_partial(file);
}

/* Waiting */

/* Have writers wake the reader when @nr sub-buffers are full; false if they are */
static bool set_watermark(struct gtsc_source *source, unsigned int nr)
{
	return gtsc_wake_when_full(source->buffer, source->taken ? source->mem : -1, nr);
}

/*
 * Whether @source has something to read, and enough of it for a reader that waits. If it has
 * something, but less than the watermark, have writers wake the reader.
 */
static bool source_ready(struct gtsc_trace_file *file, struct gtsc_source *source)
{
	unsigned int watermark = READ_ONCE(file->ch->watermark);

	if (!gtsc_find_next(file->ch, source))
		return false;
	if (!watermark || !gtsc_running(file->ch) || source->at)
		return true;

	return !set_watermark(source, watermark);
}

/* The same for all sources of a trace file, and the part of a record that @of may have got */
static bool file_ready(struct gtsc_open_file *of)
{
	struct gtsc_trace_file *file = of->file;
	int cpu;

	lockdep_assert_held(&file->lock);

	if (of->cut)
		return true;
	if (file->partial)
		return file->partial_of == of;

	for_each_cpu(cpu, file->cpus) {
		if (source_ready(file, gtsc_source(file->ch, cpu)))
			return true;
	}

	return false;
}

/**
 * gtsc_at_end - whether an open file gets no more records
 * @of: the open file
 *
 * If another open file has a part of a record, @of gets that record when the other one is closed.
 *
 * Context: process context, may sleep.
 *
 * Return: true if the channel has ended, and there is nothing to read and no such part.
 */
bool gtsc_at_end(struct gtsc_open_file *of)
{
	struct gtsc_trace_file *file = of->file;

	guard(mutex)(&file->lock);

	/* Pairs with the release in drop_channel(): all records are there */
	if (!smp_load_acquire(&file->ch->ended))
		return false;

	return !file->partial && !file_ready(of);
}

static void check_wait(void *info)
{
	/* See request_wakes() */
	smp_mb();
	gtsc_recheck_watermark(info);
}

/*
 * Have a writer wake the reader. @interrupt: whether the CPU has to be interrupted for that.
 * Returns false if that cannot be requested, since as many sub-buffers as the watermark are full.
 */
static bool request_wake(struct gtsc_trace_file *file, struct gtsc_source *source, bool *interrupt)
{
	unsigned int watermark = READ_ONCE(file->ch->watermark);
	struct gtsc_buffer *b = source->buffer;

	*interrupt = false;
	if (READ_ONCE(b->wake))
		return true;
	if (watermark && !set_watermark(source, watermark))
		return false;
	if (!watermark)
		WRITE_ONCE(b->wake, true);
	*interrupt = true;

	return true;
}

/*
 * Have the next record that is committed wake those who poll the file; with a watermark, the
 * record that is committed when so many sub-buffers are full.
 *
 * A writer commits its record and then looks at @wake; a reader sets @wake and then looks
 * for records. One of them has to see what the other has done. The writer has no barrier
 * between the two, so the reader interrupts its CPU: after that, either the record is
 * there, or its writer sees @wake. If @wake is set already, an earlier reader has set it and
 * interrupted the CPU of the buffer, or code on that CPU has set it: in both cases the next commit
 * there sees it.
 *
 * Returns false if request_wake() does so for a source.
 */
static bool request_wakes(struct gtsc_trace_file *file)
{
	/* A hotplug operation may wait for @file->lock: do not wait for the operation */
	bool none_moves = cpus_read_trylock();
	bool all_called = true, requested = true, interrupt;
	int cpu;

	lockdep_assert_held(&file->lock);

	for_each_cpu(cpu, file->cpus) {
		struct gtsc_source *source = gtsc_source(file->ch, cpu);

		if (!source->buffer)
			continue;
		requested &= request_wake(file, source, &interrupt);
		if (interrupt &&
		    smp_call_function_single(cpu, check_wait, source->buffer, true))
			all_called = false;
	}

	/*
	 * smp_call_function_single() fails for a CPU that is going online or offline, although
	 * the CPU may still write. After a grace period, its writers see @wake, or their records
	 * are there. If no CPU is going online or offline, the call fails only for a CPU that is
	 * offline. Its writers see @wake when it comes online.
	 */
	if (none_moves)
		cpus_read_unlock();
	else if (!all_called)
		synchronize_rcu();

	return requested;
}

/**
 * gtsc_poll - whether a file is readable for poll()
 * @of: the open file
 *
 * If not, the next record that is committed wakes the waitqueue of the trace file, which the
 * caller is in already. With a watermark, that is when as many sub-buffers are full.
 *
 * Context: process context, may sleep.
 *
 * Return: true if there is something to read, and enough of it.
 */
bool gtsc_poll(struct gtsc_open_file *of)
{
	struct gtsc_trace_file *file = of->file;

	guard(mutex)(&file->lock);

	do {
		if (file_ready(of))
			return true;

		/* All are woken when another open file has got the rest of its record */
		if (file->partial)
			return false;

		/* After the end, nobody writes. Pairs with the release in drop_channel(). */
		if (smp_load_acquire(&file->ch->ended))
			break;
		/*
		 * One of the full sub-buffers may be the one that was taken, and all of it may
		 * have been read: then file_ready() takes the next one, and fewer are full
		 */
	} while (!request_wakes(file));

	/* Look again. This sets the same watermark again, which the CPU has already checked. */
	return file_ready(of);
}
EXPORT_SYMBOL_IF_KUNIT(gtsc_poll);

static void wake_work(struct irq_work *work)
{
	wake_pollers(container_of(work, struct gtsc_cpu, wake)->file);
}

/* A channel */

static void init_trace_file(struct gtsc_channel *ch, struct gtsc_trace_file *file,
			    const struct cpumask *cpus)
{
	file->ch = ch;
	file->cpus = cpus;
	mutex_init(&file->lock);
	init_waitqueue_head(&file->wait);
}

void gtsc_init_trace_files(struct gtsc_channel *ch)
{
	unsigned int first = cpumask_first(cpu_possible_mask);
	bool global = ch->flags & GTSC_GLOBAL;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct gtsc_cpu *c = gtsc_cpu(ch, cpu);

		init_trace_file(ch, &c->own_file, global ? ch->cpus : cpumask_of(cpu));
		c->file = &gtsc_cpu(ch, global ? first : cpu)->own_file;
		c->source.cpu = cpu;
		INIT_LIST_HEAD(&c->source.held);
		init_irq_work(&c->wake, wake_work);
	}
}

/* Nobody writes or reads any more */
void gtsc_free_trace_files(struct gtsc_channel *ch)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		irq_work_sync(&gtsc_cpu(ch, cpu)->wake);
		free_page((unsigned long)gtsc_cpu(ch, cpu)->own_file.page);
		gtsc_free_held(gtsc_source(ch, cpu));
	}
}

static bool owns_file(struct gtsc_channel *ch, int cpu)
{
	return gtsc_trace_file(ch, cpu) == &gtsc_cpu(ch, cpu)->own_file;
}

/* gtsc_mutex makes it safe to take the locks of all trace files */
void gtsc_lock_trace_files(struct gtsc_channel *ch)
{
	int cpu;

	lockdep_assert_held(&gtsc_mutex);

	for_each_possible_cpu(cpu) {
		if (owns_file(ch, cpu))
			mutex_lock_nest_lock(&gtsc_trace_file(ch, cpu)->lock, &gtsc_mutex);
	}
}

void gtsc_unlock_trace_files(struct gtsc_channel *ch)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (owns_file(ch, cpu))
			mutex_unlock(&gtsc_trace_file(ch, cpu)->lock);
	}
}

void gtsc_wake_readers(struct gtsc_channel *ch)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (owns_file(ch, cpu))
			wake_up_interruptible_all(&gtsc_trace_file(ch, cpu)->wait);
	}
}

/*
 * The next read of any file starts with the oldest record that is held. If a file has got
 * a part of a record, it is first done with that.
 */
void gtsc_rewind(struct gtsc_channel *ch)
{
	int cpu;

	lockdep_assert_held(&gtsc_mutex);

	gtsc_lock_trace_files(ch);
	for_each_possible_cpu(cpu) {
		struct gtsc_trace_file *file = gtsc_trace_file(ch, cpu);

		if (!owns_file(ch, cpu))
			continue;
		if (file->partial)
			file->rewinds = true;
		else
			rewind_sources(file);
	}
	gtsc_unlock_trace_files(ch);
	gtsc_wake_readers(ch);
}

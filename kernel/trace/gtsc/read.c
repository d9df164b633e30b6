// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: reading trace files.
 *
 * A reader copies the records of its CPU to user space. The reader of a global channel
 * always takes the oldest record of all CPUs.
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

static bool is_global(struct gtsc_reader *reader)
{
	return reader->ch->flags & GTSC_GLOBAL;
}

/* The sources of a reader that have a record, by its time */

static bool is_older(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct gtsc_source, node)->next_time <
	       rb_entry(b, struct gtsc_source, node)->next_time;
}

/*
 * If the next record is later than now, the clock has gone back since, as it may when the machine
 * resumes: then it is read first, not when the clock has come to this time again.
 */
static u64 next_time(struct gtsc_reader *reader, u64 time)
{
	if (is_global(reader) && time > reader->horizon && time > gtsc_timestamp())
		return 0;

	return time;
}

static void add_source(struct gtsc_reader *reader, struct rb_root_cached *sources,
		       struct gtsc_source *source)
{
	const struct gtsc_record_header *header = gtsc_find_next(reader->ch, source);

	if (!header)
		return;
	source->next_time = next_time(reader, header->time);
	rb_add_cached(&source->node, sources, is_older);
}

/* A source without a record now is not looked at again until the next call */
static void find_sources(struct gtsc_reader *reader, struct rb_root_cached *sources)
{
	int cpu;

	*sources = RB_ROOT_CACHED;
	for_each_cpu(cpu, reader->cpus)
		add_source(reader, sources, gtsc_source(reader->ch, cpu));
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
static void move_horizon(struct gtsc_reader *reader)
{
	u64 now = gtsc_timestamp();

	/*
	 * Pairs with the stores in let_writers_in(): if @state is not RUNNING below, records of a
	 * later start get a time after @now
	 */
	smp_mb();
	/* Pairs with the release in finish_stop() */
	if (smp_load_acquire(&reader->ch->state) == GTSC_RUNNING)
		synchronize_rcu();

	reader->horizon = now;
}

/* The record that @file has got a part of, or else the oldest one; NULL if there is none */
static struct gtsc_source *next_source(struct gtsc_file *file, struct rb_root_cached *sources,
				       bool may_wait)
{
	struct gtsc_reader *reader = file->reader;
	struct gtsc_source *source;

	/* A file has got the head of the next record: only this file gets the rest */
	if (reader->partial)
		return reader->partial_file == file ? reader->partial : NULL;

	source = oldest(sources);
	if (!is_global(reader))
		return source;

	while (source && source->next_time > reader->horizon) {
		if (!may_wait)
			return NULL;
		move_horizon(reader);
		find_sources(reader, sources);
		source = oldest(sources);
	}

	return source;
}

/* Also those who wait only for the end of the channel */
static void wake_pollers(struct gtsc_reader *reader)
{
	wake_up_interruptible_poll(&reader->wait, EPOLLIN | EPOLLRDNORM | EPOLLHUP);
}

static void rewind_sources(struct gtsc_reader *reader)
{
	int cpu;

	for_each_cpu(cpu, reader->cpus)
		gtsc_rewind_source(gtsc_source(reader->ch, cpu));
}

/* No file has a part of a record any more. If a rewind has waited for that, do it. Wake all. */
void gtsc_end_partial(struct gtsc_reader *reader)
{
	reader->partial = NULL;
	reader->partial_file = NULL;
	if (reader->rewinds)
		rewind_sources(reader);
	reader->rewinds = false;
	wake_pollers(reader);
}

/*
 * Copy without page faults: they may take as long as user space likes, and must not be
 * waited for with the lock held. Return @n, or 0 if the memory is not present.
 */
static size_t copy(const void *from, size_t n, struct iov_iter *to)
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

/* The bytes of a record that a file gets */
struct piece {
	const void	*data;
	size_t		len;
};

static struct piece piece_of(const struct gtsc_file *file, const struct gtsc_record_header *header)
{
	if (file->headers)
		return (struct piece){ header, gtsc_record_size(header->len) };

	return (struct piece){ header + 1, header->len };
}

static void consume_one(struct gtsc_source *source, const struct gtsc_record_header *header)
{
	gtsc_consume(source, gtsc_record_size(header->len), header->type == GTSC_RECORD);
}

/* Copy a part of a record, for which there is no room, or the rest of one */
static size_t send_part(struct gtsc_file *file, struct gtsc_source *source,
			const struct gtsc_record_header *header, struct iov_iter *to,
			size_t *missing)
{
	struct gtsc_reader *reader = file->reader;
	struct piece piece = piece_of(file, header);
	size_t left = piece.len - source->sent, n;

	*missing = min(left, iov_iter_count(to));
	n = copy(piece.data + source->sent, *missing, to);
	if (!n)
		return 0;

	*missing = 0;
	if (n < left) {
		source->sent += n;
		reader->partial = source;
		reader->partial_file = file;
		return n;
	}
	consume_one(source, header);
	if (reader->partial)
		gtsc_end_partial(reader);

	return n;
}

/* Copy records as they lie in the sub-buffer */
static size_t send_run(struct gtsc_source *source, struct iov_iter *to, u64 until,
		       size_t *missing)
{
	size_t run, n;
	unsigned int nr;

	run = gtsc_find_run(source, iov_iter_count(to), until, &nr);
	n = copy(source->data + source->pos, run, to);
	if (n)
		gtsc_consume(source, n, nr);
	else
		*missing = run;

	return n;
}

/* Copy the bytes of records: of as many as there is room for in a page, or of a long one */
static size_t send_bytes(struct gtsc_file *file, struct gtsc_source *source,
			 const struct gtsc_record_header *header, struct iov_iter *to,
			 u64 until, size_t *missing)
{
	struct gtsc_reader *reader = file->reader;
	size_t max = min(iov_iter_count(to), PAGE_SIZE), run, n;
	const void *from = header + 1;
	unsigned int nr = 1;

	if (!reader->page)
		reader->page = (void *)__get_free_page(GFP_KERNEL | __GFP_NOWARN);
	if (reader->page && header->len <= min(max, MAX_GATHERED)) {
		n = gtsc_gather(source, reader->page, max, until, &run, &nr);
		from = reader->page;
	} else {
		n = header->len;
		run = gtsc_record_size(n);
	}

	if (!copy(from, n, to)) {
		*missing = n;
		return 0;
	}
	gtsc_consume(source, run, nr);

	return n;
}

/*
 * Copy records of @source up to the time @until. @first: a part of a record, if there is no
 * room for it. Return the number of bytes. @missing: 0, or how many bytes of memory have to
 * be made present.
 */
static size_t send(struct gtsc_file *file, struct gtsc_source *source, struct iov_iter *to,
		   bool first, u64 until, size_t *missing)
{
	const struct gtsc_record_header *header = source->data + source->pos;

	lockdep_assert_held(&file->reader->lock);

	if (source->sent || piece_of(file, header).len > iov_iter_count(to))
		return first || source->sent ? send_part(file, source, header, to, missing) : 0;
	if (file->headers)
		return send_run(source, to, until, missing);

	return send_bytes(file, source, header, to, until, missing);
}

/*
 * Up to which time records of the source that was just taken out of @sources can be read: up to
 * the first record of the others or the horizon, but at least up to its own first one, which has
 * the time @first: it is later than both if the clock has gone back.
 */
static u64 readable_until(struct gtsc_reader *reader, struct rb_root_cached *sources, u64 first)
{
	struct gtsc_source *next = oldest(sources);
	u64 until = reader->horizon;

	if (!is_global(reader))
		return GTSC_TIME_MAX;
	if (next)
		until = min(next->next_time, until);

	return max(first, until);
}

/*
 * Copy records until there is no room for the next one. @first: not even a part of
 * a record has been copied yet. Return the number of bytes.
 * @missing: as in send().
 */
static size_t read_records(struct gtsc_file *file, struct iov_iter *to, bool first,
			   size_t *missing)
{
	struct gtsc_reader *reader = file->reader;
	struct rb_root_cached sources;
	struct gtsc_source *source;
	size_t copied = 0, n;

	*missing = 0;
	find_sources(reader, &sources);
	while (iov_iter_count(to)) {
		const struct gtsc_record_header *header;
		bool rewinds = reader->rewinds;

		source = next_source(file, &sources, first);
		if (!source)
			break;

		header = source->data + source->pos;
		rb_erase_cached(&source->node, &sources);
		if (header->type == GTSC_LOST && !file->headers) {
			consume_one(source, header);
		} else {
			n = send(file, source, to, first,
				 readable_until(reader, &sources, header->time), missing);
			if (!n)
				break;
			copied += n;
			first = false;
			/* The rewind that had to wait for this record has moved all sources */
			if (rewinds && !reader->rewinds)
				break;
		}
		add_source(reader, &sources, source);
	}

	return copied;
}

/**
 * gtsc_read - read records
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
ssize_t gtsc_read(struct gtsc_file *file, struct iov_iter *to)
{
	struct gtsc_reader *reader = file->reader;
	size_t copied = 0, missing, n;
	unsigned int tries = 0;

	for (;;) {
		if (mutex_lock_interruptible(&reader->lock))
			return copied ?: -ERESTARTSYS;
		n = read_records(file, to, !copied, &missing);
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
EXPORT_SYMBOL_IF_KUNIT(gtsc_read);

/* A file that has got a part of a record is closed: others get all of that record */
void gtsc_end_read(struct gtsc_file *file)
{
	struct gtsc_reader *reader = file->reader;

	guard(mutex)(&reader->lock);

	if (reader->partial_file != file)
		return;

	reader->partial->sent = 0;
	gtsc_end_partial(reader);
}

/* Waiting */

/* Have writers wake the reader when @nr sub-buffers are full; false if they are */
static bool arm_watermark(struct gtsc_source *source, unsigned int nr)
{
	return gtsc_wake_when_full(source->buffer, source->taken ? source->mem : -1, nr);
}

/*
 * Whether @source has something to read, and enough of it for a reader that waits. If it has too
 * little, have writers wake the reader.
 */
static bool ready_or_set_watermark(struct gtsc_reader *reader, struct gtsc_source *source)
{
	unsigned int watermark = READ_ONCE(reader->ch->watermark);

	if (!gtsc_find_next(reader->ch, source))
		return false;
	if (!watermark || !gtsc_running(reader->ch) || source->at)
		return true;

	return !arm_watermark(source, watermark);
}

/* The same for all sources of a file */
static bool readable_or_set_watermark(struct gtsc_file *file)
{
	struct gtsc_reader *reader = file->reader;
	int cpu;

	lockdep_assert_held(&reader->lock);

	if (reader->partial)
		return reader->partial_file == file;

	for_each_cpu(cpu, reader->cpus) {
		if (ready_or_set_watermark(reader, gtsc_source(reader->ch, cpu)))
			return true;
	}

	return false;
}

/* Whether another file than @file has got a part of a record */
bool gtsc_other_has_part(struct gtsc_file *file)
{
	struct gtsc_reader *reader = file->reader;

	guard(mutex)(&reader->lock);

	return reader->partial && reader->partial_file != file;
}

static void check_wait(void *info)
{
	/* See arm_wake() */
	smp_mb();
	gtsc_recheck_watermark(info);
}

/* Returns whether it was armed already */
static bool arm(struct gtsc_reader *reader, struct gtsc_source *source)
{
	unsigned int watermark = READ_ONCE(reader->ch->watermark);
	struct gtsc_buffer *b = source->buffer;

	if (READ_ONCE(b->wake))
		return true;
	if (watermark)
		arm_watermark(source, watermark);
	else
		WRITE_ONCE(b->wake, true);

	return false;
}

/*
 * Have the next record that is committed wake those who poll the file; with a watermark, the
 * record that is committed when so many sub-buffers are full.
 *
 * A writer commits its record and then looks at @wake; a reader sets @wake and then looks
 * for records. One of them has to see what the other has done. The writer has no barrier
 * between the two, so the reader interrupts its CPU: after that, either the record is
 * there, or its writer sees @wake. Where @wake is set already, an earlier reader has
 * interrupted the CPU, or code on this CPU has set it, and the next commit there sees it.
 */
static void arm_wake(struct gtsc_reader *reader)
{
	/* A hotplug operation may wait for the reader's lock: do not wait for the operation */
	bool none_moves = cpus_read_trylock();
	bool all_online = true;
	int cpu;

	lockdep_assert_held(&reader->lock);

	for_each_cpu(cpu, reader->cpus) {
		struct gtsc_source *source = gtsc_source(reader->ch, cpu);

		if (source->buffer && !arm(reader, source) &&
		    smp_call_function_single(cpu, check_wait, source->buffer, true))
			all_online = false;
	}

	/*
	 * smp_call_function_single() fails for a CPU that is going online or offline, although
	 * the CPU may still write. After a grace period, its writers see @wake, or their records
	 * are there. If no CPU is going online or offline, the call fails only for a CPU that is
	 * offline. Its writers see @wake when it comes online.
	 */
	if (none_moves)
		cpus_read_unlock();
	else if (!all_online)
		synchronize_rcu();
}

/**
 * gtsc_poll - whether a file is readable for poll()
 * @file: the file, as it was opened
 *
 * If not, the next record that is committed wakes the waitqueue of the reader, which the
 * caller is in already. With a watermark, that is when as many sub-buffers are full.
 *
 * Context: process context, may sleep.
 *
 * Return: true if there is something to read, and enough of it.
 */
bool gtsc_poll(struct gtsc_file *file)
{
	struct gtsc_reader *reader = file->reader;

	guard(mutex)(&reader->lock);

	if (readable_or_set_watermark(file))
		return true;

	/* The end of another file's partial record wakes all */
	if (reader->partial)
		return false;

	arm_wake(reader);

	/* It sets the watermark again that arm_wake() has set, and checked on the CPU */
	return readable_or_set_watermark(file);
}
EXPORT_SYMBOL_IF_KUNIT(gtsc_poll);

static void wake(struct irq_work *work)
{
	wake_pollers(container_of(work, struct gtsc_cpu, wake)->reader);
}

/* A channel */

static void init_reader(struct gtsc_channel *ch, struct gtsc_reader *reader,
			const struct cpumask *cpus)
{
	reader->ch = ch;
	reader->cpus = cpus;
	mutex_init(&reader->lock);
	init_waitqueue_head(&reader->wait);
}

void gtsc_init_readers(struct gtsc_channel *ch)
{
	unsigned int first = cpumask_first(cpu_possible_mask);
	bool global = ch->flags & GTSC_GLOBAL;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct gtsc_cpu *c = gtsc_cpu(ch, cpu);

		init_reader(ch, &c->own_reader, global ? ch->cpus : cpumask_of(cpu));
		c->reader = &gtsc_cpu(ch, global ? first : cpu)->own_reader;
		c->source.cpu = cpu;
		INIT_LIST_HEAD(&c->source.held);
		init_irq_work(&c->wake, wake);
	}
}

/* Nobody writes or reads any more */
void gtsc_free_readers(struct gtsc_channel *ch)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		irq_work_sync(&gtsc_cpu(ch, cpu)->wake);
		free_page((unsigned long)gtsc_cpu(ch, cpu)->own_reader.page);
		gtsc_free_held(gtsc_source(ch, cpu));
	}
}

static bool owns_reader(struct gtsc_channel *ch, int cpu)
{
	return gtsc_reader(ch, cpu) == &gtsc_cpu(ch, cpu)->own_reader;
}

/* gtsc_mutex makes it safe to take the locks of all readers */
void gtsc_lock_readers(struct gtsc_channel *ch)
{
	int cpu;

	lockdep_assert_held(&gtsc_mutex);

	for_each_possible_cpu(cpu) {
		if (owns_reader(ch, cpu))
			mutex_lock_nest_lock(&gtsc_reader(ch, cpu)->lock, &gtsc_mutex);
	}
}

void gtsc_unlock_readers(struct gtsc_channel *ch)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (owns_reader(ch, cpu))
			mutex_unlock(&gtsc_reader(ch, cpu)->lock);
	}
}

void gtsc_wake_readers(struct gtsc_channel *ch)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (owns_reader(ch, cpu))
			wake_up_interruptible_all(&gtsc_reader(ch, cpu)->wait);
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

	gtsc_lock_readers(ch);
	for_each_possible_cpu(cpu) {
		struct gtsc_reader *reader = gtsc_reader(ch, cpu);

		if (!owns_reader(ch, cpu))
			continue;
		if (reader->partial)
			reader->rewinds = true;
		else
			rewind_sources(reader);
	}
	gtsc_unlock_readers(ch);
	gtsc_wake_readers(ch);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: the records of one CPU, as a reader gets them.
 *
 * Takes sub-buffers out of the buffer of the CPU and returns the records in them one by
 * one. Records of a flight channel that have been read are held for a rewind. Called with
 * the lock of the trace file held.
 */

#include <linux/align.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "gtsc.h"
#include "read.h"

static struct gtsc_mem *taken_mem(struct gtsc_source *source)
{
	return &source->buffer->mem[source->mem];
}

/* Records that are held */

/* Take the oldest that is held, to use it again */
static struct gtsc_held *recycle_held(struct gtsc_source *source)
{
	struct gtsc_held *held;

	held = list_first_entry_or_null(&source->held, struct gtsc_held, node);
	if (!held)
		return NULL;

	list_del(&held->node);
	source->nr_held--;
	source->nr_rewindable -= held->nr;

	return held;
}

static struct gtsc_held *new_held(struct gtsc_source *source)
{
	struct gtsc_held *held = kmalloc(sizeof(*held), GFP_KERNEL | __GFP_NOWARN);

	if (!held)
		return NULL;
	held->data = gtsc_mem_alloc(source->cpu, source->buffer->order);
	if (held->data)
		return held;
	kfree(held);

	return NULL;
}

/*
 * Hold the taken sub-buffer, and put other memory in its place: new memory, or that of the oldest
 * sub-buffer held. Return false if there is neither: its records can be read only once.
 */
static bool hold(struct gtsc_source *source)
{
	struct gtsc_mem *mem = taken_mem(source);
	struct gtsc_held *held = NULL;

	if (source->nr_held < source->buffer->nr_sub)
		held = new_held(source);
	if (!held)
		held = recycle_held(source);
	if (!held)
		return false;

	swap(held->data, mem->data);
	held->from = source->from;
	held->used = source->end;
	held->nr = source->nr_here;
	list_add_tail(&held->node, &source->held);
	source->nr_held++;

	return true;
}

void gtsc_free_held(struct gtsc_source *source)
{
	struct gtsc_held *held, *next;

	list_for_each_entry_safe(held, next, &source->held, node) {
		gtsc_mem_free(held->data);
		kfree(held);
	}
	INIT_LIST_HEAD(&source->held);
	source->nr_held = 0;
	source->at = NULL;
}

static void go_to(struct gtsc_source *source, struct gtsc_held *held)
{
	source->at = held;
	source->nr_here = 0;
	if (held) {
		source->data = held->data;
		source->pos = held->from;
		source->end = held->used;
	} else if (source->taken) {
		source->data = taken_mem(source)->data;
		source->pos = source->from;
		source->end = source->from;
	}
}

void gtsc_rewind_source(struct gtsc_source *source)
{
	if (!source->buffer)
		return;

	go_to(source, list_first_entry_or_null(&source->held, struct gtsc_held, node));
	atomic64_sub(source->nr_rewindable, &source->nr_read);
	source->nr_rewindable = 0;
	source->sent = 0;
}

/* The sub-buffer that was taken */

/* All of it has been read, and no record is added to it */
static void retire(struct gtsc_channel *ch, struct gtsc_source *source)
{
	source->taken = false;
	source->buffer->spare = source->mem;
	if (!(ch->flags & GTSC_FLIGHT) || !hold(source))
		source->nr_rewindable -= source->nr_here;
}

/* Put a record in front that tells how many were lost. GTSC_FIRST_UNIT leaves room for it. */
static void put_lost(struct gtsc_source *source, u64 lost)
{
	struct gtsc_lost *record = taken_mem(source)->data;
	/* Not a filler: a filler comes after a record */
	const struct gtsc_record_header *first = (void *)(record + 1);

	record->header = (struct gtsc_record_header){
		.len = sizeof(record->nr), .cpu = source->cpu, .type = GTSC_TYPE_LOST,
		.time = first->time,
	};
	record->nr = lost - source->lost;
	source->lost = lost;
	source->from = 0;
}

/* Returns false if there is no other sub-buffer */
static bool take_next_sub(struct gtsc_source *source)
{
	struct gtsc_buffer *b = source->buffer;
	u64 lost;

	/* What is overwritten from here on may be newer than what is taken: told next time */
	lost = local64_read(&b->counts->overwritten);
	if (!gtsc_take(b, &source->mem))
		return false;

	source->taken = true;
	source->from = GTSC_FIRST_UNIT * GTSC_UNIT;
	lost += taken_mem(source)->dropped;
	if ((s64)(lost - source->lost) > 0)
		put_lost(source, lost);
	go_to(source, NULL);

	return true;
}

/* Go on to records after @end. Returns false if there are none. */
static bool move_on(struct gtsc_channel *ch, struct gtsc_source *source)
{
	bool passed;
	u64 commit;
	u32 end;

	if (source->at) {
		go_to(source, list_is_last(&source->at->node, &source->held) ? NULL :
		      list_next_entry(source->at, node));
		return true;
	}

	if (!source->taken)
		return take_next_sub(source);

	/* Pairs with the release in gtsc_end() */
	commit = atomic64_read_acquire(&source->buffer->commit);
	passed = !gtsc_is_in(commit, source->mem);
	end = passed ? taken_mem(source)->used : gtsc_offset(commit);
	if (end > source->end) {
		source->end = end;
		return true;
	}
	if (!passed)
		return false;
	retire(ch, source);

	return take_next_sub(source);
}

static const struct gtsc_record_header *header_at(const struct gtsc_source *source, u32 pos)
{
	return source->data + pos;
}

/*
 * Find the next record of @source, from where it is. gtsc_consume() goes on. Returns NULL
 * if there is none.
 */
const struct gtsc_record_header *gtsc_find_next(struct gtsc_channel *ch, struct gtsc_source *source)
{
	const struct gtsc_record_header *header;

	if (!source->buffer)
		return NULL;

	do {
		while (source->pos < source->end) {
			header = header_at(source, source->pos);
			if (!gtsc_is_filler(header))
				return header;
			source->pos += gtsc_filler_size(header);
		}
	} while (move_on(ch, source));

	return NULL;
}

/*
 * How many bytes of records follow each other from where gtsc_find_next() has found one, up
 * to @max bytes and up to the time @until. @nr: the number of these records, not counting
 * records of the type GTSC_TYPE_LOST.
 */
size_t gtsc_find_run(const struct gtsc_source *source, size_t max, u64 until, unsigned int *nr)
{
	const struct gtsc_record_header *header;
	u32 pos = source->pos;
	size_t size;

	*nr = 0;
	while (pos < source->end) {
		header = header_at(source, pos);
		/* A filler has a later time, too */
		if (header->time > until)
			break;
		size = gtsc_record_size(header->len);
		if (pos + size - source->pos > max)
			break;
		pos += size;
		*nr += header->type == GTSC_TYPE_RECORD;
	}

	return pos - source->pos;
}

/*
 * Like gtsc_find_run(), but copy the records, without headers and without records of the type
 * GTSC_TYPE_LOST, to @to, which has room for @max bytes. Return the bytes copied. @run: the bytes
 * that all of these records have in the sub-buffer.
 */
size_t gtsc_gather(const struct gtsc_source *source, void *to, size_t max, u64 until,
		   size_t *run, unsigned int *nr)
{
	const struct gtsc_record_header *header;
	u32 pos = source->pos;
	size_t copied = 0;

	*nr = 0;
	while (pos < source->end) {
		header = header_at(source, pos);
		if (header->time > until)
			break;
		if (header->type == GTSC_TYPE_RECORD) {
			if (header->len > max - copied)
				break;
			memcpy(to + copied, header + 1, header->len);
			copied += header->len;
			(*nr)++;
		}
		pos += gtsc_record_size(header->len);
	}
	*run = pos - source->pos;

	return copied;
}

/* @size bytes with @nr records have been read */
void gtsc_consume(struct gtsc_source *source, size_t size, unsigned int nr)
{
	source->pos += size;
	source->nr_here += nr;
	source->nr_rewindable += nr;
	source->sent = 0;
	atomic64_add_return_release(nr, &source->nr_read);
}

/* Read from @buffer, which may be NULL, from now on */
void gtsc_set_buffer(struct gtsc_source *source, struct gtsc_buffer *buffer)
{
	gtsc_free_held(source);
	source->nr_here = 0;
	source->nr_rewindable = 0;
	source->taken = false;
	source->pos = 0;
	source->end = 0;
	source->sent = 0;

	source->buffer = buffer;
}

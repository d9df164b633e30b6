// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: the records of one CPU.
 *
 * Takes whole sub-buffers out of the ring buffer and returns the records in them one by
 * one. Records that were read from a flight channel are kept for a rewind. Called with
 * the lock of the reader held.
 */

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/ring_buffer.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "gtsc.h"
#include "read.h"

/* Records of a flight channel that were read, in chunks of the size of a sub-buffer */

struct gtsc_chunk {
	struct list_head	node;
	unsigned int		used;
	unsigned int		nr;
	u8			data[];
};

struct gtsc_held {
	u64	time;
	u32	len;
	u8	data[];
};

static unsigned int held_size(u32 len)
{
	return ALIGN(offsetof(struct gtsc_held, data) + len, sizeof(u64));
}

/* Take the oldest chunk, if all of it has been read, to use it again */
static struct gtsc_chunk *recycle_chunk(struct gtsc_source *source)
{
	struct gtsc_chunk *chunk;

	chunk = list_first_entry_or_null(&source->chunks, struct gtsc_chunk, node);
	if (!chunk || chunk == source->chunk)
		return NULL;

	list_del(&chunk->node);
	source->nr_chunks--;
	source->nr_reread -= chunk->nr;

	return chunk;
}

static struct gtsc_chunk *add_chunk(struct trace_info *trace, struct gtsc_source *source)
{
	struct gtsc_chunk *chunk = NULL;

	if (source->nr_chunks >= trace->nr_sub)
		chunk = recycle_chunk(source);
	if (!chunk)
		chunk = kvmalloc(struct_size(chunk, data, gtsc_sub_size(trace)),
				 GFP_KERNEL | __GFP_NOWARN);
	if (!chunk)
		chunk = recycle_chunk(source);
	if (!chunk)
		return NULL;

	chunk->used = 0;
	chunk->nr = 0;
	list_add_tail(&chunk->node, &source->chunks);
	source->nr_chunks++;
	if (!source->chunk) {
		source->chunk = chunk;
		source->chunk_pos = 0;
	}

	return chunk;
}

/* Keep @record. If there is no memory for it, it can be read only once. */
static bool hold(struct trace_info *trace, struct gtsc_source *source,
		 const struct gtsc_record *record)
{
	unsigned int size = held_size(record->len);
	struct gtsc_chunk *chunk = NULL;
	struct gtsc_held *held;

	if (!list_empty(&source->chunks))
		chunk = list_last_entry(&source->chunks, struct gtsc_chunk, node);
	if (!chunk || gtsc_sub_size(trace) - chunk->used < size)
		chunk = add_chunk(trace, source);
	if (!chunk)
		return false;

	held = (struct gtsc_held *)(chunk->data + chunk->used);
	held->time = record->time;
	held->len = record->len;
	memcpy(held->data, record->data, record->len);
	chunk->used += size;
	chunk->nr++;

	return true;
}

static bool next_held(struct gtsc_source *source, struct gtsc_record *record)
{
	const struct gtsc_held *held;

	if (!source->chunk)
		return false;

	if (source->chunk_pos == source->chunk->used) {
		if (list_is_last(&source->chunk->node, &source->chunks))
			return false;
		source->chunk = list_next_entry(source->chunk, node);
		source->chunk_pos = 0;
	}

	held = (const struct gtsc_held *)(source->chunk->data + source->chunk_pos);
	record->time = held->time;
	record->len = held->len;
	record->data = held->data;

	return true;
}

void gtsc_free_chunks(struct gtsc_source *source)
{
	struct gtsc_chunk *chunk, *next;

	list_for_each_entry_safe(chunk, next, &source->chunks, node)
		kvfree(chunk);
	INIT_LIST_HEAD(&source->chunks);
	source->nr_chunks = 0;
	source->chunk = NULL;
	source->chunk_pos = 0;
	source->nr_reread = 0;
}

void gtsc_rewind_source(struct gtsc_source *source)
{
	source->chunk = list_first_entry_or_null(&source->chunks, struct gtsc_chunk, node);
	source->chunk_pos = 0;
	atomic64_sub(source->nr_reread, &source->nr_read);
	source->nr_reread = 0;
	source->has_next = false;
	source->sent = 0;
}

/* Records that have been taken out of the ring buffer, and not been read */
u64 gtsc_count_source(struct gtsc_source *source)
{
	struct gtsc_cursor cursor = source->cursor;
	struct gtsc_chunk *chunk;
	struct gtsc_record record;
	u64 nr = 0;

	list_for_each_entry(chunk, &source->chunks, node)
		nr += chunk->nr;
	nr -= source->nr_reread;

	while (gtsc_next_in_page(&cursor, &record))
		nr++;

	return nr;
}

/* One CPU */

static bool load_page(struct trace_info *trace, struct gtsc_source *source)
{
	if (ring_buffer_alloc_read_page(trace->buffer, source->cpu, &source->page))
		return false;

	source->cursor = (struct gtsc_cursor){ };
	if (ring_buffer_read_page(trace->buffer, source->page, gtsc_sub_size(trace),
				  source->cpu, 0) < 0)
		return false;

	gtsc_open_page(&source->cursor, ring_buffer_read_page_data(source->page));

	return true;
}

/*
 * Find the next record of @source. It is taken from there by gtsc_consume().
 * @keep: what comes from the ring buffer of a flight channel is kept
 */
bool gtsc_find_next(struct trace_info *trace, struct gtsc_source *source, bool keep)
{
	struct gtsc_record record;
	struct gtsc_cursor cursor;

	if (source->has_next)
		return true;
	if (source->empty)
		return false;

	source->from_page = false;
	source->has_next = next_held(source, &source->next);
	if (source->has_next)
		return true;

	for (;;) {
		cursor = source->cursor;
		if (gtsc_next_in_page(&cursor, &record))
			break;
		if (!load_page(trace, source)) {
			source->empty = true;
			return false;
		}
	}

	source->has_next = true;
	if (keep && trace->flags & TRACE_FLIGHT_CHANNEL && hold(trace, source, &record)) {
		source->cursor = cursor;
		next_held(source, &source->next);
	} else {
		source->from_page = true;
		source->after = cursor;
		source->next = record;
	}

	return true;
}

/* The next record has been read */
void gtsc_consume(struct gtsc_source *source)
{
	if (source->from_page) {
		source->cursor = source->after;
	} else {
		source->chunk_pos += held_size(source->next.len);
		source->nr_reread++;
	}

	atomic64_inc_return_release(&source->nr_read);
	source->has_next = false;
	source->sent = 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: the records in a sub-buffer of the ring buffer, as
 * ring_buffer_read_page() returns it. See Documentation/trace/ring-buffer-design.rst.
 */

#include <linux/align.h>
#include <linux/bits.h>
#include <linux/bug.h>
#include <linux/ring_buffer.h>
#include <kunit/visibility.h>

#include "page.h"

#define COMMIT_SIZE		0xfffff		/* the rest are flags */
#define TIME_DELTA_BITS		27
#define TIME_ABSOLUTE_MASK	GENMASK_ULL(58, 0)

static u64 long_time(const struct ring_buffer_event *event)
{
	return ((u64)event->array[0] << TIME_DELTA_BITS) + event->time_delta;
}

/* The slot of a data event, with the room that there is for it */
static const struct gtsc_slot *event_slot(const struct ring_buffer_event *event,
					  unsigned int *room)
{
	if (event->type_len) {
		*room = event->type_len * sizeof(event->array[0]);
		return (const struct gtsc_slot *)event->array;
	}

	/* The length counts itself */
	*room = event->array[0] - sizeof(event->array[0]);
	return (const struct gtsc_slot *)(event->array + 1);
}

/* Start to read a page that ring_buffer_read_page() has filled */
void gtsc_open_page(struct gtsc_cursor *cursor, const struct gtsc_page *page)
{
	cursor->page = page;
	cursor->pos = 0;
	cursor->end = local_read(&page->commit) & COMMIT_SIZE;
	cursor->time = page->time;
}
EXPORT_SYMBOL_IF_KUNIT(gtsc_open_page);

static bool next_data(struct gtsc_cursor *cursor,
		      const struct ring_buffer_event *event,
		      struct gtsc_record *record)
{
	const struct gtsc_slot *slot;
	unsigned int room, size;

	slot = event_slot(event, &room);
	if (room > cursor->end)
		return false;
	size = (const u8 *)slot - (const u8 *)event + ALIGN(room, sizeof(event->array[0]));
	if (size > cursor->end - cursor->pos || room < sizeof(*slot) ||
	    slot->len > room - sizeof(*slot))
		return false;

	cursor->time += event->time_delta;
	cursor->pos += size;

	record->time = cursor->time;
	record->len = slot->len;
	record->data = slot->data;

	return true;
}

/* The next record of a page; false at its end */
bool gtsc_next_in_page(struct gtsc_cursor *cursor, struct gtsc_record *record)
{
	const struct ring_buffer_event *event;

	while (cursor->pos + sizeof(*event) + sizeof(event->array[0]) <= cursor->end) {
		event = (const void *)(cursor->page->data + cursor->pos);

		switch (event->type_len) {
		case RINGBUF_TYPE_PADDING:
			/* The rest of the page, or a discarded record */
			if (!event->time_delta)
				return false;
			/* 1: a record without a time delta was discarded */
			if (event->time_delta != 1)
				cursor->time += event->time_delta;
			cursor->pos += sizeof(*event) + event->array[0];
			break;
		case RINGBUF_TYPE_TIME_EXTEND:
			cursor->time += long_time(event);
			cursor->pos += sizeof(*event) + sizeof(event->array[0]);
			break;
		case RINGBUF_TYPE_TIME_STAMP:
			cursor->time = long_time(event) |
				       (cursor->time & ~TIME_ABSOLUTE_MASK);
			cursor->pos += sizeof(*event) + sizeof(event->array[0]);
			break;
		default:
			return !WARN_ON_ONCE(!next_data(cursor, event, record));
		}
	}

	return false;
}
EXPORT_SYMBOL_IF_KUNIT(gtsc_next_in_page);

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writing a record, inline: for write.c, gtsc_functions.c and gtsc_graph.c. The caller disables
 * preemption from the reservation to the end of the record.
 */
#ifndef _KERNEL_TRACE_GTSC_WRITE_H
#define _KERNEL_TRACE_GTSC_WRITE_H

#include <linux/compiler.h>
#include <linux/percpu.h>

#include "gtsc.h"

void gtsc_wake_reader(struct gtsc_channel *ch, struct gtsc_buffer *b);
void gtsc_count_refused(struct gtsc_channel *ch, struct gtsc_buffer *b, size_t len);

static inline struct gtsc_record_header *gtsc_header_of(const struct gtsc_record *record)
{
	return (struct gtsc_record_header *)record->data - 1;
}

static __always_inline void gtsc_end_and_wake(struct gtsc_channel *ch, struct gtsc_buffer *b)
{
	/* Wake the reader after the records are published: it looks for them at once */
	if (gtsc_end(b) && unlikely(READ_ONCE(b->wake)))
		gtsc_wake_reader(ch, b);
}

static __always_inline bool gtsc_fits(const struct gtsc_buffer *b, size_t len)
{
	/* A @len of 0 wraps, and does not fit. Nothing fits into gtsc_no_buffer: @max_len is 0. */
	return len - 1 < b->max_len;
}

/* Reserve space for a record; see gtsc_reserve() */
static __always_inline bool gtsc_reserve_record(struct gtsc_channel *ch,
						struct gtsc_record *record, size_t len)
{
	struct gtsc_buffer *__percpu *live;
	struct gtsc_record_header *header;
	unsigned int units;
	struct gtsc_buffer *b;

	live = READ_ONCE(ch->live);
	if (unlikely(!live))
		return false;

	b = *this_cpu_ptr(live);
	if (unlikely(!gtsc_fits(b, len))) {
		gtsc_count_refused(ch, b, len);
		return false;
	}

	units = gtsc_units(len);
	gtsc_begin(b);
	if (unlikely(!gtsc_reserve_space(b, units, &header))) {
		/* Records that have interrupted this one can be read only now */
		gtsc_end_and_wake(ch, b);
		return false;
	}

	record->buffer = b;
	record->data = header + 1;
	header->len = len;
	*(u32 *)&header->type = b->origin.word;
	/* No bytes of earlier records are left between this record and the next */
	if (!__builtin_constant_p(len) || len % GTSC_UNIT)
		*((u64 *)header + units - 1) = 0;

	return true;
}

/* The record is complete */
static __always_inline void gtsc_end_record(struct gtsc_channel *ch,
					    const struct gtsc_record *record)
{
	gtsc_end_and_wake(ch, record->buffer);
}

#endif /* _KERNEL_TRACE_GTSC_WRITE_H */

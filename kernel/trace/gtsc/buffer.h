/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The buffer of one CPU: sub-buffers in a ring of slots (buffer.c)
 */
#ifndef _KERNEL_TRACE_GTSC_BUFFER_H
#define _KERNEL_TRACE_GTSC_BUFFER_H

#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/gtsc.h>
#include <linux/mm_types.h>
#include <linux/types.h>
#include <uapi/linux/gtsc.h>

#include <asm/local.h>
#include <asm/local64.h>

/* The KUnit test of the interleavings stops here, between the steps that publish */
#ifndef gtsc_step
#define gtsc_step()		do { } while (0)
#endif

/* The largest sub-buffer is PAGE_SIZE << GTSC_MAX_ORDER, as in tracefs */
#define GTSC_MAX_ORDER		7

/* Records have lengths in units of 8 bytes */
#define GTSC_UNIT		8

/*
 * A filler follows a record that was made shorter: a word with this bit and the number of bytes
 * that come after it. The time of a record does not have this bit.
 */
#define GTSC_FILLER		BIT_ULL(63)

/* Later than all records, but not than a filler */
#define GTSC_TIME_MAX		(GTSC_FILLER - 1)

/*
 * A position has four fields: [ lap | slot | memory | offset ]. The lap around all slots, and the
 * slot, are the sequence number of a sub-buffer. The memory is the index in @mem of the pages that
 * the sub-buffer uses, and the offset counts units of 8 bytes in these pages.
 */
#define GTSC_OFFSET_BITS	(PAGE_SHIFT + GTSC_MAX_ORDER - 3)
#define GTSC_MEM_BITS		16
#define GTSC_SLOT_BITS		16
#define GTSC_SEQ_SHIFT		(GTSC_OFFSET_BITS + GTSC_MEM_BITS)
#define GTSC_LAP_SHIFT		(GTSC_SEQ_SHIFT + GTSC_SLOT_BITS)
#define GTSC_LAP_BITS		(64 - GTSC_LAP_SHIFT)

#define GTSC_OFFSET_MASK	((1ULL << GTSC_OFFSET_BITS) - 1)
#define GTSC_MEM_MASK		((1ULL << GTSC_MEM_BITS) - 1)
#define GTSC_SLOT_MASK		((1ULL << GTSC_SLOT_BITS) - 1)

/* Sub-buffers of a CPU; one more is the reader's */
#define GTSC_MAX_SUBS		((1U << GTSC_MEM_BITS) - 1)

/* At the start of a sub-buffer: room for the record that tells how many were lost */
struct gtsc_lost {
	struct gtsc_record_header	header;
	u64				nr;
};

/* The offset of the first record, in units */
#define GTSC_FIRST_UNIT		(sizeof(struct gtsc_lost) / GTSC_UNIT)

/* What a header has in all records of a CPU, written at once */
union gtsc_origin {
	struct {
		u16		type;
		u16		cpu;
	};
	u32			word;
};

static_assert(offsetof(struct gtsc_record_header, cpu) ==
	      offsetof(struct gtsc_record_header, type) + offsetof(union gtsc_origin, cpu));

/* The memory of a sub-buffer, and what is in it */
struct gtsc_mem {
	void			*data;
	/* Bytes, when the sub-buffer is finished */
	u32			used;
	/* Records reserved here since the buffer was made; that number before the present ones */
	local64_t		nr;
	u64			nr_before;
	/* Records of this CPU that had been dropped when the present ones began */
	u64			dropped;
};

/*
 * What has been counted on a CPU; stays when the sizes change. Changed by the writers of the CPU;
 * without writers, by discard_unread() with gtsc_mutex held.
 */
struct gtsc_counts {
	local64_t		overwritten;
	local64_t		full;
	local64_t		too_big;
	local64_t		nested;
};

struct gtsc_buffer {
	/* Changed by the writers of the CPU */
	local64_t		pos;
	/* All records before this position are committed; read by the reader */
	atomic64_t		commit;
	/* Writers that have begun and not ended, as they have interrupted each other */
	unsigned int		nest;

	/* Constant, but for @wake, @wake_when_passed and @wake_seq */
	unsigned int		units;		/* of a sub-buffer */
	unsigned int		max_len;	/* bytes of a record */
	struct gtsc_mem		*mem;		/* @nr_sub and the reader's */
	union gtsc_origin	origin;
	bool			flight;
	/*
	 * @wake: the next commit wakes the reader. Without a watermark, the reader sets it. With
	 * one, the reader sets @wake_when_passed and @wake_seq, and the writer that finishes
	 * @wake_seq, or gtsc_recheck_watermark(), sets @wake. gtsc_wake_reader() clears both flags.
	 */
	bool			wake;
	bool			wake_when_passed;
	u64			wake_seq;
	unsigned int		nr_sub;
	struct gtsc_counts	*counts;
	/*
	 * For each slot the laps of the sub-buffer that is in it, its memory, and whether the
	 * reader has taken it and left a spare: [ laps | memory | taken ]. A position has only
	 * the lowest bits of the laps.
	 */
	atomic64_t		*slots;

	/* The reader's, changed with the lock of the trace file held; @order is constant */
	u64			tail;		/* the sequence number that it takes next */
	unsigned int		spare;		/* memory that it gives for that */
	unsigned int		order;
};

struct gtsc_buffer *gtsc_buffer_alloc(unsigned int cpu, unsigned int order, unsigned int nr_sub,
				      bool flight, struct gtsc_counts *counts);
void gtsc_buffer_free(struct gtsc_buffer *b);
void *gtsc_mem_alloc(unsigned int cpu, unsigned int order);
void gtsc_mem_free(void *data);

u64 gtsc_reserve_next(struct gtsc_buffer *b, unsigned int units);

/*
 * Is @pos in the memory with the number @mem? For memory that the reader has taken, this means that
 * writers are still in it: they come back to it only after the reader has given it away.
 */
static inline bool gtsc_is_in(u64 pos, unsigned int mem)
{
	return (pos >> GTSC_OFFSET_BITS & GTSC_MEM_MASK) == mem;
}

static inline unsigned int gtsc_offset(u64 pos)
{
	return (pos & GTSC_OFFSET_MASK) * GTSC_UNIT;
}

u64 gtsc_seq_after(const struct gtsc_buffer *b, u64 seq, unsigned int nr);
bool gtsc_take(struct gtsc_buffer *b, unsigned int *mem);
bool gtsc_peek(struct gtsc_buffer *b, u64 seq, unsigned int *mem);
u64 gtsc_oldest_seq(struct gtsc_buffer *b);
u64 gtsc_written(struct gtsc_buffer *b);
bool gtsc_wake_when_full(struct gtsc_buffer *b, int mem, unsigned int nr);
void gtsc_recheck_watermark(struct gtsc_buffer *b);

/* Bytes of a record of @len bytes, with its header and what fills it up */
static inline size_t gtsc_record_size(size_t len)
{
	return ALIGN(sizeof(struct gtsc_record_header) + len, GTSC_UNIT);
}

static inline bool gtsc_is_filler(const struct gtsc_record_header *header)
{
	return header->time & GTSC_FILLER;
}

/* Bytes of a filler; it need not have room for more than the first word of a header */
static inline size_t gtsc_filler_size(const struct gtsc_record_header *filler)
{
	return GTSC_UNIT + (filler->time & ~GTSC_FILLER);
}

/* Units of a record of @len bytes */
static __always_inline unsigned int gtsc_units(size_t len)
{
	return gtsc_record_size(len) / GTSC_UNIT;
}

/* Bytes of the longest record: a sub-buffer is never filled up, see buffer.c */
static inline size_t gtsc_max_len(unsigned int order)
{
	return (PAGE_SIZE << order) - sizeof(struct gtsc_lost) - GTSC_UNIT -
	       sizeof(struct gtsc_record_header);
}

/*
 * Start to write. Until gtsc_end() of the outermost writer, nothing that is reserved
 * after this can be read.
 */
static __always_inline void gtsc_begin(struct gtsc_buffer *b)
{
	/* Interrupting writers restore it */
	b->nest++;
	barrier();
	gtsc_step();
}

static __always_inline struct gtsc_mem *gtsc_mem_at(const struct gtsc_buffer *b, u64 pos)
{
	return &b->mem[pos >> GTSC_OFFSET_BITS & GTSC_MEM_MASK];
}

static __always_inline struct gtsc_record_header *
gtsc_header_at(const struct gtsc_mem *mem, u64 pos)
{
	return mem->data + (pos & GTSC_OFFSET_MASK) * GTSC_UNIT;
}

/*
 * Reserve space, between gtsc_begin() and gtsc_end(), count the record, and set the time in
 * its header. Returns whether there is space.
 */
static __always_inline bool gtsc_reserve_space(struct gtsc_buffer *b, unsigned int units,
					       struct gtsc_record_header **header)
{
	s64 pos = local64_read(&b->pos);
	struct gtsc_mem *mem;
	u64 time;

	do {
		if (unlikely((pos & GTSC_OFFSET_MASK) + units >= b->units)) {
			pos = gtsc_reserve_next(b, units);
			if (!pos)
				return false;
			/* It has stored the time there, since it can return one value only */
			time = gtsc_header_at(gtsc_mem_at(b, pos), pos)->time;
			break;
		}
		gtsc_step();
		/* Between the read and the exchange of @pos: times have the order of positions */
		time = gtsc_timestamp();
	} while (unlikely(!local64_try_cmpxchg(&b->pos, &pos, pos + units)));
	gtsc_step();

	mem = gtsc_mem_at(b, pos);
	*header = gtsc_header_at(mem, pos);
	local64_inc(&mem->nr);
	(*header)->time = time;

	return true;
}

/*
 * End to write. The outermost writer publishes its record, and those of writers that have
 * interrupted it. Returns true for the outermost writer.
 */
static __always_inline bool gtsc_end(struct gtsc_buffer *b)
{
	s64 pos;

	barrier();
	if (unlikely(b->nest > 1)) {
		b->nest--;
		return false;
	}

	for (;;) {
		pos = local64_read(&b->pos);
		gtsc_step();
		/* Pairs with the acquire in gtsc_take() */
		atomic64_set_release(&b->commit, pos);
		barrier();
		gtsc_step();
		b->nest = 0;
		barrier();
		gtsc_step();
		if (likely(pos == local64_read(&b->pos)))
			return true;
		/* A writer that came while @nest was 1 has left its record here: publish it */
		b->nest = 1;
		barrier();
	}
}

#endif /* _KERNEL_TRACE_GTSC_BUFFER_H */

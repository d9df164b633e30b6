/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading: the records of a CPU (source.c) and trace files (read.c)
 */
#ifndef _KERNEL_TRACE_GTSC_READ_H
#define _KERNEL_TRACE_GTSC_READ_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/wait.h>

#include "gtsc.h"
#include "page.h"

struct cpumask;
struct file;
struct iov_iter;

/* What the ring buffer of a CPU has counted */
struct gtsc_counts {
	unsigned long	written;
	unsigned long	overwritten;
	unsigned long	full;
};

/*
 * The records of one CPU, as the reader takes them out of the ring buffer. The lock
 * of the reader protects all but @cpu, @nr_read, @last and @total.
 */
struct gtsc_source {
	unsigned int			cpu;
	atomic64_t			nr_read;	/* read without the lock */

	/* Protected by gtsc_mutex: counters as read last, and their sums */
	struct gtsc_counts		last;
	struct {
		u64			written;
		u64			overwritten;
		u64			full;
	} total;

	struct buffer_data_read_page	*page;
	struct gtsc_cursor		cursor;
	/* The ring buffer had no record, do not look again during this read() */
	bool				empty;

	struct gtsc_record		next;
	bool				has_next;
	/* @next is in @page, where it ends at @after; else it is in @chunk */
	bool				from_page;
	struct gtsc_cursor		after;
	/* Bytes of @next and its header that have been copied to user space */
	size_t				sent;

	/*
	 * Flight channels only: records that a rewind makes readable again. Those
	 * before @chunk_pos in @chunk, @nr_reread records, have been read.
	 */
	struct list_head		chunks;
	unsigned int			nr_chunks;
	struct gtsc_chunk		*chunk;
	unsigned int			chunk_pos;
	u64				nr_reread;
};

/* A trace file: of one CPU, or of all of them for a global channel */
struct gtsc_reader {
	struct trace_info	*trace;
	const struct cpumask	*cpus;
	struct mutex		lock;		/* nests in gtsc_mutex */
	wait_queue_head_t	wait;
	/* Global: all records up to this time have been committed */
	u64			horizon;
	/* The file that has got a part of the next record, and of which CPU */
	const struct file	*partial_file;
	struct gtsc_source	*partial;
};

static inline struct gtsc_reader *gtsc_reader(struct trace_info *trace, unsigned int cpu)
{
	return &trace->readers[trace->flags & TRACE_GLOBAL_CHANNEL ? 0 : cpu];
}

/* One CPU: source.c */
bool gtsc_find_next(struct trace_info *trace, struct gtsc_source *source, bool keep);
void gtsc_consume(struct gtsc_source *source);
void gtsc_rewind_source(struct gtsc_source *source);
u64 gtsc_count_source(struct gtsc_source *source);
void gtsc_free_chunks(struct gtsc_source *source);

/* One file: read.c */
ssize_t gtsc_read(struct gtsc_reader *reader, const struct file *file,
		  struct iov_iter *to);
void gtsc_end_read(struct gtsc_reader *reader, const struct file *file);
bool gtsc_poll(struct gtsc_reader *reader, const struct file *file);
bool gtsc_is_held(struct gtsc_reader *reader, const struct file *file);
struct gtsc_source *gtsc_oldest(struct gtsc_reader *reader, bool keep);

/* All files of a channel: read.c */
int gtsc_init_readers(struct trace_info *trace);
void gtsc_free_readers(struct trace_info *trace);
void gtsc_lock_readers(struct trace_info *trace);
void gtsc_unlock_readers(struct trace_info *trace);
void gtsc_forget_pages(struct trace_info *trace);
void gtsc_wake_readers(struct trace_info *trace);
void gtsc_rewind(struct trace_info *trace);
void gtsc_prepare_dump(struct trace_info *trace, unsigned int cpu);

#endif /* _KERNEL_TRACE_GTSC_READ_H */

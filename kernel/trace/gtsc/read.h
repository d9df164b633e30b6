/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading: the records of a CPU (source.c) and trace files (read.c)
 */
#ifndef _KERNEL_TRACE_GTSC_READ_H
#define _KERNEL_TRACE_GTSC_READ_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/wait.h>

#include "gtsc.h"

struct cpumask;
struct iov_iter;

/* A sub-buffer of a flight channel that was read */
struct gtsc_held {
	struct list_head	node;
	void			*data;
	u32			from;
	u32			used;
	u64			nr;
};

/* The records of one CPU. The lock of its trace file protects all but @cpu and @nr_read. */
struct gtsc_source {
	unsigned int		cpu;
	atomic64_t		nr_read;	/* read without the lock */

	/*
	 * The entry of @ch->buffers, but NULL for gtsc_no_buffer. Readers use this, writers
	 * @ch->live.
	 */
	struct gtsc_buffer	*buffer;

	/* The sub-buffer that was taken last, and the memory that it has in @buffer */
	bool			taken;
	unsigned int		mem;
	u32			from;		/* its first record */
	/* Lost records that readers have been told of, see put_lost() */
	u64			lost;

	/* Where the next record is: in @at, or else in the sub-buffer that was taken */
	struct gtsc_held	*at;
	const void		*data;
	u32			pos;
	u32			end;
	/* Bytes of the next record that have been copied to user space */
	size_t			sent;
	u64			next_time;	/* of the next record, see read.c */
	struct rb_node		node;		/* by @next_time */

	/* Flight channels only: what a rewind makes readable again */
	struct list_head	held;
	unsigned int		nr_held;
	u64			nr_here;	/* read between the first record and @pos */
	/* Records that were read, in @held or in the sub-buffer that was taken */
	u64			nr_rewindable;
};

struct gtsc_open_file;

/*
 * One for each traceN and its bufferN, however often they are open: the records of one CPU, or
 * those of all CPUs in a global channel
 */
struct gtsc_trace_file {
	struct gtsc_channel	*ch;
	const struct cpumask	*cpus;
	/* Protects the sources of @cpus and all below but @wait. Taken inside gtsc_mutex. */
	struct mutex		lock;
	wait_queue_head_t	wait;
	/* Global: all records up to this time have been committed */
	u64			horizon;
	/* The open file that has got a part of the next record, and of which CPU */
	struct gtsc_open_file	*partial_of;
	struct gtsc_source	*partial;
	/* A rewind waits until that open file has got the rest */
	bool			rewinds;
	/* A page for records without headers on their way to user space */
	void			*page;
};

/* One for each time that traceN or bufferN is open */
struct gtsc_open_file {
	struct gtsc_trace_file	*file;
	bool			headers;
	/* The rest of the record that it has got a part of was discarded; under @file->lock */
	bool			cut;
};

/* What a channel has for each CPU */
struct gtsc_cpu {
	struct gtsc_counts	counts;
	struct irq_work		wake;

	/* With the records of this CPU. In a global channel, that of the first possible CPU. */
	struct gtsc_trace_file	*file;
	/* Not used in a global channel, except that of the first possible CPU */
	struct gtsc_trace_file	own_file;
	struct gtsc_source	source;

	/* Protected by gtsc_mutex: written to buffers that this CPU had before */
	u64			written;
	bool			has_file;	/* changed by hotplug callbacks only */
};

static inline struct gtsc_cpu *gtsc_cpu(struct gtsc_channel *ch, unsigned int cpu)
{
	return per_cpu_ptr(ch->percpu, cpu);
}

static inline struct gtsc_source *gtsc_source(struct gtsc_channel *ch, unsigned int cpu)
{
	return &gtsc_cpu(ch, cpu)->source;
}

static inline struct gtsc_trace_file *gtsc_trace_file(struct gtsc_channel *ch, unsigned int cpu)
{
	return gtsc_cpu(ch, cpu)->file;
}

/* One CPU: source.c */
const struct gtsc_record_header *gtsc_find_next(struct gtsc_channel *ch,
						struct gtsc_source *source);
size_t gtsc_find_run(const struct gtsc_source *source, size_t max, u64 until, unsigned int *nr);
size_t gtsc_gather(const struct gtsc_source *source, void *to, size_t max, u64 until,
		   size_t *run, unsigned int *nr);
void gtsc_consume(struct gtsc_source *source, size_t size, unsigned int nr);
void gtsc_rewind_source(struct gtsc_source *source);
void gtsc_free_held(struct gtsc_source *source);
void gtsc_set_buffer(struct gtsc_source *source, struct gtsc_buffer *buffer);

/* One trace file: read.c */
ssize_t gtsc_read(struct gtsc_open_file *of, struct iov_iter *to);
void gtsc_give_up_part(struct gtsc_open_file *of);
void gtsc_cut_partial(struct gtsc_trace_file *file);
bool gtsc_poll(struct gtsc_open_file *of);
bool gtsc_at_end(struct gtsc_open_file *of);

/* All trace files of a channel: read.c */
void gtsc_init_trace_files(struct gtsc_channel *ch);
void gtsc_free_trace_files(struct gtsc_channel *ch);
void gtsc_lock_trace_files(struct gtsc_channel *ch);
void gtsc_unlock_trace_files(struct gtsc_channel *ch);
void gtsc_wake_readers(struct gtsc_channel *ch);
void gtsc_rewind(struct gtsc_channel *ch);

#endif /* _KERNEL_TRACE_GTSC_READ_H */

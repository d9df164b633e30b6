/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic trace setup and control: what its parts want of each other.
 *
 * core.c sets channels up and starts and stops them, and has the functions
 * that write; read.c takes records out of the buffers; files.c is
 * debugfs, and dump.c the console in a panic.
 */
#ifndef _KERNEL_TRACE_GTSC_H
#define _KERNEL_TRACE_GTSC_H

#include <linux/atomic.h>
#include <linux/gtsc.h>
#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/ring_buffer.h>
#include <linux/wait.h>

#include <asm/local.h>

struct dentry;
struct file;
struct iov_iter;

/* The largest sub-buffer is PAGE_SIZE << GTSC_MAX_ORDER, as in tracefs */
#define GTSC_MAX_ORDER		7

enum gtsc_state {
	GTSC_SETUP,
	GTSC_RUNNING,
	GTSC_STOPPED,
	GTSC_NR_STATES,
};

/* A record in the ring buffer, which rounds lengths up to whole words */
struct gtsc_slot {
	u32	len;
#ifdef CONFIG_HAVE_64BIT_ALIGNED_ACCESS
	u32	pad;
#endif
	u8	data[];
};

/* A sub-buffer as ring_buffer_read_page() returns it, see events/header_page */
struct gtsc_page {
	u64	time;
	local_t	commit;
	u8	data[];
};

/* A record on its way to the reader */
struct gtsc_record {
	u64		time;
	u32		len;
	const u8	*data;
};

/* Where in a page the reader is */
struct gtsc_cursor {
	const struct gtsc_page	*page;
	unsigned int		pos;
	unsigned int		end;
	u64			time;
};

/* What the writers of a CPU touch beside the ring buffer, seldom */
struct gtsc_cpu {
	struct gtsc_reader	*reader;	/* of the file with this CPU's records */
	bool			waiting;	/* somebody polls that file */
	struct irq_work		wake;
	local_t			refused;	/* by the ring buffer */
	local_t			too_big;
};

/* What the ring buffer of a CPU has counted */
struct gtsc_counts {
	unsigned long	written;
	unsigned long	overwritten;
	unsigned long	full;
};

/*
 * The records of one CPU that the reader takes out of the ring buffer. Protected
 * by the lock of the reader, but for @cpu, @nr_read, and what gtsc_mutex protects.
 */
struct gtsc_source {
	unsigned int			cpu;
	atomic64_t			nr_read;	/* read without the lock */

	/* Protected by gtsc_mutex: at the last look, and all in all */
	struct gtsc_counts		last;
	struct {
		u64			written;
		u64			overwritten;
		u64			full;
	} total;

	struct buffer_data_read_page	*page;
	struct gtsc_cursor		cursor;
	/* Nothing was found in the ring buffer, for this read() */
	bool				dry;

	struct gtsc_record		next;
	bool				has_next;
	/* It is still in the page, where it ends at @after */
	bool				from_page;
	struct gtsc_cursor		after;
	/* How much of it the reader has got, with its header */
	size_t				sent;

	/*
	 * Only of a flight channel: what has been read, and after a rewind may be
	 * read again. All in front of @behind in @chunk has been.
	 */
	struct list_head		chunks;
	unsigned int			nr_chunks;
	struct gtsc_chunk		*chunk;
	unsigned int			behind;
	u64				nr_behind;	/* records */
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

struct gtsc_stats {
	u64	written;
	u64	read;
	u64	unread;
	u64	overwritten;
	u64	full;
	u64	too_big;
	u64	nested;
};

/* A channel */
struct trace_info {
	/* The buffer for writers, NULL while the channel is not running */
	struct trace_buffer	*live;
	/* Set with gtsc_mutex and the locks of all readers held, not while running */
	size_t			max_len;
	struct trace_buffer	*buffer;
	struct gtsc_cpu __percpu *cpu;
	unsigned int		flags;

	/* Protected by gtsc_mutex */
	enum gtsc_state		state;
	unsigned int		order;
	unsigned int		nr_sub;
	bool			dying;
	struct list_head	node;		/* in the group */
	struct list_head	panic_node;

	char			name[TRACE_NAME_MAX + 1];
	struct trace_group	*group;
	struct dentry		*dir;
	struct hlist_node	hotplug_node;
	cpumask_var_t		files;		/* CPUs that have one */
	/* Nobody writes any more, and the files have gone */
	bool			ended;

	/* One for the provider, and one for each open trace file */
	struct kref		ref;
	struct gtsc_reader	*readers;
	struct gtsc_source	*sources;
};

/* A trace: one channel, or several in directories of their own */
struct trace_group {
	char			name[TRACE_NAME_MAX + 1];
	struct gtsc_root	*root;
	struct dentry		*dir;
	struct list_head	node;		/* in the root */
	struct list_head	channels;
	bool			single;		/* its directory is that of its channel */
	bool			dying;
};

/* Setting up, starting and stopping: all of this is done under it */
extern struct mutex gtsc_mutex;
extern const char * const gtsc_state_names[GTSC_NR_STATES];

static inline struct gtsc_reader *gtsc_reader(struct trace_info *trace, unsigned int cpu)
{
	return &trace->readers[trace->flags & TRACE_GLOBAL_CHANNEL ? 0 : cpu];
}

int gtsc_set_state(struct trace_info *trace, enum gtsc_state state);
int gtsc_group_set_state(struct trace_group *group, enum gtsc_state state);
int gtsc_resize(struct trace_info *trace, unsigned int sub_size, unsigned int nr_sub);
unsigned int gtsc_sub_size(struct trace_info *trace);
void gtsc_get_stats(struct trace_info *trace, struct gtsc_stats *stats);
void gtsc_get(struct trace_info *trace);
void gtsc_put(struct trace_info *trace);

/* Reading */
int gtsc_init_readers(struct trace_info *trace);
void gtsc_free_readers(struct trace_info *trace);
void gtsc_lock_readers(struct trace_info *trace);
void gtsc_unlock_readers(struct trace_info *trace);
void gtsc_forget_pages(struct trace_info *trace);
void gtsc_wake_readers(struct trace_info *trace);
void gtsc_rewind(struct trace_info *trace);
ssize_t gtsc_read(struct gtsc_reader *reader, const struct file *file,
		  struct iov_iter *to);
void gtsc_end_read(struct gtsc_reader *reader, const struct file *file);
bool gtsc_poll(struct gtsc_reader *reader, const struct file *file);
void gtsc_rewind_source(struct gtsc_source *source);
u64 gtsc_count_source(struct gtsc_source *source);
struct gtsc_source *gtsc_oldest(struct gtsc_reader *reader, bool keep);
void gtsc_consume(struct gtsc_source *source);
void gtsc_prepare_dump(struct trace_info *trace, unsigned int cpu);

/* Files */
int gtsc_create_files(struct trace_info *trace);
void gtsc_create_group_files(struct trace_group *group);
int gtsc_init_files(void);
void gtsc_exit_files(void);
void gtsc_remove_files(struct trace_info *trace);

/* The console in a panic */
void gtsc_add_dump(struct trace_info *trace);
void gtsc_del_dump(struct trace_info *trace);
void gtsc_init_dump(void);
void gtsc_exit_dump(void);

#if IS_ENABLED(CONFIG_KUNIT)
int gtsc_check_name(const char *name);
int gtsc_order(unsigned int sub_size);
void gtsc_open_page(struct gtsc_cursor *cursor, const struct gtsc_page *page);
bool gtsc_next_in_page(struct gtsc_cursor *cursor, struct gtsc_record *record);
int gtsc_add_cpus(struct trace_info *trace);
#endif

#endif /* _KERNEL_TRACE_GTSC_H */

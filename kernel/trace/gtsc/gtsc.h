/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic trace setup and control: a channel, and what may be asked of it.
 *
 *	core.c		sets traces and channels up, and ends them
 *	files.c		the files in debugfs
 *	dump.c		the console in a panic
 *	channel.c	the memory of a channel
 *	state.c		starting and stopping
 *	size.c		the ring buffer, its size and counters
 *	read.c		reading trace files				read.h
 *	source.c	the records of one CPU				read.h
 *	page.c		the records in a sub-buffer			page.h
 *	write.c		the functions that write: <linux/gtsc.h>
 *
 * Calls go down this list.
 */
#ifndef _KERNEL_TRACE_GTSC_H
#define _KERNEL_TRACE_GTSC_H

#include <linux/cpumask.h>
#include <linux/gtsc.h>
#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>

#include <asm/local.h>

struct dentry;
struct gtsc_reader;
struct gtsc_root;
struct gtsc_source;

/* The largest sub-buffer is PAGE_SIZE << GTSC_MAX_ORDER, as in tracefs */
#define GTSC_MAX_ORDER		7

enum gtsc_state {
	GTSC_SETUP,
	GTSC_RUNNING,
	GTSC_STOPPED,
	GTSC_NR_STATES,
};

/* What writers of a CPU use beside the ring buffer */
struct gtsc_cpu {
	struct gtsc_reader	*reader;	/* of the file with this CPU's records */
	bool			waiting;	/* a task polls that file */
	struct irq_work		wake;
	local_t			refused;	/* by the ring buffer */
	local_t			too_big;
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
	/* All writers are done and the files have been removed */
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

/* Protects the list of traces, their channels, and the state and size of these */
extern struct mutex gtsc_mutex;
extern const char * const gtsc_state_names[GTSC_NR_STATES];

static inline unsigned int gtsc_sub_size(struct trace_info *trace)
{
	return PAGE_SIZE << trace->order;
}

/* Files */
int gtsc_create_files(struct trace_info *trace);
void gtsc_remove_files(struct trace_info *trace);
void gtsc_create_group_files(struct trace_group *group);
int gtsc_init_files(void);
void gtsc_exit_files(void);

/* The console in a panic */
void gtsc_add_dump(struct trace_info *trace);
void gtsc_del_dump(struct trace_info *trace);
void gtsc_init_dump(void);
void gtsc_exit_dump(void);

/* Channels */
struct trace_info *gtsc_alloc(const char *name, unsigned int sub_size,
			      unsigned int nr_sub, unsigned int flags);
void gtsc_get(struct trace_info *trace);
void gtsc_put(struct trace_info *trace);

/* Starting and stopping */
int gtsc_set_state(struct trace_info *trace, enum gtsc_state state);
int gtsc_group_set_state(struct trace_group *group, enum gtsc_state state);
void gtsc_end_writers(struct trace_info *trace);

/* Sizes and counters */
int gtsc_init_buffer(struct trace_info *trace, unsigned int sub_size, unsigned int nr_sub);
int gtsc_resize(struct trace_info *trace, unsigned int sub_size, unsigned int nr_sub);
void gtsc_get_stats(struct trace_info *trace, struct gtsc_stats *stats);

#if IS_ENABLED(CONFIG_KUNIT)
int gtsc_check_name(const char *name);
int gtsc_order(unsigned int sub_size);
int gtsc_add_cpus(struct trace_info *trace);
#endif

#endif /* _KERNEL_TRACE_GTSC_H */

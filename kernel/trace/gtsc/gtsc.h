/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic trace setup and control: a channel, and what may be asked of it.
 *
 *	core.c		sets traces and channels up, and ends them
 *	files.c		the files in debugfs, and what a new CPU gets
 *	dump.c		the console in a panic
 *	state.c		starting and stopping
 *	channel.c	the memory of a channel
 *	size.c		the buffers, their size and counters
 *	read.c		reading trace files				read.h
 *	source.c	the records of one CPU				read.h
 *	write.c		the functions that write: <linux/gtsc.h>	write.h
 *	buffer.c	the buffer of one CPU				buffer.h
 *
 * Calls go down this list. Above it: calls.c (calls.h), which selects the functions and the tasks
 * that its users gtsc_functions.c and gtsc_graph.c trace.
 */
#ifndef _KERNEL_TRACE_GTSC_H
#define _KERNEL_TRACE_GTSC_H

#include <linux/cpumask.h>
#include <linux/gtsc.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>

#include "buffer.h"

struct dentry;
struct gtsc_root;

enum gtsc_state {
	GTSC_SETUP,
	GTSC_RUNNING,
	GTSC_STOPPED,
	GTSC_NR_STATES,
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

/* What writers look up */
struct gtsc_cpu_buffer {
	struct gtsc_buffer	*buffer;
};

/* A channel */
struct gtsc_channel {
	/*
	 * @buffers, or NULL if the channel is not running. Changed with gtsc_mutex held, or in a
	 * panic
	 */
	struct gtsc_cpu_buffer __percpu *live;
	struct gtsc_cpu_buffer __percpu *buffers;
	struct gtsc_cpu __percpu *cpu;
	unsigned int		flags;

	/* Held by whoever changes the sizes; taken before gtsc_mutex */
	struct mutex		resize;

	/*
	 * Protected by gtsc_mutex. The sizes are changed with @resize, gtsc_mutex and the hotplug
	 * lock held; any of them is enough to read them.
	 */
	enum gtsc_state		state;
	unsigned int		order;
	unsigned int		nr_sub;
	unsigned int		watermark;
	bool			dying;
	char			*format;
	int			(*switch_fn)(bool on, void *data);
	void			*switch_data;
	/* @switch_fn was told of a start, and of no stop */
	bool			armed;
	struct list_head	node;		/* in the group */
	struct list_head	panic_node;

	char			name[GTSC_NAME_MAX + 1];
	struct gtsc_group	*group;
	struct dentry		*dir;
	struct hlist_node	hotplug_node;
	/* CPUs that have a buffer. Set with their reader's lock held; a global reader walks it. */
	cpumask_var_t		cpus;
	/* All writers are done and the files have been removed */
	bool			ended;

	/* One for the provider, and one for each open trace file */
	struct kref		ref;
};

/* A trace: one channel, or several in directories of their own */
struct gtsc_group {
	char			name[GTSC_NAME_MAX + 1];
	struct gtsc_root	*root;
	struct dentry		*dir;
	struct list_head	node;		/* in the root */
	struct list_head	channels;
	bool			single;		/* its directory is its channel's */
	bool			dying;
};

/* See channel.c and state.c */
extern struct mutex gtsc_mutex;
extern const char * const gtsc_state_names[GTSC_NR_STATES];

static inline unsigned int gtsc_sub_size(struct gtsc_channel *ch)
{
	return PAGE_SIZE << ch->order;
}

/*
 * Stands for the buffer of a CPU that has none: it was not online since the channel was set up, or
 * there was no memory. No record fits.
 */
extern struct gtsc_buffer gtsc_no_buffer;

/* NULL if the CPU has none. It may get one meanwhile, see gtsc_make_cpu_buffer(). */
static inline struct gtsc_buffer *gtsc_buffer(struct gtsc_channel *ch, unsigned int cpu)
{
	struct gtsc_buffer *b = READ_ONCE(per_cpu_ptr(ch->buffers, cpu)->buffer);

	return b == &gtsc_no_buffer ? NULL : b;
}

/* Files */
int gtsc_create_files(struct gtsc_channel *ch);
void gtsc_remove_files(struct gtsc_channel *ch);
void gtsc_create_group_files(struct gtsc_group *group);
int gtsc_init_files(void);
void gtsc_exit_files(void);

/* The console in a panic */
void gtsc_add_dump(struct gtsc_channel *ch);
void gtsc_del_dump(struct gtsc_channel *ch);
void gtsc_init_dump(void);
void gtsc_exit_dump(void);

/* Channels */
struct gtsc_channel *gtsc_alloc(const char *name, unsigned int sub_size, unsigned int nr_sub,
				unsigned int flags);
void gtsc_get(struct gtsc_channel *ch);
void gtsc_put(struct gtsc_channel *ch);

/* Starting and stopping */
enum gtsc_state gtsc_get_state(struct gtsc_channel *ch);
int gtsc_set_state(struct gtsc_channel *ch, enum gtsc_state state);
int gtsc_group_set_state(struct gtsc_group *group, enum gtsc_state state);
void gtsc_end_writers(struct gtsc_channel *ch);

/* Sizes and counters */
struct gtsc_cpu_buffer __percpu *gtsc_alloc_buffer_table(void);
void gtsc_free_buffer_table(struct gtsc_cpu_buffer __percpu *buffers);
int gtsc_check_size(unsigned int sub_size, unsigned int nr_sub);
int gtsc_make_online_buffers(struct gtsc_channel *ch);
int gtsc_make_cpu_buffer(struct gtsc_channel *ch, unsigned int cpu);
int gtsc_change_size(struct gtsc_channel *ch, unsigned int sub_size, unsigned int nr_sub,
		     bool discard);
void gtsc_get_stats(struct gtsc_channel *ch, struct gtsc_stats *stats);

#if IS_ENABLED(CONFIG_KUNIT)
int gtsc_check_name(const char *name);
int gtsc_order(unsigned int sub_size);
int gtsc_add_hotplug(struct gtsc_channel *ch);
int gtsc_make_buffers(struct gtsc_channel *ch, struct gtsc_cpu_buffer __percpu *buffers,
		      unsigned int order, unsigned int nr_sub);
#endif

#endif /* _KERNEL_TRACE_GTSC_H */

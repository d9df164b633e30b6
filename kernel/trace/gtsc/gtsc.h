/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic trace setup and control: a channel, and what may be asked of it.
 *
 *	core.c		sets groups and channels up, and ends them
 *	hotplug.c	the buffer and the files of a CPU that comes online
 *	files.c		the files in debugfs
 *	dump.c		the console in a panic
 *	state.c		starting and stopping
 *	channel.c	the memory of a channel
 *	size.c		the buffers of all CPUs, their size and counters
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
struct gtsc_trace_file;

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

/* A channel */
struct gtsc_channel {
	/*
	 * What writers look up: @buffers, or NULL if the channel is not running. Changed with
	 * gtsc_mutex held, or in a panic.
	 */
	struct gtsc_buffer *__percpu *live;
	struct gtsc_buffer *__percpu *buffers;
	struct gtsc_cpu __percpu *percpu;
	unsigned int		flags;

	/* Held by whoever changes the sizes */
	struct mutex		resize;

	/*
	 * Changed with gtsc_mutex held. @state and @watermark are also read without a lock. The
	 * sizes are changed while the channel is not running, with @resize, gtsc_mutex, the hotplug
	 * lock and the locks of all trace files held. To read them, any of these locks is enough,
	 * or disabled preemption while @live is set.
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
	bool			switched_on;
	struct list_head	node;		/* in the group */
	struct list_head	panic_node;

	char			name[GTSC_NAME_MAX + 1];
	struct gtsc_group	*group;
	struct dentry		*dir;
	struct hlist_node	hotplug_node;
	/* With a buffer. A bit is set with the lock of the trace file held, never cleared. */
	cpumask_var_t		cpus;
	/* All writers are done, and the files have been removed */
	bool			ended;

	/* One for the provider, and one for each open trace file */
	struct kref		ref;
};

/* A group: the channels in one directory. gtsc_setup() makes a group of one channel. */
struct gtsc_group {
	char			name[GTSC_NAME_MAX + 1];
	struct gtsc_root	*root;
	struct dentry		*dir;
	struct list_head	node;		/* in the root */
	struct list_head	channels;
	bool			single;		/* its directory is its channel's */
	bool			dying;
};

/*
 * Protects the list of roots, the lists of their groups and channels, and the fields of a channel
 * that are named above. Lock order: @resize, gtsc_mutex, the hotplug lock, the lock of a trace
 * file. Locks that the function of gtsc_set_switch() takes, such as ftrace_lock, come after
 * gtsc_mutex. It is held while a stop waits for writers, see state.c.
 */
extern struct mutex gtsc_mutex;
extern const char * const gtsc_state_names[GTSC_NR_STATES];

static inline unsigned int gtsc_sub_size(struct gtsc_channel *ch)
{
	return PAGE_SIZE << ch->order;
}

/*
 * Stands in @buffers for the buffer of a CPU that has none: the CPU was not online since the
 * channel was set up, or there was no memory. No record fits.
 */
extern struct gtsc_buffer gtsc_no_buffer;

/* NULL if the CPU has none. It may get one meanwhile, see gtsc_make_cpu_buffer(). */
static inline struct gtsc_buffer *gtsc_buffer(struct gtsc_channel *ch, unsigned int cpu)
{
	struct gtsc_buffer *b = READ_ONCE(*per_cpu_ptr(ch->buffers, cpu));

	return b == &gtsc_no_buffer ? NULL : b;
}

/* CPUs that come online */
int gtsc_add_hotplug(struct gtsc_channel *ch);
void gtsc_del_hotplug(struct gtsc_channel *ch);
int gtsc_init_hotplug(void);
void gtsc_exit_hotplug(void);

/* Files */
int gtsc_create_dir(struct gtsc_channel *ch);
void gtsc_create_trace_files(struct gtsc_channel *ch, struct gtsc_trace_file *file,
			     unsigned int nr);
void gtsc_create_control_files(struct gtsc_channel *ch);
void gtsc_create_group_files(struct gtsc_group *group);

/* The console in a panic */
void gtsc_add_dump(struct gtsc_channel *ch);
void gtsc_del_dump(struct gtsc_channel *ch);
void gtsc_init_dump(void);
void gtsc_exit_dump(void);

/* Channels */
struct gtsc_channel *gtsc_channel_alloc(const char *name, unsigned int sub_size,
					unsigned int nr_sub, unsigned int flags);
void gtsc_get(struct gtsc_channel *ch);
void gtsc_put(struct gtsc_channel *ch);

/* Starting and stopping */
enum gtsc_state gtsc_get_state(struct gtsc_channel *ch);
int gtsc_set_state(struct gtsc_channel *ch, enum gtsc_state state);
int gtsc_group_set_state(struct gtsc_group *group, enum gtsc_state state);
void gtsc_stop_and_wait(struct gtsc_channel *ch);

/* Sizes and counters */
struct gtsc_buffer *__percpu *gtsc_table_alloc(void);
void gtsc_table_free(struct gtsc_buffer *__percpu *buffers);
int gtsc_check_size(unsigned int sub_size, unsigned int nr_sub);
int gtsc_make_online_buffers(struct gtsc_channel *ch);
int gtsc_make_cpu_buffer(struct gtsc_channel *ch, unsigned int cpu);
int gtsc_change_size(struct gtsc_channel *ch, unsigned int sub_size, unsigned int nr_sub,
		     bool discard);
void gtsc_get_stats(struct gtsc_channel *ch, struct gtsc_stats *stats);

#if IS_ENABLED(CONFIG_KUNIT)
int gtsc_check_name(const char *name);
int gtsc_order(unsigned int sub_size);
int gtsc_make_buffers(struct gtsc_channel *ch, struct gtsc_buffer *__percpu *buffers,
		      unsigned int order, unsigned int nr_sub);
#endif

#endif /* _KERNEL_TRACE_GTSC_H */

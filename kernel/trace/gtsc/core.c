// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: channels of binary trace records from the
 * kernel to user space.
 *
 * The interface is that of the GTSC that Tom Zanussi and David Wilder posted in
 * 2007, a generalisation of Jens Axboe's blktrace. In place of relay it has the
 * ring buffer of the tracers below it, see Documentation/trace/gtsc.rst.
 */
#define pr_fmt(fmt) "gtsc: " fmt

#include <linux/cleanup.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <kunit/visibility.h>

#include "gtsc.h"

/*
 * Protects the list of roots, their traces and channels, and of each channel
 * the state and the sizes. Taken before the locks of the readers.
 */
DEFINE_MUTEX(gtsc_mutex);

/* A directory in the root of debugfs, with the traces that were set up in it */
struct gtsc_root {
	char			name[TRACE_NAME_MAX + 1];
	struct dentry		*dir;
	struct list_head	node;
	struct list_head	groups;
};

static LIST_HEAD(gtsc_roots);

const char * const gtsc_state_names[GTSC_NR_STATES] = {
	[GTSC_SETUP]	= "setup",
	[GTSC_RUNNING]	= "running",
	[GTSC_STOPPED]	= "stopped",
};

/* Writing */

/* With preemption disabled, on the CPU that the record was written on */
static __always_inline void wake_reader(struct gtsc_cpu *cpu)
{
	if (likely(!READ_ONCE(cpu->waiting)))
		return;

	WRITE_ONCE(cpu->waiting, false);
	irq_work_queue(&cpu->wake);
}

/**
 * trace_reserve - reserve space for a record
 * @trace: the channel
 * @record: filled in, for the function that ends the record
 * @len: bytes of the record, at least 1
 *
 * The caller writes all @len bytes to where the return value points, and ends
 * the record with trace_commit() or trace_discard(), in the same context and
 * before any other that it reserves. It cannot be preempted until then, and must
 * not sleep. A record that a reservation was refused for is counted as dropped,
 * unless the channel is not running.
 *
 * Context: any in which RCU is watching: task, softirq, irq, NMI, a kprobe's or
 * function tracer's callback. One record at a time in each of task, softirq, irq
 * and NMI context of a CPU, and one more. Takes no lock.
 *
 * Return: where to write to, aligned to 4 bytes, and to 8 where the architecture
 * needs that; NULL if the channel is not running, the record is too big or empty,
 * the buffer is full, or records are nested too deep.
 */
void *trace_reserve(struct trace_info *trace, struct trace_record *record,
		    size_t len)
{
	struct trace_buffer *buffer;
	struct gtsc_slot *slot;

	/* Until the record ends: trace_stop() waits for it */
	preempt_disable_notrace();

	buffer = READ_ONCE(trace->live);
	if (unlikely(!buffer))
		goto out;

	if (unlikely(len - 1 >= trace->max_len)) {
		if (len)
			local_inc(&this_cpu_ptr(trace->cpu)->too_big);
		goto out;
	}

	record->event = ring_buffer_lock_reserve(buffer, sizeof(*slot) + len);
	if (unlikely(!record->event)) {
		local_inc(&this_cpu_ptr(trace->cpu)->refused);
		goto out;
	}

	record->buffer = buffer;
	slot = ring_buffer_event_data(record->event);
	slot->len = len;
	record->data = slot->data;

	return slot->data;

out:
	preempt_enable_notrace();
	return NULL;
}
EXPORT_SYMBOL_GPL(trace_reserve);

/**
 * trace_trim - make a reserved record shorter
 * @record: from trace_reserve()
 * @len: bytes that it is to have, at least 1 and not more than were reserved
 *
 * For a record whose length is known only when it has been written. The space
 * remains taken.
 *
 * Context: as trace_reserve().
 */
void trace_trim(struct trace_record *record, size_t len)
{
	struct gtsc_slot *slot = container_of(record->data, struct gtsc_slot, data[0]);

	if (len && len < slot->len)
		slot->len = len;
}
EXPORT_SYMBOL_GPL(trace_trim);

/**
 * trace_commit - let the reader have a record
 * @trace: the channel
 * @record: from trace_reserve()
 *
 * Context: as trace_reserve().
 */
void trace_commit(struct trace_info *trace, struct trace_record *record)
{
	ring_buffer_unlock_commit(record->buffer);
	wake_reader(raw_cpu_ptr(trace->cpu));
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(trace_commit);

/**
 * trace_discard - drop a reserved record
 * @trace: the channel
 * @record: from trace_reserve()
 *
 * The record was never attempted: it is not counted anywhere.
 *
 * Context: as trace_reserve().
 */
void trace_discard(struct trace_info *trace, struct trace_record *record)
{
	ring_buffer_discard_commit(record->buffer, record->event);
	/* For records that have interrupted this one: they are complete only now */
	wake_reader(raw_cpu_ptr(trace->cpu));
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(trace_discard);

/* Why trace_reserve() has returned NULL */
static int why_not(struct trace_info *trace, size_t len)
{
	if (!len)
		return -EINVAL;
	if (len > trace->max_len)
		return -E2BIG;

	return trace_running(trace) ? -ENOBUFS : -ESHUTDOWN;
}

/**
 * trace_write - write a record
 * @trace: the channel
 * @data: the record
 * @len: its bytes, at least 1
 *
 * Context: as trace_reserve().
 *
 * Return: 0; -ESHUTDOWN if the channel is not running; -EINVAL if @len is 0;
 * -E2BIG if the record is longer than a page can hold; -ENOBUFS if the buffer is
 * full or records are nested too deep.
 */
int trace_write(struct trace_info *trace, const void *data, size_t len)
{
	struct trace_record record;
	int ret = 0;

	preempt_disable_notrace();
	if (likely(trace_reserve(trace, &record, len))) {
		memcpy(record.data, data, len);
		trace_commit(trace, &record);
	} else {
		ret = why_not(trace, len);
	}
	preempt_enable_notrace();

	return ret;
}
EXPORT_SYMBOL_GPL(trace_write);

/**
 * trace_vprintf - write a formatted record
 * @trace: the channel
 * @fmt: as for printk()
 * @args: what it formats
 *
 * The record is the text, without a NUL at its end. A short one is formatted on
 * the stack; for a long one the space is reserved first and it is formatted
 * there.
 *
 * Context: as trace_reserve().
 *
 * Return: bytes written, at least 1; the errors of trace_write(), and -E2BIG for
 * the longest record already: the NUL needs room.
 */
int trace_vprintf(struct trace_info *trace, const char *fmt, va_list args)
{
	struct trace_record record;
	char buf[128];
	va_list again;
	int len, ret;

	preempt_disable_notrace();
	va_copy(again, args);
	if (!trace_running(trace)) {
		ret = -ESHUTDOWN;
		goto out;
	}

	len = vsnprintf(buf, sizeof(buf), fmt, args);
	if (len < sizeof(buf)) {
		ret = trace_write(trace, buf, len) ?: len;
		goto out;
	}

	/* vsnprintf() ends it with a NUL, which is then cut off */
	if (!trace_reserve(trace, &record, len + 1)) {
		ret = why_not(trace, len + 1);
		goto out;
	}
	/* What is formatted may change meanwhile: not longer, and perhaps shorter */
	ret = min(vsnprintf(record.data, len + 1, fmt, again), len);
	if (ret) {
		trace_trim(&record, ret);
		trace_commit(trace, &record);
	} else {
		trace_discard(trace, &record);
		ret = -EINVAL;
	}
out:
	va_end(again);
	preempt_enable_notrace();
	return ret;
}
EXPORT_SYMBOL_GPL(trace_vprintf);

/**
 * trace_printf - write a formatted record
 * @trace: the channel
 * @fmt: as for printk()
 *
 * See trace_vprintf(). This is the gtsc_printf() of the example of 2007, without
 * its lock and its buffers.
 *
 * Context: as trace_reserve().
 *
 * Return: bytes written, at least 1; the errors of trace_write().
 */
int trace_printf(struct trace_info *trace, const char *fmt, ...)
{
	va_list args;
	int ret;

	va_start(args, fmt);
	ret = trace_vprintf(trace, fmt, args);
	va_end(args);

	return ret;
}
EXPORT_SYMBOL_GPL(trace_printf);

/**
 * trace_running - whether records written to a channel are kept
 * @trace: the channel
 *
 * Context: any.
 *
 * Return: true between trace_start() and trace_stop().
 */
bool trace_running(struct trace_info *trace)
{
	return READ_ONCE(trace->live);
}
EXPORT_SYMBOL_GPL(trace_running);

/* Starting and stopping */

static void start(struct trace_info *trace)
{
	/* A reader that sees it stopped afterwards has seen all that is older */
	WRITE_ONCE(trace->state, GTSC_RUNNING);
	/* Pairs with the address dependency in trace_reserve() */
	smp_store_release(&trace->live, trace->buffer);
}

static void stop_writers(struct trace_info *trace)
{
	WRITE_ONCE(trace->live, NULL);
}

/* After a grace period of RCU since stop_writers() */
static void stopped(struct trace_info *trace)
{
	WRITE_ONCE(trace->state, GTSC_STOPPED);
	gtsc_wake_readers(trace);
}

static bool may_become(struct trace_info *trace, enum gtsc_state state)
{
	switch (state) {
	case GTSC_RUNNING:
		return trace->state != GTSC_RUNNING;
	case GTSC_STOPPED:
		return trace->state == GTSC_RUNNING;
	default:
		return false;
	}
}

int gtsc_set_state(struct trace_info *trace, enum gtsc_state state)
{
	guard(mutex)(&gtsc_mutex);

	if (trace->dying)
		return -ENODEV;
	if (!may_become(trace, state))
		return -EINVAL;

	if (state == GTSC_RUNNING) {
		start(trace);
		return 0;
	}

	stop_writers(trace);
	synchronize_rcu();
	stopped(trace);

	return 0;
}

/* All channels that are not in @state go there, at the same time */
int gtsc_group_set_state(struct trace_group *group, enum gtsc_state state)
{
	struct trace_info *trace;
	unsigned int nr = 0;

	guard(mutex)(&gtsc_mutex);

	if (group->dying)
		return -ENODEV;

	list_for_each_entry(trace, &group->channels, node) {
		if (!may_become(trace, state))
			continue;
		nr++;
		if (state == GTSC_RUNNING)
			start(trace);
		else
			stop_writers(trace);
	}

	if (!nr)
		return -EINVAL;
	if (state == GTSC_RUNNING)
		return 0;

	synchronize_rcu();
	list_for_each_entry(trace, &group->channels, node) {
		if (may_become(trace, GTSC_STOPPED))
			stopped(trace);
	}

	return 0;
}

/**
 * trace_start - let records into a channel
 * @trace: the channel
 *
 * What is in the buffer from before stays there.
 *
 * Context: process context, may sleep.
 *
 * Return: 0; -EINVAL if it is running already.
 */
int trace_start(struct trace_info *trace)
{
	return gtsc_set_state(trace, GTSC_RUNNING);
}
EXPORT_SYMBOL_GPL(trace_start);

/**
 * trace_stop - let no more records into a channel
 * @trace: the channel
 *
 * Waits until all records that have been reserved are committed or discarded.
 *
 * Context: process context, may sleep.
 *
 * Return: 0; -EINVAL if it is not running.
 */
int trace_stop(struct trace_info *trace)
{
	return gtsc_set_state(trace, GTSC_STOPPED);
}
EXPORT_SYMBOL_GPL(trace_stop);

/**
 * trace_group_start - start all channels of a trace that are not running
 * @group: the trace
 *
 * Context: process context, may sleep.
 *
 * Return: 0; -EINVAL if there is none to start.
 */
int trace_group_start(struct trace_group *group)
{
	return gtsc_group_set_state(group, GTSC_RUNNING);
}
EXPORT_SYMBOL_GPL(trace_group_start);

/**
 * trace_group_stop - stop all channels of a trace that are running
 * @group: the trace
 *
 * They stop at the same time, and the wait of trace_stop() is but one.
 *
 * Context: process context, may sleep.
 *
 * Return: 0; -EINVAL if none is running.
 */
int trace_group_stop(struct trace_group *group)
{
	return gtsc_group_set_state(group, GTSC_STOPPED);
}
EXPORT_SYMBOL_GPL(trace_group_stop);

/* Buffers and their sizes */

VISIBLE_IF_KUNIT int gtsc_check_name(const char *name)
{
	size_t len = name ? strlen(name) : 0;

	if (!len || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, ".."))
		return -EINVAL;

	return len > TRACE_NAME_MAX ? -ENAMETOOLONG : 0;
}
EXPORT_SYMBOL_IF_KUNIT(gtsc_check_name);

/* The order of the sub-buffers that are not smaller than @sub_size */
VISIBLE_IF_KUNIT int gtsc_order(unsigned int sub_size)
{
	if (!sub_size || sub_size > PAGE_SIZE << GTSC_MAX_ORDER)
		return -EINVAL;

	return get_order(sub_size);
}
EXPORT_SYMBOL_IF_KUNIT(gtsc_order);

unsigned int gtsc_sub_size(struct trace_info *trace)
{
	return PAGE_SIZE << trace->order;
}

static size_t sub_capacity(int order)
{
	return (PAGE_SIZE << order) - offsetof(struct gtsc_page, data);
}

static struct trace_buffer *alloc_buffer(unsigned int flags, int order,
					 unsigned int nr_sub)
{
	struct trace_buffer *buffer;
	unsigned long size;
	int ret;

	if (check_mul_overflow((unsigned long)nr_sub,
			       (unsigned long)sub_capacity(order), &size))
		return ERR_PTR(-EINVAL);
	/* The ring buffer would try, and take pages for sub-buffers */
	if ((u64)nr_sub << order > totalram_pages())
		return ERR_PTR(-ENOMEM);

	/* Small at first: changing the order makes all of it anew */
	buffer = ring_buffer_alloc(PAGE_SIZE, flags & TRACE_FLIGHT_CHANNEL ?
				   RB_FL_OVERWRITE : 0);
	if (!buffer)
		return ERR_PTR(-ENOMEM);

	ring_buffer_set_clock(buffer, ktime_get_mono_fast_ns);
	ret = ring_buffer_subbuf_order_set(buffer, order);
	if (!ret)
		ret = ring_buffer_resize(buffer, size, RING_BUFFER_ALL_CPUS);
	if (ret < 0) {
		ring_buffer_free(buffer);
		return ERR_PTR(ret);
	}

	return buffer;
}

static void set_buffer(struct trace_info *trace, struct trace_buffer *buffer,
		       int order, unsigned int nr_sub)
{
	trace->buffer = buffer;
	trace->order = order;
	trace->nr_sub = nr_sub;
	trace->max_len = ring_buffer_max_event_size(buffer) - sizeof(struct gtsc_slot);
}

/* What the ring buffer has counted for one CPU, in agreement with itself */
static void read_counts(struct trace_buffer *buffer, int cpu, struct gtsc_counts *now)
{
	unsigned long read;

	/* The entries are those that are neither overwritten nor read */
	do {
		now->overwritten = ring_buffer_overrun_cpu(buffer, cpu);
		read = ring_buffer_read_events_cpu(buffer, cpu);
		now->written = ring_buffer_entries_cpu(buffer, cpu) + now->overwritten + read;
	} while (now->overwritten != ring_buffer_overrun_cpu(buffer, cpu) ||
		 read != ring_buffer_read_events_cpu(buffer, cpu));

	now->full = ring_buffer_dropped_events_cpu(buffer, cpu) +
		    ring_buffer_commit_overrun_cpu(buffer, cpu);
}

/* The ring buffer's counters may wrap around: add up what has come since */
static void update_totals(struct trace_info *trace, int cpu)
{
	struct gtsc_source *source = &trace->sources[cpu];
	struct gtsc_counts now;

	read_counts(trace->buffer, cpu, &now);
	source->total.written += now.written - source->last.written;
	source->total.overwritten += now.overwritten - source->last.overwritten;
	source->total.full += now.full - source->last.full;
	source->last = now;
}

void gtsc_get_stats(struct trace_info *trace, struct gtsc_stats *stats)
{
	u64 refused = 0;
	int cpu;

	lockdep_assert_held(&gtsc_mutex);

	memset(stats, 0, sizeof(*stats));
	for_each_possible_cpu(cpu) {
		struct gtsc_source *source = &trace->sources[cpu];
		struct gtsc_cpu *c = per_cpu_ptr(trace->cpu, cpu);

		/* First what cannot be more than what was written */
		stats->read += atomic64_read_acquire(&source->nr_read);
		update_totals(trace, cpu);
		stats->written += source->total.written;
		stats->overwritten += source->total.overwritten;
		stats->full += source->total.full;
		stats->too_big += local_read(&c->too_big);
		/* After what it is part of: writers count it last */
		refused += local_read(&c->refused);
	}

	stats->nested = refused > stats->full ? refused - stats->full : 0;
	stats->unread = stats->written - stats->overwritten - stats->read;
}

/* Returns the old one, for the caller to free without the locks of the readers */
static struct trace_buffer *replace_buffer(struct trace_info *trace,
					   struct trace_buffer *buffer,
					   int order, unsigned int nr_sub)
{
	struct trace_buffer *old = trace->buffer;
	int cpu;

	for_each_possible_cpu(cpu) {
		update_totals(trace, cpu);
		trace->sources[cpu].last = (struct gtsc_counts){ };
	}

	gtsc_forget_pages(trace);
	set_buffer(trace, buffer, order, nr_sub);

	/* A CPU without one is left out of a dump */
	if (trace->flags & TRACE_PANIC_CHANNEL) {
		for_each_online_cpu(cpu)
			gtsc_prepare_dump(trace, cpu);
	}

	return old;
}

static int may_resize(struct trace_info *trace)
{
	struct gtsc_stats stats;

	if (trace->dying)
		return -ENODEV;
	if (trace->state == GTSC_RUNNING)
		return -EBUSY;

	gtsc_get_stats(trace, &stats);

	return stats.unread ? -EBUSY : 0;
}

/* Zero for the size that it has */
int gtsc_resize(struct trace_info *trace, unsigned int sub_size, unsigned int nr_sub)
{
	struct trace_buffer *buffer;
	int order, ret;

	guard(mutex)(&gtsc_mutex);

	order = gtsc_order(sub_size ?: gtsc_sub_size(trace));
	if (order < 0)
		return order;
	nr_sub = max(nr_sub ?: trace->nr_sub, 2U);

	ret = may_resize(trace);
	if (ret)
		return ret;

	buffer = alloc_buffer(trace->flags, order, nr_sub);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);

	/* A rewind may have come in between */
	gtsc_lock_readers(trace);
	ret = may_resize(trace);
	if (!ret)
		buffer = replace_buffer(trace, buffer, order, nr_sub);
	gtsc_unlock_readers(trace);

	/* Either of them, and not with the locks: it waits for CPU hotplug */
	ring_buffer_free(buffer);

	return ret;
}

/**
 * trace_resize - change the size of a channel's buffers
 * @trace: the channel
 * @sub_size: bytes of a sub-buffer, up to 128 pages; rounded up to a power of
 *	two of pages
 * @nr_sub: their number for each CPU; 1 gives 2
 *
 * Context: process context, may sleep. Waits for readers.
 *
 * Return: 0; -EINVAL if a size is 0 or too big; -EBUSY if the channel is running
 * or has records that have not been read; -ENOMEM. After an error all is as it
 * was.
 */
int trace_resize(struct trace_info *trace, unsigned int sub_size,
		 unsigned int nr_sub)
{
	if (!sub_size || !nr_sub)
		return -EINVAL;

	return gtsc_resize(trace, sub_size, nr_sub);
}
EXPORT_SYMBOL_GPL(trace_resize);

/* Channels */

static void free_trace(struct trace_info *trace)
{
	gtsc_free_readers(trace);
	if (trace->buffer)
		ring_buffer_free(trace->buffer);
	free_percpu(trace->cpu);
	free_cpumask_var(trace->files);
	kfree(trace);
}

static void release_trace(struct kref *ref)
{
	free_trace(container_of(ref, struct trace_info, ref));
}

void gtsc_get(struct trace_info *trace)
{
	kref_get(&trace->ref);
}

void gtsc_put(struct trace_info *trace)
{
	kref_put(&trace->ref, release_trace);
}

static int check_flags(unsigned int flags)
{
	if (flags & ~(TRACE_GLOBAL_CHANNEL | TRACE_FLIGHT_CHANNEL |
		      TRACE_HEADER_CHANNEL | TRACE_PANIC_CHANNEL))
		return -EINVAL;

	/* A normal channel keeps the oldest: not the last words */
	if (flags & TRACE_PANIC_CHANNEL && !(flags & TRACE_FLIGHT_CHANNEL))
		return -EINVAL;

	return 0;
}

static struct trace_info *alloc_trace(const char *name, unsigned int sub_size,
				      unsigned int nr_sub, unsigned int flags)
{
	struct trace_buffer *buffer;
	struct trace_info *trace;
	int order, ret;

	ret = check_flags(flags);
	if (ret)
		return ERR_PTR(ret);

	order = gtsc_order(sub_size);
	if (order < 0)
		return ERR_PTR(order);
	if (!nr_sub)
		return ERR_PTR(-EINVAL);
	nr_sub = max(nr_sub, 2U);

	trace = kzalloc(sizeof(*trace), GFP_KERNEL);
	if (!trace)
		return ERR_PTR(-ENOMEM);

	kref_init(&trace->ref);
	INIT_LIST_HEAD(&trace->node);
	INIT_LIST_HEAD(&trace->panic_node);
	strscpy(trace->name, name, sizeof(trace->name));
	trace->flags = flags;

	ret = -ENOMEM;
	if (!zalloc_cpumask_var(&trace->files, GFP_KERNEL))
		goto err;
	trace->cpu = alloc_percpu(struct gtsc_cpu);
	if (!trace->cpu)
		goto err;
	ret = gtsc_init_readers(trace);
	if (ret)
		goto err;

	buffer = alloc_buffer(flags, order, nr_sub);
	if (IS_ERR(buffer)) {
		ret = PTR_ERR(buffer);
		goto err;
	}
	set_buffer(trace, buffer, order, nr_sub);

	return trace;
err:
	free_trace(trace);
	return ERR_PTR(ret);
}

static bool has_channel(struct trace_group *group, const char *name)
{
	struct trace_info *trace;

	list_for_each_entry(trace, &group->channels, node) {
		if (!strcmp(trace->name, name))
			return true;
	}

	return false;
}

static struct trace_info *add_channel(struct trace_group *group, const char *name,
				      unsigned int sub_size, unsigned int nr_sub,
				      unsigned int flags)
{
	struct trace_info *trace;
	int ret;

	lockdep_assert_held(&gtsc_mutex);

	if (has_channel(group, name))
		return ERR_PTR(-EEXIST);

	trace = alloc_trace(name, sub_size, nr_sub, flags);
	if (IS_ERR(trace))
		return trace;

	trace->group = group;
	ret = gtsc_create_files(trace);
	if (ret) {
		/* The files have gone, but one of them may have been opened */
		gtsc_put(trace);
		return ERR_PTR(ret);
	}
	list_add_tail(&trace->node, &group->channels);
	if (flags & TRACE_PANIC_CHANNEL)
		gtsc_add_dump(trace);

	return trace;
}

/* With its files gone, so that nobody else starts it again */
static void end_channel(struct trace_info *trace)
{
	scoped_guard(mutex, &gtsc_mutex) {
		stop_writers(trace);
		/* Also for those that have just found that it is not running */
		synchronize_rcu();
		if (trace->state == GTSC_RUNNING)
			stopped(trace);
		list_del(&trace->node);
		gtsc_del_dump(trace);
	}

	/* Who has a file open can still read what is there, to the end */
	WRITE_ONCE(trace->ended, true);
	gtsc_wake_readers(trace);
	gtsc_put(trace);
}

/* Traces */

static struct gtsc_root *get_root(const char *name)
{
	struct gtsc_root *root;

	list_for_each_entry(root, &gtsc_roots, node) {
		if (!strcmp(root->name, name))
			return root;
	}

	root = kzalloc(sizeof(*root), GFP_KERNEL);
	if (!root)
		return ERR_PTR(-ENOMEM);

	root->dir = debugfs_create_dir(name, NULL);
	if (IS_ERR(root->dir)) {
		int ret = PTR_ERR(root->dir);

		kfree(root);
		return ERR_PTR(ret);
	}

	strscpy(root->name, name, sizeof(root->name));
	INIT_LIST_HEAD(&root->groups);
	list_add_tail(&root->node, &gtsc_roots);

	return root;
}

/* The root directory goes with its last trace */
static void put_root(struct gtsc_root *root)
{
	if (!list_empty(&root->groups))
		return;

	debugfs_remove(root->dir);
	list_del(&root->node);
	kfree(root);
}

static bool has_group(struct gtsc_root *root, const char *name)
{
	struct trace_group *group;

	list_for_each_entry(group, &root->groups, node) {
		if (!strcmp(group->name, name))
			return true;
	}

	return false;
}

static struct trace_group *new_group(struct gtsc_root *root, const char *name)
{
	struct trace_group *group;

	if (has_group(root, name))
		return ERR_PTR(-EEXIST);

	group = kzalloc(sizeof(*group), GFP_KERNEL);
	if (!group)
		return ERR_PTR(-ENOMEM);

	group->dir = debugfs_create_dir(name, root->dir);
	if (IS_ERR(group->dir)) {
		int ret = PTR_ERR(group->dir);

		kfree(group);
		return ERR_PTR(ret);
	}

	strscpy(group->name, name, sizeof(group->name));
	INIT_LIST_HEAD(&group->channels);
	group->root = root;
	list_add_tail(&group->node, &root->groups);

	return group;
}

static struct trace_group *setup_group(const char *root_name, const char *name)
{
	struct trace_group *group;
	struct gtsc_root *root;
	int ret;

	lockdep_assert_held(&gtsc_mutex);

	ret = gtsc_check_name(root_name) ?: gtsc_check_name(name);
	if (ret)
		return ERR_PTR(ret);

	root = get_root(root_name);
	if (IS_ERR(root))
		return ERR_CAST(root);

	group = new_group(root, name);
	if (IS_ERR(group))
		put_root(root);

	return group;
}

/* Its directory may be gone already, or be empty */
static void free_group(struct trace_group *group)
{
	struct gtsc_root *root = group->root;

	lockdep_assert_held(&gtsc_mutex);

	list_del(&group->node);
	kfree(group);
	put_root(root);
}

/**
 * trace_setup - set up a trace with one channel
 * @root: directory in the root of debugfs; made if there is no trace in it yet
 * @name: directory in that, which gets the files of the channel
 * @sub_size: bytes of a sub-buffer, up to 128 pages; rounded up to a power of
 *	two of pages
 * @nr_sub: number of sub-buffers for each CPU; 1 gives 2
 * @flags: any of
 *
 *	TRACE_GLOBAL_CHANNEL: one file for the records of all CPUs, in the order
 *	of their time, in place of one for each CPU
 *
 *	TRACE_FLIGHT_CHANNEL: when the buffer is full the oldest records give way
 *	to new ones, in place of new ones being dropped
 *
 *	TRACE_HEADER_CHANNEL: a struct gtsc_record_header precedes each record
 *
 *	TRACE_PANIC_CHANNEL: in a panic the records go to the console; with
 *	TRACE_FLIGHT_CHANNEL only
 *
 * Names have 1 to 64 characters, without a slash.
 *
 * Context: process context, may sleep.
 *
 * Return: the channel, in the state "setup"; -EINVAL if a name is empty or has a
 * slash in it, a size is 0 or too big, or the flags are wrong; -ENAMETOOLONG;
 * -EEXIST if there is such a directory; -ENOMEM; -ENODEV and other errors of
 * debugfs.
 */
struct trace_info *trace_setup(const char *root, const char *name,
			       unsigned int sub_size, unsigned int nr_sub,
			       unsigned int flags)
{
	struct trace_group *group;
	struct trace_info *trace;

	guard(mutex)(&gtsc_mutex);

	group = setup_group(root, name);
	if (IS_ERR(group))
		return ERR_CAST(group);

	group->single = true;
	trace = add_channel(group, name, sub_size, nr_sub, flags);
	if (IS_ERR(trace)) {
		debugfs_remove(group->dir);
		free_group(group);
	}

	return trace;
}
EXPORT_SYMBOL_GPL(trace_setup);

/**
 * trace_cleanup - end a channel
 * @trace: from trace_setup() or trace_group_channel()
 *
 * Stops it if it is running, removes its files and frees it. Who has one of its
 * trace files open can still read all that was committed. It may be written to
 * while this is called, if it is from where preemption is disabled, such as the
 * handler of a kprobe or the callback of a function tracer, and if who comes there
 * after the call does not write any more.
 *
 * Context: process context, may sleep.
 */
void trace_cleanup(struct trace_info *trace)
{
	struct trace_group *group = trace->group;

	scoped_guard(mutex, &gtsc_mutex)
		trace->dying = true;

	/* Waits for those who are in one of them, and want gtsc_mutex */
	gtsc_remove_files(trace);
	end_channel(trace);

	if (group->single) {
		guard(mutex)(&gtsc_mutex);
		free_group(group);
	}
}
EXPORT_SYMBOL_GPL(trace_cleanup);

/**
 * trace_group_setup - set up a trace of several channels
 * @root: directory in the root of debugfs; made if there is no trace in it yet
 * @name: directory in that, which gets a directory for each channel
 *
 * Its file "state" is that of all of them.
 *
 * Context: process context, may sleep.
 *
 * Return: the trace, without a channel; the errors of trace_setup().
 */
struct trace_group *trace_group_setup(const char *root, const char *name)
{
	struct trace_group *group;

	guard(mutex)(&gtsc_mutex);

	group = setup_group(root, name);
	if (!IS_ERR(group))
		gtsc_create_group_files(group);

	return group;
}
EXPORT_SYMBOL_GPL(trace_group_setup);

/**
 * trace_group_channel - add a channel to a trace
 * @group: the trace
 * @name: directory of the channel in that of the trace
 * @sub_size: as for trace_setup()
 * @nr_sub: as for trace_setup()
 * @flags: as for trace_setup()
 *
 * It is started, stopped and cleaned up with the others or by itself.
 *
 * Context: process context, may sleep.
 *
 * Return: the channel, in the state "setup"; the errors of trace_setup(); -EEXIST
 * if @name is "state".
 */
struct trace_info *trace_group_channel(struct trace_group *group, const char *name,
				       unsigned int sub_size, unsigned int nr_sub,
				       unsigned int flags)
{
	int ret = gtsc_check_name(name);

	if (ret)
		return ERR_PTR(ret);
	/* The file of the group */
	if (!strcmp(name, "state"))
		return ERR_PTR(-EEXIST);

	guard(mutex)(&gtsc_mutex);

	return add_channel(group, name, sub_size, nr_sub, flags);
}
EXPORT_SYMBOL_GPL(trace_group_channel);

/**
 * trace_group_cleanup - end a trace and the channels that it still has
 * @group: the trace
 *
 * See trace_cleanup().
 *
 * Context: process context, may sleep.
 */
void trace_group_cleanup(struct trace_group *group)
{
	struct trace_info *trace, *next;

	scoped_guard(mutex, &gtsc_mutex) {
		group->dying = true;
		list_for_each_entry(trace, &group->channels, node)
			trace->dying = true;
	}

	list_for_each_entry_safe(trace, next, &group->channels, node) {
		gtsc_remove_files(trace);
		end_channel(trace);
	}

	debugfs_remove(group->dir);
	guard(mutex)(&gtsc_mutex);
	free_group(group);
}
EXPORT_SYMBOL_GPL(trace_group_cleanup);

static int __init gtsc_init(void)
{
	int ret = gtsc_init_files();

	if (ret)
		return ret;

	gtsc_init_dump();

	return 0;
}
module_init(gtsc_init);

static void __exit gtsc_exit(void)
{
	gtsc_exit_dump();
	gtsc_exit_files();
}
module_exit(gtsc_exit);

MODULE_DESCRIPTION("Channels of binary trace records to user space");
MODULE_LICENSE("GPL");

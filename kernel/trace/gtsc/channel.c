// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: the memory of a channel.
 *
 * The provider has a reference, and each open trace file. The last one to be put frees
 * the channel.
 */

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kref.h>
#include <linux/percpu.h>
#include <linux/ring_buffer.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "gtsc.h"
#include "read.h"

/*
 * Protects the list of roots, their traces and channels, and of each channel
 * the state and the sizes. Taken before the locks of the readers.
 */
DEFINE_MUTEX(gtsc_mutex);

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

	/* A normal channel drops the newest records, which a panic is about */
	if (flags & TRACE_PANIC_CHANNEL && !(flags & TRACE_FLIGHT_CHANNEL))
		return -EINVAL;

	return 0;
}

/* A channel without files and without a trace; freed by gtsc_put() */
struct trace_info *gtsc_alloc(const char *name, unsigned int sub_size,
			      unsigned int nr_sub, unsigned int flags)
{
	struct trace_info *trace;
	int ret;

	ret = check_flags(flags);
	if (ret)
		return ERR_PTR(ret);

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

	ret = gtsc_init_buffer(trace, sub_size, nr_sub);
	if (ret)
		goto err;

	return trace;
err:
	free_trace(trace);
	return ERR_PTR(ret);
}

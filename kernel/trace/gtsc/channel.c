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
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "gtsc.h"
#include "read.h"

/* See gtsc.h */
DEFINE_MUTEX(gtsc_mutex);

static void free_channel(struct gtsc_channel *ch)
{
	/* If both are there, gtsc_init_trace_files() was called */
	if (ch->percpu && ch->buffers)
		gtsc_free_trace_files(ch);
	gtsc_table_free(ch->buffers);
	free_percpu(ch->percpu);
	free_cpumask_var(ch->cpus);
	kfree(ch->format);
	kfree(ch);
}

static void release_channel(struct kref *ref)
{
	free_channel(container_of(ref, struct gtsc_channel, ref));
}

void gtsc_get(struct gtsc_channel *ch)
{
	kref_get(&ch->ref);
}

void gtsc_put(struct gtsc_channel *ch)
{
	kref_put(&ch->ref, release_channel);
}

static int check_flags(unsigned int flags)
{
	if (flags & ~(GTSC_GLOBAL | GTSC_FLIGHT |
		      GTSC_HEADER | GTSC_PANIC))
		return -EINVAL;

	/* A normal channel drops the newest records, which a panic is about */
	if (flags & GTSC_PANIC && !(flags & GTSC_FLIGHT))
		return -EINVAL;

	return 0;
}

/**
 * gtsc_channel_alloc - allocate a channel without files, which is in no group
 * @name: checked by the caller
 * @sub_size: as for gtsc_setup()
 * @nr_sub: as for gtsc_setup()
 * @flags: as for gtsc_setup()
 *
 * It has the buffers of the CPUs that are online; gtsc_make_cpu_buffer() makes that of another one.
 * gtsc_put() frees it.
 *
 * Context: process context, may sleep, no locks. May take long.
 *
 * Return: the channel; -EINVAL if a size or the flags are wrong; -ENOMEM; -EINTR if the task is
 * being killed.
 */
struct gtsc_channel *gtsc_channel_alloc(const char *name, unsigned int sub_size,
					unsigned int nr_sub, unsigned int flags)
{
	struct gtsc_channel *ch;
	int ret;

	ret = check_flags(flags) ?: gtsc_check_size(sub_size, nr_sub);
	if (ret)
		return ERR_PTR(ret);

	ch = kzalloc_obj(*ch);
	if (!ch)
		return ERR_PTR(-ENOMEM);

	ret = -ENOMEM;
	kref_init(&ch->ref);
	mutex_init(&ch->resize);
	INIT_LIST_HEAD(&ch->node);
	INIT_LIST_HEAD(&ch->panic_node);
	strscpy(ch->name, name, sizeof(ch->name));
	ch->flags = flags;
	ch->order = get_order(sub_size);
	ch->nr_sub = max(nr_sub, 2U);

	if (!zalloc_cpumask_var(&ch->cpus, GFP_KERNEL))
		goto err;
	ch->percpu = alloc_percpu(struct gtsc_cpu);
	ch->buffers = gtsc_table_alloc();
	if (!ch->percpu || !ch->buffers)
		goto err;
	gtsc_init_trace_files(ch);
	ret = gtsc_make_online_buffers(ch);
	if (!ret)
		return ch;
err:
	free_channel(ch);
	return ERR_PTR(ret);
}

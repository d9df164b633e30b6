// SPDX-License-Identifier: GPL-2.0
/*
 * What the graph tracer of each instance traces: the files set_graph_function,
 * set_graph_notrace, max_graph_depth and tracing_thresh.
 *
 * An instance follows each of these files of the top directory until its own file of that name
 * is written. From then on, the instance owns the value of this file, until the instance is
 * removed, and still follows the other files. To close set_graph_function or set_graph_notrace
 * after opening it for writing counts as a write, as in the top directory; for the other two, only
 * a write of a valid value does. Each instance has a copy of the values that it follows, so that a
 * traced call reads only those of its instance.
 *
 * All values are written with trace_types_lock held. A traced call reads them without it, the
 * hashes with preemption disabled. Files read max_graph_depth and tracing_thresh without it, too.
 *
 * The owner of a hash frees it: ftrace_graph_release() when the file is written again, and
 * graph_filter_free() with the instance. Both call ftrace_free_graph_hashes(), which waits until no
 * traced call can use the hash any more.
 */
#include <linux/ftrace.h>
#include <linux/mutex.h>
#include <linux/uaccess.h>

#include "ftrace_internal.h"
#include "trace.h"

/*
 * True if a write in @writer sets the value of @tr: if @writer is @tr, or if @writer is the top
 * directory and @tr owns no value of this @type
 */
static bool follows_write(struct trace_array *tr, struct trace_array *writer,
			  enum graph_filter_type type)
{
	if (tr == writer)
		return true;

	return (writer->flags & TRACE_ARRAY_FL_GLOBAL) && !(tr->graph_filter.owned & BIT(type));
}

/* The values of the command line */
struct graph_filter graph_filter_boot __initdata;

__init void graph_filter_init_top(struct trace_array *tr)
{
	tr->graph_filter = graph_filter_boot;
	tr->graph_filter.thresh = tracing_thresh;
	tr->graph_filter.owned = ~0U;	/* It follows nobody */
}

/**
 * graph_filter_init - let a new instance follow the top directory
 * @tr: the instance
 *
 * Context: process, with trace_types_lock held.
 */
void graph_filter_init(struct trace_array *tr)
{
	lockdep_assert_held(&trace_types_lock);
	tr->graph_filter = top_trace_array()->graph_filter;
	tr->graph_filter.owned = 0;
}

/**
 * graph_filter_free - free the hashes that an instance owns
 * @tr: the instance, which has no tracer and is being removed. A call may still use a hash.
 *
 * Context: process, with trace_types_lock held.
 */
void graph_filter_free(struct trace_array *tr)
{
#ifdef CONFIG_DYNAMIC_FTRACE
	struct ftrace_hash *hash[GRAPH_FILTER_HASHES] = { };

	lockdep_assert_held(&trace_types_lock);
	for (int type = 0; type < ARRAY_SIZE(hash); type++) {
		if (tr->graph_filter.owned & BIT(type))
			hash[type] = graph_filter_hash(tr, type);
	}
	ftrace_free_graph_hashes(hash, ARRAY_SIZE(hash));
#endif
}

/**
 * graph_filter_set_hash - replace the functions of a file
 * @tr: the instance that has written
 * @type: GRAPH_FILTER_FUNCTION or GRAPH_FILTER_NOTRACE
 * @hash: the functions, owned by @tr from now on
 *
 * Context: process.
 *
 * Return: the hash that @tr owned before, for ftrace_free_graph_hashes(); NULL if it owned none.
 */
struct ftrace_hash *graph_filter_set_hash(struct trace_array *tr, enum graph_filter_type type,
					  struct ftrace_hash *hash)
{
	struct ftrace_hash *old = NULL;
	struct trace_array *pos;

	guard(mutex)(&trace_types_lock);
	if (tr->graph_filter.owned & BIT(type))
		old = graph_filter_hash(tr, type);

	list_for_each_entry(pos, &ftrace_trace_arrays, list) {
		if (follows_write(pos, tr, type))
			rcu_assign_pointer(pos->graph_filter.hash[type], hash);
	}
	tr->graph_filter.owned |= BIT(type);
	return old;
}

/*
 * function_graph has another retfunc with a threshold. If an earlier restart failed, it is not
 * registered: try again.
 */
static bool needs_restart(struct trace_array *tr, bool had_thresh)
{
	if (!tr->current_trace->update_thresh)
		return false;

	return had_thresh != !!tr->graph_filter.thresh ||
	       !(tr->gops->ops.flags & FTRACE_OPS_FL_ENABLED);
}

/**
 * graph_filter_set_thresh - set the threshold of an instance, and of those that follow it
 * @tr: the instance whose file tracing_thresh was written
 * @ns: the threshold in ns, 0 for none
 *
 * Context: process, with trace_types_lock held: the caller also sets the variable tracing_thresh.
 *
 * Return: 0, or the error of a tracer that could not be restarted; the new threshold stays even
 * then.
 */
int graph_filter_set_thresh(struct trace_array *tr, unsigned long ns)
{
	struct trace_array *pos;
	int ret = 0, err;

	lockdep_assert_held(&trace_types_lock);
	list_for_each_entry(pos, &ftrace_trace_arrays, list) {
		bool had_thresh = pos->graph_filter.thresh;

		if (!follows_write(pos, tr, GRAPH_FILTER_THRESH))
			continue;

		WRITE_ONCE(pos->graph_filter.thresh, ns);
		if (!needs_restart(pos, had_thresh))
			continue;
		err = pos->current_trace->update_thresh(pos);
		ret = ret ?: err;
	}
	tr->graph_filter.owned |= BIT(GRAPH_FILTER_THRESH);
	return ret;
}

static void set_depth(struct trace_array *tr, unsigned int depth)
{
	struct trace_array *pos;

	guard(mutex)(&trace_types_lock);
	list_for_each_entry(pos, &ftrace_trace_arrays, list) {
		if (follows_write(pos, tr, GRAPH_FILTER_DEPTH))
			WRITE_ONCE(pos->graph_filter.max_depth, depth);
	}
	tr->graph_filter.owned |= BIT(GRAPH_FILTER_DEPTH);
}

static ssize_t depth_write(struct file *filp, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	unsigned int val;
	int ret;

	ret = kstrtouint_from_user(ubuf, cnt, 10, &val);
	if (ret)
		return ret;

	set_depth(filp->private_data, val);
	*ppos += cnt;
	return cnt;
}

static ssize_t depth_read(struct file *filp, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = filp->private_data;
	char buf[15]; /* More than enough to hold UINT_MAX + "\n" */
	int n;

	n = sprintf(buf, "%u\n", READ_ONCE(tr->graph_filter.max_depth));
	return simple_read_from_buffer(ubuf, cnt, ppos, buf, n);
}

const struct file_operations graph_filter_depth_fops = {
	.open		= tracing_open_generic_tr,
	.write		= depth_write,
	.read		= depth_read,
	.llseek		= generic_file_llseek,
	.release	= tracing_release_generic_tr,
};

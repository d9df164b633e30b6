// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: the registered tracers, and what users see of them.
 *
 * A tracer is a struct ftrace_ops that is registered with ftrace, or a graph tracer. All graph
 * tracers are called through one registered struct ftrace_ops, the manager. Each tracer has a name
 * in its trace instance. One tracer of each instance can be the default: what is written to
 * set_ftrace_filter changes the filter of this tracer, unless a line names another.
 *
 * Protected by ftrace_lock.
 */
#include <linux/kallsyms.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/stringhash.h>

#include "ids.h"
#include "mux.h"
#include "sets.h"
#include "stat.h"

/* All registered tracers, in order of registration */
LIST_HEAD(ftrace_mux_tracers);

/* The number of the last registration or unregistration */
static u64 last_seq;

u64 ftrace_mux_last_seq(void)
{
	lockdep_assert_held(&ftrace_lock);

	return last_seq;
}

/* Names and defaults */

static bool is_function_graph_of(struct ftrace_ops *ops, struct trace_array *tr)
{
	return tr && tr->gops && ops == &tr->gops->ops;
}

/**
 * ftrace_mux_copy_filter - give a tracer a copy of a filter
 * @to: the filter that is replaced; no registered tracer uses it
 * @from: the filter that is copied, NULL to trace all functions
 *
 * Context: process context, may sleep; ftrace_lock held.
 *
 * Return: 0; -ENOMEM, with @to as it was.
 */
int ftrace_mux_copy_filter(struct ftrace_ops_hash *to, const struct ftrace_ops_hash *from)
{
	struct ftrace_hash *new_filter, *new_notrace, *old_filter, *old_notrace;

	new_filter = ftrace_copy_hash(from ? ftrace_locked_hash(from->filter_hash) : NULL);
	new_notrace = ftrace_copy_hash(from ? ftrace_locked_hash(from->notrace_hash) : NULL);
	if (!new_filter || !new_notrace) {
		free_ftrace_hash(new_filter);
		free_ftrace_hash(new_notrace);
		return -ENOMEM;
	}

	old_filter = rcu_replace_pointer(to->filter_hash, new_filter,
					 lockdep_is_held(&ftrace_lock));
	old_notrace = rcu_replace_pointer(to->notrace_hash, new_notrace,
					  lockdep_is_held(&ftrace_lock));
	free_ftrace_hash_rcu(old_filter);
	free_ftrace_hash_rcu(old_notrace);

	return 0;
}

/**
 * ftrace_mux_init_tracer - name a tracer whose filter belongs to the user
 * @ops: the tracer, before it is registered
 * @name: its name in function_tracers, a constant
 * @tr: the trace instance it works for, NULL for the top one
 *
 * The function tracer and the latency tracers register the ops of @tr, and use its filter, as does
 * the graph tracer of @tr. The profiler may have the filter of the function tracer, see
 * ftrace_mux_share_filter(). Any other tracer has a filter of its own, also a latency tracer with
 * display-graph, which registers an ops of its own. Unless @ops is that of the function tracer or
 * of the graph tracer of @tr, its local_hash is emptied here if @tr is not the top instance, or if
 * @ops last had another name or instance.
 *
 * Context: process context, may sleep; takes ftrace_lock.
 */
void ftrace_mux_init_tracer(struct ftrace_ops *ops, const char *name,
			    struct trace_array *tr)
{
	struct ftrace_ops *function = tr ? tr->ops : &global_ops;

	ftrace_ops_init(ops);

	guard(mutex)(&ftrace_lock);

	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		return;

	/*
	 * Do not keep the filter that @ops had under another name, or in an instance other than the
	 * top one: that may have been removed, and @tr may be a new one at the same address. This
	 * cannot fail: an empty filter needs no memory.
	 */
	if (ops != function && !is_function_graph_of(ops, tr) &&
	    (ops->name != name || ops->mux.tr || ftrace_mux_instance(tr)))
		ftrace_mux_copy_filter(&ops->local_hash, NULL);

	ops->name = name;
	ops->flags |= FTRACE_OPS_FL_USER;
	ops->mux.tr = ftrace_mux_instance(tr);
}

/* The name of @ops before it is made unique, in @buf if it is not a constant */
static const char *base_name(struct ftrace_ops *ops, char *buf)
{
	const char *name = ops->name;

	/* A graph tracer has no ftrace callback to be named after */
	if (!name && ops->flags & FTRACE_OPS_FL_SUBOP)
		return "graph";
	if (!name)
		name = kallsyms_lookup((unsigned long)ops->saved_func,
				       NULL, NULL, NULL, buf);

	return name ?: "unknown";
}

/* Whether @ops never uses the filter of the function tracer of its instance */
static bool has_private_filter(struct ftrace_ops *ops)
{
	struct trace_array *tr = ops->mux.tr;

	return ops->func_hash == &ops->local_hash && !ops->mux.profiler &&
	       ops != (tr ? tr->ops : &global_ops);
}

/**
 * ftrace_mux_in_filter_files - whether set_ftrace_filter of an instance shows a tracer
 * @ops: the tracer
 * @tr: the trace instance, NULL for the top one
 *
 * As without the multiplexer, a tracer that never uses the filter of the function tracer is not in
 * these files, unless the user has made it the default.
 *
 * Context: ftrace_lock held.
 *
 * Return: true if it does.
 */
bool ftrace_mux_in_filter_files(struct ftrace_ops *ops, struct trace_array *tr)
{
	lockdep_assert_held(&ftrace_lock);

	return ops->flags & FTRACE_OPS_FL_USER &&
	       ops->mux.tr == ftrace_mux_instance(tr) &&
	       (ops->mux.chosen || !has_private_filter(ops));
}

/**
 * ftrace_mux_nr_tracers - number of registered tracers
 *
 * Context: ftrace_lock held.
 *
 * Return: how many for_each_ftrace_mux_tracer() visits.
 */
unsigned int ftrace_mux_nr_tracers(void)
{
	lockdep_assert_held(&ftrace_lock);

	return list_count_nodes(&ftrace_mux_tracers);
}

/**
 * ftrace_mux_nr_in_filter_files - number of tracers that set_ftrace_filter shows
 * @tr: the trace instance, NULL for the top one
 *
 * Context: ftrace_lock held.
 *
 * Return: the number of registered tracers for which ftrace_mux_in_filter_files() is true.
 */
unsigned int ftrace_mux_nr_in_filter_files(struct trace_array *tr)
{
	struct ftrace_ops *ops;
	unsigned int count = 0;

	lockdep_assert_held(&ftrace_lock);

	for_each_ftrace_mux_tracer(ops)
		count += ftrace_mux_in_filter_files(ops, tr);

	return count;
}

/**
 * ftrace_mux_set_default - make a tracer the default of its instance
 * @def: the tracer, registered and with FTRACE_OPS_FL_USER
 * @chosen: whether the user has chosen it, by a write to function_tracers
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_set_default(struct ftrace_ops *def, bool chosen)
{
	struct ftrace_ops *ops;

	lockdep_assert_held(&ftrace_lock);

	for_each_ftrace_mux_tracer(ops) {
		if (ops->mux.tr != def->mux.tr)
			continue;
		ops->mux.is_default = ops == def;
		ops->mux.chosen = ops == def && chosen;
	}
}

/**
 * ftrace_mux_get_default - the default tracer, whose filter a write to set_ftrace_filter changes
 * @tr: the trace instance, NULL for the top one
 *
 * Context: ftrace_lock held.
 *
 * Return: the tracer; NULL if no registered tracer is the default. The files are then about the
 * filter of the function tracer.
 */
struct ftrace_ops *ftrace_mux_get_default(struct trace_array *tr)
{
	struct ftrace_ops *ops;

	lockdep_assert_held(&ftrace_lock);

	for_each_ftrace_mux_tracer(ops) {
		if (ops->mux.is_default && ops->mux.tr == ftrace_mux_instance(tr))
			return ops;
	}

	return NULL;
}

/**
 * ftrace_mux_link - list a tracer among the registered ones
 * @ops: the tracer
 *
 * If set_ftrace_filter shows it, it becomes the default.
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_link(struct ftrace_ops *ops)
{
	struct trace_array *tr = ops->mux.tr;
	char sym[KSYM_SYMBOL_LEN];
	struct ftrace_ops *other, *def;
	const char *name;
	unsigned int nr = 0;

	lockdep_assert_held(&ftrace_lock);

	/* Not a tracer: it calls ftrace_stub(), as tmp_ops of __modify_ftrace_direct() does */
	if (ops->flags & FTRACE_OPS_FL_STUB)
		return;

	/* If two names have the same hash, one gets a number without need */
	name = base_name(ops, sym);
	ops->mux.name_hash = full_name_hash(NULL, name, strlen(name));
	for_each_ftrace_mux_tracer(other) {
		if (other->mux.tr == tr && other->mux.name_hash == ops->mux.name_hash &&
		    other->mux.nr >= nr)
			nr = other->mux.nr + 1;
	}
	ops->mux.nr = nr;

	ops->mux.seq = ++last_seq;
	ftrace_mux_stat_register(ops);
	def = ftrace_mux_get_default(tr);
	list_add_tail(&ops->mux.node, &ftrace_mux_tracers);

	/*
	 * After ftrace_mux_hold_default(), the tracer becomes the default only if it was the
	 * default before, and no other tracer has become the default meanwhile.
	 */
	if (ops->mux.held && (!ops->mux.is_default || def)) {
		ops->mux.is_default = false;
		ops->mux.chosen = false;
	} else if (ftrace_mux_in_filter_files(ops, tr)) {
		ftrace_mux_set_default(ops, ops->mux.chosen);
	}
	ops->mux.held = false;
}

/**
 * ftrace_mux_register - list a tracer that is being registered, and give it an ID
 * @ops: the tracer, or the manager of graph tracers; on no call site yet
 *
 * Context: process context, may sleep; ftrace_lock held.
 */
void ftrace_mux_register(struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);

	/* The manager is not listed: each of its graph tracers is, by ftrace_mux_link() */
	if (list_empty(&ops->subop_list))
		ftrace_mux_link(ops);
	else
		ftrace_mux_graph_ops = ops;
	ftrace_mux_get_id(ops);
}

/*
 * The tracer that becomes the default after @ops: of the other tracers that the files of its
 * instance show, the last one that was registered before @ops. If there is none before @ops, or if
 * @ops is not listed, it is the last one of all. NULL if the files show no other tracer.
 */
static struct ftrace_ops *next_default(struct ftrace_ops *ops)
{
	struct ftrace_ops *other, *next = NULL;

	for_each_ftrace_mux_tracer(other) {
		if (other == ops && next)
			break;
		if (other != ops && ftrace_mux_in_filter_files(other, ops->mux.tr))
			next = other;
	}

	return next;
}

/*
 * @ops is not registered any more. If it was the default, and no other tracer has become the
 * default meanwhile, @next becomes the default.
 */
static void hand_over_default(struct ftrace_ops *ops, struct ftrace_ops *next)
{
	if (ops->mux.is_default && next && !ftrace_mux_get_default(ops->mux.tr))
		ftrace_mux_set_default(next, false);
	ops->mux.is_default = false;
	ops->mux.chosen = false;
}

/**
 * ftrace_mux_hold_default - prepare to unregister a tracer and register it again
 * @ops: the tracer
 *
 * A tracer that set_ftrace_filter shows becomes the default when it is registered. But after this
 * function, @ops becomes the default when it is registered again only if it is the default now.
 *
 * Context: process context, may sleep; takes ftrace_lock.
 */
void ftrace_mux_hold_default(struct ftrace_ops *ops)
{
	guard(mutex)(&ftrace_lock);

	ops->mux.held = ops->mux.seq != 0;
}

/**
 * ftrace_mux_unhold_default - end what ftrace_mux_hold_default() has begun
 * @ops: the tracer, registered again, or not if that has failed
 *
 * Context: process context, may sleep; takes ftrace_lock.
 */
void ftrace_mux_unhold_default(struct ftrace_ops *ops)
{
	guard(mutex)(&ftrace_lock);

	/* ftrace_mux_link() clears it */
	if (!ops->mux.held)
		return;

	ops->mux.held = false;
	hand_over_default(ops, next_default(ops));
}

/**
 * ftrace_mux_unlink - take a tracer off the list of registered ones
 * @ops: the tracer; nothing happens if it is not on the list
 *
 * If it was the default, the tracer that next_default() finds becomes the default. But after
 * ftrace_mux_hold_default(), none does.
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_unlink(struct ftrace_ops *ops)
{
	struct ftrace_ops *next;

	lockdep_assert_held(&ftrace_lock);

	if (!ops->mux.seq)
		return;

	/* Unregistering does not wait for the callbacks of a graph tracer: the next sweep does */
	if (ops->flags & FTRACE_OPS_FL_SUBOP)
		ftrace_mux_release(ops, false);

	next = next_default(ops);
	ftrace_mux_stat_unregister(ops);
	list_del(&ops->mux.node);
	ops->mux.seq = 0;
	/* A combination that exists does not count for a later registration: see count.c */
	last_seq++;

	if (!ops->mux.held)
		hand_over_default(ops, next);
}

/**
 * ftrace_mux_find_by_name - look up a tracer whose filter belongs to the user
 * @tr: the trace instance, NULL for the top one
 * @wanted: the name of the tracer
 * @found: where to put the tracer
 *
 * Context: process context; ftrace_lock held.
 *
 * Return: FTRACE_MUX_NO_ERROR, or what is wrong with the name.
 */
enum ftrace_mux_error ftrace_mux_find_by_name(struct trace_array *tr, const char *wanted,
					      struct ftrace_ops **found)
{
	char name[KSYM_SYMBOL_LEN];
	struct ftrace_ops *ops;

	lockdep_assert_held(&ftrace_lock);

	for_each_ftrace_mux_tracer(ops) {
		if (ops->mux.tr != ftrace_mux_instance(tr) ||
		    strcmp(ftrace_mux_name(ops, name, sizeof(name)), wanted))
			continue;
		*found = ops;
		if (!(ops->flags & FTRACE_OPS_FL_USER))
			return FTRACE_MUX_ERR_KERNEL_FILTER;
		return FTRACE_MUX_NO_ERROR;
	}

	return FTRACE_MUX_ERR_UNKNOWN;
}

/**
 * ftrace_mux_find_by_seq - look up a tracer by its registration
 * @seq: the number of the registration, not 0
 *
 * Context: ftrace_lock held.
 *
 * Return: the tracer, NULL if it has been unregistered, even if it has been
 * registered again since.
 */
struct ftrace_ops *ftrace_mux_find_by_seq(u64 seq)
{
	struct ftrace_ops *ops;

	lockdep_assert_held(&ftrace_lock);

	for_each_ftrace_mux_tracer(ops) {
		if (ops->mux.seq == seq)
			return ops;
	}

	return NULL;
}

/**
 * ftrace_mux_name - the unique name of a registered tracer
 * @ops: the tracer
 * @buf: where to put it
 * @size: room in @buf, KSYM_SYMBOL_LEN is always enough
 *
 * A tracer that brings no name has that of its callback; a graph tracer is called "graph" then.
 * If several tracers of a trace instance have the same name, a number is added to those that came
 * later.
 *
 * Context: process context; ftrace_lock held.
 *
 * Return: @buf.
 */
const char *ftrace_mux_name(struct ftrace_ops *ops, char *buf, size_t size)
{
	char sym[KSYM_SYMBOL_LEN];
	const char *name;

	lockdep_assert_held(&ftrace_lock);

	name = base_name(ops, sym);
	if (ops->mux.nr)
		snprintf(buf, size, "%s#%u", name, ops->mux.nr);
	else
		strscpy(buf, name, size);

	return buf;
}

/**
 * ftrace_mux_show_name - show the name of a tracer, and of its instance
 * @m: where to
 * @ops: the tracer, registered
 *
 * Context: process context; ftrace_lock held.
 */
void ftrace_mux_show_name(struct seq_file *m, struct ftrace_ops *ops)
{
	char name[KSYM_SYMBOL_LEN];

	if (ops->mux.tr)
		seq_printf(m, "%s:", ops->mux.tr->name);
	seq_puts(m, ftrace_mux_name(ops, name, sizeof(name)));
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: the filters that set_ftrace_filter and
 * set_ftrace_notrace show and change.
 *
 * The filter of the function tracer of an instance exists whether or not the tracer is
 * registered. The graph tracer of the instance has the same filter. The profiler has the filter of
 * the function tracer of the top instance until it is given one of its own. Any other tracer has a
 * filter of its own.
 *
 * An open file has a copy of the filter, and changes the copy. When it is closed,
 * the copy becomes the filter.
 */
#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "errors.h"
#include "filters.h"
#include "mux.h"

/*
 * Keeps tracers whose filter belongs to the user from being unregistered, and
 * their func_hash from being switched, while one of the files is at work on
 * their filter. Taken before the regex_lock of a filter and before ftrace_lock,
 * and after parser_lock and trace_types_lock.
 */
DEFINE_MUTEX(ftrace_mux_files_mutex);

/* The filter of the function tracer, which the profiler follows */
static struct ftrace_ops_hash *const shared_hash = &global_ops.local_hash;

static struct ftrace_mux_profiler profiler_state = {
	.mod_trace	= LIST_HEAD_INIT(profiler_state.mod_trace),
	.mod_notrace	= LIST_HEAD_INIT(profiler_state.mod_notrace),
};

/**
 * ftrace_mux_share_filter - let the profiler start with the function tracer's filter
 * @ops: the ops of the profiler, before it is registered, but after ftrace_mux_init_tracer()
 *
 * It keeps the filter of the function tracer until it is given another.
 *
 * Context: process context, may sleep; takes ftrace_lock.
 */
void ftrace_mux_share_filter(struct ftrace_ops *ops)
{
	guard(mutex)(&ftrace_lock);

	if (ops->flags & FTRACE_OPS_FL_ENABLED ||
	    WARN_ON_ONCE(profiler_state.ops && profiler_state.ops != ops))
		return;

	if (!profiler_state.own)
		ops->func_hash = shared_hash;
	ops->mux.profiler = &profiler_state;
	profiler_state.ops = ops;
}

/*
 * The profiler, registered or not, if its filter has been split from that of the
 * function tracer
 */
static struct ftrace_ops *split_profiler(void)
{
	struct ftrace_ops *ops = profiler_state.ops;

	lockdep_assert_held(&ftrace_mux_files_mutex);

	return ops && ops->func_hash != shared_hash ? ops : NULL;
}

/**
 * ftrace_mux_visit_profiler_hashes - visit the hashes of the profiler's own filter
 * @func: called for the filter hash and the notrace hash, with the regex_lock of the
 *	filter held
 * @data: passed to @func
 *
 * Nothing happens while the profiler has the filter of the function tracer. The profiler may be
 * unregistered.
 *
 * Context: process context, may sleep; neither a regex_lock nor ftrace_lock
 * held.
 */
void ftrace_mux_visit_profiler_hashes(ftrace_mux_hash_func_t func, void *data)
{
	struct ftrace_ops_hash *hash;
	struct ftrace_ops *ops;

	guard(mutex)(&ftrace_mux_files_mutex);

	ops = split_profiler();
	if (!ops)
		return;

	hash = ops->func_hash;

	guard(mutex)(&hash->regex_lock);
	func(rcu_dereference_protected(hash->filter_hash,
				       lockdep_is_held(&hash->regex_lock)), data);
	func(rcu_dereference_protected(hash->notrace_hash,
				       lockdep_is_held(&hash->regex_lock)), data);
}

#ifdef CONFIG_MODULES
/**
 * ftrace_mux_process_profiler_mods - apply to a module what the profiler's own filter has for it
 * @mod: name of the module, which has just been loaded
 *
 * process_cached_mods() does it for the filters of the instances.
 *
 * Context: process context, may sleep; neither a regex_lock nor ftrace_lock
 * held.
 */
void ftrace_mux_process_profiler_mods(char *mod)
{
	struct ftrace_mux_profiler *profiler = &profiler_state;

	guard(mutex)(&ftrace_mux_files_mutex);

	if (!split_profiler())
		return;

	if (!list_empty(&profiler->mod_trace))
		ftrace_process_mod_list(&profiler->mod_trace, profiler->ops, mod, true);
	if (!list_empty(&profiler->mod_notrace))
		ftrace_process_mod_list(&profiler->mod_notrace, profiler->ops, mod, false);
}
#endif

/* Filters that are shared until one of them is changed */

static bool profiler_shares_filter(struct ftrace_ops *ops)
{
	return ops->mux.profiler && ops->func_hash == shared_hash;
}

/* Replace the filters for modules that are not loaded yet by copies of those of @tr */
static int copy_mods(struct ftrace_mux_profiler *profiler, struct trace_array *tr)
{
	int ret;

	/* Some are left if a split, or the commit after it, failed: join_filter() frees none */
	ftrace_free_mods(&profiler->mod_trace);
	ftrace_free_mods(&profiler->mod_notrace);

	ret = ftrace_copy_mods(&profiler->mod_trace, &tr->mod_trace);
	if (!ret)
		ret = ftrace_copy_mods(&profiler->mod_notrace, &tr->mod_notrace);
	if (ret) {
		ftrace_free_mods(&profiler->mod_trace);
		ftrace_free_mods(&profiler->mod_notrace);
	}

	return ret;
}

/* Give @ops a copy of the filter of the function tracer of @tr, which it has had until now */
static int split_filter(struct ftrace_ops *ops, struct trace_array *tr)
{
	int ret;

	guard(mutex)(&shared_hash->regex_lock);
	guard(mutex)(&ftrace_lock);

	ret = copy_mods(ops->mux.profiler, tr);
	if (ret)
		return ret;

	/* Frees the hashes that join_filter() has left */
	ret = ftrace_mux_copy_filter(&ops->local_hash, shared_hash);
	if (ret)
		return ret;

	/* A reader of the new pointer must see the new hashes */
	smp_store_release(&ops->func_hash, &ops->local_hash);

	return 0;
}

/*
 * Undo split_filter(). A reader may still look at the hashes of the copy: the next
 * split_filter() frees them.
 */
static void join_filter(struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_mux_files_mutex);
	lockdep_assert_held(&ftrace_lock);

	/* A reader of the new pointer must see the new hashes */
	smp_store_release(&ops->func_hash, shared_hash);
}

/* Whether the files show at most one tracer, and no tracer has the filter of the function tracer */
static bool can_rejoin(struct trace_array *tr)
{
	struct ftrace_ops *other;

	lockdep_assert_held(&ftrace_lock);

	if (ftrace_mux_nr_in_filter_files(tr) > 1)
		return false;

	for_each_ftrace_mux_tracer(other) {
		if (other->func_hash == shared_hash)
			return false;
	}

	return true;
}

/*
 * If no other tracer is shown, give the function tracer a copy of the filter of @ops, and let the
 * two share that filter again. No function gets or loses a tracer. If there is no memory for the
 * copy, the two filters stay apart.
 */
static void rejoin_if_alone(struct ftrace_ops *ops, struct trace_array *tr)
{
	lockdep_assert_held(&ftrace_mux_files_mutex);

	guard(mutex)(&shared_hash->regex_lock);
	guard(mutex)(&ftrace_lock);

	if (!can_rejoin(tr) || ftrace_mux_copy_filter(shared_hash, ops->func_hash))
		return;

	ftrace_free_mods(&tr->mod_trace);
	ftrace_free_mods(&tr->mod_notrace);
	list_splice_init(&ops->mux.profiler->mod_trace, &tr->mod_trace);
	list_splice_init(&ops->mux.profiler->mod_notrace, &tr->mod_notrace);

	join_filter(ops);
	ops->mux.profiler->own = false;
}

/*
 * Whether @ops is the profiler, has the filter of the function tracer, and is not the only tracer
 * that the files show: a write to its filter has to split the filter first.
 */
static bool must_split(struct ftrace_ops *ops, struct trace_array *tr)
{
	lockdep_assert_held(&ftrace_lock);

	return profiler_shares_filter(ops) && ftrace_mux_nr_in_filter_files(tr) > 1;
}

/* Filters for modules that are not loaded yet, in the copy of an open file */

/**
 * ftrace_mux_empty_mods - forget what the filter of an open file has for modules
 * @iter: the iterator of the file
 *
 * Context: process context.
 *
 * Return: true: the list of the filter stays as it is until the file is closed. Without
 * CONFIG_FTRACE_MUX, this returns false, and ftrace empties that list at once.
 */
bool ftrace_mux_empty_mods(struct ftrace_iterator *iter)
{
	if (iter->mod_head) {
		INIT_LIST_HEAD(&iter->mux_mods);
		iter->mod_head = &iter->mux_mods;
	}

	return true;
}

/**
 * ftrace_mux_copy_mods - prepare to change what the filter of an open file has for modules
 * @iter: the iterator of the file
 *
 * Copies the list of the filter to @iter->mux_mods. The copy is changed, and commit_filter() makes
 * the copy the list of the filter. But the list of the filter is changed at once, as without the
 * multiplexer, if all of this is true: @iter is the iterator of the file and not that of a named
 * tracer; the filter is that of the function tracer; the file shows at most one tracer. Then,
 * ftrace_mux_filter_drop() may restore the list from the copy (mux_undo).
 *
 * Context: process context, may sleep, takes ftrace_lock.
 *
 * Return: 0; -ENOMEM; -ENODEV if the tracer has been unregistered.
 */
int ftrace_mux_copy_mods(struct ftrace_iterator *iter)
{
	struct list_head *mods = &iter->mux_mods;
	bool at_once;
	int ret;

	if (!iter->mod_head || iter->mod_head == mods || iter->mux_undo)
		return 0;

	guard(mutex)(&ftrace_lock);

	if (iter->mux_seq && !ftrace_mux_find_by_seq(iter->mux_seq))
		return -ENODEV;

	at_once = iter->mux_writer && !iter->mux_seq &&
		  ftrace_mux_nr_in_filter_files(iter->tr) <= 1;

	INIT_LIST_HEAD(mods);
	ret = ftrace_copy_mods(mods, ftrace_mod_head(iter->tr, iter->ops,
						     iter->flags & FTRACE_ITER_FILTER));
	if (ret)
		ftrace_free_mods(mods);
	else if (at_once)
		iter->mux_undo = true;
	else
		iter->mod_head = mods;

	return ret;
}

/* Commit the functions first: without memory for that, nothing changes */
static int commit_filter(struct ftrace_iterator *iter)
{
	struct list_head *mods = ftrace_mod_head(iter->tr, iter->ops,
						 iter->flags & FTRACE_ITER_FILTER);
	int ret;

	/* The filter may have become another since the file was opened */
	if (iter->mod_head != &iter->mux_mods)
		iter->mod_head = mods;

	ret = ftrace_regex_commit(iter);
	if (ret || iter->mod_head == mods)
		return ret;

	guard(mutex)(&ftrace_lock);
	ftrace_free_mods(mods);
	list_splice_init(&iter->mux_mods, mods);

	return 0;
}

/* The filter of an open file */

/*
 * The ops whose filter a write for @ops changes; @ops is NULL if there is no default tracer. *@seq
 * is the registration of that ops, 0 for the ops of the function tracer, whose filter exists even
 * if it is not registered.
 */
static struct ftrace_ops *filter_owner(struct trace_array *tr, struct ftrace_ops *ops,
				       u64 *seq)
{
	lockdep_assert_held(&ftrace_lock);

	if (!ops || (ops->func_hash == tr->ops->func_hash && !must_split(ops, tr))) {
		*seq = 0;
		return tr->ops;
	}

	*seq = ops->mux.seq;
	return ops;
}

/**
 * ftrace_mux_filter_open - open the filter of the default tracer
 * @tr: the trace instance of the file
 * @flag: as for ftrace_regex_open()
 * @file: the file
 * @writer: what interprets writes to the file, NULL if it is only read; left to the
 *	caller if this fails
 *
 * Context: process context, may sleep; ftrace_mux_files_mutex held.
 *
 * Return: 0, -ENOMEM.
 */
int ftrace_mux_filter_open(struct trace_array *tr, int flag, struct file *file,
			   struct ftrace_mux_writer *writer)
{
	struct ftrace_iterator *iter;
	struct ftrace_ops *ops;
	struct seq_file *m;
	u64 seq;
	int ret;

	lockdep_assert_held(&ftrace_mux_files_mutex);

	scoped_guard(mutex, &ftrace_lock)
		ops = filter_owner(tr, ftrace_mux_get_default(tr), &seq);

	ret = __ftrace_regex_open(tr, ops, flag, file);
	if (ret)
		return ret;

	m = file->private_data;
	iter = file->f_mode & FMODE_READ ? m->private : file->private_data;
	iter->mux_seq = seq;
	iter->mux_writer = writer;

	return 0;
}

/**
 * ftrace_mux_filter_find - look up the filter of a tracer
 * @tr: the trace instance
 * @name: the name of the tracer
 * @ops: set to the tracer that has the filter
 * @seq: set to what mux_seq of an iterator for the filter is
 *
 * Context: process context; ftrace_mux_files_mutex held, takes ftrace_lock.
 *
 * Return: FTRACE_MUX_NO_ERROR, or what is wrong with the name.
 */
enum ftrace_mux_error ftrace_mux_filter_find(struct trace_array *tr, const char *name,
					     struct ftrace_ops **ops, u64 *seq)
{
	enum ftrace_mux_error error;

	lockdep_assert_held(&ftrace_mux_files_mutex);

	guard(mutex)(&ftrace_lock);

	error = ftrace_mux_find_by_name(tr, name, ops);
	if (!error)
		*ops = filter_owner(tr, *ops, seq);

	return error;
}

/**
 * ftrace_mux_filter_copy - start to change a filter
 * @iter: has the tracer and mux_seq of ftrace_mux_filter_find(), the instance and the flags
 * @empty: whether to start with an empty one
 *
 * Context: process context, may sleep; ftrace_mux_files_mutex has been held since
 * ftrace_mux_filter_find().
 *
 * Return: 0, -ENOMEM.
 */
int ftrace_mux_filter_copy(struct ftrace_iterator *iter, bool empty)
{
	struct ftrace_ops_hash *hash = iter->ops->func_hash;
	struct mutex *lock = &hash->regex_lock;
	bool filter = iter->flags & FTRACE_ITER_FILTER;
	struct ftrace_hash *old = NULL;

	lockdep_assert_held(&ftrace_mux_files_mutex);

	guard(mutex)(lock);

	iter->mod_head = ftrace_mod_head(iter->tr, iter->ops, filter);
	if (empty) {
		ftrace_mux_empty_mods(iter);
		iter->written = true;
	} else if (filter) {
		old = rcu_dereference_protected(hash->filter_hash, lockdep_is_held(lock));
	} else {
		old = rcu_dereference_protected(hash->notrace_hash, lockdep_is_held(lock));
	}

	iter->hash = alloc_and_copy_ftrace_hash(FTRACE_HASH_DEFAULT_BITS, old);

	return iter->hash ? 0 : -ENOMEM;
}

/**
 * ftrace_mux_filter_alive - whether the filter of an open file can be changed
 * @iter: the iterator of the filter
 *
 * Context: process context, takes ftrace_lock.
 *
 * Return: true for the filter of the function tracer, which exists even if the tracer is not
 * registered; else false if the tracer has been unregistered since the file was opened, or ftrace
 * is dead.
 */
bool ftrace_mux_filter_alive(struct ftrace_iterator *iter)
{
	if (!iter->mux_seq)
		return true;

	guard(mutex)(&ftrace_lock);

	return !ftrace_is_dead() && ftrace_mux_find_by_seq(iter->mux_seq);
}

/*
 * If the profiler shares the filter of the function tracer, and the files show several tracers, a
 * write to the filter of the profiler must not change that of the function tracer: split the
 * filter. A write to the filter of the function tracer does not split it, and changes what both
 * have. Returns 0, -ENODEV if the tracer has been unregistered, or -ENOMEM.
 */
static int make_filter_ready(struct ftrace_iterator *iter)
{
	bool split;

	if (!ftrace_mux_filter_alive(iter))
		return -ENODEV;

	scoped_guard(mutex, &ftrace_lock)
		split = must_split(iter->ops, iter->tr);

	return split ? split_filter(iter->ops, iter->tr) : 0;
}

/* Whether the filter of @ops is anything but "all functions" */
static bool selects_some(struct ftrace_ops *ops)
{
	struct ftrace_ops_hash *hash = ops->func_hash;

	/* With a pattern in mod_trace, the filter hash is not empty: FTRACE_HASH_FL_MOD */
	return !ftrace_hash_empty(ftrace_locked_hash(hash->filter_hash)) ||
	       !ftrace_hash_empty(ftrace_locked_hash(hash->notrace_hash)) ||
	       !list_empty(&ops->mux.profiler->mod_notrace);
}

/**
 * ftrace_mux_filter_commit - make what was written to a file the filter
 * @iter: the iterator of the filter
 *
 * Nothing happens if nothing was written, the tracer has been unregistered since,
 * or there is no memory for a filter of its own.
 *
 * If the tracer is the profiler, and does not share the filter of the function tracer, the filter
 * is its own from now on: the profiler keeps the filter when it is disabled and enabled again,
 * unless both the filter list and the notrace list are empty. But if the files show no other
 * tracer, and no registered tracer has the filter of the function tracer, the two share the new
 * filter again, as without the multiplexer: a program that sets the filter and then starts a
 * tracer means this tracer.
 *
 * Context: process context, may sleep.
 */
void ftrace_mux_filter_commit(struct ftrace_iterator *iter)
{
	struct ftrace_ops *ops = iter->ops;

	guard(mutex)(&ftrace_mux_files_mutex);

	if (!iter->written || make_filter_ready(iter))
		return;

	if (commit_filter(iter) || !ops->mux.profiler || profiler_shares_filter(ops))
		return;

	scoped_guard(mutex, &ftrace_lock)
		ops->mux.profiler->own = selects_some(ops);

	rejoin_if_alone(ops, iter->tr);
}

/**
 * ftrace_mux_filter_drop - free what was not made the filter
 * @iter: the iterator of the filter; its hash is left to the caller
 *
 * If the file has failed (write.c), also undoes what has taken effect at once.
 *
 * Context: process context, takes ftrace_lock.
 */
void ftrace_mux_filter_drop(struct ftrace_iterator *iter)
{
	struct list_head *mods = iter->mod_head;

	if (mods != &iter->mux_mods && !iter->mux_undo)
		return;

	guard(mutex)(&ftrace_lock);
	if (iter->mux_undo && iter->failed) {
		ftrace_free_mods(mods);
		list_splice_init(&iter->mux_mods, mods);
	}
	ftrace_free_mods(&iter->mux_mods);
}

/* Tracers that are unregistered */

/**
 * ftrace_mux_files_lock - about to unregister a tracer
 * @ops: the tracer
 *
 * Waits until no file is at work on its filter.
 *
 * Context: process context; ftrace_lock not held.
 */
void ftrace_mux_files_lock(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_USER)
		mutex_lock(&ftrace_mux_files_mutex);
}

/**
 * ftrace_mux_files_unlock - done with ftrace_mux_files_lock()
 * @ops: the tracer
 *
 * If the tracer is the profiler and has no filter of its own that is to be kept, it gets the filter
 * of the function tracer again, to start with that filter the next time.
 *
 * Context: process context; ftrace_lock not held.
 */
void ftrace_mux_files_unlock(struct ftrace_ops *ops)
{
	if (!(ops->flags & FTRACE_OPS_FL_USER))
		return;

	scoped_guard(mutex, &ftrace_lock) {
		if (!(ops->flags & FTRACE_OPS_FL_ENABLED) &&
		    ops->mux.profiler && !ops->mux.profiler->own &&
		    !profiler_shares_filter(ops))
			join_filter(ops);
	}

	mutex_unlock(&ftrace_mux_files_mutex);
}

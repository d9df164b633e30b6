// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: the tracefs files.
 *
 * function_tracers lists the registered tracers and tells which of them is the
 * default: the one set_ftrace_filter and set_ftrace_notrace write to. Reading
 * these two shows the filters of all tracers that may be the default. As long
 * as there is one such tracer, or none, all read and write as they do without
 * the multiplexer.
 */
#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "../trace.h"
#include "combinations.h"
#include "entries.h"
#include "mux.h"

/*
 * Keeps tracers whose filter belongs to the user from being unregistered, and
 * their func_hash from being switched, while one of the files is at work on
 * their filter. Taken before the regex_lock of a filter and before ftrace_lock,
 * and after trace_types_lock.
 */
static DEFINE_MUTEX(ftrace_mux_files_mutex);

/*
 * All tracers whose filter has been split from that of the function tracer,
 * registered or not. Protected by ftrace_mux_files_mutex.
 */
static LIST_HEAD(ftrace_mux_filters);

/**
 * ftrace_mux_visit_hashes - look at all filters that the instances do not have
 * @func: called for the filter hash and the notrace hash of each tracer whose
 *	filter was split from that of the function tracer, registered or not,
 *	with the regex_lock of the filter held
 * @data: passed to @func
 *
 * Context: process context, may sleep; neither a regex_lock nor ftrace_lock
 * held.
 */
void ftrace_mux_visit_hashes(ftrace_mux_hash_func_t func, void *data)
{
	struct ftrace_mux_filter *filter;

	guard(mutex)(&ftrace_mux_files_mutex);

	list_for_each_entry(filter, &ftrace_mux_filters, node) {
		struct ftrace_ops_hash *hash = &filter->ops->local_hash;
		struct mutex *lock = &hash->regex_lock;

		guard(mutex)(lock);
		func(rcu_dereference_protected(hash->filter_hash, lockdep_is_held(lock)),
		     data);
		func(rcu_dereference_protected(hash->notrace_hash, lockdep_is_held(lock)),
		     data);
	}
}

#ifdef CONFIG_MODULES
/**
 * ftrace_mux_process_mods - apply to a module what the filters have for it
 * @mod: name of the module, which has just been loaded
 *
 * Of the filters that the instances do not have. See process_cached_mods().
 *
 * Context: process context, may sleep; neither a regex_lock nor ftrace_lock
 * held.
 */
void ftrace_mux_process_mods(char *mod)
{
	struct ftrace_mux_filter *filter;

	guard(mutex)(&ftrace_mux_files_mutex);

	list_for_each_entry(filter, &ftrace_mux_filters, node) {
		if (!list_empty(&filter->mod_trace))
			ftrace_process_mod_list(&filter->mod_trace, filter->ops, mod, true);
		if (!list_empty(&filter->mod_notrace))
			ftrace_process_mod_list(&filter->mod_notrace, filter->ops, mod, false);
	}
}
#endif

/* function_tracers */

enum {
	MUX_ERR_NO_NAME,
	MUX_ERR_NUL,
	MUX_ERR_TOO_LONG,
	MUX_ERR_UNKNOWN,
	MUX_ERR_KERNEL,
};

static const char * const mux_errors[] = {
	"Name of a function tracer expected",
	"Name contains a NUL character",
	"Name is too long",
	"No function tracer of this name is registered",
	"The filter of this function tracer belongs to the kernel",
};

static void *tracers_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&ftrace_lock);

	if (ftrace_is_dead())
		return NULL;

	return seq_list_start(&ftrace_mux_tracers, *pos);
}

static void *tracers_next(struct seq_file *m, void *v, loff_t *pos)
{
	return seq_list_next(v, &ftrace_mux_tracers, pos);
}

static void tracers_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&ftrace_lock);
}

static int tracers_show(struct seq_file *m, void *v)
{
	struct ftrace_ops *ops = list_entry(v, struct ftrace_ops, mux.node);
	struct trace_array *tr = m->private;
	char name[KSYM_SYMBOL_LEN];

	if (ops->mux.tr != ftrace_mux_instance(tr))
		return SEQ_SKIP;

	seq_printf(m, "%c%s\n", ops == ftrace_mux_get_default(tr) ? '*' : ' ',
		   ftrace_mux_name(ops, name, sizeof(name)));
	return 0;
}

static const struct seq_operations tracers_seq_ops = {
	.start	= tracers_start,
	.next	= tracers_next,
	.stop	= tracers_stop,
	.show	= tracers_show,
};

/* The instance of a file in the top directory is not there when it is made */
static struct trace_array *inode_instance(struct inode *inode)
{
	return inode->i_private ?: global_ops.private;
}

static int tracers_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode_instance(inode);
	struct seq_file *m;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	ret = seq_open(file, &tracers_seq_ops);
	if (ret) {
		trace_array_put(tr);
		return ret;
	}

	m = file->private_data;
	m->private = tr;

	return 0;
}

static int tracers_release(struct inode *inode, struct file *file)
{
	trace_array_put(inode_instance(inode));

	return seq_release(inode, file);
}

static void log_error(struct trace_array *tr, const char *cmd, int type, int pos)
{
	tracing_log_err(tr, "function_tracers", cmd,
			(const char **)mux_errors, type, pos);
}

static int choose_default(struct trace_array *tr, const char *cmd,
			  const char *wanted)
{
	struct ftrace_ops *ops;
	char name[KSYM_SYMBOL_LEN];
	int type = MUX_ERR_UNKNOWN;

	scoped_guard(mutex, &ftrace_lock) {
		if (ftrace_is_dead())
			return -ENODEV;

		for_each_ftrace_mux_tracer(ops) {
			if (ops->mux.tr != ftrace_mux_instance(tr) ||
			    strcmp(ftrace_mux_name(ops, name, sizeof(name)), wanted))
				continue;
			if (ops->flags & FTRACE_OPS_FL_USER) {
				ftrace_mux_set_default(ops);
				return 0;
			}
			type = MUX_ERR_KERNEL;
			break;
		}
	}

	log_error(tr, cmd, type, wanted - cmd);

	return type == MUX_ERR_KERNEL ? -EPERM : -EINVAL;
}

/* @cmd has the first @len of the @cnt characters that were written */
static int parse_name(struct trace_array *tr, char *cmd, size_t len, size_t cnt)
{
	char *name;

	if (memchr(cmd, '\0', len)) {
		log_error(tr, cmd, MUX_ERR_NUL, strlen(cmd));
		return -EINVAL;
	}

	if (len < cnt) {
		log_error(tr, cmd, MUX_ERR_TOO_LONG, 0);
		return -EINVAL;
	}

	name = strim(cmd);
	if (!*name) {
		log_error(tr, cmd, MUX_ERR_NO_NAME, 0);
		return -EINVAL;
	}

	return choose_default(tr, cmd, name);
}

static ssize_t tracers_write(struct file *file, const char __user *ubuf,
			     size_t cnt, loff_t *ppos)
{
	struct seq_file *m = file->private_data;
	size_t len = min_t(size_t, cnt, KSYM_SYMBOL_LEN);
	char *cmd;
	int ret;

	cmd = memdup_user_nul(ubuf, len);
	if (IS_ERR(cmd))
		return PTR_ERR(cmd);

	ret = parse_name(m->private, cmd, len, cnt);
	kfree(cmd);
	if (ret)
		return ret;

	*ppos += cnt;

	return cnt;
}

static const struct file_operations tracers_fops = {
	.open		= tracers_open,
	.read		= seq_read,
	.write		= tracers_write,
	.llseek		= seq_lseek,
	.release	= tracers_release,
};

/* set_ftrace_filter and set_ftrace_notrace: one tracer, for writing */

static bool has_shared_hash(struct ftrace_ops *ops)
{
	return ops->mux.filter && ops->func_hash == ops->mux.filter->shared_hash;
}

/*
 * Give @ops a copy of the filter that it has had in common with others. What is
 * for modules to come stays with the function tracer: if the filter selects
 * nothing until a module is loaded, so does the copy, until it is set.
 */
static int split_filter(struct ftrace_ops *ops)
{
	struct ftrace_ops_hash *shared = ops->mux.filter->shared_hash;
	struct ftrace_hash *filter, *exempt;

	guard(mutex)(&shared->regex_lock);
	guard(mutex)(&ftrace_lock);

	filter = ftrace_copy_hash(ftrace_locked_hash(shared->filter_hash));
	exempt = ftrace_copy_hash(ftrace_locked_hash(shared->notrace_hash));
	if (!filter || !exempt) {
		free_ftrace_hash(filter);
		free_ftrace_hash(exempt);
		return -ENOMEM;
	}

	list_add(&ops->mux.filter->node, &ftrace_mux_filters);

	/* What a file that had been opened before join_filter() has left there */
	ftrace_free_mods(&ops->mux.filter->mod_trace);
	ftrace_free_mods(&ops->mux.filter->mod_notrace);

	/* Free the hashes that join_filter() has left */
	filter = rcu_replace_pointer(ops->local_hash.filter_hash, filter,
				     lockdep_is_held(&ftrace_lock));
	exempt = rcu_replace_pointer(ops->local_hash.notrace_hash, exempt,
				     lockdep_is_held(&ftrace_lock));
	free_ftrace_hash_rcu(filter);
	free_ftrace_hash_rcu(exempt);

	/* A reader of the new pointer must see the new hashes */
	smp_store_release(&ops->func_hash, &ops->local_hash);

	return 0;
}

/*
 * Undo split_filter(). Somebody may still be looking at the hashes of the
 * copy: leave them there for the next time.
 */
static void join_filter(struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_mux_files_mutex);
	lockdep_assert_held(&ftrace_lock);

	list_del(&ops->mux.filter->node);
	/* A reader of the new pointer must see the new hashes */
	smp_store_release(&ops->func_hash, ops->mux.filter->shared_hash);
}

/*
 * Whether the files are about @ops and no other tracer, and nobody has the filter
 * of the function tracer.
 */
static bool is_alone(struct ftrace_ops *ops, struct trace_array *tr)
{
	struct ftrace_ops *other;

	lockdep_assert_held(&ftrace_lock);

	if (ftrace_mux_count_users(tr) > 1)
		return false;

	for_each_ftrace_mux_tracer(other) {
		if (other->func_hash == ops->mux.filter->shared_hash)
			return false;
	}

	return true;
}

/*
 * If @ops is alone, make its filter that of the function tracer, and the two have
 * it in common again. Changes no function's tracers. Without memory for it they
 * stay apart.
 */
static void share_filter(struct ftrace_ops *ops, struct trace_array *tr)
{
	struct ftrace_ops_hash *shared = ops->mux.filter->shared_hash;
	struct ftrace_hash *filter, *exempt;

	lockdep_assert_held(&ftrace_mux_files_mutex);

	guard(mutex)(&shared->regex_lock);
	guard(mutex)(&ftrace_lock);

	if (!is_alone(ops, tr))
		return;

	filter = ftrace_copy_hash(ftrace_locked_hash(ops->func_hash->filter_hash));
	exempt = ftrace_copy_hash(ftrace_locked_hash(ops->func_hash->notrace_hash));
	if (!filter || !exempt) {
		free_ftrace_hash(filter);
		free_ftrace_hash(exempt);
		return;
	}

	ftrace_free_mods(&tr->mod_trace);
	ftrace_free_mods(&tr->mod_notrace);
	list_splice_init(&ops->mux.filter->mod_trace, &tr->mod_trace);
	list_splice_init(&ops->mux.filter->mod_notrace, &tr->mod_notrace);

	filter = rcu_replace_pointer(shared->filter_hash, filter,
				     lockdep_is_held(&ftrace_lock));
	exempt = rcu_replace_pointer(shared->notrace_hash, exempt,
				     lockdep_is_held(&ftrace_lock));
	free_ftrace_hash_rcu(filter);
	free_ftrace_hash_rcu(exempt);

	join_filter(ops);
	ops->mux.filter->own = false;
}

static struct ftrace_iterator *file_iterator(struct file *file)
{
	struct seq_file *m = file->private_data;

	return file->f_mode & FMODE_READ ? m->private : file->private_data;
}

/* Open the filter of the default tracer */
static int open_default(struct trace_array *tr, int flag, struct file *file)
{
	struct ftrace_ops *ops;
	u64 seq;
	bool several;
	int ret;

	lockdep_assert_held(&ftrace_mux_files_mutex);

	scoped_guard(mutex, &ftrace_lock) {
		ops = ftrace_mux_get_default(tr);
		seq = ops ? ops->mux.seq : 0;
		several = ftrace_mux_count_users(tr) > 1;
	}

	/*
	 * A change to the filter of @ops, one of several, must not change that of
	 * the function tracer. It is the other way round for the function tracer:
	 * those without a filter of their own follow it.
	 */
	if (ops && several && file->f_mode & FMODE_WRITE && has_shared_hash(ops)) {
		ret = split_filter(ops);
		if (ret)
			return ret;
	}

	/* The filter of the function tracer is there with and without it */
	if (!ops || ops->func_hash == tr->ops->func_hash) {
		ops = tr->ops;
		seq = 0;
	}

	ret = __ftrace_regex_open(tr, ops, flag, file);
	if (!ret)
		file_iterator(file)->mux_seq = seq;

	return ret;
}

/**
 * ftrace_mux_filter_alive - whether the filter of an open file can be changed
 * @iter: the iterator of the file
 *
 * If so, what is for modules to come goes to where it belongs by now: the filter
 * may have become that of the function tracer since the file was opened.
 *
 * Context: process context, takes ftrace_lock.
 *
 * Return: false if the tracer has been unregistered since the file was opened.
 */
bool ftrace_mux_filter_alive(struct ftrace_iterator *iter)
{
	if (!iter->mux_seq)
		return true;

	guard(mutex)(&ftrace_lock);

	if (ftrace_is_dead() || !ftrace_mux_find(iter->mux_seq))
		return false;

	iter->mod_head = ftrace_mod_head(iter->tr, iter->ops,
					 !(iter->flags & FTRACE_ITER_NOTRACE));
	return true;
}

/* A filter that became that of the function tracer may be another tracer's, too */
static bool filter_is_ready(struct ftrace_iterator *iter)
{
	bool several;

	lockdep_assert_held(&ftrace_mux_files_mutex);

	if (!ftrace_mux_filter_alive(iter))
		return false;

	scoped_guard(mutex, &ftrace_lock)
		several = ftrace_mux_count_users(iter->tr) > 1;

	if (!several || !has_shared_hash(iter->ops))
		return true;

	return !split_filter(iter->ops) && ftrace_mux_filter_alive(iter);
}

/**
 * ftrace_mux_filter_begin - start to change the filter of an open file
 * @iter: the iterator of the file
 *
 * Context: process context, may sleep. If it returns true, the tracer stays
 * registered until ftrace_mux_filter_end().
 *
 * Return: false if there is nothing to change: the tracer has been unregistered
 * since the file was opened, or there is no memory for a filter of its own.
 */
bool ftrace_mux_filter_begin(struct ftrace_iterator *iter)
{
	if (!iter->mux_seq)
		return true;

	mutex_lock(&ftrace_mux_files_mutex);
	if (filter_is_ready(iter))
		return true;

	mutex_unlock(&ftrace_mux_files_mutex);
	return false;
}

/* Whether the filter of @ops is anything but "all functions" */
static bool selects_some(struct ftrace_ops *ops)
{
	struct ftrace_ops_hash *hash = ops->func_hash;

	return !ftrace_hash_empty(ftrace_locked_hash(hash->filter_hash)) ||
	       !ftrace_hash_empty(ftrace_locked_hash(hash->notrace_hash)) ||
	       !list_empty(&ops->mux.filter->mod_notrace);
}

/**
 * ftrace_mux_filter_end - done with ftrace_mux_filter_begin()
 * @iter: the iterator of the file
 * @changed: whether the filter was set
 *
 * If it was, the filter is the tracer's own from now on: it keeps it when it is
 * disabled and enabled again. Emptying both lists takes it away again. But if
 * there is no other tracer, the filter is that of the function tracer too, as
 * without the multiplexer: who sets the filter first and then starts a tracer
 * gets what he has set.
 *
 * Context: process context, may sleep.
 */
void ftrace_mux_filter_end(struct ftrace_iterator *iter, bool changed)
{
	struct ftrace_ops *ops = iter->ops;

	if (!iter->mux_seq)
		return;

	scoped_guard(mutex, &ftrace_lock) {
		if (changed && ops->mux.filter && !has_shared_hash(ops))
			ops->mux.filter->own = selects_some(ops);
	}

	if (changed && ops->mux.filter && !has_shared_hash(ops))
		share_filter(ops, iter->tr);

	mutex_unlock(&ftrace_mux_files_mutex);
}

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
 * A tracer that has never been given a filter gets that of the function tracer
 * again, to start with it the next time.
 *
 * Context: process context; ftrace_lock not held.
 */
void ftrace_mux_files_unlock(struct ftrace_ops *ops)
{
	if (!(ops->flags & FTRACE_OPS_FL_USER))
		return;

	scoped_guard(mutex, &ftrace_lock) {
		if (!(ops->flags & FTRACE_OPS_FL_ENABLED) &&
		    ops->mux.filter && !ops->mux.filter->own &&
		    !has_shared_hash(ops))
			join_filter(ops);
	}

	mutex_unlock(&ftrace_mux_files_mutex);
}

/* set_ftrace_filter and set_ftrace_notrace: several tracers, for reading */

/*
 * The filter of one tracer as it was when the file was opened. ftrace iterates
 * over it as if the file started at @base.
 */
struct ftrace_mux_section {
	struct ftrace_iterator		iter;
	struct ftrace_mux_sections	*all;
	unsigned int			index;
	loff_t				base;
	char				name[KSYM_SYMBOL_LEN];
};

struct ftrace_mux_sections {
	struct trace_array		*tr;
	unsigned int			nr;
	struct ftrace_mux_section	section[] __counted_by(nr);
};

static struct ftrace_mux_section *current_section(struct seq_file *m)
{
	struct ftrace_iterator *iter = m->private;

	return iter->mux_section;
}

/* Go to the start of the next section, if there is one, with the lock held */
static void *next_section(struct seq_file *m, loff_t pos)
{
	struct ftrace_mux_section *section = current_section(m);
	struct ftrace_mux_sections *all = section->all;
	loff_t first = 0;
	void *p = NULL;

	while (!p && section->index + 1 < all->nr) {
		section = &all->section[section->index + 1];
		section->base = pos;
		show_ftrace_seq_ops.stop(m, NULL);
		m->private = &section->iter;
		p = show_ftrace_seq_ops.start(m, &first);
	}

	return p;
}

static void *sections_start(struct seq_file *m, loff_t *pos)
{
	struct ftrace_mux_section *section = current_section(m);
	struct ftrace_mux_sections *all = section->all;
	loff_t first;
	void *p;

	/* Where a section starts is known once the one before it has ended */
	while (section->index && *pos < section->base)
		section = &all->section[section->index - 1];

	m->private = &section->iter;
	first = *pos - section->base;
	p = show_ftrace_seq_ops.start(m, &first);

	return p ?: next_section(m, *pos);
}

static void *sections_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct ftrace_mux_section *section = current_section(m);
	loff_t next = *pos - section->base;
	void *p;

	p = show_ftrace_seq_ops.next(m, v, &next);
	*pos = section->base + next;
	if (p)
		return p;

	/* What follows the functions is found from the start, see t_next() */
	show_ftrace_seq_ops.stop(m, NULL);
	p = show_ftrace_seq_ops.start(m, &next);

	return p ?: next_section(m, *pos);
}

static void sections_stop(struct seq_file *m, void *v)
{
	show_ftrace_seq_ops.stop(m, v);
}

static int sections_show(struct seq_file *m, void *v)
{
	struct ftrace_mux_section *section = current_section(m);
	size_t start = m->count;
	size_t prefix;
	int ret;

	/* A function trigger belongs to no tracer */
	if (section->iter.flags & FTRACE_ITER_PROBE)
		return show_ftrace_seq_ops.show(m, v);

	seq_printf(m, "[%20s] ", section->name);
	prefix = m->count;
	ret = show_ftrace_seq_ops.show(m, v);

	/* No prefix for an empty line */
	if (m->count == prefix && !seq_has_overflowed(m))
		m->count = start;

	return ret;
}

static const struct seq_operations sections_seq_ops = {
	.start	= sections_start,
	.next	= sections_next,
	.stop	= sections_stop,
	.show	= sections_show,
};

static void free_sections(struct ftrace_mux_sections *all)
{
	for (int i = 0; i < all->nr; i++)
		free_ftrace_hash(all->section[i].iter.hash);
	kvfree(all);
}

static int init_section(struct ftrace_mux_section *section,
			struct ftrace_ops *ops, struct trace_array *tr, int flag)
{
	struct ftrace_iterator *iter = &section->iter;
	bool exempt = flag & FTRACE_ITER_NOTRACE;

	iter->mux_section = section;
	iter->ops = ops;
	iter->tr = tr;
	iter->flags = flag & ~FTRACE_ITER_DO_PROBES;
	iter->mod_head = ftrace_mod_head(tr, ops, !exempt);

	iter->hash = ftrace_copy_hash(exempt ?
				      ftrace_locked_hash(ops->func_hash->notrace_hash) :
				      ftrace_locked_hash(ops->func_hash->filter_hash));
	if (!iter->hash)
		return -ENOMEM;

	ftrace_mux_name(ops, section->name, sizeof(section->name));

	return 0;
}

/* Take a snapshot of the filters of all tracers of @tr */
static int init_sections(struct ftrace_mux_sections *all, int flag)
{
	struct ftrace_mux_section *section = all->section;
	struct ftrace_ops *ops;
	int ret;

	lockdep_assert_held(&ftrace_lock);

	for_each_ftrace_mux_tracer(ops) {
		if (!ftrace_mux_has_files(ops, all->tr))
			continue;

		section->all = all;
		section->index = section - all->section;
		ret = init_section(section, ops, all->tr, flag);
		if (ret)
			return ret;
		section++;
	}

	/* The function triggers are those of the instance: show them once, last */
	all->section[all->nr - 1].iter.flags |= flag & FTRACE_ITER_DO_PROBES;

	return 0;
}

/* Open the filters of all tracers; returns 1 if there are less than two */
static int open_sections(struct trace_array *tr, int flag, struct file *file)
{
	struct ftrace_mux_sections *all;
	struct seq_file *m;
	unsigned int nr;
	int ret;

	guard(mutex)(&ftrace_lock);

	nr = ftrace_mux_count_users(tr);
	if (nr < 2)
		return 1;

	all = kvzalloc(struct_size(all, section, nr), GFP_KERNEL);
	if (!all)
		return -ENOMEM;

	all->nr = nr;
	all->tr = tr;
	ret = init_sections(all, flag);
	if (!ret)
		ret = seq_open(file, &sections_seq_ops);
	if (ret) {
		free_sections(all);
		return ret;
	}

	m = file->private_data;
	m->private = &all->section[0].iter;

	return 0;
}

/**
 * ftrace_mux_release_sections - release a file that shows several filters
 * @iter: the current iterator of the file, whose seq_file is gone already
 *
 * Context: process context, may sleep.
 *
 * Return: false if the file is not one of these, and nothing was done.
 */
bool ftrace_mux_release_sections(struct ftrace_iterator *iter)
{
	struct ftrace_mux_sections *all;

	if (!iter->mux_section)
		return false;

	all = iter->mux_section->all;
	trace_array_put(all->tr);
	free_sections(all);

	return true;
}

/**
 * ftrace_mux_regex_open - open set_ftrace_filter or set_ftrace_notrace
 * @tr: the trace instance of the file, NULL for the top one
 * @flag: as for ftrace_regex_open()
 * @inode: the inode of the file
 * @file: the file
 *
 * A file opened for writing works on the filter of the default tracer, also
 * when it is read; one opened only for reading shows the filters of all.
 *
 * Context: process context, may sleep.
 *
 * Return: 0; -ENODEV if ftrace is dead or tracing is disabled or locked down;
 * -ENOMEM.
 */
int ftrace_mux_regex_open(struct trace_array *tr, int flag,
			  struct inode *inode, struct file *file)
{
	int ret = 1;

	if (ftrace_is_dead())
		return -ENODEV;

	if (!tr)
		tr = global_ops.private;

	if (tracing_check_open_get_tr(tr))
		return -ENODEV;

	scoped_guard(mutex, &ftrace_mux_files_mutex) {
		if ((file->f_mode & (FMODE_READ | FMODE_WRITE)) == FMODE_READ)
			ret = open_sections(tr, flag, file);
		if (ret > 0)
			ret = open_default(tr, flag, file);
	}

	if (ret)
		trace_array_put(tr);

	return ret;
}

/* enabled_functions */

/**
 * ftrace_mux_show_caller - show the trampoline that a function calls
 * @m: where to
 * @rec: record of the function
 *
 * Context: ftrace_lock held.
 *
 * Return: false if it is none of the multiplexer's, and nothing was shown.
 */
bool ftrace_mux_show_caller(struct seq_file *m, struct dyn_ftrace *rec)
{
	struct ftrace_mux_combo *combo = ftrace_mux_rec_combo(rec);

	if (!combo)
		return false;

	/* As ftrace shows the trampoline of a single tracer */
	if (combo->nr == 1 && !combo->graph)
		seq_printf(m, "\ttramp: %pS (%pS) ->%pS", (void *)ftrace_mux_callee(rec),
			   (void *)combo->ops[0]->func,
			   (void *)ftrace_ops_get_func(combo->ops[0]));
	else if (combo->size)
		seq_puts(m, "\tmux: " FTRACE_MUX_TRAMPOLINE_SYM);
	else
		seq_printf(m, "\tmux: %ps", (void *)combo->tramp);

	return true;
}

/**
 * ftrace_mux_show_tracers - name the tracers of a function
 * @m: where to
 * @rec: record of the function
 *
 * Shows nothing when there is but one tracer, which needs no telling apart.
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_show_tracers(struct seq_file *m, struct dyn_ftrace *rec)
{
	char name[KSYM_SYMBOL_LEN];
	struct ftrace_ops *ops;

	lockdep_assert_held(&ftrace_lock);

	if (!ftrace_rec_count(rec) || list_is_singular(&ftrace_mux_tracers))
		return;

	seq_puts(m, "\ttracers:");
	for_each_ftrace_mux_tracer(ops) {
		/* pass rec in as regs to have non-NULL val */
		if (!ftrace_ops_test(ops, rec->ip, rec))
			continue;
		seq_putc(m, ' ');
		if (ops->mux.tr)
			seq_printf(m, "%s:", ops->mux.tr->name);
		seq_puts(m, ftrace_mux_name(ops, name, sizeof(name)));
	}
}

/**
 * ftrace_mux_create_files - create function_tracers
 * @tr: the trace instance, NULL for the top one
 * @parent: its directory
 *
 * Context: process context, may sleep.
 */
void ftrace_mux_create_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("function_tracers", TRACE_MODE_WRITE, parent, tr,
			  &tracers_fops);
	if (!ftrace_mux_instance(tr))
		ftrace_mux_create_info(parent);
}

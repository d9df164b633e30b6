// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: the tracefs files.
 *
 * function_tracers lists the registered tracers and tells which of them is the
 * default: a write to set_ftrace_filter or set_ftrace_notrace changes its filter. Reading
 * these two shows the filters of all tracers for which ftrace_mux_in_filter_files()
 * is true. As long as there is one such tracer, or none, these two files read as
 * they do without the multiplexer. Each write goes through write.c, which also takes
 * lines that name a tracer: see write.c and filters.c.
 *
 * In enabled_functions, the line of a function shows what its call site calls, and its tracers.
 */
#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "combinations.h"
#include "entries.h"
#include "errors.h"
#include "filters.h"
#include "mux.h"
#include "write.h"

/* function_tracers */

static int tracers_show(struct seq_file *m, void *v)
{
	struct trace_array *tr = m->private;
	char name[KSYM_SYMBOL_LEN];
	struct ftrace_ops *ops, *def;

	guard(mutex)(&ftrace_lock);

	if (ftrace_is_dead())
		return -ENODEV;

	def = ftrace_mux_get_default(tr);
	for_each_ftrace_mux_tracer(ops) {
		if (ops->mux.tr != ftrace_mux_instance(tr))
			continue;
		seq_printf(m, "%c%s\n", ops == def ? '*' : ' ',
			   ftrace_mux_name(ops, name, sizeof(name)));
	}

	return 0;
}

static int tracers_open(struct inode *inode, struct file *file)
{
	/* NULL for the top instance */
	struct trace_array *tr = inode->i_private;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	ret = single_open(file, tracers_show, tr);
	if (ret)
		trace_array_put(tr);

	return ret;
}

static int tracers_release(struct inode *inode, struct file *file)
{
	trace_array_put(inode->i_private);

	return single_release(inode, file);
}

static int log_error(struct trace_array *tr, const char *cmd,
		     enum ftrace_mux_error error, int pos)
{
	return ftrace_mux_log_error(tr, "function_tracers", cmd, error, pos);
}

/* @cmd has the first @len of the @cnt characters that were written */
static int choose_default(struct trace_array *tr, char *cmd, size_t len, size_t cnt)
{
	enum ftrace_mux_error error;
	struct ftrace_ops *ops;
	char *name;

	if (memchr(cmd, '\0', len))
		return log_error(tr, cmd, FTRACE_MUX_ERR_NUL, strlen(cmd));

	if (len < cnt)
		return log_error(tr, cmd, FTRACE_MUX_ERR_TOO_LONG, 0);

	name = strim(cmd);
	if (!*name)
		return log_error(tr, cmd, FTRACE_MUX_ERR_NO_NAME, 0);

	scoped_guard(mutex, &ftrace_lock) {
		if (ftrace_is_dead())
			return -ENODEV;

		error = ftrace_mux_find_by_name(tr, name, &ops);
		if (!error)
			ftrace_mux_set_default(ops, true);
	}

	return error ? log_error(tr, cmd, error, name - cmd) : 0;
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

	ret = choose_default(m->private, cmd, len, cnt);
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

/* set_ftrace_filter and set_ftrace_notrace: several tracers, for reading */

/*
 * The filter of one tracer as it was when the file was opened. But filters for modules that are not
 * loaded yet are those that the tracer has when the file is read. ftrace iterates over a section as
 * if the file started at @base.
 */
struct ftrace_mux_section {
	struct ftrace_iterator		iter;
	struct ftrace_mux_section_list	*list;
	loff_t				base;
	char				name[KSYM_SYMBOL_LEN];
};

struct ftrace_mux_section_list {
	struct trace_array		*tr;
	unsigned int			nr;
	struct ftrace_mux_section	section[] __counted_by(nr);
};

static struct ftrace_mux_section *current_section(struct seq_file *m)
{
	struct ftrace_iterator *iter = m->private;

	return iter->mux_section;
}

/*
 * Go to the start of the next section that has a line, if there is one. Called and returns with
 * ftrace_lock, but drops it between two sections.
 */
static void *next_section(struct seq_file *m, loff_t pos)
{
	struct ftrace_mux_section *section = current_section(m);
	struct ftrace_mux_section_list *list = section->list;
	loff_t first = 0;
	void *p = NULL;

	while (!p && section + 1 < list->section + list->nr) {
		section++;
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
	struct ftrace_mux_section_list *list = section->list;
	loff_t first;
	void *p;

	/* Where a section starts is known once the one before it has ended */
	while (section > list->section && *pos < section->base)
		section--;

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

static void free_sections(struct ftrace_mux_section_list *list)
{
	for (int i = 0; i < list->nr; i++)
		free_ftrace_hash(list->section[i].iter.hash);
	kvfree(list);
}

static int init_section(struct ftrace_mux_section *section,
			struct ftrace_ops *ops, struct trace_array *tr, int flag)
{
	struct ftrace_iterator *iter = &section->iter;
	bool is_notrace = flag & FTRACE_ITER_NOTRACE;

	iter->mux_section = section;
	iter->ops = ops;
	iter->tr = tr;
	iter->flags = flag & ~FTRACE_ITER_DO_PROBES;
	iter->mod_head = ftrace_mod_head(tr, ops, !is_notrace);

	iter->hash = ftrace_copy_hash(is_notrace ?
				      ftrace_locked_hash(ops->func_hash->notrace_hash) :
				      ftrace_locked_hash(ops->func_hash->filter_hash));
	if (!iter->hash)
		return -ENOMEM;

	ftrace_mux_name(ops, section->name, sizeof(section->name));

	return 0;
}

/* Copy the filters of all tracers that the files of @list->tr show, one to each section of @list */
static int init_sections(struct ftrace_mux_section_list *list, int flag)
{
	struct ftrace_mux_section *section = list->section;
	struct ftrace_ops *ops;
	int ret;

	lockdep_assert_held(&ftrace_lock);

	for_each_ftrace_mux_tracer(ops) {
		if (!ftrace_mux_in_filter_files(ops, list->tr))
			continue;

		section->list = list;
		ret = init_section(section, ops, list->tr, flag);
		if (ret)
			return ret;
		section++;
	}

	/* The function triggers are those of the instance: show them once, last */
	list->section[list->nr - 1].iter.flags |= flag & FTRACE_ITER_DO_PROBES;

	return 0;
}

/* Open the filters of all tracers; returns 1 if there are less than two */
static int open_sections(struct trace_array *tr, int flag, struct file *file)
{
	struct ftrace_mux_section_list *list;
	struct seq_file *m;
	unsigned int nr;
	int ret;

	guard(mutex)(&ftrace_lock);

	nr = ftrace_mux_nr_in_filter_files(tr);
	if (nr < 2)
		return 1;

	list = kvzalloc(struct_size(list, section, nr), GFP_KERNEL);
	if (!list)
		return -ENOMEM;

	list->nr = nr;
	list->tr = tr;
	ret = init_sections(list, flag);
	if (!ret)
		ret = seq_open(file, &sections_seq_ops);
	if (ret) {
		free_sections(list);
		return ret;
	}

	m = file->private_data;
	m->private = &list->section[0].iter;

	return 0;
}

/**
 * ftrace_mux_close_sections - release a file that shows several filters
 * @iter: the current iterator of the file, whose seq_file is gone already
 *
 * Context: process context, may sleep.
 *
 * Return: false if the file is not one of these, and nothing was done.
 */
bool ftrace_mux_close_sections(struct ftrace_iterator *iter)
{
	struct ftrace_mux_section_list *list;

	if (!iter->mux_section)
		return false;

	list = iter->mux_section->list;
	trace_array_put(list->tr);
	free_sections(list);

	return true;
}

/* Open the filter of the default tracer */
static int open_filter(struct trace_array *tr, int flag, struct file *file)
{
	struct ftrace_mux_writer *writer = NULL;
	int ret;

	if (file->f_mode & FMODE_WRITE) {
		writer = ftrace_mux_new_writer(file->f_flags & O_TRUNC);
		if (!writer)
			return -ENOMEM;
	}

	ret = ftrace_mux_filter_open(tr, flag, file, writer);
	if (ret)
		kfree(writer);

	return ret;
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
			ret = open_filter(tr, flag, file);
	}

	if (ret)
		trace_array_put(tr);

	return ret;
}

/* enabled_functions */

/* The only tracer of a function, as t_show() of ftrace.c shows it without the multiplexer */
static void show_alone(struct seq_file *m, struct ftrace_ops *ops, struct dyn_ftrace *rec)
{
	void *func = ftrace_ops_get_func(ops);

	/*
	 * Without an entry, ftrace would set FTRACE_FL_CALL_OPS_EN if @func is ops->func, and
	 * t_show() would show @ops because of this flag.
	 */
	if (IS_ENABLED(CONFIG_HAVE_FTRACE_MUX_OPS_ENTRIES)) {
		if (func != ops->func)
			return;
		seq_printf(m, "\tops: %pS (%pS)", ops, ops->func);
		ftrace_show_subops(m, ops, rec);
		return;
	}

	seq_printf(m, "\ttramp: %pS (%pS) ->%pS",
		   (void *)arch_ftrace_mux_call_target(rec->mux.entry), (void *)ops->func, func);
	ftrace_show_subops(m, ops, rec);
}

/**
 * ftrace_mux_show_callee - show what the call site of a function calls
 * @m: where to
 * @rec: record of the function
 *
 * Context: ftrace_lock held.
 *
 * Return: false if the function has no entry, and nothing was shown.
 */
bool ftrace_mux_show_callee(struct seq_file *m, struct dyn_ftrace *rec)
{
	struct ftrace_mux_combo *combo = ftrace_mux_rec_entry(rec)->combo;

	if (!combo)
		return false;

	if (combo->nr == 1 && !combo->graph) {
		show_alone(m, combo->ops[0], rec);
	} else {
		seq_puts(m, "\tmux: ");
		arch_ftrace_mux_show_combo(m, combo);
	}

	return true;
}

/**
 * ftrace_mux_show_tracers - name the tracers of a function
 * @m: where to
 * @rec: record of the function
 *
 * Shows nothing if only one tracer is registered: there is nothing to tell apart.
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_show_tracers(struct seq_file *m, struct dyn_ftrace *rec)
{
	struct ftrace_ops *ops;

	lockdep_assert_held(&ftrace_lock);

	if (!ftrace_rec_count(rec) || list_is_singular(&ftrace_mux_tracers))
		return;

	seq_puts(m, "\ttracers:");
	for_each_ftrace_mux_tracer(ops) {
		/* NULL as regs would make this false for a tracer that saves all registers */
		if (!ftrace_ops_test(ops, rec->ip, rec))
			continue;
		seq_putc(m, ' ');
		ftrace_mux_show_name(m, ops);
	}
}

/**
 * ftrace_mux_create_files - create function_tracers, function_tracers_limit,
 *	function_tracers_stat and function_tracers_info
 * @tr: the trace instance, NULL for the top one
 * @parent: its directory
 *
 * Context: process context, may sleep.
 */
void ftrace_mux_create_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("function_tracers", TRACE_MODE_WRITE, parent, tr,
			  &tracers_fops);
	/* limit.c needs the trace array of the instance, also of the top one, where @tr is NULL */
	trace_create_file("function_tracers_limit", TRACE_MODE_WRITE, parent,
			  tr ?: top_trace_array(), &ftrace_mux_limit_fops);
	trace_create_file("function_tracers_stat",
			  ftrace_mux_instance(tr) ? TRACE_MODE_READ : TRACE_MODE_WRITE,
			  parent, tr, &ftrace_mux_stat_fops);
	if (!ftrace_mux_instance(tr))
		trace_create_file("function_tracers_info", TRACE_MODE_READ, parent, NULL,
				  &ftrace_mux_info_fops);
}

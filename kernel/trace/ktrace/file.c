// SPDX-License-Identifier: GPL-2.0
/*
 * The file ktrace in tracefs: which functions may be traced at all.
 *
 * The set is the filter of an ops that is never registered, so that the file takes what
 * set_ftrace_filter takes. A function outside the set keeps its record with all counts, and
 * its code is not patched (ktrace_allows()). If the set is empty, all functions are allowed.
 *
 * Writers change the set under its regex_lock and ftrace_lock. When functions of a module go, they
 * are removed from it under the regex_lock alone (ktrace_visit_set()): this only sets the ip of
 * their entries to 0, and since they have no record any more, nobody asks for them.
 */
#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/ktrace.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../ftrace_internal.h"

static struct ftrace_ops set_ops = {
	.func	= ftrace_stub,
	.flags	= FTRACE_OPS_FL_STUB,
};

/*
 * False: the set is empty, and all functions are allowed. If all functions of the set were in a
 * module that is unloaded, it stays true, and no function is allowed.
 */
bool ktrace_has_set;

/**
 * __ktrace_allows - may the code of a function be patched? See ktrace_allows().
 * @rec: the record of the function
 *
 * What changes the ip, and direct calls, are always allowed: to leave out a function of a
 * live patch, or one whose return value a BPF program of a security module decides, is not
 * safe.
 *
 * Context: ftrace_lock held.
 *
 * Return: true if one of these has the function, if the function is in the set of the file ktrace,
 * or if the set is empty.
 */
bool __ktrace_allows(struct dyn_ftrace *rec)
{
	struct ftrace_hash *hash;

	if (rec->flags & (FTRACE_FL_IPMODIFY | FTRACE_FL_DIRECT))
		return true;

	hash = ftrace_locked_hash(set_ops.func_hash->filter_hash);

	/* Empty: ktrace_release() has put in an empty set, and clears ktrace_has_set next */
	return ftrace_hash_empty(hash) || ftrace_lookup_ip(hash, rec->ip);
}

/**
 * ktrace_visit_set - call a function with the set, to remove functions that are freed from it
 * @func: is called with the set
 * @data: for @func
 *
 * Context: process context, may sleep, takes the regex_lock of the set.
 */
void ktrace_visit_set(void (*func)(struct ftrace_hash *hash, void *data), void *data)
{
	struct mutex *lock = &set_ops.local_hash.regex_lock;

	if (!(set_ops.flags & FTRACE_OPS_FL_INITIALIZED))
		return;

	guard(mutex)(lock);
	func(rcu_dereference_protected(set_ops.local_hash.filter_hash, lockdep_is_held(lock)),
	     data);
}

static int ktrace_open(struct inode *inode, struct file *file)
{
	return ftrace_regex_open(NULL, &set_ops, FTRACE_ITER_FILTER, inode, file);
}

static struct ftrace_iterator *iter_of(struct file *file)
{
	if (file->f_mode & FMODE_READ)
		return ((struct seq_file *)file->private_data)->private;

	return file->private_data;
}

/* Show nothing for an empty set: seq_read() would show "#### all functions enabled ####" */
static ssize_t ktrace_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	if (ftrace_hash_empty(iter_of(file)->hash))
		return 0;

	return seq_read(file, ubuf, cnt, ppos);
}

/* Why a name has not matched */
enum {
	ERR_NO_MATCH,
	ERR_NO_SYMBOL,
	ERR_CODE_FIXED,
	ERR_NOTRACE,
	ERR_COMMAND,
};

static const char * const errors[] = {
	[ERR_NO_MATCH]		= "No function that can be traced matches",
	[ERR_NO_SYMBOL]		= "No such function",
	[ERR_CODE_FIXED]	= "The start of the function cannot be changed on this machine",
	[ERR_NOTRACE]		= "The function must not be traced",
	[ERR_COMMAND]		= "Function commands cannot be used in this file",
};

/* @word: a name, or a pattern, a command, or "!" and a name */
static int why_not(const char *word)
{
	const char *command;
	unsigned long func;

	command = strchr(word, ':');
	if (command && strcmp(command, ":mod") && strncmp(command, ":mod:", 5))
		return ERR_COMMAND;
	if (strpbrk(word, "*?[!:"))
		return ERR_NO_MATCH;

	func = kallsyms_lookup_name(word);
	if (!func || !kernel_text_address(func))
		return ERR_NO_SYMBOL;

	return ktrace_site_class(func) < 0 ? ERR_NOTRACE : ERR_CODE_FIXED;
}

/* For the parsers of open files: two tasks may write to the same one */
static DEFINE_MUTEX(ktrace_parser_lock);

/*
 * A wrong word undoes all that was written since the file was opened. What follows until it is
 * closed has no effect.
 */
static int process_word(struct ftrace_iterator *iter)
{
	char *word __free(kfree) = NULL;
	struct trace_parser *parser = &iter->parser;
	int ret = -ENOMEM;

	lockdep_assert_held(&ktrace_parser_lock);

	/* ftrace_process_regex() changes what it reads */
	word = kstrdup(parser->buffer, GFP_KERNEL);
	if (word)
		ret = ftrace_process_regex(iter, parser->buffer, parser->idx, 1);
	trace_parser_clear(parser);
	if (!ret)
		return 0;

	/* -ENODEV: a function command, or the name of a module that is not loaded */
	if (ret == -EINVAL || ret == -ENODEV)
		tracing_log_err(NULL, "ktrace", word, (const char **)errors, why_not(word), 0);
	iter->failed = true;

	return ret;
}

static ssize_t ktrace_write(struct file *file, const char __user *ubuf, size_t cnt,
			    loff_t *ppos)
{
	struct ftrace_iterator *iter = iter_of(file);
	struct trace_parser *parser = &iter->parser;
	ssize_t read;

	if (!cnt)
		return 0;
	if (ftrace_is_dead())
		return -ENODEV;

	guard(mutex)(&ktrace_parser_lock);

	if (iter->failed)
		return -EINVAL;

	read = trace_get_user(parser, ubuf, cnt, ppos);
	if (read < 0)
		iter->failed = true;
	if (read < 0 || !trace_parser_loaded(parser) || trace_parser_cont(parser))
		return read;

	return process_word(iter) ?: read;
}

static int ktrace_release(struct inode *inode, struct file *file)
{
	struct ftrace_iterator *iter = iter_of(file);
	bool changed = false;
	int ret;

	/* The last word may end with the file */
	if (file->f_mode & FMODE_WRITE) {
		guard(mutex)(&ktrace_parser_lock);
		if (!iter->failed && trace_parser_loaded(&iter->parser))
			process_word(iter);
		trace_parser_clear(&iter->parser);
		/* Nothing was written: keep what others have written since the file was opened */
		if (!iter->written)
			iter->failed = true;
		changed = !iter->failed;
	}

	ret = ftrace_regex_release(inode, file);
	if (!changed)
		return ret;

	guard(mutex)(&ftrace_lock);
	ktrace_has_set = !ftrace_hash_empty(ftrace_locked_hash(set_ops.func_hash->filter_hash));
	ftrace_check_all = true;
	if (ftrace_enabled && !ftrace_is_dead())
		ftrace_run_update_code(FTRACE_UPDATE_CALLS);

	return ret;
}

static const struct file_operations ktrace_fops = {
	.open		= ktrace_open,
	.read		= ktrace_read,
	.write		= ktrace_write,
	.llseek		= tracing_lseek,
	.release	= ktrace_release,
};

static int __init ktrace_create_file(void)
{
	int ret = tracing_init_dentry();

	if (ret)
		return ret;

	scoped_guard(mutex, &ftrace_lock)
		ftrace_ops_init(&set_ops);
	trace_create_file("ktrace", TRACE_MODE_WRITE, NULL, NULL, &ktrace_fops);

	return 0;
}
fs_initcall(ktrace_create_file);

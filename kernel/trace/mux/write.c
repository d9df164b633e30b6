// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: what is written to set_ftrace_filter and
 * set_ftrace_notrace.
 *
 * A line is about the default tracer, or about the one it names, in the form in
 * which these files are read:
 *
 *	[               trace] vfs_read
 *	[               trace] ext4_sync_fs [ext4]
 *	[       trace_profile] #### all functions enabled ####
 *
 * Blanks split what is written into words, as in trace_get_user(). A program may split it
 * into several writes anywhere, so the writer remembers where in a line it is. Each filter
 * that the file is about has an iterator with a copy of it. When the file is closed, all
 * copies become the filters, or none if a name was wrong, or there was no memory for the text of a
 * write(), or for a line that names a tracer. If making a copy the filter fails, that filter stays
 * as it is.
 *
 * @file_iter is the iterator of the file, which has the copy of the filter of the default tracer.
 * If lines name other tracers, and no line is about this filter, the copy is dropped: with O_TRUNC,
 * the copy is empty, and to commit it would empty the filter.
 *
 * Protected by parser_lock of ftrace, until the file is released.
 */
#include <linux/cleanup.h>
#include <linux/ctype.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "errors.h"
#include "filters.h"
#include "mux.h"
#include "write.h"

enum line_state {
	LINE_START,
	LINE_DEFAULT,		/* after a word that is no name in brackets */
	LINE_BRACKET,		/* after an opening bracket that stands alone */
	LINE_NAMED,		/* after a name in brackets */
	LINE_COMMENT,
};

/* The filter of a tracer that a line names */
struct named_filter {
	struct list_head	node;
	struct ftrace_iterator	iter;
};

struct ftrace_mux_writer {
	enum line_state		state;
	/* Filters start empty: the file was opened with O_TRUNC */
	bool			empty;
	/* A line was about the filter of the default tracer */
	bool			wrote_default;
	struct list_head	named;
	/* In LINE_NAMED: the iterator of the filter that the line is about */
	struct ftrace_iterator	*line_iter;
	/* The last word of the line, not written yet: the next may be its module, in brackets */
	char			*pending_pattern;
};

/**
 * ftrace_mux_new_writer - prepare for writes to a file
 * @empty: whether the filters that are written start empty
 *
 * Context: process context, may sleep.
 *
 * Return: the writer, which ftrace_mux_regex_commit() frees, or NULL if there is no memory.
 */
struct ftrace_mux_writer *ftrace_mux_new_writer(bool empty)
{
	struct ftrace_mux_writer *writer = kzalloc_obj(*writer);

	if (writer) {
		writer->empty = empty;
		INIT_LIST_HEAD(&writer->named);
	}

	return writer;
}

/* The line does not name a tracer whose filter the user may change: no filter is changed */
static int bad_name(struct ftrace_iterator *file_iter, const char *name,
		    enum ftrace_mux_error error)
{
	const char *file = file_iter->flags & FTRACE_ITER_NOTRACE ? "set_ftrace_notrace" :
								    "set_ftrace_filter";
	char *cmd = kasprintf(GFP_KERNEL, "[ %s%s", name,
			      error == FTRACE_MUX_ERR_NO_BRACKET ? "" : "]");
	int ret;

	file_iter->failed = true;
	ret = ftrace_mux_log_error(file_iter->tr, file, cmd ?: name, error, cmd ? 2 : 0);
	kfree(cmd);

	return ret;
}

/*
 * No filter is changed if there is no memory for the text of a write(), or for a line that names a
 * tracer. Returns @ret.
 */
static int fail_without_memory(struct ftrace_iterator *file_iter, int ret)
{
	if (ret == -ENOMEM)
		file_iter->failed = true;

	return ret;
}

static bool is_for_filter(const struct ftrace_iterator *iter, struct ftrace_ops *ops, u64 seq)
{
	return iter->ops == ops && iter->mux_seq == seq;
}

/*
 * The iterator for a filter that ftrace_mux_filter_find() has found: @file_iter, or one of
 * writer->named, which is made for the first line about the filter. NULL without memory.
 */
static struct ftrace_iterator *named_iterator(struct ftrace_iterator *file_iter,
					      struct ftrace_ops *ops, u64 seq)
{
	struct ftrace_mux_writer *writer = file_iter->mux_writer;
	struct named_filter *named;

	if (is_for_filter(file_iter, ops, seq))
		return file_iter;

	list_for_each_entry(named, &writer->named, node) {
		if (is_for_filter(&named->iter, ops, seq))
			return &named->iter;
	}

	named = kzalloc_obj(*named);
	if (!named)
		return NULL;

	named->iter.ops = ops;
	named->iter.mux_seq = seq;
	named->iter.tr = file_iter->tr;
	named->iter.flags = file_iter->flags & (FTRACE_ITER_FILTER | FTRACE_ITER_NOTRACE);
	if (ftrace_mux_filter_copy(&named->iter, writer->empty)) {
		kfree(named);
		return NULL;
	}

	list_add_tail(&named->node, &writer->named);

	return &named->iter;
}

/*
 * @name is the word after the opening bracket. It has to be the name of a tracer and the closing
 * bracket. The line is about this tracer.
 */
static int begin_named(struct ftrace_iterator *file_iter, char *name, size_t len)
{
	struct ftrace_mux_writer *writer = file_iter->mux_writer;
	enum ftrace_mux_error error;
	struct ftrace_ops *ops;
	u64 seq;

	if (!len || name[len - 1] != ']')
		return bad_name(file_iter, name, FTRACE_MUX_ERR_NO_BRACKET);

	name[len - 1] = '\0';
	if (!*name)
		return bad_name(file_iter, name, FTRACE_MUX_ERR_NO_NAME);

	scoped_guard(mutex, &ftrace_mux_files_mutex) {
		error = ftrace_mux_filter_find(file_iter->tr, name, &ops, &seq);
		writer->line_iter = error ? NULL : named_iterator(file_iter, ops, seq);
	}

	if (error)
		return bad_name(file_iter, name, error);
	if (!writer->line_iter)
		return fail_without_memory(file_iter, -ENOMEM);

	if (writer->line_iter == file_iter)
		writer->wrote_default = true;
	writer->state = LINE_NAMED;

	return 0;
}

static int write_pattern(struct ftrace_iterator *iter, char *pattern)
{
	if (!ftrace_mux_filter_alive(iter))
		return -ENODEV;

	return ftrace_process_regex(iter, pattern, strlen(pattern),
				    !(iter->flags & FTRACE_ITER_NOTRACE));
}

/* Write the pending pattern, for the functions of any module or of @module */
static int write_pending(struct ftrace_mux_writer *writer, const char *module)
{
	char *pattern __free(kfree) = writer->pending_pattern;

	writer->pending_pattern = NULL;
	if (!pattern || !module)
		return pattern ? write_pattern(writer->line_iter, pattern) : 0;

	char *of_module __free(kfree) = kasprintf(GFP_KERNEL, "%s:mod:%s", pattern, module);

	return of_module ? write_pattern(writer->line_iter, of_module) : -ENOMEM;
}

/*
 * Whether @word is the name of a tracer or of a module in brackets. With a special character of a
 * glob between the brackets, it is a pattern.
 */
static bool in_brackets(const char *word, size_t len)
{
	return len > 2 && word[0] == '[' && strcspn(word + 1, "[]*?\\") == len - 2 &&
	       word[len - 1] == ']';
}

/* A word after a name in brackets */
static int write_named(struct ftrace_mux_writer *writer, char *word, size_t len)
{
	int ret;

	if (writer->pending_pattern && in_brackets(word, len)) {
		word[len - 1] = '\0';
		return write_pending(writer, word + 1);
	}

	ret = write_pending(writer, NULL);
	if (ret)
		return ret;

	/* A comment: "#### all functions enabled ####" is shown for an empty filter */
	if (*word == '#') {
		writer->state = LINE_COMMENT;
		return 0;
	}

	/* A trigger, or a pattern with its module (:mod:): no module in brackets follows */
	if (strchr(word, ':'))
		return write_pattern(writer->line_iter, word);

	writer->pending_pattern = kstrdup(word, GFP_KERNEL);

	return writer->pending_pattern ? 0 : -ENOMEM;
}

/* Whether @word sets or removes a function trigger: it changes no filter then */
static bool is_trigger(const char *word)
{
	const char *command = strchr(word, ':');

	return command && strcmp(command, ":mod") && strncmp(command, ":mod:", 5);
}

static int write_word(struct ftrace_iterator *file_iter, char *word, size_t len)
{
	struct ftrace_mux_writer *writer = file_iter->mux_writer;

	switch (writer->state) {
	case LINE_START:
		if (!strcmp(word, "[")) {
			writer->state = LINE_BRACKET;
			return 0;
		}
		/* Not a pattern: as a glob, [abc] would match only names of one character */
		if (in_brackets(word, len))
			return begin_named(file_iter, word + 1, len - 1);
		writer->state = LINE_DEFAULT;
		fallthrough;
	case LINE_DEFAULT:
		if (!is_trigger(word))
			writer->wrote_default = true;
		return write_pattern(file_iter, word);
	case LINE_BRACKET:
		return begin_named(file_iter, word, len);
	case LINE_NAMED:
		return fail_without_memory(file_iter, write_named(writer, word, len));
	case LINE_COMMENT:
		break;
	}

	return 0;
}

static int end_line(struct ftrace_iterator *file_iter)
{
	struct ftrace_mux_writer *writer = file_iter->mux_writer;
	int ret;

	if (writer->state == LINE_BRACKET)
		return bad_name(file_iter, "", FTRACE_MUX_ERR_NO_BRACKET);

	ret = fail_without_memory(file_iter, write_pending(writer, NULL));
	writer->state = LINE_START;

	return ret;
}

/* Whether the line is about the default tracer, as far as it has been written */
static bool is_default_line(const struct ftrace_mux_writer *writer)
{
	return writer->state == LINE_START || writer->state == LINE_DEFAULT;
}

/*
 * A blank or a NUL ends a word; a newline also ends the line. Returns true if a word has ended:
 * take_word() stops there, unless the word belongs to the name of a tracer. Each write() takes one
 * word, as with trace_get_user().
 */
static bool take_blank(struct ftrace_iterator *file_iter, char ch, int *err)
{
	struct trace_parser *parser = &file_iter->parser;
	bool word = trace_parser_loaded(parser);
	int ret;

	if (word) {
		parser->buffer[parser->idx] = '\0';
		*err = write_word(file_iter, parser->buffer, parser->idx);
		trace_parser_clear(parser);
	}

	if (ch == '\n' && !file_iter->failed) {
		ret = end_line(file_iter);
		*err = *err ?: ret;
	}

	return word;
}

/*
 * Whether a word that has changed the state from @before to @now was the name of a tracer in
 * brackets, or a part of that
 */
static bool was_name_part(enum line_state before, enum line_state now)
{
	return before != LINE_NAMED && (now == LINE_BRACKET || now == LINE_NAMED);
}

/*
 * Fail a word that is too long. If it begins a line with a bracket, it may have been the name of a
 * tracer: then no filter is changed.
 */
static int fail_too_long(struct ftrace_iterator *file_iter)
{
	struct ftrace_mux_writer *writer = file_iter->mux_writer;
	struct trace_parser *parser = &file_iter->parser;

	trace_parser_fail(parser);
	if (writer->state != LINE_BRACKET &&
	    (writer->state != LINE_START || parser->buffer[0] != '['))
		return -EINVAL;

	parser->buffer[parser->idx] = '\0';

	return bad_name(file_iter, parser->buffer + (writer->state == LINE_START),
			FTRACE_MUX_ERR_TOO_LONG);
}

/*
 * Take one word of @text, as trace_get_user() does. If more is left, write() returns less than its
 * count, and the program has to write the rest by another write(). But take the name of a tracer
 * together with the word behind it. If only the name was taken, a program that
 * does not write the rest would name a tracer without a pattern: with O_TRUNC, that empties the
 * filter of this tracer.
 * Returns the number of characters, or an error.
 */
static ssize_t take_word(struct ftrace_iterator *file_iter, const char *text, size_t cnt)
{
	struct ftrace_mux_writer *writer = file_iter->mux_writer;
	struct trace_parser *parser = &file_iter->parser;
	enum line_state before;
	int err = 0;
	size_t pos;

	for (pos = 0; pos < cnt && !err; pos++) {
		before = writer->state;
		if (text[pos] && !isspace(text[pos])) {
			if (parser->idx >= parser->size - 1)
				return fail_too_long(file_iter);
			parser->buffer[parser->idx++] = text[pos];
		} else if (take_blank(file_iter, text[pos], &err) &&
			   !was_name_part(before, writer->state)) {
			return err ?: pos + 1;
		}
	}

	return err ?: pos;
}

/*
 * Whether a write must fail because the tracer that was the default when the file was opened has
 * been unregistered, and its filter cannot be changed. write_pattern() looks whether the tracer is
 * still registered, but a write of blanks only does not come there. So look here, but only if all
 * of this is true:
 *
 *  - no word has begun (one that has may become the name of another tracer)
 *  - this line names no tracer
 *  - no line has named a tracer with another filter.
 */
static bool lost_tracer(struct ftrace_iterator *file_iter)
{
	struct ftrace_mux_writer *writer = file_iter->mux_writer;

	return !trace_parser_loaded(&file_iter->parser) && is_default_line(writer) &&
	       list_empty(&writer->named) && !ftrace_mux_filter_alive(file_iter);
}

/**
 * ftrace_mux_regex_write - write to set_ftrace_filter or set_ftrace_notrace
 * @file_iter: the iterator of the file
 * @ubuf: what to write
 * @cnt: number of characters, at least 1
 * @ppos: the position in the file
 *
 * Context: process context, may sleep; parser_lock of ftrace held.
 *
 * Return: the number of characters that were taken; -ENODEV if the tracer has
 * been unregistered since the file was opened, unless its filter is that of the function
 * tracer; another error code.
 */
ssize_t ftrace_mux_regex_write(struct ftrace_iterator *file_iter, const char __user *ubuf,
			       size_t cnt, loff_t *ppos)
{
	ssize_t ret;

	if (file_iter->failed)
		return -EINVAL;

	/* As in trace_get_user(): a write at position 0 starts a new word */
	if (!*ppos)
		trace_parser_clear(&file_iter->parser);
	/* A word was too long, or could not be read: that word and later writes have no effect */
	if (file_iter->parser.fail)
		return -EINVAL;

	/* take_word() takes one word, or a name and one word: a page is enough */
	cnt = min(cnt, PAGE_SIZE);
	char *text __free(kfree) = memdup_user(ubuf, cnt);
	if (IS_ERR(text)) {
		trace_parser_fail(&file_iter->parser);
		return fail_without_memory(file_iter, PTR_ERR(text));
	}

	ret = take_word(file_iter, text, cnt);
	if (ret < 0)
		return ret;

	if (lost_tracer(file_iter))
		return -ENODEV;

	*ppos += ret;

	return ret;
}

/* The last word and the last line end with the file */
static void finish_line(struct ftrace_iterator *file_iter)
{
	struct trace_parser *parser = &file_iter->parser;

	if (file_iter->failed)
		return;

	if (trace_parser_loaded(parser)) {
		parser->buffer[parser->idx] = '\0';
		if (write_word(file_iter, parser->buffer, parser->idx))
			return;
	}
	end_line(file_iter);
}

/**
 * ftrace_mux_regex_commit - replace filters by the copies that writes to a file have changed
 * @file_iter: the iterator of the file, which is about to be released
 *
 * Also frees the writer and the buffer of the parser. The caller frees @file_iter and its hash.
 *
 * Context: process context, may sleep.
 */
void ftrace_mux_regex_commit(struct ftrace_iterator *file_iter)
{
	struct ftrace_mux_writer *writer = file_iter->mux_writer;
	struct named_filter *named, *next;

	finish_line(file_iter);
	trace_parser_put(&file_iter->parser);

	if (!file_iter->failed && (writer->wrote_default || list_empty(&writer->named)))
		ftrace_mux_filter_commit(file_iter);
	ftrace_mux_filter_drop(file_iter);

	list_for_each_entry_safe(named, next, &writer->named, node) {
		if (!file_iter->failed)
			ftrace_mux_filter_commit(&named->iter);
		ftrace_mux_filter_drop(&named->iter);
		free_ftrace_hash(named->iter.hash);
		kfree(named);
	}

	kfree(writer->pending_pattern);
	kfree(writer);
}

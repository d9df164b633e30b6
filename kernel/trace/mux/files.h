/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer: what the tracefs files have in common */
#ifndef _KERNEL_TRACE_MUX_FILES_H
#define _KERNEL_TRACE_MUX_FILES_H

#include <linux/ftrace.h>
#include <linux/mutex.h>

struct file;
struct ftrace_iterator;
struct ftrace_mux_writer;
struct trace_array;

/* What is wrong with a write */
enum ftrace_mux_error {
	FTRACE_MUX_OK,
	FTRACE_MUX_NO_NAME,
	FTRACE_MUX_NUL,
	FTRACE_MUX_TOO_LONG,
	FTRACE_MUX_UNKNOWN,
	FTRACE_MUX_KERNEL,
	FTRACE_MUX_NO_BRACKET,
};

/* files.c */

int ftrace_mux_log_error(struct trace_array *tr, const char *file, const char *cmd,
			 enum ftrace_mux_error error, int pos);
enum ftrace_mux_error ftrace_mux_find_user(struct trace_array *tr, const char *wanted,
					   struct ftrace_ops **found);

/* filters.c: the filters that set_ftrace_filter and set_ftrace_notrace change */

extern struct mutex ftrace_mux_files_mutex;

int ftrace_mux_filter_open(struct trace_array *tr, int flag, struct file *file);
enum ftrace_mux_error ftrace_mux_filter_find(struct ftrace_iterator *iter,
					     const char *name);
int ftrace_mux_filter_copy(struct ftrace_iterator *iter, bool empty);
bool ftrace_mux_filter_alive(struct ftrace_iterator *iter);
void ftrace_mux_filter_commit(struct ftrace_iterator *iter);
void ftrace_mux_filter_drop(struct ftrace_iterator *iter);

/* write.c: what is written to them */

struct ftrace_mux_writer *ftrace_mux_new_writer(bool empty);

#endif /* _KERNEL_TRACE_MUX_FILES_H */

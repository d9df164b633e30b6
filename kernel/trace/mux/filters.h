/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Function tracer multiplexer: the filters that set_ftrace_filter and set_ftrace_notrace
 * change, see filters.c
 */
#ifndef _KERNEL_TRACE_MUX_FILTERS_H
#define _KERNEL_TRACE_MUX_FILTERS_H

#include <linux/mutex.h>
#include <linux/types.h>

#include "errors.h"

struct file;
struct ftrace_iterator;
struct ftrace_mux_writer;
struct ftrace_ops;
struct trace_array;

extern struct mutex ftrace_mux_files_mutex;

int ftrace_mux_filter_open(struct trace_array *tr, int flag, struct file *file,
			   struct ftrace_mux_writer *writer);
enum ftrace_mux_error ftrace_mux_filter_find(struct trace_array *tr, const char *name,
					     struct ftrace_ops **ops, u64 *seq);
int ftrace_mux_filter_copy(struct ftrace_iterator *iter, bool empty);
bool ftrace_mux_filter_alive(struct ftrace_iterator *iter);
void ftrace_mux_filter_commit(struct ftrace_iterator *iter);
void ftrace_mux_filter_drop(struct ftrace_iterator *iter);

#endif /* _KERNEL_TRACE_MUX_FILTERS_H */

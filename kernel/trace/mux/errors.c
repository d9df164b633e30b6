// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: names of tracers that a user writes to a file, and what
 * error_log says about them.
 */
#include <linux/kallsyms.h>
#include <linux/string.h>

#include "errors.h"
#include "mux.h"

static const char * const errors[] = {
	[FTRACE_MUX_ERR_NO_NAME]	= "Name of a function tracer expected",
	[FTRACE_MUX_ERR_NUL]		= "Name contains a NUL character",
	[FTRACE_MUX_ERR_TOO_LONG]	= "Name is too long",
	[FTRACE_MUX_ERR_UNKNOWN]	= "No function tracer of this name is registered",
	[FTRACE_MUX_ERR_KERNEL]		=
		"The filter of this function tracer belongs to the kernel",
	[FTRACE_MUX_ERR_NO_BRACKET]	= "Name of a function tracer and ] expected",
};

/**
 * ftrace_mux_log_error - explain in error_log why a write has failed
 * @tr: the trace instance of the file
 * @file: its name
 * @cmd: what was written
 * @error: what is wrong with it
 * @pos: where in @cmd
 *
 * Context: process context, may sleep.
 *
 * Return: the error code for the user.
 */
int ftrace_mux_log_error(struct trace_array *tr, const char *file, const char *cmd,
			 enum ftrace_mux_error error, int pos)
{
	tracing_log_err(tr, file, cmd, (const char **)errors, error, pos);

	return error == FTRACE_MUX_ERR_KERNEL ? -EPERM : -EINVAL;
}

/**
 * ftrace_mux_find_user - look up a tracer whose filter belongs to the user
 * @tr: the trace instance
 * @wanted: the name of the tracer
 * @found: where to put the tracer
 *
 * Context: process context; ftrace_lock held.
 *
 * Return: FTRACE_MUX_NO_ERROR, or what is wrong with the name.
 */
enum ftrace_mux_error ftrace_mux_find_user(struct trace_array *tr, const char *wanted,
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
			return FTRACE_MUX_ERR_KERNEL;
		return FTRACE_MUX_NO_ERROR;
	}

	return FTRACE_MUX_ERR_UNKNOWN;
}

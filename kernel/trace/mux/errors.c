// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: what error_log says about names of tracers that a user has written.
 */
#include "errors.h"
#include "mux.h"

static const char * const errors[] = {
	[FTRACE_MUX_ERR_NO_NAME]	= "Name of a function tracer expected",
	[FTRACE_MUX_ERR_NUL]		= "Name contains a NUL character",
	[FTRACE_MUX_ERR_TOO_LONG]	= "Name is too long",
	[FTRACE_MUX_ERR_UNKNOWN]	= "No function tracer of this name is registered",
	[FTRACE_MUX_ERR_KERNEL_FILTER]		=
		"The filter of this function tracer belongs to the kernel",
	[FTRACE_MUX_ERR_NO_BRACKET]	= "Name of a function tracer and ] expected",
};

/**
 * ftrace_mux_log_error - explain in error_log why a write has failed
 * @tr: the trace instance of the file
 * @file: its name
 * @cmd: what was written; from write.c, only the name of the tracer behind a bracket
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

	return error == FTRACE_MUX_ERR_KERNEL_FILTER ? -EPERM : -EINVAL;
}

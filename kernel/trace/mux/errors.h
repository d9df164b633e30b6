/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer: what can be wrong with a write, see errors.c */
#ifndef _KERNEL_TRACE_MUX_ERRORS_H
#define _KERNEL_TRACE_MUX_ERRORS_H

struct trace_array;

enum ftrace_mux_error {
	FTRACE_MUX_NO_ERROR,
	FTRACE_MUX_ERR_NO_NAME,
	FTRACE_MUX_ERR_NUL,
	FTRACE_MUX_ERR_TOO_LONG,
	FTRACE_MUX_ERR_UNKNOWN,
	FTRACE_MUX_ERR_KERNEL_FILTER,
	FTRACE_MUX_ERR_NO_BRACKET,
};

int ftrace_mux_log_error(struct trace_array *tr, const char *file, const char *cmd,
			 enum ftrace_mux_error error, int pos);

#endif /* _KERNEL_TRACE_MUX_ERRORS_H */

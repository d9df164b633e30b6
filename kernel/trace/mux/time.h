/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer: measures the time of callbacks, see time.c */
#ifndef _KERNEL_TRACE_MUX_TIME_H
#define _KERNEL_TRACE_MUX_TIME_H

#include <linux/ftrace.h>

struct ftrace_mux_combo;

int ftrace_mux_time_init(struct ftrace_mux_combo *combo);
void ftrace_mux_time_cancel(struct ftrace_mux_combo *combo);
void ftrace_mux_time_free(struct ftrace_mux_combo *combo);
void ftrace_mux_time_set_func(struct ftrace_mux_combo *combo, unsigned int n, ftrace_func_t func);
struct ftrace_mux_time ftrace_mux_time_sum(const struct ftrace_mux_combo *combo, unsigned int n);

#endif /* _KERNEL_TRACE_MUX_TIME_H */

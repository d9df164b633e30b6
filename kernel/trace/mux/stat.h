/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer: the calls of each tracer and their time, see stat.c */
#ifndef _KERNEL_TRACE_MUX_STAT_H
#define _KERNEL_TRACE_MUX_STAT_H

#include <linux/types.h>

struct ftrace_ops;

void ftrace_mux_stat_register(struct ftrace_ops *ops);
void ftrace_mux_stat_unregister(struct ftrace_ops *ops);

void ftrace_mux_stat_prepare_timing(void);
int ftrace_mux_stat_begin_timing(void);
void ftrace_mux_stat_end_timing(void);
u64 ftrace_mux_stat_cycles(struct ftrace_ops *ops);

void ftrace_mux_stat_follow_switch(void);

#endif /* _KERNEL_TRACE_MUX_STAT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer: counts the calls of each tracer, see stat.c */
#ifndef _KERNEL_TRACE_MUX_STAT_H
#define _KERNEL_TRACE_MUX_STAT_H

#include <linux/types.h>

struct dyn_ftrace;
struct ftrace_mux_combo;
struct ftrace_ops;

unsigned int ftrace_mux_stat_generation(void);

void ftrace_mux_stat_init(struct ftrace_mux_combo *combo);
void ftrace_mux_stat_cancel(struct ftrace_mux_combo *combo);
void ftrace_mux_stat_free(struct ftrace_mux_combo *combo);

void ftrace_mux_stat_register(struct ftrace_ops *ops);
void ftrace_mux_stat_unregister(struct ftrace_ops *ops);

void ftrace_mux_stat_prepare_time(void);
int ftrace_mux_stat_start_time(void);
void ftrace_mux_stat_stop_time(void);
u64 ftrace_mux_stat_cycles(struct ftrace_ops *ops);

void ftrace_mux_stat_mark_incomplete(struct dyn_ftrace *rec);
void ftrace_mux_stat_mark_all_incomplete(void);
void ftrace_mux_stat_switch(void);

#endif /* _KERNEL_TRACE_MUX_STAT_H */

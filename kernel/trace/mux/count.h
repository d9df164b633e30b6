/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer: counts the calls of combinations, see count.c */
#ifndef _KERNEL_TRACE_MUX_COUNT_H
#define _KERNEL_TRACE_MUX_COUNT_H

#include <linux/types.h>

struct dyn_ftrace;
struct ftrace_mux_combo;
struct ftrace_mux_usage;
struct ftrace_ops;

/* What can be written to function_tracers_stat */
enum ftrace_mux_mode {
	FTRACE_MUX_MODE_OFF,
	FTRACE_MUX_MODE_COUNT,		/* count calls */
	FTRACE_MUX_MODE_TIME,		/* ... and measure how long they take */
};

enum ftrace_mux_mode ftrace_mux_count_mode(void);
void ftrace_mux_count_new_generation(enum ftrace_mux_mode new_mode);

void ftrace_mux_count_init(struct ftrace_mux_combo *combo);
void ftrace_mux_count_cancel(struct ftrace_mux_combo *combo);
void ftrace_mux_count_free(struct ftrace_mux_combo *combo);
bool ftrace_mux_count_is_current(const struct ftrace_mux_combo *combo);

bool ftrace_mux_count_belongs_to(const struct ftrace_mux_combo *combo,
				 const struct ftrace_ops *ops);
u64 ftrace_mux_count_sum(const struct ftrace_mux_combo *combo);
void ftrace_mux_count_add_usage(struct ftrace_mux_usage *sum, const struct ftrace_mux_combo *combo,
				u64 calls, const struct ftrace_ops *ops);

void ftrace_mux_count_mark_incomplete(struct dyn_ftrace *rec);
void ftrace_mux_count_mark_all_incomplete(void);
bool ftrace_mux_count_is_complete(const struct ftrace_ops *ops);

#endif /* _KERNEL_TRACE_MUX_COUNT_H */

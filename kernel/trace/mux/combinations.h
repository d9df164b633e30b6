/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer: combinations of tracers, see combinations.c */
#ifndef _KERNEL_TRACE_MUX_COMBINATIONS_H
#define _KERNEL_TRACE_MUX_COMBINATIONS_H

#include <linux/ftrace_mux_arch.h>

struct ftrace_mux_set;

extern struct list_head ftrace_mux_combos;
extern unsigned long ftrace_mux_combos_failed;

struct ftrace_mux_combo *ftrace_mux_combo_find(const struct ftrace_mux_set *set);
struct ftrace_mux_combo *ftrace_mux_combo_find_or_create(const struct ftrace_mux_set *set);
void ftrace_mux_combo_to_set(const struct ftrace_mux_combo *combo, struct ftrace_mux_set *set);
void ftrace_mux_combo_free(struct ftrace_mux_combo *combo);
bool ftrace_mux_combo_equals(const struct ftrace_mux_combo *combo,
			     const struct ftrace_mux_set *set);
bool ftrace_mux_combo_has(const struct ftrace_mux_combo *combo,
			  const struct ftrace_ops *ops);
bool ftrace_mux_combo_reaches(const struct ftrace_mux_combo *combo,
			      const struct ftrace_ops *ops);
unsigned long ftrace_mux_combo_functions(const struct ftrace_mux_combo *combo);
void ftrace_mux_combo_update_calls(struct ftrace_ops *ops);

#endif /* _KERNEL_TRACE_MUX_COMBINATIONS_H */

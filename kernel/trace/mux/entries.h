/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer: entries of combinations, see entries.c */
#ifndef _KERNEL_TRACE_MUX_ENTRIES_H
#define _KERNEL_TRACE_MUX_ENTRIES_H

#include <linux/ftrace.h>

struct ftrace_mux_combo;
struct seq_file;

struct ftrace_mux_combo *ftrace_mux_rec_combo(const struct dyn_ftrace *rec);
unsigned long ftrace_mux_combo_users(const struct ftrace_mux_combo *combo);
void ftrace_mux_show_totals(struct seq_file *m);

#endif /* _KERNEL_TRACE_MUX_ENTRIES_H */

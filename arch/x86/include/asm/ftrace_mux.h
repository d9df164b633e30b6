/* SPDX-License-Identifier: GPL-2.0 */
/* What ftrace_mux_64.S provides for the function tracer multiplexer. */
#ifndef _ASM_X86_FTRACE_MUX_H
#define _ASM_X86_FTRACE_MUX_H

#include <linux/ftrace_mux.h>
#include <linux/types.h>

/* All trampolines, of both families */
extern const char ftrace_mux_callers[];
extern const char ftrace_mux_callers_end[];

/* Offsets of the trampolines and slots from ftrace_mux_base */
extern const char ftrace_mux_base[];
extern const u32 ftrace_mux_caller_offsets[1 << FTRACE_MUX_IDS];
extern const u32 ftrace_mux_regs_caller_offsets[1 << FTRACE_MUX_IDS];
extern const u32 ftrace_mux_slot_offsets[FTRACE_MUX_IDS];

/* Where the trampolines find the third argument of each slot */
extern struct ftrace_ops *ftrace_mux_ops[FTRACE_MUX_IDS];

#endif /* _ASM_X86_FTRACE_MUX_H */

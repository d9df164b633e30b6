/* SPDX-License-Identifier: GPL-2.0 */
/* What ftrace_mux_64.S provides for the function tracer multiplexer. */
#ifndef _ASM_X86_FTRACE_MUX_H
#define _ASM_X86_FTRACE_MUX_H

#include <linux/ftrace_mux.h>
#include <linux/types.h>

/* What the wrapper of a system call has in front of the name that users know */
#define ARCH_FTRACE_SYSCALL_PREFIX	"__x64_"

/*
 * The first static trampoline: base of the offsets in the two tables below, and of @start,
 * @again and @end in struct ftrace_mux_layout
 */
extern const char ftrace_mux_caller_1[];
/* Offsets of the static trampolines, by mask */
extern const u32 ftrace_mux_caller_offsets[1 << FTRACE_MUX_STATIC_IDS];
extern const u32 ftrace_mux_regs_caller_offsets[1 << FTRACE_MUX_STATIC_IDS];

/* Where the static trampolines find the third argument of each call */
extern struct ftrace_ops *ftrace_mux_ops[FTRACE_MUX_STATIC_IDS];

/*
 * Where the trampolines of a family have their calls, and what those on demand are
 * copies of.
 */
struct ftrace_mux_layout {
	/* In a static trampoline: offsets of the calls, and from one to the next */
	u32	single_call;	/* of its only one */
	u32	first_call;	/* of the first of several */
	u32	stride;
	/* Of the template for trampolines made on demand: offsets from ftrace_mux_caller_1 */
	u32	start;		/* saves registers, and makes the first call */
	u32	again;		/* makes another call */
	u32	end;		/* restores registers and returns: not copied */
};

extern const struct ftrace_mux_layout ftrace_mux_layouts[2];

#endif /* _ASM_X86_FTRACE_MUX_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* What ftrace_mux_64.S provides for the function tracer multiplexer. */
#ifndef _ASM_X86_FTRACE_MUX_H
#define _ASM_X86_FTRACE_MUX_H

#include <linux/ftrace_mux.h>
#include <linux/types.h>

/* What the wrapper of a system call has in front of the name that users know */
#define ARCH_FTRACE_SYSCALL_PREFIX	"__x64_"

/* All trampolines, of both families */
extern const char ftrace_mux_callers[];
extern const char ftrace_mux_callers_end[];

/* Offsets of the trampolines and slots from ftrace_mux_base */
extern const char ftrace_mux_base[];
extern const u32 ftrace_mux_caller_offsets[1 << FTRACE_MUX_STATIC_IDS];
extern const u32 ftrace_mux_regs_caller_offsets[1 << FTRACE_MUX_STATIC_IDS];
extern const u32 ftrace_mux_slot_offsets[FTRACE_MUX_STATIC_IDS];

/* Where the trampolines find the third argument of each slot */
extern struct ftrace_ops *ftrace_mux_ops[FTRACE_MUX_STATIC_IDS];

/*
 * Pieces of code that other trampolines are made of, as offsets from
 * ftrace_mux_base. Each piece ends where the next one starts.
 */
struct ftrace_mux_template {
	u32	entry;		/* saves registers, loads ip and parent ip */
	u32	guard;		/* takes the recursion guard, or jumps */
	u32	rcu;		/* jumps if RCU is not watching */
	u32	args;		/* loads ip and parent ip again */
	u32	call;		/* loads the other arguments and calls */
	u32	unguard;	/* releases the guard */
	u32	end;		/* restores registers and returns: not copied */
};

extern const struct ftrace_mux_template ftrace_mux_templates[2];

#endif /* _ASM_X86_FTRACE_MUX_H */

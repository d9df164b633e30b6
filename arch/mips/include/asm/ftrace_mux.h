/* SPDX-License-Identifier: GPL-2.0-only */
/* Function tracer multiplexer on MIPS */
#ifndef _ASM_MIPS_FTRACE_MUX_H
#define _ASM_MIPS_FTRACE_MUX_H

/* The function of a system call has the name that users know: sys_read() */
#define ARCH_FTRACE_SYSCALL_PREFIX	""

/* How far a call site is behind the start of its function, for tests */
#define ARCH_FTRACE_MAX_SITE_OFFSET	0

/*
 * A call site says whether all registers are saved, by FTRACE_SITE_SAVE_REGS.  So an entry moves
 * only between two combinations that both have a tracer that needs all registers, or that both
 * have none.
 */
#define ARCH_FTRACE_MUX_SITE_REGS	true

/* No call site calls a direct trampoline */
#define ARCH_FTRACE_MUX_DIRECT_IN_LIST	true

/* The clock that times calls: not get_cycles(), which has 32 bits at most */
#define ARCH_FTRACE_MUX_CLOCK	sched_clock

#ifdef CONFIG_FTRACE_MUX
#include <linux/ftrace_mux_calls.h>
#endif

#endif /* _ASM_MIPS_FTRACE_MUX_H */

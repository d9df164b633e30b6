/* SPDX-License-Identifier: GPL-2.0-only */
/* Function tracer multiplexer on MIPS */
#ifndef _ASM_MIPS_FTRACE_MUX_H
#define _ASM_MIPS_FTRACE_MUX_H

/* The function of a system call has the name that users know: sys_read() */
#define ARCH_FTRACE_SYSCALL_PREFIX	""

/* A function starts with its call site */
#define ARCH_FTRACE_MAX_SITE_OFFSET	0

/* The third word of a call site has FTRACE_MODE_REGS if all registers are saved */
#define ARCH_FTRACE_MUX_SITE_REGS	true

/* get_cycles() has 32 bits at most */
#define ARCH_FTRACE_MUX_CLOCK	sched_clock

#ifdef CONFIG_FTRACE_MUX
#include <linux/ftrace_mux_calls.h>
#endif

#endif /* _ASM_MIPS_FTRACE_MUX_H */

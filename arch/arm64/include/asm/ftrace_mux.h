/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer on arm64 */
#ifndef _ASM_ARM64_FTRACE_MUX_H
#define _ASM_ARM64_FTRACE_MUX_H

/* Users know the function __arm64_sys_read() of a system call as sys_read */
#define ARCH_FTRACE_SYSCALL_PREFIX	"__arm64_"

/* The largest offset of a call site in its function: it follows BTI C, if any, and MOV X9, LR */
#define ARCH_FTRACE_MAX_SITE_OFFSET	(IS_ENABLED(CONFIG_ARM64_BTI_KERNEL) ? 8 : 4)

#include <linux/ftrace_mux_calls.h>

#endif /* _ASM_ARM64_FTRACE_MUX_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer on arm64 */
#ifndef _ASM_ARM64_FTRACE_MUX_H
#define _ASM_ARM64_FTRACE_MUX_H

/* Users know the function __arm64_sys_read() of a system call as sys_read */
#define ARCH_FTRACE_SYSCALL_PREFIX	"__arm64_"

/*
 * For tests: the largest offset of a call site in its function. MOV X9, LR is in front of the call
 * site, and BTI C in front of that if the kernel is built with it.
 */
#define ARCH_FTRACE_MAX_SITE_OFFSET	(IS_ENABLED(CONFIG_ARM64_BTI_KERNEL) ? 8 : 4)

#include <linux/ftrace_mux_calls.h>

#include <asm/insn.h>

/* For tests: does the call site at @ip call ftrace_caller()? */
static inline bool arch_ftrace_site_is_on(unsigned long ip)
{
	return aarch64_insn_is_bl(le32_to_cpu(*(__le32 *)ip));
}

#endif /* _ASM_ARM64_FTRACE_MUX_H */

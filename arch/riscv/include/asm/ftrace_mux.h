/* SPDX-License-Identifier: GPL-2.0-only */
/* Function tracer multiplexer on RISC-V */
#ifndef _ASM_RISCV_FTRACE_MUX_H
#define _ASM_RISCV_FTRACE_MUX_H

/* Users know the function __riscv_sys_read() of a system call as sys_read */
#define ARCH_FTRACE_SYSCALL_PREFIX	"__riscv_"

/* For tests: the largest offset of a call site, the JALR behind AUIPC, in its function */
#define ARCH_FTRACE_MAX_SITE_OFFSET	4

#include <linux/ftrace_mux_calls.h>

#include <asm/insn.h>

/* For tests: does the call site at @ip call ftrace_caller()? */
static inline bool arch_ftrace_site_is_on(unsigned long ip)
{
	return riscv_insn_is_jalr(*(u32 *)ip);
}

#endif /* _ASM_RISCV_FTRACE_MUX_H */

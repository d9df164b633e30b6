/* SPDX-License-Identifier: GPL-2.0 */
/* What native.c shares with native.S and with the objects of the kernels */
#ifndef NATIVE_H
#define NATIVE_H

#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <sys/user.h>

/* The trampolines only pass its address */
struct ftrace_ops {
	int		unused;
};

struct ftrace_regs {
	struct user_regs_struct	regs;
};

/* What ftrace_mux_code.o of the patched kernel offers. tools/include lacks these attributes. */
#ifndef __counted_by
#define __counted_by(member)
#endif
#ifndef __percpu
#define __percpu
#endif
#include "../../../include/linux/ftrace_mux.h"
#include "../../../arch/x86/kernel/ftrace_mux_code.h"

typedef void (*ftrace_func_t)(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *op, struct ftrace_regs *fregs);

/* ftrace_64.o of the stock kernel */

extern u8 stock_ftrace_caller[], stock_ftrace_caller_op_ptr[], stock_ftrace_call[];
extern u8 stock_ftrace_caller_end[];

/* The code of each ftrace_64.o, and their alternatives if they have any */

extern u8 __start_stock_text[], __stop_stock_text[];
extern u8 __start_mux_text[], __stop_mux_text[];

struct alt_instr {
	s32		instr_offset, repl_offset;
	u16	cpuid, flags;
	u8		instrlen, replacementlen;
} __packed;

extern struct alt_instr __start_alternatives[] __weak;
extern struct alt_instr __stop_alternatives[] __weak;

/* native.S */

/* A function, and the call site at its start */
void traced(void);
extern u8 call_site[];

/* In the order in which call_traced() has them */
struct regs {
	unsigned long	rax, rcx, rdx, rsi, rdi, r8, r9, rbx, rbp, r12, r13, r14, r15;
};

void call_traced(struct regs *regs);
extern u8 return_site[];

#endif /* NATIVE_H */

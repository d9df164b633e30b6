/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MIPS_FTRACE_REGS_TEST_H
#define _MIPS_FTRACE_REGS_TEST_H

/* Arguments on the stack that ftrace_test_call() passes */
#define FTRACE_TEST_STACK_ARGS	4

/* What the functions return */
#define FTRACE_TEST_TARGET_RET	0x1234
#define FTRACE_TEST_OTHER_RET	0x4321
#define FTRACE_TEST_RETURN_RET	5

#ifndef __ASSEMBLY__

struct ftrace_test_regs {
	unsigned long regs[32];
	unsigned long hi;
	unsigned long lo;
};

/*
 * Call the function in in->regs[25] with all registers as in @in, except zero,
 * k0, k1, gp, sp and ra, and with stack arguments that are the complements of
 * the register arguments.  @out is the registers after its return.
 */
void ftrace_test_call(const struct ftrace_test_regs *in,
		      struct ftrace_test_regs *out);
extern char ftrace_test_call_return[];

/* A traced function that stores all registers in ftrace_test_seen */
void ftrace_test_target(void);
extern struct ftrace_test_regs ftrace_test_seen;

/* A function without a call site */
void ftrace_test_other(void);

/* A direct trampoline that adds one to ftrace_test_direct_calls */
void ftrace_test_direct(void);
extern unsigned long ftrace_test_direct_calls;

/*
 * A traced function that returns FTRACE_TEST_RETURN_RET.  It leaves the status and
 * the regs[7] of a failed system call on the stack, where the trampoline that it may
 * return to has its frame.
 */
unsigned long ftrace_test_return(void);

#endif /* !__ASSEMBLY__ */
#endif /* _MIPS_FTRACE_REGS_TEST_H */

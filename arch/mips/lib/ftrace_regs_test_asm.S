/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of ftrace_regs_test.c that can't be written in C
 */

#include <asm/asm.h>
#include <asm/asm-offsets.h>
#include <asm/ftrace.h>
#include <asm/regdef.h>

#include "ftrace_regs_test.h"

#define REG(n)	((n) * LONGSIZE)
#define REG_HI	REG(32)
#define REG_LO	REG(33)

/* The o32 ABI reserves space for the arguments in registers. */
#ifdef CONFIG_32BIT
#define ARGS	REG(4)
#else
#define ARGS	REG(0)
#endif
#define SAVED	(ARGS + REG(FTRACE_TEST_STACK_ARGS))
#define FRAME	((SAVED + REG(16) + 15) & ~15)

	.set	reorder
	.set	noat

	/* All registers that can be set, except a0, a1, v0 and v1 */
	.macro	for_each_reg op, base
	\op	$1, REG(1)(\base)
	\op	$6, REG(6)(\base)
	\op	$7, REG(7)(\base)
	\op	$8, REG(8)(\base)
	\op	$9, REG(9)(\base)
	\op	$10, REG(10)(\base)
	\op	$11, REG(11)(\base)
	\op	$12, REG(12)(\base)
	\op	$13, REG(13)(\base)
	\op	$14, REG(14)(\base)
	\op	$15, REG(15)(\base)
	for_each_saved_reg \op, \base, 0
	\op	$24, REG(24)(\base)
	\op	$25, REG(25)(\base)
	.endm

	/* The registers that a function preserves */
	.macro	for_each_saved_reg op, base, offset
	\op	$16, (\offset + REG(16))(\base)
	\op	$17, (\offset + REG(17))(\base)
	\op	$18, (\offset + REG(18))(\base)
	\op	$19, (\offset + REG(19))(\base)
	\op	$20, (\offset + REG(20))(\base)
	\op	$21, (\offset + REG(21))(\base)
	\op	$22, (\offset + REG(22))(\base)
	\op	$23, (\offset + REG(23))(\base)
	\op	$30, (\offset + REG(30))(\base)
	.endm

	.text
NESTED(ftrace_test_call, FRAME, ra)
	PTR_ADDIU	sp, -FRAME
	LONG_S		ra, (SAVED + REG(15))(sp)
	LONG_S		a1, (SAVED + REG(9))(sp)
	for_each_saved_reg LONG_S, sp, (SAVED - REG(16))

	.set	i, 0
	.rept	FTRACE_TEST_STACK_ARGS
	LONG_L		v0, REG(4 + i)(a0)
	not		v0, v0
	LONG_S		v0, (ARGS + REG(i))(sp)
	.set	i, i + 1
	.endr

#ifndef CONFIG_CPU_MIPSR6
	LONG_L		v0, REG_HI(a0)
	LONG_L		v1, REG_LO(a0)
	mthi		v0
	mtlo		v1
#endif
	for_each_reg LONG_L, a0
	LONG_L		v0, REG(2)(a0)
	LONG_L		v1, REG(3)(a0)
	LONG_L		a1, REG(5)(a0)
	LONG_L		a0, REG(4)(a0)
	jalr		$25
EXPORT(ftrace_test_call_return)

	LONG_L		a1, (SAVED + REG(9))(sp)
	LONG_S		v0, REG(2)(a1)
	LONG_S		v1, REG(3)(a1)
	for_each_reg LONG_S, a1
	LONG_S		gp, REG(28)(a1)
	LONG_S		sp, REG(29)(a1)

	for_each_saved_reg LONG_L, sp, (SAVED - REG(16))
	LONG_L		ra, (SAVED + REG(15))(sp)
	PTR_ADDIU	sp, FRAME
	jr		ra
	END(ftrace_test_call)

	/* What -fpatchable-function-entry=3 does, in two parts */
	.macro	call_site_entry func
	.section __patchable_function_entries, "awo", @progbits, \func
	.align	PTRLOG
	PTR_WD	\func
	.text
	.endm

	.macro	call_site
	.set	noreorder
	nop
	nop
	nop
	.set	reorder
	.endm

	call_site_entry ftrace_test_target
LEAF(ftrace_test_target)
	call_site
	PTR_LA		$1, ftrace_test_seen
	for_each_reg LONG_S, $1
	LONG_S		$2, REG(2)($1)
	LONG_S		$3, REG(3)($1)
	LONG_S		$4, REG(4)($1)
	LONG_S		$5, REG(5)($1)
	LONG_S		$28, REG(28)($1)
	LONG_S		$29, REG(29)($1)
	LONG_S		$31, REG(31)($1)
#ifndef CONFIG_CPU_MIPSR6
	mfhi		$2
	mflo		$3
	LONG_S		$2, REG_HI($1)
	LONG_S		$3, REG_LO($1)
#endif
	li		v0, FTRACE_TEST_TARGET_RET
	jr		ra
	END(ftrace_test_target)

LEAF(ftrace_test_other)
	li		v0, FTRACE_TEST_OTHER_RET
	jr		ra
	END(ftrace_test_other)

LEAF(ftrace_test_direct)
	PTR_ADDIU	sp, -2 * LONGSIZE
	LONG_S		$2, 0(sp)
	PTR_LA		$1, ftrace_test_direct_calls
	LONG_L		$2, 0($1)
	LONG_ADDIU	$2, 1
	LONG_S		$2, 0($1)
	LONG_L		$2, 0(sp)
	PTR_ADDIU	sp, 2 * LONGSIZE
	jr		$FTRACE_SITE_RA_REG
	END(ftrace_test_direct)

	/* What user_mode() takes for user space, and ptrace for an error */
	.macro	plant_failed_syscall frame
	li		$1, 0x10
	LONG_S		$1, (PT_STATUS - \frame)(sp)
	li		$1, 1
	LONG_S		$1, (PT_R7 - \frame)(sp)
	.endm

	call_site_entry ftrace_test_return
LEAF(ftrace_test_return)
	call_site
	plant_failed_syscall FREGS_SIZE		/* return_to_handler */
	plant_failed_syscall PT_SIZE		/* arch_rethook_trampoline */
	li		v0, FTRACE_TEST_RETURN_RET
	jr		ra
	END(ftrace_test_return)

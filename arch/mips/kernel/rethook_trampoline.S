/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trampoline of the generic return hook for MIPS
 */

#include <asm/asm.h>
#include <asm/asm-offsets.h>
#include <asm/mipsregs.h>
#include <asm/regdef.h>

	.text
	.set	reorder
	.set	noat

	/* The registers that a callee may change, except $1 and ra */
	.macro	for_each_caller_saved_reg op
	\op	$2, PT_R2(sp)
	\op	$3, PT_R3(sp)
	\op	$4, PT_R4(sp)
	\op	$5, PT_R5(sp)
	\op	$6, PT_R6(sp)
	\op	$7, PT_R7(sp)
	\op	$8, PT_R8(sp)
	\op	$9, PT_R9(sp)
	\op	$10, PT_R10(sp)
	\op	$11, PT_R11(sp)
	\op	$12, PT_R12(sp)
	\op	$13, PT_R13(sp)
	\op	$14, PT_R14(sp)
	\op	$15, PT_R15(sp)
	\op	$24, PT_R24(sp)
	\op	$25, PT_R25(sp)
	.endm

/*
 * A function with a return hook returns here.  The handlers may read all
 * registers and change the return values.  The unwinder finds the saved ra, which
 * is this address, and asks rethook_find_ret_addr() for the caller.
 *
 * All registers that a callee may change are restored: a kretprobe may be at a
 * function that ftrace can't trace, in a file that is compiled with -fipa-ra, where
 * a caller may rely on the registers that the function leaves alone.
 */
NESTED(arch_rethook_trampoline, PT_SIZE, ra)
	PTR_ADDIU	sp, -PT_SIZE
	LONG_S		ra, PT_R31(sp)
	LONG_S		$1, PT_R1(sp)
	for_each_caller_saved_reg LONG_S
	LONG_S		$16, PT_R16(sp)
	LONG_S		$17, PT_R17(sp)
	LONG_S		$18, PT_R18(sp)
	LONG_S		$19, PT_R19(sp)
	LONG_S		$20, PT_R20(sp)
	LONG_S		$21, PT_R21(sp)
	LONG_S		$22, PT_R22(sp)
	LONG_S		$23, PT_R23(sp)
	LONG_S		$28, PT_R28(sp)
	LONG_S		$30, PT_R30(sp)
	LONG_S		zero, PT_R0(sp)
	LONG_S		zero, PT_R26(sp)
	LONG_S		zero, PT_R27(sp)
#ifndef CONFIG_CPU_MIPSR6
	mfhi		$1
	LONG_S		$1, PT_HI(sp)
	mflo		$1
	LONG_S		$1, PT_LO(sp)
#endif
	PTR_ADDIU	$1, sp, PT_SIZE
	LONG_S		$1, PT_R29(sp)
	mfc0		$1, CP0_STATUS
	LONG_S		$1, PT_STATUS(sp)
	LONG_S		zero, PT_CAUSE(sp)
	LONG_S		zero, PT_BVADDR(sp)
	LONG_S		zero, PT_EPC(sp)

	move		a0, sp
	jal		arch_rethook_trampoline_callback
	LONG_S		v0, PT_R31(sp)		/* the real return address */

#ifndef CONFIG_CPU_MIPSR6
	LONG_L		$1, PT_HI(sp)
	mthi		$1
	LONG_L		$1, PT_LO(sp)
	mtlo		$1
#endif
	for_each_caller_saved_reg LONG_L
	LONG_L		ra, PT_R31(sp)
	LONG_L		$1, PT_R1(sp)
	.set		noreorder
	jr		ra
	PTR_ADDIU	sp, PT_SIZE
	.set		reorder
	END(arch_rethook_trampoline)

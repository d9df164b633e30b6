/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trampolines of ftrace with call sites by -fpatchable-function-entry
 *
 * See ftrace_dyn.c for the call site at the start of a function that jumps here.
 *
 * Unless stated, this is assembled with .set reorder: the assembler fills delay
 * slots and observes the load delays of MIPS I.
 */

#include <asm/asm.h>
#include <asm/asm-offsets.h>
#include <asm/ftrace.h>
#include <asm/mipsregs.h>
#include <asm/regdef.h>

#define site_ra		$FTRACE_SITE_RA_REG
#define cell_operand	$FTRACE_SITE_CELL_REG

/*
 * The li of the call site sign-extends: with FTRACE_SITE_SAVE_REGS, cell_operand is the offset of
 * the cell minus FTRACE_SITE_SAVE_REGS.  The second base makes up for it.
 */
#define FTRACE_CELLS_BASE		ftrace_cells
#define FTRACE_CELLS_BASE_REGS		ftrace_cells + FTRACE_SITE_SAVE_REGS

	.set	reorder
	.set	noat

	/* The registers in which a caller may pass something to a function */
	.macro	for_each_input_reg op
	\op	$4, PT_R4(sp)
	\op	$5, PT_R5(sp)
	\op	$6, PT_R6(sp)
	\op	$7, PT_R7(sp)
#ifdef CONFIG_64BIT
	\op	$8, PT_R8(sp)
	\op	$9, PT_R9(sp)
	\op	$10, PT_R10(sp)
	\op	$11, PT_R11(sp)
#endif
	\op	$15, PT_R15(sp)		/* static chain */
	\op	ra, PT_R31(sp)
	.endm

	/*
	 * The other registers that are saved and restored.  $30 is not among them, since
	 * it is saved in any case.  Nor are site_ra and cell_operand, which are not restored.
	 */
	.macro	for_each_other_reg op
	\op	$2, PT_R2(sp)
	\op	$3, PT_R3(sp)
#ifdef CONFIG_32BIT
	\op	$8, PT_R8(sp)
	\op	$9, PT_R9(sp)
	\op	$10, PT_R10(sp)
	\op	$11, PT_R11(sp)
#endif
	\op	$14, PT_R14(sp)
	\op	$16, PT_R16(sp)
	\op	$17, PT_R17(sp)
	\op	$18, PT_R18(sp)
	\op	$19, PT_R19(sp)
	\op	$20, PT_R20(sp)
	\op	$21, PT_R21(sp)
	\op	$22, PT_R22(sp)
	\op	$23, PT_R23(sp)
	\op	$24, PT_R24(sp)
	\op	$25, PT_R25(sp)
	.endm

	/* Continue at the address in $1. */
	.macro	continue_at_1
	for_each_input_reg LONG_L
	.set		noreorder
	jr		$1
	PTR_ADDIU	sp, FREGS_SIZE	/* last: the unwinder expects the frame up to here */
	.set		reorder
	.endm

	/*
	 * Call what the cell at \base + cell_operand points to, with $4 and $5 set already.
	 */
	.macro	call_cell base
	lui		$1, %hi(\base)
	PTR_ADDU	$1, $1, cell_operand
	PTR_L		$1, %lo(\base)($1)
	PTR_L		t9, ($1)
	PTR_L		$6, PTRSIZE($1)			/* a2: op */
	.set		noreorder
	jalr		t9
	move		$7, sp				/* a3: fregs */
	.set		reorder
	.endm

/*
 * The call site of a traced function jumps here.  The registers are those that
 * the function was called with, except for
 *
 *	$1		the address of ftrace_caller
 *	site_ra		the address behind the call site
 *	cell_operand	the offset of the cell to call.  If all registers are to be saved and
 *			restored: this offset minus FTRACE_SITE_SAVE_REGS, which is negative
 *
 * These three are free at the start of a function, so there is nothing to
 * preserve in them.
 *
 * The lower half of the address must be zero, since the call site loads the
 * upper half only.  The linker script puts ftrace_caller at the start of the
 * kernel's text if possible, or else behind SOFTIRQENTRY_TEXT.  Some machines may
 * be started at the start of the text.  In a kernel for these, the first word is a
 * jump to kernel_entry() until ftrace_dyn_arch_init() replaces it.  The delay slot of
 * the jump changes sp.  This does no harm, since kernel_entry() sets sp.
 *
 * When this is interrupted, the unwinder takes it for an ordinary function: the
 * stack pointer is adjusted and ra is saved early, and no other symbol lies
 * inside the function.
 */
	.section .text..ftrace_entry, "ax"
#ifdef FTRACE_ENTRY_FIRST
/* In place of the one in head.S: ftrace_caller is the start of the text */
EXPORT(_stext)
#endif
NESTED(ftrace_caller, FREGS_SIZE, ra)
	.set		noreorder
#ifdef FTRACE_ENTRY_BOOTS
	j		kernel_entry
#else
	move		$1, sp
#endif
	PTR_ADDIU	sp, -FREGS_SIZE
	.set		reorder
	for_each_input_reg LONG_S
	LONG_S		$1, PT_R29(sp)
	LONG_S		$30, PT_R30(sp)
	LONG_S		cell_operand, FREGS_CELL_OPERAND(sp)
	LONG_S		site_ra, FREGS_SITE_RA(sp)
	LONG_S		ra, FREGS_PARENT_IP(sp)
	PTR_ADDIU	$4, site_ra, -MCOUNT_INSN_SIZE	/* a0: ip */
	LONG_S		$4, PT_EPC(sp)
	.set		noreorder
	bltz		cell_operand, .Lregs
	move		$5, ra				/* a1: parent_ip */
	.set		reorder

	LONG_S		site_ra, FREGS_RESUME(sp)
	call_cell	FTRACE_CELLS_BASE
.Largs_return:
	LONG_L		$1, FREGS_RESUME(sp)
	continue_at_1

.Lregs:
	for_each_other_reg LONG_S
	LONG_S		zero, PT_R0(sp)
	LONG_S		zero, PT_R1(sp)
	LONG_S		site_ra, PT_R12(sp)
	LONG_S		cell_operand, PT_R13(sp)
	LONG_S		zero, PT_R26(sp)
	LONG_S		zero, PT_R27(sp)
	LONG_S		gp, PT_R28(sp)
	LONG_S		zero, PT_BVADDR(sp)
#ifndef CONFIG_CPU_MIPSR6
	mfhi		$2
	mflo		$3
	LONG_S		$2, PT_HI(sp)
	LONG_S		$3, PT_LO(sp)
#endif
	/* user_mode() reads cp0_status, and instruction_pointer_set() changes cp0_cause. */
	mfc0		$2, CP0_STATUS
	LONG_S		$2, PT_STATUS(sp)
	LONG_S		zero, PT_CAUSE(sp)
	LONG_S		zero, FREGS_DIRECT_TRAMP(sp)
	move		$16, $4				/* ip */
	call_cell	FTRACE_CELLS_BASE_REGS
.Lregs_return:

	/*
	 * Continue in the traced function, behind its call site, or where a tracer
	 * has set cp0_epc to.  If there is a direct trampoline, continue there instead,
	 * with the address where the function continues in site_ra.
	 */
	LONG_L		$1, PT_EPC(sp)
	LONG_L		$3, FREGS_DIRECT_TRAMP(sp)
	.set		noreorder
	bne		$1, $16, .Lelsewhere
	LONG_L		$30, PT_R30(sp)
	PTR_ADDIU	$1, $16, MCOUNT_INSN_SIZE
.Lelsewhere:
	bnez		$3, .Ldirect
	move		site_ra, $1
	.set		reorder

.Lrestore:
#ifndef CONFIG_CPU_MIPSR6
	LONG_L		$2, PT_HI(sp)
	LONG_L		$3, PT_LO(sp)
	mthi		$2
	mtlo		$3
#endif
	/* Not sp and gp: they hold the stack and thread_info, which a tracer can't change */
	for_each_other_reg LONG_L
	continue_at_1

.Ldirect:
	move		$1, $3
	b		.Lrestore
	END(ftrace_caller)

	.section .rodata
	.align	PTRLOG
EXPORT(ftrace_call_returns)
	PTR_WD		.Largs_return
	PTR_WD		.Lregs_return

	.text
/* The tracer that does nothing */
LEAF(ftrace_stub)
	jr		ra
	END(ftrace_stub)

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
/* The direct trampoline that does nothing */
LEAF(ftrace_stub_direct_tramp)
	jr		site_ra
	END(ftrace_stub_direct_tramp)
#endif

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/*
 * A function that the graph tracer follows returns here.  The unwinder finds the
 * saved ra, which is this address, and asks ftrace_graph_ret_addr() for the
 * caller.
 *
 * Only those fields of the frame are set that ftrace_regs_get_*() read when a
 * function returns.  PT_STATUS and PT_R7 are not: so ftrace_regs_get_return_value() must not use
 * regs_return_value(), which reads them.
 */
NESTED(return_to_handler, FREGS_SIZE, ra)
	PTR_ADDIU	sp, -FREGS_SIZE
	LONG_S		ra, PT_R31(sp)
	LONG_S		v0, PT_R2(sp)
	LONG_S		v1, PT_R3(sp)
	LONG_S		$30, PT_R30(sp)
	PTR_ADDIU	t0, sp, FREGS_SIZE
	LONG_S		t0, PT_R29(sp)
	LONG_S		zero, PT_EPC(sp)
	LONG_S		zero, FREGS_CELL_OPERAND(sp)

	move		a0, sp
	jal		ftrace_return_to_handler
	LONG_S		v0, PT_R31(sp)		/* the real return address */

	LONG_L		v0, PT_R2(sp)
	LONG_L		v1, PT_R3(sp)
	LONG_L		ra, PT_R31(sp)
	.set		noreorder
	jr		ra
	PTR_ADDIU	sp, FREGS_SIZE	/* last: the unwinder expects the frame up to here */
	.set		reorder
	END(return_to_handler)
#endif /* CONFIG_FUNCTION_GRAPH_TRACER */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Function tracer multiplexer on MIPS: the calls that an entry leads to.
 *
 * ftrace_caller() calls these as it calls a callback: a0 to a3 are the ip, the parent ip, the array
 * of calls and the ftrace_regs. A callback gets the same, with its own argument in a2. The last
 * callback returns to the caller of ftrace_mux_call_N().
 *
 * Kprobes are refused here: functions that the handler of a kprobe calls may be traced, and would
 * hit the kprobe again.
 *
 * For the unwinder, each is an ordinary function, whose first instructions make a frame.
 */
#include <asm/asm.h>
#include <asm/regdef.h>

#ifdef CONFIG_32BIT
#define ARGS_SIZE	16		/* where a callback may store its arguments */
#else
#define ARGS_SIZE	0
#endif

#define SAVED_IP	(ARGS_SIZE + 0 * SZREG)
#define SAVED_PARENT	(ARGS_SIZE + 1 * SZREG)
#define SAVED_FREGS	(ARGS_SIZE + 2 * SZREG)
#define SAVED_CALLS	(ARGS_SIZE + 3 * SZREG)
#define SAVED_S0	(ARGS_SIZE + 4 * SZREG)
#define SAVED_RA	(ARGS_SIZE + 5 * SZREG)
#define SAVED_SIZE	(ARGS_SIZE + 6 * SZREG)

#define CALL_SIZE	(2 * PTRSIZE)	/* of struct ftrace_mux_call */

	.section .kprobes.text, "ax"

/*
 * A function that makes \nr calls. A callback may change a0 to a3: load them again for the next
 * call. The last call is a tail call.
 */
	.macro	define_call nr
NESTED(ftrace_mux_call_\nr, SAVED_SIZE, ra)
	.set		noreorder
	PTR_ADDIU	sp, -SAVED_SIZE
	LONG_S		ra, SAVED_RA(sp)
	LONG_S		s0, SAVED_S0(sp)
	LONG_S		a0, SAVED_IP(sp)
	LONG_S		a1, SAVED_PARENT(sp)
	move		s0, a2
	PTR_L		t9, (s0)
	PTR_L		a2, PTRSIZE(s0)
	jalr		t9
	LONG_S		a3, SAVED_FREGS(sp)
	.rept		\nr - 2
	PTR_L		t9, CALL_SIZE(s0)
	PTR_L		a2, CALL_SIZE+PTRSIZE(s0)
	LONG_L		a3, SAVED_FREGS(sp)
	LONG_L		a0, SAVED_IP(sp)
	LONG_L		a1, SAVED_PARENT(sp)
	jalr		t9
	PTR_ADDIU	s0, CALL_SIZE		/* no load: MIPS I has a load delay */
	.endr
	PTR_L		t9, CALL_SIZE(s0)
	PTR_L		a2, CALL_SIZE+PTRSIZE(s0)
	LONG_L		a0, SAVED_IP(sp)
	LONG_L		a1, SAVED_PARENT(sp)
	LONG_L		a3, SAVED_FREGS(sp)
	LONG_L		ra, SAVED_RA(sp)
	LONG_L		s0, SAVED_S0(sp)
	jr		t9
	PTR_ADDIU	sp, SAVED_SIZE
	.set		reorder
	END(ftrace_mux_call_\nr)
	.endm

	.irp	nr, 2, 3, 4, 5, 6, 7, 8
	define_call \nr
	.endr

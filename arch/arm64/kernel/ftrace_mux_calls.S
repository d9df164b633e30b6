/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Function tracer multiplexer on arm64: the calls that an entry leads to.
 *
 * ftrace_caller calls the function of an entry as it calls that of an ops: x0 to x3 are
 * the ip, the parent ip, the entry, and the ftrace_regs. A callback gets the same, with its
 * own argument in x2.
 *
 * ftrace_mux_call_2() to _8() have one branch instruction for each callback, which the processor
 * can predict. The last callback returns to ftrace_caller.
 *
 * Kprobes are refused here: functions that the handler of a kprobe calls may be traced, and would
 * hit the kprobe again.
 *
 * A branch through x16 may land on BTI C, which callbacks begin with. SYM_FUNC_START() begins each
 * function here with BTI C, too. Without CONFIG_ARM64_BTI_KERNEL, that would be a NOP in each
 * traced call: CALL_START() leaves it out then.
 */
#include <linux/linkage.h>
#include <asm/alternative.h>
#include <asm/assembler.h>
#include <asm/cpucaps.h>

#ifdef CONFIG_ARM64_BTI_KERNEL
#define CALL_START(name)	SYM_FUNC_START(name)
#else
#define CALL_START(name)	SYM_START(name, SYM_L_GLOBAL, SYM_A_ALIGN)
#endif

	.pushsection .kprobes.text, "ax"

/* kernel/trace/mux/ops_entries.c checks the offsets of the structs that are used here */
#define ENTRY_CALL	16				// in struct ftrace_mux_ops_entry

/* The function of each entry. x2: struct ftrace_mux_ops_entry */
CALL_START(ftrace_mux_call_entry)
	ldr	x2, [x2, #ENTRY_CALL]
	ldp	x16, x2, [x2]				// func and arg of the call
	br	x16
SYM_FUNC_END(ftrace_mux_call_entry)

#ifdef CONFIG_ARM64_LSE_ATOMICS
	.arch_extension	lse
#endif

/*
 * Increments a per-CPU count, and makes a call. x2: struct ftrace_mux_counted. ftrace_caller has
 * saved x4 to x7. The count may be that of a CPU which the task has just left: the addition is
 * atomic. The alternatives must have the same length, four instructions: the shorter one is filled
 * with the call.
 */
CALL_START(ftrace_mux_count)
	ldp	x4, x5, [x2]				// count and call
	get_this_cpu_offset x6
	add	x4, x4, x6
#ifdef CONFIG_ARM64_LSE_ATOMICS
alternative_if_not ARM64_HAS_LSE_ATOMICS
#endif
1:	ldxr	x6, [x4]
	add	x6, x6, #1
	stxr	w7, x6, [x4]
	cbnz	w7, 1b
#ifdef CONFIG_ARM64_LSE_ATOMICS
alternative_else
	mov	x6, #1
	stadd	x6, [x4]
	ldp	x16, x2, [x5]
	br	x16
alternative_endif
#endif
	ldp	x16, x2, [x5]
	br	x16
SYM_FUNC_END(ftrace_mux_count)

#define SAVED_SIZE	48
#define SAVED_IPS	16				// x0, x1
#define SAVED_FREGS	32				// x3

/*
 * A function that makes \nr calls. x2: array of struct ftrace_mux_call. Callbacks may clobber
 * x0, x1 and x3, which are saved here. They are not loaded from the ftrace_regs again, where a
 * callback may have changed the ip and the parent ip.
 *
 * There is no frame record: in the stack trace of a callback, this function takes the place of
 * ftrace_caller. So the trace has as many functions as with one tracer, and tracers that skip a
 * fixed number of them skip the right ones.
 */
.macro	define_call nr
CALL_START(ftrace_mux_call_\nr)
	stp	x19, x30, [sp, #-SAVED_SIZE]!
	stp	x0, x1, [sp, #SAVED_IPS]
	str	x3, [sp, #SAVED_FREGS]
	mov	x19, x2
	ldp	x16, x2, [x19], #16
	blr	x16
	.rept	\nr - 2
	ldp	x16, x2, [x19], #16
	ldp	x0, x1, [sp, #SAVED_IPS]
	ldr	x3, [sp, #SAVED_FREGS]
	blr	x16
	.endr
	ldp	x16, x2, [x19]
	ldp	x0, x1, [sp, #SAVED_IPS]
	ldr	x3, [sp, #SAVED_FREGS]
	ldp	x19, x30, [sp], #SAVED_SIZE
	br	x16
SYM_FUNC_END(ftrace_mux_call_\nr)
.endm

	.irp	nr, 2, 3, 4, 5, 6, 7, 8
	define_call \nr
	.endr

	.popsection

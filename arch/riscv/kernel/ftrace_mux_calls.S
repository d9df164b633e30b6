/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Function tracer multiplexer on RISC-V: the calls that an entry leads to.
 *
 * ftrace_caller() calls the function of an entry as it calls that of an ops: a0 to a3 are the ip,
 * the parent ip, the entry, and the ftrace_regs. A callback gets the same, with its own argument
 * in a2. The functions here use only a0 to a7 and t1, which ftrace_caller() restores, and registers
 * that they save.
 *
 * Each of 2 to 8 callbacks has a jump of its own, which the processor can predict. The last
 * callback returns to ftrace_caller().
 *
 * Kprobes are refused here: functions that the handler of a kprobe calls may be traced, and would
 * hit the kprobe again.
 *
 * 64 bits only: a count has 64 bits, and one amoadd.d increments it.
 */
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/asm-offsets.h>

	.pushsection .kprobes.text, "ax"

/* kernel/trace/mux/ops_entries.c checks the offsets of the structs that are used here */
#define ENTRY_CALL	(2 * SZREG)		/* in struct ftrace_mux_ops_entry */
#define CALL_FUNC	0			/* in struct ftrace_mux_call */
#define CALL_ARG	SZREG
#define CALL_SIZE	(2 * SZREG)
#define COUNTED_COUNT	0			/* in struct ftrace_mux_counted */
#define COUNTED_CALL	SZREG

/* The function of each entry. a2: struct ftrace_mux_ops_entry */
SYM_FUNC_START(ftrace_mux_call_entry)
	REG_L	a4, ENTRY_CALL(a2)
	REG_L	t1, CALL_FUNC(a4)
	REG_L	a2, CALL_ARG(a4)
	jr	t1
SYM_FUNC_END(ftrace_mux_call_entry)

/*
 * Increments a per-CPU count, and makes the call. a2: struct ftrace_mux_counted. The count may be
 * that of a CPU which the task has just left: the addition is atomic.
 */
SYM_FUNC_START(ftrace_mux_count)
	REG_L	a4, COUNTED_CALL(a2)
	REG_L	a5, COUNTED_COUNT(a2)
#ifdef CONFIG_SMP
	lw	a6, TASK_TI_CPU(tp)
	la	a7, __per_cpu_offset
	slli	a6, a6, RISCV_LGPTR
	add	a7, a7, a6
	REG_L	a7, (a7)
	add	a5, a5, a7
#endif
	li	a6, 1
	amoadd.d zero, a6, (a5)
	REG_L	t1, CALL_FUNC(a4)
	REG_L	a2, CALL_ARG(a4)
	jr	t1
SYM_FUNC_END(ftrace_mux_count)

/* The stack is aligned to 16 bytes */
#define SAVED_SIZE	48
#define SAVED_IP	(0 * SZREG)
#define SAVED_PARENT	(1 * SZREG)
#define SAVED_FREGS	(2 * SZREG)
#define SAVED_S1	(3 * SZREG)
#define SAVED_RA	(4 * SZREG)

/*
 * A function that makes \nr calls. a2: array of struct ftrace_mux_call. Callbacks may clobber a0,
 * a1 and a3, which are saved here. They are not loaded from the ftrace_regs again, where a callback
 * may have changed the ip and the parent ip.
 *
 * There is no frame record: in the stack trace of a callback, this function takes the place of
 * ftrace_caller(). So the trace has as many functions as with one tracer, and tracers that skip a
 * fixed number of them skip the right ones.
 */
.macro	define_call nr
SYM_FUNC_START(ftrace_mux_call_\nr)
	addi	sp, sp, -SAVED_SIZE
	REG_S	a0, SAVED_IP(sp)
	REG_S	a1, SAVED_PARENT(sp)
	REG_S	a3, SAVED_FREGS(sp)
	REG_S	s1, SAVED_S1(sp)
	REG_S	ra, SAVED_RA(sp)
	mv	s1, a2
	REG_L	t1, CALL_FUNC(s1)
	REG_L	a2, CALL_ARG(s1)
	jalr	t1
	.set	.Lcall, 1
	.rept	\nr - 2
	REG_L	t1, .Lcall*CALL_SIZE+CALL_FUNC(s1)
	REG_L	a2, .Lcall*CALL_SIZE+CALL_ARG(s1)
	REG_L	a0, SAVED_IP(sp)
	REG_L	a1, SAVED_PARENT(sp)
	REG_L	a3, SAVED_FREGS(sp)
	jalr	t1
	.set	.Lcall, .Lcall + 1
	.endr
	REG_L	t1, .Lcall*CALL_SIZE+CALL_FUNC(s1)
	REG_L	a2, .Lcall*CALL_SIZE+CALL_ARG(s1)
	REG_L	a0, SAVED_IP(sp)
	REG_L	a1, SAVED_PARENT(sp)
	REG_L	a3, SAVED_FREGS(sp)
	REG_L	s1, SAVED_S1(sp)
	REG_L	ra, SAVED_RA(sp)
	addi	sp, sp, SAVED_SIZE
	jr	t1
SYM_FUNC_END(ftrace_mux_call_\nr)
.endm

	.irp	nr, 2, 3, 4, 5, 6, 7, 8
	define_call \nr
	.endr

	.popsection

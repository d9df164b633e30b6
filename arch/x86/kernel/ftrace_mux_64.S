/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trampolines of the function tracer multiplexer.
 *
 * Included by ftrace_64.S: the trampolines use its macros save_mcount_regs and
 * restore_mcount_regs.
 *
 * There is a static trampoline for every combination of static IDs, in two
 * families: ftrace_mux_caller_<mask> saves the registers that a call may change,
 * ftrace_mux_regs_caller_<mask> a full pt_regs. A trampoline calls the slot of
 * each ID in its mask, lowest ID first, without a loop, a test or an indirect
 * branch. A slot is a jump to the function of the tracer that has the ID, and is
 * patched by arch_ftrace_mux_set_slot(). The idea of one statically generated
 * caller per combination is from
 * https://lore.kernel.org/lkml/1304088194-6214-1-git-send-email-jolsa@redhat.com
 *
 * Trampolines on demand are assembled from pieces of ftrace_mux_template and
 * ftrace_mux_regs_template.
 *
 * All callbacks get the same ip and parent ip. The trampoline reads both before
 * it calls the first callback: an IPMODIFY callback may change pt_regs->ip, and
 * the graph tracer replaces the return address on the stack.
 *
 * Slots and trampolines are called directly and need no ENDBR: SYM_START(), not
 * SYM_FUNC_START().
 */

#define FTRACE_MUX_STATIC_IDS	CONFIG_FTRACE_MUX_STATIC_IDS
#define FTRACE_MUX_MASKS	(1 << FTRACE_MUX_STATIC_IDS)

/*
 * One slot an ID. Call depth is accounted by the call thunk in front of the
 * slot, as for any other function that is called directly.
 */
.macro ftrace_mux_slot id
SYM_START(ftrace_mux_slot_\id, SYM_L_GLOBAL, SYM_F_ALIGN)
	ANNOTATE_NOENDBR
	/* Always 5 bytes, text_poke_bp() rewrites it: jmp ftrace_stub */
	.byte 0xe9
	.long ftrace_stub - (. + 4)
	int3
SYM_FUNC_END(ftrace_mux_slot_\id)
.endm

/* The base of the offsets in the tables below */
SYM_INNER_LABEL(ftrace_mux_base, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR

.irp id, 0, 1, 2, 3, 4, 5, 6, 7
	.if \id < FTRACE_MUX_STATIC_IDS
		ftrace_mux_slot \id
	.endif
.endr

/*
 * Call the slots of @mask. @ip and @parent hold the first two arguments for
 * all but the first call, which finds them in place.
 */
.macro ftrace_mux_calls mask ip parent
	.set .Lftrace_mux_first, 1
	.irp id, 0, 1, 2, 3, 4, 5, 6, 7
		.if (\mask >> \id) & 1
			.ifeq .Lftrace_mux_first
	movq \ip, %rdi
	movq \parent, %rsi
			.endif
			.set .Lftrace_mux_first, 0
	/* The ftrace_ops of the ID is the third argument */
	movq ftrace_mux_ops + 8 * \id(%rip), %rdx
	/* regs go into 4th parameter */
	movq %rsp, %rcx
	call ftrace_mux_slot_\id
		.endif
	.endr
.endm

/*
 * Both entries leave ip and parent ip in the first two argument registers, and,
 * if @keep is set, in a place that the callbacks preserve.
 */
.macro ftrace_mux_entry keep
	/* save_mcount_regs fills in first two parameters */
	save_mcount_regs

	CALL_DEPTH_ACCOUNT

	/* Stack - skipping the return address of this trampoline */
	leaq MCOUNT_REG_SIZE+8(%rsp), %rcx
	movq %rcx, RSP(%rsp)

	/* Only ops with REGS flag set should have CS register set */
	movq $0, CS(%rsp)

	.if \keep
	/* This family saves none of R15 to R13, their room is free */
	movq %rdi, R15(%rsp)
	movq %rsi, R14(%rsp)
	.endif
.endm

.macro ftrace_mux_exit
	/* Handlers can change the RIP */
	movq RIP(%rsp), %rax
	movq %rax, MCOUNT_REG_SIZE(%rsp)

	restore_mcount_regs
	RET
.endm

.macro ftrace_mux_regs_entry keep
	/* Save the current flags before any operations that can change them */
	pushfq

	/* added 8 bytes to save flags */
	save_mcount_regs 8
	/* save_mcount_regs fills in first two parameters */

	CALL_DEPTH_ACCOUNT

	/* Save the rest of pt_regs */
	movq %r15, R15(%rsp)
	movq %r14, R14(%rsp)
	movq %r13, R13(%rsp)
	movq %r12, R12(%rsp)
	movq %r11, R11(%rsp)
	movq %r10, R10(%rsp)
	movq %rbx, RBX(%rsp)
	/* Copy saved flags */
	movq MCOUNT_REG_SIZE(%rsp), %rcx
	movq %rcx, EFLAGS(%rsp)
	/* Kernel segments */
	movq $__KERNEL_DS, %rcx
	movq %rcx, SS(%rsp)
	movq $__KERNEL_CS, %rcx
	movq %rcx, CS(%rsp)
	/* Stack - skipping return address and flags */
	leaq MCOUNT_REG_SIZE+8*2(%rsp), %rcx
	movq %rcx, RSP(%rsp)

	ENCODE_FRAME_POINTER

	.if \keep
	/* Callbacks preserve these two, and pt_regs has what was in them */
	movq %rdi, %rbx
	movq %rsi, %r12
	.endif
.endm

.macro ftrace_mux_caller mask
	.balign 16, 0xcc
SYM_START(ftrace_mux_caller_\mask, SYM_L_GLOBAL, SYM_A_NONE)
	ANNOTATE_NOENDBR
	ftrace_mux_entry (\mask & (\mask - 1))
	ftrace_mux_calls \mask, R15(%rsp), R14(%rsp)
	ftrace_mux_exit
SYM_FUNC_END(ftrace_mux_caller_\mask)
STACK_FRAME_NON_STANDARD_FP(ftrace_mux_caller_\mask)
.endm

.macro ftrace_mux_regs_caller mask
	.balign 16, 0xcc
SYM_START(ftrace_mux_regs_caller_\mask, SYM_L_GLOBAL, SYM_A_NONE)
	ANNOTATE_NOENDBR
	ftrace_mux_regs_entry (\mask & (\mask - 1))
	ftrace_mux_calls \mask, %rbx, %r12
	jmp ftrace_mux_regs_exit
SYM_FUNC_END(ftrace_mux_regs_caller_\mask)
STACK_FRAME_NON_STANDARD_FP(ftrace_mux_regs_caller_\mask)
.endm

/* Run the macro \name for every mask, in order */
.macro ftrace_mux_for_each_mask name
	.set .Lftrace_mux_mask, 1
	.rept FTRACE_MUX_MASKS - 1
		.altmacro
		ftrace_mux_one_mask \name, %.Lftrace_mux_mask
		.set .Lftrace_mux_mask, .Lftrace_mux_mask + 1
	.endr
.endm

/* altmacro only turns the counter into a number: strings suffer from it */
.macro ftrace_mux_one_mask name mask
	.noaltmacro
	\name \mask
.endm

	.balign 16, 0xcc
SYM_INNER_LABEL(ftrace_mux_callers, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR

	ftrace_mux_for_each_mask ftrace_mux_caller
	ftrace_mux_for_each_mask ftrace_mux_regs_caller

/* What ftrace_regs_caller does after its callback, once for the whole family */
SYM_CODE_START_LOCAL_NOALIGN(ftrace_mux_regs_exit)
#ifdef CONFIG_FRAME_POINTER
	/* objtool does not follow the trampolines to here then */
	UNWIND_HINT_UNDEFINED
#endif
	/* Copy flags back to SS, to restore them */
	movq EFLAGS(%rsp), %rax
	movq %rax, MCOUNT_REG_SIZE(%rsp)

	/* Handlers can change the RIP */
	movq RIP(%rsp), %rax
	movq %rax, MCOUNT_REG_SIZE+8(%rsp)

	/* restore the rest of pt_regs */
	movq R15(%rsp), %r15
	movq R14(%rsp), %r14
	movq R13(%rsp), %r13
	movq R12(%rsp), %r12
	movq R10(%rsp), %r10
	movq RBX(%rsp), %rbx

	movq ORIG_RAX(%rsp), %rax
	movq %rax, MCOUNT_REG_SIZE-8(%rsp)

	/*
	 * If ORIG_RAX is anything but zero, make this a call to that.
	 * See arch_ftrace_set_direct_caller().
	 */
	testq	%rax, %rax
	jnz	1f

	restore_mcount_regs
	/* Restore flags */
	popfq
	RET

	/* Swap the flags with orig_rax */
1:	movq MCOUNT_REG_SIZE(%rsp), %rdi
	movq %rdi, MCOUNT_REG_SIZE-8(%rsp)
	movq %rax, MCOUNT_REG_SIZE(%rsp)

	restore_mcount_regs 8
	/* Restore flags */
	popfq
	UNWIND_HINT_FUNC

	/* A tail-call by PUSH;RET, with the RSB put right: see ftrace_regs_caller */
	ANNOTATE_INTRA_FUNCTION_CALL
	call .Lftrace_mux_rebalance
	int3
.Lftrace_mux_rebalance:
	add $8, %rsp
	ALTERNATIVE __stringify(RET), \
		    __stringify(ANNOTATE_UNRET_SAFE; ret; int3), \
		    X86_FEATURE_CALL_DEPTH
SYM_CODE_END(ftrace_mux_regs_exit)

SYM_INNER_LABEL(ftrace_mux_callers_end, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR

/*
 * What arch_ftrace_mux_create() makes trampolines of: for combinations that have
 * none of the above. It copies the pieces between the labels, as often as it
 * needs them, and puts the right numbers into the last of the instructions of
 * each. As they stand here, they are a trampoline for one guarded call: objtool
 * sees to their stack, and orc_ftrace_find() finds here what the copies need.
 *
 * @guard is where the state of the recursion guard is kept, see
 * ftrace_mux_guard_enter(). The conditional jumps have room for any distance.
 */
.macro ftrace_mux_pieces name ip parent guard
SYM_INNER_LABEL(\name\()_guard, SYM_L_LOCAL)
	movq \ip, %rdi
	movq \parent, %rsi
	call ftrace_mux_guard_enter
	movl %eax, \guard
	testl %eax, %eax
	/* js */
	.byte 0x0f, 0x88
	.long \name\()_end - (. + 4)
SYM_INNER_LABEL(\name\()_rcu, SYM_L_LOCAL)
	movl \guard, %eax
	testl $1, %eax
	/* jz */
	.byte 0x0f, 0x84
	.long \name\()_unguard - (. + 4)
SYM_INNER_LABEL(\name\()_args, SYM_L_LOCAL)
	movq \ip, %rdi
	movq \parent, %rsi
SYM_INNER_LABEL(\name\()_call, SYM_L_LOCAL)
	/* regs go into 4th parameter, the ftrace_ops is the third */
	movq %rsp, %rcx
	movabsq $0, %rdx
	call ftrace_stub
SYM_INNER_LABEL(\name\()_unguard, SYM_L_LOCAL)
	movl \guard, %edi
	call ftrace_mux_guard_leave
SYM_INNER_LABEL(\name\()_end, SYM_L_LOCAL)
.endm

	.balign 16, 0xcc
SYM_START(ftrace_mux_template, SYM_L_LOCAL, SYM_A_NONE)
	ANNOTATE_NOENDBR
	ftrace_mux_entry 1
	ftrace_mux_pieces ftrace_mux_template, R15(%rsp), R14(%rsp), R13(%rsp)
	ftrace_mux_exit
SYM_FUNC_END(ftrace_mux_template)
STACK_FRAME_NON_STANDARD_FP(ftrace_mux_template)

	.balign 16, 0xcc
SYM_START(ftrace_mux_regs_template, SYM_L_LOCAL, SYM_A_NONE)
	ANNOTATE_NOENDBR
	ftrace_mux_regs_entry 1
	ftrace_mux_pieces ftrace_mux_regs_template, %rbx, %r12, %r13d
	jmp ftrace_mux_regs_exit
SYM_FUNC_END(ftrace_mux_regs_template)
STACK_FRAME_NON_STANDARD_FP(ftrace_mux_regs_template)

/* Offsets from ftrace_mux_base; mask 0 has no trampoline */
.macro ftrace_mux_caller_offset mask
	.long ftrace_mux_caller_\mask - ftrace_mux_base
.endm

.macro ftrace_mux_regs_caller_offset mask
	.long ftrace_mux_regs_caller_\mask - ftrace_mux_base
.endm

	.pushsection .rodata, "a"
	.balign 4
SYM_DATA_START(ftrace_mux_caller_offsets)
	.long 0
	ftrace_mux_for_each_mask ftrace_mux_caller_offset
SYM_DATA_END(ftrace_mux_caller_offsets)

SYM_DATA_START(ftrace_mux_regs_caller_offsets)
	.long 0
	ftrace_mux_for_each_mask ftrace_mux_regs_caller_offset
SYM_DATA_END(ftrace_mux_regs_caller_offsets)

SYM_DATA_START(ftrace_mux_slot_offsets)
.irp id, 0, 1, 2, 3, 4, 5, 6, 7
	.if \id < FTRACE_MUX_STATIC_IDS
	.long ftrace_mux_slot_\id - ftrace_mux_base
	.endif
.endr
SYM_DATA_END(ftrace_mux_slot_offsets)

/* struct ftrace_mux_template */
.macro ftrace_mux_template_offsets name
	.long \name - ftrace_mux_base
	.long \name\()_guard - ftrace_mux_base
	.long \name\()_rcu - ftrace_mux_base
	.long \name\()_args - ftrace_mux_base
	.long \name\()_call - ftrace_mux_base
	.long \name\()_unguard - ftrace_mux_base
	.long \name\()_end - ftrace_mux_base
.endm

SYM_DATA_START(ftrace_mux_templates)
	ftrace_mux_template_offsets ftrace_mux_template
	ftrace_mux_template_offsets ftrace_mux_regs_template
SYM_DATA_END(ftrace_mux_templates)
	.popsection

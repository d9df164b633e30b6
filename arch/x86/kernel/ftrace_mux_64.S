/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trampolines of the function tracer multiplexer.
 *
 * Included by ftrace_64.S: the trampolines use its macros and constants.
 *
 * The IDs below CONFIG_FTRACE_MUX_STATIC_IDS are static. There is a static
 * trampoline for every combination of them, in two families:
 * ftrace_mux_caller_<mask> saves the registers that a call may change,
 * ftrace_mux_regs_caller_<mask> a full pt_regs. A trampoline calls the tracer of
 * each ID in its mask, lowest ID first, without a loop, a test or an indirect
 * branch. ftrace_mux_patch_call() patches these calls before a combination
 * uses the trampoline. The idea of one statically generated caller per
 * combination is from
 * https://lore.kernel.org/lkml/1304088194-6214-1-git-send-email-jolsa@redhat.com
 *
 * ftrace_mux_code.c makes other trampolines of parts of ftrace_mux_template and
 * ftrace_mux_regs_template.
 *
 * A call site calls an entry, which is a jump to a trampoline. An entry leaves the
 * stack as it is: a trampoline finds the return address of the call site on top.
 *
 * All callbacks get the same ip and parent ip. The trampoline reads both before
 * it calls the first callback: an IPMODIFY callback may change pt_regs->ip, and
 * the graph tracer replaces the return address on the stack.
 *
 * Only direct branches lead to a trampoline, which needs no ENDBR: SYM_START(),
 * not SYM_FUNC_START().
 */

#define FTRACE_MUX_MASKS	(1 << CONFIG_FTRACE_MUX_STATIC_IDS)

/*
 * Does what save_mcount_regs does, with fewer instructions if there are no frame pointers:
 * %rbp is stored without a copy in %rdx, and ORIG_RAX is left to the regs family, which is the
 * only one that needs it.
 */
.macro ftrace_mux_save added=0
#ifdef CONFIG_FRAME_POINTER
	save_mcount_regs \added
#else
	subq $(FRAME_SIZE), %rsp
	movq %rax, RAX(%rsp)
	movq %rcx, RCX(%rsp)
	movq %rdx, RDX(%rsp)
	movq %rsi, RSI(%rsp)
	movq %rdi, RDI(%rsp)
	movq %r8, R8(%rsp)
	movq %r9, R9(%rsp)
	movq %rbp, RBP(%rsp)

	/* The first two parameters: ip and parent ip */
	movq MCOUNT_REG_SIZE+8+\added(%rsp), %rsi
	movq MCOUNT_REG_SIZE+\added(%rsp), %rdi
	return_to_ip
#endif
.endm

/*
 * Does what restore_mcount_regs does. But without frame pointers, this macro does not load %rbp,
 * which restore_mcount_regs always does.
 */
.macro ftrace_mux_restore
#ifdef CONFIG_FRAME_POINTER
	restore_mcount_regs
#else
	movq R9(%rsp), %r9
	movq R8(%rsp), %r8
	movq RDI(%rsp), %rdi
	movq RSI(%rsp), %rsi
	movq RDX(%rsp), %rdx
	movq RCX(%rsp), %rcx
	movq RAX(%rsp), %rax
	addq $MCOUNT_REG_SIZE, %rsp
#endif
.endm

/*
 * Call the tracers of @mask. @ip and @parent hold the first two arguments for
 * all but the first call, which finds them in place.
 */
.macro ftrace_mux_calls family mask ip parent
	.set .Lftrace_mux_first, 1
	.irp id, 0, 1, 2, 3, 4, 5, 6, 7
		.if (\mask >> \id) & 1
			.ifeq .Lftrace_mux_first
	movq \ip, %rdi
	movq \parent, %rsi
			.endif
			.set .Lftrace_mux_first, 0
	/* The ftrace_ops of the ID is the third argument */
	movq ftrace_mux_static_args + 8 * \id(%rip), %rdx
	/* regs go into 4th parameter */
	movq %rsp, %rcx
.Lftrace_mux_\family\()_\mask\()_\id:
	call ftrace_stub
		.endif
	.endr
.endm

/*
 * Both prologues leave ip and parent ip in the first two argument registers, and,
 * if @keep is set, in a place that the callbacks preserve.
 */
.macro ftrace_mux_prologue keep
	ftrace_mux_save

	CALL_DEPTH_ACCOUNT

	/* Stack - skipping the return address of this trampoline */
	leaq MCOUNT_REG_SIZE+8(%rsp), %rcx
	movq %rcx, RSP(%rsp)

	/* Only ops with REGS flag set should have CS register set */
	movq $0, CS(%rsp)

	/* This family does not save %r15 and %r14: their room in pt_regs is free */
	.if \keep
	movq %rdi, R15(%rsp)
	movq %rsi, R14(%rsp)
	.else
	keep_ip R15(%rsp)
	.endif
.endm

.macro ftrace_mux_return
	ftrace_mux_restore
#ifndef CONFIG_FRAME_POINTER
	/* Callbacks preserve %rbp, which objtool expects to be loaded again */
	UNWIND_HINT_FUNC
#endif
	RET
.endm

.macro ftrace_mux_regs_prologue keep
	/* Save the current flags before any operations that can change them */
	pushfq

	/* added 8 bytes to save flags */
	ftrace_mux_save 8

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
	movq $__KERNEL_DS, SS(%rsp)
	movq $__KERNEL_CS, CS(%rsp)
	/* For arch_ftrace_set_direct_caller() */
	movq $0, ORIG_RAX(%rsp)
	/* Stack - skipping return address and flags */
	leaq MCOUNT_REG_SIZE+8*2(%rsp), %rcx
	movq %rcx, RSP(%rsp)
	keep_ip %r13

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
	ftrace_mux_prologue (\mask & (\mask - 1))
	ftrace_mux_calls args, \mask, R15(%rsp), R14(%rsp)
	return_to_regs_ip R15(%rsp)
	ftrace_mux_return
SYM_FUNC_END(ftrace_mux_caller_\mask)
STACK_FRAME_NON_STANDARD_FP(ftrace_mux_caller_\mask)
.endm

.macro ftrace_mux_regs_caller mask
	.balign 16, 0xcc
SYM_START(ftrace_mux_regs_caller_\mask, SYM_L_GLOBAL, SYM_A_NONE)
	ANNOTATE_NOENDBR
	ftrace_mux_regs_prologue (\mask & (\mask - 1))
	ftrace_mux_calls regs, \mask, %rbx, %r12
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

/*
 * altmacro is on only to turn the counter into a number: it changes how strings
 * in macro arguments are read.
 */
.macro ftrace_mux_one_mask name mask
	.noaltmacro
	\name \mask
.endm

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

	return_to_regs_ip %r13, 8

	/* restore the rest of pt_regs */
	movq R15(%rsp), %r15
	movq R14(%rsp), %r14
	movq R13(%rsp), %r13
	movq R12(%rsp), %r12
	movq R10(%rsp), %r10
	movq RBX(%rsp), %rbx

	/*
	 * If ORIG_RAX is anything but zero, make this a call to that.
	 * See arch_ftrace_set_direct_caller().
	 */
	cmpq $0, ORIG_RAX(%rsp)
	jne 1f

	/* Handlers can change this one, too */
	movq RBP(%rsp), %rbp
	ftrace_mux_restore
	/* Restore flags */
	popfq
	RET

1:	movq ORIG_RAX(%rsp), %rax
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_JMP
	/* ftrace_jmp_set(): what is called returns to the caller of the function */
	testb $1, %al
	jz 2f
	andq $~1, %rax
	movq %rax, MCOUNT_REG_SIZE+8(%rsp)
	restore_mcount_regs
	/* Restore flags */
	popfq
	RET
#endif

	/* Swap the flags with orig_rax */
2:	movq MCOUNT_REG_SIZE(%rsp), %rdi
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

/*
 * The templates of which ftrace_mux_make_tramp() makes a trampoline for a combination without a
 * static one: a copy of the part from the start to the label _again; for each further call, a copy
 * of the part from _again to the label _end; and a jump to _end. The last two instructions of each
 * copied part get the argument and the address of the call.
 *
 * In the kernel image, a template is a trampoline that makes two calls. Nothing executes it, but
 * objtool checks its stack, and orc_ftrace_find() looks up here how to unwind from a trampoline.
 *
 * A trampoline that counts its calls increments the count after the last one. A copy of a static
 * trampoline counts: it is the static one up to its last call, the increment, and the code from
 * _end to _stop. With a full pt_regs, it has a jump to ftrace_mux_regs_exit in place of this code.
 */
.macro ftrace_mux_template_call
	/* regs go into 4th parameter, the ftrace_ops is the third */
	movq %rsp, %rcx
	movabsq $0, %rdx
	call ftrace_stub
.endm

.macro ftrace_mux_template_calls name ip parent
	ftrace_mux_template_call
SYM_INNER_LABEL(\name\()_again, SYM_L_LOCAL)
	movq \ip, %rdi
	movq \parent, %rsi
	ftrace_mux_template_call
SYM_INNER_LABEL(\name\()_end, SYM_L_LOCAL)
.endm

	.balign 16, 0xcc
SYM_START(ftrace_mux_template, SYM_L_LOCAL, SYM_A_NONE)
	ANNOTATE_NOENDBR
	ftrace_mux_prologue 1
	ftrace_mux_template_calls ftrace_mux_template, R15(%rsp), R14(%rsp)
	return_to_regs_ip R15(%rsp)
	ftrace_mux_return
SYM_INNER_LABEL(ftrace_mux_template_stop, SYM_L_LOCAL)
SYM_FUNC_END(ftrace_mux_template)
STACK_FRAME_NON_STANDARD_FP(ftrace_mux_template)

	.balign 16, 0xcc
SYM_START(ftrace_mux_regs_template, SYM_L_LOCAL, SYM_A_NONE)
	ANNOTATE_NOENDBR
	ftrace_mux_regs_prologue 1
	ftrace_mux_template_calls ftrace_mux_regs_template, %rbx, %r12
SYM_INNER_LABEL(ftrace_mux_regs_template_stop, SYM_L_LOCAL)
	jmp ftrace_mux_regs_exit
SYM_FUNC_END(ftrace_mux_regs_template)
STACK_FRAME_NON_STANDARD_FP(ftrace_mux_regs_template)

/* Offsets from ftrace_mux_caller_1, the first trampoline; mask 0 has none */
.macro ftrace_mux_caller_offset mask
	.long ftrace_mux_caller_\mask - ftrace_mux_caller_1
.endm

.macro ftrace_mux_regs_caller_offset mask
	.long ftrace_mux_regs_caller_\mask - ftrace_mux_caller_1
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

/* struct ftrace_mux_layout */
.macro ftrace_mux_layout family caller template exit
	.long .Lftrace_mux_\family\()_1_0 - \caller\()_1
	.long .Lftrace_mux_\family\()_3_0 - \caller\()_3
	.long .Lftrace_mux_\family\()_3_1 - .Lftrace_mux_\family\()_3_0
	.long \template - ftrace_mux_caller_1
	.long \template\()_again - ftrace_mux_caller_1
	.long \template\()_end - ftrace_mux_caller_1
	.long \template\()_stop - ftrace_mux_caller_1
	.long \exit - ftrace_mux_caller_1
.endm

SYM_DATA_START(ftrace_mux_layouts)
	ftrace_mux_layout args, ftrace_mux_caller, ftrace_mux_template, \
			  ftrace_mux_template_end
	ftrace_mux_layout regs, ftrace_mux_regs_caller, ftrace_mux_regs_template, \
			  ftrace_mux_regs_exit
SYM_DATA_END(ftrace_mux_layouts)
	.popsection

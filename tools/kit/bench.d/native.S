/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of native.c that need to be in assembly */

	.text

/* Only the C files of the kernel jump here: native.c patches all other jumps */
	.globl	__x86_return_thunk, stock___x86_return_thunk
__x86_return_thunk:
stock___x86_return_thunk:
	ret
	int3

/*
 * void call_traced(struct regs *regs): calls the function with these values in the
 * registers, and leaves in @regs those that it comes back with
 */
	.globl	call_traced, return_site
call_traced:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	push	%rdi
	mov	0(%rdi), %rax
	mov	8(%rdi), %rcx
	mov	16(%rdi), %rdx
	mov	24(%rdi), %rsi
	mov	40(%rdi), %r8
	mov	48(%rdi), %r9
	mov	56(%rdi), %rbx
	mov	64(%rdi), %rbp
	mov	72(%rdi), %r12
	mov	80(%rdi), %r13
	mov	88(%rdi), %r14
	mov	96(%rdi), %r15
	mov	32(%rdi), %rdi
	call	traced
return_site:
	push	%rdi
	mov	8(%rsp), %rdi
	mov	%rax, 0(%rdi)
	mov	%rcx, 8(%rdi)
	mov	%rdx, 16(%rdi)
	mov	%rsi, 24(%rdi)
	pop	%rax
	mov	%rax, 32(%rdi)
	mov	%r8, 40(%rdi)
	mov	%r9, 48(%rdi)
	mov	%rbx, 56(%rdi)
	mov	%rbp, 64(%rdi)
	mov	%r12, 72(%rdi)
	mov	%r13, 80(%rdi)
	mov	%r14, 88(%rdi)
	mov	%r15, 96(%rdi)
	pop	%rdi
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret

/* The traced function, alone in a page */
	.section traced_text, "ax"
	.balign	4096, 0xcc
	.globl	traced, call_site
traced:
	endbr64
call_site:
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	ret
	.balign	4096, 0xcc

	.section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of native_record.c that need to be in assembly */

	.text

/* The kernel's C code jumps here to return, until native_record.c patches these jumps */
	.globl	__x86_return_thunk
__x86_return_thunk:
	ret
	int3

/*
 * What a buffer is allocated with, and what has nothing to do here: there is only one task,
 * no panic, and no other CPU. A new bitmap is clear. _printk() says that the range holds no
 * events yet.
 */
	.globl	__bitmap_clear, __cpuhp_state_add_instance, __init_swait_queue_head
	.globl	__init_waitqueue_head, __mutex_init, _printk, _raw_spin_lock_irqsave
	.globl	_raw_spin_unlock_irqrestore, atomic_notifier_chain_register, bitmap_free
	.globl	mutex_init_generic
__bitmap_clear:
__cpuhp_state_add_instance:
__init_swait_queue_head:
__init_waitqueue_head:
__mutex_init:
_printk:
_raw_spin_lock_irqsave:
_raw_spin_unlock_irqrestore:
atomic_notifier_chain_register:
bitmap_free:
mutex_init_generic:
	xor	%eax, %eax
	ret

/*
 * The per-CPU variables of both kernels, which are in one cache line, as in the kernel.
 * Linux 6.12 has them in struct pcpu_hot; later kernels have a symbol for each of them.
 * The preemption count is 1: a call of the scheduler would be needed if it became 0.
 */
	.section percpu, "aw"
	.balign	64
	.globl	pcpu_hot, const_pcpu_hot, current_task, const_current_task
	.globl	__preempt_count, cpu_number, this_cpu_off, __ref_stack_chk_guard
pcpu_hot:
const_pcpu_hot:
current_task:
const_current_task:
	.quad	task
	.long	1		/* pcpu_hot.preempt_count */
	.long	0		/* pcpu_hot.cpu_number */
__preempt_count:
	.quad	1
cpu_number:
	.quad	0
this_cpu_off:
	.quad	0
__ref_stack_chk_guard:
	.quad	0
	.balign	64

	.section .note.GNU-stack, "", @progbits

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic return hook for MIPS
 */

#include <linux/kprobes.h>
#include <linux/rethook.h>

unsigned long arch_rethook_trampoline_callback(struct pt_regs *regs);

/* Called by arch_rethook_trampoline(), returns the real return address */
unsigned long arch_rethook_trampoline_callback(struct pt_regs *regs)
{
	return rethook_trampoline_handler(regs, kernel_stack_pointer(regs));
}

NOKPROBE_SYMBOL(arch_rethook_trampoline_callback);

/*
 * There is no frame pointer.  The stack pointer takes its place, as it is the same at
 * the start of a function and after its return.
 */
void arch_rethook_prepare(struct rethook_node *rhn, struct pt_regs *regs,
			  bool mcount)
{
	rhn->ret_addr = regs->regs[31];
	rhn->frame = kernel_stack_pointer(regs);

	/* Replace the return address by the trampoline. */
	regs->regs[31] = (unsigned long)arch_rethook_trampoline;
}

NOKPROBE_SYMBOL(arch_rethook_prepare);

/* The trampoline itself must not be probed. */
NOKPROBE_SYMBOL(arch_rethook_trampoline);

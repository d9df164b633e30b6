// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kprobes at the start of a function, by means of ftrace
 */

#include <linux/ftrace.h>
#include <linux/kprobes.h>

/* Not inlined, since few probes have a post_handler() */
static noinline void run_post_handler(struct kprobe *p, struct pt_regs *regs)
{
	/* The call site counts as the probed instruction: show the address behind it. */
	regs->cp0_epc = (unsigned long)p->addr + MCOUNT_INSN_SIZE;
	get_kprobe_ctlblk()->kprobe_status = KPROBE_HIT_SSDONE;
	p->post_handler(p, regs, 0);
}

NOKPROBE_SYMBOL(run_post_handler);

static nokprobe_inline void run_probe(unsigned long ip, struct pt_regs *regs)
{
	struct kprobe **running, *p;
	unsigned long orig_ip;

	p = get_kprobe((kprobe_opcode_t *)ip);
	if (unlikely(!p) || kprobe_disabled(p))
		return;

	running = this_cpu_ptr(&current_kprobe);
	if (*running) {
		kprobes_inc_nmissed_count(p);
		return;
	}

	*running = p;
	get_kprobe_ctlblk()->kprobe_status = KPROBE_HIT_ACTIVE;

	/*
	 * The handlers see the address that they would see at a breakpoint, even if
	 * another ops has changed it.  If pre_handler() returns nonzero, post_handler()
	 * is not called, and execution continues at the address that pre_handler() has
	 * left.  If that is still the address of the probe, ftrace_caller() continues
	 * behind the call site.
	 */
	orig_ip = regs->cp0_epc;
	regs->cp0_epc = (unsigned long)p->addr;
	if (!p->pre_handler || !p->pre_handler(p, regs)) {
		if (unlikely(p->post_handler))
			run_post_handler(p, regs);
		regs->cp0_epc = orig_ip;
	}

	*running = NULL;
}

/*
 * Called when a function that has a probe at its start is entered, with preemption
 * enabled or not.
 *
 * This needs no ftrace_test_recursion_trylock(): while handlers run, current_kprobe
 * is set, and a probe that they hit is counted as missed, as at a breakpoint.  With
 * the lock, it would be missed without being counted, and function tracers would
 * not see what handlers call.  Before current_kprobe is set, nothing is called here
 * that can be probed, except with CONFIG_PROVE_RCU_LIST.  After it is cleared,
 * enabling preemption may call the scheduler.  If the scheduler hits a probe, preemption
 * is disabled there: so this handler does not call the scheduler again.
 */
void kprobe_ftrace_handler(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);
	int bit;

	if (unlikely(kprobe_ftrace_disabled || !regs))
		return;

	if (!IS_ENABLED(CONFIG_PROVE_RCU_LIST)) {
		guard(preempt_notrace)();
		run_probe(ip, regs);
		return;
	}

	/* get_kprobe() calls functions that can be probed, before current_kprobe is set */
	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (bit < 0)
		return;
	run_probe(ip, regs);
	ftrace_test_recursion_unlock(bit);
}

NOKPROBE_SYMBOL(kprobe_ftrace_handler);

int arch_prepare_kprobe_ftrace(struct kprobe *p)
{
	p->ainsn.insn = NULL;

	return 0;
}

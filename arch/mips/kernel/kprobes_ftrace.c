// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kprobes at the start of a function, by means of ftrace
 */

#include <linux/ftrace.h>
#include <linux/kprobes.h>

/* Rarely wanted, and out of the way of those that don't */
static noinline void run_post_handler(struct kprobe *p, struct pt_regs *regs)
{
	/* The stub as a whole is what was stepped over. */
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
	 * For the handlers, as if the probe were a breakpoint, whatever another
	 * ops has changed.  If pre_handler() returns nonzero, it has set up
	 * where to go on: no post_handler() then.
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
 * Called for each function that has a probe at its start.
 *
 * That current_kprobe is set keeps this from recursing: a probe that is hit while
 * the handlers of another one run is counted as missed.  To look for the probe
 * calls nothing that can be probed, unless the use of RCU lists is checked.
 */
void kprobe_ftrace_handler(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = &arch_ftrace_regs(fregs)->regs;
	int bit;

	if (unlikely(kprobe_ftrace_disabled || !ftrace_get_regs(fregs)))
		return;

	if (!IS_ENABLED(CONFIG_PROVE_RCU_LIST)) {
		guard(preempt_notrace)();
		run_probe(ip, regs);
		return;
	}

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

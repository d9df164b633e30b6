// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kprobes at the start of a function, by means of ftrace
 */

#include <linux/ftrace.h>
#include <linux/kprobes.h>

/* Called for each function that has a probe at its start. */
void kprobe_ftrace_handler(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct kprobe_ctlblk *kcb;
	unsigned long orig_ip;
	struct pt_regs *regs;
	struct kprobe *p;
	int bit;

	if (unlikely(kprobe_ftrace_disabled))
		return;

	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (bit < 0)
		return;

	p = get_kprobe((kprobe_opcode_t *)ip);
	if (unlikely(!p) || kprobe_disabled(p))
		goto out;

	regs = ftrace_get_regs(fregs);
	if (unlikely(!regs))
		goto out;

	if (kprobe_running()) {
		kprobes_inc_nmissed_count(p);
		goto out;
	}

	__this_cpu_write(current_kprobe, p);
	kcb = get_kprobe_ctlblk();
	kcb->kprobe_status = KPROBE_HIT_ACTIVE;

	/*
	 * For the handlers, as if the probe were a breakpoint, whatever another
	 * ops has changed.  If pre_handler() returns nonzero, it has set up
	 * where to go on: no post_handler() then.
	 */
	orig_ip = instruction_pointer(regs);
	instruction_pointer_set(regs, ip);
	if (!p->pre_handler || !p->pre_handler(p, regs)) {
		if (unlikely(p->post_handler)) {
			/* The stub as a whole is what was stepped over. */
			instruction_pointer_set(regs, ip + MCOUNT_INSN_SIZE);
			kcb->kprobe_status = KPROBE_HIT_SSDONE;
			p->post_handler(p, regs, 0);
		}
		instruction_pointer_set(regs, orig_ip);
	}

	__this_cpu_write(current_kprobe, NULL);
out:
	ftrace_test_recursion_unlock(bit);
}

NOKPROBE_SYMBOL(kprobe_ftrace_handler);

int arch_prepare_kprobe_ftrace(struct kprobe *p)
{
	p->ainsn.insn = NULL;

	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MIPS_RETHOOK_H
#define _MIPS_RETHOOK_H

struct pt_regs;
struct rethook_node;

unsigned long arch_rethook_trampoline_callback(struct pt_regs *regs);
void arch_rethook_prepare(struct rethook_node *rhn, struct pt_regs *regs,
			  bool mcount);

#endif /* _MIPS_RETHOOK_H */

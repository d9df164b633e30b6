/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MIPS_KPROBES_REFUSED_TEST_H
#define _MIPS_KPROBES_REFUSED_TEST_H

#include <linux/kprobes.h>

/* Return the word at @addr, or -EFAULT.  The second one loads it in a delay slot. */
int kprobes_test_load(unsigned long addr);
int kprobes_test_load_in_delay_slot(unsigned long addr);
extern kprobe_opcode_t kprobes_test_load_insn[];
extern kprobe_opcode_t kprobes_test_load_branch[];

/* Adds one to the word at @addr, and returns it */
int kprobes_test_inc(int *addr);
extern kprobe_opcode_t kprobes_test_ll_insn[];
extern kprobe_opcode_t kprobes_test_sc_insn[];

#endif /* _MIPS_KPROBES_REFUSED_TEST_H */

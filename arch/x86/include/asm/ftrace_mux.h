/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer on x86_64 */
#ifndef _ASM_X86_FTRACE_MUX_H
#define _ASM_X86_FTRACE_MUX_H

#include <linux/rbtree_latch.h>
#include <linux/types.h>

/* Users know the function __x64_sys_read() of a system call as sys_read */
#define ARCH_FTRACE_SYSCALL_PREFIX	"__x64_"

/* For tests: the largest offset of a call site in its function, which may begin with ENDBR */
#define ARCH_FTRACE_MAX_SITE_OFFSET	ENDBR_INSN_SIZE

/* The kinds of trampolines: see arch/x86/kernel/ftrace_mux.c */
enum ftrace_mux_tramp_kind {
	FTRACE_MUX_TRAMP_STATIC,
	FTRACE_MUX_TRAMP_COPY,
	FTRACE_MUX_TRAMP_MADE,
};

/**
 * struct arch_ftrace_mux_combo - the trampoline of a combination
 * @tramp: its address
 * @size: its size in bytes; 0 if it is static
 * @exit_offset: if it is a copy without a full pt_regs: offset of the code that restores registers
 *	and returns; else 0
 * @kind: its kind
 * @tree: if not static: link in the tree of trampolines, by address
 * @node: if not static: link in the list of trampolines, under RCU
 */
struct arch_ftrace_mux_combo {
	unsigned long		tramp;
	unsigned int		size;
	unsigned int		exit_offset;
	enum ftrace_mux_tramp_kind kind;
	struct latch_tree_node	tree;
	struct list_head	node;
};

#ifdef CONFIG_FTRACE_MUX
unsigned long ftrace_mux_unwind_ip(unsigned long ip);
#else
static inline unsigned long ftrace_mux_unwind_ip(unsigned long ip) { return 0; }
#endif

#endif /* _ASM_X86_FTRACE_MUX_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer on x86_64 */
#ifndef _ASM_X86_FTRACE_MUX_H
#define _ASM_X86_FTRACE_MUX_H

#include <linux/rbtree_latch.h>
#include <linux/types.h>

/* What the wrapper of a system call has in front of the name that users know */
#define ARCH_FTRACE_SYSCALL_PREFIX	"__x64_"

/* How far the call site is behind the start of a function at most */
#define ARCH_FTRACE_MAX_SITE_OFFSET	ENDBR_INSN_SIZE

/**
 * struct arch_ftrace_mux_combo - the trampoline of a combination
 * @tramp: its address
 * @size: its size in bytes; 0 if it is a static one
 * @end: if it is a copy of a static one without a full pt_regs: offset of the code that restores
 *	registers and returns
 * @copied: it is a copy of a static one
 * @tree: if not static: link in the tree of trampolines, by address
 * @node: if not static: link in the list of trampolines, under RCU
 */
struct arch_ftrace_mux_combo {
	unsigned long		tramp;
	unsigned int		size;
	unsigned int		end;
	bool			copied;
	struct latch_tree_node	tree;
	struct list_head	node;
};

#ifdef CONFIG_FTRACE_MUX
unsigned long ftrace_mux_unwind_ip(unsigned long ip);
#else
static inline unsigned long ftrace_mux_unwind_ip(unsigned long ip) { return 0; }
#endif

#endif /* _ASM_X86_FTRACE_MUX_H */

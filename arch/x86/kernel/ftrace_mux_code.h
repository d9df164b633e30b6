/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer on x86_64: the code of entries and trampolines */
#ifndef _X86_FTRACE_MUX_CODE_H
#define _X86_FTRACE_MUX_CODE_H

#include <linux/types.h>

struct ftrace_mux_call;
struct ftrace_mux_combo;
struct ftrace_ops;

/* In bytes: a jump, and room up to the next entry */
#define FTRACE_MUX_ENTRY_SIZE	8

/* ftrace_mux_64.S */

/*
 * The first static trampoline: base of the offsets in the two tables below, and in @start and the
 * members behind it of struct ftrace_mux_layout
 */
extern const char ftrace_mux_caller_1[];
/* Offsets of the static trampolines, by mask */
extern const u32 ftrace_mux_caller_offsets[1 << CONFIG_FTRACE_MUX_STATIC_IDS];
extern const u32 ftrace_mux_regs_caller_offsets[1 << CONFIG_FTRACE_MUX_STATIC_IDS];

/* Where the static trampolines find the third argument of each call */
extern struct ftrace_ops *ftrace_mux_static_args[CONFIG_FTRACE_MUX_STATIC_IDS];

/* Where the static trampolines of a family have their calls, and the parts of its template */
struct ftrace_mux_layout {
	/* In a static trampoline: offsets of the calls, and from one to the next */
	u32	single_call;	/* of its only one */
	u32	first_call;	/* of the first of several */
	u32	stride;
	/* Of the template: offsets from ftrace_mux_caller_1 */
	u32	start;		/* saves registers, and makes the first call */
	u32	again;		/* makes another call */
	u32	end;		/* restores registers and returns: made trampolines jump here */
	u32	stop;		/* end of this code, which copies of static ones contain */
	/*
	 * With a full pt_regs, the code that restores registers and returns is at @exit, and @stop
	 * equals @end, where the template has a jump to @exit. Made trampolines jump to @end, and
	 * copies of static ones to @exit. Without a full pt_regs, @exit equals @end.
	 */
	u32	exit;
};

/* Without and with a full pt_regs */
extern const struct ftrace_mux_layout ftrace_mux_layouts[2];

/* ftrace_mux_code.c */

void ftrace_mux_set_static_arg(unsigned int id, struct ftrace_ops *ops);
unsigned long ftrace_mux_static_tramp(unsigned int mask, bool regs);

void ftrace_mux_patch_entry(unsigned long entry, unsigned long tramp);
void ftrace_mux_patch_call(unsigned long tramp, unsigned int nr, unsigned int n,
			   bool regs, bool made, void *func);

void *ftrace_mux_alloc_code(unsigned int pages);
unsigned long ftrace_mux_make_tramp(const struct ftrace_mux_call *calls, unsigned int nr,
				    bool regs, u64 __percpu *count, unsigned int *size);
unsigned long ftrace_mux_copy_static(const struct ftrace_mux_combo *combo, unsigned long from,
				     unsigned int *size, unsigned int *exit_offset);
void ftrace_mux_free_tramp(unsigned long tramp, unsigned int size);
unsigned long ftrace_mux_template_ip(unsigned long offset, bool regs,
				     unsigned int exit_offset);

#endif /* _X86_FTRACE_MUX_CODE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Function tracer multiplexer.
 *
 * See Documentation/trace/function-tracers.rst for what it does for users,
 * and kernel/trace/ftrace_mux.c for how it works.
 */
#ifndef _LINUX_FTRACE_MUX_H
#define _LINUX_FTRACE_MUX_H

#include <linux/types.h>

struct dyn_ftrace;
struct ftrace_ops;
struct ftrace_ops_hash;
struct ftrace_regs;
struct trace_array;

#ifdef CONFIG_FTRACE_MUX

/* IDs that have statically generated trampolines */
#define FTRACE_MUX_IDS		CONFIG_FTRACE_MUX_STATIC_IDS

/* What the tracer was when ftrace_mux_hold_default() was called */
enum ftrace_mux_hold {
	MUX_HOLD_NONE,		/* it was not called */
	MUX_HOLD_OTHER,		/* not the default */
	MUX_HOLD_DEFAULT,
	MUX_HOLD_CHOSEN,	/* the default by choice of the user */
};

/**
 * struct ftrace_mux_tracer - what the multiplexer knows of a struct ftrace_ops
 * @node: link in the list of registered tracers, in order of registration
 * @filter_node: link in the list of tracers with a filter that was split from
 *	that of the function tracer; protected by ftrace_mux_files_mutex
 * @tr: the trace instance whose files show the tracer, NULL for the top one
 * @seq: number of this registration, never used twice; 0 if not registered
 * @nr: tells apart registered tracers that have the same name
 * @name_hash: hash of the name, to find these
 * @id: slot of the tracer plus one; 0 if it has none
 * @hold: enum ftrace_mux_hold, across a registration that is not news
 * @is_default: set_ftrace_filter of @tr is the filter of this tracer
 * @chosen: became the default by a write to function_tracers
 * @private_filter: the tracer does not have its filter from the function
 *	tracer; see ftrace_mux_has_files()
 * @own_filter: was given a filter apart from that of the function tracer
 * @mod_trace: the part of a filter of its own that is for modules to come
 * @mod_notrace: the same for its notrace list
 * @shared_hash: the filter of the function tracer, for tracers that have it
 *	until they are given one of their own
 *
 * Protected by ftrace_lock unless noted otherwise.
 */
struct ftrace_mux_tracer {
	struct list_head	node;
	struct list_head	filter_node;
	struct trace_array	*tr;
	u64			seq;
	unsigned int		nr;
	u32			name_hash;
	u8			id;
	u8			hold;
	bool			is_default;
	bool			chosen;
	bool			private_filter;
	bool			own_filter;
	struct list_head	mod_trace;
	struct list_head	mod_notrace;
	struct ftrace_ops_hash	*shared_hash;
};

/* Provided by the architecture */
typedef void (*ftrace_mux_func_t)(unsigned long ip, unsigned long parent_ip,
				  struct ftrace_ops *op, struct ftrace_regs *fregs);

void arch_ftrace_mux_set_slot(unsigned int id, struct ftrace_ops *ops,
			      ftrace_mux_func_t func);
unsigned long arch_ftrace_mux_caller(unsigned int mask, bool regs);
unsigned long arch_ftrace_mux_callee(unsigned long ip);

#endif /* CONFIG_FTRACE_MUX */
#endif /* _LINUX_FTRACE_MUX_H */

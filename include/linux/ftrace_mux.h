/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Function tracer multiplexer.
 *
 * Documentation/trace/function-tracers.rst says what it does for users,
 * kernel/trace/mux/tracers.c how it works.
 */
#ifndef _LINUX_FTRACE_MUX_H
#define _LINUX_FTRACE_MUX_H

#include <linux/types.h>

struct dyn_ftrace;
struct fgraph_ops;
struct fgraph_set;
struct ftrace_ops;
struct ftrace_ops_hash;
struct ftrace_regs;
struct trace_array;

#ifdef CONFIG_FTRACE_MUX

/* Number of IDs: struct dyn_ftrace has room for masks of this size */
#define FTRACE_MUX_IDS		16

/* All combinations of the lowest IDs have a static trampoline */
#define FTRACE_MUX_STATIC_IDS	CONFIG_FTRACE_MUX_STATIC_IDS

/* Whether the tracer was the default when ftrace_mux_hold_default() was called */
enum ftrace_mux_hold {
	MUX_HOLD_NONE,		/* not called */
	MUX_HOLD_OTHER,		/* not the default */
	MUX_HOLD_DEFAULT,
	MUX_HOLD_CHOSEN,	/* the default, chosen by the user */
};

/**
 * struct ftrace_mux_tracer - data of the multiplexer in a struct ftrace_ops
 * @node: link in the list of registered tracers, in order of registration
 * @filter_node: link in the list of tracers with a filter that was split from
 *	that of the function tracer; protected by ftrace_mux_files_mutex
 * @tr: trace instance whose files show the tracer, NULL for the top instance
 * @seq: number of this registration, never used twice; 0 if not registered
 * @nr: number of the tracer among registered tracers of the same name
 * @name_hash: hash of the name, to find tracers of the same name
 * @id: ID of the tracer plus one; 0 if it has none
 * @hold: enum ftrace_mux_hold, while the tracer is unregistered to be registered
 *	again, see ftrace_mux_hold_default()
 * @is_default: set_ftrace_filter of @tr changes the filter of this tracer
 * @chosen: became the default by a write to function_tracers
 * @private_filter: the tracer never uses the filter of the function tracer,
 *	see ftrace_mux_has_files()
 * @own_filter: has a filter apart from that of the function tracer
 * @mod_trace: filters of its own for modules that are not loaded yet
 * @mod_notrace: the same for its notrace list
 * @shared_hash: filter of the function tracer, for a tracer that uses it until
 *	it gets a filter of its own
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

/* What a trampoline does around a call */
enum ftrace_mux_how {
	MUX_CALL,		/* nothing */
	MUX_CALL_GUARDED,	/* takes the recursion guard */
	MUX_CALL_RCU,		/* the same, and calls only if RCU is watching */
};

/**
 * struct ftrace_mux_call - a call in a trampoline on demand
 * @func: the function that is called, NULL if the call was removed
 * @arg: third argument of @func
 * @how: what the trampoline does around the call
 * @offset: offset of the call instruction in the trampoline
 */
struct ftrace_mux_call {
	void			*func;
	const void		*arg;
	enum ftrace_mux_how	how;
	unsigned int		offset;
};

void arch_ftrace_mux_set_slot(unsigned int id, struct ftrace_ops *ops,
			      ftrace_mux_func_t func);
unsigned long arch_ftrace_mux_caller(unsigned int mask, bool regs);
bool arch_ftrace_mux_is_caller(unsigned long addr);
unsigned long arch_ftrace_mux_callee(unsigned long ip);
unsigned long arch_ftrace_mux_create(struct ftrace_mux_call *calls, unsigned int nr,
				     bool regs, unsigned int more,
				     unsigned int *size, unsigned int *room);
int arch_ftrace_mux_append(unsigned long tramp, bool regs, struct ftrace_mux_call *call,
			   unsigned int *size, unsigned int room);
void arch_ftrace_mux_free(unsigned long tramp, unsigned int room);
void arch_ftrace_mux_set_call(unsigned long ip, void *func);
unsigned long arch_ftrace_mux_unwind_ip(unsigned long offset, bool regs);

/* Called by the trampolines */
int ftrace_mux_guard_enter(unsigned long ip, unsigned long parent_ip);
void ftrace_mux_guard_leave(int guard);

bool is_ftrace_mux_trampoline(unsigned long addr);
unsigned long ftrace_mux_unwind_ip(unsigned long ip);

struct fgraph_set_entry {
	struct fgraph_ops	*gops;
	int			idx;
};

/**
 * struct fgraph_set - the graph tracers that want a function
 * @nr: number of graph tracers
 * @gops: the graph tracers, with their indexes in fgraph_array[] when the set was
 *	made; a graph tracer that is no longer at its index may have been freed
 */
struct fgraph_set {
	unsigned int		nr;
	struct fgraph_set_entry	gops[] __counted_by(nr);
};

int function_graph_enter_set(unsigned long ret, unsigned long func,
			     unsigned long frame_pointer, unsigned long *retp,
			     const struct fgraph_set *set);
void ftrace_graph_set_func(unsigned long ip, unsigned long parent_ip,
			   const struct fgraph_set *set, struct ftrace_regs *fregs);

#else /* !CONFIG_FTRACE_MUX */

static inline bool is_ftrace_mux_trampoline(unsigned long addr) { return false; }
static inline unsigned long ftrace_mux_unwind_ip(unsigned long ip) { return 0; }

#endif /* CONFIG_FTRACE_MUX */
#endif /* _LINUX_FTRACE_MUX_H */

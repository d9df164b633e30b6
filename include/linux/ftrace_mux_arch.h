/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Function tracer multiplexer: what an architecture provides.
 *
 * kernel/trace/mux/ decides which tracers each function calls; the architecture calls
 * them. Both have these notions:
 *
 * - A combination is a set of tracers that some functions have. The architecture makes
 *   the calls of the combination in the order of @calls, with the same ip and parent ip.
 * - An entry leads to a combination, and can be changed to lead to another. It has an
 *   index. No function has the entry with index 0.
 * - A call site tells which entry its function has: it calls the code of the entry (x86_64),
 *   a literal in front of the function has the address of the entry (arm64, riscv), or the call
 *   site has the offset of the entry in a table (MIPS).
 *
 * A task may be preempted between a call site, an entry and a callback. If the entry is
 * changed meanwhile, the task makes the calls of the old combination or those of the new
 * one, and never passes the argument of one call to the function of another.
 *
 * A combination is prepared by arch_ftrace_mux_init_combo(); then entries lead to it; then none
 * does, and a grace period of Tasks RCU and of Tasks Rude RCU passes, so that no task can make its
 * calls; then arch_ftrace_mux_exit_combo() is called, and @calls, @timed, @count and @graph_set are
 * freed. The rest, with @arch and @regs, stays for a grace period of RCU, for lookups by address
 * from any context.
 *
 * If there is no memory for a combination or an entry, its functions go through
 * ftrace_ops_list_func().
 *
 * Entries and calls are changed between arch_ftrace_mux_begin() and arch_ftrace_mux_end(),
 * entries in ascending order of their indexes, so that an architecture that collects the changes
 * (smp_text_poke_batch_add()) has to sort nothing. When arch_ftrace_mux_end() has returned, a
 * pointer to an entry, such as a literal, may be stored: with smp_wmb() before the store, or with a
 * store-release. A CPU that loads this pointer, and whose further loads depend on it, sees the
 * changes.
 *
 * All functions here are called in process context, with ftrace_lock held.
 */
#ifndef _LINUX_FTRACE_MUX_ARCH_H
#define _LINUX_FTRACE_MUX_ARCH_H

#include <linux/ftrace.h>
#include <linux/types.h>

#include <asm/ftrace_mux.h>

/* How many entries arch_ftrace_mux_add_entries() adds. Their indexes have 16 bits. */
#define FTRACE_MUX_CHUNK_ENTRIES	512
#define FTRACE_MUX_MAX_CHUNKS		((U16_MAX + 1) / FTRACE_MUX_CHUNK_ENTRIES)

/*
 * Whether a call site tells ftrace_caller() to save all registers. If so, an entry only moves
 * between combinations with the same @regs.
 */
#ifndef ARCH_FTRACE_MUX_SITE_REGS
#define ARCH_FTRACE_MUX_SITE_REGS	false
#endif

/* Whether the list function makes a direct call even if it is the only tracer of a function */
#ifndef ARCH_FTRACE_MUX_DIRECT_IN_LIST
#define ARCH_FTRACE_MUX_DIRECT_IN_LIST	false
#endif

struct ftrace_mux_timed_call;
struct seq_file;

/**
 * struct ftrace_mux_combo - a combination of tracers
 * @arch: for the architecture
 * @calls: the calls, one for each of @ops
 * @count: if not NULL, the architecture increments it each time that it makes the calls, before
 *	or after them. It must not lose an increment: either one instruction finds the element of
 *	this CPU and adds to it, or the addition is atomic, since the task may move to another CPU
 *	between the two. The generic this_cpu_inc(), which disables interrupts, is enough only on
 *	an architecture where an NMI never returns, such as MIPS. Elsewhere, traced functions that
 *	an NMI calls add to the same element.
 * @regs: one of the tracers has FTRACE_OPS_FL_SAVE_REGS, so that callbacks get a full pt_regs
 * @hash: link in the table of combinations; not linked if a tracer of @graph_set has gone, or
 *	one of the tracers was unregistered while calls were counted
 * @node: link in the list of all combinations
 * @entries: the entries that lead to it
 * @rcu: for kfree_rcu()
 * @graph: indexes of the graph tracers that want the functions, as a mask, if several graph
 *	tracers are registered
 * @graph_set: the same graph tracers, for ftrace_graph_set_func()
 * @timed: the args of @calls while their time is measured, else NULL
 * @last_seq: ftrace_mux_last_seq() when it was made
 * @only_graph: the graph tracer that the manager called when the combination was made, if @graph
 *	was 0; NULL if the combination does not have the manager
 * @generation: when it was made, see count.c
 * @entry_left: an entry has left it since the last sweep (quiesce.c) started
 * @nr: number of tracers
 * @ops: the tracers, in the order of struct ftrace_mux_set: those with an ID first, lowest first
 *
 * After arch_ftrace_mux_init_combo() has succeeded, no member that the architecture reads
 * changes, except the func of each of @calls.
 */
struct ftrace_mux_combo {
	/* Used by the architecture, as are @nr and @ops */
	struct arch_ftrace_mux_combo arch;
	struct ftrace_mux_call	*calls;
	u64 __percpu		*count;
	bool			regs;
	/* Used by kernel/trace/mux only */
	bool			entry_left;
	unsigned int		generation;
	struct hlist_node	hash;
	struct list_head	node;
	struct list_head	entries;
	struct rcu_head		rcu;
	unsigned long		graph;
	struct fgraph_set	*graph_set;
	struct ftrace_mux_timed_call	*timed;
	u64			last_seq;
	const struct ftrace_ops	*only_graph;
	/* Used by both */
	unsigned int		nr;
	struct ftrace_ops	*ops[] __counted_by(nr);
};

/* Combinations */

/**
 * arch_ftrace_mux_init_combo - prepare to make the calls of a combination
 * @combo: the combination, with @arch all zero, and @count, if it counts its calls
 *
 * Context: process context, may sleep; ftrace_lock held, text_mutex not held.
 *
 * Return: 0; -ENOMEM, with @arch all zero: the caller may call this again without @count.
 */
int arch_ftrace_mux_init_combo(struct ftrace_mux_combo *combo);

/**
 * arch_ftrace_mux_exit_combo - undo arch_ftrace_mux_init_combo()
 * @combo: the combination; no entry leads to it, and no task can be among its calls. It is freed
 *	after a grace period of RCU.
 *
 * Context: process context, may sleep; ftrace_lock held, text_mutex not held.
 */
void arch_ftrace_mux_exit_combo(struct ftrace_mux_combo *combo);

/**
 * arch_ftrace_mux_combo_size - size of what was made for a combination
 * @combo: the combination
 *
 * Context: process context; ftrace_lock held.
 *
 * Return: the size in bytes of the code that was made for the combination, or of its array of calls
 * if combinations are data; 0 if the combination uses a static trampoline of the kernel image.
 * function_tracers_info shows "static" for 0, and "on_demand" otherwise.
 */
unsigned int arch_ftrace_mux_combo_size(const struct ftrace_mux_combo *combo);

/**
 * arch_ftrace_mux_show_combo - name the code that makes the calls of a combination
 * @m: where to
 * @combo: the combination
 *
 * Context: process context; ftrace_lock held.
 */
void arch_ftrace_mux_show_combo(struct seq_file *m, const struct ftrace_mux_combo *combo);

/**
 * arch_ftrace_mux_free_id - forget the tracer that had an ID
 * @id: the ID
 *
 * No task can call the tracer any more. Unused combinations with this tracer may still exist.
 *
 * Context: process context; ftrace_lock held.
 */
void arch_ftrace_mux_free_id(unsigned int id);

/* Entries */

/**
 * arch_ftrace_mux_add_entries - add FTRACE_MUX_CHUNK_ENTRIES entries
 * @first: the index of the first of them, which is the number of entries that there are already
 *
 * Context: process context, may sleep; ftrace_lock held, text_mutex not held.
 *
 * Return: 0, -ENOMEM.
 */
int arch_ftrace_mux_add_entries(unsigned int first);

/**
 * arch_ftrace_mux_call_target - what the call site of a function with an entry calls
 * @index: the index of the entry
 *
 * Context: process context; ftrace_lock held.
 *
 * ftrace_get_addr_new() and ftrace_get_addr_curr() return it for such a function.
 *
 * Return: the address of the entry if it is code, that of ftrace_caller() if a literal tells the
 * entry, or that of an element of a table, which the architecture turns into an offset.
 */
unsigned long arch_ftrace_mux_call_target(unsigned int index);

/* Changes, in batches */

/**
 * arch_ftrace_mux_begin - start a batch of changes of entries and calls
 *
 * Context: process context, may sleep; ftrace_lock held, text_mutex not held.
 */
void arch_ftrace_mux_begin(void);

/**
 * arch_ftrace_mux_set_entry - let an entry lead to a combination
 * @index: the index of the entry. The indexes ascend in a batch.
 * @combo: the combination
 *
 * Context: between arch_ftrace_mux_begin() and arch_ftrace_mux_end().
 */
void arch_ftrace_mux_set_entry(unsigned int index, const struct ftrace_mux_combo *combo);

/**
 * arch_ftrace_mux_set_call - let a call of a combination call its new function
 * @combo: the combination; the new function is in @combo->calls[@n].func
 * @n: which of its calls, from 0
 *
 * Context: between arch_ftrace_mux_begin() and arch_ftrace_mux_end().
 */
void arch_ftrace_mux_set_call(const struct ftrace_mux_combo *combo, unsigned int n);

/**
 * arch_ftrace_mux_end - finish a batch
 *
 * Context: that of arch_ftrace_mux_begin().
 */
void arch_ftrace_mux_end(void);

/* For tests, with CONFIG_FTRACE_MUX_TEST */

/**
 * arch_ftrace_mux_site_calls - whether the call site of a function leads to an entry
 * @rec: the record of the function
 * @index: the index of the entry
 *
 * Context: process context; ftrace_lock held, and text_mutex, which keeps the call site from being
 * changed.
 *
 * Return: true if it does.
 */
bool arch_ftrace_mux_site_calls(const struct dyn_ftrace *rec, unsigned int index);

#endif /* _LINUX_FTRACE_MUX_ARCH_H */

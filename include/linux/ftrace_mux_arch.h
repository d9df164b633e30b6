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
 * - The call site of a function whose record has an entry calls the address that
 *   arch_ftrace_mux_site_addr() returns for the entry.
 *
 * A task may be preempted between a call site, an entry and a callback. If the entry is
 * changed meanwhile, the task makes the calls of the old combination or those of the new
 * one, and never passes the argument of one call to the function of another. A combination
 * is freed after a grace period of Tasks RCU and of Tasks Rude RCU in which no entry led to
 * it. After arch_ftrace_mux_exit_combo(), @arch and @regs stay for a grace period of RCU, for
 * lookups by address from any context; @calls, @timed, @count and @graph_set do not.
 *
 * Entries and calls are changed between arch_ftrace_mux_begin() and arch_ftrace_mux_end(),
 * entries in the order of their indexes, so that an architecture that collects the changes
 * (smp_text_poke_batch_add()) has to sort nothing. A processor that sees a store which the caller
 * orders after arch_ftrace_mux_end(), by smp_wmb() or a release, sees the changes, if its loads
 * depend on that store.
 *
 * ftrace_lock is held in all functions here.
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
 * Whether a call site says that all registers are saved. If so, an entry only moves between
 * combinations that agree in @regs.
 */
#ifndef ARCH_FTRACE_MUX_SITE_REGS
#define ARCH_FTRACE_MUX_SITE_REGS	false
#endif

struct ftrace_mux_timed_call;
struct seq_file;

/**
 * struct ftrace_mux_combo - a combination of tracers
 * @arch: for the architecture
 * @hash: link in the table of combinations; not linked if a tracer of @graph_set has gone, or a
 *	tracer was unregistered while calls were counted
 * @node: link in the list of all combinations
 * @entries: the entries that lead to it
 * @rcu: for kfree_rcu()
 * @graph: indexes of the graph tracers that want the functions, as a mask, if several graph
 *	tracers are registered
 * @graph_set: the same graph tracers, for ftrace_graph_set_func()
 * @calls: the calls, one for each of @ops
 * @timed: the args of @calls while their time is measured, else NULL
 * @count: if not NULL, the architecture increments it each time that it makes the calls, before
 *	or after them, for a CPU that the task has run on
 * @last_seq: ftrace_mux_last_seq() when it was made
 * @only_graph: the graph tracer, if there was only one
 * @generation: when it was made, see count.c
 * @regs: one of the tracers has FTRACE_OPS_FL_SAVE_REGS, so that callbacks get a full pt_regs
 * @entry_left: an entry has left it since the last sweep (quiesce.c) started
 * @nr: number of tracers
 * @ops: the tracers, in the order of struct ftrace_mux_set
 *
 * The architecture uses @arch, @calls, @count, @regs, @nr, and the IDs of @ops. After
 * arch_ftrace_mux_init_combo(), only the func members of @calls change.
 */
struct ftrace_mux_combo {
	struct arch_ftrace_mux_combo arch;
	struct hlist_node	hash;
	struct list_head	node;
	struct list_head	entries;
	struct rcu_head		rcu;
	unsigned long		graph;
	struct fgraph_set	*graph_set;
	struct ftrace_mux_call	*calls;
	struct ftrace_mux_timed_call	*timed;
	u64 __percpu		*count;
	u64			last_seq;
	const struct ftrace_ops	*only_graph;
	unsigned int		generation;
	bool			regs;
	bool			entry_left;
	unsigned int		nr;
	struct ftrace_ops	*ops[] __counted_by(nr);
};

/* Combinations */

int arch_ftrace_mux_init_combo(struct ftrace_mux_combo *combo);
void arch_ftrace_mux_exit_combo(struct ftrace_mux_combo *combo);
unsigned int arch_ftrace_mux_combo_size(const struct ftrace_mux_combo *combo);
void arch_ftrace_mux_show_combo(struct seq_file *m, const struct ftrace_mux_combo *combo);
bool arch_ftrace_mux_show_alone(struct seq_file *m, struct ftrace_ops *ops,
				unsigned int index);

/*
 * Called when no task can call the tracer that had this ID: forget what is kept for the ID. Unused
 * combinations with this tracer may still exist.
 */
void arch_ftrace_mux_free_id(unsigned int id);

/* Entries */

int arch_ftrace_mux_add_entries(unsigned int first);
unsigned long arch_ftrace_mux_site_addr(unsigned int index);

/* Changes, in batches */

void arch_ftrace_mux_begin(void);
void arch_ftrace_mux_set_entry(unsigned int index, const struct ftrace_mux_combo *combo);
void arch_ftrace_mux_set_call(const struct ftrace_mux_combo *combo, unsigned int n);
void arch_ftrace_mux_end(void);

/* For tests, with CONFIG_FTRACE_MUX_TEST: called with text_mutex held */

bool arch_ftrace_mux_site_calls(const struct dyn_ftrace *rec, unsigned int index);

#endif /* _LINUX_FTRACE_MUX_ARCH_H */

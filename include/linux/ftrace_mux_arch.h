/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Function tracer multiplexer: what an architecture provides.
 *
 * kernel/trace/mux/ decides which tracers each function calls; the architecture calls
 * them. Both have these notions:
 *
 * - A combination is a set of tracers that some functions have. The architecture makes
 *   the calls that the combination lists, in this order, with the same ip and parent ip.
 * - An entry leads to a combination, and can be changed to lead to another. Entries
 *   are numbered. No function has entry 0.
 * - The call site of a function whose record has an entry calls the address that
 *   arch_ftrace_mux_entry_addr() returns for the entry.
 *
 * A task may be preempted between a call site, an entry and a callback. What it
 * has left behind may have changed when it goes on, so nothing that it still uses may be
 * changed in place, except for the function of a call. What is freed was unused for a
 * grace period of Tasks RCU and of Tasks Rude RCU.
 *
 * ftrace_lock is held in all functions here, unless noted otherwise.
 */
#ifndef _LINUX_FTRACE_MUX_ARCH_H
#define _LINUX_FTRACE_MUX_ARCH_H

#include <linux/ftrace.h>
#include <linux/types.h>

#include <asm/ftrace_mux.h>

/* How many entries arch_ftrace_mux_add_entries() adds */
#define FTRACE_MUX_CHUNK_ENTRIES	512

struct seq_file;

/**
 * struct ftrace_mux_combo - a combination of tracers
 * @arch: for the architecture
 * @hash: link in the table of combinations, unless @set is out of date
 * @node: link in the list of all combinations
 * @entries: the entries that lead to it
 * @rcu: for kfree_rcu()
 * @graph: indexes of the graph tracers, as a mask, if there are several
 * @set: the same, for ftrace_graph_set_func()
 * @calls: the calls, one for each of @ops
 * @regs: callbacks get a full pt_regs, since one of the tracers has
 *	FTRACE_OPS_FL_SAVE_REGS
 * @unused: an entry that led to the combination has been changed since the last sweep
 * @nr: number of tracers
 * @ops: the tracers, in the order of struct ftrace_mux_set
 *
 * The architecture uses @arch, @calls, @regs, @nr and the IDs of @ops.
 */
struct ftrace_mux_combo {
	struct arch_ftrace_mux_combo arch;
	struct hlist_node	hash;
	struct list_head	node;
	struct list_head	entries;
	struct rcu_head		rcu;
	unsigned long		graph;
	struct fgraph_set	*set;
	struct ftrace_mux_call	*calls;
	bool			regs;
	bool			unused;
	unsigned int		nr;
	struct ftrace_ops	*ops[] __counted_by(nr);
};

/* Combinations */

int arch_ftrace_mux_init_combo(struct ftrace_mux_combo *combo);
void arch_ftrace_mux_exit_combo(struct ftrace_mux_combo *combo);
unsigned int arch_ftrace_mux_combo_size(const struct ftrace_mux_combo *combo);
void arch_ftrace_mux_show_combo(struct seq_file *m, const struct ftrace_mux_combo *combo);

/* Entries */

int arch_ftrace_mux_add_entries(unsigned int first);
unsigned long arch_ftrace_mux_entry_addr(unsigned int index);

/* Changes, in batches */

void arch_ftrace_mux_begin(void);
void arch_ftrace_mux_set_entry(unsigned int index, const struct ftrace_mux_combo *combo);
void arch_ftrace_mux_set_call(const struct ftrace_mux_combo *combo, unsigned int n);
void arch_ftrace_mux_end(void);

/* For tests */

bool arch_ftrace_mux_site_calls(const struct dyn_ftrace *rec, unsigned int index);

#endif /* _LINUX_FTRACE_MUX_ARCH_H */

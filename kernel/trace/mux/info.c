// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: the file function_tracers_info.
 *
 * It shows for each tracer its ID, how many functions it traces, how these call
 * it, and whom it works for (a kprobe event, a BPF program). It shows for each
 * combination in use how many functions have it, and whether memory was allocated for its
 * code or its array of calls (on_demand), or the kernel image has the code (static). All
 * numbers are counted when the file is read, but for on_demand_failed.
 */
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "combinations.h"
#include "entries.h"
#include "mux.h"
#include "sets.h"

/* Room for the line of a tracer or of a combination, and for a name in it */
#define INFO_LINE	160
#define INFO_NAME	32

/* How a function calls its tracers */
enum dispatch {
	DISPATCH_ALONE,		/* there is one, and nothing else is called */
	DISPATCH_EXACT,		/* exactly these are called */
	DISPATCH_LIST,		/* ftrace_ops_list_func() */
	NR_DISPATCH,
};

static enum dispatch combo_dispatch(const struct ftrace_mux_combo *combo)
{
	return combo->nr == 1 && !combo->graph ? DISPATCH_ALONE : DISPATCH_EXACT;
}

/* For a function that has no entry */
static enum dispatch rec_dispatch(struct dyn_ftrace *rec)
{
	if (ARCH_FTRACE_MUX_DIRECT_IN_LIST && rec->flags & FTRACE_FL_DIRECT_EN)
		return DISPATCH_LIST;

	if (ftrace_rec_count(rec) == 1 &&
	    rec->flags & (FTRACE_FL_TRAMP_EN | FTRACE_FL_DIRECT_EN | FTRACE_FL_CALL_OPS_EN))
		return DISPATCH_ALONE;

	return DISPATCH_LIST;
}

/* The functions of a tracer, by how they call it */
struct tracer_counts {
	unsigned long		functions[NR_DISPATCH];
};

/* What a read of the file counts */
struct info_counts {
	/* All functions that go through the list */
	unsigned long		list;
	/* In order of registration */
	struct tracer_counts	*tracers;
};

static void count_combo(struct info_counts *counts, const struct ftrace_mux_combo *combo)
{
	enum dispatch how = combo_dispatch(combo);
	unsigned long functions = ftrace_mux_combo_functions(combo);
	struct ftrace_ops *ops;
	unsigned int n = 0;

	if (!functions)
		return;

	for_each_ftrace_mux_tracer(ops) {
		if (ftrace_mux_combo_reaches(combo, ops))
			counts->tracers[n].functions[how] += functions;
		n++;
	}
}

/* Count a function that has no entry */
static void count_rec(struct info_counts *counts, struct dyn_ftrace *rec)
{
	enum dispatch how = rec_dispatch(rec);
	struct ftrace_ops *ops;
	unsigned int n = 0;

	counts->list += how == DISPATCH_LIST;
	for_each_ftrace_mux_tracer(ops)
		counts->tracers[n++].functions[how] += ftrace_mux_wants(ops, rec);
}

/*
 * While the multiplexer is on, nearly all traced functions have an entry. So count_rec(), which
 * asks each tracer whether it wants the function, is called for few functions.
 */
static void count_functions(struct info_counts *counts)
{
	struct ftrace_mux_combo *combo;
	struct ftrace_rec_iter *iter;
	struct dyn_ftrace *rec;

	list_for_each_entry(combo, &ftrace_mux_combos, node) {
		count_combo(counts, combo);
		cond_resched();
	}

	for_ftrace_rec_iter(iter) {
		rec = ftrace_rec_iter_record(iter);
		if (!(rec->flags & FTRACE_FL_ENABLED) || rec->mux.entry)
			continue;
		count_rec(counts, rec);
		cond_resched();
	}
}

static unsigned long callback_of(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_SUBOP)
		return (unsigned long)container_of(ops, struct fgraph_ops, ops)->saved_func;

	return (unsigned long)ops->saved_func;
}

/*
 * The module of the callback of a tracer. It cannot be unloaded now: it has to unregister its
 * tracer first, which takes ftrace_lock.
 */
static const char *owner_name(struct ftrace_ops *ops)
{
	char sym[KSYM_NAME_LEN], *module = NULL;

	kallsyms_lookup(callback_of(ops), NULL, NULL, &module, sym);

	return module ?: "kernel";
}

static void show_tracer(struct seq_file *m, struct ftrace_ops *ops,
			const struct tracer_counts *counts)
{
	/* Graph tracers have the ID of their manager */
	unsigned int id = ops->managed ? ops->managed->mux.id : ops->mux.id;

	if (id)
		seq_printf(m, "%4u", id - 1);
	else
		seq_puts(m, "   -");
	seq_printf(m, " %9lu %9lu %9lu %9lu  ",
		   counts->functions[DISPATCH_ALONE] + counts->functions[DISPATCH_EXACT] +
		   counts->functions[DISPATCH_LIST],
		   counts->functions[DISPATCH_ALONE], counts->functions[DISPATCH_EXACT],
		   counts->functions[DISPATCH_LIST]);
	seq_printf(m, "%-15s ", owner_name(ops));
	ftrace_mux_show_name(m, ops);
	ftrace_describe(ops, m);
	seq_putc(m, '\n');
}

static void show_graph_tracers(struct seq_file *m, struct ftrace_mux_combo *combo,
			       struct ftrace_ops *manager)
{
	struct ftrace_ops *subops;

	list_for_each_entry(subops, &manager->subop_list, list) {
		if (!ftrace_mux_combo_reaches(combo, subops))
			continue;
		seq_putc(m, ' ');
		ftrace_mux_show_name(m, subops);
	}
}

static void show_combination(struct seq_file *m, struct ftrace_mux_combo *combo,
			     unsigned long functions)
{
	seq_printf(m, "     %9lu  %-9s  %-4s ", functions,
		   arch_ftrace_mux_combo_size(combo) ? "on_demand" : "static",
		   combo->regs ? "regs" : "args");
	for (unsigned int n = 0; n < combo->nr; n++) {
		if (!list_empty(&combo->ops[n]->subop_list)) {
			show_graph_tracers(m, combo, combo->ops[n]);
			continue;
		}
		seq_putc(m, ' ');
		ftrace_mux_show_name(m, combo->ops[n]);
	}
	seq_putc(m, '\n');
}

/*
 * The combinations of several tracers that functions have. While several graph tracers are
 * registered, also those of a single graph tracer.
 */
static void show_combinations(struct seq_file *m)
{
	struct ftrace_mux_combo *combo;
	unsigned long functions;

	list_for_each_entry(combo, &ftrace_mux_combos, node) {
		functions = ftrace_mux_combo_functions(combo);
		if (functions && (combo->nr > 1 || combo->graph))
			show_combination(m, combo, functions);
	}
}

static void show_totals(struct seq_file *m, unsigned long list)
{
	unsigned long entries = 0, trampolines = 0, bytes = 0;
	struct ftrace_mux_combo *combo;
	struct ftrace_mux_entry *entry;
	unsigned int pos, size;

	for_each_ftrace_mux_entry(entry, pos)
		entries++;

	list_for_each_entry(combo, &ftrace_mux_combos, node) {
		size = arch_ftrace_mux_combo_size(combo);
		trampolines += !!size;
		bytes += size;
	}

	seq_printf(m, "enabled %d\n", ftrace_mux_enabled);
	seq_printf(m, "list_functions %lu\n", list);
	seq_printf(m, "entries %lu\n", entries);
	seq_printf(m, "on_demand_trampolines %lu\n", trampolines);
	seq_printf(m, "on_demand_bytes %lu\n", bytes);
	seq_printf(m, "on_demand_failed %lu\n", ftrace_mux_combos_failed);
}

static int info_show(struct seq_file *m, void *v)
{
	struct info_counts counts = { };
	struct ftrace_ops *ops;
	unsigned int n = 0;

	guard(mutex)(&ftrace_lock);

	if (ftrace_is_dead())
		return -ENODEV;

	struct tracer_counts *tracers __free(kvfree) =
		kvcalloc(ftrace_mux_nr_tracers(), sizeof(*tracers), GFP_KERNEL);
	if (!tracers)
		return -ENOMEM;

	counts.tracers = tracers;
	count_functions(&counts);

	seq_puts(m, "#tracers\n");
	seq_puts(m, "# ID functions     alone     exact      list  owner           tracer\n");
	for_each_ftrace_mux_tracer(ops) {
		show_tracer(m, ops, &tracers[n++]);
		cond_resched();
	}

	seq_puts(m, "#combinations\n");
	seq_puts(m, "#    functions  origin     saves tracers\n");
	show_combinations(m);

	seq_puts(m, "#totals\n");
	show_totals(m, counts.list);

	return 0;
}

/* The room that info_show() is likely to need: seq_read() calls it again if it needs more */
static size_t info_size(void)
{
	struct ftrace_mux_combo *combo;
	size_t size = PAGE_SIZE;

	guard(mutex)(&ftrace_lock);

	size += ftrace_mux_nr_tracers() * INFO_LINE;
	list_for_each_entry(combo, &ftrace_mux_combos, node)
		size += INFO_LINE + combo->nr * INFO_NAME;

	return size;
}

static int info_open(struct inode *inode, struct file *file)
{
	int ret = tracing_check_open_get_tr(NULL);

	return ret ?: single_open_size(file, info_show, NULL, info_size());
}

/* function_tracers_info */
const struct file_operations ftrace_mux_info_fops = {
	.open		= info_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

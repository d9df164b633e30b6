// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: the file function_tracers_info.
 *
 * It shows for each tracer its ID, how many functions it traces, and how these
 * call it. It shows for each combination in use how many functions have it, and
 * whether its trampoline is static or on demand. All numbers are counted when the
 * file is read.
 */
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "../trace.h"
#include "mux.h"

/* How a function calls its tracers */
enum dispatch {
	DISPATCH_ALONE,		/* there is one, with a trampoline of its own */
	DISPATCH_EXACT,		/* a trampoline of the multiplexer */
	DISPATCH_LIST,		/* ftrace_ops_list_func() */
	NR_DISPATCH,
};

#define NR_STATIC_CALLERS	BIT(FTRACE_MUX_STATIC_IDS)

static enum dispatch rec_dispatch(struct dyn_ftrace *rec)
{
	if (rec->flags & FTRACE_FL_MUX_EN)
		return DISPATCH_EXACT;

	if (ftrace_rec_count(rec) == 1 &&
	    rec->flags & (FTRACE_FL_TRAMP_EN | FTRACE_FL_DIRECT_EN))
		return DISPATCH_ALONE;

	return DISPATCH_LIST;
}

static void count_functions(struct ftrace_ops *ops, unsigned long counts[NR_DISPATCH])
{
	struct ftrace_rec_iter *iter;
	struct dyn_ftrace *rec;

	for_ftrace_rec_iter(iter) {
		rec = ftrace_rec_iter_record(iter);
		if (rec->flags & FTRACE_FL_ENABLED && ftrace_mux_wants(ops, rec))
			counts[rec_dispatch(rec)]++;
	}
}

static unsigned long callback_of(struct ftrace_ops *ops)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (ops->flags & FTRACE_OPS_FL_SUBOP)
		return (unsigned long)container_of(ops, struct fgraph_ops, ops)->saved_func;
#endif
	return (unsigned long)ops->saved_func;
}

#ifdef CONFIG_MODULES
/* The module of the callback of a tracer, NULL for the kernel */
static const char *owner_name(struct ftrace_ops *ops)
{
	struct module *mod;

	guard(preempt)();

	mod = __module_text_address(callback_of(ops));

	/* It can not go before its tracer is unregistered, for which ftrace_lock is needed */
	return mod ? mod->name : NULL;
}
#else
static const char *owner_name(struct ftrace_ops *ops)
{
	return NULL;
}
#endif

static void show_name(struct seq_file *m, struct ftrace_ops *ops)
{
	char name[KSYM_SYMBOL_LEN];

	if (ops->mux.tr)
		seq_printf(m, "%s:", ops->mux.tr->name);
	seq_puts(m, ftrace_mux_name(ops, name, sizeof(name)));
}

static void show_tracer(struct seq_file *m, struct ftrace_ops *ops)
{
	/* Graph tracers have the ID of the ops they share */
	unsigned int id = ops->managed ? ops->managed->mux.id : ops->mux.id;
	unsigned long counts[NR_DISPATCH] = { };
	const char *owner = owner_name(ops);

	count_functions(ops, counts);
	if (id)
		seq_printf(m, "%4u", id - 1);
	else
		seq_puts(m, "   -");
	seq_printf(m, " %9lu %9lu %9lu %9lu  ",
		   counts[DISPATCH_ALONE] + counts[DISPATCH_EXACT] + counts[DISPATCH_LIST],
		   counts[DISPATCH_ALONE], counts[DISPATCH_EXACT], counts[DISPATCH_LIST]);
	seq_printf(m, "%-15s ", owner ?: "kernel");
	show_name(m, ops);
	seq_putc(m, '\n');
}

/**
 * ftrace_mux_show_combination - show a trampoline of several tracers
 * @m: where to
 * @users: number of functions that call it
 * @origin: where it comes from
 * @regs: whether it saves all registers
 *
 * The names of the tracers follow, see ftrace_mux_show_member().
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_show_combination(struct seq_file *m, unsigned long users,
				 const char *origin, bool regs)
{
	seq_printf(m, "     %9lu  %-9s  %-4s ", users, origin, regs ? "regs" : "args");
}

/**
 * ftrace_mux_show_member - show a tracer that is one of a combination
 * @m: where to
 * @ops: the tracer, or one that several graph tracers share
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_show_member(struct seq_file *m, struct ftrace_ops *ops)
{
	struct ftrace_ops *subops;

	seq_putc(m, ' ');
	if (list_empty(&ops->subop_list)) {
		show_name(m, ops);
		return;
	}

	list_for_each_entry(subops, &ops->subop_list, list) {
		if (!list_is_first(&subops->list, &ops->subop_list))
			seq_putc(m, ',');
		show_name(m, subops);
	}
}

/* Functions that call the static trampolines of both families, by mask */
struct static_users {
	unsigned int	args[NR_STATIC_CALLERS];
	unsigned int	regs[NR_STATIC_CALLERS];
};

static void show_static(struct seq_file *m, unsigned int *users, bool regs)
{
	unsigned long mask;
	unsigned int id;

	for (mask = 1; mask < NR_STATIC_CALLERS; mask++) {
		if (!users[mask])
			continue;
		ftrace_mux_show_combination(m, users[mask], "static", regs);
		for_each_set_bit(id, &mask, FTRACE_MUX_STATIC_IDS)
			ftrace_mux_show_member(m, ftrace_mux_id_owner(id));
		seq_putc(m, '\n');
	}
}

/* Returns the number of functions that go through the list of all tracers */
static unsigned long count_static(struct static_users *users)
{
	struct ftrace_rec_iter *iter;
	struct dyn_ftrace *rec;
	unsigned long list = 0;
	unsigned int mask;

	for_ftrace_rec_iter(iter) {
		rec = ftrace_rec_iter_record(iter);
		if (!(rec->flags & FTRACE_FL_ENABLED))
			continue;
		if (rec_dispatch(rec) == DISPATCH_LIST)
			list++;
		mask = ftrace_mux_rec_mask(rec);
		if (!(rec->flags & FTRACE_FL_MUX_EN) || mask >= NR_STATIC_CALLERS ||
		    !arch_ftrace_mux_is_caller(arch_ftrace_mux_callee(rec->ip)))
			continue;
		if (rec->flags & FTRACE_FL_REGS_EN)
			users->regs[mask]++;
		else
			users->args[mask]++;
	}

	return list;
}

static int info_show(struct seq_file *m, void *v)
{
	struct static_users *users __free(kfree) = kzalloc(sizeof(*users), GFP_KERNEL);
	struct ftrace_ops *ops;
	unsigned long list;

	if (!users)
		return -ENOMEM;

	guard(mutex)(&ftrace_lock);

	if (ftrace_is_dead())
		return -ENODEV;

	seq_puts(m, "#tracers\n");
	seq_puts(m, "# ID functions     alone     exact      list  owner           tracer\n");
	for_each_ftrace_mux_tracer(ops) {
		show_tracer(m, ops);
		cond_resched();
	}

	list = count_static(users);
	seq_puts(m, "#combinations\n");
	seq_puts(m, "#    functions  origin     saves tracers\n");
	show_static(m, users->args, false);
	show_static(m, users->regs, true);
	ftrace_mux_combo_show(m);

	seq_puts(m, "#totals\n");
	seq_printf(m, "enabled %u\n", ftrace_mux_is_enabled());
	seq_printf(m, "list_functions %lu\n", list);
	ftrace_mux_combo_show_totals(m);

	return 0;
}

static int info_open(struct inode *inode, struct file *file)
{
	int ret = tracing_check_open_get_tr(NULL);

	return ret ?: single_open(file, info_show, NULL);
}

static const struct file_operations info_fops = {
	.open		= info_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

/**
 * ftrace_mux_create_info - create function_tracers_info
 * @parent: the top directory of tracefs
 *
 * Context: process context, at boot.
 */
void ftrace_mux_create_info(struct dentry *parent)
{
	trace_create_file("function_tracers_info", TRACE_MODE_READ, parent, NULL,
			  &info_fops);
}

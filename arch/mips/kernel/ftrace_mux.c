// SPDX-License-Identifier: GPL-2.0-only
/*
 * Function tracer multiplexer on MIPS, see <linux/ftrace_mux_arch.h>.
 *
 * The third instruction of a call site has the offset of a cell, a pointer in ftrace_cells[].
 * ftrace_caller() makes the call that the cell points to. The first FTRACE_NR_TARGETS cells belong
 * to ftrace_dyn.c. The cells behind them are the entries of the multiplexer. The first of these is
 * not used: index 0 stands for a function without an entry. An entry moves to another combination
 * of tracers by one store.
 *
 * A bit of the call site tells ftrace_caller() whether to save all registers. So an entry moves
 * only between two combinations that both need all registers, or that both do not.
 *
 * ftrace_lock serializes all changes. ftrace_caller() reads a cell, and the call that the cell
 * points to. It takes no lock.
 */
#include <linux/ftrace_mux_arch.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include <asm/ftrace.h>

static_assert((FTRACE_NR_CELLS - FTRACE_NR_TARGETS) % FTRACE_MUX_CHUNK_ENTRIES == 0);

/* ftrace_caller() reads either struct through a cell */
static_assert(sizeof(struct ftrace_mux_call) == sizeof(struct ftrace_target));
static_assert(offsetof(struct ftrace_mux_call, func) == offsetof(struct ftrace_target, func));
static_assert(offsetof(struct ftrace_mux_call, arg) == offsetof(struct ftrace_target, ops));

/* See <linux/ftrace_mux_calls.h> */
__kprobes void ftrace_mux_count(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	const struct ftrace_mux_counted *counted = (const void *)op;
	const struct ftrace_mux_call *call = counted->call;
	ftrace_func_t func = READ_ONCE(call->func);

	this_cpu_inc(*counted->count);
	func(ip, parent_ip, call->arg, fregs);
}

static const struct ftrace_target **entry_cell(unsigned int index)
{
	return &ftrace_cells[FTRACE_NR_TARGETS + index];
}

/* See <linux/ftrace_mux_calls.h> */
const struct ftrace_mux_call **arch_ftrace_mux_call_ptr(unsigned int index)
{
	return (const struct ftrace_mux_call **)entry_cell(index);
}

/**
 * arch_ftrace_mux_add_entries - add FTRACE_MUX_CHUNK_ENTRIES entries
 * @first: the index of the first
 *
 * The table is static: only check that it has room for the entries.
 *
 * Context: process context, may sleep; ftrace_lock held.
 *
 * Return: 0, or -ENOMEM if the table has no room for them.
 */
int arch_ftrace_mux_add_entries(unsigned int first)
{
	return first + FTRACE_MUX_CHUNK_ENTRIES <= FTRACE_NR_CELLS - FTRACE_NR_TARGETS ?
	       0 : -ENOMEM;
}

/**
 * arch_ftrace_mux_call_target - what a call site with an entry calls
 * @index: the index of the entry
 *
 * Context: ftrace_lock held.
 *
 * Return: the address of the cell, for ftrace_dyn.c.
 */
unsigned long arch_ftrace_mux_call_target(unsigned int index)
{
	return (unsigned long)entry_cell(index);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/**
 * ftrace_graph_set_func - ftrace_graph_func() for the graph tracers in a struct fgraph_set
 * @ip: the function
 * @parent_ip: its return address
 * @op: the graph tracers that want the function: a struct fgraph_set
 * @fregs: the function's registers
 *
 * The multiplexer calls it for a function of several graph tracers.
 *
 * Context: that of the traced function: any, NMI included; preemption may be enabled.
 * function_graph_enter_set() prevents recursion.
 */
void ftrace_graph_set_func(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = &arch_ftrace_regs(fregs)->regs;
	unsigned long *start_sp = (unsigned long *)regs->regs[29];
	const struct fgraph_set *set = (const void *)op;

	if (unlikely(ftrace_graph_is_dead() || atomic_read(&current->tracing_graph_pause)))
		return;

	if (!function_graph_enter_set(regs->regs[31], ip, 0, start_sp, fregs, set))
		regs->regs[31] = (unsigned long)return_to_handler;
}

NOKPROBE_SYMBOL(ftrace_graph_set_func);
#endif

#if IS_ENABLED(CONFIG_FTRACE_MUX_TEST)
/**
 * arch_ftrace_mux_site_calls - whether the call site of a function calls an entry
 * @rec: the record of the function
 * @index: the index of the entry
 *
 * Context: ftrace_lock held. The caller also holds text_mutex, which MIPS does not need.
 *
 * Return: true if the call site is on, and has the offset of the entry.
 */
bool arch_ftrace_mux_site_calls(const struct dyn_ftrace *rec, unsigned int index)
{
	return ftrace_site_calls(rec->ip, (unsigned long)entry_cell(index));
}
#endif

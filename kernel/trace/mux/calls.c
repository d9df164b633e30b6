// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: combinations and entries that are data, not code.
 *
 * Data at a call site says which entry the function has. The entry points to a struct
 * ftrace_mux_call, a pair of a function and its argument:
 *
 *  - with one tracer in the combination: its callback and its ops
 *  - with two to eight: a function that makes so many calls, and the array of these calls
 *  - with more: call_many(), and the combination
 *
 *	call site -> entry -> struct ftrace_mux_call -> callback
 *	                                             -> function for all calls -> callbacks
 *
 * If a combination counts its calls, its entries point to a pair with ftrace_mux_count(). This
 * function counts, and then makes the call of the struct ftrace_mux_call that the entries would
 * point to otherwise.
 *
 * An entry is changed by one store. A task that has loaded the old pointer, and was preempted,
 * still makes the calls of the old combination. So a combination is freed only when no task can
 * be between an entry and a call of the combination: see quiesce.c. A call never gets another
 * argument, so no task can pass the argument of one tracer to the function of another.
 *
 * ftrace_lock serializes all changes. Traced functions read entries and calls without it.
 */
#include <linux/ftrace_mux_arch.h>
#include <linux/kprobes.h>
#include <linux/seq_file.h>

#include "../ftrace_internal.h"
#include "entries.h"

static const ftrace_func_t call_funcs[] = {
	[2] = ftrace_mux_call_2, ftrace_mux_call_3, ftrace_mux_call_4, ftrace_mux_call_5,
	ftrace_mux_call_6, ftrace_mux_call_7, ftrace_mux_call_8,
};

/* For more calls than these functions make. @op is the struct ftrace_mux_combo. */
static notrace __kprobes void call_many(unsigned long ip, unsigned long parent_ip,
					struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	const struct ftrace_mux_combo *combo = (const void *)op;
	const struct ftrace_mux_call *end = combo->calls + combo->nr;

	for (const struct ftrace_mux_call *call = combo->calls; call < end; call++) {
		ftrace_func_t func = READ_ONCE(call->func);

		func(ip, parent_ip, call->arg, fregs);
	}
}

/* Combinations */

/* What makes the calls of a combination */
static const struct ftrace_mux_call *combo_call(const struct ftrace_mux_combo *combo)
{
	return combo->nr == 1 ? combo->calls : &combo->arch.all;
}

/* What the entries of a combination point to */
static const struct ftrace_mux_call *entry_call(const struct ftrace_mux_combo *combo)
{
	return combo->count ? &combo->arch.count_call : combo_call(combo);
}

int arch_ftrace_mux_init_combo(struct ftrace_mux_combo *combo)
{
	if (combo->nr < ARRAY_SIZE(call_funcs)) {
		combo->arch.all.func = call_funcs[combo->nr];
		combo->arch.all.arg = combo->calls;
	} else {
		combo->arch.all.func = call_many;
		combo->arch.all.arg = combo;
	}

	combo->arch.count_call.func = ftrace_mux_count;
	combo->arch.count_call.arg = &combo->arch.counted;
	combo->arch.counted.count = combo->count;
	combo->arch.counted.call = combo_call(combo);

	return 0;
}

/* Nothing was allocated */
void arch_ftrace_mux_exit_combo(struct ftrace_mux_combo *combo)
{
}

/* The array of calls, although it is not allocated here: it stands for generated code */
unsigned int arch_ftrace_mux_combo_size(const struct ftrace_mux_combo *combo)
{
	return combo->nr * sizeof(*combo->calls);
}

void arch_ftrace_mux_show_combo(struct seq_file *m, const struct ftrace_mux_combo *combo)
{
	seq_printf(m, "%ps", (void *)combo_call(combo)->func);
}

/* Nothing is kept for an ID */
void arch_ftrace_mux_free_id(unsigned int id)
{
}

/* Entries */

/**
 * ftrace_mux_entry_regs - whether the call sites of an entry have to save all registers
 * @index: the index of the entry
 *
 * With ARCH_FTRACE_MUX_SITE_REGS, the answer does not change while a function has the entry.
 *
 * Context: ftrace_lock held.
 *
 * Return: true if a tracer of its combination needs them.
 */
bool ftrace_mux_entry_regs(unsigned int index)
{
	return ftrace_mux_entry_at(index)->combo->regs;
}

/* Changes */

/*
 * Each change is one store. Before the architecture stores what leads a call site to an entry, it
 * executes smp_wmb(), or interrupts all CPUs.
 */
void arch_ftrace_mux_begin(void)
{
}

void arch_ftrace_mux_end(void)
{
}

void arch_ftrace_mux_set_entry(unsigned int index, const struct ftrace_mux_combo *combo)
{
	/*
	 * The calls are stored before the pointer to them. Readers need no barrier: their loads
	 * depend on the pointer.
	 */
	smp_store_release(arch_ftrace_mux_call_ptr(index), entry_call(combo));
}

/*
 * There is nothing to do: the caller has stored the new function in @combo->calls[@n], which is
 * read for each call.
 */
void arch_ftrace_mux_set_call(const struct ftrace_mux_combo *combo, unsigned int n)
{
}

/* No code is generated */

bool is_ftrace_mux_trampoline(unsigned long addr)
{
	return false;
}

int ftrace_mux_get_kallsym(unsigned int symnum, unsigned long *value, char *name)
{
	return -ERANGE;
}

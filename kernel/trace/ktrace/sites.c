// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace: from the table of functions to the records of ftrace.
 *
 * objtool lists the functions that may be traced in .ktrace_sites of the kernel and of
 * each module. Those that the architecture can patch on this machine get a dyn_ftrace
 * record, whose ip is the address of the function. The table is sorted when the kernel boots
 * or the module is loaded, before it becomes read-only.
 *
 * The kernel's text is not patched before alternatives are applied. What is enabled until
 * then only changes the records; ktrace_start() then patches the functions.
 */
#include <linux/bsearch.h>
#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/ktrace.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "../ftrace_internal.h"

struct table {
	s32		*sites;
	unsigned int	nr;
};

static struct table kernel_table __ro_after_init;

static unsigned long site_function(const s32 *site)
{
	return (unsigned long)site + (*site & ~KTRACE_SITE_CLASS);
}

static int cmp_function(const void *func, const void *site)
{
	unsigned long x = *(const unsigned long *)func, y = site_function(site);

	return x < y ? -1 : x > y;
}

static int cmp_sites(const void *a, const void *b)
{
	unsigned long func = site_function(a);

	return cmp_function(&func, b);
}

/* An entry is relative to its address */
static void swap_sites(void *a, void *b, int size)
{
	s32 *x = a, *y = b, tmp = *x;
	s32 distance = b - a;

	*x = *y + distance;
	*y = tmp - distance;
}

#ifdef CONFIG_MODULES
static struct table module_table(unsigned long addr)
{
	struct module *mod = __module_text_address(addr);

	if (!mod)
		return (struct table){ };

	return (struct table){ mod->ftrace_callsites, mod->num_ftrace_callsites };
}
#else
static struct table module_table(unsigned long addr)
{
	return (struct table){ };
}
#endif

/**
 * ktrace_site_class - what the build tells of a function
 * @func: address of the function
 *
 * The architecture may be unable to trace it on this machine nevertheless.
 *
 * Context: any, after ftrace_init().
 *
 * Return: KTRACE_SITE_*, or -ENOENT if the function is notrace, in a file that is not
 * traced, or written in assembly.
 */
int ktrace_site_class(unsigned long func)
{
	struct table table;
	const s32 *site;

	/* For the module */
	guard(preempt)();

	table = core_kernel_text(func) ? kernel_table : module_table(func);

	site = bsearch(&func, table.sites, table.nr, sizeof(*table.sites), cmp_function);

	return site ? *site & KTRACE_SITE_CLASS : -ENOENT;
}

/**
 * ktrace_add_text - make records for the functions of the kernel or of a module
 * @mod: the module, or NULL
 * @sites: its .ktrace_sites, which is sorted
 * @nr: the number of entries
 *
 * Context: process context, may sleep; takes ftrace_lock.
 *
 * Return: 0, or a negative error.
 */
int ktrace_add_text(struct module *mod, s32 *sites, unsigned int nr)
{
	unsigned long *funcs __free(kvfree) = NULL;
	int traceable;

	if (!nr)
		return 0;

	/* Whether functions can be traced or not, ktrace_site_class() needs it */
	sort(sites, nr, sizeof(*sites), cmp_sites, swap_sites);
	if (ftrace_is_dead())
		return 0;

	funcs = kvmalloc_array(nr, sizeof(*funcs), GFP_KERNEL);
	if (!funcs)
		return -ENOMEM;

	for (unsigned int i = 0; i < nr; i++)
		funcs[i] = site_function(&sites[i]) | (sites[i] & KTRACE_SITE_CLASS);

	traceable = arch_ktrace_traceable(mod, funcs, nr);
	if (traceable < 0)
		return traceable;
	if (!mod) {
		kernel_table = (struct table){ sites, nr };
		pr_info("ktrace: %d of %u functions can be traced\n", traceable, nr);
	}

	return ftrace_process_locs(mod, funcs, funcs + traceable);
}

/* Patch what was enabled before the kernel's text could be patched */
static int __init ktrace_start(void)
{
	int ret;

	scoped_guard(mutex, &ftrace_lock) {
		ret = arch_ktrace_start();
		if (!ret) {
			ftrace_check_all = true;
			ftrace_run_update_code(FTRACE_UPDATE_CALLS);
		}
	}

	if (ret)
		ftrace_kill();

	return ret;
}
early_initcall(ktrace_start);

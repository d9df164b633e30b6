// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace: from the table of functions to the records of ftrace.
 *
 * objtool lists the functions that may be traced in .ktrace_sites of the kernel and of
 * each module. Those that the architecture can patch on this machine get a dyn_ftrace
 * record, whose ip is the address of the function. The table is sorted when the kernel boots
 * or the module is loaded, before it becomes read-only.
 *
 * Until a tracer starts, or a pattern or a list is asked for, nobody needs the records of the
 * kernel: the table tells where ftrace can trace. At boot, one page of them is made, since ftrace
 * expects one at the head of its list, in front of the records of modules. These are made when
 * the module is loaded.
 *
 * Functions that mcount does not instrument because tracers call them, those of lib/, are in
 * the table, too, and so is assembly that has the calling convention of C. The kernel's command
 * line names those of them that are traced. The entries of the others are removed from the table
 * at boot, or when the module is loaded.
 *
 * The kernel's text is not patched before alternatives are applied. What is enabled until
 * then only changes the records; ktrace_start() then patches the functions.
 */
#include <linux/bsearch.h>
#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/glob.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/ktrace.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "../ftrace_internal.h"

struct table {
	s32		*sites;
	unsigned int	nr;
};

static struct table kernel_table __ro_after_init;

/* The records that are made at boot: one page */
#define NR_BOOT_RECORDS		(PAGE_SIZE / sizeof(struct dyn_ftrace))
/* The function of the last of these */
static unsigned long last_boot_record __ro_after_init;
/* All other records are made, too. Under ftrace_lock. */
static bool all_made;

static unsigned long site_target(const s32 *site)
{
	return (unsigned long)site + *site;
}

static unsigned long site_function(const s32 *site)
{
	return ALIGN_DOWN(site_target(site), KTRACE_FUNC_ALIGN);
}

static unsigned int site_class(const s32 *site)
{
	return site_target(site) & KTRACE_SITE_CLASS;
}

/* For the table of the kernel. False for init code that was freed. */
static bool is_traceable(const s32 *site)
{
	return site_target(site) & KTRACE_SITE_TRACEABLE && core_kernel_text(site_function(site));
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

/* The low bits of @func's entry in .ktrace_sites; -ENOENT if the table has no entry for @func */
static int site_bits(unsigned long func)
{
	struct table table;
	const s32 *site;

	/* Keep the module from being freed */
	guard(preempt)();

	table = core_kernel_text(func) ? kernel_table : module_table(func);

	site = bsearch(&func, table.sites, table.nr, sizeof(*table.sites), cmp_function);

	return site ? site_target(site) % KTRACE_FUNC_ALIGN : -ENOENT;
}

/**
 * ktrace_site_class - what the build tells of a function
 * @func: address of the function
 *
 * The architecture may be unable to trace it on this machine nevertheless.
 *
 * Context: any, after ftrace_init().
 *
 * Return: KTRACE_SITE_*, or -ENOENT if the table has no entry for the function: it is notrace, in
 * a file that is not traced, or written in assembly; or it is traced on request only, and the
 * kernel's command line does not name it.
 */
int ktrace_site_class(unsigned long func)
{
	int bits = site_bits(func);

	return bits < 0 ? bits : bits & KTRACE_SITE_CLASS;
}

/**
 * ktrace_is_optin - is a function traced on request only?
 * @func: address of the function
 *
 * Tracers may call such a function themselves. The nested call may not be traced, so an ops that
 * must see every call (IPMODIFY) cannot have the function.
 *
 * Context: any, after ftrace_init().
 *
 * Return: whether it is.
 */
bool ktrace_is_optin(unsigned long func)
{
	int bits = site_bits(func);

	return bits >= 0 && bits & KTRACE_SITE_OPTIN;
}

/* Functions that are traced on request only */

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "ktrace."

#define MAX_PATTERNS	64

static char *optin_patterns[MAX_PATTERNS];
static unsigned int nr_patterns;
module_param_array_named(optin, optin_patterns, charp, &nr_patterns, 0444);
MODULE_PARM_DESC(optin, "Functions of lib/, and of assembly, that may be traced");

#ifdef CONFIG_MODULES
/* kallsyms does not find the module yet. Its init code has no name here. */
static void module_symbol(struct module *mod, unsigned long func, char *name)
{
	const struct mod_kallsyms *kallsyms = &mod->core_kallsyms;

	for (unsigned int i = 0; i < kallsyms->num_symtab; i++) {
		const Elf_Sym *sym = &kallsyms->symtab[i];

		if (sym->st_value == func && sym->st_name) {
			strscpy(name, kallsyms->strtab + sym->st_name, KSYM_NAME_LEN);
			return;
		}
	}
}
#else
static void module_symbol(struct module *mod, unsigned long func, char *name) { }
#endif

static bool is_named(struct module *mod, unsigned long func)
{
	char name[KSYM_NAME_LEN] = "";

	if (mod)
		module_symbol(mod, func, name);
	else
		lookup_symbol_name(func, name);
	if (!*name)
		return false;

	for (unsigned int i = 0; i < nr_patterns; i++) {
		if (glob_match(optin_patterns[i], name))
			return true;
	}

	return false;
}

static bool is_wanted(struct module *mod, const s32 *site)
{
	if (!(site_target(site) & KTRACE_SITE_OPTIN))
		return true;

	return nr_patterns && is_named(mod, site_function(site));
}

/* Entries are relative to their addresses */
static unsigned int keep_wanted(struct module *mod, s32 *sites, unsigned int nr)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < nr; i++) {
		if (!is_wanted(mod, &sites[i]))
			continue;
		sites[kept] = sites[i] + (i - kept) * sizeof(*sites);
		kept++;
	}

	return kept;
}

/* Both are sorted */
static void mark_traceable(struct table table, const unsigned long *funcs, unsigned int nr)
{
	const unsigned long *func = funcs;

	for (unsigned int i = 0; i < table.nr && func < funcs + nr; i++) {
		if (site_function(&table.sites[i]) != *func)
			continue;
		table.sites[i] += KTRACE_SITE_TRACEABLE;
		func++;
	}
}

/* Keep a table of the kernel's functions, @funcs being those that can be traced */
static int add_kernel(s32 *sites, unsigned int nr, unsigned long *funcs, unsigned int traceable)
{
	unsigned int nr_boot = min(traceable, NR_BOOT_RECORDS);

	kernel_table = (struct table){ sites, nr };
	pr_info("ktrace: %u of %u functions can be traced\n", traceable, nr);
	if (!nr_boot)
		return 0;

	mark_traceable(kernel_table, funcs, traceable);
	last_boot_record = funcs[nr_boot - 1];

	return ftrace_process_locs(NULL, funcs, funcs + nr_boot);
}

/**
 * ktrace_add_functions - add the functions of the kernel or of a module to those of ftrace
 * @mod: the module, or NULL
 * @sites: its .ktrace_sites. On return, the entries of the functions that may be traced come
 *	first, sorted.
 * @nr_sites: their number; set to that of the functions that may be traced
 *
 * Context: process context, may sleep; takes ftrace_lock, and the locks that
 * arch_ktrace_traceable() takes.
 *
 * Return: 0, or a negative error.
 */
int ktrace_add_functions(struct module *mod, s32 *sites, unsigned int *nr_sites)
{
	unsigned long *funcs __free(kvfree) = NULL;
	unsigned int nr = keep_wanted(mod, sites, *nr_sites);
	int traceable;

	*nr_sites = nr;
	if (!nr)
		return 0;

	/* ktrace_site_class() needs a sorted table even if ftrace is dead */
	sort(sites, nr, sizeof(*sites), cmp_sites, swap_sites);
	if (ftrace_is_dead())
		return 0;

	funcs = kvmalloc_array(nr, sizeof(*funcs), GFP_KERNEL);
	if (!funcs)
		return -ENOMEM;

	for (unsigned int i = 0; i < nr; i++)
		funcs[i] = site_function(&sites[i]) | site_class(&sites[i]);

	traceable = arch_ktrace_traceable(mod, funcs, nr);
	if (traceable < 0)
		return traceable;

	return mod ? ftrace_process_locs(mod, funcs, funcs + traceable) :
		     add_kernel(sites, nr, funcs, traceable);
}

/**
 * ktrace_location_range - the first function that can be traced in a range of addresses
 * @start: the first address
 * @end: the last one
 *
 * Context: any.
 *
 * Return: address of the function, which may have no record yet; 0 if there is none in the
 * kernel, or its init code was freed.
 */
unsigned long ktrace_location_range(unsigned long start, unsigned long end)
{
	const s32 *sites = kernel_table.sites;
	unsigned int i = 0, after = kernel_table.nr;

	while (i < after) {
		unsigned int mid = (i + after) / 2;

		if (site_function(&sites[mid]) < start)
			i = mid + 1;
		else
			after = mid;
	}

	for (; i < kernel_table.nr && site_function(&sites[i]) <= end; i++) {
		if (is_traceable(&sites[i]))
			return site_function(&sites[i]);
	}

	return 0;
}

/* Make the records that were not made at boot */
static int make_records(void)
{
	unsigned long *funcs __free(kvfree) = NULL;
	unsigned int nr = 0;
	int ret;

	lockdep_assert_held(&ftrace_lock);

	if (all_made || ftrace_is_dead())
		return 0;

	funcs = kvmalloc_array(kernel_table.nr, sizeof(*funcs), GFP_KERNEL);
	if (!funcs)
		return -ENOMEM;

	for (unsigned int i = 0; i < kernel_table.nr; i++) {
		const s32 *site = &kernel_table.sites[i];

		if (is_traceable(site) && site_function(site) > last_boot_record)
			funcs[nr++] = site_function(site);
	}

	ret = ftrace_add_late_records(funcs, nr);
	all_made = !ret;

	return ret;
}

/**
 * ktrace_make_records - make the records of all functions of the kernel, unless this was done
 *
 * Call this before iterating over the records, or counting them.
 *
 * Context: process context, may sleep; takes ftrace_lock.
 *
 * Return: 0, or -ENOMEM. If ftrace is dead, 0, and none are made.
 */
int ktrace_make_records(void)
{
	guard(mutex)(&ftrace_lock);

	return make_records();
}

/**
 * ktrace_prepare - get what the update of an ops needs
 *
 * Context: process context, may sleep; ftrace_lock held; takes the locks that
 * arch_ktrace_prepare() takes.
 *
 * Return: 0, or -ENOMEM.
 */
int ktrace_prepare(void)
{
	return make_records() ?: arch_ktrace_prepare();
}

/**
 * ktrace_is_dead - must the code of functions be left as it is?
 *
 * For the architecture, which does not include kernel/trace/trace.h.
 *
 * Context: any.
 *
 * Return: whether ftrace has disabled itself.
 */
bool ktrace_is_dead(void)
{
	return ftrace_is_dead();
}

/*
 * An alternative may have replaced a first instruction by one that cannot be displaced: if its
 * function needs a slot, it is not traceable any more.
 */
static void __init drop_untraceable(void)
{
	for (unsigned int i = 0; i < kernel_table.nr; i++) {
		s32 *site = &kernel_table.sites[i];
		unsigned long func = site_function(site);

		if (site_class(site) != KTRACE_SITE_ALTERNATIVE || !is_traceable(site) ||
		    arch_ktrace_is_still_traceable(func))
			continue;

		pr_info("ktrace: %ps cannot be traced on this CPU\n", (void *)func);
		scoped_guard(mutex, &ftrace_lock)
			kernel_table.sites[i] -= KTRACE_SITE_TRACEABLE;
		/* The record, if it was made at early boot: it may have references of tracers */
		ftrace_free_mem(NULL, (void *)func, (void *)(func + 1));
	}
}

/* Patch what was enabled before the kernel's text could be patched */
static int __init ktrace_start(void)
{
	int ret;

	drop_untraceable();

	scoped_guard(mutex, &ftrace_lock) {
		ret = arch_ktrace_start();
		if (!ret && !ftrace_is_dead()) {
			ftrace_check_all = true;
			ftrace_run_update_code(FTRACE_UPDATE_CALLS);
		}
	}

	if (ret)
		ftrace_kill();

	return ret;
}
early_initcall(ktrace_start);

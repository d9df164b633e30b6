// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace: for tests, the record of a function, and the address of init text.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/ktrace.h>

#include <asm/sections.h>

#include "../ftrace_internal.h"
#include "kunit.h"

/**
 * ktrace_get_record - what ftrace has on record of a function
 * @func: address of the function
 * @record: on success, its flags and what it calls
 *
 * Context: process context, may sleep; takes ftrace_lock.
 *
 * Return: 0, -ENOENT if the function has no record, or -ENOMEM.
 */
int ktrace_get_record(unsigned long func, struct ktrace_record *record)
{
	struct ftrace_rec_iter *iter;
	struct dyn_ftrace *rec;
	int ret;

	ret = ktrace_make_records();
	if (ret)
		return ret;

	guard(mutex)(&ftrace_lock);

	for_ftrace_rec_iter(iter) {
		rec = ftrace_rec_iter_record(iter);
		if (rec->ip != func)
			continue;

		record->flags = rec->flags;
		record->callee = rec->flags & FTRACE_FL_ENABLED ? ftrace_get_addr_curr(rec) : 0;
		return 0;
	}

	return -ENOENT;
}
EXPORT_SYMBOL_IF_KUNIT(ktrace_get_record);

/**
 * ktrace_get_init_text - where the init functions of the kernel were before they were freed
 *
 * Context: any.
 *
 * Return: the first address.
 */
unsigned long ktrace_get_init_text(void)
{
	return (unsigned long)_sinittext;
}
EXPORT_SYMBOL_IF_KUNIT(ktrace_get_init_text);

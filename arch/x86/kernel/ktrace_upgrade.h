/* SPDX-License-Identifier: GPL-2.0 */
/* ktrace: from a breakpoint to a jump, and back, see ktrace_upgrade.c */
#ifndef _ARCH_X86_KERNEL_KTRACE_UPGRADE_H
#define _ARCH_X86_KERNEL_KTRACE_UPGRADE_H

#include "ktrace_loc.h"

void __ktrace_upgrade_later(const struct ktrace_loc *loc);
void __ktrace_no_upgrade(const struct ktrace_loc *loc);
void ktrace_forget_upgrades(unsigned long start, unsigned long end);

/* The function is traced now: if it can, it gets a jump later. text_mutex is held. */
static inline void ktrace_upgrade_later(const struct ktrace_loc *loc)
{
	if (ktrace_slot_executes_several(loc))
		__ktrace_upgrade_later(loc);
}

/* The function is not traced any more. text_mutex is held. */
static inline void ktrace_no_upgrade(const struct ktrace_loc *loc)
{
	if (ktrace_slot_executes_several(loc))
		__ktrace_no_upgrade(loc);
}

#endif /* _ARCH_X86_KERNEL_KTRACE_UPGRADE_H */

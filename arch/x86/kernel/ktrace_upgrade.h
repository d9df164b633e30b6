/* SPDX-License-Identifier: GPL-2.0 */
/* ktrace: from a breakpoint to a jump, and back, see ktrace_upgrade.c */
#ifndef _ARCH_X86_KERNEL_KTRACE_UPGRADE_H
#define _ARCH_X86_KERNEL_KTRACE_UPGRADE_H

#include "ktrace_site.h"

void ktrace_upgrade_later(const struct ktrace_site *site);
void ktrace_no_upgrade(const struct ktrace_site *site);

#endif /* _ARCH_X86_KERNEL_KTRACE_UPGRADE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* ktrace: functions that are traced by a breakpoint at their entry */
#ifndef _ARCH_X86_KERNEL_KTRACE_INT3_H
#define _ARCH_X86_KERNEL_KTRACE_INT3_H

int ktrace_add_int3(const unsigned long *entries, unsigned int nr);
void ktrace_remove_int3(unsigned long start, unsigned long end);

#endif /* _ARCH_X86_KERNEL_KTRACE_INT3_H */

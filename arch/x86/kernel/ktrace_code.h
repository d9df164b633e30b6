/* SPDX-License-Identifier: GPL-2.0 */
/* ktrace: what a function gets when it is traced for the first time, see ktrace_code.c */
#ifndef _ARCH_X86_KERNEL_KTRACE_CODE_H
#define _ARCH_X86_KERNEL_KTRACE_CODE_H

#include <linux/types.h>

#include "ktrace_loc.h"
#include "ktrace_slot.h"

int ktrace_add_code(const struct ktrace_loc *loc, unsigned long callee);
void ktrace_write_code(void);
void ktrace_drop_code(void);

#endif /* _ARCH_X86_KERNEL_KTRACE_CODE_H */

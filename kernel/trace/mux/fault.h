/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer: allocations that fail, for tests, see fault.c */
#ifndef _KERNEL_TRACE_MUX_FAULT_H
#define _KERNEL_TRACE_MUX_FAULT_H

#include <linux/kconfig.h>
#include <linux/types.h>

#if IS_ENABLED(CONFIG_FTRACE_MUX_TEST)
bool ftrace_mux_should_fail(void);
#else
static inline bool ftrace_mux_should_fail(void) { return false; }
#endif

#endif /* _KERNEL_TRACE_MUX_FAULT_H */

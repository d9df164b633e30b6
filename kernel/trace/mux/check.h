/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer: a check for tests, see check.c */
#ifndef _KERNEL_TRACE_MUX_CHECK_H
#define _KERNEL_TRACE_MUX_CHECK_H

#include <linux/kconfig.h>

#if IS_ENABLED(CONFIG_FTRACE_MUX_TEST)
void ftrace_mux_check_recs(void);
void ftrace_mux_start_checks(void);
void ftrace_mux_stop_checks(void);
#else
static inline void ftrace_mux_check_recs(void) { }
#endif

#endif /* _KERNEL_TRACE_MUX_CHECK_H */

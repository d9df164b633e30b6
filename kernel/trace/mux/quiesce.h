/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer: when memory is freed, see quiesce.c */
#ifndef _KERNEL_TRACE_MUX_QUIESCE_H
#define _KERNEL_TRACE_MUX_QUIESCE_H

void ftrace_mux_request_sweep(void);
void ftrace_mux_sweep_sync(void);

#endif /* _KERNEL_TRACE_MUX_QUIESCE_H */

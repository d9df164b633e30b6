/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer: what is written to the files of filters, see write.c */
#ifndef _KERNEL_TRACE_MUX_WRITE_H
#define _KERNEL_TRACE_MUX_WRITE_H

#include <linux/types.h>

struct ftrace_mux_writer *ftrace_mux_new_writer(bool empty);

#endif /* _KERNEL_TRACE_MUX_WRITE_H */

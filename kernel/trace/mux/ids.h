/* SPDX-License-Identifier: GPL-2.0 */
/* Function tracer multiplexer: the IDs of tracers, see ids.c */
#ifndef _KERNEL_TRACE_MUX_IDS_H
#define _KERNEL_TRACE_MUX_IDS_H

#include <linux/ftrace.h>

struct ftrace_ops *ftrace_mux_id_owner(unsigned int id);
void ftrace_mux_get_id(struct ftrace_ops *ops);
void ftrace_mux_put_id(struct ftrace_ops *ops, bool quiescent);
bool ftrace_mux_ids_quiesce(void);
void ftrace_mux_ids_reap(void);

/* The tracers with an ID that want @rec, as a mask */
static inline unsigned int ftrace_mux_rec_mask(const struct dyn_ftrace *rec)
{
	return rec->mux.filter_ids & ~rec->mux.notrace_ids;
}

#endif /* _KERNEL_TRACE_MUX_IDS_H */

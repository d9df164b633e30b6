/* SPDX-License-Identifier: GPL-2.0 */
/* What native_record.c shares with native_record.S and with the objects of the kernels */
#ifndef NATIVE_RECORD_H
#define NATIVE_RECORD_H

#include <linux/types.h>

struct trace_buffer;

/* An event of up to 112 bytes */
struct ring_buffer_event {
	u32	type_len:5, time_delta:27;
	u32	array[];
};

/* The head of a sub-buffer */
struct buffer_data_page {
	u64		time_stamp;
	unsigned long	commit;
	u8		data[];
};

struct cyc2ns_data {
	u32	mul, shift;
	u64	offset;
};

#define RB_TYPE_PADDING		29
#define RB_TYPE_TIME_EXTEND	30
#define RB_TYPE_TIME_STAMP	31

/* The range of the first versions has no scratch memory, but a key of lockdep there */
#define DECLARE_KERNEL(name)								\
	struct trace_buffer *name##_alloc(unsigned long size, unsigned int flags,	\
					  int order, unsigned long start,		\
					  unsigned long range_size,			\
					  unsigned long scratch_size, void *key);	\
	struct ring_buffer_event *name##_reserve(struct trace_buffer *buffer,		\
						 unsigned long length);			\
	int name##_commit(struct trace_buffer *buffer);					\
	unsigned long name##_entries(struct trace_buffer *buffer);			\
	unsigned long name##_overruns(struct trace_buffer *buffer);			\
	u64 name##_clock(void);								\
	extern struct cyc2ns_data name##_cyc2ns[2];					\
	extern int name##_use_tsc;							\
	extern u8 __start_##name##_text[], __stop_##name##_text[]

DECLARE_KERNEL(stock);
DECLARE_KERNEL(patched);

/* The per-CPU variables of all objects */
extern u8 __start_percpu[], __stop_percpu[];

#endif /* NATIVE_RECORD_H */

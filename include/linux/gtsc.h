/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic trace setup and control: channels of binary trace records to user
 * space, see Documentation/trace/gtsc.rst.
 */
#ifndef _LINUX_GTSC_H
#define _LINUX_GTSC_H

#include <linux/compiler_attributes.h>
#include <linux/stdarg.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

struct ring_buffer_event;
struct trace_buffer;
struct trace_group;
struct trace_info;

/* Characters of a name: of a root directory, a trace or a channel */
#define TRACE_NAME_MAX		64

/* What a channel is, see trace_setup() */
#define TRACE_GLOBAL_CHANNEL	0x1	/* one file, in the order of time */
#define TRACE_FLIGHT_CHANNEL	0x2	/* the newest records, not the oldest */
#define TRACE_HEADER_CHANNEL	0x4	/* struct gtsc_record_header before each */
#define TRACE_PANIC_CHANNEL	0x8	/* its records go to the console in a panic */

/**
 * struct trace_record - a record between trace_reserve() and its end
 * @data: where to put the provider's bytes
 * @buffer: for trace_commit()
 * @event: for trace_discard()
 */
struct trace_record {
	void				*data;
	struct trace_buffer		*buffer;
	struct ring_buffer_event	*event;
};

/**
 * trace_timestamp - the time that records have
 *
 * Context: any, including NMI.
 *
 * Return: nanoseconds of CLOCK_MONOTONIC.
 */
static inline u64 trace_timestamp(void)
{
	return ktime_get_mono_fast_ns();
}

struct trace_info *trace_setup(const char *root, const char *name,
			       unsigned int sub_size, unsigned int nr_sub,
			       unsigned int flags);
int trace_start(struct trace_info *trace);
int trace_stop(struct trace_info *trace);
void trace_cleanup(struct trace_info *trace);
bool trace_running(struct trace_info *trace);
int trace_resize(struct trace_info *trace, unsigned int sub_size,
		 unsigned int nr_sub);

struct trace_group *trace_group_setup(const char *root, const char *name);
struct trace_info *trace_group_channel(struct trace_group *group, const char *name,
				       unsigned int sub_size, unsigned int nr_sub,
				       unsigned int flags);
int trace_group_start(struct trace_group *group);
int trace_group_stop(struct trace_group *group);
void trace_group_cleanup(struct trace_group *group);

void *trace_reserve(struct trace_info *trace, struct trace_record *record,
		    size_t len);
void trace_trim(struct trace_record *record, size_t len);
void trace_commit(struct trace_info *trace, struct trace_record *record);
void trace_discard(struct trace_info *trace, struct trace_record *record);
int trace_write(struct trace_info *trace, const void *data, size_t len);
__printf(2, 3) int trace_printf(struct trace_info *trace, const char *fmt, ...);
__printf(2, 0) int trace_vprintf(struct trace_info *trace, const char *fmt,
				 va_list args);

#endif /* _LINUX_GTSC_H */

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
#include <uapi/linux/gtsc.h>

struct gtsc_buffer;
struct gtsc_channel;
struct gtsc_group;

/* Characters of a name: of a root directory, a group or a channel */
#define GTSC_NAME_MAX	64
/* Characters of a format, see gtsc_set_format() */
#define GTSC_FORMAT_MAX	1023

/* What a channel is, see gtsc_setup() */
#define GTSC_GLOBAL	0x1	/* one file, in the order of time */
#define GTSC_FLIGHT	0x2	/* the newest records, not the oldest */
#define GTSC_HEADER	0x4	/* struct gtsc_record_header before each */
#define GTSC_PANIC	0x8	/* its records go to the console in a panic */

/**
 * struct gtsc_record - a record between gtsc_reserve() and its end
 * @data: where to put the provider's bytes
 * @buffer: of the CPU
 */
struct gtsc_record {
	void			*data;
	struct gtsc_buffer	*buffer;
};

/**
 * gtsc_timestamp - the time that records have
 *
 * Context: any, including NMI.
 *
 * Return: nanoseconds of CLOCK_MONOTONIC_RAW, which does not go back from one CPU to
 * another, but may when the machine resumes.
 */
static inline u64 gtsc_timestamp(void)
{
	return ktime_get_raw_fast_ns();
}

struct gtsc_channel *gtsc_setup(const char *root, const char *name, unsigned int sub_size,
				unsigned int nr_sub, unsigned int flags);
int gtsc_start(struct gtsc_channel *ch);
int gtsc_stop(struct gtsc_channel *ch);
void gtsc_cleanup(struct gtsc_channel *ch);
bool gtsc_running(struct gtsc_channel *ch);
int gtsc_set_format(struct gtsc_channel *ch, const char *format);
void gtsc_set_switch(struct gtsc_channel *ch, int (*fn)(bool on, void *data), void *data);

struct gtsc_group *gtsc_group_setup(const char *root, const char *name);
struct gtsc_channel *gtsc_group_channel(struct gtsc_group *group, const char *name,
					unsigned int sub_size, unsigned int nr_sub,
					unsigned int flags);
void gtsc_group_cleanup(struct gtsc_group *group);

void *gtsc_reserve(struct gtsc_channel *ch, struct gtsc_record *record, size_t len);
void gtsc_commit(struct gtsc_channel *ch, struct gtsc_record *record);
int gtsc_write(struct gtsc_channel *ch, const void *data, size_t len);
__printf(2, 3) int gtsc_printf(struct gtsc_channel *ch, const char *fmt, ...);

#endif /* _LINUX_GTSC_H */

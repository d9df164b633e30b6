/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Generic trace setup and control: what user space reads.
 */
#ifndef _UAPI_LINUX_GTSC_H
#define _UAPI_LINUX_GTSC_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Types of records */
#define GTSC_RECORD	0
#define GTSC_LOST	1	/* a __u64: records lost on this CPU before this place */

/**
 * struct gtsc_record_header - precedes each record, if the reader gets headers
 * @time: when its space was reserved, in nanoseconds of CLOCK_MONOTONIC_RAW
 * @type: GTSC_RECORD or GTSC_LOST
 * @cpu: the CPU that the record was written on
 * @len: bytes that follow
 *
 * In the byte order of the machine. A record has @len bytes, and then as many as
 * bring it to a multiple of 8.
 */
struct gtsc_record_header {
	__u64	time;
	__u16	type;
	__u16	cpu;
	__u32	len;
};

/**
 * struct gtsc_range - records in the mapped sub-buffers of a CPU
 * @sub: number of the sub-buffer: it is mapped from @sub times the size of a sub-buffer
 * @from: its first byte, in that sub-buffer
 * @to: the byte behind it
 * @reserved: 0
 */
struct gtsc_range {
	__u32	sub;
	__u32	from;
	__u32	to;
	__u32	reserved;
};

/*
 * Of a buffer file that is mapped: the records of the last range have been read; return the
 * next one, or -EAGAIN if there is none.
 */
#define GTSC_IOC_NEXT		_IOR('R', 0x30, struct gtsc_range)

#endif /* _UAPI_LINUX_GTSC_H */

/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Generic trace setup and control: what user space reads.
 */
#ifndef _UAPI_LINUX_GTSC_H
#define _UAPI_LINUX_GTSC_H

#include <linux/types.h>

/* Types of records */
#define GTSC_TYPE_RECORD	0
#define GTSC_TYPE_LOST		1	/* a __u64: records lost on this CPU since the last such */

/**
 * struct gtsc_record_header - precedes each record, if the reader gets headers
 * @time: when its space was reserved, in nanoseconds of CLOCK_MONOTONIC_RAW; for GTSC_TYPE_LOST
 *	that of the record after it
 * @type: GTSC_TYPE_RECORD or GTSC_TYPE_LOST
 * @cpu: the CPU that the record was written on
 * @len: bytes that follow
 *
 * In the byte order of the machine. A record has @len bytes, and then zeros up to a multiple
 * of 8 bytes.
 */
struct gtsc_record_header {
	__u64	time;
	__u16	type;
	__u16	cpu;
	__u32	len;
};

#endif /* _UAPI_LINUX_GTSC_H */

/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Generic trace setup and control: what user space reads.
 */
#ifndef _UAPI_LINUX_GTSC_H
#define _UAPI_LINUX_GTSC_H

#include <linux/types.h>

/**
 * struct gtsc_record_header - precedes each record of a channel with headers
 * @len: bytes of the provider's that follow
 * @cpu: the CPU that the record was written on
 * @time: when its space was reserved, in nanoseconds of CLOCK_MONOTONIC
 *
 * In the byte order of the machine. There is nothing between one record and the
 * next, so a header may be at any address.
 */
struct gtsc_record_header {
	__u32	len;
	__u32	cpu;
	__u64	time;
};

#endif /* _UAPI_LINUX_GTSC_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The names that GTSC had when it was posted in 2007. New code uses <linux/gtsc.h>: names
 * that begin with trace_ are those of tracepoints.
 */
#ifndef _LINUX_GTSC_2007_H
#define _LINUX_GTSC_2007_H

#include <linux/gtsc.h>

#define trace_info		gtsc_channel

#define TRACE_GLOBAL_CHANNEL	GTSC_GLOBAL
#define TRACE_FLIGHT_CHANNEL	GTSC_FLIGHT

#define trace_setup		gtsc_setup
#define trace_start		gtsc_start
#define trace_stop		gtsc_stop
#define trace_cleanup		gtsc_cleanup
#define trace_running		gtsc_running
#define trace_timestamp		gtsc_timestamp

#endif /* _LINUX_GTSC_2007_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records in the ring buffer, and how to find them in a sub-buffer (page.c)
 */
#ifndef _KERNEL_TRACE_GTSC_PAGE_H
#define _KERNEL_TRACE_GTSC_PAGE_H

#include <linux/types.h>

#include <asm/local.h>

/* A record in the ring buffer, which rounds lengths up to whole words */
struct gtsc_slot {
	u32	len;
#ifdef CONFIG_HAVE_64BIT_ALIGNED_ACCESS
	u32	pad;
#endif
	u8	data[];
};

/* A sub-buffer as ring_buffer_read_page() returns it, see events/header_page */
struct gtsc_page {
	u64	time;
	local_t	commit;
	u8	data[];
};

/* A record on its way to the reader */
struct gtsc_record {
	u64		time;
	u32		len;
	const u8	*data;
};

/* Where in a page the reader is */
struct gtsc_cursor {
	const struct gtsc_page	*page;
	unsigned int		pos;
	unsigned int		end;
	u64			time;
};

void gtsc_open_page(struct gtsc_cursor *cursor, const struct gtsc_page *page);
bool gtsc_next_in_page(struct gtsc_cursor *cursor, struct gtsc_record *record);

#endif /* _KERNEL_TRACE_GTSC_PAGE_H */

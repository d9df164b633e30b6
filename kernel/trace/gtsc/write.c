// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: writing records.
 *
 * From any context, without a lock. Writers have preemption disabled, so that after a
 * grace period of RCU a stopped channel has no writer.
 */

#include <linux/export.h>
#include <linux/irq_work.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sprintf.h>
#include <linux/string.h>

#include "gtsc.h"
#include "read.h"
#include "write.h"

/* With preemption disabled, on the CPU that the record was written on */
noinline void gtsc_wake_reader(struct gtsc_channel *ch, struct gtsc_buffer *b)
{
	/*
	 * Clear them before irq_work_queue(): if a function tracer writes to @ch when that is
	 * called, it does not queue again, and if a reader sets a flag from now on, the next commit
	 * wakes it.
	 */
	WRITE_ONCE(b->wake_when_passed, false);
	WRITE_ONCE(b->wake, false);
	irq_work_queue(&this_cpu_ptr(ch->percpu)->wake);
}
EXPORT_SYMBOL_GPL(gtsc_wake_reader);
/* For modules that use write.h. Not in buffer.c, which gtsc_step_test.c includes. */
EXPORT_SYMBOL_GPL(gtsc_reserve_next);

/* Count a record that has been refused before it was given space */
noinline void gtsc_count_refused(struct gtsc_channel *ch, struct gtsc_buffer *b, size_t len)
{
	struct gtsc_counts *counts = &this_cpu_ptr(ch->percpu)->counts;

	if (!len)
		return;
	if (b != &gtsc_no_buffer)
		local64_inc(&counts->too_big);
	else
		/* There was no memory for this CPU when it came online */
		local64_inc(&counts->full);
}
EXPORT_SYMBOL_GPL(gtsc_count_refused);

/**
 * gtsc_reserve - reserve space for a record
 * @ch: the channel
 * @record: filled in, for gtsc_commit()
 * @len: bytes of the record, at least 1
 *
 * The caller writes all @len bytes to where the return value points, and ends
 * the record with gtsc_commit(), in the same context. Reservations of one context do not nest. The
 * caller cannot be preempted until then, and must not sleep. If the reservation fails, the record
 * is counted as dropped, unless the channel is not running or @len is 0.
 *
 * gtsc_reserve() and gtsc_commit() call functions that can be traced. The callback of a function
 * tracer guards itself with ftrace_test_recursion_trylock().
 *
 * Context: any in which RCU is watching: task, softirq, irq, NMI, a kprobe's or
 * function tracer's callback. Takes no lock.
 *
 * Return: where to write to, aligned to 8 bytes; NULL if the channel is not running,
 * the record is too big or empty, the buffer is full, or writers that have interrupted
 * each other have filled all of it.
 */
void *gtsc_reserve(struct gtsc_channel *ch, struct gtsc_record *record, size_t len)
{
	/* Until the record ends, so that gtsc_stop() waits for it */
	preempt_disable_notrace();
	if (likely(gtsc_reserve_record(ch, record, len)))
		return record->data;
	preempt_enable_notrace();

	return NULL;
}
EXPORT_SYMBOL_GPL(gtsc_reserve);

static void put_filler(void *p, size_t size)
{
	*(u64 *)p = GTSC_FILLER | (size - GTSC_UNIT);
}

/* Make a reserved record shorter: @len is 1 or more, and not more than was reserved */
static void trim(struct gtsc_record *record, size_t len)
{
	struct gtsc_record_header *header = gtsc_header_of(record);
	size_t old = gtsc_record_size(header->len), size = gtsc_record_size(len);

	if (len == header->len)
		return;

	memset(record->data + len, 0, size - sizeof(*header) - len);
	header->len = len;
	if (size < old)
		put_filler((void *)header + size, old - size);
}

/**
 * gtsc_commit - make a record readable
 * @ch: the channel
 * @record: from gtsc_reserve()
 *
 * Context: as gtsc_reserve().
 */
void gtsc_commit(struct gtsc_channel *ch, struct gtsc_record *record)
{
	gtsc_end_record(ch, record);
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(gtsc_commit);

/* The error for a gtsc_reserve() that has returned NULL */
static int reserve_error(struct gtsc_channel *ch, size_t len)
{
	if (!len)
		return -EINVAL;
	if (!gtsc_running(ch))
		return -ESHUTDOWN;

	return len > gtsc_max_len(READ_ONCE(ch->order)) ? -E2BIG : -ENOBUFS;
}

/**
 * gtsc_write - write a record
 * @ch: the channel
 * @data: the record
 * @len: its bytes, at least 1
 *
 * Context: as gtsc_reserve().
 *
 * Return: 0; -ESHUTDOWN if the channel is not running; -EINVAL if @len is 0;
 * -E2BIG if the record is longer than a sub-buffer can hold; -ENOBUFS if the buffer is
 * full, or writers that have interrupted each other have filled all of it.
 */
int gtsc_write(struct gtsc_channel *ch, const void *data, size_t len)
{
	struct gtsc_record record;
	int ret = 0;

	/* Until reserve_error() has looked at @ch->order, see write_formatted() */
	preempt_disable_notrace();
	if (likely(gtsc_reserve_record(ch, &record, len))) {
		memcpy(record.data, data, len);
		gtsc_end_record(ch, &record);
	} else {
		ret = reserve_error(ch, len);
	}
	preempt_enable_notrace();

	return ret;
}
EXPORT_SYMBOL_GPL(gtsc_write);

static __printf(2, 0) int write_formatted(struct gtsc_channel *ch, const char *fmt,
					  va_list args)
{
	struct gtsc_record record;
	char buf[128];
	va_list again;
	int len, ret;

	/* Until reserve_error() has looked at @ch->order: a resize waits for a grace period */
	preempt_disable_notrace();
	va_copy(again, args);
	if (!gtsc_running(ch)) {
		ret = -ESHUTDOWN;
		goto out;
	}

	len = vsnprintf(buf, sizeof(buf), fmt, args);
	if (len < sizeof(buf)) {
		ret = gtsc_write(ch, buf, len) ?: len;
		goto out;
	}

	/* vsnprintf() ends it with a NUL, which is then cut off */
	if (!gtsc_reserve(ch, &record, len + 1)) {
		ret = reserve_error(ch, len + 1);
		goto out;
	}
	/* The arguments may have changed since: an empty text is a NUL */
	ret = clamp(vsnprintf(record.data, len + 1, fmt, again), 1, len);
	trim(&record, ret);
	gtsc_commit(ch, &record);
out:
	va_end(again);
	preempt_enable_notrace();
	return ret;
}

/**
 * gtsc_printf - write a formatted record
 * @ch: the channel
 * @fmt: as for printk()
 *
 * The record is the text, without a NUL at its end. If the arguments change meanwhile so that
 * the text becomes empty, the record is a NUL. It is formatted on the stack; if it is too long for
 * that, space is reserved, and it is formatted again there.
 *
 * Context: as gtsc_reserve().
 *
 * Return: bytes written, at least 1; the errors of gtsc_write(). A text as long as the longest
 * record is -E2BIG, too: while it is formatted, it needs room for a NUL.
 */
int gtsc_printf(struct gtsc_channel *ch, const char *fmt, ...)
{
	va_list args;
	int ret;

	va_start(args, fmt);
	ret = write_formatted(ch, fmt, args);
	va_end(args);

	return ret;
}
EXPORT_SYMBOL_GPL(gtsc_printf);

/**
 * gtsc_running - whether records written to a channel are kept
 * @ch: the channel
 *
 * Context: any.
 *
 * Return: true while the channel is running, whoever has started it; false in a panic for a channel
 * with GTSC_PANIC.
 */
bool gtsc_running(struct gtsc_channel *ch)
{
	return READ_ONCE(ch->live);
}
EXPORT_SYMBOL_GPL(gtsc_running);

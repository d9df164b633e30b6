// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: writing records.
 *
 * From any context, without a lock. Writers have preemption disabled, so that after a
 * grace period of RCU a stopped channel has no writer.
 */

#include <linux/container_of.h>
#include <linux/export.h>
#include <linux/irq_work.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/ring_buffer.h>
#include <linux/sprintf.h>
#include <linux/string.h>

#include "gtsc.h"
#include "page.h"

/* With preemption disabled, on the CPU that the record was written on */
static __always_inline void wake_reader(struct gtsc_cpu *cpu)
{
	if (likely(!READ_ONCE(cpu->waiting)))
		return;

	WRITE_ONCE(cpu->waiting, false);
	irq_work_queue(&cpu->wake);
}

/**
 * trace_reserve - reserve space for a record
 * @trace: the channel
 * @record: filled in, for trace_commit() or trace_discard()
 * @len: bytes of the record, at least 1
 *
 * The caller writes all @len bytes to where the return value points, and ends
 * the record with trace_commit() or trace_discard(), in the same context and
 * before any other that it reserves. It cannot be preempted until then, and must
 * not sleep. If the reservation fails, the record is counted as dropped, unless the
 * channel is not running.
 *
 * Context: any in which RCU is watching: task, softirq, irq, NMI, a kprobe's or
 * function tracer's callback. One record at a time in each of task, softirq, irq
 * and NMI context of a CPU, and one more. Takes no lock.
 *
 * Return: where to write to, aligned to 4 bytes, and to 8 where the architecture
 * needs that; NULL if the channel is not running, the record is too big or empty,
 * the buffer is full, or records are nested too deep.
 */
void *trace_reserve(struct trace_info *trace, struct trace_record *record,
		    size_t len)
{
	struct trace_buffer *buffer;
	struct gtsc_slot *slot;

	/* Until the record ends, so that trace_stop() waits for it */
	preempt_disable_notrace();

	buffer = READ_ONCE(trace->live);
	if (unlikely(!buffer))
		goto out;

	if (unlikely(len - 1 >= trace->max_len)) {
		if (len)
			local_inc(&this_cpu_ptr(trace->cpu)->too_big);
		goto out;
	}

	record->event = ring_buffer_lock_reserve(buffer, sizeof(*slot) + len);
	if (unlikely(!record->event)) {
		local_inc(&this_cpu_ptr(trace->cpu)->refused);
		goto out;
	}

	record->buffer = buffer;
	slot = ring_buffer_event_data(record->event);
	slot->len = len;
	record->data = slot->data;

	return slot->data;

out:
	preempt_enable_notrace();
	return NULL;
}
EXPORT_SYMBOL_GPL(trace_reserve);

/**
 * trace_trim - make a reserved record shorter
 * @record: from trace_reserve()
 * @len: bytes that it is to have, at least 1 and not more than were reserved
 *
 * For a record whose length is known only when it has been written. The space
 * remains taken.
 *
 * Context: as trace_reserve().
 */
void trace_trim(struct trace_record *record, size_t len)
{
	struct gtsc_slot *slot = container_of(record->data, struct gtsc_slot, data[0]);

	if (len && len < slot->len)
		slot->len = len;
}
EXPORT_SYMBOL_GPL(trace_trim);

/**
 * trace_commit - make a record readable
 * @trace: the channel
 * @record: from trace_reserve()
 *
 * Context: as trace_reserve().
 */
void trace_commit(struct trace_info *trace, struct trace_record *record)
{
	ring_buffer_unlock_commit(record->buffer);
	wake_reader(raw_cpu_ptr(trace->cpu));
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(trace_commit);

/**
 * trace_discard - drop a reserved record
 * @trace: the channel
 * @record: from trace_reserve()
 *
 * The record was never attempted: it is not counted anywhere.
 *
 * Context: as trace_reserve().
 */
void trace_discard(struct trace_info *trace, struct trace_record *record)
{
	ring_buffer_discard_commit(record->buffer, record->event);
	/* Records that have interrupted this one can be read only now */
	wake_reader(raw_cpu_ptr(trace->cpu));
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(trace_discard);

/* The error for a trace_reserve() that has returned NULL */
static int reserve_error(struct trace_info *trace, size_t len)
{
	if (!len)
		return -EINVAL;
	if (len > trace->max_len)
		return -E2BIG;

	return trace_running(trace) ? -ENOBUFS : -ESHUTDOWN;
}

/**
 * trace_write - write a record
 * @trace: the channel
 * @data: the record
 * @len: its bytes, at least 1
 *
 * Context: as trace_reserve().
 *
 * Return: 0; -ESHUTDOWN if the channel is not running; -EINVAL if @len is 0;
 * -E2BIG if the record is longer than a page can hold; -ENOBUFS if the buffer is
 * full or records are nested too deep.
 */
int trace_write(struct trace_info *trace, const void *data, size_t len)
{
	struct trace_record record;
	int ret = 0;

	preempt_disable_notrace();
	if (likely(trace_reserve(trace, &record, len))) {
		memcpy(record.data, data, len);
		trace_commit(trace, &record);
	} else {
		ret = reserve_error(trace, len);
	}
	preempt_enable_notrace();

	return ret;
}
EXPORT_SYMBOL_GPL(trace_write);

/**
 * trace_vprintf - write a formatted record
 * @trace: the channel
 * @fmt: as for printk()
 * @args: what it formats
 *
 * The record is the text, without a NUL at its end. A short one is formatted on
 * the stack; for a long one the space is reserved first and it is formatted
 * there.
 *
 * Context: as trace_reserve().
 *
 * Return: bytes written, at least 1; the errors of trace_write(), and -E2BIG for
 * the longest record already: the NUL needs room.
 */
int trace_vprintf(struct trace_info *trace, const char *fmt, va_list args)
{
	struct trace_record record;
	char buf[128];
	va_list again;
	int len, ret;

	preempt_disable_notrace();
	va_copy(again, args);
	if (!trace_running(trace)) {
		ret = -ESHUTDOWN;
		goto out;
	}

	len = vsnprintf(buf, sizeof(buf), fmt, args);
	if (len < sizeof(buf)) {
		ret = trace_write(trace, buf, len) ?: len;
		goto out;
	}

	/* vsnprintf() ends it with a NUL, which is then cut off */
	if (!trace_reserve(trace, &record, len + 1)) {
		ret = reserve_error(trace, len + 1);
		goto out;
	}
	/* The arguments may have changed since: the text may be shorter now */
	ret = min(vsnprintf(record.data, len + 1, fmt, again), len);
	if (ret) {
		trace_trim(&record, ret);
		trace_commit(trace, &record);
	} else {
		trace_discard(trace, &record);
		ret = -EINVAL;
	}
out:
	va_end(again);
	preempt_enable_notrace();
	return ret;
}
EXPORT_SYMBOL_GPL(trace_vprintf);

/**
 * trace_printf - write a formatted record
 * @trace: the channel
 * @fmt: as for printk()
 *
 * See trace_vprintf(). This is the gtsc_printf() of the example of 2007, without
 * its lock and its buffers.
 *
 * Context: as trace_reserve().
 *
 * Return: bytes written, at least 1; the errors of trace_write().
 */
int trace_printf(struct trace_info *trace, const char *fmt, ...)
{
	va_list args;
	int ret;

	va_start(args, fmt);
	ret = trace_vprintf(trace, fmt, args);
	va_end(args);

	return ret;
}
EXPORT_SYMBOL_GPL(trace_printf);

/**
 * trace_running - whether records written to a channel are kept
 * @trace: the channel
 *
 * Context: any.
 *
 * Return: true between trace_start() and trace_stop().
 */
bool trace_running(struct trace_info *trace)
{
	return READ_ONCE(trace->live);
}
EXPORT_SYMBOL_GPL(trace_running);

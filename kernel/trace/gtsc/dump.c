// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: records on the console in a panic.
 *
 * Flight recorders with GTSC_PANIC print the records that they hold. Takes no lock, waits
 * for nothing, and changes nothing. If a reader was stopped while it held its lock, what
 * it had taken is left out.
 */
#define pr_fmt(fmt) "gtsc: " fmt

#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/nmi.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "gtsc.h"
#include "read.h"

/* Of a record */
#define MAX_DUMP_BYTES	256U

static unsigned int dump_records = 1000;
module_param(dump_records, uint, 0644);
MODULE_PARM_DESC(dump_records, "Newest records of a channel that a panic prints (default 1000)");

/* Changed with gtsc_mutex held, walked in a panic without */
static LIST_HEAD(gtsc_panic_channels);

void gtsc_add_dump(struct gtsc_channel *ch)
{
	lockdep_assert_held(&gtsc_mutex);

	list_add_tail(&ch->panic_node, &gtsc_panic_channels);
}

void gtsc_del_dump(struct gtsc_channel *ch)
{
	lockdep_assert_held(&gtsc_mutex);

	list_del_init(&ch->panic_node);
}

/* Where the dump is in the records of a CPU */
struct dump_cursor {
	struct gtsc_source	*source;
	struct gtsc_held	*held;	/* goes on behind this one */
	bool			at_held;
	bool			at_taken;
	u64			seq;	/* goes on with this sub-buffer */
	unsigned int		left;	/* sub-buffers that there can be from @seq on */

	const void		*data;
	u32			pos;
	u32			end;
};

static DEFINE_PER_CPU(struct dump_cursor, dump_cursors);

/* Nobody reads or writes any more, unless a reader was stopped while it held its lock */
static void init_cursor(struct gtsc_channel *ch, int cpu)
{
	struct dump_cursor *cursor = per_cpu_ptr(&dump_cursors, cpu);
	bool is_read = mutex_is_locked(&gtsc_reader(ch, cpu)->lock);
	struct gtsc_buffer *b = gtsc_source(ch, cpu)->buffer;

	memset(cursor, 0, sizeof(*cursor));
	if (!b)
		return;

	cursor->source = gtsc_source(ch, cpu);
	cursor->at_held = !is_read && !list_empty(&cursor->source->held);
	cursor->at_taken = !is_read && cursor->source->taken;
	cursor->seq = gtsc_oldest_seq(b);
	cursor->left = b->nr_sub;
}

static void go_to_mem(struct dump_cursor *cursor, unsigned int i, u32 from)
{
	struct gtsc_buffer *b = cursor->source->buffer;
	u64 commit = atomic64_read(&b->commit);

	cursor->data = b->mem[i].data;
	cursor->pos = from;
	cursor->end = gtsc_is_in(commit, i) ? gtsc_offset(commit) : b->mem[i].used;
}

/* Go to the next sub-buffer, from the oldest to the newest */
static bool next_sub(struct dump_cursor *cursor)
{
	struct gtsc_source *source = cursor->source;
	unsigned int i;

	if (cursor->at_held) {
		cursor->held = cursor->held ? list_next_entry(cursor->held, node) :
			       list_first_entry(&source->held, struct gtsc_held, node);
		cursor->at_held = !list_is_last(&cursor->held->node, &source->held);
		cursor->data = cursor->held->data;
		cursor->pos = cursor->held->from;
		cursor->end = cursor->held->used;
		return true;
	}

	if (cursor->at_taken) {
		cursor->at_taken = false;
		go_to_mem(cursor, source->mem, source->from);
		return true;
	}

	while (cursor->left) {
		u64 seq = cursor->seq;

		cursor->left--;
		cursor->seq = gtsc_seq_after(source->buffer, seq, 1);
		if (gtsc_peek(source->buffer, seq, &i)) {
			go_to_mem(cursor, i, GTSC_FIRST * GTSC_UNIT);
			return true;
		}
	}

	return false;
}

/* The next record of a CPU. Memory may be corrupt in a panic: stops where it is */
static const struct gtsc_record_header *next_record(struct dump_cursor *cursor)
{
	const struct gtsc_record_header *header;
	size_t size;

	if (!cursor->source)
		return NULL;

	for (;;) {
		while (cursor->pos < cursor->end) {
			header = cursor->data + cursor->pos;
			size = gtsc_is_filler(header) ? gtsc_filler_size(header) :
			       gtsc_record_size(header->len);
			if (!size || size > cursor->end - cursor->pos)
				break;
			if (!gtsc_is_filler(header) && header->type == GTSC_RECORD)
				return header;
			cursor->pos += size;
		}
		if (!next_sub(cursor))
			return NULL;
	}
}

/* The oldest record of all CPUs, and go on behind it */
static const struct gtsc_record_header *take_oldest(void)
{
	const struct gtsc_record_header *header, *oldest = NULL;
	struct dump_cursor *of_oldest = NULL;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct dump_cursor *cursor = per_cpu_ptr(&dump_cursors, cpu);

		header = next_record(cursor);
		if (header && (!oldest || header->time < oldest->time)) {
			oldest = header;
			of_oldest = cursor;
		}
	}
	if (oldest)
		of_oldest->pos += gtsc_record_size(oldest->len);

	return oldest;
}

static void init_cursors(struct gtsc_channel *ch)
{
	int cpu;

	for_each_possible_cpu(cpu)
		init_cursor(ch, cpu);
}

static void print_record(const struct gtsc_record_header *header)
{
	pr_emerg("[%llu] cpu %u, %u bytes\n", header->time, header->cpu, header->len);
	print_hex_dump(KERN_EMERG, "gtsc: ", DUMP_PREFIX_OFFSET, 16, 1, header + 1,
		       min(header->len, MAX_DUMP_BYTES), true);
}

static void dump(struct gtsc_channel *ch)
{
	const char *name = ch->group->single ? "" : ch->name;
	const struct gtsc_record_header *header;
	u64 nr = 0;

	WRITE_ONCE(ch->live, NULL);
	init_cursors(ch);
	while (take_oldest())
		nr++;
	pr_emerg("%s%s%s: the newest of %llu records\n", ch->group->name,
		 ch->group->single ? "" : "/", name, nr);

	init_cursors(ch);
	while ((header = take_oldest())) {
		/* The console may be slow */
		touch_nmi_watchdog();
		if (nr-- <= dump_records)
			print_record(header);
	}
}

static int dump_all(struct notifier_block *nb, unsigned long event, void *data)
{
	struct gtsc_channel *ch;

	list_for_each_entry(ch, &gtsc_panic_channels, panic_node)
		dump(ch);

	return NOTIFY_DONE;
}

static struct notifier_block panic_notifier = {
	.notifier_call	= dump_all,
};

void gtsc_init_dump(void)
{
	atomic_notifier_chain_register(&panic_notifier_list, &panic_notifier);
}

void gtsc_exit_dump(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_notifier);
}

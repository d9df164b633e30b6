// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: records on the console in a panic.
 *
 * A panic notifier of the highest priority stops the flight recorders with GTSC_PANIC. When the
 * log has been saved, the newest records that they hold are printed. The dump takes no lock, waits
 * for nothing, and changes no buffer. If a reader was stopped while it held the lock of a trace
 * file, the sub-buffer that it had taken and all records that had been read are left out.
 *
 * The oops is worth more than the records: kmsg_dump() calls its dumpers in the order in which
 * they were registered, and this one registers again with each channel, so that pstore has saved
 * the oops by then. A dumper that is registered later, and a kexec kernel, save the log with the
 * records in it: the records take at most half of it.
 */
#define pr_fmt(fmt) "gtsc: " fmt

#include <linux/bits.h>
#include <linux/kmsg_dump.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/nmi.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/rbtree.h>
#include <linux/string.h>

#include "gtsc.h"
#include "read.h"

/* Of a record */
#define MAX_DUMP_BYTES	256U
#define LINE_BYTES	16

/* What a line takes in the log at most: the head of a record, and some of its bytes */
#define LOG_HEAD_BYTES	64
#define LOG_LINE_BYTES	96

/* The log has at least so many bytes: log_buf_len= can only make it bigger */
#ifdef CONFIG_PRINTK
#define LOG_BYTES	BIT(CONFIG_LOG_BUF_SHIFT)
#else
#define LOG_BYTES	0
#endif

#define MAX_DUMP_RECORDS	1000

static unsigned int dump_records = MAX_DUMP_RECORDS;

static int set_dump_records(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 0, MAX_DUMP_RECORDS);
}

static const struct kernel_param_ops dump_records_ops = {
	.set = set_dump_records,
	.get = param_get_uint,
};

module_param_cb(dump_records, &dump_records_ops, &dump_records, 0644);
MODULE_PARM_DESC(dump_records,
		 "Newest records of a channel that a panic prints (0 to 1000, default 1000)");

/* Changed with gtsc_mutex held, walked in a panic without */
static LIST_HEAD(gtsc_panic_channels);

/* Where the dump is in the records of a CPU */
struct dump_cursor {
	struct gtsc_source	*source;
	struct gtsc_held	*held;	/* goes on after this one */
	/* A held sub-buffer follows @held; the taken one follows those */
	bool			more_held;
	bool			more_taken;
	u64			seq;	/* goes on with this sub-buffer */
	unsigned int		left;	/* at most so many sub-buffers come from @seq on */

	const void		*data;
	u32			pos;
	u32			end;

	/* The record at @pos */
	const struct gtsc_record_header *next;
	struct rb_node		node;
};

static DEFINE_PER_CPU(struct dump_cursor, dump_cursors);

/* Nobody reads or writes any more, unless a reader was stopped while it held its lock */
static void init_cursor(struct gtsc_channel *ch, int cpu)
{
	struct dump_cursor *cursor = per_cpu_ptr(&dump_cursors, cpu);
	bool is_read = mutex_is_locked(&gtsc_trace_file(ch, cpu)->lock);
	struct gtsc_buffer *b = gtsc_source(ch, cpu)->buffer;

	memset(cursor, 0, sizeof(*cursor));
	if (!b)
		return;

	cursor->source = gtsc_source(ch, cpu);
	cursor->more_held = !is_read && !list_empty(&cursor->source->held);
	cursor->more_taken = !is_read && cursor->source->taken;
	cursor->seq = gtsc_oldest_seq(b);
	cursor->left = b->nr_sub;
}

/* Memory may be corrupt in a panic */
static u32 sane_end(const struct gtsc_buffer *b, u32 end)
{
	return min_t(u32, end, PAGE_SIZE << b->order);
}

static void go_to_mem(struct dump_cursor *cursor, unsigned int i, u32 from)
{
	struct gtsc_buffer *b = cursor->source->buffer;
	u64 commit = atomic64_read(&b->commit);

	cursor->data = b->mem[i].data;
	cursor->pos = from;
	cursor->end = sane_end(b, gtsc_is_in(commit, i) ? gtsc_offset(commit) : b->mem[i].used);
}

/* Go to the next sub-buffer, from the oldest to the newest */
static bool next_sub(struct dump_cursor *cursor)
{
	struct gtsc_source *source = cursor->source;
	unsigned int i;

	if (cursor->more_held) {
		cursor->held = cursor->held ? list_next_entry(cursor->held, node) :
			       list_first_entry(&source->held, struct gtsc_held, node);
		cursor->more_held = !list_is_last(&cursor->held->node, &source->held);
		cursor->data = cursor->held->data;
		cursor->pos = cursor->held->from;
		cursor->end = sane_end(source->buffer, cursor->held->used);
		return true;
	}

	if (cursor->more_taken) {
		cursor->more_taken = false;
		go_to_mem(cursor, source->mem, source->from);
		return true;
	}

	while (cursor->left) {
		u64 seq = cursor->seq;

		cursor->left--;
		cursor->seq = gtsc_seq_after(source->buffer, seq, 1);
		if (gtsc_peek(source->buffer, seq, &i)) {
			go_to_mem(cursor, i, GTSC_FIRST_UNIT * GTSC_UNIT);
			return true;
		}
	}

	return false;
}

/*
 * The next record of a CPU. Memory may be corrupt in a panic: if a length is wrong, the rest of the
 * sub-buffer is left out.
 */
static const struct gtsc_record_header *next_record(struct dump_cursor *cursor)
{
	const struct gtsc_record_header *header;
	size_t size;

	if (!cursor->source)
		return NULL;

	for (;;) {
		while (cursor->pos < cursor->end) {
			header = cursor->data + cursor->pos;
			/* Before the size is computed, which wraps on 32 bits */
			if (!gtsc_is_filler(header) &&
			    header->len > cursor->source->buffer->max_len)
				break;
			size = gtsc_is_filler(header) ? gtsc_filler_size(header) :
			       gtsc_record_size(header->len);
			if (!size || size > cursor->end - cursor->pos)
				break;
			if (!gtsc_is_filler(header) && header->type == GTSC_TYPE_RECORD)
				return header;
			cursor->pos += size;
		}
		if (!next_sub(cursor))
			return NULL;
	}
}

/* The cursors that have a record, by its time */

static bool is_older(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct dump_cursor, node)->next->time <
	       rb_entry(b, struct dump_cursor, node)->next->time;
}

static void add_cursor(struct rb_root_cached *cursors, struct dump_cursor *cursor)
{
	cursor->next = next_record(cursor);
	if (cursor->next)
		rb_add_cached(&cursor->node, cursors, is_older);
}

/* The oldest record of all CPUs, and go on after it */
static const struct gtsc_record_header *take_oldest(struct rb_root_cached *cursors)
{
	const struct gtsc_record_header *header;
	struct dump_cursor *cursor;

	cursor = rb_entry_safe(rb_first_cached(cursors), struct dump_cursor, node);
	if (!cursor)
		return NULL;

	header = cursor->next;
	rb_erase_cached(&cursor->node, cursors);
	cursor->pos += gtsc_record_size(header->len);
	add_cursor(cursors, cursor);

	return header;
}

/* The newest records so far, in a ring */
struct newest {
	const struct gtsc_record_header	*records[MAX_DUMP_RECORDS];
	unsigned int			first;
	unsigned int			nr;
	size_t				log_bytes;
};

static size_t log_bytes(const struct gtsc_record_header *header)
{
	unsigned int lines = DIV_ROUND_UP(min(header->len, MAX_DUMP_BYTES), LINE_BYTES);

	return LOG_HEAD_BYTES + lines * LOG_LINE_BYTES;
}

static const struct gtsc_record_header *drop_oldest(struct newest *newest)
{
	const struct gtsc_record_header *header = newest->records[newest->first];

	newest->first = (newest->first + 1) % MAX_DUMP_RECORDS;
	newest->nr--;
	newest->log_bytes -= log_bytes(header);

	return header;
}

/* Add the newest record; the older ones make room for it. @max: bytes of the log */
static void add_newest(struct newest *newest, const struct gtsc_record_header *header, size_t max)
{
	if (newest->nr == MAX_DUMP_RECORDS)
		drop_oldest(newest);
	newest->records[(newest->first + newest->nr) % MAX_DUMP_RECORDS] = header;
	newest->nr++;
	newest->log_bytes += log_bytes(header);

	while (newest->nr > dump_records || newest->log_bytes > max)
		drop_oldest(newest);
}

static void print_record(const struct gtsc_record_header *header)
{
	pr_emerg("[%llu] cpu %u, %u bytes\n", header->time, header->cpu, header->len);
	print_hex_dump(KERN_EMERG, "gtsc: ", DUMP_PREFIX_OFFSET, LINE_BYTES, 1, header + 1,
		       min(header->len, MAX_DUMP_BYTES), true);
}

static void dump(struct gtsc_channel *ch, size_t max)
{
	const char *name = ch->group->single ? "" : ch->name;
	struct rb_root_cached cursors = RB_ROOT_CACHED;
	const struct gtsc_record_header *header;
	static struct newest newest;
	u64 nr = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		init_cursor(ch, cpu);
		add_cursor(&cursors, per_cpu_ptr(&dump_cursors, cpu));
	}

	newest.nr = 0;
	newest.log_bytes = 0;
	while ((header = take_oldest(&cursors))) {
		touch_nmi_watchdog();
		add_newest(&newest, header, max);
		nr++;
	}

	pr_emerg("%s%s%s: the newest %u of %llu records\n", ch->group->name,
		 ch->group->single ? "" : "/", name, newest.nr, nr);
	while (newest.nr) {
		/* The console may be slow */
		touch_nmi_watchdog();
		print_record(drop_oldest(&newest));
	}
}

static void dump_all(struct kmsg_dumper *dumper, struct kmsg_dump_detail *detail)
{
	unsigned int nr = list_count_nodes(&gtsc_panic_channels);
	struct gtsc_channel *ch;

	list_for_each_entry(ch, &gtsc_panic_channels, panic_node)
		dump(ch, LOG_BYTES / 2 / nr);
}

static struct kmsg_dumper dumper = {
	.dump		= dump_all,
	.max_reason	= KMSG_DUMP_PANIC,
};

void gtsc_add_dump(struct gtsc_channel *ch)
{
	lockdep_assert_held(&gtsc_mutex);

	list_add_tail(&ch->panic_node, &gtsc_panic_channels);
	/* After the dumpers that have come meanwhile */
	kmsg_dump_unregister(&dumper);
	kmsg_dump_register(&dumper);
}

void gtsc_del_dump(struct gtsc_channel *ch)
{
	lockdep_assert_held(&gtsc_mutex);

	if (list_empty(&ch->panic_node))
		return;

	list_del_init(&ch->panic_node);
	if (list_empty(&gtsc_panic_channels))
		kmsg_dump_unregister(&dumper);
}

/*
 * Stop the channels before other notifiers and dumpers run: if these are traced, their records
 * would overwrite those from before the panic.
 */
static int stop_all(struct notifier_block *nb, unsigned long event, void *data)
{
	struct gtsc_channel *ch;

	list_for_each_entry(ch, &gtsc_panic_channels, panic_node)
		WRITE_ONCE(ch->live, NULL);

	return NOTIFY_DONE;
}

static struct notifier_block panic_notifier = {
	.notifier_call	= stop_all,
	.priority	= INT_MAX,
};

void gtsc_init_dump(void)
{
	atomic_notifier_chain_register(&panic_notifier_list, &panic_notifier);
}

void gtsc_exit_dump(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_notifier);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: records on the console in a panic. Flight
 * recorders with TRACE_PANIC_CHANNEL print the records that they hold.
 */
#define pr_fmt(fmt) "gtsc: " fmt

#include <linux/cleanup.h>
#include <linux/moduleparam.h>
#include <linux/nmi.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/printk.h>
#include <linux/ring_buffer.h>

#include "gtsc.h"
#include "read.h"

static unsigned int dump_records = 1000;
module_param(dump_records, uint, 0644);
MODULE_PARM_DESC(dump_records, "Newest records of a channel that a panic prints (default 1000)");

/* Changed with gtsc_mutex held, walked in a panic without */
static LIST_HEAD(gtsc_panic_channels);

void gtsc_add_dump(struct trace_info *trace)
{
	lockdep_assert_held(&gtsc_mutex);

	list_add_tail(&trace->panic_node, &gtsc_panic_channels);
}

void gtsc_del_dump(struct trace_info *trace)
{
	lockdep_assert_held(&gtsc_mutex);

	list_del_init(&trace->panic_node);
}

/* A reader on another CPU was stopped while it held its lock */
static bool is_interrupted(struct trace_info *trace)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (mutex_is_locked(&gtsc_reader(trace, cpu)->lock))
			return true;
	}

	return false;
}

/* Go to the oldest record of each CPU; returns how many there are */
static u64 rewind_all(struct trace_info *trace)
{
	u64 nr = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct gtsc_source *source = &trace->sources[cpu];

		/* Pages cannot be allocated now */
		source->empty = !source->page;
		if (source->empty)
			continue;
		gtsc_rewind_source(source);
		nr += gtsc_count_source(source) +
		      ring_buffer_entries_cpu(trace->buffer, cpu);
	}

	return nr;
}

static void dump(struct trace_info *trace)
{
	bool single = trace->group->single;
	const char *slash = single ? "" : "/", *name = single ? "" : trace->name;
	struct gtsc_reader all = { .trace = trace, .cpus = cpu_possible_mask };
	struct gtsc_source *source;
	u64 nr;

	if (is_interrupted(trace)) {
		pr_emerg("%s%s%s: is being read, not printed\n", trace->group->name, slash,
			 name);
		return;
	}

	WRITE_ONCE(trace->live, NULL);
	nr = rewind_all(trace);
	pr_emerg("%s%s%s: the newest of %llu records\n", trace->group->name, slash, name, nr);

	while ((source = gtsc_oldest(&all, false))) {
		/* The console may be slow */
		touch_nmi_watchdog();
		if (nr-- <= dump_records) {
			pr_emerg("[%llu] cpu %u, %u bytes\n", source->next.time,
				 source->cpu, source->next.len);
			print_hex_dump(KERN_EMERG, "gtsc: ", DUMP_PREFIX_OFFSET, 16, 1,
				       source->next.data, source->next.len, true);
		}
		gtsc_consume(source);
	}
}

static int dump_all(struct notifier_block *nb, unsigned long event, void *data)
{
	struct trace_info *trace;

	list_for_each_entry(trace, &gtsc_panic_channels, panic_node)
		dump(trace);

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

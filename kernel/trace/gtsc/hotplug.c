// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: CPU hotplug. A CPU gets its buffer and its trace files before it
 * comes online. A CPU that is online when a channel is set up gets its trace files here, too; it
 * has its buffer already, unless it came online meanwhile. The trace files of a global channel are
 * made with its directory. Buffers and files stay when the CPU goes offline.
 */

#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <kunit/static_stub.h>
#include <kunit/visibility.h>

#include "gtsc.h"
#include "read.h"

static enum cpuhp_state hotplug_state;

static int prepare_cpu(unsigned int cpu, struct hlist_node *node)
{
	struct gtsc_channel *ch = hlist_entry(node, struct gtsc_channel, hotplug_node);
	struct gtsc_cpu *c = gtsc_cpu(ch, cpu);
	int ret;

	/*
	 * Without memory, a CPU that is coming online goes on without a buffer, and its records are
	 * dropped. Only the set-up of a channel fails: then the CPU is online already.
	 */
	ret = gtsc_make_cpu_buffer(ch, cpu);
	if (ret && cpu_online(cpu))
		return ret;

	if (!c->has_file && !(ch->flags & GTSC_GLOBAL))
		gtsc_create_trace_files(ch, gtsc_trace_file(ch, cpu), cpu);
	c->has_file = true;

	return 0;
}

/**
 * gtsc_add_hotplug - prepare the CPUs that are online, and those that come later
 * @ch: the channel, with a directory
 *
 * Context: process context, may sleep. Takes the hotplug lock.
 *
 * Return: 0, or -ENOMEM. After an error, trace files may be left in the directory.
 */
int gtsc_add_hotplug(struct gtsc_channel *ch)
{
	KUNIT_STATIC_STUB_REDIRECT(gtsc_add_hotplug, ch);

	return cpuhp_state_add_instance(hotplug_state, &ch->hotplug_node);
}
EXPORT_SYMBOL_IF_KUNIT(gtsc_add_hotplug);

/* Prepare no more CPUs */
void gtsc_del_hotplug(struct gtsc_channel *ch)
{
	cpuhp_state_remove_instance_nocalls(hotplug_state, &ch->hotplug_node);
}

int __init gtsc_init_hotplug(void)
{
	int ret;

	ret = cpuhp_setup_state_multi(CPUHP_BP_PREPARE_DYN, "trace/gtsc:prepare",
				      prepare_cpu, NULL);
	if (ret < 0)
		return ret;
	hotplug_state = ret;

	return 0;
}

void gtsc_exit_hotplug(void)
{
	cpuhp_remove_multi_state(hotplug_state);
}

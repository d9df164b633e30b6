// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hybrid trace: three channels of low, medium and high rate, each with a size
 * of its own. The first two keep all records until they are read; the third is a
 * flight recorder, which keeps the newest.
 *
 *	# modprobe gtsc_hybrid
 *	# echo running > /sys/kernel/debug/gtsc_example/hybrid/state
 *	# echo stopped > /sys/kernel/debug/gtsc_example/hybrid/state
 *	# gtsc print /sys/kernel/debug/gtsc_example/hybrid
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/gtsc.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>

/* What is written, after the header that has the time and the CPU */
struct record {
	s32	pid;
	char	comm[TASK_COMM_LEN];
};

static struct channel {
	const char		*name;
	unsigned int		sub_size;
	unsigned int		nr_sub;
	unsigned int		flags;
	struct gtsc_channel	*trace;
	struct kprobe		kp;
} channels[] = {
	{
		.name		= "low",
		.sub_size	= 4096,
		.nr_sub		= 4,
		.flags		= GTSC_HEADER | GTSC_GLOBAL,
		.kp.symbol_name	= "kernel_clone",
	}, {
		.name		= "medium",
		.sub_size	= 4096,
		.nr_sub		= 64,
		.flags		= GTSC_HEADER,
		.kp.symbol_name	= "vfs_open",
	}, {
		.name		= "high",
		.sub_size	= 65536,
		.nr_sub		= 8,
		.flags		= GTSC_HEADER | GTSC_FLIGHT,
		.kp.symbol_name	= "vfs_read",
	},
};

static struct gtsc_group *group;

static int handler_pre(struct kprobe *p, struct pt_regs *regs)
{
	struct channel *ch = container_of(p, struct channel, kp);
	struct gtsc_record record;
	struct record *r;

	/* The record is written in place, without a copy */
	r = gtsc_reserve(ch->trace, &record, sizeof(*r));
	if (!r)
		return 0;

	r->pid = current->pid;
	memcpy(r->comm, current->comm, sizeof(r->comm));
	gtsc_commit(ch->trace, &record);

	return 0;
}

static int add_channel(struct channel *ch)
{
	int ret;

	ch->trace = gtsc_group_channel(group, ch->name, ch->sub_size, ch->nr_sub,
				       ch->flags);
	if (IS_ERR(ch->trace))
		return PTR_ERR(ch->trace);

	ret = gtsc_set_format(ch->trace, "s32 pid; char comm[16]");
	if (ret)
		return ret;

	ch->kp.pre_handler = handler_pre;

	return register_kprobe(&ch->kp);
}

/* The first @nr kprobes have been registered; the group ends with its channels */
static void end(unsigned int nr)
{
	while (nr--)
		unregister_kprobe(&channels[nr].kp);
	gtsc_group_cleanup(group);
}

static int __init gtsc_hybrid_init(void)
{
	int ret;

	group = gtsc_group_setup("gtsc_example", "hybrid");
	if (IS_ERR(group))
		return PTR_ERR(group);

	for (unsigned int i = 0; i < ARRAY_SIZE(channels); i++) {
		ret = add_channel(&channels[i]);
		if (ret) {
			pr_err("no channel %s: %d\n", channels[i].name, ret);
			end(i);
			return ret;
		}
	}

	return 0;
}
module_init(gtsc_hybrid_init);

static void __exit gtsc_hybrid_exit(void)
{
	end(ARRAY_SIZE(channels));
}
module_exit(gtsc_hybrid_exit);

MODULE_DESCRIPTION("A trace of several channels, one of them a flight recorder");
MODULE_LICENSE("GPL");

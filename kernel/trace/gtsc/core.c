// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: channels of binary trace records from the
 * kernel to user space.
 *
 * The interface follows that of the GTSC that Tom Zanussi and David Wilder posted in
 * 2007, a generalisation of Jens Axboe's blktrace; <linux/gtsc_2007.h> has its names. It has a
 * buffer of its own instead of relay, see Documentation/trace/gtsc.rst.
 *
 * This file sets groups and channels up and ends them. gtsc_mutex is not held while a channel is
 * allocated, nor while gtsc_cleanup() or gtsc_group_cleanup() removes the files of a channel. If
 * add_channel() fails, the directory is removed with gtsc_mutex held: see gtsc_create_dir().
 */

#include <linux/cleanup.h>
#include <linux/ctype.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <kunit/visibility.h>

#include "gtsc.h"
#include "read.h"

/* A directory in the root of debugfs, with the groups that were set up in it */
struct gtsc_root {
	char			name[GTSC_NAME_MAX + 1];
	struct dentry		*dir;
	struct list_head	node;
	struct list_head	groups;
};

/* Protected by gtsc_mutex, as the lists below it */
static LIST_HEAD(gtsc_roots);

VISIBLE_IF_KUNIT int gtsc_check_name(const char *name)
{
	size_t len = name ? strlen(name) : 0;

	/* A name that begins with a dot is one that programs skip */
	if (!len || name[0] == '.' || strchr(name, '/'))
		return -EINVAL;

	return len > GTSC_NAME_MAX ? -ENAMETOOLONG : 0;
}
EXPORT_SYMBOL_IF_KUNIT(gtsc_check_name);

static bool has_channel(struct gtsc_group *group, const char *name)
{
	struct gtsc_channel *ch;

	list_for_each_entry(ch, &group->channels, node) {
		if (!strcmp(ch->name, name))
			return true;
	}

	return false;
}

/*
 * No record will be added to @ch: let the readers of open trace files come to their end, and drop
 * the provider's reference. Also after a set-up that has failed: a trace file may be open by then.
 */
static void drop_channel(struct gtsc_channel *ch)
{
	/* Pairs with the acquires in gtsc_at_end() and gtsc_poll() */
	smp_store_release(&ch->ended, true);
	gtsc_wake_readers(ch);
	gtsc_put(ch);
}

/* After an error, the caller drops @ch, and the directory of a single channel */
static int add_channel(struct gtsc_group *group, struct gtsc_channel *ch)
{
	int ret;

	lockdep_assert_held(&gtsc_mutex);

	if (has_channel(group, ch->name))
		return -EEXIST;

	ch->group = group;
	ret = gtsc_create_dir(ch);
	if (ret)
		return ret;
	ret = gtsc_add_hotplug(ch);
	if (ret) {
		if (!group->single)
			debugfs_remove(ch->dir);
		return ret;
	}
	gtsc_create_control_files(ch);
	list_add_tail(&ch->node, &group->channels);
	if (ch->flags & GTSC_PANIC)
		gtsc_add_dump(ch);

	return 0;
}

static void end_channel(struct gtsc_channel *ch)
{
	gtsc_del_hotplug(ch);
	/* Without gtsc_mutex: waits for tasks in a file operation, which may take it */
	debugfs_remove(ch->dir);

	scoped_guard(mutex, &gtsc_mutex) {
		gtsc_stop_and_wait(ch);
		list_del(&ch->node);
		gtsc_del_dump(ch);
	}

	drop_channel(ch);
}

/* Groups */

static struct gtsc_root *find_root(const char *name)
{
	struct gtsc_root *root;

	list_for_each_entry(root, &gtsc_roots, node) {
		if (!strcmp(root->name, name))
			return root;
	}

	return NULL;
}

static struct gtsc_root *get_root(const char *name)
{
	struct gtsc_root *root = find_root(name);

	if (root)
		return root;

	root = kzalloc_obj(*root);
	if (!root)
		return ERR_PTR(-ENOMEM);

	root->dir = debugfs_create_dir(name, NULL);
	if (IS_ERR(root->dir)) {
		int ret = PTR_ERR(root->dir);

		kfree(root);
		return ERR_PTR(ret);
	}

	strscpy(root->name, name, sizeof(root->name));
	INIT_LIST_HEAD(&root->groups);
	list_add_tail(&root->node, &gtsc_roots);

	return root;
}

/* The root directory goes with its last group */
static void put_root(struct gtsc_root *root)
{
	if (!list_empty(&root->groups))
		return;

	debugfs_remove(root->dir);
	list_del(&root->node);
	kfree(root);
}

static bool has_group(struct gtsc_root *root, const char *name)
{
	struct gtsc_group *group;

	list_for_each_entry(group, &root->groups, node) {
		if (!strcmp(group->name, name))
			return true;
	}

	return false;
}

static struct gtsc_group *new_group(struct gtsc_root *root, const char *name)
{
	struct gtsc_group *group;

	if (has_group(root, name))
		return ERR_PTR(-EEXIST);

	group = kzalloc_obj(*group);
	if (!group)
		return ERR_PTR(-ENOMEM);

	group->dir = debugfs_create_dir(name, root->dir);
	if (IS_ERR(group->dir)) {
		int ret = PTR_ERR(group->dir);

		kfree(group);
		return ERR_PTR(ret);
	}

	strscpy(group->name, name, sizeof(group->name));
	INIT_LIST_HEAD(&group->channels);
	group->root = root;
	list_add_tail(&group->node, &root->groups);

	return group;
}

static struct gtsc_group *setup_group(const char *root_name, const char *name)
{
	struct gtsc_group *group;
	struct gtsc_root *root;
	int ret;

	lockdep_assert_held(&gtsc_mutex);

	ret = gtsc_check_name(root_name) ?: gtsc_check_name(name);
	if (ret)
		return ERR_PTR(ret);

	root = get_root(root_name);
	if (IS_ERR(root))
		return ERR_CAST(root);

	group = new_group(root, name);
	if (IS_ERR(group))
		put_root(root);

	return group;
}

/* The caller has removed its directory */
static void free_group(struct gtsc_group *group)
{
	struct gtsc_root *root = group->root;

	lockdep_assert_held(&gtsc_mutex);

	list_del(&group->node);
	kfree(group);
	put_root(root);
}

/*
 * Whether a group of this name exists. gtsc_setup() asks before it allocates the buffers:
 * add_single() returns the error if the name is taken meanwhile.
 */
static bool is_taken(const char *root_name, const char *name)
{
	struct gtsc_root *root;

	guard(mutex)(&gtsc_mutex);

	root = find_root(root_name);

	return root && has_group(root, name);
}

/* Add a group whose directory is that of its channel */
static int add_single(const char *root, struct gtsc_channel *ch)
{
	struct gtsc_group *group;
	int ret;

	guard(mutex)(&gtsc_mutex);

	group = setup_group(root, ch->name);
	if (IS_ERR(group))
		return PTR_ERR(group);

	group->single = true;
	ret = add_channel(group, ch);
	if (ret) {
		debugfs_remove(group->dir);
		free_group(group);
	}

	return ret;
}

/**
 * gtsc_setup - set up a channel
 * @root: directory in the root of debugfs; made with the first channel or group in it
 * @name: directory in that, which gets the files of the channel
 * @sub_size: bytes of a sub-buffer, up to 128 pages; rounded up to a power of
 *	two of pages
 * @nr_sub: number of sub-buffers for each CPU; 1 gives 2
 * @flags: any of
 *
 *	GTSC_GLOBAL: one file for the records of all CPUs, in the order
 *	of their time, instead of one file for each CPU
 *
 *	GTSC_FLIGHT: when the buffer is full, the oldest records are
 *	overwritten, instead of new ones being dropped
 *
 *	GTSC_HEADER: a struct gtsc_record_header precedes each record
 *
 *	GTSC_PANIC: in a panic the records go to the console; with
 *	GTSC_FLIGHT only
 *
 * Names have 1 to 64 characters, without a slash, and do not begin with a dot.
 *
 * Context: process context, may sleep.
 *
 * Return: the channel, in the state "setup"; -EINVAL if a name is empty, begins with a dot, or
 * has a slash in it, a size is 0 or too big, or the flags are wrong; -ENAMETOOLONG;
 * -EEXIST if there is such a directory; -ENOMEM, also if the buffers of all CPUs are more
 * than the memory that is available; -EINTR if the task is being killed; -ENODEV and other
 * errors of debugfs.
 */
struct gtsc_channel *gtsc_setup(const char *root, const char *name, unsigned int sub_size,
				unsigned int nr_sub, unsigned int flags)
{
	struct gtsc_channel *ch;
	int ret;

	ret = gtsc_check_name(root) ?: gtsc_check_name(name);
	if (ret)
		return ERR_PTR(ret);
	if (is_taken(root, name))
		return ERR_PTR(-EEXIST);

	/* Without gtsc_mutex: may take long */
	ch = gtsc_channel_alloc(name, sub_size, nr_sub, flags);
	if (IS_ERR(ch))
		return ch;

	ret = add_single(root, ch);
	if (ret) {
		drop_channel(ch);
		return ERR_PTR(ret);
	}

	return ch;
}
EXPORT_SYMBOL_GPL(gtsc_setup);

static bool is_printable(const char *s)
{
	for (; *s; s++) {
		if (!isprint(*s))
			return false;
	}

	return true;
}

/**
 * gtsc_set_format - describe the records of a channel
 * @ch: the channel
 * @format: "text"; or fields, separated by semicolons, each with a type and a name, and
 *	for an array with its size: "s32 pid; char comm[16]". Types are u8 to u64, s8 to
 *	s64, x8 to x64 for hexadecimal numbers, char, and ksym for an address in the
 *	kernel, of 64 bits. Fields follow each other without gaps.
 *
 * The file "format" shows it, and programs that know it show the fields of records. GTSC
 * itself does not look at records.
 *
 * Context: process context, may sleep. Before the channel is started.
 *
 * Return: 0; -EINVAL if it has other than printable characters or is longer than
 * GTSC_FORMAT_MAX; -EBUSY if the channel was started; -ENOMEM.
 */
int gtsc_set_format(struct gtsc_channel *ch, const char *format)
{
	char *copy;

	if (strlen(format) > GTSC_FORMAT_MAX || !is_printable(format))
		return -EINVAL;

	guard(mutex)(&gtsc_mutex);

	if (ch->state != GTSC_SETUP)
		return -EBUSY;

	copy = kstrdup(format, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	kfree(ch->format);
	ch->format = copy;

	return 0;
}
EXPORT_SYMBOL_GPL(gtsc_set_format);

/**
 * gtsc_cleanup - end a channel
 * @ch: from gtsc_setup() or gtsc_group_channel()
 *
 * Stops it if it is running, removes its files and frees it. Trace files that are
 * open can still be read until all that was committed has been read.
 *
 * Before the call, the caller makes sure that no new writer starts: it unregisters its probes, or
 * the function of gtsc_set_switch() does. The call waits for writers that have disabled preemption
 * before they call GTSC, as handlers of kprobes and callbacks of function tracers have, and for
 * records that are being written. It does not wait for a task that is preempted just before it
 * calls gtsc_write(): the caller ends such tasks first. After the call, @ch must not be used.
 *
 * Context: process context, may sleep.
 */
void gtsc_cleanup(struct gtsc_channel *ch)
{
	struct gtsc_group *group = ch->group;

	scoped_guard(mutex, &gtsc_mutex)
		ch->dying = true;

	end_channel(ch);

	if (group->single) {
		guard(mutex)(&gtsc_mutex);
		free_group(group);
	}
}
EXPORT_SYMBOL_GPL(gtsc_cleanup);

/**
 * gtsc_group_setup - set up a group of channels
 * @root: directory in the root of debugfs; made with the first channel or group in it
 * @name: directory in that, which gets a directory for each channel
 *
 * Its file "state" is the state of all its channels.
 *
 * Context: process context, may sleep.
 *
 * Return: the group, without a channel; the errors of gtsc_setup().
 */
struct gtsc_group *gtsc_group_setup(const char *root, const char *name)
{
	struct gtsc_group *group;

	guard(mutex)(&gtsc_mutex);

	group = setup_group(root, name);
	if (!IS_ERR(group))
		gtsc_create_group_files(group);

	return group;
}
EXPORT_SYMBOL_GPL(gtsc_group_setup);

/**
 * gtsc_group_channel - add a channel to a group
 * @group: the group
 * @name: directory of the channel in that of the group
 * @sub_size: as for gtsc_setup()
 * @nr_sub: as for gtsc_setup()
 * @flags: as for gtsc_setup()
 *
 * The channel can be started, stopped and cleaned up with the others or by itself.
 *
 * Context: process context, may sleep.
 *
 * Return: the channel, in the state "setup"; the errors of gtsc_setup(); -EEXIST
 * if @name is "state".
 */
struct gtsc_channel *gtsc_group_channel(struct gtsc_group *group, const char *name,
					unsigned int sub_size, unsigned int nr_sub,
					unsigned int flags)
{
	int ret = gtsc_check_name(name);
	struct gtsc_channel *ch;

	if (ret)
		return ERR_PTR(ret);
	/* The group has a file of this name */
	if (!strcmp(name, "state"))
		return ERR_PTR(-EEXIST);
	scoped_guard(mutex, &gtsc_mutex) {
		if (has_channel(group, name))
			return ERR_PTR(-EEXIST);
	}

	/* Without gtsc_mutex: may take long */
	ch = gtsc_channel_alloc(name, sub_size, nr_sub, flags);
	if (IS_ERR(ch))
		return ch;

	scoped_guard(mutex, &gtsc_mutex)
		ret = add_channel(group, ch);
	if (ret) {
		drop_channel(ch);
		return ERR_PTR(ret);
	}

	return ch;
}
EXPORT_SYMBOL_GPL(gtsc_group_channel);

/**
 * gtsc_group_cleanup - end a group and the channels that it still has
 * @group: the group
 *
 * See gtsc_cleanup().
 *
 * Context: process context, may sleep.
 */
void gtsc_group_cleanup(struct gtsc_group *group)
{
	struct gtsc_channel *ch, *next;

	scoped_guard(mutex, &gtsc_mutex) {
		group->dying = true;
		list_for_each_entry(ch, &group->channels, node)
			ch->dying = true;
	}

	/* Without gtsc_mutex, which end_channel() takes: only the provider changes the list */
	list_for_each_entry_safe(ch, next, &group->channels, node)
		end_channel(ch);

	debugfs_remove(group->dir);
	guard(mutex)(&gtsc_mutex);
	free_group(group);
}
EXPORT_SYMBOL_GPL(gtsc_group_cleanup);

static int __init gtsc_init(void)
{
	int ret = gtsc_init_hotplug();

	if (ret)
		return ret;

	gtsc_init_dump();

	return 0;
}
module_init(gtsc_init);

static void __exit gtsc_exit(void)
{
	gtsc_exit_dump();
	gtsc_exit_hotplug();
}
module_exit(gtsc_exit);

MODULE_DESCRIPTION("Channels of binary trace records to user space");
MODULE_LICENSE("GPL");

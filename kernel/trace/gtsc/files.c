// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: the files in debugfs.
 *
 * The trace files hold a reference to their channel while they are open, so that
 * all that was committed can be read after the channel has ended. All other files
 * end with the channel.
 */
#include <linux/cleanup.h>
#include <linux/cpuhotplug.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kstrtox.h>
#include <linux/poll.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/splice.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <kunit/static_stub.h>
#include <kunit/visibility.h>

#include "gtsc.h"
#include "read.h"

/* trace0 ... traceN */

static int trace_file_open(struct inode *inode, struct file *file)
{
	struct gtsc_reader *reader = inode->i_private;
	int ret;

	/* A locked-down debugfs still allows read-only files to be read */
	ret = security_locked_down(LOCKDOWN_TRACEFS);
	if (ret)
		return ret;

	gtsc_get(reader->trace);
	file->private_data = reader;

	return stream_open(inode, file);
}

static int trace_file_release(struct inode *inode, struct file *file)
{
	struct gtsc_reader *reader = file->private_data;

	gtsc_end_read(reader, file);
	gtsc_put(reader->trace);

	return 0;
}

static ssize_t trace_file_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	return gtsc_read(iocb->ki_filp->private_data, iocb->ki_filp, to);
}

static __poll_t trace_file_poll(struct file *file, poll_table *table)
{
	struct gtsc_reader *reader = file->private_data;
	__poll_t events = 0;

	poll_wait(file, &reader->wait, table);

	if (gtsc_poll(reader, file))
		events |= EPOLLIN | EPOLLRDNORM;
	/* If another file is closed with a part of a record, there is more to read */
	if (READ_ONCE(reader->trace->ended) && !gtsc_is_held(reader, file))
		events |= EPOLLHUP;

	return events;
}

static const struct file_operations trace_file_fops = {
	.owner		= THIS_MODULE,
	.open		= trace_file_open,
	.read_iter	= trace_file_read_iter,
	.splice_read	= copy_splice_read,
	.poll		= trace_file_poll,
	.release	= trace_file_release,
};

/* Copy a written word, without its trailing newline */
static int copy_word(char *word, size_t size, const char __user *ubuf, size_t cnt)
{
	if (!cnt || cnt >= size)
		return -EINVAL;
	if (copy_from_user(word, ubuf, cnt))
		return -EFAULT;
	word[cnt] = '\0';
	if (strlen(word) != cnt)
		return -EINVAL;
	strim(word);

	return 0;
}

/* state */

static int parse_state(const char __user *ubuf, size_t cnt)
{
	char word[16];
	int ret;

	ret = copy_word(word, sizeof(word), ubuf, cnt);
	if (ret)
		return ret;

	/* Writing "setup" is an error, which may_become() returns */
	return match_string(gtsc_state_names, GTSC_NR_STATES, word);
}

static int state_show(struct seq_file *m, void *v)
{
	struct trace_info *trace = m->private;

	seq_printf(m, "%s\n", gtsc_state_names[READ_ONCE(trace->state)]);

	return 0;
}

static int state_open(struct inode *inode, struct file *file)
{
	return single_open(file, state_show, inode->i_private);
}

static ssize_t state_write(struct file *file, const char __user *ubuf,
			   size_t cnt, loff_t *ppos)
{
	struct seq_file *m = file->private_data;
	int ret;

	ret = parse_state(ubuf, cnt);
	if (ret >= 0)
		ret = gtsc_set_state(m->private, ret);

	return ret ?: cnt;
}

static const struct file_operations state_fops = {
	.owner		= THIS_MODULE,
	.open		= state_open,
	.read		= seq_read,
	.write		= state_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

/* state of all channels */

static int group_state_show(struct seq_file *m, void *v)
{
	struct trace_group *group = m->private;
	unsigned int nr[GTSC_NR_STATES] = { }, all = 0, state;
	struct trace_info *trace;

	guard(mutex)(&gtsc_mutex);

	list_for_each_entry(trace, &group->channels, node) {
		nr[trace->state]++;
		all++;
	}

	for (state = 0; state < GTSC_NR_STATES; state++) {
		if (nr[state] == all) {
			seq_printf(m, "%s\n", gtsc_state_names[state]);
			return 0;
		}
	}
	seq_puts(m, "mixed\n");

	return 0;
}

static int group_state_open(struct inode *inode, struct file *file)
{
	return single_open(file, group_state_show, inode->i_private);
}

static ssize_t group_state_write(struct file *file, const char __user *ubuf,
				 size_t cnt, loff_t *ppos)
{
	struct seq_file *m = file->private_data;
	int ret;

	ret = parse_state(ubuf, cnt);
	if (ret >= 0)
		ret = gtsc_group_set_state(m->private, ret);

	return ret ?: cnt;
}

static const struct file_operations group_state_fops = {
	.owner		= THIS_MODULE,
	.open		= group_state_open,
	.read		= seq_read,
	.write		= group_state_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

/* sub_size and nr_sub */

static ssize_t read_number(char __user *ubuf, size_t cnt, loff_t *ppos, u64 number)
{
	char buf[24];
	int len = scnprintf(buf, sizeof(buf), "%llu\n", number);

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

/* Sizes are never 0: returns the errors of kstrtouint() as -EINVAL */
static int parse_size(const char __user *ubuf, size_t cnt, unsigned int *size)
{
	char word[16];
	int ret;

	ret = copy_word(word, sizeof(word), ubuf, cnt);
	if (ret)
		return ret;

	return kstrtouint(word, 0, size) || !*size ? -EINVAL : 0;
}

static ssize_t sub_size_read(struct file *file, char __user *ubuf, size_t cnt,
			     loff_t *ppos)
{
	struct trace_info *trace = file->private_data;
	unsigned int size;

	scoped_guard(mutex, &gtsc_mutex)
		size = gtsc_sub_size(trace);

	return read_number(ubuf, cnt, ppos, size);
}

static ssize_t sub_size_write(struct file *file, const char __user *ubuf,
			      size_t cnt, loff_t *ppos)
{
	unsigned int size;
	int ret;

	ret = parse_size(ubuf, cnt, &size) ?: gtsc_resize(file->private_data, size, 0);

	return ret ?: cnt;
}

static const struct file_operations sub_size_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.read	= sub_size_read,
	.write	= sub_size_write,
	.llseek	= default_llseek,
};

static ssize_t nr_sub_read(struct file *file, char __user *ubuf, size_t cnt,
			   loff_t *ppos)
{
	struct trace_info *trace = file->private_data;
	unsigned int nr;

	scoped_guard(mutex, &gtsc_mutex)
		nr = trace->nr_sub;

	return read_number(ubuf, cnt, ppos, nr);
}

static ssize_t nr_sub_write(struct file *file, const char __user *ubuf,
			    size_t cnt, loff_t *ppos)
{
	unsigned int nr;
	int ret;

	ret = parse_size(ubuf, cnt, &nr) ?: gtsc_resize(file->private_data, 0, nr);

	return ret ?: cnt;
}

static const struct file_operations nr_sub_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.read	= nr_sub_read,
	.write	= nr_sub_write,
	.llseek	= default_llseek,
};

/* dropped and stats */

static ssize_t dropped_read(struct file *file, char __user *ubuf, size_t cnt,
			    loff_t *ppos)
{
	struct gtsc_stats stats;

	scoped_guard(mutex, &gtsc_mutex)
		gtsc_get_stats(file->private_data, &stats);

	return read_number(ubuf, cnt, ppos, stats.full + stats.too_big + stats.nested);
}

static const struct file_operations dropped_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.read	= dropped_read,
	.llseek	= default_llseek,
};

static int stats_show(struct seq_file *m, void *v)
{
	struct trace_info *trace = m->private;
	struct gtsc_stats stats;

	scoped_guard(mutex, &gtsc_mutex)
		gtsc_get_stats(trace, &stats);

	seq_printf(m, "written %llu\n", stats.written);
	seq_printf(m, "read %llu\n", stats.read);
	seq_printf(m, "unread %llu\n", stats.unread);
	seq_printf(m, "overwritten %llu\n", stats.overwritten);
	seq_printf(m, "dropped_full %llu\n", stats.full);
	seq_printf(m, "dropped_too_big %llu\n", stats.too_big);
	seq_printf(m, "dropped_nested %llu\n", stats.nested);

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

/* flags */

static int flags_show(struct seq_file *m, void *v)
{
	struct trace_info *trace = m->private;

	seq_puts(m, trace->flags & TRACE_GLOBAL_CHANNEL ? "global" : "percpu");
	seq_puts(m, trace->flags & TRACE_FLIGHT_CHANNEL ? " flight" : " normal");
	if (trace->flags & TRACE_HEADER_CHANNEL)
		seq_puts(m, " header");
	if (trace->flags & TRACE_PANIC_CHANNEL)
		seq_puts(m, " panic");
	seq_putc(m, '\n');

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(flags);

/* rewind */

static ssize_t rewind_write(struct file *file, const char __user *ubuf,
			    size_t cnt, loff_t *ppos)
{
	scoped_guard(mutex, &gtsc_mutex)
		gtsc_rewind(file->private_data);

	return cnt;
}

static const struct file_operations rewind_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= rewind_write,
	.llseek	= noop_llseek,
};

/* All of them */

static void create_trace_file(struct trace_info *trace, unsigned int cpu)
{
	char name[16];

	snprintf(name, sizeof(name), "trace%u", cpu);
	debugfs_create_file_unsafe(name, 0400, trace->dir, gtsc_reader(trace, cpu),
				   &trace_file_fops);
}

static enum cpuhp_state hotplug_state;

/* Also called for each CPU that is online when the channel is set up */
static int prepare_cpu(unsigned int cpu, struct hlist_node *node)
{
	struct trace_info *trace = hlist_entry(node, struct trace_info, hotplug_node);

	if (trace->flags & TRACE_PANIC_CHANNEL) {
		guard(mutex)(&gtsc_reader(trace, cpu)->lock);
		gtsc_prepare_dump(trace, cpu);
	}

	/* The file of a CPU stays when it goes */
	if (!(trace->flags & TRACE_GLOBAL_CHANNEL) &&
	    !cpumask_test_and_set_cpu(cpu, trace->files))
		create_trace_file(trace, cpu);

	return 0;
}

/* Prepare the CPUs that are on-line, and those that come later */
VISIBLE_IF_KUNIT int gtsc_add_cpus(struct trace_info *trace)
{
	KUNIT_STATIC_STUB_REDIRECT(gtsc_add_cpus, trace);

	return cpuhp_state_add_instance(hotplug_state, &trace->hotplug_node);
}
EXPORT_SYMBOL_IF_KUNIT(gtsc_add_cpus);

/*
 * Fails only while there are no files but trace files: to remove others is to wait
 * for tasks that may be waiting for gtsc_mutex.
 */
static int create_trace_files(struct trace_info *trace)
{
	int ret;

	if (trace->flags & TRACE_GLOBAL_CHANNEL)
		create_trace_file(trace, 0);

	ret = gtsc_add_cpus(trace);
	if (ret) {
		debugfs_remove(trace->dir);
		if (trace->group->single)
			trace->group->dir = NULL;
	}

	return ret;
}

int gtsc_create_files(struct trace_info *trace)
{
	struct trace_group *group = trace->group;
	struct dentry *dir = group->dir;
	int ret;

	lockdep_assert_held(&gtsc_mutex);

	if (!group->single)
		dir = debugfs_create_dir(trace->name, group->dir);
	if (IS_ERR(dir))
		return PTR_ERR(dir);

	trace->dir = dir;
	ret = create_trace_files(trace);
	if (ret)
		return ret;

	debugfs_create_file("state", 0600, dir, trace, &state_fops);
	debugfs_create_file("sub_size", 0600, dir, trace, &sub_size_fops);
	debugfs_create_file("nr_sub", 0600, dir, trace, &nr_sub_fops);
	debugfs_create_file("dropped", 0444, dir, trace, &dropped_fops);
	debugfs_create_file("stats", 0444, dir, trace, &stats_fops);
	debugfs_create_file("flags", 0444, dir, trace, &flags_fops);
	if (trace->flags & TRACE_FLIGHT_CHANNEL)
		debugfs_create_file("rewind", 0200, dir, trace, &rewind_fops);

	return 0;
}

/* Waits for tasks in operations of the files, except the trace files */
void gtsc_remove_files(struct trace_info *trace)
{
	cpuhp_state_remove_instance_nocalls(hotplug_state, &trace->hotplug_node);
	debugfs_remove(trace->dir);
}

void gtsc_create_group_files(struct trace_group *group)
{
	debugfs_create_file("state", 0600, group->dir, group, &group_state_fops);
}

int gtsc_init_files(void)
{
	int ret;

	ret = cpuhp_setup_state_multi(CPUHP_BP_PREPARE_DYN, "trace/gtsc:prepare",
				      prepare_cpu, NULL);
	if (ret < 0)
		return ret;
	hotplug_state = ret;

	return 0;
}

void gtsc_exit_files(void)
{
	cpuhp_remove_multi_state(hotplug_state);
}

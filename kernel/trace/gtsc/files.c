// SPDX-License-Identifier: GPL-2.0
/*
 * Generic trace setup and control: the files in debugfs.
 *
 * The trace files hold a reference to their channel while they are open, so that
 * all that was committed can be read after the channel has ended. All other files
 * end with the channel.
 */
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kstrtox.h>
#include <linux/poll.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "gtsc.h"
#include "read.h"

/* trace0 ... traceN, and buffer0 ... bufferN: the same records, always with headers */

static int open_file(struct inode *inode, struct file *file, bool headers)
{
	struct gtsc_trace_file *trace_file = inode->i_private;
	struct gtsc_open_file *of;
	int ret;

	/* A locked-down debugfs still allows read-only files to be read */
	ret = security_locked_down(LOCKDOWN_TRACEFS);
	if (ret)
		return ret;

	of = kzalloc_obj(*of);
	if (!of)
		return -ENOMEM;

	gtsc_get(trace_file->ch);
	of->file = trace_file;
	of->headers = headers || trace_file->ch->flags & GTSC_HEADER;
	file->private_data = of;

	return stream_open(inode, file);
}

static int trace_file_open(struct inode *inode, struct file *file)
{
	return open_file(inode, file, false);
}

static int buffer_file_open(struct inode *inode, struct file *file)
{
	return open_file(inode, file, true);
}

static int trace_file_release(struct inode *inode, struct file *file)
{
	struct gtsc_open_file *of = file->private_data;

	gtsc_give_up_part(of);
	gtsc_put(of->file->ch);
	kfree(of);

	return 0;
}

static ssize_t trace_file_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct file *file = iocb->ki_filp;
	struct gtsc_open_file *of = file->private_data;
	ssize_t ret;

	if (!iov_iter_count(to))
		return 0;

	ret = gtsc_read(of, to);
	if (ret || !(file->f_flags & O_NONBLOCK))
		return ret;

	return gtsc_at_end(of) ? 0 : -EAGAIN;
}

static __poll_t trace_file_poll(struct file *file, poll_table *table)
{
	struct gtsc_open_file *of = file->private_data;
	__poll_t events = 0;

	poll_wait(file, &of->file->wait, table);

	if (gtsc_poll(of))
		events |= EPOLLIN | EPOLLRDNORM;
	/* EPOLLHUP alone says that there is nothing to read */
	if (events ? READ_ONCE(of->file->ch->ended) : gtsc_at_end(of))
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

static const struct file_operations buffer_file_fops = {
	.owner		= THIS_MODULE,
	.open		= buffer_file_open,
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

	/* "setup" is a state that nobody can write: gtsc_set_state() returns the error */
	return match_string(gtsc_state_names, GTSC_NR_STATES, word);
}

static int state_show(struct seq_file *m, void *v)
{
	struct gtsc_channel *ch = m->private;

	seq_printf(m, "%s\n", gtsc_state_names[gtsc_get_state(ch)]);

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
	struct gtsc_group *group = m->private;
	unsigned int nr[GTSC_NR_STATES] = { }, all = 0, state;
	struct gtsc_channel *ch;

	guard(mutex)(&gtsc_mutex);

	list_for_each_entry(ch, &group->channels, node) {
		nr[gtsc_get_state(ch)]++;
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
	struct gtsc_channel *ch = file->private_data;
	unsigned int size;

	scoped_guard(mutex, &gtsc_mutex)
		size = gtsc_sub_size(ch);

	return read_number(ubuf, cnt, ppos, size);
}

static ssize_t sub_size_write(struct file *file, const char __user *ubuf,
			      size_t cnt, loff_t *ppos)
{
	unsigned int size;
	int ret;

	ret = parse_size(ubuf, cnt, &size) ?: gtsc_change_size(file->private_data, size, 0, false);

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
	struct gtsc_channel *ch = file->private_data;
	unsigned int nr;

	scoped_guard(mutex, &gtsc_mutex)
		nr = ch->nr_sub;

	return read_number(ubuf, cnt, ppos, nr);
}

static ssize_t nr_sub_write(struct file *file, const char __user *ubuf,
			    size_t cnt, loff_t *ppos)
{
	unsigned int nr;
	int ret;

	ret = parse_size(ubuf, cnt, &nr) ?: gtsc_change_size(file->private_data, 0, nr, false);

	return ret ?: cnt;
}

static const struct file_operations nr_sub_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.read	= nr_sub_read,
	.write	= nr_sub_write,
	.llseek	= default_llseek,
};

/* size: both of them */

static int size_show(struct seq_file *m, void *v)
{
	struct gtsc_channel *ch = m->private;

	guard(mutex)(&gtsc_mutex);
	seq_printf(m, "%lu %u\n", PAGE_SIZE << ch->order, ch->nr_sub);

	return 0;
}

static int size_open(struct inode *inode, struct file *file)
{
	return single_open(file, size_show, inode->i_private);
}

/* "SUB_SIZE NR_SUB", and "discard" to throw unread records away */
static ssize_t size_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct seq_file *m = file->private_data;
	char line[48], *rest = line, *sub_word, *nr_word, *discard;
	unsigned int sub_size, nr_sub;
	int ret;

	ret = copy_word(line, sizeof(line), ubuf, cnt);
	if (ret)
		return ret;

	sub_word = strsep(&rest, " ");
	nr_word = strsep(&rest, " ");
	discard = rest;
	if (!nr_word || kstrtouint(sub_word, 0, &sub_size) || kstrtouint(nr_word, 0, &nr_sub) ||
	    !sub_size || !nr_sub || (discard && strcmp(discard, "discard")))
		return -EINVAL;

	ret = gtsc_change_size(m->private, sub_size, nr_sub, discard);

	return ret ?: cnt;
}

static const struct file_operations size_fops = {
	.owner		= THIS_MODULE,
	.open		= size_open,
	.read		= seq_read,
	.write		= size_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

/* watermark */

static ssize_t watermark_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct gtsc_channel *ch = file->private_data;

	return read_number(ubuf, cnt, ppos, READ_ONCE(ch->watermark));
}

static ssize_t watermark_write(struct file *file, const char __user *ubuf, size_t cnt,
			       loff_t *ppos)
{
	struct gtsc_channel *ch = file->private_data;
	char word[16];
	unsigned int nr;
	int ret;

	ret = copy_word(word, sizeof(word), ubuf, cnt);
	if (ret)
		return ret;
	if (kstrtouint(word, 0, &nr))
		return -EINVAL;

	guard(mutex)(&gtsc_mutex);

	/* One sub-buffer is being written to: at most @nr_sub - 1 are full */
	if (nr >= ch->nr_sub)
		return -EINVAL;
	WRITE_ONCE(ch->watermark, nr);
	/* Readers that wait look again, with the new watermark */
	gtsc_wake_readers(ch);

	return cnt;
}

static const struct file_operations watermark_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.read	= watermark_read,
	.write	= watermark_write,
	.llseek	= default_llseek,
};

/* dropped and stats */

static int dropped_show(struct seq_file *m, void *v)
{
	struct gtsc_stats stats;

	scoped_guard(mutex, &gtsc_mutex)
		gtsc_get_stats(m->private, &stats);

	seq_printf(m, "%llu\n", stats.full + stats.too_big + stats.nested);

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(dropped);

static int stats_show(struct seq_file *m, void *v)
{
	struct gtsc_channel *ch = m->private;
	struct gtsc_stats stats;

	scoped_guard(mutex, &gtsc_mutex)
		gtsc_get_stats(ch, &stats);

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
	struct gtsc_channel *ch = m->private;

	seq_puts(m, ch->flags & GTSC_GLOBAL ? "global" : "percpu");
	seq_puts(m, ch->flags & GTSC_FLIGHT ? " flight" : " normal");
	if (ch->flags & GTSC_HEADER)
		seq_puts(m, " header");
	if (ch->flags & GTSC_PANIC)
		seq_puts(m, " panic");
	seq_putc(m, '\n');

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(flags);

/* format */

static int format_show(struct seq_file *m, void *v)
{
	struct gtsc_channel *ch = m->private;

	guard(mutex)(&gtsc_mutex);
	if (ch->format)
		seq_printf(m, "%s\n", ch->format);

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(format);

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

/* The directory of a channel */

/**
 * gtsc_create_trace_files - create traceN and bufferN
 * @ch: the channel, with a directory
 * @file: whose records they have
 * @nr: N
 *
 * Context: process context, may sleep. Once for each @nr.
 */
void gtsc_create_trace_files(struct gtsc_channel *ch, struct gtsc_trace_file *file,
			     unsigned int nr)
{
	char name[24];

	/*
	 * _unsafe: an open file outlives debugfs_remove(), which does not wait for its read() and
	 * poll(). debugfs still protects open(), which takes references to module and channel.
	 */
	snprintf(name, sizeof(name), "trace%u", nr);
	debugfs_create_file_unsafe(name, 0400, ch->dir, file, &trace_file_fops);
	snprintf(name, sizeof(name), "buffer%u", nr);
	debugfs_create_file_unsafe(name, 0400, ch->dir, file, &buffer_file_fops);
}

/**
 * gtsc_create_dir - create the directory of a channel, without control files
 * @ch: the channel, in a group; sets @ch->dir
 *
 * Until gtsc_create_control_files(), the directory can be removed with gtsc_mutex held.
 *
 * Context: process context, may sleep. gtsc_mutex is held.
 *
 * Return: 0, or the errors of debugfs_create_dir().
 */
int gtsc_create_dir(struct gtsc_channel *ch)
{
	struct gtsc_group *group = ch->group;
	struct dentry *dir = group->dir;

	lockdep_assert_held(&gtsc_mutex);

	if (!group->single)
		dir = debugfs_create_dir(ch->name, group->dir);
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	ch->dir = dir;

	/* All CPUs have the same trace file. CPU 0 need not be possible. */
	if (ch->flags & GTSC_GLOBAL)
		gtsc_create_trace_files(ch, gtsc_trace_file(ch, cpumask_first(cpu_possible_mask)),
					0);

	return 0;
}

/**
 * gtsc_create_control_files - create all files of a channel but the trace files
 * @ch: the channel, with a directory
 *
 * From now on, debugfs_remove(@ch->dir) waits for tasks in operations of these files, which may
 * wait for gtsc_mutex: it must not be held.
 *
 * Context: process context, may sleep. gtsc_mutex is held.
 */
void gtsc_create_control_files(struct gtsc_channel *ch)
{
	struct dentry *dir = ch->dir;

	lockdep_assert_held(&gtsc_mutex);

	debugfs_create_file("state", 0600, dir, ch, &state_fops);
	debugfs_create_file("sub_size", 0600, dir, ch, &sub_size_fops);
	debugfs_create_file("nr_sub", 0600, dir, ch, &nr_sub_fops);
	debugfs_create_file("size", 0600, dir, ch, &size_fops);
	debugfs_create_file("watermark", 0600, dir, ch, &watermark_fops);
	debugfs_create_file("format", 0444, dir, ch, &format_fops);
	debugfs_create_file("dropped", 0444, dir, ch, &dropped_fops);
	debugfs_create_file("stats", 0444, dir, ch, &stats_fops);
	debugfs_create_file("flags", 0444, dir, ch, &flags_fops);
	if (ch->flags & GTSC_FLIGHT)
		debugfs_create_file("rewind", 0200, dir, ch, &rewind_fops);
}

void gtsc_create_group_files(struct gtsc_group *group)
{
	debugfs_create_file("state", 0600, group->dir, group, &group_state_fops);
}

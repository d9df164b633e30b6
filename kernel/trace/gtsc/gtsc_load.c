// SPDX-License-Identifier: GPL-2.0
/*
 * Writers for the self-tests of GTSC, see tools/testing/selftests/gtsc.
 *
 * A write to the parameter "do" runs a command:
 *
 *	setup N ROOT NAME SUB_SIZE NR_SUB FLAGS
 *			set channel N (0 to 3) up; FLAGS as in linux/gtsc.h
 *	cleanup N	end it, whether it is being written to or not
 *	start N		start it
 *	stop N		stop it
 *	write N COUNT WHO SIZE
 *			write COUNT records on each CPU, of up to SIZE bytes, in
 *			the contexts WHO: 1 a task, 2 a timer interrupt, 4 an NMI;
 *			returns when they are written
 *	hammer N WHO SIZE
 *			the same without an end
 *	rest N		end it
 *	one N SIZE	such a record, of up to SIZE bytes, on the CPU of the caller
 *	text N LEN	a formatted record of LEN characters
 *	big N LEN	a record of LEN bytes
 *	plain N COUNT LEN
 *			COUNT records of LEN bytes, at most 4096, from one task
 *	nest N DEPTH	DEPTH records, each within the one before, in one context
 *	dumper N BYTES	in a panic, tell whether the newest BYTES of the log that a dumper
 *			gets have the panic, and whether they have records; N is 0 or 1,
 *			and need not be a channel
 *
 * and "counts" shows for each channel: attempts and records written.
 *
 * /sys/kernel/debug/gtsc_load_memory is memory for mmap(). A page fault in it waits
 * until something is written to the file; a read tells how many wait.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/gtsc.h>
#include <linux/hrtimer.h>
#include <linux/kmsg_dump.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/wait.h>

#ifdef CONFIG_X86_LOCAL_APIC
#include <asm/apic.h>
#include <asm/nmi.h>
#endif

#define NR_CHANNELS	4
#define TIMER_NS	(200 * NSEC_PER_USEC)
#define NMI_EVERY	50

static unsigned int batch = 1;
module_param(batch, uint, 0644);
MODULE_PARM_DESC(batch, "Records that a timer interrupt writes, every 200 us (default 1)");

enum who {
	TASK,
	TIMER,
	NMI,
	NR_WHO,
};

/* As in gtsc_check.c. @seq counts the attempts of a CPU in a context. */
struct load_record {
	u32	magic;
	u32	len;
	u16	cpu;
	u16	who;
	u32	sum;
	u64	seq;
	u8	data[];
} __packed __aligned(4);

#define LOAD_MAGIC	0x67747363

struct load_count {
	u64	attempts;
	u64	written;
};

struct load_cpu {
	struct load_channel	*ch;
	struct load_count	count[NR_WHO];
	struct task_struct	*task;
	struct hrtimer		timer;
	u64			left[NR_WHO];
	struct completion	done;
};

/* Changed by one "do" at a time; kernel_param_lock() */
static struct load_channel {
	struct gtsc_channel	*trace;
	struct load_cpu __percpu *cpu;
	unsigned int		who;
	unsigned int		size;
	bool			busy;
} channels[NR_CHANNELS];

static u32 sum_of(const struct load_record *record)
{
	u32 sum = record->len ^ record->seq ^ record->cpu << 16 ^ record->who;

	for (size_t i = 0; i < record->len - sizeof(*record); i++)
		sum = sum * 31 + record->data[i];

	return sum;
}

static void fill(struct load_record *record, u32 len, enum who who, u64 seq)
{
	record->magic = LOAD_MAGIC;
	record->len = len;
	record->cpu = raw_smp_processor_id();
	record->who = who;
	record->seq = seq;
	for (size_t i = 0; i < len - sizeof(*record); i++)
		record->data[i] = seq * 7 + i;
	record->sum = sum_of(record);
}

static u32 length_of(struct load_channel *ch, u64 seq)
{
	u32 more = ch->size - sizeof(struct load_record) + 1;

	return sizeof(struct load_record) + (u32)(seq * 2654435761U) % more;
}

static void write_one(struct load_channel *ch, enum who who)
{
	struct gtsc_channel *trace;
	struct gtsc_record record;
	struct load_count *count;
	u64 seq;
	u32 len;

	/*
	 * gtsc_cleanup() waits for writers that have preemption disabled. The task of a CPU
	 * that goes runs on another one, and writes with its numbers.
	 */
	guard(preempt_notrace)();

	count = &raw_cpu_ptr(ch->cpu)->count[who];
	seq = ++count->attempts;
	len = length_of(ch, seq);
	trace = READ_ONCE(ch->trace);
	if (!trace || !gtsc_reserve(trace, &record, len))
		return;

	fill(record.data, len, who, seq);
	gtsc_commit(trace, &record);
	count->written++;
}

/* NMIs */

#ifdef CONFIG_X86_LOCAL_APIC
/* NMIs on their way to a CPU; several may arrive as one */
static DEFINE_PER_CPU(atomic_t, nmis_sent);

static int nmi_handler(unsigned int cmd, struct pt_regs *regs)
{
	/* One at a time: the next one may be pending already */
	if (atomic_dec_if_positive(this_cpu_ptr(&nmis_sent)) < 0)
		return NMI_DONE;

	for (unsigned int i = 0; i < NR_CHANNELS; i++) {
		struct load_channel *ch = &channels[i];
		struct load_cpu *cpu;

		/* Pairs with the release in start_writers() */
		if (!smp_load_acquire(&ch->busy) || !(ch->who & BIT(NMI)))
			continue;
		cpu = this_cpu_ptr(ch->cpu);
		if (!cpu->left[NMI])
			continue;
		cpu->left[NMI]--;
		write_one(ch, NMI);
	}

	return NMI_HANDLED;
}

/* To the next CPU, which is somewhere in the midst of its own work */
static void send_nmi(void)
{
	unsigned int cpu = cpumask_next(raw_smp_processor_id(), cpu_online_mask);

	if (cpu >= nr_cpu_ids)
		cpu = cpumask_first(cpu_online_mask);

	atomic_inc(per_cpu_ptr(&nmis_sent, cpu));
	__apic_send_IPI_mask(cpumask_of(cpu), NMI_VECTOR);
}

static int init_nmi(void)
{
	return register_nmi_handler(NMI_LOCAL, nmi_handler, 0, "gtsc_load");
}

static void exit_nmi(void)
{
	unregister_nmi_handler(NMI_LOCAL, "gtsc_load");
}
#else
static void send_nmi(void) { }
static int init_nmi(void) { return 0; }
static void exit_nmi(void) { }
#endif

/* Timers and tasks */

static enum hrtimer_restart timer_fn(struct hrtimer *timer)
{
	struct load_cpu *cpu = container_of(timer, struct load_cpu, timer);

	if (!cpu->left[TIMER])
		return HRTIMER_NORESTART;

	for (unsigned int i = 0; i < batch && cpu->left[TIMER]; i++) {
		cpu->left[TIMER]--;
		write_one(cpu->ch, TIMER);
	}
	hrtimer_forward_now(timer, ns_to_ktime(TIMER_NS));

	return HRTIMER_RESTART;
}

static bool work_left(struct load_cpu *cpu)
{
	return READ_ONCE(cpu->left[TASK]) || READ_ONCE(cpu->left[TIMER]) ||
	       READ_ONCE(cpu->left[NMI]);
}

static int task_fn(void *data)
{
	struct load_channel *ch = data;
	struct load_cpu *cpu = this_cpu_ptr(ch->cpu);
	unsigned int n = 0;

	if (ch->who & BIT(TIMER))
		hrtimer_start(&cpu->timer, ns_to_ktime(TIMER_NS), HRTIMER_MODE_REL_PINNED_HARD);

	while (work_left(cpu) && !kthread_should_stop()) {
		if (cpu->left[TASK]) {
			cpu->left[TASK]--;
			write_one(ch, TASK);
		} else {
			usleep_range(100, 200);
		}
		/* Other CPUs may need NMIs after this CPU has had all of its own */
		if (ch->who & BIT(NMI) && n++ % NMI_EVERY == 0)
			send_nmi();
		cond_resched();
	}
	hrtimer_cancel(&cpu->timer);
	complete(&cpu->done);

	while (!kthread_should_stop()) {
		if (ch->who & BIT(NMI))
			send_nmi();
		usleep_range(100, 200);
	}

	return 0;
}

static void stop_writers(struct load_channel *ch)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct load_cpu *c = per_cpu_ptr(ch->cpu, cpu);

		if (c->task)
			kthread_stop(c->task);
		c->task = NULL;
	}

	/* Wait for NMI handlers */
	smp_store_release(&ch->busy, false);
	synchronize_rcu();
}

static int start_writers(struct load_channel *ch, u64 count, unsigned int who,
			 unsigned int size)
{
	int cpu;

	if (!ch->trace || ch->busy)
		return -EBUSY;
	if (!who || who >= BIT(NR_WHO) || size < sizeof(struct load_record) || size > SZ_64K)
		return -EINVAL;

	ch->who = who;
	ch->size = size;
	for_each_possible_cpu(cpu) {
		struct load_cpu *c = per_cpu_ptr(ch->cpu, cpu);

		c->ch = ch;
		hrtimer_setup(&c->timer, timer_fn, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
		init_completion(&c->done);
		for (unsigned int i = 0; i < NR_WHO; i++)
			c->left[i] = who & BIT(i) && cpu_online(cpu) ? count : 0;
	}
	/* All of the above is there for an NMI that sees it */
	smp_store_release(&ch->busy, true);

	guard(cpus_read_lock)();
	for_each_online_cpu(cpu) {
		struct task_struct *task;

		task = kthread_run_on_cpu(task_fn, ch, cpu, "gtsc_load/%u");
		if (IS_ERR(task)) {
			stop_writers(ch);
			return PTR_ERR(task);
		}
		per_cpu_ptr(ch->cpu, cpu)->task = task;
	}

	return 0;
}

static int do_write(struct load_channel *ch, u64 count, unsigned int who, unsigned int size)
{
	int cpu, ret;

	ret = start_writers(ch, count, who, size);
	if (ret)
		return ret;

	for_each_possible_cpu(cpu) {
		struct load_cpu *c = per_cpu_ptr(ch->cpu, cpu);

		if (c->task && wait_for_completion_killable(&c->done))
			break;
	}
	stop_writers(ch);

	return 0;
}

/* Dumpers of the log, as pstore has one */

static struct log_dumper {
	struct kmsg_dumper	dumper;
	char			*text;
	size_t			size;
} log_dumpers[2];

static void look_at_log(struct kmsg_dumper *dumper, struct kmsg_dump_detail *detail)
{
	struct log_dumper *d = container_of(dumper, struct log_dumper, dumper);
	struct kmsg_dump_iter iter;
	size_t len = 0;

	kmsg_dump_rewind(&iter);
	kmsg_dump_get_buffer(&iter, false, d->text, d->size, &len);
	pr_emerg("dumper %td: panic %d, records %d\n", d - log_dumpers,
		 !!strnstr(d->text, "Kernel panic - not syncing", len),
		 !!strnstr(d->text, "gtsc: ", len));
}

static int add_dumper(unsigned int i, size_t size)
{
	struct log_dumper *d;
	int ret;

	if (i >= ARRAY_SIZE(log_dumpers))
		return -EINVAL;
	d = &log_dumpers[i];
	if (d->text)
		return -EBUSY;

	d->text = kvmalloc(size, GFP_KERNEL);
	if (!d->text)
		return -ENOMEM;
	d->size = size;
	d->dumper.dump = look_at_log;
	d->dumper.max_reason = KMSG_DUMP_PANIC;
	ret = kmsg_dump_register(&d->dumper);
	if (ret) {
		kvfree(d->text);
		d->text = NULL;
	}

	return ret;
}

static void del_dumpers(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(log_dumpers); i++) {
		kmsg_dump_unregister(&log_dumpers[i].dumper);
		kvfree(log_dumpers[i].text);
	}
}

/* Commands */

static int do_setup(struct load_channel *ch, const char *root, const char *name,
		    unsigned int sub_size, unsigned int nr_sub, unsigned int flags)
{
	struct gtsc_channel *trace;

	if (ch->trace)
		return -EBUSY;

	trace = gtsc_setup(root, name, sub_size, nr_sub, flags);
	if (IS_ERR(trace))
		return PTR_ERR(trace);

	free_percpu(ch->cpu);
	ch->cpu = alloc_percpu(struct load_cpu);
	if (!ch->cpu) {
		gtsc_cleanup(trace);
		return -ENOMEM;
	}
	ch->trace = trace;

	return 0;
}

/* The counts stay until the channel is set up again */
static void do_cleanup(struct load_channel *ch)
{
	struct gtsc_channel *trace = ch->trace;

	/* Writers may still run */
	WRITE_ONCE(ch->trace, NULL);
	gtsc_cleanup(trace);
	if (ch->busy)
		stop_writers(ch);
}

static int do_text(struct load_channel *ch, unsigned int len)
{
	int ret = gtsc_printf(ch->trace, "%0*u\n", len - 1, len);

	return ret == len ? 0 : ret < 0 ? ret : -EIO;
}

static int do_big(struct load_channel *ch, unsigned int len)
{
	void *data __free(kvfree) = kvzalloc(len, GFP_KERNEL);

	return data ? gtsc_write(ch->trace, data, len) : -ENOMEM;
}

static int do_plain(struct load_channel *ch, unsigned int count, unsigned int len)
{
	static const u8 data[SZ_4K];

	if (!len || len > sizeof(data))
		return -EINVAL;

	while (count--) {
		gtsc_write(ch->trace, data, len);
		cond_resched();
	}

	return 0;
}

/* Each has the number of those that are to come */
static int do_nest(struct load_channel *ch, unsigned int depth)
{
	struct gtsc_record record;
	int ret;

	if (!gtsc_reserve(ch->trace, &record, 1))
		return -ENOBUFS;
	*(u8 *)record.data = depth;
	ret = depth > 1 ? do_nest(ch, depth - 1) : 0;
	gtsc_commit(ch->trace, &record);

	return ret;
}

static int do_one(struct load_channel *ch, unsigned int size)
{
	if (ch->busy)
		return -EBUSY;
	if (size < sizeof(struct load_record) || size > SZ_64K)
		return -EINVAL;

	ch->size = size;
	write_one(ch, TASK);

	return 0;
}

static int do_numbers(struct load_channel *ch, const char *verb, const char *args)
{
	unsigned int a = 0, b = 0, c = 0;
	int nr = sscanf(args, "%u %u %u", &a, &b, &c);

	if (!strcmp(verb, "cleanup")) {
		do_cleanup(ch);
		return 0;
	}
	if (!strcmp(verb, "start"))
		return gtsc_start(ch->trace);
	if (!strcmp(verb, "stop"))
		return gtsc_stop(ch->trace);
	if (!strcmp(verb, "write") && nr == 3)
		return do_write(ch, a, b, c);
	if (!strcmp(verb, "hammer") && nr == 2)
		return start_writers(ch, U64_MAX, a, b);
	if (!strcmp(verb, "rest") && ch->busy) {
		stop_writers(ch);
		return 0;
	}
	if (!strcmp(verb, "one") && nr == 1)
		return do_one(ch, a);
	if (!strcmp(verb, "text") && nr == 1)
		return do_text(ch, a);
	if (!strcmp(verb, "big") && nr == 1)
		return do_big(ch, a);
	if (!strcmp(verb, "plain") && nr == 2)
		return do_plain(ch, a, b);
	if (!strcmp(verb, "nest") && nr == 1 && a && a <= 8)
		return do_nest(ch, a);

	return -EINVAL;
}

static int do_set(const char *val, const struct kernel_param *kp)
{
	char *buf __free(kfree) = kstrdup(val, GFP_KERNEL);
	char *verb, *nr, *root, *name, *rest;
	unsigned int i, sub_size, nr_sub, flags, bytes;

	if (!buf)
		return -ENOMEM;

	rest = strim(buf);
	verb = strsep(&rest, " ");
	nr = strsep(&rest, " ");
	if (!nr || kstrtouint(nr, 0, &i) || i >= NR_CHANNELS)
		return -EINVAL;

	if (!strcmp(verb, "dumper"))
		return rest && !kstrtouint(rest, 0, &bytes) && bytes ? add_dumper(i, bytes) :
		       -EINVAL;
	if (strcmp(verb, "setup")) {
		if (!channels[i].trace)
			return -ENOENT;
		return do_numbers(&channels[i], verb, rest ?: "");
	}

	root = strsep(&rest, " ");
	name = strsep(&rest, " ");
	if (!name || !rest ||
	    sscanf(rest, "%u %u %i", &sub_size, &nr_sub, &flags) != 3)
		return -EINVAL;

	return do_setup(&channels[i], root, name, sub_size, nr_sub, flags);
}

static const struct kernel_param_ops do_ops = {
	.set = do_set,
};

module_param_cb(do, &do_ops, NULL, 0200);

static int counts_get(char *buf, const struct kernel_param *kp)
{
	int len = 0;

	for (unsigned int i = 0; i < NR_CHANNELS; i++) {
		struct load_count all = { };
		int cpu;

		if (!channels[i].cpu)
			continue;
		for_each_possible_cpu(cpu) {
			struct load_count *count = per_cpu_ptr(channels[i].cpu, cpu)->count;

			for (unsigned int who = 0; who < NR_WHO; who++) {
				all.attempts += count[who].attempts;
				all.written += count[who].written;
			}
		}
		len += sysfs_emit_at(buf, len, "%u %llu %llu\n", i, all.attempts,
				     all.written);
	}

	return len;
}

static const struct kernel_param_ops counts_ops = {
	.get = counts_get,
};

module_param_cb(counts, &counts_ops, NULL, 0400);

/* Memory whose page faults wait, as those of userfaultfd and FUSE may */

static DECLARE_WAIT_QUEUE_HEAD(memory_wait);
static atomic_t memory_faults = ATOMIC_INIT(0);
static unsigned int memory_released;
static struct dentry *memory_file;

static vm_fault_t memory_fault(struct vm_fault *vmf)
{
	unsigned int before = READ_ONCE(memory_released);
	int ret;

	atomic_inc(&memory_faults);
	ret = wait_event_killable(memory_wait, READ_ONCE(memory_released) != before);
	atomic_dec(&memory_faults);
	if (ret)
		return VM_FAULT_SIGBUS;

	vmf->page = alloc_page(GFP_KERNEL | __GFP_ZERO);

	return vmf->page ? 0 : VM_FAULT_OOM;
}

static const struct vm_operations_struct memory_vm_ops = {
	.fault	= memory_fault,
};

static int memory_mmap(struct file *file, struct vm_area_struct *vma)
{
	vma->vm_ops = &memory_vm_ops;

	return 0;
}

static ssize_t memory_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	char buf[16];
	int len = scnprintf(buf, sizeof(buf), "%d\n", atomic_read(&memory_faults));

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

static ssize_t memory_write(struct file *file, const char __user *ubuf, size_t cnt,
			    loff_t *ppos)
{
	WRITE_ONCE(memory_released, memory_released + 1);
	wake_up_all(&memory_wait);

	return cnt;
}

static const struct file_operations memory_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.mmap	= memory_mmap,
	.read	= memory_read,
	.write	= memory_write,
	.llseek	= default_llseek,
};

static int __init gtsc_load_init(void)
{
	int ret = init_nmi();

	if (!ret)
		memory_file = debugfs_create_file_unsafe("gtsc_load_memory", 0600, NULL, NULL,
							 &memory_fops);

	return ret;
}
module_init(gtsc_load_init);

static void __exit gtsc_load_exit(void)
{
	debugfs_remove(memory_file);
	del_dumpers();
	for (unsigned int i = 0; i < NR_CHANNELS; i++) {
		if (channels[i].trace)
			do_cleanup(&channels[i]);
		free_percpu(channels[i].cpu);
	}
	exit_nmi();
}
module_exit(gtsc_load_exit);

MODULE_DESCRIPTION("Writers for the self-tests of GTSC");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * Function tracer multiplexer: shows the calls of each tracer and their time in the file
 * function_tracers_stat.
 *
 * count.c counts the calls of combinations. Each change of the mode makes new combinations, and
 * moves all entries to them. No call site is patched.
 *
 * The file shows "-" instead of a number while nothing is counted, for a tracer with an incomplete
 * count, and for a direct call: if a function has no other tracer, no combination makes the direct
 * call, and nothing counts it.
 * It shows "-" for a time that is not measured, or after the machine was suspended.
 *
 * If there is no memory when counting stops, an entry keeps leading to a combination that counts,
 * until the tracers of its functions change, or the mode changes again.
 *
 * Protected by ftrace_lock.
 */
#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/math64.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "combinations.h"
#include "count.h"
#include "entries.h"
#include "mux.h"
#include "quiesce.h"
#include "sets.h"
#include "stat.h"
#include "time.h"

/* Room for the line of a tracer */
#define STAT_LINE	200

/* What was written to the file. While time_needed, the mode is FTRACE_MUX_MODE_TIME instead. */
static enum ftrace_mux_mode requested_mode;

/* An instance has a limit, see limit.c */
static bool time_needed;

/* ktime_get_ns() and ftrace_mux_clock() when counting has started */
static u64 started;
static u64 started_cycles;

/* How much CLOCK_BOOTTIME was ahead of CLOCK_MONOTONIC then: each suspend adds to it */
static ktime_t started_offset;

static ktime_t boottime_offset(void)
{
	return ktime_mono_to_any(0, TK_OFFS_BOOT);
}

static bool counting(void)
{
	return ftrace_mux_count_mode() != FTRACE_MUX_MODE_OFF;
}

static struct fgraph_ops *graph_tracer(struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_SUBOP ? container_of(ops, struct fgraph_ops, ops) : NULL;
}

/* While the multiplexer is off, no calls of tracers are measured */
static bool timing(void)
{
	return ftrace_mux_count_mode() == FTRACE_MUX_MODE_TIME && ftrace_mux_enabled;
}

/*
 * Start or stop to measure what graph tracers take when functions return. fgraph.c measures their
 * retfunc.
 */
static void time_returns(struct ftrace_ops *ops, bool timed)
{
	struct fgraph_ops *gops = graph_tracer(ops);

	if (!gops)
		return;

	ops->mux.return_start = timed ? fgraph_read_ret_time(gops).cycles : 0;
	fgraph_set_ret_timing(gops, timed);
}

static void time_all_returns(void)
{
	struct ftrace_ops *ops;

	for_each_ftrace_mux_tracer(ops)
		time_returns(ops, timing());
}

/*
 * Set how long calls at returns have taken since time_returns(). Calls during which the task was
 * preempted are not in it, and used_cycles() does not estimate them.
 */
static void set_return_cycles(struct ftrace_mux_usage *usage, struct ftrace_ops *ops)
{
	struct fgraph_ops *gops = graph_tracer(ops);

	if (gops && timing())
		usage->return_cycles = fgraph_read_ret_time(gops).cycles - ops->mux.return_start;
}

/* All graph tracers share one guard against recursion, and one number of misses */
static unsigned int graph_missed(void)
{
	return ftrace_mux_graph_ops ? atomic_read(&ftrace_mux_graph_ops->mux.missed) : 0;
}

/**
 * ftrace_mux_stat_register - reset the figures of a tracer that is registered
 * @ops: the tracer, whose mux.seq has been set for this registration
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_stat_register(struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);

	ops->mux.usage = (struct ftrace_mux_usage){ };
	ops->mux.checked_cycles = 0;
	time_returns(ops, timing());
	/* For a graph tracer, the number that all have missed before: see missed_calls() */
	atomic_set(&ops->mux.missed, ops->flags & FTRACE_OPS_FL_SUBOP ? graph_missed() : 0);
	/* With ftrace= there may be no clock yet; nothing is counted then */
	ops->mux.since = counting() ? ktime_get_ns() : 0;
	ops->mux.incomplete = !ftrace_mux_enabled;
	if (ops->flags & FTRACE_OPS_FL_SUBOP && !ftrace_mux_count_is_complete(ops))
		ops->mux.incomplete = true;
}

/**
 * ftrace_mux_stat_unregister - detach a tracer from the combinations that count for it
 * @ops: the tracer, still registered
 *
 * Takes its combinations off the table: if it is registered again, it needs new ones, since those
 * that were made before do not count for it.
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_stat_unregister(struct ftrace_ops *ops)
{
	struct ftrace_mux_combo *combo;

	lockdep_assert_held(&ftrace_lock);

	/* Restore the retfunc of a graph tracer: its owner may read it after unregistering */
	time_returns(ops, false);
	if (!counting())
		return;

	list_for_each_entry(combo, &ftrace_mux_combos, node) {
		if (ftrace_mux_count_belongs_to(combo, ops))
			hash_del(&combo->hash);
	}
}

/**
 * ftrace_mux_stat_follow_switch - follow a change of ftrace_mux_enabled
 *
 * While it is 0, functions have no entries, and nothing counts their calls: the counts of all
 * tracers are incomplete.
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_stat_follow_switch(void)
{
	struct ftrace_ops *ops;

	time_all_returns();
	for_each_ftrace_mux_tracer(ops)
		ops->mux.incomplete = true;
}

/* The mode */

/*
 * When counting starts, mark the tracers of functions without an entry: no combination makes the
 * calls of these functions, so nothing counts them. A direct call that is the only tracer of a
 * function need not be marked: the file shows "-" for direct calls in any case.
 */
static void mark_tracers_without_entry(void)
{
	struct ftrace_rec_iter *iter;
	struct dyn_ftrace *rec;

	for_ftrace_rec_iter(iter) {
		rec = ftrace_rec_iter_record(iter);
		if (rec->flags & FTRACE_FL_ENABLED && !rec->mux.entry &&
		    !(rec->flags & FTRACE_FL_DIRECT_EN && ftrace_rec_count(rec) == 1))
			ftrace_mux_count_mark_incomplete(rec);
		cond_resched();
	}
}

/* Move each entry that functions have to a combination of this generation */
static void move_entries(struct ftrace_mux_set *set)
{
	struct ftrace_mux_combo *combo;
	struct ftrace_mux_entry *entry;
	unsigned int pos;

	for_each_ftrace_mux_entry(entry, pos) {
		/* An entry without functions stays as it is: its tracers may have been freed */
		if (!entry->functions)
			continue;
		ftrace_mux_combo_to_set(entry->combo, set);
		combo = ftrace_mux_combo_find_or_create(set);
		if (combo)
			ftrace_mux_entry_move(entry, combo);
		else
			ftrace_mux_count_mark_all_incomplete();
		cond_resched();
	}
	ftrace_mux_write_entries();
	ftrace_mux_request_sweep();
}

static int change_mode(enum ftrace_mux_mode new_mode)
{
	struct ftrace_ops *ops;

	struct ftrace_mux_set *set __free(kfree) = kmalloc(sizeof(*set), GFP_KERNEL);
	if (!set)
		return -ENOMEM;

	ftrace_mux_count_new_generation(new_mode);
	time_all_returns();
	if (counting()) {
		started = ktime_get_ns();
		started_cycles = ftrace_mux_clock();
		started_offset = boottime_offset();
		for_each_ftrace_mux_tracer(ops) {
			ops->mux.usage = (struct ftrace_mux_usage){ };
			ops->mux.incomplete = !ftrace_mux_enabled;
		}
		/* Otherwise, no function has an entry: all tracers have been marked */
		if (ftrace_mux_enabled)
			mark_tracers_without_entry();
	}
	move_entries(set);

	return 0;
}

/*
 * Whether combinations of earlier modes have to be freed before @new_mode is set. Each change of
 * the mode makes new combinations, so the old ones would pile up. But a write that stops counting
 * does not wait until they are freed: the write that starts it again does. While time_needed, the
 * mode stays as it is, whatever is written: see stat_write().
 */
static bool must_free_old_combos(enum ftrace_mux_mode new_mode)
{
	struct ftrace_mux_combo *combo;

	guard(mutex)(&ftrace_lock);

	if (time_needed || new_mode == FTRACE_MUX_MODE_OFF || new_mode == ftrace_mux_count_mode())
		return false;

	list_for_each_entry(combo, &ftrace_mux_combos, node) {
		if (!ftrace_mux_count_is_current(combo))
			return true;
	}

	return false;
}

static int set_mode(enum ftrace_mux_mode new_mode)
{
	lockdep_assert_held(&ftrace_lock);

	if (ftrace_is_dead())
		return -ENODEV;

	return new_mode == ftrace_mux_count_mode() ? 0 : change_mode(new_mode);
}

static void sweep_old_combos(enum ftrace_mux_mode new_mode)
{
	if (must_free_old_combos(new_mode))
		ftrace_mux_sweep_sync();
}

/**
 * ftrace_mux_stat_prepare_timing - free combinations of earlier modes, so that they do not pile up
 *
 * Called before ftrace_mux_stat_begin_timing().
 *
 * Context: process context, may sleep for seconds; no lock held.
 */
void ftrace_mux_stat_prepare_timing(void)
{
	sweep_old_combos(FTRACE_MUX_MODE_TIME);
}

/**
 * ftrace_mux_stat_begin_timing - measure the time of calls, whatever was written to the file
 *
 * Context: process context, may sleep; ftrace_lock not held.
 *
 * Return: 0, -ENOMEM, or -ENODEV if ftrace is dead.
 */
int ftrace_mux_stat_begin_timing(void)
{
	int ret;

	guard(mutex)(&ftrace_lock);

	ret = set_mode(FTRACE_MUX_MODE_TIME);
	if (!ret)
		time_needed = true;

	return ret;
}

/**
 * ftrace_mux_stat_end_timing - undo ftrace_mux_stat_begin_timing()
 *
 * If there is no memory for that, the time is measured until the file is written.
 *
 * Context: process context, may sleep; ftrace_lock not held.
 */
void ftrace_mux_stat_end_timing(void)
{
	guard(mutex)(&ftrace_lock);

	time_needed = false;
	set_mode(requested_mode);
}

/* The file */

/* What the line of a tracer shows */
struct stat_line {
	struct ftrace_mux_usage	usage;
	unsigned long		functions;
};

static void add_combo(struct stat_line *stats, const struct ftrace_mux_combo *combo)
{
	unsigned long functions = ftrace_mux_combo_functions(combo);
	u64 calls = ftrace_mux_count_sum(combo);
	struct ftrace_ops *ops;
	unsigned int n = 0;

	for_each_ftrace_mux_tracer(ops) {
		if (functions && ftrace_mux_combo_reaches(combo, ops))
			stats[n].functions += functions;
		ftrace_mux_count_add_usage(&stats[n].usage, combo, calls, ops);
		n++;
	}
}

/* How many cycles calls took, if those that were not measured took as many as the others */
static u64 used_cycles(const struct ftrace_mux_usage *usage)
{
	const struct ftrace_mux_time *time = &usage->time;
	u64 measured = max(usage->calls - min(usage->calls, time->preempted), 1ULL);
	u64 rest, average = div64_u64_rem(time->cycles, measured, &rest);

	return time->cycles + time->preempted * average +
	       div64_u64(time->preempted * rest, measured) + usage->return_cycles;
}

/*
 * The time and the cycles since counting has started tell how long a cycle is. Returns false if the
 * machine was suspended since: the counter of cycles may have been reset, or may have gone on while
 * CLOCK_MONOTONIC stood still.
 */
static bool cycles_to_ns(u64 cycles, u64 *ns)
{
	s64 elapsed = ftrace_mux_clock() - started_cycles;

	if (elapsed <= 0 || boottime_offset() != started_offset)
		return false;

	/*
	 * An interrupt during a call may call the tracer again, so that a CPU may have used more
	 * cycles than have elapsed. More than 16 times the cycles of all CPUs are a mistake. On
	 * x86, the division below traps if its result has more than 64 bits.
	 */
	if (div_u64(cycles, 16 * num_possible_cpus()) > elapsed)
		return false;

	*ns = mul_u64_u64_div_u64(cycles, ktime_get_ns() - started, elapsed);

	return true;
}

/*
 * Show the average time of a call, and the share of a CPU that all calls took. @ns: for how long
 * calls have been counted.
 */
static void show_time(struct seq_file *m, const struct ftrace_mux_usage *usage, u64 ns)
{
	u64 used, percent;
	u32 tenth;

	if (ftrace_mux_count_mode() != FTRACE_MUX_MODE_TIME ||
	    !cycles_to_ns(used_cycles(usage), &used)) {
		seq_printf(m, " %8s %6s", "-", "-");
		return;
	}

	percent = div_u64_rem(mul_u64_u64_div_u64(used, 1000, ns), 10, &tenth);
	seq_printf(m, " %8llu %4llu.%u", div64_u64(used, max(usage->calls, 1ULL)),
		   percent, tenth);
}

/**
 * ftrace_mux_stat_cycles - how long the calls of a tracer took
 * @ops: the tracer, registered
 *
 * Context: ftrace_lock held.
 *
 * Return: the time in units of ftrace_mux_clock(), since the measurement began, or since the tracer
 * was registered, if that was later. Calls that are not counted are not in it.
 */
u64 ftrace_mux_stat_cycles(struct ftrace_ops *ops)
{
	struct ftrace_mux_usage usage = ops->mux.usage;
	struct ftrace_mux_combo *combo;

	lockdep_assert_held(&ftrace_lock);

	list_for_each_entry(combo, &ftrace_mux_combos, node) {
		ftrace_mux_count_add_usage(&usage, combo, ftrace_mux_count_sum(combo), ops);
		cond_resched();
	}
	set_return_cycles(&usage, ops);

	return used_cycles(&usage);
}

static unsigned long missed_calls(struct ftrace_ops *ops)
{
	unsigned int missed = atomic_read(&ops->mux.missed);

	/* Of a graph tracer, mux.missed is what all graph tracers had missed before */
	if (ops->flags & FTRACE_OPS_FL_SUBOP)
		missed = graph_missed() - missed;

	return missed + (ops->nr_missed ? ops->nr_missed(ops) : 0);
}

static void show_tracer(struct seq_file *m, struct ftrace_ops *ops, const struct stat_line *stat)
{
	u64 ns = max(ktime_get_ns() - max(started, ops->mux.since), 1ULL);
	const struct ftrace_mux_usage *usage = &stat->usage;
	char name[KSYM_SYMBOL_LEN];

	seq_printf(m, "%-32s %-16s %9lu ", ftrace_mux_name(ops, name, sizeof(name)),
		   ops->mux.tr ? ops->mux.tr->name : "-", stat->functions);
	if (counting() && !ops->mux.incomplete && !(ops->flags & FTRACE_OPS_FL_DIRECT)) {
		seq_printf(m, "%15llu %12llu", usage->calls,
			   mul_u64_u64_div_u64(usage->calls, NSEC_PER_SEC, ns));
		show_time(m, usage, ns);
	} else {
		seq_printf(m, "%15s %12s %8s %6s", "-", "-", "-", "-");
	}
	seq_printf(m, " %8lu", missed_calls(ops));
	ftrace_describe(ops, m);
	seq_putc(m, '\n');
}

static int stat_show(struct seq_file *m, void *v)
{
	struct trace_array *tr = ftrace_mux_instance(m->private);
	struct ftrace_mux_combo *combo;
	struct ftrace_ops *ops;
	unsigned int n = 0;

	guard(mutex)(&ftrace_lock);

	if (ftrace_is_dead())
		return -ENODEV;

	struct stat_line *stats __free(kvfree) =
		kvcalloc(ftrace_mux_nr_tracers(), sizeof(*stats), GFP_KERNEL);
	if (!stats)
		return -ENOMEM;

	for_each_ftrace_mux_tracer(ops) {
		stats[n].usage = ops->mux.usage;
		set_return_cycles(&stats[n++].usage, ops);
	}
	list_for_each_entry(combo, &ftrace_mux_combos, node) {
		add_combo(stats, combo);
		cond_resched();
	}

	seq_printf(m, "# counting %d\n", ftrace_mux_count_mode());
	seq_printf(m, "# %-30s %-16s %9s %15s %12s %8s %6s %8s %s\n", "tracer", "instance",
		   "functions", "calls", "calls/s", "ns/call", "%cpu", "missed", "user");
	n = 0;
	for_each_ftrace_mux_tracer(ops) {
		if (!tr || ops->mux.tr == tr)
			show_tracer(m, ops, &stats[n]);
		n++;
	}

	return 0;
}

static ssize_t stat_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct seq_file *m = file->private_data;
	unsigned int val;
	int ret;

	/* Only the file of the top directory can be written */
	if (ftrace_mux_instance(m->private))
		return -EINVAL;

	ret = kstrtouint_from_user(ubuf, cnt, 10, &val);
	if (ret)
		return ret;

	if (val > FTRACE_MUX_MODE_TIME)
		return -EINVAL;

	sweep_old_combos(val);

	guard(mutex)(&ftrace_lock);

	ret = set_mode(time_needed ? FTRACE_MUX_MODE_TIME : val);
	if (ret)
		return ret;

	requested_mode = val;

	*ppos += cnt;
	return cnt;
}

/* The room that stat_show() is likely to need */
static size_t stat_size(void)
{
	guard(mutex)(&ftrace_lock);

	return PAGE_SIZE + ftrace_mux_nr_tracers() * STAT_LINE;
}

static int stat_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	ret = single_open_size(file, stat_show, tr, stat_size());
	if (ret)
		trace_array_put(tr);

	return ret;
}

static int stat_release(struct inode *inode, struct file *file)
{
	trace_array_put(inode->i_private);

	return single_release(inode, file);
}

/* function_tracers_stat */
const struct file_operations ftrace_mux_stat_fops = {
	.open		= stat_open,
	.read		= seq_read,
	.write		= stat_write,
	.llseek		= seq_lseek,
	.release	= stat_release,
};

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Function tracer multiplexer: what the files of kernel/trace call, and what the files here share.
 */
#ifndef _KERNEL_TRACE_MUX_MUX_H
#define _KERNEL_TRACE_MUX_MUX_H

#include <linux/bitops.h>
#include <linux/ftrace.h>

#include "../ftrace_internal.h"
#include "errors.h"

struct dentry;
struct ftrace_hash;
struct seq_file;

typedef void (*ftrace_mux_hash_func_t)(struct ftrace_hash *hash, void *data);

/* What an update of call sites does to the entry of a function */
enum ftrace_mux_rec_change {
	FTRACE_MUX_NO_ENTRY,	/* it has none, and gets none, as without the multiplexer */
	FTRACE_MUX_SAME_ENTRY,
	FTRACE_MUX_OTHER_ENTRY,	/* it gets its first entry, another one, or none any more */
};

#ifdef CONFIG_FTRACE_MUX

/* updates.c: what the call site of each function calls. ftrace_mux_enabled is in switch.c. */

extern int ftrace_mux_enabled;

bool __ftrace_mux_rec_note_change(struct ftrace_ops *ops, struct dyn_ftrace *rec, bool add,
				  bool again);
enum ftrace_mux_rec_change __ftrace_mux_rec_test(struct dyn_ftrace *rec);
void ftrace_mux_rec_switch(struct dyn_ftrace *rec);
void ftrace_mux_rec_leave(struct dyn_ftrace *rec);
unsigned long ftrace_mux_addr_new(struct dyn_ftrace *rec);	/* after the update */
unsigned long ftrace_mux_addr_curr(struct dyn_ftrace *rec);	/* now */
bool ftrace_mux_prepare(void);
void ftrace_mux_prepare_rec(struct dyn_ftrace *rec);
void ftrace_mux_updated(void);
void ftrace_mux_graph_changes(void);

/* ids.c: what the masks of a record say */

struct ftrace_ops *ftrace_mux_only_ops(const struct dyn_ftrace *rec);

/* quiesce.c: when memory is freed */

void ftrace_mux_release(struct ftrace_ops *ops, bool quiescent);
void ftrace_mux_wait_for_callbacks(void);
void ftrace_mux_clear_owner_waits_sync(struct ftrace_ops *ops);

/* combinations.c: the tracers of a combination */

bool ftrace_mux_update_func(struct ftrace_ops *ops);
void ftrace_mux_combo_forget_graph(struct ftrace_ops *ops);
void ftrace_mux_combo_silence(struct ftrace_ops *ops);

/*
 * tracers.c: the registered tracers.
 *
 * Registering a tracer calls ftrace_mux_register(). Unregistering it calls ftrace_mux_unlink(), and
 * ftrace_mux_release() after its call sites have been patched.
 * Registering a graph tracer calls ftrace_mux_link(). Unregistering it calls ftrace_mux_unlink(),
 * which calls ftrace_mux_release().
 * The manager, the ops that all graph tracers share, is registered and released like a tracer, but
 * it is never linked, so ftrace_mux_unlink() does nothing.
 */

extern struct list_head ftrace_mux_tracers;

#define for_each_ftrace_mux_tracer(ops)					\
	list_for_each_entry(ops, &ftrace_mux_tracers, mux.node)

void ftrace_mux_init_tracer(struct ftrace_ops *ops, const char *name,
			    struct trace_array *tr);
int ftrace_mux_copy_filter(struct ftrace_ops_hash *to, const struct ftrace_ops_hash *from);
void ftrace_mux_register(struct ftrace_ops *ops);
void ftrace_mux_link(struct ftrace_ops *ops);
void ftrace_mux_unlink(struct ftrace_ops *ops);
void ftrace_mux_hold_default(struct ftrace_ops *ops);
void ftrace_mux_unhold_default(struct ftrace_ops *ops);

struct ftrace_ops *ftrace_mux_get_default(struct trace_array *tr);
void ftrace_mux_set_default(struct ftrace_ops *def, bool chosen);
enum ftrace_mux_error ftrace_mux_find_by_name(struct trace_array *tr, const char *wanted,
					      struct ftrace_ops **found);
struct ftrace_ops *ftrace_mux_find_by_seq(u64 seq);
u64 ftrace_mux_last_seq(void);
bool ftrace_mux_in_filter_files(struct ftrace_ops *ops, struct trace_array *tr);
unsigned int ftrace_mux_nr_tracers(void);
unsigned int ftrace_mux_nr_in_filter_files(struct trace_array *tr);
const char *ftrace_mux_name(struct ftrace_ops *ops, char *buf, size_t size);
void ftrace_mux_show_name(struct seq_file *m, struct ftrace_ops *ops);

/*
 * For this and ftrace_mux_rec_test(), see updates.c. The tests here avoid the call of another
 * file for each record while the multiplexer is switched off.
 */
static inline bool ftrace_mux_rec_note_change(struct ftrace_ops *ops, struct dyn_ftrace *rec,
					      bool add, bool again)
{
	return ftrace_mux_enabled && __ftrace_mux_rec_note_change(ops, rec, add, again);
}

static inline enum ftrace_mux_rec_change ftrace_mux_rec_test(struct dyn_ftrace *rec)
{
	if (!ftrace_mux_enabled && !rec->mux.entry)
		return FTRACE_MUX_NO_ENTRY;

	return __ftrace_mux_rec_test(rec);
}

/*
 * The owner of @ops calls ftrace_mux_clear_owner_waits_sync() before it frees @ops or what the
 * callback uses. So unregister_ftrace_function() need not wait: when it returns, tasks may still
 * call @ops.
 */
static inline void ftrace_mux_set_owner_waits(struct ftrace_ops *ops)
{
	ops->mux.owner_waits = true;
}

/*
 * Whether unregister_ftrace_function() need not wait: the owner of @ops will, and @ops has no
 * trampoline of its own, which ftrace would free.
 */
static inline bool ftrace_mux_may_skip_wait(const struct ftrace_ops *ops)
{
	return ops->mux.owner_waits && !ops->trampoline;
}

/*
 * Set the ID of @ops in the filter mask of @rec, and in the notrace mask if @in_notrace. mux.id is
 * the ID plus one, 0 if @ops has none.
 */
static inline void ftrace_mux_rec_add(struct ftrace_ops *ops,
				      struct dyn_ftrace *rec, bool in_notrace)
{
	if (!ops->mux.id)
		return;

	rec->mux.filter_ids |= BIT(ops->mux.id - 1);
	if (in_notrace)
		rec->mux.notrace_ids |= BIT(ops->mux.id - 1);
}

/* Clear what ftrace_mux_rec_add() has set */
static inline void ftrace_mux_rec_del(struct ftrace_ops *ops,
				      struct dyn_ftrace *rec)
{
	u8 keep;

	if (!ops->mux.id)
		return;

	keep = ~BIT(ops->mux.id - 1);
	rec->mux.filter_ids &= keep;
	rec->mux.notrace_ids &= keep;
}

/*
 * What mux.tr is for the tracers of @tr: NULL for the top instance, else @tr. For the top instance,
 * callers pass NULL or its trace array. This array is recognized by its ops, and not by
 * TRACE_ARRAY_FL_GLOBAL, which is not set yet when a tracer starts early (ftrace=).
 */
static inline struct trace_array *ftrace_mux_instance(struct trace_array *tr)
{
	return tr && tr->ops != &global_ops ? tr : NULL;
}

static inline bool ftrace_mux_is_profiler(const struct ftrace_ops *ops)
{
	return ops->mux.profiler;
}

/*
 * For a tracer whose filter belongs to the kernel, before it is registered: say which instance it
 * works for.
 */
static inline void ftrace_mux_set_instance(struct ftrace_ops *ops, struct trace_array *tr)
{
	ops->mux.tr = ftrace_mux_instance(tr);
}

/*
 * The list of the patterns that @ops has for modules that are not loaded yet: those of its filter
 * if @enable is not 0, else those of its notrace list. Ask only if @ops does not have the filter of
 * the function tracer: see ftrace_mod_head(). NULL if @ops is not the profiler: no other tracer
 * with a filter of its own has such a list.
 */
static inline struct list_head *ftrace_mux_mod_head(struct ftrace_ops *ops, int enable)
{
	if (!ops->mux.profiler)
		return NULL;

	return enable ? &ops->mux.profiler->mod_trace : &ops->mux.profiler->mod_notrace;
}

/* syscalls.c: the names of system calls in filters */

bool ftrace_mux_match_syscall(unsigned long ip, char *sym, const char *search,
			      bool (*match)(char *name, void *glob), void *glob);

/* files.c, write.c: what the user sees of the above */

int ftrace_mux_regex_open(struct trace_array *tr, int flag,
			  struct inode *inode, struct file *file);
ssize_t ftrace_mux_regex_write(struct ftrace_iterator *file_iter, const char __user *ubuf,
			       size_t cnt, loff_t *ppos);
void ftrace_mux_regex_commit(struct ftrace_iterator *file_iter);

/*
 * Whether write.c interprets what is written to an open file. It does so for set_ftrace_filter and
 * set_ftrace_notrace, but not for other files with an iterator, such as stack_trace_filter.
 */
static inline bool ftrace_mux_parses_writes(struct ftrace_iterator *iter)
{
	return iter->mux_writer;
}

bool ftrace_mux_close_sections(struct ftrace_iterator *iter);
bool ftrace_mux_show_callee(struct seq_file *m, struct dyn_ftrace *rec);
void ftrace_mux_show_tracers(struct seq_file *m, struct dyn_ftrace *rec);
void ftrace_mux_create_files(struct trace_array *tr, struct dentry *parent);

/* filters.c: the filters that these files show and change */

bool ftrace_mux_empty_mods(struct ftrace_iterator *iter);
int ftrace_mux_copy_mods(struct ftrace_iterator *iter);
void ftrace_mux_share_filter(struct ftrace_ops *ops);
void ftrace_mux_visit_profiler_hashes(ftrace_mux_hash_func_t func, void *data);
void ftrace_mux_process_profiler_mods(char *mod);
void ftrace_mux_files_lock(struct ftrace_ops *ops);
void ftrace_mux_files_unlock(struct ftrace_ops *ops);

/* info.c, stat.c, limit.c: files that say more about the tracers */

extern const struct file_operations ftrace_mux_info_fops;
extern const struct file_operations ftrace_mux_stat_fops;
extern const struct file_operations ftrace_mux_limit_fops;
void ftrace_mux_limit_remove(struct trace_array *tr);

/* ftrace.c: switches the profiler off, for limit.c. Returns false if the profiler was off. */

#ifdef CONFIG_FUNCTION_PROFILER
bool ftrace_profile_stop(void);
#else
static inline bool ftrace_profile_stop(void) { return false; }
#endif

#else /* !CONFIG_FTRACE_MUX */

#define ftrace_mux_enabled	0

static inline void ftrace_mux_init_tracer(struct ftrace_ops *ops,
					  const char *name,
					  struct trace_array *tr) { }
static inline void ftrace_mux_share_filter(struct ftrace_ops *ops) { }
static inline void ftrace_mux_register(struct ftrace_ops *ops) { }
static inline void ftrace_mux_release(struct ftrace_ops *ops, bool quiescent) { }
static inline void ftrace_mux_wait_for_callbacks(void) { }
static inline void ftrace_mux_clear_owner_waits_sync(struct ftrace_ops *ops) { }
static inline void ftrace_mux_set_owner_waits(struct ftrace_ops *ops) { }
static inline bool ftrace_mux_may_skip_wait(const struct ftrace_ops *ops) { return false; }
static inline void ftrace_mux_link(struct ftrace_ops *ops) { }
static inline void ftrace_mux_unlink(struct ftrace_ops *ops) { }
static inline bool ftrace_mux_update_func(struct ftrace_ops *ops) { return false; }
static inline void ftrace_mux_set_instance(struct ftrace_ops *ops,
					   struct trace_array *tr) { }
static inline void ftrace_mux_hold_default(struct ftrace_ops *ops) { }
static inline void ftrace_mux_unhold_default(struct ftrace_ops *ops) { }
static inline void ftrace_mux_files_lock(struct ftrace_ops *ops) { }
static inline void ftrace_mux_files_unlock(struct ftrace_ops *ops) { }
static inline void ftrace_mux_limit_remove(struct trace_array *tr) { }

static inline void ftrace_mux_visit_profiler_hashes(ftrace_mux_hash_func_t func,
						    void *data) { }

static inline void ftrace_mux_process_profiler_mods(char *mod) { }

/* The callers of these depend on CONFIG_DYNAMIC_FTRACE, as their types do */
#ifdef CONFIG_DYNAMIC_FTRACE
static inline struct list_head *ftrace_mux_mod_head(struct ftrace_ops *ops, int enable)
{
	return NULL;
}

static inline struct ftrace_ops *ftrace_mux_only_ops(const struct dyn_ftrace *rec)
{
	return NULL;
}

static inline unsigned long ftrace_mux_addr_new(struct dyn_ftrace *rec) { return 0; }
static inline unsigned long ftrace_mux_addr_curr(struct dyn_ftrace *rec) { return 0; }
static inline bool ftrace_mux_rec_note_change(struct ftrace_ops *ops, struct dyn_ftrace *rec,
					      bool add, bool again)
{
	return false;
}

static inline enum ftrace_mux_rec_change ftrace_mux_rec_test(struct dyn_ftrace *rec)
{
	return FTRACE_MUX_NO_ENTRY;
}

static inline void ftrace_mux_rec_switch(struct dyn_ftrace *rec) { }
static inline void ftrace_mux_rec_leave(struct dyn_ftrace *rec) { }
static inline bool ftrace_mux_prepare(void) { return true; }
static inline void ftrace_mux_prepare_rec(struct dyn_ftrace *rec) { }
static inline void ftrace_mux_updated(void) { }
static inline void ftrace_mux_graph_changes(void) { }
static inline void ftrace_mux_combo_forget_graph(struct ftrace_ops *ops) { }
static inline void ftrace_mux_combo_silence(struct ftrace_ops *ops) { }

static inline bool
ftrace_mux_match_syscall(unsigned long ip, char *sym, const char *search,
			 bool (*match)(char *name, void *glob), void *glob)
{
	return false;
}

static inline void ftrace_mux_rec_add(struct ftrace_ops *ops,
				      struct dyn_ftrace *rec, bool in_notrace) { }
static inline void ftrace_mux_rec_del(struct ftrace_ops *ops,
				      struct dyn_ftrace *rec) { }

static inline int ftrace_mux_regex_open(struct trace_array *tr, int flag,
					struct inode *inode, struct file *file)
{
	return ftrace_regex_open(tr, NULL, flag, inode, file);
}

static inline bool ftrace_mux_parses_writes(struct ftrace_iterator *iter) { return false; }
static inline ssize_t ftrace_mux_regex_write(struct ftrace_iterator *iter,
					     const char __user *ubuf, size_t cnt,
					     loff_t *ppos)
{
	return -ENODEV;
}

static inline void ftrace_mux_regex_commit(struct ftrace_iterator *iter) { }
static inline bool ftrace_mux_empty_mods(struct ftrace_iterator *iter) { return false; }
static inline int ftrace_mux_copy_mods(struct ftrace_iterator *iter) { return 0; }

static inline bool ftrace_mux_close_sections(struct ftrace_iterator *iter)
{
	return false;
}

static inline bool ftrace_mux_show_callee(struct seq_file *m,
					  struct dyn_ftrace *rec)
{
	return false;
}

static inline void ftrace_mux_show_tracers(struct seq_file *m,
					   struct dyn_ftrace *rec) { }
static inline void ftrace_mux_create_files(struct trace_array *tr,
					   struct dentry *parent) { }
#endif /* CONFIG_DYNAMIC_FTRACE */
#endif /* CONFIG_FTRACE_MUX */

/* pids.c: the PID filter of the profiler */

#if defined(CONFIG_FTRACE_MUX) && defined(CONFIG_FUNCTION_PROFILER)
void ftrace_mux_init_profiler_pids(struct ftrace_ops *ops);
struct trace_array *ftrace_mux_pid_tr(struct trace_array *tr);
struct trace_array *ftrace_mux_profiler_tr(struct trace_array *tr);
struct trace_array *ftrace_mux_idle_profiler_tr(struct trace_array *tr);
#else
static inline void ftrace_mux_init_profiler_pids(struct ftrace_ops *ops) { }
static inline struct trace_array *ftrace_mux_pid_tr(struct trace_array *tr) { return tr; }
static inline struct trace_array *ftrace_mux_profiler_tr(struct trace_array *tr)
{
	return NULL;
}

static inline struct trace_array *ftrace_mux_idle_profiler_tr(struct trace_array *tr)
{
	return NULL;
}
#endif

#endif /* _KERNEL_TRACE_MUX_MUX_H */

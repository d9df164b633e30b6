/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Function tracer multiplexer: functions that ftrace calls, and that the files of
 * the multiplexer call in each other.
 */
#ifndef _KERNEL_TRACE_FTRACE_MUX_H
#define _KERNEL_TRACE_FTRACE_MUX_H

#include <linux/bitops.h>
#include <linux/ftrace.h>

#include "../ftrace_internal.h"

struct dentry;
struct ftrace_hash;
struct seq_file;

typedef void (*ftrace_mux_hash_func_t)(struct ftrace_hash *hash, void *data);

#ifdef CONFIG_FTRACE_MUX

/* tracers.c: the registered tracers, and which tracers each function has */

extern struct list_head ftrace_mux_tracers;

#define for_each_ftrace_mux_tracer(ops)					\
	list_for_each_entry(ops, &ftrace_mux_tracers, mux.node)

void ftrace_mux_init_tracer(struct ftrace_ops *ops, const char *name,
			    struct trace_array *tr);
void ftrace_mux_share_filter(struct ftrace_ops *ops);
bool ftrace_mux_register(struct ftrace_ops *ops);
void ftrace_mux_release(struct ftrace_ops *ops, bool quiescent);
void ftrace_mux_link(struct ftrace_ops *ops);
void ftrace_mux_unlink(struct ftrace_ops *ops);
void ftrace_mux_update_func(struct ftrace_ops *ops);
void ftrace_mux_filter_changed(struct ftrace_ops *ops);
void ftrace_mux_set_instance(struct ftrace_ops *ops, struct trace_array *tr);
void ftrace_mux_hold_default(struct ftrace_ops *ops);

unsigned long ftrace_mux_addr(struct dyn_ftrace *rec);
unsigned long ftrace_mux_callee(struct dyn_ftrace *rec);
bool ftrace_mux_rec_changed(struct dyn_ftrace *rec);
void ftrace_mux_rec_touch(struct dyn_ftrace *rec);
void ftrace_mux_rec_switch(struct dyn_ftrace *rec);
void ftrace_mux_rec_leave(struct dyn_ftrace *rec);
bool ftrace_mux_settle(struct ftrace_ops *ops, bool added);
void ftrace_mux_prepare_rec(struct dyn_ftrace *rec);
void ftrace_mux_prepare(void);
void ftrace_mux_updated(void);
void ftrace_mux_queue_sweep(void);
void ftrace_mux_graph_changed(void);
bool ftrace_mux_needs_combo(struct dyn_ftrace *rec);
struct ftrace_ops *ftrace_mux_id_owner(unsigned int id);
struct ftrace_ops *ftrace_mux_graph_manager(void);
bool ftrace_mux_is_enabled(void);

struct ftrace_ops *ftrace_mux_get_default(struct trace_array *tr);
void ftrace_mux_set_default(struct ftrace_ops *ops);
struct ftrace_ops *ftrace_mux_find(u64 seq);
bool ftrace_mux_has_files(struct ftrace_ops *ops, struct trace_array *tr);
unsigned int ftrace_mux_count_users(struct trace_array *tr);
const char *ftrace_mux_name(struct ftrace_ops *ops, char *buf, size_t size);

/* Set the ID of @ops in the filter mask of @rec, and in the notrace mask if @exempt */
static inline void ftrace_mux_rec_add(struct ftrace_ops *ops,
				      struct dyn_ftrace *rec, bool exempt)
{
	if (!ops->mux.id)
		return;

	rec->mux_filter |= BIT(ops->mux.id - 1);
	if (exempt)
		rec->mux_notrace |= BIT(ops->mux.id - 1);
}

/* Clear what ftrace_mux_rec_add() has set */
static inline void ftrace_mux_rec_del(struct ftrace_ops *ops,
				      struct dyn_ftrace *rec)
{
	u16 keep;

	if (!ops->mux.id)
		return;

	keep = ~BIT(ops->mux.id - 1);
	if ((rec->mux_filter | rec->mux_notrace) & ~keep) {
		rec->mux_filter &= keep;
		rec->mux_notrace &= keep;
	}
}

/*
 * The mux.tr of a tracer of @tr: NULL for the top instance. The flags of the top
 * instance may not be set yet when a tracer starts early (ftrace=).
 */
static inline struct trace_array *ftrace_mux_instance(struct trace_array *tr)
{
	return tr && tr->ops != &global_ops ? tr : NULL;
}

/*
 * The filters for modules that are not loaded yet, of a tracer with a filter of
 * its own. NULL if the list of the trace array is used.
 */
static inline struct list_head *ftrace_mux_mod_head(struct ftrace_ops *ops, int enable)
{
	if (!ops->mux.shared_hash)
		return NULL;

	return enable ? &ops->mux.mod_trace : &ops->mux.mod_notrace;
}

/* The tracers with an ID that want @rec */
static inline unsigned int ftrace_mux_rec_mask(struct dyn_ftrace *rec)
{
	return rec->mux_filter & ~rec->mux_notrace;
}

/* combinations.c: trampolines on demand */

#define FTRACE_MUX_TRAMPOLINE_SYM	"ftrace_mux_trampoline"

bool ftrace_mux_wants(struct ftrace_ops *ops, struct dyn_ftrace *rec);
unsigned long ftrace_mux_combo_addr(struct dyn_ftrace *rec);
void ftrace_mux_combo_prepare(struct dyn_ftrace *rec);
bool ftrace_mux_combo_retry(void);
void ftrace_mux_combo_enter(unsigned long addr);
void ftrace_mux_combo_leave(struct dyn_ftrace *rec);
bool ftrace_mux_combo_touch(struct dyn_ftrace *rec);
bool ftrace_mux_combo_settle(struct ftrace_ops *ops, bool added);
void ftrace_mux_combo_new_ids(void);
void ftrace_mux_combo_update_func(struct ftrace_ops *ops);
void ftrace_mux_combo_drop(struct ftrace_ops *ops, bool quiescent);
bool ftrace_mux_combo_sweep(void);
void ftrace_mux_combo_reap(void);
bool ftrace_mux_combo_any(void);
void ftrace_mux_combo_show(struct seq_file *m);
void ftrace_mux_combo_show_totals(struct seq_file *m);
bool ftrace_mux_combo_starts(unsigned long addr);
int ftrace_mux_get_kallsym(unsigned int symnum, unsigned long *value, char *name);

/* The names of system calls in filters */

bool ftrace_mux_match_syscall(unsigned long ip, char *sym, const char *search,
			      bool (*match)(char *name, void *glob), void *glob);

/* Files: what the user sees of the above */

int ftrace_mux_regex_open(struct trace_array *tr, int flag,
			  struct inode *inode, struct file *file);
bool ftrace_mux_filter_alive(struct ftrace_iterator *iter);
bool ftrace_mux_filter_begin(struct ftrace_iterator *iter);
void ftrace_mux_filter_end(struct ftrace_iterator *iter, bool changed);
bool ftrace_mux_release_sections(struct ftrace_iterator *iter);
void ftrace_mux_visit_hashes(ftrace_mux_hash_func_t func, void *data);
void ftrace_mux_process_mods(char *mod);
void ftrace_mux_files_lock(struct ftrace_ops *ops);
void ftrace_mux_files_unlock(struct ftrace_ops *ops);
bool ftrace_mux_show_caller(struct seq_file *m, struct dyn_ftrace *rec);
void ftrace_mux_show_tracers(struct seq_file *m, struct dyn_ftrace *rec);
void ftrace_mux_create_files(struct trace_array *tr, struct dentry *parent);
void ftrace_mux_create_info(struct dentry *parent);
void ftrace_mux_show_combination(struct seq_file *m, unsigned long users,
				 const char *origin, bool regs);
void ftrace_mux_show_member(struct seq_file *m, struct ftrace_ops *ops);

#else /* !CONFIG_FTRACE_MUX */

static inline void ftrace_mux_init_tracer(struct ftrace_ops *ops,
					  const char *name,
					  struct trace_array *tr) { }
static inline void ftrace_mux_share_filter(struct ftrace_ops *ops) { }
static inline bool ftrace_mux_register(struct ftrace_ops *ops) { return false; }
static inline void ftrace_mux_release(struct ftrace_ops *ops, bool quiescent) { }
static inline void ftrace_mux_link(struct ftrace_ops *ops) { }
static inline void ftrace_mux_unlink(struct ftrace_ops *ops) { }
static inline void ftrace_mux_update_func(struct ftrace_ops *ops) { }
static inline void ftrace_mux_filter_changed(struct ftrace_ops *ops) { }
static inline void ftrace_mux_set_instance(struct ftrace_ops *ops,
					   struct trace_array *tr) { }
static inline void ftrace_mux_hold_default(struct ftrace_ops *ops) { }
static inline void ftrace_mux_files_lock(struct ftrace_ops *ops) { }
static inline void ftrace_mux_files_unlock(struct ftrace_ops *ops) { }

static inline void ftrace_mux_visit_hashes(ftrace_mux_hash_func_t func,
					   void *data) { }

static inline void ftrace_mux_process_mods(char *mod) { }

#ifdef CONFIG_DYNAMIC_FTRACE
static inline struct list_head *ftrace_mux_mod_head(struct ftrace_ops *ops, int enable)
{
	return NULL;
}

static inline unsigned long ftrace_mux_addr(struct dyn_ftrace *rec) { return 0; }
static inline unsigned long ftrace_mux_callee(struct dyn_ftrace *rec) { return 0; }
static inline bool ftrace_mux_rec_changed(struct dyn_ftrace *rec) { return false; }
static inline void ftrace_mux_rec_touch(struct dyn_ftrace *rec) { }
static inline void ftrace_mux_rec_switch(struct dyn_ftrace *rec) { }
static inline void ftrace_mux_rec_leave(struct dyn_ftrace *rec) { }
static inline bool ftrace_mux_settle(struct ftrace_ops *ops, bool added) { return false; }
static inline void ftrace_mux_prepare_rec(struct dyn_ftrace *rec) { }
static inline void ftrace_mux_prepare(void) { }
static inline void ftrace_mux_updated(void) { }
static inline void ftrace_mux_graph_changed(void) { }
static inline void ftrace_mux_combo_drop(struct ftrace_ops *ops, bool quiescent) { }
static inline int ftrace_mux_get_kallsym(unsigned int symnum, unsigned long *value,
					 char *name)
{
	return -ERANGE;
}

static inline bool
ftrace_mux_match_syscall(unsigned long ip, char *sym, const char *search,
			 bool (*match)(char *name, void *glob), void *glob)
{
	return false;
}

static inline void ftrace_mux_rec_add(struct ftrace_ops *ops,
				      struct dyn_ftrace *rec, bool exempt) { }
static inline void ftrace_mux_rec_del(struct ftrace_ops *ops,
				      struct dyn_ftrace *rec) { }

static inline int ftrace_mux_regex_open(struct trace_array *tr, int flag,
					struct inode *inode, struct file *file)
{
	return ftrace_regex_open(tr, NULL, flag, inode, file);
}

static inline bool ftrace_mux_filter_alive(struct ftrace_iterator *iter)
{
	return true;
}

static inline bool ftrace_mux_filter_begin(struct ftrace_iterator *iter)
{
	return true;
}

static inline void ftrace_mux_filter_end(struct ftrace_iterator *iter,
					 bool changed) { }

static inline bool ftrace_mux_release_sections(struct ftrace_iterator *iter)
{
	return false;
}

static inline bool ftrace_mux_show_caller(struct seq_file *m,
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
#endif /* _KERNEL_TRACE_FTRACE_MUX_H */

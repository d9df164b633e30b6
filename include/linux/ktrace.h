/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracing of functions that the compiler did not instrument.
 *
 * See Documentation/trace/ktrace.rst.
 */
#ifndef _LINUX_KTRACE_H
#define _LINUX_KTRACE_H

#include <linux/errno.h>
#include <linux/types.h>

struct dyn_ftrace;
struct ftrace_hash;
struct module;
struct pt_regs;

/*
 * A word of .ktrace_sites, which objtool writes: the distance from the word to the function,
 * plus flags. Functions are aligned: the low bits of the sum of the word and its address are
 * the flags.
 */
#define KTRACE_FUNC_ALIGN	16
#define KTRACE_SITE_CLASS	3	/* the class, one of these: */
#define KTRACE_SITE_ANY		0	/* the first five bytes may be moved elsewhere */
#define KTRACE_SITE_FIXED	1	/* no instruction may be moved */
#define KTRACE_SITE_ONE_INSN	2	/* only the first instruction may be moved */
#define KTRACE_SITE_ALTERNATIVE	3	/* ... when alternatives were applied */
/* Set in the table of the kernel when it runs: the function can be traced on this machine */
#define KTRACE_SITE_TRACEABLE	4
#define KTRACE_SITE_OPTIN	8	/* only traced if the kernel's command line names it */

#ifdef CONFIG_KTRACE
extern bool ktrace_has_set;	/* under ftrace_lock */
bool __ktrace_allows(struct dyn_ftrace *rec);

/* May the code of the function be patched? Asked for each function that is traced. */
static inline bool ktrace_allows(struct dyn_ftrace *rec)
{
	return !ktrace_has_set || __ktrace_allows(rec);
}

void ktrace_visit_set(void (*func)(struct ftrace_hash *hash, void *data), void *data);

int ktrace_add_functions(struct module *mod, s32 *sites, unsigned int *nr_sites);
unsigned long ktrace_location_range(unsigned long start, unsigned long end);
int ktrace_make_records(void);
int ktrace_prepare(void);
bool ktrace_is_dead(void);
int ktrace_site_class(unsigned long func);
bool ktrace_is_optin(unsigned long func);

/*
 * The architecture implements what follows. Code outside of it calls the functions whose names
 * begin with arch_; its own kprobes, kgdb, BPF, unwinder and traps call the others.
 */
int arch_ktrace_traceable(struct module *mod, unsigned long *funcs, unsigned int nr);
bool arch_ktrace_is_still_traceable(unsigned long func);
int arch_ktrace_prepare(void);
int arch_ktrace_start(void);
void arch_ktrace_free(struct module *mod);
void arch_ktrace_forget(struct module *mod, unsigned long start, unsigned long end);
bool arch_ktrace_is_slot(unsigned long ip);
unsigned long arch_ktrace_text_address(unsigned long ip);

unsigned long ktrace_resume(unsigned long func);
unsigned long ktrace_func_at(unsigned long addr);
unsigned int ktrace_first_len(unsigned long func);
bool ktrace_may_change_code(unsigned long addr);
bool ktrace_refuses_breakpoint(unsigned long addr);
int ktrace_prepare_probe(unsigned long addr);
void ktrace_untraced_code(unsigned long addr, u8 *buf);
unsigned long ktrace_unwind_ip(unsigned long ip);
bool ktrace_int3_handler(struct pt_regs *regs);
#else
static inline unsigned long ktrace_location_range(unsigned long start, unsigned long end)
{
	return 0;
}

#define ktrace_has_set false
static inline bool ktrace_allows(struct dyn_ftrace *rec) { return true; }
static inline void ktrace_visit_set(void (*func)(struct ftrace_hash *hash, void *data),
				    void *data) { }
static inline int ktrace_make_records(void) { return 0; }
static inline int ktrace_prepare(void) { return 0; }
static inline int ktrace_site_class(unsigned long func) { return -ENOENT; }
static inline bool ktrace_is_optin(unsigned long func) { return false; }
static inline void arch_ktrace_free(struct module *mod) { }
static inline void arch_ktrace_forget(struct module *mod, unsigned long start,
				      unsigned long end) { }
static inline bool arch_ktrace_is_slot(unsigned long ip) { return false; }
static inline unsigned long ktrace_resume(unsigned long func) { return 0; }
static inline unsigned long ktrace_func_at(unsigned long addr) { return 0; }
static inline unsigned int ktrace_first_len(unsigned long func) { return 0; }
static inline bool ktrace_may_change_code(unsigned long addr) { return false; }
static inline bool ktrace_refuses_breakpoint(unsigned long addr) { return false; }
static inline int ktrace_prepare_probe(unsigned long addr) { return 0; }
static inline void ktrace_untraced_code(unsigned long addr, u8 *buf) { }
static inline unsigned long arch_ktrace_text_address(unsigned long ip) { return ip; }
static inline unsigned long ktrace_unwind_ip(unsigned long ip) { return 0; }
static __always_inline bool ktrace_int3_handler(struct pt_regs *regs) { return false; }
#endif

/* Is @word on the stack the return address that stack traces have as @ip? */
static inline bool ktrace_is_return_address(unsigned long word, unsigned long ip)
{
	return word == ip || (IS_ENABLED(CONFIG_KTRACE) && arch_ktrace_text_address(word) == ip);
}

#endif /* _LINUX_KTRACE_H */

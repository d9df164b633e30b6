/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracing of functions that the compiler did not instrument.
 *
 * See Documentation/trace/ktrace.rst.
 */
#ifndef _LINUX_KTRACE_H
#define _LINUX_KTRACE_H

#include <linux/types.h>

struct dyn_ftrace;
struct ftrace_hash;
struct module;

/*
 * An entry of .ktrace_sites, which objtool writes: the distance from the entry to the
 * function, plus what may be done with the code there.
 */
#define KTRACE_SITE_CLASS	3
#define KTRACE_SITE_ANY		0	/* the first five bytes may be moved elsewhere */
#define KTRACE_SITE_PADDING	1	/* no instruction may be moved */
#define KTRACE_SITE_ONE_INSN	2	/* only the first instruction may be moved */

enum ktrace_obstacle {
	KTRACE_NO_OBSTACLE,
	KTRACE_NO_ENDBR,	/* the function does not begin with ENDBR */
	KTRACE_PADDING_USED,	/* there is code in front of it, or no padding */
	KTRACE_ENDBR_USED,	/* the CPU has IBT, and the ENDBR is not sealed */
};

#ifdef CONFIG_KTRACE
bool ktrace_allows(struct dyn_ftrace *rec);
bool ktrace_restricts(void);
void ktrace_visit_set(void (*func)(struct ftrace_hash *hash, void *data), void *data);

int ktrace_add_text(struct module *mod, s32 *sites, unsigned int nr);
bool ktrace_is_candidate(unsigned long func);

unsigned int arch_ktrace_traceable(struct module *mod, unsigned long *funcs, unsigned int nr);
enum ktrace_obstacle arch_ktrace_obstacle(unsigned long func);
int arch_ktrace_start(void);
unsigned long ktrace_text_address(unsigned long ip);
void ktrace_untraced_code(unsigned long func, u8 *buf);
#else
static inline bool ktrace_allows(struct dyn_ftrace *rec) { return true; }
static inline bool ktrace_restricts(void) { return false; }
static inline void ktrace_visit_set(void (*func)(struct ftrace_hash *hash, void *data),
				    void *data) { }
static inline bool ktrace_is_candidate(unsigned long func) { return false; }
static inline unsigned long ktrace_text_address(unsigned long ip) { return ip; }
static inline void ktrace_untraced_code(unsigned long func, u8 *buf) { }
#endif

/*
 * Is @word on the stack the return address that stack traces have as @ip? In padding, it
 * is three bytes below.
 */
static inline bool ktrace_is_return_address(unsigned long word, unsigned long ip)
{
	if (word == ip)
		return true;

	return IS_ENABLED(CONFIG_KTRACE) && ip - word == 3 && ktrace_text_address(word) == ip;
}

#endif /* _LINUX_KTRACE_H */

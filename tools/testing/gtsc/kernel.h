/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What kernel/trace/gtsc/buffer.c and source.c use of the kernel and tools/include has
 * not, for a program with one thread: operations that are atomic in the kernel are plain.
 */
#ifndef GTSC_TEST_KERNEL_H
#define GTSC_TEST_KERNEL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include <linux/align.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/kconfig.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/barrier.h>

#define __percpu

#define PAGE_SHIFT		12
#ifndef PAGE_SIZE
#define PAGE_SIZE		4096UL
#endif

#ifndef swap
#define swap(a, b)							\
	do {								\
		typeof(a) swap_tmp = (a);				\
									\
		(a) = (b);						\
		(b) = swap_tmp;						\
	} while (0)
#endif

static inline s64 sign_extend64(u64 value, int index)
{
	return (s64)(value << (63 - index)) >> (63 - index);
}

/* Atomic operations */

struct word {
	s64	n;
};

#define atomic64_t		struct word
#define local64_t		struct word

static inline s64 atomic64_read(const struct word *word)
{
	return READ_ONCE(word->n);
}

static inline void atomic64_set(struct word *word, s64 n)
{
	WRITE_ONCE(word->n, n);
}

static inline void atomic64_add(s64 n, struct word *word)
{
	word->n += n;
}

static inline void atomic64_sub(s64 n, struct word *word)
{
	word->n -= n;
}

static inline bool atomic64_try_cmpxchg(struct word *word, s64 *old, s64 new)
{
	if (word->n != *old) {
		*old = word->n;
		return false;
	}
	word->n = new;

	return true;
}

static inline void local64_inc(struct word *word)
{
	word->n++;
}

#define atomic64_read_acquire		atomic64_read
#define atomic64_set_release		atomic64_set
#define atomic64_add_return_release	atomic64_add
#define local64_read			atomic64_read
#define local64_set			atomic64_set
#define local64_add			atomic64_add
#define local64_try_cmpxchg		atomic64_try_cmpxchg

/* Memory */

#define GFP_KERNEL		0
#define __GFP_ZERO		0
#define __GFP_COMP		0
#define __GFP_RETRY_MAYFAIL	0
#define __GFP_NOWARN		0

struct page;

static inline int cpu_to_node(int cpu)
{
	return cpu;
}

static inline struct page *alloc_pages_node(int node, int gfp, unsigned int order)
{
	return calloc(1, PAGE_SIZE << order);
}

static inline void *page_address(struct page *page)
{
	return page;
}

static inline struct page *virt_to_page(const void *p)
{
	return (struct page *)p;
}

static inline int page_count(struct page *page)
{
	return 1;
}

static inline void put_page(struct page *page)
{
	free(page);
}

static inline void *kmalloc(size_t size, int gfp)
{
	return malloc(size);
}

static inline void *kvzalloc_node(size_t size, int gfp, int node)
{
	return calloc(1, size);
}

#define kfree			free
#define kvfree			free
#define cache_line_size()	64

/* Tasks */

#define current			NULL
#define cond_resched()		do { } while (0)

static inline bool fatal_signal_pending(const void *task)
{
	return false;
}

/* Members of structures that are not used */

struct mutex {
	int	unused;
};

struct kref {
	int	unused;
};

struct irq_work {
	int	unused;
};

struct rb_node {
	int	unused;
};

struct wait_queue_head {
	int	unused;
};

#define wait_queue_head_t	struct wait_queue_head
#define cpumask_var_t		struct cpumask *
#define per_cpu_ptr(p, cpu)	((void)(cpu), (p))

u64 ktime_get_raw_fast_ns(void);

#endif /* GTSC_TEST_KERNEL_H */

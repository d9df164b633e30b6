/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of this directory know of each other */
#ifndef _TOOLS_TESTING_KTRACE_HARNESS_H
#define _TOOLS_TESTING_KTRACE_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/user.h>		/* PAGE_SIZE */

#include <linux/compiler.h>
#include <linux/kernel.h>	/* ARRAY_SIZE */
#include <linux/types.h>

#include <asm/insn.h>

#include "../../../arch/x86/kernel/ktrace_reloc.h"

/*
 * The kernel is executed at other addresses, all of them shifted by the same distance. They
 * are below 2 GiB, as those of the kernel are above -2 GiB: they fit into 32 bits.
 */
#define KERNEL_START		0xffffffff80000000UL
#define USER_START		0x20000000UL
#define USER_SHIFT		(USER_START - KERNEL_START)
/* Behind the lower slots are the kernel and its modules, and the upper slots */
#define USER_END		0x50000000UL
#define LOW_SLOT		(USER_START + 0x800009)
#define HIGH_SLOT		(USER_END - 0xff7)
/* What modules use and the kernel does not have */
#define NO_SYMBOL		(USER_START + 0x900000)
/* Where modules are if there is no kernel */
#define USER_MODULES		(USER_START + 0x1000000)

#define SCRATCH_START		0x60000000UL
#define SCRATCH_SIZE		0x4000UL
#define STACK_START		0x70000000UL
#define STACK_SIZE		0x2000UL

/*
 * The first variable of a CPU is at GS_BASE, whatever address it has in the kernel. Operands
 * relative to RIP have the same address there; here these are shifted with the kernel. So
 * there are two copies of the variables.
 */
#define GS_BASE			0x300000000UL
#define PERCPU_SIZE		0x200000UL

#define INT3			0xcc

/* How a page of the executed program is mapped */
enum page_state {
	PAGE_NONE,
	PAGE_TEXT,	/* breakpoints, but where something is put to be executed */
	PAGE_DATA,	/* can be written; what was written is compared and undone */
	PAGE_HOT,	/* part of the stack or scratch memory, always compared */
};

/* What .ktrace_sites tells of a function */
struct site {
	unsigned long	func;		/* shifted address */
	unsigned int	class;
	const char	*name;
};

struct image {
	const char	*name;		/* of the module, or vmlinux */
	struct site	*sites;
	unsigned int	nr_sites;
};

/* How a run ended */
enum verdict { EQUAL, FAULT_ALIKE, DIFFERENT, NR_VERDICTS };

/* Instructions, moved to where they can be executed */
struct moved_code {
	unsigned long		from, to;
	u8			old[KTRACE_RELOC_CODE(KTRACE_RELOC_MIN_MAX)];
	u8			new[KTRACE_RELOC_SIZE_MAX];
	struct ktrace_moved	moved;
};

/* image.c: what is in a vmlinux or a module */
void load_image(const char *path, struct image *image);
void copy_code(unsigned long addr, u8 *buf, unsigned int len);

/* memory.c: the memory of the executed program */
extern unsigned long gs_base;
void create_memory(void);
void place_percpu(unsigned long percpu);
void map_pages(unsigned long addr, unsigned long size, enum page_state state);
void map_breakpoints(unsigned long addr);
void *writable(unsigned long addr);
bool open_page(unsigned long addr);
void take_pages(unsigned int run);
bool same_pages(void);
void fill_random(void *buf, unsigned long size, unsigned long seed);
void fill_hot(unsigned int round);
unsigned long random_word(unsigned long *seed);

/* run.c: execution and comparison */
void start_program(void);
enum verdict compare(const struct moved_code *code, unsigned int round);
extern const char *difference;

/* cases.c: instructions of which we know how they have to be moved */
bool check_cases(void);

/* main.c */
const char *errno_name(int err);
int move_code(struct moved_code *code, unsigned int min);

__printf(1, 2) __noreturn void die(const char *format, ...);

#endif /* _TOOLS_TESTING_KTRACE_HARNESS_H */

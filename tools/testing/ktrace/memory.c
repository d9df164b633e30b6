// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of the executed program: windows of addresses, whose pages are mapped in two
 * places. The program, which shares our address space, has the one with the protection of
 * the page. We write to the other.
 *
 * Pages with data cannot be written at first. After a fault, open_page() keeps their content
 * and allows to write. take_pages() compares what the two runs have left, and restores it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"

struct window {
	unsigned long	start, size;
	u8		*alias;
	u8		*states;	/* of pages */
};

static struct window windows[] = {
	{ USER_START, USER_END - USER_START },
	{ SCRATCH_START, SCRATCH_SIZE },
	{ STACK_START, STACK_SIZE },
	{ GS_BASE, PERCPU_SIZE },
	{ GS_BASE + USER_SHIFT, PERCPU_SIZE },
	/* Operands with a register and GS, see place_percpu() */
	{ GS_BASE + SCRATCH_START, SCRATCH_SIZE },
};

#define GS_SCRATCH	(&windows[ARRAY_SIZE(windows) - 1])

/* What the CPU adds to the address of an operand with GS */
unsigned long gs_base = GS_BASE;

/* More than an instruction writes, unless it is a string instruction with wild registers */
#define MAX_OPEN	16

static struct {
	unsigned int	nr;
	unsigned long	addrs[MAX_OPEN];
	u8		before[MAX_OPEN][PAGE_SIZE];
} open_pages;

/* What was in memory after a run */
static struct {
	unsigned int	nr;
	unsigned long	addrs[MAX_OPEN];
	u8		pages[MAX_OPEN][PAGE_SIZE];
	u8		scratch[SCRATCH_SIZE];
	u8		stack[STACK_SIZE];
} left[2];

static struct window *window_of(unsigned long addr)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(windows); i++) {
		if (addr - windows[i].start < windows[i].size)
			return &windows[i];
	}

	return NULL;
}

static u8 *state_of(unsigned long addr)
{
	struct window *w = window_of(addr);

	return w ? &w->states[(addr - w->start) / PAGE_SIZE] : NULL;
}

/* The address of the same byte where we can write it */
void *writable(unsigned long addr)
{
	struct window *w = window_of(addr);

	if (!w)
		die("%lx is not an address of the program", addr);

	return w->alias + (addr - w->start);
}

static void create_window(struct window *w)
{
	int fd = memfd_create("window", 0);
	void *at;

	if (fd < 0 || ftruncate(fd, w->size))
		die("no memory");

	w->alias = mmap(NULL, w->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	at = mmap((void *)w->start, w->size, PROT_NONE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
	if (w->alias == MAP_FAILED || at != (void *)w->start)
		die("cannot map %lx", w->start);

	w->states = calloc(w->size / PAGE_SIZE, 1);
	if (!w->states)
		die("no memory");
	close(fd);
}

static void protect(unsigned long addr, unsigned long size, int prot)
{
	if (mprotect((void *)addr, size, prot))
		die("mprotect of %lx failed", addr);
}

/* Pages that have both text and data are text */
void map_pages(unsigned long addr, unsigned long size, enum page_state state)
{
	static const int prots[] = {
		[PAGE_NONE] = PROT_NONE,
		[PAGE_TEXT] = PROT_READ | PROT_EXEC,
		[PAGE_DATA] = PROT_READ,
		[PAGE_HOT] = PROT_READ | PROT_WRITE,
	};
	unsigned long page = addr & -PAGE_SIZE;

	for (; page < addr + size; page += PAGE_SIZE) {
		u8 *now = state_of(page);

		if (!now)
			die("%lx is not an address of the program", page);
		if (*now == state || *now == PAGE_TEXT)
			continue;
		*now = state;
		protect(page, PAGE_SIZE, prots[state]);
	}
}

/* Allow to write the page after a fault. Returns whether the fault was due to us. */
bool open_page(unsigned long addr)
{
	unsigned long page = addr & -PAGE_SIZE;
	u8 *state = state_of(addr);

	if (!state || *state != PAGE_DATA || open_pages.nr == MAX_OPEN)
		return false;

	for (unsigned int i = 0; i < open_pages.nr; i++) {
		if (open_pages.addrs[i] == page)
			return false;
	}

	memcpy(open_pages.before[open_pages.nr], (void *)page, PAGE_SIZE);
	open_pages.addrs[open_pages.nr++] = page;
	protect(page, PAGE_SIZE, PROT_READ | PROT_WRITE);

	return true;
}

/* Keep what run @run has left in memory, and undo it */
void take_pages(unsigned int run)
{
	left[run].nr = open_pages.nr;
	memcpy(left[run].addrs, open_pages.addrs, sizeof(open_pages.addrs));
	for (unsigned int i = 0; i < open_pages.nr; i++) {
		unsigned long page = open_pages.addrs[i];

		memcpy(left[run].pages[i], (void *)page, PAGE_SIZE);
		memcpy((void *)page, open_pages.before[i], PAGE_SIZE);
		protect(page, PAGE_SIZE, PROT_READ);
	}
	open_pages.nr = 0;

	memcpy(left[run].scratch, (void *)SCRATCH_START, SCRATCH_SIZE);
	memcpy(left[run].stack, (void *)STACK_START, STACK_SIZE);
}

/* Have both runs left the same? */
bool same_pages(void)
{
	unsigned int nr = left[0].nr;

	return nr == left[1].nr &&
	       !memcmp(left[0].addrs, left[1].addrs, nr * sizeof(left[0].addrs[0])) &&
	       !memcmp(left[0].pages, left[1].pages, nr * PAGE_SIZE) &&
	       !memcmp(left[0].scratch, left[1].scratch, SCRATCH_SIZE) &&
	       !memcmp(left[0].stack, left[1].stack, STACK_SIZE);
}

static unsigned long random_bits(unsigned long *seed)
{
	/* splitmix64 */
	unsigned long z = *seed += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;

	return z ^ (z >> 31);
}

/*
 * What registers and memory contain: mostly a pointer to scratch memory. Bit 8 is clear: if
 * it gets into the flags, the CPU traps.
 */
unsigned long random_word(unsigned long *seed)
{
	unsigned long bits = random_bits(seed);

	switch (bits >> 61) {
	case 0:
		return bits & ~0x100UL;
	case 1:
		return bits & 7;
	case 2: case 3:
		return 0;
	default:
		return SCRATCH_START + SCRATCH_SIZE / 4 + (bits & 0xef8);
	}
}

void fill_random(void *buf, unsigned long size, unsigned long seed)
{
	for (unsigned long i = 0; i + sizeof(long) <= size; i += sizeof(long)) {
		unsigned long word = random_bits(&seed);

		memcpy(buf + i, &word, sizeof(word));
	}
}

/* Each round has its content of the stack and of scratch memory */
void fill_hot(unsigned int round)
{
	static unsigned long words[(SCRATCH_SIZE + STACK_SIZE) / sizeof(long)];
	static int filled = -1;

	if (filled != round) {
		unsigned long seed = ~round;

		for (unsigned int i = 0; i < ARRAY_SIZE(words); i++)
			words[i] = random_word(&seed);
		filled = round;
	}

	memcpy((void *)SCRATCH_START, words, SCRATCH_SIZE);
	memcpy((void *)STACK_START, words + SCRATCH_SIZE / sizeof(long), STACK_SIZE);
}

void map_breakpoints(unsigned long addr)
{
	unsigned long page = addr & -PAGE_SIZE;

	memset(writable(page), INT3, PAGE_SIZE);
	map_pages(page, PAGE_SIZE, PAGE_TEXT);
}

/* The variables of CPUs begin at @percpu in the kernel */
void place_percpu(unsigned long percpu)
{
	unsigned long start = GS_BASE - percpu + SCRATCH_START;
	struct window *w = GS_SCRATCH;

	gs_base = GS_BASE - percpu;
	if (start != w->start &&
	    mremap((void *)w->start, w->size, w->size, MREMAP_MAYMOVE | MREMAP_FIXED,
		   (void *)start) != (void *)start)
		die("cannot map %lx", start);
	w->start = start;
}

void create_memory(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(windows); i++)
		create_window(&windows[i]);

	map_pages(SCRATCH_START, SCRATCH_SIZE, PAGE_HOT);
	map_pages(STACK_START, STACK_SIZE, PAGE_HOT);

	for (unsigned int i = 3; i < ARRAY_SIZE(windows); i++) {
		fill_random(windows[i].alias, windows[i].size, i);
		map_pages(windows[i].start, windows[i].size, PAGE_DATA);
	}

	map_breakpoints(LOW_SLOT);
	map_breakpoints(HIGH_SLOT);
	map_breakpoints(NO_SYMBOL);
}

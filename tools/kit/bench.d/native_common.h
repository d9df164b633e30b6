/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What native.c and native_record.c share: programs that run objects of the kernel. Each
 * program includes it once.
 */
#ifndef NATIVE_COMMON_H
#define NATIVE_COMMON_H

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <linux/compiler.h>
#include <linux/types.h>

#define INSN_SIZE	5
#define CALL_OPCODE	0xe8
#define JMP_OPCODE	0xe9
#define RET_OPCODE	0xc3
#define INT3_OPCODE	0xcc

/* Where the C files of the kernel jump to return */
extern u8 __x86_return_thunk[];

static void __noreturn __printf(1, 2) die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* A system may not let a program do this. See run_native() in tools/kit/bench. */
static void __noreturn cannot(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(4);
}

static void make_writable(void *start, void *end)
{
	uintptr_t first = (uintptr_t)start & ~4095UL;

	if (mprotect((void *)first, (uintptr_t)end - first, PROT_READ | PROT_WRITE | PROT_EXEC))
		cannot("mprotect of code");
}

static const void *branch_target(const u8 *at)
{
	s32 disp;

	memcpy(&disp, at + 1, sizeof(disp));

	return at + INSN_SIZE + disp;
}

/* What apply_returns() does without return thunks; objtool has not listed them yet */
static void patch_returns(u8 *start, u8 *end)
{
	make_writable(start, end);
	for (u8 *p = start; p + INSN_SIZE <= end; p++) {
		if (*p != JMP_OPCODE || branch_target(p) != __x86_return_thunk)
			continue;
		memset(p, INT3_OPCODE, INSN_SIZE);
		*p = RET_OPCODE;
	}
}

/* In nanoseconds */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);

	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Move to one processor, and stay there */
static void stay(void)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (cpu < 0 || sched_setaffinity(0, sizeof(set), &set))
		cannot("sched_setaffinity");
}

#endif /* NATIVE_COMMON_H */

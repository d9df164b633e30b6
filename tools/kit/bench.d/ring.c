// SPDX-License-Identifier: GPL-2.0
/*
 * The cost to write a record to a BPF ring buffer: the difference between a program that
 * writes records and one that writes none.
 */
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Records that a program writes, without a loop */
#define RECORDS		50
#define RUNS		20
#define RING_SIZE	(1 << 20)
#define MAX_SIZE	1024

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static int make_map(int type, int value_size, int entries)
{
	union bpf_attr attr = {
		.map_type = type, .max_entries = entries, .value_size = value_size,
		.key_size = value_size ? 4 : 0,
	};
	int fd = bpf(BPF_MAP_CREATE, &attr);

	if (fd < 0)
		die("BPF_MAP_CREATE");

	return fd;
}

static struct bpf_insn insns[RECORDS * 200 + 20];
static int nr;

static void emit(uint8_t code, uint8_t dst, uint8_t src, int16_t off, int32_t imm)
{
	insns[nr++] = (struct bpf_insn){
		.code = code, .dst_reg = dst, .src_reg = src, .off = off, .imm = imm,
	};
}

static void emit_map(uint8_t dst, uint8_t how, int fd)
{
	emit(BPF_LD | BPF_DW | BPF_IMM, dst, how, 0, fd);
	emit(0, 0, 0, 0, 0);
}

/* bpf_ringbuf_output(ring, data, size, flags); r6 points to the data in an array map */
static void emit_output(int ring, int size)
{
	emit_map(BPF_REG_1, BPF_PSEUDO_MAP_FD, ring);
	emit(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_6, 0, 0);
	emit(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, size);
	emit(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_4, 0, 0, BPF_RB_NO_WAKEUP);
	emit(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ringbuf_output);
}

/* Reserve a record with bpf_ringbuf_reserve(ring, size, 0), fill it, and submit it */
static void emit_reserve(int ring, int size)
{
	int jump;

	emit_map(BPF_REG_1, BPF_PSEUDO_MAP_FD, ring);
	emit(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, size);
	emit(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, 0);
	emit(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ringbuf_reserve);
	jump = nr;
	emit(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, 0);
	for (int i = 0; i < size; i += 8)
		emit(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_0, 0, i, i);
	emit(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_0, 0, 0);
	emit(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, BPF_RB_NO_WAKEUP);
	emit(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ringbuf_submit);
	insns[jump].off = nr - jump - 1;
}

static int load(int ring, int array, int size, int records, int reserve)
{
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT, .license = (uintptr_t)"GPL",
		.insns = (uintptr_t)insns,
	};
	int fd;

	nr = 0;
	/* args[1] of sys_enter is the number of the system call */
	emit(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_7, BPF_REG_1, 8, 0);
	emit(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_7, 0, 0, SYS_getppid);
	emit_map(BPF_REG_6, BPF_PSEUDO_MAP_VALUE, array);
	for (int i = 0; i < records; i++) {
		if (reserve)
			emit_reserve(ring, size);
		else
			emit_output(ring, size);
	}
	insns[1].off = nr - 2;
	emit(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0);
	emit(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	attr.insn_cnt = nr;
	fd = bpf(BPF_PROG_LOAD, &attr);
	if (fd < 0)
		die("BPF_PROG_LOAD");

	return fd;
}

/* Empty the ring buffer: mark all records as read */
static void empty(int ring)
{
	unsigned long *consumer = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0);
	unsigned long *producer = mmap(NULL, 4096, PROT_READ, MAP_SHARED, ring, 4096);

	if (consumer == MAP_FAILED || producer == MAP_FAILED)
		die("mmap");
	__atomic_store_n(consumer, __atomic_load_n(producer, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
	munmap(consumer, 4096);
	munmap(producer, 4096);
}

/* The least time of a system call that runs the program, in nanoseconds */
static uint64_t run(int prog, int ring)
{
	union bpf_attr attr = {
		.raw_tracepoint = { .name = (uintptr_t)"sys_enter", .prog_fd = prog },
	};
	struct timespec a, b;
	uint64_t ns, least = UINT64_MAX;
	int link = bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);

	if (link < 0)
		die("BPF_RAW_TRACEPOINT_OPEN");

	for (int i = 0; i < RUNS; i++) {
		empty(ring);
		clock_gettime(CLOCK_MONOTONIC, &a);
		syscall(SYS_getppid);
		clock_gettime(CLOCK_MONOTONIC, &b);
		ns = (b.tv_sec - a.tv_sec) * 1000000000ULL + b.tv_nsec - a.tv_nsec;
		if (ns < least)
			least = ns;
	}
	close(link);
	close(prog);

	return least;
}

int main(void)
{
	static const int sizes[] = { 8, 64, 1024 };
	int ring = make_map(BPF_MAP_TYPE_RINGBUF, 0, RING_SIZE);
	int array = make_map(BPF_MAP_TYPE_ARRAY, MAX_SIZE, 1);

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (int reserve = 0; reserve < 2; reserve++) {
			uint64_t with = run(load(ring, array, sizes[i], RECORDS, reserve), ring);
			uint64_t without = run(load(ring, array, sizes[i], 0, reserve), ring);

			printf("result bpf-%s:%d %llu\n", reserve ? "reserve" : "output", sizes[i],
			       (unsigned long long)(with - without) / RECORDS);
		}
	}

	return 0;
}

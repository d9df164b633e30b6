// SPDX-License-Identifier: GPL-2.0
/*
 * BPF programs that are detached from functions. A link is all that is closed last of a
 * program: this detaches the program, and frees it.
 *
 * bpf_detach many FILE [NUMBER]
 *	attaches a fexit program to each of the functions whose names FILE has, one a line,
 *	or to the first NUMBER of them that have a BTF ID and that the kernel accepts. Prints
 *	"attached NUMBER", waits for a byte from its standard input, detaches the programs
 *	and prints "detached NANOSECONDS".
 *
 * bpf_detach loop ROUNDS FUNCTION PATH [FUNCTION]
 *	attaches and detaches fentry and fexit programs in turn. Each has to count the calls
 *	of the first function, which a read of the file PATH makes, and nobody else. The other
 *	function may be called at any time. Prints "ok ROUNDS", or what is wrong.
 *
 * bpf_detach fault ROUNDS
 *	detaches a program while a child executes it, all the time. The program does nothing
 *	but read from an address that is not mapped.
 *
 * bpf_detach hold fentry|fexit
 *	attaches a program to gcd(), and obeys its standard input: d detaches it, a attaches
 *	another. Answers with a line each: "ok", or the number of calls for c.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../stress.d/bpf.h"

enum { MAX = 4096 };

static char *names[MAX];
static uint32_t ids[MAX];
static unsigned int nr_names;

static void fail(const char *what, int error)
{
	printf("%s: %s\n", what, strerror(-error));
	exit(1);
}

static void found(const char *name, uint32_t id)
{
	for (unsigned int i = 0; i < nr_names; i++) {
		if (!strcmp(names[i], name))
			ids[i] = id;
	}
}

static void add_name(const char *name)
{
	if (nr_names < MAX)
		names[nr_names++] = strdup(name);
}

static int attach(int prog, enum bpf_attach_type type)
{
	union bpf_attr attr = {
		.link_create.prog_fd = prog,
		.link_create.attach_type = type,
	};

	return bpf(BPF_LINK_CREATE, &attr);
}

/* Attach a program that does nothing, and keep it in *@prog if @prog is not NULL */
static int attach_new(enum bpf_attach_type type, uint32_t id, int *prog)
{
	int fd = bpf_load(BPF_PROG_TYPE_TRACING, type, id);
	int link;

	if (fd < 0)
		return fd;
	link = attach(fd, type);
	if (link >= 0 && prog)
		*prog = fd;
	else
		close(fd);

	return link;
}

static unsigned long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void read_file(const char *path)
{
	char buf[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, buf, sizeof(buf)) < 0)
		fail(path, -errno);
	close(fd);
}

static void wait_for_byte(void)
{
	char c;

	fflush(stdout);
	if (read(STDIN_FILENO, &c, 1) < 0)
		fail("standard input", -errno);
}

/* many */

static void read_names(const char *file)
{
	char line[512];
	FILE *f;

	f = fopen(file, "r");
	if (!f)
		fail(file, -errno);
	while (fscanf(f, "%511s", line) == 1)
		add_name(line);
	fclose(f);
}

static void many(const char *file, unsigned int max)
{
	static int links[MAX];
	unsigned long long start;
	unsigned int nr = 0;

	read_names(file);
	bpf_functions(found);
	for (unsigned int i = 0; i < nr_names && nr < max; i++) {
		links[nr] = ids[i] ? attach_new(BPF_TRACE_FEXIT, ids[i], NULL) : -ENOENT;
		nr += links[nr] >= 0;
	}
	printf("attached %u\n", nr);
	wait_for_byte();

	start = now();
	while (nr)
		close(links[--nr]);
	printf("detached %llu\n", now() - start);
}

/* loop */

static void loop(unsigned int rounds, const char *path)
{
	enum { CALLS = 3 };

	for (unsigned int round = 0; round < rounds; round++) {
		enum bpf_attach_type type = round % 2 ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
		int link, other = -1, prog;

		link = attach_new(type, ids[0], &prog);
		if (link < 0)
			fail("attach", link);
		if (ids[1])
			other = attach_new(type, ids[1], NULL);
		if (ids[1] && other < 0)
			fail("attach the other", other);

		for (unsigned int i = 0; i < CALLS; i++)
			read_file(path);
		close(link);
		read_file(path);
		close(other);

		if (bpf_calls(prog) != CALLS) {
			printf("round %u: %lld calls\n", round, bpf_calls(prog));
			exit(1);
		}
		close(prog);
	}
	printf("ok %u\n", rounds);
}

/* fault */

/*
 * In a hole in front of the kernel's text. The program gets it as the second argument of
 * get_timespec64(), a pointer of the kernel for all that BPF knows.
 */
#define UNMAPPED	0xffffffff40000000

static int load_faulting(void)
{
	enum { LOADS = 4000 };
	static struct bpf_insn insns[LOADS + 3];
	struct bpf_insn *insn = insns;

	*insn++ = (struct bpf_insn) {
		.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_1,
		.off = 8,
	};
	for (unsigned int i = 0; i < LOADS; i++)
		*insn++ = (struct bpf_insn) {
			.code = BPF_LDX | BPF_MEM | BPF_DW, .src_reg = BPF_REG_1,
		};
	*insn++ = (struct bpf_insn) { .code = BPF_ALU64 | BPF_MOV | BPF_K };
	*insn++ = (struct bpf_insn) { .code = BPF_JMP | BPF_EXIT };

	return bpf_load_insns(BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, ids[0], insns,
			      insn - insns);
}

/* A child that calls get_timespec64() all the time, and ends with its parent */
static pid_t start_caller(void)
{
	pid_t child = fork();

	if (child < 0)
		fail("fork", -errno);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			syscall(SYS_nanosleep, UNMAPPED, NULL);
	}

	return child;
}

static void fault(unsigned int rounds)
{
	pid_t child = start_caller();

	for (unsigned int round = 0; round < rounds; round++) {
		int prog = load_faulting();
		int link;

		if (prog < 0)
			fail("load", prog);
		link = attach(prog, BPF_TRACE_FENTRY);
		if (link < 0)
			fail("attach", link);
		while (!bpf_calls(prog))
			usleep(1000 + round % 10 * 100);
		close(prog);
		close(link);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	printf("ok %u\n", rounds);
}

/* hold */

static void hold(enum bpf_attach_type type)
{
	int link, prog, c;

	link = attach_new(type, ids[0], &prog);
	if (link < 0)
		fail("attach", link);
	puts("ok");
	fflush(stdout);

	while ((c = getchar()) != EOF) {
		switch (c) {
		case 'd':
			close(link);
			close(prog);
			break;
		case 'a':
			link = attach_new(type, ids[0], &prog);
			if (link < 0)
				fail("attach", link);
			break;
		case 'c':
			printf("%lld\n", bpf_calls(prog));
			fflush(stdout);
			continue;
		default:
			continue;
		}
		puts("ok");
		fflush(stdout);
	}
}

int main(int argc, char *argv[])
{
	const char *what = argc > 2 ? argv[1] : "";
	int ret;

	ret = bpf_count_calls();
	if (ret < 0)
		fail("BPF_ENABLE_STATS", ret);

	if (!strcmp(what, "many")) {
		many(argv[2], argc > 3 ? atoi(argv[3]) : MAX);
	} else if (!strcmp(what, "hold")) {
		add_name("gcd");
		bpf_functions(found);
		hold(strcmp(argv[2], "fexit") ? BPF_TRACE_FENTRY : BPF_TRACE_FEXIT);
	} else if (!strcmp(what, "fault")) {
		add_name("get_timespec64");
		bpf_functions(found);
		fault(atoi(argv[2]));
	} else if (!strcmp(what, "loop") && argc > 4) {
		add_name(argv[3]);
		if (argc > 5)
			add_name(argv[5]);
		bpf_functions(found);
		loop(atoi(argv[2]), argv[4]);
	} else {
		return 2;
	}

	return 0;
}

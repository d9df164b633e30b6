// SPDX-License-Identifier: GPL-2.0
/*
 * Random system calls on the tracing files with random data. No write may select all
 * functions for a trigger: this would take minutes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stress.h"

enum { LONGEST = 70000 };

/* The data */

static const char * const patterns[] = {
	"vfs_read", "vfs_*", "mux_load_f0", "mux_load_f*", "mux_load_f[1-3]", "*load_f?",
	"mux*f[0-9]", "?ux_load_s0?", "sys_read", "sys_w*", "__x64_sys_read", "[", "]", "[]",
	"[!a", "f[9-0]", "\\", "mux_load_f0 ", "*no_such*", "0", "1", "12345", "-1", "0x7fffffff",
	"99999999999999999999", "#", "####", "[               trace] vfs_read", "vfs_*[", "*[!",
};

static const char * const commands[] = {
	"mod:ftrace_mux_load", "mod:no_such_module", "mod:", "mod:*_load", "mod:ftrace-direct",
	"traceon", "traceoff", "traceoff:1", "traceon:0", "traceoff:-1", "traceoff:x",
	"stacktrace:1", "snapshot:1", "enable_event:sched:sched_switch",
	"disable_event:sched:sched_switch:1", "enable_event:no:such", "enable_event", "no_such",
	"", ":", "::", "traceoff:18446744073709551616",
};

static const char * const names[] = {
	"trace", "*trace", " trace", "trace_profile", "trace_stack", "trace_graph", "kprobes",
	"perf", "bpf", "count_func", "count_func#1", "count_func#99999999999", "trace#1",
	"trace_trigger", "tra", "tracer", "trace\ttrace", "#", "", "0", "1", "2", "-1", " 1 ",
};

static size_t add(char *buf, size_t len, const char *s)
{
	size_t n = strlen(s);

	if (len + n > LONGEST)
		return len;
	memcpy(buf + len, s, n);

	return len + n;
}

static size_t words(struct rng *rng, char *buf)
{
	static const char * const ends[] = { "\n", " ", "\t", "", "\n\n", ",", "\r\n" };
	size_t len = 0;

	for (unsigned int n = 1 + pick(rng, one_in(rng, 20) ? 12 : 2); n; n--) {
		if (one_in(rng, 4)) {
			len = add(buf, len, PICK(rng, names));
		} else {
			if (one_in(rng, 5))
				len = add(buf, len, "!");
			len = add(buf, len, PICK(rng, patterns));
			if (one_in(rng, 4)) {
				len = add(buf, len, ":");
				len = add(buf, len, PICK(rng, commands));
			}
		}
		len = add(buf, len, PICK(rng, ends));
	}

	return len;
}

static size_t binary(struct rng *rng, char *buf)
{
	size_t len = pick(rng, one_in(rng, 8) ? LONGEST : 300);

	for (size_t i = 0; i < len; i++)
		buf[i] = rng_next(rng);

	return len;
}

static size_t run_of_one(struct rng *rng, char *buf)
{
	static const char chars[] = "t*?[!: \n\t\0\xff" "0";
	static const unsigned int lengths[] = {
		1, 63, 64, 127, 128, 511, 512, 513, 515, 516, 517, 1023, 1024, 4095, 4096, 4097,
		65535, LONGEST,
	};
	size_t len = PICK(rng, lengths);
	char c = chars[pick(rng, sizeof(chars) - 1)];

	/* These match all functions */
	if (careful && (c == '*' || c == '?'))
		c = 'x';
	memset(buf, c, len);
	if (one_in(rng, 2))
		buf[len - 1] = '\n';

	return len;
}

/*
 * Patterns that take long to compare and match no function. If only the start of one is
 * written, it matches most functions, and if @careful, few.
 */
static size_t bomb(struct rng *rng, char *buf)
{
	static const char * const parts[] = { "*_", "*?", "?*", "*e*", "[a-z]*", "*[!x]", "*" };
	static const char * const careful_parts[] = { "*_Q", "*Q*", "?Q*" };
	const char *part = careful ? PICK(rng, careful_parts) : PICK(rng, parts);
	size_t len = 0;

	for (unsigned int n = 1 + pick(rng, 120); n; n--)
		len = add(buf, len, part);

	return add(buf, len, one_in(rng, 2) ? "QzQ\n" : "QzQ");
}

static size_t with_nul(struct rng *rng, char *buf)
{
	size_t len = words(rng, buf);

	for (unsigned int n = 1 + pick(rng, 3); len && n; n--) {
		size_t i = pick(rng, len);

		/* A word that ends behind its first character: all functions */
		if (!careful || !i || buf[i - 1] != '*')
			buf[i] = '\0';
	}

	return len;
}

static size_t make_text(struct rng *rng, char *buf)
{
	switch (pick(rng, 10)) {
	case 0: return binary(rng, buf);
	case 1: return run_of_one(rng, buf);
	case 2: return bomb(rng, buf);
	case 3: return with_nul(rng, buf);
	default: return words(rng, buf);
	}
}

/* The system calls on an open file */

static void result(struct worker *w, ssize_t ret)
{
	(void)w;
	/* Count the error for the report */
	if (ret < 0 && errno < NR_ERRNO) {
		for (unsigned int i = 0; i < nr_kinds; i++) {
			if (kinds[i].act == act_fuzz)
				atomic_fetch_add(&shared->kind[i].errors[errno], 1);
		}
	}
}

static void count_write(struct worker *w, ssize_t ret)
{
	atomic_fetch_add(&shared->fuzz_writes, 1);
	if (ret > 0)
		atomic_fetch_add(&shared->fuzz_bytes, ret);
	result(w, ret);
}

/* Write @buf in pieces of a few bytes */
static void in_pieces(struct worker *w, struct rng *rng, int fd, const char *buf, size_t len)
{
	size_t n;

	if (len > 600)
		len = 600;
	for (size_t at = 0; at < len; at += n) {
		n = 1 + pick(rng, 9);
		if (n > len - at)
			n = len - at;
		count_write(w, write(fd, buf + at, n));
	}
}

static void with_two(struct worker *w, int fd, const char *buf, size_t len)
{
	struct iovec iov[] = {
		{ (void *)buf, len / 3 }, { (void *)(buf + len / 3), 0 },
		{ (void *)(buf + len / 3), len - len / 3 },
	};

	count_write(w, writev(fd, iov, ARRAY_SIZE(iov)));
}

/* The end of the text is in a page without access rights */
static void at_the_edge(struct worker *w, struct rng *rng, int fd, const char *buf, size_t len)
{
	size_t page = sysconf(_SC_PAGESIZE), n = len < page ? len : page;
	char *pages;

	pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return;
	mprotect(pages + page, page, PROT_NONE);
	memcpy(pages + page - n, buf, n);
	count_write(w, write(fd, pages + page - n, n + 1 + pick(rng, 5000)));
	munmap(pages, 2 * page);
}

/* Two processes write to the same open file */
static void by_two(struct worker *w, struct rng *rng, int fd, const char *buf, size_t len)
{
	struct rng other = *rng;
	pid_t pid;

	not_failing();
	pid = fork();
	if (pid < 0)
		return;
	if (!pid) {
		rng_next(&other);
		for (int i = 0; i < 4; i++) {
			count_write(w, pwrite(fd, buf, len, pick(&other, 100)));
			in_pieces(w, &other, fd, buf, len < 40 ? len : 40);
		}
		_exit(0);
	}
	for (int i = 0; i < 4; i++) {
		count_write(w, pwrite(fd, buf, len, pick(rng, 100)));
		in_pieces(w, rng, fd, buf, len < 40 ? len : 40);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void read_some(struct worker *w, struct rng *rng, int fd)
{
	static const unsigned int sizes[] = { 0, 1, 2, 3, 7, 21, 22, 23, 24, 100, 4095, 4096, 65536 };
	unsigned int size = PICK(rng, sizes);
	char buf[65536];

	for (unsigned int n = 1 + pick(rng, 20); n; n--) {
		ssize_t ret = read(fd, buf, size);

		atomic_fetch_add(&shared->fuzz_reads, 1);
		result(w, ret);
		if (ret <= 0)
			break;
	}
}

static const off_t offsets[] = {
	0, 1, -1, 21, 4096, 65536, 0x7fffffff, 0x7fffffffffffffff, -0x7fffffffffffffff - 1,
};

static void abuse(struct worker *w, struct rng *rng, int fd)
{
	off_t offset = PICK(rng, offsets);
	char c[8] = "";
	void *p;

	switch (pick(rng, 12)) {
	case 0: result(w, ftruncate(fd, offset)); break;
	case 1: result(w, fsync(fd)); break;
	case 2: result(w, ioctl(fd, pick(rng, 65536), c)); break;
	case 3: count_write(w, write(fd, (void *)1, 1 + pick(rng, 5000))); break;
	case 4: count_write(w, write(fd, c, 0)); break;
	case 5: result(w, read(fd, (void *)1, 1 + pick(rng, 5000))); break;
	case 6: result(w, sendfile(fd, fd, NULL, 100)); break;
	case 7: result(w, poll(&(struct pollfd){ .fd = fd, .events = POLLIN | POLLOUT }, 1, 0)); break;
	case 8: result(w, fchmod(fd, 0644)); break;
	case 9: result(w, posix_fallocate(fd, 0, 100)); break;
	case 10:
		p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
		if (p != MAP_FAILED)
			munmap(p, 4096);
		break;
	default:
		result(w, copy_file_range(fd, NULL, fd, NULL, 100, 0));
	}
}

static void use(struct worker *w, struct rng *rng, int fd)
{
	static const int whences[] = { SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE, 99 };
	static char buf[LONGEST];
	size_t len = make_text(rng, buf);

	switch (pick(rng, 16)) {
	case 0 ... 4: count_write(w, write(fd, buf, len)); break;
	case 5 ... 6: in_pieces(w, rng, fd, buf, len); break;
	case 7: count_write(w, pwrite(fd, buf, len, PICK(rng, offsets))); break;
	case 8: with_two(w, fd, buf, len); break;
	case 9: at_the_edge(w, rng, fd, buf, len); break;
	case 10: by_two(w, rng, fd, buf, len > 600 ? 600 : len); break;
	case 11 ... 12: read_some(w, rng, fd); break;
	case 13: result(w, lseek(fd, PICK(rng, offsets), PICK(rng, whences))); break;
	case 14: abuse(w, rng, fd); break;
	default:
		/* Write the text without the newline after its last word */
		while (len && (buf[len - 1] == '\n' || buf[len - 1] == ' '))
			len--;
		count_write(w, write(fd, buf, len));
	}
}

/* The files */

static const char * const files[] = {
	"set_ftrace_filter", "set_ftrace_filter", "set_ftrace_notrace", "function_tracers",
	"function_tracers", "enabled_functions", "function_tracers_info", "error_log",
	"function_tracers_stat", "/proc/sys/kernel/ftrace_mux",
};

static const char * const dirs[] = { "", "", "instances/s0/", "instances/s1/" };

static const int flags[] = {
	O_WRONLY, O_WRONLY | O_APPEND, O_WRONLY | O_APPEND, O_RDWR, O_RDWR | O_APPEND, O_RDONLY,
	O_WRONLY | O_TRUNC, O_RDWR | O_TRUNC, O_WRONLY | O_NONBLOCK, O_RDONLY | O_TRUNC,
	O_WRONLY | O_APPEND | O_TRUNC, O_PATH, O_WRONLY | O_DIRECT, O_WRONLY | O_CREAT | O_EXCL,
};

int act_fuzz(struct worker *w, struct rng *rng)
{
	const char *file = PICK(rng, files);
	const char *dir = PICK(rng, dirs);
	int flag = PICK(rng, flags);
	unsigned int n = 1 + pick(rng, 4);
	bool inject = one_in(rng, 4);
	char path[128];
	int fd, ret = 0;

	if (careful && !strncmp(file, "set_", 4))
		flag &= ~O_TRUNC;
	if (*file == '/')
		snprintf(path, sizeof(path), "%s", file);
	else
		snprintf(path, sizeof(path), TRACING "/%s%s", dir, file);
	say(w, "fuzz %s%s flags %#o, %u times%s", dir, file, flag, n, inject ? ", failing" : "");

	if (inject)
		fail_allocations(rng);
	fd = open(path, flag | O_CLOEXEC);
	if (fd < 0) {
		ret = -errno;
	} else {
		while (n--)
			use(w, rng, fd);
		close(fd);
	}
	stop_failing();

	/* An empty filter selects all functions: set it to the first function */
	if (!strncmp(file, "set_", 4) && (flag & O_ACCMODE) != O_RDONLY)
		put(path, "1\n");

	return ret;
}

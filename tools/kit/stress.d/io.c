// SPDX-License-Identifier: GPL-2.0
/*
 * Random numbers, reads and writes of the kernel's files, locks, and failing memory
 * allocations.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "stress.h"

/* splitmix64 */
uint64_t rng_next(struct rng *rng)
{
	uint64_t z = rng->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;

	return z ^ z >> 31;
}

void rng_seed(struct rng *rng, uint64_t seed, uint64_t worker, uint64_t n)
{
	rng->state = seed;
	rng->state = rng_next(rng) ^ worker;
	rng->state = rng_next(rng) ^ n;
}

unsigned int pick(struct rng *rng, unsigned int n)
{
	return rng_next(rng) % n;
}

bool one_in(struct rng *rng, unsigned int n)
{
	return !pick(rng, n);
}

static int put_flags(const char *file, int flags, const char *format, va_list args)
{
	char buf[1024];
	int fd, len, ret = 0;

	len = vsnprintf(buf, sizeof(buf), format, args);
	fd = open(file, O_WRONLY | O_CLOEXEC | flags);
	if (fd < 0)
		return -errno;

	if (write(fd, buf, len) < 0)
		ret = -errno;
	close(fd);

	return ret;
}

int put(const char *file, const char *format, ...)
{
	va_list args;
	int ret;

	va_start(args, format);
	ret = put_flags(file, O_TRUNC, format, args);
	va_end(args);

	return ret;
}

int append(const char *file, const char *format, ...)
{
	va_list args;
	int ret;

	va_start(args, format);
	ret = put_flags(file, O_APPEND, format, args);
	va_end(args);

	return ret;
}

int get(const char *file, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n = 0;
	int fd;

	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;

	while (len < size - 1 && (n = read(fd, buf + len, size - 1 - len)) > 0)
		len += n;
	if (n < 0)
		n = -errno;
	close(fd);
	buf[len] = '\0';

	return n < 0 ? n : (ssize_t)len;
}

void nap(unsigned int milliseconds)
{
	struct timespec ts = {
		.tv_sec = milliseconds / 1000,
		.tv_nsec = milliseconds % 1000 * 1000000L,
	};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static int counting_fd;

void hold_counting(bool exclusive)
{
	if (!counting_fd)
		counting_fd = open("/tmp/stress.counting", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	while (flock(counting_fd, exclusive ? LOCK_EX : LOCK_SH) && errno == EINTR)
		;
}

void release_counting(void)
{
	flock(counting_fd, LOCK_UN);
}

/*
 * Either the n-th allocation of this task fails (fail-nth), or each allocation fails with
 * the probability that the guest script sets (make-it-fail).
 */
static int nth_fd = -1, any_fd = -1;
static bool nth_set, any_set;

static void open_fail_files(void)
{
	static bool opened;

	if (opened)
		return;
	opened = true;
	nth_fd = open("/proc/self/fail-nth", O_RDWR | O_CLOEXEC);
	any_fd = open("/proc/self/make-it-fail", O_RDWR | O_CLOEXEC);
}

void fail_allocations(struct rng *rng)
{
	bool any = one_in(rng, 4);
	unsigned int nth = 1 + pick(rng, one_in(rng, 2) ? 8 : 60);
	char buf[16];

	open_fail_files();
	if (any && any_fd >= 0) {
		any_set = pwrite(any_fd, "1", 1, 0) == 1;
	} else if (nth_fd >= 0) {
		snprintf(buf, sizeof(buf), "%u", nth);
		nth_set = pwrite(nth_fd, buf, strlen(buf), 0) > 0;
	}
}

void not_failing(void)
{
	if (any_set)
		pwrite(any_fd, "0", 1, 0);
	if (nth_set)
		pwrite(nth_fd, "0", 1, 0);
	any_set = nth_set = false;
}

void stop_failing(void)
{
	char left[16] = "";

	if (any_set)
		pwrite(any_fd, "0", 1, 0);
	if (nth_set && pread(nth_fd, left, sizeof(left) - 1, 0) > 0) {
		if (left[0] == '0')
			atomic_fetch_add(&shared->injected, 1);
		pwrite(nth_fd, "0", 1, 0);
	}
	any_set = nth_set = false;
}

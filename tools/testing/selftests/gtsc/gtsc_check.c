// SPDX-License-Identifier: GPL-2.0
/*
 * Reads trace files of GTSC that gtsc_load.ko writes to, and checks each record:
 * none is torn, lost between two others of its writer without a gap in their
 * numbers, out of order or seen twice.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LOAD_MAGIC	0x67747363
#define NR_FILES	1024
#define MAX_CPUS	1024
#define NR_WHO		3
#define MAX_RECORD	131072

/* As in kernel/trace/gtsc/gtsc_load.c */
struct load_record {
	uint32_t magic;
	uint32_t len;
	uint16_t cpu;
	uint16_t who;
	uint32_t sum;
	uint64_t seq;
	uint8_t data[];
};

/* As in linux/gtsc.h */
struct header {
	uint64_t time;
	uint16_t type;
	uint16_t cpu;
	uint32_t len;
};

#define TYPE_RECORD	0
#define TYPE_LOST	1

struct file {
	const char *name;
	int fd;
	int pipe[2];
	bool ended;
	uint8_t *buf;
	size_t used;
	uint64_t time;
};

static struct file files[NR_FILES];
static unsigned int nr_files;
static uint64_t last_seq[MAX_CPUS][NR_WHO];
static uint64_t records, lost, bytes, errors, reads, wakeups;
static bool headers, follow, rewinds, use_splice;
static const char *memory;
static size_t read_size = 65536;
static unsigned int pause_us;
static int poll_ms = 1000;
static uint64_t max_records = UINT64_MAX;
static atomic_bool interrupted;

static void show_usage(void)
{
	fprintf(stderr,
		"usage: gtsc_check [-HRSf] [-b BYTES] [-m FILE] [-n RECORDS] [-p USEC] [-w MSEC] FILE...\n"
		"  -H  records have headers, in the order of time within a file\n"
		"  -R  the channel is rewound: records may come again\n"
		"  -f  wait for more, until SIGTERM or the end of the channel\n"
		"  -S  splice\n"
		"  -b  bytes that are read at once\n"
		"  -m  read into memory that is mapped from this file\n"
		"  -n  end after so many records\n"
		"  -p  pause after each read\n"
		"  -w  wait as long for records (1000; -1: as long as it takes)\n");
	exit(2);
}

static void error(struct file *f, const char *what, uint64_t a, uint64_t b)
{
	if (errors++ < 10)
		fprintf(stderr, "%s: record %llu: %s (%llu, %llu)\n", f->name,
			(unsigned long long)records, what, (unsigned long long)a,
			(unsigned long long)b);
}

static uint32_t sum_of(const struct load_record *r, const uint8_t *data)
{
	uint32_t sum = r->len ^ r->seq ^ r->cpu << 16 ^ r->who;

	for (size_t i = 0; i < r->len - sizeof(*r); i++)
		sum = sum * 31 + data[i];

	return sum;
}

static void check_payload(struct file *f, const struct load_record *r, const uint8_t *data)
{
	records++;
	if (r->sum != sum_of(r, data))
		error(f, "wrong checksum", r->seq, r->len);
	if (r->seq <= last_seq[r->cpu][r->who] && !rewinds)
		error(f, "out of order", last_seq[r->cpu][r->who], r->seq);
	last_seq[r->cpu][r->who] = r->seq;
}

static void check_header(struct file *f, const struct header *h, const struct load_record *r)
{
	if (h->len != r->len)
		error(f, "wrong length in the header", h->len, r->len);
	if (h->cpu != r->cpu)
		error(f, "wrong CPU in the header", h->cpu, r->cpu);
	if (h->time < f->time && !rewinds)
		error(f, "out of the order of time", f->time, h->time);
	f->time = h->time;
}

static void check_padding(struct file *f, const uint8_t *p, size_t len, size_t size)
{
	for (; len < size; len++) {
		if (p[len])
			error(f, "bytes behind a record", len, p[len]);
	}
}

/* Checks what is at @p; returns its length, 0 if it is not complete yet */
static size_t check_record(struct file *f, const uint8_t *p, size_t left)
{
	size_t before = headers ? sizeof(struct header) : 0, size;
	struct load_record r;
	struct header h;
	uint64_t nr;

	if (headers) {
		if (left < sizeof(h))
			return 0;
		memcpy(&h, p, sizeof(h));
		if (h.type == TYPE_LOST && h.len == sizeof(nr)) {
			if (left < sizeof(h) + sizeof(nr))
				return 0;
			memcpy(&nr, p + sizeof(h), sizeof(nr));
			lost += nr;
			return sizeof(h) + sizeof(nr);
		}
		if (h.type != TYPE_RECORD)
			error(f, "not a type", h.type, h.len);
	}

	if (left < before + sizeof(r))
		return 0;
	memcpy(&r, p + before, sizeof(r));
	if (r.magic != LOAD_MAGIC || r.len < sizeof(r) || r.len > MAX_RECORD ||
	    r.cpu >= MAX_CPUS || r.who >= NR_WHO) {
		error(f, "not a record", r.magic, r.len);
		return left;
	}
	size = headers ? (before + r.len + 7) / 8 * 8 : r.len;
	if (left < size)
		return 0;

	check_payload(f, &r, p + before + sizeof(r));
	if (headers) {
		check_header(f, &h, &r);
		check_padding(f, p, before + r.len, size);
	}

	return size;
}

static void check_all(struct file *f)
{
	size_t pos = 0, n;

	while (pos < f->used && records < max_records &&
	       (n = check_record(f, f->buf + pos, f->used - pos)))
		pos += n;
	f->used -= pos;
	memmove(f->buf, f->buf + pos, f->used);
}

static ssize_t get(struct file *f)
{
	size_t size = read_size;
	ssize_t n;

	if (!use_splice)
		return read(f->fd, f->buf + f->used, size);

	n = splice(f->fd, NULL, f->pipe[1], NULL, size, 0);
	if (n <= 0)
		return n;

	return read(f->pipe[0], f->buf + f->used, n);
}

/* Returns whether there was something */
static bool read_file(struct file *f)
{
	ssize_t n;

	n = get(f);

	if (n < 0) {
		if (errno != EINTR)
			error(f, strerror(errno), errno, 0);
		f->ended = errno != EINTR;
		return false;
	}
	reads++;
	bytes += n;
	f->used += n;
	check_all(f);

	return n > 0;
}

static bool read_all(void)
{
	bool some = false;

	for (unsigned int i = 0; i < nr_files; i++) {
		if (!files[i].ended && records < max_records)
			some |= read_file(&files[i]);
	}
	if (pause_us)
		usleep(pause_us);

	return some;
}

/* Returns false when there is nothing to wait for */
static bool wait_for_more(void)
{
	struct pollfd fds[NR_FILES];
	bool open = false;

	for (unsigned int i = 0; i < nr_files; i++) {
		fds[i].fd = files[i].ended ? -1 : files[i].fd;
		fds[i].events = POLLIN;
	}
	if (poll(fds, nr_files, poll_ms) < 0 && errno != EINTR)
		return false;
	wakeups++;

	for (unsigned int i = 0; i < nr_files; i++) {
		if ((fds[i].revents & (POLLHUP | POLLIN)) == POLLHUP)
			files[i].ended = true;
		open |= !files[i].ended;
	}

	return open;
}

static void *get_memory(size_t size)
{
	void *p;
	int fd;

	if (!memory)
		return malloc(size);

	fd = open(memory, O_RDWR);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);

	return p == MAP_FAILED ? NULL : p;
}

static void open_file(const char *name)
{
	struct file *f = &files[nr_files++];

	f->name = name;
	f->fd = open(name, O_RDONLY);
	f->buf = get_memory(MAX_RECORD * 2 + read_size);
	if (f->fd < 0 || !f->buf || (use_splice && pipe(f->pipe))) {
		perror(name);
		exit(2);
	}
}

/* The least of the last numbers of all writers */
static uint64_t least_last(void)
{
	uint64_t least = UINT64_MAX;

	for (int cpu = 0; cpu < MAX_CPUS; cpu++) {
		for (int who = 0; who < NR_WHO; who++) {
			if (last_seq[cpu][who] && last_seq[cpu][who] < least)
				least = last_seq[cpu][who];
		}
	}

	return least;
}

static void stop(int sig)
{
	interrupted = 1;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = stop };
	int opt;

	while ((opt = getopt(argc, argv, "HRSfb:m:n:p:w:")) != -1) {
		switch (opt) {
		case 'H':
			headers = true;
			break;
		case 'R':
			rewinds = true;
			break;
		case 'f':
			follow = true;
			break;
		case 'S':
			use_splice = true;
			break;
		case 'b':
			read_size = strtoul(optarg, NULL, 0);
			break;
		case 'm':
			memory = optarg;
			break;
		case 'p':
			pause_us = strtoul(optarg, NULL, 0);
			break;
		case 'n':
			max_records = strtoull(optarg, NULL, 0);
			break;
		case 'w':
			poll_ms = atoi(optarg);
			break;
		default:
			show_usage();
		}
	}
	if (optind == argc || argc - optind > NR_FILES)
		show_usage();

	while (optind < argc)
		open_file(argv[optind++]);
	sigaction(SIGTERM, &sa, NULL);

	while (records < max_records) {
		/* After SIGTERM, all that was there at that time is read */
		bool last = interrupted;

		if (read_all())
			continue;
		if (!follow || last || !wait_for_more())
			break;
	}

	for (unsigned int i = 0; i < nr_files; i++) {
		if (files[i].used && max_records == UINT64_MAX)
			error(&files[i], "a part of a record at the end", files[i].used, 0);
	}

	printf("records %llu bytes %llu reads %llu wakeups %llu errors %llu last %llu lost %llu\n",
	       (unsigned long long)records, (unsigned long long)bytes,
	       (unsigned long long)reads, (unsigned long long)wakeups,
	       (unsigned long long)errors, (unsigned long long)least_last(),
	       (unsigned long long)lost);

	return !!errors;
}

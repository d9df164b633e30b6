// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc, the buffer layer: a thread for each trace file reads records and stores them.
 * At the end of the recording it reads all records that were written before.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gtsc.h"

/* Room for the largest record, and for many small ones at a time */
#define READ_SIZE	(256 * 1024)
#define POLL_MS		200
#define MAX_FILES	1024

struct reader {
	pthread_t		thread;
	struct channel		*ch;
	unsigned int		channel;
	unsigned int		number;		/* of the trace file */
	int			fd;
	struct writer		*writer;
	atomic_ullong		records;
	atomic_ullong		bytes;
	atomic_bool		ended;
	int			error;
};

static struct reader readers[MAX_FILES];
static unsigned int nr_readers;
static atomic_bool ending, failed;
static atomic_bool interrupted;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);

	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/*
 * How many records there are in @len bytes, all of which are whole ones; @time is
 * that of the last one.
 */
static uint64_t count_records(const uint8_t *p, size_t len, uint64_t *time)
{
	struct gtsc_record_header h;
	uint64_t nr = 0;

	while (len >= sizeof(h)) {
		memcpy(&h, p, sizeof(h));
		if (h.len > len - sizeof(h))
			break;
		p += sizeof(h) + h.len;
		len -= sizeof(h) + h.len;
		*time = h.time;
		nr++;
	}

	return nr;
}

/*
 * A channel that was running before may never be empty. If its records have no header,
 * and so no time, read for one more second.
 */
static bool endless(const struct reader *r, uint64_t end)
{
	return !r->ch->started && !r->ch->headers && now_ns() - end > 1000000000;
}

static void *read_thread(void *data)
{
	struct reader *r = data;
	struct pollfd pfd = { .fd = r->fd, .events = POLLIN };
	uint8_t *buf = malloc(READ_SIZE);
	uint64_t end = 0, time = 0;
	bool last;
	ssize_t n;

	if (!buf)
		r->error = -ENOMEM;

	while (buf) {
		/* Records that were committed before @ending was set are there now */
		last = atomic_load(&ending);
		if (last && !end)
			end = now_ns();
		if (last && endless(r, end))
			break;

		n = read(r->fd, buf, READ_SIZE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			r->error = -errno;
			break;
		}
		if (n > 0) {
			r->error = store_write(r->writer, CHUNK_DATA, r->channel, r->number,
					       buf, n);
			if (r->error)
				break;
			atomic_fetch_add(&r->bytes, n);
			if (r->ch->headers)
				atomic_fetch_add(&r->records, count_records(buf, n, &time));
			if (last && !r->ch->started && r->ch->headers && time > end)
				break;
			continue;
		}
		if (last)
			break;
		poll(&pfd, 1, POLL_MS);
		/* The channel has gone, and has been read to its end */
		if ((pfd.revents & (POLLHUP | POLLIN)) == POLLHUP)
			break;
	}
	free(buf);
	if (r->error)
		atomic_store(&failed, true);
	atomic_store(&r->ended, true);

	return NULL;
}

static int add_reader(struct channel *ch, unsigned int channel, const char *name,
		      struct writer *writer)
{
	struct reader *r = &readers[nr_readers];
	char path[MAX_PATH + 300];
	int ret;

	if (nr_readers == MAX_FILES)
		return -E2BIG;

	snprintf(path, sizeof(path), "%s/%s", ch->path, name);
	r->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (r->fd < 0)
		return -errno;
	r->ch = ch;
	r->channel = channel;
	r->number = strtoul(name + strlen("trace"), NULL, 10);
	r->writer = writer;
	ret = -pthread_create(&r->thread, NULL, read_thread, r);
	if (ret)
		close(r->fd);
	else
		nr_readers++;

	return ret;
}

static bool has_reader(unsigned int channel, unsigned int number)
{
	for (unsigned int i = 0; i < nr_readers; i++) {
		if (readers[i].channel == channel && readers[i].number == number)
			return true;
	}

	return false;
}

/* For new files only: a CPU may have come since the last time */
static int start_readers(struct channel *ch, unsigned int channel, struct writer *writer)
{
	struct dirent *entry;
	unsigned int number;
	int ret = 0;
	char end;
	DIR *d;

	d = opendir(ch->path);
	while (d && !ret && (entry = readdir(d))) {
		if (sscanf(entry->d_name, "trace%u%c", &number, &end) != 1 ||
		    has_reader(channel, number))
			continue;
		ret = add_reader(ch, channel, entry->d_name, writer);
	}
	if (d)
		closedir(d);

	return ret;
}

/* All channels have gone, and have been read to their ends */
static bool all_ended(void)
{
	for (unsigned int i = 0; i < nr_readers; i++) {
		if (!atomic_load(&readers[i].ended))
			return false;
	}

	return true;
}

static void on_signal(int sig)
{
	interrupted = 1;
}

struct totals {
	unsigned long long records, bytes, dropped, overwritten;
	bool unknown;	/* a channel has gone, and may have dropped more */
};

static void add_up(struct channel *channels, unsigned int nr, const struct totals *before,
		   struct totals *now)
{
	struct stats stats;
	struct channel *ch;

	*now = (struct totals){ 0 };
	for (unsigned int i = 0; i < nr_readers; i++) {
		now->records += atomic_load(&readers[i].records);
		now->bytes += atomic_load(&readers[i].bytes);
	}
	for (ch = channels; ch < channels + nr; ch++) {
		/* A channel that is set up anew under its name is another one */
		if (!ch->gone)
			ch->gone = get_stats(ch, &stats);
		if (!ch->gone)
			ch->stats = stats;
		now->unknown |= ch->gone;
		now->dropped += ch->stats.full + ch->stats.too_big + ch->stats.nested;
		now->overwritten += ch->stats.overwritten;
	}
	if (before) {
		now->dropped -= before->dropped < now->dropped ? before->dropped : now->dropped;
		now->overwritten -= before->overwritten < now->overwritten ?
				    before->overwritten : now->overwritten;
	}
}

static void show(const struct totals *t, double seconds, double rate, const char *end)
{
	const char *least = t->unknown ? " at least" : "";

	fprintf(stderr, "%8.1f s %12llu records %10.0f/s %10.1f KiB", seconds, t->records,
		rate, t->bytes / 1024.0);
	fprintf(stderr, "%s %8llu dropped%s %8llu overwritten%s", least, t->dropped, least,
		t->overwritten, end);
}

static int start_channels(struct channel *channels, unsigned int nr)
{
	char state[32];
	int ret;

	for (unsigned int i = 0; i < nr; i++) {
		ret = get_state(&channels[i], state, sizeof(state));
		if (!ret && strcmp(state, "running")) {
			ret = set_state(&channels[i], "running");
			channels[i].started = !ret;
		}
		if (ret) {
			complain("%s: cannot start it: %s", channels[i].name, strerror(-ret));
			return ret;
		}
	}

	return 0;
}

/* Stop the channels that start_channels() has started */
static void stop_channels(struct channel *channels, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (channels[i].started)
			set_state(&channels[i], "stopped");
	}
}

static int write_channels(struct channel *channels, unsigned int nr, struct writer *writer)
{
	int ret = 0;

	for (unsigned int i = 0; i < nr && !ret; i++) {
		struct store_channel sc = { .flags = channels[i].headers ? STORE_HEADERS : 0 };

		memcpy(sc.name, channels[i].name, sizeof(sc.name));
		ret = store_write(writer, CHUNK_CHANNEL, i, 0, &sc, sizeof(sc));
	}

	return ret;
}

static void wait_and_show(struct channel *channels, unsigned int nr, struct writer *writer,
			  const struct totals *before, const struct record_options *options)
{
	uint64_t start = now_ns(), last = start, now;
	struct totals t = { 0 };
	unsigned long long shown = 0;

	while (!interrupted && !atomic_load(&failed) && !all_ended()) {
		usleep(100000);
		now = now_ns();
		if (options->seconds && (now - start) / 1e9 >= options->seconds)
			break;
		if (now - last < 1000000000)
			continue;
		for (unsigned int i = 0; i < nr; i++)
			start_readers(&channels[i], i, writer);
		add_up(channels, nr, before, &t);
		if (!options->quiet)
			show(&t, (now - start) / 1e9,
			     (t.records - shown) / ((now - last) / 1e9),
			     isatty(STDERR_FILENO) ? "\r" : "\n");
		shown = t.records;
		last = now;
	}
}

/**
 * record - store the records of channels
 * @channels: the channels; those that are not running are started, and stopped
 *	again at the end
 * @nr: their number
 * @options: where to, and how long: until SIGINT or SIGTERM if @seconds is 0
 *
 * Also ends when all channels have gone.
 *
 * Return: 0, or a negative errno after a message.
 */
int record(struct channel *channels, unsigned int nr, const struct record_options *options)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct writer *writer = store_create(options->output);
	struct totals before, all;
	uint64_t start = now_ns();
	int ret, error = 0;

	if (!writer) {
		ret = -errno;
		complain("%s: %s", options->output, strerror(-ret));
		return ret;
	}

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	add_up(channels, nr, NULL, &before);

	ret = write_channels(channels, nr, writer);
	for (unsigned int i = 0; i < nr && !ret; i++) {
		ret = start_readers(&channels[i], i, writer);
		if (ret)
			complain("%s: %s", channels[i].name, strerror(-ret));
	}
	if (!ret)
		ret = start_channels(channels, nr);
	if (!ret)
		wait_and_show(channels, nr, writer, &before, options);

	stop_channels(channels, nr);
	atomic_store(&ending, true);
	for (unsigned int i = 0; i < nr_readers; i++) {
		pthread_join(readers[i].thread, NULL);
		if (readers[i].error) {
			error = readers[i].error;
			complain("%s/trace%u: %s", readers[i].ch->name, readers[i].number,
				 strerror(-error));
		}
	}

	add_up(channels, nr, &before, &all);
	for (unsigned int i = 0; i < nr; i++) {
		if (channels[i].gone)
			complain("%s: has gone; it may have dropped more than was seen",
				 channels[i].name);
	}
	error = store_close(writer) ?: error;
	if (error)
		complain("%s: %s", options->output, strerror(-error));
	show(&all, (now_ns() - start) / 1e9, all.records / ((now_ns() - start) / 1e9), "\n");

	return ret ?: error;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc, the buffer layer: a thread for each trace file reads records and writes them into
 * a trace. At the end of the recording it reads all records that were written before.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctf.h"

#define POLL_MS		200
#define MAX_FILES	1024

struct reader {
	pthread_t		thread;
	struct channel		*ch;
	unsigned int		channel;
	unsigned int		number;		/* of the trace file */
	struct input		in;
	struct ctf_stream	out;
	atomic_ullong		bytes;
	atomic_bool		ended;
	int			error;
};

static struct reader readers[MAX_FILES];
static unsigned int nr_readers;
static struct ctf *trace;
static atomic_bool ending, failed;

/* Returns the bytes that were read, 0 if there was nothing, or a negative errno */
static ssize_t copy(struct reader *r)
{
	ssize_t n = input_read(&r->in), written;

	if (n <= 0)
		return n;
	atomic_fetch_add_explicit(&r->bytes, n, memory_order_relaxed);
	written = ctf_write(&r->out, r->in.buf, r->in.have);
	if (written < 0)
		return written;
	r->in.used = written;

	return n;
}

/* Until there is something to read; false if the channel has gone, and was read to its end */
static bool wait_for_records(struct reader *r)
{
	struct pollfd pfd = { .fd = r->in.fd, .events = POLLIN };

	poll(&pfd, 1, POLL_MS);
	/* The end of a plain file is always ready */
	if (pfd.revents & POLLIN)
		usleep(1000);

	return (pfd.revents & (POLLHUP | POLLIN)) != POLLHUP;
}

static void *read_thread(void *data)
{
	struct reader *r = data;
	uint64_t end = 0;
	bool last;
	ssize_t n;

	for (;;) {
		/* Records that were committed before @ending was set are there now */
		last = atomic_load(&ending);
		if (last && !end)
			end = now_ns();
		n = copy(r);
		if (n < 0)
			break;
		/* A channel that was running before may never be empty */
		if (n && last && !r->ch->started && r->out.packet.timestamp_end > end)
			break;
		if (n)
			continue;
		if (last || !wait_for_records(r))
			break;
	}
	/* A plain file can end with a part of a record, and so can a defective kernel's */
	if (!n && r->in.have > r->in.used)
		n = -EBADMSG;
	r->error = n < 0 ? n : 0;
	if (r->error)
		atomic_store(&failed, true);
	atomic_store(&r->ended, true);

	return NULL;
}

/* When the recording began: set before there are readers */
static uint64_t started;

static int add_reader(struct channel *ch, unsigned int channel, unsigned int number)
{
	struct reader *r = &readers[nr_readers];
	int ret;

	if (nr_readers == MAX_FILES)
		return complain_of(ch->name, -E2BIG);

	ret = input_open(&r->in, ch, number);
	if (ret)
		return ret;
	r->ch = ch;
	r->channel = channel;
	r->number = number;
	ret = ctf_open_stream(trace, &r->out, ch, channel, number, started);
	if (!ret)
		ret = -pthread_create(&r->thread, NULL, read_thread, r);
	if (ret) {
		input_close(&r->in);
		return complain_of(ch->name, ret);
	}
	nr_readers++;

	return 0;
}

static bool has_reader(unsigned int channel, unsigned int number)
{
	for (unsigned int i = 0; i < nr_readers; i++) {
		if (readers[i].channel == channel && readers[i].number == number)
			return true;
	}

	return false;
}

struct place {
	struct channel	*ch;
	unsigned int	channel;
};

static int add_new_reader(unsigned int number, void *data)
{
	struct place *place = data;

	return has_reader(place->channel, number) ? 0 :
	       add_reader(place->ch, place->channel, number);
}

/* For new files only: a CPU may have come since the last time */
static int start_readers(struct channel *channels, unsigned int nr)
{
	int ret = 0;

	for (unsigned int i = 0; i < nr && !ret; i++) {
		struct place place = { &channels[i], i };

		ret = for_trace_files(&channels[i], add_new_reader, &place);
	}

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

struct totals {
	unsigned long long records, bytes, dropped, overwritten;
	bool unknown;	/* a channel has gone, and may have dropped more */
};

/* How many more than when the recording began */
static unsigned long long since(unsigned long long before, unsigned long long now)
{
	return now > before ? now - before : 0;
}

static unsigned long long all_dropped(const struct stats *s)
{
	return s->full + s->too_big + s->nested;
}

static void add_up(struct channel *channels, unsigned int nr, struct totals *now)
{
	struct stats stats;
	struct channel *ch;

	*now = (struct totals){ 0 };
	for (unsigned int i = 0; i < nr_readers; i++) {
		now->records += atomic_load(&readers[i].out.records);
		now->bytes += atomic_load(&readers[i].bytes);
	}
	for (ch = channels; ch < channels + nr; ch++) {
		/* A channel that is set up anew under its name is another one */
		if (!ch->gone)
			ch->gone = get_stats(ch, &stats);
		if (!ch->gone)
			ch->stats = stats;
		now->unknown |= ch->gone;
		now->dropped += since(all_dropped(&ch->before), all_dropped(&ch->stats));
		now->overwritten += since(ch->before.overwritten, ch->stats.overwritten);
	}
}

/*
 * What the counters of a channel say beyond what its LOST records did: their place is not
 * known.
 */
static unsigned long long lost_elsewhere(const struct channel *ch, unsigned int channel)
{
	unsigned long long lost = 0;

	if (ch->gone)
		return 0;
	for (unsigned int i = 0; i < nr_readers; i++) {
		if (readers[i].channel == channel)
			lost += atomic_load(&readers[i].out.lost);
	}

	return since(lost, since(all_dropped(&ch->before), all_dropped(&ch->stats)) +
			   since(ch->before.overwritten, ch->stats.overwritten));
}

/* Whether it has the lowest number of those of its channel */
static bool is_first(const struct reader *r)
{
	for (unsigned int i = 0; i < nr_readers; i++) {
		if (readers[i].channel == r->channel && readers[i].number < r->number)
			return false;
	}

	return true;
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
		if (ret)
			return complain_of(channels[i].name, ret);
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

static void wait_and_show(struct channel *channels, unsigned int nr,
			  const struct record_options *options)
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
		start_readers(channels, nr);
		add_up(channels, nr, &t);
		if (!options->quiet)
			show(&t, (now - start) / 1e9,
			     (t.records - shown) / ((now - last) / 1e9),
			     isatty(STDERR_FILENO) ? "\r" : "\n");
		shown = t.records;
		last = now;
	}
}

/* Returns the error of any of them */
static int end_readers(void)
{
	int error = 0;

	for (unsigned int i = 0; i < nr_readers; i++) {
		struct reader *r = &readers[i];

		pthread_join(r->thread, NULL);
		if (!r->error)
			continue;
		error = r->error;
		complain("%s/trace%u: %s", r->ch->name, r->number, strerror(-error));
	}

	return error;
}

/* After the counters of the channels were read for the last time */
static int close_streams(const struct channel *channels)
{
	int error = 0, ret;

	for (unsigned int i = 0; i < nr_readers; i++) {
		struct reader *r = &readers[i];
		const struct channel *ch = &channels[r->channel];

		ret = ctf_close_stream(&r->out, is_first(r) ? lost_elsewhere(ch, r->channel) : 0);
		/* That there is no more room was said already */
		if (ret && !r->error)
			error = complain_of(ch->name, ret);
		input_close(&r->in);
	}

	return error;
}

/**
 * record - record channels into a trace
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
	uint64_t start = now_ns();
	struct totals all;
	int ret, error;

	started = start;
	/* Before the directory is touched */
	for (unsigned int i = 0; i < nr; i++) {
		ret = get_stats(&channels[i], &channels[i].before);
		if (ret)
			return complain_of(channels[i].name, ret);
	}
	trace = ctf_create(options->output, channels, nr, options->ctf2);
	if (!trace)
		return -EIO;

	catch_signals();
	ret = start_readers(channels, nr);
	if (!ret && !options->held)
		ret = start_channels(channels, nr);
	if (!ret && !options->held)
		wait_and_show(channels, nr, options);

	stop_channels(channels, nr);
	atomic_store(&ending, true);
	error = end_readers();
	add_up(channels, nr, &all);
	for (unsigned int i = 0; i < nr; i++) {
		if (channels[i].gone)
			complain("%s: has gone; it may have dropped more than was seen",
				 channels[i].name);
	}
	error = close_streams(channels) ?: error;
	ctf_close(trace);
	if (!ret)
		show(&all, (now_ns() - start) / 1e9, all.records / ((now_ns() - start) / 1e9),
		     "\n");

	return ret ?: error;
}

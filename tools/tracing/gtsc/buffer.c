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
/* There may be thousands of threads: they need little of it */
#define STACK_SIZE	(256 * 1024)

struct reader {
	struct reader		*next;		/* of the same channel */
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

static struct reader **readers;
static unsigned int nr_readers;
static struct reader **of_channel;	/* the readers of each channel */
static struct ctf *trace;
static atomic_bool ending, failed;
/* Held until all files are open: before that, nothing is read */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static bool given_up;
/* When the recording began: set before there are readers */
static uint64_t started;

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
	ssize_t n = 0;
	bool last, end_now;

	pthread_mutex_lock(&gate);
	end_now = given_up;
	pthread_mutex_unlock(&gate);
	while (!end_now) {
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

static int start_thread(struct reader *r)
{
	pthread_attr_t attr;
	int ret;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	ret = -pthread_create(&r->thread, &attr, read_thread, r);
	pthread_attr_destroy(&attr);
	if (ret)
		complain("%s/trace%u: no thread can be started: %s", r->ch->name, r->number,
			 strerror(-ret));

	return ret;
}

/* Returns 0, or a negative errno after a message */
static int open_reader(struct reader *r)
{
	int ret;

	ret = input_open(&r->in, r->ch, r->number);
	if (ret)
		return ret;
	ret = complain_of(r->ch->name, ctf_open_stream(trace, &r->out, r->ch, r->channel,
						       r->number, started));
	if (!ret) {
		ret = start_thread(r);
		if (ret)
			ctf_close_stream(&r->out, 0);
	}
	if (ret)
		input_close(&r->in);

	return ret;
}

static int add_reader(struct channel *ch, unsigned int channel, unsigned int number)
{
	struct reader *r = must(calloc(1, sizeof(*r)));
	int ret;

	r->ch = ch;
	r->channel = channel;
	r->number = number;
	ret = open_reader(r);
	if (ret) {
		free(r);
		return ret;
	}
	readers = must(realloc(readers, (nr_readers + 1) * sizeof(*readers)));
	readers[nr_readers++] = r;
	r->next = of_channel[channel];
	of_channel[channel] = r;

	return 0;
}

static bool has_reader(unsigned int channel, unsigned int number)
{
	for (struct reader *r = of_channel[channel]; r; r = r->next) {
		if (r->number == number)
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

/* The threads read, or end if @begin is false */
static void open_gate(bool begin)
{
	given_up = !begin;
	pthread_mutex_unlock(&gate);
}

/* All channels have gone, and have been read to their ends */
static bool all_ended(void)
{
	for (unsigned int i = 0; i < nr_readers; i++) {
		if (!atomic_load(&readers[i]->ended))
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

static unsigned long long all_lost(const struct stats *s)
{
	return all_dropped(s) + s->overwritten;
}

static void add_readers(struct totals *now)
{
	for (unsigned int i = 0; i < nr_readers; i++) {
		now->records += atomic_load(&readers[i]->out.records);
		now->bytes += atomic_load(&readers[i]->bytes);
	}
}

static void add_channels(struct channel *channels, unsigned int nr, struct totals *now)
{
	struct stats stats;
	struct channel *ch;

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
 * known. The kernel tells of a lost record before the next one that it writes. If nobody has
 * read the channel before, all that was lost before the recording belongs to it, too;
 * else, how much of that has been told is not known.
 */
static unsigned long long lost_elsewhere(const struct channel *ch, unsigned int channel)
{
	unsigned long long lost = 0, lost_since = 0;

	for (struct reader *r = of_channel[channel]; r; r = r->next) {
		lost += r->out.lost;
		lost_since += r->out.lost_since;
	}
	if (!ch->before.read)
		return since(lost, all_lost(&ch->stats));

	return since(lost_since, since(all_lost(&ch->before), all_lost(&ch->stats)));
}

/* Whether it has the lowest number of those of its channel */
static bool is_first(const struct reader *reader)
{
	for (struct reader *r = of_channel[reader->channel]; r; r = r->next) {
		if (r->number < reader->number)
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

/*
 * Until a signal, an error, or the end. A file that cannot be opened is an error, but the
 * others are read on.
 */
static int wait_and_show(struct channel *channels, unsigned int nr,
			 const struct record_options *options)
{
	uint64_t start = now_ns(), last = start, now;
	unsigned long long shown = 0;
	int ret = 0;

	while (!interrupted && !atomic_load(&failed) && !all_ended()) {
		struct totals t = { 0 };

		usleep(100000);
		now = now_ns();
		if (options->seconds && (now - start) / 1e9 >= options->seconds)
			break;
		if (now - last < 1000000000)
			continue;
		if (!ret)
			ret = start_readers(channels, nr);
		add_readers(&t);
		add_channels(channels, nr, &t);
		if (!options->quiet)
			show(&t, (now - start) / 1e9,
			     (t.records - shown) / ((now - last) / 1e9),
			     isatty(STDERR_FILENO) ? "\r" : "\n");
		shown = t.records;
		last = now;
	}

	return ret;
}

/* Returns the error of any of them */
static int end_readers(void)
{
	int error = 0;

	atomic_store(&ending, true);
	for (unsigned int i = 0; i < nr_readers; i++) {
		struct reader *r = readers[i];

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
	unsigned long long unwritten = 0;
	int error = 0, ret;

	for (unsigned int i = 0; i < nr_readers; i++) {
		struct reader *r = readers[i];
		const struct channel *ch = &channels[r->channel];

		ret = ctf_close_stream(&r->out, is_first(r) ? lost_elsewhere(ch, r->channel) : 0);
		unwritten += r->out.unwritten;
		/* That there is no more room was said already */
		if (ret && !r->error)
			error = complain_of(ch->name, ret);
		input_close(&r->in);
	}
	if (unwritten)
		complain("%llu records were read, and could not be written", unwritten);

	return error;
}

static void complain_of_gone(const struct channel *channels, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (channels[i].gone)
			complain("%s: has gone; it may have dropped more than was seen",
				 channels[i].name);
	}
}

/* Nothing was read: an old trace stays, and what channels hold stays in them */
static void give_up(struct channel *channels, unsigned int nr)
{
	open_gate(false);
	stop_channels(channels, nr);
	for (unsigned int i = 0; i < nr_readers; i++) {
		pthread_join(readers[i]->thread, NULL);
		ctf_close_stream(&readers[i]->out, 0);
		input_close(&readers[i]->in);
	}
	ctf_close(trace);
}

/* Open all files, and only then start what has to be started, and replace an old trace */
static int begin(struct channel *channels, unsigned int nr, const struct record_options *options)
{
	int ret;

	started = now_ns();
	for (unsigned int i = 0; i < nr; i++) {
		ret = get_stats(&channels[i], &channels[i].before);
		if (ret)
			return complain_of(channels[i].name, ret);
	}
	catch_signals();
	trace = ctf_create(options->output, channels, nr, options->ctf2);
	if (!trace)
		return -EIO;

	of_channel = must(calloc(nr, sizeof(*of_channel)));
	pthread_mutex_lock(&gate);
	ret = start_readers(channels, nr);
	if (!ret && !options->held)
		ret = start_channels(channels, nr);
	if (!ret)
		ret = ctf_publish(trace);
	if (ret)
		give_up(channels, nr);
	else
		open_gate(true);

	return ret;
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
	struct totals all = { 0 };
	double seconds;
	int ret;

	ret = begin(channels, nr, options);
	if (ret)
		return ret;

	if (!options->held)
		ret = wait_and_show(channels, nr, options);
	stop_channels(channels, nr);
	ret = end_readers() ?: ret;
	add_channels(channels, nr, &all);
	complain_of_gone(channels, nr);
	ret = close_streams(channels) ?: ret;
	add_readers(&all);
	if (options->kallsyms)
		ret = ctf_save_kallsyms(trace) ?: ret;
	ctf_close(trace);
	seconds = (now_ns() - started) / 1e9;
	show(&all, seconds, all.records / seconds, "\n");

	return ret;
}

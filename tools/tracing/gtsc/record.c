// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: records channels: opens their buffer files, lets threads.c copy these into a trace, shows
 * how many records there are, and ends the recording.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "map.h"
#include "threads.h"

static struct reader **readers;
static unsigned int nr_readers;
static struct map by_file;		/* a reader's number in @readers, by file_key() */
static struct reader **of_channel;	/* the readers of each channel */
static struct threads *threads;
static struct ctf *trace;
/* When the recording began; set before there are readers */
static uint64_t begin_time;

/* Returns 0, or a negative errno after a message */
static int open_reader(struct reader *r)
{
	int ret;

	ret = input_open(&r->in, r->ch, r->number);
	if (ret)
		return ret;
	ret = complain_of(r->ch->name, ctf_open_stream(trace, &r->out, r->ch, r->index,
						       r->number, begin_time));
	if (!ret) {
		ret = threads_add(threads, r);
		if (ret)
			ctf_close_stream(&r->out, 0);
	}
	if (ret)
		input_close(&r->in);

	return ret;
}

/* Returns 0, or a negative errno after a message */
static int add_reader(struct channel *ch, unsigned int index, unsigned int number)
{
	struct reader *r = must(calloc(1, sizeof(*r)));
	int ret;

	r->ch = ch;
	r->index = index;
	r->number = number;
	ret = open_reader(r);
	if (ret) {
		free(r);
		return ret;
	}
	readers = must(realloc(readers, (nr_readers + 1) * sizeof(*readers)));
	map_add(&by_file, file_key(index, number), nr_readers);
	readers[nr_readers++] = r;
	r->next_of_channel = of_channel[index];
	of_channel[index] = r;

	return 0;
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

static unsigned long long all_lost(const struct stats *s)
{
	return all_dropped(s) + s->overwritten;
}

/* Adds what the readers have read to @now */
static void sum_readers(struct totals *now)
{
	for (unsigned int i = 0; i < nr_readers; i++) {
		now->records += atomic_load(&readers[i]->out.records);
		now->bytes += atomic_load(&readers[i]->bytes);
	}
}

/*
 * Whether a channel has ended, which any of its files tells. If it is set up anew under its name,
 * that is another one.
 */
static bool has_gone(unsigned int index)
{
	const struct reader *r = of_channel[index];
	struct pollfd p = { .fd = r ? r->in.fd : -1 };

	return poll(&p, 1, 0) == 1 && (p.revents & POLLHUP);
}

/* Reads the counters of the channels, of those that have not gone */
static void update_stats(struct channel *channels, unsigned int nr)
{
	struct stats stats;

	for (unsigned int i = 0; i < nr; i++) {
		struct channel *ch = &channels[i];

		if (!ch->gone)
			ch->gone = get_stats(ch, &stats) || has_gone(i);
		if (!ch->gone)
			ch->stats = stats;
	}
}

/* Adds to @now what the channels have lost since the recording began */
static void sum_channels(const struct channel *channels, unsigned int nr, struct totals *now)
{
	const struct channel *ch;

	for (ch = channels; ch < channels + nr; ch++) {
		now->unknown |= ch->gone;
		now->dropped += since(all_dropped(&ch->before), all_dropped(&ch->stats));
		now->overwritten += since(ch->before.overwritten, ch->stats.overwritten);
	}
}

/*
 * The number of lost records of which no GTSC_TYPE_LOST record tells, so that their place is not
 * known: the counters of the channel, less what its GTSC_TYPE_LOST records say. The kernel writes a
 * GTSC_TYPE_LOST only in front of a later record, so records that are lost at the end have none.
 * Those that were lost before the recording count only if nobody has read the channel before it:
 * otherwise a GTSC_TYPE_LOST may have told the earlier reader.
 */
static unsigned long long lost_elsewhere(const struct channel *ch, unsigned int index)
{
	unsigned long long lost = 0, lost_since = 0;

	for (struct reader *r = of_channel[index]; r; r = r->next_of_channel) {
		lost += r->out.lost;
		lost_since += r->out.lost_since;
	}
	if (!ch->before.read)
		return since(lost, all_lost(&ch->stats));

	return since(lost_since, since(all_lost(&ch->before), all_lost(&ch->stats)));
}

/* The reader of the channel that has the lowest number; NULL if there is none */
static struct reader *first_of(unsigned int index)
{
	struct reader *first = NULL;

	for (struct reader *r = of_channel[index]; r; r = r->next_of_channel) {
		if (!first || r->number < first->number)
			first = r;
	}

	return first;
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
			return complain_of_channel(channels[i].name, ret);
	}

	return 0;
}

/* Stop the channels that start_channels() has started */
static void stop_channels(struct channel *channels, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (channels[i].started && !has_gone(i))
			set_state(&channels[i], "stopped");
	}
}

/*
 * Waits for a signal, an error, or the end. Returns 0, or the error of a buffer file that has come
 * and cannot be opened: the others are read on.
 */
static int wait_and_show(struct channel *channels, unsigned int nr,
			 const struct record_options *options)
{
	uint64_t start = now_ns(), last = start, now;
	unsigned long long shown = 0;
	int ret = 0;

	while (!interrupted && !threads_done(threads) &&
	       !(options->ended && options->ended())) {
		struct totals t = { 0 };

		usleep(100000);
		now = now_ns();
		if (options->seconds && (now - start) / 1e9 >= options->seconds)
			break;
		if (now - last < SECOND)
			continue;
		update_stats(channels, nr);
		if (!ret)
			ret = open_new_files(channels, nr, &by_file, add_reader);
		sum_readers(&t);
		sum_channels(channels, nr, &t);
		if (!options->quiet)
			show(&t, (now - start) / 1e9,
			     (t.records - shown) / ((now - last) / 1e9),
			     isatty(STDERR_FILENO) ? "\r" : "\n");
		shown = t.records;
		last = now;
	}

	return ret;
}

/* Returns 0, or the error of one of the readers */
static int end_readers(void)
{
	int error = 0;

	threads_end(threads);
	for (unsigned int i = 0; i < nr_readers; i++) {
		struct reader *r = readers[i];

		if (!r->error)
			continue;
		error = r->error;
		complain("%s/buffer%u: %s", r->ch->name, r->number, strerror(-error));
	}

	return error;
}

static int close_stream(struct reader *r, uint64_t lost)
{
	int ret = ctf_close_stream(&r->out, lost);

	input_close(&r->in);

	/* That there is no more room was said already */
	return r->error ? 0 : complain_of(r->ch->name, ret);
}

/*
 * After the counters of the channels were read for the last time. Returns 0, or a negative errno
 * after a message.
 */
static int close_streams(const struct channel *channels, unsigned int nr)
{
	unsigned long long unwritten = 0;
	struct reader *first, *r;
	int error = 0;

	for (unsigned int i = 0; i < nr; i++) {
		first = first_of(i);
		for (r = of_channel[i]; r; r = r->next_of_channel) {
			error = close_stream(r, r == first ? lost_elsewhere(&channels[i], i) : 0)
				?: error;
			unwritten += r->out.unwritten;
		}
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

/*
 * Nothing was read: what channels hold stays in them. An old trace stays, unless ctf_publish() has
 * begun to replace it.
 */
static void give_up(struct channel *channels, unsigned int nr)
{
	threads_end(threads);
	stop_channels(channels, nr);
	for (unsigned int i = 0; i < nr_readers; i++) {
		ctf_close_stream(&readers[i]->out, 0);
		input_close(&readers[i]->in);
	}
	ctf_close(trace);
}

/*
 * Opens all files, then starts the channels that are not running, then replaces an old trace.
 * Returns 0, or a negative errno after a message.
 */
static int begin(struct channel *channels, unsigned int nr, const struct record_options *options)
{
	int ret;

	begin_time = now_ns();
	for (unsigned int i = 0; i < nr; i++) {
		ret = get_stats(&channels[i], &channels[i].before);
		if (ret)
			return complain_of_channel(channels[i].name, ret);
	}
	catch_signals();
	trace = ctf_create(options->output, channels, nr, options->ctf2);
	if (!trace)
		return -EIO;

	of_channel = must(calloc(nr, sizeof(*of_channel)));
	threads = threads_new();
	ret = open_new_files(channels, nr, &by_file, add_reader);
	if (!ret && !options->held)
		ret = start_channels(channels, nr);
	if (!ret)
		ret = ctf_publish(trace);
	if (ret)
		give_up(channels, nr);
	else
		threads_begin(threads);

	return ret;
}

/**
 * record - record channels into a trace
 * @channels: the channels; those that are not running are started, and stopped
 *	again at the end
 * @nr: their number
 * @options: where to, and how long
 *
 * Ends after @options->seconds, on a signal of catch_signals(), when @options->ended() returns
 * true, when all channels have gone, or after an error. With @options->held, waits for none of
 * these.
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
	/* A CPU may have come since wait_and_show() has looked */
	if (!ret && !options->held)
		ret = open_new_files(channels, nr, &by_file, add_reader);
	ret = end_readers() ?: ret;
	update_stats(channels, nr);
	sum_channels(channels, nr, &all);
	complain_of_gone(channels, nr);
	ret = close_streams(channels, nr) ?: ret;
	sum_readers(&all);
	ret = ctf_finish(trace) ?: ret;
	ctf_close(trace);
	seconds = (now_ns() - begin_time) / 1e9;
	show(&all, seconds, all.records / seconds, "\n");

	return ret;
}

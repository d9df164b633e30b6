// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: writes a recorded trace: to a directory, or to the standard output in one piece. The
 * records of a packet are those that were read, in one piece: their header is the event header.
 * Only the type of some of them is changed, to CTF_EVENT_BYTES. A GTSC_TYPE_LOST record is not
 * written: it ends a packet, and the number that it tells is in the count of the next packet.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ctf.h"
#include "output.h"

struct ctf {
	bool		has_dir;	/* false: it goes to the standard output */
	bool		ctf2;
	struct output	output;
	struct metadata	meta;
	/* Of the stream files that were closed */
	struct map	addresses;
	/* Packets of different threads do not mix in the standard output */
	pthread_mutex_t	lock;
};

/* Records that go into one packet */
struct run {
	uint8_t		*start, *end;
	size_t		content;	/* bytes, without the padding of the last record */
	uint64_t	nr;
	/* Times. @last may not be the greatest: the clock can go back when the machine resumes. */
	uint64_t	least, greatest, last;
};

/* @done: bytes that were written, also if it fails */
static int write_all(int fd, struct iovec *iov, int nr, size_t *done)
{
	ssize_t n;

	*done = 0;
	while (nr) {
		n = writev(fd, iov, nr);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		*done += n;
		for (; nr && (size_t)n >= iov->iov_len; iov++, nr--)
			n -= iov->iov_len;
		if (nr) {
			iov->iov_base = (uint8_t *)iov->iov_base + n;
			iov->iov_len -= n;
		}
	}

	return 0;
}

/* All of it or nothing, if @fd is a file: half a packet makes the trace unreadable */
static int write_whole(int fd, struct iovec *iov, int nr)
{
	size_t done;
	off_t start;
	int ret;

	ret = write_all(fd, iov, nr, &done);
	if (!ret || !done)
		return ret;
	start = lseek(fd, -(off_t)done, SEEK_CUR);
	if (start >= 0 && ftruncate(fd, start))
		complain("half a packet cannot be removed: %s", strerror(errno));

	return ret;
}

static int write_packet(struct ctf_stream *s, const struct run *run)
{
	struct ctf_packet *packet = &s->packet;
	size_t len = run->end - run->start;
	struct iovec iov[] = {
		{ packet, sizeof(*packet) }, { run->start, len },
	};
	int ret;

	packet->timestamp_begin = run->least;
	packet->timestamp_end = run->greatest;
	packet->content_size = (sizeof(*packet) + run->content) * 8;
	packet->packet_size = (sizeof(*packet) + len) * 8;
	packet->events_discarded = s->discarded;
	if (s->ctf->has_dir) {
		ret = write_whole(s->fd, iov, len ? 2 : 1);
	} else {
		pthread_mutex_lock(&s->ctf->lock);
		ret = write_whole(s->fd, iov, len ? 2 : 1);
		pthread_mutex_unlock(&s->ctf->lock);
	}
	if (ret)
		return ret;
	packet->packet_seq_num++;
	s->last_size = sizeof(*packet) + len;
	s->last_nr = run->nr;
	atomic_fetch_add_explicit(&s->records, run->nr, memory_order_relaxed);

	return 0;
}

/*
 * An empty packet has the count of what was lost, so that a reader shows the loss between the
 * records around it. Readers show the difference of two counts: if the first packet of a stream
 * is such a one, another one with the count 0 comes before it.
 */
static int write_lost(struct ctf_stream *s, uint64_t time)
{
	struct run run = { .least = time, .greatest = time };
	uint64_t discarded = s->discarded;
	int ret = 0;

	if (!s->packet.packet_seq_num) {
		s->discarded = 0;
		ret = write_packet(s, &run);
		s->discarded = discarded;
	}

	return ret ?: write_packet(s, &run);
}

/* The whole records from @p on, up to one that is not to be written */
static uint8_t *find_run(const struct channel *ch, uint8_t *p, size_t len, struct run *run)
{
	bool fixed = ch->fields.nr;
	uint32_t size = ch->fields.size;
	struct gtsc_record_header *h, *last = NULL;
	uint64_t nr = 0, least = UINT64_MAX, greatest = 0;

	run->start = p;
	while (len >= sizeof(*h)) {
		uint64_t bytes;

		h = (struct gtsc_record_header *)p;
		bytes = record_size(h->len);
		if (bytes > len || h->type != GTSC_TYPE_RECORD)
			break;
		if (fixed && h->len != size)
			h->type = CTF_EVENT_BYTES;
		if (h->time < least)
			least = h->time;
		if (h->time > greatest)
			greatest = h->time;
		last = h;
		p += bytes;
		len -= bytes;
		nr++;
	}

	run->nr = nr;
	run->end = p;
	if (last) {
		run->least = least;
		run->greatest = greatest;
		run->last = last->time;
		run->content = (uint8_t *)(last + 1) + last->len - run->start;
	}

	return p;
}

/* Counts what a GTSC_TYPE_LOST record tells. A record of an unknown type is dropped. */
static void take_lost(struct ctf_stream *s, const struct gtsc_record_header *h)
{
	uint64_t nr;

	if (h->type != GTSC_TYPE_LOST || h->len < sizeof(nr))
		return;
	memcpy(&nr, h + 1, sizeof(nr));
	s->discarded += nr;
	s->lost += nr;
	if (h->time >= s->start)
		s->lost_since += nr;
}

/* Records that were read, and cannot be written */
static void lose(struct ctf_stream *s, uint64_t nr)
{
	s->discarded += nr;
	s->unwritten += nr;
}

static int write_run(struct ctf_stream *s, const struct run *run)
{
	int ret = 0;

	if (s->discarded > s->packet.events_discarded)
		ret = write_lost(s, run->least);
	if (!ret)
		ret = write_packet(s, run);
	if (!ret)
		s->last_time = run->last;

	return ret;
}

/**
 * ctf_write - write what was read
 * @s: the stream
 * @records: the records, aligned to 8 bytes; the type of some of them is changed
 * @len: bytes
 *
 * After an error, the other records are counted as lost.
 *
 * Return: the bytes of all whole records, or a negative errno.
 */
ssize_t ctf_write(struct ctf_stream *s, uint8_t *records, size_t len)
{
	uint8_t *p = records, *end = records + len;
	const struct gtsc_record_header *h;
	struct run run;
	int ret = 0;

	for (;;) {
		p = find_run(s->ch, p, end - p, &run);
		if (run.nr && !ret)
			ret = write_run(s, &run);
		if (run.nr && ret)
			lose(s, run.nr);

		h = (const struct gtsc_record_header *)p;
		if ((size_t)(end - p) < sizeof(*h) || record_size(h->len) > (uint64_t)(end - p))
			return ret ?: p - records;
		take_lost(s, h);
		p += record_size(h->len);
	}
}

static int make_file(struct ctf_stream *s, unsigned int index, unsigned int number)
{
	char file[NAME_SIZE + 32], name[NAME_SIZE];

	for (size_t i = 0; i < sizeof(name); i++)
		name[i] = s->ch->name[i] == '/' ? '_' : s->ch->name[i];
	snprintf(file, sizeof(file), "%s_%u", name, number);
	s->fd = output_create(&s->ctf->output, file);
	if (s->fd == -EEXIST) {
		/* a/b_c and a_b/c */
		snprintf(file, sizeof(file), "%s.%u_%u", name, index, number);
		s->fd = output_create(&s->ctf->output, file);
	}

	return s->fd < 0 ? s->fd : 0;
}

/* @index: of the channel; @number: of the buffer file. Returns 0, or a negative errno. */
int ctf_open_stream(struct ctf *ctf, struct ctf_stream *s, const struct channel *ch,
		    unsigned int index, unsigned int number, uint64_t start)
{
	memset(s, 0, sizeof(*s));
	s->ctf = ctf;
	s->ch = ch;
	s->start = start;
	s->packet.magic = CTF_MAGIC;
	memcpy(s->packet.uuid, ctf->meta.uuid, sizeof(s->packet.uuid));
	s->packet.stream_id = index;
	s->packet.stream_instance_id = number;
	s->packet.cpu_id = ch->global ? 0 : number;
	s->fd = STDOUT_FILENO;

	return ctf->has_dir ? make_file(s, index, number) : 0;
}

/* The end takes the place of the last packet, whose records are lost, too */
static void end_over_last(struct ctf_stream *s, uint64_t time)
{
	off_t end;

	if (!s->last_size || lseek(s->fd, -(off_t)s->last_size, SEEK_CUR) < 0)
		return;
	atomic_fetch_sub_explicit(&s->records, s->last_nr, memory_order_relaxed);
	lose(s, s->last_nr);
	s->packet.packet_seq_num--;
	write_lost(s, time);
	end = lseek(s->fd, 0, SEEK_CUR);
	if (end >= 0 && ftruncate(s->fd, end))
		complain("%s: a packet cannot be removed: %s", s->ch->name, strerror(errno));
}

/**
 * ctf_close_stream - end a stream
 * @s: the stream
 * @lost: how many records were lost of which no place is known
 *
 * An empty packet is the end: it tells a recording that was cut off from one that is whole.
 * A stream without a packet needs none.
 *
 * Return: 0, or a negative errno.
 */
int ctf_close_stream(struct ctf_stream *s, uint64_t lost)
{
	uint64_t time = s->packet.packet_seq_num ? s->packet.timestamp_end : now_ns();
	int ret = 0;

	s->discarded += lost;
	if (s->packet.packet_seq_num || s->discarded)
		ret = write_lost(s, time);
	if (!s->ctf->has_dir)
		return ret;
	if (ret)
		end_over_last(s, time);
	if (has_symbols(&s->ch->fields))
		complain_of(s->ch->name, add_addresses_of_file(&s->ctf->addresses,
							       &s->ch->fields, s->fd));
	if (close(s->fd) && !ret)
		ret = -errno;

	return ret;
}

static int write_metadata_file(struct output *output, const struct metadata *m, bool ctf2)
{
	int fd, ret;
	FILE *f;

	fd = output_create(output, "metadata");
	if (fd < 0)
		return fd;
	f = must(fdopen(fd, "w"));
	ret = write_metadata(f, m, ctf2);
	if (fclose(f) && !ret)
		ret = -errno;

	return ret;
}

static int write_metadata_packet(const struct metadata *m, bool ctf2)
{
	struct ctf_metadata_packet packet = {
		.magic = CTF_METADATA_MAGIC, .major = ctf2 ? 2 : 1, .minor = ctf2 ? 0 : 8,
	};
	struct iovec iov[2] = { { &packet, sizeof(packet) } };
	char *text = NULL;
	size_t len, done;
	FILE *f;
	int ret;

	f = open_memstream(&text, &len);
	if (!f)
		return -errno;
	ret = write_metadata(f, m, ctf2);
	fclose(f);
	if (!ret && len > UINT32_MAX / 8 - sizeof(packet))
		ret = -EFBIG;
	memcpy(packet.uuid, m->uuid, sizeof(packet.uuid));
	packet.content_size = (sizeof(packet) + len) * 8;
	packet.packet_size = packet.content_size;
	iov[1] = (struct iovec){ text, len };
	if (!ret)
		ret = write_all(STDOUT_FILENO, iov, 2, &done);
	free(text);

	return complain_of("standard output", ret);
}

/**
 * ctf_create - begin a recorded trace
 * @output: the directory, - for the standard output
 * @channels: the channels of the trace, up to ctf_close()
 * @nr: their number
 * @ctf2: whether the metadata is that of CTF 2
 *
 * Return: the trace; NULL after a message.
 */
struct ctf *ctf_create(const char *output, struct channel *channels, unsigned int nr,
		       bool ctf2)
{
	struct ctf *ctf = calloc(1, sizeof(*ctf));
	struct metadata *m;
	int ret;

	if (!ctf) {
		complain_of(output, -ENOMEM);
		return NULL;
	}

	m = &ctf->meta;
	m->nr = nr;
	m->channels = channels;
	make_uuid(m->uuid);
	begin_wall_clock(&m->clock);
	ctf->ctf2 = ctf2;
	pthread_mutex_init(&ctf->lock, NULL);
	ctf->has_dir = strcmp(output, "-");
	if (!ctf->has_dir) {
		ret = write_metadata_packet(m, ctf2);
	} else {
		ret = output_open(&ctf->output, output);
		if (!ret) {
			ret = complain_of(output, write_metadata_file(&ctf->output, m, ctf2));
			if (ret)
				output_close(&ctf->output);
		}
	}
	if (!ret)
		return ctf;
	free(ctf);

	return NULL;
}

/*
 * An old trace in the directory gives way to this one. Returns 0, or a negative errno after a
 * message.
 */
int ctf_publish(struct ctf *ctf)
{
	return ctf->has_dir ? output_publish(&ctf->output) : 0;
}

/**
 * ctf_finish - write the metadata again, with what is known at the end of a recording
 * @ctf: the trace, whose streams are closed
 *
 * These are the names of the functions that occur in the records, and the wall clock. A
 * recording that is killed before has neither. On the standard output the metadata comes first,
 * so it never has them.
 *
 * Return: 0; a negative errno after a message: the trace has its first metadata.
 */
int ctf_finish(struct ctf *ctf)
{
	struct metadata *m = &ctf->meta;
	int ret;

	if (!ctf->has_dir)
		return 0;
	end_wall_clock(&m->clock);
	find_names(m, &ctf->addresses);
	ret = output_restage(&ctf->output) ?:
	      write_metadata_file(&ctf->output, m, ctf->ctf2);

	return ret ? complain_of("metadata", ret) : output_replace(&ctf->output);
}

void ctf_close(struct ctf *ctf)
{
	if (ctf->has_dir)
		output_close(&ctf->output);
	free(ctf->meta.symbols);
	map_free(&ctf->addresses);
	free(ctf);
}

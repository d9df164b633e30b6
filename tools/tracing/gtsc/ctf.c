// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: writes a recorded trace: a directory, or one stream to the standard output. The
 * records of a packet are those that were read, in one piece and unchanged: their header
 * is the event header. What was lost ends a packet; the count of the next one has it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ctf.h"

struct ctf {
	const char	*dir;		/* NULL: the standard output */
	uint8_t		uuid[16];
	/* Packets of different threads do not mix in the standard output */
	pthread_mutex_t	lock;
};

/* Records that go into one packet */
struct run {
	uint8_t		*start, *end;
	size_t		content;	/* bytes; less than up to the end by the padding */
	uint64_t	nr, first, last;
};

static int write_all(int fd, struct iovec *iov, int nr)
{
	ssize_t n;

	while (nr) {
		n = writev(fd, iov, nr);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		for (; nr && (size_t)n >= iov->iov_len; iov++, nr--)
			n -= iov->iov_len;
		if (nr) {
			iov->iov_base = (uint8_t *)iov->iov_base + n;
			iov->iov_len -= n;
		}
	}

	return 0;
}

static int write_packet(struct ctf_stream *s, const struct run *run)
{
	struct ctf_packet *packet = &s->packet;
	size_t len = run->end - run->start;
	struct iovec iov[] = {
		{ packet, sizeof(*packet) }, { run->start, len },
	};
	int ret;

	packet->timestamp_begin = run->first;
	packet->timestamp_end = run->last;
	packet->content_size = (sizeof(*packet) + run->content) * 8;
	packet->packet_size = (sizeof(*packet) + len) * 8;
	packet->events_discarded = s->discarded;
	if (s->ctf->dir) {
		ret = write_all(s->fd, iov, len ? 2 : 1);
	} else {
		pthread_mutex_lock(&s->ctf->lock);
		ret = write_all(s->fd, iov, len ? 2 : 1);
		pthread_mutex_unlock(&s->ctf->lock);
	}
	packet->packet_seq_num++;
	atomic_fetch_add_explicit(&s->records, run->nr, memory_order_relaxed);

	return ret;
}

/*
 * What was lost is in an empty packet of its own, so that a reader sees it between the
 * records around it. One before tells the first count from an unknown one.
 */
static int write_lost(struct ctf_stream *s, uint64_t time)
{
	struct run run = { .first = time, .last = time };
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
	uint64_t nr = 0;

	run->start = p;
	while (len >= sizeof(*h)) {
		uint64_t bytes;

		h = (struct gtsc_record_header *)p;
		bytes = record_size(h->len);
		if (bytes > len || h->type != GTSC_RECORD)
			break;
		if (fixed && h->len != size)
			h->type = CTF_EVENT_BYTES;
		last = h;
		p += bytes;
		len -= bytes;
		nr++;
	}

	run->nr = nr;
	run->end = p;
	if (last) {
		run->first = ((struct gtsc_record_header *)run->start)->time;
		run->last = last->time;
		run->content = (uint8_t *)(last + 1) + last->len - run->start;
	}

	return p;
}

/* Of a LOST record; of another type that is not known there is nothing to keep */
static void take_lost(struct ctf_stream *s, const struct gtsc_record_header *h)
{
	uint64_t nr;

	if (h->type != GTSC_LOST || h->len < sizeof(nr))
		return;
	memcpy(&nr, h + 1, sizeof(nr));
	s->discarded += nr;
	if (h->time >= s->start)
		atomic_fetch_add_explicit(&s->lost, nr, memory_order_relaxed);
}

/**
 * ctf_write - write what was read
 * @s: the stream
 * @records: the records, aligned to 8 bytes; the type of some of them is changed
 * @len: bytes
 *
 * Return: the bytes of all whole records, or a negative errno.
 */
ssize_t ctf_write(struct ctf_stream *s, uint8_t *records, size_t len)
{
	uint8_t *p = records, *end = records + len;
	const struct gtsc_record_header *h;
	struct run run;
	int ret;

	for (;;) {
		p = find_run(s->ch, p, end - p, &run);
		ret = 0;
		if (run.nr && s->discarded > s->packet.events_discarded)
			ret = write_lost(s, run.first);
		if (run.nr && !ret)
			ret = write_packet(s, &run);
		if (ret)
			return ret;

		h = (const struct gtsc_record_header *)p;
		if ((size_t)(end - p) < sizeof(*h) || record_size(h->len) > (uint64_t)(end - p))
			return p - records;
		take_lost(s, h);
		p += record_size(h->len);
	}
}

static int make_file(struct ctf_stream *s, unsigned int channel, unsigned int number)
{
	char path[MAX_PATH + NAME_SIZE + 64], name[NAME_SIZE];

	for (size_t i = 0; i < sizeof(name); i++)
		name[i] = s->ch->name[i] == '/' ? '_' : s->ch->name[i];
	snprintf(path, sizeof(path), "%s/%s_%u", s->ctf->dir, name, number);
	s->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (s->fd < 0 && errno == EEXIST) {
		/* a/b_c and a_b/c */
		snprintf(path, sizeof(path), "%s/%s.%u_%u", s->ctf->dir, name, channel, number);
		s->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	}

	return s->fd < 0 ? -errno : 0;
}

int ctf_open_stream(struct ctf *ctf, struct ctf_stream *s, const struct channel *ch,
		    unsigned int channel, unsigned int number, uint64_t start)
{
	memset(s, 0, sizeof(*s));
	s->ctf = ctf;
	s->ch = ch;
	s->start = start;
	s->packet.magic = CTF_MAGIC;
	memcpy(s->packet.uuid, ctf->uuid, sizeof(ctf->uuid));
	s->packet.stream_id = channel;
	s->packet.stream_instance_id = number;
	s->packet.cpu_id = ch->global ? 0 : number;
	s->fd = STDOUT_FILENO;

	return ctf->dir ? make_file(s, channel, number) : 0;
}

/*
 * An empty packet is the end of the stream: it tells a recording that was cut off from one
 * that is whole. A stream without a packet needs none. @lost: records of which no place is
 * known.
 */
int ctf_close_stream(struct ctf_stream *s, uint64_t lost)
{
	int ret = 0;

	s->discarded += lost;
	if (s->packet.packet_seq_num || s->discarded)
		ret = write_lost(s, s->packet.packet_seq_num ? s->packet.timestamp_end :
						       now_ns());
	if (s->ctf->dir && close(s->fd) && !ret)
		ret = -errno;

	return ret;
}

static bool is_stream(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	uint32_t magic;
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, &magic, sizeof(magic));
	close(fd);

	/* A CPU that has written nothing has an empty one */
	return !n || (n == sizeof(magic) &&
		      (magic == CTF_MAGIC || magic == __builtin_bswap32(CTF_MAGIC)));
}

/* A trace that gtsc wrote gives way to a new one; other files in its directory stay */
static void remove_old(const char *dir)
{
	struct dirent *entry;
	DIR *d = opendir(dir);
	const char *end;

	while (d && (entry = readdir(d))) {
		end = strrchr(entry->d_name, '_');
		if ((end && end[1] && !end[1 + strspn(end + 1, "0123456789")] &&
		     is_stream(dirfd(d), entry->d_name)) ||
		    !strcmp(entry->d_name, "metadata") || !strcmp(entry->d_name, KALLSYMS_NAME))
			unlinkat(dirfd(d), entry->d_name, 0);
	}
	if (d)
		closedir(d);
}

static bool is_empty(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	bool empty = d;

	while (d && (entry = readdir(d)))
		empty &= !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	if (d)
		closedir(d);

	return empty;
}

static int make_directory(const char *dir)
{
	struct stat st;

	if (!mkdir(dir, 0700))
		return 0;
	if (errno != EEXIST)
		return complain_of(dir, -errno);
	if (stat(dir, &st))
		return complain_of(dir, -errno);
	if (!S_ISDIR(st.st_mode)) {
		complain("%s: exists, and is not a directory", dir);
		return -ENOTDIR;
	}
	if (is_our_trace(dir)) {
		remove_old(dir);
	} else if (!is_empty(dir)) {
		complain("%s: is not empty, and not a trace that gtsc has written", dir);
		return -ENOTEMPTY;
	}
	if (chmod(dir, 0700))
		return complain_of(dir, -errno);

	return 0;
}

static int write_metadata_file(const char *dir, const struct metadata *m, bool ctf2)
{
	char path[MAX_PATH + 16];
	FILE *f;
	int fd, ret;

	snprintf(path, sizeof(path), "%s/metadata", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		return complain_of(path, -errno);
	ret = write_metadata(f, m, ctf2);
	if (fclose(f) && !ret)
		ret = -errno;

	return complain_of(path, ret);
}

static int write_metadata_packet(const struct metadata *m, bool ctf2)
{
	struct ctf_metadata_packet packet = {
		.magic = CTF_METADATA_MAGIC, .major = ctf2 ? 2 : 1, .minor = ctf2 ? 0 : 8,
	};
	struct iovec iov[2] = { { &packet, CTF_METADATA_PACKET } };
	char *text = NULL;
	size_t len;
	FILE *f;
	int ret;

	f = open_memstream(&text, &len);
	if (!f)
		return -errno;
	ret = write_metadata(f, m, ctf2);
	fclose(f);
	memcpy(packet.uuid, m->uuid, sizeof(packet.uuid));
	packet.content_size = (CTF_METADATA_PACKET + len) * 8;
	packet.packet_size = packet.content_size;
	iov[1] = (struct iovec){ text, len };
	if (!ret)
		ret = write_all(STDOUT_FILENO, iov, 2);
	free(text);

	return complain_of("standard output", ret);
}

/**
 * ctf_create - begin a recorded trace
 * @output: the directory, - for the standard output
 * @channels: the channels of the trace
 * @nr: their number
 * @ctf2: whether the metadata is that of CTF 2
 *
 * Return: the trace; NULL after a message.
 */
struct ctf *ctf_create(const char *output, const struct channel *channels, unsigned int nr,
		       bool ctf2)
{
	struct metadata m = {
		.clock_offset = wall_clock_offset(), .nr = nr,
		.channels = (struct channel *)channels,
	};
	struct ctf *ctf = calloc(1, sizeof(*ctf));
	int ret;

	if (!ctf) {
		complain_of(output, -ENOMEM);
		return NULL;
	}

	make_uuid(ctf->uuid);
	memcpy(m.uuid, ctf->uuid, sizeof(m.uuid));
	pthread_mutex_init(&ctf->lock, NULL);
	if (!strcmp(output, "-")) {
		ret = write_metadata_packet(&m, ctf2);
	} else {
		ctf->dir = output;
		ret = make_directory(output) ?: write_metadata_file(output, &m, ctf2);
	}
	if (!ret)
		return ctf;
	free(ctf);

	return NULL;
}

void ctf_close(struct ctf *ctf)
{
	free(ctf);
}

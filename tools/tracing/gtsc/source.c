// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: gives the records of a buffer file, of a stream file, or of packets that come from a
 * pipe, one after another. Of a damaged file it gives those that are whole.
 */
#define _GNU_SOURCE
#include <byteswap.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source.h"

static struct gtsc_record_header get_header(const struct source *s)
{
	struct gtsc_record_header h;

	memcpy(&h, s->p, sizeof(h));
	if (s->swapped) {
		h.len = bswap_32(h.len);
		h.cpu = bswap_16(h.cpu);
		h.type = bswap_16(h.type);
		h.time = bswap_64(h.time);
	}

	return h;
}

/* Whether all of the record is there, and it can be one of this packet */
static bool is_whole(const struct source *s, const struct gtsc_record_header *h)
{
	size_t left = s->end - s->p;

	if (s->live)
		return record_size(h->len) <= left;

	/* The last one of a packet has no padding */
	return h->len <= MAX_RECORD && h->len <= left - sizeof(*h) && h->time >= s->least &&
	       h->time <= s->greatest;
}

static void take_record(struct source *s, const struct gtsc_record_header *h)
{
	size_t size = record_size(h->len), left = s->end - s->p;

	s->item = (struct item){
		.ch = s->ch, .cpu = h->cpu, .time = h->time, .swapped = s->swapped,
		.data = s->p + sizeof(*h), .len = h->len,
	};
	s->p += size < left ? size : left;
}

/*
 * Of a buffer file: whether the record was written between the time of read_until() and the read
 * that gave it. A record that is later than this read is from before the clock went back.
 */
static bool is_late(const struct source *s, const struct gtsc_record_header *h)
{
	return s->live && h->time > s->until && h->time <= s->read_at;
}

/* Of a buffer file: returns false for a record that is not to be printed */
static bool is_item(struct source *s, uint16_t type)
{
	if (!s->live || type == GTSC_TYPE_RECORD)
		return true;
	if (type != GTSC_TYPE_LOST || s->item.len < sizeof(s->item.lost))
		return false;
	memcpy(&s->item.lost, s->item.data, sizeof(s->item.lost));

	return s->item.lost;
}

static void take_lost(struct source *s)
{
	/*
	 * What is lost at the end of a file has no place, and so no CPU: see ctf_close_stream().
	 * In a pipe, the end cannot be told from the middle: the CPU is that of the buffer file.
	 */
	bool known = !s->ch->global && (s->pos < s->size || s->p != s->end || !s->map);

	s->item = (struct item){
		.ch = s->ch, .cpu = known ? (int)s->number : -1, .time = s->least,
		.lost = s->lost,
	};
	s->lost = 0;
}

/* Puts the next record into @s->item; false if there is none now */
bool next_item(struct source *s)
{
	struct gtsc_record_header h;

	for (;;) {
		if (s->lost) {
			take_lost(s);
			return true;
		}
		if ((size_t)(s->end - s->p) < sizeof(h)) {
			if (!s->refill(s))
				return false;
			continue;
		}
		h = get_header(s);
		if (!is_whole(s, &h)) {
			if (!s->refill(s))
				return false;
			continue;
		}
		s->late = is_late(s, &h);
		if (s->late && s->hold)
			return false;
		take_record(s, &h);
		if (is_item(s, h.type))
			return true;
	}
}

/* Buffer files */

static bool refill_live(struct source *s)
{
	ssize_t n;

	if (s->gone || s->late)
		return false;
	s->in.used = s->p - s->in.buf;
	n = input_read(&s->in);
	s->read_at = now_ns();
	s->p = s->in.buf;
	s->end = s->p + s->in.have;
	if (n < 0) {
		complain_of_channel(s->ch->name, n);
		s->damaged = true;
		s->gone = true;
	}

	return n > 0;
}

/* Returns 0, or a negative errno after a message */
int open_buffer_file(struct source *s, const struct channel *ch, unsigned int number)
{
	int ret;

	memset(s, 0, sizeof(*s));
	ret = input_open(&s->in, ch, number);
	s->ch = ch;
	s->live = true;
	s->number = number;
	s->p = s->in.buf;
	s->end = s->p;
	s->refill = refill_live;

	return ret;
}

/**
 * read_until - end a buffer file for now
 * @s: the source
 * @time: after a record that is later, next_item() reads no more
 * @hold: neither this record nor those behind it are given until the next call
 *
 * While the buffers are read one after another, more is written. A buffer that is read late would
 * give such a record, while an older one in a buffer that was read before waits for the next call.
 * With @hold, the records of a task are given in their order, even if it migrates. Those of two
 * tasks may not be: a record can be read some time after its own time, when it is complete.
 */
void read_until(struct source *s, uint64_t time, bool hold)
{
	s->until = time;
	s->hold = hold;
	s->late = false;
	s->read_at = 0;
}

/* Packets */

static void swap_packet(struct ctf_packet *p)
{
	p->magic = bswap_32(p->magic);
	p->stream_id = bswap_32(p->stream_id);
	p->stream_instance_id = bswap_32(p->stream_instance_id);
	p->cpu_id = bswap_32(p->cpu_id);
	p->timestamp_begin = bswap_64(p->timestamp_begin);
	p->timestamp_end = bswap_64(p->timestamp_end);
	p->content_size = bswap_64(p->content_size);
	p->packet_size = bswap_64(p->packet_size);
	p->events_discarded = bswap_64(p->events_discarded);
	p->packet_seq_num = bswap_64(p->packet_seq_num);
}

/* Whether this can be a packet of the trace; its sizes become bytes */
bool check_packet(const struct metadata *m, const void *data, struct ctf_packet *packet,
		  bool *swapped)
{
	memcpy(packet, data, sizeof(*packet));
	*swapped = packet->magic == bswap_32(CTF_MAGIC);
	if (*swapped)
		swap_packet(packet);
	if (packet->magic != CTF_MAGIC || memcmp(packet->uuid, m->uuid, sizeof(m->uuid)) ||
	    packet->stream_id >= m->nr || packet->content_size % 8 || packet->packet_size % 64)
		return false;
	packet->content_size /= 8;
	packet->packet_size /= 8;

	return packet->content_size >= sizeof(*packet) &&
	       packet->packet_size >= packet->content_size &&
	       packet->packet_size - packet->content_size < 8 &&
	       packet->timestamp_begin <= packet->timestamp_end;
}

/* @len bytes of the packet's records are there */
static void begin_packet(struct source *s, const struct ctf_packet *packet, bool swapped,
			 const uint8_t *records, size_t len)
{
	s->ch = &s->m->channels[packet->stream_id];
	s->number = packet->stream_instance_id;
	s->swapped = swapped;
	s->p = records;
	s->end = records + len;
	s->least = packet->timestamp_begin;
	s->greatest = packet->timestamp_end;
	s->lost = packet->events_discarded > s->discarded ?
		  packet->events_discarded - s->discarded : 0;
	s->discarded = packet->events_discarded;
}

/* Stream files */

static void damage(struct source *s, size_t pos, size_t lost, const char *what)
{
	complain("%s: at byte %zu: %s", s->name, pos, what);
	s->damaged = true;
	s->lost_bytes += lost;
}

/* Where the next packet is that is whole; the end of the file if there is none */
static size_t find_packet(const struct source *s, size_t pos)
{
	struct ctf_packet packet;
	bool swapped;

	for (; pos + sizeof(packet) <= s->size; pos++) {
		if (check_packet(s->m, s->map + pos, &packet, &swapped) &&
		    packet.packet_size <= s->size - pos)
			return pos;
	}

	return s->size;
}

static bool get_packet(const struct source *s, struct ctf_packet *packet, bool *swapped)
{
	return s->size - s->pos >= sizeof(*packet) &&
	       check_packet(s->m, s->map + s->pos, packet, swapped);
}

/* The packet reaches over the end of the file: does the file break off, or is it damaged? */
static bool take_rest(struct source *s, const struct ctf_packet *packet, bool swapped)
{
	size_t next = find_packet(s, s->pos + 1), left = s->size - s->pos;

	if (next < s->size) {
		damage(s, s->pos, next - s->pos, "not a packet");
		s->pos = next;
		return false;
	}

	damage(s, s->pos, packet->packet_size - left, "the file breaks off");
	s->cut = true;
	begin_packet(s, packet, swapped, s->map + s->pos + sizeof(*packet),
		     (left < packet->content_size ? left : packet->content_size) -
		     sizeof(*packet));
	s->pos = s->size;

	return true;
}

static bool take_packet(struct source *s)
{
	struct ctf_packet packet;
	bool swapped;
	size_t next;

	if (!get_packet(s, &packet, &swapped)) {
		next = find_packet(s, s->pos + 1);
		damage(s, s->pos, next - s->pos, "not a packet");
		s->pos = next;
		return false;
	}
	if (packet.packet_size > s->size - s->pos)
		return take_rest(s, &packet, swapped);

	begin_packet(s, &packet, swapped, s->map + s->pos + sizeof(packet),
		     packet.content_size - sizeof(packet));
	s->pos += packet.packet_size;
	s->ended = s->p == s->end;

	return true;
}

static bool refill_file(struct source *s)
{
	if (s->p != s->end && s->cut)
		s->lost_bytes += s->end - s->p;
	else if (s->p != s->end)
		damage(s, s->p - s->map, s->end - s->p, "not a record");
	s->p = s->end;

	while (s->pos < s->size) {
		if (take_packet(s) && (s->lost || s->p != s->end))
			return true;
	}
	if (!s->ended && !s->damaged)
		damage(s, s->size, 0, "no end: the recording was cut off");

	return false;
}

/* Returns -ENODATA if the file is empty: nothing was written on that CPU */
static int map_file(struct source *s, int dir, const char *name)
{
	struct stat st;
	int fd, ret = 0;

	fd = open_regular(dir, name);
	/* A link, a directory: not a stream file */
	if (fd == -ELOOP || fd == -EINVAL)
		return -ENODATA;
	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		ret = -errno;
	else if (!st.st_size)
		ret = -ENODATA;
	else if ((uint64_t)st.st_size > SIZE_MAX)
		ret = -EFBIG;
	if (!ret) {
		s->size = st.st_size;
		s->map = mmap(NULL, s->size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (s->map == MAP_FAILED)
			ret = -errno;
	}
	close(fd);

	return ret;
}

/* Returns 0, -ENODATA if the file has no packets, or another negative errno */
int open_stream_file(struct source *s, const struct metadata *m, int dir,
		     const char *dir_name, const char *name)
{
	int ret;

	memset(s, 0, sizeof(*s));
	s->m = m;
	if (asprintf(&s->name, "%s/%s", dir_name, name) < 0)
		return -ENOMEM;
	s->ch = &m->channels[0];
	s->refill = refill_file;
	ret = map_file(s, dir, name);
	s->p = s->map;
	s->end = s->p;
	if (ret)
		free(s->name);

	return ret;
}

/* Packets from a pipe */

static bool refill_block(struct source *s)
{
	struct block *block = s->blocks;

	if (s->p != s->end) {
		complain("%s: a packet has a record that is none", s->ch->name);
		s->damaged = true;
		s->p = s->end;
	}
	if (s->in_first) {
		s->in_first = false;
		s->blocks = block->next;
		free(block);
		block = s->blocks;
	}
	if (!block) {
		s->tail = &s->blocks;
		return false;
	}

	/* It stays until its records are printed */
	s->in_first = true;
	begin_packet(s, &block->packet, block->swapped, block->records,
		     block->packet.content_size - sizeof(block->packet));

	return true;
}

void open_blocks(struct source *s, const struct metadata *m, const struct ctf_packet *packet)
{
	memset(s, 0, sizeof(*s));
	s->m = m;
	s->ch = &m->channels[packet->stream_id];
	s->number = packet->stream_instance_id;
	s->tail = &s->blocks;
	s->refill = refill_block;
}

void add_block(struct source *s, struct block *block)
{
	block->next = NULL;
	*s->tail = block;
	s->tail = &block->next;
}

/* Packets of a file, or those that have come from a pipe and are left */
void close_packets(struct source *s)
{
	struct block *block;

	while ((block = s->blocks)) {
		s->blocks = block->next;
		free(block);
	}
	if (s->map)
		munmap((void *)s->map, s->size);
	free(s->name);
}

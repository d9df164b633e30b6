// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc, the data layer: merges the records of all channels and CPUs by their time,
 * from a file or from the kernel, and prints them.
 */
#define _GNU_SOURCE
#include <byteswap.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gtsc.h"
#include "store.h"

#define READ_SIZE	(256 * 1024)
/* No chunk is longer than what is read at a time, and no machine has more CPUs */
#define MAX_CHUNK	(1024 * 1024)
#define MAX_FILE	8192

struct block {
	const uint8_t	*data;
	size_t		len;
};

/* What came from one trace file, in its order */
struct stream {
	unsigned int	channel;
	unsigned int	file;
	struct block	*blocks;
	size_t		nr, room;

	/* Where printing is */
	size_t		block, pos;
	struct item	next;
	bool		has_next;
};

static struct stream *streams;
static size_t nr_streams;
static struct store_channel names[MAX_CHANNELS];

/* The file was written on a machine of the other byte order */
static bool swapped;

static uint32_t u32(uint32_t x) { return swapped ? bswap_32(x) : x; }
static uint64_t u64(uint64_t x) { return swapped ? bswap_64(x) : x; }

static void *must(void *p)
{
	if (!p) {
		complain("out of memory");
		exit(1);
	}

	return p;
}

static struct stream *get_stream(unsigned int channel, unsigned int file)
{
	struct stream *s;

	for (size_t i = 0; i < nr_streams; i++) {
		if (streams[i].channel == channel && streams[i].file == file)
			return &streams[i];
	}

	streams = must(realloc(streams, (nr_streams + 1) * sizeof(*streams)));
	s = &streams[nr_streams++];
	memset(s, 0, sizeof(*s));
	s->channel = channel;
	s->file = file;

	return s;
}

static void add_block(unsigned int channel, unsigned int file, const void *data, size_t len)
{
	struct stream *s = get_stream(channel, file);

	if (s->nr == s->room) {
		s->room = s->room ? s->room * 2 : 64;
		s->blocks = must(realloc(s->blocks, s->room * sizeof(*s->blocks)));
	}
	s->blocks[s->nr].data = data;
	s->blocks[s->nr++].len = len;
}

/* The next record of a stream; without headers, what was read at a time */
static bool find_next(struct stream *s)
{
	const struct store_channel *sc = &names[s->channel];
	struct gtsc_record_header h;
	struct block *b;

	if (s->has_next)
		return true;

	for (; s->block < s->nr; s->block++, s->pos = 0) {
		b = &s->blocks[s->block];
		s->next = (struct item){
			.channel = sc->name, .cpu = s->file, .swapped = swapped,
		};
		if (!(sc->flags & STORE_HEADERS)) {
			if (s->pos == b->len)
				continue;
			s->next.data = b->data;
			s->next.len = b->len;
			s->pos = b->len;
			s->has_next = true;
			return true;
		}

		if (b->len - s->pos < sizeof(h))
			continue;
		memcpy(&h, b->data + s->pos, sizeof(h));
		h.len = u32(h.len);
		if (h.len > b->len - s->pos - sizeof(h))
			continue;
		s->next.has_header = true;
		s->next.cpu = u32(h.cpu);
		s->next.time = u64(h.time);
		s->next.data = b->data + s->pos + sizeof(h);
		s->next.len = h.len;
		s->pos += sizeof(h) + h.len;
		s->has_next = true;
		return true;
	}

	return false;
}

static unsigned long long print_streams(const struct format *format, FILE *out)
{
	struct stream *s, *oldest;
	unsigned long long nr = 0;

	for (;;) {
		oldest = NULL;
		for (s = streams; s < streams + nr_streams; s++) {
			if (find_next(s) && (!oldest || s->next.time < oldest->next.time))
				oldest = s;
		}
		if (!oldest)
			return nr;
		format->print(&oldest->next, out);
		oldest->has_next = false;
		nr++;
	}
}

/* Files */

struct image {
	const char	*name;
	const uint8_t	*data;
	size_t		size;
	bool		damaged;
	unsigned long long	lost;	/* bytes */
};

static void damage(struct image *im, size_t pos, size_t lost, const char *what)
{
	complain("%s: at byte %zu: %s", im->name, pos, what);
	im->damaged = true;
	im->lost += lost;
}

static bool get_chunk(const struct image *im, size_t pos, struct store_chunk *chunk)
{
	if (im->size - pos < sizeof(*chunk))
		return false;
	memcpy(chunk, im->data + pos, sizeof(*chunk));

	return u32(chunk->magic) == CHUNK_MAGIC;
}

/* Where the next chunk is that is whole; the end of the file if there is none */
static size_t resync(const struct image *im, size_t pos)
{
	struct store_chunk chunk;

	for (; pos + sizeof(chunk) <= im->size; pos++) {
		if (get_chunk(im, pos, &chunk) && u32(chunk.len) <= MAX_CHUNK &&
		    u32(chunk.len) <= im->size - pos - sizeof(chunk) &&
		    chunk_crc(&chunk, im->data + pos + sizeof(chunk), u32(chunk.len)) ==
		    u32(chunk.crc))
			return pos;
	}

	return im->size;
}

/* Returns true at the end that its writer has made */
static bool take_chunk(struct image *im, const struct store_chunk *chunk, size_t pos)
{
	const uint8_t *data = im->data + pos + sizeof(*chunk);
	unsigned int channel = u32(chunk->channel);
	size_t len = u32(chunk->len);

	switch (u32(chunk->type)) {
	case CHUNK_CHANNEL:
		if (channel >= MAX_CHANNELS || len != sizeof(names[0])) {
			damage(im, pos, len, "a bad channel");
			break;
		}
		memcpy(&names[channel], data, len);
		names[channel].flags = u32(names[channel].flags);
		names[channel].name[NAME_SIZE - 1] = '\0';
		break;
	case CHUNK_DATA:
		if (channel < MAX_CHANNELS && names[channel].name[0] &&
		    u32(chunk->file) < MAX_FILE)
			add_block(channel, u32(chunk->file), data, len);
		else
			damage(im, pos, len, "records of an unknown channel");
		break;
	case CHUNK_END:
		return true;
	}

	return false;
}

/* The records at the end of a file that breaks off: those before the break */
static void take_rest(struct image *im, const struct store_chunk *chunk, size_t pos)
{
	unsigned int channel = u32(chunk->channel);
	size_t left = im->size - pos - sizeof(*chunk);

	damage(im, pos, u32(chunk->len) - left, "the file breaks off");
	if (u32(chunk->type) == CHUNK_DATA && channel < MAX_CHANNELS &&
	    names[channel].name[0] && u32(chunk->file) < MAX_FILE)
		add_block(channel, u32(chunk->file), im->data + pos + sizeof(*chunk), left);
}

static void index_file(struct image *im)
{
	size_t pos = sizeof(struct store_header), next;
	struct store_chunk chunk;

	while (pos < im->size) {
		if (!get_chunk(im, pos, &chunk)) {
			next = resync(im, pos);
			damage(im, pos, next - pos, "not a chunk");
			pos = next;
			continue;
		}
		if (u32(chunk.len) > im->size - pos - sizeof(chunk)) {
			next = resync(im, pos + 1);
			if (next == im->size) {
				take_rest(im, &chunk, pos);
				return;
			}
			damage(im, pos, next - pos, "not a chunk");
			pos = next;
			continue;
		}
		next = pos + sizeof(chunk) + u32(chunk.len);
		if (chunk_crc(&chunk, im->data + pos + sizeof(chunk), u32(chunk.len)) !=
		    u32(chunk.crc)) {
			next = resync(im, pos + 1);
			damage(im, pos, next - pos, "wrong checksum");
		} else if (take_chunk(im, &chunk, pos)) {
			return;
		}
		pos = next;
	}

	damage(im, im->size, 0, "no end: the recording was cut off");
}

static int check_header(struct image *im)
{
	struct store_header h;

	if (im->size < sizeof(h)) {
		complain("%s: too short for a file of gtsc", im->name);
		return -EINVAL;
	}
	memcpy(&h, im->data, sizeof(h));
	if (memcmp(h.magic, STORE_MAGIC, sizeof(h.magic))) {
		complain("%s: not a file of gtsc", im->name);
		return -EINVAL;
	}
	swapped = h.order == bswap_32(STORE_ORDER);
	if (!swapped && h.order != STORE_ORDER) {
		complain("%s: bad byte order", im->name);
		return -EINVAL;
	}
	if (u32(h.version) != STORE_VERSION) {
		complain("%s: version %u, this program knows %u", im->name, u32(h.version),
			 STORE_VERSION);
		return -EINVAL;
	}

	return 0;
}

static int map_file(struct image *im)
{
	struct stat st;
	int fd, ret = 0;

	fd = open(im->name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		ret = -errno;
	if (!ret && st.st_size) {
		im->size = st.st_size;
		im->data = mmap(NULL, im->size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (im->data == MAP_FAILED)
			ret = -errno;
	}
	if (fd >= 0)
		close(fd);
	if (ret)
		complain("%s: %s", im->name, strerror(-ret));

	return ret;
}

/**
 * print_file - print the records of a file
 * @name: the file
 * @format: name of the format
 * @out: where to
 *
 * Return: 0; a negative errno if there is nothing to print, or the file is
 * damaged: then the records that are whole have been printed.
 */
int print_file(const char *name, const char *format, FILE *out)
{
	struct image im = { .name = name };
	unsigned long long nr;
	int ret;

	ret = map_file(&im);
	if (!ret)
		ret = check_header(&im);
	if (ret)
		return ret;

	index_file(&im);
	nr = print_streams(find_format(format), out);
	if (!im.damaged)
		return 0;

	complain("%s: is damaged: %llu records were saved, %llu bytes are lost",
		 name, nr, im.lost);

	return -EIO;
}

/* The kernel */

/*
 * Read at most as much as the channel can hold: it may be running, and reading it may
 * itself be traced.
 */
static int drain(struct channel *ch, unsigned int channel, unsigned int file)
{
	unsigned long long sub_size = 0, nr_sub = 0, left;
	char path[MAX_PATH + 32];
	uint8_t *buf;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/trace%u", ch->path, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;

	get_number(ch, "sub_size", &sub_size);
	get_number(ch, "nr_sub", &nr_sub);
	/* All CPUs' for a global one; headers take more room than those in the buffer */
	left = sub_size * (nr_sub + 2) * 4 * (ch->global ? sysconf(_SC_NPROCESSORS_CONF) : 1);
	do {
		buf = must(malloc(READ_SIZE));
		n = read(fd, buf, READ_SIZE);
		if (n > 0)
			add_block(channel, file, must(realloc(buf, n)), n);
		else
			free(buf);
		left -= n > 0 && (size_t)n < left ? (size_t)n : left;
	} while (n > 0 && left);
	n = n < 0 ? -errno : 0;
	close(fd);

	return n;
}

static int drain_channel(struct channel *ch, unsigned int channel)
{
	DIR *dir = opendir(ch->path);
	struct dirent *entry;
	unsigned int file;
	int ret = dir ? 0 : -errno;
	char end;

	while (!ret && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "trace%u%c", &file, &end) == 1)
			ret = drain(ch, channel, file);
	}
	if (dir)
		closedir(dir);
	if (ret)
		complain("%s: %s", ch->name, strerror(-ret));

	return ret;
}

/**
 * print_channels - read what channels hold now, and print it
 * @channels: the channels
 * @nr: their number
 * @format: name of the format
 * @out: where to
 *
 * Return: 0, or a negative errno after a message.
 */
int print_channels(struct channel *channels, unsigned int nr, const char *format, FILE *out)
{
	int ret;

	for (unsigned int i = 0; i < nr; i++) {
		names[i].flags = channels[i].headers ? STORE_HEADERS : 0;
		memcpy(names[i].name, channels[i].name, sizeof(names[i].name));
		ret = drain_channel(&channels[i], i);
		if (ret)
			return ret;
	}
	print_streams(find_format(format), out);

	return 0;
}

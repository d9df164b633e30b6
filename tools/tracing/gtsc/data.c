// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: merges the records of all channels and CPUs by their time, of a recorded trace, of one
 * that comes by a pipe, or of the kernel, and hands them on. A source holds one
 * buffer, a mapped file, or the packets of one batch from a pipe, never all records of a pipe or of
 * the kernel.
 */
#define _GNU_SOURCE
#include <byteswap.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "map.h"
#include "source.h"

/* Packets that come from a pipe within this time of each other are sorted together, up to a size */
#define BATCH_MS	20
#define BATCH_SIZE	(8 * 1024 * 1024)
#define POLL_MS		200
/* The same if there are records that have been read, but not handed on */
#define HELD_MS		10

static struct source **sources;
static unsigned int nr_sources;
/* A source's number in @sources, by the index of its channel and the number of its buffer file */
static struct map by_file;

/* Of a trace that was recorded */
static struct metadata meta;

static struct source *new_source(void)
{
	sources = must(realloc(sources, (nr_sources + 1) * sizeof(*sources)));
	sources[nr_sources] = must(calloc(1, sizeof(struct source)));

	return sources[nr_sources++];
}

/* The heap: the source with the oldest record is the first one */

static bool is_before(const struct source *a, const struct source *b)
{
	return a->item.time < b->item.time;
}

static void sift_down(struct source **heap, unsigned int nr, unsigned int i)
{
	struct source *s = heap[i];
	unsigned int child;

	for (; (child = 2 * i + 1) < nr; i = child) {
		if (child + 1 < nr && is_before(heap[child + 1], heap[child]))
			child++;
		if (!is_before(heap[child], s))
			break;
		heap[i] = heap[child];
	}
	heap[i] = s;
}

static bool pause_sink(const struct sink *sink)
{
	return !sink->pause || sink->pause(sink->data);
}

/* Hands on all records that the sources have now. Returns whether the sink wants more. */
static bool merge(const struct sink *sink, unsigned long long *taken)
{
	struct source **heap = must(malloc((nr_sources + 1) * sizeof(*heap)));
	unsigned int nr = 0;
	bool more = true;

	for (unsigned int i = 0; i < nr_sources; i++) {
		if (next_item(sources[i]))
			heap[nr++] = sources[i];
	}
	for (unsigned int i = nr / 2; i-- > 0; )
		sift_down(heap, nr, i);

	*taken = 0;
	while (nr && more) {
		*taken += !heap[0]->item.lost;
		more = sink->take(&heap[0]->item, sink->data);
		if (!next_item(heap[0]))
			heap[0] = heap[--nr];
		if (nr)
			sift_down(heap, nr, 0);
	}
	free(heap);

	return pause_sink(sink) && more;
}

static bool any_damaged(unsigned long long *lost)
{
	bool damaged = false;

	*lost = 0;
	for (unsigned int i = 0; i < nr_sources; i++) {
		damaged |= sources[i]->damaged;
		*lost += sources[i]->lost_bytes;
	}

	return damaged;
}

/* Returns 0, or -EINVAL after a message */
static int use_metadata(char *text, const char *name)
{
	if (parse_metadata(text, &meta)) {
		complain("%s: not a trace that gtsc has written", name);
		return -EINVAL;
	}
	use_wall_clock(&meta.clock);
	use_running_kernel(meta.same_boot);

	return 0;
}

/* A recorded trace */

static int read_metadata(int dir, const char *name)
{
	int fd = open_regular(dir, "metadata"), ret;
	struct stat st;
	char *text;
	FILE *f;

	if (fd < 0 || fstat(fd, &st))
		return complain_of(name, fd < 0 ? fd : -errno);
	f = must(fdopen(fd, "r"));
	text = must(malloc(st.st_size + 1));
	text[fread(text, 1, st.st_size, f)] = '\0';
	fclose(f);
	ret = use_metadata(text, name);
	free(text);

	return ret;
}

/* Closes @dir */
static int open_files(int dir, const char *name)
{
	struct dirent *entry;
	struct source *s;
	int ret = 0, error = 0;
	DIR *d;

	d = fdopendir(dir);
	if (!d)
		return complain_of(name, -errno);
	while (!ret && (entry = next_entry(d, &error))) {
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "metadata"))
			continue;
		s = new_source();
		ret = open_stream_file(s, &meta, dir, name, entry->d_name);
		if (ret)
			free(sources[--nr_sources]);
		if (ret == -ENODATA)
			ret = 0;
		else
			complain_of(entry->d_name, ret);
	}
	closedir(d);

	return ret ?: complain_of(name, error);
}

/**
 * read_directory - read a recorded trace
 * @name: the directory
 * @sink: takes the records
 *
 * Return: 0, or a negative errno after a message. If the trace is damaged, @sink has taken the
 * records that are whole.
 */
int read_directory(const char *name, const struct sink *sink)
{
	unsigned long long nr, lost;
	int ret, dir;

	dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return complain_of(name, -errno);
	ret = read_metadata(dir, name);
	if (ret) {
		close(dir);
		return ret;
	}
	ret = open_files(dir, name);
	if (ret)
		return ret;

	merge(sink, &nr);
	if (!any_damaged(&lost))
		return 0;

	complain("%s: is damaged: %llu records were saved, %llu bytes are lost", name, nr, lost);

	return -EIO;
}

/* A trace that comes by a pipe */

/* Returns 0, -ENODATA at the end, or another negative errno */
static int read_all(void *buf, size_t len)
{
	size_t have = 0;
	ssize_t n;

	while (have < len) {
		n = read(STDIN_FILENO, (uint8_t *)buf + have, len - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return have ? -EPIPE : -ENODATA;
		have += n;
	}

	return 0;
}

/* The same within a packet, where the end is an error */
static int read_rest(void *buf, size_t len)
{
	int ret = read_all(buf, len);

	return ret == -ENODATA ? -EPIPE : ret;
}

static int read_metadata_packet(const uint8_t *start, size_t have)
{
	struct ctf_metadata_packet packet;
	uint32_t content, size;
	char *text;
	int ret;

	/* The metadata comes once: its channels are in use */
	if (meta.nr)
		return -EBADMSG;
	memcpy(&packet, start, have);
	ret = read_rest((uint8_t *)&packet + have, sizeof(packet) - have);
	if (ret)
		return ret;
	content = packet.content_size;
	size = packet.packet_size;
	if (packet.magic != CTF_METADATA_MAGIC) {
		content = bswap_32(content);
		size = bswap_32(size);
	}
	content /= 8;
	size /= 8;
	if (content < sizeof(packet) || size < content)
		return -EBADMSG;

	text = must(malloc(size - sizeof(packet) + 1));
	ret = read_rest(text, size - sizeof(packet));
	text[content - sizeof(packet)] = '\0';
	if (!ret)
		ret = use_metadata(text, "standard input");
	free(text);

	return ret;
}

static struct source *source_of(const struct ctf_packet *packet)
{
	uint64_t key = file_key(packet->stream_id, packet->stream_instance_id);
	uint32_t number = map_find(&by_file, key);
	struct source *s;

	if (number != MAP_FREE)
		return sources[number];
	map_add(&by_file, key, nr_sources);
	s = new_source();
	open_blocks(s, &meta, packet);

	return s;
}

static int read_data_packet(const uint8_t *start, size_t have, size_t *size)
{
	uint8_t header[sizeof(struct ctf_packet)];
	struct ctf_packet packet;
	struct block *block;
	bool swapped;
	int ret;

	memcpy(header, start, have);
	ret = read_rest(header + have, sizeof(header) - have);
	if (ret)
		return ret;
	/* Without metadata there are no channels, and no packet is right */
	if (!check_packet(&meta, header, &packet, &swapped) ||
	    packet.packet_size > 2ULL * MAX_RECORD)
		return -EBADMSG;

	*size = packet.packet_size;
	block = must(malloc(sizeof(*block) + *size - sizeof(packet)));
	block->packet = packet;
	block->swapped = swapped;
	ret = read_rest(block->records, *size - sizeof(packet));
	if (ret)
		free(block);
	else
		add_block(source_of(&packet), block);

	return ret;
}

static int read_packet(size_t *size)
{
	uint32_t magic;
	int ret;

	*size = 0;
	ret = read_all(&magic, sizeof(magic));
	if (ret)
		return ret;
	if (magic == CTF_METADATA_MAGIC || magic == bswap_32(CTF_METADATA_MAGIC))
		return read_metadata_packet((uint8_t *)&magic, sizeof(magic));

	return read_data_packet((uint8_t *)&magic, sizeof(magic), size);
}

/* Waits for a packet, and takes those that come soon after it */
static int read_batch(void)
{
	struct pollfd pfd = { .fd = STDIN_FILENO, .events = POLLIN };
	size_t all = 0, size;
	int ret;

	do {
		ret = read_packet(&size);
		all += size;
	} while (!ret && all < BATCH_SIZE && poll(&pfd, 1, BATCH_MS) > 0);

	return ret;
}

/**
 * read_stdin - read the trace that comes from the standard input, as it comes
 * @sink: takes the records
 *
 * Return: 0, or a negative errno after a message.
 */
int read_stdin(const struct sink *sink)
{
	unsigned long long nr, lost;
	bool more;
	int ret;

	/* Ctrl-C ends the program that writes the trace, and the trace with it */
	catch_signals();
	do {
		ret = read_batch();
		more = merge(sink, &nr);
	} while (!ret && more);

	if (ret == -ENODATA && !meta.nr) {
		complain("standard input: is empty");
		return -EIO;
	}
	if (ret == -EBADMSG)
		complain("standard input: not a packet of a trace that gtsc has written");
	else if (ret == -EPIPE)
		complain("standard input: breaks off within a packet");
	else if (ret != -ENODATA && ret != -EINVAL)
		complain_of("standard input", ret);

	return ret == -ENODATA ? (any_damaged(&lost) ? -EIO : 0) : ret;
}

/**
 * forget_trace - free what read_directory() or read_stdin() has left
 *
 * Another trace can be read then. The channels of the records have gone.
 */
void forget_trace(void)
{
	for (unsigned int i = 0; i < nr_sources; i++) {
		close_packets(sources[i]);
		free(sources[i]);
	}
	free(sources);
	map_free(&by_file);
	sources = NULL;
	nr_sources = 0;
	free(meta.channels);
	meta = (struct metadata){ };
}

/* The kernel */

static int add_source(struct channel *ch, unsigned int index, unsigned int number)
{
	int ret = open_buffer_file(new_source(), ch, number);

	if (ret)
		free(sources[--nr_sources]);
	else
		map_add(&by_file, file_key(index, number), nr_sources - 1);

	return ret;
}

/* The records are printed as they come, with the offset of now */
static void use_current_clock(void)
{
	struct wall_clock clock;

	begin_wall_clock(&clock);
	use_wall_clock(&clock);
}

/*
 * What was written up to now: reading may itself be traced, and never come to an end. @last: also
 * what has been read and is later, which is held else.
 */
static bool merge_now(const struct sink *sink, bool last, unsigned long long *taken)
{
	uint64_t now = now_ns();

	for (unsigned int i = 0; i < nr_sources; i++)
		read_until(sources[i], now, !last);

	return merge(sink, taken);
}

/* Returns false if all channels have gone, and were read to their ends */
static bool wait_for_records(void)
{
	struct pollfd *pfds = must(calloc(nr_sources + 1, sizeof(*pfds)));
	bool any = false, held = false;

	for (unsigned int i = 0; i < nr_sources; i++) {
		pfds[i].fd = sources[i]->gone ? -1 : sources[i]->in.fd;
		pfds[i].events = POLLIN;
		held |= sources[i]->late;
	}
	poll(pfds, nr_sources, held ? HELD_MS : POLL_MS);
	for (unsigned int i = 0; i < nr_sources; i++) {
		if ((pfds[i].revents & (POLLHUP | POLLIN)) == POLLHUP)
			sources[i]->gone = true;
		any |= !sources[i]->gone;
	}
	free(pfds);

	return any;
}

/*
 * Returns 0, or the error of a buffer file that has come and cannot be opened: the others are read
 * on.
 */
static int follow(struct channel *channels, unsigned int nr, double seconds,
		  bool (*ended)(void), const struct sink *sink)
{
	uint64_t start = now_ns(), looked = start, now;
	unsigned long long taken;
	int ret = 0;

	while (!interrupted && !(ended && ended()) && wait_for_records()) {
		now = now_ns();
		if (seconds && (now - start) / 1e9 >= seconds)
			break;
		/* A CPU may have come, and the wall clock have been set */
		if (now - looked > SECOND) {
			if (!ret)
				ret = open_new_files(channels, nr, &by_file, add_source);
			use_current_clock();
			looked = now;
		}
		if (!merge_now(sink, false, &taken))
			return ret;
		/* The end of a plain file is always ready */
		if (!taken)
			usleep(10000);
	}
	/* A CPU may have come since the last look */
	if (!ret)
		ret = open_new_files(channels, nr, &by_file, add_source);
	merge_now(sink, true, &taken);

	return ret;
}

static int close_sources(int ret)
{
	unsigned long long lost;

	if (!ret && any_damaged(&lost))
		ret = -EIO;
	for (unsigned int i = 0; i < nr_sources; i++)
		input_close(&sources[i]->in);

	return ret;
}

/**
 * read_channels - read what channels hold now
 * @channels: the channels
 * @nr: their number
 * @sink: takes the records
 *
 * Return: 0, or a negative errno after a message.
 */
int read_channels(struct channel *channels, unsigned int nr, const struct sink *sink)
{
	unsigned long long taken;
	int ret = open_new_files(channels, nr, &by_file, add_source);

	use_current_clock();
	if (!ret)
		merge_now(sink, true, &taken);

	return close_sources(ret);
}

/**
 * follow_channels - read what channels hold now and later
 * @channels: the channels
 * @nr: their number
 * @seconds: how long; 0: until a signal, or until the channels have gone
 * @ended: if not NULL: ends it, too, when it returns true
 * @sink: takes the records
 *
 * Return: 0, or a negative errno after a message.
 */
int follow_channels(struct channel *channels, unsigned int nr, double seconds,
		    bool (*ended)(void), const struct sink *sink)
{
	unsigned long long taken;
	int ret = open_new_files(channels, nr, &by_file, add_source);

	use_current_clock();
	catch_signals();
	if (!ret && merge_now(sink, false, &taken))
		ret = follow(channels, nr, seconds, ended, sink);

	return close_sources(ret);
}

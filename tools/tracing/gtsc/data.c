// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc, the data layer: merges the records of all channels and CPUs by their time, of a
 * recorded trace, of a stream or of the kernel, and hands them on. It holds a buffer for
 * each of them, not the records.
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
#include "output.h"
#include "reader.h"

/* What a pipe gives in this time is sorted, but no more than so much of it */
#define BATCH_MS	20
#define BATCH_SIZE	(8 * 1024 * 1024)
#define POLL_MS		200

static struct stream **streams;
static unsigned int nr_streams;
/* A stream's number in @streams, by the numbers of its channel and of its trace file */
static struct map by_file;

/* Of a trace that was recorded */
static struct metadata meta;

static struct stream *new_stream(void)
{
	streams = must(realloc(streams, (nr_streams + 1) * sizeof(*streams)));
	streams[nr_streams] = must(calloc(1, sizeof(struct stream)));

	return streams[nr_streams++];
}

static uint64_t file_key(unsigned int channel, unsigned int number)
{
	return (uint64_t)channel << 32 | number;
}

/* The heap: the stream with the oldest record is the first one */

static bool is_before(const struct stream *a, const struct stream *b)
{
	return a->item.time < b->item.time;
}

static void sift_down(struct stream **heap, unsigned int nr, unsigned int i)
{
	struct stream *s = heap[i];
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

/* All that the streams have now. Returns whether the sink wants more. */
static bool merge(const struct sink *sink, unsigned long long *taken)
{
	struct stream **heap = must(malloc((nr_streams + 1) * sizeof(*heap)));
	unsigned int nr = 0;
	bool more = true;

	for (unsigned int i = 0; i < nr_streams; i++) {
		if (next_item(streams[i]))
			heap[nr++] = streams[i];
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
	for (unsigned int i = 0; i < nr_streams; i++) {
		damaged |= streams[i]->damaged;
		*lost += streams[i]->lost_bytes;
	}

	return damaged;
}

static int use_metadata(char *text, const char *name)
{
	if (parse_metadata(text, &meta)) {
		complain("%s: not a trace that gtsc has written", name);
		return -EINVAL;
	}
	use_wall_clock(&meta.clock);

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
	struct stream *s;
	int ret = 0;
	DIR *d;

	d = fdopendir(dir);
	if (!d)
		return complain_of(name, -errno);
	while (!ret && (entry = readdir(d))) {
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "metadata"))
			continue;
		s = new_stream();
		ret = open_packet_file(s, &meta, dir, name, entry->d_name);
		if (ret)
			free(streams[--nr_streams]);
		if (ret == -ENODATA)
			ret = 0;
		else
			complain_of(entry->d_name, ret);
	}
	closedir(d);

	return ret;
}

/* A trace of an older gtsc has its names in a file, not in the metadata */
static void use_kallsyms(int dir)
{
	int fd = open_regular(dir, KALLSYMS_NAME);

	if (fd >= 0)
		load_kallsyms(must(fdopen(fd, "r")));
}

/**
 * read_directory - read a recorded trace
 * @name: the directory
 * @sink: takes the records
 *
 * Return: 0; a negative errno if there is nothing to read, or the trace is
 * damaged: then the records that are whole have been taken.
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
	use_kallsyms(dir);
	ret = open_files(dir, name);
	if (ret)
		return ret;

	merge(sink, &nr);
	if (!any_damaged(&lost))
		return 0;

	complain("%s: is damaged: %llu records were saved, %llu bytes are lost", name, nr, lost);

	return -EIO;
}

/* A stream from a pipe */

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

static int read_metadata_packet(const uint8_t *start, size_t have)
{
	struct ctf_metadata_packet packet;
	uint32_t content, size;
	char *text;
	int ret;

	/* A stream has it once: the channels are in use */
	if (meta.nr)
		return -EBADMSG;
	memcpy(&packet, start, have);
	ret = read_all((uint8_t *)&packet + have, CTF_METADATA_PACKET - have);
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
	if (content < CTF_METADATA_PACKET || size < content)
		return -EBADMSG;

	text = must(malloc(size - CTF_METADATA_PACKET + 1));
	ret = read_all(text, size - CTF_METADATA_PACKET);
	text[content - CTF_METADATA_PACKET] = '\0';
	if (!ret)
		ret = use_metadata(text, "standard input");
	free(text);

	return ret;
}

static struct stream *stream_of(const struct ctf_packet *packet)
{
	uint64_t key = file_key(packet->stream_id, packet->stream_instance_id);
	uint32_t number = map_find(&by_file, key);
	struct stream *s;

	if (number != MAP_FREE)
		return streams[number];
	map_add(&by_file, key, nr_streams);
	s = new_stream();
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
	ret = read_all(header + have, sizeof(header) - have);
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
	ret = read_all(block->records, *size - sizeof(packet));
	if (ret)
		free(block);
	else
		add_block(stream_of(&packet), block);

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
 * read_stdin - read the stream that comes from the standard input, as it comes
 * @sink: takes the records
 *
 * Return: 0, or a negative errno after a message.
 */
int read_stdin(const struct sink *sink)
{
	unsigned long long nr, lost;
	bool more;
	int ret;

	/* Ctrl-C ends what writes the stream, and the stream with it */
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
	for (unsigned int i = 0; i < nr_streams; i++) {
		close_packets(streams[i]);
		free(streams[i]);
	}
	free(streams);
	map_free(&by_file);
	streams = NULL;
	nr_streams = 0;
	free(meta.channels);
	meta = (struct metadata){ };
}

/* The kernel */

struct place {
	struct channel	*ch;
	unsigned int	channel;
};

static int add_stream(unsigned int number, void *data)
{
	const struct place *place = data;
	uint64_t key = file_key(place->channel, number);
	int ret;

	if (map_find(&by_file, key) != MAP_FREE)
		return 0;
	ret = open_trace_file(new_stream(), place->ch, number);
	if (ret)
		free(streams[--nr_streams]);
	else
		map_add(&by_file, key, nr_streams - 1);

	return ret;
}

/* The records are printed as they come, with the offset of now */
static void use_current_clock(void)
{
	struct wall_clock clock;

	begin_wall_clock(&clock);
	use_wall_clock(&clock);
}

static int add_streams(struct channel *channels, unsigned int nr)
{
	int ret = 0;

	for (unsigned int i = 0; i < nr && !ret; i++) {
		struct place place = { &channels[i], i };

		ret = for_trace_files(&channels[i], add_stream, &place);
	}

	return ret;
}

/* What was written up to now: reading may itself be traced, and never come to an end */
static bool merge_now(const struct sink *sink, unsigned long long *taken)
{
	uint64_t now = now_ns();

	for (unsigned int i = 0; i < nr_streams; i++) {
		streams[i]->until = now;
		streams[i]->last = 0;
	}

	return merge(sink, taken);
}

/* Returns false if all channels have gone, and were read to their ends */
static bool wait_for_records(void)
{
	struct pollfd *pfds = must(calloc(nr_streams + 1, sizeof(*pfds)));
	bool any = false;

	for (unsigned int i = 0; i < nr_streams; i++) {
		pfds[i].fd = streams[i]->gone ? -1 : streams[i]->in.fd;
		pfds[i].events = POLLIN;
	}
	poll(pfds, nr_streams, POLL_MS);
	for (unsigned int i = 0; i < nr_streams; i++) {
		if ((pfds[i].revents & (POLLHUP | POLLIN)) == POLLHUP)
			streams[i]->gone = true;
		any |= !streams[i]->gone;
	}
	free(pfds);

	return any;
}

/* Returns the error of a file that cannot be opened, if one comes: it goes on without it */
static int follow(struct channel *channels, unsigned int nr, double seconds,
		  const struct sink *sink)
{
	uint64_t start = now_ns(), looked = start, now;
	unsigned long long taken;
	int ret = 0;

	while (!interrupted && !traced_task_ended() && wait_for_records()) {
		now = now_ns();
		if (seconds && (now - start) / 1e9 >= seconds)
			break;
		/* A CPU may have come, and the wall clock have been set */
		if (now - looked > 1000000000) {
			if (!ret)
				ret = add_streams(channels, nr);
			use_current_clock();
			looked = now;
		}
		if (!merge_now(sink, &taken))
			return ret;
		/* The end of a plain file is always ready */
		if (!taken)
			usleep(10000);
	}
	merge_now(sink, &taken);

	return ret;
}

static int close_streams(int ret)
{
	unsigned long long lost;

	if (!ret && any_damaged(&lost))
		ret = -EIO;
	for (unsigned int i = 0; i < nr_streams; i++)
		input_close(&streams[i]->in);

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
	int ret = add_streams(channels, nr);

	use_current_clock();
	if (!ret)
		merge_now(sink, &taken);

	return close_streams(ret);
}

/**
 * follow_channels - read what channels hold now and later
 * @channels: the channels
 * @nr: their number
 * @seconds: how long; 0: until a signal, or until the channels have gone
 * @sink: takes the records
 *
 * Return: 0, or a negative errno after a message.
 */
int follow_channels(struct channel *channels, unsigned int nr, double seconds,
		    const struct sink *sink)
{
	unsigned long long taken;
	int ret = add_streams(channels, nr);

	use_current_clock();
	catch_signals();
	if (!ret && merge_now(sink, &taken))
		ret = follow(channels, nr, seconds, sink);

	return close_streams(ret);
}

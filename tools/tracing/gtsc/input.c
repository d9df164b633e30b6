// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: an open buffer file. It gives records with headers, and several at a time; the part of a
 * record at the end stays in the buffer until the rest has come.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gtsc.h"
#include "map.h"

/* Room for many small records at a time; a large one gets more */
#define READ_SIZE	(256 * 1024)

/**
 * open_regular - open a regular file to read from
 * @dir: a file descriptor of its directory
 * @name: the file; no symbolic link
 *
 * Return: a file descriptor, or a negative errno: -ELOOP if it is a symbolic link, -EINVAL if it
 * is another kind of file.
 */
int open_regular(int dir, const char *name)
{
	struct stat st;
	int fd, ret = 0;

	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		ret = -errno;
	else if (!S_ISREG(st.st_mode))
		ret = -EINVAL;
	if (!ret)
		return fd;
	close(fd);

	return ret;
}

/**
 * next_entry - read the next entry of a directory
 * @d: the directory
 * @error: set to 0 at the end, or to a negative errno if the entry cannot be read
 *
 * Return: the entry, or NULL.
 */
struct dirent *next_entry(DIR *d, int *error)
{
	struct dirent *entry;

	errno = 0;
	entry = readdir(d);
	if (!entry)
		*error = -errno;

	return entry;
}

/* The key of a buffer file: the index of its channel, and the number in its name */
uint64_t file_key(unsigned int index, unsigned int number)
{
	return (uint64_t)index << 32 | number;
}

/* Returns 0, also if the channel has gone, or a negative errno after a message */
static int open_new_files_of(struct channel *ch, unsigned int index, const struct map *opened,
			     open_file_func *open_file)
{
	int ret = 0, error = 0;
	struct dirent *entry;
	unsigned int number;
	char end;
	DIR *d;

	/* What has its name now is another channel */
	if (ch->gone)
		return 0;
	d = opendir(ch->path);
	if (!d)
		/* The channel may have gone with its module: it has no files to open then */
		return errno == ENOENT ? 0 : complain_of_channel(ch->name, -errno);
	while (!ret && (entry = next_entry(d, &error))) {
		if (sscanf(entry->d_name, "buffer%u%c", &number, &end) != 1)
			continue;
		if (map_find(opened, file_key(index, number)) == MAP_FREE)
			ret = open_file(ch, index, number);
	}
	closedir(d);

	return ret ?: complain_of_channel(ch->name, error);
}

/**
 * open_new_files - open the buffer files that are not open yet: a CPU may have come
 * @channels: the channels
 * @nr: their number
 * @opened: has the files that are open, by file_key()
 * @open_file: opens a file, and adds it to @opened. Returns 0, or a negative errno after a message.
 *
 * Return: 0, also if a channel has gone, or a negative errno after a message.
 */
int open_new_files(struct channel *channels, unsigned int nr, const struct map *opened,
		   open_file_func *open_file)
{
	int ret = 0;

	for (unsigned int i = 0; i < nr && !ret; i++)
		ret = open_new_files_of(&channels[i], i, opened, open_file);

	return ret;
}

/* Returns 0, or a negative errno after a message */
int input_open(struct input *in, const struct channel *ch, unsigned int number)
{
	char path[MAX_PATH + 32];

	memset(in, 0, sizeof(*in));
	snprintf(path, sizeof(path), "%s/buffer%u", ch->path, number);
	in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (in->fd < 0)
		return complain_of_channel(path, -errno);

	in->room = READ_SIZE;

	return 0;
}

/* A buffer, with room for the record of which only a part is there */
static int make_room(struct input *in)
{
	struct gtsc_record_header h;
	uint8_t *buf;
	size_t room;

	if (!in->buf) {
		in->buf = malloc(in->room);
		return in->buf ? 0 : -ENOMEM;
	}
	if (in->have < sizeof(h))
		return 0;
	memcpy(&h, in->buf, sizeof(h));
	if (h.len > MAX_RECORD)
		return -EBADMSG;
	if (record_size(h.len) <= in->room)
		return 0;

	room = record_size(h.len) + READ_SIZE;
	buf = realloc(in->buf, room);
	if (!buf)
		return -ENOMEM;
	in->buf = buf;
	in->room = room;

	return 0;
}

/**
 * input_read - read once
 * @in: the buffer file; of what it has, @in->used bytes are dropped
 *
 * Return: the number of bytes that were read, 0 if there is nothing now, or a negative
 * errno.
 */
ssize_t input_read(struct input *in)
{
	ssize_t n;
	int ret;

	in->have -= in->used;
	if (in->have && in->used)
		memmove(in->buf, in->buf + in->used, in->have);
	in->used = 0;
	ret = make_room(in);
	if (ret)
		return ret;

	do {
		n = read(in->fd, in->buf + in->have, in->room - in->have);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	in->have += n;

	return n;
}

void input_close(struct input *in)
{
	close(in->fd);
	free(in->buf);
}

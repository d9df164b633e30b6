// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: finds channels in debugfs, and reads and writes their files.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gtsc.h"

#define DEBUGFS "/sys/kernel/debug"

static int read_file(const char *dir, const char *name, char *buf, size_t size)
{
	char path[MAX_PATH + 64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	if (n < 0)
		n = -errno;
	else
		buf[n] = '\0';
	close(fd);

	return n < 0 ? n : 0;
}

static int write_file(const char *dir, const char *name, const char *text)
{
	char path[MAX_PATH + 64];
	int fd, ret = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);

	return ret;
}

/*
 * @mode: gets the word in brackets of a line like "none [integrity] confidentiality". Returns false
 * if this word is "none", or if there is no such file or word.
 */
static bool is_locked_down(char *mode, size_t size)
{
	char buf[128], *start, *end;

	if (read_file("/sys/kernel/security", "lockdown", buf, sizeof(buf)))
		return false;
	start = strchr(buf, '[');
	end = start ? strchr(start, ']') : NULL;
	if (!end || !strncmp(start, "[none]", 6))
		return false;
	snprintf(mode, size, "%.*s", (int)(end - start - 1), start + 1);

	return true;
}

/**
 * complain_of_channel - say what went wrong with a file of a channel
 * @name: the file or the channel
 * @error: a negative errno; 0: nothing is said
 *
 * A kernel that is locked down refuses root, too.
 *
 * Return: @error.
 */
int complain_of_channel(const char *name, int error)
{
	char mode[32] = "";

	if (error != -EPERM || geteuid())
		return complain_of(name, error);

	if (is_locked_down(mode, sizeof(mode)))
		complain("%s: the kernel is locked down (lockdown=%s)", name, mode);
	else
		complain("%s: %s, although you are root: is the kernel locked down?", name,
			 strerror(-error));
	complain("then channels cannot be changed, or not even be read");

	return error;
}

static bool has(const char *dir, const char *name)
{
	char path[MAX_PATH + 300];

	snprintf(path, sizeof(path), "%s/%s", dir, name);

	return !access(path, F_OK);
}

/* Whether a directory is that of a channel; fills @ch in */
static bool is_channel(const char *dir, struct channel *ch)
{
	char flags[128];

	if (!has(dir, "sub_size") || !has(dir, "nr_sub") || !has(dir, "stats") ||
	    read_file(dir, "flags", flags, sizeof(flags)))
		return false;

	memset(ch, 0, sizeof(*ch));
	snprintf(ch->path, sizeof(ch->path), "%s", dir);
	if (!strncmp(dir, DEBUGFS "/", sizeof(DEBUGFS)))
		dir += sizeof(DEBUGFS);
	escape(ch->name, sizeof(ch->name), dir);
	ch->flight = strstr(flags, "flight");
	ch->global = strstr(flags, "global");
	if (read_file(ch->path, "format", ch->format, sizeof(ch->format)))
		return true;
	ch->format[strcspn(ch->format, "\n")] = '\0';
	if (parse_fields(ch->format, &ch->fields))
		complain("%s: its format is not understood: %s", ch->name, ch->format);

	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct channel *)a)->name, ((const struct channel *)b)->name);
}

/* Appends a channel to an array, which may move. Returns the channel, filled with zeros. */
struct channel *add_channel(struct channel **channels, unsigned int *nr)
{
	*channels = must(realloc(*channels, (*nr + 1) * sizeof(**channels)));

	return memset(&(*channels)[(*nr)++], 0, sizeof(**channels));
}

/*
 * Adds the channels in @dir, and @depth levels below it. Returns 0, or a negative errno if @dir
 * cannot be read; a directory below it that cannot be read is left out.
 */
static int look_in(const char *dir, int depth, struct channel **channels, unsigned int *nr)
{
	unsigned int first = *nr;
	char path[MAX_PATH];
	struct dirent *entry;
	int ret = 0;
	DIR *d;

	if (is_channel(dir, add_channel(channels, nr)))
		return 0;
	--*nr;

	if (!depth)
		return 0;
	d = opendir(dir);
	if (!d)
		return -errno;
	while ((entry = next_entry(d, &ret))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name) < (int)sizeof(path))
			look_in(path, depth - 1, channels, nr);
	}
	closedir(d);
	qsort(*channels + first, *nr - first, sizeof(**channels), by_name);

	return ret;
}

/**
 * find_channels - add the channels of a trace to others
 * @what: ROOT/NAME, ROOT/NAME/CHANNEL or a directory
 * @channels: the others; may move
 * @nr: their number
 *
 * Return: 0; -ENOENT if there is no such trace; another negative errno if the directory cannot be
 * read.
 */
int find_channels(const char *what, struct channel **channels, unsigned int *nr)
{
	unsigned int first = *nr;
	char path[MAX_PATH];
	size_t len;
	int ret;

	if (snprintf(path, sizeof(path), "%s%s", *what == '/' ? "" : DEBUGFS "/", what) >=
	    (int)sizeof(path))
		return -ENOENT;
	for (len = strlen(path); len > 1 && path[len - 1] == '/'; len--)
		path[len - 1] = '\0';

	ret = look_in(path, 1, channels, nr);
	if (ret && ret != -ENOTDIR)
		return ret;

	return *nr == first ? -ENOENT : 0;
}

/*
 * Adds all channels that there are: two or three levels below the root of debugfs. Returns 0, or a
 * negative errno after a message.
 */
int find_all(struct channel **channels, unsigned int *nr)
{
	return complain_of(DEBUGFS, look_in(DEBUGFS, 3, channels, nr));
}

/* Functions for files of a channel return 0, or a negative errno */

int get_state(const struct channel *ch, char *state, size_t size)
{
	int ret = read_file(ch->path, "state", state, size);

	if (!ret)
		state[strcspn(state, "\n")] = '\0';

	return ret;
}

int set_state(const struct channel *ch, const char *state)
{
	return write_file(ch->path, "state", state);
}

int get_number(const struct channel *ch, const char *file, unsigned long long *number)
{
	char buf[64];
	int ret = read_file(ch->path, file, buf, sizeof(buf));

	if (!ret)
		*number = strtoull(buf, NULL, 10);

	return ret;
}

int put_number(const struct channel *ch, const char *file, unsigned long long number)
{
	char buf[32];

	snprintf(buf, sizeof(buf), "%llu", number);

	return write_file(ch->path, file, buf);
}

/* Both at once; @discard: also if there are unread records */
int put_size(const struct channel *ch, unsigned long long sub_size, unsigned long long nr_sub,
	     bool discard)
{
	char buf[64];

	snprintf(buf, sizeof(buf), "%llu %llu%s", sub_size, nr_sub, discard ? " discard" : "");

	return write_file(ch->path, "size", buf);
}

int get_stats(const struct channel *ch, struct stats *stats)
{
	char buf[1024], *line, *next;
	const struct {
		const char *key;
		unsigned long long *number;
	} keys[] = {
		{ "written", &stats->written }, { "read", &stats->read },
		{ "unread", &stats->unread }, { "overwritten", &stats->overwritten },
		{ "dropped_full", &stats->full }, { "dropped_too_big", &stats->too_big },
		{ "dropped_nested", &stats->nested },
	};
	int ret = read_file(ch->path, "stats", buf, sizeof(buf));

	memset(stats, 0, sizeof(*stats));
	if (ret)
		return ret;
	for (line = strtok_r(buf, "\n", &next); line; line = strtok_r(NULL, "\n", &next)) {
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			size_t len = strlen(keys[i].key);

			if (!strncmp(line, keys[i].key, len) && line[len] == ' ')
				*keys[i].number = strtoull(line + len, NULL, 10);
		}
	}

	return 0;
}

/* Records that were dropped when they were written */
unsigned long long all_dropped(const struct stats *s)
{
	return s->full + s->too_big + s->nested;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: the directory of a recorded trace. It belongs to the user who records, nobody else
 * can write to it, it is no symbolic link itself, and no link in it is followed. New files are
 * made in a directory within it, and take the place of an old trace when all of them are open, or
 * of older files of the same trace.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf.h"
#include "output.h"

#define STAGED_NAME	".gtsc.new"

/* A list of the names in @dir, with a position of its own */
static DIR *open_list(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);

	return d;
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Calls @do_one for each name in @dir, until it returns another value than 0 */
static int for_names(int dir, int (*do_one)(struct output *o, const char *name),
		     struct output *o)
{
	struct dirent *entry;
	int ret = 0;
	DIR *d;

	d = open_list(dir);
	if (!d)
		return -errno;
	while (!ret && (entry = next_entry(d, &ret))) {
		if (!is_dots(entry->d_name))
			ret = do_one(o, entry->d_name);
	}
	closedir(d);

	return ret;
}

/* The trace that is in the directory */

/* A power cut may have left zeros in place of data that were not written yet */
static bool has_only_zeros(int fd)
{
	uint8_t buf[4096];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (buf[i])
				return false;
		}
	}

	return !n;
}

static bool is_stream_file(int dir, const char *name)
{
	const char *end = strrchr(name, '_');
	uint32_t magic = 0;
	bool ours = false;
	int fd;

	if (!end || !end[1] || end[1 + strspn(end + 1, "0123456789")])
		return false;
	fd = open_regular(dir, name);
	if (fd < 0)
		return false;
	/* A CPU that has written nothing has an empty one */
	if (read(fd, &magic, sizeof(magic)) >= 0)
		ours = magic == CTF_MAGIC || magic == __builtin_bswap32(CTF_MAGIC) ||
		       (!magic && has_only_zeros(fd));
	close(fd);

	return ours;
}

/* Whether a file gives way to a new trace */
static bool is_old(int dir, const char *name)
{
	return !strcmp(name, "metadata") || is_stream_file(dir, name);
}

static bool has_trace(int dir)
{
	int fd = open_regular(dir, "metadata");
	bool ours;
	FILE *f;

	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f)
		return false;
	ours = is_our_metadata(f);
	fclose(f);

	return ours;
}

static int is_other(struct output *o, const char *name)
{
	return !!strcmp(name, STAGED_NAME);
}

/* The directory of the new files */

static int remove_staged(struct output *o, const char *name)
{
	return unlinkat(o->staged, name, 0) ? -errno : 0;
}

/* A recording that was killed may have left one */
static int remove_stage(struct output *o)
{
	int ret = 0;

	o->staged = openat(o->dir, STAGED_NAME, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (o->staged >= 0) {
		ret = for_names(o->staged, remove_staged, o);
		close(o->staged);
		o->staged = -1;
	}
	if (!ret && unlinkat(o->dir, STAGED_NAME, AT_REMOVEDIR) && errno != ENOENT)
		ret = -errno;

	return ret;
}

static int make_stage(struct output *o)
{
	int ret = remove_stage(o);

	if (ret)
		return ret;
	if (mkdirat(o->dir, STAGED_NAME, 0700))
		return -errno;
	o->staged = openat(o->dir, STAGED_NAME, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return o->staged < 0 ? -errno : 0;
}

/* Opening */

static int complain_of_open(const char *name, int error)
{
	struct stat st;

	if ((error != -ENOTDIR && error != -ELOOP) || lstat(name, &st))
		return complain_of(name, error);
	if (S_ISLNK(st.st_mode))
		complain("%s: is a symbolic link", name);
	else
		complain("%s: exists, and is not a directory", name);

	return error;
}

/* Others could have put files into the directory, or put them there while gtsc records */
static int check_owner(const struct output *o)
{
	struct stat st;

	if (fstat(o->dir, &st))
		return complain_of(o->name, -errno);
	if (st.st_uid != geteuid()) {
		complain("%s: belongs to another user (%u)", o->name, st.st_uid);
		return -EPERM;
	}
	if (st.st_mode & 022) {
		complain("%s: others can write to it", o->name);
		return -EPERM;
	}

	return 0;
}

static int check_content(struct output *o)
{
	int ret;

	/* Not every file system has locks */
	if (flock(o->dir, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		complain("%s: another gtsc records into it", o->name);
		return -EBUSY;
	}
	if (has_trace(o->dir))
		return 0;
	ret = for_names(o->dir, is_other, o);
	if (ret < 0)
		return complain_of(o->name, ret);
	if (ret) {
		complain("%s: is not empty, and not a trace that gtsc has written", o->name);
		return -ENOTEMPTY;
	}

	return 0;
}

static int open_directory(struct output *o)
{
	size_t len = strlen(o->name);
	char *name = must(strdup(o->name));
	int ret = 0;

	/* With a slash behind it, a symbolic link would be followed */
	while (len > 1 && name[len - 1] == '/')
		name[--len] = '\0';
	if (mkdir(name, 0700) && errno != EEXIST) {
		ret = complain_of(name, -errno);
	} else {
		o->dir = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (o->dir < 0)
			ret = complain_of_open(name, -errno);
	}
	free(name);

	return ret;
}

/**
 * output_open - make the directory of a trace, or open that of an old one
 * @o: filled in
 * @name: the directory
 *
 * An old trace stays until output_publish().
 *
 * Return: 0, or a negative errno after a message.
 */
int output_open(struct output *o, const char *name)
{
	int ret;

	*o = (struct output){ .name = name, .dir = -1, .staged = -1 };
	ret = open_directory(o) ?: check_owner(o) ?: check_content(o);
	/* Others may have been allowed to read an old one */
	if (!ret)
		ret = complain_of(name, fchmod(o->dir, 0700) ? -errno : make_stage(o));
	if (ret)
		output_close(o);

	return ret;
}

/**
 * output_create - make a file of the trace
 * @o: the directory
 * @name: the file
 *
 * Return: a file descriptor, or a negative errno: -EEXIST if there is such a file already
 * that does not give way to the new trace.
 */
int output_create(struct output *o, const char *name)
{
	int dir = o->staged < 0 ? o->dir : o->staged, fd;

	if (o->staged >= 0 && !faccessat(o->dir, name, F_OK, AT_SYMLINK_NOFOLLOW) &&
	    !is_old(o->dir, name))
		return -EEXIST;
	fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

static int remove_old(struct output *o, const char *name)
{
	if (!strcmp(name, "metadata") || !is_old(o->dir, name))
		return 0;

	return unlinkat(o->dir, name, 0) ? -errno : 0;
}

static int move(struct output *o, const char *name)
{
	return renameat(o->staged, name, o->dir, name) ? -errno : 0;
}

/**
 * output_publish - put the new files into the place of an old trace
 * @o: the directory
 *
 * The new metadata comes first: the directory is that of a trace at any time.
 *
 * Return: 0, or a negative errno after a message.
 */
int output_publish(struct output *o)
{
	int ret;

	ret = move(o, "metadata");
	if (!ret)
		ret = for_names(o->dir, remove_old, o);

	return ret ? complain_of(o->name, ret) : output_replace(o);
}

/**
 * output_restage - begin to replace files of a trace that was published
 * @o: the directory
 *
 * Files that are made from now on stay aside until output_replace().
 *
 * Return: 0, or a negative errno.
 */
int output_restage(struct output *o)
{
	return make_stage(o);
}

/**
 * output_replace - move the new files into the directory, over those of the same names
 * @o: the directory
 *
 * A reader sees the old or the new content of a file, not a part of it.
 *
 * Return: 0, or a negative errno after a message.
 */
int output_replace(struct output *o)
{
	int ret = for_names(o->staged, move, o);

	if (ret)
		return complain_of(o->name, ret);
	close(o->staged);
	o->staged = -1;

	return complain_of(o->name, remove_stage(o));
}

/* Files that were not published are removed */
void output_close(struct output *o)
{
	if (o->staged >= 0) {
		close(o->staged);
		remove_stage(o);
	}
	if (o->dir >= 0)
		close(o->dir);
}

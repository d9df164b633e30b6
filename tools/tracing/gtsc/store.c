// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: the file that records are stored in. It consists of chunks, each with a
 * checksum, so that the whole chunks of a damaged file can be found.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "gtsc.h"
#include "store.h"

struct writer {
	FILE		*file;
	pthread_mutex_t	lock;
	int		error;
};

/* Of the bytes as they are in the file: the byte order is that of its writer */
uint32_t chunk_crc(const struct store_chunk *chunk, const void *data, size_t len)
{
	size_t first = offsetof(struct store_chunk, type);
	uint32_t crc = crc32(0, (const uint8_t *)chunk + first,
			     offsetof(struct store_chunk, crc) - first);

	return len ? crc32(crc, data, len) : crc;
}

struct writer *store_create(const char *name)
{
	struct store_header header = {
		.magic = STORE_MAGIC, .version = STORE_VERSION, .order = STORE_ORDER,
	};
	struct writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;

	pthread_mutex_init(&w->lock, NULL);
	w->file = fopen(name, "we");
	if (!w->file || fwrite(&header, sizeof(header), 1, w->file) != 1) {
		int error = errno;

		if (w->file)
			fclose(w->file);
		free(w);
		errno = error;
		return NULL;
	}

	return w;
}

/* Returns 0, or the error that this or an earlier write has met */
int store_write(struct writer *w, enum chunk_type type, unsigned int channel,
		unsigned int file, const void *data, size_t len)
{
	struct store_chunk chunk = {
		.magic = CHUNK_MAGIC, .type = type, .channel = channel, .file = file, .len = len,
	};
	int ret;

	chunk.crc = chunk_crc(&chunk, data, len);

	pthread_mutex_lock(&w->lock);
	errno = 0;
	if (!w->error && (fwrite(&chunk, sizeof(chunk), 1, w->file) != 1 ||
			  (len && fwrite(data, len, 1, w->file) != 1)))
		w->error = errno ? -errno : -EIO;
	ret = w->error;
	pthread_mutex_unlock(&w->lock);

	return ret;
}

int store_close(struct writer *w)
{
	int ret = store_write(w, CHUNK_END, 0, 0, NULL, 0);

	if (fclose(w->file) && !ret)
		ret = -errno;
	free(w);

	return ret;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gtsc: the consumer of the kernel's trace channels, in three layers.
 *
 *	control.c	the files that start, stop and size a channel
 *	buffer.c	a thread for each trace file, which stores what it reads
 *	data.c		what was stored, merged by time
 *
 * store.c is the file between the last two, and formats.c prints records.
 */
#ifndef GTSC_H
#define GTSC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MAX_CHANNELS	64
#define MAX_PATH	4096
#define NAME_SIZE	160	/* root/trace/channel, 64 characters each at most */

/* include/uapi/linux/gtsc.h */
struct gtsc_record_header {
	uint32_t len;
	uint32_t cpu;
	uint64_t time;
};

/* Control */

struct stats {
	unsigned long long	written, read, unread, overwritten;
	unsigned long long	full, too_big, nested;
};

struct channel {
	char		path[MAX_PATH];
	char		name[NAME_SIZE];
	bool		headers;
	bool		flight;
	bool		global;
	bool		started;	/* by us */
	struct stats	stats;		/* as they were read last, while recording */
	bool		gone;		/* they can no longer be read */
};

int find_channels(const char *what, struct channel *channels, unsigned int max);
int find_all(struct channel *channels, unsigned int max);
int get_state(const struct channel *ch, char *state, size_t size);
int set_state(const struct channel *ch, const char *state);
int get_number(const struct channel *ch, const char *file, unsigned long long *number);
int put_number(const struct channel *ch, const char *file, unsigned long long number);
int get_stats(const struct channel *ch, struct stats *stats);

/* Buffer */

struct record_options {
	const char	*output;
	double		seconds;
	bool		quiet;
};

int record(struct channel *channels, unsigned int nr, const struct record_options *options);

/* Store */

/* In the byte order of the machine that wrote it */
#define STORE_MAGIC	"GTSCDATA"
#define STORE_VERSION	1
#define STORE_ORDER	0x01020304
#define CHUNK_MAGIC	0x4b435447	/* "GTCK" */

enum chunk_type {
	CHUNK_CHANNEL = 1,	/* struct store_channel */
	CHUNK_DATA,		/* whole records of one trace file */
	CHUNK_END,		/* the writer has come to its end */
};

struct store_header {
	char		magic[8];
	uint32_t	version;
	uint32_t	order;
};

struct store_chunk {
	uint32_t	magic;
	uint32_t	type;
	uint32_t	channel;
	uint32_t	file;		/* number of the trace file */
	uint32_t	len;
	uint32_t	crc;		/* of all of this but @magic and @crc, and the data */
};

#define STORE_HEADERS	1	/* records have struct gtsc_record_header */

struct store_channel {
	uint32_t	flags;
	char		name[NAME_SIZE];
};

struct writer;

struct writer *store_create(const char *name);
int store_write(struct writer *w, enum chunk_type type, unsigned int channel,
		unsigned int file, const void *data, size_t len);
int store_close(struct writer *w);

/* Data */

/* A record that is to be printed */
struct item {
	const char	*channel;
	bool		has_header;
	uint32_t	cpu;
	uint64_t	time;
	const void	*data;
	uint32_t	len;
	bool		swapped;	/* from a machine of the other byte order */
};

int print_file(const char *name, const char *format, FILE *out);
int print_channels(struct channel *channels, unsigned int nr, const char *format, FILE *out);

/* Formats */

struct format {
	const char	*name;
	const char	*help;
	void		(*print)(const struct item *item, FILE *out);
	struct format	*next;
};

void add_format(struct format *format);
const struct format *find_format(const char *name);
void list_formats(FILE *out);
extern const char *kallsyms_file;

/* A function of this kind in any file is a format */
#define GTSC_FORMAT(id, text)							\
	static void print_##id(const struct item *item, FILE *out);		\
	static struct format format_##id = {					\
		.name = #id, .help = text, .print = print_##id,			\
	};									\
	__attribute__((constructor)) static void add_##id(void)		\
	{									\
		add_format(&format_##id);					\
	}									\
	static void print_##id(const struct item *item, FILE *out)

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))

#define complain(fmt, ...)	fprintf(stderr, "gtsc: " fmt "\n", ##__VA_ARGS__)

#endif /* GTSC_H */

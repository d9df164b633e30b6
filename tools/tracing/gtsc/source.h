/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GTSC_SOURCE_H
#define GTSC_SOURCE_H

#include "ctf.h"

/* A packet that has come from a pipe */
struct block {
	struct block		*next;
	struct ctf_packet	packet;
	bool			swapped;
	uint8_t			records[];
};

/* Records of one file in their order: of a buffer file, of a stream file, or of one by a pipe */
struct source {
	const struct channel	*ch;
	struct item		item;		/* the next one, after next_item() */

	/* What @item was taken from, up to the next @refill */
	const uint8_t		*p, *end;
	bool			(*refill)(struct source *s);
	bool			swapped;

	bool			damaged;

	/* Of packets */
	const struct metadata	*m;		/* of the trace */
	uint64_t		least, greatest;	/* times of this packet's records */
	uint64_t		lost;		/* before this packet; 0 once next_item() gave it */
	uint64_t		discarded;	/* the count that this packet has */
	unsigned int		number;		/* of the buffer file */

	/* A stream file */
	char			*name;
	const uint8_t		*map;
	size_t			size, pos;
	bool			cut, ended;	/* the file breaks off; the last packet is empty */
	unsigned long long	lost_bytes;

	/* Packets from a pipe */
	struct block		*blocks, **tail;
	bool			in_first;	/* @p is in the first one */

	/* A buffer file */
	bool			live;		/* this is one */
	struct input		in;
	uint64_t		until;		/* @time and @hold of read_until() */
	bool			hold;
	uint64_t		read_at;	/* the time of the last read since then, or 0 */
	bool			late;		/* the last record is later than @until */
	bool			gone;		/* nothing is left to be read */
};

bool next_item(struct source *s);
bool check_packet(const struct metadata *m, const void *data, struct ctf_packet *packet,
		  bool *swapped);

int open_buffer_file(struct source *s, const struct channel *ch, unsigned int number);
void read_until(struct source *s, uint64_t time, bool hold);
int open_stream_file(struct source *s, const struct metadata *m, int dir,
		     const char *dir_name, const char *name);
void open_blocks(struct source *s, const struct metadata *m, const struct ctf_packet *packet);
void add_block(struct source *s, struct block *block);
void close_packets(struct source *s);

#endif /* GTSC_SOURCE_H */

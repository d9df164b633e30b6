/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GTSC_READER_H
#define GTSC_READER_H

#include "ctf.h"

/* A packet that has come from a pipe */
struct block {
	struct block		*next;
	struct ctf_packet	packet;
	bool			swapped;
	uint8_t			records[];
};

/* Records in the order of one trace file */
struct stream {
	const struct channel	*ch;
	struct item		item;		/* the next one, after next_item() */

	/* What @item was taken from, up to the next @refill */
	const uint8_t		*p, *end;
	bool			(*refill)(struct stream *s);
	bool			swapped;

	/* Of a packet: the times that its records must have, and what was lost before it */
	uint64_t		begin, last;
	uint64_t		lost;
	uint64_t		discarded;

	/* Packets in a file */
	char			*name;
	const uint8_t		*map;
	size_t			size, pos;
	bool			cut, ended;	/* the file breaks off; has its end */
	bool			damaged;
	unsigned long long	lost_bytes;

	/* Packets from a pipe */
	unsigned int		number;
	struct block		*blocks, **tail;
	bool			in_first;	/* @p is in the first one */

	/* A trace file */
	struct input		in;
	uint64_t		until;	/* do not read on after a record of this time */
	bool			gone;
};

bool next_item(struct stream *s);
bool check_packet(const struct metadata *m, const void *data, struct ctf_packet *packet,
		  bool *swapped);

int open_trace_file(struct stream *s, const struct channel *ch, unsigned int number);
int open_packet_file(struct stream *s, const struct metadata *m, int dir,
		     const char *dir_name, const char *name);
void open_blocks(struct stream *s, const struct metadata *m, const struct ctf_packet *packet);
void add_block(struct stream *s, struct block *block);
void close_packets(struct stream *s);

#endif /* GTSC_READER_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gtsc: a recorded trace, which is one in the Common Trace Format: metadata, and a file
 * of packets for each trace file. A packet has whole records, as the kernel has given them.
 */
#ifndef GTSC_CTF_H
#define GTSC_CTF_H

#include <stdatomic.h>

#include "gtsc.h"
#include "map.h"

#define CTF_MAGIC		0xc1fc1fc1U
#define CTF_METADATA_MAGIC	0x75d11d57U
#define CTF_UUID_TEXT		37

/* In the byte order of the machine, as all of a packet */
struct ctf_packet {
	uint32_t	magic;
	uint8_t		uuid[16];
	uint32_t	stream_id;		/* number of the channel */
	uint32_t	stream_instance_id;	/* of the trace file */
	/* 0 if the channel is global; the metadata then takes it for padding */
	uint32_t	cpu_id;
	uint64_t	timestamp_begin;
	uint64_t	timestamp_end;
	uint64_t	content_size;		/* in bits; without the padding at the end */
	uint64_t	packet_size;
	uint64_t	events_discarded;	/* since the start, up to the end of this one */
	uint64_t	packet_seq_num;
};

/* Of metadata within a stream */
/* It has CTF_METADATA_PACKET bytes: what the compiler adds at the end is not a part of it */
struct ctf_metadata_packet {
	uint32_t	magic;
	uint8_t		uuid[16];
	uint32_t	checksum;
	uint32_t	content_size;		/* in bits, with this header */
	uint32_t	packet_size;
	uint8_t		compression, encryption, checksum_scheme;
	uint8_t		major, minor;
};

#define CTF_METADATA_PACKET	37

/* Event classes of a channel */
#define CTF_EVENT_RECORD	0	/* as its provider describes it */
#define CTF_EVENT_BYTES		1	/* one of another length */

struct ctf_stream {
	struct ctf		*ctf;
	const struct channel	*ch;
	int			fd;
	struct ctf_packet	packet;		/* the last one, or the first to be */
	size_t			last_size;	/* bytes of the last packet */
	uint64_t		last_nr;	/* records in it */
	uint64_t		discarded;
	atomic_ullong		records;	/* that were written */
	uint64_t		unwritten;	/* that were read, and could not be written */
	/* Of LOST records: all, and of a time after @start */
	uint64_t		lost, lost_since;
	uint64_t		start;
};

struct ctf *ctf_create(const char *output, struct channel *channels, unsigned int nr,
		       bool ctf2);
int ctf_open_stream(struct ctf *ctf, struct ctf_stream *s, const struct channel *ch,
		    unsigned int channel, unsigned int number, uint64_t start);
ssize_t ctf_write(struct ctf_stream *s, uint8_t *records, size_t len);
int ctf_close_stream(struct ctf_stream *s, uint64_t lost);
int ctf_publish(struct ctf *ctf);
int ctf_finish(struct ctf *ctf);
void ctf_close(struct ctf *ctf);

/* What the metadata says; the channels are those of the trace */
struct metadata {
	uint8_t			uuid[16];
	struct wall_clock	clock;
	unsigned int		nr;
	struct channel		*channels;

	/* The functions that occur in the records, by name: known at the end of a recording */
	const struct symbol	**symbols;
	size_t			nr_symbols;
};

void make_uuid(uint8_t *uuid);
int write_metadata(FILE *out, const struct metadata *m, bool ctf2);
int parse_metadata(char *text, struct metadata *m);
bool is_our_metadata(FILE *f);

/* @a: the addresses that occur in the records of a trace are its keys */
int add_addresses_of_file(struct map *a, const struct fields *fields, int fd);
void find_names(struct metadata *m, const struct map *a);

#endif /* GTSC_CTF_H */

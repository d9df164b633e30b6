/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gtsc: a recorded trace, which is one in the Common Trace Format: metadata, and a file
 * of packets, the stream file, for each buffer file. A packet has whole records, as the kernel has
 * given them but for the type: see CTF_EVENT_BYTES.
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
	uint32_t	stream_id;		/* index of the channel */
	uint32_t	stream_instance_id;	/* number of the buffer file */
	/* 0 if the channel is global; the metadata then takes it for padding */
	uint32_t	cpu_id;
	uint64_t	timestamp_begin;
	uint64_t	timestamp_end;
	uint64_t	content_size;		/* in bits; without the padding at the end */
	uint64_t	packet_size;
	uint64_t	events_discarded;	/* since the start, up to the end of this one */
	uint64_t	packet_seq_num;
};

/* The header of metadata that goes to the standard output */
struct ctf_metadata_packet {
	uint32_t	magic;
	uint8_t		uuid[16];
	uint32_t	checksum;
	uint32_t	content_size;		/* in bits, with this header */
	uint32_t	packet_size;
	uint8_t		compression, encryption, checksum_scheme;
	uint8_t		major, minor;
} __attribute__((packed));

/*
 * Event classes of a channel. In a packet, the type of each record is one of these two: no packet
 * has a record of the type GTSC_TYPE_LOST, which is 1 as well.
 */
#define CTF_EVENT_RECORD	0	/* as its provider describes it */
#define CTF_EVENT_BYTES		1	/* one of another length */

/* A stream file, or the packets of one buffer file in the standard output */
struct ctf_stream {
	struct ctf		*ctf;
	const struct channel	*ch;
	int			fd;
	struct ctf_packet	packet;		/* the one written last; before that, the first */
	size_t			last_size;	/* bytes of the last packet */
	uint64_t		last_nr;	/* records in it */
	uint64_t		last_time;	/* of the record that was written last */
	uint64_t		discarded;	/* all lost records: the count of the next packet */
	atomic_ullong		records;	/* that were written */
	uint64_t		unwritten;	/* records that could not be written */
	/* Lost records that GTSC_TYPE_LOST records tell of: all, and from the time @start on */
	uint64_t		lost, lost_since;
	uint64_t		start;
};

struct ctf *ctf_create(const char *output, struct channel *channels, unsigned int nr,
		       bool ctf2);
int ctf_open_stream(struct ctf *ctf, struct ctf_stream *s, const struct channel *ch,
		    unsigned int index, unsigned int number, uint64_t start);
ssize_t ctf_write(struct ctf_stream *s, uint8_t *records, size_t len);
int ctf_close_stream(struct ctf_stream *s, uint64_t lost);
int ctf_publish(struct ctf *ctf);
int ctf_finish(struct ctf *ctf);
void ctf_close(struct ctf *ctf);

/* What the metadata says; the channels are those of the trace */
struct metadata {
	uint8_t			uuid[16];
	bool			same_boot;	/* of the running kernel */
	struct wall_clock	clock;
	unsigned int		nr;
	struct channel		*channels;

	/* The functions that occur in the records, by name: known at the end of a recording */
	const struct symbol	**symbols;
	size_t			nr_symbols;
};

void make_uuid(uint8_t *uuid);
bool is_this_boot(const char *id);
int write_metadata(FILE *out, const struct metadata *m, bool ctf2);
int parse_metadata(char *text, struct metadata *m);
bool is_our_metadata(FILE *f);

/* @a: the addresses that occur in the records of a trace are its keys */
int add_addresses_of_file(struct map *a, const struct fields *fields, int fd);
void find_names(struct metadata *m, const struct map *a);

#endif /* GTSC_CTF_H */

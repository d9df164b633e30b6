// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: finds the functions that occur in the records of a trace, by the addresses in the
 * fields of the type ksym. It reads stream files when they are complete: while it records,
 * gtsc looks only at the headers of records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "ctf.h"

/* Of all fields of a trace. The functions of further addresses get no names. */
#define MAX_ADDRESSES	(1U << 20)

static void add_address(struct map *addresses, uint64_t address)
{
	if (address && map_find(addresses, address) == MAP_FREE && addresses->nr < MAX_ADDRESSES)
		map_add(addresses, address, 0);
}

static void add_record(struct map *a, const struct fields *fields, const uint8_t *p)
{
	for (unsigned int i = 0; i < fields->nr; i++) {
		const struct field *f = &fields->list[i];
		unsigned int count = f->count ?: 1;

		for (unsigned int j = 0; f->type == 'k' && j < count; j++) {
			uint64_t address;

			memcpy(&address, p + j * sizeof(address), sizeof(address));
			add_address(a, address);
		}
		p += f->bytes * count;
	}
}

/* A record of the type CTF_EVENT_RECORD has all fields, unless the file is damaged */
static void add_packet(struct map *a, const struct fields *fields, const uint8_t *p,
		       size_t len)
{
	struct gtsc_record_header h;

	while (len >= sizeof(h)) {
		memcpy(&h, p, sizeof(h));
		if (h.len > len - sizeof(h))
			return;
		if (h.type == CTF_EVENT_RECORD && h.len == fields->size)
			add_record(a, fields, p + sizeof(h));
		/* The last one has no padding */
		if (record_size(h.len) >= len)
			return;
		p += record_size(h.len);
		len -= record_size(h.len);
	}
}

static void add_packets(struct map *a, const struct fields *fields, const uint8_t *p,
			size_t left)
{
	struct ctf_packet packet;

	while (left >= sizeof(packet)) {
		memcpy(&packet, p, sizeof(packet));
		packet.content_size /= 8;
		packet.packet_size /= 8;
		if (packet.content_size < sizeof(packet) || packet.packet_size > left ||
		    packet.content_size > packet.packet_size)
			return;
		add_packet(a, fields, p + sizeof(packet), packet.content_size - sizeof(packet));
		p += packet.packet_size;
		left -= packet.packet_size;
	}
}

/**
 * add_addresses_of_file - add the addresses in the records of a stream file
 * @a: the addresses
 * @fields: what the records have
 * @fd: the file, which is complete
 *
 * Return: 0, or a negative errno.
 */
int add_addresses_of_file(struct map *a, const struct fields *fields, int fd)
{
	struct stat st;
	void *map;

	if (fstat(fd, &st))
		return -errno;
	if (!st.st_size)
		return 0;
	if ((uint64_t)st.st_size > SIZE_MAX)
		return -EFBIG;
	map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	madvise(map, st.st_size, MADV_SEQUENTIAL);
	add_packets(a, fields, map, st.st_size);
	munmap(map, st.st_size);

	return 0;
}

/* Functions of one name get next to each other, and so do pointers to one and the same function */
static int by_name(const void *a, const void *b)
{
	const struct symbol *x = *(const struct symbol **)a, *y = *(const struct symbol **)b;
	int order = strcmp(x->name, y->name);

	return order ?: (x->start > y->start) - (x->start < y->start);
}

static size_t remove_equal(const struct symbol **symbols, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!kept || symbols[i] != symbols[kept - 1])
			symbols[kept++] = symbols[i];
	}

	return kept;
}

/**
 * find_names - look up the functions of addresses, in the running kernel
 * @m: gets them, each of them once
 * @a: the addresses
 */
void find_names(struct metadata *m, const struct map *a)
{
	size_t nr = 0;

	if (!a->nr)
		return;
	m->symbols = must(calloc(a->nr, sizeof(*m->symbols)));
	for (size_t i = 0; i < a->room; i++) {
		const struct map_entry *entry = &a->entries[i];
		const struct symbol *symbol = entry->number == MAP_FREE ? NULL :
					      find_symbol(entry->key);

		if (symbol)
			m->symbols[nr++] = symbol;
	}
	qsort(m->symbols, nr, sizeof(*m->symbols), by_name);
	m->nr_symbols = remove_equal(m->symbols, nr);
}

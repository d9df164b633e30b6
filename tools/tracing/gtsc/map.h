/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gtsc: numbers by a key of 64 bits.
 */
#ifndef GTSC_MAP_H
#define GTSC_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_entry {
	uint64_t	key;
	uint32_t	number;		/* MAP_FREE: no key */
};

#define MAP_FREE	UINT32_MAX

struct map {
	struct map_entry	*entries;
	size_t			nr, room;	/* a power of two, or 0 */
};

uint32_t map_find(const struct map *map, uint64_t key);
void map_add(struct map *map, uint64_t key, uint32_t number);
void map_free(struct map *map);

static inline uint64_t map_hash(uint64_t key)
{
	key ^= key >> 32;
	key *= 0x9e3779b97f4a7c15ULL;

	return key ^ key >> 29;
}

#endif /* GTSC_MAP_H */

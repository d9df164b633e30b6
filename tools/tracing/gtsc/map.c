// SPDX-License-Identifier: GPL-2.0
/*
 * gtsc: numbers by a key of 64 bits, in a table that is at most three quarters full.
 */
#include <stdlib.h>

#include "gtsc.h"
#include "map.h"

#define FIRST_ROOM	64

/* Where @key is, or would be; the table has a free place */
static struct map_entry *find_place(const struct map *map, uint64_t key)
{
	size_t i = map_hash(key) & (map->room - 1);

	while (map->entries[i].number != MAP_FREE && map->entries[i].key != key)
		i = (i + 1) & (map->room - 1);

	return &map->entries[i];
}

static void grow(struct map *map)
{
	struct map old = *map;

	map->room = old.room ? old.room * 2 : FIRST_ROOM;
	map->entries = must(malloc(map->room * sizeof(*map->entries)));
	for (size_t i = 0; i < map->room; i++)
		map->entries[i].number = MAP_FREE;
	for (size_t i = 0; i < old.room; i++) {
		if (old.entries[i].number != MAP_FREE)
			*find_place(map, old.entries[i].key) = old.entries[i];
	}
	free(old.entries);
}

/* Returns MAP_FREE if the map has no such key */
uint32_t map_find(const struct map *map, uint64_t key)
{
	return map->room ? find_place(map, key)->number : MAP_FREE;
}

/* For a key that the map does not have */
void map_add(struct map *map, uint64_t key, uint32_t number)
{
	if (map->nr >= map->room / 4 * 3)
		grow(map);
	*find_place(map, key) = (struct map_entry){ key, number };
	map->nr++;
}

void map_free(struct map *map)
{
	free(map->entries);
	*map = (struct map){ };
}

/* SPDX-License-Identifier: MIT */
/* A hash map from a pair of 64-bit keys to a 64-bit value: open addressing, no iteration order. */
#ifndef MAP_H
#define MAP_H

#include "base.h"

struct map_slot {
	uint64_t a, b;
	uint64_t value;
	uint8_t state; /* free, used, deleted: map.c only */
};

/* Zero is an empty map. Not thread-safe. */
struct map {
	struct map_slot *slots;
	size_t capacity; /* a power of two, or 0 */
	size_t count;
	size_t used; /* count + deleted */
};

/* The value of (a, b), or NULL. The pointer is good until the next map_put(). */
uint64_t *map_get(const struct map *map, uint64_t a, uint64_t b);
/* Insert or overwrite. */
void map_put(struct map *map, uint64_t a, uint64_t b, uint64_t value);
/* True if (a, b) was there. */
bool map_del(struct map *map, uint64_t a, uint64_t b);
/* The used slot after `slot` (NULL: the first), in no order; NULL at the end. */
const struct map_slot *map_next(const struct map *map, const struct map_slot *slot);
void map_free(struct map *map);

#endif

/* SPDX-License-Identifier: MIT */
#include "map.h"

#include "vec.h"

enum { SLOT_FREE, SLOT_USED, SLOT_DELETED };

static size_t map_hash(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xff51afd7ed558ccd);

	h ^= h >> 32;
	h *= UINT64_C(0xc4ceb9fe1a85ec53);
	return (size_t)(h ^ (h >> 29));
}

static struct map_slot *map_find(const struct map *map, uint64_t a, uint64_t b)
{
	if (!map->capacity)
		return NULL;
	for (size_t i = map_hash(a, b);; i++) {
		struct map_slot *s = &map->slots[i & (map->capacity - 1)];
		if (s->state == SLOT_FREE)
			return NULL;
		if (s->state == SLOT_USED && s->a == a && s->b == b)
			return s;
	}
}

uint64_t *map_get(const struct map *map, uint64_t a, uint64_t b)
{
	struct map_slot *s = map_find(map, a, b);

	return s ? &s->value : NULL;
}

static void map_insert(struct map *map, uint64_t a, uint64_t b, uint64_t value)
{
	size_t i = map_hash(a, b);

	while (map->slots[i & (map->capacity - 1)].state == SLOT_USED)
		i++;
	struct map_slot *s = &map->slots[i & (map->capacity - 1)];
	if (s->state == SLOT_FREE)
		map->used++;
	*s = (struct map_slot){a, b, value, SLOT_USED};
	map->count++;
}

static void map_rehash(struct map *map)
{
	struct map old = *map;

	*map = (struct map){.capacity = 16};
	while (map->capacity < old.count * 3)
		map->capacity *= 2;
	map->slots = ALLOC_ARRAY(struct map_slot, map->capacity);
	for (size_t i = 0; i < old.capacity; i++)
		if (old.slots[i].state == SLOT_USED)
			map_insert(map, old.slots[i].a, old.slots[i].b, old.slots[i].value);
	free(old.slots);
}

void map_put(struct map *map, uint64_t a, uint64_t b, uint64_t value)
{
	struct map_slot *s = map_find(map, a, b);

	if (s) {
		s->value = value;
		return;
	}
	if ((map->used + 1) * 4 > map->capacity * 3)
		map_rehash(map);
	map_insert(map, a, b, value);
}

bool map_del(struct map *map, uint64_t a, uint64_t b)
{
	struct map_slot *s = map_find(map, a, b);

	if (!s)
		return false;
	s->state = SLOT_DELETED;
	map->count--;
	return true;
}

const struct map_slot *map_next(const struct map *map, const struct map_slot *slot)
{
	size_t i = slot ? (size_t)(slot - map->slots) + 1 : 0;

	while (i < map->capacity && map->slots[i].state != SLOT_USED)
		i++;
	return i < map->capacity ? &map->slots[i] : NULL;
}

void map_free(struct map *map)
{
	free(map->slots);
	*map = (struct map){0};
}

/* SPDX-License-Identifier: MIT */
#include "map.h"

#include "check.h"
#include "rng.h"

TEST(empty_map_has_nothing)
{
	struct map map = {0};

	CHECK(map_get(&map, 0, 0) == NULL);
	CHECK(!map_del(&map, 0, 0));
	map_free(&map);
}

TEST(put_overwrites)
{
	struct map map = {0};

	map_put(&map, 1, 2, 10);
	map_put(&map, 1, 2, 11);
	map_put(&map, 2, 1, 12);
	CHECK_EQ(map.count, 2);
	CHECK_EQ(*map_get(&map, 1, 2), 11);
	CHECK_EQ(*map_get(&map, 2, 1), 12);
	CHECK(map_del(&map, 1, 2));
	CHECK(!map_del(&map, 1, 2));
	CHECK(map_get(&map, 1, 2) == NULL);
	CHECK_EQ(map.count, 1);
	map_free(&map);
	CHECK_EQ(map.count, 0);
}

/* Against a plain array: keys from a small range, so that slots are deleted and reused a lot. */
TEST(agrees_with_an_array)
{
	enum { KEYS = 512, STEPS = 100000 };
	static uint64_t model[KEYS];
	struct map map = {0};
	struct rng rng;
	bool agree = true;

	rng_init(&rng, 1);
	for (int i = 0; i < STEPS && agree; i++) {
		uint64_t key = rng_below(&rng, KEYS);
		if (rng_below(&rng, 2)) {
			model[key] = rng_next(&rng) | 1;
			map_put(&map, key, key * 3, model[key]);
		} else {
			agree = map_del(&map, key, key * 3) == (model[key] != 0);
			model[key] = 0;
		}
		const uint64_t *found = map_get(&map, key, key * 3);
		agree = agree && (found ? *found : 0) == model[key];
	}
	CHECK(agree);
	size_t count = 0;
	for (size_t key = 0; key < KEYS; key++) {
		const uint64_t *found = map_get(&map, key, key * 3);
		CHECK_EQ(found ? *found : 0, model[key]);
		count += model[key] != 0;
	}
	CHECK_EQ(map.count, count);
	/* Deleted slots must not make it grow without limit. */
	CHECK(map.capacity <= 8 * KEYS);
	map_free(&map);
}

TEST(grows)
{
	struct map map = {0};
	bool all = true;

	for (uint64_t i = 0; i < 100000; i++)
		map_put(&map, i << 32, i, i);
	CHECK_EQ(map.count, 100000);
	for (uint64_t i = 0; i < 100000; i++) {
		const uint64_t *found = map_get(&map, i << 32, i);
		all = all && found && *found == i;
	}
	CHECK(all);
	map_free(&map);
}

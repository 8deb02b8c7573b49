/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "check.h"
#include "extents.h"
#include "rng.h"

#define SPACE 200

/* Beside a plain array of bytes. */
TEST(extents_are_what_was_added_less_what_was_removed)
{
	struct extents e = {0};
	bool plain[SPACE] = {false};
	struct rng rng;

	rng_init(&rng, 1);
	for (int round = 0; round < 20000; round++) {
		uint64_t at = rng_below(&rng, SPACE), size = rng_below(&rng, SPACE - at + 1);
		bool add = rng_below(&rng, 2);
		if (add)
			extents_add(&e, at, size);
		else
			extents_remove(&e, at, size);
		memset(plain + at, add, size);
		uint64_t from = rng_below(&rng, SPACE), n = rng_below(&rng, SPACE - from + 1),
			 sum = 0;
		for (uint64_t i = from; i < from + n; i++)
			sum += plain[i];
		CHECK_EQ(extents_within(&e, from, n), sum);
	}
	for (size_t i = 1; i < e.count; i++)
		CHECK(e.at[i].offset > e.at[i - 1].offset + e.at[i - 1].size);
	extents_done(&e);
}

TEST(too_many_extents_become_fewer)
{
	struct extents e = {0};

	for (uint64_t i = 0; i < EXTENTS_MAX + 1000; i++)
		extents_add(&e, i * 10, 5);
	CHECK(e.count <= EXTENTS_MAX);
	CHECK(extents_within(&e, 0, UINT64_MAX) >= (EXTENTS_MAX + 1000) * UINT64_C(5));
	extents_remove(&e, 0, UINT64_MAX);
	CHECK_EQ(e.count, 0);
	extents_done(&e);
}

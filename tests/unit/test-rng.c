/* SPDX-License-Identifier: MIT */
#include "rng.h"

#include "check.h"

TEST(the_same_seed_gives_the_same_numbers)
{
	struct rng a, b, c;

	rng_init(&a, 42);
	rng_init(&b, 42);
	rng_init(&c, 43);
	uint64_t first = rng_next(&a);
	CHECK_EQ(rng_next(&b), first);
	CHECK(rng_next(&c) != first);
}

TEST(seed_zero_works)
{
	struct rng rng;

	rng_init(&rng, 0);
	CHECK(rng_next(&rng) != rng_next(&rng));
}

/* 100,000 draws from 10: each value within 5 % of 10,000 (more than 5 standard deviations). */
TEST(below_is_uniform_and_below)
{
	unsigned count[10] = {0};
	struct rng rng;

	rng_init(&rng, 1);
	for (int i = 0; i < 100000; i++) {
		uint64_t v = rng_below(&rng, 10);
		if (!CHECK(v < 10))
			return;
		count[v]++;
	}
	for (int i = 0; i < 10; i++)
		CHECK(count[i] > 9500 && count[i] < 10500);
	CHECK_EQ(rng_below(&rng, 1), 0);
}

/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "check.h"
#include "stats.h"

TEST(median_of_few)
{
	uint64_t v[] = {9, 1, 5, 3};

	CHECK_EQ(stats_median(v, 0), 0);
	CHECK_EQ(stats_median(v, 1), 9);
	CHECK_EQ(stats_median(v, 3), 5);
	CHECK_EQ(stats_median(v, 4), 4);
	CHECK_EQ(v[0], 9);
	uint64_t huge[] = {UINT64_MAX, UINT64_MAX - 2};
	CHECK_EQ(stats_median(huge, 2), UINT64_MAX - 1);
}

TEST(interval_holds_the_median_and_is_repeatable)
{
	uint64_t v[] = {100, 110, 105, 140, 103, 107, 101};
	struct interval a = stats_interval(v, ARRAY_SIZE(v)), b = stats_interval(v, ARRAY_SIZE(v));

	CHECK_EQ(a.median, 105);
	CHECK(a.low >= 100 && a.low < 105 && a.high > 105 && a.high <= 140);
	CHECK(a.low == b.low && a.high == b.high);
	a = stats_interval(v, 1);
	CHECK(a.low == 100 && a.high == 100 && a.median == 100);
	a = stats_interval(v, 0);
	CHECK(a.low == 0 && a.high == 0);
}

/* The interval must hold the true median about as often as it says: 93 % is the most that five
 * values can give. */
TEST(interval_covers)
{
	unsigned hits = 0, rounds = 400;
	uint64_t state = 1;

	for (unsigned i = 0; i < rounds; i++) {
		uint64_t v[9];
		for (unsigned j = 0; j < ARRAY_SIZE(v); j++) {
			state = state * UINT64_C(6364136223846793005) +
			        UINT64_C(1442695040888963407);
			v[j] = (state >> 33) % 1000001;
		}
		struct interval x = stats_interval(v, ARRAY_SIZE(v));
		hits += x.low <= 500000 && 500000 <= x.high;
	}
	CHECK(hits * 100 >= rounds * 90);
	CHECK(hits < rounds);
}

TEST(overlap)
{
	struct interval a = {5, 4, 6}, b = {7, 6, 8}, c = {9, 7, 10};

	CHECK(interval_overlap(&a, &b) && interval_overlap(&b, &a));
	CHECK(!interval_overlap(&a, &c) && !interval_overlap(&c, &a));
}

/* The smallest chances: 2/C(6,3) = 10 %, 2/C(7,3) = 5.7 %, 2/C(8,4) = 2.9 %, 2/C(8,3) = 3.6 %. */
TEST(how_many_repeats_are_enough)
{
	CHECK(!stats_enough(1, 30));
	CHECK(!stats_enough(3, 3));
	CHECK(!stats_enough(3, 4));
	CHECK(stats_enough(4, 4));
	CHECK(stats_enough(5, 3) && stats_enough(3, 5));
	CHECK(stats_enough(1000, 1000));
	CHECK(!stats_enough(0, 5));
}

/* Two-sided chances: 6 of 6 3.1 %, 7 of 8 7.0 %, 8 of 9 3.9 %, 11 of 13 2.2 %, 10 of 13 9.2 %. */
TEST(how_many_rounds_must_agree)
{
	CHECK(!stats_paired(0, 0));
	CHECK(!stats_paired(0, 5));
	CHECK(stats_paired(0, 6));
	CHECK(!stats_paired(6, 0));
	CHECK(!stats_paired(1, 7));
	CHECK(stats_paired(1, 8));
	CHECK(stats_paired(2, 11));
	CHECK(!stats_paired(3, 10));
	CHECK(!stats_paired(500, 500));
	CHECK(stats_paired(400, 600));
}

TEST(spread_of_repeats)
{
	uint64_t v[] = {90, 100, 120};

	CHECK_EQ(stats_spread(v, 3), 0.3);
	CHECK_EQ(stats_spread(v, 0), 0.0);
}

TEST(kendall)
{
	double a[] = {1, 2, 3, 4}, up[] = {10, 20, 30, 40}, down[] = {4, 3, 2, 1};
	double one_swap[] = {1, 2, 4, 3}, same[] = {7, 7, 7, 7}, tie[] = {1, 1, 2, 3};

	CHECK_EQ(stats_kendall(a, up, 4), 1.0);
	CHECK_EQ(stats_kendall(a, down, 4), -1.0);
	CHECK(fabs(stats_kendall(a, one_swap, 4) - 4.0 / 6) < 1e-12);
	CHECK(fabs(stats_kendall(a, tie, 4) - 5 / sqrt(30)) < 1e-12);
	CHECK(isnan(stats_kendall(a, same, 4)));
	CHECK(isnan(stats_kendall(a, up, 1)));
}

/* SPDX-License-Identifier: MIT */
#include "hist.h"

#include "check.h"
#include "rng.h"
#include "vec.h"

TEST(empty)
{
	struct hist *h = ALLOC(struct hist);

	CHECK_EQ(hist_quantile(h, 0.5), 0);
	CHECK_EQ(hist_quantile(h, 1), 0);
	free(h);
}

TEST(one_sample_is_every_quantile)
{
	struct hist *h = ALLOC(struct hist);

	hist_add(h, 12345);
	for (int i = 0; i <= 10; i++)
		CHECK_EQ(hist_quantile(h, i / 10.0), 12345);
	CHECK_EQ(h->min_ns, 12345);
	CHECK_EQ(h->max_ns, 12345);
	CHECK_EQ(h->sum_ns, 12345);
	free(h);
}

TEST(buckets_are_in_order_and_narrow)
{
	for (unsigned i = 0; i + 1 < HIST_BUCKETS; i++) {
		uint64_t low = hist_bucket_low(i), next = hist_bucket_low(i + 1);
		CHECK(low < next);
		if (low >= HIST_SUB)
			CHECK((next - low) * HIST_SUB <= low);
	}
}

/* Each value lies in the bucket that says so, at the bucket's edges too. */
TEST(edges)
{
	for (unsigned i = 0; i + 1 < HIST_BUCKETS; i++) {
		uint64_t edges[] = {hist_bucket_low(i), hist_bucket_low(i + 1) - 1};
		for (size_t e = 0; e < ARRAY_SIZE(edges); e++) {
			struct hist *h = ALLOC(struct hist);
			hist_add(h, edges[e]);
			CHECK_EQ(h->buckets[i], 1);
			free(h);
		}
	}
}

TEST(values_beyond_the_last_octave_are_kept)
{
	struct hist *h = ALLOC(struct hist);

	hist_add(h, UINT64_MAX);
	CHECK_EQ(h->buckets[HIST_BUCKETS - 1], 1);
	CHECK(hist_quantile(h, 1) == UINT64_MAX);
	free(h);
}

/* 1..n uniform: the quantile q is q * n within one part in HIST_SUB. */
TEST(quantiles_are_near)
{
	enum { N = 100000 };
	struct hist *h = ALLOC(struct hist);
	static const double qs[] = {0.01, 0.1, 0.5, 0.9, 0.99, 0.999};

	for (uint64_t i = 1; i <= N; i++)
		hist_add(h, i);
	for (size_t i = 0; i < ARRAY_SIZE(qs); i++) {
		double exact = qs[i] * N, got = (double)hist_quantile(h, qs[i]);
		CHECK(got >= exact - 1 && got <= exact * (1 + 1.0 / HIST_SUB) + 1);
	}
	CHECK_EQ(hist_quantile(h, 1), N);
	free(h);
}

/* "The smallest value that at least q of the samples do not exceed": two samples, q = 1/2. */
TEST(half_of_two_is_the_lower)
{
	struct hist *h = ALLOC(struct hist);

	hist_add(h, 10);
	hist_add(h, 1000000);
	CHECK_EQ(hist_quantile(h, 0.5), 10);
	CHECK_EQ(hist_quantile(h, 0), 10);
	CHECK_EQ(hist_quantile(h, 1), 1000000);
	free(h);
}

TEST(merge_is_the_same_as_adding_all)
{
	struct hist *a = ALLOC(struct hist), *b = ALLOC(struct hist), *all = ALLOC(struct hist);
	struct rng rng;

	rng_init(&rng, 3);
	for (int i = 0; i < 1000; i++) {
		uint64_t v = rng_next(&rng) >> rng_below(&rng, 50);
		hist_add(i % 3 ? a : b, v);
		hist_add(all, v);
	}
	hist_merge(a, b);
	CHECK_BYTES(a, all, sizeof(*all));
	struct hist *none = ALLOC(struct hist);
	hist_merge(a, none);
	CHECK_BYTES(a, all, sizeof(*all));
	hist_merge(none, all);
	CHECK_BYTES(none, all, sizeof(*all));
	free(none);
	free(a);
	free(b);
	free(all);
}

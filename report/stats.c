/* SPDX-License-Identifier: MIT */
#include "stats.h"

#include <math.h>
#include <string.h>

#include "cleanup.h"
#include "rng.h"
#include "vec.h"

#define RESAMPLES 2000
#define SEED      20051

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts in place. */
static uint64_t median_of(uint64_t *values, size_t count)
{
	if (!count)
		return 0;
	qsort(values, count, sizeof(*values), by_value);
	uint64_t below = values[(count - 1) / 2], above = values[count / 2];
	return below + (above - below) / 2;
}

uint64_t stats_median(const uint64_t *values, size_t count)
{
	auto_free uint64_t *copy = ALLOC_ARRAY(uint64_t, count);

	if (count)
		memcpy(copy, values, count * sizeof(*values));
	return median_of(copy, count);
}

struct interval stats_interval(const uint64_t *values, size_t count)
{
	uint64_t median = stats_median(values, count);
	auto_free uint64_t *sample = ALLOC_ARRAY(uint64_t, count);
	auto_free uint64_t *medians = ALLOC_ARRAY(uint64_t, RESAMPLES);
	struct rng rng;

	if (count < 2)
		return (struct interval){median, median, median};
	rng_init(&rng, SEED);
	for (size_t i = 0; i < RESAMPLES; i++) {
		for (size_t j = 0; j < count; j++)
			sample[j] = values[rng_below(&rng, count)];
		medians[i] = median_of(sample, count);
	}
	qsort(medians, RESAMPLES, sizeof(*medians), by_value);
	return (struct interval){
		median, medians[RESAMPLES / 40], medians[RESAMPLES - 1 - RESAMPLES / 40]};
}

bool stats_enough(size_t m, size_t n)
{
	double ways = 1; /* C(m + n, m) */

	for (size_t i = 1; i <= m && ways < 40; i++)
		ways = ways * (double)(n + i) / (double)i;
	return ways >= 40;
}

bool stats_paired(size_t fewer, size_t more)
{
	size_t n = fewer + more;
	double ways = 1, tail = 0; /* C(n, i) and its sum, in units of 2^n */

	for (size_t i = 0; i <= fewer; i++) {
		tail += ways;
		ways = ways * (double)(n - i) / (double)(i + 1);
	}
	return fewer < more && 2 * tail <= 0.05 * pow(2, (double)n);
}

double stats_spread(const uint64_t *values, size_t count)
{
	uint64_t low = UINT64_MAX, high = 0, median = stats_median(values, count);

	for (size_t i = 0; i < count; i++) {
		low = min_u64(low, values[i]);
		high = max_u64(high, values[i]);
	}
	return median ? (double)(high - low) / (double)median : 0;
}

static int sign(double v)
{
	return (v > 0) - (v < 0);
}

double stats_kendall(const double *a, const double *b, size_t n)
{
	double agree = 0, in_a = 0, in_b = 0; /* pairs that differ in a, in b */

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++) {
			int da = sign(a[i] - a[j]), db = sign(b[i] - b[j]);
			agree += da * db;
			in_a += da != 0;
			in_b += db != 0;
		}
	return in_a > 0 && in_b > 0 ? agree / sqrt(in_a * in_b) : (double)NAN;
}

/* SPDX-License-Identifier: MIT */
/* The statistics behind the sentences. All are repeatable: random numbers come from a fixed seed. */
#ifndef STATS_H
#define STATS_H

#include "base.h"

struct interval {
	uint64_t median, low, high;
};

/* The middle value, or the mean of the two in the middle; 0 when empty. */
uint64_t stats_median(const uint64_t *values, size_t count);

/* The median and its 95 % bootstrap interval (percentiles of resampled medians). */
struct interval stats_interval(const uint64_t *values, size_t count);

static inline bool interval_overlap(const struct interval *a, const struct interval *b)
{
	return a->low <= b->high && b->low <= a->high;
}

/*
 * Could two groups of this many runs show a difference at all? Even groups that do not mix have a
 * chance of 2 / C(m + n, m) to look like that by luck; true when this is at most 5 %.
 */
bool stats_enough(size_t m, size_t n);

/*
 * Sign test of paired rounds: could `fewer` of fewer + more rounds going one way be luck? False when
 * the chance, both directions counted, is more than 5 %: it takes 6 of 6, or 8 of 9.
 */
bool stats_paired(size_t fewer, size_t more);

/* (slowest - fastest) / median: the noise of repeats. */
double stats_spread(const uint64_t *values, size_t count);

/* Kendall's rank agreement tau-b of n pairs, -1 to 1; NAN when it is not defined. */
double stats_kendall(const double *a, const double *b, size_t n);

#endif

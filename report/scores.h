/* SPDX-License-Identifier: MIT */
/*
 * The statistics that published file-system comparisons of databases use, so that our numbers can be
 * set beside theirs.
 *
 * A grid holds one value per row (a test, a query) and system (a file system). NAN is a value that
 * is missing: the test did not finish there.
 */
#ifndef SCORES_H
#define SCORES_H

#include "base.h"

struct score_grid {
	const double *values; /* values[row * systems + system] */
	size_t rows, systems;
};

/* Arithmetic mean of what is there; NAN when nothing is. */
double score_average(const double *values, size_t count);

/*
 * 100 = the average system, more is better. A score of times compares sums: 100 * (sum over rows of
 * the rows' averages) / (sum of the system's own times), so the longest test outweighs the others.
 * A score of rates is the inverse, 100 * own sum / sum of averages.
 */
double score_times(const struct score_grid *g, size_t system);
double score_rates(const struct score_grid *g, size_t system);

/* The same by the geometric mean of the ratios row by row: every test weighs the same. Says how
 * much a score owes to one long test. */
double score_times_evenly(const struct score_grid *g, size_t system);
double score_rates_evenly(const struct score_grid *g, size_t system);

/*
 * m-time and m-score of one system: over the rows that all systems finished and, if `plans` is not
 * NULL, with the same plan in all of them (plans[row * systems + system], any number that is equal
 * for equal plans).
 *   time  = sum of its times
 *   score = sum of (the fastest time of the row) / (its time); at most `rows`, more is better
 */
struct score_m {
	size_t rows; /* that were compared */
	double time, score;
};
struct score_m score_m(const struct score_grid *g, const uint64_t *plans, size_t system);

#endif

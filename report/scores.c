/* SPDX-License-Identifier: MIT */
#include "scores.h"

#include <math.h>

static const double *row_of(const struct score_grid *g, size_t row)
{
	return g->values + row * g->systems;
}

double score_average(const double *values, size_t count)
{
	double sum = 0, n = 0;

	for (size_t i = 0; i < count; i++)
		if (!isnan(values[i])) {
			sum += values[i];
			n++;
		}
	return n > 0 ? sum / n : (double)NAN;
}

static double sum_of_averages(const struct score_grid *g)
{
	double sum = 0;

	for (size_t row = 0; row < g->rows; row++)
		sum += score_average(row_of(g, row), g->systems);
	return sum;
}

static double sum_of_own(const struct score_grid *g, size_t system)
{
	double sum = 0;

	for (size_t row = 0; row < g->rows; row++)
		sum += row_of(g, row)[system];
	return sum;
}

double score_times(const struct score_grid *g, size_t system)
{
	return 100 * sum_of_averages(g) / sum_of_own(g, system);
}

double score_rates(const struct score_grid *g, size_t system)
{
	return 100 * sum_of_own(g, system) / sum_of_averages(g);
}

/* Mean logarithm of average / own. */
static double mean_log_ratio(const struct score_grid *g, size_t system)
{
	double sum = 0;

	for (size_t row = 0; row < g->rows; row++)
		sum += log(score_average(row_of(g, row), g->systems) / row_of(g, row)[system]);
	return sum / (double)g->rows;
}

double score_times_evenly(const struct score_grid *g, size_t system)
{
	return 100 * exp(mean_log_ratio(g, system));
}

double score_rates_evenly(const struct score_grid *g, size_t system)
{
	return 100 * exp(-mean_log_ratio(g, system));
}

static bool comparable(const struct score_grid *g, const uint64_t *plans, size_t row)
{
	for (size_t i = 0; i < g->systems; i++) {
		if (isnan(row_of(g, row)[i]))
			return false;
		if (plans && plans[row * g->systems + i] != plans[row * g->systems])
			return false;
	}
	return true;
}

struct score_m score_m(const struct score_grid *g, const uint64_t *plans, size_t system)
{
	struct score_m m = {0};

	for (size_t row = 0; row < g->rows; row++) {
		const double *values = row_of(g, row);
		double fastest = values[0];
		if (!comparable(g, plans, row))
			continue;
		for (size_t i = 1; i < g->systems; i++)
			fastest = fmin(fastest, values[i]);
		m.rows++;
		m.time += values[system];
		m.score += fastest / values[system];
	}
	return m;
}

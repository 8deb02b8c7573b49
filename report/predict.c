/* SPDX-License-Identifier: MIT */
#include "predict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rank.h"
#include "series.h"

static uint64_t median_of(
	const struct results *r, const char *target, enum run_kind kind, const char *mode)
{
	struct series s;

	series_collect(&s, r, target, kind, mode);
	uint64_t median = stats_median(s.elapsed_ns.at, s.elapsed_ns.count);
	series_done(&s);
	return median;
}

static void predict_one(struct results *r, const char *target, const char *mode)
{
	struct result_prediction p = {
		.target = xstrdup(target),
		.predicted_ns = median_of(r, target, RUN_REPLAY, mode),
		.measured_ns = median_of(r, target, RUN_REAL, ""),
	};

	snprintf(p.mode, sizeof(p.mode), "%s", mode);
	if (p.measured_ns)
		p.error = ((double)p.predicted_ns - (double)p.measured_ns) / (double)p.measured_ns;
	vec_push(&r->predictions, p);
}

const struct result_prediction *predict_find(
	const struct results *r, const char *target, const char *mode)
{
	vec_each (p, &r->predictions)
		if (!strcmp(p->target, target) && !strcmp(p->mode, mode))
			return p;
	return NULL;
}

void predict_targets(struct results *r)
{
	vec_each (old, &r->predictions)
		free(old->target);
	r->predictions.count = 0;
	vec_each (run, &r->runs)
		if (run->kind == RUN_REPLAY && !run->failure &&
			!predict_find(r, run->target, run->mode))
			predict_one(r, run->target, run->mode);
}

static void count_pair(struct predict_summary *s, const struct results *r,
	const struct result_rank *a, const struct result_rank *b, const char *mode)
{
	const struct result_prediction *p = predict_find(r, a->target, mode);
	const struct result_prediction *q = predict_find(r, b->target, mode);

	if (!p || !q || rank_compare(r, a, b) != RANK_DIFFERENT)
		return;
	s->pairs_told++;
	s->pairs_right += a->median_ns < b->median_ns ? p->predicted_ns < q->predicted_ns
	                                              : p->predicted_ns > q->predicted_ns;
}

struct predict_summary predict_summarize(const struct results *r, const char *mode)
{
	struct predict_summary s = {0};
	VEC(double) predicted = {0}, measured = {0};

	vec_each (p, &r->predictions) {
		if (strcmp(p->mode, mode) || !p->measured_ns)
			continue;
		vec_push(&predicted, (double)p->predicted_ns);
		vec_push(&measured, (double)p->measured_ns);
		s.mean_error += fabs(p->error);
		s.worst = s.worst && fabs(s.worst->error) >= fabs(p->error) ? s.worst : p;
	}
	s.count = predicted.count;
	s.mean_error /= s.count ? (double)s.count : 1;
	s.tau = stats_kendall(predicted.at, measured.at, s.count);
	for (size_t i = 0; i < r->ranking.count; i++)
		for (size_t j = 0; j < i && r->ranking.at[i].kind == RUN_REAL; j++)
			count_pair(&s, r, &r->ranking.at[i], &r->ranking.at[j], mode);
	vec_free(&predicted);
	vec_free(&measured);
	return s;
}

/* In millionths, so that medians of whole numbers serve; kept in bounds for absurd files. */
static uint64_t millionths(uint64_t a, uint64_t b)
{
	return (uint64_t)fmin(1e6 * (double)a / (double)max_u64(b, 1), 1e15);
}

double predict_ratio(const struct results *r, const char *target, const char *base,
	enum run_kind kind, const char *mode)
{
	VEC(uint64_t) ratios = {0};
	struct series of_target, of_base;

	series_collect(&of_target, r, target, kind, mode);
	series_collect(&of_base, r, base, kind, mode);
	vec_each (run, &of_target.runs) {
		const struct result_run *other = series_round(&of_base, (*run)->repeat);
		if (other)
			vec_push(&ratios, millionths((*run)->elapsed_ns, other->elapsed_ns));
	}
	double median = (double)stats_median(ratios.at, ratios.count) / 1e6;
	vec_free(&ratios);
	series_done(&of_target);
	series_done(&of_base);
	return median;
}

double predict_ratio_error(const struct results *r, const char *base, const char *mode)
{
	double sum = 0, count = 0;

	vec_each (p, &r->predictions) {
		if (strcmp(p->mode, mode) || !strcmp(p->target, base))
			continue;
		double predicted = predict_ratio(r, p->target, base, RUN_REPLAY, mode);
		double measured = predict_ratio(r, p->target, base, RUN_REAL, "");
		if (predicted > 0 && measured > 0) {
			sum += fabs(predicted - measured) / measured;
			count++;
		}
	}
	return count > 0 ? sum / count : (double)NAN;
}

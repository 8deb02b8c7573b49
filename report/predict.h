/* SPDX-License-Identifier: MIT */
/* How near the replay came to the real run. */
#ifndef PREDICT_H
#define PREDICT_H

#include "result.h"

/*
 * Fill r->predictions: for each target and mode of replay the median of its replays, and the median
 * of its real runs where there are any (else measured_ns is 0). Paced replays are the prediction;
 * `full` speed is there to show what leaving out the think time does.
 */
void predict_targets(struct results *r);

struct predict_summary {
	size_t count;      /* targets that have both numbers */
	double mean_error; /* of the absolute errors */
	const struct result_prediction *worst;
	double tau;         /* Kendall's, NAN when not defined */
	size_t pairs_told;  /* pairs of targets that the real runs can tell apart */
	size_t pairs_right; /* of these, predicted in the right order */
};
/* Of one mode. Uses r->ranking when it is of real runs. */
struct predict_summary predict_summarize(const struct results *r, const char *mode);

/*
 * How many times as long `target` took as `base`: the median over the rounds in which both ran.
 * What disturbs a round disturbs both, so this is known better than either time. 0 when there is no
 * such round.
 */
double predict_ratio(const struct results *r, const char *target, const char *base,
	enum run_kind kind, const char *mode);
/* Mean absolute error of the ratios to `base` that the replays predict; NAN when there is none. */
double predict_ratio_error(const struct results *r, const char *base, const char *mode);

/* NULL if there is none. */
const struct result_prediction *predict_find(
	const struct results *r, const char *target, const char *mode);

#endif

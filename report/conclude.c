/* SPDX-License-Identifier: MIT */
#include "predict.h"
#include "rank.h"
#include "report.h"

const char *const report_score_names[] = {
	[SCORE_M_SCORE] = "m-score",
	[SCORE_AVERAGE] = "average",
	[SCORE_RELATIVE] = "relative",
	NULL,
};

void report_conclude(struct results *r)
{
	rank_targets(r);
	predict_targets(r);
}

/* SPDX-License-Identifier: MIT */
#include "predict.h"
#include "rank.h"
#include "report.h"

void report_conclude(struct results *r)
{
	rank_targets(r);
	predict_targets(r);
}

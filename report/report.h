/* SPDX-License-Identifier: MIT */
/*
 * From results to sentences: who is fastest, what makes the others slower, how good was the
 * prediction. report_conclude() first; both kinds of report show what it found.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdio.h>

#include "result.h"

/* The statistic that the ranking shows of results with steps. */
enum report_score { SCORE_M_SCORE, SCORE_AVERAGE, SCORE_RELATIVE };
extern const char *const report_score_names[]; /* NULL-terminated */

struct report_options {
	const char *baseline; /* target that the others are compared with; NULL = the fastest */
	enum report_score score;
	bool color;
	unsigned width; /* columns; 0 = 80 */
};

/* Fill r->ranking and r->predictions from r->runs. */
void report_conclude(struct results *r);

/* The text report: ranking with spread, prediction against measurement, attribution, device. */
int report_text(const struct results *r, const struct report_options *options, FILE *out,
	struct error *err);

/* results_json() and attribution[]: for each target with replays where it differs from the baseline's,
 * by (operation, file class); and steps{}. Caller owns it; NULL on failure. */
json_t *report_json(
	const struct results *r, const struct report_options *options, struct error *err);

#endif

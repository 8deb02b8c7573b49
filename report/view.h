/* SPDX-License-Identifier: MIT */
/* The results arranged for a reader: one entry per target, fastest first, with the runs that speak
 * for it. */
#ifndef VIEW_H
#define VIEW_H

#include "error.h"
#include "report.h"
#include "series.h"

struct target_view {
	const char *target;
	const char *unsafe;             /* NULL: what was synced is safe */
	const struct result_rank *rank; /* NULL: no run of the kind that is ranked */
	struct series real, replay;     /* replays of the mode shown */
	const struct result_run *real_run, *replay_run; /* the median ones, or NULL */
};

struct view {
	const struct results *results;
	enum report_score score;
	char mode[16]; /* of the replays that are looked into: "paced" where there are such */
	VEC(struct target_view) targets;
	const struct target_view *base; /* what the others are compared with; NULL without runs */
};

/* options->baseline: a target, or NULL for the fastest. After report_conclude(). */
int view_init(struct view *v, const struct results *r, const struct report_options *options,
	struct error *err);
void view_done(struct view *v);

#endif

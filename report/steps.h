/* SPDX-License-Identifier: MIT */
/* The steps of the real runs side by side, and the statistics over those that can be compared. */
#ifndef STEPS_H
#define STEPS_H

#include "report.h"
#include "scores.h"
#include "view.h"

enum step_fate {
	STEP_COMPARED,
	STEP_NO_PLAN,      /* where others have one: a phase among queries, not compared */
	STEP_MISSING,      /* `where` does not have it */
	STEP_UNFINISHED,   /* given up in a run on `where` */
	STEP_OTHER_PLAN,   /* `where` goes about it otherwise than `other` */
	STEP_PLAN_CHANGES, /* from run to run on `where` */
	STEP_OTHER_RESULT, /* runs on `where` and `other` yield different things */
};

struct step_row {
	const char *name;
	enum step_fate fate;
	const char *where, *other; /* targets; NULL where the fate names none */
	const char *why;           /* STEP_UNFINISHED: as the run says it */
};

struct step_table {
	VEC(const struct target_view *) targets; /* that have steps, in the order of the view */
	VEC(struct step_row) rows;               /* in the order of the first run */
	VEC(uint64_t) median_ns;                 /* [row * targets + target]; 0: none finished it */
	VEC(double) seconds;                     /* the same, of the compared rows alone */
	struct score_grid grid;                  /* of `seconds` */
};

/* Borrows from `v`. Without steps it has no targets and no rows. */
void step_table_init(struct step_table *ret, const struct view *v);
void step_table_done(struct step_table *t);
#define auto_step_table __attribute__((cleanup(step_table_done)))

/* NULL: the run has no such step. */
const struct result_step *step_find(const struct result_run *run, const char *name);

uint64_t step_median_ns(const struct step_table *t, size_t row, size_t target);

/* One statistic of a target over the compared steps: a time in seconds, or a number. */
struct step_score {
	const char *name; /* as --score has it */
	const char *title;
	bool seconds, more_is_better;
	double (*of)(const struct score_grid *g, size_t target);
};
/* By enum report_score, and m-time after them. */
#define STEP_SCORES (SCORE_RELATIVE + 2)
extern const struct step_score step_scores[STEP_SCORES];

/* Why a row is left out, in words: "another plan on xfs than on ext4". */
const char *step_reason(const struct step_row *row, char out[160]);

/* {compared, steps[], scores[]}; null without steps. Caller owns it. */
json_t *steps_json(const struct view *v);

#endif

/* SPDX-License-Identifier: MIT */
/* Who is faster, and whether the repeats can tell. */
#ifndef RANK_H
#define RANK_H

#include "result.h"

/*
 * Fill r->ranking, fastest first. What is ranked: the real runs; where fewer targets have those, the
 * paced replays; then the replays of any other mode.
 */
void rank_targets(struct results *r);

enum rank_relation {
	RANK_TIE, /* the intervals overlap: no difference shown */
	RANK_FEW, /* they do not, but with so few repeats that can be luck */
	RANK_DIFFERENT,
};
enum rank_relation rank_compare(const struct result_rank *a, const struct result_rank *b);

#endif

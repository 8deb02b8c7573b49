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

/* Rounds in which both ran: a round is short, so what else the machine did hit both alike. */
struct rank_rounds {
	size_t both, slower, faster; /* a than b */
};
struct rank_rounds rank_rounds(
	const struct results *r, const struct result_rank *a, const struct result_rank *b);

enum rank_relation {
	RANK_TIE, /* the intervals overlap, and neither was faster in all but a few rounds */
	RANK_FEW, /* they are apart, or all rounds agree, but with so few repeats that can be luck
	           */
	RANK_DIFFERENT, /* luck would do this in fewer than 1 of 20 cases */
};
enum rank_relation rank_compare(
	const struct results *r, const struct result_rank *a, const struct result_rank *b);

#endif

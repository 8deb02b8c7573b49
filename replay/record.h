/* SPDX-License-Identifier: MIT */
/*
 * What a replay measures, kept per lane so that lanes share nothing, added up at the end.
 *
 * The executed critical path is exact and goes forward: a lane's chain says of the time from the
 * start of the run to the end of its last step which part went into which class of calls, into the
 * application's own time (think) and into neither (dispatch). When a step was held up by another
 * lane, its chain starts again as a copy of that lane's chain at the moment of release. The chain of
 * the lane that ends last sums up to the elapsed time, to the nanosecond.
 */
#ifndef RECORD_H
#define RECORD_H

#include "divergence.h"
#include "hist.h"
#include "phase.h"
#include "plan.h"
#include "result.h"
#include "vec.h"

/* Cells: operation * FILE_CLASS_COUNT + file class, and two more. */
enum {
	CHAIN_THINK = OP_LIMIT * FILE_CLASS_COUNT,
	CHAIN_DISPATCH,
	CHAIN_LIMIT,
};

struct chain {
	uint64_t end_ns; /* on CLOCK_MONOTONIC: the moment up to which it accounts */
	uint64_t ns[CHAIN_LIMIT];
};

struct tally {
	uint64_t bytes;
	struct hist hist;
};

/* When a phase began. */
struct mark {
	char name[PHASE_NAME];
	uint64_t at_ns; /* on CLOCK_MONOTONIC */
};

/* Of one lane. Only the thread that runs the lane touches it, but for a blocked lane's chain. */
struct record {
	struct chain chain;
	struct tally *tally[OP_LIMIT * FILE_CLASS_COUNT]; /* made at first use */
	uint64_t steps, syncs;
	struct divergences divergences;
	VEC(struct mark) marks;
};

/* Every lane starts its account at the same moment. */
void record_start(struct record *r, uint64_t now_ns);

/* Time from the end of the chain to `until` went into the application's own CPU use. */
void record_think(struct record *r, uint64_t until_ns);

/*
 * A step ran from start to end and gave `result`: counts it, checks it, lengthens the chain. What
 * lies between the end of the chain and `start` is dispatch.
 */
void record_step(struct record *r, struct replay_context *ctx, const struct step *step,
	uint64_t start_ns, uint64_t end_ns, int64_t result);

/* The next step of `r` was held up until the last step of `releaser`: its chain is ours now. */
static inline void record_inherit(struct record *r, const struct chain *releaser)
{
	r->chain = *releaser;
}

/*
 * All lanes together: classes with their quantiles, counts and divergences into the run, and the
 * chain that ends last as its critical path. The critical_ns of the classes sum up to
 * run->elapsed_ns (asserted).
 */
void record_report(
	struct record *const *lanes, size_t count, uint64_t started_ns, struct result_run *run);
void record_done(struct record *r);

#endif

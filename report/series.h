/* SPDX-License-Identifier: MIT */
/* The comparable repeats of one target. */
#ifndef SERIES_H
#define SERIES_H

#include "result.h"
#include "stats.h"

struct series {
	VEC(const struct result_run *) runs; /* finished, fastest first; borrowed */
	VEC(uint64_t) elapsed_ns;            /* of the same runs */
	size_t failed;
	size_t left_out; /* replays in another order or by another engine than the first */
};

/* Runs of `kind`, for replays in `mode`, on `target`. */
void series_collect(struct series *ret, const struct results *r, const char *target,
	enum run_kind kind, const char *mode);
void series_done(struct series *s);

/* The run with the median elapsed time (the faster of two in the middle), or NULL. */
const struct result_run *series_median(const struct series *s);

/* The run of one round, or NULL. */
const struct result_run *series_round(const struct series *s, uint64_t repeat);

/* Every target in the order of appearance; borrowed strings. */
struct target_names {
	const char **at;
	size_t count, capacity;
};
void series_targets(struct target_names *ret, const struct results *r);

#endif

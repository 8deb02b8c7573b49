/* SPDX-License-Identifier: MIT */
/* What every run on a target has in common, replayed or real: its name, a cold start, the device's
 * counters, and the writes that were still under way at the end. */
#ifndef TARGET_RUN_H
#define TARGET_RUN_H

#include "result.h"
#include "target.h"

struct target_run {
	struct target *target;
	struct result_run *run;
	struct blockstat before;
};

/* On a target that is made: name the run. `run` is zeroed. */
void target_run_begin(
	struct target_run *ret, struct target *t, uint64_t repeat, struct result_run *run);
/* When the data is prepared: sync, drop the caches, read the counters. */
int target_run_settle(struct target_run *m, struct error *err);
/* Right after the run: time a syncfs (settle_ns) and read the counters, which so hold all it wrote. */
int target_run_end(struct target_run *m, struct error *err);

/* A command that gives up early: say in `results` why it is not all of the `planned` runs, and keep
 * them in the file `output`. Nothing without a file or without a run. */
void target_runs_unfinished(
	struct results *results, const char *output, uint64_t planned, const struct error *why);

#endif

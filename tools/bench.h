/* SPDX-License-Identifier: MIT */
/*
 * The main job in its three phases: capture once, replay on every target, run for real on every
 * target. Each phase adds to the results and stores them after every run, so that an interruption
 * or a crash costs one run at most.
 */
#ifndef BENCH_H
#define BENCH_H

#include "replay-run.h"
#include "result.h"
#include "target-options.h"
#include "workload.h"

enum bench_modes { BENCH_BOTH, BENCH_PACED, BENCH_FULL };

struct bench {
	/* What was asked for. */
	struct target_options targets;
	struct workload_spec workload;
	struct target_set set;
	struct target *source; /* where the capture happens */
	unsigned modes;        /* enum bench_modes */
	struct replay_job replay;
	bool workload_failed; /* in the capture */

	/* What comes out. */
	char *dir, *trace_path, *results_path, *prediction_path, *report_path;
	struct results *results;
};

/* The data set is prepared on the source, then the workload runs once on the pass-through. */
int bench_capture(struct bench *b, struct error *err);
/* Ends with the prediction written down, in a file that nothing touches afterwards. */
int bench_replay(struct bench *b, struct error *err);
int bench_real(struct bench *b, struct error *err);
/* How many runs are planned. */
size_t bench_runs(const struct bench *b);

#endif

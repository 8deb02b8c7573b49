/* SPDX-License-Identifier: MIT */
/* One replay of a trace on a target that is made: for `replay` and `bench`. */
#ifndef REPLAY_RUN_H
#define REPLAY_RUN_H

#include "opt.h"
#include "reader.h"
#include "replay.h"
#include "result.h"
#include "target.h"

struct replay_job {
	struct trace_reader *trace; /* open, borrowed */
	struct replay_options options;
	bool verify_state; /* compare the final tree with the trace's */

	/* Set by replay_on_target(): what the trace was like, once it was read to its end. */
	struct trace_health health;
	bool replayed;
};

/*
 * Starting state, settle, replay, sync, and the comparison of the final state. Fills `run` (zeroed
 * by the caller). What goes wrong on this target (it is full ...) is no error of this function but
 * in run->failure; an error is an interruption.
 */
int replay_on_target(struct replay_job *job, struct target *t, uint64_t repeat,
	struct result_run *run, struct error *err);

/* Open a trace and note in the results which one it is. */
int replay_open(
	struct replay_job *job, const char *path, struct results *results, struct error *err);
/*
 * A sentence on what is wrong with the trace as a whole (torn, events lost), or NULL, also if it was
 * never replayed to its end: nothing is known then. Caller frees.
 */
char *replay_complaint(const struct replay_job *job);

/* Rows for a command's table. */
#define REPLAY_OPTIONS(job, order_, mode_, engine_)                                                \
	{"order", 0, OPT_CHOICE, (order_), "ORDER",                                                \
		"what is kept in order: thread, resource (default), strict", replay_order_names},  \
		{"mode", 0, OPT_CHOICE, (mode_), "MODE",                                           \
			"full: no think time (default); paced: the CPU time between calls",        \
			replay_mode_names},                                                        \
		{"engine", 0, OPT_CHOICE, (engine_), "ENGINE",                                     \
			"auto (default), lanes, ring, null", replay_engine_names},                 \
		{"loops", 0, OPT_NUMBER, &(job)->options.loops, "N",                               \
			"event loops of the ring (default 1)"},                                    \
		{"no-direct", 0, OPT_FLAG, &(job)->options.no_direct, NULL,                        \
			"open without O_DIRECT"},                                                  \
		{"keep-owners", 0, OPT_FLAG, &(job)->options.keep_owners, NULL,                    \
			"files belong to whom they belonged to (root)"},                           \
	{                                                                                          \
		"verify-state", 0, OPT_FLAG, &(job)->verify_state, NULL,                           \
			"compare the final tree with the captured one"                             \
	}

#endif

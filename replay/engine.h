/* SPDX-License-Identifier: MIT */
/*
 * What an engine is: something that takes steps out of the window and makes their calls, each as
 * soon as its lane's previous step and its waits allow. Lanes and ring differ only in how a call is
 * issued; steps, checks and accounts are the same.
 *
 * The duties of an engine:
 *   - lanes start together: read the clock, record_start() each lane with it, go;
 *   - before a step, its waits: lane w->lane must have finished w->progress steps;
 *   - a step that really was held up by another lane takes over that lane's chain, as it was at the
 *     end of the step that released it last (record_inherit());
 *   - paced: engine_think(), then record_think();
 *   - the call, between two readings of the clock; record_step(); window_finish().
 */
#ifndef ENGINE_H
#define ENGINE_H

#include "record.h"
#include "replay.h"
#include "window.h"

struct engine {
	const struct replay_options *options;
	struct window *window;
	struct files *files;
	const struct payload *payload;
	const struct survey *survey;
	struct record *const *records; /* one per lane */
	uint32_t lane_count;           /* known before the start; <= PLAN_MAX_LANES */
	uint64_t started_ns;           /* set by the engine: when the lanes were let go */
	struct result_run *run;        /* its calibration says what the ring costs here */
	struct progress *progress;     /* total = steps; engines update it now and then */
};

/* Run the whole plan. An interrupt (interrupted()) ends it early with -EINTR. */
int engine_lanes(struct engine *e, struct error *err);
int engine_ring(struct engine *e, struct error *err);
int engine_auto(struct engine *e, struct error *err);
int engine_null(struct engine *e, struct error *err);

/* Drop the calibration of calls that the trace does not make; note who carries the others. */
void engine_note_calibration(struct engine *e, bool in_ring);

/* The context of one lane or loop; the buffer is made here. */
void engine_context(const struct engine *e, struct replay_context *ret);
void engine_context_done(struct replay_context *ctx);

/* Use CPU time as the application did. Returns the time now. */
uint64_t engine_think(uint64_t cpu_ns);

#endif

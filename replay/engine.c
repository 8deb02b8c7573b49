/* SPDX-License-Identifier: MIT */
/* What engines share, and the engine that makes no calls. */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "clock.h"
#include "interrupt.h"
#include "progress.h"
#include "vec.h"

#define ALIGN       4096
#define THINK_LOOK  64   /* turns of the loop between two looks at the clock */
#define NULL_LOOK   64   /* steps between two looks at the clock */
#define NULL_UPDATE 4096 /* ... of the progress */

void engine_context(const struct engine *e, struct replay_context *ret)
{
	*ret = (struct replay_context){
		.files = e->files,
		.payload = e->payload,
		.buffer = xaligned(ALIGN, PAYLOAD_SIZE),
		.keep_owners = e->options->keep_owners,
		.no_direct = e->options->no_direct,
	};
}

void engine_context_done(struct replay_context *ctx)
{
	free(ctx->buffer);
	ctx->buffer = NULL;
}

/* Against the thread's own clock: time that another thread has the CPU does not count, as it did not
 * in the capture. */
uint64_t engine_think(uint64_t cpu_ns)
{
	uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		for (volatile unsigned i = 0; i < THINK_LOOK; i++)
			continue;
	return now_ns();
}

/* In the order of the trace every wait is fulfilled. What remains is the cost of reading, compiling,
 * dispatching and accounting. A call that is not made takes no time, so a look at the clock now and
 * then is enough. */
int engine_null(struct engine *e, struct error *err)
{
	struct replay_context ctx = {.files = e->files};
	struct step *step;
	uint64_t steps = 0, now = now_ns();
	int r;

	e->started_ns = now;
	for (uint32_t i = 0; i < e->lane_count; i++)
		record_start(e->records[i], e->started_ns);
	while ((r = window_next(e->window, &step, err)) == 1) {
		if (steps % NULL_LOOK == 0)
			now = now_ns();
		record_step(e->records[step->lane], &ctx, step, now, now, step->expect);
		window_finish_here(e->window, step);
		if (++steps % NULL_UPDATE)
			continue;
		progress_update(e->progress, steps);
		if (interrupted())
			return error_set(err, EINTR, "interrupted");
	}
	return r;
}

/* SPDX-License-Identifier: MIT */
/*
 * Which engine tells the truth about this application?
 *
 * One that makes blocking calls from threads is replayed by threads that make the same calls:
 * whatever io_uring adds (a worker's wake-up, another order of arrival at the journal), the
 * application did not pay, and it differs from one file system to the next. So the answer is lanes,
 * unless
 *
 *   - most calls were made while another one of the same thread was under way, as libaio and
 *     io_uring do: threads would add context switches that the application did not have, four times
 *     the CPU time for direct reads at depth 32;
 *   - and no CPU time has to be spent between the calls, which belongs into a thread.
 *
 * The trace alone decides, so that all targets of a comparison get the same engine. What the ring
 * costs on each of them, the calibration says beside every result.
 *
 * One engine carries a whole run. A mixture would let ring and threads compete for the same CPUs, and
 * would put two kinds of latency into one row of the results.
 */
#include <stdio.h>
#include <string.h>

#include "engine.h"

static bool is_asynchronous(const struct survey *s)
{
	return 2 * s->overlapped > s->steps;
}

/* Rows are named after their operation: "write", "write (direct)". */
static bool made_by_trace(const struct survey *s, const struct result_calibration *row)
{
	char name[sizeof(row->op)];
	bool direct = strchr(row->op, ' ');

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(row->op, " "), row->op);
	return s->by_op[op_by_name(name)] > 0 && (!direct || s->direct > 0);
}

void engine_note_calibration(struct engine *e, bool in_ring)
{
	struct result_run *run = e->run;
	size_t kept = 0;

	for (size_t i = 0; i < run->calibration.count; i++) {
		struct result_calibration row = run->calibration.at[i];
		if (!made_by_trace(e->survey, &row))
			continue;
		row.ring = in_ring;
		run->calibration.at[kept++] = row;
	}
	run->calibration.count = kept;
}

int engine_auto(struct engine *e, struct error *err)
{
	bool ring = is_asynchronous(e->survey) && e->options->mode == MODE_FULL &&
	            step_uring_has(OP_read);

	snprintf(e->run->engine, sizeof(e->run->engine), "auto:%s", ring ? "ring" : "lanes");
	if (ring)
		return engine_ring(e, err);
	engine_note_calibration(e, false);
	return engine_lanes(e, err);
}

/* SPDX-License-Identifier: MIT */
/*
 * Which engine tells the truth here?
 *
 * An application that makes blocking calls from threads is replayed by threads that make the same
 * calls: whatever io_uring adds (a worker's wake-up, another order of arrival at the journal), the
 * application did not pay, and it differs from one file system to the next. So the answer is lanes,
 * unless all of this holds:
 *
 *   - most calls were made while another one of the same thread was under way, as libaio and
 *     io_uring do: threads would add context switches that the application did not have;
 *   - the calibration found the ring to cost at most a quarter more than blocking calls, weighted by
 *     how often the trace makes each call and assuming what has no form in the ring goes to the pool;
 *   - no CPU time has to be spent between the calls, which belongs into the thread that makes them.
 *
 * One engine carries a whole run. A mixture would let ring and threads compete for the same CPUs, and
 * calls of one thread would have two kinds of latency in one table.
 *
 * The choice depends on the target, and the results name it ("auto:lanes", "auto:ring"). With O_DIRECT
 * and depth it is the ring on all of ext4, xfs and btrfs; where it is not the same on all targets
 * that are compared, choose one with --engine.
 */
#include <stdio.h>
#include <string.h>

#include "calibrate.h"
#include "clock.h"
#include "engine.h"

#define MAX_BIAS    0.25
#define WAY_TO_POOL (10 * NSEC_PER_USEC) /* and back */

static bool is_lock(enum op op)
{
	return op == OP_getlk || op == OP_setlk || op == OP_flock;
}

/* Most reads and writes of the trace are direct: their other row applies. */
static bool is_direct(const struct survey *s, enum op op)
{
	uint64_t all = s->by_op[OP_read] + s->by_op[OP_write];

	return (op == OP_read || op == OP_write) && 2 * s->direct > all;
}

/* Time that the ring adds to the trace's calls, as a share of what blocking calls take. */
static double ring_bias(const struct engine *e)
{
	double added = 0, total = 0;

	for (unsigned op = 1; op < OP_LIMIT; op++) {
		double count = (double)e->survey->by_op[op];
		const struct result_calibration *row =
			calibration_of(e->run, (enum op)op, is_direct(e->survey, (enum op)op));
		if (!row) {
			added += is_lock((enum op)op) ? 0 : count * WAY_TO_POOL;
			continue;
		}
		total += count * (double)row->sync_ns;
		if (row->ring_ns > row->sync_ns)
			added += count * (double)(row->ring_ns - row->sync_ns);
	}
	return total > 0 ? added / total : 1;
}

static bool wants_ring(const struct engine *e)
{
	return e->options->mode == MODE_FULL && 2 * e->survey->overlapped > e->survey->steps &&
	       ring_bias(e) <= MAX_BIAS;
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
	bool ring = wants_ring(e);

	snprintf(e->run->engine, sizeof(e->run->engine), "auto:%s", ring ? "ring" : "lanes");
	if (ring)
		return engine_ring(e, err);
	engine_note_calibration(e, false);
	return engine_lanes(e, err);
}

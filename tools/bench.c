/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "capture-run.h"
#include "child.h"
#include "cleanup.h"
#include "interrupt.h"
#include "progress.h"
#include "reader.h"
#include "replay-run.h"
#include "report.h"
#include "run-real.h"
#include "units.h"

/* Capture ---------------------------------------------------------------------------------- */

static int prepare(void *data, struct error *err)
{
	const struct bench *b = data;

	return b->workload.workload->prepare(b->workload.settings, target_path(b->source), err);
}

static int check(void *data, struct error *err)
{
	const struct bench *b = data;

	return b->workload.workload->check(b->workload.settings, target_path(b->source), err);
}

/* A part of the workload itself, which can be at fault. */
static int do_part(struct bench *b, int (*part)(void *data, struct error *err), struct error *err)
{
	int r = child_run(part, b, NULL, err);

	b->workload_failed = r < 0;
	return r;
}

static void keep_capture(struct bench *b, const struct capture_result *c)
{
	json_t *capture = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "target",
		target_label(b->source), "elapsed_ns", (json_int_t)c->outcome.elapsed_ns, "events",
		(json_int_t)c->totals.events, "lost", (json_int_t)c->totals.lost, "file_bytes",
		(json_int_t)c->totals.file_bytes, "call_cpu_ns", (json_int_t)c->cost.call_ns);
	struct unit_text events, ns, bytes;

	json_object_set_new(b->results->environment, "capture", capture);
	progress_note("captured on %s: %s calls in %s, a trace of %s", target_label(b->source),
		format_count(c->totals.events, &events), format_ns(c->outcome.elapsed_ns, &ns),
		format_bytes(c->totals.file_bytes, &bytes));
}

/* A trace with holes would predict something else than the workload. */
static int check_complete(const struct bench *b, const struct capture_result *c, struct error *err)
{
	if (c->taken)
		return error_set(err, EIO, "the mount was taken away while the workload ran");
	if (c->truncated)
		return error_set(err, ENOSPC, "%s could not be written to its end", b->trace_path);
	if (c->totals.lost)
		return error_set(err, EIO, "%" PRIu64 " calls are missing in %s", c->totals.lost,
			b->trace_path);
	if (c->outcome.failures)
		return error_set(err, EIO,
			"%" PRIu64 " operations of the workload failed on the pass-through",
			c->outcome.failures);
	return 0;
}

/* On the source, which is made. */
static int capture_steps(struct bench *b, struct error *err)
{
	struct capture_job job = {
		.dir = target_path(b->source),
		.trace = b->trace_path,
		.workload = &b->workload,
	};
	struct capture_result result = {0};
	struct progress progress;

	progress_start(&progress, "capture", 0);
	int r = do_part(b, prepare, err);
	if (!r)
		r = target_settle(b->source, err);
	if (!r) {
		r = capture_run(&job, &result, err);
		b->workload_failed = result.status || result.outcome.failures;
	}
	if (!r)
		r = check_complete(b, &result, err);
	if (!r)
		r = do_part(b, check, err);
	progress_end(&progress);
	if (!r)
		keep_capture(b, &result);
	return r;
}

int bench_capture(struct bench *b, struct error *err)
{
	int r = target_make(b->source, b->set.scratch, err);

	if (!r) {
		r = capture_steps(b, err);
		int undone = target_unmake(b->source, r ? NULL : err);
		r = r ? r : undone;
	}
	if (interrupted())
		r = error_set(err, EINTR, "interrupted");
	else if (r)
		r = error_wrap(err, "capture");
	if (r)
		unlink(b->trace_path);
	return r;
}

/* Runs on targets -------------------------------------------------------------------------- */

/* One round over all targets of one kind of run, and what to tell of it. */
struct round {
	struct bench *bench;
	uint64_t number;
	int (*one)(struct round *r, struct target *t, struct result_run *run, struct error *err);
	char said[256];
};

static void say_run(struct round *r, const struct result_run *run)
{
	struct unit_text ns;
	size_t used = strlen(r->said);

	snprintf(r->said + used, sizeof(r->said) - used, "%s%s %s", used ? ", " : "", run->target,
		run->failure ? "failed" : format_ns(run->elapsed_ns, &ns));
}

static int visit(struct target *t, uint64_t number, void *data, struct error *err)
{
	struct round *r = data;
	struct bench *b = r->bench;
	struct result_run run = {0};
	int e = r->one(r, t, &run, err);

	(void)number;
	if (e < 0) {
		result_run_done(&run);
		return e;
	}
	say_run(r, &run);
	vec_push(&b->results->runs, run);
	return results_write(b->results, b->results_path, err);
}

/* Who comes first changes from round to round: the first run after a pause is not like the others. */
static void rotate(struct target_set *set)
{
	struct target *first = set->at[0];

	memmove(set->at, set->at + 1, (set->count - 1) * sizeof(*set->at));
	set->at[set->count - 1] = first;
}

static int do_round(struct round *r, const char *what, struct error *err)
{
	r->said[0] = '\0';
	int e = target_set_each(&r->bench->set, 1, visit, r, err);

	if (r->said[0])
		progress_note("%s, round %" PRIu64 " of %" PRIu64 ": %s", what, r->number + 1,
			r->bench->targets.repeat, r->said);
	return e;
}

/* Replay ----------------------------------------------------------------------------------- */

static int one_replay(struct round *r, struct target *t, struct result_run *run, struct error *err)
{
	return replay_on_target(&r->bench->replay, t, r->number, run, err);
}

static bool wants(const struct bench *b, enum replay_mode mode)
{
	switch ((enum bench_modes)b->modes) {
	case BENCH_BOTH:
		return true;
	case BENCH_PACED:
		return mode == MODE_PACED;
	case BENCH_FULL:
		return mode == MODE_FULL;
	}
	return false;
}

static int replay_rounds(struct bench *b, struct error *err)
{
	static const enum replay_mode modes[] = {MODE_PACED, MODE_FULL};
	struct round round = {b, .one = one_replay};
	int e = 0;

	for (; round.number < b->targets.repeat && !e; round.number++) {
		for (size_t i = 0; i < ARRAY_SIZE(modes) && !e; i++) {
			b->replay.options.mode = modes[i];
			if (wants(b, modes[i]))
				e = do_round(&round,
					modes[i] == MODE_PACED ? "paced replays"
							       : "full-speed replays",
					err);
		}
		rotate(&b->set);
	}
	return e;
}

int bench_replay(struct bench *b, struct error *err)
{
	int e = replay_open(&b->replay, b->trace_path, b->results, err);

	if (!e)
		e = replay_rounds(b, err);
	trace_reader_close(b->replay.trace);
	report_conclude(b->results);
	if (!e)
		e = results_write(b->results, b->prediction_path, err);
	return e;
}

/* Real runs -------------------------------------------------------------------------------- */

static int one_real(struct round *r, struct target *t, struct result_run *run, struct error *err)
{
	return run_real(&r->bench->workload, t, r->number, run, err);
}

int bench_real(struct bench *b, struct error *err)
{
	struct round round = {b, .one = one_real};
	int e = 0;

	for (; round.number < b->targets.repeat && !e; round.number++) {
		e = do_round(&round, "real runs", err);
		rotate(&b->set);
	}
	return e;
}

size_t bench_runs(const struct bench *b)
{
	size_t kinds = 1 + (size_t)wants(b, MODE_PACED) + (size_t)wants(b, MODE_FULL);

	return kinds * b->set.count * b->targets.repeat;
}

/* SPDX-License-Identifier: MIT */
#include "run-real.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "child.h"
#include "cleanup.h"
#include "interrupt.h"
#include "progress.h"
#include "target-run.h"
#include "vec.h"

/* How often the progress line is brought up to date. */
#define WATCH_MS 100

/* What a part of the workload needs, on its way into the child. */
struct job {
	const struct workload_spec *spec;
	const char *dir;
	struct outcome *outcome; /* shared */
};

static int prepare_part(void *arg, struct error *err)
{
	struct job *job = arg;

	return job->spec->workload->prepare(job->spec->settings, job->dir, err);
}

static int run_part(void *arg, struct error *err)
{
	struct job *job = arg;

	return job->spec->workload->run(job->spec->settings, job->dir, job->outcome, err);
}

static int check_part(void *arg, struct error *err)
{
	struct job *job = arg;

	return job->spec->workload->check(job->spec->settings, job->dir, err);
}

struct part {
	const char *name;
	int (*work)(void *arg, struct error *err);
	bool measured; /* its progress and its CPU time are the run's */
};

static const struct part prepare = {"prepare", prepare_part, false};
static const struct part run = {"run", run_part, true};
static const struct part check = {"check", check_part, false};

/* A failure goes into the result and the command goes on, unless it is the user who stopped it. */
static int keep_failure(
	const char *part, const struct error *failure, struct result_run *result, struct error *err)
{
	if (interrupted())
		return error_set(err, EINTR, "interrupted");
	if (!result->failure)
		result->failure = xasprintf("%s: %s", part, failure->text);
	return 0;
}

static int do_part(
	const struct part *part, struct job *job, struct result_run *result, struct error *err)
{
	auto_free char *phase = xasprintf("%s: %s", result->target, part->name);
	struct child child = {0};
	struct error failure = {0};
	struct progress progress;

	if (result->failure)
		return 0;
	progress_start(&progress, phase, 0);
	int r = child_start(&child, part->work, job, &failure);
	while (!r && !child_poll(&child, WATCH_MS)) {
		progress.total = part->measured ? job->outcome->planned : 0;
		progress_update(&progress, part->measured ? job->outcome->operations : 0);
	}
	r = r ? r : child_wait(&child, &failure);
	progress_end(&progress);
	if (part->measured)
		result->cpu_ns = child.cpu_ns;
	return r < 0 ? keep_failure(part->name, &failure, result, err) : 0;
}

/* The disk may be full by now, so these can fail for the same reasons. */
static int do_settle(struct target_run *measured,
	int (*settle)(struct target_run *m, struct error *err), struct error *err)
{
	struct error failure = {0};
	int r = settle(measured, &failure);

	return r < 0 ? keep_failure("sync", &failure, measured->run, err) : 0;
}

static char *text_or_null(const char *text)
{
	return *text ? xstrdup(text) : NULL;
}

static void hash_text(uint64_t hash, char out[20])
{
	snprintf(out, 20, "%016" PRIx64, hash);
}

static void keep_step(const struct outcome_step *from, struct result_run *result)
{
	struct result_step step = {
		.elapsed_ns = from->elapsed_ns,
		.rows = from->rows,
		.unfinished = text_or_null(from->unfinished),
		.note = text_or_null(from->note),
	};

	snprintf(step.name, sizeof(step.name), "%s", from->name);
	if (from->plan)
		hash_text(from->plan, step.plan);
	if (from->rows || from->checksum || (from->plan && !step.unfinished))
		hash_text(from->checksum, step.checksum);
	vec_push(&result->steps, step);
}

static void keep_outcome(const struct outcome *o, struct result_run *result)
{
	struct result_class *c = result_run_class(result, RESULT_OP_WORKLOAD, "");

	result->elapsed_ns = o->elapsed_ns;
	result->operations = o->operations;
	result->metric_value = o->metric_value;
	snprintf(result->metric_name, sizeof(result->metric_name), "%s", o->metric_name);
	snprintf(result->metric_unit, sizeof(result->metric_unit), "%s", o->metric_unit);
	c->count = o->latency.count;
	c->total_ns = o->latency.sum_ns;
	c->p50_ns = hist_quantile(&o->latency, 0.5);
	c->p90_ns = hist_quantile(&o->latency, 0.9);
	c->p99_ns = hist_quantile(&o->latency, 0.99);
	c->max_ns = o->latency.max_ns;
	for (uint64_t i = 0; i < o->step_count; i++)
		keep_step(&o->steps[i], result);
	if (o->failures && !result->failure)
		result->failure = xasprintf("%" PRIu64 " of %" PRIu64 " operations failed",
			o->failures, o->failures + o->operations);
}

static int all_parts(struct job *job, struct target *t, uint64_t repeat, struct result_run *result,
	struct error *err)
{
	struct target_run measured;

	result->kind = RUN_REAL;
	target_run_begin(&measured, t, repeat, result);
	int r = do_part(&prepare, job, result, err);
	if (!r)
		r = do_settle(&measured, target_run_settle, err);
	if (!r)
		r = do_part(&run, job, result, err);
	if (!r)
		r = do_settle(&measured, target_run_end, err);
	if (!r && !result->failure)
		keep_outcome(job->outcome, result);
	return r ? r : do_part(&check, job, result, err);
}

int run_real(const struct workload_spec *spec, struct target *t, uint64_t repeat,
	struct result_run *result, struct error *err)
{
	struct outcome *outcome = shared_memory(sizeof(*outcome));
	struct job job = {spec, target_path(t), outcome};
	int r = all_parts(&job, t, repeat, result, err);

	shared_memory_free(outcome, sizeof(*outcome));
	return r;
}

/* SPDX-License-Identifier: MIT */
#include "replay-run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "interrupt.h"
#include "result-text.h"
#include "target-run.h"
#include "vec.h"

static int keep_failure(
	const char *part, const struct error *failure, struct result_run *run, struct error *err)
{
	if (interrupted())
		return error_set(err, EINTR, "interrupted");
	if (!run->failure)
		run->failure = xasprintf("%s: %s", part, failure->text);
	return 0;
}

static int prepare(struct replay_job *job, struct target_run *m, struct error *err)
{
	return replay_prepare(job->trace, target_root_fd(m->target), &job->options, err);
}

static int calibrate(struct replay_job *job, struct target_run *m, struct error *err)
{
	return replay_calibrate(target_root_fd(m->target), &job->options, m->run, err);
}

static int settle(struct replay_job *job, struct target_run *m, struct error *err)
{
	return target_run_settle(m, err);
}

static int replay(struct replay_job *job, struct target_run *m, struct error *err)
{
	int r = replay_run(job->trace, target_root_fd(m->target), &job->options, m->run, err);

	if (r >= 0) {
		job->health = *trace_reader_health(job->trace);
		job->replayed = true;
	}
	return r;
}

static int end(struct replay_job *job, struct target_run *m, struct error *err)
{
	return target_run_end(m, err);
}

/* A state that differs counts as a divergence of its own kind. */
static int verify(struct replay_job *job, struct target_run *m, struct error *err)
{
	struct result_divergence row = {.op = "(state)"};
	char first[256];

	if (!job->verify_state)
		return 0;
	int differences = replay_verify_state(job->trace, target_root_fd(m->target), first, err);
	if (differences <= 0)
		return differences;
	row.count = (uint64_t)differences;
	row.first = xstrdup(first);
	vec_push(&m->run->divergence, row);
	m->run->divergences += row.count;
	return 0;
}

int replay_on_target(struct replay_job *job, struct target *t, uint64_t repeat,
	struct result_run *run, struct error *err)
{
	static const struct {
		const char *name;
		int (*run)(struct replay_job *job, struct target_run *m, struct error *err);
	} parts[] = {
		{"starting state", prepare},
		{"calibration", calibrate},
		{"sync", settle},
		{"replay", replay},
		{"sync", end},
		{"final state", verify},
	};
	struct target_run measured;

	run->kind = RUN_REPLAY;
	target_run_begin(&measured, t, repeat, run);
	auto_free char *label = xasprintf("%s: replay", run->target);
	job->options.label = label;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		struct error failure = {0};
		if (parts[i].run(job, &measured, &failure) < 0)
			return keep_failure(parts[i].name, &failure, run, err);
	}
	job->options.label = NULL;
	return 0;
}

/* The words of the command as one line for a shell; NULL if META holds none. */
static char *command_of(const json_t *meta)
{
	const json_t *words = json_object_get(meta, "command");
	char *line = NULL;

	for (size_t i = 0; i < json_array_size(words); i++) {
		const char *text = json_string_value(json_array_get(words, i));
		auto_free char *word = shell_word(text ? text : "?");
		char *longer = xasprintf("%s%s%s", line ? line : "", line ? " " : "", word);
		free(line);
		line = longer;
	}
	return line ? clean_text(line) : NULL;
}

/* What was captured: the results say so too. */
static void note_workload(struct results *results, const json_t *meta)
{
	const char *workload = json_string_value(json_object_get(meta, "workload"));

	if (!results->workload)
		results->workload = workload ? xstrdup(workload) : command_of(meta);
}

int replay_open(
	struct replay_job *job, const char *path, struct results *results, struct error *err)
{
	struct trace_totals totals;
	char digest[65];
	int r = trace_reader_open(&job->trace, path, err);

	if (r == 0)
		r = trace_reader_digest(job->trace, digest, err);
	if (r < 0)
		return r;
	results->trace_path = xstrdup(path);
	results->trace_sha256 = xstrdup(digest);
	if (trace_reader_totals(job->trace, &totals) == 0)
		results->trace_events = totals.events;
	note_workload(results, trace_reader_meta(job->trace));
	return 0;
}

char *replay_complaint(const struct replay_job *job)
{
	const struct trace_health *h = &job->health;

	if (!job->replayed)
		return NULL;
	if (h->torn)
		return xasprintf("the trace is torn: it ends at byte %" PRIu64
				 " of a file that goes on; what came before was replayed",
			h->torn_at);
	if (!h->complete)
		return xstrdup("the trace has no end: the capture was cut off");
	if (h->lost)
		return xasprintf("%" PRIu64 " events were lost during the capture", h->lost);
	if (h->unknown)
		return xasprintf(
			"%" PRIu64 " events of operations unknown here were left out", h->unknown);
	return NULL;
}

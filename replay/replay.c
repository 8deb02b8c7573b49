/* SPDX-License-Identifier: MIT */
#include "replay.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "calibrate.h"
#include "clock.h"
#include "engine.h"
#include "progress.h"

const char *const replay_order_names[] = {"thread", "resource", "strict", NULL};
const char *const replay_mode_names[] = {"full", "paced", NULL};
const char *const replay_engine_names[] = {"auto", "lanes", "ring", "null", NULL};

/* The parts of one run, in the order in which they are made. */
struct replay {
	struct files *files;
	struct payload *payload;
	struct compiler *compiler;
	struct window *window;
	struct record **records;
	uint32_t lanes;
};

static void replay_done(struct replay *p)
{
	for (uint32_t i = 0; i < p->lanes; i++) {
		record_done(p->records[i]);
		free(p->records[i]);
	}
	free(p->records);
	window_free(p->window);
	compiler_free(p->compiler);
	payload_free(p->payload);
	files_free(p->files);
}

/* A power of two, and no more than there are handle slots to go round. */
static uint32_t window_steps(const struct replay_options *options)
{
	uint32_t size = WINDOW_DEFAULT;

	while (options->window && size > 16 && size / 2 >= options->window)
		size /= 2;
	return size;
}

static int replay_init(struct replay *p, struct trace_reader *trace, int root_fd,
	const struct replay_options *options, struct error *err)
{
	uint32_t window = window_steps(options);
	int r = files_new(&p->files, root_fd, err);

	if (r == 0)
		r = compiler_new(&p->compiler, trace, options, p->files, window, err);
	if (r < 0)
		return r;
	if (options->mode == MODE_PACED && !compiler_survey(p->compiler)->knows_cpu)
		return error_set(err, ENODATA,
			"the trace has no CPU times, so there is nothing to pace by; use --mode "
			"full");
	p->payload = payload_new();
	p->window = window_new(p->compiler, window);
	p->lanes = compiler_survey(p->compiler)->lane_count;
	p->records = ALLOC_ARRAY(struct record *, p->lanes);
	for (uint32_t i = 0; i < p->lanes; i++)
		p->records[i] = ALLOC(struct record);
	return 0;
}

static int run_engine(struct engine *e, struct error *err)
{
	switch (e->options->engine) {
	case ENGINE_LANES:
		return engine_lanes(e, err);
	case ENGINE_RING:
		return engine_ring(e, err);
	case ENGINE_AUTO:
		return engine_auto(e, err);
	case ENGINE_NULL:
		return engine_null(e, err);
	}
	return -EINVAL;
}

static uint64_t cpu_used_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NSEC_PER_SEC +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * NSEC_PER_USEC;
}

static void name_run(struct result_run *run, const struct replay_options *options)
{
	run->kind = RUN_REPLAY;
	snprintf(run->mode, sizeof(run->mode), "%s", replay_mode_names[options->mode]);
	snprintf(run->order, sizeof(run->order), "%s", replay_order_names[options->order]);
	snprintf(run->engine, sizeof(run->engine), "%s", replay_engine_names[options->engine]);
}

int replay_calibrate(int root_fd, const struct replay_options *options, struct result_run *run,
	struct error *err)
{
	if (options->engine != ENGINE_AUTO && options->engine != ENGINE_RING)
		return 0;
	struct payload *payload = payload_new();
	int r = calibrate(root_fd, payload, UINT64_MAX, run, err);
	payload_free(payload);
	return r;
}

int replay_run(struct trace_reader *trace, int root_fd, const struct replay_options *options,
	struct result_run *run, struct error *err)
{
	struct replay p = {0};
	struct progress progress;
	int r = replay_init(&p, trace, root_fd, options, err);

	if (r < 0) {
		replay_done(&p);
		return r;
	}
	name_run(run, options);
	progress_start(&progress, options->label ? options->label : "replay",
		compiler_survey(p.compiler)->steps);
	struct engine e = {
		.options = options,
		.window = p.window,
		.files = p.files,
		.payload = p.payload,
		.survey = compiler_survey(p.compiler),
		.records = p.records,
		.lane_count = p.lanes,
		.run = run,
		.progress = &progress,
	};
	mode_t mask = umask(0); /* modes in a trace are as they came out in the capture */
	uint64_t cpu_before = cpu_used_ns();
	r = run_engine(&e, err);
	run->cpu_ns = cpu_used_ns() - cpu_before;
	umask(mask);
	progress_end(&progress);
	if (r == 0) {
		divergence_merge(&p.records[0]->divergences, compiler_unresolved(p.compiler));
		record_report(p.records, p.lanes, e.started_ns, run);
		run->skipped = e.survey->derived + e.survey->flushes;
		run->raced = compiler_raced(p.compiler);
		run->mapped_read = e.survey->mapped_read;
		run->mapped_written = e.survey->mapped_written;
	}
	replay_done(&p);
	return r;
}

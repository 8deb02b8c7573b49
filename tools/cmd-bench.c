/* SPDX-License-Identifier: MIT */
/* fsreel bench: capture, replay, real runs and the report, all in one. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "bench.h"
#include "cleanup.h"
#include "cmd.h"
#include "interrupt.h"
#include "progress.h"
#include "report.h"
#include "terminal.h"

struct request {
	struct bench bench;
	const char *workload, *output, *capture_on, *baseline;
	bool json;
	bool dir_made; /* by us */
};

/* Where the capture happens unless --capture-on says otherwise: a directory that is on a disk. */
static int open_source(struct request *q, struct error *err)
{
	struct bench *b = &q->bench;
	const char *temp = getenv("TMPDIR");
	auto_free char *fallback = xasprintf("dir:%s", temp && *temp ? temp : "/var/tmp");
	int r = target_new(&b->source, q->capture_on ? q->capture_on : fallback, NULL, err);

	if (!r)
		r = target_available(b->source, err);
	if (!r && !target_is_dir(b->source) && !b->set.scratch)
		r = error_set(err, EINVAL,
			"%s needs a scratch device, which targets that are directories have not; "
			"use dir:PATH",
			q->capture_on);
	return r ? error_wrap(err, "--capture-on") : 0;
}

static char *default_dir(const struct workload_spec *spec)
{
	char date[32];
	time_t now = time(NULL);
	struct tm local;

	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", localtime_r(&now, &local));
	return xasprintf("fsreel-%s-%s", spec->workload->name, date);
}

/* A new directory, or an empty one that is there. */
static int open_dir(struct request *q, struct error *err)
{
	struct bench *b = &q->bench;

	b->dir = q->output ? xstrdup(q->output) : default_dir(&b->workload);
	q->dir_made = !mkdir(b->dir, 0777);
	if (!q->dir_made && errno != EEXIST)
		return error_errno(err, errno, "cannot make the directory %s", b->dir);
	b->trace_path = xasprintf("%s/trace.reel", b->dir);
	b->results_path = xasprintf("%s/results.json", b->dir);
	b->prediction_path = xasprintf("%s/prediction.json", b->dir);
	b->report_path = xasprintf("%s/report.txt", b->dir);
	if (!access(b->trace_path, F_OK) || !access(b->results_path, F_OK))
		return error_set(err, EEXIST,
			"%s holds an earlier bench; name another directory with -o", b->dir);
	return 0;
}

/* Now, not after an hour of runs. */
static int check_baseline(const struct request *q, struct error *err)
{
	const struct target_set *set = &q->bench.set;

	for (size_t i = 0; q->baseline && i < set->count; i++)
		if (!strcmp(target_label(set->at[i]), q->baseline))
			return 0;
	return q->baseline ? error_set(err, EINVAL, "--baseline: '%s' is not one of the targets",
				     q->baseline)
	                   : 0;
}

static int open_all(struct request *q, int argc, char **argv, struct error *err)
{
	struct bench *b = &q->bench;

	if (!q->workload)
		return error_set(
			err, EINVAL, "which workload? Use --workload SPEC, see 'fsreel workloads'");
	int r = workload_parse(&b->workload, q->workload, err);
	if (!r)
		r = target_set_open(&b->set, &b->targets, err);
	if (!r)
		r = check_baseline(q, err);
	if (!r)
		r = open_source(q, err);
	if (!r)
		r = open_dir(q, err);
	if (r)
		return r;
	b->results = results_new();
	results_command(b->results, argc, argv);
	b->results->workload = xstrdup(b->workload.text);
	if (b->set.scratch)
		json_object_set_new(
			b->results->environment, "device", scratch_json(b->set.scratch));
	return 0;
}

static void close_all(struct request *q)
{
	struct bench *b = &q->bench;

	/* Whatever was written stays; an empty directory says nothing. */
	if (q->dir_made)
		rmdir(b->dir);
	free(b->dir);
	free(b->trace_path);
	free(b->results_path);
	free(b->prediction_path);
	free(b->report_path);
	results_free(b->results);
	target_free(b->source);
	target_set_close(&b->set);
	target_options_done(&b->targets);
	workload_spec_done(&b->workload);
}

static int write_report(const struct request *q, struct error *err)
{
	const struct bench *b = &q->bench;
	struct report_options options = {.baseline = q->baseline};
	auto_fclose FILE *out = fopen(b->report_path, "we");

	if (!out)
		return error_errno(err, errno, "cannot write %s", b->report_path);
	int r = report_text(b->results, &options, out, err);
	if (!r && fflush(out))
		r = error_errno(err, errno, "cannot write %s", b->report_path);
	return r;
}

static int show_report(const struct request *q, struct error *err)
{
	struct report_options options = {
		.baseline = q->baseline,
		.color = terminal_color(STDOUT_FILENO),
	};

	if (!q->json)
		return report_text(q->bench.results, &options, stdout, err);
	json_t *json = report_json(q->bench.results, &options, err);
	if (!json)
		return err->code ? -err->code : -EINVAL;
	json_dumpf(json, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(json);
	return 0;
}

static int status_of(const struct results *r)
{
	return results_wrong(r) ? EXIT_WRONG : EXIT_GOOD;
}

/* A workload that fails is no fault of the usage or the environment. */
static int end_without_runs(const struct request *q, int failed, struct error *err)
{
	const struct bench *b = &q->bench;

	if (!access(b->trace_path, F_OK))
		error_wrap(err, "unfinished (the trace lies in %s)", b->dir);
	if (!b->workload_failed || interrupted())
		return failed;
	fprintf(stderr, "fsreel bench: %s\n", err->text);
	return EXIT_WRONG;
}

/* `failed`: how the phases ended. What there is by then is reported also when they failed. */
static int finish(struct request *q, int failed, struct error *err)
{
	struct bench *b = &q->bench;
	struct error report_error = {0};

	if (!b->results->runs.count)
		return end_without_runs(q, failed, err);
	if (failed)
		results_unfinished(
			b->results, interrupted() ? "interrupted" : err->text, bench_runs(b));
	report_conclude(b->results);
	int r = results_write(b->results, b->results_path, &report_error);
	if (!r)
		r = write_report(q, &report_error);
	if (!r)
		r = show_report(q, &report_error);
	fflush(stdout); /* before what is said on the standard error */
	if (failed)
		return error_wrap(err, "unfinished (what there is lies in %s)", b->dir);
	if (r) {
		*err = report_error;
		return r;
	}
	progress_note("%s: trace.reel, prediction.json, results.json, report.txt", b->dir);
	return status_of(b->results);
}

static int execute(struct request *q, int argc, char **argv, struct error *err)
{
	int r = open_all(q, argc, argv, err);

	if (r)
		return r;
	r = bench_capture(&q->bench, err);
	if (!r)
		r = bench_replay(&q->bench, err);
	if (!r)
		r = bench_real(&q->bench, err);
	return finish(q, r, err);
}

static int run(const struct command *cmd, int argc, char **argv, struct error *err)
{
	static const char *const mode_names[] = {"both", "paced", "full", NULL};
	/* Six rounds are the fewest that can agree beyond luck, see report/stats.h; of an odd number
	 * the median is a run, which can be taken apart. */
	struct request q = {.bench.targets.repeat = 7};
	unsigned order = ORDER_RESOURCE, engine = ENGINE_AUTO;
	const struct opt opts[] = {
		{"workload", 'w', OPT_STRING, &q.workload, "SPEC",
			"NAME[:key=value,...], see 'fsreel workloads'"},
		TARGET_OPTIONS(&q.bench.targets),
		{"output", 'o', OPT_STRING, &q.output, "DIR",
			"for trace, results and report (default fsreel-NAME-DATE)"},
		{"capture-on", 0, OPT_STRING, &q.capture_on, "TARGET",
			"where to capture (default a directory in $TMPDIR or /var/tmp)"},
		{"mode", 0, OPT_CHOICE, &q.bench.modes, "MODE",
			"replays: paced (the prediction), full (stress), both (default)",
			mode_names},
		{"order", 0, OPT_CHOICE, &order, "ORDER", "thread, resource (default) or strict",
			replay_order_names},
		{"engine", 0, OPT_CHOICE, &engine, "ENGINE", "auto (default), lanes or ring",
			replay_engine_names},
		{"baseline", 0, OPT_STRING, &q.baseline, "TARGET",
			"compare with this target, not the fastest"},
		{"json", 0, OPT_FLAG, &q.json, NULL, "print the report as JSON"},
	};
	int first = cmd_parse(cmd, opts, ARRAY_SIZE(opts), argc, argv, false, 0, INT_MAX, err);

	if (first < 0 || first == CMD_HELP_SHOWN) {
		target_options_done(&q.bench.targets);
		return first < 0 ? first : EXIT_GOOD;
	}
	q.bench.replay.options.order = (enum replay_order)order;
	q.bench.replay.options.engine = (enum replay_engine)engine;
	target_options_operands(&q.bench.targets, argc - first, argv + first);
	int r = execute(&q, argc, argv, err);
	close_all(&q);
	return r;
}

const struct command cmd_bench = {
	.name = "bench",
	.usage = "--workload SPEC --on TARGET... [-o DIR]",
	.summary = "the main job: capture once, replay and run on each target, compare",
	.run = run,
};

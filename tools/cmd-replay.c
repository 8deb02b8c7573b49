/* SPDX-License-Identifier: MIT */
/* fsreel replay: the calls of a trace, made again on each target. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "cleanup.h"
#include "cmd.h"
#include "replay-run.h"
#include "table.h"
#include "target-options.h"
#include "target-run.h"
#include "vec.h"

struct job {
	struct target_options targets;
	struct replay_job replay;
	const char *output;
	bool json;

	struct target_set set;
	struct results *results;
};

static int visit(struct target *t, uint64_t round, void *data, struct error *err)
{
	struct job *job = data;
	struct result_run run = {0};
	int r = replay_on_target(&job->replay, t, round, &run, err);

	if (r < 0) {
		result_run_done(&run);
		return r;
	}
	vec_push(&job->results->runs, run);
	return job->output ? results_write(job->results, job->output, err) : 0;
}

static struct table *runs_table(void)
{
	struct table *t = table_new();

	table_column(t, "TARGET", "target", TABLE_LEFT);
	table_column(t, "RUN", "repeat", TABLE_RIGHT);
	table_column(t, "ELAPSED", "elapsed_ns", TABLE_RIGHT);
	table_column(t, "CALLS", "operations", TABLE_RIGHT);
	table_column(t, "CALLS/s", "rate", TABLE_RIGHT);
	table_column(t, "SYNCS", "syncs", TABLE_RIGHT);
	table_column(t, "CPU", "cpu_ns", TABLE_RIGHT);
	table_column(t, "SETTLE", "settle_ns", TABLE_RIGHT);
	table_column(t, "WRITES", "writes", TABLE_RIGHT);
	table_column(t, "WRITTEN", "write_bytes", TABLE_RIGHT);
	table_column(t, "FLUSHES", "flushes", TABLE_RIGHT);
	table_column(t, "COMMITS", "commits", TABLE_RIGHT);
	table_column(t, "DIVERGENCES", "divergences", TABLE_RIGHT);
	return t;
}

static uint64_t rate_of(const struct result_run *run)
{
	if (!run->elapsed_ns)
		return 0;
	return (uint64_t)((double)run->operations * 1e9 / (double)run->elapsed_ns);
}

static void runs_row(struct table *t, const struct result_run *run)
{
	table_text(t, "%s", run->target);
	table_value(t, json_integer((json_int_t)run->repeat), "%" PRIu64, run->repeat + 1);
	table_ns(t, run->elapsed_ns);
	table_count(t, true, run->operations);
	table_count(t, true, rate_of(run));
	table_count(t, true, run->syncs);
	table_ns(t, run->cpu_ns);
	table_ns(t, run->settle_ns);
	table_count(t, run->device.valid, run->device.writes);
	table_bytes(t, run->device.valid, run->device.write_bytes);
	table_count(t, run->device.valid, run->device.flushes);
	table_count(t, run->device.valid && run->device.commits, run->device.commits);
	table_count(t, true, run->divergences);
}

/* What is wrong, target by target, in words. */
static void print_troubles(const struct job *job)
{
	vec_each (run, &job->results->runs) {
		if (run->failure)
			printf("%s: FAILED: %s\n", run->target, run->failure);
		vec_each (d, &run->divergence)
			printf("%s: %" PRIu64 " x %s diverged; first: %s\n", run->target, d->count,
				d->op, d->first);
	}
}

static bool all_good(const struct job *job)
{
	vec_each (run, &job->results->runs)
		if (run->failure || run->divergences)
			return false;
	return true;
}

static int finish(struct job *job)
{
	auto_free char *complaint = replay_complaint(&job->replay);

	if (job->json) {
		json_t *all = results_json(job->results);
		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(all);
	} else {
		struct table *t = runs_table();
		vec_each (run, &job->results->runs)
			runs_row(t, run);
		table_print(t, stdout);
		table_free(t);
		print_troubles(job);
	}
	if (complaint)
		fprintf(stderr, "fsreel replay: %s\n", complaint);
	return complaint || !all_good(job) ? EXIT_WRONG : EXIT_GOOD;
}

static int execute(struct job *job, int argc, char **argv, const char *trace, struct error *err)
{
	job->results = results_new();
	results_command(job->results, argc, argv);
	int r = job->output ? cmd_check_other_file(trace, job->output, err) : 0;
	if (!r && job->output)
		r = results_writable(job->output, err);
	if (!r)
		r = replay_open(&job->replay, trace, job->results, err);
	if (!r)
		r = target_set_open(&job->set, &job->targets, err);
	if (r)
		return r;
	if (job->set.scratch)
		json_object_set_new(
			job->results->environment, "device", scratch_json(job->set.scratch));
	r = target_set_each(&job->set, job->targets.repeat, visit, job, err);
	if (r < 0)
		target_runs_unfinished(
			job->results, job->output, job->set.count * job->targets.repeat, err);
	return r < 0 ? r : finish(job);
}

static int run(const struct command *cmd, int argc, char **argv, struct error *err)
{
	struct job job = {.targets.repeat = 1};
	unsigned order = ORDER_RESOURCE, mode = MODE_FULL, engine = ENGINE_AUTO;
	const struct opt opts[] = {
		TARGET_OPTIONS(&job.targets),
		REPLAY_OPTIONS(&job.replay, &order, &mode, &engine),
		{"output", 'o', OPT_STRING, &job.output, "RESULTS", "write the results file"},
		{"json", 0, OPT_FLAG, &job.json, NULL, "print the results as JSON"},
	};
	int first = cmd_parse(cmd, opts, ARRAY_SIZE(opts), argc, argv, false, 1, INT_MAX, err);

	if (first < 0 || first == CMD_HELP_SHOWN) {
		target_options_done(&job.targets);
		return first < 0 ? first : EXIT_GOOD;
	}
	target_options_operands(&job.targets, argc - first - 1, argv + first + 1);
	job.replay.options.order = (enum replay_order)order;
	job.replay.options.mode = (enum replay_mode)mode;
	job.replay.options.engine = (enum replay_engine)engine;
	int r = execute(&job, argc, argv, argv[first], err);
	target_set_close(&job.set);
	trace_reader_close(job.replay.trace);
	results_free(job.results);
	target_options_done(&job.targets);
	return r;
}

const struct command cmd_replay = {
	.name = "replay",
	.usage = "FILE.reel --on TARGET... [-o RESULTS.json]",
	.summary = "make the calls of a trace again on each target",
	.run = run,
};

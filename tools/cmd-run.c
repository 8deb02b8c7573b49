/* SPDX-License-Identifier: MIT */
/* fsreel run: the real workload on each target, without FUSE. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "cmd.h"
#include "run-real.h"
#include "table.h"
#include "target-options.h"
#include "target-run.h"
#include "vec.h"

struct job {
	struct target_options targets;
	const char *workload, *output;
	bool json;

	struct workload_spec spec;
	struct target_set set;
	struct results *results;
};

static int visit(struct target *t, uint64_t round, void *data, struct error *err)
{
	struct job *job = data;
	struct result_run run = {0};
	int r = run_real(&job->spec, t, round, &run, err);

	if (r < 0) {
		result_run_done(&run);
		return r;
	}
	vec_push(&job->results->runs, run);
	/* Each run costs minutes: what is there must survive whatever comes next. */
	return job->output ? results_write(job->results, job->output, err) : 0;
}

/* The finished run with the middle metric; how many there are, and their extremes. */
struct middle {
	struct result_run *run; /* NULL: none finished */
	uint64_t finished, failed;
	const char *failure;
	double low, high;
};

static int by_metric(const void *a, const void *b)
{
	const struct result_run *const *x = a, *const *y = b;

	return ((*x)->metric_value > (*y)->metric_value) -
	       ((*x)->metric_value < (*y)->metric_value);
}

static struct middle middle_of(struct results *r, const char *target)
{
	VEC(struct result_run *) good = {0};
	struct middle m = {0};

	vec_each (run, &r->runs) {
		if (strcmp(run->target, target))
			continue;
		if (run->failure) {
			m.failed++;
			m.failure = run->failure;
		} else {
			vec_push(&good, run);
		}
	}
	m.finished = good.count;
	if (good.count) {
		qsort(good.at, good.count, sizeof(*good.at), by_metric);
		m.run = good.at[(good.count - 1) / 2];
		m.low = good.at[0]->metric_value;
		m.high = good.at[good.count - 1]->metric_value;
	}
	vec_free(&good);
	return m;
}

static struct table *summary_table(const struct result_run *any)
{
	struct table *t = table_new();

	table_column(t, "TARGET", "target", TABLE_LEFT);
	table_column(t, "RUNS", "runs", TABLE_RIGHT);
	table_column(t, any ? any->metric_unit : "METRIC", "metric", TABLE_RIGHT);
	table_column(t, "LOW..HIGH", "range", TABLE_RIGHT);
	table_column(t, "ELAPSED", "elapsed_ns", TABLE_RIGHT);
	table_column(t, "P50", "p50_ns", TABLE_RIGHT);
	table_column(t, "P99", "p99_ns", TABLE_RIGHT);
	table_column(t, "CPU", "cpu_ns", TABLE_RIGHT);
	table_column(t, "WRITES", "writes", TABLE_RIGHT);
	table_column(t, "WRITTEN", "write_bytes", TABLE_RIGHT);
	table_column(t, "FLUSHES", "flushes", TABLE_RIGHT);
	table_column(t, "", "remark", TABLE_LEFT);
	return t;
}

static void device_cells(struct table *t, const struct blockstat *d)
{
	table_count(t, d->valid, d->writes);
	table_bytes(t, d->valid, d->write_bytes);
	table_count(t, d->valid, d->flushes);
}

static void summary_row(struct table *t, const char *target, const struct middle *m)
{
	table_text(t, "%s", target);
	table_value(t, json_integer((json_int_t)m->finished), "%" PRIu64, m->finished);
	if (!m->run) {
		for (unsigned i = 0; i < 9; i++)
			table_value(t, json_null(), "-");
		table_text(t, "FAILED");
		return;
	}
	const struct result_class *c = result_run_class(m->run, RESULT_OP_WORKLOAD, "");
	table_value(t, json_real(m->run->metric_value), "%.0f", m->run->metric_value);
	if (m->finished > 1)
		table_text(t, "%.0f..%.0f", m->low, m->high);
	else
		table_text(t, "-");
	table_ns(t, m->run->elapsed_ns);
	table_ns(t, c->p50_ns);
	table_ns(t, c->p99_ns);
	table_ns(t, m->run->cpu_ns);
	device_cells(t, &m->run->device);
	table_text(t, "%s%s", m->failed ? "some runs FAILED " : "",
		m->run->unsafe ? "not crash-safe" : "");
}

static void print_conflict(const struct results *r)
{
	struct result_conflict c;

	if (results_conflict(r, &c))
		printf("%s: %s yields something else than on %s; one of them is wrong\n",
			c.b->target, c.step->name, c.a->target);
}

/* The table, and in words what is wrong with which target. */
static void print_summary(struct job *job)
{
	struct result_run *any = job->results->runs.count ? job->results->runs.at : NULL;
	struct table *t = summary_table(any && *any->metric_unit ? any : NULL);

	for (size_t i = 0; i < job->set.count; i++) {
		const char *label = target_label(job->set.at[i]);
		struct middle m = middle_of(job->results, label);
		summary_row(t, label, &m);
	}
	table_print(t, stdout);
	table_free(t);
	for (size_t i = 0; i < job->set.count; i++) {
		const char *label = target_label(job->set.at[i]);
		struct middle m = middle_of(job->results, label);
		if (m.failure)
			printf("%s: %s\n", label, m.failure);
		if (m.run && m.run->unsafe)
			printf("%s: %s\n", label, m.run->unsafe);
	}
	print_conflict(job->results);
}

static int finish(struct job *job)
{
	if (job->json) {
		json_t *all = results_json(job->results);
		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(all);
	} else {
		print_summary(job);
	}
	return results_wrong(job->results) ? EXIT_WRONG : EXIT_GOOD;
}

static int execute(struct job *job, int argc, char **argv, struct error *err)
{
	if (!job->workload)
		return error_set(err, EINVAL,
			"which workload? Use --workload SPEC, see 'fsreel "
			"workloads'");
	int r = workload_parse(&job->spec, job->workload, err);
	if (!r && job->output)
		r = results_writable(job->output, err);
	if (!r)
		r = target_set_open(&job->set, &job->targets, err);
	if (r)
		return r;
	job->results = results_new();
	results_command(job->results, argc, argv);
	job->results->workload = xstrdup(job->spec.text);
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
	const struct opt opts[] = {
		{"workload", 'w', OPT_STRING, &job.workload, "SPEC",
			"NAME[:key=value,...], see 'fsreel workloads'"},
		TARGET_OPTIONS(&job.targets),
		{"output", 'o', OPT_STRING, &job.output, "RESULTS", "write the results file"},
		{"json", 0, OPT_FLAG, &job.json, NULL, "print the results as JSON"},
	};
	int first = cmd_parse(cmd, opts, ARRAY_SIZE(opts), argc, argv, false, 0, INT_MAX, err);

	if (first < 0 || first == CMD_HELP_SHOWN) {
		target_options_done(&job.targets);
		return first < 0 ? first : EXIT_GOOD;
	}
	target_options_operands(&job.targets, argc - first, argv + first);
	int r = execute(&job, argc, argv, err);
	target_set_close(&job.set);
	results_free(job.results);
	workload_spec_done(&job.spec);
	target_options_done(&job.targets);
	return r;
}

const struct command cmd_run = {
	.name = "run",
	.usage = "--workload SPEC --on TARGET... [-o RESULTS.json]",
	.summary = "the real workload on each target, without FUSE",
	.run = run,
};

/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "cleanup.h"
#include "io.h"
#include "result.h"

/* A results file with something in every member. */
static struct results *make_results(void)
{
	struct results *r = results_new();
	struct result_run run = {
		.kind = RUN_REPLAY,
		.target = xstrdup("ext3:data=ordered:-J size=400"),
		.options = xstrdup("rw,relatime"),
		.unsafe = xstrdup("barrier=0"),
		.failure = xstrdup("stopped: \"quoted\" \xc3\xa9"),
		.repeat = 2,
		.mode = "paced",
		.order = "resource",
		.engine = "auto",
		.elapsed_ns = UINT64_C(123456789012345),
		.settle_ns = 7,
		.operations = 99,
		.divergences = 1,
		.syncs = 12,
		.cpu_ns = 5,
		.skipped = 7,
		.raced = 3,
		.mapped_read = 8,
		.mapped_written = 9,
		.metric_name = "throughput",
		.metric_unit = "tps",
		.metric_value = 812.25,
		.device = {true, 1, 2, 3, 4, 5, 6, 7},
	};
	struct result_class *c = result_run_class(&run, "fsync", "wal");
	*c = (struct result_class){"fsync", "wal", 1, 2, 3, 4, 5, 6, 7, 8};
	vec_push(&run.steps, (struct result_step){"q1", 12, "00aa", 4, "11bb", NULL, NULL});
	vec_push(&run.steps, (struct result_step){"q2", 13, "00ab", 0, "",
				     xstrdup("timeout after 1 s"), xstrdup("note")});
	vec_push(&run.calibration, (struct result_calibration){"write", 100, 200, true, false});
	vec_push(&run.divergence, (struct result_divergence){"open", 1, xstrdup("ENOENT, not 3")});
	vec_push(&r->runs, run);
	vec_push(&r->runs, (struct result_run){.kind = RUN_REAL, .target = xstrdup("xfs")});
	vec_push(&r->predictions,
		(struct result_prediction){xstrdup("xfs"), "paced", 110, 100, 0.1});
	vec_push(&r->ranking, (struct result_rank){xstrdup("xfs"), RUN_REAL, "", 5, 3, 2, 4});
	r->trace_path = xstrdup("a.reel");
	r->trace_sha256 = xstrdup("00ff");
	r->trace_events = 1234;
	r->workload = xstrdup("sqlite-tpcb");
	r->unfinished = xstrdup("interrupted after 2 of 9 runs");
	return r;
}

struct scratch_file {
	char path[64];
};

static struct scratch_file scratch_file(const char *text, size_t size)
{
	struct scratch_file f = {"/tmp/fsreel-test-XXXXXX"};
	auto_close int fd = mkstemp(f.path);

	CHECK(fd >= 0 && !write_all(fd, text, size));
	return f;
}

static void add_answer(struct results *r, const char *target, uint64_t rows, const char *checksum)
{
	struct result_run run = {.kind = RUN_REAL, .target = xstrdup(target)};
	struct result_step step = {.name = "q1", .rows = rows};

	snprintf(step.checksum, sizeof(step.checksum), "%s", checksum);
	vec_push(&run.steps, (struct result_step){.name = "load"});
	vec_push(&run.steps, step);
	vec_push(&r->runs, run);
}

/* They are looked up one by one. */
TEST(too_many_steps_are_refused)
{
	struct results *r = results_new(), *back = NULL;
	struct scratch_file f = scratch_file("", 0);
	struct error err = {0};

	add_answer(r, "ext4", 4, "aa");
	while (r->runs.at[0].steps.count < 1001)
		vec_push(&r->runs.at[0].steps, (struct result_step){.name = "q"});
	CHECK_EQ(results_write(r, f.path, &err), 0);
	CHECK(results_read(&back, f.path, &err) < 0);
	CHECK(strstr(err.text, "runs[0].steps: too many elements") != NULL);
	r->runs.at[0].steps.count = 1000;
	CHECK_EQ(results_write(r, f.path, &err), 0);
	CHECK_EQ(results_read(&back, f.path, &err), 0);
	unlink(f.path);
	results_free(back);
	results_free(r);
}

TEST(answers_that_differ_are_found)
{
	struct results *r = results_new();
	struct result_conflict c;

	add_answer(r, "ext4", 4, "aa");
	add_answer(r, "xfs", 4, "aa");
	add_answer(r, "btrfs", 0, ""); /* given up */
	CHECK(!results_conflict(r, &c));
	add_answer(r, "tmpfs", 4, "ab");
	CHECK(results_conflict(r, &c));
	CHECK_EQ(c.a->target, "ext4");
	CHECK_EQ(c.b->target, "tmpfs");
	CHECK_EQ(c.step->name, "q1");
	r->runs.at[3].failure = xstrdup("failed anyway");
	CHECK(!results_conflict(r, &c));
	results_free(r);
}

TEST(what_is_written_reads_back_the_same)
{
	struct results *r = make_results(), *back = NULL;
	struct scratch_file f = scratch_file("", 0);
	struct error err = {0};

	CHECK_EQ(results_write(r, f.path, &err), 0);
	if (!CHECK(!results_read(&back, f.path, &err)))
		printf("%s\n", err.text);
	else {
		json_t *a = results_json(r), *b = results_json(back);
		CHECK(json_equal(a, b));
		CHECK_EQ(back->runs.at[0].elapsed_ns, UINT64_C(123456789012345));
		CHECK_EQ(back->runs.at[0].unsafe, "barrier=0");
		CHECK_EQ(back->runs.at[0].device.commits, 7);
		CHECK(!back->runs.at[1].device.valid);
		CHECK(!back->runs.at[1].unsafe);
		CHECK_EQ(back->runs.at[0].metric_value, 812.25);
		CHECK_EQ(back->unfinished, "interrupted after 2 of 9 runs");
		json_decref(a);
		json_decref(b);
	}
	results_free(back);
	results_free(r);
	unlink(f.path);
}

/* Every name that programs may rely on (docs/design.md), as a path. */
static const char *const stable[] = {
	"trace.sha256",
	"trace.events",
	"environment.host",
	"environment.kernel",
	"environment.fsreel",
	"runs.0.kind",
	"runs.0.target",
	"runs.0.repeat",
	"runs.0.mode",
	"runs.0.order",
	"runs.0.engine",
	"runs.0.elapsed_ns",
	"runs.0.operations",
	"runs.0.divergences",
	"runs.0.metric.name",
	"runs.0.metric.value",
	"runs.0.metric.unit",
	"runs.0.classes.0.op",
	"runs.0.classes.0.file_class",
	"runs.0.classes.0.count",
	"runs.0.classes.0.total_ns",
	"runs.0.classes.0.critical_ns",
	"prediction.0.target",
	"prediction.0.mode",
	"prediction.0.predicted_ns",
	"prediction.0.measured_ns",
	"prediction.0.error",
	"ranking.0.target",
	"ranking.0.median_ns",
	"ranking.0.low_ns",
	"ranking.0.high_ns",
};

static const json_t *json_at(const json_t *json, const char *path)
{
	auto_free char *copy = xstrdup(path);
	char *rest = copy;

	for (char *name = strsep(&rest, "."); name; name = strsep(&rest, "."))
		json = json_is_array(json) ? json_array_get(json, (size_t)atoi(name))
		                           : json_object_get(json, name);
	return json;
}

TEST(the_stable_names_are_there)
{
	struct results *r = make_results();
	json_t *json = results_json(r);

	for (size_t i = 0; i < ARRAY_SIZE(stable); i++)
		if (!CHECK(json_at(json, stable[i]) != NULL))
			printf("no %s\n", stable[i]);
	CHECK(json_is_null(json_at(json, "runs.1.device")));
	json_decref(json);
	results_free(r);
}

TEST(environment_holds_the_command_line)
{
	char *argv[] = {(char[]){"run"}, (char[]){"it's"}, (char[]){"a b"}, (char[]){""}};
	struct results *r = results_new();

	results_command(r, 4, argv);
	CHECK_EQ(json_string_value(json_object_get(r->environment, "command")),
		"fsreel run 'it'\\''s' 'a b' ''");
	CHECK(json_integer_value(json_object_get(r->environment, "memory")) > 0);
	results_free(r);
}

TEST(hostile_text_is_made_harmless)
{
	struct results *r = results_new(), *back = NULL;
	struct scratch_file f = scratch_file("", 0);
	struct error err = {0};

	r->workload = xstrdup("a\033[2Jb\xff\xc2\x9b\xe2\x82");
	CHECK_EQ(results_write(r, f.path, &err), 0);
	CHECK_EQ(results_read(&back, f.path, &err), 0);
	CHECK_EQ(back ? back->workload : NULL, "a?[2Jb?????");
	results_free(back);
	results_free(r);
	unlink(f.path);
}

#define HEAD "{\"fsreel_results\":1,"
#define RUN  "{\"kind\":\"real\",\"target\":\"xfs\",\"elapsed_ns\":"

/* A file that must be refused, and what the error must say. */
static const struct {
	const char *text, *says;
} refused[] = {
	{"", "line 1"},
	{"{", "line 1"},
	{"\x7f"
	 "ELF",
		"not a results file"},
	{"[]", "not a results file of fsreel"},
	{"{\"runs\":[]}", "not a results file of fsreel"},
	{"{\"fsreel_results\":2}", "version 2"},
	{HEAD "\"runs\":{}}", "runs: not an array"},
	{HEAD "\"runs\":[1]}", "runs[0]: not an object"},
	{HEAD "\"runs\":[{}]}", "runs[0].kind: missing"},
	{HEAD "\"runs\":[{\"kind\":\"x\"}]}", "runs[0].kind: is none of \"replay\" \"real\""},
	{HEAD "\"runs\":[" RUN "1}," RUN "-1}]}", "runs[1].elapsed_ns: not between"},
	{HEAD "\"runs\":[" RUN "1.5}]}", "runs[0].elapsed_ns: not a whole number"},
	{HEAD "\"runs\":[" RUN "9223372036854775807}]}", "runs[0].elapsed_ns: not between"},
	{HEAD "\"runs\":[" RUN "1e999}]}", "line 1"},
	{HEAD "\"runs\":[" RUN "1,\"classes\":[{\"op\":\"fsync\",\"count\":\"7\"}]}]}",
		"runs[0].classes[0].count: not a whole number"},
	{HEAD "\"runs\":[" RUN "1,\"mode\":\"0123456789abcdef\"}]}", "runs[0].mode: the string"},
	{HEAD "\"runs\":[" RUN "1,\"device\":3}]}", "runs[0].device: not an object"},
	{HEAD "\"runs\":[],\"runs\":[]}", "duplicate"},
	{HEAD "\"environment\":[]}", "environment: not an object"},
	{HEAD "\"trace\":{\"sha256\":5}}", "trace.sha256: not a string"},
	{HEAD "\"prediction\":[{\"target\":null}]}", "prediction[0].target: not a string"},
};

TEST(files_of_strangers_are_refused_with_the_place)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct scratch_file f = scratch_file(refused[i].text, strlen(refused[i].text));
		struct results *r = NULL;
		struct error err = {0};

		CHECK(results_read(&r, f.path, &err) < 0);
		if (!CHECK(strstr(err.text, refused[i].says) && strstr(err.text, f.path)))
			printf("'%s' gives '%s'\n", refused[i].text, err.text);
		CHECK(!r);
		unlink(f.path);
	}
}

TEST(every_truncation_is_refused)
{
	struct results *r = make_results();
	json_t *json = results_json(r);
	auto_free char *text = json_dumps(json, JSON_COMPACT);

	for (size_t size = 0; size < strlen(text); size += 7) {
		struct scratch_file f = scratch_file(text, size);
		struct results *back = NULL;
		struct error err = {0};
		CHECK(results_read(&back, f.path, &err) < 0 && !back);
		unlink(f.path);
	}
	json_decref(json);
	results_free(r);
}

TEST(unknown_names_are_skipped)
{
	static const char text[] = HEAD "\"new\":{},\"runs\":[" RUN "1,\"new\":[1]}]}";
	struct scratch_file f = scratch_file(text, strlen(text));
	struct results *r = NULL;
	struct error err = {0};

	CHECK_EQ(results_read(&r, f.path, &err), 0);
	CHECK_EQ(r ? r->runs.at[0].elapsed_ns : 0, 1);
	results_free(r);
	unlink(f.path);
}

TEST(a_failed_write_leaves_the_old_file_and_nothing_else)
{
	struct results *r = results_new();
	struct error err = {0};

	CHECK(results_write(r, "/nonexistent/x.json", &err) < 0);
	CHECK(strstr(err.text, "/nonexistent/x.json") != NULL);
	CHECK(results_write(r, "/dev/full", &err) < 0);
	struct stat st;
	CHECK(!stat("/dev/full", &st) && S_ISCHR(st.st_mode));
	results_free(r);
}

/* SPDX-License-Identifier: MIT */
/* Which steps of real runs are compared, and what is computed from them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "report.h"
#include "steps.h"

#define SECOND UINT64_C(1000000000)

static struct result_run *add_run(struct results *r, const char *target)
{
	vec_push(&r->runs, (struct result_run){.kind = RUN_REAL,
				   .target = xstrdup(target),
				   .elapsed_ns = (r->runs.count + 1) * SECOND});
	return &r->runs.at[r->runs.count - 1];
}

static struct result_step *add_step(
	struct result_run *run, const char *name, uint64_t seconds, const char *plan)
{
	struct result_step step = {.elapsed_ns = seconds * SECOND};

	snprintf(step.name, sizeof(step.name), "%s", name);
	snprintf(step.plan, sizeof(step.plan), "%s", plan);
	vec_push(&run->steps, step);
	return &run->steps.at[run->steps.count - 1];
}

/* The example of the article that defines m-score, and steps around it. */
static struct results *example(void)
{
	static const uint64_t seconds[2][3] = {{10, 15, 100}, {20, 20, 75}};
	static const char *const targets[] = {"ext4", "xfs"};
	struct results *r = results_new();

	for (unsigned i = 0; i < 2; i++) {
		struct result_run *run = add_run(r, targets[i]);
		add_step(run, "load a", 3 + i, "");
		add_step(run, "load b", 5, "");
		add_step(run, "q1", seconds[i][0], "aa");
		add_step(run, "q2", seconds[i][1], "bb");
		add_step(run, "q3", seconds[i][2], "cc");
	}
	return r;
}

static char *report_of(struct results *r, const struct report_options *options)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct error err = {0};

	report_conclude(r);
	CHECK_EQ(report_text(r, options, out, &err), 0);
	fclose(out);
	return text;
}

static void check_says(const char *text, const char *words)
{
	if (!CHECK(strstr(text, words) != NULL))
		printf("'%s' is not in:\n%s\n", words, text);
}

TEST(scores_of_the_article)
{
	struct results *r = example();
	struct view v;

	report_conclude(r);
	CHECK_EQ(view_init(&v, r, &(struct report_options){0}, NULL), 0);
	auto_step_table struct step_table t;
	step_table_init(&t, &v);
	CHECK_EQ(t.targets.count, 2);
	CHECK_EQ(t.rows.count, 5);
	CHECK_EQ(t.grid.rows, 3);
	CHECK_EQ(t.rows.at[0].fate, STEP_NO_PLAN);
	CHECK_EQ(step_median_ns(&t, 2, 1), 20 * SECOND);
	CHECK_EQ(step_scores[SCORE_M_SCORE].of(&t.grid, 0), 2.75);
	CHECK_EQ(step_scores[SCORE_M_SCORE].of(&t.grid, 1), 2.25);
	CHECK_EQ(step_scores[STEP_SCORES - 1].of(&t.grid, 0), 125.0);
	CHECK_EQ(step_scores[STEP_SCORES - 1].of(&t.grid, 1), 115.0);
	CHECK(fabs(step_scores[SCORE_AVERAGE].of(&t.grid, 0) - 125.0 / 3) < 1e-9);
	CHECK(fabs(step_scores[SCORE_RELATIVE].of(&t.grid, 0) - 96) < 1e-9);
	view_done(&v);
	results_free(r);
}

TEST(the_ranking_shows_the_score_that_is_asked_for)
{
	static const char *const lines[] = {
		[SCORE_M_SCORE] = "m-score of 3 steps (more is better): ext4 2.75, xfs 2.25",
		[SCORE_AVERAGE] = "average of 3 steps (less is better): ext4 41.7 s, xfs 38.3 s",
		[SCORE_RELATIVE] =
			"relative score of 3 steps (more is better): ext4 96.00, xfs 104.35",
	};
	struct results *r = example();

	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++) {
		char *text = report_of(r, &(struct report_options){.score = i});
		check_says(text, lines[i]);
		check_says(text, "load: all 2");
		free(text);
	}
	results_free(r);
}

/* Each for one of the reasons that there are; the reason is in the report. */
TEST(steps_that_cannot_be_compared)
{
	struct results *r = example();

	struct result_run *xfs = &r->runs.at[1];
	xfs->steps.at[2].unfinished = xstrdup("timeout after 9 s");
	snprintf(xfs->steps.at[3].plan, sizeof(xfs->steps.at[3].plan), "dd");
	char *text = report_of(r, &(struct report_options){0});
	check_says(text, "x q1 is not compared: timeout after 9 s on xfs.");
	check_says(text, "x q2 is not compared: another plan on xfs than on ext4.");
	check_says(text, "m-score of 1 step");
	free(text);

	xfs->steps.count = 4;
	text = report_of(r, &(struct report_options){0});
	check_says(text, "x q3 is not compared: missing on xfs.");
	free(text);
	results_free(r);
}

TEST(a_plan_that_changes_from_run_to_run)
{
	struct results *r = results_new();

	for (unsigned i = 0; i < 2; i++)
		add_step(add_run(r, "ext4"), "q1", 1, i ? "aa" : "bb");
	char *text = report_of(r, &(struct report_options){0});
	check_says(text, "x q1 is not compared: the plan changes from run to run on ext4.");
	CHECK(!strstr(text, "m-score of"));
	free(text);
	results_free(r);
}

TEST(another_answer_is_wrong)
{
	struct results *r = example();
	struct result_step *q3 = &r->runs.at[1].steps.at[4];

	CHECK(!results_wrong(r));
	snprintf(r->runs.at[0].steps.at[4].checksum, sizeof(q3->checksum), "01");
	snprintf(q3->checksum, sizeof(q3->checksum), "02");
	CHECK(results_wrong(r));
	char *text = report_of(r, &(struct report_options){0});
	check_says(text, "x q3: another result on xfs than on ext4. One of them is wrong.");
	check_says(text, "wrong: q3 on xfs (repeat 0) yields something else than on ext4");
	free(text);
	results_free(r);
}

/* Steps of a workload whose steps have no plans are compared all of them. */
TEST(steps_without_plans)
{
	struct results *r = results_new();

	for (unsigned i = 0; i < 2; i++) {
		struct result_run *run = add_run(r, i ? "ext4" : "xfs");
		add_step(run, "create", 4 - i, "");
		add_step(run, "insert", 2, "");
	}
	char *text = report_of(r, &(struct report_options){0});
	check_says(text, "m-score of 2 steps (more is better): xfs 1.75, ext4 2.00");
	free(text);
	results_free(r);
}

TEST(json_has_the_steps)
{
	struct results *r = example();
	struct error err = {0};

	r->runs.at[1].steps.at[2].unfinished = xstrdup("timeout after 9 s");
	report_conclude(r);
	json_t *json = report_json(r, &(struct report_options){0}, &err);
	const json_t *steps = json_object_get(json, "steps");
	const json_t *row = json_array_get(json_object_get(steps, "steps"), 2);
	const json_t *score = json_array_get(json_object_get(steps, "scores"), 0);
	CHECK_EQ(json_integer_value(json_object_get(steps, "compared")), 2);
	CHECK_EQ(json_string_value(json_object_get(row, "left_out")), "timeout after 9 s on xfs");
	CHECK(json_is_null(json_object_get(json_object_get(row, "median_ns"), "xfs")));
	CHECK_EQ(json_integer_value(json_object_get(json_object_get(row, "median_ns"), "ext4")),
		10 * SECOND);
	CHECK_EQ(json_integer_value(json_object_get(score, "m_time_ns")), 115 * SECOND);
	CHECK_EQ(json_real_value(json_object_get(score, "m_score")), 1.75);
	json_decref(json);
	results_free(r);
}

TEST(results_without_steps_say_nothing_of_them)
{
	struct results *r = results_new();
	struct error err = {0};

	add_run(r, "ext4");
	char *text = report_of(r, &(struct report_options){0});
	CHECK(!strstr(text, "STEP BY STEP") && !strstr(text, "m-score"));
	json_t *json = report_json(r, &(struct report_options){0}, &err);
	CHECK(json_is_null(json_object_get(json, "steps")));
	json_decref(json);
	free(text);
	results_free(r);
}

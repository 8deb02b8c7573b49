/* SPDX-License-Identifier: MIT */
/* Ranking, prediction and attribution on results made up here. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attribute.h"
#include "check.h"
#include "predict.h"
#include "rank.h"
#include "report.h"
#include "rng.h"
#include "series.h"

static struct result_run *add_run(struct results *r, const char *target, enum run_kind kind,
	const char *mode, uint64_t elapsed_ns)
{
	struct result_run run = {.kind = kind, .target = xstrdup(target), .elapsed_ns = elapsed_ns};

	snprintf(run.mode, sizeof(run.mode), "%s", mode);
	run.repeat = r->runs.count;
	vec_push(&r->runs, run);
	return &r->runs.at[r->runs.count - 1];
}

static void add_repeats(struct results *r, const char *target, enum run_kind kind, const char *mode,
	const uint64_t *elapsed, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_run(r, target, kind, mode, elapsed[i]);
}

#define REPEATS(r, target, kind, mode, ...)                                                        \
	add_repeats(r, target, kind, mode, (const uint64_t[]){__VA_ARGS__},                        \
		sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

TEST(the_median_run_is_one_that_finished)
{
	struct results *r = results_new();
	struct series s;

	REPEATS(r, "ext4", RUN_REPLAY, "paced", 30, 10, 20, 40);
	add_run(r, "ext4", RUN_REPLAY, "paced", 1)->failure = xstrdup("broken");
	add_run(r, "ext4", RUN_REPLAY, "full", 2);
	add_run(r, "xfs", RUN_REPLAY, "paced", 3);
	add_run(r, "ext4", RUN_REPLAY, "paced", 4)->engine[0] = 'r';
	series_collect(&s, r, "ext4", RUN_REPLAY, "paced");
	CHECK_EQ(s.runs.count, 4);
	CHECK_EQ(s.failed, 1);
	CHECK_EQ(s.left_out, 1);
	CHECK_EQ(series_median(&s)->elapsed_ns, 20);
	series_done(&s);
	series_collect(&s, r, "ext4", RUN_REAL, "");
	CHECK(!series_median(&s));
	series_done(&s);
	results_free(r);
}

TEST(real_runs_are_ranked_before_replays)
{
	struct results *r = results_new();

	REPEATS(r, "slow", RUN_REAL, "", 200, 210, 205, 202);
	REPEATS(r, "fast", RUN_REAL, "", 100, 101, 103, 102);
	REPEATS(r, "slow", RUN_REPLAY, "paced", 1, 2, 3, 4);
	REPEATS(r, "fast", RUN_REPLAY, "paced", 5, 6, 7, 8);
	report_conclude(r);
	CHECK_EQ(r->ranking.count, 2);
	CHECK_EQ(r->ranking.at[0].target, "fast");
	CHECK_EQ(r->ranking.at[0].kind, RUN_REAL);
	CHECK_EQ(r->ranking.at[0].repeats, 4);
	CHECK_EQ(r->ranking.at[0].median_ns, 101);
	CHECK_EQ(rank_compare(r, &r->ranking.at[0], &r->ranking.at[1]), RANK_DIFFERENT);
	report_conclude(r);
	CHECK_EQ(r->ranking.count, 2);
	CHECK_EQ(r->predictions.count, 2);
	results_free(r);
}

TEST(what_covers_more_targets_is_ranked)
{
	struct results *r = results_new();

	REPEATS(r, "a", RUN_REAL, "", 200);
	REPEATS(r, "a", RUN_REPLAY, "full", 10);
	REPEATS(r, "b", RUN_REPLAY, "full", 20);
	report_conclude(r);
	CHECK_EQ(r->ranking.count, 2);
	CHECK_EQ(r->ranking.at[0].mode, "full");
	results_free(r);
}

TEST(ties_and_few_repeats_are_told_apart)
{
	struct results *r = results_new();
	struct result_rank a = {.repeats = 5, .median_ns = 10, .low_ns = 9, .high_ns = 11};
	struct result_rank b = {.repeats = 5, .median_ns = 12, .low_ns = 11, .high_ns = 14};
	struct result_rank c = {.repeats = 2, .median_ns = 22, .low_ns = 20, .high_ns = 24};

	a.target = b.target = c.target = (char[]){"none"};
	CHECK_EQ(rank_compare(r, &a, &b), RANK_TIE);
	CHECK_EQ(rank_compare(r, &a, &c), RANK_FEW);
	c.repeats = 5;
	CHECK_EQ(rank_compare(r, &c, &a), RANK_DIFFERENT);
	results_free(r);
}

/* Rounds that differ more than the targets do: only pairs can tell. */
static enum rank_relation compare_in_rounds(unsigned rounds, unsigned exceptions)
{
	struct results *r = results_new();

	for (unsigned i = 0; i < rounds; i++) {
		uint64_t ns = 1000 << (i % 5);
		add_run(r, "a", RUN_REAL, "", ns)->repeat = i;
		add_run(r, "b", RUN_REAL, "", i < exceptions ? ns / 2 : ns * 2)->repeat = i;
	}
	report_conclude(r);
	struct rank_rounds seen = rank_rounds(r, &r->ranking.at[1], &r->ranking.at[0]);
	CHECK_EQ(seen.both, rounds);
	enum rank_relation relation = rank_compare(r, &r->ranking.at[0], &r->ranking.at[1]);
	CHECK_EQ(relation, rank_compare(r, &r->ranking.at[1], &r->ranking.at[0]));
	results_free(r);
	return relation;
}

TEST(rounds_that_agree_tell_what_intervals_cannot)
{
	CHECK_EQ(compare_in_rounds(5, 0), RANK_FEW);
	CHECK_EQ(compare_in_rounds(6, 0), RANK_DIFFERENT);
	CHECK_EQ(compare_in_rounds(8, 1), RANK_TIE);
	CHECK_EQ(compare_in_rounds(9, 1), RANK_DIFFERENT);
	CHECK_EQ(compare_in_rounds(10, 5), RANK_TIE);
}

TEST(prediction_error_and_order)
{
	struct results *r = results_new();

	REPEATS(r, "a", RUN_REAL, "", 100, 101, 99, 100, 100);
	REPEATS(r, "b", RUN_REAL, "", 200, 201, 199, 200, 200);
	REPEATS(r, "c", RUN_REAL, "", 202, 200, 199, 201, 200);
	REPEATS(r, "a", RUN_REPLAY, "paced", 110);
	REPEATS(r, "b", RUN_REPLAY, "paced", 190);
	REPEATS(r, "c", RUN_REPLAY, "paced", 180);
	REPEATS(r, "a", RUN_REPLAY, "full", 50);
	report_conclude(r);
	struct predict_summary s = predict_summarize(r, "paced");
	CHECK_EQ(s.count, 3);
	CHECK(fabs(s.mean_error - (0.10 + 0.05 + 0.10) / 3) < 1e-9);
	CHECK_EQ(s.worst ? s.worst->target : NULL, "a");
	/* b and c cannot be told apart, so only a-b and a-c count. */
	CHECK_EQ(s.pairs_told, 2);
	CHECK_EQ(s.pairs_right, 2);
	CHECK_EQ(predict_find(r, "a", "full")->error, -0.5);
	CHECK(!predict_find(r, "b", "full"));
	results_free(r);
}

/* The second round was disturbed by something else: times are off, ratios are not. */
TEST(ratios_are_taken_round_by_round)
{
	struct results *r = results_new();

	for (unsigned i = 0; i < 3; i++) {
		uint64_t slow = i == 1 ? 7 : 1;
		add_run(r, "a", RUN_REAL, "", 1000 * slow)->repeat = i;
		add_run(r, "b", RUN_REAL, "", 2000 * slow)->repeat = i;
		add_run(r, "a", RUN_REPLAY, "paced", 1100)->repeat = i;
		add_run(r, "b", RUN_REPLAY, "paced", 2420)->repeat = i;
	}
	add_run(r, "b", RUN_REAL, "", 1)->repeat = 9;
	report_conclude(r);
	CHECK_EQ(predict_ratio(r, "b", "a", RUN_REAL, ""), 2.0);
	CHECK_EQ(predict_ratio(r, "b", "a", RUN_REPLAY, "paced"), 2.2);
	CHECK_EQ(predict_ratio(r, "b", "a", RUN_REPLAY, "full"), 0.0);
	CHECK(fabs(predict_ratio_error(r, "a", "paced") - 0.1) < 1e-9);
	CHECK(isnan(predict_ratio_error(r, "a", "full")));
	results_free(r);
}

TEST(a_prediction_stands_before_anything_is_measured)
{
	struct results *r = results_new();

	REPEATS(r, "a", RUN_REPLAY, "paced", 110, 100, 120);
	report_conclude(r);
	CHECK_EQ(predict_find(r, "a", "paced")->predicted_ns, 110);
	CHECK_EQ(predict_find(r, "a", "paced")->measured_ns, 0);
	CHECK_EQ(predict_summarize(r, "paced").count, 0);
	results_free(r);
}

static void random_classes(struct rng *rng, struct result_run *run)
{
	static const char *const ops[] = {"read", "write", "fsync", RESULT_OP_THINK};
	static const char *const classes[] = {"wal", "database", ""};

	run->elapsed_ns = 0;
	for (unsigned i = 0; i < 1 + rng_below(rng, 8); i++) {
		uint64_t ns = rng_below(rng, UINT64_C(1) << (1 + rng_below(rng, 45)));
		result_run_class(run, ops[rng_below(rng, 4)], classes[rng_below(rng, 3)])
			->critical_ns += ns;
		run->elapsed_ns += ns;
	}
}

static int64_t sum_of(const struct shares *s)
{
	int64_t sum = 0;

	for (size_t i = 0; i < s->count; i++)
		sum += s->at[i].ns;
	return sum;
}

TEST(shares_add_up_to_the_nanosecond)
{
	struct results *r = results_new();
	struct rng rng;

	rng_init(&rng, 7);
	for (unsigned i = 0; i < 200; i++) {
		random_classes(&rng, add_run(r, "x", RUN_REPLAY, "paced", 0));
		/* Some runs leave time uncovered, or cover more than there is. */
		r->runs.at[i].elapsed_ns += i % 5 == 4 ? i : 0;
		r->runs.at[i].elapsed_ns -= i % 7 == 6 ? min_u64(i, r->runs.at[i].elapsed_ns) : 0;
	}
	for (unsigned i = 1; i < 200; i++) {
		const struct result_run *run = &r->runs.at[i], *base = &r->runs.at[i - 1];
		struct shares own, difference;
		attribute_run(&own, run);
		attribute_difference(&difference, run, base);
		CHECK_EQ(sum_of(&own), (int64_t)run->elapsed_ns);
		CHECK_EQ(own.total_ns, (int64_t)run->elapsed_ns);
		CHECK_EQ(sum_of(&difference), (int64_t)(run->elapsed_ns - base->elapsed_ns));
		CHECK_EQ(difference.total_ns, (int64_t)(run->elapsed_ns - base->elapsed_ns));
		for (size_t j = 1; j < difference.count; j++)
			CHECK(llabs(difference.at[j - 1].ns) >= llabs(difference.at[j].ns));
		shares_done(&own);
		shares_done(&difference);
	}
	results_free(r);
}

TEST(uncovered_time_is_said)
{
	struct results *r = results_new();
	struct result_run *run = add_run(r, "x", RUN_REPLAY, "paced", 100);
	struct shares s;

	result_run_class(run, "fsync", "wal")->critical_ns = 90;
	attribute_run(&s, run);
	CHECK_EQ(shares_of(&s, RESULT_OP_REST, ""), 10);
	CHECK_EQ(shares_of(&s, "fsync", "wal"), 90);
	CHECK_EQ(shares_of(&s, "fsync", "database"), 0);
	shares_done(&s);
	attribute_run(&s, add_run(r, "x", RUN_REAL, "", 100));
	CHECK_EQ(s.count, 0);
	shares_done(&s);
	results_free(r);
}

TEST(shares_in_words)
{
	char words[64];

	CHECK_EQ(share_words("fdatasync", "wal", words), "fdatasync on the WAL");
	CHECK_EQ(share_words("statfs", "", words), "statfs");
	CHECK_EQ(share_words("read", "new-class", words), "read on new-class");
	CHECK_EQ(share_words(RESULT_OP_THINK, "", words), "the application's CPU time");
}

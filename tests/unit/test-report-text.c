/* SPDX-License-Identifier: MIT */
/* What the report says of results whose truth is known. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "merge.h"
#include "report.h"

static struct result_run *add_run(struct results *r, const char *target, enum run_kind kind,
	const char *mode, uint64_t elapsed_ns)
{
	struct result_run run = {.kind = kind, .target = xstrdup(target), .elapsed_ns = elapsed_ns};

	snprintf(run.mode, sizeof(run.mode), "%s", mode);
	vec_push(&r->runs, run);
	return &r->runs.at[r->runs.count - 1];
}

#define MS UINT64_C(1000000)

/* Five real runs and five paced replays around `ms`, of which `sync_ms` are fdatasync on the WAL. */
static void add_target(struct results *r, const char *target, uint64_t ms, uint64_t sync_ms)
{
	for (unsigned i = 0; i < 5; i++) {
		uint64_t ns = ms * MS + i;
		add_run(r, target, RUN_REAL, "", ns + ns / 20);
		struct result_run *run = add_run(r, target, RUN_REPLAY, "paced", ns);
		result_run_class(run, "fdatasync", "wal")->critical_ns = sync_ms * MS;
		result_run_class(run, RESULT_OP_THINK, "")->critical_ns = ns - sync_ms * MS;
		run->syncs = 1000;
		run->device = (struct blockstat){.valid = true, .flushes = 1000, .writes = 2000};
	}
}

/* Blanks and line breaks count as one blank, so that tests do not depend on where lines end. */
static char *squeeze(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++)
		if (*from != '\n' && *from != ' ')
			*to++ = *from;
		else if (to > text && to[-1] != ' ')
			*to++ = ' ';
	*to = '\0';
	return text;
}

/* In columns: bytes that continue a character do not count. */
static size_t longest_line(const char *text)
{
	size_t longest = 0, at = 0;

	for (; *text; text++) {
		at = *text == '\n' ? 0 : at + (((unsigned char)*text & 0xc0) != 0x80);
		longest = at > longest ? at : longest;
	}
	return longest;
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
	CHECK(options->color || longest_line(text) <= 80);
	return squeeze(text);
}

static void check_says(const char *text, const char *words)
{
	if (!CHECK(strstr(text, words) != NULL))
		printf("'%s' is not in:\n%s\n", words, text);
}

static void check_silent(const char *text, const char *words)
{
	if (!CHECK(!strstr(text, words)))
		printf("'%s' is in:\n%s\n", words, text);
}

TEST(three_sentences)
{
	struct results *r = results_new();

	add_target(r, "ext4", 1000, 500);
	add_target(r, "btrfs", 3000, 2400);
	char *text = report_of(r, &(struct report_options){0});
	check_says(text, "ext4 is fastest: 1.05 s, the median of 5 real runs. That is certain");
	check_says(text, "btrfs 2.00 s slower: fdatasync on the WAL +1.90 s (95 %)");
	check_says(text, "were off by 4.8 % on average");
	check_says(text, "1 of the 1 pair that the real runs can tell apart");
	check_says(text, "per sync 0.00 0 B 2.00 0 B 1.00");
	check_silent(text, "\033[");
	free(text);
	results_free(r);
}

TEST(a_baseline_turns_the_signs)
{
	struct results *r = results_new();
	struct error err = {0};

	add_target(r, "ext4", 1000, 500);
	add_target(r, "btrfs", 3000, 2400);
	char *text = report_of(r, &(struct report_options){.baseline = "btrfs"});
	check_says(text, "ext4 2.00 s faster: fdatasync on the WAL -1.90 s (95 %)");
	free(text);
	CHECK(report_text(r, &(struct report_options){.baseline = "zfs"}, stdout, &err) < 0);
	CHECK_EQ(err.text, "--baseline: no target 'zfs' in these results; they have ext4, btrfs");
	results_free(r);
}

TEST(no_claim_where_the_intervals_overlap)
{
	struct results *r = results_new();

	add_target(r, "ext4", 1000, 500);
	add_target(r, "xfs", 1000, 400);
	char *text = report_of(r, &(struct report_options){0});
	check_says(text, "No difference shown to");
	check_says(text, "within the noise");
	check_silent(text, "That is certain");
	free(text);
	results_free(r);
}

TEST(no_claim_from_few_repeats)
{
	struct results *r = results_new();

	add_run(r, "ext4", RUN_REAL, "", 100);
	add_run(r, "xfs", RUN_REAL, "", 200);
	char *text = report_of(r, &(struct report_options){0});
	check_says(text, "Against xfs that can still be luck");
	check_says(text, "needs replays of one trace");
	check_silent(text, "That is certain");
	free(text);
	results_free(r);
}

TEST(an_unsafe_winner_is_marked)
{
	struct results *r = results_new();

	add_target(r, "ext4:barrier=0", 1000, 500);
	add_target(r, "xfs", 1500, 400);
	for (size_t i = 0; i < 10; i++)
		r->runs.at[i].unsafe = xstrdup("barrier=0");
	char *text = report_of(r, &(struct report_options){0});
	check_says(text, "But it is not safe (barrier=0)");
	check_says(text, "fastest that keeps its promises is xfs");
	check_says(text, "!ext4:barrier=0");
	free(text);
	results_free(r);
}

TEST(failures_and_divergences_are_not_hidden)
{
	struct results *r = results_new();

	add_target(r, "xfs", 1500, 400);
	add_run(r, "ext4", RUN_REAL, "", 0)->failure = xstrdup("the disk is full");
	struct result_run *run = &r->runs.at[1];
	run->divergences = 3;
	vec_push(&run->divergence, (struct result_divergence){"open", 3, xstrdup("ENOENT, not 5")});
	char *text = report_of(r, &(struct report_options){.color = true});
	check_says(text, "1 of 11 runs failed");
	check_says(text, "ext4, real, repeat 0: the disk is full");
	check_says(text, "3 x open: ENOENT, not 5");
	check_says(text, "ext4 is not ranked");
	check_says(text, "\033[31m");
	free(text);
	results_free(r);
}

/* The run with the median time read what other processes had pushed out of the caches. */
TEST(a_burst_in_one_round_is_no_difference)
{
	struct results *r = results_new();

	add_target(r, "ext4", 1000, 500);
	vec_each (run, &r->runs)
		run->device = (struct blockstat){.valid = true, .reads = 600, .writes = 2000};
	r->runs.at[4].device.reads = 5000;
	char *text = report_of(r, &(struct report_options){0});
	check_says(text, "of each number the median over the rounds");
	check_says(text, "ext4 real - 600 ");
	check_silent(text, "On ext4 the replay made");
	free(text);
	results_free(r);
}

/* Two replays each: the faster of ext4's is faster than xfs's, but not their middle. */
TEST(no_sign_that_the_medians_contradict)
{
	static const uint64_t ms[2][2] = {{900, 1500}, {1000, 1100}};
	struct results *r = results_new();

	for (unsigned i = 0; i < 4; i++) {
		struct result_run *run = add_run(
			r, i < 2 ? "ext4" : "xfs", RUN_REPLAY, "paced", ms[i / 2][i % 2] * MS);
		result_run_class(run, "fsync", "wal")->critical_ns = run->elapsed_ns;
		run->repeat = i % 2;
	}
	char *text = report_of(r, &(struct report_options){0});
	check_says(text, "xfs is fastest: 1.05 s");
	check_says(text, " ext4 within the noise");
	check_silent(text, "faster:");
	check_silent(text, "PREDICTED AGAINST MEASURED");
	free(text);
	results_free(r);
}

/* The replays say the opposite of the real runs. */
TEST(a_reversed_prediction_is_called_so)
{
	struct results *r = results_new();

	add_target(r, "ext4", 1000, 500);
	add_target(r, "xfs", 3000, 500);
	vec_each (run, &r->runs)
		if (run->kind == RUN_REAL)
			run->elapsed_ns = 4000 * MS - run->elapsed_ns;
	char *text = report_of(r, &(struct report_options){0});
	check_says(text, "ext4 2.00 s faster here, not in the ranking: ");
	free(text);
	results_free(r);
}

TEST(no_agreement_where_the_real_runs_are_alike)
{
	struct results *r = results_new();

	add_target(r, "ext4", 1000, 500);
	add_target(r, "xfs", 1000, 500);
	r->runs.at[0].elapsed_ns += MS;
	r->runs.at[2].elapsed_ns += MS;
	r->runs.at[4].elapsed_ns += MS;
	char *text = report_of(r, &(struct report_options){0});
	check_says(text, "for certain, so the order is not judged");
	check_silent(text, "tau");
	free(text);
	results_free(r);
}

TEST(nothing_at_all)
{
	struct results *r = results_new();
	char *text = report_of(r, &(struct report_options){0});

	check_says(text, "No run finished");
	free(text);
	results_free(r);
}

TEST(long_names_and_many_targets_fit_80_columns)
{
	struct results *r = results_new();

	for (unsigned i = 0; i < 7; i++) {
		char name[80];
		snprintf(name, sizeof(name),
			"ext%u:data=ordered,commit=30:-J size=400 \xc3\xa9\xc3\xa9", i);
		add_target(r, name, 1000 + 500 * i, 500);
	}
	free(report_of(r, &(struct report_options){0}));
	results_free(r);
}

TEST(merging_pools_repeats_and_tells_kernels_apart)
{
	struct results *a = results_new(), *b = results_new(), *c = results_new();
	struct error err = {0};

	add_target(a, "ext4", 1000, 500);
	add_target(b, "ext4", 1100, 500);
	add_target(c, "ext4", 1200, 500);
	json_object_set_new(c->environment, "kernel", json_string("7.3"));
	CHECK_EQ(results_merge(a, b, "b.json", &err), 0);
	CHECK_EQ(results_merge(a, c, "c.json", &err), 0);
	report_conclude(a);
	CHECK_EQ(a->ranking.count, 2);
	CHECK_EQ(a->ranking.at[0].repeats + a->ranking.at[1].repeats, 15);
	CHECK(!strcmp(a->ranking.at[0].target, "ext4@7.3") ||
		!strcmp(a->ranking.at[1].target, "ext4@7.3"));
	results_free(a);
}

TEST(the_same_runs_are_not_merged)
{
	struct results *a = results_new(), *b = results_new();
	struct error err = {0};

	add_target(a, "ext4", 1000, 500);
	add_target(b, "ext4", 1000, 500);
	CHECK(results_merge(a, b, "b.json", &err) < 0);
	CHECK(strstr(err.text, "b.json holds runs on ext4 that the files before it hold") != NULL);
	results_free(a);
}

TEST(different_work_is_not_merged)
{
	struct results *a = results_new(), *b = results_new(), *c = results_new();
	struct error err = {0};

	a->workload = xstrdup("sqlite-tpcb");
	a->trace_sha256 = xstrdup("00");
	b->workload = xstrdup("sqlite-load");
	c->trace_sha256 = xstrdup("11");
	CHECK(results_merge(a, b, "b.json", &err) < 0);
	CHECK(strstr(err.text, "b.json is about the workload 'sqlite-load'") != NULL);
	CHECK(results_merge(a, c, "c.json", &err) < 0);
	CHECK(strstr(err.text, "another trace") != NULL);
	results_free(a);
}

TEST(json_differences_add_up)
{
	struct results *r = results_new();
	struct error err = {0};
	json_int_t sum = 0;
	json_t *share;
	size_t i;

	add_target(r, "ext4", 1000, 500);
	add_target(r, "btrfs", 3000, 2400);
	report_conclude(r);
	json_t *json = report_json(r, &(struct report_options){0}, &err);
	const json_t *d = json_array_get(json_object_get(json, "attribution"), 0);
	json_array_foreach(json_object_get(d, "classes"), i, share) sum +=
		json_integer_value(json_object_get(share, "ns"));
	CHECK_EQ(sum, 2000 * MS);
	CHECK_EQ(json_integer_value(json_object_get(d, "difference_ns")), 2000 * MS);
	json_decref(json);
	results_free(r);
}

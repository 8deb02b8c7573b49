/* SPDX-License-Identifier: MIT */
/* fsreel report: results files into a ranking, its causes and its trustworthiness. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "cmd.h"
#include "merge.h"
#include "report.h"
#include "summary.h"
#include "terminal.h"

/* The results of one workload each, in the order of the files. */
struct groups {
	struct results **at;
	size_t count, capacity;
};

static struct results *group_of(const struct groups *g, const struct results *r)
{
	for (size_t i = 0; i < g->count; i++) {
		const char *workload = g->at[i]->workload;
		if (!workload || !r->workload || !strcmp(workload, r->workload))
			return g->at[i];
	}
	return NULL;
}

/* What bench made is named by its directory, too. */
static int read_one(struct results **ret, const char *path, struct error *err)
{
	auto_free char *inside = xasprintf("%s/results.json", path);
	struct stat st;
	bool dir = !stat(path, &st) && S_ISDIR(st.st_mode);

	if (dir && access(inside, F_OK))
		return error_set(err, ENOENT, "the directory %s holds no results.json", path);
	return results_read(ret, dir ? inside : path, err);
}

static int read_all(struct groups *g, char **paths, struct error *err)
{
	for (; *paths; paths++) {
		struct results *r = NULL;
		int e = read_one(&r, *paths, err);
		if (e)
			return e;
		struct results *same = group_of(g, r);
		if (!same)
			vec_push(g, r);
		else if ((e = results_merge(same, r, *paths, err)))
			return e;
	}
	vec_each (r, g)
		report_conclude(*r);
	return 0;
}

static bool anything_wrong(const struct groups *g)
{
	vec_each (r, g)
		if (results_wrong(*r))
			return true;
	return false;
}

/* One workload: an object. Several: an array of such. */
static int show_json(
	const struct groups *g, const struct report_options *options, struct error *err)
{
	json_t *all = json_array();

	vec_each (r, g) {
		json_t *one = report_json(*r, options, err);
		if (!one) {
			json_decref(all);
			return -err->code;
		}
		json_array_append_new(all, one);
	}
	json_dumpf(g->count == 1 ? json_array_get(all, 0) : all, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(all);
	return 0;
}

static int show_text(
	const struct groups *g, const struct report_options *options, struct error *err)
{
	if (g->count > 1)
		report_summary(g->at, g->count, options, stdout);
	vec_each (r, g) {
		int e = report_text(*r, options, stdout, err);
		if (e)
			return e;
	}
	return 0;
}

static int run(const struct command *cmd, int argc, char **argv, struct error *err)
{
	const char *baseline = NULL;
	unsigned score = SCORE_M_SCORE;
	bool json = false;
	const struct opt opts[] = {
		{"baseline", 0, OPT_STRING, &baseline, "TARGET",
			"compare with this target, not the fastest"},
		{"score", 0, OPT_CHOICE, &score, "NAME",
			"of results with steps, in the ranking: average, relative or m-score",
			report_score_names},
		{"json", 0, OPT_FLAG, &json, NULL, "print JSON"},
	};
	int first = cmd_parse(cmd, opts, ARRAY_SIZE(opts), argc, argv, false, 1, 1000, err);

	if (first < 0 || first == CMD_HELP_SHOWN)
		return first < 0 ? first : EXIT_GOOD;
	struct report_options options = {baseline, score, terminal_color(STDOUT_FILENO), 0};
	struct groups groups = {0};
	int e = read_all(&groups, argv + first, err);
	if (!e)
		e = json ? show_json(&groups, &options, err) : show_text(&groups, &options, err);
	int status = !e && anything_wrong(&groups) ? EXIT_WRONG : EXIT_GOOD;
	vec_each (r, &groups)
		results_free(*r);
	vec_free(&groups);
	return e ? e : status;
}

const struct command cmd_report = {
	.name = "report",
	.usage = "RESULTS.json|DIR... [OPTION...]",
	.summary = "who is fastest, what makes the others slower, how good the prediction was",
	.run = run,
};

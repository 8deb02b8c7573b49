/* SPDX-License-Identifier: MIT */
/* fsreel report: results files into a ranking, its causes and its trustworthiness. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd.h"
#include "merge.h"
#include "report.h"
#include "terminal.h"

static int read_all(struct results **ret, char **paths, struct error *err)
{
	int e = results_read(ret, paths[0], err);

	for (paths++; !e && *paths; paths++) {
		struct results *more = NULL;
		e = results_read(&more, *paths, err);
		e = e ? e : results_merge(*ret, more, *paths, err);
	}
	return e;
}

static bool anything_wrong(const struct results *r)
{
	vec_each (run, &r->runs)
		if (run->failure || run->divergences)
			return true;
	return false;
}

static int show(struct results *r, const char *baseline, bool json, struct error *err)
{
	struct report_options options = {
		.baseline = baseline,
		.color = terminal_color(STDOUT_FILENO),
	};

	if (!json)
		return report_text(r, &options, stdout, err);
	json_t *tree = report_json(r, &options, err);
	if (!tree)
		return -err->code;
	json_dumpf(tree, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(tree);
	return 0;
}

static int run(const struct command *cmd, int argc, char **argv, struct error *err)
{
	const char *baseline = NULL;
	bool json = false;
	const struct opt opts[] = {
		{"baseline", 0, OPT_STRING, &baseline, "TARGET",
			"compare with this target, not the fastest"},
		{"json", 0, OPT_FLAG, &json, NULL, "print JSON"},
	};
	int first = cmd_parse(cmd, opts, ARRAY_SIZE(opts), argc, argv, false, 1, 1000, err);

	if (first < 0 || first == CMD_HELP_SHOWN)
		return first < 0 ? first : EXIT_GOOD;
	struct results *r = NULL;
	int e = read_all(&r, argv + first, err);
	if (!e) {
		report_conclude(r);
		e = show(r, baseline, json, err);
	}
	int status = !e && anything_wrong(r) ? EXIT_WRONG : EXIT_GOOD;
	results_free(r);
	return e ? e : status;
}

const struct command cmd_report = {
	.name = "report",
	.usage = "RESULTS.json... [OPTION...]",
	.summary = "who is fastest, what makes the others slower, how good the prediction was",
	.run = run,
};

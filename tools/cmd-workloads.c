/* SPDX-License-Identifier: MIT */
/* fsreel workloads: what there is to run, and the keys of each. */
#include <errno.h>

#include "cleanup.h"
#include "cmd.h"
#include "workload.h"

static int show(const char *name, bool json, struct error *err)
{
	struct workload_spec spec = {0};

	/* Parsing the bare name gives the usual error when there is no such workload. */
	if (name && workload_parse(&spec, name, err))
		return -EINVAL;
	struct table *t = name ? workload_params_table(spec.workload) : workloads_table();
	table_show(t, json);
	table_free(t);
	workload_spec_done(&spec);
	return EXIT_GOOD;
}

static int run(const struct command *cmd, int argc, char **argv, struct error *err)
{
	bool json = false;
	const struct opt opts[] = {
		{"json", 0, OPT_FLAG, &json, NULL, "print JSON"},
	};
	int first = cmd_parse(cmd, opts, ARRAY_SIZE(opts), argc, argv, false, 0, 1, err);

	if (first < 0 || first == CMD_HELP_SHOWN)
		return first < 0 ? first : EXIT_GOOD;
	return show(first < argc ? argv[first] : NULL, json, err);
}

const struct command cmd_workloads = {
	.name = "workloads",
	.usage = "[NAME] [--json]",
	.summary = "the workloads that can be run, and their keys",
	.run = run,
};

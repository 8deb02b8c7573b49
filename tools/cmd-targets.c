/* SPDX-License-Identifier: MIT */
/* fsreel targets: the file systems that can be made here, and what the others need. */
#include "cmd.h"
#include "target.h"

static int run(const struct command *cmd, int argc, char **argv, struct error *err)
{
	bool json = false;
	const struct opt opts[] = {
		{"json", 0, OPT_FLAG, &json, NULL, "print JSON"},
	};
	int first = cmd_parse(cmd, opts, ARRAY_SIZE(opts), argc, argv, false, 0, 0, err);

	if (first < 0 || first == CMD_HELP_SHOWN)
		return first < 0 ? first : EXIT_GOOD;
	struct table *t = targets_table();
	table_show(t, json);
	table_free(t);
	return EXIT_GOOD;
}

const struct command cmd_targets = {
	.name = "targets",
	.usage = "[--json]",
	.summary = "the file systems to run on: what is here, what is missing, the remedy",
	.run = run,
};

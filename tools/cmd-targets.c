/* SPDX-License-Identifier: MIT */
/* fsreel targets: the file systems that can be made here, and what the others need. */
#include "cmd.h"
#include "target.h"

static int run(const struct command *cmd, int argc, char **argv, struct error *err)
{
	return cmd_show_table(cmd, argc, argv, targets_table, err);
}

const struct command cmd_targets = {
	.name = "targets",
	.usage = "[--json]",
	.summary = "the file systems to run on: what is here, what is missing, the remedy",
	.run = run,
};

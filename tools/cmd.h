/* SPDX-License-Identifier: MIT */
/* The sub-commands of fsreel. Each is one file cmd-NAME.c; main.c holds the table of them. */
#ifndef CMD_H
#define CMD_H

#include "error.h"
#include "opt.h"
#include "table.h"

enum exit_status {
	EXIT_GOOD = 0,
	EXIT_WRONG =
		1, /* it ran, but something is wrong: divergence, lost events, failed workload */
	EXIT_USAGE = 2, /* bad usage or environment */
};

struct command {
	const char *name;
	const char *usage;   /* what follows the name in the usage line */
	const char *summary; /* one line */
	/*
	 * argv[0] is the command's name. Returns an exit status; a negative value means that `err`
	 * was set, which main() prints as "fsreel NAME: ..." before it exits with EXIT_USAGE, or after
	 * a signal with 128 and its number.
	 */
	int (*run)(const struct command *cmd, int argc, char **argv, struct error *err);
};

#define COMMAND(name) extern const struct command cmd_##name;
#include "commands.def"
#undef COMMAND

/* Options every command has: --help, --quiet. Parses both tables; returns like opt_parse(), or
 * CMD_HELP_SHOWN when --help was answered. Fewer operands than min or more than max is an error. */
#define CMD_HELP_SHOWN 100000
int cmd_parse(const struct command *cmd, const struct opt *opts, size_t count, int argc,
	char **argv, bool in_order, int min_operands, int max_operands, struct error *err);

/* An error if writing `out` would overwrite the trace `in` that it is made from. */
int cmd_check_other_file(const char *in, const char *out, struct error *err);

/* All of a command that only prints one table, as text or with --json. */
int cmd_show_table(const struct command *cmd, int argc, char **argv, struct table *(*make)(void),
	struct error *err);

#endif

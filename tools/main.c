/* SPDX-License-Identifier: MIT */
/*
 * fsreel: capture a database's I/O once, replay it on many file systems, see which calls make one
 * slower than another, and why.
 *
 * Map of the source, in the order in which data flows:
 *   base/       what every layer needs: errors, cleanup, bytes, vectors, options, tables
 *   tracer/     the table of operations (ops.def), events, the trace file both ways;
 *               probe/ what BPF sees, audit/ is it all there, convert/ other programs' formats
 *   fuse/       the pass-through that logs every call            -> trace file
 *   replay/     trace -> steps and waits -> lanes or io_uring    -> results
 *   targets/    mkfs, mount, loop devices: a fresh file system per run
 *   workloads/  real applications: SQLite ...
 *   report/     rank, attribute, predicted against measured
 *   tools/      this command, one file per sub-command
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "interrupt.h"
#include "progress.h"
#include "units.h"
#include "vec.h"

static const struct command *const commands[] = {
#define COMMAND(name) &cmd_##name,
#include "commands.def"
#undef COMMAND
	NULL,
};

static void print_commands(FILE *out)
{
	fputs("usage: fsreel COMMAND [OPTION...] [ARGUMENT...]\n\n", out);
	for (const struct command *const *c = commands; *c; c++)
		fprintf(out, "  %-10s %s\n", (*c)->name, (*c)->summary);
	fputs("\n'fsreel COMMAND --help' says more about one of them.\n", out);
}

static const struct command *find_command(const char *name)
{
	for (const struct command *const *c = commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

static const char *nearest_command(const char *word)
{
	const char *names[ARRAY_SIZE(commands)];
	size_t n = 0;

	for (const struct command *const *c = commands; *c; c++)
		names[n++] = (*c)->name;
	return nearest_name(word, names, n, sizeof(names[0]));
}

static void print_command_help(const struct command *cmd, const struct opt *opts, size_t count)
{
	printf("usage: fsreel %s %s\n\n%s\n\n", cmd->name, cmd->usage, cmd->summary);
	opt_help(opts, count, stdout);
}

int cmd_parse(const struct command *cmd, const struct opt *opts, size_t count, int argc,
	char **argv, bool in_order, int min_operands, int max_operands, struct error *err)
{
	bool help = false, quiet = false;
	const struct opt common[] = {
		{"help", 'h', OPT_FLAG, &help, NULL, "show this"},
		{"quiet", 'q', OPT_FLAG, &quiet, NULL, "no progress, no remarks"},
	};
	VEC(struct opt) all = {0};

	for (size_t i = 0; i < count; i++)
		vec_push(&all, opts[i]);
	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		vec_push(&all, common[i]);
	int first = opt_parse(all.at, all.count, argc, argv, in_order, err);
	progress_quiet(quiet);
	if (first >= 0 && help) {
		print_command_help(cmd, all.at, all.count);
		first = CMD_HELP_SHOWN;
	} else if (first >= 0 && argc - first < min_operands) {
		first = error_set(err, 0, "an operand is missing; usage: fsreel %s %s", cmd->name,
			cmd->usage);
	} else if (first >= 0 && argc - first > max_operands) {
		first = error_set(err, 0, "'%s' is one operand too many; usage: fsreel %s %s",
			argv[first + max_operands], cmd->name, cmd->usage);
	}
	vec_free(&all);
	return first;
}

int cmd_check_other_file(const char *in, const char *out, struct error *err)
{
	struct stat a, b;

	if (!stat(in, &a) && !stat(out, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		return error_set(
			err, EINVAL, "%s is the trace to be read; choose another name", out);
	return 0;
}

int cmd_show_table(const struct command *cmd, int argc, char **argv, struct table *(*make)(void),
	struct error *err)
{
	bool json = false;
	const struct opt opts[] = {
		{"json", 0, OPT_FLAG, &json, NULL, "print JSON"},
	};
	int first = cmd_parse(cmd, opts, ARRAY_SIZE(opts), argc, argv, false, 0, 0, err);

	if (first < 0 || first == CMD_HELP_SHOWN)
		return first < 0 ? first : EXIT_GOOD;
	struct table *t = make();
	table_show(t, json);
	table_free(t);
	return EXIT_GOOD;
}

/*
 * A trace or a results file must not become descriptor 1 or 2, where messages would be written into
 * it. What was closed fails as before: the null device is opened in the direction that is not used.
 */
static void keep_standard_descriptors(void)
{
	static const int flags[] = {O_WRONLY, O_RDONLY, O_RDWR};

	for (int fd = 0; fd < (int)ARRAY_SIZE(flags); fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)open("/dev/null", flags[fd]);
}

/* What was printed and did not arrive is no success. */
static int end_output(int status)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fprintf(stderr, "fsreel: cannot write to the standard output%s%s\n", errno ? ": " : "",
		errno ? strerror(errno) : "");
	return status ? status : EXIT_USAGE;
}

static int run_main(int argc, char **argv)
{
	struct error err = {0};

	if (argc < 2) {
		print_commands(stderr);
		return EXIT_USAGE;
	}
	/* "help COMMAND" is "COMMAND --help". */
	char option[] = "--help", *help[] = {argv[0], argv[2], option, NULL};
	if (argc > 2 && !strcmp(argv[1], "help")) {
		argv = help;
		argc = 3;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_commands(stdout);
		return EXIT_GOOD;
	}
	if (!strcmp(argv[1], "--version")) {
		puts("fsreel " FSREEL_VERSION);
		return EXIT_GOOD;
	}
	const struct command *cmd = find_command(argv[1]);
	if (!cmd) {
		const char *near = nearest_command(argv[1]);
		fprintf(stderr, "fsreel: unknown command '%s'%s%s%s; see fsreel --help\n", argv[1],
			near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
		return EXIT_USAGE;
	}
	int r = cmd->run(cmd, argc - 1, argv + 1, &err);
	if (r >= 0)
		return r;
	fflush(stdout);
	fprintf(stderr, "fsreel %s: %s\n", cmd->name, err.text);
	return interrupted() ? 128 + interrupted() : EXIT_USAGE;
}

int main(int argc, char **argv)
{
	keep_standard_descriptors();
	return end_output(run_main(argc, argv));
}

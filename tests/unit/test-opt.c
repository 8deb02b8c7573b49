/* SPDX-License-Identifier: MIT */
#include "opt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

struct options {
	bool flag;
	const char *file;
	struct opt_list on;
	uint64_t number, size;
	unsigned color;
};

static const char *const colors[] = {"never", "auto", "always", NULL};
static struct options o;
static const struct opt rows[] = {
	{"flag", 'f', OPT_FLAG, &o.flag, NULL, "a flag"},
	{"output", 'o', OPT_STRING, &o.file, "FILE", "write here"},
	{"on", 0, OPT_LIST, &o.on, "TARGET", "may be repeated"},
	{"number", 'n', OPT_NUMBER, &o.number, "N", "a number"},
	{"size", 0, OPT_SIZE, &o.size, "SIZE", "a size"},
	{"color", 0, OPT_CHOICE, &o.color, "WHEN", "a choice", colors},
};

/* Splits `line` at blanks into a command line; good until the next call. */
static char **words(const char *line, int *argc)
{
	static char buffer[256];
	static char *argv[32];
	char *save = NULL;

	free(o.on.at);
	o = (struct options){0};
	snprintf(buffer, sizeof(buffer), "command %s", line);
	*argc = 0;
	for (char *w = strtok_r(buffer, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[(*argc)++] = w;
	argv[*argc] = NULL;
	return argv;
}

static int parse(const char *line, bool in_order, struct error *err)
{
	int argc;
	char **argv = words(line, &argc);

	*err = (struct error){0};
	return opt_parse(rows, ARRAY_SIZE(rows), argc, argv, in_order, err);
}

TEST(every_type)
{
	struct error err;
	int r = parse(
		"-f --output x.reel --on ext4 --on=xfs -n 7 --size 2k --color always", false, &err);

	CHECK_EQ(r, 13);
	CHECK(o.flag);
	CHECK_EQ(o.file, "x.reel");
	CHECK_EQ(o.number, 7);
	CHECK_EQ(o.size, 2048);
	CHECK_EQ(o.color, 2);
	if (CHECK_EQ(o.on.count, 2)) {
		CHECK_EQ(o.on.at[0], "ext4");
		CHECK_EQ(o.on.at[1], "xfs");
	}
}

TEST(operands_mix_with_options)
{
	struct error err;
	int argc;
	char **argv = words("a.reel -n 1 b.reel -- -f", &argc);
	int r = opt_parse(rows, ARRAY_SIZE(rows), argc, argv, false, &err);

	CHECK_EQ(argc - r, 3);
	CHECK_EQ(argv[r], "a.reel");
	CHECK_EQ(argv[r + 1], "b.reel");
	CHECK_EQ(argv[r + 2], "-f");
	CHECK(!o.flag);
}

TEST(in_order_leaves_the_command_alone)
{
	struct error err;
	int r = parse("-f cp -n x y", true, &err);

	CHECK_EQ(r, 2);
	CHECK(o.flag);
	CHECK_EQ(o.number, 0);
}

TEST(errors_name_the_option)
{
	static const struct {
		const char *line, *say;
	} cases[] = {
		{"--numbr 3", "--number"},
		{"--zzzzzzzz", "--zzzzzzzz"},
		{"-z", "-z"},
		{"--number", "needs an argument"},
		{"-n", "needs an argument"},
		{"-n 3x", "--number"},
		{"-n -3", "'-3'"},
		{"--size 3q", "--size"},
		{"--color red", "never, auto, always"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error err;
		CHECK_EQ(parse(cases[i].line, false, &err), -EINVAL);
		CHECK_EQ(err.code, EINVAL);
		if (!CHECK(strstr(err.text, cases[i].say) != NULL))
			fprintf(stderr, "\t%s -> %s\n", cases[i].line, err.text);
	}
}

TEST(cluster_of_letters)
{
	struct error err;

	CHECK_EQ(parse("-fn5", false, &err), 2);
	CHECK(o.flag);
	CHECK_EQ(o.number, 5);
	CHECK_EQ(parse("-fz", false, &err), -EINVAL);
	CHECK(strstr(err.text, "z") != NULL);
}

TEST(help_lists_every_row)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	opt_help(rows, ARRAY_SIZE(rows), out);
	fclose(out);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK(strstr(text, rows[i].name) != NULL);
		CHECK(strstr(text, rows[i].help) != NULL);
	}
	CHECK(strstr(text, "-o, --output FILE") != NULL);
	free(text);
	free(o.on.at);
	o.on.at = NULL;
}

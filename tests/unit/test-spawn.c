/* SPDX-License-Identifier: MIT */
#include "spawn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int shell(const char *script, char **output, struct error *err)
{
	const char *const argv[] = {"sh", "-c", script, NULL};

	*err = (struct error){0};
	*output = NULL;
	return spawn_run(argv, output, err);
}

TEST(output_of_both_streams)
{
	struct error err;
	char *output;

	CHECK_EQ(shell("echo one; echo two >&2", &output, &err), 0);
	CHECK_EQ(output, "one\ntwo\n");
	free(output);
}

TEST(stdin_is_empty)
{
	struct error err;
	char *output;

	CHECK_EQ(shell("wc -c", &output, &err), 0);
	CHECK(output && atoi(output) == 0);
	free(output);
}

TEST(failure_carries_the_last_lines)
{
	struct error err;
	char *output;

	CHECK(shell("seq 10000; echo the reason >&2; exit 3", &output, &err) < 0);
	CHECK(strstr(err.text, "status 3") != NULL);
	CHECK(strstr(err.text, "the reason") != NULL);
	CHECK(output && !strncmp(output, "1\n2\n", 4));
	free(output);
	CHECK(shell("kill -9 $$", &output, &err) < 0);
	CHECK(strstr(err.text, "signal 9") != NULL);
	free(output);
	CHECK_EQ(spawn_run((const char *const[]){"false", NULL}, NULL, NULL), -EIO);
}

TEST(program_that_is_not_there)
{
	struct error err;

	CHECK_EQ(spawn_run((const char *const[]){"no-such-program", NULL}, NULL, &err), -ENOENT);
	CHECK(strstr(err.text, "no-such-program") != NULL);
	CHECK(find_program("no-such-program") == NULL);
	CHECK(find_program("/no/such") == NULL);
}

TEST(sbin_is_searched)
{
	char *old = strdup(getenv("PATH"));

	setenv("PATH", "/nowhere", 1);
	char *found = find_program("losetup");
	setenv("PATH", old, 1);
	CHECK(found && strstr(found, "sbin/losetup"));
	free(found);
	free(old);
}

TEST(a_directory_is_no_program)
{
	CHECK(find_program("/usr") == NULL);
}

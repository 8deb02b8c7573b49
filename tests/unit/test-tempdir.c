/* SPDX-License-Identifier: MIT */
#include "tempdir.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "cleanup.h"
#include "io.h"
#include "vec.h"

static void touch(const char *dir, const char *name)
{
	auto_free char *path = xasprintf("%s/%s", dir, name);

	close(open(path, O_CREAT | O_WRONLY, 0600));
}

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

/* A process that makes one and is killed; its path. */
static char *left_by_the_dead(const char *parent)
{
	struct tempdir t;
	int pipes[2];
	char path[4096] = "";

	CHECK_EQ(pipe(pipes), 0);
	pid_t pid = fork();
	if (!pid) {
		if (tempdir_make(&t, parent, NULL))
			_exit(1);
		touch(t.path, "data");
		dprintf(pipes[1], "%s", t.path);
		close(pipes[1]);
		for (;;)
			pause();
	}
	close(pipes[1]);
	CHECK(read(pipes[0], path, sizeof(path) - 1) > 0);
	close(pipes[0]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return xstrdup(path);
}

TEST(what_the_dead_left_is_removed_and_nothing_else)
{
	auto_free char *parent = make_temp_dir(NULL);
	auto_free char *mine = xasprintf("%s/fsreel-abcdef", parent);
	struct tempdir living, next;
	struct error err = {0};

	CHECK_EQ(mkdir(mine, 0700), 0);
	touch(mine, "kept");
	CHECK_EQ(tempdir_make(&living, parent, &err), 0);
	touch(living.path, "used");
	auto_free char *left = left_by_the_dead(parent);
	CHECK(exists(left));
	CHECK_EQ(tempdir_make(&next, parent, &err), 0);
	CHECK(!exists(left));
	CHECK(exists(mine));
	auto_free char *used = xasprintf("%s/used", living.path);
	CHECK(exists(used));
	CHECK_EQ(tempdir_remove(&living), 0);
	CHECK_EQ(tempdir_remove(&next), 0);
	CHECK_EQ(tempdir_remove(&next), 0);
	CHECK_EQ(remove_tree(mine), 0);
	CHECK_EQ(rmdir(parent), 0); /* the locks went with them */
}

TEST(a_parent_that_is_not_there_is_an_error)
{
	struct tempdir t;
	struct error err = {0};

	CHECK(tempdir_make(&t, "/nonexistent/here", &err) < 0);
	CHECK(err.text[0]);
}

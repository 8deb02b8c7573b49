/* SPDX-License-Identifier: MIT */
#include "orphans.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static pid_t start_sleeper(void)
{
	pid_t pid = fork();

	if (!pid) {
		alarm(20);
		for (;;)
			pause();
	}
	return pid;
}

/* A child that ends at once and leaves a process in a session of its own; its number. */
static pid_t leave_daemon(void)
{
	int pipes[2];
	pid_t daemon = 0;

	if (pipe(pipes))
		return -1;
	pid_t pid = fork();
	if (!pid) {
		setsid();
		daemon = start_sleeper();
		_exit(write(pipes[1], &daemon, sizeof(daemon)) == sizeof(daemon) ? 0 : 1);
	}
	CHECK_EQ(read(pipes[0], &daemon, sizeof(daemon)), (long long)sizeof(daemon));
	waitpid(pid, NULL, 0);
	close(pipes[0]);
	close(pipes[1]);
	return daemon;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(what_was_left_behind_is_found_named_and_ended)
{
	pid_t older = start_sleeper();
	struct orphans o;
	char names[64];

	orphans_adopt(&o);
	pid_t daemon = leave_daemon(), child = start_sleeper();
	CHECK_EQ(orphans_kill(&o, 0, names, sizeof(names)), 2);
	CHECK(strstr(names, "test-orphans (") != NULL);
	CHECK(kill(daemon, 0) == -1 && errno == ESRCH);
	CHECK(waitpid(child, NULL, WNOHANG) == -1 && errno == ECHILD);
	CHECK_EQ(kill(older, 0), 0);
	CHECK_EQ(waitpid(older, NULL, WNOHANG), 0);
	orphans_release(&o);
	end(older);
}

TEST(one_can_be_spared)
{
	struct orphans o;

	orphans_adopt(&o);
	pid_t spare = start_sleeper(), child = start_sleeper();
	CHECK_EQ(orphans_kill(&o, spare, NULL, 0), 1);
	CHECK(waitpid(child, NULL, WNOHANG) == -1);
	CHECK_EQ(waitpid(spare, NULL, WNOHANG), 0);
	orphans_release(&o);
	end(spare);
}

TEST(the_adopted_are_reaped_while_another_is_waited_for)
{
	struct orphans o;
	int status = 1;

	orphans_adopt(&o);
	pid_t daemon = leave_daemon();
	pid_t child = fork();
	if (!child) {
		const struct timespec pause = {0, 20000000};
		kill(daemon, SIGKILL);
		for (int i = 0; i < 250 && !kill(daemon, 0); i++)
			nanosleep(&pause, NULL);
		_exit(!kill(daemon, 0)); /* a zombie can be signalled */
	}
	CHECK_EQ(orphans_wait(&o, child, &status), child);
	CHECK_EQ(status, 0);
	orphans_release(&o);
}

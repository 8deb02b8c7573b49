/* SPDX-License-Identifier: MIT */
#include "interrupt.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* In a child, because a signal that arrived stays. */
static int status_of(void (*body)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		body();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

static void blocked_read(void)
{
	int pipes[2];
	char c;

	if (interrupted() || pipe(pipes))
		_exit(1);
	interrupt_catch();
	alarm(1);
	signal(SIGALRM, SIG_DFL);
	pid_t pid = fork();
	if (!pid) {
		usleep(50000);
		kill(getppid(), SIGTERM);
		_exit(0);
	}
	ssize_t n = read(pipes[0], &c, 1);
	_exit(n == -1 && errno == EINTR && interrupted() == SIGTERM ? 0 : 2);
}

static void released(void)
{
	interrupt_catch();
	interrupt_release();
	raise(SIGINT);
}

TEST(a_signal_ends_a_blocking_call)
{
	CHECK_EQ(status_of(blocked_read), 0);
}

TEST(release_gives_the_default_action_back)
{
	int status = status_of(released);

	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}

static void hang_up(void)
{
	signal(SIGHUP, SIG_IGN);
	interrupt_catch();
	raise(SIGHUP);
	if (interrupted())
		_exit(1);
	interrupt_release();
	raise(SIGHUP);
}

TEST(what_nohup_ignores_stays_ignored)
{
	CHECK_EQ(status_of(hang_up), 0);
}

/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ORDINARY_USER 65534
#define CHILD_SECONDS 10

pid_t start_child(int (*body)(const void *arg), const void *arg)
{
	fflush(NULL);
	pid_t pid = fork();

	if (pid)
		return pid;
	alarm(CHILD_SECONDS);
	_exit(body(arg));
}

int end_child(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 126;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

int in_child(int (*body)(const void *arg), const void *arg)
{
	return end_child(start_child(body, arg));
}

void become_user(gid_t group)
{
	if (setgroups(group ? 1 : 0, &group) || setgid(ORDINARY_USER) || setuid(ORDINARY_USER))
		_exit(125);
}

bool is_root(void)
{
	return geteuid() == 0;
}

int must_open(const char *path, int flags, mode_t mode)
{
	int fd = open(path, flags, mode);

	if (fd < 0) {
		fprintf(stderr, "open %s: %s\n", path, strerror(errno));
		_exit(124);
	}
	return fd;
}

void pause_ms(unsigned ms)
{
	struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};

	nanosleep(&t, NULL);
}

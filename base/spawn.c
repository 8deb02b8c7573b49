/* SPDX-License-Identifier: MIT */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "bytes.h"
#include "cleanup.h"
#include "interrupt.h"
#include "vec.h"

/* How long a signal that arrives just before poll() can go unnoticed. */
#define POLL_MS 200

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

char *find_program(const char *program)
{
	const char *path = getenv("PATH");
	auto_free char *dirs =
		xasprintf("%s:/usr/sbin:/sbin:/usr/local/sbin", path ? path : "/usr/bin:/bin");
	char *rest = dirs;

	if (strchr(program, '/'))
		return is_program(program) ? xstrdup(program) : NULL;
	for (char *dir = strsep(&rest, ":"); dir; dir = strsep(&rest, ":")) {
		char *full = xasprintf("%s/%s", dir, program);
		if (is_program(full))
			return full;
		free(full);
	}
	return NULL;
}

static void exec_child(const char *path, const char *const argv[], int out)
{
	int in = open("/dev/null", O_RDONLY);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	interrupt_release();
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	execv(path, (char *const *)argv);
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	_exit(127);
}

/* Until the program closes it; a signal to us that asks to stop stops the program too. */
static void read_output(int fd, pid_t pid, struct bytes *output)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char buffer[4096];

	for (;;) {
		int ready = poll(&p, 1, POLL_MS);
		if (interrupted())
			kill(pid, SIGTERM);
		if (ready <= 0)
			continue;
		ssize_t n = read(fd, buffer, sizeof(buffer));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		put_bytes(output, buffer, (size_t)n);
	}
}

/* Blanks and line ends become one blank each. */
static void join_lines(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++)
		if (!strchr(" \t\r\n", *from))
			*to++ = *from;
		else if (to > text && to[-1] != ' ')
			*to++ = ' ';
	while (to > text && to[-1] == ' ')
		to--;
	*to = '\0';
}

/* What it said, in one line for the error text: the reason comes first or last, usage is between.
 * Caller frees. */
static char *summary(const char *output)
{
	enum { KEEP = 200 };
	char *line = xstrdup(output);
	size_t len;

	join_lines(line);
	len = strlen(line);
	if (len <= 2 * KEEP)
		return line;
	char *shorter = xasprintf("%.*s ... %s", KEEP, line, line + len - KEEP);
	free(line);
	return shorter;
}

int spawn_run(const char *const argv[], char **ret_output, struct error *err)
{
	auto_free char *path = find_program(argv[0]);
	int pipes[2];
	int status = 0;

	if (!path)
		return error_set(err, ENOENT, "%s is not installed", argv[0]);
	if (pipe2(pipes, O_CLOEXEC))
		return error_errno(err, errno, "pipe");
	pid_t pid = fork();
	if (pid < 0) {
		close(pipes[0]);
		close(pipes[1]);
		return error_errno(err, errno, "cannot start %s", argv[0]);
	}
	if (!pid)
		exec_child(path, argv, pipes[1]);
	close(pipes[1]);
	struct bytes output = {0};
	read_output(pipes[0], pid, &output);
	close(pipes[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	put_u8(&output, 0);
	auto_free char *words = summary((char *)output.data);
	int r = 0;
	if (interrupted())
		r = error_set(err, EINTR, "interrupted");
	else if (status)
		r = error_set(err, EIO, "%s failed (%s %d): %s", argv[0],
			WIFSIGNALED(status) ? "signal" : "status",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), words);
	if (ret_output)
		*ret_output = (char *)output.data;
	else
		bytes_free(&output);
	return r;
}

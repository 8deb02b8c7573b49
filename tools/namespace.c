/* SPDX-License-Identifier: MIT */
#include "namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "interrupt.h"
#include "io.h"
#include "spawn.h"
#include "vec.h"

#define GUARD_WAIT_S 10

static int write_text(const char *path, const char *text)
{
	auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : write_all(fd, text, strlen(text));
}

/* In the new user namespace: the same uid and gid as outside. */
static int map_user(uid_t uid, gid_t gid)
{
	auto_free char *uids = xasprintf("%u %u 1\n", uid, uid);
	auto_free char *gids = xasprintf("%u %u 1\n", gid, gid);

	write_text("/proc/self/setgroups", "deny");
	int r = write_text("/proc/self/uid_map", uids);
	return r ? r : write_text("/proc/self/gid_map", gids);
}

/* Tried in a child first: what cannot be mapped cannot be taken back either. */
static int try_user_namespace(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int status = 0;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNS) || map_user(uid, gid) ? 1 : 0);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		return -EPERM;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return -errno;
	return map_user(uid, gid);
}

int namespace_private(void)
{
	if (geteuid() != 0) {
		int r = access("/dev/fuse", R_OK | W_OK) ? -errno : try_user_namespace();
		if (r)
			return r;
	} else if (unshare(CLONE_NEWNS)) {
		return -errno;
	}
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ? -errno : 0;
}

/*
 * Whoever used the mount must be dead before it goes, or would go on in the empty directory below it:
 * the process that started the recorder sees to that, unless it is dead too.
 */
static void wait_for_starter(pid_t starter, const sigset_t *signals)
{
	const struct timespec limit = {GUARD_WAIT_S, 0};

	if (getppid() == starter)
		sigtimedwait(signals, NULL, &limit);
}

static void guard_main(int line, const char *path, pid_t starter)
{
	const char *const argv[] = {"fusermount3", "-u", "-z", "-q", path, NULL};
	sigset_t signals;
	char word;
	ssize_t n;

	setsid();
	interrupt_release();
	sigemptyset(&signals);
	sigaddset(&signals, MOUNT_GUARD_SIGNAL);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	do
		n = read(line, &word, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		_exit(0);
	wait_for_starter(starter, &signals);
	if (umount2(path, MNT_DETACH))
		spawn_run(argv, NULL, NULL);
	_exit(0);
}

int mount_guard_start(struct mount_guard *g, const char *path, struct error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return error_errno(err, errno, "pipe");
	pid_t starter = getppid();
	g->pid = fork();
	if (g->pid < 0) {
		close(ends[0]);
		close(ends[1]);
		return error_errno(err, errno, "cannot start the guard of the mount");
	}
	if (!g->pid) {
		close(ends[1]);
		guard_main(ends[0], path, starter);
	}
	close(ends[0]);
	g->line = ends[1];
	return 0;
}

void mount_guard_dismiss(struct mount_guard *g)
{
	if (g->line < 0)
		return;
	if (write(g->line, "q", 1) < 0)
		error_errno(NULL, errno, "guard");
	close(g->line);
	g->line = -1;
	waitpid(g->pid, NULL, 0);
}

/* SPDX-License-Identifier: MIT */
#include "claim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "io.h"

struct holder {
	int pid; /* 0 = not to be found */
	char name[32];
	bool is_capture;
};

/* "1: FLOCK  ADVISORY  WRITE 1234 fe:01:131 0 EOF"; the device may be another one than stat() says. */
static int locker_of(ino_t ino)
{
	auto_fclose FILE *locks = fopen("/proc/locks", "re");
	char line[256];
	uint64_t number;
	int pid;

	while (locks && fgets(line, sizeof(line), locks))
		if (sscanf(line, "%*d: FLOCK %*s %*s %d %*x:%*x:%" SCNu64, &pid, &number) == 2 &&
			number == ino && pid > 0)
			return pid;
	return 0;
}

static struct holder find_holder(int fd)
{
	struct holder h = {0};
	struct stat st;

	if (!fstat(fd, &st))
		h.pid = locker_of(st.st_ino);
	auto_free char *path = xasprintf("/proc/%d/comm", h.pid);
	auto_free char *name = h.pid ? read_text(path) : NULL;
	snprintf(h.name, sizeof(h.name), "%s", name ? name : "?");
	h.is_capture = !strcmp(h.name, program_invocation_short_name);
	return h;
}

static int refuse(const char *dir, int fd, struct error *err)
{
	struct holder h = find_holder(fd);

	if (h.pid && !h.is_capture)
		return error_set(err, EBUSY,
			"directory '%s' is locked (flock) by %s, process %d; a capture needs it "
			"for "
			"itself",
			dir, h.name, h.pid);
	return error_set(err, EBUSY,
		"directory '%s' is being captured already, or one in it is, by process %d; wait "
		"until that has ended",
		dir, h.pid);
}

/* One level up: ours if only others than captures are in the way. */
static int share(struct claim *c, const char *dir, int fd, struct error *err)
{
	if (!flock(fd, LOCK_SH | LOCK_NB)) {
		vec_push(&c->fds, fcntl(fd, F_DUPFD_CLOEXEC, 0));
		return 0;
	}
	if (errno != EWOULDBLOCK)
		return 0;
	struct holder h = find_holder(fd);
	if (!h.is_capture)
		return 0;
	return error_set(err, EBUSY,
		"directory '%s' lies in one that is being captured already, by process %d; wait "
		"until that has ended",
		dir, h.pid);
}

/* A directory that may not be read can still be passed through. */
static int open_parent(int fd)
{
	int up = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return up >= 0 ? up : openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool is_same(int fd, int other)
{
	struct stat a, b;

	return !fstat(fd, &a) && !fstat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int share_all_above(struct claim *c, const char *dir, int from, struct error *err)
{
	auto_close int fd = fcntl(from, F_DUPFD_CLOEXEC, 0);
	int r = 0;

	while (!r) {
		int up = open_parent(fd);
		bool top = up < 0 || is_same(fd, up);
		if (!top)
			r = share(c, dir, up, err);
		close(fd);
		fd = up;
		if (top)
			break;
	}
	return r;
}

int claim_take(struct claim *ret, const char *dir, struct error *err)
{
	auto_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*ret = (struct claim){0};
	if (fd < 0)
		return error_errno(err, errno, "directory '%s'", dir);
	if (flock(fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? refuse(dir, fd, err) : 0;
	int r = share_all_above(ret, dir, fd, err);
	vec_push(&ret->fds, take_fd(fd));
	if (r)
		claim_drop(ret);
	return r;
}

void claim_drop(struct claim *c)
{
	vec_each (fd, &c->fds)
		close(*fd);
	vec_free(&c->fds);
}

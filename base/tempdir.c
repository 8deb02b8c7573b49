/* SPDX-License-Identifier: MIT */
/*
 * The lock file is there and held before the directory is made, and removed after it. Only a directory
 * with a lock file of ours that nobody holds is removed: never one of which only the name looks so.
 */
#include "tempdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "io.h"
#include "vec.h"

#define PREFIX "fsreel-"
#define SUFFIX ".lock"

static bool is_lock_name(const char *name)
{
	size_t len = strlen(name);

	return len == strlen(PREFIX "XXXXXX" SUFFIX) && !strncmp(name, PREFIX, strlen(PREFIX)) &&
	       !strcmp(name + len - strlen(SUFFIX), SUFFIX);
}

/* Does the path still name this file, which is ours alone? */
static bool is_ours(int fd, const char *path)
{
	struct stat st, named;

	return !fstat(fd, &st) && !lstat(path, &named) && st.st_ino == named.st_ino &&
	       st.st_dev == named.st_dev && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
	       st.st_uid == geteuid();
}

/* What belongs to a lock file, if its maker is dead. */
static void remove_left(const char *parent, const char *lock_name)
{
	auto_free char *lock_path = xasprintf("%s/%s", parent, lock_name);
	auto_free char *path = strndup(lock_path, strlen(lock_path) - strlen(SUFFIX));
	auto_close int fd = open(lock_path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) || !is_ours(fd, lock_path))
		return;
	if (lstat(path, &st)) {
		if (errno == ENOENT)
			unlink(lock_path);
		return;
	}
	/* A server that root ran as its own user may have got it. */
	bool ours = st.st_uid == geteuid() || geteuid() == 0;
	if (S_ISDIR(st.st_mode) && ours && !remove_tree(path))
		unlink(lock_path);
}

static void remove_all_left(const char *parent)
{
	auto_closedir DIR *dir = opendir(parent);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (is_lock_name(entry->d_name))
			remove_left(parent, entry->d_name);
}

/* A new lock file, held; somebody who clears up may have taken it for one that is left. */
static int make_lock(const char *parent, char **ret_path)
{
	for (;;) {
		char *path = xasprintf("%s/" PREFIX "XXXXXX" SUFFIX, parent);
		int fd = mkostemps(path, (int)strlen(SUFFIX), O_CLOEXEC);
		int r = fd < 0 ? -errno : 0;
		if (!r && !flock(fd, LOCK_EX) && is_ours(fd, path)) {
			*ret_path = path;
			return fd;
		}
		if (fd >= 0)
			close(fd);
		free(path);
		if (r)
			return r;
	}
}

int tempdir_make(struct tempdir *ret, const char *parent, struct error *err)
{
	char *lock_path = NULL;

	remove_all_left(parent);
	int lock = make_lock(parent, &lock_path);
	if (lock < 0)
		return error_errno(err, lock, "cannot make a directory in %s", parent);
	char *path = strndup(lock_path, strlen(lock_path) - strlen(SUFFIX));
	int r = mkdir(path, 0700) ? -errno : 0;
	if (r) {
		unlink(lock_path);
		close(lock);
		free(path);
		path = NULL;
		error_errno(err, r, "cannot make a directory in %s", parent);
	} else {
		*ret = (struct tempdir){path, lock};
	}
	free(lock_path);
	return r;
}

int tempdir_remove(struct tempdir *t)
{
	if (!t->path)
		return 0;
	auto_free char *lock_path = xasprintf("%s" SUFFIX, t->path);
	int r = remove_tree(t->path);

	if (!r)
		unlink(lock_path);
	close(t->lock);
	free(t->path);
	*t = (struct tempdir){0};
	return r;
}

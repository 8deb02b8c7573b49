/* SPDX-License-Identifier: MIT */
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "vec.h"

int write_all(int fd, const void *data, size_t size)
{
	const char *p = data;

	while (size) {
		ssize_t n = write(fd, p, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

int pwrite_all(int fd, const void *data, size_t size, off_t offset)
{
	const char *p = data;

	while (size) {
		ssize_t n = pwrite(fd, p, size, offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		offset += n;
		size -= (size_t)n;
	}
	return 0;
}

ssize_t read_full(int fd, void *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(fd, (char *)data + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

ssize_t pread_full(int fd, void *data, size_t size, off_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (char *)data + done, size - done, offset + (off_t)done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int copy_rest(int in, int out)
{
	enum { COPY_BYTES = 256 << 10 };
	auto_free char *buffer = xcalloc(1, COPY_BYTES);
	ssize_t n;
	int r = 0;

	while (!r && (n = read_full(in, buffer, COPY_BYTES)) > 0)
		r = write_all(out, buffer, (size_t)n);
	return r ? r : (int)n;
}

char *read_text(const char *path)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	char buffer[4096];

	if (fd < 0)
		return NULL;
	ssize_t n = read_full(fd, buffer, sizeof(buffer) - 1);
	if (n < 0)
		return NULL;
	while (n > 0 && buffer[n - 1] == '\n')
		n--;
	buffer[n] = '\0';
	return xstrdup(buffer);
}

/*
 * Removing a tree by directory descriptors, so that neither the length of a path nor a link can
 * lead astray. Directories deeper than REMOVE_DEPTH are first moved up to the top, so that a tree of
 * any depth needs few descriptors and little stack.
 */
#define REMOVE_DEPTH 64

struct removal {
	int top;
	dev_t dev;
	uint64_t hoisted; /* directories moved to the top so far, for their names */
};

static int remove_entries(struct removal *rm, int dir, unsigned depth);

/* A directory that is closed to its owner (a replayed chmod) is opened up first. */
static int open_for_removal(int dir, const char *name)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(dir, name, flags);

	if (fd < 0 && errno == EACCES && !fchmodat(dir, name, 0700, 0))
		fd = openat(dir, name, flags);
	if (fd < 0)
		return -errno;
	struct stat st;
	if (!fstat(fd, &st) && (st.st_mode & S_IRWXU) != S_IRWXU)
		(void)!fchmod(fd, S_IRWXU);
	return fd;
}

static int hoist(struct removal *rm, int dir, const char *name)
{
	char unique[40];

	do
		snprintf(unique, sizeof(unique), ".deep-%llu", (unsigned long long)rm->hoisted++);
	while (!faccessat(rm->top, unique, F_OK, AT_SYMLINK_NOFOLLOW));
	return renameat(dir, name, rm->top, unique) ? -errno : 0;
}

static int remove_directory(struct removal *rm, int dir, const char *name, unsigned depth)
{
	auto_close int fd = open_for_removal(dir, name);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		return -errno;
	if (st.st_dev != rm->dev)
		return -EXDEV;
	if (depth == REMOVE_DEPTH)
		return hoist(rm, dir, name);
	int r = remove_entries(rm, fd, depth + 1);
	return r ? r : unlinkat(dir, name, AT_REMOVEDIR) ? -errno : 0;
}

static int remove_entry(struct removal *rm, int dir, const char *name, unsigned depth)
{
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return 0;
	if (!unlinkat(dir, name, 0))
		return 0;
	return errno == EISDIR || errno == EPERM ? remove_directory(rm, dir, name, depth) : -errno;
}

static int remove_entries(struct removal *rm, int dir, unsigned depth)
{
	auto_closedir DIR *list = fdopendir(fcntl(dir, F_DUPFD_CLOEXEC, 0));
	struct dirent *entry;

	if (!list)
		return -errno;
	rewinddir(list);
	while ((entry = readdir(list))) {
		int r = remove_entry(rm, dir, entry->d_name, depth);
		if (r)
			return r;
	}
	return 0;
}

int remove_tree(const char *path)
{
	struct removal rm = {.top = open_for_removal(AT_FDCWD, path)};
	auto_close int top = rm.top;
	struct stat st;

	if (top < 0)
		return top == -ENOTDIR && !unlink(path) ? 0 : top;
	if (fstat(top, &st))
		return -errno;
	rm.dev = st.st_dev;
	for (uint64_t before = UINT64_MAX; before != rm.hoisted;) {
		before = rm.hoisted;
		int r = remove_entries(&rm, top, 0);
		if (r)
			return r;
	}
	return rmdir(path) ? -errno : 0;
}

char *make_temp_dir(struct error *err)
{
	const char *base = getenv("TMPDIR");
	char *path = xasprintf("%s/fsreel-XXXXXX", base && *base ? base : "/tmp");

	if (mkdtemp(path))
		return path;
	error_errno(err, errno, "cannot make a temporary directory %s", path);
	free(path);
	return NULL;
}

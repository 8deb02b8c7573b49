/* SPDX-License-Identifier: MIT */
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <string.h>

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

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)at;
	int r = type == FTW_DP ? rmdir(path) : unlink(path);

	return r ? -errno : 0;
}

int remove_tree(const char *path)
{
	int r = nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);

	return r == -1 ? -errno : r;
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

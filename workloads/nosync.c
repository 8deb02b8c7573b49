/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a database server, this makes nothing durable: calls that wait for the disk return
 * at once, and no file is opened for synchronous writes. What is left is what the server asks of
 * the file system's names and page cache. (An io_uring has calls of its own, so the server must not
 * use one to sync.)
 *
 * Not part of the program: a library of its own, found by mydb.c.
 */
#undef _FILE_OFFSET_BITS /* the names with and without 64 are defined one by one */
#undef _FORTIFY_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define SYNC_FLAGS (O_SYNC | O_DSYNC)

int fsync(int fd)
{
	(void)fd;
	return 0;
}

int fdatasync(int fd)
{
	(void)fd;
	return 0;
}

int syncfs(int fd)
{
	(void)fd;
	return 0;
}

void sync(void)
{
}

int sync_file_range(int fd, off64_t offset, off64_t count, unsigned flags)
{
	(void)fd;
	(void)offset;
	(void)count;
	(void)flags;
	return 0;
}

int msync(void *start, size_t size, int flags)
{
	(void)start;
	(void)size;
	(void)flags;
	return 0;
}

ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
	return syscall(SYS_pwritev2, fd, parts, count, offset, (uint64_t)offset >> 32,
		flags & ~(RWF_SYNC | RWF_DSYNC));
}

ssize_t pwritev64v2(int fd, const struct iovec *parts, int count, off64_t offset, int flags)
{
	return syscall(SYS_pwritev2, fd, parts, count, (off_t)offset, (uint64_t)offset >> 32,
		flags & ~(RWF_SYNC | RWF_DSYNC));
}

/* --- open, in each of its forms --- */

static int open_file(int dir, const char *path, int flags, unsigned mode)
{
	return (int)syscall(SYS_openat, dir, path, (flags & ~SYNC_FLAGS) | O_LARGEFILE, mode);
}

/* The argument after flags, if they say that there is one. */
static unsigned mode_of(int flags, va_list args)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, unsigned) : 0;
}

#define OPEN(name)                                                                                 \
	int name(const char *path, int flags, ...)                                                 \
	{                                                                                          \
		va_list args;                                                                      \
		va_start(args, flags);                                                             \
		unsigned mode = mode_of(flags, args);                                              \
		va_end(args);                                                                      \
		return open_file(AT_FDCWD, path, flags, mode);                                     \
	}

#define OPENAT(name)                                                                               \
	int name(int dir, const char *path, int flags, ...)                                        \
	{                                                                                          \
		va_list args;                                                                      \
		va_start(args, flags);                                                             \
		unsigned mode = mode_of(flags, args);                                              \
		va_end(args);                                                                      \
		return open_file(dir, path, flags, mode);                                          \
	}

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

/* What _FORTIFY_SOURCE calls where no mode is given. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);

int __open_2(const char *path, int flags)
{
	return open_file(AT_FDCWD, path, flags, 0);
}

int __open64_2(const char *path, int flags)
{
	return open_file(AT_FDCWD, path, flags, 0);
}

int __openat_2(int dir, const char *path, int flags)
{
	return open_file(dir, path, flags, 0);
}

int __openat64_2(int dir, const char *path, int flags)
{
	return open_file(dir, path, flags, 0);
}

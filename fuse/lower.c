/* SPDX-License-Identifier: MIT */
#include "lower.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

/* libc's -1 and errno as -errno. */
static ssize_t try(ssize_t r)
{
	return r < 0 ? -errno : r;
}

static int try_int(int r)
{
	return r < 0 ? -errno : r;
}

const char *lower_path(int fd, struct lower_path *out)
{
	snprintf(out->text, sizeof(out->text), "/proc/self/fd/%d", fd);
	return out->text;
}

int lower_find(int dir, const char *name)
{
	return try_int(openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
}

int lower_stat(int fd, struct stat *ret)
{
	return try_int(fstatat(fd, "", ret, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
}

int lower_statx(int fd, unsigned mask, struct statx *ret)
{
	return try_int(statx(fd, "", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, mask, ret));
}

int lower_statfs(int fd, struct statvfs *ret)
{
	return try_int(fstatvfs(fd, ret));
}

ssize_t lower_readlink(int fd, char *out, size_t size)
{
	return try(readlinkat(fd, "", out, size));
}

int lower_mknod(int dir, const char *name, mode_t mode, dev_t rdev, const struct caller *as)
{
	caller_become(as);
	int r = try_int(mknodat(dir, name, mode, rdev));
	caller_restore();
	return r;
}

int lower_mkdir(int dir, const char *name, mode_t mode, const struct caller *as)
{
	caller_become(as);
	int r = try_int(mkdirat(dir, name, mode));
	caller_restore();
	return r;
}

int lower_symlink(const char *target, int dir, const char *name, const struct caller *as)
{
	caller_become(as);
	int r = try_int(symlinkat(target, dir, name));
	caller_restore();
	return r;
}

int lower_link(int fd, int dir, const char *name)
{
	struct lower_path path;

	return try_int(linkat(AT_FDCWD, lower_path(fd, &path), dir, name, AT_SYMLINK_FOLLOW));
}

int lower_unlink(int dir, const char *name)
{
	return try_int(unlinkat(dir, name, 0));
}

int lower_rmdir(int dir, const char *name)
{
	return try_int(unlinkat(dir, name, AT_REMOVEDIR));
}

int lower_rename(int dir, const char *name, int dir2, const char *name2, unsigned flags)
{
	return try_int(renameat2(dir, name, dir2, name2, flags));
}

int lower_reopen(int fd, int flags)
{
	struct lower_path path;

	return try_int(open(lower_path(fd, &path), (flags & ~O_NOFOLLOW) | O_CLOEXEC));
}

int lower_create(int dir, const char *name, int flags, mode_t mode, const struct caller *as)
{
	caller_become(as);
	int fd = try_int(
		openat(dir, name, flags | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode));
	caller_restore();
	return fd;
}

int lower_tmpfile(int dir, int flags, mode_t mode, const struct caller *as)
{
	caller_become(as);
	int fd = try_int(openat(dir, ".", flags | O_TMPFILE | O_CLOEXEC, mode));
	caller_restore();
	return fd;
}

ssize_t lower_read(int fd, void *data, size_t size, off_t offset)
{
	return try(pread(fd, data, size, offset));
}

ssize_t lower_write(int fd, const void *data, size_t size, off_t offset, int flags)
{
	struct iovec iov = {(void *)(uintptr_t)data, size};

	if ((flags & O_SYNC) == O_SYNC)
		return try(pwritev2(fd, &iov, 1, offset, RWF_SYNC));
	if (flags & O_DSYNC)
		return try(pwritev2(fd, &iov, 1, offset, RWF_DSYNC));
	return try(pwrite(fd, data, size, offset));
}

int lower_flush(int fd)
{
	int copy = dup(fd);

	return copy < 0 ? -errno : try_int(close(copy));
}

int lower_sync(int fd, bool data_only)
{
	return try_int(data_only ? fdatasync(fd) : fsync(fd));
}

int lower_fallocate(int fd, int mode, off_t offset, off_t size)
{
	return try_int(fallocate(fd, mode, offset, size));
}

ssize_t lower_copy(int from, off_t at, int to, off_t to_at, size_t size, unsigned flags)
{
	return try(copy_file_range(from, &at, to, &to_at, size, flags));
}

off_t lower_seek(int fd, off_t offset, int whence)
{
	off_t r = lseek(fd, offset, whence);

	return r < 0 ? -errno : r;
}

int lower_ioctl(int fd, unsigned command, void *arg)
{
	return try_int(ioctl(fd, command, arg));
}

ssize_t lower_read_dir(int fd, void *out, size_t size)
{
	return try(syscall(SYS_getdents64, fd, out, size));
}

int lower_chmod(int fd, mode_t mode)
{
	struct lower_path path;

	return try_int(chmod(lower_path(fd, &path), mode));
}

int lower_chown(int fd, uid_t uid, gid_t gid)
{
	return try_int(fchownat(fd, "", uid, gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
}

int lower_truncate(int path_fd, off_t size)
{
	struct lower_path path;

	return try_int(truncate(lower_path(path_fd, &path), size));
}

int lower_ftruncate(int fd, off_t size)
{
	return try_int(ftruncate(fd, size));
}

int lower_set_times(int fd, const struct timespec times[2])
{
	return try_int(utimensat(fd, "", times, AT_EMPTY_PATH));
}

int lower_set_xattr(int fd, const char *name, const void *value, size_t size, int flags)
{
	struct lower_path path;

	return try_int(setxattr(lower_path(fd, &path), name, value, size, flags));
}

ssize_t lower_get_xattr(int fd, const char *name, void *out, size_t size)
{
	struct lower_path path;

	return try(getxattr(lower_path(fd, &path), name, out, size));
}

ssize_t lower_list_xattr(int fd, char *out, size_t size)
{
	struct lower_path path;

	return try(listxattr(lower_path(fd, &path), out, size));
}

int lower_remove_xattr(int fd, const char *name)
{
	struct lower_path path;

	return try_int(removexattr(lower_path(fd, &path), name));
}

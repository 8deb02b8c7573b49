/* SPDX-License-Identifier: MIT */
/*
 * The real directory below the mount, call by call: no FUSE, no log.
 *
 * Files are descriptors. A "path descriptor" (O_PATH) names any file without opening it; names are
 * single components, never followed. All functions return 0 or more on success and -errno on
 * failure; all are thread-safe.
 */
#ifndef LOWER_H
#define LOWER_H

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include "caller.h"

/* "/proc/self/fd/N": the way from a path descriptor to a call that wants a path. */
struct lower_path {
	char text[32];
};
const char *lower_path(int fd, struct lower_path *out);

/* --- names --- */
int lower_find(int dir, const char *name); /* a new path descriptor */
int lower_stat(int fd, struct stat *ret);
int lower_statx(int fd, unsigned mask, struct statx *ret);
int lower_statfs(int fd, struct statvfs *ret);
ssize_t lower_readlink(int fd, char *out, size_t size);
int lower_mknod(int dir, const char *name, mode_t mode, dev_t rdev, const struct caller *as);
int lower_mkdir(int dir, const char *name, mode_t mode, const struct caller *as);
int lower_symlink(const char *target, int dir, const char *name, const struct caller *as);
int lower_link(int fd, int dir, const char *name);
int lower_unlink(int dir, const char *name);
int lower_rmdir(int dir, const char *name);
int lower_rename(int dir, const char *name, int dir2, const char *name2, unsigned flags);

/* --- opening: the new descriptor --- */
/* The file behind a descriptor once more. */
int lower_reopen(int fd, int flags);
/* Never waits: what is there already may be a pipe. */
int lower_create(int dir, const char *name, int flags, mode_t mode, const struct caller *as);
int lower_tmpfile(int dir, int flags, mode_t mode, const struct caller *as);

/* --- data --- */
ssize_t lower_read(int fd, void *data, size_t size, off_t offset);
/* `flags`: O_SYNC and O_DSYNC of this one call. */
ssize_t lower_write(int fd, const void *data, size_t size, off_t offset, int flags);
/* What closing a descriptor of it does, short of the last one. */
int lower_flush(int fd);
int lower_sync(int fd, bool data_only);
int lower_fallocate(int fd, int mode, off_t offset, off_t size);
ssize_t lower_copy(int from, off_t at, int to, off_t to_at, size_t size, unsigned flags);
off_t lower_seek(int fd, off_t offset, int whence);
int lower_ioctl(int fd, unsigned command, void *arg);
/* Entries as getdents64() gives them. */
ssize_t lower_read_dir(int fd, void *out, size_t size);

/* --- attributes: any descriptor --- */
int lower_chmod(int fd, mode_t mode);
int lower_chown(int fd, uid_t uid, gid_t gid);
int lower_truncate(int path_fd, off_t size);
int lower_ftruncate(int fd, off_t size);
int lower_set_times(int fd, const struct timespec times[2]);
int lower_set_xattr(int fd, const char *name, const void *value, size_t size, int flags);
ssize_t lower_get_xattr(int fd, const char *name, void *out, size_t size);
ssize_t lower_list_xattr(int fd, char *out, size_t size);
int lower_remove_xattr(int fd, const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/* The handlers, gathered in session_ops (ops.c). Each: unpack, RECORD, the call below, reply. */
#ifndef OPS_H
#define OPS_H

#include "session.h"

/* ops-name.c */
void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name);
void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t count);
void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets);
void op_readlink(fuse_req_t req, fuse_ino_t ino);
void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev);
void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode);
void op_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name);
void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name);
void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name);
void op_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t parent2,
	const char *name2, unsigned flags);
void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name);

/* ops-open.c */
void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
	struct fuse_file_info *fi);
void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_readdir(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi);
void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);

/* ops-data.c */
void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi);
void op_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size, off_t offset,
	struct fuse_file_info *fi);
void op_fsync(fuse_req_t req, fuse_ino_t ino, int data_only, struct fuse_file_info *fi);
void op_fsyncdir(fuse_req_t req, fuse_ino_t ino, int data_only, struct fuse_file_info *fi);
void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset, off_t size,
	struct fuse_file_info *fi);
void op_copy_file_range(fuse_req_t req, fuse_ino_t ino, off_t offset, struct fuse_file_info *fi,
	fuse_ino_t ino2, off_t offset2, struct fuse_file_info *fi2, size_t size, int flags);
void op_lseek(fuse_req_t req, fuse_ino_t ino, off_t offset, int whence, struct fuse_file_info *fi);

/* ops-meta.c */
void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_setattr(
	fuse_req_t req, fuse_ino_t ino, struct stat *want, int valid, struct fuse_file_info *fi);
void op_statfs(fuse_req_t req, fuse_ino_t ino);
void op_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size,
	int flags);
void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size);
void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size);
void op_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name);
void op_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned command, void *arg,
	struct fuse_file_info *fi, unsigned flags, const void *in, size_t in_size, size_t out_size);

/* ops-lock.c */
void op_getlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock);
void op_setlk(
	fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock, int sleep);
void op_flock(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, int operation);
/* What happens when a lock is decided. */
extern const struct lock_events lock_events;

static inline struct handle *handle_of(const struct fuse_file_info *fi)
{
	return (struct handle *)(uintptr_t)fi->fh;
}

#endif

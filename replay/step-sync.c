/* SPDX-License-Identifier: MIT */
/*
 * The blocking form of each operation: the call that the application made, on the replay's files.
 *
 * By handle where the application had one. Otherwise by (directory descriptor, name) with calls
 * that do not follow links; where Linux has no such call (truncate, extended attributes) the file
 * is reached through an opened descriptor or through /proc/self/fd/DIR/NAME, which costs a little
 * more than the application paid.
 *
 * What a trace may not do here, whatever it says: make devices, set set-id bits or foreign owners
 * (unless owners are kept), send ioctls that change things, block for ever on a lock or a FIFO.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "clock.h"
#include "interrupt.h"
#include "step.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

#define LOCK_PATIENCE_NS    (10 * NSEC_PER_SEC) /* a lock that was granted in the capture */
#define REFUSAL_PATIENCE_NS NSEC_PER_MSEC       /* one that was refused in the capture */
#define LOCK_POLL_NS        (50 * NSEC_PER_USEC)

typedef int64_t step_fn(struct replay_context *ctx, const struct step *step);

#define OP(number, name, class, args, doc) static step_fn step_sync_##name;
#include "ops.def"
#undef OP

static step_fn *const handlers[OP_LIMIT] = {
#define OP(number, name, class, args, doc) [number] = step_sync_##name,
#include "ops.def"
#undef OP
};

static int64_t step_sync_kept(struct replay_context *ctx, const struct step *step);
static void keep_file(struct replay_context *ctx, const struct step *step);

int64_t step_sync(struct replay_context *ctx, const struct step *step)
{
	if (step->bits & STEP_KEPT)
		return step_sync_kept(ctx, step);
	if (step->bits & STEP_KEEPS)
		keep_file(ctx, step);
	return handlers[step->op](ctx, step);
}

/* What the C library says with -1 and errno, said in one number. */
static int64_t try(int64_t r)
{
	return r < 0 ? -errno : r;
}

/* The directory of a step for as long as a call uses it. */
struct dir_ref {
	struct files *files;
	uint32_t slot;
	int fd; /* or -errno */
};

static void dir_ref_done(struct dir_ref *ref)
{
	if (ref->fd >= 0)
		files_dir_put(ref->files, ref->slot);
}
#define auto_dir __attribute__((cleanup(dir_ref_done)))

static struct dir_ref dir_ref(struct replay_context *ctx, uint32_t slot)
{
	return (struct dir_ref){ctx->files, slot, files_dir_get(ctx->files, slot)};
}

static int handle_of(struct replay_context *ctx, const struct step *step)
{
	return files_handle(ctx->files, step->handle);
}

static bool by_path(const struct step *step)
{
	return step->bits & STEP_BY_PATH;
}

int step_open_flags(const struct replay_context *ctx, const struct step *step)
{
	const int known = O_ACCMODE | O_APPEND | O_DIRECT | O_DSYNC | O_SYNC | O_TRUNC | O_EXCL |
	                  O_DIRECTORY | O_NOATIME;
	/* Never wait for the other end of a FIFO; regular files do not care. */
	int flags = ((int)step->flags & known) | O_NONBLOCK;

	return ctx->no_direct ? flags & ~O_DIRECT : flags;
}

unsigned step_mode(const struct replay_context *ctx, const struct step *step)
{
	return step->args->mode & (ctx->keep_owners ? 07777 : 01777);
}

struct open_how step_open_how(const struct replay_context *ctx, const struct step *step)
{
	int flags = step_open_flags(ctx, step);

	if (step->op == OP_opendir)
		return files_open_how(O_RDONLY | O_DIRECTORY, 0);
	if (step->op == OP_create)
		return files_open_how(flags | O_CREAT, step_mode(ctx, step));
	if (step->op == OP_tmpfile)
		return files_open_how(
			(flags & ~(O_TRUNC | O_EXCL)) | O_TMPFILE, step_mode(ctx, step));
	return files_open_how(flags, 0);
}

const char *step_open_name(const struct step *step)
{
	return step->op == OP_tmpfile ? "." : step->args->name;
}

/* Open and put the descriptor into the step's slot. */
static int64_t open_handle(struct replay_context *ctx, const struct step *step)
{
	struct dir_ref dir auto_dir = dir_ref(ctx, step->args->dir);
	struct open_how how = step_open_how(ctx, step);

	if (dir.fd < 0)
		return dir.fd;
	long fd = syscall(SYS_openat2, dir.fd, step_open_name(step), &how, sizeof(how));
	if (fd < 0)
		return -errno;
	files_set_handle(ctx->files, step->handle, (int)fd);
	return 0;
}

static int64_t step_sync_lookup(struct replay_context *ctx, const struct step *step)
{
	struct dir_ref dir auto_dir = dir_ref(ctx, step->args->dir);
	struct stat st;

	return dir.fd < 0 ? dir.fd
	                  : try(fstatat(dir.fd, step->args->name, &st, AT_SYMLINK_NOFOLLOW));
}

static int64_t step_sync_getattr(struct replay_context *ctx, const struct step *step)
{
	struct stat st;

	return by_path(step) ? step_sync_lookup(ctx, step) : try(fstat(handle_of(ctx, step), &st));
}

static int64_t step_sync_readlink(struct replay_context *ctx, const struct step *step)
{
	struct dir_ref dir auto_dir = dir_ref(ctx, step->args->dir);

	return dir.fd < 0 ? dir.fd
	                  : try(readlinkat(dir.fd, step->args->name, ctx->buffer, PAYLOAD_SIZE));
}

/* A device is made by its type alone: no driver has the number 0:0, so nobody can open it. */
static int64_t step_sync_mknod(struct replay_context *ctx, const struct step *step)
{
	struct dir_ref dir auto_dir = dir_ref(ctx, step->args->dir);
	mode_t type = step->args->mode & S_IFMT;

	return dir.fd < 0 ? dir.fd
	                  : try(mknodat(dir.fd, step->args->name, type | step_mode(ctx, step), 0));
}

static int64_t step_sync_mkdir(struct replay_context *ctx, const struct step *step)
{
	struct dir_ref dir auto_dir = dir_ref(ctx, step->args->dir);

	return dir.fd < 0 ? dir.fd : try(mkdirat(dir.fd, step->args->name, step_mode(ctx, step)));
}

static int64_t step_sync_unlink(struct replay_context *ctx, const struct step *step)
{
	struct dir_ref dir auto_dir = dir_ref(ctx, step->args->dir);

	return dir.fd < 0 ? dir.fd : try(unlinkat(dir.fd, step->args->name, 0));
}

void step_dirs_changed(struct replay_context *ctx, const struct step *step)
{
	const struct step_args *args = step->args;

	if (step->op == OP_rmdir)
		files_dir_removed(ctx->files, args->made_dir);
	if (step->op != OP_rename)
		return;
	if (args->made_dir != SLOT_NONE)
		files_dir_moved(ctx->files, args->made_dir, args->dir2, args->name2);
	if (args->other_dir != SLOT_NONE && (step->flags & RENAME_EXCHANGE))
		files_dir_moved(ctx->files, args->other_dir, args->dir, args->name);
	else if (args->other_dir != SLOT_NONE)
		files_dir_removed(ctx->files, args->other_dir);
}

static int64_t step_sync_rmdir(struct replay_context *ctx, const struct step *step)
{
	struct dir_ref dir auto_dir = dir_ref(ctx, step->args->dir);
	if (dir.fd < 0)
		return dir.fd;
	int64_t r = try(unlinkat(dir.fd, step->args->name, AT_REMOVEDIR));
	if (r == 0)
		step_dirs_changed(ctx, step);
	return r;
}

static int64_t step_sync_symlink(struct replay_context *ctx, const struct step *step)
{
	struct dir_ref dir auto_dir = dir_ref(ctx, step->args->dir);

	return dir.fd < 0 ? dir.fd : try(symlinkat(step->args->value, dir.fd, step->args->name));
}

static int64_t step_sync_rename(struct replay_context *ctx, const struct step *step)
{
	const struct step_args *args = step->args;
	struct dir_ref from auto_dir = dir_ref(ctx, args->dir);
	struct dir_ref to auto_dir = dir_ref(ctx, args->dir2);

	if (from.fd < 0 || to.fd < 0)
		return from.fd < 0 ? from.fd : to.fd;
	if (try(renameat2(from.fd, args->name, to.fd, args->name2, step->flags)) < 0)
		return -errno;
	step_dirs_changed(ctx, step);
	return 0;
}

/* `path` is that of an open descriptor in /proc/self/fd. */
static int64_t link_path(struct replay_context *ctx, const struct step *step, const char *path)
{
	struct dir_ref to auto_dir = dir_ref(ctx, step->args->dir2);

	return to.fd < 0 ? to.fd
	                 : try(linkat(AT_FDCWD, path, to.fd, step->args->name2, AT_SYMLINK_FOLLOW));
}

/* A file that has no name, through the descriptor that is open on it: what O_TMPFILE is for. */
static int64_t link_handle(struct replay_context *ctx, const struct step *step)
{
	int fd = handle_of(ctx, step);
	char path[64];

	if (fd < 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return link_path(ctx, step, path);
}

/* The file by the name it has (dir, name), the new name beside it (dir2, name2). */
static int64_t step_sync_link(struct replay_context *ctx, const struct step *step)
{
	if (!by_path(step))
		return link_handle(ctx, step);
	const struct step_args *args = step->args;
	struct dir_ref from auto_dir = dir_ref(ctx, args->dir);
	struct dir_ref to auto_dir = dir_ref(ctx, args->dir2);

	if (from.fd < 0 || to.fd < 0)
		return from.fd < 0 ? from.fd : to.fd;
	return try(linkat(from.fd, args->name, to.fd, args->name2, 0));
}

static int64_t step_sync_open(struct replay_context *ctx, const struct step *step)
{
	return open_handle(ctx, step);
}

static int64_t step_sync_create(struct replay_context *ctx, const struct step *step)
{
	return open_handle(ctx, step);
}

static int64_t step_sync_tmpfile(struct replay_context *ctx, const struct step *step)
{
	return open_handle(ctx, step);
}

static int64_t step_sync_read(struct replay_context *ctx, const struct step *step)
{
	int fd = handle_of(ctx, step);

	if (step->size <= PAYLOAD_SIZE)
		return try(pread(fd, ctx->buffer, step->size, (off_t)step->offset));
	struct iovec iov[PAYLOAD_IOVS];
	unsigned n = payload_iov(ctx->buffer, step->size, iov);
	return try(preadv(fd, iov, (int)n, (off_t)step->offset));
}

const void *step_data(const struct replay_context *ctx, const struct step *step)
{
	if (step->data)
		return step->data;
	return payload_at(ctx->payload, (enum content)step->content, step->offset, step->size);
}

/* The last page of a file has any size, which O_DIRECT does not take: by a descriptor without it. */
static int64_t write_cached(struct replay_context *ctx, const struct step *step, int direct_fd)
{
	const void *data = step_data(ctx, step);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", direct_fd);
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	int64_t r = data ? try(pwrite(fd, data, step->size, (off_t)step->offset)) : -E2BIG;
	close(fd);
	return r;
}

static int64_t step_sync_write(struct replay_context *ctx, const struct step *step)
{
	int fd = handle_of(ctx, step);

	if ((step->bits & STEP_CACHED) && fd >= 0)
		return write_cached(ctx, step, fd);
	enum content content = (enum content)step->content;
	const void *data = step_data(ctx, step);

	if (data && !step->flags)
		return try(pwrite(fd, data, step->size, (off_t)step->offset));
	struct iovec iov[PAYLOAD_IOVS];
	unsigned n = 1;
	iov[0] = (struct iovec){(void *)(uintptr_t)data, step->size};
	if (!data)
		n = payload_iov(payload_pool(ctx->payload, content), step->size, iov);
	return try(pwritev2(fd, iov, (int)n, (off_t)step->offset, (int)step->flags));
}

/* Never compiled into a step: close() of the last descriptor, the release, does the same again. */
static int64_t step_sync_flush(struct replay_context *ctx, const struct step *step)
{
	return files_handle(ctx->files, step->handle) < 0 ? -EBADF : 0;
}

static int64_t step_sync_release(struct replay_context *ctx, const struct step *step)
{
	int fd = files_take_handle(ctx->files, step->handle);

	return fd < 0 ? fd : try(close(fd));
}

static int64_t step_sync_fsync(struct replay_context *ctx, const struct step *step)
{
	return try(fsync(handle_of(ctx, step)));
}

static int64_t step_sync_fdatasync(struct replay_context *ctx, const struct step *step)
{
	return try(fdatasync(handle_of(ctx, step)));
}

static int64_t step_sync_opendir(struct replay_context *ctx, const struct step *step)
{
	return open_handle(ctx, step);
}

static int64_t count_entries(const char *data, int64_t size)
{
	int64_t count = 0;

	for (int64_t at = 0; at < size; count++)
		at += ((const struct dirent64 *)(const void *)(data + at))->d_reclen;
	return count;
}

static int64_t step_sync_readdir(struct replay_context *ctx, const struct step *step)
{
	int fd = handle_of(ctx, step);

	if (step->offset == 0 && lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	int64_t r = try(getdents64(fd, ctx->buffer, min_u64(step->size, PAYLOAD_SIZE)));
	return r < 0 ? r : count_entries(ctx->buffer, r);
}

static int64_t step_sync_releasedir(struct replay_context *ctx, const struct step *step)
{
	return step_sync_release(ctx, step);
}

static int64_t step_sync_fsyncdir(struct replay_context *ctx, const struct step *step)
{
	return step->flags & 1 ? step_sync_fdatasync(ctx, step) : step_sync_fsync(ctx, step);
}

static int64_t step_sync_statfs(struct replay_context *ctx, const struct step *step)
{
	struct dir_ref dir auto_dir = dir_ref(ctx, step->args->dir);
	struct statfs st;

	return dir.fd < 0 ? dir.fd : try(fstatfs(dir.fd, &st));
}

/* A path for calls that take nothing better; the l*() calls do not follow its last component. */
struct proc_path {
	char text[300];
};

static const char *proc_path(struct proc_path *p, int dir_fd, const char *name)
{
	snprintf(p->text, sizeof(p->text), "/proc/self/fd/%d/%s", dir_fd, name);
	return p->text;
}

static int64_t step_sync_setxattr(struct replay_context *ctx, const struct step *step)
{
	const struct step_args *args = step->args;
	int flags = (int)step->flags & (XATTR_CREATE | XATTR_REPLACE);

	if (!by_path(step))
		return try(fsetxattr(handle_of(ctx, step), args->attribute, args->value,
			args->value_size, flags));
	struct dir_ref dir auto_dir = dir_ref(ctx, args->dir);
	struct proc_path path;
	if (dir.fd < 0)
		return dir.fd;
	return try(lsetxattr(proc_path(&path, dir.fd, args->name), args->attribute, args->value,
		args->value_size, flags));
}

static int64_t step_sync_getxattr(struct replay_context *ctx, const struct step *step)
{
	const struct step_args *args = step->args;
	size_t size = min_u64(step->size, PAYLOAD_SIZE);

	if (!by_path(step))
		return try(fgetxattr(handle_of(ctx, step), args->attribute, ctx->buffer, size));
	struct dir_ref dir auto_dir = dir_ref(ctx, args->dir);
	struct proc_path path;
	if (dir.fd < 0)
		return dir.fd;
	return try(lgetxattr(
		proc_path(&path, dir.fd, args->name), args->attribute, ctx->buffer, size));
}

static int64_t step_sync_listxattr(struct replay_context *ctx, const struct step *step)
{
	size_t size = min_u64(step->size, PAYLOAD_SIZE);

	if (!by_path(step))
		return try(flistxattr(handle_of(ctx, step), ctx->buffer, size));
	struct dir_ref dir auto_dir = dir_ref(ctx, step->args->dir);
	struct proc_path path;
	if (dir.fd < 0)
		return dir.fd;
	return try(llistxattr(proc_path(&path, dir.fd, step->args->name), ctx->buffer, size));
}

static int64_t step_sync_removexattr(struct replay_context *ctx, const struct step *step)
{
	if (!by_path(step))
		return try(fremovexattr(handle_of(ctx, step), step->args->attribute));
	struct dir_ref dir auto_dir = dir_ref(ctx, step->args->dir);
	struct proc_path path;
	if (dir.fd < 0)
		return dir.fd;
	return try(lremovexattr(proc_path(&path, dir.fd, step->args->name), step->args->attribute));
}

static int64_t step_sync_access(struct replay_context *ctx, const struct step *step)
{
	struct dir_ref dir auto_dir = dir_ref(ctx, step->args->dir);
	int mode = (int)step->args->mode & (R_OK | W_OK | X_OK);

	return dir.fd < 0 ? dir.fd
	                  : try(faccessat(dir.fd, step->args->name, mode, AT_SYMLINK_NOFOLLOW));
}

static struct flock step_flock(const struct step *step)
{
	return (struct flock){
		.l_type = (short)step->mode,
		.l_whence = SEEK_SET,
		.l_start = (off_t)step->offset,
		.l_len = (off_t)step->size,
	};
}

/*
 * Record locks belong to processes and all lanes are one process, so the replay takes those of open
 * files (F_OFD_*); the plan names one handle per owner.
 */
static int64_t step_sync_getlk(struct replay_context *ctx, const struct step *step)
{
	struct flock lock = step_flock(step);

	return try(fcntl(handle_of(ctx, step), F_OFD_GETLK, &lock));
}

/* Another's lock was in the way: it did not wait, or not to the end. */
static bool was_refused(const struct step *step)
{
	return step->expect == -EAGAIN || step->expect == -EACCES || step->expect == -EDEADLK ||
	       step->expect == -EINTR;
}

static bool is_refusal(int64_t result)
{
	return result == -EAGAIN || result == -EACCES;
}

/*
 * Try until the lock is granted, or refused, as it was in the capture. One that waits in the kernel
 * for a plan that has gone wrong could never be stopped.
 */
static int64_t until_as_captured(struct replay_context *ctx, const struct step *step,
	int64_t (*attempt)(int, const void *), const void *arg)
{
	int fd = handle_of(ctx, step);
	bool refused = was_refused(step);
	bool patient = !ctx->impatient && (refused || step->expect >= 0);
	int64_t r = attempt(fd, arg);
	uint64_t deadline = 0;

	while (patient && !interrupted() && (refused ? r == 0 : is_refusal(r))) {
		uint64_t now = now_ns();
		if (!deadline)
			deadline = now + (refused ? REFUSAL_PATIENCE_NS : LOCK_PATIENCE_NS);
		if (now > deadline)
			break;
		nanosleep(&(struct timespec){.tv_nsec = LOCK_POLL_NS}, NULL);
		r = attempt(fd, arg);
	}
	return refused && is_refusal(r) ? step->expect : r;
}

static int64_t attempt_record_lock(int fd, const void *arg)
{
	struct flock lock = *(const struct flock *)arg;

	return try(fcntl(fd, F_OFD_SETLK, &lock));
}

/*
 * Would the lock be refused? A refusal and the lock that caused it may have overlapped in the
 * capture, so that nothing orders them here. If the replay took a lock that the application did not
 * get, nobody would give it back.
 */
static int64_t ask_record_lock(int fd, const void *arg)
{
	struct flock lock = *(const struct flock *)arg;

	if (fcntl(fd, F_OFD_GETLK, &lock) < 0)
		return -errno;
	return lock.l_type == F_UNLCK ? 0 : -EAGAIN;
}

static int64_t step_sync_setlk(struct replay_context *ctx, const struct step *step)
{
	struct flock lock = step_flock(step);

	return until_as_captured(
		ctx, step, was_refused(step) ? ask_record_lock : attempt_record_lock, &lock);
}

static int64_t attempt_flock(int fd, const void *arg)
{
	return try(flock(fd, *(const int *)arg));
}

/* There is no question without taking it. */
static int64_t ask_flock(int fd, const void *arg)
{
	int64_t r = attempt_flock(fd, arg);

	if (r == 0)
		(void)flock(fd, LOCK_UN);
	return r;
}

static int64_t step_sync_flock(struct replay_context *ctx, const struct step *step)
{
	int how = step->mode | LOCK_NB;

	return until_as_captured(ctx, step, was_refused(step) ? ask_flock : attempt_flock, &how);
}

static int64_t step_sync_fallocate(struct replay_context *ctx, const struct step *step)
{
	return try(fallocate(
		handle_of(ctx, step), (int)step->flags, (off_t)step->offset, (off_t)step->size));
}

static int64_t step_sync_truncate(struct replay_context *ctx, const struct step *step)
{
	if (!by_path(step))
		return try(ftruncate(handle_of(ctx, step), (off_t)step->size));
	struct dir_ref dir auto_dir = dir_ref(ctx, step->args->dir);
	if (dir.fd < 0)
		return dir.fd;
	int fd = files_open_beneath(dir.fd, step->args->name, O_WRONLY | O_NONBLOCK, 0);
	if (fd < 0)
		return fd;
	int64_t r = try(ftruncate(fd, (off_t)step->size));
	close(fd);
	return r;
}

/* Kernels before 6.6 have no chmod that leaves links alone: look what it is, then go through /proc.
 */
static int64_t chmod_old_kernel(int dir_fd, const char *name, unsigned mode)
{
	int fd = files_open_beneath(dir_fd, name, O_PATH, 0);
	struct proc_path path;
	struct stat st;

	if (fd < 0)
		return fd;
	int64_t r = try(fstat(fd, &st));
	if (r == 0 && S_ISLNK(st.st_mode))
		r = -EOPNOTSUPP;
	snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", fd);
	if (r == 0)
		r = try(chmod(path.text, mode));
	close(fd);
	return r;
}

static int64_t step_sync_chmod(struct replay_context *ctx, const struct step *step)
{
	unsigned mode = step_mode(ctx, step);

	if (!by_path(step))
		return try(fchmod(handle_of(ctx, step), mode));
	struct dir_ref dir auto_dir = dir_ref(ctx, step->args->dir);
	if (dir.fd < 0)
		return dir.fd;
	int64_t r =
		try(syscall(SYS_fchmodat2, dir.fd, step->args->name, mode, AT_SYMLINK_NOFOLLOW));
	return r == -ENOSYS ? chmod_old_kernel(dir.fd, step->args->name, mode) : r;
}

static uint32_t owner_to_set(const struct replay_context *ctx, uint32_t id)
{
	return ctx->keep_owners ? id : UINT32_MAX;
}

/* Without keeping owners the call is made all the same: it touches the inode as much. */
static int64_t step_sync_chown(struct replay_context *ctx, const struct step *step)
{
	const struct step_args *args = step->args;
	uid_t uid = owner_to_set(ctx, args->uid);
	gid_t gid = owner_to_set(ctx, args->gid);

	if (!by_path(step))
		return try(fchown(handle_of(ctx, step), uid, gid));
	struct dir_ref dir auto_dir = dir_ref(ctx, args->dir);
	return dir.fd < 0 ? dir.fd
	                  : try(fchownat(dir.fd, args->name, uid, gid, AT_SYMLINK_NOFOLLOW));
}

static struct timespec time_to_set(uint64_t ns, bool set, bool now)
{
	if (!set)
		return (struct timespec){.tv_nsec = UTIME_OMIT};
	if (now)
		return (struct timespec){.tv_nsec = UTIME_NOW};
	return (struct timespec){(time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC)};
}

static const struct timespec *times_to_set(const struct step *step, struct timespec times[2])
{
	times[0] = time_to_set(step->args->atime, step->flags & 1, step->flags & 4);
	times[1] = time_to_set(step->args->mtime, step->flags & 2, step->flags & 8);
	return times;
}

static int64_t step_sync_utimens(struct replay_context *ctx, const struct step *step)
{
	const struct step_args *args = step->args;
	struct timespec times[2];

	times_to_set(step, times);
	if (!by_path(step))
		return try(futimens(handle_of(ctx, step), times));
	struct dir_ref dir auto_dir = dir_ref(ctx, args->dir);
	return dir.fd < 0 ? dir.fd : try(utimensat(dir.fd, args->name, times, AT_SYMLINK_NOFOLLOW));
}

static int64_t step_sync_copy_file_range(struct replay_context *ctx, const struct step *step)
{
	int from = handle_of(ctx, step), to = files_handle(ctx->files, step->args->handle2);
	off_t from_at = (off_t)step->offset, to_at = (off_t)step->args->offset2;

	return try(copy_file_range(from, &from_at, to, &to_at, step->size, 0));
}

static int64_t step_sync_sync_file_range(struct replay_context *ctx, const struct step *step)
{
	return try(sync_file_range(
		handle_of(ctx, step), (off_t)step->offset, (off_t)step->size, step->flags));
}

static int64_t step_sync_fadvise(struct replay_context *ctx, const struct step *step)
{
	return -posix_fadvise(
		handle_of(ctx, step), (off_t)step->offset, (off_t)step->size, step->mode);
}

static int64_t step_sync_readahead(struct replay_context *ctx, const struct step *step)
{
	return try(readahead(handle_of(ctx, step), (off_t)step->offset, step->size));
}

static int64_t step_sync_syncfs(struct replay_context *ctx, const struct step *step)
{
	return try(syncfs(handle_of(ctx, step)));
}

/* The application meant the whole machine; a replay has no business outside its target. */
static int64_t step_sync_sync(struct replay_context *ctx, const struct step *step)
{
	struct dir_ref dir auto_dir = dir_ref(ctx, step->args->dir);

	if (dir.fd < 0)
		return dir.fd;
	/* The descriptor of a directory is only a place, which cannot be synced. */
	int fd = files_open_beneath(dir.fd, ".", O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return fd;
	int64_t r = try(syncfs(fd));
	close(fd);
	return r;
}

/* Not a call: record_step() takes the time. */
static int64_t step_sync_phase(struct replay_context *ctx, const struct step *step)
{
	return 0;
}

/* Other notes are never compiled into a step. */
#define NOTE(name)                                                                                 \
	static int64_t step_sync_##name(struct replay_context *ctx, const struct step *step)       \
	{                                                                                          \
		return -ENOSYS;                                                                    \
	}
NOTE(mmap)
NOTE(munmap)
NOTE(msync)
NOTE(madvise)
NOTE(rwf)
NOTE(batch)
NOTE(request)
NOTE(fork)
NOTE(exec)
NOTE(exit)
#undef NOTE

static int64_t step_sync_lseek(struct replay_context *ctx, const struct step *step)
{
	return try(lseek(handle_of(ctx, step), (off_t)step->offset, step->mode));
}

/* Only questions: what an ioctl may change goes far beyond one file. */
static int64_t step_sync_ioctl(struct replay_context *ctx, const struct step *step)
{
	switch (step->args->command) {
	case FS_IOC_GETFLAGS:
	case FS_IOC_FSGETXATTR:
	case FS_IOC_GETVERSION:
		return try(ioctl(handle_of(ctx, step), step->args->command, ctx->buffer));
	}
	return -ENOTTY;
}

/* ---- files without a name ---- */

/* Before a call takes the file's last name: a descriptor by which it can be reached afterwards. */
static void keep_file(struct replay_context *ctx, const struct step *step)
{
	const struct step_args *args = step->args;
	bool replaced = step->op == OP_rename;
	struct dir_ref dir auto_dir = dir_ref(ctx, replaced ? args->dir2 : args->dir);

	if (dir.fd < 0)
		return;
	int fd = files_open_beneath(dir.fd, replaced ? args->name2 : args->name, O_PATH, 0);
	if (fd >= 0)
		files_set_handle(ctx->files, step->handle, fd);
}

/* The path of an open descriptor leads to the very file, and nowhere else. */
static int64_t open_kept(struct replay_context *ctx, const struct step *step, const char *path)
{
	int flags = step->op == OP_opendir ? O_RDONLY | O_DIRECTORY : step_open_flags(ctx, step);
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	files_set_handle(ctx->files, step->args->handle2, fd);
	return 0;
}

static int64_t kept_attribute(struct replay_context *ctx, const struct step *step, const char *path)
{
	const struct step_args *args = step->args;
	size_t size = min_u64(step->size, PAYLOAD_SIZE);
	int flags = (int)step->flags & (XATTR_CREATE | XATTR_REPLACE);

	if (step->op == OP_setxattr)
		return try(setxattr(path, args->attribute, args->value, args->value_size, flags));
	if (step->op == OP_getxattr)
		return try(getxattr(path, args->attribute, ctx->buffer, size));
	if (step->op == OP_removexattr)
		return try(removexattr(path, args->attribute));
	return try(listxattr(path, ctx->buffer, size));
}

static int64_t step_sync_kept(struct replay_context *ctx, const struct step *step)
{
	const struct step_args *args = step->args;
	int fd = handle_of(ctx, step);
	struct timespec times[2];
	struct stat st;
	char path[64];

	if (fd < 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (op_descs[step->op].class == CLASS_XATTR)
		return kept_attribute(ctx, step, path);
	if (step->op == OP_open || step->op == OP_opendir)
		return open_kept(ctx, step, path);
	if (step->op == OP_getattr)
		return try(fstat(fd, &st));
	if (step->op == OP_readlink)
		return try(readlinkat(fd, "", ctx->buffer, PAYLOAD_SIZE));
	if (step->op == OP_access)
		return try(access(path, (int)args->mode & (R_OK | W_OK | X_OK)));
	if (step->op == OP_truncate)
		return try(truncate(path, (off_t)step->size));
	if (step->op == OP_chmod)
		return try(chmod(path, step_mode(ctx, step)));
	if (step->op == OP_utimens)
		return try(utimensat(AT_FDCWD, path, times_to_set(step, times), 0));
	if (step->op == OP_chown)
		return try(chown(path, owner_to_set(ctx, args->uid), owner_to_set(ctx, args->gid)));
	return link_path(ctx, step, path);
}

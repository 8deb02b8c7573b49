/* SPDX-License-Identifier: MIT */
/* Attributes: stat, chmod, chown, times, truncate, extended attributes, flags. */
#include <errno.h>
#include <limits.h>
#include <linux/fs.h>
#include <string.h>

#include "clock.h"
#include "lower.h"
#include "ops.h"
#include "reply.h"

#define XATTR_MAX 65536

static void set_file(struct scope *rec, const struct inode *i, const struct handle *h)
{
	rec->ev.file = inode_id(i);
	rec->ev.handle = h ? h->id : 0;
}

static struct handle *handle_if_given(const struct fuse_file_info *fi)
{
	return fi ? handle_of(fi) : NULL;
}

static void reply_statx(struct scope *rec, int fd)
{
	struct statx stx;
	int r = fd < 0 ? fd : lower_statx(fd, STATX_BASIC_STATS | STATX_BTIME, &stx);

	if (r < 0) {
		reply_error(rec, r);
		return;
	}
	scope_result(rec, 0);
	kernel_reply_statx(rec->req, &stx, rec->worker->capture->timeout);
}

/*
 * To check permissions in a directory whose attributes it does not know, or no longer, the kernel
 * asks by itself, several times if threads meet in one that changed.
 */
static bool is_kernels_getattr(struct capture *c, struct inode *dir, uint32_t tid)
{
	char name[NAME_MAX + 1];

	inode_name(c->inodes, dir, name, sizeof(name));
	return !tasks_call_stats(c->tasks, tid, name[0] ? name : basename(c->path));
}

void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct capture *c = reply_capture(req);
	struct inode *i = inode_of(c->inodes, ino);
	struct stat st;

	RECORD(rec, req, getattr);
	set_file(&rec, i, handle_if_given(fi));
	bool changed = inode_take_changed(i);
	if ((changed || inode_is_dir(i)) && rec.on && is_kernels_getattr(c, i, rec.tid))
		scope_derived(&rec);
	auto_pin struct inode_pin pin = inode_pin(c->inodes, i);
	if (kernel_call()->is_statx) {
		reply_statx(&rec, pin.fd);
		return;
	}
	int r = pin.fd < 0 ? pin.fd : lower_stat(pin.fd, &st);
	if (r < 0)
		reply_error(&rec, r);
	else
		reply_attr(&rec, i, &st);
}

/* --- setattr: one call of the application each --- */

#define SET_TIMES                                                                                  \
	(FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_ATIME_NOW |                     \
		FUSE_SET_ATTR_MTIME_NOW)
#define SET_SOMETHING                                                                              \
	(SET_TIMES | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID | FUSE_SET_ATTR_MODE |                  \
		FUSE_SET_ATTR_SIZE)

static int cut(int path_fd, struct handle *h, off_t size)
{
	if (!h)
		return lower_truncate(path_fd, size);
	auto_use struct handle_use use = handle_use_any(h);
	return use.fd < 0 ? use.fd : lower_ftruncate(use.fd, size);
}

static int set_size(struct scope *rec, int path_fd, struct handle *h, off_t size)
{
	bool drop_set_id = kernel_call()->kill_suid;

	rec->ev.op = OP_truncate;
	rec->ev.size = (uint64_t)size;
	if (drop_set_id)
		caller_drop_fsetid();
	int r = cut(path_fd, h, size);
	if (drop_set_id)
		caller_regain_fsetid();
	return r;
}

static int set_owner(struct scope *rec, int path_fd, const struct stat *want, int valid)
{
	uid_t uid = valid & FUSE_SET_ATTR_UID ? want->st_uid : (uid_t)-1;
	gid_t gid = valid & FUSE_SET_ATTR_GID ? want->st_gid : (gid_t)-1;

	rec->ev.op = OP_chown;
	rec->ev.uid = uid;
	rec->ev.gid = gid;
	return lower_chown(path_fd, uid, gid);
}

/*
 * Nothing is to be set, but set-id bits go and the time of change moves; the kernel leaves it to us. It
 * is chown() to nobody, which not everyone may, so it is done as who asks; or the kernel by itself,
 * before it changes a file that the caller may write, such as by fallocate().
 */
static int touch_owner(struct scope *rec, int path_fd)
{
	struct caller as = reply_caller(rec->req);
	bool asked_for = tasks_call_changes_owner(rec->worker->capture->tasks, rec->tid);

	rec->ev.op = OP_chown;
	rec->ev.uid = (uid_t)-1;
	rec->ev.gid = (gid_t)-1;
	if (asked_for)
		caller_become(&as);
	else
		scope_derived(rec);
	int r = lower_chown(path_fd, (uid_t)-1, (gid_t)-1);
	caller_restore();
	return r;
}

static struct timespec time_to_set(struct timespec want, bool set, bool now)
{
	if (now)
		return (struct timespec){0, UTIME_NOW};
	return set ? want : (struct timespec){0, UTIME_OMIT};
}

static uint64_t time_ns(struct timespec t)
{
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

static int set_times(struct scope *rec, int path_fd, const struct stat *want, int valid)
{
	bool atime_now = valid & FUSE_SET_ATTR_ATIME_NOW,
	     mtime_now = valid & FUSE_SET_ATTR_MTIME_NOW;
	bool atime = atime_now || (valid & FUSE_SET_ATTR_ATIME);
	bool mtime = mtime_now || (valid & FUSE_SET_ATTR_MTIME);
	const struct timespec times[2] = {
		time_to_set(want->st_atim, atime, atime_now),
		time_to_set(want->st_mtim, mtime, mtime_now),
	};

	rec->ev.op = OP_utimens;
	rec->ev.atime = atime && !atime_now ? time_ns(want->st_atim) : 0;
	rec->ev.mtime = mtime && !mtime_now ? time_ns(want->st_mtim) : 0;
	rec->ev.flags =
		(atime ? 1 : 0) | (mtime ? 2 : 0) | (atime_now ? 4 : 0) | (mtime_now ? 8 : 0);
	return lower_set_times(path_fd, times);
}

/* The kernel sets one kind at a time, but for times beside others; the most telling names the
 * event, so it comes last. */
static int set_all(
	struct scope *rec, int path_fd, struct handle *h, const struct stat *want, int valid)
{
	int r = 0;

	if (!(valid & SET_SOMETHING))
		return touch_owner(rec, path_fd);
	if (valid & SET_TIMES)
		r = set_times(rec, path_fd, want, valid);
	if (!r && (valid & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)))
		r = set_owner(rec, path_fd, want, valid);
	if (!r && (valid & FUSE_SET_ATTR_MODE)) {
		rec->ev.op = OP_chmod;
		rec->ev.mode = want->st_mode & 07777;
		r = lower_chmod(path_fd, want->st_mode & 07777);
	}
	if (!r && (valid & FUSE_SET_ATTR_SIZE))
		r = set_size(rec, path_fd, h, want->st_size);
	return r;
}

void op_setattr(
	fuse_req_t req, fuse_ino_t ino, struct stat *want, int valid, struct fuse_file_info *fi)
{
	struct capture *c = reply_capture(req);
	struct inode *i = inode_of(c->inodes, ino);
	struct handle *h = handle_if_given(fi);
	struct stat st;

	RECORD(rec, req, utimens);
	set_file(&rec, i, h);
	auto_pin struct inode_pin pin = inode_pin(c->inodes, i);
	int r = pin.fd < 0 ? pin.fd : set_all(&rec, pin.fd, h, want, valid);
	if (!r)
		r = lower_stat(pin.fd, &st);
	if (r < 0)
		reply_error(&rec, r);
	else
		reply_attr(&rec, i, &st);
}

void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct capture *c = reply_capture(req);
	struct inode *i = inode_of(c->inodes, ino ? ino : 1);
	struct statvfs st;

	RECORD(rec, req, statfs);
	rec.ev.file = inode_id(i);
	auto_pin struct inode_pin pin = inode_pin(c->inodes, i);
	int r = pin.fd < 0 ? pin.fd : lower_statfs(pin.fd, &st);
	if (r < 0) {
		reply_error(&rec, r);
		return;
	}
	scope_result(&rec, 0);
	fuse_reply_statfs(req, &st);
}

/* --- extended attributes --- */

/* Questions the kernel asks by itself before it writes, executes or checks permission. */
static bool is_kernels_question(const char *name)
{
	return !strcmp(name, "security.capability") || !strncmp(name, "system.posix_acl_", 17);
}

static struct text name_text(const char *name)
{
	return (struct text){name, strlen(name)};
}

void op_setxattr(
	fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size, int flags)
{
	struct capture *c = reply_capture(req);
	struct inode *i = inode_of(c->inodes, ino);

	RECORD(rec, req, setxattr);
	rec.ev.file = inode_id(i);
	rec.ev.name = name_text(name);
	rec.ev.value = (struct text){value, size};
	rec.ev.flags = (unsigned)flags;
	auto_pin struct inode_pin pin = inode_pin(c->inodes, i);
	reply_error(&rec, pin.fd < 0 ? pin.fd : lower_set_xattr(pin.fd, name, value, size, flags));
}

void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	struct capture *c = reply_capture(req);
	struct inode *i = inode_of(c->inodes, ino);
	char *value = worker_self()->data;

	RECORD(rec, req, getxattr);
	rec.ev.file = inode_id(i);
	rec.ev.name = name_text(name);
	rec.ev.size = size;
	if (is_kernels_question(name))
		scope_derived(&rec);
	auto_pin struct inode_pin pin = inode_pin(c->inodes, i);
	ssize_t n = pin.fd < 0 ? pin.fd
	                       : lower_get_xattr(pin.fd, name, value, min_u64(size, XATTR_MAX));
	reply_xattr(&rec, value, n, size);
}

/* Without those that only root may see: the list below is made for this process. Bytes left. */
static ssize_t hide_trusted(char *names, ssize_t size)
{
	ssize_t kept = 0;

	for (ssize_t at = 0, len; at < size; at += len) {
		len = (ssize_t)strlen(names + at) + 1;
		if (!strncmp(names + at, "trusted.", 8))
			continue;
		memmove(names + kept, names + at, (size_t)len);
		kept += len;
	}
	return kept;
}

static ssize_t list_xattr(fuse_req_t req, int fd, char *names, size_t room)
{
	ssize_t n = lower_list_xattr(fd, names, XATTR_MAX);

	if (n > 0 && fuse_req_ctx(req)->uid != 0)
		n = hide_trusted(names, n);
	return room && n > (ssize_t)room ? -ERANGE : n;
}

void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct capture *c = reply_capture(req);
	struct inode *i = inode_of(c->inodes, ino);
	char *names = worker_self()->data;

	RECORD(rec, req, listxattr);
	rec.ev.file = inode_id(i);
	rec.ev.size = size;
	auto_pin struct inode_pin pin = inode_pin(c->inodes, i);
	ssize_t n = pin.fd < 0 ? pin.fd : list_xattr(req, pin.fd, names, size);
	reply_xattr(&rec, names, n, size);
}

void op_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	struct capture *c = reply_capture(req);
	struct inode *i = inode_of(c->inodes, ino);

	RECORD(rec, req, removexattr);
	rec.ev.file = inode_id(i);
	rec.ev.name = name_text(name);
	auto_pin struct inode_pin pin = inode_pin(c->inodes, i);
	reply_error(&rec, pin.fd < 0 ? pin.fd : lower_remove_xattr(pin.fd, name));
}

/* --- ioctl: the ones whose arguments are known --- */

static const struct ioctl_form {
	unsigned command;
	size_t in, out;
} ioctl_forms[] = {
	{FS_IOC_GETFLAGS, 0, sizeof(int)},
	{FS_IOC_SETFLAGS, sizeof(int), 0},
	{FS_IOC_GETVERSION, 0, sizeof(int)},
	{FS_IOC_FSGETXATTR, 0, sizeof(struct fsxattr)},
	{FS_IOC_FSSETXATTR, sizeof(struct fsxattr), 0},
};

static const struct ioctl_form *ioctl_form(unsigned command, size_t in, size_t out)
{
	for (size_t i = 0; i < ARRAY_SIZE(ioctl_forms); i++) {
		const struct ioctl_form *f = &ioctl_forms[i];
		if (f->command == command && in >= f->in && out >= f->out)
			return f;
	}
	return NULL;
}

void op_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned command, void *arg,
	struct fuse_file_info *fi, unsigned flags, const void *in, size_t in_size, size_t out_size)
{
	const struct ioctl_form *form = ioctl_form(command, in_size, out_size);
	struct handle *h = handle_of(fi);
	union {
		int flags;
		struct fsxattr fsx;
		char bytes[64];
	} value = {0};

	RECORD(rec, req, ioctl);
	set_file(&rec, h->inode, h);
	rec.ev.command = command;
	rec.ev.value = (struct text){in, in_size};
	if (!form || (flags & FUSE_IOCTL_COMPAT) || out_size > sizeof(value)) {
		reply_error(&rec, -ENOTTY);
		return;
	}
	memcpy(&value, in, form->in);
	auto_use struct handle_use use = handle_use_any(h);
	int r = use.fd < 0 ? use.fd : lower_ioctl(use.fd, command, &value);
	if (r < 0) {
		reply_error(&rec, r);
		return;
	}
	scope_result(&rec, r);
	fuse_reply_ioctl(req, r, &value, form->out ? out_size : 0);
}

/* SPDX-License-Identifier: MIT */
/* Names: look up, make, remove, rename. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lower.h"
#include "ops.h"
#include "phase.h"
#include "reply.h"

static struct text text_of(const char *s)
{
	return (struct text){s, strlen(s)};
}

/* Directory and name: what most events here begin with. */
static struct inode *set_place(struct scope *rec, fuse_ino_t parent, const char *name)
{
	struct inode *dir = inode_of(rec->worker->capture->inodes, parent);

	rec->ev.dir = inode_id(dir);
	rec->ev.name = text_of(name);
	return dir;
}

static void set_owner(struct scope *rec, mode_t mode, const struct caller *as)
{
	rec->ev.mode = mode & ~as->umask;
	rec->ev.uid = as->uid;
	rec->ev.gid = as->gid;
}

/* No file: a mark for the trace. */
static void mark_phase(fuse_req_t req, const char *phase)
{
	RECORD(rec, req, phase);
	rec.ev.name = text_of(phase);
	scope_result(&rec, 0);
	fuse_reply_err(req, ENOENT);
}

void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct capture *c = reply_capture(req);
	const char *phase = phase_name(name);
	struct inode *i;
	struct stat st;

	if (phase) {
		mark_phase(req, phase);
		return;
	}
	RECORD(rec, req, lookup);
	struct inode *dir = set_place(&rec, parent, name);
	int r = inode_lookup(c->inodes, dir, name, &i, &st);
	/* A step towards a call that comes as its own event; in vain, perhaps all there is. */
	rec.ev.event_flags |= !r ? EVENT_DERIVED : r == -ENOENT ? EVENT_STEP : 0;
	if (r < 0) {
		reply_error(&rec, r);
		return;
	}
	reply_entry(&rec, i, &st);
}

void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t count)
{
	struct capture *c = reply_capture(req);

	inode_forget(c->inodes, inode_of(c->inodes, ino), count);
	fuse_reply_none(req);
}

void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	struct capture *c = reply_capture(req);

	for (size_t i = 0; i < count; i++)
		inode_forget(c->inodes, inode_of(c->inodes, forgets[i].ino), forgets[i].nlookup);
	fuse_reply_none(req);
}

/* Does a link lead out of the mount? Absolute ones do unless they come back by its path. */
static bool escapes(const struct capture *c, const char *target)
{
	size_t len = strlen(c->path);

	return target[0] == '/' && !(!strncmp(target, c->path, len) && strchr("/", target[len]));
}

void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	struct capture *c = reply_capture(req);
	struct inode *i = inode_of(c->inodes, ino);
	char target[PATH_MAX + 1];

	RECORD(rec, req, readlink);
	rec.ev.file = inode_id(i);
	if (rec.on && !tasks_call_reads_link(c->tasks, rec.tid))
		scope_derived(&rec); /* a path leads through it */
	auto_pin struct inode_pin pin = inode_pin(c->inodes, i);
	ssize_t n = pin.fd < 0 ? pin.fd : lower_readlink(pin.fd, target, sizeof(target) - 1);
	if (n < 0) {
		reply_error(&rec, (int)n);
		return;
	}
	target[n] = 0;
	c->escapes += escapes(c, target);
	scope_result(&rec, n);
	fuse_reply_readlink(req, target);
}

/* Answer for something that was just made under a name. */
static void reply_made(struct scope *rec, int r, struct inode *dir, const char *name)
{
	struct inode *i;
	struct stat st;

	inode_changed(dir);
	if (!r)
		r = inode_lookup(rec->worker->capture->inodes, dir, name, &i, &st);
	if (r)
		reply_error(rec, r);
	else
		reply_entry(rec, i, &st);
}

void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev)
{
	struct capture *c = reply_capture(req);
	struct caller as = reply_caller(req);

	RECORD(rec, req, mknod);
	struct inode *dir = set_place(&rec, parent, name);
	set_owner(&rec, mode, &as);
	rec.ev.rdev = rdev;
	auto_pin struct inode_pin pin = inode_pin(c->inodes, dir);
	int r = pin.fd < 0 ? pin.fd : lower_mknod(pin.fd, name, mode, rdev, &as);
	reply_made(&rec, r, dir, name);
}

void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct capture *c = reply_capture(req);
	struct caller as = reply_caller(req);

	RECORD(rec, req, mkdir);
	struct inode *dir = set_place(&rec, parent, name);
	set_owner(&rec, mode, &as);
	auto_pin struct inode_pin pin = inode_pin(c->inodes, dir);
	int r = pin.fd < 0 ? pin.fd : lower_mkdir(pin.fd, name, mode, &as);
	reply_made(&rec, r, dir, name);
}

void op_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	struct capture *c = reply_capture(req);
	struct caller as = reply_caller(req);

	RECORD(rec, req, symlink);
	struct inode *dir = set_place(&rec, parent, name);
	set_owner(&rec, 0, &as);
	rec.ev.value = text_of(target);
	auto_pin struct inode_pin pin = inode_pin(c->inodes, dir);
	int r = pin.fd < 0 ? pin.fd : lower_symlink(target, pin.fd, name, &as);
	reply_made(&rec, r, dir, name);
}

typedef int remove_call(int dir, const char *name);

static void remove_name(struct scope *rec, struct inode *dir, const char *name, remove_call *remove)
{
	struct inode_table *t = rec->worker->capture->inodes;
	auto_pin struct inode_pin pin = inode_pin(t, dir);
	auto_name struct inode_name gone = inode_peek(t, dir, name);

	rec->ev.file = gone.id;
	int r = pin.fd < 0 ? pin.fd : remove(pin.fd, name);
	if (!r)
		inode_unlinked(&gone, dir, name);
	inode_changed(dir);
	reply_error(rec, r);
}

void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	RECORD(rec, req, unlink);
	remove_name(&rec, set_place(&rec, parent, name), name, lower_unlink);
}

void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	RECORD(rec, req, rmdir);
	remove_name(&rec, set_place(&rec, parent, name), name, lower_rmdir);
}

/* Of two descriptors or -errnos. */
static int first_error(int a, int b)
{
	return a < 0 ? a : b < 0 ? b : 0;
}

/* Keep the table's names true after a rename. */
static void follow_rename(struct inode *dir, const char *name, struct inode *dir2,
	const char *name2, unsigned flags, struct inode_name *from, struct inode_name *to)
{
	if (flags & RENAME_EXCHANGE)
		inode_renamed(to, dir, name);
	else if (to->id != from->id)
		inode_unlinked(to, dir2, name2);
	inode_renamed(from, dir2, name2);
}

void op_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t parent2,
	const char *name2, unsigned flags)
{
	struct capture *c = reply_capture(req);

	RECORD(rec, req, rename);
	struct inode *dir = set_place(&rec, parent, name);
	struct inode *dir2 = inode_of(c->inodes, parent2);
	rec.ev.dir2 = inode_id(dir2);
	rec.ev.name2 = text_of(name2);
	rec.ev.flags = flags;
	auto_pin struct inode_pin pin = inode_pin(c->inodes, dir);
	auto_pin struct inode_pin pin2 = inode_pin(c->inodes, dir2);
	auto_name struct inode_name from = inode_peek(c->inodes, dir, name);
	auto_name struct inode_name to = inode_peek(c->inodes, dir2, name2);
	rec.ev.file = from.id;
	rec.ev.file2 = to.id;
	int r = first_error(pin.fd, pin2.fd);
	if (!r)
		r = lower_rename(pin.fd, name, pin2.fd, name2, flags);
	/* Two names of one file: rename() does nothing and says so with success. */
	if (!r && (from.id != to.id || flags))
		follow_rename(dir, name, dir2, name2, flags, &from, &to);
	inode_changed(dir);
	inode_changed(dir2);
	reply_error(&rec, r);
}

void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
	struct capture *c = reply_capture(req);
	struct inode *i = inode_of(c->inodes, ino);

	RECORD(rec, req, link);
	rec.ev.file = inode_id(i);
	struct inode *dir = set_place(&rec, parent, name);
	auto_pin struct inode_pin pin = inode_pin(c->inodes, i);
	auto_pin struct inode_pin dir_pin = inode_pin(c->inodes, dir);
	int r = first_error(pin.fd, dir_pin.fd);
	if (!r)
		r = lower_link(pin.fd, dir_pin.fd, name);
	if (!r)
		inode_linked(c->inodes, i, dir, name);
	reply_made(&rec, r, dir, name);
}

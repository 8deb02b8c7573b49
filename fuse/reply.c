/* SPDX-License-Identifier: MIT */
#include "reply.h"

#include <errno.h>

#include "caller.h"
#include "lower.h"

struct capture *reply_capture(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

struct caller reply_caller(fuse_req_t req)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);

	return (struct caller){ctx->uid, ctx->gid, ctx->umask};
}

/* Our descriptors are as many as the mount can have open, not the caller's own: those it has. */
void reply_error(struct scope *rec, int r)
{
	if (r == -EMFILE)
		r = -ENFILE;
	if (!rec->done)
		scope_result(rec, r);
	fuse_reply_err(rec->req, r < 0 ? -r : 0);
}

void reply_lost_set_id(struct capture *c, struct inode *i, int fd)
{
	struct stat st;

	if (lower_stat(fd, &st) < 0)
		return;
	inode_saw_mode(i, st.st_mode);
	fuse_lowlevel_notify_inval_inode(c->session, inode_number(c->inodes, i), -1, 0);
}

struct fuse_entry_param reply_entry_param(
	const struct capture *c, struct inode *i, const struct stat *st)
{
	return (struct fuse_entry_param){
		.ino = inode_number(c->inodes, i),
		.generation = 1,
		.attr = *st,
		.attr_timeout = c->timeout,
		.entry_timeout = c->timeout,
	};
}

void reply_entry(struct scope *rec, struct inode *i, const struct stat *st)
{
	struct capture *c = rec->worker->capture;
	struct fuse_entry_param e = reply_entry_param(c, i, st);

	rec->ev.file = inode_id(i);
	scope_result(rec, 0);
	if (fuse_reply_entry(rec->req, &e) == -ENOENT)
		inode_forget(c->inodes, i, 1);
}

void reply_attr(struct scope *rec, struct inode *i, const struct stat *st)
{
	inode_saw_mode(i, st->st_mode);
	scope_result(rec, 0);
	fuse_reply_attr(rec->req, st, rec->worker->capture->timeout);
}

void reply_data(struct scope *rec, const void *data, ssize_t size)
{
	scope_result(rec, size);
	if (size < 0)
		fuse_reply_err(rec->req, (int)-size);
	else
		fuse_reply_buf(rec->req, data, (size_t)size);
}

void reply_count(struct scope *rec, ssize_t count)
{
	scope_result(rec, count);
	if (count < 0)
		fuse_reply_err(rec->req, (int)-count);
	else
		fuse_reply_write(rec->req, (size_t)count);
}

void reply_xattr(struct scope *rec, const void *value, ssize_t size, size_t room)
{
	scope_result(rec, size);
	if (size < 0)
		fuse_reply_err(rec->req, (int)-size);
	else if (!room)
		fuse_reply_xattr(rec->req, (size_t)size);
	else
		fuse_reply_buf(rec->req, value, (size_t)size);
}

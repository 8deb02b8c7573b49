/* SPDX-License-Identifier: MIT */
/* Data of open files: read, write, make durable, allocate, copy, seek. */
#include <errno.h>
#include <fcntl.h>

#include "caller.h"
#include "lower.h"
#include "ops.h"
#include "reply.h"

static void set_handle(struct scope *rec, const struct handle *h)
{
	rec->ev.file = inode_id(h->inode);
	rec->ev.handle = h->id;
}

/* The descriptor that serves this request: by the flags the file has now, not as it was opened. */
static struct handle_use data_fd(const struct capture *c, struct handle *h, int flags)
{
	bool direct = (flags & O_DIRECT) && !kernel_call()->from_cache && !c->strip_direct;

	return handle_use(h, direct);
}

void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
	struct capture *c = reply_capture(req);
	struct handle *h = handle_of(fi);
	char *data = worker_self()->data;

	RECORD(rec, req, read);
	set_handle(&rec, h);
	rec.ev.offset = (uint64_t)offset;
	rec.ev.size = size;
	rec.ev.flags = (unsigned)fi->flags;
	if (kernel_call()->from_cache)
		scope_derived(&rec);
	auto_use struct handle_use use = data_fd(c, h, fi->flags);
	reply_data(&rec, data, use.fd < 0 ? use.fd : lower_read(use.fd, data, size, offset));
}

/* New data is the caller's, also in what it may take: see caller_spend(). */
static void spend_as_caller(fuse_req_t req)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);

	caller_spend(ctx->uid, ctx->gid);
}

static ssize_t write_below(
	fuse_req_t req, struct handle *h, const char *data, size_t size, off_t offset, int flags)
{
	bool lose_set_id = kernel_call()->kill_suid && inode_has_set_id(h->inode);
	/* Others than root have no such right to drop. */
	bool drop_set_id = lose_set_id && fuse_req_ctx(req)->uid == 0;
	auto_use struct handle_use use = data_fd(reply_capture(req), h, flags);

	if (use.fd < 0)
		return use.fd;
	spend_as_caller(req);
	if (drop_set_id)
		caller_drop_fsetid();
	ssize_t r = lower_write(use.fd, data, size, offset, flags);
	if (drop_set_id)
		caller_regain_fsetid();
	if (lose_set_id)
		reply_lost_set_id(reply_capture(req), h->inode, use.fd);
	return r;
}

void op_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size, off_t offset,
	struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);

	RECORD(rec, req, write);
	set_handle(&rec, h);
	rec.ev.offset = (uint64_t)offset;
	rec.ev.size = size;
	rec.ev.flags = (unsigned)fi->flags;
	rec.data = data;
	rec.data_size = size;
	if (kernel_call()->from_cache)
		scope_derived(&rec);
	reply_count(&rec, write_below(req, h, data, size, offset, fi->flags));
}

void op_fsync(fuse_req_t req, fuse_ino_t ino, int data_only, struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);

	RECORD(rec, req, fsync);
	if (data_only)
		rec.ev.op = OP_fdatasync;
	set_handle(&rec, h);
	auto_use struct handle_use use = handle_use_any(h);
	reply_error(&rec, use.fd < 0 ? use.fd : lower_sync(use.fd, data_only));
}

void op_fsyncdir(fuse_req_t req, fuse_ino_t ino, int data_only, struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);

	RECORD(rec, req, fsyncdir);
	set_handle(&rec, h);
	rec.ev.flags = data_only ? 1 : 0;
	auto_use struct handle_use use = handle_use_any(h);
	reply_error(&rec, use.fd < 0 ? use.fd : lower_sync(use.fd, data_only));
}

void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset, off_t size,
	struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);

	RECORD(rec, req, fallocate);
	set_handle(&rec, h);
	rec.ev.flags = (unsigned)mode;
	rec.ev.offset = (uint64_t)offset;
	rec.ev.size = (uint64_t)size;
	spend_as_caller(req);
	auto_use struct handle_use use = handle_use_any(h);
	reply_error(&rec, use.fd < 0 ? use.fd : lower_fallocate(use.fd, mode, offset, size));
}

void op_copy_file_range(fuse_req_t req, fuse_ino_t ino, off_t offset, struct fuse_file_info *fi,
	fuse_ino_t ino2, off_t offset2, struct fuse_file_info *fi2, size_t size, int flags)
{
	struct handle *from = handle_of(fi), *to = handle_of(fi2);

	RECORD(rec, req, copy_file_range);
	set_handle(&rec, from);
	rec.ev.offset = (uint64_t)offset;
	rec.ev.file2 = inode_id(to->inode);
	rec.ev.handle2 = to->id;
	rec.ev.offset2 = (uint64_t)offset2;
	rec.ev.size = size;
	rec.ev.flags = (unsigned)flags;
	spend_as_caller(req);
	auto_use struct handle_use use = handle_use_any(from);
	auto_use struct handle_use use_to = handle_use_any(to);
	ssize_t n = use.fd < 0 ? use.fd : use_to.fd;
	if (use.fd >= 0 && use_to.fd >= 0)
		n = lower_copy(use.fd, offset, use_to.fd, offset2, size, (unsigned)flags);
	scope_result(&rec, n);
	if (n < 0)
		fuse_reply_err(req, (int)-n);
	else
		kernel_reply_copied(req, (size_t)n);
}

void op_lseek(fuse_req_t req, fuse_ino_t ino, off_t offset, int whence, struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);

	RECORD(rec, req, lseek);
	set_handle(&rec, h);
	rec.ev.offset = (uint64_t)offset;
	rec.ev.mode = (unsigned)whence;
	auto_use struct handle_use use = handle_use_any(h);
	off_t r = use.fd < 0 ? use.fd : lower_seek(use.fd, offset, whence);
	scope_result(&rec, r);
	if (r < 0)
		fuse_reply_err(req, (int)-r);
	else
		fuse_reply_lseek(req, r);
}

/* SPDX-License-Identifier: MIT */
/*
 * Requests that libfuse 3.14 does not know are given to a handler it does know, by changing the
 * opcode before it looks: TMPFILE has CREATE's arguments and answer, STATX begins like GETATTR,
 * COPY_FILE_RANGE_64 is COPY_FILE_RANGE with a wider answer. The handler asks kernel_call() which
 * one it was and answers with the kernel's own struct. So dispatch, interrupts and lifetimes stay
 * libfuse's.
 */
#include "kernel.h"

#include <errno.h>
#include <linux/fuse.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "vec.h"

/* Newer than the oldest <linux/fuse.h> we build with. */
#define CALL_TMPFILE            51
#define CALL_STATX              52
#define CALL_COPY_FILE_RANGE_64 53
#define INIT_ALLOW_MMAP         (UINT64_C(1) << 36)
#define INIT_KILLPRIV_V2        (UINT64_C(1) << 28)
#define INIT_EXTENDED           (UINT64_C(1) << 30)
#define OPEN_DIRECT_IO          (1u << 0)
#define OPEN_PARALLEL_WRITES    (1u << 6)
#define PARALLEL_WRITES_MINOR   38

#define PAGE       4096
#define HEADER_MAX 4096 /* libfuse reads this much more than the largest payload */
#define MAX_DATA   (256 * PAGE)
#define WRITE_HEAD (sizeof(struct fuse_in_header) + sizeof(struct fuse_write_in))

struct kernel_statx_time {
	int64_t sec;
	uint32_t nsec, reserved;
};

struct kernel_statx_out {
	uint64_t attr_valid;
	uint32_t attr_valid_nsec, flags;
	uint64_t spare[2];
	struct {
		uint32_t mask, blksize;
		uint64_t attributes;
		uint32_t nlink, uid, gid;
		uint16_t mode, spare0;
		uint64_t ino, size, blocks, attributes_mask;
		struct kernel_statx_time atime, btime, ctime, mtime;
		uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
		uint64_t spare2[14];
	} stat;
};
_Static_assert(sizeof(struct kernel_statx_out) == 32 + 256, "the kernel's struct fuse_statx_out");

static _Thread_local struct kernel_call current;

static void see_init(struct kernel *k, const struct fuse_in_header *in)
{
	const struct fuse_init_in *init = (const void *)(in + 1);
	uint64_t offered = init->flags;

	if (init->flags & INIT_EXTENDED)
		offered |= (uint64_t)init->flags2 << 32;
	k->allow_mmap = offered & INIT_ALLOW_MMAP;
	k->kill_privileges = offered & INIT_KILLPRIV_V2;
	k->parallel_writes = init->minor >= PARALLEL_WRITES_MINOR;
	k->init_unique = in->unique;
}

static void see_write(const struct fuse_write_in *write)
{
	current.kill_suid = write->write_flags & FUSE_WRITE_KILL_SUIDGID;
	current.from_cache = write->write_flags & FUSE_WRITE_CACHE;
}

static void see_read(const struct fuse_read_in *read_in)
{
	/* A read() on direct I/O always names the lock owner; filling the page cache never does. */
	current.from_cache = !(read_in->read_flags & FUSE_READ_LOCKOWNER);
}

static void see_request(struct kernel *k, struct fuse_in_header *in)
{
	const void *args = in + 1;

	current = (struct kernel_call){0};
	switch (in->opcode) {
	case FUSE_INIT:
		see_init(k, in);
		break;
	case FUSE_WRITE:
		see_write(args);
		break;
	case FUSE_READ:
		see_read(args);
		break;
	case FUSE_OPEN:
		current.kill_suid =
			((const struct fuse_open_in *)args)->open_flags & FUSE_OPEN_KILL_SUIDGID;
		break;
	case FUSE_SETATTR:
		current.kill_suid =
			((const struct fuse_setattr_in *)args)->valid & FATTR_KILL_SUIDGID;
		break;
	case FUSE_FLUSH:
		current.owner = ((const struct fuse_flush_in *)args)->lock_owner;
		break;
	case CALL_TMPFILE:
		current.is_tmpfile = true;
		in->opcode = FUSE_CREATE;
		break;
	case CALL_STATX:
		current.is_statx = true;
		in->opcode = FUSE_GETATTR;
		break;
	case CALL_COPY_FILE_RANGE_64:
		current.wide_copy = true;
		in->opcode = FUSE_COPY_FILE_RANGE;
		break;
	}
}

static ssize_t read_request(int fd, void *buf, size_t size, void *userdata)
{
	ssize_t n = read(fd, buf, size);

	if (n >= (ssize_t)sizeof(struct fuse_in_header))
		see_request(userdata, buf);
	return n;
}

static void patch_init_reply(const struct kernel *k, struct fuse_init_out *out)
{
	uint64_t flags = INIT_EXTENDED;

	if (k->allow_mmap)
		flags |= INIT_ALLOW_MMAP;
	if (k->kill_privileges)
		flags |= INIT_KILLPRIV_V2;
	out->flags |= (uint32_t)flags;
	out->flags2 |= (uint32_t)(flags >> 32);
}

static ssize_t write_reply(int fd, struct iovec *iov, int count, void *userdata)
{
	struct kernel *k = userdata;

	if (!k->init_done && count == 2 && iov[1].iov_len == sizeof(struct fuse_init_out)) {
		const struct fuse_out_header *out = iov[0].iov_base;
		if (out->unique == k->init_unique && !out->error) {
			patch_init_reply(k, iov[1].iov_base);
			k->init_done = true;
		}
	}
	return writev(fd, iov, count);
}

int kernel_attach(struct fuse_session *se)
{
	static const struct fuse_custom_io io = {.read = read_request, .writev = write_reply};

	return fuse_session_custom_io(se, &io, fuse_session_fd(se));
}

size_t kernel_max_data(void)
{
	return MAX_DATA;
}

bool kernel_buffer_init(struct kernel_buffer *b)
{
	if (posix_memalign(&b->base, PAGE, PAGE + MAX_DATA + HEADER_MAX)) {
		b->base = NULL;
		return false;
	}
	kernel_buffer_reset(b);
	return true;
}

void kernel_buffer_done(struct kernel_buffer *b)
{
	free(b->base);
	b->base = NULL;
}

void kernel_buffer_reset(struct kernel_buffer *b)
{
	b->buf = (struct fuse_buf){.mem = (char *)b->base + PAGE - WRITE_HEAD};
}

const struct kernel_call *kernel_call(void)
{
	return &current;
}

static struct fuse_open_out open_out(uint64_t fh, bool buffered)
{
	struct fuse_open_out out = {.fh = fh};

	if (!buffered)
		out.open_flags |= OPEN_DIRECT_IO | OPEN_PARALLEL_WRITES;
	return out;
}

int kernel_reply_open(fuse_req_t req, uint64_t fh, bool buffered)
{
	struct fuse_open_out out = open_out(fh, buffered);

	return fuse_reply_buf(req, (const char *)&out, sizeof(out));
}

static uint64_t whole_seconds(double s)
{
	return (uint64_t)s;
}

static uint32_t rest_nanoseconds(double s)
{
	return (uint32_t)((s - (double)(uint64_t)s) * 1e9);
}

static struct fuse_attr attr_of(const struct stat *st)
{
	return (struct fuse_attr){
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.blocks = (uint64_t)st->st_blocks,
		.atime = (uint64_t)st->st_atim.tv_sec,
		.mtime = (uint64_t)st->st_mtim.tv_sec,
		.ctime = (uint64_t)st->st_ctim.tv_sec,
		.atimensec = (uint32_t)st->st_atim.tv_nsec,
		.mtimensec = (uint32_t)st->st_mtim.tv_nsec,
		.ctimensec = (uint32_t)st->st_ctim.tv_nsec,
		.mode = st->st_mode,
		.nlink = (uint32_t)st->st_nlink,
		.uid = st->st_uid,
		.gid = st->st_gid,
		.rdev = (uint32_t)st->st_rdev,
		.blksize = (uint32_t)st->st_blksize,
	};
}

int kernel_reply_create(
	fuse_req_t req, const struct fuse_entry_param *e, uint64_t fh, bool buffered)
{
	struct {
		struct fuse_entry_out entry;
		struct fuse_open_out open;
	} out = {
		.entry.nodeid = e->ino,
		.entry.generation = e->generation,
		.entry.entry_valid = whole_seconds(e->entry_timeout),
		.entry.entry_valid_nsec = rest_nanoseconds(e->entry_timeout),
		.entry.attr_valid = whole_seconds(e->attr_timeout),
		.entry.attr_valid_nsec = rest_nanoseconds(e->attr_timeout),
		.entry.attr = attr_of(&e->attr),
		.open = open_out(fh, buffered),
	};

	return fuse_reply_buf(req, (const char *)&out, sizeof(out));
}

static struct kernel_statx_time statx_time(const struct statx_timestamp *t)
{
	return (struct kernel_statx_time){.sec = t->tv_sec, .nsec = t->tv_nsec};
}

int kernel_reply_statx(fuse_req_t req, const struct statx *stx, double timeout)
{
	struct kernel_statx_out out = {
		.attr_valid = whole_seconds(timeout),
		.attr_valid_nsec = rest_nanoseconds(timeout),
		.stat.mask = stx->stx_mask,
		.stat.blksize = stx->stx_blksize,
		.stat.attributes = stx->stx_attributes,
		.stat.nlink = stx->stx_nlink,
		.stat.uid = stx->stx_uid,
		.stat.gid = stx->stx_gid,
		.stat.mode = stx->stx_mode,
		.stat.ino = stx->stx_ino,
		.stat.size = stx->stx_size,
		.stat.blocks = stx->stx_blocks,
		.stat.attributes_mask = stx->stx_attributes_mask,
		.stat.atime = statx_time(&stx->stx_atime),
		.stat.btime = statx_time(&stx->stx_btime),
		.stat.ctime = statx_time(&stx->stx_ctime),
		.stat.mtime = statx_time(&stx->stx_mtime),
		.stat.rdev_major = stx->stx_rdev_major,
		.stat.rdev_minor = stx->stx_rdev_minor,
		.stat.dev_major = stx->stx_dev_major,
		.stat.dev_minor = stx->stx_dev_minor,
	};

	return fuse_reply_buf(req, (const char *)&out, sizeof(out));
}

int kernel_reply_copied(fuse_req_t req, size_t bytes)
{
	uint64_t out = bytes;

	if (!current.wide_copy)
		return fuse_reply_write(req, bytes);
	return fuse_reply_buf(req, (const char *)&out, sizeof(out));
}

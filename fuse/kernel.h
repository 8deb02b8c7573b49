/* SPDX-License-Identifier: MIT */
/*
 * What the kernel's FUSE protocol has and libfuse 3.14 does not offer, but lets through.
 *
 * Requests are seen raw before libfuse parses them and the INIT reply after it wrote it, through
 * fuse_session_custom_io(). All of it is the kernel's ABI, so it holds for every libfuse; what is
 * used is decided by the feature bits of the kernel's own INIT request. This is the only file that
 * knows <linux/fuse.h>.
 */
#ifndef KERNEL_H
#define KERNEL_H

#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>

#include "base.h"

/* Filled while INIT is answered; constant afterwards. */
struct kernel {
	bool allow_mmap;      /* MAP_SHARED works on direct I/O */
	bool parallel_writes; /* direct writes of one file are not serialised */
	bool kill_privileges; /* each write says whether it must clear set-id bits */
	uint64_t init_unique; /* the INIT request, while it is being answered */
	bool init_done;
};

/* What arrived, beyond what libfuse passes to the handler. Valid while the handler runs. */
struct kernel_call {
	bool is_tmpfile; /* arrived as TMPFILE, handled by the create handler */
	bool is_statx;   /* arrived as STATX, handled by the getattr handler */
	bool wide_copy;  /* COPY_FILE_RANGE that wants a 64-bit answer */
	bool kill_suid;  /* the caller may not keep set-id bits: WRITE, OPEN|O_TRUNC, SETATTR */
	bool from_cache; /* READ for, or WRITE from, the page cache: the kernel made it */
	uint64_t owner;  /* FLUSH: whose record locks end */
};

/*
 * Requests are read into memory laid out so that the data of a WRITE begins on a page: O_DIRECT
 * below works without a copy.
 */
struct kernel_buffer {
	void *base;
	struct fuse_buf buf;
};

/* Before the first request. The session's userdata must point at a struct kernel. */
int kernel_attach(struct fuse_session *se);
/* The largest piece of data in one READ or WRITE, in bytes. */
size_t kernel_max_data(void);

/* False when there is no memory. */
bool kernel_buffer_init(struct kernel_buffer *b);
void kernel_buffer_done(struct kernel_buffer *b);
/* Before every fuse_session_receive_buf(): libfuse writes over the descriptor. */
void kernel_buffer_reset(struct kernel_buffer *b);

/* The call this thread is handling. */
const struct kernel_call *kernel_call(void);

/*
 * Replies. Each returns what fuse_reply_buf() does: -ENOENT = the caller is gone. Open files do direct
 * I/O unless `buffered`; every close() is asked for, because it ends locks.
 */
int kernel_reply_open(fuse_req_t req, uint64_t fh, bool buffered);
int kernel_reply_create(
	fuse_req_t req, const struct fuse_entry_param *e, uint64_t fh, bool buffered);
int kernel_reply_statx(fuse_req_t req, const struct statx *stx, double timeout);
int kernel_reply_copied(fuse_req_t req, size_t bytes);

#endif

/* SPDX-License-Identifier: MIT */
/* What the handlers share: the mount's state, and each worker thread's own. Only fuse/ sees it. */
#ifndef SESSION_H
#define SESSION_H

#include <pthread.h>
#include <stdatomic.h>

#include "capture.h"
#include "claim.h"
#include "handle.h"
#include "inode.h"
#include "kernel.h"
#include "locks.h"
#include "opened.h"
#include "pieces.h"
#include "tasks.h"

struct capture {
	struct kernel kernel; /* first: libfuse's userdata is both */
	struct fuse_session *session;
	struct inode_table *inodes;
	struct handle_table *handles;
	struct locks *locks;
	struct tasks *tasks;
	struct opened *opened; /* NULL: nobody asks */
	struct pieces *pieces;
	struct trace_writer *writer; /* NULL: nothing is logged */
	struct pool *pool;
	char *path;         /* of the mount point */
	struct claim claim; /* on the source */
	double timeout;     /* of attributes and names in the kernel, seconds */
	bool strip_direct, keep_data;
	bool mounted;
	bool serving;      /* INIT has been answered */
	bool released;     /* unmounted already, because nobody used it */
	bool flush_below;  /* a close() can fail: the file system below wants to be told */
	uint64_t mount_id; /* 0 = not known */
	_Atomic uint64_t last_handle;
	_Atomic uint64_t requests, events, joined, escapes;
};

/* What a worker is at, for those who must know what may still be on its way. */
enum phase {
	PHASE_READING, /* waits for a request, as far as it knows itself */
	PHASE_FETCHED, /* has one, of any kind */
	PHASE_RELEASING,
	PHASE_OTHER,
};

/* One per worker thread. */
struct worker {
	struct capture *capture;
	_Atomic enum phase phase;
	struct trace_buffer *buffer; /* NULL: nothing is logged */
	char *data;                  /* page-aligned, kernel_max_data() long: what reads return */
};

/* The calling thread's; NULL in threads that are not workers. */
struct worker *worker_self(void);

extern const struct fuse_lowlevel_ops session_ops;

#endif

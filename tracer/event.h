/* SPDX-License-Identifier: MIT */
/*
 * One operation that a program made, in memory.
 *
 * Which of the argument slots mean something is in the operation's row (op_descs[op]); the others
 * are zero. File ids are small numbers given in order of appearance, never reused within a trace:
 * 1 is the root of the captured directory, 0 is "none". Handle ids likewise, one per open().
 */
#ifndef EVENT_H
#define EVENT_H

#include <stdio.h>

#include "op.h"

struct text {
	const char *data; /* not NUL-terminated */
	size_t size;
};

enum event_flags {
	EVENT_DERIVED = 1, /* the kernel made it by itself: shown, never replayed */
	EVENT_JOINED = 2,  /* one call that arrived in pieces, put together again */
	/* Only on the way into a trace: derived if the thread's next call makes the name (steps.h). */
	EVENT_STEP = 4,
	EVENT_RACED = 8, /* a read whose count the order of the trace does not explain */
};

struct event {
	enum op op;
	uint32_t thread; /* index into the trace's threads; 0 = the kernel */
	uint32_t event_flags;
	uint64_t start_ns; /* since the start of the trace: when the request arrived */
	uint64_t took_ns;  /* until its reply: the time of the call below */
	uint64_t cpu_ns; /* CPU time the thread used since its previous event began; 0 = unknown */
	int64_t result;  /* >= 0, or -errno */

	uint64_t file, file2, dir, dir2;
	uint64_t handle, handle2;
	uint64_t offset, offset2, size;
	uint64_t flags, mode, rdev, uid, gid;
	uint64_t atime, mtime;
	uint64_t owner, command;
	uint64_t content;
	uint64_t hash; /* written: of the data; read: a number, the same for the same data */
	uint64_t data; /* where what was written is stored (stash.h); 0 = it is not */
	struct text name, name2, value;
};

static inline uint64_t event_end_ns(const struct event *ev)
{
	return ev->start_ns + ev->took_ns;
}

/* The slot an argument descriptor points at. */
static inline uint64_t *event_number(const struct event *ev, const struct op_arg *arg)
{
	return (uint64_t *)((char *)(uintptr_t)ev + arg->at);
}

static inline struct text *event_text(const struct event *ev, const struct op_arg *arg)
{
	return (struct text *)((char *)(uintptr_t)ev + arg->at);
}

static inline bool arg_is_text(const struct op_arg *arg)
{
	return arg->kind == KIND_NAME || arg->kind == KIND_BYTES;
}

#endif

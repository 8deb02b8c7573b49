/* SPDX-License-Identifier: MIT */
/*
 * The scope of a handler that writes exactly one event, on every way out.
 *
 *	RECORD(rec, req, write);
 *	rec.ev.offset = ...;
 *	return reply_write(&rec, lower_write(...));
 *
 * scope_result() stamps the end just before the application is answered; what is costly (hashing
 * the data) is done when the scope is left, after the answer. Leaving the scope without a result
 * is a bug and stops the program. Without a log all of it does nothing.
 */
#ifndef SCOPE_H
#define SCOPE_H

#include "event.h"
#include "session.h"

struct scope {
	struct event ev;
	struct worker *worker;
	fuse_req_t req;
	uint32_t tid;
	bool on;          /* there is a log and the caller is the application */
	bool done;        /* has its result */
	bool looked;      /* the data have their class and number */
	const void *data; /* what was written: looked at after the reply */
	size_t data_size;
};

#define RECORD(name, request, operation)                                                           \
	struct scope name __attribute__((cleanup(scope_close)));                                   \
	scope_open(&name, request, OP_##operation)

void scope_open(struct scope *rec, fuse_req_t req, enum op op);
/* The call's result: bytes, a number, or -errno. Then reply. */
void scope_result(struct scope *rec, int64_t result);
void scope_close(struct scope *rec);
/* The result, and the event at once instead of when the scope is left. */
void scope_log(struct scope *rec, int64_t result);
/* Leave without an event. */
void scope_drop(struct scope *rec);

static inline void scope_derived(struct scope *rec)
{
	rec->ev.event_flags |= EVENT_DERIVED;
}

/*
 * An answer that is given later, perhaps by another thread: copy the scope, drop the original, and
 * take up the copy in the thread that answers, which ends it with scope_close().
 */
void scope_resume(struct scope *copy);

/* Write the calls whose last piece never came. */
void scope_leftovers(struct worker *w);

#endif

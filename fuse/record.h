/* SPDX-License-Identifier: MIT */
/*
 * The scope of a handler that writes exactly one event, on every way out.
 *
 *	RECORD(rec, req, write);
 *	rec.ev.offset = ...;
 *	return reply_write(&rec, lower_write(...));
 *
 * record_result() stamps the end just before the application is answered; what is costly (hashing
 * the data) is done when the scope is left, after the answer. Leaving the scope without a result
 * is a bug and stops the program. Without a log all of it does nothing.
 */
#ifndef RECORD_H
#define RECORD_H

#include "event.h"
#include "session.h"

struct record {
	struct event ev;
	struct worker *worker;
	fuse_req_t req;
	uint32_t tid;
	bool on;   /* there is a log and the caller is the application */
	bool done; /* has its result */
	const void *data; /* what was written: looked at after the reply */
	size_t data_size;
};

#define RECORD(name, request, operation)                                                           \
	struct record name __attribute__((cleanup(record_close)));                                 \
	record_open(&name, request, OP_##operation)

void record_open(struct record *rec, fuse_req_t req, enum op op);
/* The call's result: bytes, a number, or -errno. Then reply. */
void record_result(struct record *rec, int64_t result);
void record_close(struct record *rec);
/* Not an event after all (a kernel question that no program asked). */
void record_drop(struct record *rec);

static inline void record_derived(struct record *rec)
{
	rec->ev.event_flags |= EVENT_DERIVED;
}

/*
 * An answer that is given later, perhaps by another thread. The request's record goes into `later`
 * and this scope ends without an event.
 */
void record_defer(struct record *rec, struct record *later);
/* Take up a deferred record in the thread that answers; leave it with record_close(). */
void record_resume(struct record *later);

/* Write the calls whose last piece never came. */
void record_leftovers(struct worker *w);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The way of events from one thread that makes them to the one that writes them: a ring of bytes
 * with one producer and one consumer, and the stamp by which the consumer knows what may still come.
 */
#ifndef BUFFER_H
#define BUFFER_H

#include <stdatomic.h>

#include "event.h"
#include "optable.h"

#define BUFFER_SIZE (256u << 10)

/* Values of `pending` that are no time. */
#define PENDING_NONE  0 /* nothing is stamped */
#define PENDING_CLOCK 1 /* the clock is being read */

struct trace_buffer {
	struct trace_writer *writer;
	/* Producer's side. */
	_Alignas(64) _Atomic uint64_t head; /* bytes ever put */
	_Atomic uint64_t pending; /* the end that was stamped and whose event is not yet put */
	uint64_t seen_tail;
	/* Consumer's side. */
	_Alignas(64) _Atomic uint64_t tail; /* bytes ever taken */
	uint64_t at, limit;                 /* taken so far, and as far as it may go */
	uint64_t horizon_ns;                /* nothing that ended before this will come any more */
	uint64_t next_end_ns;               /* of the event at `at`, if at < limit */
	uint8_t *data;
};

void buffer_init(struct trace_buffer *b, struct trace_writer *w);
void buffer_done(struct trace_buffer *b);

/* Bytes the event needs in a buffer, or 0 if it is too large for one. */
size_t buffer_need(const struct event *ev);
/* Producer: room for `need` bytes? */
bool buffer_room(struct trace_buffer *b, size_t need);
/* Producer: copy it in; there is room. Returns the bytes in use now. */
size_t buffer_put(struct trace_buffer *b, const struct event *ev, size_t need);

/* Consumer: note how far the producer is, given the time now (absolute). Call for each buffer after
 * reading the clock, then the smallest horizon_ns holds for all. */
void buffer_look(struct trace_buffer *b, uint64_t now);
/* Consumer: take the event at `at`; its strings lie in the buffer until buffer_release(). */
void buffer_take(struct trace_buffer *b, struct event *ev);
/* Consumer: give what was taken back to the producer. */
void buffer_release(struct trace_buffer *b);

static inline bool buffer_empty(const struct trace_buffer *b)
{
	return b->at == b->limit;
}

#endif

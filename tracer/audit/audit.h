/* SPDX-License-Identifier: MIT */
/*
 * Is everything that was called in the trace? Two accounts of one run are laid side by side: the
 * system calls as the probe saw them in the kernel, and the events as the trace has them. Every
 * call must be explained by its events, or by a reason why it has none; every event by its call.
 *
 *	struct audit *a = audit_new(&options);
 *	audit_event(a, &ev, ...), audit_call(a, &record)   all of both, in the order of their ends
 *	audit_finish(a);
 *	audit_verdicts(), audit_fates(), audit_case()      what came out
 *
 * What joins the two is the thread and the time: a request of FUSE begins and ends while the call
 * that causes it is under way, and a thread makes one call at a time. Within such a window sizes,
 * offsets, handles, names and results must agree. Requests of io_uring and io_submit are carried
 * out by any thread at any time; they are joined by operation, handle, offset and size.
 *
 * Memory does not grow with the trace: an event is kept until its thread's next call has ended.
 */
#ifndef AUDIT_H
#define AUDIT_H

#include "audit-rules.h"
#include "event.h"
#include "probe-record.h"

struct audit;

/* What became of a call. */
enum audit_verdict {
	AUDIT_TRACED,    /* it is one event */
	AUDIT_MERGED,    /* it arrived in pieces that are one event */
	AUDIT_PIECES,    /* it is several events, which make it up together */
	AUDIT_CACHED,    /* the kernel knew the answer and did not ask */
	AUDIT_NOTHING,   /* there was nothing to do: no bytes, no change */
	AUDIT_REFUSED,   /* the kernel found the error by itself */
	AUDIT_UNFLUSHED, /* directories and special files have nothing to flush at a close */
	AUDIT_UNSEEN,    /* FUSE does not know of such calls */
	AUDIT_MISSING,   /* no event, and no reason for none: wrong */
	AUDIT_DIFFERENT, /* its event says something else: wrong */
	AUDIT_VERDICTS,
};

/* What an event was. */
enum audit_fate {
	AUDIT_CALLED,    /* a call, or a piece of one */
	AUDIT_BESIDE,    /* on the way of a call, or what its close ended: not the call itself */
	AUDIT_REQUESTED, /* a request of io_uring or io_submit */
	AUDIT_RELEASED,  /* the last close of a handle that was open */
	AUDIT_ENDED,     /* a process ended, and its descriptors and locks with it */
	AUDIT_DERIVED,   /* the kernel's own: page cache, steps of a path */
	AUDIT_OTHERS,    /* of a process that was not watched */
	AUDIT_STRAY,     /* nobody called it: wrong */
	AUDIT_FATES,
};

struct audit_options {
	uint32_t device;   /* of the mount, as the kernel writes it; see probe_device() */
	const char *dir;   /* where it is mounted, absolute, without links */
	uint64_t epoch_ns; /* time 0 of the trace on CLOCK_MONOTONIC */
	bool others;       /* processes that are not watched may use the mount */
};

struct audit *audit_new(const struct audit_options *options);
void audit_free(struct audit *a);

/* In the order of the trace. `thread` made it (NULL: the kernel). */
struct trace_thread;
void audit_event(struct audit *a, const struct event *ev, const struct trace_thread *thread);
/* On CLOCK_MONOTONIC. */
uint64_t audit_event_end_ns(const struct audit *a, const struct event *ev);
/* A record of any kind, when all events that ended before r->exit_ns have been given. */
void audit_call(struct audit *a, const struct probe_record *r);
/* There is no more. */
void audit_finish(struct audit *a);

/* May the record be about the mount? Others need not be kept for audit_call(). */
bool audit_concerns(const struct audit *a, const struct probe_record *r);

/* How many calls of audit_rules[rule] got each verdict: AUDIT_VERDICTS numbers. */
const uint64_t *audit_verdicts(const struct audit *a, size_t rule);
/* How many events of an operation had each fate: AUDIT_FATES numbers. */
const uint64_t *audit_fates(const struct audit *a, enum op op);
/* Calls and events that nothing explains. */
uint64_t audit_wrong(const struct audit *a);
/* The n-th of them in words, from 0; NULL when there are no more, or too many to keep. */
const char *audit_case(const struct audit *a, size_t n);

/* "in the trace as one event", ... */
const char *audit_verdict_text(enum audit_verdict verdict);
const char *audit_fate_text(enum audit_fate fate);

#endif

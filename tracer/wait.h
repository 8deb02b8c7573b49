/* SPDX-License-Identifier: MIT */
/*
 * What captured threads waited for, outside of the calls that the pass-through served: section EDGES.
 *
 * A wait says what its thread did since its wait before (or its start): for since_ns it was not
 * waiting, used cpu_ns of CPU time and was served_ns in calls of the pass-through; for the rest of
 * that time it was ready and had no CPU. Then it was blocked_ns until it was woken, by `cause`, and
 * queued_ns until it ran. The last of a thread has WAIT_END. So all of them add up to its life.
 */
#ifndef WAIT_H
#define WAIT_H

#include <stdio.h>

#include "bytes.h"

/* On disk: append only. */
enum wait_cause {
	WAIT_UNKNOWN = 0,
	WAIT_THREAD = 1,   /* another captured thread: `waker` */
	WAIT_TIMER = 2,    /* its time was over */
	WAIT_IO = 3,       /* the kernel: interrupts, its own threads, workers of io_uring */
	WAIT_EXTERNAL = 4, /* a process that is not captured, or the network */
	WAIT_END = 5,      /* no wait: the thread ended */
	WAIT_CAUSES,
};

struct trace_wait {
	uint64_t run_ns; /* since the start of the trace: it runs again */
	uint32_t thread; /* index into the trace's threads */
	uint32_t waker;  /* likewise; 0 = not a captured one */
	enum wait_cause cause;
	uint32_t call, waker_call; /* what each was in: Linux's number on x86-64 plus 1; 0 = none */
	uint64_t since_ns, cpu_ns, served_ns;
	uint64_t blocked_ns, queued_ns;
};

/* Append one; *last_ns is the run_ns of the one before, 0 at the start of a frame. */
void wait_encode(const struct trace_wait *w, uint64_t *last_ns, struct bytes *out);
/* False: malformed. */
bool wait_decode(struct cursor *c, uint64_t *last_ns, struct trace_wait *ret);

const char *wait_cause_name(enum wait_cause cause);
/* "futex"; of a call with no name here its number; "no call" for 0. */
struct wait_call_text {
	char at[24];
};
const char *wait_call_name(uint32_t call, struct wait_call_text *text);

struct trace_thread;
/* One line. `waker` may be NULL. */
void print_wait(FILE *out, const struct trace_wait *w, const struct trace_thread *thread,
	const struct trace_thread *waker);

#endif

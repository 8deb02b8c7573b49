/* SPDX-License-Identifier: MIT */
/*
 * How much of the CPU time between two calls is the application's own, and how much the capture's.
 *
 * What a request costs its caller was measured before the capture, in a loop whose code and data
 * stay in the caches. In the middle of an application the same request costs up to half as much
 * again. The trace itself tells: between some kinds of calls (two locks, two pieces of a record)
 * next to nothing happens, so the least that usually lies after a kind of call is what the capture
 * costs there. It is believed within [measured, 1.5 * measured] only, for an application may compute
 * after each of its calls.
 */
#ifndef THINK_H
#define THINK_H

#include "hist.h"
#include "op.h"

/* Zero is empty. Not thread-safe. */
struct think {
	struct hist *after[OP_LIMIT]; /* CPU time from a call's start to its thread's next one */
	uint64_t count;
};

void think_note(struct think *t, enum op call, uint64_t cpu_ns);
/* CPU time of a request to its caller, given what was measured; 0 stays 0. */
uint64_t think_call_cost(const struct think *t, uint64_t measured_ns);
/*
 * The same where a probe kept the time that the application used outside of its calls: what is left
 * is the way into and out of the kernel, which a replay makes as well, and the probe's own; at most
 * 1 us is believed.
 */
uint64_t think_residue(const struct think *t);
void think_done(struct think *t);

#endif

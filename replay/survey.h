/* SPDX-License-Identifier: MIT */
/*
 * The first pass over a trace: how much is there to do, and how many lanes does it take?
 *
 * A thread whose calls overlap (asynchronous I/O) needs as many lanes as it had calls in flight.
 * Threads that did not live at the same time share lanes, so a script that starts a thousand short
 * processes takes one lane, and its processes follow one another as they did.
 */
#ifndef SURVEY_H
#define SURVEY_H

#include "error.h"
#include "event.h"
#include "map.h"
#include "reader.h"
#include "think.h"
#include "vec.h"

/* The lanes of one thread, in use from its first call to its last. */
struct thread_lanes {
	uint64_t first_ns, last_ns;
	VEC(uint64_t) ends;  /* of the latest call in each of its lanes */
	VEC(uint32_t) lanes; /* of the plan; as many as `ends` had in the survey */
	uint64_t cpu_ns;     /* used by the plan: CPU time since its last step began */
	uint64_t carried;    /* bytes that its latest call read or wrote */
	enum op latest;      /* in the survey: its latest call; 0 = none yet */
};

struct survey {
	uint64_t events;
	uint64_t steps;                       /* events to replay */
	uint64_t derived;                     /* made by the kernel: not replayed */
	uint64_t mapped_read, mapped_written; /* bytes that went through mappings: replayed */
	uint64_t flushes;                     /* part of the release that follows: not replayed */
	uint64_t by_op[OP_LIMIT];             /* of the steps */
	uint64_t overlapped; /* calls made while another one of the same thread was under way */
	uint64_t direct;     /* reads and writes with O_DIRECT */
	struct map unlinked; /* files that lately lost a name */
	struct map
		orphans; /* those that were used by path after that: they may have no name any more */
	struct map cut; /* files that are emptied or given another size somewhere */
	bool knows_cpu; /* CPU times were captured */
	struct think think;
	uint32_t lane_count;
	VEC(struct thread_lanes) threads; /* by thread of the trace */
};

/* Reads all events; the reader is rewound before and after. */
int survey_trace(struct survey *ret, struct trace_reader *trace, struct error *err);
void survey_done(struct survey *s);

/* Is this event replayed at all? */
bool survey_is_step(const struct event *ev);
/* A read or write of pages of the file that a program had mapped: the kernel's call, the program's data. */
bool survey_is_mapped(const struct event *ev);
/* Which of its thread's lanes a call runs in: the first one that was free when it started. Events
 * must come in the order of the trace. Index into `lanes`. */
uint32_t survey_lane(struct thread_lanes *thread, const struct event *ev);
/* Forget the ends, to go through the trace again. */
void survey_restart(struct survey *s);

#endif

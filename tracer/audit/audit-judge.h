/* SPDX-License-Identifier: MIT */
/* Judging one call by the events that were made while it was under way. */
#ifndef AUDIT_JUDGE_H
#define AUDIT_JUDGE_H

#include "audit.h"

/* What the audit keeps of an event. */
struct audit_seen {
	enum op op;
	bool derived, joined;
	bool by_worker;            /* by a thread of the kernel for a process */
	bool used;                 /* it is the call that is being judged */
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
	uint32_t tid, tgid;        /* 0 = the kernel, not known */
	int64_t result;
	uint64_t handle, offset, size, flags;
	uint64_t name, name2; /* audit_name(); 0 = none */
};

/* One call, and what its thread did in the trace from its start to its end. */
struct audit_window {
	const struct audit_rule *rule;
	const struct probe_record *r;
	struct audit_seen *events;
	size_t count;
	/* The handle that the trace is known to use for a descriptor; 0 = not known yet. */
	uint64_t handle;
};

/* Marks the events that are the call. */
enum audit_verdict audit_judge(struct audit_window *w);

/* Is `e` one of `ops`, by whoever may carry out the request `r`, while that is under way? */
bool audit_is_meanwhile(uint64_t ops, const struct probe_record *r, const struct audit_seen *e);
/* Is `e` what an asynchronous request asked for? */
bool audit_is_request(const struct audit_rule *rule, const struct probe_record *r, uint64_t handle,
	const struct audit_seen *e);

/* Is `e` the next piece of a large one, of which `done` bytes have been found? */
bool audit_is_piece(const struct audit_rule *rule, const struct probe_record *r, uint64_t handle,
	uint64_t done, const struct audit_seen *e);
/* How many bytes all pieces have; 0 = not known, or none. */
uint64_t audit_request_bytes(const struct audit_rule *rule, const struct probe_record *r);

/* A number for a name: the last component of a path, or a name in an event. */
uint64_t audit_name(const char *name, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A part of the work in a process of its own: a crash there is an error here, its CPU time can be
 * told apart, and it never outlives the one that started it.
 */
#ifndef CHILD_H
#define CHILD_H

#include <sys/types.h>

#include "error.h"

struct child_shared;

struct child {
	pid_t pid;
	struct child_shared *shared;
	uint64_t cpu_ns; /* after child_wait(): user + system, its own waited-for children included
	                  */
};

/*
 * Memory that stays the same memory in children made afterwards; zeroed. Free with
 * shared_memory_free(). Out of memory aborts.
 */
void *shared_memory(size_t size);
void shared_memory_free(void *p, size_t size);

/*
 * Run work(arg) in a child, where signals have their default actions and `err` travels back.
 * The child is killed when the calling thread ends, however that happens.
 */
int child_start(
	struct child *ret, int (*work)(void *arg, struct error *err), void *arg, struct error *err);
/* Wait at most that long; true when it has ended, and child_wait() will not block. On SIGINT or
 * SIGTERM to this process it is killed. */
bool child_poll(const struct child *child, int timeout_ms);
/* Wait for it; on SIGINT or SIGTERM to this process it is killed. Returns what work() returned. */
int child_wait(struct child *child, struct error *err);
/* Kill and forget, without waiting for its result. Safe on a zeroed struct. */
void child_kill(struct child *child);

/* child_start() and child_wait(). ret_cpu_ns may be NULL. */
int child_run(int (*work)(void *arg, struct error *err), void *arg, uint64_t *ret_cpu_ns,
	struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Threads that make blocking calls for the loops of a ring. There are as many as calls were
 * outstanding at the same time, so a call that sleeps (on a lock that a later call frees) never
 * keeps another one from running.
 */
#ifndef POOL_H
#define POOL_H

#include "base.h"

struct pool;

/* A piece of work; the owner embeds it and keeps it until `run` was called. */
struct pool_task {
	struct pool_task *next;
	void (*run)(struct pool_task *task);
};

/* At most `limit` threads, none to begin with. */
struct pool *pool_new(unsigned limit);
/* Waits for work that is under way. */
void pool_free(struct pool *p);

/* Have task->run() called in a thread of the pool. False: there is none and none can be started.
 * Thread-safe. */
bool pool_run(struct pool *p, struct pool_task *task);

#endif

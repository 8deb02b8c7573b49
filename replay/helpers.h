/* SPDX-License-Identifier: MIT */
/*
 * Threads that make blocking calls for the loops of a ring. There are as many as calls were
 * outstanding at the same time, so a call that sleeps (on a lock that a later call frees) never
 * keeps another one from running.
 */
#ifndef HELPERS_H
#define HELPERS_H

#include "base.h"

struct helpers;

/* A piece of work; the owner embeds it and keeps it until `run` was called. */
struct work {
	struct work *next;
	void (*run)(struct work *self);
};

/* At most `limit` threads, none to begin with. */
struct helpers *helpers_new(unsigned limit);
/* Waits for work that is under way. */
void helpers_free(struct helpers *h);

/* Have work->run() called in one of them. False: there is none and none can be started.
 * Thread-safe. */
bool helpers_run(struct helpers *h, struct work *work);

#endif

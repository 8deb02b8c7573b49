/* SPDX-License-Identifier: MIT */
/* Several processes that work on the same data at once, as the clients of a database do. */
#ifndef CREW_H
#define CREW_H

#include "workload.h"

/* One client; it lives in shared memory, so the parent sees what it did. */
struct client {
	unsigned number; /* from 0 */
	const void *settings;
	const char *dir;
	uint64_t operations, failures;
	struct hist latency;
	int ready_fd, go_fd; /* crew.c only */
};

/* Called by each client when it has opened what it needs: all of them go on together. */
void crew_ready(struct client *self);

/*
 * Fork `count` clients that run work(); add up what they did. The elapsed time runs from before the
 * first fork until the last client has closed its files and ended. A trace has the phase "run" from
 * where they go on together. The first client that fails
 * stops the others, and its error is returned.
 */
int crew_run(uint64_t count, const void *settings, const char *dir,
	int (*work)(struct client *self, struct error *err), struct outcome *ret,
	struct error *err);

#endif

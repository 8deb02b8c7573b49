/* SPDX-License-Identifier: MIT */
/*
 * Processes that something we started leaves behind, however often they forked and whatever session
 * they went to: this process adopts them, so it can find and end them.
 */
#ifndef ORPHANS_H
#define ORPHANS_H

#include <sys/types.h>

#include "vec.h"

struct orphans {
	VEC(pid_t) older; /* children that were there before: none of our business */
};

/* From now on who loses its parent among our descendants becomes our child. */
void orphans_adopt(struct orphans *o);

/*
 * As waitpid(pid, status, 0), and meanwhile reap those of the adopted that end, as init would: a
 * server that finds its dead predecessor by its number must not take a zombie for a living process.
 */
pid_t orphans_wait(const struct orphans *o, pid_t pid, int *status);

/*
 * Kill all descendants of this process since then, but not process `spare` (0: none) and its own,
 * and reap those that are our children. How many there were; the first three go to `names` as
 * "name (pid), name (pid)" (NULL: not wanted).
 */
unsigned orphans_kill(const struct orphans *o, pid_t spare, char *names, size_t size);

/* No longer. */
void orphans_release(struct orphans *o);

#endif

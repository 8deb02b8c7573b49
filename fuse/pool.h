/* SPDX-License-Identifier: MIT */
/*
 * The threads that read requests and run their handlers. The pool starts small and grows whenever
 * the last idle thread takes a request, so that one client keeps a few warm threads and a hundred
 * concurrent fsyncs get a thread each.
 */
#ifndef POOL_H
#define POOL_H

#include "session.h"

struct pool;

/* Sets c->pool. `limit` of threads, 0 = the default. 0, or -errno if not a single one could start. */
int pool_start(struct capture *c, unsigned limit);
/* Wait until every thread waits for a request, for at most `timeout_ms`. */
void pool_settle(struct pool *p, unsigned timeout_ms);
/*
 * Wait until every release of a file that was sent before is done, for at most `timeout_ms`. A
 * close() returns before its release has been handled; what it gives up (flock) must be seen as
 * given up by the next call. From a worker, not about itself.
 */
void pool_settle_releases(struct pool *p, unsigned timeout_ms);
/* End all threads, unanswered requests and all, and free. Not from a worker. */
void pool_stop(struct pool *p);

#endif

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

/* `limit` 0 = the default. */
struct pool *pool_start(struct capture *c, unsigned limit);
/* Wait until every thread waits for a request, for at most `timeout_ms`. */
void pool_settle(struct pool *p, unsigned timeout_ms);
/*
 * True if a request that was queued before may still be on its way to a handler: a thread is inside
 * one, or has been given a request and not come to run yet.
 */
bool pool_in_flight(struct pool *p);
/* End all threads, unanswered requests and all, and free. Not from a worker. */
void pool_stop(struct pool *p);

#endif

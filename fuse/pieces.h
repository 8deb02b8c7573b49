/* SPDX-License-Identifier: MIT */
/*
 * Large reads and writes arrive in pieces of at most 1 MiB, one after the other. While a thread is
 * inside such a call its pieces are added up here, and the last one becomes the one event.
 */
#ifndef PIECES_H
#define PIECES_H

#include "event.h"

struct pieces;

struct trace_writer;

/* `writer` (may be NULL) joins the numbers of the pieces' data. */
struct pieces *pieces_new(struct trace_writer *writer);
void pieces_free(struct pieces *p);

/* Is any thread inside such a call? Cheap: asked at every request. */
bool pieces_any(const struct pieces *p);

/*
 * `ev` is what thread `tid` just read or wrote, in a call that asks for `call_size` bytes (0 = not
 * known, and then `ev` can only be the end of a call). True: more will come, `ev` is kept. False:
 * `ev` now stands for the whole call (EVENT_JOINED if it had pieces, from the start of the first;
 * took_ns is the caller's to set). A joined write has no hash.
 */
bool pieces_add(struct pieces *p, uint32_t tid, uint64_t call_size, struct event *ev);

/* What `tid` (0: anyone) left behind when its call was cut between two pieces, unless `next` (may
 * be NULL) continues it. */
bool pieces_take(struct pieces *p, uint32_t tid, const struct event *next, struct event *ret);

#endif

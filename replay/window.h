/* SPDX-License-Identifier: MIT */
/*
 * The part of the plan that is in memory: the steps from the oldest unfinished one to the newest
 * compiled one, in the order of the trace. So memory does not depend on the length of the trace.
 *
 * One thread takes steps out (window_next), any thread finishes them, in any order. A step and what
 * it points at stay where they are until it is finished.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include "plan.h"
#include "reader.h"

#define WINDOW_DEFAULT 16384 /* steps */

struct window;

/* The next step: 1; 0 at the end of the trace; -EAGAIN when the window is full (see
 * window_wait()); any other -errno is an error of the trace, set in err. */
int window_next(struct window *w, struct step **ret, struct error *err);

/* Sleep until a good part of a full window is finished. Only useful where other threads finish. */
void window_wait(struct window *w);

/* The step is done; it must not be touched any more. Thread-safe, no lock. */
void window_finish(struct window *w, struct step *step);

#endif

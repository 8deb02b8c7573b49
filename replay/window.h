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

#include "compile.h"

#define WINDOW_DEFAULT 16384 /* steps */

struct window;

/* `size` steps, a power of two. Compiles from `c`, which is borrowed. */
struct window *window_new(struct compiler *c, uint32_t size);
void window_free(struct window *w);

/* The next step: 1; 0 at the end of the trace; -EAGAIN when the window is full (see
 * window_wait()); any other -errno is an error of the trace, set in err. */
int window_next(struct window *w, struct step **ret, struct error *err);

/* Sleep until a good part of a full window is finished, or for a tenth of a second. Only useful where
 * other threads finish. */
void window_wait(struct window *w);

/* Are all steps that were taken out finished? */
bool window_idle(struct window *w);
/* Steps finished so far, counted in the order of the trace. */
uint64_t window_progress(const struct window *w);

/* A step's place, 0 .. size - 1, and back: for tables beside the window. A place belongs to another
 * step as soon as this one is finished, so nothing may be found through it after that. */
uint32_t window_index(const struct window *w, const struct step *step);
struct step *window_step(struct window *w, uint32_t place);
uint32_t window_size(const struct window *w);

/* The step is done; it must not be touched any more. Thread-safe, no lock. */
void window_finish(struct window *w, struct step *step);
/* The same by the thread that takes steps out, which cannot be asleep: a plain store. */
void window_finish_here(struct window *w, struct step *step);

#endif

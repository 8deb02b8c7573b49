/* SPDX-License-Identifier: MIT */
/*
 * First steps. A kernel that is asked to make a name looks it up first, and a pass-through gets that
 * look-up as a request like any other. Whether it was the program's own call shows only in what the
 * thread does next: if that makes the very name, the program asked once. So a look-up in vain comes
 * as EVENT_STEP, and is EVENT_DERIVED in the file if the thread's next call makes the name.
 *
 * Rows are numbers of events in the block that is being filled. Not thread-safe.
 */
#ifndef STEPS_H
#define STEPS_H

#include "event.h"

struct steps;

#define STEPS_NONE UINT32_MAX

struct steps *steps_new(void);
void steps_free(struct steps *s);

/*
 * Note the event of `row`. Returns the row of the look-up that turns out to have been its first
 * step, or STEPS_NONE.
 */
uint32_t steps_note(struct steps *s, const struct event *ev, uint32_t row);

/* The end of the newest look-up in vain if its thread's next call is still to come, else 0. */
uint64_t steps_open_ns(const struct steps *s);

/* The rows are gone: what is open stays a call of its own. */
void steps_clear(struct steps *s);

#endif

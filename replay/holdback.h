/* SPDX-License-Identifier: MIT */
/*
 * Putting calls that overlapped into the order that explains their results.
 *
 * The trace is in the order of ends. An unlock can end before an attempt that was refused because of
 * that very lock, a lock can be granted before the unlock that made room for it has ended, and an
 * attempt refused before the lock in its way is reported: the two overlapped, and one reply was faster.
 * Replayed in that order, the results would be others. So events that let go of a lock, and grants and
 * refusals that nothing explains yet, are held back for a moment, to let those that overlapped with them and explain them go first. What the same thread
 * does next is held behind them. Nothing else goes first that could tell the difference: other calls on
 * a file that is held, or with its handle.
 */
#ifndef HOLDBACK_H
#define HOLDBACK_H

#include "event.h"

#define HOLDBACK_MAX  16 /* events held at the same time */
#define HOLDBACK_LONG 64 /* events that may overtake one */

enum held_for {
	HELD_UNLOCK,  /* for attempts that were refused because of it */
	HELD_GRANT,   /* for the unlock that made room for it */
	HELD_REFUSED, /* an attempt, for the lock that was in its way */
	HELD_BEHIND,  /* behind one of the same thread */
};

/* Events with texts cannot be held: their memory is the reader's. */
struct held {
	struct event ev;
	uint64_t number; /* of the event in the trace */
	enum held_for why;
};

struct holdback {
	struct held at[HOLDBACK_MAX]; /* the oldest first */
	unsigned count;
};

/* False if there is no room, or if one for the same file is held already. */
bool holdback_keep(struct holdback *h, const struct event *ev, uint64_t number, enum held_for why);

/* Keep it behind what is held of its thread; false if there is nothing, or it cannot be. */
bool holdback_follow(struct holdback *h, const struct event *ev, uint64_t number);

/* Takes out one that must go before `next`, which is event `number`; NULL: all must, the trace has
 * ended. False if there is none. */
bool holdback_due(struct holdback *h, const struct event *next, uint64_t number, struct held *ret);

#endif

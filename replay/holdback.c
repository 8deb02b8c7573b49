/* SPDX-License-Identifier: MIT */
#include "holdback.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

bool holdback_keep(struct holdback *h, const struct event *ev, uint64_t number, enum held_for why)
{
	if (h->count == HOLDBACK_MAX)
		return false;
	for (unsigned i = 0; i < h->count; i++)
		if (h->at[i].ev.file == ev->file)
			return false;
	h->at[h->count++] = (struct held){*ev, number, why};
	return true;
}

static bool is_lock(enum op op)
{
	return op == OP_setlk || op == OP_flock;
}

static bool is_unlock(const struct event *ev)
{
	return ev->op == OP_setlk ? ev->mode == F_UNLCK : (ev->mode & LOCK_UN) != 0;
}

/* More unlocks, and what does not touch locks. A lock that it takes next has to stay where it is: it
 * may be the reason of the very next refusal. */
static bool can_follow(const struct event *ev)
{
	if (ev->op == OP_setlk)
		return ev->result >= 0 && is_unlock(ev);
	return ev->op == OP_read || ev->op == OP_write || ev->op == OP_fsync ||
	       ev->op == OP_fdatasync;
}

bool holdback_follow(struct holdback *h, const struct event *ev, uint64_t number)
{
	const struct held *before = NULL;

	for (unsigned i = 0; i < h->count; i++)
		if (h->at[i].ev.thread == ev->thread)
			before = &h->at[i];
	if (!before || before->why == HELD_GRANT || before->why == HELD_REFUSED ||
		!can_follow(ev) || h->count == HOLDBACK_MAX ||
		number - before->number > HOLDBACK_LONG)
		return false;
	h->at[h->count++] = (struct held){*ev, number, HELD_BEHIND};
	return true;
}

/* Both overlapped: does the one that ended later explain the other? */
static bool may_overtake(const struct held *held, const struct event *next)
{
	if (!is_lock(next->op) || next->start_ns >= event_end_ns(&held->ev))
		return false;
	switch (held->why) {
	case HELD_UNLOCK:
	case HELD_BEHIND:
		return next->result < 0;
	case HELD_GRANT:
		return next->result >= 0;
	case HELD_REFUSED:
		return next->result >= 0 && !is_unlock(next);
	}
	return false;
}

static bool must_precede(const struct held *held, const struct event *next, uint64_t number)
{
	const struct event *ev = &held->ev;

	if (number - held->number > HOLDBACK_LONG)
		return true;
	if (next->thread == ev->thread || next->handle == ev->handle)
		return true;
	return next->file == ev->file && !may_overtake(held, next);
}

/* The first one of a thread goes before those held behind it. */
static unsigned first_of_thread(const struct holdback *h, unsigned i)
{
	unsigned first = 0;

	while (h->at[first].ev.thread != h->at[i].ev.thread)
		first++;
	return first;
}

bool holdback_due(struct holdback *h, const struct event *next, uint64_t number, struct held *ret)
{
	for (unsigned i = 0; i < h->count; i++) {
		if (next && !must_precede(&h->at[i], next, number))
			continue;
		i = first_of_thread(h, i);
		*ret = h->at[i];
		h->count--;
		memmove(&h->at[i], &h->at[i + 1], (h->count - i) * sizeof(h->at[0]));
		return true;
	}
	return false;
}

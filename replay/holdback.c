/* SPDX-License-Identifier: MIT */
#include "holdback.h"

#include <string.h>

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

/* Both overlapped: does the one that ended later explain the other? */
static bool may_overtake(const struct held *held, const struct event *next)
{
	bool refused = next->result < 0;

	return refused == (held->why == HELD_UNLOCK) && next->start_ns < event_end_ns(&held->ev);
}

static bool must_precede(const struct held *held, const struct event *next, uint64_t number)
{
	const struct event *ev = &held->ev;

	if (number - held->number > HOLDBACK_LONG)
		return true;
	if (next->thread == ev->thread || next->handle == ev->handle)
		return true;
	return is_lock(next->op) && next->file == ev->file && !may_overtake(held, next);
}

bool holdback_due(struct holdback *h, const struct event *next, uint64_t number, struct held *ret)
{
	for (unsigned i = 0; i < h->count; i++) {
		if (next && !must_precede(&h->at[i], next, number))
			continue;
		*ret = h->at[i];
		h->count--;
		memmove(&h->at[i], &h->at[i + 1], (h->count - i) * sizeof(h->at[0]));
		return true;
	}
	return false;
}

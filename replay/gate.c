/* SPDX-License-Identifier: MIT */
/*
 * The usual step has no waiters: it costs a store and a load. Both sides write first and look then
 * (the waiter its need, the lane its progress), in one total order, so that at least one of them
 * sees the other and no waiter sleeps for ever.
 */
#include "gate.h"

void gate_init(struct gate *g)
{
	atomic_init(&g->progress, 0);
	atomic_init(&g->lowest, UINT32_MAX);
	pthread_mutex_init(&g->lock, NULL);
	g->waiters = NULL;
}

void gate_done(struct gate *g)
{
	pthread_mutex_destroy(&g->lock);
}

static uint32_t lowest_need(const struct gate *g)
{
	uint32_t lowest = UINT32_MAX;

	for (const struct gate_waiter *w = g->waiters; w; w = w->next)
		if (w->need < lowest)
			lowest = w->need;
	return lowest;
}

bool gate_wait(struct gate *g, struct gate_waiter *waiter, uint32_t need)
{
	if (atomic_load_explicit(&g->progress, memory_order_acquire) >= need)
		return false;
	waiter->need = need;
	pthread_mutex_lock(&g->lock);
	waiter->next = g->waiters;
	g->waiters = waiter;
	if (need < atomic_load(&g->lowest))
		atomic_store(&g->lowest, need);
	bool held = atomic_load(&g->progress) < need;
	if (!held) {
		g->waiters = waiter->next;
		atomic_store(&g->lowest, lowest_need(g));
	}
	pthread_mutex_unlock(&g->lock);
	return held;
}

static struct gate_waiter *let_go(struct gate *g, uint32_t progress)
{
	struct gate_waiter *gone = NULL, **at = &g->waiters;

	pthread_mutex_lock(&g->lock);
	while (*at) {
		struct gate_waiter *w = *at;
		if (w->need > progress) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		w->next = gone;
		gone = w;
	}
	atomic_store(&g->lowest, lowest_need(g));
	pthread_mutex_unlock(&g->lock);
	return gone;
}

struct gate_waiter *gate_advance(struct gate *g, uint32_t progress)
{
	atomic_store(&g->progress, progress);
	return atomic_load(&g->lowest) <= progress ? let_go(g, progress) : NULL;
}

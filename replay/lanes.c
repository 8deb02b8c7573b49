/* SPDX-License-Identifier: MIT */
/*
 * The lanes engine: a thread per lane that makes the same blocking calls as the application did.
 *
 *   caller's thread                            a lane's thread
 *   ---------------                            ---------------
 *   window_next() ── link step to its lane ──► take the next step
 *   (decode, compile)                          wait for other lanes   ◄── their wake-ups
 *   sleep while the window is full  ◄───────── call, record, publish progress, finish step
 *
 * The link goes through a table beside the window, by the step's place. It is good only while the step
 * has not been started, because a place is used again once its step is finished. So the caller pushes
 * places onto a stack per lane (the newest first), and a lane that has nothing left takes the whole
 * stack and turns it round.
 *
 * Happy path of a step, without locks and, but for the call itself, without system calls: the step is
 * linked already, its waits are fulfilled, the clock is read twice, and no one waits at its gate.
 *
 * Waiting for another lane goes through its gate (gate.h). A waiting lane sleeps on a word of its own;
 * the lane that lets it go copies its chain (record.h) and wakes it, after the gate's lock is free:
 * waking everyone on each step, or under the lock, costs ten times as much.
 *
 * Failure modes. A lane stalls only for a step that comes earlier in the trace and is in the window,
 * so there is no deadlock. A trace that turns out to be damaged, or an interrupt, sets `stop`: lanes
 * leave before their next step, sleepers are woken. A call that does not return holds up the run as
 * it would have held up the application.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "engine.h"
#include "futex.h"
#include "gate.h"
#include "interrupt.h"
#include "progress.h"
#include "vec.h"

#define NO_PLACE   UINT32_MAX
#define STACK_SIZE (256 << 10)
#define FEED_BATCH 512 /* steps fed before lanes are woken */

struct lanes;

struct lane {
	/* Written by the feeder, read by the lane. */
	_Atomic uint32_t incoming; /* places in the window, the newest first */
	_Atomic uint32_t bell;

	/* Written by the lane, read by others. */
	struct gate gate;
	_Atomic uint32_t hungry; /* it sleeps until `bell` rings: there are steps, or the end */

	/* Where it waits for another lane. */
	struct gate_waiter waiter __attribute__((aligned(64)));
	_Atomic uint32_t woken; /* the word it sleeps on */

	/* The lane's own. */
	struct replay_context context;
	struct record *record;
	struct lanes *all;
	pthread_t thread;
	uint32_t own; /* places taken over from `incoming`, the oldest first */
};

struct lanes {
	struct engine *engine;
	struct lane *at;
	uint32_t count;
	uint32_t *next;      /* by place in the window: the link of either list */
	_Atomic uint32_t go; /* the start signal */
	_Atomic bool closed, stop;
};

/* ---- waiting and waking ---- */

static void wake(struct lane *lane)
{
	atomic_store(&lane->woken, 1);
	futex_wake(&lane->woken, 1);
}

/* Those whom a finished step lets go start from the moment it ended. */
static void wake_waiters(const struct lane *lane, struct gate_waiter *waiters)
{
	while (waiters) {
		struct lane *other = container_of(waiters, struct lane, waiter);
		waiters = waiters->next; /* it is its owner's again once that is woken */
		record_inherit(other->record, &lane->record->chain);
		wake(other);
	}
}

static void wait_for(struct lane *lane, const struct wait *wait)
{
	struct lanes *all = lane->all;

	atomic_store_explicit(&lane->woken, 0, memory_order_relaxed);
	if (!gate_wait(&all->at[wait->lane].gate, &lane->waiter, wait->progress))
		return;
	while (!atomic_load(&lane->woken) && !atomic_load(&all->stop))
		futex_wait(&lane->woken, 0, NULL);
}

/* ---- the lane's thread ---- */

static bool has_steps(const struct lane *lane)
{
	return lane->own != NO_PLACE || atomic_load(&lane->incoming) != NO_PLACE;
}

static void take_over(struct lane *lane)
{
	uint32_t *next = lane->all->next;
	uint32_t place = atomic_exchange(&lane->incoming, NO_PLACE);

	while (place != NO_PLACE) {
		uint32_t older = next[place];
		next[place] = lane->own;
		lane->own = place;
		place = older;
	}
}

static void sleep_until_fed(struct lane *lane)
{
	uint32_t bell = atomic_load(&lane->bell);

	atomic_store(&lane->hungry, 1);
	if (!has_steps(lane) && !atomic_load(&lane->all->closed))
		futex_wait(&lane->bell, bell, NULL);
	atomic_store(&lane->hungry, 0);
}

/* The next step, or NULL at the end. */
static struct step *take(struct lane *lane)
{
	struct lanes *all = lane->all;

	while (lane->own == NO_PLACE) {
		bool closed = atomic_load(&all->closed);
		take_over(lane);
		if (lane->own != NO_PLACE)
			break;
		if (closed)
			return NULL;
		sleep_until_fed(lane);
	}
	uint32_t place = lane->own;
	lane->own = all->next[place];
	return window_step(all->engine->window, place);
}

static void run_step(struct lane *lane, struct step *step)
{
	uint32_t progress = step->progress;

	for (uint16_t i = 0; i < step->wait_count && !atomic_load(&lane->all->stop); i++)
		wait_for(lane, &step->waits[i]);
	if (atomic_load(&lane->all->stop)) /* its waiter may still be in a list */
		return;
	if (step->cpu_ns)
		record_think(lane->record, engine_think(step->cpu_ns));
	uint64_t start = now_ns();
	int64_t result = step_sync(&lane->context, step);
	record_step(lane->record, &lane->context, step, start, now_ns(), result);
	window_finish(lane->all->engine->window, step);
	wake_waiters(lane, gate_advance(&lane->gate, progress));
}

static void *lane_main(void *arg)
{
	struct lane *lane = arg;
	struct lanes *all = lane->all;
	struct step *step;

	while (!atomic_load(&all->go))
		futex_wait(&all->go, 0, NULL);
	record_start(lane->record, all->engine->started_ns);
	while (!atomic_load_explicit(&all->stop, memory_order_relaxed) && (step = take(lane)))
		run_step(lane, step);
	return NULL;
}

/* ---- feeding ---- */

static void ring_bell(struct lane *lane)
{
	atomic_fetch_add(&lane->bell, 1);
	futex_wake(&lane->bell, 1);
}

static void feed(struct lanes *all, struct step *step)
{
	struct lane *lane = &all->at[step->lane];
	uint32_t place = window_index(all->engine->window, step);
	uint32_t newest = atomic_load(&lane->incoming);

	do
		all->next[place] = newest;
	while (!atomic_compare_exchange_weak(&lane->incoming, &newest, place));
}

/*
 * Wake those that sleep and have steps now. Not after each step: where calls are shorter than
 * compiling them, lanes would be woken for one step at a time.
 */
static void ring_bells(struct lanes *all)
{
	for (uint32_t i = 0; i < all->count; i++) {
		struct lane *lane = &all->at[i];
		if (atomic_load(&lane->incoming) != NO_PLACE && atomic_exchange(&lane->hungry, 0))
			ring_bell(lane);
	}
}

/* Until the window is full: 1; 0 at the end of the trace; -errno. */
static int feed_some(struct lanes *all, struct error *err)
{
	struct step *step;
	unsigned fed = 0;
	int r;

	while ((r = window_next(all->engine->window, &step, err)) == 1) {
		feed(all, step);
		if (++fed % FEED_BATCH == 0)
			ring_bells(all);
	}
	ring_bells(all);
	return r == -EAGAIN ? 1 : r;
}

static void let_go(struct lanes *all)
{
	all->engine->started_ns = now_ns();
	atomic_store(&all->go, 1);
	futex_wake(&all->go, INT32_MAX);
}

/* No more steps will come; with `stop` those that are there do not matter either. */
static void close_lanes(struct lanes *all, bool stop)
{
	if (stop)
		atomic_store(&all->stop, true);
	atomic_store(&all->closed, true);
	for (uint32_t i = 0; i < all->count; i++) {
		ring_bell(&all->at[i]);
		if (stop) /* whoever waits at a gate sees that the run was stopped */
			wake(&all->at[i]);
	}
}

/* Feed to the end of the trace, then wait for the last step. 0 or -errno. */
static int feed_all(struct lanes *all, struct error *err)
{
	struct engine *e = all->engine;
	int r = feed_some(all, err);

	let_go(all);
	while (r == 1 || (r == 0 && !window_idle(e->window))) {
		if (interrupted())
			return error_set(err, EINTR, "interrupted");
		window_wait(e->window);
		progress_update(e->progress, window_progress(e->window));
		if (r == 1)
			r = feed_some(all, err);
	}
	return r;
}

static int start_lane(struct lanes *all, uint32_t i, const pthread_attr_t *attr, struct error *err)
{
	struct lane *lane = &all->at[i];

	lane->all = all;
	lane->record = all->engine->records[i];
	lane->own = NO_PLACE;
	atomic_init(&lane->incoming, NO_PLACE);
	gate_init(&lane->gate);
	engine_context(all->engine, &lane->context);
	int r = pthread_create(&lane->thread, attr, lane_main, lane);
	if (r != 0) {
		engine_context_done(&lane->context);
		return error_errno(
			err, r, "cannot start thread %u of %u", i + 1, all->engine->lane_count);
	}
	all->count++;
	return 0;
}

static int start_lanes(struct lanes *all, struct error *err)
{
	pthread_attr_t attr;
	int r = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	for (uint32_t i = 0; i < all->engine->lane_count && r == 0; i++)
		r = start_lane(all, i, &attr, err);
	pthread_attr_destroy(&attr);
	return r;
}

static void join_lanes(struct lanes *all)
{
	for (uint32_t i = 0; i < all->count; i++) {
		pthread_join(all->at[i].thread, NULL);
		engine_context_done(&all->at[i].context);
		gate_done(&all->at[i].gate);
	}
}

int engine_lanes(struct engine *e, struct error *err)
{
	struct lanes all = {.engine = e};

	all.at = xaligned(alignof(struct lane), e->lane_count * sizeof(struct lane));
	memset(all.at, 0, e->lane_count * sizeof(struct lane));
	all.next = ALLOC_ARRAY(uint32_t, window_size(e->window));
	int r = start_lanes(&all, err);
	if (r == 0)
		r = feed_all(&all, err);
	else
		let_go(&all);
	close_lanes(&all, r < 0);
	join_lanes(&all);
	free(all.next);
	free(all.at);
	return r;
}

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
 * linked already, its waits are fulfilled, the clock is read twice, progress is published, and no one
 * needs that progress (`need`).
 *
 * Waiting for another lane. A lane that must wait puts its waiter into the other's list, lowers the
 * other's `need` to the progress it waits for, looks once more, and sleeps on a word of its own. A
 * lane looks at its own `need` after it has published progress; only if that is reached it takes the
 * lock, unlinks those whose wait is over, drops the lock, and then for each of them copies its chain
 * (record.h) and wakes it. So a wake-up goes to whom it concerns, after the lock is free: waking
 * everyone on each step, or under the lock, costs ten times as much.
 *
 *   publisher: progress = p; look at need        waiter: need = q; look at progress
 *
 * Both sides store, then load, sequentially consistent: one of them sees the other.
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
#include "interrupt.h"
#include "progress.h"
#include "vec.h"

#define NOBODY     UINT32_MAX
#define NO_PLACE   UINT32_MAX
#define STACK_SIZE (256 << 10)
#define FEED_BATCH 512 /* steps fed before lanes are woken */

struct waiter {
	struct waiter *next;
	uint32_t progress;      /* it waits for this */
	_Atomic uint32_t woken; /* the word it sleeps on */
	struct chain chain;     /* of the lane that woke it */
};

struct lanes;

struct lane {
	/* Written by the feeder, read by the lane. */
	_Atomic uint32_t incoming; /* places in the window, the newest first */
	_Atomic uint32_t bell;

	/* Written by the lane, read by others. */
	_Atomic uint32_t progress __attribute__((aligned(64))); /* steps finished */
	_Atomic uint32_t hungry; /* it sleeps until `bell` rings: there are steps, or the end */

	/* Written by waiters. */
	_Atomic uint32_t need __attribute__((aligned(64))); /* the least progress waited for */
	pthread_mutex_t lock;
	struct waiter *waiters;

	/* The lane's own. */
	struct waiter self __attribute__((aligned(64)));
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

/* Unlink those whose wait is over; the lock is held. */
static struct waiter *unlink_ready(struct lane *lane, uint32_t progress)
{
	struct waiter *ready = NULL, **at = &lane->waiters;
	uint32_t need = NOBODY;

	while (*at) {
		struct waiter *w = *at;
		if (w->progress <= progress) {
			*at = w->next;
			w->next = ready;
			ready = w;
		} else {
			need = need < w->progress ? need : w->progress;
			at = &w->next;
		}
	}
	atomic_store(&lane->need, need);
	return ready;
}

static void wake_ready(struct lane *lane, uint32_t progress)
{
	pthread_mutex_lock(&lane->lock);
	struct waiter *ready = unlink_ready(lane, progress);
	pthread_mutex_unlock(&lane->lock);

	while (ready) {
		struct waiter *w = ready;
		ready = w->next; /* w is its owner's again once it is woken */
		w->chain = lane->record->chain;
		atomic_store(&w->woken, 1);
		futex_wake(&w->woken, 1);
	}
}

/* They will see that the run was stopped. */
static void wake_all(struct lane *lane)
{
	pthread_mutex_lock(&lane->lock);
	for (struct waiter *w = lane->waiters; w; w = w->next) {
		atomic_store(&w->woken, 1);
		futex_wake(&w->woken, 1);
	}
	pthread_mutex_unlock(&lane->lock);
}

/* True if it was not fulfilled yet and `waiter` is in the list now. */
static bool enlist(struct lane *lane, struct waiter *waiter, uint32_t progress)
{
	pthread_mutex_lock(&lane->lock);
	waiter->progress = progress;
	atomic_store(&waiter->woken, 0);
	waiter->next = lane->waiters;
	lane->waiters = waiter;
	if (progress < atomic_load(&lane->need))
		atomic_store(&lane->need, progress);
	bool waits = atomic_load(&lane->progress) < progress;
	if (!waits) { /* a publisher that saw our `need` will find nobody */
		lane->waiters = waiter->next;
		(void)unlink_ready(lane, 0); /* sets `need` again; nobody waits for 0 */
	}
	pthread_mutex_unlock(&lane->lock);
	return waits;
}

static void wait_for(struct lane *lane, const struct wait *wait)
{
	struct lane *other = &lane->all->at[wait->lane];

	if (atomic_load_explicit(&other->progress, memory_order_acquire) >= wait->progress)
		return;
	if (!enlist(other, &lane->self, wait->progress))
		return;
	while (!atomic_load(&lane->self.woken) && !atomic_load(&lane->all->stop))
		futex_wait(&lane->self.woken, 0, NULL);
	if (!atomic_load(&lane->all->stop))
		record_inherit(lane->record, &lane->self.chain);
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

	for (uint16_t i = 0; i < step->wait_count; i++)
		wait_for(lane, &step->waits[i]);
	if (atomic_load_explicit(&lane->all->stop, memory_order_relaxed))
		return;
	if (step->cpu_ns)
		record_think(lane->record, engine_think(step->cpu_ns));
	uint64_t start = now_ns();
	int64_t result = step_sync(&lane->context, step);
	record_step(lane->record, &lane->context, step, start, now_ns(), result);
	window_finish(lane->all->engine->window, step);
	atomic_store(&lane->progress, progress);
	if (atomic_load(&lane->need) <= progress)
		wake_ready(lane, progress);
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
		if (stop)
			wake_all(&all->at[i]);
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
	atomic_init(&lane->need, NOBODY);
	pthread_mutex_init(&lane->lock, NULL);
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
		pthread_mutex_destroy(&all->at[i].lock);
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

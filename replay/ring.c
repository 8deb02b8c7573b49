/* SPDX-License-Identifier: MIT */
/*
 * The ring engine: event loops on io_uring that carry all lanes.
 *
 *                  window_next()                     io_uring, helpers
 *      trace ──────────────────► lane queues ──► ready ──────────────► in flight
 *                                     ▲  held up at a gate               │
 *                                     └──────────── finished ◄───────────┘
 *
 * A loop owns its lanes; nobody else touches them. It goes round: take steps from the window, issue
 * what is ready, wait for a result, finish steps, which lets others go. A lane has at most one step
 * in flight, so a loop has at most as many requests as lanes and its completion queue, twice as
 * long, cannot overflow; what the kernel does not take at once stays in the submission queue.
 *
 * Calls without a form in the ring are made by helper threads, and so is the CPU time of paced replays: a
 * loop that thought for one lane would delay the results of all others, and a timer would leave the
 * CPU to the file system, which the application did not. Only thoughts shorter than the way to the
 * a helper and back are thought in the loop.
 *
 * Several loops (options->loops) share the window, under a lock, and send each other messages: a
 * step for one of your lanes, a lane of yours has been let go, a call that a helper has made. The
 * receiver sleeps in the kernel with a read of its eventfd in the ring. A lane belongs to the loop
 * of the lane that its first step waits for, if there is one and there is room, so that most waits
 * stay within a loop.
 *
 * What this engine cannot be: the application's own system calls. What io_uring hands to its worker
 * threads takes longer, and takes different time on different file systems; calibrate.h measures by
 * how much. Two choices keep it near: as many workers as lanes (the default of four per CPU makes
 * several times as many journal commits of the same fsyncs), and plain descriptors (registered ones
 * keep the file system mounted after the ring is gone). No submission thread, which would take a
 * CPU from the workers; no links, which would hide the latency of the first call.
 */
#include <assert.h>
#include <errno.h>
#include <liburing.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "cleanup.h"
#include "clock.h"
#include "engine.h"
#include "gate.h"
#include "helpers.h"
#include "interrupt.h"
#include "progress.h"
#include "vec.h"

#define NO_STEP          UINT32_MAX
#define MAX_LOOPS        64
#define MIN_WORKERS      4
#define FEED_BATCH       256                 /* steps taken from the window in one go */
#define ISSUE_BATCH      32                  /* requests in one submission: they start as one */
#define SHORT_THOUGHT_NS (5 * NSEC_PER_USEC) /* about the way to a helper and back */
#define SHOW_EVERY       4096                /* steps between two looks at the progress line */

struct lane {
	struct gate gate;
	struct gate_waiter waiter;
	struct loop *loop;         /* NULL until its first step */
	struct replay_context ctx; /* its own: btrfs checks sums in the reader's buffer */
	struct record *record;
	uint32_t first, last; /* steps not started yet, as places in the window; NO_STEP: none */
	struct lane *next;    /* in the loop's list of ready lanes */
	struct step *step;    /* the one at hand: held up, ready or in flight; NULL: none */
	uint16_t passed;      /* of its waits */
	bool thought;         /* its CPU time has been spent */
	uint64_t start_ns, end_ns;
	int64_t result;
	struct open_how how;
	struct work work;
};

enum message_kind {
	MESSAGE_STEP, /* the next one for this lane */
	MESSAGE_GO,   /* the lane has been let go */
	MESSAGE_THOUGHT,
	MESSAGE_RESULT,
};

struct message {
	enum message_kind kind;
	struct lane *lane;
	struct step *step;
};

struct messages {
	struct message *at;
	size_t count, capacity;
};

struct loop {
	struct ring *ring;
	unsigned index;
	struct io_uring uring;
	bool has_uring;
	struct lane *ready, **ready_end;
	uint32_t in_flight;      /* in the ring or with a helper */
	uint32_t lane_count;     /* under the feed lock */
	uint64_t finished;       /* in this round */
	struct messages *outbox; /* by loop */

	int event_fd;
	uint64_t event; /* what is read from it */
	bool listening; /* the read is in the ring */
	_Atomic bool asleep;
	pthread_mutex_t lock;          /* of the inbox */
	struct messages inbox, opened; /* to be swapped */
	_Atomic bool has_mail;

	pthread_t thread;
};

struct ring {
	struct engine *engine;
	struct helpers *helpers;
	struct lane *lanes;
	uint32_t *next; /* by place in the window: the next step of the same lane */
	struct loop *loops;
	unsigned loop_count;

	pthread_mutex_t feed_lock;
	_Atomic uint64_t fed, finished;
	_Atomic bool ended; /* the trace has no more steps */
	_Atomic bool stop;  /* issue nothing more: failure, interrupt */
	_Atomic bool over;
	uint64_t show_at; /* of the first loop */
	pthread_mutex_t error_lock;
	struct error error; /* the first one */
	pthread_barrier_t barrier;
};

/* ---- messages ---- */

static void wake(struct loop *l)
{
	if (atomic_exchange(&l->asleep, false))
		(void)!write(l->event_fd, &(uint64_t){1}, sizeof(uint64_t));
}

static void post(struct loop *to, const struct message *m, size_t count)
{
	pthread_mutex_lock(&to->lock);
	for (size_t i = 0; i < count; i++)
		vec_push(&to->inbox, m[i]);
	atomic_store(&to->has_mail, true);
	pthread_mutex_unlock(&to->lock);
	wake(to);
}

static void wake_all(struct ring *r)
{
	for (unsigned i = 0; i < r->loop_count; i++)
		wake(&r->loops[i]);
}

/* The first failure is the one to tell. */
static void fail(struct ring *r, const struct error *error)
{
	pthread_mutex_lock(&r->error_lock);
	if (!r->error.code)
		r->error = *error;
	pthread_mutex_unlock(&r->error_lock);
	atomic_store(&r->stop, true);
	wake_all(r);
}

static void fail_errno(struct ring *r, int code, const char *what)
{
	struct error error = {0};

	error_errno(&error, code, "%s", what);
	fail(r, &error);
}

/* ---- lanes ---- */

static void append_step(struct ring *r, struct lane *lane, struct step *step)
{
	uint32_t place = window_index(r->engine->window, step);

	r->next[place] = NO_STEP;
	if (lane->first == NO_STEP)
		lane->first = place;
	else
		r->next[lane->last] = place;
	lane->last = place;
}

static struct step *take_step(struct ring *r, struct lane *lane)
{
	uint32_t place = lane->first;

	if (place == NO_STEP)
		return NULL;
	lane->first = r->next[place];
	return window_step(r->engine->window, place);
}

static void make_ready(struct loop *l, struct lane *lane)
{
	lane->next = NULL;
	*l->ready_end = lane;
	l->ready_end = &lane->next;
}

/* Go on with the waits of the step at hand. */
static void lane_resume(struct loop *l, struct lane *lane)
{
	const struct step *step = lane->step;

	while (lane->passed < step->wait_count) {
		const struct wait *w = &step->waits[lane->passed++];
		if (gate_wait(&l->ring->lanes[w->lane].gate, &lane->waiter, w->progress))
			return;
	}
	make_ready(l, lane);
}

static void lane_next(struct loop *l, struct lane *lane)
{
	lane->step = take_step(l->ring, lane);
	if (!lane->step)
		return;
	lane->passed = 0;
	lane->thought = false;
	lane_resume(l, lane);
}

static void lane_give(struct loop *l, struct lane *lane, struct step *step)
{
	append_step(l->ring, lane, step);
	if (!lane->step)
		lane_next(l, lane);
}

/* Those whom a finished step lets go start from the moment it ended. */
static void let_go(struct loop *l, const struct lane *lane, struct gate_waiter *waiters)
{
	while (waiters) {
		struct lane *other = container_of(waiters, struct lane, waiter);
		waiters = waiters->next;
		record_inherit(other->record, &lane->record->chain);
		if (other->loop == l)
			lane_resume(l, other);
		else
			post(other->loop, &(struct message){MESSAGE_GO, other, NULL}, 1);
	}
}

static void lane_finish(struct loop *l, struct lane *lane, int64_t result, uint64_t end_ns)
{
	uint32_t progress = lane->step->progress;

	record_step(lane->record, &lane->ctx, lane->step, lane->start_ns, end_ns, result);
	window_finish(l->ring->engine->window, lane->step);
	lane->step = NULL;
	l->finished++;
	let_go(l, lane, gate_advance(&lane->gate, progress));
	lane_next(l, lane);
}

/* ---- what is done outside of the ring ---- */

static void call_in_helper(struct work *work)
{
	struct lane *lane = container_of(work, struct lane, work);

	lane->start_ns = now_ns();
	lane->result = step_sync(&lane->ctx, lane->step);
	lane->end_ns = now_ns();
	post(lane->loop, &(struct message){MESSAGE_RESULT, lane, NULL}, 1);
}

static void think_in_helper(struct work *work)
{
	struct lane *lane = container_of(work, struct lane, work);

	lane->end_ns = engine_think(lane->step->cpu_ns);
	post(lane->loop, &(struct message){MESSAGE_THOUGHT, lane, NULL}, 1);
}

static void send_to_helper(struct loop *l, struct lane *lane, void (*run)(struct work *work))
{
	lane->work.run = run;
	l->in_flight++;
	if (!helpers_run(l->ring->helpers, &lane->work))
		run(&lane->work);
}

/*
 * A lock is taken or tested so often (SQLite: six times in a transaction) that the way to a helper
 * would be most of its time, and it does not sleep if the first attempt ends as in the capture.
 */
static bool try_lock_here(struct loop *l, struct lane *lane)
{
	const struct step *step = lane->step;

	if (step->op != OP_getlk && step->op != OP_setlk && step->op != OP_flock)
		return false;
	lane->start_ns = now_ns();
	lane->ctx.impatient = true;
	int64_t result = step_sync(&lane->ctx, step);
	lane->ctx.impatient = false;
	if (result != step->expect && step->op != OP_getlk)
		return false;
	lane_finish(l, lane, result, now_ns());
	return true;
}

/* ---- issuing ---- */

/* True if the lane may make its call now. */
static bool lane_think(struct loop *l, struct lane *lane)
{
	uint64_t cpu_ns = lane->thought ? 0 : lane->step->cpu_ns;

	if (cpu_ns > SHORT_THOUGHT_NS) {
		send_to_helper(l, lane, think_in_helper);
		return false;
	}
	if (cpu_ns > 0) {
		lane->start_ns = engine_think(cpu_ns);
		record_think(lane->record, lane->start_ns);
	}
	return true;
}

static void lane_start(struct loop *l, struct lane *lane, uint64_t now)
{
	struct io_uring_sqe prepared = {0};

	lane->start_ns = now;
	if (!lane_think(l, lane) || try_lock_here(l, lane))
		return;
	if (!step_uring_prep(&prepared, &lane->ctx, lane->step, &lane->how)) {
		send_to_helper(l, lane, call_in_helper);
		return;
	}
	struct io_uring_sqe *sqe = io_uring_get_sqe(&l->uring);
	assert(sqe); /* the queue is as long as there are lanes */
	*sqe = prepared;
	io_uring_sqe_set_data(sqe, lane);
	l->in_flight++;
}

static void issue(struct loop *l)
{
	uint64_t now = l->ready ? now_ns() : 0;

	for (unsigned n = 0; l->ready && n < ISSUE_BATCH; n++) {
		struct lane *lane = l->ready;
		l->ready = lane->next;
		if (!l->ready)
			l->ready_end = &l->ready;
		if (!atomic_load_explicit(&l->ring->stop, memory_order_relaxed))
			lane_start(l, lane, now);
	}
}

/* ---- mail ---- */

static void read_message(struct loop *l, const struct message *m)
{
	switch (m->kind) {
	case MESSAGE_STEP:
		lane_give(l, m->lane, m->step);
		break;
	case MESSAGE_GO:
		lane_resume(l, m->lane);
		break;
	case MESSAGE_THOUGHT:
		l->in_flight--;
		m->lane->thought = true;
		record_think(m->lane->record, m->lane->end_ns);
		make_ready(l, m->lane);
		break;
	case MESSAGE_RESULT:
		l->in_flight--;
		lane_finish(l, m->lane, m->lane->result, m->lane->end_ns);
		break;
	}
}

static void read_mail(struct loop *l)
{
	if (!atomic_load(&l->has_mail))
		return;
	pthread_mutex_lock(&l->lock);
	struct messages empty = l->opened;
	l->opened = l->inbox;
	l->inbox = empty;
	atomic_store(&l->has_mail, false);
	pthread_mutex_unlock(&l->lock);
	for (size_t i = 0; i < l->opened.count; i++)
		read_message(l, &l->opened.at[i]);
	l->opened.count = 0;
}

/* ---- feeding ---- */

/* The first wait's lane knows best; else the loop with the fewest lanes. The feed lock is held. */
static struct loop *choose_loop(struct ring *r, const struct step *step)
{
	uint32_t fair = (r->engine->lane_count + r->loop_count - 1) / r->loop_count;
	struct loop *best = step->wait_count ? r->lanes[step->waits[0].lane].loop : NULL;

	if (!best || best->lane_count >= fair) {
		best = &r->loops[0];
		for (unsigned i = 1; i < r->loop_count; i++)
			if (r->loops[i].lane_count < best->lane_count)
				best = &r->loops[i];
	}
	best->lane_count++;
	return best;
}

static void deliver(struct loop *l, struct step *step)
{
	struct lane *lane = &l->ring->lanes[step->lane];

	if (!lane->loop)
		lane->loop = choose_loop(l->ring, step);
	if (lane->loop == l)
		lane_give(l, lane, step);
	else
		vec_push(&l->outbox[lane->loop->index], (struct message){MESSAGE_STEP, lane, step});
}

static void send_outbox(struct loop *l)
{
	for (unsigned i = 0; i < l->ring->loop_count; i++) {
		struct messages *out = &l->outbox[i];
		if (out->count > 0)
			post(&l->ring->loops[i], out->at, out->count);
		out->count = 0;
	}
}

/* Take steps from the window. True if there may be more at once. */
static bool feed(struct loop *l)
{
	struct ring *r = l->ring;
	struct error error = {0};
	struct step *step;
	int got = 1;
	unsigned n;

	if (atomic_load(&r->ended) || atomic_load(&r->stop))
		return false;
	pthread_mutex_lock(&r->feed_lock);
	read_mail(l); /* steps that others took come before those we take */
	for (n = 0; n < FEED_BATCH && !atomic_load(&r->ended); n++) {
		got = window_next(r->engine->window, &step, &error);
		if (got != 1)
			break;
		deliver(l, step);
	}
	atomic_fetch_add(&r->fed, n); /* before anybody can finish them, and before `ended` */
	if (got == 0)
		atomic_store(&r->ended, true);
	send_outbox(l);
	pthread_mutex_unlock(&r->feed_lock);
	if (got < 0 && got != -EAGAIN)
		fail(r, &error);
	return got == 1;
}

/* ---- results ---- */

static void take_result(struct loop *l, struct lane *lane, int res, uint64_t now)
{
	l->in_flight--;
	/* A descriptor opened with O_NONBLOCK may refuse to be waited for in the ring. */
	if (res == -EAGAIN && (lane->step->op == OP_read || lane->step->op == OP_write))
		send_to_helper(l, lane, call_in_helper);
	else
		lane_finish(l, lane, step_uring_done(&lane->ctx, lane->step, res), now);
}

static void reap(struct loop *l)
{
	struct io_uring_cqe *cqe;
	uint64_t now = 0;
	unsigned head, n = 0;

	io_uring_for_each_cqe(&l->uring, head, cqe)
	{
		struct lane *lane = io_uring_cqe_get_data(cqe);
		now = now ? now : now_ns();
		n++;
		if (lane)
			take_result(l, lane, cqe->res, now);
		else
			l->listening = false;
	}
	io_uring_cq_advance(&l->uring, n);
}

/* ---- the loop ---- */

static void listen_for_mail(struct loop *l)
{
	if (l->listening)
		return;
	struct io_uring_sqe *sqe = io_uring_get_sqe(&l->uring);
	if (!sqe)
		return;
	io_uring_prep_read(sqe, l->event_fd, &l->event, sizeof(l->event), 0);
	io_uring_sqe_set_data(sqe, NULL);
	l->listening = true;
}

static bool has_ended(struct loop *l)
{
	return atomic_load(&l->ring->over) || (atomic_load(&l->ring->stop) && l->in_flight == 0);
}

/*
 * Submit; sleep if there is nothing else to do: nothing ready, no more steps to take from the
 * window, none finished that made room in it. Whoever posts after `asleep` was set, wakes us.
 */
static void submit(struct loop *l, bool more)
{
	int r;

	listen_for_mail(l);
	bool idle = !l->ready && !more && l->finished == 0;
	if (idle) {
		atomic_store(&l->asleep, true);
		idle = !atomic_load(&l->has_mail) && !has_ended(l);
	}
	r = idle ? io_uring_submit_and_wait(&l->uring, 1)
	         : io_uring_submit_and_get_events(&l->uring);
	atomic_store(&l->asleep, false);
	/* Busy: results must be taken first. Interrupted: the next round looks why. */
	if (r < 0 && r != -EAGAIN && r != -EBUSY && r != -EINTR)
		fail_errno(l->ring, r, "cannot submit to io_uring");
}

static void count_finished(struct loop *l)
{
	struct ring *r = l->ring;
	uint64_t total = atomic_fetch_add(&r->finished, l->finished) + l->finished;

	l->finished = 0;
	if (atomic_load(&r->ended) && total == atomic_load(&r->fed)) {
		atomic_store(&r->over, true);
		wake_all(r);
	}
}

static void show_progress(struct loop *l)
{
	struct ring *r = l->ring;
	uint64_t finished = atomic_load(&r->finished);

	if (l->index != 0 || finished < r->show_at)
		return;
	progress_update(r->engine->progress, finished);
	r->show_at = finished + SHOW_EVERY;
}

static void loop_run(struct loop *l)
{
	for (;;) {
		bool more = feed(l);
		count_finished(l);
		if (has_ended(l))
			break;
		issue(l);
		submit(l, more);
		reap(l);
		read_mail(l);
		show_progress(l);
		if (interrupted())
			fail_errno(l->ring, EINTR, "the replay was stopped");
	}
}

/* ---- setting up ---- */

static unsigned queue_length(uint32_t lanes)
{
	unsigned length = 8;

	while (length < lanes + 1)
		length *= 2;
	return length;
}

/* In the thread of the loop, which is the only one that may use the ring afterwards. */
static int open_uring(struct loop *l)
{
	unsigned lanes = l->ring->engine->lane_count;
	unsigned length = queue_length(lanes);
	unsigned workers[2] = {lanes > MIN_WORKERS ? lanes : MIN_WORKERS, 0};

	int r = io_uring_queue_init(length, &l->uring,
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SUBMIT_ALL);
	if (r == -EINVAL) /* Linux before 6.1 */
		r = io_uring_queue_init(length, &l->uring, 0);
	if (r < 0)
		return r;
	l->has_uring = true;
	(void)io_uring_register_ring_fd(&l->uring); /* a little faster, where it exists */
	return io_uring_register_iowq_max_workers(&l->uring, workers);
}

static void loop_open(struct loop *l)
{
	l->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int r = l->event_fd < 0 ? -errno : open_uring(l);

	if (r < 0)
		fail_errno(l->ring, r,
			"cannot set up io_uring (kernel.io_uring_disabled, or a container's "
			"filter?); the engine 'lanes' does without");
}

static void loop_close(struct loop *l)
{
	if (l->has_uring)
		io_uring_queue_exit(&l->uring);
}

/* Fill the window before the clock starts. */
static void start_clock(struct loop *l)
{
	struct ring *r = l->ring;

	while (feed(l))
		;
	r->engine->started_ns = now_ns();
	for (uint32_t i = 0; i < r->engine->lane_count; i++)
		record_start(r->lanes[i].record, r->engine->started_ns);
}

static void *loop_main(void *arg)
{
	struct loop *l = arg;

	/* Held until it is known how many loops there are. */
	pthread_mutex_lock(&l->ring->feed_lock);
	pthread_mutex_unlock(&l->ring->feed_lock);
	loop_open(l);
	pthread_barrier_wait(&l->ring->barrier);
	if (l->index == 0)
		start_clock(l);
	pthread_barrier_wait(&l->ring->barrier);
	loop_run(l);
	loop_close(l);
	return NULL;
}

/* One by default: dependent lanes then wake each other for nothing. */
static unsigned count_loops(const struct engine *e)
{
	uint64_t loops = min_u64(min_u64(e->options->loops, MAX_LOOPS), e->lane_count);

	return loops ? (unsigned)loops : 1;
}

static void ring_init(struct ring *r, struct engine *e)
{
	*r = (struct ring){.engine = e, .loop_count = count_loops(e)};
	r->helpers = helpers_new(e->lane_count);
	pthread_mutex_init(&r->feed_lock, NULL);
	pthread_mutex_init(&r->error_lock, NULL);
	r->lanes = xaligned(_Alignof(struct lane), e->lane_count * sizeof(struct lane));
	memset(r->lanes, 0, e->lane_count * sizeof(struct lane));
	for (uint32_t i = 0; i < e->lane_count; i++) {
		gate_init(&r->lanes[i].gate);
		r->lanes[i].record = e->records[i];
		r->lanes[i].first = NO_STEP;
		engine_context(e, &r->lanes[i].ctx);
	}
	r->next = ALLOC_ARRAY(uint32_t, window_size(e->window));
	r->loops = ALLOC_ARRAY(struct loop, r->loop_count);
	for (unsigned i = 0; i < r->loop_count; i++) {
		struct loop *l = &r->loops[i];
		l->ring = r;
		l->index = i;
		l->event_fd = -1;
		l->ready_end = &l->ready;
		l->outbox = ALLOC_ARRAY(struct messages, MAX_LOOPS);
		pthread_mutex_init(&l->lock, NULL);
	}
}

/* Once no thread is left that could wake it. */
static void loop_done(struct loop *l)
{
	if (l->event_fd >= 0)
		close(l->event_fd);
	for (unsigned i = 0; i < MAX_LOOPS; i++)
		vec_free(&l->outbox[i]);
	free(l->outbox);
	vec_free(&l->inbox);
	vec_free(&l->opened);
	pthread_mutex_destroy(&l->lock);
}

static void ring_done(struct ring *r)
{
	for (unsigned i = 0; i < r->loop_count; i++)
		loop_done(&r->loops[i]);
	free(r->loops);
	for (uint32_t i = 0; i < r->engine->lane_count; i++) {
		gate_done(&r->lanes[i].gate);
		engine_context_done(&r->lanes[i].ctx);
	}
	free(r->lanes);
	free(r->next);
	pthread_mutex_destroy(&r->feed_lock);
	pthread_mutex_destroy(&r->error_lock);
}

/* Threads for all loops but the first, which runs here. Fewer than wanted do as well. */
static void start_loops(struct ring *r)
{
	unsigned started = 1;

	pthread_mutex_lock(&r->feed_lock);
	while (started < r->loop_count &&
		pthread_create(&r->loops[started].thread, NULL, loop_main, &r->loops[started]) == 0)
		started++;
	for (unsigned i = started; i < r->loop_count; i++)
		loop_done(&r->loops[i]);
	r->loop_count = started;
	pthread_barrier_init(&r->barrier, NULL, started);
	pthread_mutex_unlock(&r->feed_lock);
}

int engine_ring(struct engine *e, struct error *err)
{
	struct ring ring;

	engine_note_calibration(e, true);
	ring_init(&ring, e);
	start_loops(&ring);
	loop_main(&ring.loops[0]);
	for (unsigned i = 1; i < ring.loop_count; i++)
		pthread_join(ring.loops[i].thread, NULL);
	helpers_free(ring.helpers);
	pthread_barrier_destroy(&ring.barrier);
	struct error error = ring.error;
	ring_done(&ring);
	if (error.code && err)
		*err = error;
	return -error.code;
}

/* SPDX-License-Identifier: MIT */
#include "pool.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "caller.h"
#include "cleanup.h"
#include "clock.h"
#include "io.h"
#include "vec.h"

#define FIRST_WORKERS  2
#define DEFAULT_LIMIT  160
#define STACK_SIZE     (1u << 20)
#define HEADROOM       (16u << 20)
#define WAKE_SIGNAL    SIGUSR2
#define POLL_INTERVAL  (100 * NSEC_PER_USEC)
#define DETACH_WAIT_MS 100

struct thread {
	struct worker worker;
	struct kernel_buffer buffer;
	struct pool *pool;
	pthread_t thread;
	_Atomic pid_t tid;
	_Atomic bool ended;
};

struct pool {
	struct capture *capture;
	unsigned limit;
	_Atomic int idle;
	_Atomic bool stopping;
	pthread_mutex_t lock;
	VEC(struct thread *) threads;
};

static _Thread_local struct worker *self;

struct worker *worker_self(void)
{
	return self;
}

static void grow(struct pool *p);

static void pause_ns(uint64_t ns)
{
	struct timespec t = {0, (long)ns};

	nanosleep(&t, NULL);
}

static void serve(struct thread *t)
{
	struct fuse_session *se = t->pool->capture->session;

	while (!fuse_session_exited(se)) {
		kernel_buffer_reset(&t->buffer);
		t->worker.phase = PHASE_READING;
		atomic_fetch_add(&t->pool->idle, 1);
		int r = fuse_session_receive_buf(se, &t->buffer.buf);
		t->worker.phase = PHASE_FETCHED;
		if (atomic_fetch_sub(&t->pool->idle, 1) == 1 && r > 0)
			grow(t->pool);
		/* The kernel is short of memory: without us nobody would ever answer. */
		if (r == -ENOMEM)
			pause_ns(POLL_INTERVAL);
		if (r == -EINTR || r == -EAGAIN || r == -ENOMEM)
			continue;
		if (r <= 0)
			break;
		fuse_session_process_buf(se, &t->buffer.buf);
	}
}

static void *thread_main(void *arg)
{
	struct thread *t = arg;
	sigset_t wake;

	sigemptyset(&wake);
	sigaddset(&wake, WAKE_SIGNAL);
	pthread_sigmask(SIG_UNBLOCK, &wake, NULL);
	self = &t->worker;
	t->tid = (pid_t)syscall(SYS_gettid);
	caller_thread_init();
	serve(t);
	t->ended = true;
	return NULL;
}

static void thread_free(struct thread *t)
{
	kernel_buffer_done(&t->buffer);
	free(t->worker.data);
	free(t);
}

/* Enough for one thread more, and for what those that are there may still need. */
static bool has_memory(void)
{
	void *p = malloc(HEADROOM);

	free(p);
	return p;
}

/* NULL when memory is short: the others go on. */
static struct thread *thread_new(struct pool *p)
{
	struct thread *t = has_memory() ? calloc(1, sizeof(*t)) : NULL;

	if (!t)
		return NULL;
	t->pool = p;
	t->worker.capture = p->capture;
	if (posix_memalign((void **)&t->worker.data, 4096, kernel_max_data()) ||
		!kernel_buffer_init(&t->buffer)) {
		thread_free(t);
		return NULL;
	}
	if (p->capture->writer)
		t->worker.buffer = trace_buffer_new(p->capture->writer);
	return t;
}

/* New threads begin with all signals blocked: those are for the main thread. */
static int start_blocked(struct thread *t)
{
	sigset_t all, old;
	pthread_attr_t attr;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int r = pthread_create(&t->thread, &attr, thread_main, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return r;
}

static void grow(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	if (!p->stopping && p->idle <= 0 && p->threads.count < p->limit) {
		struct thread *t = thread_new(p);
		if (t && start_blocked(t))
			thread_free(t);
		else if (t)
			vec_push(&p->threads, t);
	}
	pthread_mutex_unlock(&p->lock);
}

static void on_wake(int number)
{
	(void)number;
}

int pool_start(struct capture *c, unsigned limit)
{
	struct sigaction wake = {.sa_handler = on_wake};
	struct pool *p = ALLOC(struct pool);

	sigaction(WAKE_SIGNAL, &wake, NULL);
	pthread_mutex_init(&p->lock, NULL);
	p->capture = c;
	c->pool = p;
	p->limit = limit ? limit : DEFAULT_LIMIT;
	for (int i = 0; i < FIRST_WORKERS; i++)
		grow(p);
	return p->threads.count ? 0 : -EAGAIN;
}

/* Asleep in the kernel, not merely on its way out of read(). */
static bool is_asleep(const struct thread *t)
{
	auto_free char *path = xasprintf("/proc/self/task/%d/stat", t->tid);
	auto_free char *text = read_text(path);
	const char *state = text ? strrchr(text, ')') : NULL;

	return state && state[1] == ' ' && state[2] == 'S';
}

/*
 * May this worker still be on its way with a request (of a release, if only those count)? A thread
 * that was given one and has not come to run says "reading" but does not sleep any more.
 */
static bool is_under_way(const struct thread *t, bool releases_only)
{
	enum phase phase = t->worker.phase;

	if (&t->worker == self || t->ended)
		return false;
	switch (phase) {
	case PHASE_READING:
		return !is_asleep(t);
	case PHASE_FETCHED:
	case PHASE_RELEASING:
		return true;
	case PHASE_OTHER:
		return !releases_only;
	}
	return false;
}

static void wait_for_all(struct pool *p, bool releases_only, unsigned timeout_ms)
{
	uint64_t end_ns = now_ns() + timeout_ms * NSEC_PER_MSEC;
	bool busy;

	do {
		busy = false;
		pthread_mutex_lock(&p->lock);
		vec_each (t, &p->threads)
			busy = busy || is_under_way(*t, releases_only);
		pthread_mutex_unlock(&p->lock);
		if (busy)
			pause_ns(POLL_INTERVAL);
	} while (busy && now_ns() < end_ns);
}

void pool_settle(struct pool *p, unsigned timeout_ms)
{
	wait_for_all(p, false, timeout_ms);
}

void pool_settle_releases(struct pool *p, unsigned timeout_ms)
{
	wait_for_all(p, true, timeout_ms);
}

static bool all_ended(struct pool *p)
{
	bool all = true;

	vec_each (t, &p->threads)
		all = all && (*t)->ended;
	return all;
}

void pool_stop(struct pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stopping = true;
	pthread_mutex_unlock(&p->lock);
	/* After an unmount that nobody delays they end by themselves. */
	for (unsigned i = 0; i < DETACH_WAIT_MS * 10 && !all_ended(p); i++)
		pause_ns(POLL_INTERVAL);
	fuse_session_exit(p->capture->session);
	while (!all_ended(p)) {
		vec_each (t, &p->threads)
			if (!(*t)->ended)
				pthread_kill((*t)->thread, WAKE_SIGNAL);
		pause_ns(POLL_INTERVAL);
	}
	vec_each (t, &p->threads) {
		pthread_join((*t)->thread, NULL);
		thread_free(*t);
	}
	vec_free(&p->threads);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

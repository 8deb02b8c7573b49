/* SPDX-License-Identifier: MIT */
#include "helpers.h"

#include <pthread.h>
#include <stdlib.h>

#include "vec.h"

struct helpers {
	pthread_mutex_t lock; /* all below */
	pthread_cond_t more;
	struct work *first, **last;
	unsigned queued, idle, limit;
	bool closing;
	VEC(pthread_t) threads;
};

struct helpers *helpers_new(unsigned limit)
{
	struct helpers *h = ALLOC(struct helpers);

	*h = (struct helpers){.limit = limit};
	h->last = &h->first;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->more, NULL);
	return h;
}

/* The next piece of work; NULL when they are to end. */
static struct work *take_work(struct helpers *h)
{
	pthread_mutex_lock(&h->lock);
	h->idle++;
	while (!h->first && !h->closing)
		pthread_cond_wait(&h->more, &h->lock);
	h->idle--;
	struct work *work = h->first;
	if (work) {
		h->first = work->next;
		h->queued--;
		if (!h->first)
			h->last = &h->first;
	}
	pthread_mutex_unlock(&h->lock);
	return work;
}

static void *helper(void *arg)
{
	struct helpers *h = arg;
	struct work *work;

	while ((work = take_work(h)))
		work->run(work);
	return NULL;
}

/* The lock is held. If there can be no more threads the work waits for those that there are. */
static void add_thread(struct helpers *h)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, helper, h) == 0)
		vec_push(&h->threads, thread);
}

static void append(struct helpers *h, struct work *work)
{
	work->next = NULL;
	*h->last = work;
	h->last = &work->next;
	h->queued++;
}

bool helpers_run(struct helpers *h, struct work *work)
{
	pthread_mutex_lock(&h->lock);
	if (h->queued >= h->idle && h->threads.count < h->limit)
		add_thread(h);
	bool taken = h->threads.count > 0;
	if (taken)
		append(h, work);
	pthread_mutex_unlock(&h->lock);
	pthread_cond_signal(&h->more);
	return taken;
}

void helpers_free(struct helpers *h)
{
	if (!h)
		return;
	pthread_mutex_lock(&h->lock);
	h->closing = true;
	pthread_mutex_unlock(&h->lock);
	pthread_cond_broadcast(&h->more);
	vec_each (thread, &h->threads)
		pthread_join(*thread, NULL);
	vec_free(&h->threads);
	pthread_cond_destroy(&h->more);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

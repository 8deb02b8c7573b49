/* SPDX-License-Identifier: MIT */
#include "pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "vec.h"

struct pool {
	pthread_mutex_t lock; /* all below */
	pthread_cond_t work;
	struct pool_task *first, **last;
	unsigned queued, idle, limit;
	bool closing;
	VEC(pthread_t) threads;
};

struct pool *pool_new(unsigned limit)
{
	struct pool *p = ALLOC(struct pool);

	*p = (struct pool){.limit = limit};
	p->last = &p->first;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->work, NULL);
	return p;
}

/* The next piece of work; NULL when the pool closes. */
static struct pool_task *take_task(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->idle++;
	while (!p->first && !p->closing)
		pthread_cond_wait(&p->work, &p->lock);
	p->idle--;
	struct pool_task *task = p->first;
	if (task) {
		p->first = task->next;
		p->queued--;
		if (!p->first)
			p->last = &p->first;
	}
	pthread_mutex_unlock(&p->lock);
	return task;
}

static void *pool_thread(void *arg)
{
	struct pool *p = arg;
	struct pool_task *task;

	while ((task = take_task(p)))
		task->run(task);
	return NULL;
}

/* The lock is held. If there can be no more threads the work waits for those that there are. */
static void add_thread(struct pool *p)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, pool_thread, p) == 0)
		vec_push(&p->threads, thread);
}

static void append(struct pool *p, struct pool_task *task)
{
	task->next = NULL;
	*p->last = task;
	p->last = &task->next;
	p->queued++;
}

bool pool_run(struct pool *p, struct pool_task *task)
{
	pthread_mutex_lock(&p->lock);
	if (p->queued >= p->idle && p->threads.count < p->limit)
		add_thread(p);
	bool taken = p->threads.count > 0;
	if (taken)
		append(p, task);
	pthread_mutex_unlock(&p->lock);
	pthread_cond_signal(&p->work);
	return taken;
}

void pool_free(struct pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->closing = true;
	pthread_mutex_unlock(&p->lock);
	pthread_cond_broadcast(&p->work);
	vec_each (thread, &p->threads)
		pthread_join(*thread, NULL);
	vec_free(&p->threads);
	pthread_cond_destroy(&p->work);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

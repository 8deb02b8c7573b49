/* SPDX-License-Identifier: MIT */
#include "pieces.h"

#include <pthread.h>
#include <stdatomic.h>

#include "map.h"
#include "vec.h"
#include "writer.h"

struct open_call {
	struct event ev; /* sum so far */
	uint64_t call_size;
	uint32_t tid;
};

struct pieces {
	struct trace_writer *writer;
	pthread_mutex_t lock;
	VEC(struct open_call) calls; /* a few: threads that are inside a large call */
	_Atomic size_t count;        /* of calls: read without the lock */
};

struct pieces *pieces_new(struct trace_writer *writer)
{
	struct pieces *p = ALLOC(struct pieces);

	p->writer = writer;
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

void pieces_free(struct pieces *p)
{
	if (!p)
		return;
	vec_free(&p->calls);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static struct open_call *find(struct pieces *p, uint32_t tid)
{
	vec_each (c, &p->calls)
		if (!tid || c->tid == tid)
			return c;
	return NULL;
}

static struct event take(struct pieces *p, struct open_call *c)
{
	struct event ev = c->ev;

	*c = p->calls.at[--p->calls.count];
	p->count = p->calls.count;
	return ev;
}

static bool continues(const struct open_call *c, const struct event *ev)
{
	return c->ev.op == ev->op && c->ev.handle == ev->handle &&
	       c->ev.offset + (uint64_t)c->ev.result == ev->offset;
}

static void merge(struct pieces *p, struct event *ev, const struct event *before)
{
	/* A piece that failed wrote nothing. */
	if (p->writer && ev->result > 0)
		ev->data = trace_writer_join(p->writer, before->data, ev->data);
	else
		ev->data = before->data;

	ev->event_flags |= EVENT_JOINED;
	ev->start_ns = before->start_ns;
	ev->cpu_ns = before->cpu_ns;
	ev->offset = before->offset;
	ev->size += before->size;
	/* An error after some bytes went through is a short count to the caller. */
	ev->result = before->result + (ev->result > 0 ? ev->result : 0);
}

bool pieces_any(const struct pieces *p)
{
	return atomic_load_explicit(&p->count, memory_order_relaxed);
}

bool pieces_add(struct pieces *p, uint32_t tid, uint64_t call_size, struct event *ev)
{
	bool whole = ev->result == (int64_t)ev->size;

	pthread_mutex_lock(&p->lock);
	struct open_call *c = find(p, tid);
	if (c && continues(c, ev)) {
		call_size = c->call_size;
		struct event before = take(p, c);
		merge(p, ev, &before);
	}
	bool more = whole && ev->size < call_size;
	if (more) {
		vec_push(&p->calls, (struct open_call){*ev, call_size, tid});
		p->count = p->calls.count;
	} else if (ev->event_flags & EVENT_JOINED) {
		ev->size = call_size;
	}
	pthread_mutex_unlock(&p->lock);
	return more;
}

bool pieces_take(struct pieces *p, uint32_t tid, const struct event *next, struct event *ret)
{
	bool found = false;

	pthread_mutex_lock(&p->lock);
	struct open_call *c = find(p, tid);
	if (c && !(next && continues(c, next))) {
		*ret = take(p, c);
		found = true;
	}
	pthread_mutex_unlock(&p->lock);
	return found;
}

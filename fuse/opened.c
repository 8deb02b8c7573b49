/* SPDX-License-Identifier: MIT */
#include "opened.h"

#include <pthread.h>

#include "map.h"
#include "vec.h"

#define EARLIER 8192 /* meanings that are kept of numbers given again */

struct meaning {
	uint64_t number, since_ns;
	struct opened_file what;
};

struct opened {
	pthread_mutex_t lock;
	struct map places; /* number -> place in `now` */
	VEC(struct meaning) now;
	struct meaning earlier[EARLIER];
	uint64_t earlier_count;
};

struct opened *opened_new(void)
{
	struct opened *o = ALLOC(struct opened);

	pthread_mutex_init(&o->lock, NULL);
	return o;
}

void opened_free(struct opened *o)
{
	if (!o)
		return;
	map_free(&o->places);
	vec_free(&o->now);
	pthread_mutex_destroy(&o->lock);
	free(o);
}

void opened_add(struct opened *o, uint64_t number, struct opened_file what, uint64_t since_ns)
{
	struct meaning meaning = {number, since_ns, what};

	pthread_mutex_lock(&o->lock);
	const uint64_t *place = map_get(&o->places, number, 0);
	if (place) {
		o->earlier[o->earlier_count++ % EARLIER] = o->now.at[*place];
		o->now.at[*place] = meaning;
	} else {
		map_put(&o->places, number, 0, o->now.count);
		vec_push(&o->now, meaning);
	}
	pthread_mutex_unlock(&o->lock);
}

/* The latest one that began by then. */
static const struct meaning *find_earlier(const struct opened *o, uint64_t number, uint64_t at_ns)
{
	uint64_t kept = min_u64(o->earlier_count, EARLIER);

	for (uint64_t i = 1; i <= kept; i++) {
		const struct meaning *m = &o->earlier[(o->earlier_count - i) % EARLIER];
		if (m->number == number && m->since_ns <= at_ns)
			return m;
	}
	return NULL;
}

bool opened_find(struct opened *o, uint64_t number, uint64_t at_ns, struct opened_file *ret)
{
	const struct meaning *m = NULL;

	pthread_mutex_lock(&o->lock);
	const uint64_t *place = map_get(&o->places, number, 0);
	if (place && o->now.at[*place].since_ns <= at_ns)
		m = &o->now.at[*place];
	else if (place)
		m = find_earlier(o, number, at_ns);
	if (m)
		*ret = m->what;
	pthread_mutex_unlock(&o->lock);
	return m;
}

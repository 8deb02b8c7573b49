/* SPDX-License-Identifier: MIT */
/*
 * Locks of a file are a list, in the kernel's order, as it shows in who is in the way first: owners
 * as they came, and the locks of each by their start. Files with locks are found by pointer in one hash
 * map. Databases hold a handful per file, so a walk is a few cache lines.
 *
 * Letting go: after any change that frees something, each waiter on the file is tried in order of
 * arrival; those that fit are taken out under the mutex and handed to the caller to be answered. What
 * is in the way of those that go on waiting may be another lock than before, whose owner waits for
 * them: then they are refused, as the kernel does.
 *
 * Decisions are told under the mutex, an unlock before the grants that it makes possible.
 */
#include "locks.h"

#include <errno.h>
#include <pthread.h>

#include "map.h"
#include "vec.h"

#define MAX_PROCESSES 65536 /* remembered; forgetting one costs a wait, no more */
#define MAX_CHAIN     32    /* owners followed in search of a deadlock, as the kernel does about */

struct waiter {
	struct lock_range want;
	void *call;
};

struct file_locks {
	const void *file;
	VEC(struct lock_range) held;
	VEC(struct waiter) waiting;
};

struct locks {
	pthread_mutex_t mutex;
	struct map files; /* file -> struct file_locks * */
	VEC(struct file_locks *) all;
	struct map processes; /* owners that have closed something: open files never do */
	const struct lock_events *events;
};

struct locks *locks_new(const struct lock_events *events)
{
	struct locks *l = ALLOC(struct locks);

	pthread_mutex_init(&l->mutex, NULL);
	l->events = events;
	return l;
}

static void file_free(struct file_locks *f)
{
	vec_free(&f->held);
	vec_free(&f->waiting);
	free(f);
}

void locks_free(struct locks *l)
{
	if (!l)
		return;
	vec_each (f, &l->all)
		file_free(*f);
	vec_free(&l->all);
	map_free(&l->files);
	map_free(&l->processes);
	pthread_mutex_destroy(&l->mutex);
	free(l);
}

static struct file_locks *find_file(struct locks *l, const void *file)
{
	uint64_t *known = map_get(&l->files, (uintptr_t)file, 0);

	return known ? (struct file_locks *)(uintptr_t)*known : NULL;
}

static struct file_locks *need_file(struct locks *l, const void *file)
{
	struct file_locks *f = find_file(l, file);

	if (f)
		return f;
	f = ALLOC(struct file_locks);
	f->file = file;
	map_put(&l->files, (uintptr_t)file, 0, (uintptr_t)f);
	vec_push(&l->all, f);
	return f;
}

static void forget_if_empty(struct locks *l, struct file_locks *f)
{
	if (f->held.count || f->waiting.count)
		return;
	map_del(&l->files, (uintptr_t)f->file, 0);
	for (size_t i = 0; i < l->all.count; i++)
		if (l->all.at[i] == f)
			l->all.at[i] = l->all.at[--l->all.count];
	file_free(f);
}

static bool conflicts(const struct lock_range *a, const struct lock_range *b)
{
	return a->is_flock == b->is_flock && a->owner != b->owner && a->start <= b->end &&
	       b->start <= a->end && (a->type == F_WRLCK || b->type == F_WRLCK);
}

static const struct lock_range *find_conflict(
	const struct file_locks *f, const struct lock_range *want)
{
	if (!f || want->type == F_UNLCK)
		return NULL;
	for (size_t i = 0; i < f->held.count; i++)
		if (conflicts(&f->held.at[i], want))
			return &f->held.at[i];
	return NULL;
}

static bool same_owner(const struct lock_range *a, const struct lock_range *b)
{
	return a->is_flock == b->is_flock && a->owner == b->owner;
}

static void held_insert(struct file_locks *f, size_t at, const struct lock_range *lock)
{
	vec_push(&f->held, *lock);
	for (size_t i = f->held.count - 1; i > at; i--)
		f->held.at[i] = f->held.at[i - 1];
	f->held.at[at] = *lock;
}

static void held_remove(struct file_locks *f, size_t at)
{
	f->held.count--;
	for (size_t i = at; i < f->held.count; i++)
		f->held.at[i] = f->held.at[i + 1];
}

/* Where the locks of this owner are, or would come. */
static size_t owners_place(const struct file_locks *f, const struct lock_range *lock)
{
	size_t i = 0;

	while (i < f->held.count && !same_owner(&f->held.at[i], lock))
		i++;
	return i;
}

/* Take [start, end] out of what the owner holds, splitting where needed. */
static void cut(struct file_locks *f, const struct lock_range *range)
{
	for (size_t i = owners_place(f, range); i < f->held.count;) {
		struct lock_range left = f->held.at[i], right = left;
		if (!same_owner(&left, range))
			break;
		if (left.start > range->end || left.end < range->start) {
			i++;
			continue;
		}
		held_remove(f, i);
		if (left.start < range->start) {
			left.end = range->start - 1;
			held_insert(f, i++, &left);
		}
		if (right.end > range->end) {
			right.start = range->end + 1;
			held_insert(f, i++, &right);
		}
	}
}

/* Join with neighbours of the same owner and type, as F_GETLK would show them. */
static void join(struct file_locks *f, struct lock_range *add)
{
	for (size_t i = owners_place(f, add); i < f->held.count;) {
		const struct lock_range *h = &f->held.at[i];
		bool touches = (h->end != UINT64_MAX && h->end + 1 == add->start) ||
		               (add->end != UINT64_MAX && add->end + 1 == h->start);
		if (!touches || !same_owner(h, add) || h->type != add->type ||
			h->handle != add->handle) {
			i++;
			continue;
		}
		add->start = min_u64(add->start, h->start);
		add->end = max_u64(add->end, h->end);
		held_remove(f, i);
	}
}

static void apply(struct file_locks *f, const struct lock_range *want)
{
	size_t at = owners_place(f, want);
	struct lock_range add = *want;

	cut(f, want);
	if (want->type == F_UNLCK)
		return;
	join(f, &add);
	while (at < f->held.count && same_owner(&f->held.at[at], &add) &&
		f->held.at[at].start < add.start)
		at++;
	held_insert(f, at, &add);
}

/* --- deadlocks --- */

/* The lock that keeps `owner` waiting, anywhere; NULL if it does not wait. */
static const struct lock_range *blocker_of(const struct locks *l, uint64_t owner)
{
	for (size_t i = 0; i < l->all.count; i++) {
		const struct file_locks *f = l->all.at[i];
		for (size_t j = 0; j < f->waiting.count; j++) {
			const struct waiter *w = &f->waiting.at[j];
			if (!w->want.is_flock && w->want.owner == owner)
				return find_conflict(f, &w->want);
		}
	}
	return NULL;
}

static bool would_deadlock(
	const struct locks *l, const struct lock_range *want, const struct lock_range *blocker)
{
	if (want->is_flock)
		return false;
	for (int i = 0; blocker && i < MAX_CHAIN; i++) {
		if (blocker->owner == want->owner)
			return true;
		blocker = blocker_of(l, blocker->owner);
	}
	return false;
}

/* --- letting go --- */

/* Not to be waited for any longer: 1 = it fits, -EDEADLK = what is in the way now waits for it. */
static int end_of_wait(const struct locks *l, const struct file_locks *f, const struct waiter *w)
{
	const struct lock_range *blocker = find_conflict(f, &w->want);

	if (!blocker)
		return 1;
	return would_deadlock(l, &w->want, blocker) ? -EDEADLK : 0;
}

/* Waiters that now fit get their lock; whom to tell is put on the list. */
static void wake(const struct locks *l, struct file_locks *f, struct lock_answers *tell)
{
	for (size_t i = 0; i < f->waiting.count;) {
		struct waiter w = f->waiting.at[i];
		int end = end_of_wait(l, f, &w);
		if (!end) {
			i++;
			continue;
		}
		for (size_t j = i + 1; j < f->waiting.count; j++)
			f->waiting.at[j - 1] = f->waiting.at[j];
		f->waiting.count--;
		if (end > 0)
			apply(f, &w.want);
		struct lock_answer a = {w.call, end < 0 ? end : 0};
		l->events->decided(a.call, a.result);
		vec_push(tell, a);
	}
}

void locks_answer(struct locks *l, struct lock_answers *tell)
{
	vec_each (a, tell)
		l->events->answer(a->call, a->result);
	vec_free(tell);
}

/* --- calls --- */

bool locks_test(struct locks *l, const void *file, const struct lock_range *want,
	struct lock_range *ret_conflict)
{
	pthread_mutex_lock(&l->mutex);
	const struct lock_range *c = find_conflict(find_file(l, file), want);
	if (c)
		*ret_conflict = *c;
	pthread_mutex_unlock(&l->mutex);
	return c;
}

/* flock() gives up what it has before it asks for something else. True if it had something. */
static bool flock_release_first(
	const struct locks *l, struct file_locks *f, const struct lock_range *want, void *call)
{
	if (!want->is_flock)
		return false;
	for (size_t i = 0; i < f->held.count; i++) {
		const struct lock_range held = f->held.at[i];
		if (!held.is_flock || held.owner != want->owner || held.type == want->type)
			continue;
		cut(f, want);
		if (want->type != F_UNLCK)
			l->events->dropped(call, &held);
		return true;
	}
	return false;
}

static int decide(const struct locks *l, void *call, int result)
{
	l->events->decided(call, result);
	return result;
}

static int grant(const struct locks *l, struct file_locks *f, const struct lock_range *want,
	void *call, struct lock_answers *tell)
{
	apply(f, want);
	l->events->decided(call, 0);
	wake(l, f, tell);
	return 0;
}

int locks_set(struct locks *l, const void *file, const struct lock_range *want, void *call,
	bool last, struct lock_answers *tell)
{
	int r = 0;

	pthread_mutex_lock(&l->mutex);
	struct file_locks *f = need_file(l, file);
	if (flock_release_first(l, f, want, call) && want->type != F_UNLCK)
		wake(l, f, tell);
	const struct lock_range *c = find_conflict(f, want);
	if (!c)
		r = grant(l, f, want, call, tell);
	else if (!last && !map_get(&l->processes, c->owner, 0))
		r = -ERESTART;
	else
		r = decide(l, call, -EAGAIN);
	forget_if_empty(l, f);
	pthread_mutex_unlock(&l->mutex);
	return r;
}

int locks_wait(struct locks *l, const void *file, const struct lock_range *want, void *call,
	bool (*cancelled)(void *call), struct lock_answers *tell)
{
	int r = 0;

	pthread_mutex_lock(&l->mutex);
	struct file_locks *f = need_file(l, file);
	if (flock_release_first(l, f, want, call))
		wake(l, f, tell);
	const struct lock_range *c = find_conflict(f, want);
	if (!c) {
		r = grant(l, f, want, call, tell);
	} else if (would_deadlock(l, want, c)) {
		r = decide(l, call, -EDEADLK);
	} else if (cancelled(call)) {
		r = decide(l, call, -EINTR);
	} else {
		vec_push(&f->waiting, (struct waiter){*want, call});
		r = -EINPROGRESS;
	}
	forget_if_empty(l, f);
	pthread_mutex_unlock(&l->mutex);
	return r;
}

void locks_cancel(struct locks *l, const void *key, bool (*same)(const void *call, const void *key))
{
	void *found = NULL;

	pthread_mutex_lock(&l->mutex);
	for (size_t i = 0; i < l->all.count && !found; i++) {
		struct file_locks *f = l->all.at[i];
		for (size_t j = 0; j < f->waiting.count && !found; j++) {
			if (!same(f->waiting.at[j].call, key))
				continue;
			found = f->waiting.at[j].call;
			for (size_t k = j + 1; k < f->waiting.count; k++)
				f->waiting.at[k - 1] = f->waiting.at[k];
			f->waiting.count--;
			l->events->decided(found, -EINTR);
			forget_if_empty(l, f);
			break;
		}
	}
	pthread_mutex_unlock(&l->mutex);
	if (found)
		l->events->answer(found, -EINTR);
}

static void know_process(struct locks *l, uint64_t owner)
{
	if (l->processes.count >= MAX_PROCESSES)
		map_free(&l->processes);
	if (!map_get(&l->processes, owner, 0))
		map_put(&l->processes, owner, 0, 1);
}

void locks_drop_owner(
	struct locks *l, const void *file, uint64_t owner, void *call, struct lock_answers *tell)
{
	struct lock_range all = {.owner = owner, .end = UINT64_MAX, .type = F_UNLCK};

	pthread_mutex_lock(&l->mutex);
	know_process(l, owner);
	struct file_locks *f = find_file(l, file);
	for (size_t i = 0; f && i < f->held.count; i++)
		if (!f->held.at[i].is_flock && f->held.at[i].owner == owner)
			l->events->dropped(call, &f->held.at[i]);
	if (f) {
		cut(f, &all);
		wake(l, f, tell);
		forget_if_empty(l, f);
	}
	pthread_mutex_unlock(&l->mutex);
}

static bool cut_handle(struct file_locks *f, const void *handle)
{
	size_t before = f->held.count;

	for (size_t i = 0; i < f->held.count;)
		if (f->held.at[i].handle == handle)
			held_remove(f, i);
		else
			i++;
	return f->held.count < before;
}

void locks_drop_handle(struct locks *l, const void *file, const void *handle, void *call,
	struct lock_answers *tell)
{
	pthread_mutex_lock(&l->mutex);
	struct file_locks *f = find_file(l, file);
	if (f && cut_handle(f, handle)) {
		l->events->decided(call, 0);
		wake(l, f, tell);
		forget_if_empty(l, f);
	}
	pthread_mutex_unlock(&l->mutex);
}

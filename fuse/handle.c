/* SPDX-License-Identifier: MIT */
/*
 * Closing what is in use by nobody: a user counts itself, then looks at the descriptor; whoever
 * closes takes the descriptor away, then looks for users. So at least one sees the other: the user
 * finds none and waits for the lock, or the closer finds a user and puts it back.
 *
 * Locks: a handle's before the table's. The closer has the table's first, and only tries the other.
 */
#include "handle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lower.h"
#include "vec.h"

#define MIN_RESERVED  64 /* descriptors that opens leave for everything else */
#define CLOSE_AT_ONCE 64
#define DYING         0x80000000u /* beside the number of users: the last of them frees it */

struct handle_table {
	struct inode_table *inodes;
	pthread_mutex_t lock; /* the ring */
	struct handle *hand;
	size_t count; /* in the ring */
	size_t limit; /* of descriptors */
	bool can_reopen;
	_Atomic size_t open; /* descriptors */
	_Atomic uint64_t evicted, refused;
};

struct handle_table *handle_table_new(struct inode_table *inodes)
{
	struct handle_table *t = ALLOC(struct handle_table);
	struct rlimit limit = {256, 256};

	getrlimit(RLIMIT_NOFILE, &limit);
	t->inodes = inodes;
	t->can_reopen = inode_table_by_handle(inodes);
	/* A quarter is the cache's of inodes. */
	t->limit = limit.rlim_cur / 2;
	if (!t->can_reopen)
		t->limit = limit.rlim_cur - limit.rlim_cur / 3 - MIN_RESERVED;
	pthread_mutex_init(&t->lock, NULL);
	return t;
}

void handle_table_free(struct handle_table *t)
{
	if (!t)
		return;
	while (t->hand)
		handle_free(t->hand);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

uint64_t handle_table_evicted(const struct handle_table *t)
{
	return t->evicted;
}

uint64_t handle_table_refused(const struct handle_table *t)
{
	return t->refused;
}

/* --- the ring; under the table's lock --- */

static void ring_add(struct handle_table *t, struct handle *h)
{
	if (!t->hand) {
		h->next = h->prev = t->hand = h;
	} else {
		h->next = t->hand;
		h->prev = t->hand->prev;
		h->prev->next = h->next->prev = h;
	}
	t->count++;
}

static void ring_remove(struct handle_table *t, struct handle *h)
{
	h->prev->next = h->next;
	h->next->prev = h->prev;
	if (t->hand == h)
		t->hand = h->next == h ? NULL : h->next;
	t->count--;
}

/* Take a descriptor away unless somebody uses it: it is the caller's to close then, or -1. */
static int take_unused(struct handle *h, bool direct)
{
	int fd = atomic_exchange(&h->fd[direct], -1);

	if (fd < 0 || !atomic_load(&h->users))
		return fd;
	h->fd[direct] = fd;
	return -1;
}

static size_t take_both(struct handle *h, int *out)
{
	size_t count = 0;

	if (pthread_mutex_trylock(&h->lock))
		return 0;
	for (int direct = 0; direct < 2; direct++) {
		int fd = take_unused(h, direct);
		if (fd >= 0)
			out[count++] = fd;
	}
	if (count)
		h->dir_at = -1;
	pthread_mutex_unlock(&h->lock);
	return count;
}

/* Up to CLOSE_AT_ONCE descriptors that were not used for longest; how many. */
static size_t take_oldest(struct handle_table *t, size_t want, int *out)
{
	size_t have = 0;

	pthread_mutex_lock(&t->lock);
	for (size_t steps = 2 * t->count; have < want && steps; steps--) {
		struct handle *h = t->hand;
		t->hand = h->next;
		if (atomic_exchange(&h->used, false))
			continue;
		have += take_both(h, out + have);
	}
	pthread_mutex_unlock(&t->lock);
	return have;
}

static void evict_to(struct handle_table *t, size_t limit)
{
	int fds[CLOSE_AT_ONCE + 1];
	size_t have = 1;

	while (t->can_reopen && have && t->open > limit) {
		have = take_oldest(t, min_u64(t->open - limit, CLOSE_AT_ONCE), fds);
		t->open -= have;
		t->evicted += have;
		for (size_t i = 0; i < have; i++)
			close(fds[i]);
	}
}

void handle_table_shrink(struct handle_table *t)
{
	evict_to(t, t->open / 2);
}

bool handle_table_room(struct handle_table *t)
{
	if (t->open < t->limit)
		return true;
	if (t->can_reopen) {
		evict_to(t, t->limit - t->limit / 16);
		return true;
	}
	t->refused++;
	return false;
}

/* --- handles --- */

int handle_flags_below(int flags, bool strip_direct)
{
	int keep = O_ACCMODE | O_TRUNC | O_EXCL | O_NOATIME | O_DIRECTORY;

	return flags & (strip_direct ? keep : keep | O_DIRECT);
}

struct handle *handle_new(struct handle_table *t, struct inode *i, uint64_t id, int fd, int flags)
{
	struct handle *h = ALLOC(struct handle);
	int now = fcntl(fd, F_GETFL);
	bool direct = now & O_DIRECT;

	*h = (struct handle){.table = t, .inode = i, .id = id, .flags = flags, .used = true};
	h->below = now & (O_ACCMODE | O_APPEND | O_NOATIME);
	h->fd[direct] = fd;
	h->fd[!direct] = -1;
	pthread_mutex_init(&h->lock, NULL);
	inode_ref(t->inodes, i);
	t->open++;
	pthread_mutex_lock(&t->lock);
	ring_add(t, h);
	pthread_mutex_unlock(&t->lock);
	return h;
}

static void destroy(struct handle *h)
{
	struct handle_table *t = h->table;

	for (int i = 0; i < 2; i++)
		if (h->fd[i] >= 0) {
			close(h->fd[i]);
			t->open--;
		}
	inode_unref(t->inodes, h->inode);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

/* Its last call has been answered, but the thread that did may not have let go of it yet. */
void handle_free(struct handle *h)
{
	struct handle_table *t = h->table;

	pthread_mutex_lock(&t->lock);
	ring_remove(t, h);
	pthread_mutex_unlock(&t->lock);
	if (!atomic_fetch_or(&h->users, DYING))
		destroy(h);
}

/* --- their descriptors --- */

static int open_once(struct handle *h, int flags)
{
	int other = h->fd[0] >= 0 ? h->fd[0] : h->fd[1];

	if (other >= 0)
		return lower_reopen(other, flags);
	auto_pin struct inode_pin pin = inode_pin(h->table->inodes, h->inode);
	return pin.fd < 0 ? pin.fd : lower_reopen(pin.fd, flags);
}

static int open_again(struct handle *h, bool direct)
{
	int flags = h->below | (direct ? O_DIRECT : 0);

	pthread_mutex_lock(&h->lock);
	int fd = h->fd[direct];
	if (fd < 0) {
		handle_table_room(h->table);
		fd = open_once(h, flags);
		if (fd == -EMFILE) {
			handle_table_shrink(h->table);
			inode_table_shrink(h->table->inodes);
			fd = open_once(h, flags);
		}
		if (fd >= 0) {
			h->table->open++;
			h->fd[direct] = fd;
		}
	}
	pthread_mutex_unlock(&h->lock);
	return fd;
}

static void begin_use(struct handle *h)
{
	atomic_fetch_add(&h->users, 1);
	if (!atomic_load_explicit(&h->used, memory_order_relaxed))
		h->used = true;
}

struct handle_use handle_use(struct handle *h, bool direct)
{
	begin_use(h);
	int fd = h->fd[direct];
	return (struct handle_use){h, fd >= 0 ? fd : open_again(h, direct)};
}

struct handle_use handle_use_any(struct handle *h)
{
	begin_use(h);
	int fd = h->fd[0];
	if (fd < 0)
		fd = h->fd[1];
	return (struct handle_use){h, fd >= 0 ? fd : open_again(h, false)};
}

void handle_unuse(struct handle_use *use)
{
	if (use->handle && atomic_fetch_sub(&use->handle->users, 1) == (DYING | 1))
		destroy(use->handle);
	use->handle = NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * Record locks (POSIX and open-file-description) and flock, as fcntl(2) and flock(2) define them.
 *
 * The kernel hands every lock call of the mount to us, so that it can be logged; this table then
 * has to decide it. A call that must wait is kept as a waiter and answered later by whoever lets
 * go: no thread blocks. The owner is what the kernel calls one: a process for POSIX locks, an open
 * file for the other two.
 */
#ifndef LOCKS_H
#define LOCKS_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/types.h>

#include "base.h"

struct locks;

struct lock_range {
	uint64_t owner;
	uint64_t start, end; /* inclusive; end UINT64_MAX reaches to the end of any file */
	short type;          /* F_RDLCK, F_WRLCK, F_UNLCK */
	pid_t pid;           /* of the process, for F_GETLK */
	const void *handle;  /* the open file it was made through */
	bool is_flock;       /* flock() and fcntl() locks do not see each other */
};

/*
 * Waiters that got their lock, or a new deadlock. Every call that may let go of something adds to
 * one; the caller answers them with locks_answer() when it has answered its own request.
 */
struct lock_answer {
	void *call;
	int result;
};

struct lock_answers {
	struct lock_answer *at;
	size_t count, capacity;
};

/*
 * What is decided is told at once, under the table's mutex: so a log that is written there has all
 * calls on a file in the order that explains their results. `call` is the caller's own.
 */
struct lock_events {
	/* 0 = it has its lock (or let go), or -errno. */
	void (*decided)(void *call, int result);
	/* The call is not decided yet, but has ended this lock of its owner: close(), or flock() that
	 * gives up what it has before it waits for something else. */
	void (*dropped)(void *call, const struct lock_range *range);
	/* Not under the mutex: answer a call that had waited. It is gone from the table. */
	void (*answer)(void *call, int result);
};

/* `events` must stay where it is. */
struct locks *locks_new(const struct lock_events *events);
void locks_free(struct locks *l);
void locks_answer(struct locks *l, struct lock_answers *tell);

/* `file` is any pointer that stands for the file. A lock in the way, the one that the kernel would
 * name, copied to *ret_conflict: true. */
bool locks_test(struct locks *l, const void *file, const struct lock_range *want,
	struct lock_range *ret_conflict);

/*
 * Lock, change or unlock: 0 or -EAGAIN. Unless this is the `last` attempt, -ERESTART if what is in
 * the way goes with an open file, which may be closed already: not decided then.
 */
int locks_set(struct locks *l, const void *file, const struct lock_range *want, void *call,
	bool last, struct lock_answers *tell);

/*
 * The same, waiting: 0 = granted at once, -EDEADLK, or -EINPROGRESS: answer() will be called.
 * `cancelled(call)` is asked once under the mutex, for an interrupt that came before: -EINTR then.
 */
int locks_wait(struct locks *l, const void *file, const struct lock_range *want, void *call,
	bool (*cancelled)(void *call), struct lock_answers *tell);

/* Stop waiting: answer(call, -EINTR), or nothing if nobody waits (any more) whom `same` knows by
 * `key`. */
void locks_cancel(
	struct locks *l, const void *key, bool (*same)(const void *call, const void *key));

/* All record locks of an owner on a file: what close() does. `call` is told what was dropped. */
void locks_drop_owner(
	struct locks *l, const void *file, uint64_t owner, void *call, struct lock_answers *tell);
/* All locks made through an open file that is now closed for good; `call` is decided if there were
 * any. */
void locks_drop_handle(struct locks *l, const void *file, const void *handle, void *call,
	struct lock_answers *tell);

#endif

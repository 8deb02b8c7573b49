/* SPDX-License-Identifier: MIT */
/*
 * Locks: decided by the table in locks.c, and logged under its mutex, so that the trace has them in
 * the order in which they were decided. Logged as they end, like other calls, an unlock could come
 * after the grant that it made possible, and no replay could tell why that was granted.
 *
 * A lock that has to wait leaves its worker free: request and record are put into a waiter, and
 * whoever lets go later answers it, or the signal that interrupts it.
 */
#include <errno.h>
#include <string.h>
#include <sys/file.h>

#include "ops.h"
#include "pool.h"
#include "reply.h"
#include "vec.h"

#define RELEASE_WAIT_MS 10

struct waiter {
	struct scope scope; /* first: it is what locks.c calls the call */
	fuse_req_t req;
};

static struct lock_range range_of(const struct handle *h, const struct flock *lock, uint64_t owner)
{
	uint64_t start = (uint64_t)lock->l_start;

	return (struct lock_range){
		.owner = owner,
		.start = start,
		.end = lock->l_len ? start + (uint64_t)lock->l_len - 1 : UINT64_MAX,
		.type = lock->l_type,
		.pid = lock->l_pid,
		.handle = h,
	};
}

static void set_lock(
	struct scope *rec, const struct handle *h, const struct flock *lock, uint64_t owner)
{
	rec->ev.file = inode_id(h->inode);
	rec->ev.handle = h->id;
	rec->ev.owner = owner;
	rec->ev.mode = (unsigned)lock->l_type;
	rec->ev.offset = (uint64_t)lock->l_start;
	rec->ev.size = (uint64_t)lock->l_len;
}

void op_getlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock)
{
	struct capture *c = reply_capture(req);
	struct handle *h = handle_of(fi);
	struct lock_range want = range_of(h, lock, fi->lock_owner), found;

	RECORD(rec, req, getlk);
	set_lock(&rec, h, lock, fi->lock_owner);
	if (locks_test(c->locks, h->inode, &want, &found)) {
		lock->l_type = found.type;
		lock->l_start = (off_t)found.start;
		lock->l_len = found.end == UINT64_MAX ? 0 : (off_t)(found.end - found.start + 1);
		lock->l_pid = found.pid;
	} else {
		lock->l_type = F_UNLCK;
	}
	scope_result(&rec, 0);
	fuse_reply_lock(req, lock);
}

static void lock_decided(void *call, int result)
{
	struct scope *rec = call;

	scope_resume(rec);
	scope_log(rec, result);
}

/* An unlock of its own in the trace, as if the program had asked for it. What remains of the call
 * comes after it. */
static void lock_dropped(void *call, const struct lock_range *range)
{
	struct scope *rec = call, unlock = *rec;

	unlock.ev.op = range->is_flock ? OP_flock : OP_setlk;
	unlock.ev.owner = range->owner;
	unlock.ev.mode = range->is_flock ? LOCK_UN : F_UNLCK;
	unlock.ev.offset = range->start;
	unlock.ev.size = range->end == UINT64_MAX ? 0 : range->end - range->start + 1;
	unlock.ev.flags = 0;
	scope_resume(&unlock);
	scope_log(&unlock, 0);
	rec->ev.start_ns = event_end_ns(&unlock.ev);
	rec->ev.cpu_ns = 0;
}

static void lock_answer(void *call, int result)
{
	struct waiter *w = call;

	reply_error(&w->scope, result);
	free(w);
}

const struct lock_events lock_events = {lock_decided, lock_dropped, lock_answer};

static bool is_interrupted(void *arg)
{
	return fuse_req_interrupted(((struct waiter *)arg)->req);
}

static bool is_waiter_of(const void *arg, const void *req)
{
	return ((const struct waiter *)arg)->req == req;
}

static void on_interrupt(fuse_req_t req, void *arg)
{
	struct capture *c = arg;

	locks_cancel(c->locks, req, is_waiter_of);
}

static void wait_for_lock(struct scope *rec, const void *file, const struct lock_range *want,
	struct lock_answers *tell)
{
	struct capture *c = rec->worker->capture;
	struct waiter *w = ALLOC(struct waiter);

	w->req = rec->req;
	w->scope = *rec;
	scope_drop(rec);
	fuse_req_interrupt_func(rec->req, on_interrupt, c);
	int r = locks_wait(c->locks, file, want, w, is_interrupted, tell);
	if (r != -EINPROGRESS)
		lock_answer(w, r);
}

/* Take the lock or let it go; without an answer if it has to wait. */
static void take_lock(struct scope *rec, const void *file, const struct lock_range *want, bool wait,
	struct lock_answers *tell)
{
	struct capture *c = rec->worker->capture;

	if (wait && want->type != F_UNLCK) {
		wait_for_lock(rec, file, want, tell);
		return;
	}
	int r = locks_set(c->locks, file, want, rec, false, tell);
	if (r == -ERESTART) {
		/* The file may be closed already: its release is sent before close() returns, but
		 * nobody waits for it. Let it arrive, then try again. */
		pool_settle_releases(c->pool, RELEASE_WAIT_MS);
		r = locks_set(c->locks, file, want, rec, true, tell);
	}
	reply_error(rec, r);
}

void op_setlk(
	fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock, int sleep)
{
	struct capture *c = reply_capture(req);
	struct handle *h = handle_of(fi);
	struct lock_range want = range_of(h, lock, fi->lock_owner);
	struct lock_answers tell = {0};

	{
		RECORD(rec, req, setlk);
		set_lock(&rec, h, lock, fi->lock_owner);
		rec.ev.flags = sleep ? 1 : 0;
		take_lock(&rec, h->inode, &want, sleep, &tell);
	}
	locks_answer(c->locks, &tell);
}

static short flock_type(int operation)
{
	switch (operation & ~LOCK_NB) {
	case LOCK_EX:
		return F_WRLCK;
	case LOCK_SH:
		return F_RDLCK;
	}
	return F_UNLCK;
}

void op_flock(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, int operation)
{
	struct capture *c = reply_capture(req);
	struct handle *h = handle_of(fi);
	struct lock_range want = {
		.owner = fi->lock_owner,
		.end = UINT64_MAX,
		.type = flock_type(operation),
		.handle = h,
		.is_flock = true,
	};
	struct lock_answers tell = {0};

	{
		RECORD(rec, req, flock);
		rec.ev.file = inode_id(h->inode);
		rec.ev.handle = h->id;
		rec.ev.owner = fi->lock_owner;
		rec.ev.mode = (unsigned)operation;
		take_lock(&rec, h->inode, &want, !(operation & LOCK_NB), &tell);
	}
	locks_answer(c->locks, &tell);
}

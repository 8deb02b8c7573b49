/* SPDX-License-Identifier: MIT */
#include "scope.h"

#include <assert.h>
#include <string.h>

#include "caller.h"
#include "clock.h"
#include "content.h"

/* A full piece may lack a page: data that does not begin on one needs one more. */
#define PIECE_SLACK 4097

static void put(struct scope *rec)
{
	atomic_fetch_add_explicit(&rec->worker->capture->events, 1, memory_order_relaxed);
	trace_put(rec->worker->buffer, &rec->ev);
}

/* A call that was cut between two pieces: it ended, at the latest, now. */
static void put_leftover(struct worker *w, struct event *left)
{
	uint64_t end_ns = trace_stamp(w->buffer) - trace_writer_epoch_ns(w->capture->writer);

	left->took_ns = end_ns - left->start_ns;
	w->capture->events++;
	trace_put(w->buffer, left);
}

void scope_open(struct scope *rec, fuse_req_t req, enum op op)
{
	struct worker *w = worker_self();
	const struct fuse_ctx *ctx = fuse_req_ctx(req);
	struct capture *c = w->capture;

	memset(rec, 0, sizeof(*rec));
	rec->ev.op = op;
	rec->worker = w;
	rec->req = req;
	rec->tid = (uint32_t)ctx->pid;
	/* Everything but writing is done as what this process is. */
	if (op != OP_write && op != OP_read)
		caller_restore();
	w->phase = op == OP_release || op == OP_releasedir ? PHASE_RELEASING : PHASE_OTHER;
	atomic_fetch_add_explicit(&c->requests, 1, memory_order_relaxed);
	if (!w->buffer)
		return;
	uint64_t start_ns = now_ns();
	struct task task = tasks_look(c->tasks, rec->tid, ctx->uid, ctx->gid);
	rec->on = !task.own;
	rec->ev.thread = task.index;
	rec->ev.cpu_ns = task.cpu_ns;
	rec->ev.start_ns = start_ns - trace_writer_epoch_ns(c->writer);
	if (!rec->tid)
		scope_derived(rec);
}

/* What was written below is what is kept. */
static void classify(struct scope *rec)
{
	enum content content;

	if (!rec->data || rec->looked)
		return;
	rec->looked = true;
	uint64_t hash = content_look(rec->data, rec->data_size, &content);
	rec->ev.content = content;
	rec->ev.hash = hash;
	if (rec->ev.result <= 0)
		return;
	size_t written = min_u64((uint64_t)rec->ev.result, rec->data_size);
	if (written < rec->data_size)
		hash = content_hash(rec->data, written);
	rec->ev.data = trace_writer_data(rec->worker->capture->writer, rec->data, written, hash);
}

/* Does this read or write belong to a larger call that goes on? Then it is no event yet. */
static bool goes_on(struct scope *rec)
{
	struct pieces *pieces = rec->worker->capture->pieces;
	bool is_data = rec->ev.op == OP_read || rec->ev.op == OP_write;
	bool full = is_data && rec->ev.size + PIECE_SLACK > kernel_max_data();
	struct event left;

	if (!full && !pieces_any(pieces))
		return false;
	/* The next piece must find this one stored. */
	if (rec->worker->capture->keep_data)
		classify(rec);
	if (pieces_take(pieces, rec->tid, is_data ? &rec->ev : NULL, &left))
		put_leftover(rec->worker, &left);
	return is_data &&
	       pieces_add(pieces, rec->tid,
		       full ? tasks_call_size(rec->worker->capture->tasks, rec->tid) : 0, &rec->ev);
}

void scope_result(struct scope *rec, int64_t result)
{
	rec->done = true;
	rec->ev.result = result;
	if (!rec->on)
		return;
	if (rec->tid && goes_on(rec)) {
		atomic_fetch_add(&rec->worker->capture->joined, 1);
		rec->on = false;
		return;
	}
	uint64_t end_ns = trace_stamp(rec->worker->buffer);
	rec->ev.took_ns =
		end_ns - trace_writer_epoch_ns(rec->worker->capture->writer) - rec->ev.start_ns;
}

void scope_log(struct scope *rec, int64_t result)
{
	scope_result(rec, result);
	scope_close(rec);
	rec->on = false;
}

void scope_drop(struct scope *rec)
{
	rec->on = false;
	rec->done = true;
}

void scope_close(struct scope *rec)
{
	assert(rec->done);
	if (!rec->on)
		return;
	classify(rec);
	/* Of the last piece only. */
	if (rec->ev.event_flags & EVENT_JOINED)
		rec->ev.hash = 0;
	put(rec);
}

void scope_resume(struct scope *copy)
{
	copy->worker = worker_self();
}

void scope_leftovers(struct worker *w)
{
	struct event left;

	while (w->buffer && pieces_take(w->capture->pieces, 0, NULL, &left))
		put_leftover(w, &left);
}

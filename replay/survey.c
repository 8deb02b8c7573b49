/* SPDX-License-Identifier: MIT */
#include "survey.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cleanup.h"
#include "order.h"
#include "plan.h"

#define MAX_THREADS  (1u << 20)
#define MAX_INFLIGHT 256   /* calls of one thread at the same time */
#define MAX_UNLINKED 65536 /* remembered; what is used so long after its end is not found */

static bool is_release(enum op op)
{
	return op == OP_release || op == OP_releasedir;
}

bool survey_is_mapped(const struct event *ev)
{
	return (ev->event_flags & EVENT_DERIVED) && (ev->op == OP_read || ev->op == OP_write) &&
	       ev->handle && ev->result > 0;
}

/* Made when the kernel saw fit: its times say nothing about a thread's lanes. */
static bool is_kernels(const struct event *ev)
{
	return is_release(ev->op) || survey_is_mapped(ev);
}

/*
 * Not what the kernel made by itself. Exceptions are the last close, which the kernel sends later and
 * for nobody, but a program caused it; and pages of mapped files, because what a program reads and
 * writes through a mapping is seen nowhere else. A page fault becomes a read, the writeback of changed
 * pages a write, both in the thread that caused it or used the file last. One close() of several
 * (flush) does nothing on a local file system, and on others the release does the same. Notes are not
 * calls, but where a phase begins the replay takes the time.
 */
bool survey_is_step(const struct event *ev)
{
	if (is_kernels(ev))
		return true;
	if (op_descs[ev->op].class == CLASS_NOTE)
		return ev->op == OP_phase;
	return !(ev->event_flags & EVENT_DERIVED) && ev->thread != 0 && ev->op != OP_flush;
}

uint32_t survey_lane(struct thread_lanes *thread, const struct event *ev)
{
	uint32_t best = 0;

	if (is_kernels(ev))
		return 0;
	for (uint32_t i = 0; i < thread->ends.count; i++) {
		if (thread->ends.at[i] <= ev->start_ns) {
			thread->ends.at[i] = event_end_ns(ev);
			return i;
		}
		if (thread->ends.at[i] < thread->ends.at[best])
			best = i;
	}
	if (thread->ends.count < MAX_INFLIGHT) {
		vec_push(&thread->ends, event_end_ns(ev));
		return (uint32_t)thread->ends.count - 1;
	}
	thread->ends.at[best] = event_end_ns(ev);
	return best;
}

static int thread_at(struct survey *s, const struct event *ev, struct error *err)
{
	if (ev->thread >= MAX_THREADS)
		return error_set(err, 0, "event %" PRIu64 " names thread %u; at most %u are known",
			s->events, ev->thread, MAX_THREADS);
	while (s->threads.count <= ev->thread)
		vec_push(&s->threads, (struct thread_lanes){.first_ns = UINT64_MAX});
	return 0;
}

/*
 * A call that found its file by name may reach it after another thread has removed that name. Rare,
 * but the replay must know when the name goes that it will need the file once more.
 */
static void look_for_orphans(struct survey *s, const struct event *ev)
{
	uint64_t gone = ev->op == OP_unlink || ev->op == OP_rmdir ? ev->file
	                : ev->op == OP_rename                     ? ev->file2
	                                                          : 0;

	if (gone && ev->result >= 0) {
		if (s->unlinked.count >= MAX_UNLINKED)
			map_free(&s->unlinked);
		map_put(&s->unlinked, gone, 0, 1);
	} else if (s->unlinked.count && ev->file && (!ev->handle || op_opens(ev->op)) &&
		   map_get(&s->unlinked, ev->file, 0)) {
		map_put(&s->orphans, ev->file, 0, 1);
	}
}

static void look_at_cpu(struct survey *s, const struct event *ev)
{
	struct thread_lanes *t = &s->threads.at[ev->thread];

	if (t->latest && ev->cpu_ns)
		think_note(&s->think, t->latest, ev->cpu_ns);
	t->latest = ev->op;
}

static int survey_event(struct survey *s, const struct event *ev, struct error *err)
{
	s->events++;
	int r = thread_at(s, ev, err);
	if (r < 0)
		return r;
	look_at_cpu(s, ev);
	if (!survey_is_step(ev)) {
		s->flushes += ev->op == OP_flush;
		s->derived += ev->op != OP_flush && op_descs[ev->op].class != CLASS_NOTE;
		return 0;
	}
	s->steps++;
	look_for_orphans(s, ev);
	if (ev->file && ev->result >= 0 &&
		(ev->op == OP_truncate || (op_opens(ev->op) && (ev->flags & O_TRUNC))))
		map_put(&s->cut, ev->file, 0, 1);
	s->by_op[ev->op]++;
	s->direct += (ev->op == OP_read || ev->op == OP_write) && (ev->flags & O_DIRECT);
	s->knows_cpu |= ev->cpu_ns != 0;
	if (survey_is_mapped(ev))
		*(ev->op == OP_read ? &s->mapped_read : &s->mapped_written) += (uint64_t)ev->result;
	if (!ev->thread)
		return 0;
	struct thread_lanes *t = &s->threads.at[ev->thread];
	if (ev->start_ns < t->first_ns)
		t->first_ns = ev->start_ns;
	t->last_ns = max_u64(t->last_ns, event_end_ns(ev));
	s->overlapped += survey_lane(t, ev) > 0;
	return 0;
}

struct lane_plan {
	VEC(uint64_t) free_at; /* by lane: when its last thread ended */
};

/* The lane that became free last before `start`: processes of a script follow one another in it. */
static int take_lane(struct lane_plan *plan, const struct thread_lanes *t, uint32_t *ret)
{
	size_t best = plan->free_at.count;

	for (size_t i = 0; i < plan->free_at.count; i++)
		if (plan->free_at.at[i] <= t->first_ns &&
			(best == plan->free_at.count ||
				plan->free_at.at[i] > plan->free_at.at[best]))
			best = i;
	if (best == plan->free_at.count) {
		if (best == PLAN_MAX_LANES)
			return -E2BIG;
		vec_push(&plan->free_at, 0);
	}
	plan->free_at.at[best] = max_u64(t->last_ns, t->first_ns + 1);
	*ret = (uint32_t)best;
	return 0;
}

static int by_first_call(const void *a, const void *b)
{
	const struct thread_lanes *x = *(const struct thread_lanes *const *)a;
	const struct thread_lanes *y = *(const struct thread_lanes *const *)b;

	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int assign_thread(struct lane_plan *plan, struct thread_lanes *t)
{
	size_t wanted = t->ends.count ? t->ends.count : 1; /* a thread of releases only: one */

	for (size_t i = 0; i < wanted; i++) {
		uint32_t lane = 0;
		int r = take_lane(plan, t, &lane);
		if (r < 0)
			return r;
		vec_push(&t->lanes, lane);
	}
	return 0;
}

static int assign_lanes(struct survey *s, struct error *err)
{
	auto_free struct thread_lanes **order =
		ALLOC_ARRAY(struct thread_lanes *, s->threads.count);
	struct lane_plan plan = {0};
	size_t n = 0;
	int r = 0;

	vec_each (t, &s->threads)
		if (t->first_ns != UINT64_MAX)
			order[n++] = t;
	qsort(order, n, sizeof(*order), by_first_call);
	for (size_t i = 0; i < n && r == 0; i++)
		r = assign_thread(&plan, order[i]);
	s->lane_count = (uint32_t)plan.free_at.count;
	if (s->lane_count == 0)
		s->lane_count = 1;
	vec_free(&plan.free_at);
	if (r < 0)
		return error_set(err, E2BIG,
			"the trace had more than %d calls in flight at the same time",
			PLAN_MAX_LANES);
	return 0;
}

int survey_trace(struct survey *ret, struct trace_reader *trace, struct error *err)
{
	struct event ev;
	int r = trace_reader_rewind(trace, err);

	*ret = (struct survey){0};
	while (r == 0 && (r = trace_reader_next(trace, &ev, err)) == 1)
		r = survey_event(ret, &ev, err);
	if (r == 0)
		r = assign_lanes(ret, err);
	if (r == 0)
		r = trace_reader_rewind(trace, err);
	if (r < 0)
		survey_done(ret);
	else
		survey_restart(ret);
	return r;
}

void survey_restart(struct survey *s)
{
	vec_each (t, &s->threads) {
		t->ends.count = 0;
		t->cpu_ns = 0;
	}
}

void survey_done(struct survey *s)
{
	vec_each (t, &s->threads) {
		vec_free(&t->ends);
		vec_free(&t->lanes);
	}
	vec_free(&s->threads);
	map_free(&s->unlinked);
	map_free(&s->orphans);
	map_free(&s->cut);
	think_done(&s->think);
}

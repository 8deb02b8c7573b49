/* SPDX-License-Identifier: MIT */
/*
 *   events ──► queue of their thread ──┐
 *                                      ├─► window of a call ──► verdict, fates
 *   records of calls ──────────────────┘        │ what is left over
 *                                               ▼
 *                       pool of events  ◄──►  requests that wait for theirs
 *
 * An event waits in its thread's queue until a call of that thread ends after it. Those that began
 * in the call are its window. What began before it, and what the call has no use for, is something
 * else: a request of io_uring or io_submit that this thread carried out, the end of a process, or
 * nobody's.
 */
#include "audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "audit-judge.h"
#include "audit-place.h"
#include "clock.h"
#include "map.h"
#include "probe.h"
#include "vec.h"
#include "writer.h"

#define MAX_CASES     100
#define MAX_QUEUE     4096 /* beyond it, the kernel's own are dropped */
#define MANY_REQUESTS 1024
#define MAX_POOL      4096 /* more events than any program has requests under way */

struct thread {
	uint32_t tid;
	bool watched;      /* the probe has reported it */
	uint64_t ended_ns; /* 0: it lives */
	VEC(struct audit_seen) events;
};

/* A request that has no event yet; one by name is kept for what else the kernel asks for it. */
struct request {
	struct probe_record r;
	size_t rule;
	bool done;
};

struct audit {
	struct audit_options options;
	struct audit_place *place;
	struct map by_tid; /* place in `threads` */
	VEC(struct thread) threads;
	struct map
		handles; /* open handles: the `fh` that the kernel knows them by; 0 = not known */
	struct map by_fh;
	VEC(struct audit_seen) pool;
	VEC(struct request) requests;
	uint64_t (*verdicts)[AUDIT_VERDICTS]; /* by rule */
	uint64_t fates[OP_LIMIT][AUDIT_FATES];
	uint64_t wrong;
	VEC(char *) cases;
};

struct audit *audit_new(const struct audit_options *options)
{
	struct audit *a = ALLOC(struct audit);

	a->options = *options;
	a->place = audit_place_new(options->dir, options->device);
	a->verdicts = xcalloc(audit_rule_count, sizeof(*a->verdicts));
	return a;
}

void audit_free(struct audit *a)
{
	if (!a)
		return;
	vec_each (t, &a->threads)
		vec_free(&t->events);
	vec_each (text, &a->cases)
		free(*text);
	vec_free(&a->threads);
	vec_free(&a->cases);
	vec_free(&a->pool);
	vec_free(&a->requests);
	map_free(&a->by_tid);
	map_free(&a->handles);
	map_free(&a->by_fh);
	audit_place_free(a->place);
	free(a->verdicts);
	free(a);
}

static struct thread *thread_of(struct audit *a, uint32_t tid)
{
	uint64_t *at = map_get(&a->by_tid, tid, 0);

	if (!at) {
		map_put(&a->by_tid, tid, 0, a->threads.count);
		vec_push(&a->threads, (struct thread){.tid = tid});
		return &a->threads.at[a->threads.count - 1];
	}
	return &a->threads.at[*at];
}

/* --- what is wrong --- */

static double seconds(const struct audit *a, uint64_t ns)
{
	return (double)(int64_t)(ns - a->options.epoch_ns) / (double)NSEC_PER_SEC;
}

attr_printf(2, 3) static void wrong(struct audit *a, const char *fmt, ...)
{
	va_list args;
	char text[512];

	a->wrong++;
	if (a->cases.count == MAX_CASES)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	vec_push(&a->cases, xstrdup(text));
}

static void wrong_event(struct audit *a, const struct audit_seen *e)
{
	wrong(a,
		"%s by thread %" PRIu32 " at %.6f s in the trace (handle %" PRIu64 ", %" PRIu64
		" bytes at %" PRIu64 ", result %" PRId64 "): no call made it",
		op_name(e->op), e->tid, seconds(a, e->start_ns), e->handle, e->size, e->offset,
		e->result);
}

static void wrong_call(struct audit *a, const struct audit_window *w, enum audit_verdict verdict)
{
	const struct probe_record *r = w->r;
	const struct audit_seen *e = w->count ? &w->events[0] : NULL;

	wrong(a,
		"%s by thread %" PRIu32 " at %.6f s (%s%s%#" PRIx64 ", %#" PRIx64 ", %#" PRIx64
		", %#" PRIx64 "; result %" PRId64
		"): %s; it sent %d requests, the trace has %zu%s%s",
		w->rule->name, r->tid, seconds(a, r->enter_ns), probe_path(r, 0),
		r->path_room ? "; " : "", r->args[0], r->args[1], r->args[2], r->args[3], r->result,
		audit_verdict_text(verdict), (int)r->requests - 1, w->count,
		e ? ", the first " : "", e ? op_name(e->op) : "");
}

static void count_verdict(struct audit *a, const struct audit_window *w, enum audit_verdict verdict)
{
	a->verdicts[w->rule - audit_rules][verdict]++;
	if (verdict == AUDIT_MISSING || verdict == AUDIT_DIFFERENT)
		wrong_call(a, w, verdict);
}

static void count_fate(struct audit *a, const struct audit_seen *e, enum audit_fate fate)
{
	a->fates[e->op][fate]++;
	if (fate == AUDIT_STRAY)
		wrong_event(a, e);
}

/* --- handles --- */

static void learn(struct audit *a, const struct probe_file *file, uint64_t handle)
{
	if (!file->fh || !handle)
		return;
	map_put(&a->by_fh, file->fh, 0, handle);
	if (map_get(&a->handles, handle, 0))
		map_put(&a->handles, handle, 0, file->fh);
}

static uint64_t handle_of(const struct audit *a, const struct probe_file *file)
{
	const uint64_t *handle = file->fh ? map_get(&a->by_fh, file->fh, 0) : NULL;

	return handle ? *handle : 0;
}

/* The daemon may give the number to another handle from now on. */
static void forget(struct audit *a, uint64_t handle)
{
	const uint64_t *fh = map_get(&a->handles, handle, 0);

	if (*fh && handle_of(a, &(struct probe_file){.fh = *fh}) == handle)
		map_del(&a->by_fh, *fh, 0);
	map_del(&a->handles, handle, 0);
}

static bool is_release(enum op op)
{
	return op == OP_release || op == OP_releasedir;
}

static void follow_handles(struct audit *a, const struct event *ev)
{
	bool opens = ev->op == OP_open || ev->op == OP_create || ev->op == OP_tmpfile ||
	             ev->op == OP_opendir;

	if (opens && ev->result >= 0)
		map_put(&a->handles, ev->handle, 0, 0);
}

/* --- requests of io_uring and io_submit --- */

static const struct audit_rule *rule_of(const struct request *q)
{
	return &audit_rules[q->rule];
}

static bool fits(const struct audit *a, const struct request *q, const struct audit_seen *e)
{
	const struct audit_rule *rule = rule_of(q);

	if (rule->kind == AUDIT_NAMED)
		return audit_is_meanwhile(
			rule->on_the_way | (q->done ? 0 : rule->events), &q->r, e);
	return audit_is_request(rule, &q->r, handle_of(a, &q->r.file[0]), e);
}

/* True if that was all of the request. */
static bool done_request(struct audit *a, struct request *q, const struct audit_seen *e)
{
	if (!audit_has(rule_of(q)->events, e->op)) {
		a->fates[e->op][AUDIT_BESIDE]++;
		return false;
	}
	a->fates[e->op][AUDIT_REQUESTED]++;
	learn(a, &q->r.file[0], e->handle);
	a->verdicts[q->rule][e->joined ? AUDIT_MERGED : AUDIT_TRACED]++;
	q->done = true;
	return rule_of(q)->kind != AUDIT_NAMED;
}

/* Of those that fit, the last that was made before the event: the others may fit earlier events. */
static bool is_waited_for(struct audit *a, const struct audit_seen *e)
{
	struct request *best = NULL;

	vec_each (q, &a->requests)
		if (fits(a, q, e) && (!best || q->r.enter_ns > best->r.enter_ns))
			best = q;
	if (!best)
		return false;
	if (done_request(a, best, e))
		*best = a->requests.at[--a->requests.count];
	return true;
}

static struct audit_seen *find_piece(struct audit *a, const struct request *q, uint64_t done)
{
	vec_each (e, &a->pool)
		if (audit_is_piece(rule_of(q), &q->r, handle_of(a, &q->r.file[0]), done, e))
			return e;
	return NULL;
}

/* Large transfers by a thread of io_uring arrive in pieces that nobody could put together. */
static bool take_pieces(struct audit *a, const struct request *q)
{
	uint64_t bytes = audit_request_bytes(rule_of(q), &q->r), done = 0;
	const struct audit_seen *e;

	while (done < bytes && (e = find_piece(a, q, done)))
		done += (uint64_t)e->result;
	if (!bytes || done != bytes)
		return false;
	for (done = 0; done < bytes;) {
		struct audit_seen *piece = find_piece(a, q, done);
		done += (uint64_t)piece->result;
		a->fates[piece->op][AUDIT_REQUESTED]++;
		*piece = a->pool.at[--a->pool.count];
	}
	a->verdicts[q->rule][AUDIT_PIECES]++;
	return true;
}

/* An event that belongs to no call of its thread. */
static void without_call(struct audit *a, const struct audit_seen *e)
{
	if (e->derived || is_waited_for(a, e))
		return; /* derived ones were counted when they came */
	if (a->pool.count == MAX_POOL) {
		count_fate(a, e, AUDIT_STRAY);
		return;
	}
	vec_push(&a->pool, *e);
	vec_each (q, &a->requests)
		if (take_pieces(a, q)) {
			*q = a->requests.at[--a->requests.count];
			return;
		}
}

/* The first event of the pool that fits; NULL if none does. */
static struct audit_seen *find_event(struct audit *a, const struct request *q)
{
	struct audit_seen *first = NULL;

	vec_each (e, &a->pool)
		if (fits(a, q, e) && (!first || e->start_ns < first->start_ns))
			first = e;
	return first;
}

/* Requests by name may be about other file systems: nobody waits for them for ever. */
static void drop_named(struct audit *a, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->requests.count; i++) {
		const struct request *q = &a->requests.at[i];
		if (rule_of(q)->kind != AUDIT_NAMED || q->r.exit_ns + NSEC_PER_SEC > now_ns)
			a->requests.at[kept++] = *q;
	}
	a->requests.count = kept;
}

static void take_request(struct audit *a, const struct probe_record *r)
{
	const struct audit_rule *rule = audit_rule_of(r);
	struct audit_seen *e;

	if (!rule)
		return;
	struct request q = {*r, (size_t)(rule - audit_rules), false};
	for (bool done = false; (e = find_event(a, &q));) {
		done = done_request(a, &q, e);
		*e = a->pool.at[--a->pool.count];
		if (done)
			return;
	}
	if (take_pieces(a, &q))
		return;
	if (a->requests.count >= MANY_REQUESTS)
		drop_named(a, r->exit_ns);
	vec_push(&a->requests, q);
}

/* Without an event to the end. */
static void settle_request(struct audit *a, const struct request *q)
{
	const struct audit_rule *rule = rule_of(q);
	bool empty = rule->size >= 0 && !q->r.args[rule->size];
	enum audit_verdict verdict = empty                                         ? AUDIT_NOTHING
	                             : q->r.kind == PROBE_URING && q->r.result < 0 ? AUDIT_REFUSED
	                                                                           : AUDIT_MISSING;

	if (rule->kind != AUDIT_NAMED)
		count_verdict(a, &(struct audit_window){.rule = rule, .r = &q->r}, verdict);
}

/* --- events --- */

/* What the end of a process does to its descriptors. */
static bool ends_descriptor(enum op op)
{
	return op == OP_flush || op == OP_setlk || op == OP_flock;
}

/* Between the calls of a thread. */
static void outside(struct audit *a, struct thread *t, const struct audit_seen *e)
{
	if (e->derived)
		return;
	if (t->ended_ns && e->start_ns >= t->ended_ns && ends_descriptor(e->op))
		count_fate(a, e, AUDIT_ENDED);
	else
		without_call(a, e);
}

/* Threads of the kernel that carry out requests for a process. */
static bool is_worker(const struct trace_thread *thread)
{
	return thread && !strncmp(thread->comm, "iou-", 4);
}

static struct audit_seen seen_of(
	const struct audit *a, const struct event *ev, const struct trace_thread *thread)
{
	return (struct audit_seen){
		.op = ev->op,
		.derived = ev->event_flags & EVENT_DERIVED,
		.joined = ev->event_flags & EVENT_JOINED,
		.by_worker = is_worker(thread),
		.start_ns = a->options.epoch_ns + ev->start_ns,
		.end_ns = audit_event_end_ns(a, ev),
		.tid = thread ? thread->tid : 0,
		.tgid = thread ? thread->tgid : 0,
		.result = ev->result,
		.handle = ev->handle,
		.offset = ev->offset,
		.size = ev->size,
		.flags = ev->flags,
		.name = audit_name(ev->name.data, ev->name.size),
		.name2 = audit_name(ev->name2.data, ev->name2.size),
	};
}

/* Sent when nobody has the file open any more, by whoever is at hand. */
static void release(struct audit *a, const struct audit_seen *e)
{
	bool was_open = map_get(&a->handles, e->handle, 0);

	if (was_open)
		forget(a, e->handle);
	count_fate(a, e, was_open ? AUDIT_RELEASED : AUDIT_STRAY);
}

/* A thread that only reads and writes mapped memory makes no call for a long time. */
static void drop_derived(struct thread *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->events.count; i++)
		if (!t->events.at[i].derived)
			t->events.at[kept++] = t->events.at[i];
	t->events.count = kept;
}

static void enqueue(struct thread *t, const struct audit_seen *e)
{
	if (t->events.count >= MAX_QUEUE && e->derived)
		drop_derived(t);
	vec_push(&t->events, *e);
}

void audit_event(struct audit *a, const struct event *ev, const struct trace_thread *thread)
{
	struct audit_seen e = seen_of(a, ev, thread);

	/* What another probe put into the trace proves nothing about the pass-through. */
	if (op_is_probed(ev->op))
		return;
	follow_handles(a, ev);
	if (e.derived)
		a->fates[e.op][AUDIT_DERIVED]++;
	if (is_release(e.op)) {
		release(a, &e);
		return;
	}
	if (!thread || e.by_worker) {
		without_call(a, &e);
		return;
	}
	struct thread *t = thread_of(a, e.tid);
	if (t->ended_ns && e.start_ns >= t->ended_ns)
		outside(a, t, &e);
	else
		enqueue(t, &e);
}

/* --- calls --- */

/* The first `count` events of the queue have been dealt with. */
static void drop_events(struct thread *t, size_t count)
{
	t->events.count -= count;
	if (count)
		memmove(t->events.at, t->events.at + count,
			t->events.count * sizeof(*t->events.at));
}

static int by_start(const void *x, const void *y)
{
	const struct audit_seen *a = x, *b = y;

	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

static size_t count_before(const struct thread *t, uint64_t ns)
{
	size_t n = 0;

	while (n < t->events.count && t->events.at[n].start_ns < ns)
		n++;
	return n;
}

/* Does it say anything about the mount at all? */
static bool is_about_mount(const struct audit *a, const struct audit_window *w)
{
	if (w->rule->kind == AUDIT_SUBMIT)
		return false;
	for (size_t i = 0; i < w->count; i++)
		if (!w->events[i].derived)
			return true;
	return audit_concerns(a, w->r);
}

/* Events that the call has no use for, although they began in it. */
static void settle_window(struct audit *a, const struct audit_window *w)
{
	for (size_t i = 0; i < w->count; i++) {
		struct audit_seen *e = &w->events[i];
		if (e->derived)
			continue;
		if (e->used || audit_has(w->rule->on_the_way, e->op))
			count_fate(a, e, e->used ? AUDIT_CALLED : AUDIT_BESIDE);
		else
			without_call(a, e);
	}
}

static void learn_handle(struct audit *a, const struct audit_window *w)
{
	bool opens = w->rule->kind == AUDIT_OPEN;

	for (size_t i = 0; i < w->count; i++)
		if (w->events[i].used && w->events[i].handle && w->events[i].result >= 0)
			learn(a, &w->r->file[opens], w->events[i].handle);
}

static const struct audit_rule any_call = {
	.name = "other calls",
	.kind = AUDIT_SUBMIT,
	.size = AUDIT_NO,
	.offset = AUDIT_NO,
};

static void judge(struct audit *a, struct thread *t, const struct probe_record *r)
{
	const struct audit_rule *rule = audit_rule_of(r);

	if (t->events.count)
		qsort(t->events.at, t->events.count, sizeof(*t->events.at), by_start);
	size_t before = count_before(t, r->enter_ns);
	size_t after = count_before(t, r->exit_ns + 1);
	for (size_t i = 0; i < before; i++)
		outside(a, t, &t->events.at[i]);
	struct audit_window w = {
		.rule = rule ? rule : &any_call,
		.r = r,
		.events = before ? t->events.at + before : t->events.at,
		.count = after - before,
		.handle = r->path_room ? 0 : handle_of(a, &r->file[0]),
	};
	if (rule && is_about_mount(a, &w)) {
		count_verdict(a, &w, audit_judge(&w));
		learn_handle(a, &w);
	}
	settle_window(a, &w);
	drop_events(t, after);
}

static void flush_thread(struct audit *a, struct thread *t)
{
	for (size_t i = 0; i < t->events.count; i++)
		outside(a, t, &t->events.at[i]);
	t->events.count = 0;
}

void audit_call(struct audit *a, const struct probe_record *r)
{
	struct thread *t = thread_of(a, r->tid);

	t->watched = true;
	switch ((enum probe_kind)r->kind) {
	case PROBE_CALL:
		judge(a, t, r);
		break;
	case PROBE_URING:
	case PROBE_AIO:
		take_request(a, r);
		break;
	case PROBE_FORK:
		t = thread_of(a, (uint32_t)r->args[0]);
		flush_thread(a, t);
		t->ended_ns = 0;
		t->watched = true;
		break;
	case PROBE_EXIT:
		t->ended_ns = r->exit_ns;
		flush_thread(a, t);
		break;
	case PROBE_EXEC:
		/* A thread that is not the first takes over the number of the process. */
		t->ended_ns = 0;
		break;
	case PROBE_WAIT:
	case PROBE_KINDS:
		break;
	}
}

bool audit_concerns(const struct audit *a, const struct probe_record *r)
{
	uint32_t device = a->options.device;

	const struct audit_rule *rule = audit_rule_of(r);

	if (r->kind != PROBE_CALL || r->requests > 1 || r->nr == SYS_sync)
		return true;
	if (r->file[1].dev == device || (rule && rule->kind == AUDIT_SUBMIT))
		return true;
	if (!r->path_room)
		return r->file[0].dev == device;
	for (unsigned i = 0; i < PROBE_PATHS; i++)
		if (r->path_size[i] && audit_place_has(a->place, &r->file[i], probe_path(r, i)))
			return true;
	return false;
}

uint64_t audit_event_end_ns(const struct audit *a, const struct event *ev)
{
	return a->options.epoch_ns + event_end_ns(ev);
}

/* --- the end --- */

static void settle_thread(struct audit *a, struct thread *t)
{
	for (size_t i = 0; i < t->events.count && !t->watched; i++)
		if (!t->events.at[i].derived)
			count_fate(a, &t->events.at[i],
				a->options.others ? AUDIT_OTHERS : AUDIT_STRAY);
	if (t->watched)
		flush_thread(a, t);
	t->events.count = 0;
}

/* When the last process has ended, nothing is open. */
static void settle_handles(struct audit *a)
{
	bool lives = false;

	vec_each (t, &a->threads)
		lives |= t->watched && !t->ended_ns;
	if (!lives && a->threads.count && a->handles.count)
		wrong(a,
			"%zu files were opened and never released, although all processes have "
			"ended",
			a->handles.count);
}

void audit_finish(struct audit *a)
{
	vec_each (t, &a->threads)
		settle_thread(a, t);
	/* The thread that polls for io_uring may be the last that has a descriptor. */
	vec_each (e, &a->pool)
		count_fate(
			a, e, e->by_worker && ends_descriptor(e->op) ? AUDIT_ENDED : AUDIT_STRAY);
	vec_each (q, &a->requests)
		settle_request(a, q);
	a->pool.count = a->requests.count = 0;
	settle_handles(a);
}

const uint64_t *audit_verdicts(const struct audit *a, size_t rule)
{
	return a->verdicts[rule];
}

const uint64_t *audit_fates(const struct audit *a, enum op op)
{
	return a->fates[op];
}

uint64_t audit_wrong(const struct audit *a)
{
	return a->wrong;
}

const char *audit_case(const struct audit *a, size_t n)
{
	return n < a->cases.count ? a->cases.at[n] : NULL;
}

const char *audit_verdict_text(enum audit_verdict verdict)
{
	static const char *const texts[AUDIT_VERDICTS] = {
		[AUDIT_TRACED] = "in the trace as one event",
		[AUDIT_MERGED] = "arrived in pieces, put together to one event",
		[AUDIT_PIECES] = "in the trace as several events that make it up",
		[AUDIT_CACHED] = "answered from what the kernel knew already",
		[AUDIT_NOTHING] = "nothing to do",
		[AUDIT_REFUSED] = "refused by the kernel itself",
		[AUDIT_UNFLUSHED] = "directories and special files have nothing to flush",
		[AUDIT_UNSEEN] = "never reaches a FUSE file system",
		[AUDIT_MISSING] = "not in the trace",
		[AUDIT_DIFFERENT] = "the trace has something else",
	};

	return texts[verdict];
}

const char *audit_fate_text(enum audit_fate fate)
{
	static const char *const texts[AUDIT_FATES] = {
		[AUDIT_CALLED] = "called",
		[AUDIT_BESIDE] = "beside a call",
		[AUDIT_REQUESTED] = "io_uring and io_submit",
		[AUDIT_RELEASED] = "last close",
		[AUDIT_ENDED] = "end of a process",
		[AUDIT_DERIVED] = "by the kernel",
		[AUDIT_OTHERS] = "by others",
		[AUDIT_STRAY] = "unexplained",
	};

	return texts[fate];
}

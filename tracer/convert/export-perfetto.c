/* SPDX-License-Identifier: MIT */
/*
 * Chrome's trace format (JSON), which ui.perfetto.dev and chrome://tracing open.
 *
 * Every call is a complete event on a track of its thread. Events of one track must be apart or inside
 * each other; calls of one thread that overlapped in the capture (asynchronous ones) are neither, so
 * they go to further tracks of that thread, each call to the first that is free. What was in flight is
 * a counter: its mean over slices of time. The slices are doubled in length whenever there are too
 * many, so that memory stays the same whatever the length of the trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>

#include "cleanup.h"
#include "clock.h"
#include "content.h"
#include "escape.h"
#include "export.h"
#include "sink.h"
#include "vec.h"

#define SLICES     16384
#define TRACKS_MAX 4096 /* of one thread; more overlap on the last one */
/* Numbers for tracks that no thread has; Linux gives thread ids below 2^22. */
#define EXTRA_TRACK (1u << 24)
/* Longer names and values are cut. */
#define SHOWN_MAX 256

/* A thread of the trace: when each of its tracks is free again, and their numbers. */
struct tracks {
	VEC(uint64_t) free_ns;
	VEC(uint32_t) tid;
};

/*
 * Time spent in calls, and bytes moved, per slice of time. Calls that cover whole slices are counted
 * where they begin to and taken back where they end to. Sums modulo 2^64: parts may be negative.
 */
struct slice {
	uint64_t busy_ns;
	uint64_t
		covering; /* calls that cover this slice wholly, minus the same of the one before */
	uint64_t read_bytes, written_bytes;
};

struct perfetto {
	int fd;
	struct sink *sink;
	VEC(struct tracks) threads;
	uint32_t next_track;
	bool comma;
	uint64_t slice_ns, last_slice;
	struct slice slices[SLICES];
};

static int perfetto_begin(struct export *x, struct error *err)
{
	struct perfetto *p = ALLOC(struct perfetto);

	x->own = p;
	p->slice_ns = NSEC_PER_MSEC;
	p->next_track = EXTRA_TRACK;
	p->fd = x->out ? open(x->out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
	               : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	if (p->fd < 0)
		return error_errno(err, errno, "cannot write %s", x->out ? x->out : "to stdout");
	p->sink = sink_new(p->fd);
	sink_lit(p->sink, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	return 0;
}

static struct sink *next_record(struct perfetto *p)
{
	if (p->comma)
		sink_char(p->sink, ',');
	sink_char(p->sink, '\n');
	p->comma = true;
	return p->sink;
}

/* ---- tracks ---- */

static void put_place(struct sink *s, uint32_t pid, uint32_t tid)
{
	sink_lit(s, "\"pid\":");
	sink_u64(s, pid);
	sink_lit(s, ",\"tid\":");
	sink_u64(s, tid);
}

/* The kernel's number 0 means "idle" to the readers of this format. */
static uint32_t process_of(const struct trace_thread *t)
{
	return t->tgid ? t->tgid : EXTRA_TRACK;
}

static void put_metadata(struct perfetto *p, const char *what, uint32_t pid, uint32_t tid,
	const struct trace_thread *t, size_t track)
{
	struct sink *s = next_record(p);
	const char *name = t->tgid ? t->comm : "(kernel)";
	auto_free char *text =
		track ? xasprintf("%.16s, overlapping %zu", name, track) : xasprintf("%.16s", name);

	sink_lit(s, "{\"ph\":\"M\",\"name\":\"");
	sink_text(s, what);
	sink_lit(s, "\",");
	put_place(s, pid, tid);
	sink_lit(s, ",\"args\":{\"name\":");
	escape_json(s, (struct text){text, strlen(text)});
	sink_lit(s, "}}");
}

/* A track more for this thread; the first has its own number if no other thread had it before. */
static void add_track(struct export *x, struct tracks *tracks, uint32_t thread)
{
	const struct trace_thread *t = trace_reader_thread(x->trace, thread);
	struct perfetto *p = x->own;
	size_t track = tracks->tid.count;
	bool own = !track && t->tid;

	for (uint32_t i = 0; own && i < p->threads.count; i++)
		if (i != thread && p->threads.at[i].tid.count &&
			p->threads.at[i].tid.at[0] == t->tid)
			own = false;
	uint32_t tid = own ? t->tid : p->next_track++;
	if (own && t->tid == t->tgid)
		put_metadata(p, "process_name", process_of(t), tid, t, 0);
	put_metadata(p, "thread_name", process_of(t), tid, t, track);
	vec_push(&tracks->tid, tid);
	vec_push(&tracks->free_ns, 0);
}

/* Events come in the order of their ends, so a track is free from its last event's end on. */
static uint32_t track_of(struct export *x, const struct event *ev)
{
	struct perfetto *p = x->own;
	size_t i = 0;

	while (p->threads.count <= ev->thread)
		vec_push(&p->threads, (struct tracks){0});
	struct tracks *t = &p->threads.at[ev->thread];
	while (i < t->tid.count && t->free_ns.at[i] > ev->start_ns && i + 1 < TRACKS_MAX)
		i++;
	if (i == t->tid.count)
		add_track(x, t, ev->thread);
	t->free_ns.at[i] = max_u64(t->free_ns.at[i], event_end_ns(ev));
	return t->tid.at[i];
}

/* ---- counters ---- */

/* Two slices as one: calls that cover only the second one cover the new one by half. */
static struct slice both(const struct slice *a, const struct slice *b, uint64_t slice_ns)
{
	return (struct slice){
		.busy_ns = a->busy_ns + b->busy_ns - b->covering * slice_ns,
		.covering = a->covering + b->covering,
		.read_bytes = a->read_bytes + b->read_bytes,
		.written_bytes = a->written_bytes + b->written_bytes,
	};
}

static void double_slices(struct perfetto *p)
{
	for (size_t i = 0; i < SLICES / 2; i++)
		p->slices[i] = both(&p->slices[2 * i], &p->slices[2 * i + 1], p->slice_ns);
	memset(&p->slices[SLICES / 2], 0, SLICES / 2 * sizeof(struct slice));
	p->slice_ns *= 2;
	p->last_slice /= 2;
}

static void add_time(struct perfetto *p, uint64_t start, uint64_t end)
{
	uint64_t first = start / p->slice_ns, last = end / p->slice_ns;

	if (first == last) {
		p->slices[first].busy_ns += end - start;
		return;
	}
	p->slices[first].busy_ns += (first + 1) * p->slice_ns - start;
	p->slices[last].busy_ns += end - last * p->slice_ns;
	p->slices[first + 1].covering++;
	p->slices[last].covering--;
}

static void count_event(struct perfetto *p, const struct event *ev)
{
	uint64_t end = event_end_ns(ev);

	if (end < ev->start_ns)
		return;
	while (end / p->slice_ns >= SLICES)
		double_slices(p);
	add_time(p, ev->start_ns, end);
	struct slice *slice = &p->slices[end / p->slice_ns];
	if (ev->op == OP_read && ev->result > 0)
		slice->read_bytes += (uint64_t)ev->result;
	if (ev->op == OP_write && ev->result > 0)
		slice->written_bytes += (uint64_t)ev->result;
	p->last_slice = max_u64(p->last_slice, end / p->slice_ns);
}

/* `value` in thousandths, so that no floating point is needed. */
static void put_counter(
	struct perfetto *p, const char *name, const char *unit, uint64_t at_ns, uint64_t value)
{
	struct sink *s = next_record(p);

	sink_lit(s, "{\"ph\":\"C\",\"name\":\"");
	sink_text(s, name);
	sink_lit(s, "\",\"pid\":");
	sink_u64(s, EXTRA_TRACK);
	sink_lit(s, ",\"ts\":");
	sink_us(s, at_ns);
	sink_lit(s, ",\"args\":{\"");
	sink_text(s, unit);
	sink_lit(s, "\":");
	sink_us(s, value);
	sink_lit(s, "}}");
}

static uint64_t per_second(uint64_t amount, uint64_t slice_ns)
{
	return (uint64_t)((unsigned __int128)amount * NSEC_PER_SEC / slice_ns) * 1000;
}

/* One point per slice whose value is not the one before, and zeros at the end. */
static void put_counters(struct perfetto *p)
{
	uint64_t covering = 0, last[3] = {0};

	for (uint64_t i = 0; i <= p->last_slice + 1; i++) {
		static const struct slice none;
		const struct slice *slice = i <= p->last_slice ? &p->slices[i] : &none;
		covering = i <= p->last_slice ? covering + slice->covering : 0;
		uint64_t busy = slice->busy_ns + covering * p->slice_ns;
		const uint64_t now[3] = {
			(uint64_t)((unsigned __int128)busy * 1000 / p->slice_ns),
			per_second(slice->read_bytes, p->slice_ns),
			per_second(slice->written_bytes, p->slice_ns),
		};
		static const char *const names[3][2] = {
			{"calls in flight", "calls"}, {"read", "bytes/s"}, {"written", "bytes/s"}};
		for (int k = 0; k < 3; k++)
			if (now[k] != last[k] || !i)
				put_counter(p, names[k][0], names[k][1], i * p->slice_ns, now[k]);
		memcpy(last, now, sizeof(last));
	}
}

/* ---- events ---- */

static void put_path(struct export *x, struct sink *s, uint64_t file)
{
	const char *path = paths_of(x->paths, file);

	escape_json(s, (struct text){path, strlen(path)});
}

static void put_argument(
	struct export *x, struct sink *s, const struct op_arg *arg, const struct event *ev)
{
	struct text t = *event_text(ev, arg);

	sink_lit(s, ",\"");
	sink_text(s, arg->slot);
	sink_lit(s, "\":");
	if (arg_is_text(arg)) {
		t.size = min_u64(t.size, SHOWN_MAX);
		escape_json(s, t);
		return;
	}
	uint64_t v = *event_number(ev, arg);
	if (arg->kind == KIND_FILE)
		put_path(x, s, v);
	else if (arg->kind == KIND_CONTENT)
		escape_json(s, (struct text){content_name((enum content)v),
				       strlen(content_name((enum content)v))});
	else
		sink_u64(s, v);
}

static void put_arguments(struct export *x, struct sink *s, const struct event *ev)
{
	const struct op_desc *op = &op_descs[ev->op];

	sink_lit(s, ",\"args\":{\"result\":");
	sink_i64(s, ev->result);
	if (ev->result < 0 && ev->result > -4096 && strerrorname_np((int)-ev->result)) {
		sink_lit(s, ",\"error\":\"");
		sink_text(s, strerrorname_np((int)-ev->result));
		sink_char(s, '"');
	}
	for (unsigned i = 0; i < op->arg_count; i++) {
		const struct op_arg *arg = &op->args[i];
		if (arg_is_text(arg) || *event_number(ev, arg))
			put_argument(x, s, arg, ev);
	}
	sink_char(s, '}');
}

static int perfetto_event(struct export *x, const struct event *ev, struct error *err)
{
	const struct trace_thread *t = trace_reader_thread(x->trace, ev->thread);
	struct perfetto *p = x->own;
	uint32_t track = track_of(x, ev);
	struct sink *s = next_record(p);

	sink_lit(s, "{\"ph\":\"X\",\"name\":\"");
	sink_text(s, op_name(ev->op));
	sink_lit(s, "\",\"cat\":\"");
	sink_text(s, op_class_name(op_descs[ev->op].class));
	sink_text(s, ev->event_flags & EVENT_DERIVED ? ",derived\"," : "\",");
	put_place(s, process_of(t), track);
	sink_lit(s, ",\"ts\":");
	sink_us(s, ev->start_ns);
	sink_lit(s, ",\"dur\":");
	sink_us(s, ev->took_ns);
	put_arguments(x, s, ev);
	sink_char(s, '}');
	count_event(p, ev);
	return s->failed ? error_errno(err, s->failed, "cannot write the events") : 0;
}

static int perfetto_end(struct export *x, struct error *err)
{
	struct perfetto *p = x->own;
	const struct trace_thread calls = {.comm = "all calls", .tgid = EXTRA_TRACK};

	put_metadata(p, "process_name", EXTRA_TRACK, EXTRA_TRACK, &calls, 0);
	put_counters(p);
	sink_lit(p->sink, "\n],\"otherData\":");
	auto_free char *meta =
		json_dumps(trace_reader_meta(x->trace), JSON_COMPACT | JSON_SORT_KEYS);
	sink_text(p->sink, meta ? meta : "{}");
	sink_lit(p->sink, "}\n");
	int r = sink_flush(p->sink);
	return r < 0 ? error_errno(err, r, "cannot write the events") : 0;
}

static void perfetto_free(struct export *x)
{
	struct perfetto *p = x->own;

	if (!p)
		return;
	vec_each (t, &p->threads) {
		vec_free(&t->free_ns);
		vec_free(&t->tid);
	}
	vec_free(&p->threads);
	sink_free(p->sink);
	if (p->fd >= 0)
		close(p->fd);
	free(p);
}

const struct exporter export_perfetto = {
	.name = "perfetto",
	.summary =
		"Chrome trace JSON for ui.perfetto.dev: a track per thread, calls in flight, rates",
	.loses = "the starting state, CPU times, what of a name or value is longer than 256 bytes",
	.output = EXPORT_STREAM,
	.begin = perfetto_begin,
	.event = perfetto_event,
	.end = perfetto_end,
	.free = perfetto_free,
};

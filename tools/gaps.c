/* SPDX-License-Identifier: MIT */
/*
 * Waits and events are two sequences in the order of time, read side by side. When a thread waited
 * for another one, the part of it in which that one was in a call on files is told from the rest:
 * only that part would be shorter on a faster file system.
 *
 * Threads of the same name are one row: the backends of a server, the clients of a benchmark.
 */
#include "gaps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "event.h"
#include "map.h"
#include "reader.h"
#include "result-text.h"
#include "table.h"
#include "units.h"
#include "vec.h"

#define KEPT_CALLS 256 /* of a thread, the latest, in which somebody may have waited for it */

enum part {
	PART_CALLS,    /* in calls on files, as the pass-through served them */
	PART_CPU,      /* on a CPU, those calls' own share of it included */
	PART_QUEUED,   /* ready, but without one */
	PART_OTHER_IO, /* until another thread had come out of its call on files */
	PART_LOCK,     /* until another thread let go of a lock: futex, or one of the kernel's */
	PART_MESSAGE,  /* until another thread sent something, ended, ... */
	PART_TIMER,
	PART_KERNEL,  /* I/O that is not the pass-through's */
	PART_OUTSIDE, /* processes that are not captured */
	PART_REST,    /* not known */
	PART_COUNT,
};

static const struct part_name {
	const char *title, *key;
} part_names[PART_COUNT] = {
	[PART_CALLS] = {"CALLS", "calls"},
	[PART_CPU] = {"CPU", "cpu"},
	[PART_QUEUED] = {"NO CPU", "queued"},
	[PART_OTHER_IO] = {"OTHERS' I/O", "other_io"},
	[PART_LOCK] = {"LOCK", "lock"},
	[PART_MESSAGE] = {"MESSAGE", "message"},
	[PART_TIMER] = {"TIMER", "timer"},
	[PART_KERNEL] = {"I/O STACK", "kernel"},
	[PART_OUTSIDE] = {"OUTSIDE", "outside"},
	[PART_REST] = {"UNKNOWN", "unknown"},
};

struct call_span {
	uint64_t start_ns, end_ns;
};

struct thread_calls {
	struct call_span at[KEPT_CALLS];
	uint64_t count;
};

struct row {
	char name[17];
	uint64_t threads, waits;
	uint64_t part_ns[PART_COUNT];
};

/* What the threads of one name waited for in one call. */
struct call_row {
	size_t row;
	uint32_t call;
	uint64_t count;
	uint64_t part_ns[PART_COUNT];
};

struct gaps {
	struct trace_reader *events, *waits;
	struct event next;
	bool has_next;
	VEC(struct thread_calls *) calls; /* by thread */
	VEC(size_t) row_of;               /* by thread, plus 1; 0 = not yet */
	VEC(struct row) rows;
	VEC(struct call_row) call_rows;
	struct map call_row_of; /* (row, call) -> place */
};

/* --- rows --- */

static size_t row_by_name(struct gaps *g, const char *comm)
{
	char name[17] = {0};

	memcpy(name, comm, 16);
	vec_each (row, &g->rows)
		if (!strcmp(row->name, name))
			return (size_t)(row - g->rows.at);
	struct row row = {0};
	memcpy(row.name, name, sizeof(name));
	vec_push(&g->rows, row);
	return g->rows.count - 1;
}

/* What it does from now on it does as another program. */
static void renamed(struct gaps *g, const struct event *ev)
{
	char comm[16] = {0};

	memcpy(comm, ev->value.data, min_u64(ev->value.size, sizeof(comm) - 1));
	while (g->row_of.count <= ev->thread)
		vec_push(&g->row_of, 0);
	size_t row = row_by_name(g, comm) + 1;
	if (g->row_of.at[ev->thread] != row)
		g->rows.at[row - 1].threads++;
	g->row_of.at[ev->thread] = row;
}

/* --- the calls of a thread --- */

static struct thread_calls *calls_of(struct gaps *g, uint32_t thread)
{
	while (g->calls.count <= thread)
		vec_push(&g->calls, NULL);
	if (!g->calls.at[thread])
		g->calls.at[thread] = ALLOC(struct thread_calls);
	return g->calls.at[thread];
}

static bool is_call(const struct event *ev)
{
	return ev->thread && !(ev->event_flags & EVENT_DERIVED) &&
	       op_descs[ev->op].class != CLASS_NOTE;
}

/* Take the events that ended by `until_ns`. */
static int read_calls(struct gaps *g, uint64_t until_ns, struct error *err)
{
	int r = 1;

	for (;;) {
		if (!g->has_next)
			r = trace_reader_next(g->events, &g->next, err);
		if (r <= 0)
			return r;
		g->has_next = true;
		if (event_end_ns(&g->next) > until_ns)
			return 0;
		g->has_next = false;
		if (g->next.op == OP_exec)
			renamed(g, &g->next);
		if (!is_call(&g->next))
			continue;
		struct thread_calls *calls = calls_of(g, g->next.thread);
		calls->at[calls->count++ % KEPT_CALLS] =
			(struct call_span){g->next.start_ns, event_end_ns(&g->next)};
	}
}

/* Time from `start_ns` to `end_ns` in which the thread was in a call. */
static uint64_t time_in_calls(struct gaps *g, uint32_t thread, uint64_t start_ns, uint64_t end_ns)
{
	const struct thread_calls *calls = calls_of(g, thread);
	uint64_t sum = 0, kept = min_u64(calls->count, KEPT_CALLS);

	for (uint64_t i = 1; i <= kept; i++) {
		const struct call_span *c = &calls->at[(calls->count - i) % KEPT_CALLS];
		if (c->end_ns <= start_ns)
			break;
		uint64_t from = max_u64(c->start_ns, start_ns), to = min_u64(c->end_ns, end_ns);
		sum += to > from ? to - from : 0;
	}
	return min_u64(sum, end_ns - start_ns);
}

/* --- waits --- */

static size_t row_of_thread(struct gaps *g, uint32_t thread)
{
	while (g->row_of.count <= thread)
		vec_push(&g->row_of, 0);
	if (!g->row_of.at[thread]) {
		size_t row = row_by_name(g, trace_reader_thread(g->waits, thread)->comm);
		g->rows.at[row].threads++;
		g->row_of.at[thread] = row + 1;
	}
	return g->row_of.at[thread] - 1;
}

static struct call_row *call_row(struct gaps *g, size_t row, uint32_t call)
{
	const uint64_t *place = map_get(&g->call_row_of, row, call);

	if (place)
		return &g->call_rows.at[*place];
	map_put(&g->call_row_of, row, call, g->call_rows.count);
	vec_push(&g->call_rows, (struct call_row){.row = row, .call = call});
	return &g->call_rows.at[g->call_rows.count - 1];
}

/* Calls in which one waits for what others send, not for what they hold. */
static bool hears_others(uint32_t call)
{
	static const bool hears[] = {
		[SYS_accept] = true,
		[SYS_accept4] = true,
		[SYS_connect] = true,
		[SYS_epoll_pwait] = true,
		[SYS_epoll_wait] = true,
		[SYS_pause] = true,
		[SYS_poll] = true,
		[SYS_ppoll] = true,
		[SYS_pselect6] = true,
		[SYS_read] = true,
		[SYS_readv] = true,
		[SYS_recvfrom] = true,
		[SYS_recvmsg] = true,
		[SYS_rt_sigtimedwait] = true,
		[SYS_select] = true,
		[SYS_sendmsg] = true,
		[SYS_sendto] = true,
		[SYS_vfork] = true,
		[SYS_wait4] = true,
		[SYS_waitid] = true,
		[SYS_write] = true,
		[SYS_writev] = true,
	};

	return call && call - 1 < ARRAY_SIZE(hears) && hears[call - 1];
}

static enum part part_of(const struct trace_wait *w)
{
	switch (w->cause) {
	case WAIT_THREAD:
		return hears_others(w->call) ? PART_MESSAGE : PART_LOCK;
	case WAIT_TIMER:
		return PART_TIMER;
	case WAIT_IO:
		return PART_KERNEL;
	case WAIT_EXTERNAL:
		return PART_OUTSIDE;
	case WAIT_UNKNOWN:
	case WAIT_END:
	case WAIT_CAUSES:
		break;
	}
	return PART_REST;
}

static void add(struct row *row, struct call_row *call, enum part part, uint64_t ns)
{
	row->part_ns[part] += ns;
	call->part_ns[part] += ns;
}

static void take_wait(struct gaps *g, const struct trace_wait *w)
{
	size_t at = row_of_thread(g, w->thread);
	struct call_row *call = call_row(g, at, w->call);
	struct row *row = &g->rows.at[at];
	uint64_t woken_ns = w->run_ns - min_u64(w->queued_ns, w->run_ns);
	uint64_t blocked_ns = min_u64(w->blocked_ns, woken_ns);
	uint64_t others = w->cause == WAIT_THREAD && w->waker
	                          ? time_in_calls(g, w->waker, woken_ns - blocked_ns, woken_ns)
	                          : 0;
	uint64_t known = min_u64(w->cpu_ns + w->served_ns, w->since_ns);

	row->waits++;
	call->count += w->cause != WAIT_END;
	row->part_ns[PART_CPU] += min_u64(w->cpu_ns, known);
	row->part_ns[PART_CALLS] += known - min_u64(w->cpu_ns, known);
	row->part_ns[PART_QUEUED] += w->since_ns - known + w->queued_ns;
	add(row, call, PART_OTHER_IO, others);
	add(row, call, part_of(w), w->blocked_ns - others);
}

static int read_both(struct gaps *g, struct error *err)
{
	struct trace_wait w;
	int r;

	while ((r = trace_reader_wait(g->waits, &w, err)) > 0) {
		/* A call that the waker is in ends a little after it woke somebody, if it is long. */
		r = read_calls(g, w.run_ns, err);
		if (r < 0)
			return r;
		take_wait(g, &w);
	}
	/* Only at its end is known whether the trace is whole. */
	return r < 0 ? r : read_calls(g, UINT64_MAX, err);
}

int gaps_read(struct gaps **ret, const char *path, struct error *err)
{
	struct gaps *g = ALLOC(struct gaps);
	int r = trace_reader_open(&g->events, path, err);

	if (!r)
		r = trace_reader_open(&g->waits, path, err);
	if (!r)
		r = read_both(g, err);
	if (!r && !g->rows.count)
		r = error_set(err, ENODATA,
			"%s says nothing about waits: no probe ran when it was captured (see "
			"'fsreel doctor' and capture --probe)",
			path);
	if (r < 0) {
		gaps_free(g);
		return r;
	}
	*ret = g;
	return 0;
}

void gaps_free(struct gaps *g)
{
	if (!g)
		return;
	trace_reader_close(g->events);
	trace_reader_close(g->waits);
	vec_each (calls, &g->calls)
		free(*calls);
	vec_free(&g->calls);
	vec_free(&g->row_of);
	vec_free(&g->rows);
	vec_free(&g->call_rows);
	map_free(&g->call_row_of);
	free(g);
}

const struct trace_health *gaps_health(const struct gaps *g)
{
	return trace_reader_health(g->events);
}

/* --- output --- */

static uint64_t total_ns(const uint64_t part_ns[PART_COUNT])
{
	uint64_t sum = 0;

	for (int i = 0; i < PART_COUNT; i++)
		sum += part_ns[i];
	return sum;
}

static void time_cell(struct table *t, uint64_t ns)
{
	struct unit_text text;

	table_text(t, "%s", ns ? format_ns(ns, &text) : "-");
}

static void part_columns(struct table *t, int first)
{
	for (int i = first; i < PART_COUNT; i++)
		table_column(t, part_names[i].title, part_names[i].key, TABLE_RIGHT);
}

static void part_cells(struct table *t, const uint64_t part_ns[PART_COUNT], int first)
{
	for (int i = first; i < PART_COUNT; i++)
		time_cell(t, part_ns[i]);
}

static void print_threads(const struct gaps *g)
{
	struct table *t = table_new();
	struct unit_text text;

	table_column(t, "THREADS", "threads", TABLE_LEFT);
	table_column(t, "", "count", TABLE_RIGHT);
	table_column(t, "TIME", "total", TABLE_RIGHT);
	part_columns(t, 0);
	vec_each (row, &g->rows) {
		table_text(t, "%s", row->name);
		table_text(t, "%s", format_count(row->threads, &text));
		time_cell(t, total_ns(row->part_ns));
		part_cells(t, row->part_ns, 0);
	}
	table_print(t, stdout);
	table_free(t);
}

static const struct gaps *sorted;

static int longest_first(const void *a, const void *b)
{
	uint64_t x = total_ns(sorted->call_rows.at[*(const size_t *)a].part_ns);
	uint64_t y = total_ns(sorted->call_rows.at[*(const size_t *)b].part_ns);

	return x < y ? 1 : x > y ? -1 : 0;
}

static size_t *longest_calls(const struct gaps *g)
{
	size_t *order = ALLOC_ARRAY(size_t, g->call_rows.count);

	for (size_t i = 0; i < g->call_rows.count; i++)
		order[i] = i;
	sorted = g;
	qsort(order, g->call_rows.count, sizeof(*order), longest_first);
	return order;
}

static void print_calls(const struct gaps *g)
{
	struct table *t = table_new();
	size_t *order = longest_calls(g);
	struct wait_call_text name;
	struct unit_text text;

	table_column(t, "WAITS OF", "threads", TABLE_LEFT);
	table_column(t, "IN", "call", TABLE_LEFT);
	table_column(t, "COUNT", "count", TABLE_RIGHT);
	part_columns(t, PART_OTHER_IO);
	for (size_t i = 0; i < g->call_rows.count; i++) {
		const struct call_row *c = &g->call_rows.at[order[i]];
		if (!c->count)
			continue;
		table_text(t, "%s", g->rows.at[c->row].name);
		table_text(t, "%s", wait_call_name(c->call, &name));
		table_text(t, "%s", format_count(c->count, &text));
		part_cells(t, c->part_ns, PART_OTHER_IO);
	}
	table_print(t, stdout);
	table_free(t);
	free(order);
}

void gaps_print(const struct gaps *g)
{
	print_threads(g);
	puts("Each row adds up to TIME. CALLS: in calls on the captured directory, as far as they\n"
	     "were waits; OTHERS' I/O: until another thread came out of such a call. Only these "
	     "two\n"
	     "depend on the file system.\n");
	print_calls(g);
}

static json_t *parts_json(const uint64_t part_ns[PART_COUNT])
{
	json_t *json = json_object();

	for (int i = 0; i < PART_COUNT; i++)
		json_object_set_new(json, part_names[i].key, json_integer((json_int_t)part_ns[i]));
	return json;
}

json_t *gaps_json(const struct gaps *g)
{
	json_t *threads = json_array(), *waits = json_array();
	struct wait_call_text name;

	vec_each (row, &g->rows)
		json_array_append_new(
			threads, json_pack("{s:o,s:I,s:I,s:o}", "name", json_text(row->name),
					 "threads", (json_int_t)row->threads, "total_ns",
					 (json_int_t)total_ns(row->part_ns), "parts_ns",
					 parts_json(row->part_ns)));
	vec_each (c, &g->call_rows)
		json_array_append_new(
			waits, json_pack("{s:o,s:s,s:I,s:o}", "threads",
				       json_text(g->rows.at[c->row].name), "call",
				       wait_call_name(c->call, &name), "count",
				       (json_int_t)c->count, "parts_ns", parts_json(c->part_ns)));
	return json_pack("{s:b,s:o,s:o}", "complete", gaps_health(g)->complete, "threads", threads,
		"waits", waits);
}

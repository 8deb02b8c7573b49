/* SPDX-License-Identifier: MIT */
/*
 * Up to the first moment of the slice events only move the real world on. Then its state becomes the
 * starting state of the slice and the made world, and from there on each event is looked at:
 *
 *   asked for, or takes away what the made world has?
 *        no  -> the real world follows it
 *        yes -> mend_for(): can it come out as it did?
 *                 yes -> it is written, both worlds follow it
 *                 no  -> it is counted, the real world follows it
 *
 * Events are in the order of their ends, and so a cut between two of them is a state that no call
 * was in the middle of, but for those that began before it and ended after. Of these the ones that
 * changed nothing are left out; the others begin with the slice.
 */
#include "slice.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "mend.h"
#include "paths.h"
#include "progress.h"

#define NO_THREAD UINT32_MAX

struct thread_out {
	uint32_t index;       /* in the slice; NO_THREAD: not declared yet */
	uint64_t cpu_ns;      /* a clock that goes on as the thread's did */
	uint64_t left_out_ns; /* what its last call cost it, if that is not in the slice */
	int8_t wanted;        /* -1: not looked at yet */
};

struct slice {
	const struct slice_options *options;
	struct slice_stats *stats;
	struct trace_reader *in;
	struct trace_writer *out;
	struct trace_buffer *buffer;
	struct realm *real, *made;
	struct mend mend;
	struct paths *paths; /* NULL: nobody asks for paths */
	bool begun, whole;   /* whole: nothing is left out, so nothing can be missing */
	VEC(struct thread_out) threads;
	uint32_t own_thread;
	uint64_t call_cpu_ns, kib_cpu_ns; /* what capturing cost the caller, by call and KiB */
	uint64_t written;                 /* events */
	uint64_t last_end_ns;             /* of the last one, in the slice's time */
	const struct event *now;          /* the event that made-up ones are for; NULL: the start */
};

/* ---- threads ---- */

static struct thread_out *thread_of(struct slice *s, uint32_t index)
{
	while (s->threads.count <= index)
		vec_push(&s->threads, (struct thread_out){NO_THREAD, 1, 0, -1});
	return &s->threads.at[index];
}

static uint32_t thread_declared(struct slice *s, uint32_t index)
{
	struct thread_out *t = thread_of(s, index);

	if (!index)
		return 0;
	if (t->index == NO_THREAD)
		t->index = trace_writer_thread(s->out, trace_reader_thread(s->in, index));
	return t->index;
}

/* A thread for what nobody in the trace did. */
static uint32_t own_thread(struct slice *s)
{
	static const struct trace_thread own = {.comm = "fsreel-slice"};

	if (s->own_thread == NO_THREAD)
		s->own_thread = trace_writer_thread(s->out, &own);
	return s->own_thread;
}

/* ---- writing ---- */

static void write_event(struct slice *s, struct event ev, uint64_t start_ns, uint64_t end_ns)
{
	ev.start_ns = start_ns;
	ev.took_ns = end_ns - start_ns;
	s->last_end_ns = end_ns;
	s->written++;
	trace_put(s->buffer, &ev);
}

static uint64_t in_slice(const struct slice *s, uint64_t ns)
{
	return ns > s->options->from_ns ? ns - s->options->from_ns : 0;
}

/* Just before the event that needs it, by the thread that does. */
static void write_made_up(void *arg, const struct event *made_up)
{
	struct slice *s = arg;
	struct event ev = *made_up;
	uint32_t thread = ev.thread ? ev.thread : s->now ? s->now->thread : 0;
	uint64_t start = s->now ? in_slice(s, s->now->start_ns) : 0;

	if (s->now && s->now->thread)
		thread = s->now->thread;
	ev.thread = thread ? thread_declared(s, thread) : own_thread(s);
	ev.cpu_ns = thread ? thread_of(s, thread)->cpu_ns : 0;
	start = max_u64(start, s->last_end_ns);
	write_event(s, ev, start, start);
}

static void write_kept(struct slice *s, const struct event *ev)
{
	struct event out = *ev;

	out.thread = thread_declared(s, ev->thread);
	s->stats->data_left += out.data != 0;
	out.data = 0;
	if (ev->op == OP_fork && ev->owner < trace_reader_threads(s->in))
		out.owner = thread_declared(s, (uint32_t)ev->owner);
	out.cpu_ns = ev->thread ? thread_of(s, ev->thread)->cpu_ns : 0;
	write_event(s, out, in_slice(s, ev->start_ns), in_slice(s, event_end_ns(ev)));
}

/* ---- which events are asked for ---- */

/* From any level of the path on, and with all that lies below. Longer paths than the kernel takes are
 * those of directories that lie in themselves, in a malformed trace. */
static bool path_matches(const struct opt_list *globs, const char *path)
{
	if (strlen(path) >= PATH_MAX)
		return false;
	for (const char *from = path; from; from = strchr(from, '/')) {
		from += *from == '/';
		for (size_t i = 0; i < globs->count; i++)
			if (!fnmatch(globs->at[i], from, FNM_LEADING_DIR))
				return true;
	}
	return false;
}

static bool file_wanted(const struct slice *s, uint64_t file)
{
	return file && path_matches(s->options->paths, paths_of(s->paths, file));
}

static bool name_wanted(const struct slice *s, uint64_t dir, const struct text *name)
{
	if (!name->size)
		return false;
	char *path = dir == TREE_ROOT ? xasprintf("%.*s", (int)name->size, name->data)
	                              : xasprintf("%s/%.*s", paths_of(s->paths, dir),
						(int)name->size, name->data);
	bool matches = path_matches(s->options->paths, path);
	free(path);
	return matches;
}

static bool path_wanted(const struct slice *s, const struct event *ev)
{
	if (!s->paths)
		return true;
	return file_wanted(s, ev->file) || file_wanted(s, ev->file2) ||
	       (ev->dir && name_wanted(s, ev->dir, &ev->name)) ||
	       (ev->dir2 && name_wanted(s, ev->dir2, &ev->name2));
}

static bool thread_wanted(struct slice *s, uint32_t index)
{
	struct thread_out *t = thread_of(s, index);

	if (t->wanted >= 0)
		return t->wanted;
	const struct trace_thread *declared = trace_reader_thread(s->in, index);
	char tid[16];
	snprintf(tid, sizeof(tid), "%u", declared->tid);
	t->wanted = 0;
	for (size_t i = 0; i < s->options->threads->count; i++)
		t->wanted |= !fnmatch(s->options->threads->at[i], tid, 0) ||
		             !fnmatch(s->options->threads->at[i], declared->comm, 0);
	return t->wanted;
}

/* What the kernel did, it did for the last thread that used the handle. */
static bool doer_wanted(struct slice *s, const struct event *ev)
{
	if (!s->options->threads->count)
		return true;
	const struct realm_handle *h = ev->thread ? NULL : realm_handle(s->real, ev->handle);
	return thread_wanted(s, h ? h->thread : ev->thread);
}

static bool any_op(const struct slice_options *o)
{
	for (unsigned i = 0; i < OP_LIMIT; i++)
		if (o->ops[i])
			return true;
	return false;
}

static bool op_wanted(const struct slice *s, enum op op)
{
	return s->options->ops[op] || !any_op(s->options);
}

static bool is_wanted(struct slice *s, const struct event *ev)
{
	return op_wanted(s, ev->op) && doer_wanted(s, ev) && path_wanted(s, ev);
}

/* ---- one event ---- */

static bool changes_nothing(const struct event *ev)
{
	enum op_class class = op_descs[ev->op].class;

	return ev->result < 0 || class == CLASS_READ || class == CLASS_SYNC ||
	       ev->op == OP_lookup || ev->op == OP_getattr || ev->op == OP_readlink ||
	       ev->op == OP_statfs || ev->op == OP_access || ev->op == OP_getxattr ||
	       ev->op == OP_listxattr || ev->op == OP_readdir;
}

/* No call of a replay is made of it, or nobody would miss that: nothing is made up for it. */
static bool says_little(const struct event *ev)
{
	return ev->op == OP_flush || ev->op == OP_release || ev->op == OP_releasedir ||
	       op_descs[ev->op].class == CLASS_NOTE;
}

/* What it is about is there anyway. */
static bool is_there(const struct slice *s, const struct event *ev)
{
	if (ev->handle)
		return realm_handle(s->made, ev->handle);
	return !ev->file || realm_file(s->made, ev->file);
}

/* What it read is not what the file had at this point of the trace. */
static bool is_raced(const struct slice *s, const struct event *ev)
{
	const struct realm_file *file = realm_file(s->real, ev->file);
	bool reads = ev->op == OP_read || ev->op == OP_copy_file_range;

	if (!reads || ev->result < 0 || !file || !S_ISREG(file->mode))
		return false;
	uint64_t there = file->size > ev->offset ? file->size - ev->offset : 0;
	return (uint64_t)ev->result != min_u64(there, ev->size);
}

static void keep(struct slice *s, const struct event *ev, uint64_t *counter)
{
	struct event out = *ev;

	if (is_raced(s, ev)) {
		out.event_flags |= EVENT_RACED;
		s->stats->raced++;
	}
	write_kept(s, &out);
	realm_event(s->made, ev);
	++*counter;
}

static void look_at_event(struct slice *s, const struct event *ev)
{
	bool wanted = is_wanted(s, ev);

	if (!wanted && !mend_must_follow(&s->mend, ev))
		return;
	if (ev->start_ns < s->options->from_ns && changes_nothing(ev)) {
		s->stats->under_way++;
		return;
	}
	if (says_little(ev) && !is_there(s, ev))
		return;
	s->now = ev;
	if (s->whole || says_little(ev) || mend_for(&s->mend, ev))
		keep(s, ev, wanted ? &s->stats->kept : &s->stats->followed);
	else
		s->stats->impossible += wanted;
}

/* ---- CPU clocks ---- */

/* What the capture cost the caller is known to the replay for the calls that it makes; for those left
 * out it is taken off here. It shows in the CPU time before the next call. */
static void clock_before(struct slice *s, const struct event *ev)
{
	struct thread_out *t = thread_of(s, ev->thread);

	t->cpu_ns += ev->cpu_ns - min_u64(ev->cpu_ns, t->left_out_ns);
	t->left_out_ns = 0;
}

static void clock_after(struct slice *s, const struct event *ev, bool left_out)
{
	bool moves = ev->op == OP_read || ev->op == OP_write;
	uint64_t kib = moves && ev->result > 0 ? (uint64_t)ev->result / 1024 : 0;

	if (left_out)
		thread_of(s, ev->thread)->left_out_ns = s->call_cpu_ns + kib * s->kib_cpu_ns;
}

static uint64_t meta_ns(const struct slice *s, const char *key)
{
	json_int_t ns = json_integer_value(json_object_get(trace_reader_meta(s->in), key));

	return ns > 0 ? min_u64((uint64_t)ns, NSEC_PER_MSEC) : 0;
}

/* ---- the start ---- */

static bool entry_wanted(void *arg, const struct realm_file *file)
{
	struct slice *s = arg;

	return !s->paths || file_wanted(s, file->id);
}

static int put_entry(void *arg, const struct tree_entry *entry, struct error *err)
{
	struct slice *s = arg;

	realm_tree(s->made, entry);
	return trace_writer_tree(s->out, entry, err);
}

/* Files without a name begin with one, which goes once they are open. */
struct nameless {
	struct slice *s;
	VEC(struct realm_file *) files;
	struct error *err;
	int r;
};

static int put_nameless(void *arg, struct realm_file *file)
{
	struct nameless *n = arg;
	struct mend_name room;

	if (!mend_needs_name(file) || !entry_wanted(n->s, file))
		return 0;
	struct tree_entry e = {.id = file->id,
		.parent = TREE_ROOT,
		.name = mend_name(&room, file),
		.mode = file->mode,
		.uid = file->uid,
		.gid = file->gid,
		.size = file->size,
		.mtime_ns = file->mtime_ns,
		.content = realm_content(file),
		.extents = file->data.at,
		.extent_count = file->data.count};
	vec_push(&n->files, file);
	n->r = put_entry(n->s, &e, n->err);
	return n->r;
}

static void open_nameless(struct slice *s, const struct realm_file *file)
{
	struct mend_name room;

	mend_nameless(&s->mend, file, mend_name(&room, file));
}

/* The state of the real world at this moment is where the slice begins. */
static int begin(struct slice *s, struct error *err)
{
	const struct realm_visitor v = {entry_wanted, put_entry, s};
	struct nameless n = {.s = s, .err = err};

	s->begun = true;
	s->made = realm_new();
	s->mend = (struct mend){.real = s->real, .made = s->made, .emit = write_made_up, .arg = s};
	int r = realm_entries(s->real, &v, err);
	if (r >= 0)
		realm_each(s->real, put_nameless, &n);
	r = r < 0 ? r : n.r;
	s->buffer = trace_buffer_new(s->out);
	for (size_t i = 0; r >= 0 && i < n.files.count; i++)
		open_nameless(s, n.files.at[i]);
	vec_free(&n.files);
	return r;
}

/* ---- the whole ---- */

static int read_tree(struct slice *s, struct error *err)
{
	struct tree_entry entry;
	int r;

	while ((r = trace_reader_tree(s->in, &entry, err)) > 0) {
		realm_tree(s->real, &entry);
		if (s->paths)
			paths_tree(s->paths, &entry);
	}
	return r;
}

static void follow(struct slice *s, const struct event *ev)
{
	realm_event(s->real, ev);
	if (s->paths)
		paths_event(s->paths, ev);
}

static int read_events(struct slice *s, uint64_t expected, struct error *err)
{
	struct progress progress;
	struct event ev;
	uint64_t count = 0;
	int r;

	progress_start(&progress, "slicing", expected);
	while ((r = trace_reader_next(s->in, &ev, err)) > 0 &&
		event_end_ns(&ev) <= s->options->to_ns) {
		if (!s->begun && event_end_ns(&ev) >= s->options->from_ns)
			r = begin(s, err);
		if (r < 0)
			break;
		clock_before(s, &ev);
		uint64_t written = s->written;
		if (s->begun)
			look_at_event(s, &ev);
		clock_after(s, &ev, s->written == written);
		follow(s, &ev);
		if (++count % 4096 == 0)
			progress_update(&progress, count);
	}
	progress_end(&progress);
	if (r >= 0 && !s->begun)
		r = begin(s, err);
	return r < 0 ? r : 0;
}

static json_t *meta_of(const struct slice *s)
{
	const struct slice_options *o = s->options;
	json_t *meta = o->anonymizer ? anonymize_meta(trace_reader_meta(s->in))
	                             : json_deep_copy(trace_reader_meta(s->in));
	json_t *slice = json_pack("{s:I,s:b,s:b,s:b,s:b}", "from_ns", (json_int_t)o->from_ns,
		"cut_short", s->stats->cut_short, "by_path", o->paths->count > 0, "by_thread",
		o->threads->count > 0, "by_operation", any_op(o));

	if (o->to_ns != UINT64_MAX)
		json_object_set_new(slice, "to_ns", json_integer((json_int_t)o->to_ns));
	if (json_object_get(meta, "content"))
		json_object_set_new(meta, "content", json_string("class"));
	json_object_set_new(meta, "slice", slice);
	return meta;
}

/* What is wrong with the input is known from its end, if it has one. */
static uint64_t look_at_totals(struct slice *s, uint64_t *ret_events)
{
	struct trace_totals totals = {0};

	s->stats->cut_short = trace_reader_totals(s->in, &totals) < 0;
	*ret_events = totals.events;
	return totals.lost;
}

static int slice_all(struct slice *s, struct error *err)
{
	uint64_t events = 0, lost = look_at_totals(s, &events);
	int r = read_tree(s, err);

	if (r >= 0)
		r = read_events(s, events, err);
	trace_writer_lost(s->out, lost);
	s->stats->made_up = s->mend.made_up;
	s->stats->hollow_reads = s->mend.hollow_reads;
	s->stats->waits_left = trace_reader_health(s->in)->waits;
	s->stats->unknown = trace_reader_health(s->in)->unknown;
	s->stats->cut_short |= trace_reader_health(s->in)->torn;
	return r;
}

static void slice_done(struct slice *s)
{
	realm_free(s->real);
	realm_free(s->made);
	paths_free(s->paths);
	vec_free(&s->threads);
}

int slice_write(struct trace_reader *in, const char *path, const struct slice_options *options,
	struct slice_stats *ret, struct error *err)
{
	struct slice s = {.options = options, .stats = ret, .in = in, .own_thread = NO_THREAD};
	uint64_t events;

	*ret = (struct slice_stats){0};
	look_at_totals(&s, &events);
	json_t *meta = meta_of(&s);
	int r = trace_writer_open(&s.out, path, meta, err);
	json_decref(meta);
	if (r < 0)
		return r;
	if (options->anonymizer)
		trace_writer_anonymize(s.out, options->anonymizer);
	s.real = realm_new();
	s.paths = options->paths->count ? paths_new() : NULL;
	s.whole = !options->from_ns && !options->paths->count && !options->threads->count &&
	          !any_op(options);
	s.call_cpu_ns = meta_ns(&s, "client_cpu_ns");
	s.kib_cpu_ns = meta_ns(&s, "client_cpu_ns_per_kib");
	r = slice_all(&s, err);
	int closed = trace_writer_close(s.out, &ret->totals, r < 0 ? NULL : err);
	slice_done(&s);
	r = r < 0 ? r : closed;
	if (r < 0)
		unlink(path);
	return r;
}

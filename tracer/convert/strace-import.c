/* SPDX-License-Identifier: MIT */
/*
 * The list is read from front to back, and each call changes a picture of what exists: files and names
 * (world.h), threads and their descriptors (strace-task.h). Calls below the root become events.
 *
 * A trace begins with what existed, and that shows only in the course of the list. So it is read for
 * the picture alone until nothing new is found (world.h), and then once more for the events.
 *
 * Events are in the order of the lines in which the calls end: that is the order in which strace saw
 * them end. Where times disagree with it by the microsecond they are rounded to, the line is right.
 */
#include "strace-import.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "interrupt.h"
#include "progress.h"

#define LINE_MAX_SIZE (64u << 20)
#define READINGS_MAX  6
#define WORLD_MAX     (1u << 24) /* files and names */

void import_complain(struct import *im, const struct call *c, const char *fmt, ...)
{
	struct import_report *report = im->report;
	va_list args;

	if (!im->writer)
		return;
	uint64_t at = report->complaints++;
	if (at >= IMPORT_COMPLAINTS)
		return;
	report->complaint[at].line = c->line;
	va_start(args, fmt);
	vsnprintf(report->complaint[at].text, sizeof(report->complaint[at].text), fmt, args);
	va_end(args);
}

void import_note(struct import *im, struct text name)
{
	struct import_report *report = im->report;

	if (!im->writer)
		return;
	for (size_t i = 0; i < report->note_count; i++)
		if (text_is(name, report->notes[i].name)) {
			report->notes[i].count++;
			return;
		}
	if (report->note_count == IMPORT_NOTES || name.size >= sizeof(report->notes[0].name))
		return;
	struct import_note *note = &report->notes[report->note_count++];
	*note = (struct import_note){.count = 1};
	memcpy(note->name, name.data, name.size);
}

/* ---- events ---- */

static uint32_t thread_of(struct import *im, struct task *task)
{
	struct trace_thread t = {.tid = task->pid, .tgid = task->tgid};

	if (!task->thread) {
		memcpy(t.comm, task->comm, sizeof(t.comm));
		task->thread = trace_writer_thread(im->writer, &t);
	}
	return task->thread;
}

void import_event(struct import *im, struct call *c, struct event ev)
{
	const uint64_t start = c->start_ns, end = max_u64(c->end_ns, im->last_end_ns);

	c->start_ns = c->end_ns = end;
	if (!im->writer)
		return;
	im->last_end_ns = end;
	ev.thread = thread_of(im, c->task);
	ev.start_ns = start;
	ev.took_ns = end - start;
	trace_put(im->buffer, &ev);
}

/* ---- calls ---- */

static bool is_path_below(const struct import *im, struct text t)
{
	size_t n = strlen(im->root);

	return t.size >= n && !memcmp(t.data, im->root, n) && (t.size == n || t.data[n] == '/');
}

/* A call that is not in the tables: does it concern a file below the root? */
static void unknown_call(struct import *im, struct call *c)
{
	struct text shown;
	int fd;

	for (size_t i = 0; i < c->args.count; i++)
		if (arg_fd(c->args.at[i], &fd, &shown) && shown.size && is_path_below(im, shown)) {
			import_complain(im, c, "%.*s() on a file below the directory",
				(int)min_u64(c->name.size, 40), c->name.data);
			return;
		}
}

static void call_ended(struct import *im, struct call *c)
{
	im->report->calls++;
	if (!calls_names(im, c) && !calls_data(im, c))
		unknown_call(im, c);
}

static uint64_t since_epoch(const struct import *im, uint64_t ns)
{
	return ns > im->epoch_ns ? ns - im->epoch_ns : 0;
}

static struct call call_of(
	const struct import *im, struct task *task, const struct strace_line *l, uint64_t line)
{
	struct call c = {.task = task,
		.name = l->name,
		.value = l->value,
		.has_result = l->has_result,
		.result = l->has_result ? l->result : -EINTR,
		.start_ns = since_epoch(im, l->time_ns),
		.line = line};

	c.end_ns = c.start_ns + l->took_ns;
	return c;
}

/* What close() takes away is free again before close() returns. */
static void begin_close(struct import *im, struct task *task)
{
	struct pending *p = &task->pending;
	struct strace_args args;
	struct text shown;
	int fd;

	if (!text_is(p->name, "close"))
		return;
	arg_split(p->args, &args);
	if (arg_fd(args.at[0], &fd, &shown))
		p->closing = task_take_fd(&im->tasks, task, fd);
}

static void end_pending(struct import *im, struct call *c)
{
	struct pending *p = &c->task->pending;

	if (p->closing) {
		c->closing = p->closing;
		p->closing = NULL;
	}
	p->active = false;
}

/* A call that never ended, as far as the list goes. */
static void drop_pending(struct import *im, struct task *task, uint64_t line)
{
	struct pending *p = &task->pending;
	struct call c = {.task = task, .line = line, .start_ns = since_epoch(im, p->time_ns)};

	c.end_ns = c.start_ns;
	if (p->closing)
		data_close(im, &c, p->closing, false);
	p->closing = NULL;
	p->active = false;
}

static void line_unfinished(
	struct import *im, struct task *task, const struct strace_line *l, uint64_t line)
{
	struct pending *p = &task->pending;

	drop_pending(im, task, line);
	free((char *)(uintptr_t)p->name.data);
	char *copy = xmalloc(l->name.size + l->args.size + 1);
	memcpy(copy, l->name.data, l->name.size);
	memcpy(copy + l->name.size, l->args.data, l->args.size);
	p->name = (struct text){copy, l->name.size};
	p->args = (struct text){copy + l->name.size, l->args.size};
	p->time_ns = l->time_ns;
	p->line = line;
	p->active = true;
	task_begun(&im->tasks, task);
	begin_close(im, task);
}

static void line_resumed(
	struct import *im, struct task *task, const struct strace_line *l, uint64_t line)
{
	struct pending *p = &task->pending;
	struct call c = call_of(im, task, l, line);

	if (!p->active || p->name.size != l->name.size ||
		memcmp(p->name.data, l->name.data, l->name.size) != 0) {
		import_complain(im, &c, "it ends a call that did not begin");
		return;
	}
	auto_free char *joined = xmalloc(p->args.size + l->args.size + 1);
	memcpy(joined, p->args.data, p->args.size);
	memcpy(joined + p->args.size, l->args.data, l->args.size);
	arg_split((struct text){joined, p->args.size + l->args.size}, &c.args);
	c.start_ns = since_epoch(im, p->time_ns);
	c.end_ns = l->took_known ? c.start_ns + l->took_ns : since_epoch(im, l->time_ns);
	end_pending(im, &c);
	call_ended(im, &c);
	if (c.closing)
		data_close(im, &c, c.closing, false);
}

static void line_exit(
	struct import *im, struct task *task, const struct strace_line *l, uint64_t line)
{
	struct call c = call_of(im, task, l, line);

	c.end_ns = c.start_ns;
	drop_pending(im, task, line);
	data_exit(im, &c);
	task_end(&im->tasks, task);
}

/* A thread that is new is the child of whichever clone() is under way. */
static struct task *task_at(struct import *im, uint32_t pid)
{
	struct task *task = task_find(&im->tasks, pid), *parent;
	struct strace_args args;
	uint64_t flags = 0;

	if (task)
		return task;
	parent = task_cloning(&im->tasks);
	if (!parent)
		return task_of(&im->tasks, pid);
	parent->pending.cloning = false;
	arg_split(parent->pending.args, &args);
	for (size_t i = 0; i < args.count; i++) {
		const char *key = memmem(args.at[i].data, args.at[i].size, "flags=", 6);
		if (key)
			flags |= arg_flags(text_cut(
				args.at[i], (size_t)(key - args.at[i].data) + 6, args.at[i].size));
	}
	return task_clone(&im->tasks, parent, pid, flags);
}

static void line_call(
	struct import *im, struct task *task, const struct strace_line *l, uint64_t line)
{
	struct call c = call_of(im, task, l, line);

	arg_split(l->args, &c.args);
	call_ended(im, &c);
}

static int check_time(struct import *im, const struct strace_line *l, struct error *err)
{
	if (!l->timed)
		return error_set(
			err, 0, "there are no time stamps in it; run strace with -f -yy -ttt -T");
	if (!im->timed)
		im->epoch_ns = l->time_ns;
	im->timed = true;
	return 0;
}

static int one_line(struct import *im, struct text text, uint64_t line, struct error *err)
{
	const struct call where = {.line = line};
	struct strace_line l;

	strace_line_parse(text, &l);
	if (l.kind == LINE_IGNORED)
		return 0;
	if (l.kind == LINE_BAD) {
		import_complain(im, &where, "not a line of strace: %.*s",
			(int)min_u64(text.size, 60), text.data);
		return 0;
	}
	int r = check_time(im, &l, err);
	struct task *task = r < 0 ? NULL : task_at(im, l.pid);
	if (r == 0 && (!task || im->full || world_count(im->world) > WORLD_MAX))
		return error_set(err, E2BIG,
			"line %llu: more threads, descriptors or files than can be",
			(unsigned long long)line);
	if (r < 0)
		return r;
	if (l.kind == LINE_CALL)
		line_call(im, task, &l, line);
	else if (l.kind == LINE_UNFINISHED)
		line_unfinished(im, task, &l, line);
	else if (l.kind == LINE_RESUMED)
		line_resumed(im, task, &l, line);
	else
		line_exit(im, task, &l, line);
	return 0;
}

/* ---- reading ---- */

static int read_lines(struct import *im, FILE *f, uint64_t total, struct error *err)
{
	auto_free char *line = NULL;
	struct progress progress;
	size_t room = 0;
	uint64_t done = 0;
	ssize_t n;
	int r = 0;

	rewind(f);
	im->report->lines = im->report->calls = 0;
	progress_start(&progress, im->writer ? "importing" : "looking what existed", total);
	while (r == 0 && (n = getline(&line, &room, f)) > 0) {
		done += (uint64_t)n;
		n -= line[n - 1] == '\n';
		if ((size_t)n > LINE_MAX_SIZE)
			r = error_set(err, E2BIG, "line %llu is too long",
				(unsigned long long)im->report->lines + 1);
		else
			r = one_line(im, (struct text){line, (size_t)n}, ++im->report->lines, err);
		if (im->report->lines % 4096 == 0) {
			progress_update(&progress, done);
			if (interrupted())
				r = error_set(err, EINTR, "interrupted");
		}
	}
	progress_end(&progress);
	return r == 0 && ferror(f) ? error_set(err, EIO, "cannot be read") : r;
}

static void import_done(struct import *im)
{
	tasks_done(&im->tasks);
	map_free(&im->locks);
	map_free(&im->attributes);
	bytes_free(&im->path);
	bytes_free(&im->link);
	bytes_free(&im->text);
	bytes_free(&im->text2);
}

/* The files that are open when the list ends stay open in the trace, as in a capture that is cut. */
static int reading(struct import *im, FILE *f, uint64_t total, struct error *err)
{
	tasks_init(&im->tasks, world_root(im->world));
	int r = read_lines(im, f, total, err);
	import_done(im);
	return r;
}

/* What existed, as far as the list shows. */
static int find_start(struct world **ret, FILE *f, uint64_t total, const char *root,
	struct import_report *report, struct error *err)
{
	struct world *found = NULL;
	bool grew = true;
	int r = 0;

	for (report->readings = 0; r == 0 && grew && report->readings < READINGS_MAX;
		report->readings++) {
		struct import im = {
			.report = report, .root = root, .world = world_new(root, found)};
		r = reading(&im, f, total, err);
		grew = world_grew(im.world);
		world_free(found);
		found = im.world;
	}
	*ret = found;
	return r;
}

static int put_entry(void *arg, const struct tree_entry *e, struct error *err)
{
	return trace_writer_tree(arg, e, err);
}

static int write_events(struct import *im, FILE *f, uint64_t total, struct error *err)
{
	int r = world_tree(im->world, put_entry, im->writer, err);

	im->buffer = trace_buffer_new(im->writer);
	return r < 0 ? r : reading(im, f, total, err);
}

static int write_trace(struct import *im, FILE *f, uint64_t total, const char *source,
	const char *out, struct error *err)
{
	json_t *meta = json_pack("{s:s,s:s,s:s,s:s}", "fsreel", FSREEL_VERSION, "imported_from",
		"strace", "source_file", source, "source", im->root);
	int r = meta ? trace_writer_open(&im->writer, out, meta, err)
	             : error_set(err, EINVAL, "a path is not UTF-8");

	json_decref(meta);
	if (r < 0)
		return r;
	r = write_events(im, f, total, err);
	struct error closing = {0};
	int closed = trace_writer_close(im->writer, &im->report->totals, &closing);
	if (r == 0 && closed < 0) {
		*err = closing;
		r = closed;
	}
	if (r < 0)
		unlink(out);
	return r;
}

int import_strace(const char *path, const char *root, const char *out, struct import_report *ret,
	struct error *err)
{
	auto_fclose FILE *f = fopen(path, "re");
	struct world *found = NULL;
	struct stat st;

	*ret = (struct import_report){0};
	if (!f || fstat(fileno(f), &st) < 0)
		return error_errno(err, errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EINVAL, "%s is not a file; it is read several times", path);
	int r = find_start(&found, f, (uint64_t)st.st_size, root, ret, err);
	if (r == 0) {
		struct import im = {.report = ret, .root = root, .world = world_new(root, found)};
		world_freeze(im.world);
		r = write_trace(&im, f, (uint64_t)st.st_size, path, out, err);
		world_free(im.world);
	}
	world_free(found);
	return r < 0 ? error_wrap(err, "%s", path) : 0;
}

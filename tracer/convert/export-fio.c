/* SPDX-License-Identifier: MIT */
/*
 * A directory for fio: one log (iolog version 3) and one job per thread, and replay.fio, which runs
 * them. fio ignores actions that it does not know, so only those that it knows are written, and what
 * it cannot say is counted.
 *
 * A job "setup" comes first. It makes every file that is used, large enough for all that is read from
 * it: fio knows no order between jobs, so a file that one thread makes and another one reads has to be
 * there before. For the same reason a read is as long as what it got, and reads that got nothing are
 * left out. Files lie side by side in the directory in which fio is started (fio makes no directories
 * for names in a log, and crashes if "directory" is set): a slash in a path becomes %2f.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "content.h"
#include "escape.h"
#include "export.h"
#include "io.h"
#include "map.h"
#include "sink.h"
#include "vec.h"

#define LOG_ROOM     16384 /* text of one thread before it is written */
#define NAME_MAX_FIO 200   /* fio reads 256 bytes */
#define FILL_SIZE    (UINT64_C(1) << 20)
#define TAIL_SIZE    UINT64_C(4096)
/* Of all files; what is beyond stays a hole. A trace may name any offset. */
#define FILL_MAX (UINT64_C(1) << 40)

struct fio_file {
	char *name; /* NULL: not used yet */
	uint64_t size, read_end;
};

struct fio_log {
	char *text;
	size_t used;
	uint64_t last_us;
	bool begun;
	/* Of reads and writes: all, with O_DIRECT, with O_DSYNC. */
	uint64_t data[2], direct[2], dsync[2];
};

struct fio {
	int dir;
	char *path;        /* of the directory when all is done */
	struct map index;  /* file id -> place in files */
	struct map names;  /* hash of a name -> file id */
	struct map opened; /* (thread, file): the log has it open */
	VEC(struct fio_file) files;
	VEC(struct fio_log) logs; /* by thread */
};

static struct fio_file *file_of(struct fio *f, uint64_t id)
{
	const uint64_t *at = map_get(&f->index, id, 0);

	if (at)
		return &f->files.at[*at];
	map_put(&f->index, id, 0, f->files.count);
	vec_push(&f->files, (struct fio_file){0});
	return &f->files.at[f->files.count - 1];
}

/* The directory as it will be called, for the paths in the job file. */
static char *final_path(const char *partial)
{
	auto_free char *made = realpath(partial, NULL);

	return made ? xasprintf("%.*s", (int)(strlen(made) - strlen(".part")), made) : NULL;
}

static int fio_begin(struct export *x, struct error *err)
{
	struct fio *f = ALLOC(struct fio);

	x->own = f;
	f->dir = -1;
	if (mkdir(x->out, 0777) < 0)
		return error_errno(err, errno, "cannot make %s", x->out);
	f->dir = open(x->out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	f->path = final_path(x->out);
	if (f->dir < 0 || !f->path)
		return error_errno(err, errno, "%s", x->out);
	if (strpbrk(f->path, ": \t\n#;"))
		return error_set(err, 0,
			"fio cannot take the path %s: it has a colon, a space or"
			" a comment sign in it",
			f->path);
	return 0;
}

static int fio_tree(struct export *x, const struct tree_entry *e, struct error *err)
{
	if (S_ISREG(e->mode) && !e->again)
		file_of(x->own, e->id)->size = e->size;
	return 0;
}

/* ---- logs ---- */

static void log_name(uint32_t thread, char out[32])
{
	snprintf(out, 32, "thread-%u.log", thread);
}

static int append(const struct fio *f, const char *name, const char *text, size_t size)
{
	auto_close int fd = openat(f->dir, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	return fd < 0 ? -errno : write_all(fd, text, size);
}

static int log_flush(const struct fio *f, uint32_t thread)
{
	struct fio_log *log = &f->logs.at[thread];
	char name[32];

	log_name(thread, name);
	int r = append(f, name, log->text, log->used);
	log->used = 0;
	return r;
}

static int log_line(struct fio *f, uint32_t thread, const char *fmt, ...) attr_printf(3, 4);

static int log_line(struct fio *f, uint32_t thread, const char *fmt, ...)
{
	struct fio_log *log = &f->logs.at[thread];
	va_list args;
	int r = 0;

	if (log->used + 512 > LOG_ROOM)
		r = log_flush(f, thread);
	va_start(args, fmt);
	log->used += (size_t)vsnprintf(log->text + log->used, LOG_ROOM - log->used, fmt, args);
	va_end(args);
	return r;
}

static int log_begin(struct fio *f, uint32_t thread)
{
	while (f->logs.count <= thread)
		vec_push(&f->logs, (struct fio_log){0});
	struct fio_log *log = &f->logs.at[thread];
	if (log->begun)
		return 0;
	log->begun = true;
	log->text = xmalloc(LOG_ROOM);
	return log_line(f, thread, "fio version 3 iolog\n");
}

/* ---- names ---- */

/* By its path at first use; by its number where that is too long or was another file's before. */
static void name_file(struct export *x, struct fio_file *file, uint64_t id)
{
	struct fio *f = x->own;
	const char *path = paths_of(x->paths, id);

	file->name = escape_word((struct text){path, strlen(path)});
	uint64_t hash = content_hash(file->name, strlen(file->name));
	const uint64_t *other = map_get(&f->names, hash, 0);
	if (!other && strlen(file->name) <= NAME_MAX_FIO) {
		map_put(&f->names, hash, 0, id);
		return;
	}
	char *name = xasprintf("%.*s%%%llu", NAME_MAX_FIO, file->name, (unsigned long long)id);
	free(file->name);
	file->name = name;
}

/* ---- events ---- */

static const char *const actions[OP_LIMIT] = {
	[OP_read] = "read",
	[OP_write] = "write",
	[OP_fsync] = "sync",
	[OP_fdatasync] = "datasync",
};

static bool moves_data(enum op op)
{
	return op == OP_read || op == OP_write;
}

static int put_action(struct export *x, const struct event *ev, const char *action)
{
	struct fio *f = x->own;
	int r = log_begin(f, ev->thread);
	struct fio_log *log = &f->logs.at[ev->thread];
	struct fio_file *file = file_of(f, ev->file);
	/* Never back: fio would take it for a very long wait. */
	uint64_t us = max_u64(ev->start_ns / 1000, log->last_us);
	unsigned long long at = us, size = moves_data(ev->op) ? (unsigned long long)ev->result : 0,
			   offset = moves_data(ev->op) ? ev->offset : 0;

	log->last_us = us;
	if (!file->name)
		name_file(x, file, ev->file);
	if (!r && !map_get(&f->opened, ev->thread, ev->file)) {
		map_put(&f->opened, ev->thread, ev->file, 1);
		r = log_line(f, ev->thread, "%llu %s add\n%llu %s open\n", at, file->name, at,
			file->name);
	}
	return r ? r
	         : log_line(f, ev->thread, "%llu %s %s %llu %llu\n", at, file->name, action, offset,
			   size);
}

static int put_close(struct export *x, const struct event *ev)
{
	struct fio *f = x->own;

	if (!map_del(&f->opened, ev->thread, ev->file))
		return 0;
	struct fio_log *log = &f->logs.at[ev->thread];
	log->last_us = max_u64(ev->start_ns / 1000, log->last_us);
	return log_line(f, ev->thread, "%llu %s close\n", (unsigned long long)log->last_us,
		file_of(f, ev->file)->name);
}

static void count_data(struct fio *f, const struct event *ev)
{
	struct fio_log *log = &f->logs.at[ev->thread];
	const int kind = ev->op == OP_write;

	log->data[kind]++;
	log->direct[kind] += (ev->flags & O_DIRECT) != 0;
	log->dsync[kind] += kind && (ev->flags & O_DSYNC);
	if (ev->op == OP_read) {
		struct fio_file *file = file_of(f, ev->file);
		file->read_end = max_u64(file->read_end, ev->offset + (uint64_t)ev->result);
	}
}

static bool can_say(const struct event *ev)
{
	if (!actions[ev->op] || !ev->file)
		return false;
	if (!moves_data(ev->op))
		return ev->result == 0;
	return ev->result > 0 && ev->offset <= INT64_MAX - (uint64_t)ev->result;
}

/* Files are opened at their first use and closed where the last handle is. */
static bool goes_without_saying(enum op op)
{
	return op == OP_open || op == OP_flush || op == OP_release;
}

static int fio_event(struct export *x, const struct event *ev, struct error *err)
{
	int r = 0;

	if (ev->event_flags & EVENT_DERIVED)
		return 0;
	if (can_say(ev))
		r = put_action(x, ev, actions[ev->op]);
	else if (ev->op == OP_release)
		r = put_close(x, ev);
	else if (!goes_without_saying(ev->op))
		x->unsaid[ev->op]++;
	if (!r && can_say(ev) && moves_data(ev->op))
		count_data(x->own, ev);
	return r < 0 ? error_errno(err, r, "cannot write the logs") : 0;
}

/* ---- the end ---- */

static void setup_write(struct sink *s, const char *name, uint64_t offset, uint64_t size)
{
	sink_lit(s, "0 ");
	sink_text(s, name);
	sink_lit(s, " write ");
	sink_u64(s, offset);
	sink_char(s, ' ');
	sink_u64(s, size);
	sink_char(s, '\n');
}

static void setup_action(struct sink *s, const char *name, const char *action)
{
	sink_lit(s, "0 ");
	sink_text(s, name);
	sink_text(s, action);
}

/* Data as far as it is read; beyond that the size alone. */
static void setup_file(struct sink *s, const struct fio_file *file, uint64_t *budget)
{
	uint64_t size = max_u64(file->size, file->read_end), at = 0;
	uint64_t fill = min_u64(file->read_end, *budget);

	setup_action(s, file->name, " add\n");
	setup_action(s, file->name, " open\n");
	for (; at < fill; at += FILL_SIZE)
		setup_write(s, file->name, at, min_u64(FILL_SIZE, fill - at));
	if (size > fill) {
		uint64_t tail = min_u64(TAIL_SIZE, size - fill);
		setup_write(s, file->name, size - tail, tail);
	}
	setup_action(s, file->name, " close\n");
	*budget -= fill;
}

static int put_setup(const struct fio *f)
{
	auto_close int fd = openat(f->dir, "setup.log", O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	struct sink *s = sink_new(fd);
	const struct fio_file *any = NULL;
	uint64_t budget = FILL_MAX;
	bool written = false;

	sink_lit(s, "fio version 3 iolog\n");
	vec_each (file, &f->files) {
		if (!file->name)
			continue;
		any = file;
		setup_file(s, file, &budget);
		written = written || file->size || file->read_end;
	}
	/* Without a write fio would not make the files. */
	if (any && !written) {
		setup_action(s, any->name, " open\n");
		setup_write(s, any->name, 0, 1);
		setup_action(s, any->name, " close\n");
	}
	int r = fd < 0 ? -errno : sink_flush(s);
	sink_free(s);
	return r;
}

static void put_job(struct export *x, struct sink *s, uint32_t thread)
{
	const struct trace_thread *t = trace_reader_thread(x->trace, thread);
	const struct fio *f = x->own;
	const struct fio_log *log = &f->logs.at[thread];
	bool direct = log->data[0] + log->data[1] > 0 &&
	              log->direct[0] + log->direct[1] == log->data[0] + log->data[1];
	bool dsync = log->data[1] && log->dsync[1] == log->data[1];
	char name[32];

	log_name(thread, name);
	auto_free char *word =
		escape_word((struct text){t->comm, strnlen(t->comm, sizeof(t->comm))});
	auto_free char *text = xasprintf("\n[%s-%u-%u]\nread_iolog=%s/%s\n%s%s", word, t->tid,
		thread, f->path, name, direct ? "direct=1\n" : "", dsync ? "sync=dsync\n" : "");
	sink_text(s, text);
	for (int kind = 0; kind < 2; kind++) {
		uint64_t weak =
			max_u64(direct ? 0 : log->direct[kind], dsync ? 0 : log->dsync[kind]);
		x->weakened[kind ? OP_write : OP_read] += weak;
	}
}

static int put_jobs(struct export *x)
{
	const struct fio *f = x->own;
	auto_close int fd = openat(f->dir, "replay.fio", O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	struct sink *s = sink_new(fd);
	bool first = true;

	sink_lit(s, "; In an empty directory on the file system in question:  fio ");
	sink_text(s, f->path);
	sink_lit(s, "/replay.fio\n; As fast as it goes, without the times of the logs: add"
		    " replay_no_stall=1 to [global].\n[global]\nioengine=psync\nthread=1\n"
		    "\n[setup]\nread_iolog=");
	sink_text(s, f->path);
	sink_lit(s, "/setup.log\nreplay_no_stall=1\n");
	for (uint32_t i = 0; i < f->logs.count; i++) {
		if (!f->logs.at[i].begun)
			continue;
		put_job(x, s, i);
		if (first)
			sink_lit(s, "stonewall\n");
		first = false;
	}
	int r = fd < 0 ? -errno : sink_flush(s);
	sink_free(s);
	return r;
}

static int fio_end(struct export *x, struct error *err)
{
	struct fio *f = x->own;
	int r = 0;

	for (uint32_t i = 0; i < f->logs.count && !r; i++)
		if (f->logs.at[i].begun)
			r = log_flush(f, i);
	if (!r)
		r = put_setup(f);
	if (!r)
		r = put_jobs(x);
	return r < 0 ? error_errno(err, r, "cannot write the logs") : 0;
}

static void fio_free(struct export *x)
{
	struct fio *f = x->own;

	if (!f)
		return;
	vec_each (file, &f->files)
		free(file->name);
	vec_each (log, &f->logs)
		free(log->text);
	vec_free(&f->files);
	vec_free(&f->logs);
	map_free(&f->index);
	map_free(&f->names);
	map_free(&f->opened);
	free(f->path);
	if (f->dir >= 0)
		close(f->dir);
	free(f);
}

const struct exporter export_fio = {
	.name = "fio",
	.summary = "a directory with a log per thread (iolog version 3) and a job file",
	.loses = "all but reads, writes, fsync and fdatasync of files; the order between threads",
	.weaker = "O_DIRECT or O_DSYNC, which fio takes for a whole job only",
	.output = EXPORT_DIRECTORY,
	.begin = fio_begin,
	.tree = fio_tree,
	.event = fio_event,
	.end = fio_end,
	.free = fio_free,
};

/* SPDX-License-Identifier: MIT */
/* Calls on descriptors: read, write, sync, locks, and how descriptors come and go. */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sched.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "content.h"
#include "strace-import.h"

/* A lock's owner that is an open file, not a process. */
#define OWNER_FILE (UINT64_C(1) << 32)

static bool is_regular(const struct import *im, uint32_t file)
{
	return S_ISREG(world_file(im->world, file)->mode) ||
	       !(world_file(im->world, file)->mode & S_IFMT);
}

static struct event event_of(const struct import *im, enum op op, const struct opened *o)
{
	return (struct event){.op = op, .file = import_id(im, o->file), .handle = o->handle};
}

/* The result is the file system's: done, or an error that comes again. */
static bool is_done(const struct call *c)
{
	return c->has_result && c->result >= 0;
}

/* ---- close ---- */

static void unlock_process(struct import *im, struct call *c, const struct opened *o)
{
	if (!map_del(&im->locks, c->task->tgid, o->file))
		return;
	struct event ev = event_of(im, OP_setlk, o);
	ev.owner = c->task->tgid;
	ev.mode = F_UNLCK;
	import_event(im, c, ev);
}

void data_close(struct import *im, struct call *c, struct opened *o, bool failed)
{
	const bool last = !--o->refs;

	if (o->handle) {
		/* POSIX: any close() of a file drops the process's record locks on it. */
		unlock_process(im, c, o);
		if (!o->directory) {
			struct event ev = event_of(im, OP_flush, o);
			ev.result = failed ? c->result : 0;
			import_event(im, c, ev);
		}
		if (last)
			import_event(
				im, c, event_of(im, o->directory ? OP_releasedir : OP_release, o));
	}
	if (last)
		free(o);
}

static void call_close(struct import *im, struct call *c, const struct call_row *row)
{
	struct text shown;
	int fd;

	/* Gone even if close() failed, but not if there was nothing to close. */
	struct opened *o = c->closing;
	if (!o && arg_fd(c->args.at[0], &fd, &shown) && c->result != -EBADF)
		o = task_take_fd(&im->tasks, c->task, fd);
	c->closing = NULL;
	if (o)
		data_close(im, c, o, c->has_result && c->result < 0);
}

static void close_range_of(struct import *im, struct call *c, int64_t first, int64_t last,
	bool cloexec, bool (*which)(const struct fd *fd))
{
	struct fd_table *table = c->task->table;

	for (size_t i = table->fds.count; i-- > 0;) {
		struct fd *fd = &table->fds.at[i];
		if (fd->number < first || fd->number > last || (which && !which(fd)))
			continue;
		if (cloexec)
			fd->cloexec = true;
		else
			data_close(im, c, task_take_fd(&im->tasks, c->task, fd->number), false);
	}
}

static void call_close_range(struct import *im, struct call *c, const struct call_row *row)
{
	int64_t first, last;

	if (is_done(c) && arg_number(c->args.at[0], &first) && arg_number(c->args.at[1], &last))
		close_range_of(im, c, first, last < first ? INT64_MAX : last,
			arg_flags(c->args.at[2]) & 4, NULL);
}

void data_exit(struct import *im, struct call *c)
{
	if (c->task->table->refs == 1)
		close_range_of(im, c, 0, INT64_MAX, false, NULL);
}

static bool is_cloexec(const struct fd *fd)
{
	return fd->cloexec;
}

/* "/usr/bin/cp" -> "cp": what the thread is called from now on. */
static void rename_task(struct import *im, struct call *c)
{
	bool cut;

	im->text.size = 0;
	if (!arg_string(c->args.at[0], &im->text, &cut) || !im->text.size)
		return;
	put_u8(&im->text, '\0');
	const char *path = (const char *)im->text.data, *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	memset(c->task->comm, 0, sizeof(c->task->comm));
	memcpy(c->task->comm, name, min_u64(strlen(name), sizeof(c->task->comm) - 1));
	c->task->thread = 0;
}

static void call_execve(struct import *im, struct call *c, const struct call_row *row)
{
	if (!is_done(c))
		return;
	if (!task_unshare(&im->tasks, c->task))
		im->full = true;
	close_range_of(im, c, 0, INT64_MAX, false, is_cloexec);
	rename_task(im, c);
}

/* ---- descriptors ---- */

static void duplicate(struct import *im, struct call *c, int from, int to, bool cloexec)
{
	struct fd *known = task_fd(c->task, from);
	struct opened *o = known ? known->opened : NULL;

	if (from == to)
		return;
	struct opened *old = task_take_fd(&im->tasks, c->task, to);
	if (old)
		data_close(im, c, old, false);
	if (!o)
		return;
	o->refs++;
	if (!task_set_fd(&im->tasks, c->task, to, o, cloexec)) {
		im->full = true;
		o->refs--;
	}
}

static void call_dup(struct import *im, struct call *c, const struct call_row *row)
{
	struct text shown;
	int from;

	if (!is_done(c) || !arg_fd(c->args.at[0], &from, &shown))
		return;
	path_opened(im, c, 0); /* known from now on */
	duplicate(im, c, from, (int)c->result,
		row->arg >= 0 && (arg_flags(c->args.at[row->arg]) & O_CLOEXEC));
}

static void call_umask(struct import *im, struct call *c, const struct call_row *row)
{
	int64_t mask;

	if (arg_number(c->args.at[0], &mask))
		c->task->umask = (uint32_t)mask & 0777;
}

static void call_clone(struct import *im, struct call *c, const struct call_row *row)
{
	uint64_t flags = 0;
	static const char key[] = "flags=";

	if (!is_done(c) || c->result <= 0 || c->result > INT32_MAX)
		return;
	for (size_t i = 0; i < c->args.count; i++) {
		struct text t = c->args.at[i];
		if (t.size > strlen(key) && !memcmp(t.data, key, strlen(key)))
			flags = arg_flags(text_cut(t, strlen(key), t.size));
	}
	if (c->args.at[0].size && c->args.at[0].data[0] == '{')
		flags = arg_flags(arg_field(c->args.at[0], "flags"));
	struct task *child = task_find(&im->tasks, (uint32_t)c->result);
	if (!child && !task_clone(&im->tasks, c->task, (uint32_t)c->result, flags))
		im->full = true;
}

/* ---- reading and writing ---- */

#define AT_OFFSET 1 /* argument `arg` is the offset */
#define VECTOR    2
#define HAS_FLAGS 4 /* RWF_* in the argument behind the offset */

static uint64_t vector_size(struct text t)
{
	struct text rest = arg_inside(t);
	uint64_t sum = 0;

	for (size_t at = 0; at < rest.size;) {
		size_t end = strace_skip(rest, at);
		int64_t n;
		if (rest.data[at] == '{' &&
			arg_number(arg_field(text_cut(rest, at, end), "iov_len"), &n) && n > 0)
			sum += min_u64((uint64_t)n, INT32_MAX);
		at = end;
	}
	return sum;
}

/* The kernel moves less than 2 GiB in one call, whatever a program asks for. */
#define ASKED_MAX (UINT64_C(1) << 30)

static uint64_t bounded(int64_t size, int64_t result)
{
	return max_u64(min_u64((uint64_t)(size > 0 ? size : 0), ASKED_MAX),
		(uint64_t)(result > 0 ? result : 0));
}

/* How much was asked for. */
static uint64_t asked_for(const struct call *c, const struct call_row *row)
{
	int64_t n = 0;

	if (row->more & VECTOR)
		n = (int64_t)vector_size(c->args.at[1]);
	else
		arg_number(c->args.at[2], &n);
	return bounded(n, c->result);
}

static uint64_t offset_of(const struct call *c, const struct call_row *row, const struct opened *o)
{
	int64_t offset = -1;

	if (row->more & AT_OFFSET)
		arg_number(c->args.at[row->arg], &offset);
	return offset < 0 ? o->at : (uint64_t)offset;
}

static bool moves_position(const struct call *c, const struct call_row *row)
{
	int64_t offset = -1;

	return !(row->more & AT_OFFSET) ||
	       (arg_number(c->args.at[row->arg], &offset) && offset == -1);
}

static void did_read(struct import *im, struct call *c, struct opened *o, uint64_t offset,
	uint64_t size, bool moves)
{
	struct event ev = event_of(im, OP_read, o);

	ev.offset = offset;
	ev.size = size;
	ev.flags = o->flags & ~(uint64_t)(O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC);
	ev.result = c->result;
	if (c->result > 0 && !world_at_least(im->world, o->file, offset + (uint64_t)c->result))
		import_complain(im, c, "more is read than what was seen to be written");
	if (moves)
		o->at = offset + (uint64_t)c->result;
	import_event(im, c, ev);
}

/* Nothing to read, and not below the root: nothing to say. */
static struct opened *data_of(struct import *im, struct call *c, int arg)
{
	struct opened *o = path_opened(im, c, arg);

	return o && is_done(c) && !o->directory && is_regular(im, o->file) ? o : NULL;
}

static void call_read(struct import *im, struct call *c, const struct call_row *row)
{
	struct opened *o = data_of(im, c, 0);

	if (o)
		did_read(im, c, o, offset_of(c, row, o), asked_for(c, row), moves_position(c, row));
}

/* The class of what was written, if strace shows all of it. */
static void set_content(struct import *im, struct text t, struct event *ev)
{
	bool cut = false;

	im->text.size = 0;
	if (!arg_string(t, &im->text, &cut) || cut || im->text.size != ev->size || !ev->size)
		return;
	ev->content = content_classify(im->text.data, im->text.size);
	ev->hash = content_hash(im->text.data, im->text.size);
}

static uint64_t rwf_flags(uint64_t rwf)
{
	return (rwf & RWF_SYNC           ? O_SYNC
		       : rwf & RWF_DSYNC ? O_DSYNC
					 : 0) |
	       (rwf & RWF_APPEND ? O_APPEND : 0);
}

static void did_write(
	struct import *im, struct call *c, struct opened *o, struct event ev, bool moves)
{
	struct world_file *f = world_file(im->world, o->file);

	ev.flags |= o->flags & ~(uint64_t)(O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC);
	if (ev.flags & O_APPEND)
		ev.offset = f->size;
	ev.result = c->result;
	f->size = max_u64(f->size, ev.offset + (uint64_t)c->result);
	if (moves)
		o->at = ev.offset + (uint64_t)c->result;
	import_event(im, c, ev);
}

static void call_write(struct import *im, struct call *c, const struct call_row *row)
{
	struct opened *o = data_of(im, c, 0);

	if (!o)
		return;
	struct event ev = event_of(im, OP_write, o);
	ev.offset = offset_of(c, row, o);
	ev.size = asked_for(c, row);
	if (row->more & HAS_FLAGS)
		ev.flags = rwf_flags(arg_flags(c->args.at[row->arg + 1]));
	if (!(row->more & VECTOR))
		set_content(im, c->args.at[1], &ev);
	did_write(im, c, o, ev, moves_position(c, row));
}

/* "[4096]" and NULL, as copy_file_range() and sendfile() have it. */
static uint64_t position(struct text t, const struct opened *o, bool *ret_moves)
{
	int64_t at;

	*ret_moves = !arg_number(t, &at) || at < 0;
	return *ret_moves ? o->at : (uint64_t)at;
}

static void call_copy(struct import *im, struct call *c, const struct call_row *row)
{
	struct opened *from = data_of(im, c, 0), *to = data_of(im, c, 2);
	bool from_moves = false, to_moves = false;
	int64_t size = 0;

	arg_number(c->args.at[4], &size);
	uint64_t from_at = from ? position(c->args.at[1], from, &from_moves) : 0;
	uint64_t to_at = to ? position(c->args.at[3], to, &to_moves) : 0;
	if (from && !to)
		did_read(im, c, from, from_at, bounded(size, c->result), from_moves);
	if (!to)
		return;
	struct event ev = event_of(im, from ? OP_copy_file_range : OP_write, from ? from : to);
	uint64_t end = to_at + (uint64_t)c->result;
	if (!from) {
		ev.offset = to_at;
		ev.size = (uint64_t)c->result;
		did_write(im, c, to, ev, to_moves);
		return;
	}
	ev.offset = from_at;
	ev.file2 = import_id(im, to->file);
	ev.handle2 = to->handle;
	ev.offset2 = to_at;
	ev.size = bounded(size, c->result);
	ev.result = c->result;
	world_at_least(im->world, from->file, from_at + (uint64_t)c->result);
	world_file(im->world, to->file)->size = max_u64(world_file(im->world, to->file)->size, end);
	if (from_moves)
		from->at += (uint64_t)c->result;
	if (to_moves)
		to->at = end;
	import_event(im, c, ev);
}

/* A read, a write, or one after the other. */
static void call_sendfile(struct import *im, struct call *c, const struct call_row *row)
{
	struct opened *to = data_of(im, c, 0), *from = data_of(im, c, 1);
	bool moves = false;

	if (from) {
		uint64_t at = position(c->args.at[2], from, &moves);
		did_read(im, c, from, at, (uint64_t)c->result, moves);
	}
	if (to) {
		struct event ev = event_of(im, OP_write, to);
		ev.offset = to->at;
		ev.size = (uint64_t)c->result;
		did_write(im, c, to, ev, true);
	}
}

static void call_lseek(struct import *im, struct call *c, const struct call_row *row)
{
	struct opened *o = path_opened(im, c, 0);
	const uint64_t whence = arg_flags(c->args.at[2]);
	int64_t offset = 0;

	arg_number(c->args.at[1], &offset);
	if (!o || !c->has_result || (c->result < 0 && c->result != -ENXIO))
		return;
	if (c->result >= 0)
		o->at = (uint64_t)c->result;
	else if (whence == SEEK_DATA && offset >= 0)
		world_no_data(im->world, o->file, (uint64_t)offset);
	if (whence == SEEK_END && is_regular(im, o->file) && !o->directory && c->result >= offset)
		world_at_least(im->world, o->file, (uint64_t)(c->result - offset));
	if (whence != SEEK_DATA && whence != SEEK_HOLE)
		return;
	struct event ev = event_of(im, OP_lseek, o);
	ev.offset = (uint64_t)offset;
	ev.mode = whence;
	ev.result = c->result;
	import_event(im, c, ev);
}

/* The number in the comment that strace puts in place of the entries, or theirs. */
static int64_t entries_of(struct text t)
{
	const char *comment = memmem(t.data, t.size, "/* ", 3);
	int64_t n = 0;

	if (comment && arg_number(text_cut(t, (size_t)(comment - t.data) + 3, t.size), &n))
		return n;
	struct text rest = arg_inside(t);
	for (size_t at = 0; at < rest.size; at = strace_skip(rest, at))
		n += rest.data[at] == '{';
	return n;
}

static void call_getdents(struct import *im, struct call *c, const struct call_row *row)
{
	struct opened *o = path_opened(im, c, 0);
	int64_t size = 0;

	if (!o || !o->directory || !is_done(c))
		return;
	arg_number(c->args.at[2], &size);
	struct event ev = event_of(im, OP_readdir, o);
	ev.offset = o->at;
	ev.size = (uint64_t)size;
	ev.result = c->result ? entries_of(c->args.at[1]) : 0;
	o->at += (uint64_t)c->result;
	import_event(im, c, ev);
}

/* ---- syncs and ranges ---- */

static void call_fsync(struct import *im, struct call *c, const struct call_row *row)
{
	struct opened *o = path_opened(im, c, 0);

	if (!o || !is_done(c))
		return;
	struct event ev = event_of(im, o->directory ? OP_fsyncdir : (enum op)row->more, o);
	ev.flags = o->directory && row->more == OP_fdatasync;
	import_event(im, c, ev);
}

static void call_range(struct import *im, struct call *c, const struct call_row *row)
{
	struct opened *o = data_of(im, c, 0);
	int64_t offset = 0, size = 0;

	if (!o)
		return;
	struct event ev = event_of(im, (enum op)row->more, o);
	arg_number(c->args.at[1], &offset);
	arg_number(c->args.at[2], &size);
	ev.offset = (uint64_t)offset;
	ev.size = (uint64_t)size;
	ev.flags = row->more == OP_sync_file_range ? arg_flags(c->args.at[3]) : 0;
	import_event(im, c, ev);
}

static void call_syncfs(struct import *im, struct call *c, const struct call_row *row)
{
	const struct opened *o = path_opened(im, c, 0);

	if (o && is_done(c))
		import_event(im, c, event_of(im, OP_syncfs, o));
}

static void call_sync(struct import *im, struct call *c, const struct call_row *row)
{
	import_event(im, c, (struct event){.op = OP_sync, .file = TREE_ROOT});
}

static void call_fallocate(struct import *im, struct call *c, const struct call_row *row)
{
	struct opened *o = data_of(im, c, 0);
	int64_t offset = 0, size = 0;

	if (!o)
		return;
	struct event ev = event_of(im, OP_fallocate, o);
	struct world_file *f = world_file(im->world, o->file);
	ev.flags = arg_flags(c->args.at[1]);
	arg_number(c->args.at[2], &offset);
	arg_number(c->args.at[3], &size);
	ev.offset = (uint64_t)offset;
	ev.size = (uint64_t)size;
	if (!(ev.flags & FALLOC_FL_KEEP_SIZE))
		f->size = max_u64(f->size, ev.offset + ev.size);
	import_event(im, c, ev);
}

/* ---- locks ---- */

static void call_flock(struct import *im, struct call *c, const struct call_row *row)
{
	struct opened *o = path_opened(im, c, 0);

	if (!o || !c->has_result || (c->result < 0 && c->result != -EAGAIN))
		return;
	struct event ev = event_of(im, OP_flock, o);
	ev.owner = o->handle;
	ev.mode = arg_flags(c->args.at[1]);
	ev.result = c->result;
	import_event(im, c, ev);
}

/* Where the range begins, by l_whence. */
static uint64_t lock_start(const struct import *im, struct text lock, const struct opened *o)
{
	const uint64_t whence = arg_flags(arg_field(lock, "l_whence"));
	int64_t start = 0;

	arg_number(arg_field(lock, "l_start"), &start);
	if (whence == SEEK_CUR)
		start += (int64_t)o->at;
	else if (whence == SEEK_END)
		start += (int64_t)world_file(im->world, o->file)->size;
	return (uint64_t)(start < 0 ? 0 : start);
}

static void record_lock(struct import *im, struct call *c, struct opened *o, uint64_t command)
{
	const bool get = command == F_GETLK || command == F_OFD_GETLK;
	const bool wait = command == F_SETLKW || command == F_OFD_SETLKW;
	const bool by_file =
		command == F_OFD_GETLK || command == F_OFD_SETLK || command == F_OFD_SETLKW;
	struct text lock = c->args.at[2];
	struct event ev = event_of(im, get ? OP_getlk : OP_setlk, o);
	int64_t size = 0;

	if (!c->has_result || (c->result < 0 && c->result != -EAGAIN && c->result != -EACCES))
		return;
	arg_number(arg_field(lock, "l_len"), &size);
	ev.owner = by_file ? OWNER_FILE + o->handle : c->task->tgid;
	/* Of a question only the answer is shown. */
	ev.mode = get ? F_WRLCK : arg_flags(arg_field(lock, "l_type"));
	ev.offset = lock_start(im, lock, o);
	ev.size = (uint64_t)size;
	ev.flags = wait;
	ev.result = c->result;
	if (!get && !by_file && ev.mode != F_UNLCK && c->result == 0)
		map_put(&im->locks, c->task->tgid, o->file, 1);
	import_event(im, c, ev);
}

static void call_fcntl(struct import *im, struct call *c, const struct call_row *row)
{
	const uint64_t command = arg_flags(c->args.at[1]);
	const uint64_t may_change = O_APPEND | O_DIRECT | O_NONBLOCK | O_NOATIME;
	struct text shown;
	int number;

	if (!c->has_result || !arg_fd(c->args.at[0], &number, &shown))
		return;
	struct opened *o = path_opened(im, c, 0);
	struct fd *fd = task_fd(c->task, number);
	if (command == F_DUPFD_CLOEXEC || text_is(c->args.at[1], "F_DUPFD")) {
		if (c->result >= 0)
			duplicate(im, c, number, (int)c->result, command == F_DUPFD_CLOEXEC);
	} else if (command == F_SETFD && fd && c->result >= 0) {
		fd->cloexec = arg_flags(c->args.at[2]) & FD_CLOEXEC;
	} else if (command == F_SETFL && o && c->result >= 0) {
		o->flags = (o->flags & ~may_change) | (arg_flags(c->args.at[2]) & may_change);
	} else if (o && c->args.at[2].size && c->args.at[2].data[0] == '{' &&
		   memmem(c->args.at[2].data, c->args.at[2].size, "l_type", 6)) {
		record_lock(im, c, o, command);
	}
}

/* ---- what has no place in a trace ---- */

/* Only counted. */
static void call_ignored(struct import *im, struct call *c, const struct call_row *row)
{
	if (row->arg >= 0 && path_opened(im, c, row->arg))
		import_note(im, c->name);
}

static const struct call_row rows[] = {
	{"read", call_read, 0, 0, 0, 0},
	{"pread64", call_read, 0, 0, 3, AT_OFFSET},
	{"pread", call_read, 0, 0, 3, AT_OFFSET},
	{"readv", call_read, 0, 0, 0, VECTOR},
	{"preadv", call_read, 0, 0, 3, VECTOR | AT_OFFSET},
	{"preadv2", call_read, 0, 0, 3, VECTOR | AT_OFFSET},
	{"write", call_write, 0, 0, 0, 0},
	{"pwrite64", call_write, 0, 0, 3, AT_OFFSET},
	{"pwrite", call_write, 0, 0, 3, AT_OFFSET},
	{"writev", call_write, 0, 0, 0, VECTOR},
	{"pwritev", call_write, 0, 0, 3, VECTOR | AT_OFFSET},
	{"pwritev2", call_write, 0, 0, 3, VECTOR | AT_OFFSET | HAS_FLAGS},
	{"close", call_close, 0, 0, 0, 0},
	{"close_range", call_close_range, 0, 0, 0, 0},
	{"lseek", call_lseek, 0, 0, 0, 0},
	{"_llseek", call_lseek, 0, 0, 0, 0},
	{"fsync", call_fsync, 0, 0, 0, OP_fsync},
	{"fdatasync", call_fsync, 0, 0, 0, OP_fdatasync},
	{"sync_file_range", call_range, 0, 0, 0, OP_sync_file_range},
	{"readahead", call_range, 0, 0, 0, OP_readahead},
	{"syncfs", call_syncfs, 0, 0, 0, 0},
	{"sync", call_sync, 0, 0, 0, 0},
	{"fallocate", call_fallocate, 0, 0, 0, 0},
	{"getdents64", call_getdents, 0, 0, 0, 0},
	{"getdents", call_getdents, 0, 0, 0, 0},
	{"copy_file_range", call_copy, 0, 0, 0, 0},
	{"sendfile", call_sendfile, 0, 0, 0, 0},
	{"sendfile64", call_sendfile, 0, 0, 0, 0},
	{"fcntl", call_fcntl, 0, 0, 0, 0},
	{"fcntl64", call_fcntl, 0, 0, 0, 0},
	{"flock", call_flock, 0, 0, 0, 0},
	{"dup", call_dup, 0, 0, -1, 0},
	{"dup2", call_dup, 0, 0, -1, 0},
	{"dup3", call_dup, 0, 0, 2, 0},
	{"umask", call_umask, 0, 0, 0, 0},
	{"clone", call_clone, 0, 0, 0, 0},
	{"clone3", call_clone, 0, 0, 0, 0},
	{"fork", call_clone, 0, 0, 0, 0},
	{"vfork", call_clone, 0, 0, 0, 0},
	{"execve", call_execve, 0, 0, 0, 0},
	{"execveat", call_execve, 0, 0, 0, 0},
	{"mmap", call_ignored, 0, 0, 4, 0},
	{"ioctl", call_ignored, 0, 0, 0, 0},
	{"fadvise64", call_ignored, 0, 0, 0, 0},
	{"poll", call_ignored, 0, 0, -1, 0},
	{"exit_group", call_ignored, 0, 0, -1, 0},
};

bool calls_data(struct import *im, struct call *c)
{
	return call_run(im, c, rows, ARRAY_SIZE(rows));
}

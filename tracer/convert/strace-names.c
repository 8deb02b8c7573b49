/* SPDX-License-Identifier: MIT */
/* Calls that take paths: open, stat, rename and the like. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "content.h"
#include "strace-import.h"

#define TIMES_NOW 15 /* both, and both are now */

bool call_run(struct import *im, struct call *c, const struct call_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!text_is(c->name, rows[i].name))
			continue;
		rows[i].run(im, c, &rows[i]);
		return true;
	}
	return false;
}

/* Failures that the file system alone decides, so that a replay has them too. */
static bool is_repeatable(int64_t result)
{
	switch (-result) {
	case ENOENT:
	case EEXIST:
	case ENOTEMPTY:
	case EISDIR:
	case EINVAL:
	case ENODATA:
	case ERANGE:
		return true;
	}
	return result >= 0;
}

/* Not done, or for reasons of its own: permissions, limits, signals. */
static bool is_moot(struct import *im, struct call *c)
{
	if (c->has_result && is_repeatable(c->result))
		return false;
	return true;
}

/* The file of a call by path. FILE_NONE: there is nothing to say, or it is said. */
static uint32_t subject_of(
	struct import *im, struct call *c, const struct call_row *row, bool follow)
{
	struct place p;

	if (is_moot(im, c) || !path_place(im, c, row->dir, row->path, follow, &p))
		return FILE_NONE;
	if (c->result == -ENOENT && p.file >= FILE_UNSEEN) {
		path_missing(im, c, p.dir, place_name(&p));
		return FILE_NONE;
	}
	if (c->result == -ENOENT)
		return FILE_NONE;
	uint32_t file = path_existing(im, c, &p, 0);
	return import_inside(im, file) ? file : FILE_NONE;
}

/* ---- open ---- */

void names_opened(struct import *im, struct call *c, int fd, uint32_t file, uint64_t flags,
	uint64_t handle, bool directory)
{
	struct opened *o = ALLOC(struct opened);
	struct opened *old = task_take_fd(&im->tasks, c->task, fd);

	*o = (struct opened){
		.refs = 1, .file = file, .handle = handle, .flags = flags, .directory = directory};
	if (old)
		data_close(im, c, old, false);
	if (!task_set_fd(&im->tasks, c->task, fd, o, flags & O_CLOEXEC)) {
		im->full = true;
		free(o);
	}
}

/* What the kernel hands to a file system. */
static uint64_t open_flags(uint64_t flags)
{
	return flags & ~(uint64_t)(O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW);
}

static void open_tmpfile(
	struct import *im, struct call *c, const struct place *p, uint64_t flags, uint64_t mode)
{
	uint32_t file = world_make(im->world, p->file, S_IFREG | (uint32_t)mode);
	const uint64_t handle = import_inside(im, file) ? ++im->next_handle : 0;

	if (handle)
		import_event(im, c,
			(struct event){.op = OP_tmpfile,
				.dir = import_id(im, p->file),
				.file = import_id(im, file),
				.handle = handle,
				.flags = flags & ~(uint64_t)O_CLOEXEC,
				.mode = S_IFREG | mode});
	names_opened(im, c, (int)c->result, file, flags, handle, false);
}

static void open_new(
	struct import *im, struct call *c, const struct place *p, uint64_t flags, uint64_t mode)
{
	bool doubt = p->file == FILE_UNSEEN && !(flags & (O_EXCL | O_TRUNC));
	uint32_t file = world_make(im->world, p->dir, S_IFREG | (uint32_t)mode);
	const uint64_t handle = import_inside(im, file) ? ++im->next_handle : 0;

	if (doubt && handle)
		world_doubt(im->world, file, p->dir, place_name(p));
	world_bind(im->world, p->dir, place_name(p), file);
	if (handle)
		import_event(im, c,
			(struct event){.op = OP_create,
				.dir = import_id(im, p->dir),
				.name = place_name(p),
				.file = import_id(im, file),
				.handle = handle,
				.flags = flags & ~(uint64_t)(O_CLOEXEC | O_NOFOLLOW),
				.mode = S_IFREG | mode});
	names_opened(im, c, (int)c->result, file, flags, handle, false);
}

static void open_old(struct import *im, struct call *c, struct place *p, uint64_t flags)
{
	const bool writes = (flags & O_ACCMODE) != O_RDONLY;
	uint32_t type = flags & O_DIRECTORY ? S_IFDIR : writes ? S_IFREG : 0;
	uint32_t file = path_existing(im, c, p, type);
	struct world_file *f = world_file(im->world, file);

	if (!(f->mode & S_IFMT))
		world_type(im->world, file, type);
	const bool directory = S_ISDIR(f->mode);
	if ((flags & O_TRUNC) && S_ISREG(f->mode)) {
		f->size = 0;
		f->cut = true;
	}
	const uint64_t handle = f->inside && !(flags & O_PATH) ? ++im->next_handle : 0;
	if (handle)
		import_event(im, c,
			(struct event){.op = directory ? OP_opendir : OP_open,
				.file = f->id,
				.handle = handle,
				.flags = open_flags(flags)});
	names_opened(im, c, (int)c->result, file, flags, handle, directory);
}

/* Where an open arrived: by the path that -yy shows, which has no links in it. */
static bool opened_place(struct import *im, struct call *c, const struct call_row *row,
	uint64_t flags, struct place *ret)
{
	const bool nameless = (flags & O_TMPFILE) == O_TMPFILE;
	struct text shown = {"", 0};
	int fd;

	if (!nameless && arg_fd(c->value, &fd, &shown) && shown.size) {
		if (shown.data[0] != '/' || memchr(shown.data, '<', shown.size) ||
			(c->value.size > 9 &&
				!memcmp(c->value.data + c->value.size - 9, "(deleted)", 9)))
			return false;
		im->text.size = 0;
		arg_unescape(shown, &im->text);
		return path_walk(im, c, world_top(im->world),
			(struct text){(char *)im->text.data, im->text.size}, false, ret);
	}
	return path_place(im, c, row->dir, row->path, !(flags & O_NOFOLLOW), ret);
}

static void open_failed(struct import *im, struct call *c, const struct call_row *row,
	uint64_t flags, uint64_t mode)
{
	struct place p;

	if (c->result == -EEXIST && path_place(im, c, row->dir, row->path, false, &p) &&
		import_inside(im, p.dir)) {
		path_existing(im, c, &p, 0);
		import_event(im, c,
			(struct event){.op = OP_create,
				.dir = import_id(im, p.dir),
				.name = place_name(&p),
				.flags = flags,
				.mode = S_IFREG | mode,
				.result = -EEXIST});
	} else if (c->result == -ENOENT) {
		subject_of(im, c, row, !(flags & O_NOFOLLOW));
	}
}

static void open_with(struct import *im, struct call *c, const struct call_row *row, uint64_t flags,
	uint64_t mode)
{
	struct place p;

	mode &= ~(uint64_t)c->task->umask & 07777;
	if (!c->has_result || c->result < 0) {
		open_failed(im, c, row, flags, mode);
		return;
	}
	if (!opened_place(im, c, row, flags, &p))
		return;
	if ((flags & O_TMPFILE) == O_TMPFILE)
		open_tmpfile(im, c, &p, flags, mode);
	else if ((flags & O_CREAT) && p.file >= FILE_UNSEEN)
		open_new(im, c, &p, flags, mode);
	else
		open_old(im, c, &p, flags);
}

static void call_open(struct import *im, struct call *c, const struct call_row *row)
{
	open_with(im, c, row, arg_flags(c->args.at[row->arg]), arg_flags(c->args.at[row->arg + 1]));
}

static void call_creat(struct import *im, struct call *c, const struct call_row *row)
{
	open_with(im, c, row, O_CREAT | O_WRONLY | O_TRUNC, arg_flags(c->args.at[row->arg]));
}

static void call_openat2(struct import *im, struct call *c, const struct call_row *row)
{
	struct text how = c->args.at[row->arg];

	open_with(
		im, c, row, arg_flags(arg_field(how, "flags")), arg_flags(arg_field(how, "mode")));
}

/* ---- questions ---- */

/* By descriptor where the path is empty. */
static bool is_by_fd(const struct call *c, const struct call_row *row)
{
	return row->path < 0 || text_is(c->args.at[row->path], "\"\"") ||
	       text_is(c->args.at[row->path], "NULL");
}

static int fd_arg(const struct call_row *row)
{
	return row->path < 0 ? 0 : row->dir;
}

/* File and handle of a call that takes either. False: neither is below the root. */
static bool subject(struct import *im, struct call *c, const struct call_row *row, bool follow,
	uint32_t *ret_file, uint64_t *ret_handle)
{
	*ret_handle = 0;
	if (!is_by_fd(c, row)) {
		*ret_file = subject_of(im, c, row, follow);
		return *ret_file != FILE_NONE;
	}
	const struct opened *o = path_opened(im, c, fd_arg(row));
	if (is_moot(im, c) || !o)
		return false;
	*ret_file = o->file;
	*ret_handle = o->handle;
	return true;
}

#define FOLLOW    1 /* by itself */
#define NO_FOLLOW 2
#define BY_FLAGS  4 /* AT_SYMLINK_NOFOLLOW in argument `arg` says otherwise */

static bool follows(const struct call *c, const struct call_row *row)
{
	if (row->more & BY_FLAGS)
		return !(arg_flags(c->args.at[row->arg]) & AT_SYMLINK_NOFOLLOW);
	return row->more & FOLLOW;
}

static void call_stat(struct import *im, struct call *c, const struct call_row *row)
{
	uint32_t file;
	uint64_t handle;

	if (!subject(im, c, row, follows(c, row), &file, &handle))
		return;
	for (size_t i = 0; i < c->args.count && c->result == 0; i++)
		if (c->args.at[i].size && c->args.at[i].data[0] == '{')
			path_see_stat(im, c, file, c->args.at[i]);
	import_event(im, c,
		(struct event){.op = OP_getattr, .file = import_id(im, file), .handle = handle});
}

static void call_access(struct import *im, struct call *c, const struct call_row *row)
{
	uint32_t file = subject_of(im, c, row, true);

	if (file != FILE_NONE && c->result == 0 && (arg_flags(c->args.at[row->arg]) & X_OK))
		world_guess(im->world, file, 0755);
	if (file != FILE_NONE)
		import_event(im, c,
			(struct event){.op = OP_access,
				.file = import_id(im, file),
				.mode = arg_flags(c->args.at[row->arg])});
}

static void call_statfs(struct import *im, struct call *c, const struct call_row *row)
{
	uint32_t file;
	uint64_t handle;

	if (subject(im, c, row, true, &file, &handle))
		import_event(im, c, (struct event){.op = OP_statfs, .file = import_id(im, file)});
}

static void call_readlink(struct import *im, struct call *c, const struct call_row *row)
{
	uint32_t file = subject_of(im, c, row, false);
	bool cut = false;

	if (file == FILE_NONE)
		return;
	if (c->result > 0) {
		im->text.size = 0;
		world_type(im->world, file, S_IFLNK | 0777);
		if (arg_string(c->args.at[row->arg], &im->text, &cut) && !cut)
			world_link_target(im->world, file,
				(struct text){(char *)im->text.data, im->text.size});
	}
	import_event(im, c,
		(struct event){
			.op = OP_readlink, .file = import_id(im, file), .result = c->result});
}

/* ---- names ---- */

/* A place for a new or an old name below the root. */
static bool name_place(
	struct import *im, struct call *c, const struct call_row *row, struct place *ret)
{
	return !is_moot(im, c) && path_place(im, c, row->dir, row->path, false, ret) && ret->size &&
	       import_inside(im, ret->dir);
}

/* What has just been made has its name; one that was there keeps it. */
static uint32_t make_named(struct import *im, struct call *c, struct place *p, uint32_t mode)
{
	if (c->result < 0) {
		if (c->result == -EEXIST)
			path_existing(im, c, p, mode & S_IFMT);
		return FILE_NONE;
	}
	uint32_t file = world_make(im->world, p->dir, mode);
	world_bind(im->world, p->dir, place_name(p), file);
	return file;
}

static void call_mkdir(struct import *im, struct call *c, const struct call_row *row)
{
	uint32_t mode = (uint32_t)arg_flags(c->args.at[row->arg]) & 07777 & ~c->task->umask;
	struct place p;

	if (!name_place(im, c, row, &p))
		return;
	uint32_t file = make_named(im, c, &p, S_IFDIR | mode);
	import_event(im, c,
		(struct event){.op = OP_mkdir,
			.dir = import_id(im, p.dir),
			.name = place_name(&p),
			.file = import_id(im, file),
			.mode = S_IFDIR | mode,
			.result = c->result});
}

static void call_mknod(struct import *im, struct call *c, const struct call_row *row)
{
	uint32_t mode = (uint32_t)arg_flags(c->args.at[row->arg]);
	struct place p;

	mode = (mode & S_IFMT ? mode & S_IFMT : S_IFREG) | (mode & 07777 & ~c->task->umask);
	if (!name_place(im, c, row, &p))
		return;
	uint32_t file = make_named(im, c, &p, mode);
	import_event(im, c,
		(struct event){.op = OP_mknod,
			.dir = import_id(im, p.dir),
			.name = place_name(&p),
			.file = import_id(im, file),
			.mode = mode,
			.result = c->result});
}

static void call_symlink(struct import *im, struct call *c, const struct call_row *row)
{
	struct place p;
	bool cut = false;

	if (!name_place(im, c, row, &p))
		return;
	im->text.size = 0;
	if (!arg_string(c->args.at[row->arg], &im->text, &cut) || cut)
		return;
	struct text target = {(char *)im->text.data, im->text.size};
	uint32_t file = make_named(im, c, &p, S_IFLNK | 0777);
	if (file != FILE_NONE)
		world_link_target(im->world, file, target);
	import_event(im, c,
		(struct event){.op = OP_symlink,
			.dir = import_id(im, p.dir),
			.name = place_name(&p),
			.file = import_id(im, file),
			.value = target,
			.result = c->result});
}

static void call_link(struct import *im, struct call *c, const struct call_row *row)
{
	const struct call_row from = {.dir = row->arg, .path = row->more};
	const bool follow = c->args.count > 4 && (arg_flags(c->args.at[4]) & AT_SYMLINK_FOLLOW);
	struct place p;
	uint32_t file = subject_of(im, c, &from, follow);

	if (file == FILE_NONE || !name_place(im, c, row, &p))
		return;
	if (c->result == 0)
		world_bind(im->world, p.dir, place_name(&p), file);
	else if (c->result == -EEXIST)
		path_existing(im, c, &p, 0);
	import_event(im, c,
		(struct event){.op = OP_link,
			.file = import_id(im, file),
			.dir = import_id(im, p.dir),
			.name = place_name(&p),
			.result = c->result});
}

static void remove_name(struct import *im, struct call *c, const struct call_row *row, enum op op)
{
	struct place p;

	if (!name_place(im, c, row, &p))
		return;
	if (c->result == -ENOENT) {
		path_missing(im, c, p.dir, place_name(&p));
		return;
	}
	uint32_t file = path_existing(im, c, &p, op == OP_rmdir ? S_IFDIR : 0);
	if (c->result == 0)
		world_bind(im->world, p.dir, place_name(&p), FILE_NONE);
	import_event(im, c,
		(struct event){.op = op,
			.dir = import_id(im, p.dir),
			.name = place_name(&p),
			.file = import_id(im, file),
			.result = c->result});
}

static void call_unlink(struct import *im, struct call *c, const struct call_row *row)
{
	const bool directory =
		row->more || (row->arg >= 0 && (arg_flags(c->args.at[row->arg]) & AT_REMOVEDIR));

	remove_name(im, c, row, directory ? OP_rmdir : OP_unlink);
}

static void move_names(struct import *im, const struct place *from, const struct place *to,
	uint32_t file, uint32_t other, uint64_t flags)
{
	if (flags & RENAME_EXCHANGE)
		world_bind(im->world, from->dir, place_name(from), other);
	else
		world_bind(im->world, from->dir, place_name(from), FILE_NONE);
	world_bind(im->world, to->dir, place_name(to), file);
}

static void rename_places(
	struct import *im, struct call *c, struct place *from, struct place *to, uint64_t flags)
{
	if (c->result == -ENOENT && from->file >= FILE_UNSEEN) {
		path_missing(im, c, from->dir, place_name(from));
		return;
	}
	uint32_t file = path_existing(im, c, from, 0);
	if (c->result < 0 || (flags & RENAME_EXCHANGE))
		path_existing(im, c, to, 0);
	uint32_t other = to->file < FILE_UNSEEN ? to->file : FILE_NONE;
	if (import_inside(im, from->dir) != import_inside(im, to->dir)) {
		import_complain(im, c, "a rename into or out of the directory");
		if (c->result == 0)
			world_bind(im->world, from->dir, place_name(from), FILE_NONE);
		return;
	}
	/* Two names of one file: nothing happens, and that is a success. */
	if (c->result == 0 && (file != other || flags))
		move_names(im, from, to, file, other, flags);
	if (!import_inside(im, from->dir))
		return;
	import_event(im, c,
		(struct event){.op = OP_rename,
			.dir = import_id(im, from->dir),
			.name = place_name(from),
			.dir2 = import_id(im, to->dir),
			.name2 = place_name(to),
			.flags = flags,
			.file = import_id(im, file),
			.file2 = import_id(im, other),
			.result = c->result});
}

static void call_rename(struct import *im, struct call *c, const struct call_row *row)
{
	const uint64_t flags = row->more ? arg_flags(c->args.at[row->more]) : 0;
	const int to_path = row->arg, to_dir = row->dir < 0 ? -1 : to_path - 1;
	struct place from, to;

	if (is_moot(im, c) || !path_place(im, c, row->dir, row->path, false, &from) || !from.size ||
		!path_place(im, c, to_dir, to_path, false, &to) || !to.size)
		return;
	if (import_inside(im, from.dir) || import_inside(im, to.dir) || c->result == 0)
		rename_places(im, c, &from, &to, flags);
}

/* ---- attributes ---- */

static void call_truncate(struct import *im, struct call *c, const struct call_row *row)
{
	uint32_t file;
	uint64_t handle;
	int64_t size;

	if (!arg_number(c->args.at[row->arg], &size) || size < 0 ||
		!subject(im, c, row, true, &file, &handle))
		return;
	if (c->result == 0) {
		world_file(im->world, file)->size = (uint64_t)size;
		world_file(im->world, file)->cut = true;
	}
	import_event(im, c,
		(struct event){.op = OP_truncate,
			.file = import_id(im, file),
			.handle = handle,
			.size = (uint64_t)size,
			.result = c->result});
}

static void call_chmod(struct import *im, struct call *c, const struct call_row *row)
{
	uint32_t file;
	uint64_t handle;

	if (subject(im, c, row, true, &file, &handle))
		import_event(im, c,
			(struct event){.op = OP_chmod,
				.file = import_id(im, file),
				.handle = handle,
				.mode = arg_flags(c->args.at[row->arg]) & 07777,
				.result = c->result});
}

static void call_chown(struct import *im, struct call *c, const struct call_row *row)
{
	const bool follow = row->more == FOLLOW ||
	                    (row->more == BY_FLAGS &&
				    !(arg_flags(c->args.at[row->arg + 2]) & AT_SYMLINK_NOFOLLOW));
	int64_t uid = -1, gid = -1;
	uint32_t file;
	uint64_t handle;

	if (!subject(im, c, row, follow, &file, &handle))
		return;
	arg_number(c->args.at[row->arg], &uid);
	arg_number(c->args.at[row->arg + 1], &gid);
	import_event(im, c,
		(struct event){.op = OP_chown,
			.file = import_id(im, file),
			.handle = handle,
			.uid = (uint32_t)uid,
			.gid = (uint32_t)gid,
			.result = c->result});
}

/* "{tv_sec=1, tv_nsec=2}", UTIME_NOW or UTIME_OMIT, in whichever spelling; bits as in the trace. */
static uint64_t time_arg(struct text t, uint64_t bit, uint64_t *ret_ns)
{
	struct text part = arg_field(t, "tv_nsec");
	int64_t sec = 0, nsec = 0;

	if (text_is(t, "UTIME_NOW") || text_is(part, "UTIME_NOW"))
		return bit | bit << 2;
	if (text_is(t, "UTIME_OMIT") || text_is(part, "UTIME_OMIT"))
		return 0;
	arg_number(arg_field(t, "tv_sec"), &sec);
	arg_number(part, &nsec);
	*ret_ns = (uint64_t)sec * UINT64_C(1000000000) + (uint64_t)nsec;
	return bit;
}

static void call_utimens(struct import *im, struct call *c, const struct call_row *row)
{
	struct event ev = {.op = OP_utimens, .flags = TIMES_NOW};
	struct strace_args times;
	uint32_t file;

	if (!subject(im, c, row, follows(c, row), &file, &ev.handle))
		return;
	if (!text_is(c->args.at[2], "NULL")) {
		arg_split(arg_inside(c->args.at[2]), &times);
		ev.flags =
			time_arg(times.at[0], 1, &ev.atime) | time_arg(times.at[1], 2, &ev.mtime);
	}
	ev.file = import_id(im, file);
	ev.result = c->result;
	if (ev.flags)
		import_event(im, c, ev);
}

/* ---- extended attributes ---- */

enum { XATTR_SET = 16, XATTR_GET = 32, XATTR_LIST = 64, XATTR_REMOVE = 128 };

static bool is_replayed(struct text name)
{
	return name.size > 5 && !memcmp(name.data, "user.", 5);
}

static void attribute_event(struct import *im, struct call *c, const struct call_row *row,
	uint32_t file, uint64_t handle, struct text name)
{
	const uint64_t key = content_hash(name.data, name.size);
	struct event ev = {
		.file = import_id(im, file), .handle = handle, .name = name, .result = c->result};
	int64_t size = 0;
	bool cut = false;

	im->text2.size = 0;
	if (row->more & XATTR_SET) {
		if (!is_replayed(name) || !arg_string(c->args.at[2], &im->text2, &cut) || cut) {
			import_note(im, c->name);
			return;
		}
		ev.op = OP_setxattr;
		ev.value = (struct text){(char *)im->text2.data, im->text2.size};
		ev.flags = arg_flags(c->args.at[4]);
		if (c->result == 0)
			map_put(&im->attributes, file, key, 1);
	} else if (row->more & XATTR_GET) {
		arg_number(c->args.at[3], &size);
		ev.op = OP_getxattr;
		ev.size = (uint64_t)size;
		/* From before the list: what it was is not known. */
		if (c->result >= 0 && !map_get(&im->attributes, file, key)) {
			import_note(im, c->name);
			return;
		}
	} else {
		ev.op = OP_removexattr;
		if (c->result == 0 && !map_del(&im->attributes, file, key)) {
			import_note(im, c->name);
			return;
		}
	}
	import_event(im, c, ev);
}

static void call_xattr(struct import *im, struct call *c, const struct call_row *row)
{
	uint32_t file;
	uint64_t handle;
	int64_t size = 0;
	bool cut = false;

	if (!subject(im, c, row, row->more & FOLLOW, &file, &handle))
		return;
	if (row->more & XATTR_LIST) {
		arg_number(c->args.at[2], &size);
		import_event(im, c,
			(struct event){.op = OP_listxattr,
				.file = import_id(im, file),
				.size = (uint64_t)size,
				.result = c->result});
		return;
	}
	im->text.size = 0;
	if (arg_string(c->args.at[1], &im->text, &cut) && !cut)
		attribute_event(im, c, row, file, handle,
			(struct text){(char *)im->text.data, im->text.size});
}

/* ---- where a process is ---- */

static void call_chdir(struct import *im, struct call *c, const struct call_row *row)
{
	struct place p;

	if (c->has_result && c->result == 0 && path_place(im, c, row->dir, row->path, true, &p))
		*c->task->cwd = path_existing(im, c, &p, S_IFDIR);
}

static void call_fchdir(struct import *im, struct call *c, const struct call_row *row)
{
	struct text shown;
	int fd;

	if (!c->has_result || c->result != 0 || !arg_fd(c->args.at[0], &fd, &shown))
		return;
	const struct fd *known = task_fd(c->task, fd);
	if (known)
		*c->task->cwd = known->opened->file;
}

static const struct call_row rows[] = {
	{"openat", call_open, 0, 1, 2, 0},
	{"open", call_open, -1, 0, 1, 0},
	{"creat", call_creat, -1, 0, 1, 0},
	{"openat2", call_openat2, 0, 1, 2, 0},
	{"newfstatat", call_stat, 0, 1, 3, BY_FLAGS},
	{"fstatat64", call_stat, 0, 1, 3, BY_FLAGS},
	{"statx", call_stat, 0, 1, 2, BY_FLAGS},
	{"stat", call_stat, -1, 0, 0, FOLLOW},
	{"stat64", call_stat, -1, 0, 0, FOLLOW},
	{"lstat", call_stat, -1, 0, 0, NO_FOLLOW},
	{"lstat64", call_stat, -1, 0, 0, NO_FOLLOW},
	{"fstat", call_stat, -1, -1, 0, NO_FOLLOW},
	{"fstat64", call_stat, -1, -1, 0, NO_FOLLOW},
	{"access", call_access, -1, 0, 1, 0},
	{"faccessat", call_access, 0, 1, 2, 0},
	{"faccessat2", call_access, 0, 1, 2, 0},
	{"statfs", call_statfs, -1, 0, 0, 0},
	{"statfs64", call_statfs, -1, 0, 0, 0},
	{"fstatfs", call_statfs, -1, -1, 0, 0},
	{"fstatfs64", call_statfs, -1, -1, 0, 0},
	{"readlink", call_readlink, -1, 0, 1, 0},
	{"readlinkat", call_readlink, 0, 1, 2, 0},
	{"mkdir", call_mkdir, -1, 0, 1, 0},
	{"mkdirat", call_mkdir, 0, 1, 2, 0},
	{"mknod", call_mknod, -1, 0, 1, 0},
	{"mknodat", call_mknod, 0, 1, 2, 0},
	{"symlink", call_symlink, -1, 1, 0, 0},
	{"symlinkat", call_symlink, 1, 2, 0, 0},
	{"link", call_link, -1, 1, -1, 0},
	{"linkat", call_link, 2, 3, 0, 1},
	{"unlink", call_unlink, -1, 0, -1, 0},
	{"unlinkat", call_unlink, 0, 1, 2, 0},
	{"rmdir", call_unlink, -1, 0, -1, 1},
	{"rename", call_rename, -1, 0, 1, 0},
	{"renameat", call_rename, 0, 1, 3, 0},
	{"renameat2", call_rename, 0, 1, 3, 4},
	{"truncate", call_truncate, -1, 0, 1, 0},
	{"ftruncate", call_truncate, -1, -1, 1, 0},
	{"chmod", call_chmod, -1, 0, 1, 0},
	{"fchmod", call_chmod, -1, -1, 1, 0},
	{"fchmodat", call_chmod, 0, 1, 2, 0},
	{"fchmodat2", call_chmod, 0, 1, 2, 0},
	{"chown", call_chown, -1, 0, 1, FOLLOW},
	{"lchown", call_chown, -1, 0, 1, NO_FOLLOW},
	{"fchown", call_chown, -1, -1, 1, FOLLOW},
	{"fchownat", call_chown, 0, 1, 2, BY_FLAGS},
	{"utimensat", call_utimens, 0, 1, 3, BY_FLAGS},
	{"setxattr", call_xattr, -1, 0, 0, XATTR_SET | FOLLOW},
	{"lsetxattr", call_xattr, -1, 0, 0, XATTR_SET},
	{"fsetxattr", call_xattr, -1, -1, 0, XATTR_SET},
	{"getxattr", call_xattr, -1, 0, 0, XATTR_GET | FOLLOW},
	{"lgetxattr", call_xattr, -1, 0, 0, XATTR_GET},
	{"fgetxattr", call_xattr, -1, -1, 0, XATTR_GET},
	{"listxattr", call_xattr, -1, 0, 0, XATTR_LIST | FOLLOW},
	{"llistxattr", call_xattr, -1, 0, 0, XATTR_LIST},
	{"flistxattr", call_xattr, -1, -1, 0, XATTR_LIST},
	{"removexattr", call_xattr, -1, 0, 0, XATTR_REMOVE | FOLLOW},
	{"lremovexattr", call_xattr, -1, 0, 0, XATTR_REMOVE},
	{"fremovexattr", call_xattr, -1, -1, 0, XATTR_REMOVE},
	{"chdir", call_chdir, -1, 0, 0, 0},
	{"fchdir", call_fchdir, -1, -1, 0, 0},
};

bool calls_names(struct import *im, struct call *c)
{
	return call_run(im, c, rows, ARRAY_SIZE(rows));
}

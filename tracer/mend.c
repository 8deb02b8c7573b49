/* SPDX-License-Identifier: MIT */
#include "mend.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define DEPTH_MAX 256

static bool have_file(struct mend *m, uint64_t id, unsigned depth);

static void put(struct mend *m, const struct event *ev)
{
	m->made_up++;
	m->emit(m->arg, ev);
	realm_event(m->made, ev);
}

#define PUT(m, ...) put(m, &(const struct event){__VA_ARGS__})

/* ---- files and names ---- */

static bool have_dir(struct mend *m, uint64_t id, unsigned depth)
{
	const struct realm_file *dir = realm_file(m->real, id);

	return dir && realm_is_dir(dir) && have_file(m, id, depth);
}

static void put_new_file(
	struct mend *m, const struct realm_file *real, uint64_t dir, struct text name)
{
	struct event ev = {.op = OP_mknod,
		.dir = dir,
		.name = name,
		.file = real->id,
		.mode = real->mode,
		.rdev = real->rdev,
		.uid = real->uid,
		.gid = real->gid};

	if (S_ISDIR(real->mode))
		ev.op = OP_mkdir;
	if (S_ISLNK(real->mode))
		ev.op = OP_symlink;
	if (ev.op != OP_mknod)
		ev.mode = S_ISDIR(real->mode) ? real->mode & 07777 : 0;
	if (S_ISLNK(real->mode))
		ev.value = (struct text){real->target, real->target_size};
	put(m, &ev);
	if (S_ISREG(real->mode) && real->size)
		PUT(m, .op = OP_truncate, .file = real->id, .size = real->size);
}

static bool can_be_made(const struct realm_file *real)
{
	return S_ISREG(real->mode) || S_ISDIR(real->mode) || S_ISFIFO(real->mode) ||
	       S_ISSOCK(real->mode) || (S_ISLNK(real->mode) && real->target);
}

/* The handle that the file was made with, if it never had a name: it may still get one. */
static const struct realm_handle *tmpfile_handle(const struct realm_file *file)
{
	for (const struct realm_handle *h = file->handles; h; h = h->next)
		if ((h->flags & O_TMPFILE) == O_TMPFILE && !h->directory)
			return h;
	return NULL;
}

/* What lost its last name never gets one again, but for what was made without. */
static bool can_be_linked(const struct realm_file *made)
{
	return made->names.count || tmpfile_handle(made);
}

/* Give the file this one of its names. */
static bool make_name(struct mend *m, const struct realm_file *real, uint64_t dir, struct text name,
	unsigned depth)
{
	if (depth > DEPTH_MAX || !have_dir(m, dir, depth + 1) || realm_lookup(m->made, dir, name))
		return false;
	const struct realm_file *made = realm_file(m->made, real->id);
	if (made && (S_ISDIR(real->mode) || !can_be_linked(made)))
		return false;
	if (made)
		PUT(m, .op = OP_link, .file = real->id, .dir = dir, .name = name);
	else if (can_be_made(real))
		put_new_file(m, real, dir, name);
	return realm_lookup(m->made, dir, name);
}

/* By a name that it has in both worlds. */
static bool have_file(struct mend *m, uint64_t id, unsigned depth)
{
	const struct realm_file *real = realm_file(m->real, id);
	const struct realm_file *made = realm_file(m->made, id);

	if (id == TREE_ROOT)
		return true;
	if (!real || !real->names.count)
		return false;
	vec_each (name, &real->names)
		if (made && realm_lookup(m->made, name->dir, realm_name(name)) == made)
			return true;
	const struct realm_name *name = &real->names.at[real->names.count - 1];
	return make_name(m, real, name->dir, realm_name(name), depth);
}

/* The name is bound to the same file in both worlds, or to none. */
static bool have_name(struct mend *m, uint64_t dir, struct text name)
{
	const struct realm_file *real = realm_lookup(m->real, dir, name);
	const struct realm_file *made = realm_lookup(m->made, dir, name);

	if (!have_dir(m, dir, 0))
		return false;
	if (!real || made)
		return real ? made->id == real->id : !made;
	return make_name(m, real, dir, name, 0);
}

/* ---- handles ---- */

static void put_open(struct mend *m, const struct realm_handle *h)
{
	uint32_t made_flags = O_CREAT | O_EXCL | O_TRUNC;

	if (!h->directory)
		made_flags |= O_TMPFILE; /* O_DIRECTORY is a part of it */
	PUT(m, .op = h->directory ? OP_opendir : OP_open, .file = h->file->id, .handle = h->id,
		.flags = h->flags & ~made_flags, .thread = h->thread);
}

struct text mend_name(struct mend_name *room, const struct realm_file *file)
{
	int n = snprintf(room->text, sizeof(room->text), "fsreel-nameless-%llu",
		(unsigned long long)file->id);

	return (struct text){room->text, (size_t)n};
}

bool mend_needs_name(const struct realm_file *file)
{
	return !file->names.count && file->handles && S_ISREG(file->mode) && !tmpfile_handle(file);
}

void mend_nameless(struct mend *m, const struct realm_file *file, struct text name)
{
	for (const struct realm_handle *h = file->handles; h; h = h->next)
		put_open(m, h);
	PUT(m, .op = OP_unlink, .dir = TREE_ROOT, .name = name, .file = file->id);
}

static void put_tmpfile(struct mend *m, const struct realm_file *real, const struct realm_handle *h)
{
	PUT(m, .op = OP_tmpfile, .dir = TREE_ROOT, .file = real->id, .handle = h->id,
		.flags = h->flags, .mode = real->mode & 07777, .uid = real->uid, .gid = real->gid,
		.thread = h->thread);
	if (real->size)
		PUT(m, .op = OP_truncate, .file = real->id, .handle = h->id, .size = real->size);
}

/* It gets a name for as long as it takes to open it. */
static bool have_nameless(struct mend *m, const struct realm_file *real)
{
	const struct realm_handle *made_with = tmpfile_handle(real);
	struct mend_name room;
	struct text name = mend_name(&room, real);

	if (realm_file(m->made, real->id) || !S_ISREG(real->mode) ||
		realm_lookup(m->made, TREE_ROOT, name))
		return false;
	if (made_with) {
		put_tmpfile(m, real, made_with);
		return true;
	}
	put_new_file(m, real, TREE_ROOT, name);
	mend_nameless(m, real, name);
	return true;
}

static bool have_handle(struct mend *m, uint64_t id)
{
	const struct realm_handle *real = realm_handle(m->real, id);

	if (realm_handle(m->made, id))
		return true;
	if (!real)
		return false;
	if (!real->file->names.count && real->file->id != TREE_ROOT)
		return have_nameless(m, real->file) && realm_handle(m->made, id);
	if (!have_file(m, real->file->id, 0))
		return false;
	put_open(m, real);
	return realm_handle(m->made, id);
}

/* ---- what an operation finds ---- */

static uint64_t writable_handle(const struct realm_file *made)
{
	for (const struct realm_handle *h = made->handles; h; h = h->next)
		if ((h->flags & O_ACCMODE) != O_RDONLY)
			return h->id;
	return 0;
}

static bool same_size(struct mend *m, uint64_t id)
{
	const struct realm_file *real = realm_file(m->real, id), *made = realm_file(m->made, id);

	if (!real || !made || !S_ISREG(real->mode) || real->size == made->size)
		return true;
	uint64_t handle = made->names.count ? 0 : writable_handle(made);
	if (!made->names.count && !handle)
		return false;
	PUT(m, .op = OP_truncate, .file = id, .handle = handle, .size = real->size);
	return true;
}

static bool mend_read(struct mend *m, const struct event *ev)
{
	const struct realm_file *real = realm_file(m->real, ev->file);

	if (ev->result < 0)
		return true;
	if (!same_size(m, ev->file))
		return false;
	const struct realm_file *made = realm_file(m->made, ev->file);
	if (real && made)
		m->hollow_reads += extents_within(&real->data, ev->offset, (uint64_t)ev->result) >
		                   extents_within(&made->data, ev->offset, (uint64_t)ev->result);
	return true;
}

/* Only the end of the data and the end of the file decide what is found. */
static bool mend_lseek(struct mend *m, const struct event *ev)
{
	const struct realm_file *real = realm_file(m->real, ev->file);
	const struct realm_file *made = realm_file(m->made, ev->file);

	if (!same_size(m, ev->file) || !real || !made)
		return false;
	return ev->mode != SEEK_DATA || !extents_within(&real->data, ev->offset, INT64_MAX) ==
	                                        !extents_within(&made->data, ev->offset, INT64_MAX);
}

/* A directory that was not empty. */
static bool mend_full(struct mend *m, const struct event *ev)
{
	uint64_t dir = ev->op == OP_rename ? ev->file2 : ev->file;
	const struct realm_file *made = realm_file(m->made, dir);
	struct realm_file *child = NULL;

	if ((ev->result != -ENOTEMPTY && ev->result != -EEXIST) || !made || made->children)
		return true;
	const struct realm_name *name = realm_any_child(m->real, dir, &child);
	return name && make_name(m, child, dir, realm_name(name), 0);
}

/* A file whose only name here goes gets another one that it has, before it is too late. */
static void keep_linked(struct mend *m, uint64_t dir, struct text name)
{
	const struct realm_file *made = realm_lookup(m->made, dir, name);
	const struct realm_file *real = made ? realm_file(m->real, made->id) : NULL;

	if (!real || made->names.count > 1)
		return;
	vec_each (other, &real->names) {
		bool same = other->dir == dir && other->size == name.size &&
		            !memcmp(other->text, name.data, name.size);
		if (!same && make_name(m, real, other->dir, realm_name(other), 0))
			return;
	}
}

static bool mend_unlink(struct mend *m, const struct event *ev)
{
	if (ev->result >= 0)
		keep_linked(m, ev->dir, ev->name);
	return true;
}

static bool mend_rename(struct mend *m, const struct event *ev)
{
	if (ev->result < 0)
		return mend_full(m, ev);
	if (!(ev->flags & RENAME_EXCHANGE))
		keep_linked(m, ev->dir2, ev->name2);
	return true;
}

static bool mend_mode(struct mend *m, const struct event *ev)
{
	const struct realm_file *real = realm_file(m->real, ev->file);
	const struct realm_file *made = realm_file(m->made, ev->file);

	if (real && made && real->mode != made->mode && !S_ISLNK(real->mode) && real->mode)
		PUT(m, .op = OP_chmod, .file = ev->file, .mode = real->mode & 07777);
	return true;
}

static bool is_ours(struct text name)
{
	static const char prefix[] = "user.";

	return name.size > strlen(prefix) && !memcmp(name.data, prefix, strlen(prefix));
}

static void same_xattr(struct mend *m, uint64_t id, struct text name)
{
	const struct realm_file *real = realm_file(m->real, id), *made = realm_file(m->made, id);
	const struct realm_xattr *a = real ? realm_xattr(real, name) : NULL;
	const struct realm_xattr *b = made ? realm_xattr(made, name) : NULL;

	if (!is_ours(name) || (!a && !b) || (a && b && a->value_size == b->value_size))
		return;
	if (a)
		PUT(m, .op = OP_setxattr, .file = id, .name = name,
			.value = {a->value, a->value_size});
	else
		PUT(m, .op = OP_removexattr, .file = id, .name = name);
}

static bool mend_xattr(struct mend *m, const struct event *ev)
{
	same_xattr(m, ev->file, ev->name);
	return true;
}

static bool mend_xattrs(struct mend *m, const struct event *ev)
{
	const struct realm_file *real = realm_file(m->real, ev->file);

	if (real)
		vec_each (x, &real->xattrs)
			same_xattr(m, ev->file, (struct text){x->name, x->name_size});
	return true;
}

/* ---- locks ---- */

static void put_lock(
	struct mend *m, const struct realm_file *file, const struct realm_lock *lock, bool unlock)
{
	struct event ev = {.op = lock->flock ? OP_flock : OP_setlk,
		.file = file->id,
		.handle = lock->handle,
		.owner = lock->owner,
		.offset = lock->start,
		.size = lock->end == INT64_MAX ? 0 : lock->end - lock->start + 1};

	if (lock->flock)
		ev.mode = unlock ? LOCK_UN : lock->exclusive ? LOCK_EX : LOCK_SH;
	else
		ev.mode = unlock ? F_UNLCK : lock->exclusive ? F_WRLCK : F_RDLCK;
	put(m, &ev);
}

static const struct realm_lock *in_the_way(
	const struct realm_file *file, const struct realm_lock *lock, const uint64_t *owner)
{
	vec_each (held, &file->locks)
		if (realm_locks_conflict(held, lock) && (!owner || held->owner == *owner))
			return held;
	return NULL;
}

/* What is in the way, but is not in the real world, was let go by an event that is not kept. */
static bool make_way(struct mend *m, const struct realm_file *real, const struct realm_file *made,
	const struct realm_lock *lock)
{
	const struct realm_lock *held;

	for (size_t tries = made->locks.count; tries-- && (held = in_the_way(made, lock, NULL));) {
		struct realm_lock old = *held;
		if (in_the_way(real, lock, &old.owner))
			return true;
		put_lock(m, made, &old, true);
	}
	return true;
}

/* Granted: nothing may be in the way that was not there. Refused: something must. */
static bool mend_lock(struct mend *m, const struct event *ev)
{
	const struct realm_file *real = realm_file(m->real, ev->file);
	const struct realm_file *made = realm_file(m->made, ev->file);
	struct realm_lock lock = realm_lock_of(ev);

	if (!real || !made)
		return false;
	if (ev->result >= 0)
		return make_way(m, real, made, &lock);
	if ((ev->result != -EAGAIN && ev->result != -EACCES) || in_the_way(made, &lock, NULL))
		return true;
	const struct realm_lock *held = in_the_way(real, &lock, NULL);
	if (!held || !have_handle(m, held->handle))
		return false;
	put_lock(m, real, held, false);
	return true;
}

/* ---- all of it ---- */

static bool (*const mend_more[OP_LIMIT])(struct mend *m, const struct event *ev) = {
	[OP_read] = mend_read,
	[OP_copy_file_range] = mend_read,
	[OP_lseek] = mend_lseek,
	[OP_rmdir] = mend_full,
	[OP_rename] = mend_rename,
	[OP_unlink] = mend_unlink,
	[OP_open] = mend_mode,
	[OP_access] = mend_mode,
	[OP_getxattr] = mend_xattr,
	[OP_setxattr] = mend_xattr,
	[OP_removexattr] = mend_xattr,
	[OP_listxattr] = mend_xattrs,
	[OP_setlk] = mend_lock,
	[OP_flock] = mend_lock,
};

/* By handle, if the operation uses one. */
static bool has_handle(const struct event *ev)
{
	const struct op_desc *op = &op_descs[ev->op];

	for (unsigned i = 0; i < op->arg_count; i++)
		if (op->args[i].at == offsetof(struct event, handle))
			return ev->handle && op->args[i].effect != EFFECT_MAKE;
	return false;
}

static bool mend_arg(struct mend *m, const struct event *ev, const struct op_arg *arg)
{
	bool second = arg->at == offsetof(struct event, name2);
	bool is_dir =
		arg->at == offsetof(struct event, dir) || arg->at == offsetof(struct event, dir2);

	if (arg->effect == EFFECT_NONE)
		return true;
	if (arg->kind == KIND_NAME)
		return have_name(m, second ? ev->dir2 : ev->dir, *event_text(ev, arg));
	if (arg->effect == EFFECT_MAKE)
		return true;
	uint64_t id = *event_number(ev, arg);
	if (arg->kind == KIND_HANDLE)
		return !id || have_handle(m, id);
	if (arg->kind != KIND_FILE)
		return true;
	if (is_dir)
		return have_dir(m, id, 0);
	return !id || has_handle(ev) || have_file(m, id, 0);
}

bool mend_for(struct mend *m, const struct event *ev)
{
	const struct op_desc *op = &op_descs[ev->op];

	for (unsigned i = 0; i < op->arg_count; i++)
		if (!mend_arg(m, ev, &op->args[i]))
			return false;
	return !mend_more[ev->op] || mend_more[ev->op](m, ev);
}

bool mend_must_follow(const struct mend *m, const struct event *ev)
{
	if (ev->result < 0)
		return false;
	if (ev->op == OP_release || ev->op == OP_releasedir)
		return realm_handle(m->made, ev->handle);
	if (ev->op == OP_rename && realm_lookup(m->made, ev->dir2, ev->name2))
		return true;
	return (ev->op == OP_unlink || ev->op == OP_rmdir || ev->op == OP_rename) &&
	       realm_lookup(m->made, ev->dir, ev->name);
}

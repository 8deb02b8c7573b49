/* SPDX-License-Identifier: MIT */
#include "realm.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "content.h"

#define XATTRS_MAX 4096 /* of one file, as in the starting state */
#define LOCKS_MAX  4096 /* on one file */
#define ABOVE_MAX  4096 /* levels between an entry and the root; only a malformed trace has more */

struct realm {
	struct map files;   /* (id, 0) -> struct realm_file * */
	struct map handles; /* (id, 0) -> struct realm_handle * */
	struct map names;   /* (directory, hash of the name) -> struct realm_file * */
};

static void *pointer(const uint64_t *value)
{
	return value ? (void *)(uintptr_t)*value : NULL;
}

static uint64_t number(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static uint64_t name_hash(struct text name)
{
	return XXH3_64bits(name.data, name.size);
}

struct text realm_name(const struct realm_name *name)
{
	return (struct text){name->text, name->size};
}

struct realm_file *realm_file(const struct realm *w, uint64_t id)
{
	return pointer(map_get(&w->files, id, 0));
}

struct realm_handle *realm_handle(const struct realm *w, uint64_t id)
{
	return pointer(map_get(&w->handles, id, 0));
}

struct realm_file *realm_lookup(const struct realm *w, uint64_t dir, struct text name)
{
	return pointer(map_get(&w->names, dir, name_hash(name)));
}

static char *copy_of(struct text text)
{
	char *copy = xmalloc(text.size + 1);

	if (text.size)
		memcpy(copy, text.data, text.size);
	copy[text.size] = '\0';
	return copy;
}

static bool same_text(const char *a, size_t size, struct text b)
{
	return size == b.size && !memcmp(a, b.data, size);
}

/* ---- files and names ---- */

static struct realm_file *file_new(struct realm *w, uint64_t id)
{
	struct realm_file *file = ALLOC(struct realm_file);

	file->id = id;
	file->content_zero = true;
	map_put(&w->files, id, 0, number(file));
	return file;
}

static void file_free(struct realm_file *file)
{
	vec_each (name, &file->names)
		free(name->text);
	vec_each (x, &file->xattrs) {
		free(x->name);
		free(x->value);
	}
	vec_free(&file->names);
	vec_free(&file->xattrs);
	vec_free(&file->locks);
	extents_done(&file->data);
	free(file->target);
	free(file);
}

static void file_forget(struct realm *w, struct realm_file *file)
{
	if (file->names.count || file->handles || file->children || file->id == TREE_ROOT)
		return;
	map_del(&w->files, file->id, 0);
	file_free(file);
}

static void name_drop(struct realm_file *file, uint64_t dir, struct text text)
{
	for (size_t i = 0; i < file->names.count; i++) {
		struct realm_name *name = &file->names.at[i];
		if (name->dir != dir || !same_text(name->text, name->size, text))
			continue;
		free(name->text);
		memmove(name, name + 1, (file->names.count - i - 1) * sizeof(*name));
		file->names.count--;
		return;
	}
}

/* Returns the file that had the name, which may have none now; the caller forgets it. */
static struct realm_file *unbind(struct realm *w, uint64_t dir, struct text name)
{
	struct realm_file *file = realm_lookup(w, dir, name);
	struct realm_file *above = realm_file(w, dir);

	if (!file)
		return NULL;
	name_drop(file, dir, name);
	map_del(&w->names, dir, name_hash(name));
	if (above && above->children)
		above->children--;
	return file;
}

static void bind(struct realm *w, uint64_t dir, struct text name, struct realm_file *file)
{
	struct realm_file *above = realm_file(w, dir), *old = realm_lookup(w, dir, name);

	if (!name.size || !above || file->id == TREE_ROOT || old == file)
		return;
	if (old && unbind(w, dir, name))
		file_forget(w, old);
	vec_push(&file->names, (struct realm_name){dir, copy_of(name), name.size});
	map_put(&w->names, dir, name_hash(name), number(file));
	above->children++;
}

struct realm *realm_new(void)
{
	struct realm *w = ALLOC(struct realm);

	file_new(w, TREE_ROOT)->mode = S_IFDIR | 0755;
	return w;
}

void realm_free(struct realm *w)
{
	if (!w)
		return;
	for (const struct map_slot *s = map_next(&w->files, NULL); s; s = map_next(&w->files, s))
		file_free(pointer(&s->value));
	for (const struct map_slot *s = map_next(&w->handles, NULL); s;
		s = map_next(&w->handles, s))
		free(pointer(&s->value));
	map_free(&w->files);
	map_free(&w->handles);
	map_free(&w->names);
	free(w);
}

/* ---- attributes ---- */

const struct realm_xattr *realm_xattr(const struct realm_file *file, struct text name)
{
	vec_each (x, &file->xattrs)
		if (same_text(x->name, x->name_size, name))
			return x;
	return NULL;
}

static void xattr_drop(struct realm_file *file, struct text name)
{
	const struct realm_xattr *found = realm_xattr(file, name);

	if (!found)
		return;
	free(found->name);
	free(found->value);
	file->xattrs.at[found - file->xattrs.at] = file->xattrs.at[--file->xattrs.count];
}

static void xattr_set(struct realm_file *file, struct text name, struct text value)
{
	xattr_drop(file, name);
	if (file->xattrs.count < XATTRS_MAX)
		vec_push(&file->xattrs,
			(struct realm_xattr){copy_of(name), copy_of(value), name.size, value.size});
}

/* ---- contents ---- */

static void content_note(struct realm_file *file, uint64_t content, uint64_t bytes)
{
	if (content == CONTENT_UNKNOWN || content >= CONTENT_LIMIT)
		return;
	file->content_zero &= content == CONTENT_ZERO;
	file->content_bytes += bytes;
	file->content_cost += content > CONTENT_WORDS ? (content - CONTENT_WORDS) * bytes : 0;
}

/* Of data of which as much is unpredictable as of all that was written. */
uint64_t realm_content(const struct realm_file *file)
{
	if (!file->content_bytes)
		return CONTENT_UNKNOWN;
	uint64_t k = (file->content_cost + file->content_bytes / 2) / file->content_bytes;
	return file->content_zero ? CONTENT_ZERO : CONTENT_WORDS + k;
}

static void resize(struct realm_file *file, uint64_t size)
{
	if (!file || size > INT64_MAX)
		return;
	if (size < file->size)
		extents_remove(&file->data, size, UINT64_MAX - size);
	file->size = size;
}

static void add_data(struct realm_file *file, uint64_t offset, int64_t size, uint64_t content)
{
	if (!file || size <= 0 || offset > INT64_MAX - (uint64_t)size)
		return;
	extents_add(&file->data, offset, (uint64_t)size);
	content_note(file, content, (uint64_t)size);
	file->size = max_u64(file->size, offset + (uint64_t)size);
}

/* ---- the starting state ---- */

static void take_entry(struct realm_file *file, const struct tree_entry *e)
{
	file->mode = (uint32_t)e->mode;
	file->uid = (uint32_t)e->uid;
	file->gid = (uint32_t)e->gid;
	file->size = e->size;
	file->rdev = e->rdev;
	file->mtime_ns = e->mtime_ns;
	free(file->target);
	file->target = copy_of(e->target);
	file->target_size = e->target.size;
	for (size_t i = 0; i < e->extent_count; i++) {
		extents_add(&file->data, e->extents[i].offset, e->extents[i].size);
		content_note(file, e->content, e->extents[i].size);
	}
	for (size_t i = 0; i < e->xattr_count; i++)
		xattr_set(file, e->xattrs[i].name, e->xattrs[i].value);
}

void realm_tree(struct realm *w, const struct tree_entry *entry)
{
	struct realm_file *file = realm_file(w, entry->id);

	if (!file)
		file = file_new(w, entry->id);
	if (!entry->again)
		take_entry(file, entry);
	bind(w, entry->parent, entry->name, file);
	file_forget(w, file);
}

/* ---- locks ---- */

struct realm_lock realm_lock_of(const struct event *ev)
{
	bool flock = ev->op == OP_flock;
	uint64_t last = ev->offset + ev->size - 1;

	return (struct realm_lock){
		.owner = flock ? ev->handle : ev->owner,
		.handle = ev->handle,
		.start = flock ? 0 : ev->offset,
		.end = flock || !ev->size || last < ev->offset ? INT64_MAX : last,
		.exclusive = flock ? ev->mode & LOCK_EX : ev->mode == F_WRLCK,
		.flock = flock,
	};
}

static bool is_unlock(const struct event *ev)
{
	return ev->op == OP_flock ? ev->mode & LOCK_UN : ev->mode == F_UNLCK;
}

static bool locks_meet(const struct realm_lock *a, const struct realm_lock *b)
{
	return a->flock == b->flock && a->start <= b->end && b->start <= a->end;
}

bool realm_locks_conflict(const struct realm_lock *a, const struct realm_lock *b)
{
	return locks_meet(a, b) && a->owner != b->owner && (a->exclusive || b->exclusive);
}

static void lock_push(struct realm_file *file, struct realm_lock lock)
{
	if (file->locks.count < LOCKS_MAX && lock.start <= lock.end)
		vec_push(&file->locks, lock);
}

/* What the owner holds in the range of `lock` is let go; the parts beside it stay. */
static void lock_clear(struct realm_file *file, const struct realm_lock *lock)
{
	for (size_t i = 0; i < file->locks.count;) {
		struct realm_lock held = file->locks.at[i];
		if (!locks_meet(&held, lock) || held.owner != lock->owner) {
			i++;
			continue;
		}
		struct realm_lock before = held, after = held;
		file->locks.at[i] = file->locks.at[--file->locks.count];
		if (held.start < lock->start) {
			before.end = lock->start - 1;
			lock_push(file, before);
		}
		if (held.end > lock->end) {
			after.start = lock->end + 1;
			lock_push(file, after);
		}
	}
}

static void locked(struct realm *w, const struct event *ev)
{
	struct realm_handle *h = realm_handle(w, ev->handle);
	struct realm_lock lock = realm_lock_of(ev);

	if (!h)
		return;
	lock_clear(h->file, &lock);
	if (!is_unlock(ev))
		lock_push(h->file, lock);
}

/* ---- handles ---- */

static void opened(struct realm *w, const struct event *ev)
{
	struct realm_file *file = realm_file(w, ev->file);

	if (!file || !ev->handle || realm_handle(w, ev->handle))
		return;
	struct realm_handle *h = ALLOC(struct realm_handle);
	*h = (struct realm_handle){.id = ev->handle,
		.file = file,
		.next = file->handles,
		.flags = (uint32_t)ev->flags,
		.directory = ev->op == OP_opendir};
	file->handles = h;
	map_put(&w->handles, ev->handle, 0, number(h));
}

static void released(struct realm *w, const struct event *ev)
{
	struct realm_handle *h = realm_handle(w, ev->handle);

	if (!h)
		return;
	struct realm_file *file = h->file;
	struct realm_handle **at = &file->handles;
	while (*at != h)
		at = &(*at)->next;
	*at = h->next;
	for (size_t i = 0; i < file->locks.count;) {
		if (file->locks.at[i].handle == h->id)
			file->locks.at[i] = file->locks.at[--file->locks.count];
		else
			i++;
	}
	map_del(&w->handles, h->id, 0);
	free(h);
	file_forget(w, file);
}

/* ---- events ---- */

/* A file was made with this name, or met by it. */
static struct realm_file *made(struct realm *w, const struct event *ev, uint32_t mode)
{
	struct realm_file *file = realm_file(w, ev->file);

	if (!ev->file || ev->file == TREE_ROOT)
		return NULL;
	if (!file) {
		file = file_new(w, ev->file);
		file->uid = (uint32_t)ev->uid;
		file->gid = (uint32_t)ev->gid;
	}
	if (!file->mode)
		file->mode = mode;
	bind(w, ev->dir, ev->name, file);
	return file;
}

static void follow_lookup(struct realm *w, const struct event *ev)
{
	struct realm_file *file = made(w, ev, 0);

	if (file)
		file_forget(w, file);
}

static void follow_mknod(struct realm *w, const struct event *ev)
{
	struct realm_file *file = made(w, ev, (uint32_t)ev->mode);

	if (file)
		file->rdev = ev->rdev;
}

static void follow_mkdir(struct realm *w, const struct event *ev)
{
	made(w, ev, S_IFDIR | ((uint32_t)ev->mode & 07777));
}

static void follow_symlink(struct realm *w, const struct event *ev)
{
	struct realm_file *file = made(w, ev, S_IFLNK | 0777);

	if (!file || file->target)
		return;
	file->target = copy_of(ev->value);
	file->target_size = ev->value.size;
}

static void follow_create(struct realm *w, const struct event *ev)
{
	struct realm_file *file = made(w, ev, S_IFREG | ((uint32_t)ev->mode & 07777));

	if (file && (ev->flags & O_TRUNC))
		resize(file, 0);
	opened(w, ev);
}

static void follow_open(struct realm *w, const struct event *ev)
{
	if (ev->flags & O_TRUNC)
		resize(realm_file(w, ev->file), 0);
	opened(w, ev);
}

static void follow_link(struct realm *w, const struct event *ev)
{
	struct realm_file *file = realm_file(w, ev->file);

	if (file)
		bind(w, ev->dir, ev->name, file);
}

static void follow_unlink(struct realm *w, const struct event *ev)
{
	struct realm_file *file = unbind(w, ev->dir, ev->name);

	if (file)
		file_forget(w, file);
}

static void follow_rename(struct realm *w, const struct event *ev)
{
	struct realm_file *file = realm_lookup(w, ev->dir, ev->name);
	struct realm_file *other = realm_lookup(w, ev->dir2, ev->name2);

	/* Two names of one file: rename() does nothing. */
	if (!file || file == other || !realm_file(w, ev->dir2))
		return;
	unbind(w, ev->dir, ev->name);
	if (other)
		unbind(w, ev->dir2, ev->name2);
	bind(w, ev->dir2, ev->name2, file);
	if (other && (ev->flags & RENAME_EXCHANGE))
		bind(w, ev->dir, ev->name, other);
	else if (other)
		file_forget(w, other);
}

static void follow_write(struct realm *w, const struct event *ev)
{
	add_data(realm_file(w, ev->file), ev->offset, ev->result, ev->content);
}

static void follow_copy(struct realm *w, const struct event *ev)
{
	add_data(realm_file(w, ev->file2), ev->offset2, ev->result, CONTENT_UNKNOWN);
}

static void follow_fallocate(struct realm *w, const struct event *ev)
{
	struct realm_file *file = realm_file(w, ev->file);

	if (!file || ev->offset > INT64_MAX || ev->size > INT64_MAX - ev->offset)
		return;
	if (ev->flags & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE))
		extents_remove(&file->data, ev->offset, ev->size);
	if (!(ev->flags & (FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE | FALLOC_FL_COLLAPSE_RANGE |
				  FALLOC_FL_INSERT_RANGE)))
		file->size = max_u64(file->size, ev->offset + ev->size);
}

static void follow_truncate(struct realm *w, const struct event *ev)
{
	resize(realm_file(w, ev->file), ev->size);
}

static void follow_chmod(struct realm *w, const struct event *ev)
{
	struct realm_file *file = realm_file(w, ev->file);

	if (file)
		file->mode = (file->mode & S_IFMT) | ((uint32_t)ev->mode & 07777);
}

static void follow_chown(struct realm *w, const struct event *ev)
{
	struct realm_file *file = realm_file(w, ev->file);

	if (file && (uint32_t)ev->uid != UINT32_MAX)
		file->uid = (uint32_t)ev->uid;
	if (file && (uint32_t)ev->gid != UINT32_MAX)
		file->gid = (uint32_t)ev->gid;
}

static void follow_utimens(struct realm *w, const struct event *ev)
{
	struct realm_file *file = realm_file(w, ev->file);

	if (file && (ev->flags & 2) && !(ev->flags & 8))
		file->mtime_ns = ev->mtime;
}

static void follow_setxattr(struct realm *w, const struct event *ev)
{
	struct realm_file *file = realm_file(w, ev->file);

	if (file)
		xattr_set(file, ev->name, ev->value);
}

static void follow_removexattr(struct realm *w, const struct event *ev)
{
	struct realm_file *file = realm_file(w, ev->file);

	if (file)
		xattr_drop(file, ev->name);
}

static void (*const follow[OP_LIMIT])(struct realm *w, const struct event *ev) = {
	[OP_lookup] = follow_lookup,
	[OP_mknod] = follow_mknod,
	[OP_mkdir] = follow_mkdir,
	[OP_symlink] = follow_symlink,
	[OP_create] = follow_create,
	[OP_tmpfile] = follow_create,
	[OP_open] = follow_open,
	[OP_opendir] = opened,
	[OP_release] = released,
	[OP_releasedir] = released,
	[OP_link] = follow_link,
	[OP_unlink] = follow_unlink,
	[OP_rmdir] = follow_unlink,
	[OP_rename] = follow_rename,
	[OP_write] = follow_write,
	[OP_copy_file_range] = follow_copy,
	[OP_fallocate] = follow_fallocate,
	[OP_truncate] = follow_truncate,
	[OP_chmod] = follow_chmod,
	[OP_chown] = follow_chown,
	[OP_utimens] = follow_utimens,
	[OP_setxattr] = follow_setxattr,
	[OP_removexattr] = follow_removexattr,
	[OP_setlk] = locked,
	[OP_flock] = locked,
};

void realm_event(struct realm *w, const struct event *ev)
{
	if (ev->result >= 0 && follow[ev->op])
		follow[ev->op](w, ev);
	struct realm_handle *h = ev->handle && ev->thread ? realm_handle(w, ev->handle) : NULL;
	if (h)
		h->thread = ev->thread;
}

/* ---- looking at all of it ---- */

const struct realm_name *realm_any_child(
	const struct realm *w, uint64_t dir, struct realm_file **ret_file)
{
	for (const struct map_slot *s = map_next(&w->files, NULL); s; s = map_next(&w->files, s)) {
		struct realm_file *file = pointer(&s->value);
		vec_each (name, &file->names)
			if (name->dir == dir) {
				*ret_file = file;
				return name;
			}
	}
	return NULL;
}

void realm_each(const struct realm *w, int (*visit)(void *arg, struct realm_file *file), void *arg)
{
	for (const struct map_slot *s = map_next(&w->files, NULL); s; s = map_next(&w->files, s))
		if (visit(arg, pointer(&s->value)))
			return;
}

struct listing {
	const struct realm *w;
	const struct realm_visitor *v;
	struct map done; /* files of which an entry was emitted */
	VEC(const struct realm_file *) above;
	VEC(struct tree_xattr) xattrs;
};

static int emit_name(struct listing *l, const struct realm_file *file, size_t i, struct error *err)
{
	const struct realm_name *name = file->id == TREE_ROOT ? NULL : &file->names.at[i];
	struct tree_entry e = {.id = file->id,
		.parent = name ? name->dir : 0,
		.name = name ? realm_name(name) : (struct text){0},
		.mode = file->mode,
		.uid = file->uid,
		.gid = file->gid,
		.size = S_ISREG(file->mode) ? file->size : 0,
		.rdev = file->rdev,
		.mtime_ns = file->mtime_ns,
		.content = realm_content(file),
		.target = {file->target, file->target_size},
		.extents = file->data.at,
		.extent_count = S_ISREG(file->mode) ? file->data.count : 0,
		.again = i > 0};

	l->xattrs.count = 0;
	vec_each (x, &file->xattrs)
		vec_push(&l->xattrs,
			(struct tree_xattr){{x->name, x->name_size}, {x->value, x->value_size}});
	e.xattrs = l->xattrs.at;
	e.xattr_count = l->xattrs.count;
	return l->v->emit(l->v->arg, &e, err);
}

static bool is_done(const struct listing *l, uint64_t id)
{
	return map_get(&l->done, id, 0);
}

/* The directories above that have no entry yet. False if there is no way up to the root. */
static bool find_above(struct listing *l, uint64_t dir)
{
	l->above.count = 0;
	while (!is_done(l, dir)) {
		const struct realm_file *file = realm_file(l->w, dir);
		if (!file || !realm_is_dir(file) || !file->names.count ||
			l->above.count == ABOVE_MAX)
			return false;
		vec_push(&l->above, file);
		dir = file->names.at[0].dir;
	}
	return true;
}

static int list_above(struct listing *l, struct error *err)
{
	int r = 0;

	while (l->above.count && r >= 0) {
		const struct realm_file *dir = l->above.at[--l->above.count];
		map_put(&l->done, dir->id, 0, 1);
		r = emit_name(l, dir, 0, err);
	}
	return r;
}

/* All names of a file whose directories can be reached. */
static int list_file(struct listing *l, const struct realm_file *file, struct error *err)
{
	bool first = true;
	int r = 0;

	if (!file->mode || !l->v->wants(l->v->arg, file))
		return 0;
	for (size_t i = 0; i < file->names.count && r >= 0 && !is_done(l, file->id); i++) {
		if (!find_above(l, file->names.at[i].dir))
			continue;
		r = list_above(l, err);
		/* A directory that lies below itself is among those above. */
		if (r < 0 || is_done(l, file->id))
			break;
		if (first && i > 0) {
			struct realm_name swap = file->names.at[0];
			file->names.at[0] = file->names.at[i];
			file->names.at[i] = swap;
		}
		r = emit_name(l, file, first ? 0 : i, err);
		first = false;
		if (realm_is_dir(file))
			break;
	}
	if (!first)
		map_put(&l->done, file->id, 0, 1);
	return r;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = (*(const struct realm_file *const *)a)->id;
	uint64_t y = (*(const struct realm_file *const *)b)->id;

	return x < y ? -1 : x > y;
}

/* In the order in which they became known, which is that of the walk that found them. */
static struct realm_file **sorted_files(const struct realm *w, size_t *ret_count)
{
	struct realm_file **files = ALLOC_ARRAY(struct realm_file *, w->files.count);
	size_t n = 0;

	for (const struct map_slot *s = map_next(&w->files, NULL); s; s = map_next(&w->files, s))
		files[n++] = pointer(&s->value);
	qsort(files, n, sizeof(*files), by_id);
	*ret_count = n;
	return files;
}

int realm_entries(const struct realm *w, const struct realm_visitor *v, struct error *err)
{
	struct listing l = {.w = w, .v = v};
	size_t count;
	struct realm_file **files = sorted_files(w, &count);
	int r = emit_name(&l, realm_file(w, TREE_ROOT), 0, err);

	map_put(&l.done, TREE_ROOT, 0, 1);
	for (size_t i = 0; i < count && r >= 0; i++)
		r = list_file(&l, files[i], err);
	free(files);
	map_free(&l.done);
	vec_free(&l.above);
	vec_free(&l.xattrs);
	return r;
}

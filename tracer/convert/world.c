/* SPDX-License-Identifier: MIT */
#include "world.h"

#include <string.h>
#include <sys/stat.h>

#include "content.h"
#include "map.h"
#include "vec.h"

/* A file that existed at the start. Places 0 and on are those of the files as a reading begins. */
struct start {
	uint32_t dir;
	char *name;
	uint32_t mode;
	bool sure, dropped;
	uint64_t size, hole_size; /* the hole is at its end */
	char *target;
};

struct binding {
	uint32_t dir, file;
	struct text name; /* owned */
};

/* An open with O_CREAT that may have found the file. */
struct doubt {
	uint32_t file, dir;
	char *name;
	size_t size;
};

struct world {
	VEC(struct world_file) files;
	VEC(struct start) starts; /* of files[i], as long as i < starts.count at the beginning */
	VEC(uint32_t) start_of;   /* by file: place in starts + 1, or 0 */
	VEC(struct binding) bindings;
	VEC(struct doubt) doubts;
	struct map names; /* (directory, hash of the name) -> place in bindings */
	uint32_t root;
	uint64_t next_id;
	bool grew, frozen;
};

struct world_file *world_file(const struct world *w, uint32_t file)
{
	return &w->files.at[file];
}

void world_freeze(struct world *w)
{
	w->frozen = true;
}

uint32_t world_top(const struct world *w)
{
	return 0;
}

uint32_t world_root(const struct world *w)
{
	return w->root;
}

bool world_grew(const struct world *w)
{
	return w->grew;
}

size_t world_count(const struct world *w)
{
	return w->files.count + w->bindings.count;
}

/* ---- names ---- */

static struct binding *binding_of(const struct world *w, uint32_t dir, struct text name)
{
	const uint64_t *at = map_get(&w->names, dir, content_hash(name.data, name.size));
	struct binding *b = at ? &w->bindings.at[*at] : NULL;

	if (!b || b->name.size != name.size || memcmp(b->name.data, name.data, name.size) != 0)
		return NULL;
	return b;
}

uint32_t world_get(const struct world *w, uint32_t dir, struct text name)
{
	const struct binding *b = binding_of(w, dir, name);

	return b ? b->file : FILE_UNSEEN;
}

static char *copy_of(struct text t)
{
	char *copy = xmalloc(t.size + 1);

	memcpy(copy, t.data, t.size);
	copy[t.size] = '\0';
	return copy;
}

static struct binding *binding_make(struct world *w, uint32_t dir, struct text name)
{
	struct binding *b = binding_of(w, dir, name);

	if (b)
		return b;
	map_put(&w->names, dir, content_hash(name.data, name.size), w->bindings.count);
	vec_push(&w->bindings, (struct binding){dir, FILE_NONE, {copy_of(name), name.size}});
	return &w->bindings.at[w->bindings.count - 1];
}

void world_bind(struct world *w, uint32_t dir, struct text name, uint32_t file)
{
	struct binding *b = binding_make(w, dir, name);

	if (b->file != FILE_NONE)
		w->files.at[b->file].names--;
	b->file = file;
	if (file == FILE_NONE)
		return;
	w->files.at[file].names++;
	w->files.at[file].parent = dir;
}

/* ---- files ---- */

uint32_t world_make(struct world *w, uint32_t dir, uint32_t mode)
{
	const bool inside = w->files.count && dir != FILE_NONE && w->files.at[dir].inside;
	const struct world_file file = {.id = inside ? w->next_id++ : 0,
		.parent = dir,
		.mode = mode,
		.inside = inside,
		.sure = mode & S_IFMT,
		.cut = true};

	vec_push(&w->files, file);
	vec_push(&w->start_of, 0);
	return (uint32_t)(w->files.count - 1);
}

static struct start *start_of(const struct world *w, uint32_t file)
{
	return w->start_of.at[file] ? &w->starts.at[w->start_of.at[file] - 1] : NULL;
}

static void add_start(struct world *w, uint32_t file, uint32_t dir, struct text name)
{
	struct world_file *f = &w->files.at[file];

	vec_push(&w->starts, (struct start){.dir = w->start_of.at[dir] - 1,
				     .name = copy_of(name),
				     .mode = f->mode,
				     .sure = f->sure,
				     .size = f->size});
	w->start_of.at[file] = (uint32_t)w->starts.count;
	f->from_start = true;
	w->grew = true;
}

uint32_t world_discover(struct world *w, uint32_t dir, struct text name, uint32_t mode)
{
	/* Outside the root nobody asks when it came to be. */
	bool possible = w->files.at[dir].from_start || !w->files.at[dir].inside;

	if (w->frozen || !possible || world_get(w, dir, name) != FILE_UNSEEN)
		return FILE_NONE;
	uint32_t file = world_make(w, dir, mode);
	w->files.at[file].cut = false;
	if (w->files.at[file].inside)
		add_start(w, file, dir, name);
	world_bind(w, dir, name, file);
	return file;
}

void world_doubt(struct world *w, uint32_t file, uint32_t dir, struct text name)
{
	if (!w->files.at[dir].from_start)
		return;
	vec_push(&w->doubts, (struct doubt){file, dir, copy_of(name), name.size});
	w->files.at[file].maybe = (uint32_t)w->doubts.count;
}

/* It was there after all: the next reading begins with it. */
static void settle_doubt(struct world *w, struct world_file *f, uint64_t size)
{
	const struct doubt *d = &w->doubts.at[f->maybe - 1];

	f->maybe = 0;
	if (w->frozen || start_of(w, d->file))
		return;
	add_start(w, d->file, d->dir, (struct text){d->name, d->size});
	w->starts.at[w->starts.count - 1].size = size;
}

bool world_at_least(struct world *w, uint32_t file, uint64_t size)
{
	struct world_file *f = &w->files.at[file];
	struct start *s = start_of(w, file);

	if (!f->inside || size <= f->size)
		return true;
	f->size = size;
	if (f->maybe) {
		settle_doubt(w, f, size);
		return true;
	}
	if (f->cut || !s)
		return false;
	if (size > s->size) {
		s->size = size;
		w->grew = true;
	}
	return true;
}

void world_no_data(struct world *w, uint32_t file, uint64_t offset)
{
	const struct world_file *f = &w->files.at[file];
	struct start *s = start_of(w, file);

	if (f->cut || !s || f->size != s->size || s->size <= offset ||
		s->hole_size >= s->size - offset)
		return;
	s->hole_size = s->size - offset;
	w->grew = true;
}

void world_type(struct world *w, uint32_t file, uint32_t mode)
{
	struct world_file *f = &w->files.at[file];
	struct start *s = start_of(w, file);

	if (!(mode & S_IFMT) || (f->sure && ((f->mode & 07777) || !(mode & 07777))))
		return;
	/* A guess without permissions, or what was seen with them. */
	f->mode = mode;
	f->sure = true;
	if (!s)
		return;
	w->grew = w->grew || s->mode != mode || !s->sure;
	s->mode = mode;
	s->sure = true;
}

/* The bits of a kind (type or permissions) that are not known yet. */
static uint32_t guessed(uint32_t known, uint32_t mode)
{
	uint32_t bits = known & S_IFMT ? 0 : mode & S_IFMT;

	return bits | (known & 07777 ? 0 : mode & 07777);
}

void world_guess(struct world *w, uint32_t file, uint32_t mode)
{
	struct world_file *f = &w->files.at[file];
	struct start *s = start_of(w, file);

	f->mode |= guessed(f->mode, mode);
	if (!s || !guessed(s->mode, mode))
		return;
	s->mode |= guessed(s->mode, mode);
	w->grew = true;
}

void world_link_target(struct world *w, uint32_t file, struct text target)
{
	struct world_file *f = &w->files.at[file];
	struct start *s = start_of(w, file);

	if (f->target)
		return;
	f->target = copy_of(target);
	if (!s || s->target)
		return;
	s->target = copy_of(target);
	w->grew = true;
}

/* ---- from reading to reading ---- */

static uint32_t make_place(struct world *w, uint32_t dir, struct text name)
{
	uint32_t file = world_make(w, dir, S_IFDIR | 0755);

	world_bind(w, dir, name, file);
	return file;
}

/* "/" and the directories down to the root. */
static void make_root(struct world *w, const char *path)
{
	uint32_t at = world_make(w, FILE_NONE, S_IFDIR | 0755);

	while (*path) {
		size_t n = strcspn(path, "/");
		if (n)
			at = make_place(w, at, (struct text){path, n});
		path += n + (path[n] == '/');
	}
	struct world_file *f = &w->files.at[at];
	w->root = at;
	f->inside = f->from_start = true;
	f->id = TREE_ROOT;
	vec_push(&w->starts, (struct start){.dir = 0,
				     .name = copy_of((struct text){"", 0}),
				     .mode = f->mode,
				     .sure = true});
	w->start_of.at[at] = 1;
}

/* What lies below what turned out to be no directory was reached by way of a link. */
static bool is_dropped(const struct world *w, const struct start *s)
{
	const struct start *dir = &w->starts.at[s->dir];

	return dir->dropped || (dir->sure && !S_ISDIR(dir->mode));
}

static void begin_with(struct world *w, const struct world *before)
{
	VEC(uint32_t) file_of = {0}; /* by place in before->starts */

	vec_push(&file_of, w->root);
	for (size_t i = 1; i < before->starts.count; i++) {
		struct start *s = &before->starts.at[i];
		s->dropped = is_dropped(before, s);
		if (s->dropped) {
			vec_push(&file_of, FILE_NONE);
			continue;
		}
		struct text name = {s->name, strlen(s->name)};
		uint32_t dir = file_of.at[s->dir], file = world_make(w, dir, s->mode);
		add_start(w, file, dir, name);
		struct start *mine = &w->starts.at[w->starts.count - 1];
		struct world_file *f = &w->files.at[file];
		f->sure = mine->sure = s->sure;
		f->cut = false;
		f->size = mine->size = s->size;
		mine->hole_size = s->hole_size;
		if (s->target)
			world_link_target(w, file, (struct text){s->target, strlen(s->target)});
		world_bind(w, dir, name, file);
		vec_push(&file_of, file);
	}
	vec_free(&file_of);
	w->grew = false;
}

struct world *world_new(const char *root, const struct world *before)
{
	struct world *w = ALLOC(struct world);

	w->next_id = TREE_ROOT + 1;
	make_root(w, root);
	if (before)
		begin_with(w, before);
	return w;
}

void world_free(struct world *w)
{
	if (!w)
		return;
	vec_each (f, &w->files)
		free(f->target);
	vec_each (s, &w->starts) {
		free(s->name);
		free(s->target);
	}
	vec_each (b, &w->bindings)
		free((char *)(uintptr_t)b->name.data);
	vec_each (d, &w->doubts)
		free(d->name);
	vec_free(&w->files);
	vec_free(&w->starts);
	vec_free(&w->start_of);
	vec_free(&w->bindings);
	vec_free(&w->doubts);
	map_free(&w->names);
	free(w);
}

/* ---- the starting state ---- */

/* Types that no call showed: what has something below it is a directory, the rest are files. */
static uint32_t mode_of(const struct start *s)
{
	uint32_t mode = s->mode;

	if (!(mode & S_IFMT))
		mode |= S_IFREG;
	if (!(mode & 07777))
		mode |= S_ISDIR(mode) ? 0755 : S_ISLNK(mode) ? 0777 : 0644;
	return mode;
}

static int emit_start(const struct world *w, size_t i,
	int (*emit)(void *arg, const struct tree_entry *e, struct error *err), void *arg,
	struct error *err)
{
	const struct start *s = &w->starts.at[i];
	const struct tree_extent all = {0, s->size - min_u64(s->size, s->hole_size)};
	/* Files begin with the starting state, in its order, so ids follow from places. */
	struct tree_entry e = {.id = TREE_ROOT + i,
		.parent = i ? TREE_ROOT + s->dir : 0,
		.name = {s->name, strlen(s->name)},
		.mode = mode_of(s)};

	if (S_ISREG(e.mode)) {
		e.size = s->size;
		e.extents = &all;
		e.extent_count = all.size > 0;
	} else if (S_ISLNK(e.mode)) {
		const char *target = s->target && *s->target ? s->target : "?";
		e.target = (struct text){target, strlen(target)};
		e.size = e.target.size;
	}
	return emit(arg, &e, err);
}

int world_tree(const struct world *w,
	int (*emit)(void *arg, const struct tree_entry *e, struct error *err), void *arg,
	struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < w->starts.count && r >= 0; i++)
		r = emit_start(w, i, emit, arg, err);
	return r;
}

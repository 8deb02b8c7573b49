/* SPDX-License-Identifier: MIT */
/*
 * The walk goes down with openat() and up with openat(".."), with one directory open at a time, so
 * neither descriptors nor stack bound the depth. Names of a directory are sorted: equal trees give
 * equal entries.
 */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "cleanup.h"
#include "clock.h"
#include "content.h"
#include "format.h"
#include "io.h"
#include "map.h"
#include "treecode.h"
#include "vec.h"

#define SAMPLE_PIECES 4
#define SAMPLE_BYTES  4096       /* of each */
#define XATTRS_BYTES  (1u << 20) /* of all values of one file; what is beyond is left out */

/* A directory on the way from the root to the one being read. */
struct level {
	uint64_t id;
	dev_t dev;
	ino_t ino;
	char *own_name;
	char **names; /* sorted */
	size_t count, next;
};

struct walk {
	const struct tree_visitor *visitor;
	dev_t dev;
	int dir; /* descriptor of the deepest level */
	VEC(struct level) levels;
	struct map links; /* (dev, ino) of files with several names -> id */
	struct bytes target, names, values;
	VEC(struct tree_extent) extents;
	VEC(struct tree_xattr) xattrs;
};

/* Where the walk is, for messages. */
static int walk_error(struct walk *w, struct error *err, int code, const char *name)
{
	struct bytes path = {0};

	vec_each (l, &w->levels) {
		put_bytes(&path, l->own_name, strlen(l->own_name));
		put_bytes(&path, "/", 1);
	}
	put_bytes(&path, name, strlen(name) + 1);
	int r = error_errno(err, code, "cannot examine '%.700s'", (const char *)path.data);
	bytes_free(&path);
	return r;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_dot(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

static int read_names(int dir, struct level *l)
{
	VEC(char *) names = {0};
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_closedir DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		int r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	for (errno = 0; (e = readdir(d)); errno = 0)
		if (!is_dot(e->d_name))
			vec_push(&names, xstrdup(e->d_name));
	int r = -errno;
	if (names.count)
		qsort(names.at, names.count, sizeof(*names.at), compare_names);
	l->names = names.at;
	l->count = names.count;
	return r;
}

static void level_free(struct level *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->names[i]);
	free(l->names);
	free(l->own_name);
}

/* ---- one entry ---- */

static void add_extent(struct walk *w, off_t begin, off_t end)
{
	if (w->extents.count == TREE_EXTENTS_MAX) {
		/* Rather too much data than too little. */
		struct tree_extent *last = &w->extents.at[w->extents.count - 1];
		last->size = (uint64_t)end - last->offset;
		return;
	}
	vec_push(&w->extents, (struct tree_extent){(uint64_t)begin, (uint64_t)(end - begin)});
}

/* Where the file has data; a file system that does not say has it everywhere. */
static void find_extents(struct walk *w, int fd, off_t size)
{
	off_t at = 0;

	while (at < size) {
		off_t begin = lseek(fd, at, SEEK_DATA);
		if (begin < 0 && errno == ENXIO)
			return;
		if (begin < 0)
			begin = at;
		off_t end = lseek(fd, begin, SEEK_HOLE);
		if (begin >= size)
			return;
		if (end <= begin || end > size)
			end = size;
		add_extent(w, begin, end);
		at = end;
	}
}

/* Pieces spread over the extents, and within those that get several. */
static enum content sample_content(struct walk *w, int fd)
{
	uint8_t sample[SAMPLE_PIECES * SAMPLE_BYTES];
	size_t got = 0, count = w->extents.count;
	const struct tree_extent *last = NULL;
	uint64_t skip = 0;

	for (size_t i = 0; i < SAMPLE_PIECES; i++) {
		const struct tree_extent *e = &w->extents.at[i * count / SAMPLE_PIECES];
		skip = e == last ? skip + max_u64(e->size / SAMPLE_PIECES, SAMPLE_BYTES) : 0;
		last = e;
		if (skip >= e->size)
			continue;
		ssize_t n = pread_full(fd, sample + got, min_u64(SAMPLE_BYTES, e->size - skip),
			(off_t)(e->offset + skip));
		if (n > 0)
			got += (size_t)n;
	}
	return content_classify(sample, got);
}

/* A file that may not be read is taken as one piece of unknown data. */
static int examine_data(struct walk *w, const char *name, struct tree_entry *e)
{
	auto_close int fd = openat(w->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	w->extents.count = 0;
	if (fd < 0) {
		add_extent(w, 0, (off_t)e->size);
	} else {
		find_extents(w, fd, (off_t)e->size);
		e->content = w->extents.count ? sample_content(w, fd) : CONTENT_UNKNOWN;
	}
	e->extents = w->extents.at;
	e->extent_count = w->extents.count;
	return fd < 0 || !w->visitor->data ? 0 : w->visitor->data(w->visitor->arg, e, fd);
}

static int examine_link(struct walk *w, int fd, const struct stat *st, struct tree_entry *e)
{
	w->target.size = 0;
	bytes_reserve(&w->target, (size_t)st->st_size + 4096);
	ssize_t n = readlinkat(fd, "", (char *)w->target.data, w->target.capacity);
	if (n < 0)
		return -errno;
	e->target = (struct text){(const char *)w->target.data, (size_t)n};
	return 0;
}

/* Attributes that another file system can take over. */
static bool is_portable(const char *name)
{
	return !strncmp(name, "user.", 5) || !strncmp(name, "trusted.", 8) ||
	       !strncmp(name, "system.posix_acl_", 17) || !strcmp(name, "security.capability");
}

/* One value behind the others in w->values; its place, not its address, until all are there. */
static void read_xattr(struct walk *w, const char *path, const char *name)
{
	bytes_reserve(&w->values, TEXT_MAX);
	ssize_t n = getxattr(path, name, w->values.data + w->values.size, TEXT_MAX);
	if (n < 0 || w->values.size + (size_t)n > XATTRS_BYTES ||
		w->xattrs.count == TREE_XATTRS_MAX)
		return;
	vec_push(&w->xattrs, (struct tree_xattr){{name, strlen(name)}, {NULL, (size_t)n}});
	w->values.size += (size_t)n;
}

static void examine_xattrs(struct walk *w, int path_fd, struct tree_entry *e)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	w->names.size = w->values.size = w->xattrs.count = 0;
	bytes_reserve(&w->names, TEXT_MAX);
	ssize_t n = listxattr(path, (char *)w->names.data, TEXT_MAX);
	for (const char *name = (const char *)w->names.data, *end = name + (n > 0 ? n : 0);
		name < end; name += strlen(name) + 1)
		if (is_portable(name))
			read_xattr(w, path, name);
	const char *value = (const char *)w->values.data;
	vec_each (x, &w->xattrs) {
		x->value.data = value;
		value += x->value.size;
	}
	e->xattrs = w->xattrs.at;
	e->xattr_count = w->xattrs.count;
}

static uint64_t time_ns(const struct timespec *t)
{
	return t->tv_sec < 0 ? 0 : (uint64_t)t->tv_sec * NSEC_PER_SEC + (uint64_t)t->tv_nsec;
}

static int examine(
	struct walk *w, const char *name, int fd, const struct stat *st, struct tree_entry *e)
{
	e->mode = st->st_mode;
	e->uid = st->st_uid;
	e->gid = st->st_gid;
	e->rdev = st->st_rdev;
	e->mtime_ns = time_ns(&st->st_mtim);
	examine_xattrs(w, fd, e);
	if (S_ISREG(st->st_mode)) {
		e->size = (uint64_t)st->st_size;
		return examine_data(w, name, e);
	}
	return S_ISLNK(st->st_mode) ? examine_link(w, fd, st, e) : 0;
}

/* The id of a file; *again if another name of it came before. */
static uint64_t identify(struct walk *w, const struct stat *st, int fd, bool *again)
{
	const struct tree_visitor *v = w->visitor;
	bool many = !S_ISDIR(st->st_mode) && st->st_nlink > 1;
	const uint64_t *known = many ? map_get(&w->links, st->st_dev, st->st_ino) : NULL;

	*again = known;
	if (known)
		return *known;
	uint64_t id = v->ident(v->arg, st->st_dev, st->st_ino, fd);
	if (many)
		map_put(&w->links, st->st_dev, st->st_ino, id);
	return id;
}

static int descend(struct walk *w, const char *name, int fd, const struct stat *st, uint64_t id)
{
	int dir = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct level l = {.id = id, .dev = st->st_dev, .ino = st->st_ino};

	if (dir < 0)
		return -errno;
	int r = read_names(dir, &l);
	l.own_name = xstrdup(name);
	vec_push(&w->levels, l);
	if (w->dir >= 0)
		close(w->dir);
	w->dir = dir;
	return r;
}

/* Emit the entry behind `fd` and go down into it if it is a directory of this file system. */
static int visit(struct walk *w, const char *name, int fd, uint64_t parent, struct error *err)
{
	struct stat st;
	struct tree_entry e = {.parent = parent, .name = {name, strlen(name)}};

	if (fstat(fd, &st))
		return walk_error(w, err, errno, name);
	e.id = identify(w, &st, fd, &e.again);
	int r = e.again ? 0 : examine(w, name, fd, &st, &e);
	if (r < 0)
		return walk_error(w, err, r, name);
	r = w->visitor->emit(w->visitor->arg, &e, err);
	if (r < 0 || !S_ISDIR(st.st_mode) || st.st_dev != w->dev)
		return r;
	r = descend(w, name, fd, &st, e.id);
	return r < 0 ? walk_error(w, err, r, name) : 0;
}

static int visit_name(struct walk *w, const char *name, uint64_t parent, struct error *err)
{
	auto_close int fd = openat(w->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	/* Removed since its name was read. */
	if (fd < 0 && errno == ENOENT)
		return 0;
	return fd < 0 ? walk_error(w, err, errno, name) : visit(w, name, fd, parent, err);
}

/* Back to the parent, which must still be the one we came from. */
static int ascend(struct walk *w, struct error *err)
{
	struct stat st;

	level_free(&w->levels.at[--w->levels.count]);
	if (!w->levels.count)
		return 0;
	int dir = openat(w->dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return walk_error(w, err, errno, "..");
	close(w->dir);
	w->dir = dir;
	const struct level *l = &w->levels.at[w->levels.count - 1];
	if (fstat(dir, &st) || st.st_dev != l->dev || st.st_ino != l->ino)
		return error_set(
			err, ESTALE, "directory '%s' was moved while it was examined", l->own_name);
	return 0;
}

static int walk_all(struct walk *w, struct error *err)
{
	while (w->levels.count) {
		struct level *l = &w->levels.at[w->levels.count - 1];
		int r = l->next < l->count ? visit_name(w, l->names[l->next++], l->id, err)
		                           : ascend(w, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static void walk_done(struct walk *w)
{
	vec_each (l, &w->levels)
		level_free(l);
	vec_free(&w->levels);
	if (w->dir >= 0)
		close(w->dir);
	map_free(&w->links);
	bytes_free(&w->target);
	bytes_free(&w->names);
	bytes_free(&w->values);
	vec_free(&w->extents);
	vec_free(&w->xattrs);
}

int tree_scan(int root_fd, const struct tree_visitor *visitor, struct error *err)
{
	struct walk w = {.visitor = visitor, .dir = -1};
	struct stat st;

	if (fstat(root_fd, &st))
		return error_errno(err, errno, "cannot examine the directory to capture");
	if (!S_ISDIR(st.st_mode))
		return error_set(err, ENOTDIR, "what is to be captured is not a directory");
	w.dev = st.st_dev;
	int r = visit(&w, "", root_fd, 0, err);
	if (!r)
		r = walk_all(&w, err);
	walk_done(&w);
	return r;
}

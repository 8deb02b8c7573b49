/* SPDX-License-Identifier: MIT */
#include "strace-import.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define LINKS_MAX 40

void path_missing(struct import *im, struct call *c, uint32_t dir, struct text name)
{
	if (import_inside(im, dir))
		import_event(im, c,
			(struct event){.op = OP_lookup,
				.dir = import_id(im, dir),
				.name = name,
				.result = -ENOENT});
}

/* It exists, but not since the start, and nothing was seen to make it. */
static uint32_t make_unseen(struct import *im, struct call *c, struct place *p, uint32_t mode)
{
	uint32_t file = world_make(im->world, p->dir, mode & S_IFMT ? mode : S_IFREG | 0644);
	const bool directory = S_ISDIR(mode);

	world_bind(im->world, p->dir, place_name(p), file);
	p->file = file;
	if (!import_inside(im, file))
		return file;
	import_complain(im, c, "'%.80s' exists, but nothing that was seen made it", p->name);
	import_event(im, c,
		(struct event){.op = directory ? OP_mkdir : OP_mknod,
			.dir = import_id(im, p->dir),
			.name = place_name(p),
			.file = import_id(im, file),
			.mode = directory ? S_IFDIR | 0755 : S_IFREG | 0644});
	return file;
}

uint32_t path_existing(struct import *im, struct call *c, struct place *p, uint32_t mode)
{
	if (p->file == FILE_UNSEEN) {
		uint32_t file = world_discover(im->world, p->dir, place_name(p), mode);
		if (file != FILE_NONE)
			p->file = file;
	}
	if (p->file >= FILE_UNSEEN)
		make_unseen(im, c, p, mode);
	return p->file;
}

/* ---- walking ---- */

struct walk {
	struct bytes *left; /* what is still to go, from `at` on */
	size_t at;
	uint32_t dir;
	unsigned links;
};

static void skip_slashes(struct walk *w)
{
	while (w->at < w->left->size && w->left->data[w->at] == '/')
		w->at++;
}

static struct text next_name(struct walk *w)
{
	size_t from = w->at;

	while (w->at < w->left->size && w->left->data[w->at] != '/')
		w->at++;
	struct text name = {(const char *)w->left->data + from, w->at - from};
	skip_slashes(w);
	return name;
}

static void go_to_start(struct import *im, struct walk *w)
{
	if (w->left->size && w->left->data[0] == '/')
		w->dir = world_top(im->world);
	skip_slashes(w);
}

/* Go on with what the link says, and what was left behind it. */
static bool splice_link(struct import *im, struct walk *w, const char *target)
{
	struct bytes *joined = &im->link;

	if (++w->links > LINKS_MAX)
		return false;
	joined->size = 0;
	put_bytes(joined, target, strlen(target));
	put_u8(joined, '/');
	put_bytes(joined, w->left->data + w->at, w->left->size - w->at);
	w->left->size = 0;
	put_bytes(w->left, joined->data, joined->size);
	w->at = 0;
	go_to_start(im, w);
	return true;
}

static void set_place(const struct walk *w, struct text name, uint32_t file, struct place *ret)
{
	ret->dir = w->dir;
	ret->file = file;
	ret->size = name.size;
	memcpy(ret->name, name.data, name.size);
	ret->name[name.size] = '\0';
}

/* A directory on the way; the call shows that it is there unless it failed. */
static bool enter(struct import *im, struct call *c, struct walk *w, struct place *p)
{
	bool there = c->result >= 0 || (c->result != -ENOENT && c->result != -ENOTDIR);

	if (p->file >= FILE_UNSEEN && there)
		path_existing(im, c, p, S_IFDIR);
	if (p->file >= FILE_UNSEEN) {
		path_missing(im, c, p->dir, place_name(p));
		return false;
	}
	world_guess(im->world, p->file, S_IFDIR);
	w->dir = p->file;
	return true;
}

static const char *link_of(const struct import *im, uint32_t file)
{
	const struct world_file *f = file < FILE_UNSEEN ? world_file(im->world, file) : NULL;

	return f && S_ISLNK(f->mode) ? f->target ? f->target : "" : NULL;
}

/* One name. 1: go on, 0: arrived, -1: lost. */
static int walk_name(struct import *im, struct call *c, struct walk *w, struct text name,
	bool follow, struct place *ret)
{
	bool last = w->at == w->left->size;

	if (name.size >= sizeof(ret->name))
		return -1;
	if (name.size == 1 && name.data[0] == '.')
		return 1;
	if (name.size == 2 && !memcmp(name.data, "..", 2)) {
		uint32_t up = world_file(im->world, w->dir)->parent;
		w->dir = up == FILE_NONE ? w->dir : up;
		return 1;
	}
	set_place(w, name, world_get(im->world, w->dir, name), ret);
	const char *link = link_of(im, ret->file);
	if (link && (!last || follow)) {
		if (!*link && import_inside(im, ret->file))
			import_complain(
				im, c, "where the link '%.80s' leads is not known", ret->name);
		return *link && splice_link(im, w, link) ? 1 : -1;
	}
	if (last)
		return 0;
	return enter(im, c, w, ret) ? 1 : -1;
}

bool path_walk(struct import *im, struct call *c, uint32_t base, struct text path, bool follow,
	struct place *ret)
{
	struct walk w = {.left = &im->path, .dir = base};
	int r = 1;

	im->path.size = 0;
	put_bytes(&im->path, path.data, path.size);
	go_to_start(im, &w);
	while (r > 0 && w.at < w.left->size)
		r = walk_name(im, c, &w, next_name(&w), follow, ret);
	if (r > 0) {
		/* "/", ".", "..": the directory itself. */
		set_place(&w, (struct text){"", 0}, w.dir, ret);
		return true;
	}
	return r == 0;
}

/* ---- arguments ---- */

/* A path of strace's own, which has no links in it: that of a descriptor. */
static bool walk_shown(struct import *im, struct call *c, struct text escaped, struct place *ret)
{
	struct call there = {
		.task = c->task, .line = c->line, .start_ns = c->start_ns, .end_ns = c->end_ns};

	im->text2.size = 0;
	arg_unescape(escaped, &im->text2);
	return im->text2.size && im->text2.data[0] == '/' &&
	       path_walk(im, &there, world_top(im->world),
		       (struct text){(char *)im->text2.data, im->text2.size}, false, ret);
}

/* The directory from which an argument's path starts. */
static bool base_of(struct import *im, struct call *c, int arg, uint32_t *ret)
{
	struct text shown = {"", 0};
	struct place place;
	int fd = FD_CWD;

	if (arg >= 0 && !arg_fd(c->args.at[arg], &fd, &shown))
		return false;
	if (fd == FD_CWD) {
		if (shown.size && walk_shown(im, c, shown, &place) && place.file < FILE_UNSEEN)
			*c->task->cwd = place.file;
		else if (shown.size && place.file == FILE_UNSEEN)
			*c->task->cwd = path_existing(im, c, &place, S_IFDIR);
		*ret = *c->task->cwd;
		return true;
	}
	const struct fd *known = task_fd(c->task, fd);
	if (known) {
		*ret = known->opened->file;
		return true;
	}
	if (!shown.size || !walk_shown(im, c, shown, &place))
		return false;
	*ret = path_existing(im, c, &place, S_IFDIR);
	return true;
}

/* "/proc/self/fd/7": what a program writes to name a file by its descriptor. */
static bool is_own_fd(struct import *im, const struct call *c, struct place *ret)
{
	static const char start[] = "/proc/self/fd/";
	const size_t n = sizeof(start) - 1;
	struct text rest = {(char *)im->text.data + n, im->text.size - n};
	int64_t fd;

	if (im->text.size <= n || memcmp(im->text.data, start, n) != 0 || !arg_number(rest, &fd))
		return false;
	const struct fd *known = task_fd(c->task, (int)fd);
	if (!known)
		return false;
	*ret = (struct place){.file = known->opened->file,
		.dir = world_file(im->world, known->opened->file)->parent};
	return true;
}

bool path_place(
	struct import *im, struct call *c, int dir, int path, bool follow, struct place *ret)
{
	bool cut = false;
	uint32_t base;

	*ret = (struct place){.file = FILE_NONE};
	im->text.size = 0;
	if (!arg_string(c->args.at[path], &im->text, &cut) || cut || !base_of(im, c, dir, &base))
		return false;
	if (follow && is_own_fd(im, c, ret))
		return true;
	return path_walk(
		im, c, base, (struct text){(char *)im->text.data, im->text.size}, follow, ret);
}

/* One that was open before the list begins, or came in a way that is not seen. */
static struct opened *adopt(struct import *im, struct call *c, int fd, struct text shown)
{
	struct place place;

	if (!shown.size || !walk_shown(im, c, shown, &place) || !import_inside(im, place.dir))
		return NULL;
	uint32_t file = path_existing(im, c, &place, 0);
	bool directory = S_ISDIR(world_file(im->world, file)->mode);
	struct call opening = *c;
	opening.end_ns = opening.start_ns;
	uint64_t flags = directory ? O_RDONLY : O_RDWR, handle = ++im->next_handle;
	import_event(im, &opening,
		(struct event){.op = directory ? OP_opendir : OP_open,
			.file = import_id(im, file),
			.handle = handle,
			.flags = flags});
	names_opened(im, c, fd, file, flags, handle, directory);
	im->report->adopted += im->writer != NULL;
	const struct fd *known = task_fd(c->task, fd);
	return known ? known->opened : NULL;
}

struct opened *path_opened(struct import *im, struct call *c, int arg)
{
	struct text shown;
	int fd;

	if (arg < 0 || !arg_fd(c->args.at[arg], &fd, &shown) || fd < 0)
		return NULL;
	const struct fd *known = task_fd(c->task, fd);
	if (known)
		return known->opened->handle ? known->opened : NULL;
	return c->result == -EBADF ? NULL : adopt(im, c, fd, shown);
}

void path_see_stat(struct import *im, struct call *c, uint32_t file, struct text st)
{
	struct text mode = arg_field(st, "st_mode"), size = arg_field(st, "st_size");
	int64_t bytes;

	if (!mode.size)
		mode = arg_field(st, "stx_mode");
	if (!size.size)
		size = arg_field(st, "stx_size");
	uint32_t bits = (uint32_t)arg_flags(mode);
	world_type(im->world, file, bits);
	if (S_ISREG(bits) && arg_number(size, &bytes) && bytes >= 0 &&
		!world_at_least(im->world, file, (uint64_t)bytes))
		import_complain(im, c, "a file is larger than what was seen to be written");
}

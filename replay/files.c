/* SPDX-License-Identifier: MIT */
/*
 * A directory slot knows its parent and its name. Its descriptor is opened when a step first needs
 * it, from the nearest ancestor that has one, one component at a time, and stays open: it follows
 * the directory through renames. When too many are open, those that nobody used since the hand of
 * the clock last passed are closed; they will be opened again by name.
 */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plan.h"
#include "vec.h"

#define MAX_DEPTH         256 /* a trace that moves a directory below itself ends here */
#define OTHER_DESCRIPTORS 1000

struct dir {
	uint32_t parent;
	char *name;
	int fd;        /* -1: not open */
	uint32_t pins; /* steps using fd now */
	bool used;     /* since the hand passed */
	bool removed;  /* close with the last pin */
};

struct files {
	int root_fd;
	atomic_int handles[FILES_MAX_HANDLES];
	pthread_mutex_t lock; /* all below */
	VEC(struct dir) dirs;
	size_t open_dirs, hand;
};

static void raise_limit(void)
{
	const rlim_t wanted = FILES_MAX_HANDLES + FILES_MAX_DIRS + OTHER_DESCRIPTORS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

int files_new(struct files **ret, int root_fd, struct error *err)
{
	struct files *f = ALLOC(struct files);

	raise_limit();
	f->root_fd = root_fd;
	pthread_mutex_init(&f->lock, NULL);
	for (size_t i = 0; i < FILES_MAX_HANDLES; i++)
		atomic_init(&f->handles[i], -1);
	int fd = files_open_beneath(root_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0) {
		files_free(f);
		return error_errno(err, fd, "cannot open the directory to replay in");
	}
	vec_push(&f->dirs, (struct dir){.parent = SLOT_NONE, .fd = fd, .pins = 1});
	*ret = f;
	return 0;
}

void files_free(struct files *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < FILES_MAX_HANDLES; i++) {
		int fd = atomic_load(&f->handles[i]);
		if (fd >= 0)
			close(fd);
	}
	vec_each (dir, &f->dirs) {
		if (dir->fd >= 0)
			close(dir->fd);
		free(dir->name);
	}
	vec_free(&f->dirs);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

int files_handle(const struct files *f, uint32_t slot)
{
	if (slot >= FILES_MAX_HANDLES)
		return -EBADF;
	int fd = atomic_load_explicit(&f->handles[slot], memory_order_relaxed);
	return fd < 0 ? -EBADF : fd;
}

int files_take_handle(struct files *f, uint32_t slot)
{
	if (slot >= FILES_MAX_HANDLES)
		return -EBADF;
	int fd = atomic_exchange(&f->handles[slot], -1);
	return fd < 0 ? -EBADF : fd;
}

void files_set_handle(struct files *f, uint32_t slot, int fd)
{
	int old = files_take_handle(f, slot);

	if (old >= 0)
		close(old);
	if (slot < FILES_MAX_HANDLES)
		atomic_store(&f->handles[slot], fd);
	else
		close(fd);
}

struct open_how files_open_how(int flags, unsigned mode)
{
	return (struct open_how){
		.flags = (uint64_t)(unsigned)flags | O_CLOEXEC | O_NOFOLLOW,
		.mode = mode,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
	                   RESOLVE_NO_XDEV,
	};
}

int files_open_beneath(int dir_fd, const char *name, int flags, unsigned mode)
{
	struct open_how how = files_open_how(flags, mode);
	long fd = syscall(SYS_openat2, dir_fd, name, &how, sizeof(how));
	/* Where a sandbox knows no openat2(): for one plain component this is as strict. */
	if (fd < 0 && errno == ENOSYS)
		fd = openat(dir_fd, name, (int)how.flags, mode);
	return fd < 0 ? -errno : (int)fd;
}

static void close_dir(struct files *f, struct dir *dir)
{
	if (dir->fd < 0)
		return;
	close(dir->fd);
	dir->fd = -1;
	f->open_dirs--;
}

/* The clock: two rounds at most, the first may only clear marks. The root is always pinned. */
static void make_room(struct files *f)
{
	for (size_t i = 0; f->open_dirs >= FILES_MAX_DIRS && i < 2 * f->dirs.count; i++) {
		struct dir *dir = &f->dirs.at[f->hand++ % f->dirs.count];
		if (dir->fd < 0 || dir->pins > 0)
			continue;
		if (dir->used)
			dir->used = false;
		else
			close_dir(f, dir);
	}
}

void files_dir_set(struct files *f, uint32_t slot, uint32_t parent, const char *name)
{
	pthread_mutex_lock(&f->lock);
	while (f->dirs.count <= slot)
		vec_push(&f->dirs, (struct dir){.parent = SLOT_NONE, .fd = -1});
	struct dir *dir = &f->dirs.at[slot];
	close_dir(f, dir);
	free(dir->name);
	*dir = (struct dir){.parent = parent, .name = xstrdup(name), .fd = -1};
	pthread_mutex_unlock(&f->lock);
}

void files_dir_moved(struct files *f, uint32_t slot, uint32_t parent, const char *name)
{
	pthread_mutex_lock(&f->lock);
	if (slot != SLOT_ROOT && slot < f->dirs.count) {
		struct dir *dir = &f->dirs.at[slot];
		free(dir->name);
		dir->name = xstrdup(name);
		dir->parent = parent;
	}
	pthread_mutex_unlock(&f->lock);
}

void files_dir_removed(struct files *f, uint32_t slot)
{
	pthread_mutex_lock(&f->lock);
	if (slot != SLOT_ROOT && slot < f->dirs.count) {
		struct dir *dir = &f->dirs.at[slot];
		dir->removed = true;
		if (dir->pins == 0)
			close_dir(f, dir);
	}
	pthread_mutex_unlock(&f->lock);
}

/* Open `slot` if it is not, its ancestors first. The lock is held. */
static int reach(struct files *f, uint32_t slot, unsigned depth)
{
	if (slot >= f->dirs.count)
		return -ENOENT;
	struct dir *dir = &f->dirs.at[slot];
	if (dir->fd >= 0)
		return 0;
	if (depth > MAX_DEPTH)
		return -ELOOP;
	if (dir->removed || !dir->name)
		return -ENOENT;
	int r = reach(f, dir->parent, depth + 1);
	if (r < 0)
		return r;
	int fd = files_open_beneath(f->dirs.at[dir->parent].fd, dir->name, O_PATH | O_DIRECTORY, 0);
	if (fd < 0)
		return fd;
	dir->fd = fd;
	f->open_dirs++;
	return 0;
}

int files_dir_get(struct files *f, uint32_t slot)
{
	pthread_mutex_lock(&f->lock);
	int r = reach(f, slot, 0);
	if (r == 0) {
		struct dir *dir = &f->dirs.at[slot];
		dir->pins++;
		dir->used = true;
		r = dir->fd;
		if (f->open_dirs > FILES_MAX_DIRS)
			make_room(f);
	}
	pthread_mutex_unlock(&f->lock);
	return r;
}

void files_dir_put(struct files *f, uint32_t slot)
{
	pthread_mutex_lock(&f->lock);
	struct dir *dir = &f->dirs.at[slot];
	if (--dir->pins == 0 && dir->removed)
		close_dir(f, dir);
	pthread_mutex_unlock(&f->lock);
}

static bool path_of_fd(int fd, char *out, size_t size)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, out, size - 1);
	out[n < 0 ? 0 : n] = '\0';
	return n >= 0;
}

void files_path(const struct files *f, int fd, char *out, size_t size)
{
	char root[4096], path[4096];

	if (!path_of_fd(fd, path, sizeof(path)) || !path_of_fd(f->root_fd, root, sizeof(root))) {
		snprintf(out, size, "?");
		return;
	}
	size_t n = strlen(root);
	const char *rest = path;
	if (!strncmp(path, root, n) && (path[n] == '/' || path[n] == '\0'))
		rest = path[n] ? path + n + 1 : ".";
	snprintf(out, size, "%s", rest);
}

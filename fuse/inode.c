/* SPDX-License-Identifier: MIT */
/*
 * One mutex guards the table: the work under it is a hash probe and a few pointers; every call
 * below is made without it.
 *
 * Life of an inode: made by the first lookup; held by lookups (until FORGET), open handles, pins
 * and children (a child finds its way through its parent); freed when none is left.
 *
 * Cached descriptors form a ring with a clock hand: a used one gets a second round, one that is
 * pinned or could not be opened again is passed over.
 */
#include "inode.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cleanup.h"
#include "lower.h"
#include "map.h"
#include "sight.h"
#include "vec.h"

#define ROOT_NUMBER        1
#define ROOT_ID            1
#define MAX_CACHED         4096
#define MIN_RESERVED       64
#define WANTED_DESCRIPTORS 262144 /* if this process may raise its limit */

struct inode {
	struct file_key key;
	uint64_t id;
	dev_t dev;
	_Atomic mode_t mode;
	_Atomic bool changed;
	uint64_t lookups;
	unsigned refs; /* handles, pins, children */
	unsigned pins;
	bool keep;                   /* could not be opened again */
	bool gone;                   /* has no name any more and cannot get one */
	bool used;                   /* since the clock hand passed */
	int fd;                      /* path descriptor or -1 */
	struct inode *next, *prev;   /* ring of those with a descriptor */
	struct inode *newer, *older; /* list of all */
	struct inode *parent;        /* and the last name seen there, or NULL */
	char *name;
	struct file_handle *handle;
};

struct device {
	dev_t dev;
	int fd; /* any open directory of it: what open_by_handle_at() starts from */
};

struct inode_table {
	pthread_mutex_t lock;
	struct map live;   /* key -> struct inode * */
	struct map idents; /* key -> id, kept as long as the file may come back */
	uint64_t last_id;
	struct inode root;
	int root_fd;
	bool by_handle; /* allowed to open by handle */
	struct inode *newest;
	struct inode *hand;
	size_t cached, limit;
	uint64_t evicted;
	VEC(struct device) devices;
};

/* --- ids --- */

static uint64_t ident_locked(struct inode_table *t, struct file_key key)
{
	uint64_t *known = map_get(&t->idents, key.a, key.b);

	if (known)
		return *known;
	map_put(&t->idents, key.a, key.b, ++t->last_id);
	return t->last_id;
}

uint64_t inode_table_ident(struct inode_table *t, int fd)
{
	struct sight s;

	if (sight_look(fd, &s) < 0)
		return 0;
	pthread_mutex_lock(&t->lock);
	uint64_t id = ident_locked(t, s.key);
	pthread_mutex_unlock(&t->lock);
	return id;
}

/* --- the ring of cached descriptors; all under the lock --- */

static void ring_add(struct inode_table *t, struct inode *i)
{
	if (!t->hand) {
		i->next = i->prev = i;
		t->hand = i;
	} else {
		i->next = t->hand;
		i->prev = t->hand->prev;
		i->prev->next = i->next->prev = i;
	}
	t->cached++;
}

static void ring_remove(struct inode_table *t, struct inode *i)
{
	i->prev->next = i->next;
	i->next->prev = i->prev;
	if (t->hand == i)
		t->hand = i->next == i ? NULL : i->next;
	t->cached--;
}

static void drop_fd(struct inode_table *t, struct inode *i)
{
	if (i->fd < 0 || i == &t->root)
		return;
	ring_remove(t, i);
	close(i->fd);
	i->fd = -1;
}

static bool can_reopen(const struct inode_table *t, const struct inode *i)
{
	return !i->keep && (i->name || (t->by_handle && i->handle));
}

static void evict_to(struct inode_table *t, size_t limit)
{
	for (size_t steps = 2 * t->cached; t->cached > limit && steps && t->hand; steps--) {
		struct inode *i = t->hand;
		t->hand = i->next;
		if (i->pins || !can_reopen(t, i))
			continue;
		if (i->used) {
			i->used = false;
			continue;
		}
		drop_fd(t, i);
		t->evicted++;
	}
}

static void install_fd(struct inode_table *t, struct inode *i, int fd)
{
	i->fd = fd;
	i->used = true;
	ring_add(t, i);
	if (t->cached > t->limit)
		evict_to(t, t->limit - t->limit / 16);
}

void inode_table_shrink(struct inode_table *t)
{
	pthread_mutex_lock(&t->lock);
	evict_to(t, t->cached / 2);
	pthread_mutex_unlock(&t->lock);
}

/* --- life; all under the lock --- */

static void list_add(struct inode_table *t, struct inode *i)
{
	i->older = t->newest;
	if (i->older)
		i->older->newer = i;
	t->newest = i;
}

static void list_remove(struct inode_table *t, struct inode *i)
{
	if (i->older)
		i->older->newer = i->newer;
	if (i->newer)
		i->newer->older = i->older;
	else
		t->newest = i->older;
}

static void inode_free(struct inode *i)
{
	free(i->handle);
	free(i->name);
	free(i);
}

static void free_if_unused(struct inode_table *t, struct inode *i)
{
	while (i != &t->root && !i->lookups && !i->refs) {
		struct inode *parent = i->parent;

		map_del(&t->live, i->key.a, i->key.b);
		if (i->gone)
			map_del(&t->idents, i->key.a, i->key.b);
		list_remove(t, i);
		drop_fd(t, i);
		inode_free(i);
		if (!parent)
			return;
		parent->refs--;
		i = parent;
	}
}

static void set_name(struct inode_table *t, struct inode *i, struct inode *parent, const char *name)
{
	struct inode *old = i->parent;

	if (i == &t->root || (old == parent && i->name && name && !strcmp(i->name, name)))
		return;
	free(i->name);
	i->name = name ? xstrdup(name) : NULL;
	i->parent = parent;
	if (parent)
		parent->refs++;
	if (old) {
		old->refs--;
		free_if_unused(t, old);
	}
}

static struct inode *find_or_make(struct inode_table *t, const struct sight *s)
{
	uint64_t *live = map_get(&t->live, s->key.a, s->key.b);

	if (live)
		return (struct inode *)(uintptr_t)*live;
	struct inode *i = ALLOC(struct inode);
	i->key = s->key;
	i->id = ident_locked(t, s->key);
	i->dev = s->st.st_dev;
	i->fd = -1;
	if (s->has_handle) {
		size_t size = sizeof(s->handle) + s->handle.handle_bytes;
		i->handle = xmalloc(size);
		memcpy(i->handle, &s->handle, size);
	}
	map_put(&t->live, i->key.a, i->key.b, (uintptr_t)i);
	list_add(t, i);
	return i;
}

/* A directory of a device not seen before is where its handles are opened from. */
static void know_device(struct inode_table *t, const struct sight *s, int fd)
{
	if (!t->by_handle || !S_ISDIR(s->st.st_mode))
		return;
	pthread_mutex_lock(&t->lock);
	bool known = false;
	vec_each (d, &t->devices)
		known = known || d->dev == s->st.st_dev;
	if (!known) {
		int dir = lower_reopen(fd, O_RDONLY | O_DIRECTORY);
		if (dir >= 0)
			vec_push(&t->devices, (struct device){s->st.st_dev, dir});
	}
	pthread_mutex_unlock(&t->lock);
}

/* Count a lookup of what was seen; takes path_fd (or -1) into the cache, or closes it. */
static struct inode *arrive(struct inode_table *t, const struct sight *s, struct inode *parent,
	const char *name, int path_fd)
{
	pthread_mutex_lock(&t->lock);
	struct inode *i = find_or_make(t, s);
	i->lookups++;
	i->mode = s->st.st_mode;
	if (name)
		set_name(t, i, parent, name);
	if (path_fd >= 0 && i->fd < 0)
		install_fd(t, i, take_fd(path_fd));
	pthread_mutex_unlock(&t->lock);
	if (path_fd >= 0)
		close(path_fd);
	return i;
}

/* --- open again --- */

static int device_fd(struct inode_table *t, dev_t dev)
{
	int fd = -1;

	pthread_mutex_lock(&t->lock);
	vec_each (d, &t->devices)
		if (d->dev == dev)
			fd = d->fd;
	pthread_mutex_unlock(&t->lock);
	return fd;
}

static int reopen_by_name(struct inode_table *t, struct inode *i)
{
	struct inode *parent;
	auto_free char *name = NULL;
	struct sight s;

	pthread_mutex_lock(&t->lock);
	parent = i->parent;
	name = i->name ? xstrdup(i->name) : NULL;
	if (parent)
		parent->refs++;
	pthread_mutex_unlock(&t->lock);
	if (!name)
		return -ESTALE;
	struct inode_pin dir = inode_pin(t, parent);
	auto_close int fd = dir.fd < 0 ? dir.fd : lower_find(dir.fd, name);
	inode_unpin(&dir);
	inode_unref(t, parent);
	if (fd < 0)
		return fd == -ENOENT ? -ESTALE : fd;
	int r = sight_look(fd, &s);
	if (r < 0)
		return r;
	return file_key_equal(s.key, i->key) ? take_fd(fd) : -ESTALE;
}

static int reopen(struct inode_table *t, struct inode *i)
{
	if (t->by_handle && i->handle) {
		int base = device_fd(t, i->dev);
		if (base >= 0) {
			int fd = open_by_handle_at(base, i->handle, O_PATH | O_CLOEXEC);
			return fd < 0 ? -errno : fd;
		}
	}
	return reopen_by_name(t, i);
}

struct inode_pin inode_pin(struct inode_table *t, struct inode *i)
{
	struct inode_pin pin = {t, i, -1};

	pthread_mutex_lock(&t->lock);
	i->pins++;
	i->refs++;
	i->used = true;
	pin.fd = i->fd;
	pthread_mutex_unlock(&t->lock);
	if (pin.fd >= 0)
		return pin;
	pin.fd = reopen(t, i);
	if (pin.fd == -EMFILE) {
		inode_table_shrink(t);
		pin.fd = reopen(t, i);
	}
	if (pin.fd < 0)
		return pin;
	pthread_mutex_lock(&t->lock);
	if (i->fd >= 0)
		close(pin.fd);
	else
		install_fd(t, i, pin.fd);
	pin.fd = i->fd;
	pthread_mutex_unlock(&t->lock);
	return pin;
}

void inode_unpin(struct inode_pin *pin)
{
	struct inode_table *t = pin->table;

	if (!pin->inode)
		return;
	pthread_mutex_lock(&t->lock);
	pin->inode->pins--;
	pin->inode->refs--;
	free_if_unused(t, pin->inode);
	pthread_mutex_unlock(&t->lock);
	pin->inode = NULL;
}

/* --- for the handlers --- */

int inode_lookup(struct inode_table *t, struct inode *parent, const char *name, struct inode **ret,
	struct stat *st)
{
	auto_pin struct inode_pin dir = inode_pin(t, parent);
	struct sight s;

	if (dir.fd < 0)
		return dir.fd;
	auto_close int fd = lower_find(dir.fd, name);
	if (fd == -EMFILE) {
		inode_table_shrink(t);
		fd = lower_find(dir.fd, name);
	}
	if (fd < 0)
		return fd;
	int r = sight_look(fd, &s);
	if (r < 0)
		return r;
	know_device(t, &s, fd);
	*ret = arrive(t, &s, parent, name, take_fd(fd));
	*st = s.st;
	return 0;
}

int inode_adopt(struct inode_table *t, struct inode *parent, const char *name, int fd,
	struct inode **ret, struct stat *st)
{
	struct sight s;
	int path_fd = -1;
	int r = sight_look(fd, &s);

	if (r < 0)
		return r;
	if (!name) {
		path_fd = lower_reopen(fd, O_PATH);
		if (path_fd < 0)
			return path_fd;
	}
	*ret = arrive(t, &s, parent, name, path_fd);
	if (!name) {
		pthread_mutex_lock(&t->lock);
		(*ret)->keep = (*ret)->gone = true; /* until it is linked */
		pthread_mutex_unlock(&t->lock);
	}
	*st = s.st;
	return 0;
}

void inode_forget(struct inode_table *t, struct inode *i, uint64_t count)
{
	if (i == &t->root)
		return;
	pthread_mutex_lock(&t->lock);
	i->lookups -= min_u64(count, i->lookups);
	free_if_unused(t, i);
	pthread_mutex_unlock(&t->lock);
}

void inode_ref(struct inode_table *t, struct inode *i)
{
	pthread_mutex_lock(&t->lock);
	i->refs++;
	pthread_mutex_unlock(&t->lock);
}

void inode_unref(struct inode_table *t, struct inode *i)
{
	pthread_mutex_lock(&t->lock);
	i->refs--;
	free_if_unused(t, i);
	pthread_mutex_unlock(&t->lock);
}

struct inode_name inode_peek(struct inode_table *t, struct inode *parent, const char *name)
{
	struct inode_name n = {.table = t};
	auto_pin struct inode_pin dir = inode_pin(t, parent);
	struct sight s;

	if (dir.fd < 0)
		return n;
	auto_close int fd = lower_find(dir.fd, name);
	if (fd < 0 || sight_look(fd, &s) < 0)
		return n;
	n.last = S_ISDIR(s.st.st_mode) || s.st.st_nlink <= 1;
	pthread_mutex_lock(&t->lock);
	n.id = ident_locked(t, s.key);
	uint64_t *live = map_get(&t->live, s.key.a, s.key.b);
	if (live) {
		n.inode = (struct inode *)(uintptr_t)*live;
		n.inode->refs++;
		n.inode->pins++;
		if (n.inode->fd < 0)
			install_fd(t, n.inode, take_fd(fd));
	}
	pthread_mutex_unlock(&t->lock);
	return n;
}

void inode_name_done(struct inode_name *n)
{
	struct inode_pin pin = {n->table, n->inode, -1};

	inode_unpin(&pin);
	n->inode = NULL;
}

void inode_unlinked(struct inode_name *n, struct inode *parent, const char *name)
{
	struct inode *i = n->inode;
	struct stat st;

	if (!i)
		return;
	bool gone = !lower_stat(i->fd, &st) && !st.st_nlink;
	pthread_mutex_lock(&n->table->lock);
	i->gone = gone;
	/* The descriptor came into the cache with inode_peek(); from now on it is the only way. */
	if (n->last || !n->table->by_handle || !i->handle)
		i->keep = true;
	if (i->parent == parent && i->name && !strcmp(i->name, name))
		set_name(n->table, i, NULL, NULL);
	pthread_mutex_unlock(&n->table->lock);
}

void inode_renamed(struct inode_name *n, struct inode *parent, const char *name)
{
	if (n->inode)
		inode_linked(n->table, n->inode, parent, name);
}

void inode_linked(struct inode_table *t, struct inode *i, struct inode *parent, const char *name)
{
	pthread_mutex_lock(&t->lock);
	set_name(t, i, parent, name);
	i->keep = i->gone = false;
	pthread_mutex_unlock(&t->lock);
}

uint64_t inode_number(const struct inode_table *t, const struct inode *i)
{
	return i == &t->root ? ROOT_NUMBER : (uintptr_t)i;
}

struct inode *inode_of(struct inode_table *t, uint64_t number)
{
	return number == ROOT_NUMBER ? &t->root : (struct inode *)(uintptr_t)number;
}

uint64_t inode_id(const struct inode *i)
{
	return i->id;
}

void inode_saw_mode(struct inode *i, mode_t mode)
{
	i->mode = mode;
}

bool inode_has_set_id(const struct inode *i)
{
	return i->mode & (S_ISUID | S_ISGID);
}

bool inode_is_dir(const struct inode *i)
{
	return S_ISDIR(i->mode);
}

void inode_changed(struct inode *dir)
{
	dir->changed = true;
}

bool inode_take_changed(struct inode *dir)
{
	return dir->changed && atomic_exchange(&dir->changed, false);
}

void inode_name(struct inode_table *t, const struct inode *i, char *out, size_t size)
{
	pthread_mutex_lock(&t->lock);
	snprintf(out, size, "%s", i->name ? i->name : "");
	pthread_mutex_unlock(&t->lock);
}

bool inode_name_ends(struct inode_table *t, const struct inode *i, const char *end)
{
	pthread_mutex_lock(&t->lock);
	size_t len = i->name ? strlen(i->name) : 0, end_len = strlen(end);
	bool yes = len >= end_len && !strcmp(i->name + len - end_len, end);
	pthread_mutex_unlock(&t->lock);
	return yes;
}

bool inode_table_by_handle(const struct inode_table *t)
{
	return t->by_handle;
}

uint64_t inode_table_evicted(struct inode_table *t)
{
	return t->evicted;
}

/* --- the table --- */

/* As many descriptors as the system gives; a quarter of them, at most, for the cache. */
static size_t descriptor_budget(void)
{
	const struct rlimit more = {WANTED_DESCRIPTORS, WANTED_DESCRIPTORS};
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return MIN_RESERVED;
	if (limit.rlim_max < WANTED_DESCRIPTORS && !setrlimit(RLIMIT_NOFILE, &more))
		limit = more;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	return (size_t)max_u64(min_u64(limit.rlim_cur / 4, MAX_CACHED), MIN_RESERVED);
}

static bool may_open_by_handle(int fd, const struct sight *s)
{
	auto_close int again = -1;

	if (!s->has_handle)
		return false;
	again = open_by_handle_at(
		fd, (struct file_handle *)(uintptr_t)&s->handle, O_PATH | O_CLOEXEC);
	return again >= 0;
}

int inode_table_open(struct inode_table **ret, int source_fd, struct error *err)
{
	struct inode_table *t;
	struct sight s;
	int r = sight_look(source_fd, &s);

	if (r < 0)
		return error_errno(err, r, "cannot stat the source directory");
	t = ALLOC(struct inode_table);
	pthread_mutex_init(&t->lock, NULL);
	t->root_fd = source_fd;
	t->root = (struct inode){.key = s.key,
		.changed = true,
		.id = ROOT_ID,
		.dev = s.st.st_dev,
		.fd = source_fd,
		.keep = true};
	t->last_id = ROOT_ID;
	map_put(&t->idents, s.key.a, s.key.b, ROOT_ID);
	map_put(&t->live, s.key.a, s.key.b, (uintptr_t)&t->root);
	t->limit = descriptor_budget();
	t->by_handle = may_open_by_handle(source_fd, &s);
	if (t->by_handle)
		vec_push(&t->devices, (struct device){s.st.st_dev, dup(source_fd)});
	*ret = t;
	return 0;
}

void inode_table_close(struct inode_table *t)
{
	if (!t)
		return;
	while (t->newest) {
		struct inode *i = t->newest;

		t->newest = i->older;
		if (i->fd >= 0)
			close(i->fd);
		inode_free(i);
	}
	vec_each (d, &t->devices)
		close(d->fd);
	vec_free(&t->devices);
	map_free(&t->live);
	map_free(&t->idents);
	close(t->root_fd);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

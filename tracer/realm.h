/* SPDX-License-Identifier: MIT */
/*
 * All that exists at one point of a trace: files with their names, sizes, holes and attributes, open
 * handles, locks. Fed with the starting state and then with the events in order, it can say at any
 * moment what the starting state of a trace would be that began there.
 *
 * A trace may say anything: what makes no sense changes nothing. Pointers are good until the next
 * event. A file that has neither names nor handles is forgotten.
 */
#ifndef REALM_H
#define REALM_H

#include "event.h"
#include "extents.h"
#include "map.h"

struct realm;

struct realm_name {
	uint64_t dir;
	char *text; /* NUL-terminated too */
	size_t size;
};

struct realm_xattr {
	char *name, *value;
	size_t name_size, value_size;
};

struct realm_lock {
	uint64_t owner, handle;
	uint64_t start, end; /* last byte */
	bool exclusive, flock;
};

struct realm_file {
	uint64_t id;
	uint32_t mode, uid, gid; /* mode 0: nothing is known of it but its names */
	uint64_t size, rdev, mtime_ns;
	struct extents data;
	uint64_t content_bytes, content_cost; /* looked at, and eighths that are unpredictable */
	bool content_zero;                    /* nothing but zeros so far */
	char *target;                         /* of a symbolic link */
	size_t target_size;
	VEC(struct realm_xattr) xattrs;
	VEC(struct realm_name) names; /* the last one is the newest */
	uint64_t children;            /* names in it */
	struct realm_handle *handles;
	VEC(struct realm_lock) locks;
};

struct realm_handle {
	uint64_t id;
	struct realm_file *file;
	struct realm_handle *next; /* of the same file */
	uint32_t flags;            /* of its open */
	uint32_t thread;           /* the last one to use it; 0 = not known */
	bool directory;
};

struct realm *realm_new(void);
void realm_free(struct realm *w);

void realm_tree(struct realm *w, const struct tree_entry *entry);
/* What the event did; one that failed did nothing. */
void realm_event(struct realm *w, const struct event *ev);

struct realm_file *realm_file(const struct realm *w, uint64_t id);
struct realm_handle *realm_handle(const struct realm *w, uint64_t id);
/* The file of this name, or NULL. */
struct realm_file *realm_lookup(const struct realm *w, uint64_t dir, struct text name);
struct text realm_name(const struct realm_name *name);
/* Its content class, from the starting state and what was written. */
uint64_t realm_content(const struct realm_file *file);
const struct realm_xattr *realm_xattr(const struct realm_file *file, struct text name);
/* Some name in the directory; NULL if it is empty. Slow. */
const struct realm_name *realm_any_child(
	const struct realm *w, uint64_t dir, struct realm_file **ret_file);

static inline bool realm_is_dir(const struct realm_file *file)
{
	return (file->mode & 0170000) == 0040000;
}

/* Every file, in no order. */
void realm_each(const struct realm *w, int (*visit)(void *arg, struct realm_file *file), void *arg);

/*
 * Every name of the files that the caller wants as an entry of a starting state; directories on the
 * way to them come along, parents first. Stops when emit() fails.
 */
struct realm_visitor {
	bool (*wants)(void *arg, const struct realm_file *file);
	int (*emit)(void *arg, const struct tree_entry *entry, struct error *err);
	void *arg;
};
int realm_entries(const struct realm *w, const struct realm_visitor *v, struct error *err);

/* A lock request of an event, and whether it would be in the way of another one. */
struct realm_lock realm_lock_of(const struct event *ev);
bool realm_locks_conflict(const struct realm_lock *a, const struct realm_lock *b);

#endif

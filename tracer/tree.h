/* SPDX-License-Identifier: MIT */
/* What existed when the capture started: all that a replay must make first. */
#ifndef TREE_H
#define TREE_H

#include "error.h"
#include "event.h"

struct tree_extent {
	uint64_t offset, size; /* data; what lies between is a hole */
};

struct tree_xattr {
	struct text name, value;
};

/*
 * One name of one file. A file with several hard links has several entries with the same id, of
 * which only the first carries more than id, parent and name. Parents come before children; the
 * root has id 1, parent 0 and an empty name.
 */
struct tree_entry {
	uint64_t id, parent;
	struct text name;
	uint64_t mode, uid, gid, size, rdev, mtime_ns;
	uint64_t content;   /* of a sample of the data */
	struct text target; /* symbolic links */
	const struct tree_extent *extents;
	size_t extent_count;
	const struct tree_xattr *xattrs;
	size_t xattr_count;
	bool again; /* another name of an id that came before */
};

#define TREE_ROOT 1

/*
 * Walk the directory behind root_fd (not leaving its file system) and call `emit` per entry; memory
 * of the entry belongs to the walk and is good during the call. `ident` gives the id of a file by
 * (device, inode); it is called once per distinct file, root first. Stops at the first failure.
 */
struct tree_visitor {
	uint64_t (*ident)(void *arg, uint64_t dev, uint64_t ino, int path_fd);
	int (*emit)(void *arg, const struct tree_entry *entry, struct error *err);
	void *arg;
	/* NULL, or called with each regular file that can be read, open, before its emit(). */
	int (*data)(void *arg, const struct tree_entry *entry, int fd); /* 0 or -errno */
};

int tree_scan(int root_fd, const struct tree_visitor *visitor, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * One look at a file: its attributes, and a key that no other file ever has.
 *
 * The key is device, inode number and file handle, which carries a generation; on file systems
 * without handles the time of birth takes its place.
 */
#ifndef SIGHT_H
#define SIGHT_H

#include <fcntl.h>
#include <sys/stat.h>

#include "base.h"

#define SIGHT_MAX_HANDLE 128 /* MAX_HANDLE_SZ */

struct file_key {
	uint64_t a, b;
};

struct sight {
	struct stat st;
	struct file_key key;
	bool has_handle;
	union {
		struct file_handle handle;
		char space[sizeof(struct file_handle) + SIGHT_MAX_HANDLE];
	};
};

/* `fd`: any descriptor of the file. 0 or -errno. */
int sight_look(int fd, struct sight *ret);

static inline bool file_key_equal(struct file_key x, struct file_key y)
{
	return x.a == y.a && x.b == y.b;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Whole reads and writes, small files, and directory trees. */
#ifndef IO_H
#define IO_H

#include <sys/types.h>

#include "error.h"

/* Write all of it, however many calls that takes. 0 or -errno. */
int write_all(int fd, const void *data, size_t size);
int pwrite_all(int fd, const void *data, size_t size, off_t offset);
/* Read until `size` bytes or end of file. Bytes read, or -errno. */
ssize_t read_full(int fd, void *data, size_t size);
ssize_t pread_full(int fd, void *data, size_t size, off_t offset);

/* What is left of `in`, to `out`. 0 or -errno. */
int copy_rest(int in, int out);

/* A small text file (/proc, /sys) as a NUL-terminated string, trailing newline cut; NULL if
 * unreadable. */
char *read_text(const char *path);

/* Remove `path` and all below it, staying on its file system. 0 or the first -errno. */
int remove_tree(const char *path);

/* Make a private directory $TMPDIR/fsreel-XXXXXX. The caller frees and removes it. */
char *make_temp_dir(struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Directories that do not outlive who made them by much: beside each lies a lock file that its maker
 * holds, so whoever makes the next one can tell what the dead have left, and removes it.
 */
#ifndef TEMPDIR_H
#define TEMPDIR_H

#include "error.h"

struct tempdir {
	char *path; /* NULL = none */
	int lock;
};

/* PARENT/fsreel-XXXXXX, open to its owner only. */
int tempdir_make(struct tempdir *ret, const char *parent, struct error *err);
/* Remove it with all that is in it. 0 or -errno; it is forgotten in any case. */
int tempdir_remove(struct tempdir *t);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * One open file or directory of the application.
 *
 * Below there are up to two descriptors for it: with and without O_DIRECT. Which one serves a
 * request is decided by the flags of that request (fcntl(F_SETFL) may have changed them), and the
 * page cache (mapped files) always uses the one without. The other is opened when first needed.
 * O_APPEND, O_SYNC and O_DSYNC are never set below: requests carry offset and flags of their own.
 */
#ifndef HANDLE_H
#define HANDLE_H

#include <pthread.h>
#include <sys/types.h>

#include "inode.h"

struct handle {
	struct inode *inode;     /* held */
	uint64_t id;             /* in the trace */
	int flags;               /* as opened */
	_Atomic uint32_t thread; /* that last opened, read or closed it: a release has none */
	_Atomic int fd[2];       /* [1]: with O_DIRECT; -1 = not open yet */
	pthread_mutex_t lock;
	off_t dir_at; /* directories: where the descriptor stands; -1 = unknown */
};

/* What the descriptor below is opened with when the application opens with `flags`. */
int handle_flags_below(int flags, bool strip_direct);

/* Takes fd; holds the inode. */
struct handle *handle_new(struct inode_table *t, struct inode *i, uint64_t id, int fd, int flags);
void handle_free(struct inode_table *t, struct handle *h);

/* The descriptor for a request with these flags, or -errno. */
int handle_fd(struct handle *h, bool direct);
/* Any descriptor of it: for calls on the whole file. */
int handle_any_fd(const struct handle *h);

#endif

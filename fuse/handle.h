/* SPDX-License-Identifier: MIT */
/*
 * The open files and directories of the application.
 *
 * Below there are up to two descriptors for each: with and without O_DIRECT. Which one serves a
 * request is decided by the flags of that request (fcntl(F_SETFL) may have changed them), and the
 * page cache (mapped files) always uses the one without. The other is opened when first needed.
 * O_SYNC and O_DSYNC are never set below, O_APPEND only if the file can be opened no other way:
 * requests carry offset and flags of their own.
 *
 * All programs together may have more files open than this process may have descriptors. Where files
 * can be opened again by handle (inode.h) those not used for longest are closed and opened again when
 * needed; elsewhere opens are refused in time, so that what is open goes on and names can be looked
 * up.
 */
#ifndef HANDLE_H
#define HANDLE_H

#include <pthread.h>
#include <sys/types.h>

#include "inode.h"

struct handle_table;

struct handle {
	struct handle_table *table;
	struct inode *inode;     /* held */
	uint64_t id;             /* in the trace */
	int flags;               /* as opened */
	int below;               /* what to open it with again, O_DIRECT aside */
	_Atomic uint32_t thread; /* that last opened, read or closed it: a release has none */
	_Atomic int fd[2];       /* [1]: with O_DIRECT; -1 = not open now */
	_Atomic unsigned users;  /* of the descriptors */
	_Atomic bool used;       /* since the clock hand passed */
	pthread_mutex_t lock;
	off_t dir_at;               /* directories: where the descriptor stands; -1 = unknown */
	struct handle *next, *prev; /* ring of all */
};

struct handle_table *handle_table_new(struct inode_table *inodes);
void handle_table_free(struct handle_table *t);
/* Room for one more? Makes it, or false: refuse the open with -ENFILE. */
bool handle_table_room(struct handle_table *t);
/* Close half of what is open and not in use: after EMFILE. */
void handle_table_shrink(struct handle_table *t);
/* Descriptors closed so far, and opens refused, for want of more. */
uint64_t handle_table_evicted(const struct handle_table *t);
uint64_t handle_table_refused(const struct handle_table *t);

/* What the descriptor below is opened with when the application opens with `flags`. */
int handle_flags_below(int flags, bool strip_direct);

/* Takes fd; holds the inode. */
struct handle *handle_new(struct handle_table *t, struct inode *i, uint64_t id, int fd, int flags);
void handle_free(struct handle *h);

/* A descriptor that stays open while it is held: `auto_use struct handle_use u = ...`. */
struct handle_use {
	struct handle *handle;
	int fd; /* or -errno */
};
#define auto_use __attribute__((cleanup(handle_unuse)))
/* For a request with O_DIRECT, or without. */
struct handle_use handle_use(struct handle *h, bool direct);
/* Any of them: for calls on the whole file. */
struct handle_use handle_use_any(struct handle *h);
void handle_unuse(struct handle_use *use);

#endif

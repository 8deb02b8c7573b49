/* SPDX-License-Identifier: MIT */
/*
 * Run-time tables: handle slots -> descriptors, directory slots -> descriptors (opened when needed,
 * below the root only, and given back when there are too many).
 *
 * Thread-safe. Handle slots need no lock: the plan orders every use after the open and before the
 * release.
 */
#ifndef FILES_H
#define FILES_H

#include <linux/openat2.h>

#include "error.h"

#define FILES_MAX_HANDLES 15000 /* open at the same time */
#define FILES_MAX_DIRS    4000  /* directory descriptors kept open */

struct files;

/* root_fd is borrowed. Raises RLIMIT_NOFILE as far as it needs and may. */
int files_new(struct files **ret, int root_fd, struct error *err);
/* Closes every descriptor that is left. */
void files_free(struct files *f);

/* -EBADF if nothing is open there. */
int files_handle(const struct files *f, uint32_t slot);
/* Takes fd over; without a slot (SLOT_NONE) it is closed. */
void files_set_handle(struct files *f, uint32_t slot, int fd);
/* The descriptor that was there, now the caller's, or -EBADF. */
int files_take_handle(struct files *f, uint32_t slot);

/* Say where a directory is, before any step that uses the slot is handed out. Copies the name. */
void files_dir_set(struct files *f, uint32_t slot, uint32_t parent, const char *name);
/* A directory was renamed, two were exchanged, or one was removed: after the call succeeded. */
void files_dir_moved(struct files *f, uint32_t slot, uint32_t parent, const char *name);
void files_dir_removed(struct files *f, uint32_t slot);

/*
 * A descriptor (O_PATH) of the directory, kept open until files_dir_put(). -errno if it cannot be
 * reached from the root without links.
 */
int files_dir_get(struct files *f, uint32_t slot) attr_must_check;
void files_dir_put(struct files *f, uint32_t slot);

/* Open one name in a directory: no links, no way out of it, no mount points. A descriptor or -errno. */
int files_open_beneath(int dir_fd, const char *name, int flags, unsigned mode);
/* The same as arguments of openat2(), for those who make that call in another way. */
struct open_how files_open_how(int flags, unsigned mode);

/* Where an open descriptor is, below the root, for messages. */
void files_path(const struct files *f, int fd, char *out, size_t size);

#endif

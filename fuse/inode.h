/* SPDX-License-Identifier: MIT */
/*
 * The files that the kernel knows, and how to reach each of them below.
 *
 * A file is known by what stays the same from its creation to its end and is never given to another
 * one: its device and its file handle (name_to_handle_at), which carries a generation; without
 * handles device, inode number and time of birth. From that follows a small number, the file id,
 * which a file keeps for the whole capture even if the kernel forgets it in between.
 *
 * A path descriptor per file is a cache of bounded size. One that was given up is opened again by
 * handle (with CAP_DAC_READ_SEARCH) or by parent and name; files that neither could find again
 * (unlinked, nameless) keep theirs.
 */
#ifndef INODE_H
#define INODE_H

#include <sys/stat.h>

#include "error.h"

struct inode;
struct inode_table;

/* The directory behind `source_fd` (an open directory, taken over) is the root. */
int inode_table_open(struct inode_table **ret, int source_fd, struct error *err);
void inode_table_close(struct inode_table *t);
/* Descriptors given up so far to stay below the limit. */
uint64_t inode_table_evicted(struct inode_table *t);
/* Can a file be opened again whatever became of its name and its permissions? */
bool inode_table_by_handle(const struct inode_table *t);
/* Give up half of what is cached: after EMFILE. */
void inode_table_shrink(struct inode_table *t);

/* The id a file has or now gets, without making it known. */
uint64_t inode_table_ident(struct inode_table *t, int fd);

/* The kernel's number for a file, and back. */
uint64_t inode_number(const struct inode_table *t, const struct inode *i);
struct inode *inode_of(struct inode_table *t, uint64_t number);
uint64_t inode_id(const struct inode *i);

/*
 * A name in a directory, looked up below: counts one more lookup. -ENOENT and the like as the file
 * system says. `st` gets the attributes.
 */
int inode_lookup(struct inode_table *t, struct inode *parent, const char *name, struct inode **ret,
	struct stat *st);
/* The same for a file that was just made; `fd` stays the caller's. name NULL: it has none. */
int inode_adopt(struct inode_table *t, struct inode *parent, const char *name, int fd,
	struct inode **ret, struct stat *st);
/* The kernel forgets `count` lookups. */
void inode_forget(struct inode_table *t, struct inode *i, uint64_t count);

/* Who holds the file open. */
void inode_ref(struct inode_table *t, struct inode *i);
void inode_unref(struct inode_table *t, struct inode *i);

/* What a name stands for before it is removed or replaced; id 0 if nothing. */
struct inode_name {
	struct inode_table *table;
	struct inode *inode; /* pinned; NULL when the kernel does not know the file */
	uint64_t id;
	bool last; /* no other name is left after this one */
};
#define auto_name __attribute__((cleanup(inode_name_done)))
struct inode_name inode_peek(struct inode_table *t, struct inode *parent, const char *name);
void inode_name_done(struct inode_name *n);
/* That name is gone. */
void inode_unlinked(struct inode_name *n, struct inode *parent, const char *name);
/* That file now has this name. */
void inode_renamed(struct inode_name *n, struct inode *parent, const char *name);
void inode_linked(struct inode_table *t, struct inode *i, struct inode *parent, const char *name);

/* A path descriptor that stays open while it is held: `auto_pin struct inode_pin p = ...`. */
struct inode_pin {
	struct inode_table *table;
	struct inode *inode;
	int fd; /* or -errno */
};
#define auto_pin __attribute__((cleanup(inode_unpin)))
struct inode_pin inode_pin(struct inode_table *t, struct inode *i);
void inode_unpin(struct inode_pin *pin);

/* Permission bits as last seen: does a write have set-id bits to clear? */
void inode_saw_mode(struct inode *i, mode_t mode);
bool inode_has_set_id(const struct inode *i);
bool inode_is_dir(const struct inode *i);

/* A directory's entries changed: the kernel asks for its attributes anew before it looks there. */
void inode_changed(struct inode *dir);
/* Since the last question? */
bool inode_take_changed(struct inode *dir);

/* The last name seen of it, "" if it has none; cut to what fits. */
void inode_name(struct inode_table *t, const struct inode *i, char *out, size_t size);
/* Does that name end so? */
bool inode_name_ends(struct inode_table *t, const struct inode *i, const char *end);

#endif

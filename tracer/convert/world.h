/* SPDX-License-Identifier: MIT */
/*
 * The files that a list of system calls tells of: which names there are at a point of it, and which
 * must have been there when it began.
 *
 * What is found to exist before anything made it, existed at the start. Such a fact may come late (a
 * size that is only seen at the end), so the list is read until nothing new is found: each reading
 * begins with what the one before found out.
 */
#ifndef WORLD_H
#define WORLD_H

#include "tree.h"

#define FILE_NONE   UINT32_MAX       /* no such file */
#define FILE_UNSEEN (UINT32_MAX - 1) /* nothing is known of such a name */

struct world_file {
	uint64_t id;     /* in the trace; 0: outside the root */
	uint32_t parent; /* of a directory */
	uint32_t mode;   /* type and permissions; 0: not known */
	uint32_t names;  /* how many it has */
	bool inside;     /* below the root, or the root */
	bool sure;       /* its type was seen, not guessed */
	bool cut; /* its size was set or it was made: what it was at the start shows no more */
	bool from_start; /* it existed then */
	uint32_t maybe;  /* opened with O_CREAT: place in `doubts`, from 1 */
	uint64_t size;
	char *target; /* of a symbolic link; NULL: not known */
};

struct world;

/* `root`: an absolute path without "." and "..". `before`: what an earlier reading found, or NULL. */
struct world *world_new(const char *root, const struct world *before);
void world_free(struct world *w);

/* From now on nothing more is found out: what is new was made out of sight. */
void world_freeze(struct world *w);

/* Has this reading found anything that the one before had not? */
bool world_grew(const struct world *w);

struct world_file *world_file(const struct world *w, uint32_t file);
uint32_t world_top(const struct world *w); /* "/" */
uint32_t world_root(const struct world *w);

/* What a name stands for: a file, FILE_NONE, or FILE_UNSEEN. */
uint32_t world_get(const struct world *w, uint32_t dir, struct text name);
/* A name that must have been there at the start. FILE_NONE: it cannot have been, nor can it be made
 * known, because its directory was made later. */
uint32_t world_discover(struct world *w, uint32_t dir, struct text name, uint32_t mode);
/* A new file; it gets its name with world_bind(). */
uint32_t world_make(struct world *w, uint32_t dir, uint32_t mode);
/* It was opened with O_CREAT and nothing is known of the name: it may have been there. */
void world_doubt(struct world *w, uint32_t file, uint32_t dir, struct text name);
/* FILE_NONE as `file`: there is no such name. */
void world_bind(struct world *w, uint32_t dir, struct text name, uint32_t file);

/* The file is seen to be this large. False: more than what was seen to be written can explain. */
bool world_at_least(struct world *w, uint32_t file, uint64_t size);
/* There is no data from this offset on. */
void world_no_data(struct world *w, uint32_t file, uint64_t offset);
/* A type that a call showed. */
void world_type(struct world *w, uint32_t file, uint32_t mode);
/* A type or permissions that are likely as long as no call shows them. */
void world_guess(struct world *w, uint32_t file, uint32_t mode);
void world_link_target(struct world *w, uint32_t file, struct text target);

/* Files and names in it; for a bound on memory. */
size_t world_count(const struct world *w);

/* The starting state below the root, parents first, as the first reading's ids have it. */
int world_tree(const struct world *w,
	int (*emit)(void *arg, const struct tree_entry *e, struct error *err), void *arg,
	struct error *err);

#endif

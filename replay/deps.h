/* SPDX-License-Identifier: MIT */
/*
 * Which steps must have finished before a step may start, as waits of the form (lane, progress).
 *
 * deps_begin() opens a step; the rules below say what it does to which resource and collect its
 * waits; deps_end() closes it. State is kept in the resources themselves (struct file_deps ...),
 * zero is "nothing happened yet".
 */
#ifndef DEPS_H
#define DEPS_H

#include "plan.h"
#include "replay.h"

struct deps;

/* A step, by its place in its lane; progress 0 = none. */
struct point {
	uint32_t lane, progress;
};

/* Steps of one lane that touched a resource: the first, and the last two. */
struct use {
	uint32_t lane, first, before, last;
};

/* One entry per lane that touched it. */
struct uses {
	struct use *at;
	uint16_t *index; /* lane -> entry + 1, once there are many entries */
	uint32_t count, capacity;
};

/* The latest two steps of a kind, in the order of their ends. */
struct recent {
	struct point last, before;
};

/* A thing that is made, used and ended. Names are made again after their end. */
struct life {
	struct point changed; /* made, or ended */
	struct uses uses;     /* since then */
};

struct lock_mark;

/* What a file holds, and a directory: names. */
struct contents {
	struct uses writes;     /* steps that changed it */
	struct recent resized;  /* cut off, emptied, unlinked: after all before, before all after */
	struct recent extended; /* writes beyond the end */
	struct uses extends;    /* all of them, since it was resized */
	struct recent looked;   /* fsync, readdir: later changes come after */
	struct uses ends_seen;  /* reads that met the end of the file; who found a directory full */
	uint64_t ends_above;    /* none of those reads met an end before this */
	uint64_t hole_start, hole_end; /* around what nobody wrote, but lies before the end since */
	uint64_t extended_from;        /* the end before the latest of them that overlapped */
	struct uses asked;             /* of attributes */
	struct recent attribute;       /* changes of attributes */
	struct lock_mark *locks;
	uint32_t lock_count, lock_capacity;
};

enum deps_change { DEPS_MAKE, DEPS_USE, DEPS_END };

/* `window`: the number of steps that can be unfinished at the same time. */
struct deps *deps_new(enum replay_order order, uint32_t lane_count, uint64_t window);
void deps_free(struct deps *d);

void deps_begin(struct deps *d, uint32_t lane, uint64_t start_ns);
/* The waits of the step, good until the next deps_begin(); returns the lane's progress after it. */
uint32_t deps_end(
	struct deps *d, uint64_t end_ns, const struct wait **ret_waits, uint16_t *ret_count);

/* Program order where a thread has several lanes: after all that had ended in that lane. */
void deps_lane(struct deps *d, uint32_t lane);

/* Soon there will be a read or write here: bring the memory closer. */
void deps_prefetch(const struct deps *d, uint64_t file, uint64_t offset);

/* Lifetimes: in every order. */
void deps_life(struct deps *d, struct life *life, enum deps_change change);

/* Contents: ORDER_RESOURCE only, nothing otherwise. `file` tells files apart. */
struct deps_range {
	uint64_t file;
	uint64_t offset, size;
	uint64_t size_before; /* of the file, for those that extend it */
	bool at_end;          /* a write that extends the file, a read that met its end */
};
void deps_read(struct deps *d, struct contents *c, const struct deps_range *range);
void deps_write(struct deps *d, struct contents *c, const struct deps_range *range);
void deps_resize(struct deps *d, struct contents *c, struct life *life);
void deps_change_names(struct deps *d, struct contents *c);
/* A call that failed because the directory was not empty: in every order. */
void deps_found_full(struct deps *d, struct contents *c);
void deps_look(struct deps *d, struct contents *c);
/* A sync of the whole file system: after all that had ended, on whatever file. */
void deps_everything(struct deps *d);
void deps_attribute(struct deps *d, struct contents *c, bool change);

struct deps_lock {
	uint64_t owner;
	uint64_t start, end; /* inclusive */
	bool exclusive, unlock, flock;
	bool granted;
};
/* In every order: what was granted could not have been before the release. */
void deps_lock(struct deps *d, struct contents *c, const struct deps_lock *lock);

void life_done(struct life *life);
void contents_done(struct contents *c);

struct deps_stats {
	uint64_t raw, kept; /* waits found, and left after dropping the implied ones */
};
const struct deps_stats *deps_stats(const struct deps *d);

#endif

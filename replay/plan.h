/* SPDX-License-Identifier: MIT */
/*
 * The plan: what a trace becomes before it is replayed. Pure data.
 *
 * A step is one call to make. Steps belong to lanes; a lane runs its steps one after the other, in
 * order. What else must have happened before is a list of waits: "lane 3 has finished 17 steps".
 * Waits point back in the order of the trace only, so the oldest unfinished step can always run.
 *
 * Ids of the trace do not appear here: files, directories and handles are slots of run-time tables
 * (files.h), small numbers that are used again once nothing refers to them any more.
 */
#ifndef PLAN_H
#define PLAN_H

#include "fileclass.h"
#include "op.h"

/* Slots of the run-time tables. */
#define SLOT_NONE UINT32_MAX
#define SLOT_ROOT 0 /* the directory slot of the root */

/* At most this many lanes in a plan, steps in a lane, bytes in one call. */
#define PLAN_MAX_LANES 1024
#define PLAN_MAX_STEPS (UINT32_MAX - 1)
#define PLAN_MAX_BYTES (UINT64_C(1) << 30)

struct wait {
	uint32_t lane;
	uint32_t progress; /* that lane has finished at least so many steps */
};

/*
 * Arguments that few operations have. `dir` and `name` are how the file of an operation without a
 * handle is reached, whatever the operation: the name that the file has at this point of the trace.
 * Names are single components, never ".." and without '/'; "." stands for `dir` itself.
 */
struct step_args {
	const char *name, *name2; /* NUL-terminated; NULL if the operation has none */
	const char *attribute;    /* the name of an extended attribute, NUL-terminated */
	const void *value;        /* KIND_BYTES; NUL-terminated too, the NUL not counted */
	uint32_t value_size;
	uint32_t dir, dir2; /* directory slots */
	uint32_t made_dir;  /* mkdir, rmdir, rename of a directory: its slot, else SLOT_NONE */
	uint32_t
		other_dir; /* rename: the slot of the directory it replaced or was exchanged with */
	uint32_t handle2;  /* copy_file_range */
	uint32_t mode, uid, gid;
	uint64_t rdev;
	uint64_t offset2;
	uint64_t atime, mtime;
	uint64_t command;
};

enum step_bits {
	STEP_BY_PATH = 1, /* by args->dir and args->name, not by handle */
	STEP_SYNCS = 2,   /* waits for stable storage: fsync, O_DSYNC writes ... */
	STEP_KEEPS = 4,   /* takes a file's last name; `handle` becomes a way to reach it still */
	STEP_KEPT = 8,    /* on a file without a name, by what was kept of it in `handle` */
	STEP_RACED = 16,  /* reads what no order of the trace explains: any count will do */
	STEP_CACHED = 32, /* a page of a mapping: not by O_DIRECT, though its handle has it */
};

struct step {
	uint64_t offset; /* KIND_OFFSET */
	uint64_t size;   /* KIND_SIZE, at most PLAN_MAX_BYTES where it is a buffer */
	int64_t expect;  /* the captured result: >= 0, or -errno */
	uint64_t cpu_ns; /* CPU time of the application before this call; 0 = none or unknown */
	const struct step_args *args; /* NULL if all is in here */
	const struct wait *waits;
	const void *data;  /* of a write: what it writes; NULL = data of the class `content` */
	uint64_t number;   /* of its event in the trace, from 1: for messages */
	uint32_t lane;     /* index of its lane */
	uint32_t progress; /* the lane's progress once it is done: 1, 2, 3 ... */
	uint32_t handle;   /* slot; SLOT_NONE = by path */
	uint32_t flags;    /* KIND_FLAGS; of reads and writes: the RWF_* for this call */
	uint16_t wait_count;
	uint16_t mode;      /* lseek: whence; locks: type */
	uint8_t op;         /* enum op */
	uint8_t content;    /* enum content */
	uint8_t file_class; /* enum file_class */
	uint8_t bits;       /* enum step_bits */
};

#endif

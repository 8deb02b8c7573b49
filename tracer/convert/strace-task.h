/* SPDX-License-Identifier: MIT */
/* The threads of a list of system calls: what descriptors and which directory each has. */
#ifndef STRACE_TASK_H
#define STRACE_TASK_H

#include "bytes.h"
#include "map.h"
#include "strace-line.h"
#include "vec.h"

/* More of them is not a list that a machine made. */
#define TASKS_MAX (1u << 18)
#define FDS_MAX   (1u << 22) /* of all processes together */

/* An open file, shared by the descriptors that dup() and fork() made of it. */
struct opened {
	uint32_t refs;
	uint32_t file;
	uint64_t handle; /* 0: outside the root */
	uint64_t flags;
	uint64_t at; /* where the next read() or write() goes */
	bool directory, flocked;
};

struct fd {
	int number;
	bool cloexec;
	struct opened *opened;
};

struct fd_table {
	uint32_t refs;
	struct map index; /* number -> place in fds */
	VEC(struct fd) fds;
};

/* A call that began and has not ended. */
struct pending {
	bool active;
	struct text name; /* owned, with args in one piece */
	struct text args;
	uint64_t time_ns, line;
	struct opened *closing; /* close(): what it took away already */
	bool cloning;           /* it makes a thread that has not been seen yet */
};

struct task {
	uint32_t pid, tgid;
	uint32_t thread; /* of the trace; 0: not declared yet */
	uint32_t umask;
	uint32_t *cwd; /* shared by those that were made with CLONE_FS */
	uint32_t *cwd_refs;
	struct fd_table *table;
	struct pending pending;
	char comm[16];
};

struct tasks {
	struct map by_pid;      /* -> place in all */
	VEC(struct task *) all; /* NULL: gone */
	VEC(uint32_t) unused;
	VEC(uint32_t) cloning; /* threads in a clone(), from next_cloning on; some are done */
	size_t next_cloning;
	size_t fds; /* of all tables */
	uint32_t start_cwd;
};

void tasks_init(struct tasks *t, uint32_t cwd);
void tasks_done(struct tasks *t);

/* NULL if there are too many. */
struct task *task_of(struct tasks *t, uint32_t pid);
struct task *task_find(struct tasks *t, uint32_t pid);
/* The child of clone(): what it shares follows from the flags. NULL if there are too many. */
struct task *task_clone(struct tasks *t, struct task *parent, uint32_t pid, uint64_t flags);
/* The oldest clone() under way whose child is not known yet; NULL if there is none. */
struct task *task_cloning(struct tasks *t);
/* Its pending call has begun: task_cloning() is to know if it is a clone(). */
void task_begun(struct tasks *t, struct task *task);
/* It ended. Its descriptors must have been closed by the caller if it was the last with its table. */
void task_end(struct tasks *t, struct task *task);

/* NULL if it is not open, or not a file. */
struct fd *task_fd(const struct task *task, int number);
/* Takes over a reference. False: too many. */
bool task_set_fd(struct tasks *t, struct task *task, int number, struct opened *o, bool cloexec);
/* Its file, with the reference; NULL if it was not open. */
struct opened *task_take_fd(struct tasks *t, struct task *task, int number);
/* execve() and CLONE_FILES: a table of its own. */
bool task_unshare(struct tasks *t, struct task *task);

#endif

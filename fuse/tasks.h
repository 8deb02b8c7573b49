/* SPDX-License-Identifier: MIT */
/* The threads that call: who they are, and how much CPU time they have used. */
#ifndef TASKS_H
#define TASKS_H

#include "capture.h"
#include "writer.h"

struct tasks;

struct task {
	uint32_t index;  /* in the trace; 0 = the kernel, or not known */
	uint64_t cpu_ns; /* CPU clock of the thread now; 0 = not known */
	bool own;        /* a thread of this process: not the application's */
};

/* `w` may be NULL: nobody is declared, only `own` is told. `clock`: see capture_options. */
struct tasks *tasks_new(struct trace_writer *w, const struct capture_clock *clock);
void tasks_free(struct tasks *c);

/* Thread `tid`, which is blocked in a call just now. Declares it when it is new; 0 is the kernel. */
struct task tasks_look(struct tasks *c, uint32_t tid, uint32_t uid, uint32_t gid);

/* The index of a thread that need not be there any more; see capture_thread(). */
uint32_t tasks_index(struct tasks *c, uint32_t tid, uint32_t tgid, const char *name);
/* If somebody is made by this number now, it is another thread. */
void tasks_ended(struct tasks *c, uint32_t tid);

/*
 * What the call is in which `tid` is blocked: the kernel turns one call into several requests, and
 * only the call tells which of them the program meant. "Not known" (a call by io_uring, or a thread
 * that still runs) is 0 and false.
 */

/* Bytes that a read or write asks for, all of it: large ones come in pieces. */
uint64_t tasks_call_size(struct tasks *c, uint32_t tid);
/* Does it read a symbolic link, and not follow one? True also when it is not known. */
bool tasks_call_reads_link(struct tasks *c, uint32_t tid);
/* Is it one of chown()'s family? False also when it is not known. */
bool tasks_call_changes_owner(struct tasks *c, uint32_t tid);
/* Does it ask for the attributes of a file of this name (and not of another one on the way)? */
bool tasks_call_stats(struct tasks *c, uint32_t tid, const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/* The threads that call: who they are, and how much CPU time they have used. */
#ifndef TASKS_H
#define TASKS_H

#include "writer.h"

struct tasks;

struct task {
	uint32_t index;  /* in the trace; 0 = the kernel, or not known */
	uint64_t cpu_ns; /* CPU clock of the thread now; 0 = not known */
	bool own;        /* a thread of this process: not the application's */
};

/* `w` may be NULL: nobody is declared, only `own` is told. */
struct tasks *tasks_new(struct trace_writer *w);
void tasks_free(struct tasks *c);

/* Thread `tid`, which is blocked in a call just now. Declares it when it is new; 0 is the kernel. */
struct task tasks_look(struct tasks *c, uint32_t tid, uint32_t uid, uint32_t gid);

/*
 * How many bytes the read or write in which `tid` is blocked asks for, all of it: the kernel sends
 * large ones in pieces. 0 if it is another call or cannot be seen.
 */
uint64_t tasks_call_size(uint32_t tid);

#endif

/* SPDX-License-Identifier: MIT */
/* The threads of a process and of its descendants, from /proc. */
#ifndef TREES_H
#define TREES_H

#include <sys/types.h>

#include "vec.h"

struct tids {
	VEC(pid_t) list;
};

/* Append those that exist now; returns how many are new. `list` may hold some already. */
size_t tids_of_tree(struct tids *tids, pid_t pid);
/* Is this process in the initial PID namespace, where numbers are those that BPF sees? */
bool pids_are_global(void);

#endif

/* SPDX-License-Identifier: MIT */
/* Other processes for the cases: what one program does must be seen by another. */
#ifndef PROCESS_H
#define PROCESS_H

#include <sys/types.h>

#include "base.h"

/* Run in a child of this process; its status is what `body` returns (0..125), 126 after a signal or
 * 10 s. */
int in_child(int (*body)(const void *arg), const void *arg);
/* The same without waiting. */
pid_t start_child(int (*body)(const void *arg), const void *arg);
int end_child(pid_t pid);

/* Become an ordinary user, with one supplementary group unless it is 0. For children. */
void become_user(gid_t group);
bool is_root(void);

/* Open or stop the program: for preparation that cannot fail. */
int must_open(const char *path, int flags, mode_t mode);
void pause_ms(unsigned ms);

#endif

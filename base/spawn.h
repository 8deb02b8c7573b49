/* SPDX-License-Identifier: MIT */
/* Run another program (mkfs, tests' helpers) and keep what it said. */
#ifndef SPAWN_H
#define SPAWN_H

#include "error.h"

/*
 * Run argv (found through PATH and the sbin directories), stdin from /dev/null, and wait. On a
 * status other than 0 the error names the program and carries what it printed, cut to one line.
 * ret_output (may be NULL) gets stdout and stderr together; the caller frees it, on failure too.
 */
int spawn_run(const char *const argv[], char **ret_output, struct error *err);

/* Where `program` is, searching PATH and the sbin directories; NULL if it is nowhere. Caller frees.
 */
char *find_program(const char *program);

#endif

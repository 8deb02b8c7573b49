/* SPDX-License-Identifier: MIT */
/*
 * Phases: parts of a run that are told apart (load, run, drop). A program says that one begins by
 * asking for a file that does not exist, `.fsreel-phase:NAME` in any directory of the file system
 * that is captured; a shell script can do it with `test -e`. The pass-through writes a mark into the
 * trace; everywhere else it is one look-up in vain.
 */
#ifndef PHASE_H
#define PHASE_H

#include "base.h"

#define PHASE_PREFIX ".fsreel-phase:"
#define PHASE_NAME   64 /* bytes of a name that are kept, NUL included */

/* From here to the next mark, all that happens belongs to this phase. Any thread. */
void phase_mark(const char *dir, const char *name);

/* A name as it is kept and shown: cut to its room, '?' for all but printable ASCII. */
void phase_copy_name(char out[PHASE_NAME], const char *name, size_t size);

/* The phase that a file name stands for, or NULL. */
const char *phase_name(const char *file_name);

#endif

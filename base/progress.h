/* SPDX-License-Identifier: MIT */
/*
 * A progress line on stderr: phase, done/total, rate and time left. Silent when stderr is not a
 * terminal or --quiet was given, so callers need no condition.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "base.h"

struct progress {
	const char *phase;
	uint64_t total; /* 0 = unknown: done and rate only */
	uint64_t started_ns, shown_ns;
	bool silent;
};

void progress_quiet(bool quiet); /* process-wide, from the command line */
/* A line that stays, on stderr, terminal or not; nothing with --quiet. Not while a progress line of
 * another thread is drawn. */
void progress_note(const char *fmt, ...) attr_printf(1, 2);
void progress_start(struct progress *p, const char *phase, uint64_t total);
/* Cheap enough to call per thousand operations; redraws at most ten times a second. */
void progress_update(struct progress *p, uint64_t done);
/* Erase the line. */
void progress_end(struct progress *p);

#endif

/* SPDX-License-Identifier: MIT */
/* A trace from the output of `strace -f -yy -ttt -T`. */
#ifndef IMPORT_H
#define IMPORT_H

#include "error.h"
#include "writer.h"

#define IMPORT_COMPLAINTS 20 /* shown; all are counted */
#define IMPORT_NOTES      64 /* different names of calls */

struct import_note {
	char name[32];
	uint64_t count;
};

struct import_report {
	uint64_t lines, calls; /* calls that ended */
	uint64_t complaints;   /* what was not understood */
	struct {
		uint64_t line;
		char text[160];
	} complaint[IMPORT_COMPLAINTS];
	struct import_note
		notes[IMPORT_NOTES]; /* calls below the root that a trace does not hold */
	size_t note_count;
	uint64_t adopted; /* descriptors that were open before the list begins */
	unsigned readings;
	struct trace_totals totals;
};

/*
 * Read `path` (a regular file; several times) and write `out`: the calls below the directory `root`,
 * an absolute path. Not understanding a line is no error; no time stamps is.
 */
int import_strace(const char *path, const char *root, const char *out, struct import_report *ret,
	struct error *err);

#endif

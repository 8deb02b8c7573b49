/* SPDX-License-Identifier: MIT */
/*
 * A part of a trace as a trace by itself: some time of it, some threads, some files, some operations.
 *
 * It can be replayed alone: its starting state is what existed when it begins, and what its events
 * need and left-out events made is made up (mend.h). Memory follows the number of files that exist,
 * not the length of the trace.
 */
#ifndef SLICE_H
#define SLICE_H

#include "anonymize.h"
#include "opt.h"
#include "reader.h"

struct slice_options {
	uint64_t from_ns, to_ns;        /* events that ended in this time; 0 and UINT64_MAX: all */
	bool ops[OP_LIMIT];             /* only these; none set: all */
	const struct opt_list *paths;   /* globs: only events on such files; none: all */
	const struct opt_list *threads; /* thread ids or names (globs); none: all */
	struct anonymizer *anonymizer;  /* NULL: names stay */
};

/* What became of the events of the time asked for. */
struct slice_stats {
	struct trace_totals totals; /* of the slice */
	uint64_t kept;              /* asked for, and there */
	uint64_t followed;          /* kept because they take away what the slice has */
	uint64_t made_up;           /* what left-out events had made */
	uint64_t under_way;         /* began before the time, changed nothing: left out */
	uint64_t impossible;   /* cannot be made to come out the same without others: left out */
	uint64_t raced;        /* reads whose result the order of the trace does not explain */
	uint64_t hollow_reads; /* reads of data that left-out events wrote: holes in the slice */
	uint64_t waits_left;   /* of EDGES, which are not carried over */
	uint64_t data_left;    /* writes whose stored data are not carried over */
	bool cut_short;        /* the trace ended before its time, or has no valid end */
	uint64_t unknown;      /* events of operations unknown here, left out */
};

/* Write the slice to `path`. What the input lost is lost in the slice too. */
int slice_write(struct trace_reader *in, const char *path, const struct slice_options *options,
	struct slice_stats *ret, struct error *err);

#endif

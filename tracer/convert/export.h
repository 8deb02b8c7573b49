/* SPDX-License-Identifier: MIT */
/* A trace in the format of another program. Each is a row of exporters[] and a file export-NAME.c. */
#ifndef EXPORT_H
#define EXPORT_H

#include "paths.h"
#include "reader.h"

struct exporter;

/* One export under way; what the exporter keeps is behind `own`. */
struct export
{
	const struct exporter *to;
	struct trace_reader *trace;
	struct paths *paths; /* names as they are before the event at hand */
	const char *out;     /* a path; NULL: standard output */
	void *own;
	uint64_t events;             /* so far, the one at hand included */
	uint64_t unsaid[OP_LIMIT];   /* events that the format could not say */
	uint64_t weakened[OP_LIMIT]; /* said, but without something that matters: see `weaker` */
};

enum export_output {
	EXPORT_STREAM,    /* text: a file or standard output */
	EXPORT_FILE,      /* a file that must be seekable */
	EXPORT_DIRECTORY, /* several files in a new directory */
};

/*
 * The parts are called in this order; each may be NULL. Files are written under the name in x->out,
 * which is put into place when all went well. `free` is always called.
 */
struct exporter {
	const char *name;
	const char *summary; /* what it makes */
	const char *loses;   /* what a trace has and it has not */
	const char *weaker;  /* what `weakened` events lack */
	enum export_output output;
	int (*begin)(struct export *x, struct error *err);
	int (*tree)(struct export *x, const struct tree_entry *e, struct error *err);
	int (*event)(struct export *x, const struct event *ev, struct error *err);
	int (*end)(struct export *x, struct error *err);
	void (*free)(struct export *x);
};

extern const struct exporter export_csv, export_fio, export_perfetto, export_sqlite;
/* NULL-terminated. */
extern const struct exporter *const exporters[];

/* NULL if there is none of that name. */
const struct exporter *exporter_by_name(const char *name);

/*
 * All of the trace to `out` (NULL: standard output, if the exporter can). Nothing is left behind on
 * failure. The counts are in *ret afterwards; its pointers are not.
 */
int export_trace(struct export *ret, const struct exporter *to, struct trace_reader *trace,
	const char *out, struct error *err);

#endif

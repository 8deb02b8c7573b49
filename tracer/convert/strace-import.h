/* SPDX-License-Identifier: MIT */
/* An import under way: what the handlers of the calls share. */
#ifndef STRACE_IMPORT_H
#define STRACE_IMPORT_H

#include "import.h"
#include "strace-arg.h"
#include "strace-task.h"
#include "world.h"

struct import {
	struct world *world;
	struct tasks tasks;
	struct import_report *report;
	const char *root;
	struct trace_writer *writer; /* NULL: only finding out what existed */
	struct trace_buffer *buffer;
	uint64_t epoch_ns, last_end_ns; /* in the time of the list */
	bool timed;                     /* epoch_ns is known */
	bool full;                      /* more tasks or descriptors than are kept */
	uint64_t next_handle;
	struct map locks;      /* (process, file): it holds record locks there */
	struct map attributes; /* (file, hash of the name): set by a call that was seen */
	struct bytes path, link, text, text2;
};

/* A call that has ended. */
struct call {
	struct task *task;
	struct text name;
	struct strace_args args;
	struct text value;
	bool has_result;
	int64_t result;
	uint64_t start_ns, end_ns; /* since the beginning of the list */
	uint64_t line;
	struct opened *closing; /* taken from the table when close() began */
};

/* A name in a directory, and what it stands for (see world_get()). Without a name: the directory. */
struct place {
	uint32_t dir, file;
	size_t size;
	char name[256];
};

/* ---- strace-import.c ---- */

/* Put it into the trace as done by this call; a second event of the same call takes no time. */
void import_event(struct import *im, struct call *c, struct event ev);
/* Something about this call was not understood. */
void import_complain(struct import *im, const struct call *c, const char *fmt, ...)
	attr_printf(3, 4);
/* A call that a trace does not hold. */
void import_note(struct import *im, struct text name);

static inline struct text place_name(const struct place *p)
{
	return (struct text){p->name, p->size};
}

static inline bool import_inside(const struct import *im, uint32_t file)
{
	return file < FILE_UNSEEN && world_file(im->world, file)->inside;
}

static inline uint64_t import_id(const struct import *im, uint32_t file)
{
	return file < FILE_UNSEEN ? world_file(im->world, file)->id : 0;
}

/* ---- strace-path.c ---- */

/* What argument `dir` (-1: none) and path argument `path` name. False: it is not known; if the call
 * failed because something on the way is missing, that has become an event. */
bool path_place(
	struct import *im, struct call *c, int dir, int path, bool follow, struct place *ret);
/* The same for bytes. */
bool path_walk(struct import *im, struct call *c, uint32_t base, struct text path, bool follow,
	struct place *ret);
/* The file of a place that must exist, `mode` being what is known of its type. */
uint32_t path_existing(struct import *im, struct call *c, struct place *p, uint32_t mode);
/* The name is not there: a look-up that failed. */
void path_missing(struct import *im, struct call *c, uint32_t dir, struct text name);
/* The open file of a descriptor argument; NULL: not one of a file. */
struct opened *path_opened(struct import *im, struct call *c, int arg);
/* What `struct stat` or `struct statx` in an argument shows of a file. */
void path_see_stat(struct import *im, struct call *c, uint32_t file, struct text st);

/* ---- strace-names.c, strace-data.c ---- */

/* True if the call is one of theirs. */
bool calls_names(struct import *im, struct call *c);
bool calls_data(struct import *im, struct call *c);

/* A descriptor is closed, by close() or otherwise; takes over the reference. */
void data_close(struct import *im, struct call *c, struct opened *o, bool failed);
/* All that a thread leaves behind. */
void data_exit(struct import *im, struct call *c);
/* Open and let the task have it. */
void names_opened(struct import *im, struct call *c, int fd, uint32_t file, uint64_t flags,
	uint64_t handle, bool directory);

/* Rows of the tables of calls. */
struct call_row {
	const char *name;
	void (*run)(struct import *im, struct call *c, const struct call_row *row);
	int dir, path; /* arguments; -1: none */
	int arg;       /* another one that the handler wants */
	int more;      /* what else it wants to know */
};
bool call_run(struct import *im, struct call *c, const struct call_row *rows, size_t count);

#endif

/* SPDX-License-Identifier: MIT */
/* From what an event does to names, files, handles and contents to the waits of its step. */
#ifndef ORDER_H
#define ORDER_H

#include "deps.h"
#include "event.h"
#include "scene.h"
#include "slots.h"

/* What an event is about, found once. */
struct subject {
	struct node *node, *node2; /* of ev->file, ev->file2 */
	struct open_file *handle, *handle2;
	struct node *dir, *dir2; /* whose names the call goes through, or NULL */
	struct text path;        /* the name in `dir` when that is not ev->name */
	bool kept;               /* through the descriptor that was kept of `node` */
	struct node *keeps;      /* the file of which one is kept now */
	bool by_path;            /* through (dir, path) because there is no handle */
	bool met;                /* create: the file was there */
	uint64_t size_before;    /* of the file that is written */
};

struct ordering {
	struct scene *scene; /* all borrowed */
	struct slots *slots;
	struct deps *deps;
	struct life dir_moves; /* renames of directories, against all that goes by path */
	bool has_phases;       /* the trace has marks */
	struct life phase;     /* marks, against everything */
};

static inline bool op_opens(enum op op)
{
	return op == OP_open || op == OP_create || op == OP_tmpfile || op == OP_opendir;
}

static inline bool op_releases(enum op op)
{
	return op == OP_release || op == OP_releasedir;
}

/* Between deps_begin() and deps_end(); the scene is as it was after the event. */
void order_event(struct ordering *o, const struct event *ev, const struct subject *s);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What exists at one point of a trace: files with their names, types and sizes, and open handles.
 *
 * Fed with the starting state and then with every event, in order. A trace may say anything: what
 * makes no sense changes nothing. Pointers are good until the thing is forgotten (scene_forget_*()).
 */
#ifndef SCENE_H
#define SCENE_H

#include "deps.h"
#include "event.h"
#include "map.h"
#include "tree.h"
#include "vec.h"

struct scene;

struct node_name {
	uint64_t dir;
	char *text;
};

/* Ranges that a program asked to have read ahead, and until when that is believed to go on. */
#define ADVICES 16
struct advices {
	struct {
		uint64_t start, end, until_ns;
	} at[ADVICES];
	uint64_t count; /* ever; the oldest gives way */
};

struct node {
	uint64_t id;
	uint64_t size;
	uint64_t resized_ns; /* when a call ended that last changed it */
	uint32_t mode;       /* type and permissions; 0 = nothing known */
	uint32_t dir_slot;   /* of a directory, once the plan uses it: SLOT_NONE before */
	uint64_t touched;    /* by the plan: number of the step */
	uint8_t file_class;
	bool mode_unknown;           /* an access control list changed it */
	VEC(struct node_name) names; /* the last one is the newest */
	struct open_file *handles;   /* open ones */
	struct life life;            /* of the file itself */
	struct life kept_life;       /* of the descriptor that was kept when the last name went, */
	uint32_t kept;               /* and its handle slot: SLOT_NONE = none */
	struct contents *contents;   /* made by node_contents() */
	struct advices *advices;     /* NULL: none yet */
};

struct open_file {
	uint64_t id;
	struct node *node;
	struct open_file *next; /* of the same node */
	uint32_t slot;
	uint32_t flags;      /* of its open */
	uint32_t thread;     /* the last to use it */
	uint64_t lock_owner; /* who locks through it; 0 = nobody */
	bool flocked;
	struct life life;
};

/* A name in a directory, whether a file has it or not. */
struct binding {
	struct node *node; /* NULL: no such name now */
	uint64_t touched;  /* by the plan: number of the step */
	struct life life;
};

struct scene *scene_new(void);
void scene_free(struct scene *m);

void scene_tree(struct scene *m, const struct tree_entry *entry);
/* What a successful event does to names, sizes and modes; failed ones change nothing. Handles are
 * the caller's: scene_open(), scene_close(). */
void scene_event(struct scene *m, const struct event *ev);
/* The same for an event whose ev->file is known to be `node`. */
void scene_event_on(struct scene *m, const struct event *ev, struct node *node);

struct node *scene_node(const struct scene *m, uint64_t id);
/* NULL if the trace never said anything about this name. */
struct binding *scene_binding(const struct scene *m, uint64_t dir, struct text name);
struct binding *scene_binding_new(struct scene *m, uint64_t dir, struct text name);
/* One component that can be looked up in a directory: not empty, ".", "..", nothing with '/' or NUL.
 * Events and entries with other names change nothing here. */
bool scene_name_ok(struct text name);
/* The same, however long. */
bool scene_name_plain(struct text name);
/* The key of a name, for scene_forget_binding(). */
uint64_t scene_name_hash(struct text name);

struct open_file *scene_handle(const struct scene *m, uint64_t id);
/* NULL if the id is taken or the file unknown. */
struct open_file *scene_open(struct scene *m, uint64_t id, struct node *node);
void scene_close(struct scene *m, struct open_file *file);

/* If it does not exist now and was not touched since step `since`. */
void scene_forget_node(struct scene *m, uint64_t id, uint64_t since);
void scene_forget_binding(struct scene *m, uint64_t dir, uint64_t hash, uint64_t since);

static inline struct contents *node_contents(struct node *node)
{
	if (!node->contents)
		node->contents = ALLOC(struct contents);
	return node->contents;
}

static inline bool node_is_dir(const struct node *node)
{
	return (node->mode & 0170000) == 0040000;
}

/* Every node, in no order, for comparing final states. */
void scene_each(const struct scene *m, void (*visit)(void *arg, struct node *node), void *arg);

#endif

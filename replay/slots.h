/* SPDX-License-Identifier: MIT */
/*
 * Which slot of the run-time tables a directory or a handle has, and when a slot may be used again:
 * once no unfinished step can refer to it. The same holds for what the scene remembers of names and
 * files that are gone.
 */
#ifndef SLOTS_H
#define SLOTS_H

#include "files.h"
#include "scene.h"

struct gone;

struct slots {
	struct scene *scene; /* borrowed */
	struct files *files; /* borrowed */
	uint64_t step;       /* number of the step at hand, kept by the owner */
	VEC(uint32_t) free_handles, free_dirs;
	uint32_t next_handle, next_dir;
	VEC(struct gone) gone; /* a queue from gone_head on */
	size_t gone_head;
};

void slots_init(struct slots *s, struct scene *scene, struct files *files);
void slots_done(struct slots *s);

/* The slot of a directory; at first use its way from the root is told to the run-time table.
 * SLOT_NONE if there is no way. */
uint32_t slots_dir(struct slots *s, struct node *dir);
/* SLOT_NONE when too many are open. */
uint32_t slots_handle(struct slots *s);

/* To be used again or forgotten once the step at hand and all before it are finished. */
void slots_retire_handle(struct slots *s, uint32_t slot);
void slots_retire_dir(struct slots *s, struct node *dir);
void slots_retire_name(struct slots *s, uint64_t dir, struct text name);
void slots_retire_node(struct slots *s, const struct node *node);
/* All steps before `oldest` are finished. */
void slots_reuse(struct slots *s, uint64_t oldest);

#endif

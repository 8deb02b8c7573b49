/* SPDX-License-Identifier: MIT */
#include "slots.h"

#include <string.h>

#define MAX_DEPTH 256
#define COMPACT   1024 /* entries of the queue that are done with before it is moved up */

enum gone_kind { GONE_HANDLE_SLOT, GONE_DIR_SLOT, GONE_NAME, GONE_NODE };

struct gone {
	enum gone_kind kind;
	uint64_t a, b;
	uint64_t after; /* number of the last step that may refer to it */
};

void slots_init(struct slots *s, struct scene *scene, struct files *files)
{
	*s = (struct slots){.scene = scene, .files = files, .next_dir = SLOT_ROOT + 1};
	scene_node(scene, TREE_ROOT)->dir_slot = SLOT_ROOT;
}

void slots_done(struct slots *s)
{
	vec_free(&s->free_handles);
	vec_free(&s->free_dirs);
	vec_free(&s->gone);
}

static uint32_t dir_slot(struct slots *s, struct node *dir, unsigned depth)
{
	if (dir->dir_slot != SLOT_NONE)
		return dir->dir_slot;
	if (!node_is_dir(dir) || dir->names.count == 0 || depth > MAX_DEPTH)
		return SLOT_NONE;
	const struct node_name *name = &dir->names.at[dir->names.count - 1];
	struct node *parent = scene_node(s->scene, name->dir);
	uint32_t up = parent ? dir_slot(s, parent, depth + 1) : SLOT_NONE;
	if (up == SLOT_NONE)
		return SLOT_NONE;
	dir->dir_slot = s->free_dirs.count ? s->free_dirs.at[--s->free_dirs.count] : s->next_dir++;
	files_dir_set(s->files, dir->dir_slot, up, name->text);
	return dir->dir_slot;
}

uint32_t slots_dir(struct slots *s, struct node *dir)
{
	return dir_slot(s, dir, 0);
}

uint32_t slots_handle(struct slots *s)
{
	if (s->free_handles.count > 0)
		return s->free_handles.at[--s->free_handles.count];
	return s->next_handle < FILES_MAX_HANDLES ? s->next_handle++ : SLOT_NONE;
}

static void retire(struct slots *s, enum gone_kind kind, uint64_t a, uint64_t b)
{
	vec_push(&s->gone, (struct gone){kind, a, b, s->step});
}

void slots_retire_handle(struct slots *s, uint32_t slot)
{
	retire(s, GONE_HANDLE_SLOT, slot, 0);
}

void slots_retire_dir(struct slots *s, struct node *dir)
{
	if (dir->dir_slot == SLOT_NONE || dir->dir_slot == SLOT_ROOT)
		return;
	retire(s, GONE_DIR_SLOT, dir->dir_slot, 0);
	dir->dir_slot = SLOT_NONE;
}

void slots_retire_name(struct slots *s, uint64_t dir, struct text name)
{
	retire(s, GONE_NAME, dir, scene_name_hash(name));
}

void slots_retire_node(struct slots *s, const struct node *node)
{
	retire(s, GONE_NODE, node->id, 0);
}

static void reuse(struct slots *s, const struct gone *g)
{
	switch (g->kind) {
	case GONE_HANDLE_SLOT:
		vec_push(&s->free_handles, (uint32_t)g->a);
		break;
	case GONE_DIR_SLOT:
		vec_push(&s->free_dirs, (uint32_t)g->a);
		break;
	case GONE_NAME:
		scene_forget_binding(s->scene, g->a, g->b, g->after);
		break;
	case GONE_NODE:
		scene_forget_node(s->scene, g->a, g->after);
		break;
	}
}

void slots_reuse(struct slots *s, uint64_t oldest)
{
	while (s->gone_head < s->gone.count && s->gone.at[s->gone_head].after < oldest)
		reuse(s, &s->gone.at[s->gone_head++]);
	if (s->gone_head > COMPACT && s->gone_head * 2 > s->gone.count) {
		s->gone.count -= s->gone_head;
		memmove(s->gone.at, s->gone.at + s->gone_head, s->gone.count * sizeof(*s->gone.at));
		s->gone_head = 0;
	}
}

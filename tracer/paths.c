/* SPDX-License-Identifier: MIT */
#include "paths.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "map.h"
#include "vec.h"

/* Files without a name whose last one is remembered; so memory follows the files that exist. */
#define GONE_MAX 16384
/* Longer paths (only a malformed trace has such) lose their beginning. */
#define PATH_ROOM 65536

struct node {
	uint64_t id, parent;
	char *name; /* NUL-terminated */
	size_t size;
	uint8_t class;
	bool directory, gone;
};

struct paths {
	struct map index; /* id -> place in nodes */
	VEC(struct node) nodes;
	VEC(size_t) unused; /* places in nodes */
	uint64_t gone[GONE_MAX];
	uint64_t gone_count;
	char room[PATH_ROOM + 1];
};

struct paths *paths_new(void)
{
	return ALLOC(struct paths);
}

void paths_free(struct paths *p)
{
	if (!p)
		return;
	vec_each (node, &p->nodes)
		free(node->name);
	vec_free(&p->nodes);
	vec_free(&p->unused);
	map_free(&p->index);
	free(p);
}

static struct node *node_of(const struct paths *p, uint64_t id)
{
	const uint64_t *at = map_get(&p->index, id, 0);

	return at ? &p->nodes.at[*at] : NULL;
}

static struct node *node_make(struct paths *p, uint64_t id)
{
	struct node *node = node_of(p, id);
	size_t at;

	if (node)
		return node;
	if (p->unused.count) {
		at = p->unused.at[--p->unused.count];
	} else {
		at = p->nodes.count;
		vec_push(&p->nodes, (struct node){0});
	}
	map_put(&p->index, id, 0, at);
	node = &p->nodes.at[at];
	*node = (struct node){.id = id};
	return node;
}

static void node_forget(struct paths *p, uint64_t id)
{
	struct node *node = node_of(p, id);

	if (!node || !node->gone)
		return;
	free(node->name);
	node->name = NULL;
	vec_push(&p->unused, (size_t)(node - p->nodes.at));
	map_del(&p->index, id, 0);
}

static bool node_has_name(const struct node *node, uint64_t dir, const struct text *name)
{
	return node->parent == dir && node->size == name->size && node->name &&
	       !memcmp(node->name, name->data, name->size);
}

static void name_set(struct paths *p, uint64_t id, uint64_t dir, const struct text *name)
{
	if (!id || id == TREE_ROOT || !name->size)
		return;
	struct node *node = node_make(p, id);
	node->gone = false;
	if (node_has_name(node, dir, name))
		return;
	node->parent = dir;
	node->size = name->size;
	node->name = xrealloc(node->name, name->size + 1, 1);
	memcpy(node->name, name->data, name->size);
	node->name[name->size] = '\0';
	node->class = (uint8_t)file_class_of(*name);
}

static void directory_set(struct paths *p, uint64_t id)
{
	struct node *node = node_of(p, id);

	if (node)
		node->directory = true;
}

/* It has no name; when as many as are remembered have none either, it is forgotten. */
static void node_gone(struct paths *p, struct node *node)
{
	uint64_t *slot = &p->gone[p->gone_count++ % GONE_MAX];
	uint64_t id = node->id;

	node->gone = true;
	if (*slot)
		node_forget(p, *slot);
	*slot = id;
}

/* The name is taken away; a file with other names may keep one of those. */
static void name_end(struct paths *p, uint64_t id, uint64_t dir, const struct text *name)
{
	struct node *node = node_of(p, id);

	if (node && !node->gone && node_has_name(node, dir, name))
		node_gone(p, node);
}

void paths_tree(struct paths *p, const struct tree_entry *entry)
{
	if (entry->again && node_of(p, entry->id))
		return;
	name_set(p, entry->id, entry->parent, &entry->name);
	if (S_ISDIR(entry->mode))
		directory_set(p, entry->id);
}

/* ---- events ---- */

static void follow_make(struct paths *p, const struct event *ev)
{
	name_set(p, ev->file, ev->dir, &ev->name);
}

/* Who makes a file without a name wants it for oneself, unless it gets one later. */
static void follow_tmpfile(struct paths *p, const struct event *ev)
{
	if (!ev->file || node_of(p, ev->file))
		return;
	struct node *node = node_make(p, ev->file);
	node->class = FILE_TEMP;
	node_gone(p, node);
}

static void follow_mkdir(struct paths *p, const struct event *ev)
{
	name_set(p, ev->file, ev->dir, &ev->name);
	directory_set(p, ev->file);
}

static void follow_end(struct paths *p, const struct event *ev)
{
	name_end(p, ev->file, ev->dir, &ev->name);
}

static void follow_rename(struct paths *p, const struct event *ev)
{
	if (ev->flags & RENAME_EXCHANGE)
		name_set(p, ev->file2, ev->dir, &ev->name);
	else
		name_end(p, ev->file2, ev->dir2, &ev->name2);
	name_set(p, ev->file, ev->dir2, &ev->name2);
}

static void follow_opendir(struct paths *p, const struct event *ev)
{
	directory_set(p, ev->file);
}

static void (*const follow[OP_LIMIT])(struct paths *p, const struct event *ev) = {
	[OP_lookup] = follow_make,
	[OP_mknod] = follow_make,
	[OP_mkdir] = follow_mkdir,
	[OP_symlink] = follow_make,
	[OP_link] = follow_make,
	[OP_create] = follow_make,
	[OP_tmpfile] = follow_tmpfile,
	[OP_unlink] = follow_end,
	[OP_rmdir] = follow_end,
	[OP_rename] = follow_rename,
	[OP_opendir] = follow_opendir,
};

void paths_event(struct paths *p, const struct event *ev)
{
	if (ev->result >= 0 && follow[ev->op])
		follow[ev->op](p, ev);
}

/* ---- questions ---- */

/* Put text before `at`; false when there is no room left. */
static bool prepend(char *room, size_t *at, const char *text, size_t size)
{
	if (size > *at)
		return false;
	*at -= size;
	memcpy(room + *at, text, size);
	return true;
}

static void prepend_id(struct paths *p, size_t *at, uint64_t id)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "#%llu", (unsigned long long)id);

	prepend(p->room, at, text, (size_t)n);
}

const char *paths_of(struct paths *p, uint64_t file)
{
	size_t at = PATH_ROOM;
	uint64_t id = file;

	p->room[PATH_ROOM] = '\0';
	if (file == TREE_ROOT)
		return ".";
	while (id != TREE_ROOT) {
		const struct node *node = node_of(p, id);
		if (at < PATH_ROOM && !prepend(p->room, &at, "/", 1))
			break;
		if (!node || !node->name) {
			prepend_id(p, &at, id);
			break;
		}
		if (!prepend(p->room, &at, node->name, node->size))
			break;
		id = node->parent;
	}
	return p->room + at;
}

enum file_class paths_class(const struct paths *p, uint64_t file)
{
	const struct node *node = node_of(p, file);

	if (file == TREE_ROOT || (node && node->directory))
		return FILE_DIRECTORY;
	return node ? (enum file_class)node->class : FILE_OTHER;
}

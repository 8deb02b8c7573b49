/* SPDX-License-Identifier: MIT */
#include "scene.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "fileclass.h"

struct scene {
	struct map nodes;    /* (id, 0) -> struct node * */
	struct map handles;  /* (id, 0) -> struct open_file * */
	struct map bindings; /* (directory id, hash of the name) -> struct binding * */
};

static void *map_pointer(const struct map *map, uint64_t a, uint64_t b)
{
	const uint64_t *value = map_get(map, a, b);

	return value ? (void *)(uintptr_t)*value : NULL;
}

static void map_put_pointer(struct map *map, uint64_t a, uint64_t b, void *p)
{
	map_put(map, a, b, (uint64_t)(uintptr_t)p);
}

bool scene_name_ok(struct text name)
{
	return name.size <= NAME_MAX && scene_name_plain(name);
}

bool scene_name_plain(struct text name)
{
	if (name.size == 0 || memchr(name.data, '/', name.size) ||
		memchr(name.data, '\0', name.size))
		return false;
	return !(
		name.data[0] == '.' && (name.size == 1 || (name.size == 2 && name.data[1] == '.')));
}

uint64_t scene_name_hash(struct text name)
{
	return XXH3_64bits(name.data, name.size);
}

struct node *scene_node(const struct scene *m, uint64_t id)
{
	return map_pointer(&m->nodes, id, 0);
}

struct open_file *scene_handle(const struct scene *m, uint64_t id)
{
	return map_pointer(&m->handles, id, 0);
}

struct binding *scene_binding(const struct scene *m, uint64_t dir, struct text name)
{
	return map_pointer(&m->bindings, dir, scene_name_hash(name));
}

struct binding *scene_binding_new(struct scene *m, uint64_t dir, struct text name)
{
	struct binding *b = scene_binding(m, dir, name);

	if (!b) {
		b = ALLOC(struct binding);
		map_put_pointer(&m->bindings, dir, scene_name_hash(name), b);
	}
	return b;
}

static struct node *node_new(struct scene *m, uint64_t id, uint32_t mode)
{
	struct node *node = ALLOC(struct node);

	node->id = id;
	node->mode = mode;
	node->dir_slot = SLOT_NONE;
	node->kept = SLOT_NONE;
	node->file_class = S_ISDIR(mode) ? FILE_DIRECTORY : FILE_OTHER;
	map_put_pointer(&m->nodes, id, 0, node);
	return node;
}

static void node_free(struct node *node)
{
	vec_each (name, &node->names)
		free(name->text);
	vec_free(&node->names);
	life_done(&node->life);
	life_done(&node->kept_life);
	if (node->contents)
		contents_done(node->contents);
	free(node->contents);
	free(node->advices);
	free(node);
}

static void classify(struct node *node, struct text name)
{
	if (!S_ISDIR(node->mode))
		node->file_class = (uint8_t)file_class_of(name);
}

static void drop_name(struct node *node, uint64_t dir, struct text name)
{
	for (size_t i = 0; i < node->names.count; i++) {
		struct node_name *n = &node->names.at[i];
		if (n->dir != dir || strlen(n->text) != name.size ||
			memcmp(n->text, name.data, name.size) != 0)
			continue;
		free(n->text);
		memmove(n, n + 1, (node->names.count - i - 1) * sizeof(*n));
		node->names.count--;
		return;
	}
}

static void unbind(struct scene *m, uint64_t dir, struct text name)
{
	struct binding *b = scene_binding(m, dir, name);

	if (b && b->node) {
		drop_name(b->node, dir, name);
		b->node = NULL;
	}
}

static void bind(struct scene *m, uint64_t dir, struct text name, struct node *node)
{
	if (!scene_name_ok(name))
		return;
	struct binding *b = scene_binding_new(m, dir, name);
	if (b->node == node)
		return;
	unbind(m, dir, name);
	b->node = node;
	char *text = xmalloc(name.size + 1);
	memcpy(text, name.data, name.size);
	text[name.size] = '\0';
	vec_push(&node->names, (struct node_name){dir, text});
	classify(node, name);
}

struct scene *scene_new(void)
{
	struct scene *m = ALLOC(struct scene);

	node_new(m, TREE_ROOT, S_IFDIR | 0755);
	return m;
}

static void free_pointers(struct map *map, void (*done)(void *))
{
	for (const struct map_slot *s = map_next(map, NULL); s; s = map_next(map, s))
		done((void *)(uintptr_t)s->value);
	map_free(map);
}

static void free_node(void *p)
{
	node_free(p);
}

static void free_binding(void *p)
{
	life_done(&((struct binding *)p)->life);
	free(p);
}

static void free_handle(void *p)
{
	life_done(&((struct open_file *)p)->life);
	free(p);
}

void scene_free(struct scene *m)
{
	if (!m)
		return;
	free_pointers(&m->nodes, free_node);
	free_pointers(&m->bindings, free_binding);
	free_pointers(&m->handles, free_handle);
	free(m);
}

void scene_tree(struct scene *m, const struct tree_entry *entry)
{
	struct node *node = scene_node(m, entry->id);

	if (!node)
		node = node_new(m, entry->id, (uint32_t)entry->mode);
	if (!entry->again) {
		node->mode = (uint32_t)entry->mode;
		node->size = entry->size;
	}
	if (entry->id != TREE_ROOT)
		bind(m, entry->parent, entry->name, node);
}

struct open_file *scene_open(struct scene *m, uint64_t id, struct node *node)
{
	if (!id || scene_handle(m, id))
		return NULL;
	struct open_file *file = ALLOC(struct open_file);
	file->id = id;
	file->node = node;
	file->next = node->handles;
	node->handles = file;
	map_put_pointer(&m->handles, id, 0, file);
	return file;
}

void scene_close(struct scene *m, struct open_file *file)
{
	struct open_file **at = &file->node->handles;

	while (*at != file)
		at = &(*at)->next;
	*at = file->next;
	map_del(&m->handles, file->id, 0);
	free_handle(file);
}

void scene_forget_node(struct scene *m, uint64_t id, uint64_t since)
{
	struct node *node = scene_node(m, id);

	if (!node || node->names.count || node->handles || node->touched > since ||
		node->kept != SLOT_NONE || id == TREE_ROOT)
		return;
	map_del(&m->nodes, id, 0);
	node_free(node);
}

void scene_forget_binding(struct scene *m, uint64_t dir, uint64_t hash, uint64_t since)
{
	struct binding *b = map_pointer(&m->bindings, dir, hash);

	if (!b || b->node || b->touched > since)
		return;
	map_del(&m->bindings, dir, hash);
	free_binding(b);
}

void scene_each(const struct scene *m, void (*visit)(void *arg, struct node *node), void *arg)
{
	for (const struct map_slot *s = map_next(&m->nodes, NULL); s; s = map_next(&m->nodes, s))
		visit(arg, (struct node *)(uintptr_t)s->value);
}

/* A file was made with this name, or met by it. */
static void made(struct scene *m, const struct event *ev, uint32_t mode)
{
	struct node *node = scene_node(m, ev->file);

	if (!ev->file)
		return;
	if (!node)
		node = node_new(m, ev->file, mode);
	if (ev->name.size)
		bind(m, ev->dir, ev->name, node);
}

/* A temporary file until it gets a name. */
static void made_nameless(struct scene *m, const struct event *ev)
{
	made(m, ev, S_IFREG | ((uint32_t)ev->mode & 07777));
	struct node *node = scene_node(m, ev->file);
	if (node && !node->names.count && !node_is_dir(node))
		node->file_class = FILE_TEMP;
}

static void renamed(struct scene *m, const struct event *ev)
{
	struct binding *from = scene_binding(m, ev->dir, ev->name);
	struct node *node = from ? from->node : scene_node(m, ev->file);

	if (!node ||
		(ev->dir == ev->dir2 && scene_name_hash(ev->name) == scene_name_hash(ev->name2)))
		return;
	struct binding *to = scene_binding(m, ev->dir2, ev->name2);
	struct node *other = to ? to->node : NULL;
	if (other == node) /* two links of one file: rename() does nothing */
		return;
	unbind(m, ev->dir, ev->name);
	unbind(m, ev->dir2, ev->name2);
	bind(m, ev->dir2, ev->name2, node);
	if ((ev->flags & RENAME_EXCHANGE) && other)
		bind(m, ev->dir, ev->name, other);
}

static void resized(struct node *node, const struct event *ev, uint64_t size)
{
	if (!node)
		return;
	node->size = size;
	node->resized_ns = event_end_ns(ev);
}

static void grow(struct node *node, const struct event *ev, uint64_t end)
{
	if (node && node->size < end && end <= INT64_MAX)
		resized(node, ev, end);
}

static void fallocated(struct node *node, const struct event *ev)
{
	if (ev->flags & (FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE | FALLOC_FL_COLLAPSE_RANGE |
				FALLOC_FL_INSERT_RANGE))
		return;
	grow(node, ev, ev->offset + ev->size);
}

static void chmoded(struct node *node, const struct event *ev)
{
	if (node)
		node->mode = (node->mode & S_IFMT) | ((uint32_t)ev->mode & 07777);
	if (node)
		node->mode_unknown = false;
}

/* Such lists are another way to set permissions, as cp -a does. */
static void attribute_changed(struct node *node, const struct event *ev)
{
	static const char acl[] = "system.posix_acl_access";

	if (node && ev->name.size == strlen(acl) && !memcmp(ev->name.data, acl, strlen(acl)))
		node->mode_unknown = true;
}

void scene_event(struct scene *m, const struct event *ev)
{
	scene_event_on(m, ev, ev->file ? scene_node(m, ev->file) : NULL);
}

void scene_event_on(struct scene *m, const struct event *ev, struct node *node)
{
	if (ev->result < 0)
		return;
	switch (ev->op) {
	case OP_mknod:
		made(m, ev, (uint32_t)ev->mode);
		break;
	case OP_mkdir:
		made(m, ev, S_IFDIR | ((uint32_t)ev->mode & 07777));
		break;
	case OP_symlink:
		made(m, ev, S_IFLNK | 0777);
		break;
	case OP_lookup:
		made(m, ev, 0);
		break;
	case OP_tmpfile:
		made_nameless(m, ev);
		break;
	case OP_create:
		made(m, ev, S_IFREG | ((uint32_t)ev->mode & 07777));
		if (ev->flags & O_TRUNC)
			resized(scene_node(m, ev->file), ev, 0);
		break;
	case OP_open:
		if (ev->flags & O_TRUNC)
			resized(node, ev, 0);
		break;
	case OP_link:
		made(m, ev, 0);
		break;
	case OP_unlink:
	case OP_rmdir:
		unbind(m, ev->dir, ev->name);
		break;
	case OP_rename:
		renamed(m, ev);
		break;
	case OP_write:
		grow(node, ev, ev->offset + (uint64_t)ev->result);
		break;
	case OP_copy_file_range:
		grow(scene_node(m, ev->file2), ev, ev->offset2 + (uint64_t)ev->result);
		break;
	case OP_fallocate:
		fallocated(node, ev);
		break;
	case OP_truncate:
		resized(node, ev, ev->size);
		break;
	case OP_chmod:
		chmoded(node, ev);
		break;
	case OP_setxattr:
	case OP_removexattr:
		attribute_changed(node, ev);
		break;
	case OP_getattr:
	case OP_readlink:
	case OP_read:
	case OP_flush:
	case OP_release:
	case OP_fsync:
	case OP_fdatasync:
	case OP_opendir:
	case OP_readdir:
	case OP_releasedir:
	case OP_fsyncdir:
	case OP_statfs:
	case OP_getxattr:
	case OP_listxattr:
	case OP_access:
	case OP_getlk:
	case OP_setlk:
	case OP_flock:
	case OP_chown:
	case OP_utimens:
	case OP_lseek:
	case OP_ioctl:
	case OP_sync_file_range:
	case OP_fadvise:
	case OP_readahead:
	case OP_syncfs:
	case OP_sync:
	case OP_mmap:
	case OP_munmap:
	case OP_msync:
	case OP_madvise:
	case OP_rwf:
	case OP_batch:
	case OP_request:
	case OP_fork:
	case OP_exec:
	case OP_exit:
	case OP_phase:
	case OP_LIMIT:
		break;
	}
}

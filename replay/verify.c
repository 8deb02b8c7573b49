/* SPDX-License-Identifier: MIT */
/*
 * Is the tree below the root the one that the trace ends with? Every name that the trace knows must
 * be there with its type, its size (regular files) and its permissions, and no name beside them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bulk.h"
#include "cleanup.h"
#include "digest.h"
#include "replay.h"
#include "scene.h"
#include "slots.h"

struct verify {
	struct scene *scene;
	struct slots slots;
	struct files *files;
	struct bulk *bulk; /* NULL: no data are stored */
	int differences;
	char *first; /* 256 bytes */
};

static void attr_printf(4, 5)
	differs(struct verify *v, int dir_fd, const char *name, const char *fmt, ...)
{
	char dir[160], what[80];
	va_list args;

	if (v->differences++ > 0)
		return;
	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	files_path(v->files, dir_fd, dir, sizeof(dir));
	bool in_root = !strcmp(dir, ".");
	snprintf(v->first, 256, "%.100s%s%.60s: %s", in_root ? "" : dir, in_root ? "" : "/", name,
		what);
}

/* Byte for byte, as far as the digest of the captured file is known. */
static void compare_data(struct verify *v, int dir_fd, const char *name, const struct node *node)
{
	const struct bulk_final *final = v->bulk ? bulk_final(v->bulk, node->id) : NULL;
	struct digest digest;

	if (!final || !S_ISREG(node->mode))
		return;
	auto_close int fd = files_open_beneath(dir_fd, name, O_RDONLY | O_NONBLOCK, 0);
	int r = fd < 0 ? fd : digest_file(&digest, fd);
	if (r < 0)
		differs(v, dir_fd, name, "it cannot be read: %s", strerror(-r));
	else if (memcmp(digest.bytes, final->digest, sizeof(digest.bytes)))
		differs(v, dir_fd, name, "other contents than in the capture");
}

static void compare(struct verify *v, int dir_fd, const char *name, const struct node *node)
{
	mode_t mask = 0777; /* set-id bits are not replayed unless owners are kept */
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		differs(v, dir_fd, name, "%s", strerror(errno));
	else if ((node->mode & S_IFMT) && (st.st_mode & S_IFMT) != (node->mode & S_IFMT))
		differs(v, dir_fd, name, "another type of file");
	else if (S_ISREG(node->mode) && (uint64_t)st.st_size != node->size)
		differs(v, dir_fd, name, "size %" PRIu64 " expected, %" PRIu64 " found", node->size,
			(uint64_t)st.st_size);
	else if ((node->mode & S_IFMT) && !S_ISLNK(node->mode) && !node->mode_unknown &&
		 (st.st_mode & mask) != (node->mode & mask))
		differs(v, dir_fd, name, "mode %o expected, %o found", node->mode & mask,
			st.st_mode & mask);
	else
		compare_data(v, dir_fd, name, node);
}

static void compare_names(struct verify *v, const struct node *node)
{
	vec_each (name, &node->names) {
		struct node *dir = scene_node(v->scene, name->dir);
		uint32_t slot = dir ? slots_dir(&v->slots, dir) : SLOT_NONE;
		int fd = slot == SLOT_NONE ? -ENOENT : files_dir_get(v->files, slot);
		if (fd < 0) {
			differs(v, -1, name->text, "its directory cannot be reached");
			continue;
		}
		compare(v, fd, name->text, node);
		files_dir_put(v->files, slot);
	}
}

/* Names that the trace knows nothing of. */
static void find_others(struct verify *v, const struct node *dir, int dir_fd)
{
	auto_close int fd = files_open_beneath(dir_fd, ".", O_RDONLY | O_DIRECTORY, 0);
	auto_closedir DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!d)
		return;
	(void)take_fd(fd);
	while ((entry = readdir(d))) {
		struct text name = {entry->d_name, strlen(entry->d_name)};
		if (!strcmp(name.data, ".") || !strcmp(name.data, "..") ||
			!strcmp(name.data, "lost+found"))
			continue;
		const struct binding *b = scene_binding(v->scene, dir->id, name);
		if (!b || !b->node)
			differs(v, dir_fd, name.data, "it should not be there");
	}
}

static void verify_node(void *arg, struct node *node)
{
	struct verify *v = arg;

	compare_names(v, node);
	uint32_t slot = node_is_dir(node) ? slots_dir(&v->slots, node) : SLOT_NONE;
	int fd = slot == SLOT_NONE ? -1 : files_dir_get(v->files, slot);
	if (fd < 0)
		return;
	find_others(v, node, fd);
	files_dir_put(v->files, slot);
}

static int read_scene(struct scene *scene, struct trace_reader *trace, struct error *err)
{
	struct tree_entry entry;
	struct event ev;
	int r = trace_reader_rewind(trace, err);

	if (r < 0)
		return r;
	while ((r = trace_reader_tree(trace, &entry, err)) == 1)
		scene_tree(scene, &entry);
	while (r == 0 && (r = trace_reader_next(trace, &ev, err)) == 1) {
		scene_event(scene, &ev);
		r = 0;
	}
	return r;
}

int replay_verify_state(struct trace_reader *trace, int root_fd, char first[256], struct error *err)
{
	struct verify v = {.first = first};
	int r = files_new(&v.files, root_fd, err);

	if (r < 0)
		return r;
	first[0] = '\0';
	v.scene = scene_new();
	slots_init(&v.slots, v.scene, v.files);
	r = bulk_of_trace(&v.bulk, trace, err);
	if (r == 0)
		r = read_scene(v.scene, trace, err);
	if (r == 0)
		scene_each(v.scene, verify_node, &v);
	slots_done(&v.slots);
	scene_free(v.scene);
	bulk_close(v.bulk);
	files_free(v.files);
	return r < 0 ? r : v.differences;
}

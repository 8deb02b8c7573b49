/* SPDX-License-Identifier: MIT */
/*
 * Making the starting state: every entry of the tree, below the root and nowhere else, with its
 * size, its holes, data of the content class that the capture saw, attributes, mode and time.
 *
 * Parents come before children. Modes and times of directories are set last: making children needs
 * the one and changes the other. Devices are left out, other attributes than user.* too.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "bulk.h"
#include "cleanup.h"
#include "clock.h"
#include "files.h"
#include "interrupt.h"
#include "io.h"
#include "map.h"
#include "payload.h"
#include "plan.h"
#include "progress.h"
#include "replay.h"
#include "scene.h"
#include "vec.h"

/* Where an entry was made: a directory's slot, or the first name of a file for its other links. */
struct made {
	uint32_t dir;  /* slot of the directory it lies in */
	uint32_t slot; /* its own, if it is a directory */
	uint64_t mtime_ns;
	mode_t mode;
	char *name;
};

struct prepare {
	struct files *files;
	struct payload *payload;
	struct bulk *bulk; /* NULL: no data are stored */
	void *room;        /* PAYLOAD_SIZE */
	const struct replay_options *options;
	struct map by_id; /* (id, 0) -> index in made */
	VEC(struct made) made;
	uint32_t next_slot;
	uint64_t entries;
};

static const struct made *made_of(const struct prepare *p, uint64_t id)
{
	const uint64_t *index = map_get(&p->by_id, id, 0);

	return index ? &p->made.at[*index] : NULL;
}

static int write_extent(
	const struct prepare *p, int fd, enum content content, const struct tree_extent *extent)
{
	uint64_t at = extent->offset, end = extent->offset + extent->size;

	while (at < end && !interrupted()) {
		uint64_t size = min_u64(end - at, PAYLOAD_SIZE);
		ssize_t n = pwrite(fd, payload_at(p->payload, content, at, size), size, (off_t)at);
		if (n < 0)
			return -errno;
		at += (uint64_t)n;
	}
	return interrupted() ? -EINTR : 0;
}

/* What the file had, as far as it is stored. */
static int write_stored(const struct prepare *p, int fd, const struct tree_entry *entry)
{
	size_t count;
	const struct bulk_place *place = bulk_file(p->bulk, entry->id, &count);

	for (size_t i = 0; i < count; i++, place++) {
		if (place->offset >= entry->size || interrupted())
			continue;
		uint64_t room = min_u64(PAYLOAD_SIZE, entry->size - place->offset);
		int64_t n = bulk_read(p->bulk, place->number, p->room, room);
		int r = n < 0 ? (int)n : pwrite_all(fd, p->room, (size_t)n, (off_t)place->offset);
		if (r < 0)
			return r;
	}
	return interrupted() ? -EINTR : 0;
}

static int fill_file(const struct prepare *p, int fd, const struct tree_entry *entry)
{
	enum content content = (enum content)min_u64(entry->content, CONTENT_LIMIT);
	int r = 0;

	if (entry->size > INT64_MAX)
		return -EFBIG;
	for (size_t i = 0; i < entry->extent_count && r == 0; i++) {
		const struct tree_extent *e = &entry->extents[i];
		if (e->offset > entry->size || e->size > entry->size - e->offset)
			return -EINVAL;
		r = write_extent(p, fd, content, e);
	}
	if (r == 0 && p->bulk)
		r = write_stored(p, fd, entry);
	if (r == 0 && ftruncate(fd, (off_t)entry->size) < 0)
		r = -errno;
	return r;
}

static int set_attributes(int fd, const struct tree_entry *entry)
{
	for (size_t i = 0; i < entry->xattr_count; i++) {
		const struct tree_xattr *x = &entry->xattrs[i];
		char name[256];
		if (x->name.size >= sizeof(name) || x->name.size < 6 ||
			memcmp(x->name.data, "user.", 5) != 0)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)x->name.size, x->name.data);
		/* Where the file system has none, the replay will say so call by call. */
		if (fsetxattr(fd, name, x->value.data, x->value.size, 0) < 0 && errno != EOPNOTSUPP)
			return -errno;
	}
	return 0;
}

static mode_t permissions(const struct prepare *p, const struct tree_entry *entry)
{
	return (mode_t)entry->mode & (p->options->keep_owners ? 07777 : 01777);
}

static int set_owner_and_mode(const struct prepare *p, int fd, const struct tree_entry *entry)
{
	if (p->options->keep_owners && fchown(fd, (uid_t)entry->uid, (gid_t)entry->gid) < 0)
		return -errno;
	return fchmod(fd, permissions(p, entry)) < 0 ? -errno : 0;
}

static void times_of(uint64_t mtime_ns, struct timespec times[2])
{
	times[0] = times[1] = (struct timespec){
		(time_t)(mtime_ns / NSEC_PER_SEC), (long)(mtime_ns % NSEC_PER_SEC)};
}

static int make_file(
	const struct prepare *p, int dir_fd, const char *name, const struct tree_entry *entry)
{
	auto_close int fd = files_open_beneath(dir_fd, name, O_RDWR | O_CREAT | O_EXCL, 0600);
	struct timespec times[2];

	if (fd < 0)
		return fd;
	int r = fill_file(p, fd, entry);
	if (r == 0)
		r = set_attributes(fd, entry);
	if (r == 0)
		r = set_owner_and_mode(p, fd, entry);
	times_of(entry->mtime_ns, times);
	if (r == 0 && futimens(fd, times) < 0)
		r = -errno;
	return r;
}

static int make_directory(
	const struct prepare *p, int dir_fd, const char *name, const struct tree_entry *entry)
{
	if (mkdirat(dir_fd, name, 0700) < 0)
		return -errno;
	auto_close int fd = files_open_beneath(dir_fd, name, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return fd;
	if (p->options->keep_owners && fchown(fd, (uid_t)entry->uid, (gid_t)entry->gid) < 0)
		return -errno;
	return set_attributes(fd, entry);
}

static int make_link_target(int dir_fd, const char *name, const struct tree_entry *entry)
{
	auto_free char *target = xasprintf("%.*s", (int)entry->target.size, entry->target.data);

	return symlinkat(target, dir_fd, name) < 0 ? -errno : 0;
}

static int make_again(
	const struct prepare *p, int dir_fd, const char *name, const struct tree_entry *entry)
{
	const struct made *first = made_of(p, entry->id);

	if (!first || first->slot != SLOT_NONE)
		return -EINVAL;
	int first_fd = files_dir_get(p->files, first->dir);
	if (first_fd < 0)
		return first_fd;
	int r = linkat(first_fd, first->name, dir_fd, name, 0) < 0 ? -errno : 0;
	files_dir_put(p->files, first->dir);
	return r;
}

static int make_node(
	const struct prepare *p, int dir_fd, const char *name, const struct tree_entry *entry)
{
	if (entry->again)
		return make_again(p, dir_fd, name, entry);
	switch (entry->mode & S_IFMT) {
	case S_IFREG:
		return make_file(p, dir_fd, name, entry);
	case S_IFDIR:
		return make_directory(p, dir_fd, name, entry);
	case S_IFLNK:
		return make_link_target(dir_fd, name, entry);
	case S_IFIFO:
	case S_IFSOCK:
	case S_IFCHR: /* devices by their type alone: no driver has the number 0:0 */
	case S_IFBLK:
		return mknodat(dir_fd, name, ((mode_t)entry->mode & S_IFMT) | permissions(p, entry),
			       0) < 0
		               ? -errno
		               : 0;
	}
	return 0;
}

/* Remember where it is: directories for their children, files for their other links. */
static void remember(
	struct prepare *p, uint32_t dir, const char *name, const struct tree_entry *entry)
{
	struct made made = {dir, SLOT_NONE, entry->mtime_ns, permissions(p, entry), NULL};

	if (entry->again)
		return;
	if (S_ISDIR(entry->mode)) {
		made.slot = p->next_slot++;
		files_dir_set(p->files, made.slot, dir, name);
	} else {
		made.name = xstrdup(name);
	}
	map_put(&p->by_id, entry->id, 0, p->made.count);
	vec_push(&p->made, made);
}

static int make_entry(struct prepare *p, const struct tree_entry *entry, struct error *err)
{
	auto_free char *name = xasprintf("%.*s", (int)entry->name.size, entry->name.data);
	const struct made *parent = made_of(p, entry->parent);

	if (!scene_name_ok(entry->name) || !parent || parent->slot == SLOT_NONE)
		return error_set(err, 0,
			"entry %" PRIu64 " of the trace's tree ('%.40s') is malformed", p->entries,
			name);
	uint32_t dir = parent->slot;
	int dir_fd = files_dir_get(p->files, dir);
	int r = dir_fd < 0 ? dir_fd : make_node(p, dir_fd, name, entry);
	if (dir_fd >= 0)
		files_dir_put(p->files, dir);
	if (r == -EINTR)
		return error_set(err, EINTR, "interrupted");
	if (r < 0)
		return error_errno(err, r, "cannot make '%s' of the trace's starting state", name);
	remember(p, dir, name, entry);
	return 0;
}

static void finish_directories(struct prepare *p)
{
	for (size_t i = p->made.count; i-- > 1;) {
		const struct made *made = &p->made.at[i];
		int fd = made->slot == SLOT_NONE ? -1 : files_dir_get(p->files, made->slot);
		struct timespec times[2];
		if (fd < 0)
			continue;
		times_of(made->mtime_ns, times);
		(void)fchmodat(fd, ".", made->mode, 0);
		(void)utimensat(fd, ".", times, 0);
		files_dir_put(p->files, made->slot);
	}
}

static int make_entries(struct prepare *p, struct trace_reader *trace, struct error *err)
{
	struct progress progress;
	struct tree_entry entry;
	int r = trace_reader_rewind(trace, err);

	progress_start(&progress, "prepare", 0);
	while (r == 0 && (r = trace_reader_tree(trace, &entry, err)) == 1) {
		r = entry.id == TREE_ROOT ? 0 : make_entry(p, &entry, err);
		progress_update(&progress, ++p->entries);
	}
	progress_end(&progress);
	return r;
}

int replay_prepare(struct trace_reader *trace, int root_fd, const struct replay_options *options,
	struct error *err)
{
	struct prepare p = {.options = options, .next_slot = SLOT_ROOT + 1};
	int r = files_new(&p.files, root_fd, err);

	if (r == 0)
		r = bulk_of_trace(&p.bulk, trace, err);
	if (r < 0) {
		files_free(p.files);
		return r;
	}
	p.room = xmalloc(PAYLOAD_SIZE);
	p.payload = payload_new();
	map_put(&p.by_id, TREE_ROOT, 0, 0);
	vec_push(&p.made, (struct made){.slot = SLOT_ROOT});
	r = make_entries(&p, trace, err);
	if (r == 0)
		finish_directories(&p);
	vec_each (made, &p.made)
		free(made->name);
	vec_free(&p.made);
	map_free(&p.by_id);
	payload_free(p.payload);
	bulk_close(p.bulk);
	free(p.room);
	files_free(p.files);
	return r;
}

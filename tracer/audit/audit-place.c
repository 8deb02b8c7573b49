/* SPDX-License-Identifier: MIT */
/*
 * A path is walked by its components, counting how deep it is below a known directory: the root, one
 * of the directories above the mount, or the root of the mount. Of a directory inside the mount it is
 * not known how deep it is: a path that climbs out of it may or may not leave, and counts as leaving.
 */
#include "audit-place.h"

#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "vec.h"

#define MOUNT_ROOT 1 /* FUSE's number of it */

struct above {
	uint64_t ino;
	const char *name; /* of the next directory on the way down to the mount */
	size_t name_size;
};

struct audit_place {
	char *dir;
	uint32_t device;
	VEC(struct above) above; /* from the root; the mount itself is not among them */
};

static const char *component(const char *path, size_t *ret_size)
{
	path += strspn(path, "/");
	*ret_size = strcspn(path, "/");
	return path;
}

struct audit_place *audit_place_new(const char *dir, uint32_t device)
{
	struct audit_place *p = ALLOC(struct audit_place);
	size_t size;

	p->dir = xstrdup(dir);
	p->device = device;
	for (const char *at = component(p->dir, &size); size; at = component(at + size, &size)) {
		auto_free char *path = xasprintf("%.*s", (int)(at - p->dir), p->dir);
		struct stat st = {0};
		stat(path, &st);
		vec_push(&p->above, (struct above){st.st_ino, at, size});
	}
	return p;
}

void audit_place_free(struct audit_place *p)
{
	if (!p)
		return;
	vec_free(&p->above);
	free(p->dir);
	free(p);
}

/*
 * Where a path ends that starts `depth` directories below the root, on the way to the mount or in it
 * (depth >= above.count). Off the way it can only come back by "..".
 */
static bool walk(const struct audit_place *p, const char *path, size_t depth)
{
	size_t size, astray = 0;

	for (path = component(path, &size); size; path = component(path + size, &size)) {
		bool up = size == 2 && !memcmp(path, "..", 2);
		if (size == 1 && *path == '.')
			continue;
		if (astray) {
			astray += up ? (size_t)-1 : 1;
		} else if (up) {
			depth -= depth > 0;
		} else if (depth >= p->above.count) {
			depth++;
		} else {
			const struct above *next = &p->above.at[depth];
			bool on_way = size == next->name_size && !memcmp(path, next->name, size);
			depth += on_way;
			astray = !on_way;
		}
	}
	return !astray && depth >= p->above.count;
}

/* From inside the mount, at a depth that is not known. */
static bool stays(const char *path)
{
	long depth = 0;
	size_t size;

	for (path = component(path, &size); size && depth >= 0;
		path = component(path + size, &size)) {
		if (size == 2 && !memcmp(path, "..", 2))
			depth--;
		else if (!(size == 1 && *path == '.'))
			depth++;
	}
	return depth >= 0;
}

bool audit_place_has(const struct audit_place *p, const struct probe_file *start, const char *path)
{
	if (*path == '/')
		return walk(p, path, 0);
	if (start->dev == p->device)
		return start->ino == MOUNT_ROOT ? walk(p, path, p->above.count) : stays(path);
	for (size_t i = 0; i < p->above.count; i++)
		if (start->ino == p->above.at[i].ino)
			return walk(p, path, i);
	return false;
}

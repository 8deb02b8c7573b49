/* SPDX-License-Identifier: MIT */
#include "audit-place.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "vec.h"

#define DEVICE 77

static bool has(const char *dir, struct probe_file start, const char *path)
{
	struct audit_place *p = audit_place_new(dir, DEVICE);
	bool result = audit_place_has(p, &start, path);

	audit_place_free(p);
	return result;
}

static const struct probe_file away = {.dev = 1, .ino = UINT64_MAX};

TEST(absolute_paths)
{
	CHECK(has("/a/db", away, "/a/db"));
	CHECK(has("/a/db", away, "/a/db/"));
	CHECK(has("/a/db", away, "//a/./db/x/y"));
	CHECK(has("/a/db", away,
		"/a/db/x/../.."
		"/db/z"));
	CHECK(has("/a/db", away, "/b/../a/db/x"));
	CHECK(!has("/a/db", away, "/a"));
	CHECK(!has("/a/db", away, "/a/dbx/f"));
	CHECK(!has("/a/db", away, "/a/db/../x"));
	CHECK(!has("/a/db", away, "/b/a/db"));
	CHECK(!has("/a/db", away, "/a/b/c/../db"));
	CHECK(has("/a/db", away, "/../a/db"));
}

TEST(paths_from_inside)
{
	const struct probe_file root = {.dev = DEVICE, .ino = 1}, below = {.dev = DEVICE, .ino = 9};

	CHECK(has("/a/db", below, "x"));
	CHECK(has("/a/db", below, ""));
	CHECK(has("/a/db", below, "x/../y"));
	CHECK(!has("/a/db", below, "../y"));
	CHECK(has("/a/db", root, "x"));
	CHECK(!has("/a/db", root, "../y"));
	CHECK(has("/a/db", root, "../db/y"));
	CHECK(!has("/a/db", away, "x"));
}

TEST(paths_from_above)
{
	char dir[] = "/tmp/test-audit-XXXXXX";
	struct stat st;

	if (!CHECK(mkdtemp(dir) && !stat(dir, &st)))
		return;
	char *mount = xasprintf("%s/sub/db", dir);
	const struct probe_file above = {.dev = 1, .ino = st.st_ino};
	CHECK(has(mount, above, "sub/db/x"));
	CHECK(has(mount, above, "./sub//db"));
	CHECK(!has(mount, above, "sub/x"));
	CHECK(!has(mount, above, "db"));
	free(mount);
	rmdir(dir);
}

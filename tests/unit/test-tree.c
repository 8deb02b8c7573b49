/* SPDX-License-Identifier: MIT */
/* The starting state: scanned from a real directory, stored in a trace, read back the same. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "check.h"
#include "cleanup.h"
#include "content.h"
#include "io.h"
#include "reader.h"
#include "tree.h"
#include "vec.h"
#include "writer.h"

static void write_file(int dir, const char *name, size_t size, off_t at)
{
	auto_close int fd = openat(dir, name, O_CREAT | O_WRONLY, 0640);
	auto_free char *data = xmalloc(size);

	content_fill(CONTENT_RANDOM, (uint64_t)at + 7, data, size);
	CHECK_EQ(pwrite_all(fd, data, size, at), 0);
}

/* An entry as one line, so that two walks can be compared. */
static void describe(const struct tree_entry *e, char *line, size_t room)
{
	int n = snprintf(line, room, "%llu<%llu '%.*s' mode %llo size %llu%s",
		(unsigned long long)e->id, (unsigned long long)e->parent, (int)e->name.size,
		e->name.data, (unsigned long long)e->mode, (unsigned long long)e->size,
		e->again ? " again" : "");

	if (e->target.size)
		n += snprintf(line + n, room - (size_t)n, " -> %.*s", (int)e->target.size,
			e->target.data);
	for (size_t i = 0; i < e->extent_count; i++)
		n += snprintf(line + n, room - (size_t)n, " [%llu+%llu]",
			(unsigned long long)e->extents[i].offset,
			(unsigned long long)e->extents[i].size);
	for (size_t i = 0; i < e->xattr_count; i++)
		n += snprintf(line + n, room - (size_t)n, " %.*s=%.*s", (int)e->xattrs[i].name.size,
			e->xattrs[i].name.data, (int)e->xattrs[i].value.size,
			e->xattrs[i].value.data);
	if (e->content)
		snprintf(line + n, room - (size_t)n, " %s", content_name((enum content)e->content));
}

struct listing {
	VEC(char *) lines;
	uint64_t ids;
	struct trace_writer *writer;
};

static uint64_t ident(void *arg, uint64_t dev, uint64_t ino, int path_fd)
{
	struct listing *l = arg;
	struct stat st;

	CHECK(!fstat(path_fd, &st) && st.st_dev == dev && st.st_ino == ino);
	return ++l->ids;
}

static int emit(void *arg, const struct tree_entry *entry, struct error *err)
{
	struct listing *l = arg;
	char line[1000];

	describe(entry, line, sizeof(line));
	vec_push(&l->lines, xstrdup(line));
	return l->writer ? trace_writer_tree(l->writer, entry, err) : 0;
}

static void listing_free(struct listing *l)
{
	vec_each (line, &l->lines)
		free(*line);
	vec_free(&l->lines);
}

static bool has_line(const struct listing *l, const char *line)
{
	vec_each (have, &l->lines)
		if (!strcmp(*have, line))
			return true;
	fprintf(stderr, "no line: %s\n", line);
	return false;
}

static bool make_samples(int dir, const char *path)
{
	auto_free char *file = xasprintf("%s/d", path);
	bool xattrs = !setxattr(file, "user.color", "red", 3, 0);

	write_file(dir, "b", 5000, 0);
	linkat(dir, "b", dir, "c", 0);
	symlinkat("d/../b", dir, "s");
	mkfifoat(dir, "p", 0600);
	write_file(dir, "holes", 4096, 1 << 20);
	write_file(dir, "holes", 4096, 4 << 20);
	return xattrs;
}

TEST(scan_sees_all_kinds_and_a_trace_keeps_them)
{
	struct error err = {0};
	char *path = make_temp_dir(&err);
	auto_free char *trace = xasprintf("%s.reel", path);
	struct listing l = {0};
	struct tree_visitor v = {ident, emit, &l};
	struct trace_reader *r = NULL;
	struct tree_entry e;
	char line[1000];
	size_t i = 0;

	umask(022);
	auto_close int dir = open(path, O_RDONLY | O_DIRECTORY);
	CHECK_EQ(mkdirat(dir, "d", 0750), 0);
	bool xattrs = make_samples(dir, path);
	CHECK_EQ(trace_writer_open(&l.writer, trace, NULL, &err), 0);
	CHECK_EQ(tree_scan(dir, &v, &err), 0);
	CHECK_EQ(trace_writer_close(l.writer, NULL, &err), 0);
	CHECK_EQ(l.lines.count, 7);
	CHECK(has_line(&l, "2<1 'b' mode 100640 size 5000 [0+5000] random"));
	CHECK(has_line(&l, "2<1 'c' mode 0 size 0 again"));
	CHECK(has_line(&l,
		xattrs ? "3<1 'd' mode 40750 size 0 user.color=red" : "3<1 'd' mode 40750 size 0"));
	CHECK(has_line(&l, "4<1 'holes' mode 100640 size 4198400 [1048576+4096] [4194304+4096] "
			   "random"));
	CHECK(has_line(&l, "5<1 'p' mode 10600 size 0"));
	CHECK(has_line(&l, "6<1 's' mode 120777 size 0 -> d/../b"));

	CHECK_EQ(trace_reader_open(&r, trace, &err), 0);
	while (trace_reader_tree(r, &e, &err) > 0 && i < l.lines.count) {
		describe(&e, line, sizeof(line));
		CHECK_EQ(line, l.lines.at[i++]);
	}
	CHECK_EQ(i, l.lines.count);
	trace_reader_close(r);
	listing_free(&l);
	unlink(trace);
	remove_tree(path);
	free(path);
}

#define DEPTH 3000

/* Deeper than descriptors or PATH_MAX allow to hold or name. */
TEST(deep_trees_are_walked)
{
	struct error err = {0};
	char *path = make_temp_dir(&err);
	struct listing l = {0};
	struct tree_visitor v = {ident, emit, &l};
	auto_close int root = open(path, O_RDONLY | O_DIRECTORY);
	int dir = dup(root);

	for (int i = 0; i < DEPTH; i++) {
		CHECK(!mkdirat(dir, "sub", 0755));
		int sub = openat(dir, "sub", O_RDONLY | O_DIRECTORY);
		close(dir);
		dir = sub;
	}
	write_file(dir, "bottom", 10, 0);
	close(dir);
	CHECK_EQ(tree_scan(root, &v, &err), 0);
	CHECK_EQ(l.lines.count, DEPTH + 2);
	CHECK_EQ(l.lines.at[DEPTH + 1], "3002<3001 'bottom' mode 100640 size 10 [0+10] random");
	listing_free(&l);
	/* Too deep for nftw(): from the top, each level moved up before its parent goes. */
	renameat(root, "sub", root, "a");
	for (bool more = true; more;) {
		more = !renameat(root, "a/sub", root, "b");
		unlinkat(root, "a/bottom", 0);
		CHECK_EQ(unlinkat(root, "a", AT_REMOVEDIR), 0);
		if (more)
			CHECK_EQ(renameat(root, "b", root, "a"), 0);
	}
	CHECK_EQ(remove_tree(path), 0);
	free(path);
}

static int refuse(void *arg, const struct tree_entry *entry, struct error *err)
{
	return entry->parent ? error_set(err, ENOSPC, "full") : 0;
}

TEST(a_visitor_that_fails_stops_the_walk)
{
	struct error err = {0};
	char *path = make_temp_dir(&err);
	struct listing l = {0};
	struct tree_visitor v = {ident, refuse, &l};
	auto_close int dir = open(path, O_RDONLY | O_DIRECTORY);

	write_file(dir, "a", 1, 0);
	write_file(dir, "b", 1, 0);
	CHECK_EQ(tree_scan(dir, &v, &err), -ENOSPC);
	CHECK_EQ(err.text, "full");
	CHECK_EQ(l.ids, 2);
	auto_close int null = open("/dev/null", O_RDONLY);
	CHECK_EQ(tree_scan(null, &v, &err), -ENOTDIR);
	remove_tree(path);
	free(path);
}

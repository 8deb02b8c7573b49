/* SPDX-License-Identifier: MIT */
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "cleanup.h"
#include "vec.h"

static char *dir(void)
{
	struct error err;
	char *path = make_temp_dir(&err);

	if (!CHECK(path != NULL))
		fprintf(stderr, "%s\n", err.text);
	return path;
}

TEST(whole_writes_and_reads)
{
	auto_free char *at = dir();
	auto_free char *path = xasprintf("%s/file", at);
	auto_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	char back[16] = "";

	CHECK_EQ(write_all(fd, "hello ", 6), 0);
	CHECK_EQ(pwrite_all(fd, "world", 5, 6), 0);
	CHECK_EQ(pread_full(fd, back, sizeof(back), 0), 11);
	CHECK_EQ(back, "hello world");
	CHECK_EQ(pread_full(fd, back, 5, 6), 5);
	lseek(fd, 0, SEEK_SET);
	CHECK_EQ(read_full(fd, back, 100 > sizeof(back) ? sizeof(back) : 100), 11);
	CHECK_EQ(write_all(-1, "x", 1), -EBADF);
	CHECK_EQ(pread_full(-1, back, 1, 0), -EBADF);
	CHECK_EQ(remove_tree(at), 0);
}

TEST(text_loses_its_last_newline)
{
	auto_free char *at = dir();
	auto_free char *path = xasprintf("%s/file", at);
	auto_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	CHECK_EQ(write_all(fd, "a\nb\n", 4), 0);
	auto_free char *text = read_text(path);
	CHECK_EQ(text, "a\nb");
	CHECK(read_text("/no/such/file") == NULL);
	CHECK_EQ(remove_tree(at), 0);
}

/* Removal must not follow links out of the tree. */
TEST(remove_tree_stays_inside)
{
	auto_free char *inside = dir();
	auto_free char *outside = dir();
	auto_free char *kept = xasprintf("%s/kept", outside);
	auto_free char *link = xasprintf("%s/sub/link", inside);
	auto_free char *sub = xasprintf("%s/sub", inside);

	CHECK_EQ(mkdir(kept, 0700), 0);
	CHECK_EQ(mkdir(sub, 0700), 0);
	CHECK_EQ(symlink(outside, link), 0);
	CHECK_EQ(remove_tree(inside), 0);
	CHECK_EQ(access(inside, F_OK), -1);
	CHECK_EQ(access(kept, F_OK), 0);
	CHECK_EQ(remove_tree(outside), 0);
	CHECK_EQ(remove_tree(outside), -ENOENT);
}

/* A trace can make directories deeper than a path may be long, or than descriptors last. */
TEST(remove_tree_of_any_depth)
{
	auto_free char *at = dir();
	auto_close int deep = open(at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *name = "a-name-of-some-length-so-that-the-path-is-soon-too-long-for-one-call";

	for (int i = 0; i < 500; i++) {
		if (!CHECK_EQ(mkdirat(deep, name, 0700), 0))
			return;
		int next = openat(deep, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(openat(deep, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
		close(deep);
		deep = next;
	}
	CHECK_EQ(remove_tree(at), 0);
	CHECK_EQ(access(at, F_OK), -1);
}

TEST(remove_tree_that_denies_entry)
{
	auto_free char *at = dir();
	auto_free char *sub = xasprintf("%s/sub", at);
	auto_free char *file = xasprintf("%s/file", sub);

	CHECK_EQ(mkdir(sub, 0700), 0);
	CHECK_EQ(mkdir(file, 0), 0);
	CHECK_EQ(chmod(sub, 0), 0);
	CHECK_EQ(remove_tree(at), 0);
}

/* What a replay left behind need not be open to its owner. */
TEST(remove_tree_opens_closed_directories)
{
	static const mode_t modes[] = {0, 0400, 0500, 0300};
	auto_free char *top = dir();

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		auto_free char *sub = xasprintf("%s/%zu", top, i);
		auto_free char *below = xasprintf("%s/below", sub);
		CHECK_EQ(mkdir(sub, 0700), 0);
		CHECK_EQ(mkdir(below, 0700), 0);
		CHECK_EQ(chmod(below, modes[i]), 0);
		CHECK_EQ(chmod(sub, modes[i]), 0);
	}
	CHECK_EQ(remove_tree(top), 0);
	CHECK_EQ(access(top, F_OK), -1);
}

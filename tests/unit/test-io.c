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

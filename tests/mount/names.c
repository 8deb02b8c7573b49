/* SPDX-License-Identifier: MIT */
/* Names, directories, links, and which file is which. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "check.h"
#include "process.h"

static void put(const char *name, const char *text)
{
	int fd = must_open(name, O_CREAT | O_WRONLY | O_TRUNC, 0644);

	CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void check_text(const char *name, const char *text)
{
	char got[64] = {0};
	int fd = open(name, O_RDONLY);

	if (!CHECK(fd >= 0))
		return;
	CHECK(read(fd, got, sizeof(got) - 1) >= 0);
	CHECK_EQ((const char *)got, text);
	close(fd);
}

TEST(a_replaced_file_lives_on_in_who_has_it_open)
{
	struct stat st;
	char c;

	put("old", "OLD");
	put("new", "NEW");
	int fd = must_open("old", O_RDWR, 0);
	CHECK_EQ(rename("new", "old"), 0);
	CHECK_EQ(pread(fd, &c, 1, 0), 1);
	CHECK_EQ(c, 'O');
	CHECK_EQ(pwrite(fd, "o", 1, 0), 1);
	CHECK_EQ(fstat(fd, &st), 0);
	CHECK_EQ(st.st_nlink, 0);
	check_text("old", "NEW");
	close(fd);
}

TEST(renames_that_exchange_or_refuse)
{
	put("left", "L");
	put("right", "R");
	CHECK_EQ(renameat2(AT_FDCWD, "left", AT_FDCWD, "right", RENAME_EXCHANGE), 0);
	check_text("left", "R");
	check_text("right", "L");
	CHECK_EQ(renameat2(AT_FDCWD, "left", AT_FDCWD, "right", RENAME_NOREPLACE), -1);
	CHECK_EQ(errno, EEXIST);
	CHECK_EQ(unlink("right"), 0);
	CHECK_EQ(renameat2(AT_FDCWD, "left", AT_FDCWD, "right", RENAME_NOREPLACE), 0);
	check_text("right", "R");
}

TEST(a_directory_moves_with_what_is_open_in_it)
{
	struct stat st;

	CHECK_EQ(mkdir("here", 0755), 0);
	int fd = must_open("here/file", O_CREAT | O_RDWR, 0644);
	CHECK_EQ(rename("here", "there"), 0);
	CHECK_EQ(write(fd, "x", 1), 1);
	CHECK_EQ(access("here/file", F_OK), -1);
	CHECK_EQ(stat("there/file", &st), 0);
	CHECK_EQ(st.st_size, 1);
	CHECK_EQ(mkdir("here", 0755), 0);
	put("here/file", "");
	CHECK_EQ(stat("there/file", &st), 0);
	CHECK_EQ(st.st_size, 1);
	close(fd);
}

TEST(a_new_file_is_never_taken_for_one_that_is_gone)
{
	char name[32], text[32], got[32];

	/* File systems give the inode number of the last removed file to the next one. */
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "gen%d", i % 3);
		snprintf(text, sizeof(text), "text %d", i);
		int fd = must_open(name, O_CREAT | O_EXCL | O_RDWR, 0644);
		CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
		CHECK_EQ(unlink(name), 0);
		memset(got, 0, sizeof(got));
		CHECK_EQ(pread(fd, got, sizeof(got), 0), (ssize_t)strlen(text));
		CHECK_EQ((const char *)got, (const char *)text);
		close(fd);
	}
}

TEST(hard_links_are_one_file)
{
	struct stat st;

	put("one", "1");
	CHECK_EQ(link("one", "two"), 0);
	CHECK_EQ(chmod("two", 0600), 0);
	CHECK_EQ(stat("one", &st), 0);
	CHECK_EQ(st.st_nlink, 2);
	CHECK_EQ(st.st_mode & 0777, 0600);
	CHECK_EQ(rename("one", "two"), 0); /* of one file: nothing happens */
	CHECK_EQ(access("one", F_OK), 0);
	CHECK_EQ(unlink("one"), 0);
	CHECK_EQ(stat("two", &st), 0);
	CHECK_EQ(st.st_nlink, 1);
	check_text("two", "1");
}

TEST(a_nameless_file_gets_a_name)
{
	struct stat st;
	char path[64];
	int fd = open(".", O_TMPFILE | O_RDWR, 0600);

	if (!CHECK(fd >= 0))
		return;
	CHECK_EQ(write(fd, "tmp", 3), 3);
	CHECK_EQ(fstat(fd, &st), 0);
	CHECK_EQ(st.st_nlink, 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK_EQ(linkat(AT_FDCWD, path, AT_FDCWD, "named", AT_SYMLINK_FOLLOW), 0);
	check_text("named", "tmp");
	close(fd);
}

TEST(a_directory_is_listed_whole)
{
	enum { FILES = 3000 };
	static bool seen[FILES];
	char name[64];
	int count = 0, number;
	const struct dirent *entry;

	CHECK_EQ(mkdir("many", 0755), 0);
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "many/%d", i);
		close(must_open(name, O_CREAT | O_WRONLY, 0644));
	}
	DIR *dir = opendir("many");
	while ((entry = readdir(dir)))
		if (sscanf(entry->d_name, "%d", &number) == 1 && !seen[number]) {
			seen[number] = true;
			count++;
			snprintf(name, sizeof(name), "many/%d", number);
			CHECK_EQ(unlink(name), 0);
		}
	CHECK_EQ(count, FILES);
	rewinddir(dir);
	count = 0;
	while (readdir(dir))
		count++;
	CHECK_EQ(count, 2);
	closedir(dir);
	CHECK_EQ(rmdir("many"), 0);
}

TEST(long_names_and_deep_paths)
{
	char name[300];
	int top = must_open(".", O_RDONLY | O_DIRECTORY, 0);

	memset(name, 'n', sizeof(name));
	name[255] = 0;
	put(name, "x");
	name[255] = 'n';
	name[256] = 0;
	CHECK(open(name, O_CREAT | O_WRONLY, 0644) < 0 && errno == ENAMETOOLONG);
	name[100] = 0;
	for (int i = 0; i < 50; i++) {
		CHECK_EQ(mkdir(name, 0755), 0);
		CHECK_EQ(chdir(name), 0);
	}
	put("deep", "deep");
	check_text("deep", "deep");
	CHECK_EQ(fchdir(top), 0);
	close(top);
}

TEST(a_removed_working_directory_can_be_asked)
{
	struct stat st;
	int top = must_open(".", O_RDONLY | O_DIRECTORY, 0);

	CHECK_EQ(mkdir("gone", 0755), 0);
	CHECK_EQ(chdir("gone"), 0);
	CHECK_EQ(rmdir("../gone"), 0);
	CHECK_EQ(stat(".", &st), 0);
	CHECK(open("x", O_CREAT | O_WRONLY, 0644) < 0 && errno == ENOENT);
	CHECK_EQ(fchdir(top), 0);
	close(top);
}

TEST(special_files)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
	struct stat st;
	int s = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_UNIX, SOCK_STREAM, 0);

	CHECK_EQ(bind(s, (void *)&address, sizeof(address)), 0);
	CHECK_EQ(listen(s, 1), 0);
	CHECK_EQ(connect(c, (void *)&address, sizeof(address)), 0);
	CHECK_EQ(mkfifo("fifo", 0640), 0);
	CHECK_EQ(lstat("fifo", &st), 0);
	CHECK(S_ISFIFO(st.st_mode));
	CHECK_EQ(symlink("nowhere", "link"), 0);
	CHECK_EQ(lstat("link", &st), 0);
	CHECK_EQ(st.st_size, 7);
	CHECK_EQ(utimensat(AT_FDCWD, "link", NULL, AT_SYMLINK_NOFOLLOW), 0);
	close(s);
	close(c);
}

TEST(times_to_the_nanosecond_or_left_alone)
{
	struct timespec both[2] = {{1234567890, 111}, {1500000000, 999999999}};
	const struct timespec one[2] = {{0, UTIME_OMIT}, {77, 7}};
	struct stat st;

	put("timed", "");
	CHECK_EQ(utimensat(AT_FDCWD, "timed", both, 0), 0);
	CHECK_EQ(stat("timed", &st), 0);
	CHECK_EQ(st.st_atim.tv_nsec, 111);
	CHECK_EQ(st.st_mtim.tv_nsec, 999999999);
	CHECK_EQ(utimensat(AT_FDCWD, "timed", one, 0), 0);
	CHECK_EQ(stat("timed", &st), 0);
	CHECK_EQ(st.st_atim.tv_sec, 1234567890);
	CHECK_EQ(st.st_mtim.tv_sec, 77);
	CHECK_EQ(st.st_mtim.tv_nsec, 7);
}

static int64_t change_ns(const char *name)
{
	struct stat st;

	CHECK_EQ(lstat(name, &st), 0);
	return st.st_ctim.tv_sec * INT64_C(1000000000) + st.st_ctim.tv_nsec;
}

static int do_chmod(void)
{
	return chmod("changed", 0600);
}

static int do_link(void)
{
	return link("changed", "changed2");
}

static int do_unlink_other(void)
{
	return unlink("changed2");
}

static int do_rename_to_and_fro(void)
{
	return rename("changed", "changed3") || rename("changed3", "changed");
}

static int do_exchange(void)
{
	return renameat2(AT_FDCWD, "changed", AT_FDCWD, "neighbour", RENAME_EXCHANGE) ||
	       renameat2(AT_FDCWD, "changed", AT_FDCWD, "neighbour", RENAME_EXCHANGE);
}

static int do_write(void)
{
	int fd = must_open("changed", O_WRONLY, 0);

	return pwrite(fd, "x", 1, 0) != 1 || close(fd);
}

static int do_truncate(void)
{
	return truncate("changed", 100);
}

static int do_fallocate(void)
{
	int fd = must_open("changed", O_WRONLY, 0);

	return fallocate(fd, 0, 0, 8192) || close(fd);
}

static int do_utimens(void)
{
	return utimensat(AT_FDCWD, "changed", NULL, 0);
}

/* However long the kernel may keep attributes: what changed a file shows at once. */
TEST(every_change_moves_the_time_of_change)
{
	static int (*const changes[])(void) = {do_chmod, do_link, do_unlink_other,
		do_rename_to_and_fro, do_exchange, do_write, do_truncate, do_fallocate, do_utimens};

	close(must_open("changed", O_CREAT | O_RDWR, 0644));
	close(must_open("neighbour", O_CREAT | O_RDWR, 0644));
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		int64_t before = change_ns("changed");
		pause_ms(15);
		CHECK_EQ(changes[i](), 0);
		if (!CHECK(change_ns("changed") > before))
			printf("# change %zu\n", i);
	}
}

/* Who has a directory open and reads it again from the start sees what is new. */
TEST(a_directory_that_is_read_again_is_new)
{
	CHECK_EQ(mkdir("again", 0755), 0);
	DIR *d = opendir("again");
	struct dirent *entry;
	int seen = 0;

	while ((entry = readdir(d)))
		seen++;
	close(must_open("again/file", O_CREAT | O_RDWR, 0644));
	CHECK_EQ(mkdir("again/dir", 0755), 0);
	rewinddir(d);
	while ((entry = readdir(d)))
		seen++;
	CHECK_EQ(seen, 2 + 4);
	closedir(d);
}

TEST(attributes_beyond_the_common_ones)
{
	struct statx stx;
	char value[16];
	int flags = 0, fd = must_open("extra", O_CREAT | O_RDWR, 0644);

	CHECK_EQ(fsetxattr(fd, "user.key", "value", 5, 0), 0);
	CHECK_EQ(fgetxattr(fd, "user.key", NULL, 0), 5);
	CHECK_EQ(fgetxattr(fd, "user.key", value, 2), -1);
	CHECK_EQ(errno, ERANGE);
	CHECK_EQ(fremovexattr(fd, "user.key"), 0);
	CHECK_EQ(fgetxattr(fd, "user.key", value, 5), -1);
	CHECK_EQ(errno, ENODATA);
	CHECK_EQ(ioctl(fd, FS_IOC_GETFLAGS, &flags), 0);
	CHECK_EQ(statx(AT_FDCWD, "extra", 0, STATX_BTIME, &stx), 0);
	CHECK(stx.stx_mask & STATX_BTIME);
	close(fd);
}

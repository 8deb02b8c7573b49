/* SPDX-License-Identifier: MIT */
/* Who may do what, and whose the new files are. As root only. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "check.h"
#include "process.h"
#include "rng.h"

#define GROUP 4242

static bool root_only(void)
{
	if (!is_root())
		check_skip("needs root");
	return is_root();
}

static void make_dir(const char *name, mode_t mode, gid_t group)
{
	CHECK_EQ(mkdir(name, 0700), 0);
	CHECK_EQ(chown(name, 0, group), 0);
	CHECK_EQ(chmod(name, mode), 0);
}

static int create_read_only_and_write(const void *arg)
{
	struct stat st;

	become_user(0);
	umask(0);
	int fd = open("open/file", O_CREAT | O_EXCL | O_WRONLY, 0444);
	if (fd < 0)
		return 1;
	if (write(fd, "x", 1) != 1 || fstat(fd, &st))
		return 2;
	if (st.st_uid != getuid() || st.st_gid != getgid() || (st.st_mode & 0777) != 0444)
		return 3;
	return open("open/file", O_WRONLY) < 0 && errno == EACCES ? 0 : 4;
}

TEST(a_new_file_is_its_makers)
{
	if (!root_only())
		return;
	make_dir("open", 0777, 0);
	CHECK_EQ(in_child(create_read_only_and_write, NULL), 0);
}

static int make_everything(const void *arg)
{
	struct stat st;

	become_user(0);
	umask(027);
	if (mkdir("masked/dir", 0777) || mknod("masked/node", S_IFREG | 0666, 0) ||
		symlink("x", "masked/link"))
		return 1;
	if (stat("masked/dir", &st) || (st.st_mode & 0777) != 0750 || st.st_uid != getuid())
		return 2;
	if (stat("masked/node", &st) || (st.st_mode & 0777) != 0640 || st.st_uid != getuid())
		return 3;
	return lstat("masked/link", &st) || st.st_uid != getuid() ? 4 : 0;
}

TEST(the_makers_umask_counts)
{
	if (!root_only())
		return;
	make_dir("masked", 0777, 0);
	CHECK_EQ(in_child(make_everything, NULL), 0);
}

static int create_by_group(const void *arg)
{
	struct stat st;

	become_user(GROUP);
	int fd = open("group/file", O_CREAT | O_RDWR, 0640);
	if (fd < 0)
		return 1;
	if (fstat(fd, &st) || st.st_gid != GROUP)
		return 2;
	return mkdir("group/sub", 0750) || stat("group/sub", &st) || !(st.st_mode & S_ISGID) ? 3
	                                                                                     : 0;
}

TEST(a_supplementary_group_may_create_and_the_directory_gives_its_group)
{
	if (!root_only())
		return;
	make_dir("group", 02770, GROUP);
	CHECK_EQ(in_child(create_by_group, NULL), 0);
}

static int meddle(const void *arg)
{
	become_user(0);
	if (!unlink("sticky/roots") || errno != EPERM)
		return 1;
	if (open("sticky/roots", O_RDONLY) >= 0 || errno != EACCES)
		return 2;
	if (!mkdir("closed/dir", 0755) || errno != EACCES)
		return 3;
	return !chmod("sticky/roots", 0666) ? 4 : 0;
}

TEST(others_are_kept_out)
{
	if (!root_only())
		return;
	make_dir("sticky", 01777, 0);
	make_dir("closed", 0755, 0);
	close(must_open("sticky/roots", O_CREAT | O_WRONLY, 0600));
	CHECK_EQ(in_child(meddle, NULL), 0);
}

static int write_as_user(const void *arg)
{
	int fd = must_open("setid", O_WRONLY, 0);

	become_user(0);
	return write(fd, "x", 1) == 1 ? 0 : 1;
}

static int cut_as_user(const void *arg)
{
	become_user(0);
	return truncate("setid", 0) ? 1 : 0;
}

static int empty_as_user(const void *arg)
{
	become_user(0);
	return open("setid", O_WRONLY | O_TRUNC) < 0 ? 1 : 0;
}

static int allocate_as_user(const void *arg)
{
	int fd = must_open("setid", O_WRONLY, 0);

	become_user(0);
	return fallocate(fd, 0, 0, 8192) || fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 16384);
}

/* The mode alone is asked for: what else has changed must not be what brings it. */
static void check_set_id_cleared(int (*how)(const void *arg))
{
	struct statx st;

	CHECK_EQ(chmod("setid", 06777), 0);
	CHECK_EQ(in_child(how, NULL), 0);
	CHECK_EQ(statx(AT_FDCWD, "setid", 0, STATX_MODE, &st), 0);
	CHECK_EQ(st.stx_mode & 06000, 0);
}

TEST(writing_clears_set_id_bits)
{
	struct stat st;

	if (!root_only())
		return;
	close(must_open("setid", O_CREAT | O_WRONLY, 0777));
	check_set_id_cleared(write_as_user);
	check_set_id_cleared(cut_as_user);
	check_set_id_cleared(empty_as_user);
	check_set_id_cleared(allocate_as_user);
	CHECK_EQ(chmod("setid", 06777), 0);
	CHECK_EQ(chown("setid", 1, 1), 0);
	CHECK_EQ(stat("setid", &st), 0);
	CHECK_EQ(st.st_mode & 06000, 0);
}

static int chown_nothing(const void *arg)
{
	become_user(0);
	return chown("owned", -1, -1) ? errno : 0;
}

/* It sets nothing, yet it is a change like any other, and not everyone's if it takes set-id bits. */
TEST(chown_to_nobody_is_a_change)
{
	struct stat before, after;

	if (!root_only())
		return;
	close(must_open("owned", O_CREAT | O_WRONLY, 0600));
	CHECK_EQ(chmod("owned", 06755), 0);
	CHECK_EQ(in_child(chown_nothing, NULL), EPERM);
	CHECK_EQ(stat("owned", &before), 0);
	CHECK_EQ(before.st_mode & 07777, 06755);
	pause_ms(20);
	CHECK_EQ(chown("owned", -1, -1), 0);
	CHECK_EQ(stat("owned", &after), 0);
	CHECK_EQ(after.st_mode & 07777, 0755);
	CHECK(after.st_ctim.tv_sec > before.st_ctim.tv_sec ||
		after.st_ctim.tv_nsec > before.st_ctim.tv_nsec);
	CHECK_EQ(in_child(chown_nothing, NULL), 0);
}

static int use_own_files(const void *arg)
{
	static const struct timespec times[2] = {{1, 0}, {2, 0}};
	char name[32];

	become_user(0);
	snprintf(name, sizeof(name), "crowd/%d", getpid());
	for (int i = 0; i < 100; i++) {
		int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0644);
		if (fd < 0)
			return 1;
		for (int j = 0; j < 4; j++)
			if (write(fd, name, sizeof(name)) != (ssize_t)sizeof(name))
				return 2;
		if (close(fd) || chmod(name, 0600))
			return 3;
		if (utimensat(AT_FDCWD, name, times, 0) || setxattr(name, "user.x", "1", 1, 0))
			return 4;
	}
	return 0;
}

/* More calls at once than there were threads to serve them: the new ones can do what the old can. */
TEST(a_crowd_of_users_may_all_do_what_one_may)
{
	enum { CROWD = 24 };
	pid_t pids[CROWD];

	if (!root_only())
		return;
	make_dir("crowd", 0777, 0);
	for (int i = 0; i < CROWD; i++)
		pids[i] = start_child(use_own_files, NULL);
	for (int i = 0; i < CROWD; i++)
		CHECK_EQ(end_child(pids[i]), 0);
}

static int use_passed(const void *arg)
{
	int fd = *(const int *)arg;
	char c;

	become_user(0);
	return pwrite(fd, "q", 1, 0) == 1 && pread(fd, &c, 1, 0) == 1 && !fsync(fd) &&
	                       !ftruncate(fd, 10)
	               ? 0
	               : 1;
}

TEST(a_descriptor_keeps_the_rights_it_was_opened_with)
{
	if (!root_only())
		return;
	int fd = must_open("passed", O_CREAT | O_RDWR, 0600);
	CHECK_EQ(fchmod(fd, 0), 0);
	CHECK_EQ(in_child(use_passed, &fd), 0);
	close(fd);
}

/* Handles that were made up: garbage is no file, and surely none of another file system. */
TEST(forged_handles_open_nothing)
{
	union {
		struct file_handle h;
		char space[sizeof(struct file_handle) + 128];
	} real = {.h.handle_bytes = 128}, forged;
	struct stat here, st;
	struct rng rng;
	int mount_id;

	if (!root_only())
		return;
	int dir = must_open(".", O_RDONLY | O_DIRECTORY, 0);
	close(must_open("handled", O_CREAT | O_WRONLY, 0600));
	if (name_to_handle_at(AT_FDCWD, "handled", &real.h, &mount_id, 0)) {
		check_skip("no handles here");
		return;
	}
	CHECK_EQ(fstat(dir, &here), 0);
	rng_init(&rng, 11);
	for (int i = 0; i < 1000; i++) {
		forged = real;
		for (unsigned changes = 1 + (unsigned)rng_below(&rng, 4); changes; changes--)
			forged.h.f_handle[rng_below(&rng, real.h.handle_bytes)] =
				(unsigned char)rng_next(&rng);
		if (i % 5 == 0)
			forged.h.handle_type ^= 1 + (int)rng_below(&rng, 3);
		int fd = open_by_handle_at(dir, &forged.h, O_RDONLY);
		if (fd < 0)
			continue;
		CHECK(!fstat(fd, &st) && st.st_dev == here.st_dev);
		close(fd);
	}
	CHECK_EQ(unlink("handled"), 0);
	CHECK_EQ(open_by_handle_at(dir, &real.h, O_RDONLY), -1);
	close(dir);
}

TEST(a_file_that_may_only_grow_can_be_appended_to)
{
	int flags = FS_APPEND_FL, none = 0;

	if (!root_only())
		return;
	int fd = must_open("growing", O_CREAT | O_RDWR, 0600);
	if (ioctl(fd, FS_IOC_SETFLAGS, &flags)) {
		check_skip("no such files here");
		return;
	}
	CHECK(open("growing", O_WRONLY) == -1 && errno == EPERM);
	int log = open("growing", O_WRONLY | O_APPEND);
	CHECK_EQ(write(log, "line", 4), 4);
	CHECK_EQ(write(log, "line", 4), 4);
	CHECK_EQ(lseek(log, 0, SEEK_END), 8);
	close(log);
	CHECK_EQ(ioctl(fd, FS_IOC_SETFLAGS, &none), 0);
	close(fd);
}

TEST(a_device_node_opens_what_it_stands_for)
{
	char c = 1;

	if (!root_only())
		return;
	CHECK_EQ(mknod("zero", S_IFCHR | 0666, makedev(1, 5)), 0);
	int fd = open("zero", O_RDONLY);
	if (fd < 0 && errno == EACCES) {
		check_skip("no devices on this file system");
		return;
	}
	CHECK_EQ(read(fd, &c, 1), 1);
	CHECK_EQ(c, 0);
	close(fd);
}

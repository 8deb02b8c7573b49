/* SPDX-License-Identifier: MIT */
/*
 * A program that wants more than its own: out of the directory, into the recorder, or everybody
 * else's time. Run by cases/hostile.sh in a directory beside which lies "secret", below a mount and
 * on it, as an ordinary user; $OUTSIDE is the directory that it must not reach.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "check.h"
#include "cleanup.h"
#include "clock.h"
#include "process.h"
#include "rng.h"
#include "vec.h"

static const char *outside(void)
{
	const char *dir = getenv("OUTSIDE");

	return dir ? dir : "/nonexistent";
}

/* Every way to use a path must be refused. */
static void check_out_of_reach(const char *path)
{
	struct stat before, after;
	char c;

	CHECK_EQ(stat(outside(), &before), 0);
	CHECK_EQ(open(path, O_RDONLY), -1);
	CHECK_EQ(open(path, O_WRONLY | O_TRUNC), -1);
	CHECK_EQ(open(path, O_RDWR | O_CREAT, 0666), -1);
	CHECK_EQ(truncate(path, 0), -1);
	CHECK_EQ(chmod(path, 0666), -1);
	CHECK_EQ(chown(path, getuid(), getgid()), -1);
	CHECK_EQ(setxattr(path, "user.x", "1", 1, 0), -1);
	CHECK_EQ(getxattr(path, "user.x", &c, 1), -1);
	CHECK_EQ(utimensat(AT_FDCWD, path, NULL, 0), -1);
	CHECK_EQ(stat(outside(), &after), 0);
	CHECK_EQ(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
}

TEST(links_lead_nowhere_that_was_closed)
{
	auto_free char *absolute = xasprintf("%s/secret", outside());

	CHECK_EQ(symlink(absolute, "absolute"), 0);
	CHECK_EQ(symlink("../secret", "relative"), 0);
	CHECK_EQ(symlink("absolute", "chain"), 0);
	CHECK_EQ(symlink("/proc/self/root/../../../../../../..", "root"), 0);
	CHECK_EQ(symlink("loop", "loop"), 0);
	check_out_of_reach("absolute");
	check_out_of_reach("relative");
	check_out_of_reach("chain");
	CHECK(open("loop", O_RDONLY) == -1 && errno == ELOOP);
	auto_free char *through = xasprintf("root%s/secret", outside());
	check_out_of_reach(through);
	/* What is done to the link itself is done to it, not to what it names. */
	struct stat st;
	CHECK_EQ(lstat("absolute", &st), 0);
	CHECK(S_ISLNK(st.st_mode));
	CHECK_EQ(lchown("absolute", getuid(), getgid()), 0);
	CHECK(lsetxattr("absolute", "user.x", "1", 1, 0) == -1 && errno == EPERM);
	CHECK_EQ(unlink("absolute"), 0);
}

TEST(a_link_to_the_mount_itself_ends)
{
	char here[4096];

	CHECK(getcwd(here, sizeof(here)) != NULL);
	CHECK_EQ(mkdir("round", 0700), 0);
	CHECK_EQ(symlink(here, "round/again"), 0);
	CHECK_EQ(close(must_open("round/again/round/again/round/file", O_CREAT | O_WRONLY, 0600)),
		0);
	CHECK_EQ(access("round/file", F_OK), 0);
}

TEST(hard_links_cannot_bring_in_what_lies_outside)
{
	auto_free char *secret = xasprintf("%s/secret", outside());
	auto_free char *magic = NULL;
	int fd = open(secret, O_PATH);

	CHECK_EQ(link(secret, "hard"), -1);
	CHECK_EQ(link("../secret", "hard"), -1);
	CHECK_EQ(rename(secret, "moved"), -1);
	if (!CHECK(fd >= 0))
		return;
	magic = xasprintf("/proc/self/fd/%d", fd);
	CHECK_EQ(linkat(AT_FDCWD, magic, AT_FDCWD, "hard", AT_SYMLINK_FOLLOW), -1);
	CHECK_EQ(linkat(fd, "", AT_FDCWD, "hard", AT_EMPTY_PATH), -1);
	CHECK_EQ(access("hard", F_OK), -1);
	close(fd);
}

/* --- directories that move while paths are resolved through them --- */

#define TURNS 400

static void *move_about(void *arg)
{
	_Atomic bool *stop = arg;

	while (!*stop) {
		rename("race/a/b", "race/c");
		rename("race/c", "race/a/b");
	}
	return NULL;
}

TEST(no_way_leads_up_past_the_top_while_directories_move)
{
	_Atomic bool stop = false;
	pthread_t mover;
	struct stat top, st;
	char name[64];

	CHECK_EQ(mkdir("race", 0700), 0);
	CHECK_EQ(mkdir("race/a", 0700), 0);
	CHECK_EQ(mkdir("race/a/b", 0700), 0);
	CHECK_EQ(stat("race", &top), 0);
	int deep = must_open("race/a/b", O_RDONLY | O_DIRECTORY, 0);
	CHECK_EQ(pthread_create(&mover, NULL, move_about, &stop), 0);
	for (int i = 0; i < TURNS; i++) {
		/* Two up is "race", or above it by one: never the secret's place. */
		CHECK_EQ(openat(deep, "../../../secret", O_RDWR), -1);
		CHECK_EQ(openat(deep, "../../secret", O_RDWR), -1);
		snprintf(name, sizeof(name), "../made-%d", i);
		int fd = openat(deep, name, O_CREAT | O_EXCL | O_WRONLY, 0600);
		if (CHECK(fd >= 0))
			close(fd);
		if (!fstatat(deep, "../a", &st, 0))
			CHECK(S_ISDIR(st.st_mode));
	}
	stop = true;
	pthread_join(mover, NULL);
	close(deep);
	/* All of them lie in one of the two places. */
	int found = 0;
	for (int i = 0; i < TURNS; i++) {
		auto_free char *one = xasprintf("race/made-%d", i);
		auto_free char *two = xasprintf("race/a/made-%d", i);
		found += !access(one, F_OK) || !access(two, F_OK);
	}
	CHECK_EQ(found, TURNS);
}

/* The case moves "ferry" out of the directory and back, behind our back. */
TEST(a_directory_that_is_carried_off_does_not_open_the_outside)
{
	int ferry = open("ferry", O_RDONLY | O_DIRECTORY);
	char name[64];
	int made = 0;

	for (int i = 0; ferry < 0 && i < 1000; i++) {
		pause_ms(1);
		ferry = open("ferry", O_RDONLY | O_DIRECTORY);
	}
	if (ferry < 0) {
		check_skip("nobody moves it");
		return;
	}
	for (int i = 0; i < TURNS; i++) {
		int fd = openat(ferry, "../secret", O_RDWR);
		CHECK_EQ(fd, -1);
		snprintf(name, sizeof(name), "../stray-%d", i);
		fd = openat(ferry, name, O_CREAT | O_EXCL | O_WRONLY, 0600);
		made += fd >= 0;
		if (fd >= 0)
			close(fd);
		snprintf(name, sizeof(name), "inside-%d", i);
		CHECK_EQ(mkdirat(ferry, name, 0700), 0);
		CHECK_EQ(renameat(ferry, name, ferry, "carried"), 0);
		CHECK_EQ(unlinkat(ferry, "carried", AT_REMOVEDIR), 0);
		pause_ms(1);
	}
	CHECK(made > 0);
	close(ferry);
}

/* --- rights --- */

TEST(rights_cannot_be_made)
{
	struct stat st;
	int flags = FS_IMMUTABLE_FL;
	int fd = must_open("mine", O_CREAT | O_RDWR, 0644);
	char list[256];

	CHECK(mknod("null", S_IFCHR | 0666, makedev(1, 3)) == -1 && errno == EPERM);
	CHECK(mknod("disk", S_IFBLK | 0666, makedev(7, 0)) == -1 && errno == EPERM);
	CHECK(chown("mine", 0, 0) == -1 && errno == EPERM);
	CHECK_EQ(chmod("mine", 04755), 0);
	CHECK(write(fd, "x", 1) == 1 && !fstat(fd, &st) && !(st.st_mode & S_ISUID));
	CHECK(fsetxattr(fd, "trusted.x", "1", 1, 0) == -1 && errno == EPERM);
	CHECK(fsetxattr(fd, "security.x", "1", 1, 0) == -1);
	CHECK(fsetxattr(fd, "security.capability", "1", 1, 0) == -1);
	CHECK(fgetxattr(fd, "trusted.x", list, sizeof(list)) == -1 && errno == ENODATA);
	CHECK(ioctl(fd, FS_IOC_SETFLAGS, &flags) == -1);
	close(fd);
}

TEST(trusted_attributes_are_not_shown)
{
	char list[256] = "";
	ssize_t n = listxattr("marked", list, sizeof(list));

	if (n < 0) {
		check_skip("no attributes here");
		return;
	}
	CHECK_EQ(listxattr("marked", NULL, 0), n);
	CHECK_EQ(n, (long long)strlen("user.b") + 1);
	CHECK_EQ((const char *)list, "user.b");
	CHECK(listxattr("marked", list, 3) == -1 && errno == ERANGE);
}

/* --- the recorder --- */

/* Whoever serves this directory; 0 without a mount. */
static pid_t recorder(void)
{
	const char *text = getenv("RECORDER");

	return text ? (pid_t)atoi(text) : 0;
}

TEST(the_recorder_can_be_neither_read_nor_changed)
{
	static const char *const files[] = {
		"mem", "maps", "environ", "auxv", "fd/0", "root/etc", "cwd/.", "task", "map_files"};
	pid_t pid = recorder();
	char buffer[8] = "";
	struct iovec local = {buffer, sizeof(buffer)}, remote = {(void *)0x400000, sizeof(buffer)};

	if (!pid) {
		check_skip("no recorder");
		return;
	}
	CHECK(ptrace(PTRACE_ATTACH, pid, NULL, NULL) == -1 && errno == EPERM);
	CHECK(ptrace(PTRACE_SEIZE, pid, NULL, NULL) == -1 && errno == EPERM);
	CHECK(process_vm_readv(pid, &local, 1, &remote, 1, 0) == -1 && errno == EPERM);
	CHECK(process_vm_writev(pid, &local, 1, &remote, 1, 0) == -1 && errno == EPERM);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		auto_free char *path = xasprintf("/proc/%d/%s", pid, files[i]);
		int fd = open(path, O_RDONLY);
		/* Some can be opened and then say nothing. */
		if (fd >= 0 && strcmp(files[i], "task"))
			CHECK(read(fd, buffer, 1) <= 0);
		if (fd >= 0)
			close(fd);
	}
	auto_free char *fds = xasprintf("/proc/%d/fd", pid);
	CHECK(opendir(fds) == NULL && errno == EACCES);
}

/* --- odd arguments --- */

TEST(odd_names_and_numbers_are_refused_or_done)
{
	char name[258], value[256];
	int fd = must_open("odd", O_CREAT | O_RDWR, 0600);

	memset(name, 'n', sizeof(name));
	name[255] = 0;
	CHECK_EQ(mkdir(name, 0700), 0);
	CHECK_EQ(rmdir(name), 0);
	name[255] = 'n', name[256] = 0;
	CHECK(mkdir(name, 0700) == -1 && errno == ENAMETOOLONG);
	CHECK_EQ(mkdir("\n\xff\xfe %s\033[31m", 0700), 0);
	CHECK_EQ(rmdir("\n\xff\xfe %s\033[31m"), 0);
	CHECK(pread(fd, value, 1, INT64_MAX) <= 0);
	CHECK_EQ(pwrite(fd, value, 1, INT64_MAX), -1);
	CHECK_EQ(ftruncate(fd, -1), -1);
	CHECK_EQ(fallocate(fd, 0, 0, -1), -1);
	CHECK_EQ(fallocate(fd, 0x7fffff00, 0, 1), -1);
	CHECK_EQ(lseek(fd, -1, SEEK_DATA), -1);
	CHECK_EQ(lseek(fd, 0, 99), -1);
	for (unsigned nr = 0; nr < 256; nr += 5)
		CHECK_EQ(ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, 'Z', nr, 200), value), -1);
	CHECK_EQ(fsetxattr(fd, "", "1", 1, 0), -1);
	CHECK_EQ(fsetxattr(fd, "nonsense", "1", 1, 0), -1);
	close(fd);
}

TEST(a_directory_is_read_from_anywhere)
{
	int fd = must_open(".", O_RDONLY | O_DIRECTORY, 0);
	auto_closedir DIR *dir = fdopendir(fd);
	struct rng rng;

	rng_init(&rng, 5);
	for (int i = 0; i < 200; i++) {
		lseek(fd, (off_t)(rng_next(&rng) >> (i % 64)), SEEK_SET);
		readdir(dir);
	}
	rewinddir(dir);
	CHECK(readdir(dir) != NULL);
}

TEST(a_tree_is_as_deep_as_it_gets)
{
	enum { DEPTH = 600 };
	int fds[2] = {must_open(".", O_RDONLY | O_DIRECTORY, 0), -1};

	for (int i = 0; i < DEPTH; i++) {
		CHECK_EQ(mkdirat(fds[0], "deeper-and-deeper", 0700), 0);
		fds[1] = openat(fds[0], "deeper-and-deeper", O_RDONLY | O_DIRECTORY);
		close(fds[0]);
		fds[0] = fds[1];
	}
	int fd = openat(fds[0], "bottom", O_CREAT | O_WRONLY, 0600);
	CHECK(fd >= 0);
	close(fd);
	close(fds[0]);
}

/* --- everybody else's time --- */

enum { CROWD = 300 }; /* more than the recorder has threads */

static int open_pipe(const void *arg)
{
	return open("pipe", O_RDONLY) < 0;
}

static int wait_for_lock(const void *arg)
{
	struct flock all = {.l_type = F_WRLCK};
	int fd = must_open("locked", O_RDWR, 0);

	return fcntl(fd, F_SETLKW, &all);
}

static int wait_for_flock(const void *arg)
{
	int fd = must_open("locked", O_RDWR, 0);

	return flock(fd, LOCK_EX);
}

/* With that many of them waiting, a second is enough for a hundred calls of others. */
static void check_others_go_on(int (*body)(const void *arg))
{
	pid_t crowd[CROWD];
	char name[64];

	for (int i = 0; i < CROWD; i++)
		crowd[i] = start_child(body, NULL);
	pause_ms(300);
	uint64_t start_ns = now_ns();
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "busy-%d", i % 7);
		int fd = open(name, O_CREAT | O_RDWR, 0600);
		CHECK(fd >= 0 && write(fd, name, 5) == 5);
		close(fd);
	}
	CHECK(now_ns() - start_ns < 2 * NSEC_PER_SEC);
	for (int i = 0; i < CROWD; i++)
		kill(crowd[i], SIGKILL);
	for (int i = 0; i < CROWD; i++)
		waitpid(crowd[i], NULL, 0);
}

TEST(who_waits_at_a_pipe_waits_alone)
{
	CHECK_EQ(mkfifo("pipe", 0600), 0);
	check_others_go_on(open_pipe);
	CHECK_EQ(unlink("pipe"), 0);
}

TEST(who_waits_for_a_lock_waits_alone)
{
	struct flock all = {.l_type = F_WRLCK};
	int fd = must_open("locked", O_CREAT | O_RDWR, 0600);

	CHECK_EQ(fcntl(fd, F_SETLK, &all), 0);
	check_others_go_on(wait_for_lock);
	CHECK_EQ(flock(fd, LOCK_EX), 0);
	check_others_go_on(wait_for_flock);
	close(fd);
}

TEST(leases_and_watches_work_or_say_no)
{
	int fd = must_open("leased", O_CREAT | O_RDWR, 0600);
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char events[4096];

	if (!fcntl(fd, F_SETLEASE, F_WRLCK))
		CHECK_EQ(fcntl(fd, F_SETLEASE, F_UNLCK), 0);
	close(fd);
	CHECK(inotify_add_watch(watch, ".", IN_CREATE) >= 0);
	close(must_open("watched", O_CREAT | O_WRONLY, 0600));
	CHECK(read(watch, events, sizeof(events)) > 0);
	close(watch);
}

static int open_many(const void *arg)
{
	static int fds[7000];
	const int *number = arg;
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		snprintf(name, sizeof(name), "many-%d-%zu", *number, i % 50);
		fds[i] = open(name, O_CREAT | O_RDWR, 0600);
	}
	/* Each that could be had still answers. */
	for (size_t i = 0; i < ARRAY_SIZE(fds); i += 500)
		if (fds[i] >= 0 && pwrite(fds[i], "x", 1, 0) != 1)
			return 3;
	pause();
	return 0;
}

/* Four times seven thousand are more descriptors than the recorder has. */
TEST(who_opens_everything_does_not_shut_out_others)
{
	struct rlimit limit;
	pid_t greedy[4];
	struct stat st;
	int numbers[4];

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (int i = 0; i < 4; i++) {
		numbers[i] = i;
		greedy[i] = start_child(open_many, &numbers[i]);
	}
	pause_ms(4000);
	for (int i = 0; i < 100; i++) {
		int fd = open("modest", O_CREAT | O_RDWR, 0600);
		CHECK(fd >= 0 && write(fd, "x", 1) == 1 && !fstat(fd, &st));
		close(fd);
		CHECK_EQ(stat("many-0-1", &st), 0);
	}
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(waitpid(greedy[i], NULL, WNOHANG), 0);
		kill(greedy[i], SIGKILL);
		waitpid(greedy[i], NULL, 0);
	}
}

TEST(sockets_connect)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "socket"};
	int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);

	CHECK_EQ(bind(server, (struct sockaddr *)&at, sizeof(at)), 0);
	CHECK_EQ(listen(server, 1), 0);
	CHECK_EQ(connect(client, (struct sockaddr *)&at, sizeof(at)), 0);
	CHECK_EQ(open("socket", O_RDONLY), -1);
	close(server);
	close(client);
}

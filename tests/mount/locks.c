/* SPDX-License-Identifier: MIT */
/* fcntl() and flock() between processes. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "clock.h"
#include "process.h"

#define FILE_NAME "locked"

static struct flock range(short type, off_t start, off_t len)
{
	return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len};
}

static int lock(int fd, int command, short type, off_t start, off_t len)
{
	struct flock l = range(type, start, len);

	return fcntl(fd, command, &l) ? errno : 0;
}

static int open_file(void)
{
	return must_open(FILE_NAME, O_RDWR | O_CREAT, 0644);
}

/* A child's attempt at a lock without waiting: 0 or errno. */
static int try_lock(const void *arg)
{
	const struct flock *l = arg;
	struct flock mine = *l;

	return fcntl(open_file(), F_SETLK, &mine) ? errno : 0;
}

static int other_process_gets(short type, off_t start, off_t len)
{
	struct flock l = range(type, start, len);

	return in_child(try_lock, &l);
}

TEST(a_write_lock_keeps_others_out_of_its_range_only)
{
	int fd = open_file();

	CHECK_EQ(lock(fd, F_SETLK, F_WRLCK, 100, 10), 0);
	CHECK_EQ(other_process_gets(F_WRLCK, 109, 1), EAGAIN);
	CHECK_EQ(other_process_gets(F_RDLCK, 90, 11), EAGAIN);
	CHECK_EQ(other_process_gets(F_WRLCK, 110, 5), 0);
	CHECK_EQ(other_process_gets(F_WRLCK, 0, 100), 0);
	close(fd);
}

TEST(read_locks_share_and_unlocking_the_middle_splits)
{
	int fd = open_file();

	CHECK_EQ(lock(fd, F_SETLK, F_RDLCK, 0, 30), 0);
	CHECK_EQ(other_process_gets(F_RDLCK, 5, 5), 0);
	CHECK_EQ(other_process_gets(F_WRLCK, 5, 5), EAGAIN);
	CHECK_EQ(lock(fd, F_SETLK, F_UNLCK, 10, 10), 0);
	CHECK_EQ(other_process_gets(F_WRLCK, 10, 10), 0);
	CHECK_EQ(other_process_gets(F_WRLCK, 9, 1), EAGAIN);
	CHECK_EQ(other_process_gets(F_WRLCK, 20, 0), EAGAIN);
	close(fd);
}

static int who_holds(const void *arg)
{
	struct flock l = range(F_WRLCK, 0, 0);

	if (fcntl(open_file(), F_GETLK, &l))
		return 1;
	return l.l_pid == *(const pid_t *)arg && l.l_start == 1000 && l.l_len == 24 ? 0 : 2;
}

TEST(getlk_names_the_holder_and_its_range)
{
	int fd = open_file();
	pid_t me = getpid();

	CHECK_EQ(lock(fd, F_SETLK, F_WRLCK, 1000, 24), 0);
	CHECK_EQ(in_child(who_holds, &me), 0);
	close(fd);
}

TEST(closing_any_descriptor_ends_a_process_lock)
{
	int fd = open_file();

	CHECK_EQ(lock(fd, F_SETLK, F_WRLCK, 0, 1), 0);
	close(open_file());
	CHECK_EQ(other_process_gets(F_WRLCK, 0, 1), 0);
	close(fd);
}

TEST(open_file_locks_end_with_the_file)
{
	int fd = open_file();

	for (int i = 0; i < 200; i++) {
		int other = open_file();
		if (!CHECK_EQ(lock(other, F_OFD_SETLK, F_WRLCK, 0, 0), 0))
			break;
		if (!CHECK_EQ(lock(fd, F_OFD_SETLK, F_WRLCK, 0, 0), EAGAIN))
			break;
		close(other);
		if (!CHECK_EQ(lock(fd, F_OFD_SETLK, F_WRLCK, 0, 0), 0))
			break;
		CHECK_EQ(lock(fd, F_OFD_SETLK, F_UNLCK, 0, 0), 0);
	}
	close(fd);
}

TEST(flock_ends_with_the_file)
{
	int fd = open_file();

	for (int i = 0; i < 200; i++) {
		int other = open_file();
		if (!CHECK_EQ(flock(other, LOCK_EX), 0))
			break;
		CHECK_EQ(flock(fd, LOCK_SH | LOCK_NB), -1);
		close(other);
		if (!CHECK_EQ(flock(fd, LOCK_EX | LOCK_NB), 0))
			break;
		CHECK_EQ(flock(fd, LOCK_UN), 0);
	}
	close(fd);
}

TEST(flock_and_fcntl_do_not_see_each_other)
{
	int fd = open_file();

	CHECK_EQ(flock(fd, LOCK_EX), 0);
	CHECK_EQ(other_process_gets(F_WRLCK, 0, 0), 0);
	close(fd);
}

static int wait_for_lock(const void *arg)
{
	const struct flock *l = arg;
	struct flock mine = *l;

	return fcntl(open_file(), F_SETLKW, &mine) ? errno : 0;
}

TEST(a_waiting_lock_is_granted_when_the_holder_lets_go)
{
	struct flock l = range(F_WRLCK, 7, 1);
	int fd = open_file();

	CHECK_EQ(lock(fd, F_SETLK, F_WRLCK, 0, 10), 0);
	pid_t pid = start_child(wait_for_lock, &l);
	pause_ms(50);
	CHECK_EQ(waitpid(pid, NULL, WNOHANG), 0);
	CHECK_EQ(lock(fd, F_SETLK, F_UNLCK, 5, 5), 0);
	CHECK_EQ(end_child(pid), 0);
	close(fd);
}

static void on_alarm(int number)
{
	(void)number;
}

static int wait_interrupted(const void *arg)
{
	struct sigaction action = {.sa_handler = on_alarm};

	sigaction(SIGUSR1, &action, NULL);
	return wait_for_lock(arg);
}

TEST(a_signal_interrupts_a_waiting_lock)
{
	struct flock l = range(F_WRLCK, 0, 1);
	int fd = open_file();

	CHECK_EQ(lock(fd, F_SETLK, F_WRLCK, 0, 1), 0);
	pid_t pid = start_child(wait_interrupted, &l);
	pause_ms(100);
	kill(pid, SIGUSR1);
	CHECK_EQ(end_child(pid), EINTR);
	close(fd);
}

TEST(a_killed_waiter_never_gets_the_lock)
{
	struct flock l = range(F_WRLCK, 0, 1);
	int fd = open_file();

	CHECK_EQ(lock(fd, F_SETLK, F_WRLCK, 0, 1), 0);
	pid_t pid = start_child(wait_for_lock, &l);
	pause_ms(50);
	kill(pid, SIGKILL);
	CHECK_EQ(end_child(pid), 126);
	CHECK_EQ(lock(fd, F_SETLK, F_UNLCK, 0, 1), 0);
	CHECK_EQ(other_process_gets(F_WRLCK, 0, 1), 0);
	close(fd);
}

/* Lock the second byte, then want the first. */
static int second_then_first(const void *arg)
{
	int fd = open_file();

	if (lock(fd, F_SETLK, F_WRLCK, 1, 1))
		return 1;
	return lock(fd, F_SETLKW, F_WRLCK, 0, 1) ? 2 : 0;
}

TEST(a_deadlock_is_refused)
{
	int fd = open_file();

	CHECK_EQ(lock(fd, F_SETLK, F_WRLCK, 0, 1), 0);
	pid_t pid = start_child(second_then_first, NULL);
	pause_ms(100);
	CHECK_EQ(lock(fd, F_SETLKW, F_WRLCK, 1, 1), EDEADLK);
	CHECK_EQ(lock(fd, F_SETLK, F_UNLCK, 0, 1), 0);
	CHECK_EQ(end_child(pid), 0);
	close(fd);
}

/* Lock the fourth byte, then want the first three. */
static int fourth_then_three(const void *arg)
{
	int fd = open_file();

	if (lock(fd, F_SETLK, F_WRLCK, 3, 1))
		return 1;
	return lock(fd, F_SETLKW, F_WRLCK, 0, 3);
}

static int lock_first_for_a_while(const void *arg)
{
	if (lock(open_file(), F_SETLK, F_WRLCK, 0, 1))
		return 1;
	pause_ms(400);
	return 0;
}

/* The first in the way goes; the next one, who waits for us, was there all the time. */
TEST(a_deadlock_that_shows_later_is_refused)
{
	int fd = open_file();

	pid_t first = start_child(lock_first_for_a_while, NULL);
	pause_ms(50);
	CHECK_EQ(lock(fd, F_SETLK, F_WRLCK, 2, 1), 0);
	pid_t other = start_child(fourth_then_three, NULL);
	pause_ms(50);
	CHECK_EQ(lock(fd, F_SETLKW, F_WRLCK, 3, 1), 0);
	CHECK_EQ(end_child(other), EDEADLK);
	CHECK_EQ(end_child(first), 0);
	close(fd);
}

static int first_in_the_way(const void *arg)
{
	struct flock l = range(F_RDLCK, 0, 0);

	if (fcntl(open_file(), F_GETLK, &l))
		return 1;
	return l.l_type == F_WRLCK && l.l_start == 10 && l.l_len == 2 ? 0 : 2;
}

TEST(getlk_names_what_begins_first)
{
	int fd = open_file();

	CHECK_EQ(lock(fd, F_SETLK, F_WRLCK, 30, 2), 0);
	CHECK_EQ(lock(fd, F_SETLK, F_WRLCK, 10, 2), 0);
	CHECK_EQ(lock(fd, F_SETLK, F_WRLCK, 20, 2), 0);
	CHECK_EQ(in_child(first_in_the_way, NULL), 0);
	close(fd);
}

TEST(the_file_system_answers_while_forty_processes_wait)
{
	enum { WAITERS = 40 };
	struct flock l = range(F_WRLCK, 0, 1);
	pid_t pids[WAITERS];
	struct stat st;
	int fd = open_file();

	CHECK_EQ(lock(fd, F_SETLK, F_WRLCK, 0, 1), 0);
	for (int i = 0; i < WAITERS; i++)
		pids[i] = start_child(wait_for_lock, &l);
	pause_ms(200);
	uint64_t start_ns = now_ns();
	for (int i = 0; i < 50; i++) {
		CHECK_EQ(lock(fd, F_SETLK, F_RDLCK, 100 + i, 1), 0);
		CHECK_EQ(fstat(fd, &st), 0);
		CHECK_EQ(ftruncate(fd, i), 0);
	}
	CHECK(now_ns() - start_ns < NSEC_PER_SEC);
	CHECK_EQ(lock(fd, F_SETLK, F_UNLCK, 0, 0), 0);
	for (int i = 0; i < WAITERS; i++)
		CHECK_EQ(end_child(pids[i]), 0);
	close(fd);
}

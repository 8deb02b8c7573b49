/* SPDX-License-Identifier: MIT */
/* Reading, writing, mapping, and what makes it durable. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"
#include "process.h"

#define KIB 1024
#define MIB (1024 * KIB)

static char *aligned(size_t size, int fill)
{
	void *p = NULL;

	if (posix_memalign(&p, 4096, size))
		abort();
	memset(p, fill, size);
	return p;
}

static off_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? -1 : st.st_size;
}

static int append_lines(const void *arg)
{
	char line[32];
	int fd = must_open("log", O_WRONLY | O_APPEND, 0);

	memset(line, *(const char *)arg, sizeof(line));
	for (int i = 0; i < 500; i++)
		if (write(fd, line, sizeof(line)) != (ssize_t)sizeof(line))
			return 1;
	return 0;
}

TEST(appends_of_two_processes_neither_tear_nor_vanish)
{
	char line[32];
	int counts[2] = {0};

	close(must_open("log", O_CREAT | O_WRONLY | O_TRUNC, 0644));
	pid_t a = start_child(append_lines, "a"), b = start_child(append_lines, "b");
	CHECK_EQ(end_child(a), 0);
	CHECK_EQ(end_child(b), 0);
	int fd = must_open("log", O_RDONLY, 0);
	while (read(fd, line, sizeof(line)) == (ssize_t)sizeof(line)) {
		CHECK(!memcmp(line, line + 1, sizeof(line) - 1));
		counts[line[0] == 'b']++;
	}
	CHECK_EQ(counts[0], 500);
	CHECK_EQ(counts[1], 500);
	close(fd);
}

TEST(sizes_and_times_are_seen_through_other_descriptors_at_once)
{
	int writer = must_open("grows", O_CREAT | O_WRONLY | O_TRUNC, 0644);
	int reader = must_open("grows", O_RDONLY, 0);
	struct stat before, after;

	for (int i = 1; i <= 50; i++) {
		CHECK_EQ(write(writer, "0123456789", 10), 10);
		CHECK_EQ(size_of(reader), 10 * i);
		CHECK_EQ(lseek(reader, 0, SEEK_END), 10 * i);
	}
	CHECK_EQ(stat("grows", &before), 0);
	pause_ms(20);
	CHECK_EQ(fchmod(writer, 0600), 0);
	CHECK_EQ(pwrite(writer, "x", 1, 0), 1);
	CHECK_EQ(stat("grows", &after), 0);
	CHECK(before.st_mtim.tv_nsec != after.st_mtim.tv_nsec);
	CHECK(before.st_ctim.tv_nsec != after.st_ctim.tv_nsec);
	CHECK_EQ(after.st_mode & 0777, 0600);
	close(writer);
	close(reader);
}

TEST(direct_io_can_be_switched_on_and_off)
{
	char *block = aligned(64 * KIB, 'd');
	int fd = must_open("direct", O_CREAT | O_RDWR | O_TRUNC, 0644);

	CHECK_EQ(pwrite(fd, block, 100, 1), 100);
	CHECK_EQ(fcntl(fd, F_SETFL, O_DIRECT), 0);
	CHECK_EQ(pwrite(fd, block, 64 * KIB, 0), 64 * KIB);
	CHECK_EQ(pread(fd, block, 4 * KIB, 60 * KIB), 4 * KIB);
	CHECK_EQ(fcntl(fd, F_SETFL, 0), 0);
	CHECK_EQ(pwrite(fd, block, 519, 3), 519);
	CHECK_EQ(size_of(fd), 64 * KIB);
	close(fd);
	free(block);
}

TEST(a_file_opened_for_direct_io_can_be_mapped)
{
	int fd = must_open("direct-map", O_CREAT | O_RDWR | O_TRUNC | O_DIRECT, 0644);

	CHECK_EQ(ftruncate(fd, 10000), 0);
	char *map = mmap(NULL, 10000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!CHECK(map != MAP_FAILED))
		return;
	map[9999] = 'z'; /* in a page that the file ends in */
	CHECK_EQ(msync(map, 10000, MS_SYNC), 0);
	int other = must_open("direct-map", O_RDONLY, 0);
	char c = 0;
	CHECK_EQ(pread(other, &c, 1, 9999), 1);
	CHECK_EQ(c, 'z');
	munmap(map, 10000);
	close(other);
	close(fd);
}

TEST(mappings_and_calls_see_each_other)
{
	enum { SIZE = 256 * KIB };
	int fd = must_open("mapped", O_CREAT | O_RDWR | O_TRUNC, 0644);
	int other = must_open("mapped", O_RDWR, 0);

	CHECK_EQ(ftruncate(fd, SIZE), 0);
	char *map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!CHECK(map != MAP_FAILED))
		return;
	for (int at = 0; at < SIZE; at += 4096) {
		char byte = 0, next = (char)(at / 4096 + 1);
		map[at] = (char)(at / 4096);
		CHECK_EQ(pread(other, &byte, 1, at), 1);
		CHECK_EQ(byte, map[at]);
		CHECK_EQ(pwrite(other, &next, 1, at + 1), 1);
		CHECK_EQ(map[at + 1], next);
	}
	CHECK_EQ(unlink("mapped"), 0);
	memset(map, 5, SIZE);
	CHECK_EQ(msync(map, SIZE, MS_SYNC), 0);
	char c = 0;
	CHECK_EQ(pread(other, &c, 1, SIZE - 1), 1);
	CHECK_EQ(c, 5);
	munmap(map, SIZE);
	close(fd);
	close(other);
}

TEST(large_calls_from_odd_addresses_are_whole)
{
	char *data = aligned(5 * MIB + 4096, 'x');
	char *back = aligned(5 * MIB, 0);
	int fd = must_open("large", O_CREAT | O_RDWR | O_TRUNC, 0644);

	for (int i = 0; i < 5 * MIB; i++)
		data[i + 333] = (char)(i * 31 / 7);
	CHECK_EQ(pwrite(fd, data + 333, 5 * MIB, 77), 5 * MIB);
	CHECK_EQ(pread(fd, back, 5 * MIB, 77), 5 * MIB);
	CHECK(!memcmp(data + 333, back, 5 * MIB));
	CHECK_EQ(pwrite(fd, "far", 3, INT64_C(6) << 30), 3);
	CHECK_EQ(size_of(fd), (INT64_C(6) << 30) + 3);
	CHECK_EQ(unlink("large"), 0);
	close(fd);
	free(data);
	free(back);
}

TEST(durable_writes_by_flag_of_file_or_call)
{
	struct iovec iov = {(void *)(uintptr_t) "abc", 3};
	int fd = must_open("durable", O_CREAT | O_RDWR | O_DSYNC, 0644);

	CHECK_EQ(write(fd, "abc", 3), 3);
	CHECK_EQ(pwritev2(fd, &iov, 1, 3, RWF_SYNC), 3);
	CHECK_EQ(pwritev2(fd, &iov, 1, 0, RWF_APPEND), 3);
	CHECK_EQ(size_of(fd), 9);
	close(fd);
	fd = must_open("durable", O_RDONLY, 0);
	CHECK_EQ(fsync(fd), 0);
	CHECK_EQ(fdatasync(fd), 0);
	CHECK_EQ(syncfs(fd), 0);
	close(fd);
	fd = must_open(".", O_RDONLY | O_DIRECTORY, 0);
	CHECK_EQ(fsync(fd), 0);
	CHECK_EQ(fdatasync(fd), 0);
	close(fd);
}

static void on_tick(int number)
{
	(void)number;
}

static int write_and_read_large(const char *data, char *back)
{
	int fd = must_open("ticks", O_CREAT | O_RDWR | O_TRUNC, 0644);

	for (int i = 0; i < 20; i++) {
		if (pwrite(fd, data, 4 * MIB, 0) != 4 * MIB || fsync(fd))
			return 1;
		if (pread(fd, back, 4 * MIB, 0) != 4 * MIB || ftruncate(fd, 0))
			return 2;
		int other = open("ticks2", O_CREAT | O_RDWR, 0644);
		if (other < 0 || close(other) || rename("ticks2", "ticks3") || unlink("ticks3"))
			return 3;
	}
	return close(fd) ? 4 : 0;
}

/* Files are no pipes: a signal neither fails a call nor makes it short. */
TEST(signals_do_not_cut_calls)
{
	struct sigaction action = {.sa_handler = on_tick}, before;
	struct itimerval often = {{0, 500}, {0, 500}}, never = {0};
	char *data = aligned(4 * MIB, 's'), *back = aligned(4 * MIB, 0);

	sigaction(SIGALRM, &action, &before);
	setitimer(ITIMER_REAL, &often, NULL);
	int r = write_and_read_large(data, back);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	CHECK_EQ(r, 0);
	CHECK(!memcmp(data, back, 4 * MIB));
	free(data);
	free(back);
}

static int write_for_ever(const void *arg)
{
	char *data = aligned(4 * MIB, 'k');
	int fd = must_open("killed", O_CREAT | O_RDWR, 0644);

	for (;;)
		if (pwrite(fd, data, 4 * MIB, 0) != 4 * MIB)
			return 1;
}

/* In the middle of a call; what it locked and had open is free at once. */
TEST(who_is_killed_in_a_call_is_gone)
{
	for (int i = 0; i < 5; i++) {
		pid_t pid = start_child(write_for_ever, NULL);
		pause_ms(30);
		kill(pid, SIGKILL);
		CHECK_EQ(end_child(pid), 126);
		int fd = must_open("killed", O_CREAT | O_RDWR, 0644);
		CHECK_EQ(ftruncate(fd, 3), 0);
		CHECK_EQ(size_of(fd), 3);
		CHECK_EQ(close(fd), 0);
		CHECK_EQ(unlink("killed"), 0);
	}
}

TEST(holes_are_made_and_found)
{
	char *block = aligned(64 * KIB, 'h');
	int fd = must_open("holes", O_CREAT | O_RDWR | O_TRUNC, 0644);

	CHECK_EQ(pwrite(fd, block, 64 * KIB, 2 * MIB), 64 * KIB);
	CHECK_EQ(fsync(fd), 0);
	CHECK_EQ(lseek(fd, 0, SEEK_DATA), 2 * MIB);
	CHECK_EQ(lseek(fd, 2 * MIB, SEEK_HOLE), 2 * MIB + 64 * KIB);
	CHECK(lseek(fd, 3 * MIB, SEEK_DATA) < 0 && errno == ENXIO);
	CHECK_EQ(fallocate(fd, FALLOC_FL_KEEP_SIZE, 8 * MIB, MIB), 0);
	CHECK_EQ(size_of(fd), 2 * MIB + 64 * KIB);
	CHECK_EQ(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2 * MIB, 4096), 0);
	char c = 1;
	CHECK_EQ(pread(fd, &c, 1, 2 * MIB + 5), 1);
	CHECK_EQ(c, 0);
	CHECK_EQ(fallocate(fd, 0, 0, 4 * MIB), 0);
	CHECK_EQ(size_of(fd), 4 * MIB);
	close(fd);
	free(block);
}

TEST(ranges_are_copied_inside)
{
	char *data = aligned(MIB, 'c');
	int from = must_open("from", O_CREAT | O_RDWR | O_TRUNC, 0644);
	int to = must_open("to", O_CREAT | O_RDWR | O_TRUNC, 0644);
	loff_t at = 0, to_at = 100;

	CHECK_EQ(pwrite(from, data, MIB, 0), MIB);
	while (at < MIB)
		if (!CHECK(copy_file_range(from, &at, to, &to_at, (size_t)(MIB - at), 0) > 0))
			break;
	CHECK_EQ(size_of(to), MIB + 100);
	CHECK_EQ(copy_file_range(from, &at, to, &to_at, 4096, 0), 0);
	close(from);
	close(to);
	free(data);
}

TEST(truncation_by_every_way)
{
	char bytes[8] = {0};
	int fd = must_open("cut", O_CREAT | O_RDWR | O_TRUNC, 0644);

	CHECK_EQ(write(fd, "12345678", 8), 8);
	CHECK_EQ(truncate("cut", 5), 0);
	CHECK_EQ(pread(fd, bytes, 8, 0), 5);
	CHECK_EQ(ftruncate(fd, 8), 0);
	CHECK_EQ(pread(fd, bytes, 8, 0), 8);
	CHECK(!memcmp(bytes, "12345\0\0", 8));
	close(must_open("cut", O_WRONLY | O_TRUNC, 0));
	CHECK_EQ(size_of(fd), 0);
	close(fd);
}

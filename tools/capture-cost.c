/* SPDX-License-Identifier: MIT */
#include "capture-cost.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "cleanup.h"
#include "clock.h"

#define BATCHES 15 /* the median of them counts */
#define CALLS   16
#define LARGE   (64 * 1024)

struct call {
	ssize_t (*make)(int fd, void *data, size_t size);
	size_t size;
};

static ssize_t call_write(int fd, void *data, size_t size)
{
	return pwrite(fd, data, size, 0);
}

static ssize_t call_read(int fd, void *data, size_t size)
{
	return pread(fd, data, size, 0);
}

static ssize_t call_statfs(int fd, void *data, size_t size)
{
	(void)size;
	return fstatvfs(fd, data);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* CPU time of one such call to the calling thread; 0 if it fails. */
static uint64_t call_cpu_ns(int fd, const struct call *call, void *data)
{
	uint64_t means[BATCHES];

	for (size_t b = 0; b < BATCHES; b++) {
		uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		for (int i = 0; i < CALLS; i++)
			if (call->make(fd, data, call->size) < 0)
				return 0;
		means[b] = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / CALLS;
	}
	qsort(means, BATCHES, sizeof(means[0]), by_value);
	return means[BATCHES / 2];
}

struct capture_cost capture_cost_measure(int dir_fd)
{
	static const struct call statfs_call = {call_statfs, 0};
	static const struct call small[] = {{call_write, 1}, {call_read, 1}};
	static const struct call large[] = {{call_write, LARGE}, {call_read, LARGE}};
	auto_close int fd = openat(dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	auto_free void *data = aligned_alloc(4096, LARGE);
	uint64_t calls_ns = 0, large_ns = 0;

	if (!data)
		return (struct capture_cost){0};
	memset(data, 0, LARGE);
	for (size_t i = 0; fd >= 0 && i < ARRAY_SIZE(small); i++) {
		calls_ns += call_cpu_ns(fd, &small[i], data);
		large_ns += call_cpu_ns(fd, &large[i], data);
	}
	if (!calls_ns)
		return (struct capture_cost){.call_ns = call_cpu_ns(dir_fd, &statfs_call, data)};
	return (struct capture_cost){
		.call_ns = calls_ns / ARRAY_SIZE(small),
		.kib_ns = large_ns > calls_ns
	                          ? (large_ns - calls_ns) / ARRAY_SIZE(small) / (LARGE / 1024)
	                          : 0,
	};
}

/* SPDX-License-Identifier: MIT */
/*
 * The CPU clock of another thread. For a process of one thread it is the process's clock, which
 * clock_gettime() reads for anyone (0.25 us). A single thread of a process with several can only be
 * asked of /proc/TID/schedstat (0.5 us on a descriptor kept open), which lags by the time slice
 * that is running: the caller has blocked or is about to.
 */
#include "tasks.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cleanup.h"
#include "clock.h"
#include "io.h"
#include "map.h"
#include "vec.h"

#define MAX_SCHEDSTATS 2048 /* descriptors kept; threads beyond that have no CPU time */

struct entry {
	uint32_t tid, tgid;
	uint32_t index;
	bool own;
	bool alone;      /* the only thread of its process when it was first seen */
	int schedstat;   /* -1 = not open */
	uint64_t cpu_ns; /* as last read: going back means another thread under the same number */
};

struct tasks {
	pthread_mutex_t lock;
	struct map by_tid; /* tid -> index into all */
	VEC(struct entry *) all;
	struct trace_writer *writer;
	uint32_t own_pid;
	unsigned schedstats;
};

struct tasks *tasks_new(struct trace_writer *w)
{
	struct tasks *c = ALLOC(struct tasks);

	pthread_mutex_init(&c->lock, NULL);
	c->writer = w;
	c->own_pid = (uint32_t)getpid();
	return c;
}

void tasks_free(struct tasks *c)
{
	if (!c)
		return;
	vec_each (e, &c->all) {
		if ((*e)->schedstat >= 0)
			close((*e)->schedstat);
		free(*e);
	}
	vec_free(&c->all);
	map_free(&c->by_tid);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* A number behind "Key:" in /proc/TID/status. */
static uint32_t status_number(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at ? (uint32_t)strtoul(at + strlen(key), NULL, 10) : 0;
}

static void read_comm(uint32_t tid, char comm[16])
{
	auto_free char *path = xasprintf("/proc/%u/comm", tid);
	auto_free char *text = read_text(path);

	if (text)
		snprintf(comm, 16, "%s", text);
}

static void identify(struct entry *e, struct trace_thread *thread)
{
	auto_free char *path = xasprintf("/proc/%u/status", e->tid);
	auto_free char *status = read_text(path);

	e->tgid = status ? status_number(status, "\nTgid:") : 0;
	e->alone = status && e->tgid == e->tid && status_number(status, "\nThreads:") == 1;
	thread->tid = e->tid;
	thread->tgid = e->tgid;
	read_comm(e->tid, thread->comm);
}

static struct entry *find(struct tasks *c, uint32_t tid)
{
	uint64_t *at = map_get(&c->by_tid, tid, 0);

	return at ? c->all.at[*at] : NULL;
}

static void declare(struct tasks *c, struct entry *e, uint32_t uid, uint32_t gid)
{
	struct trace_thread thread = {.uid = uid, .gid = gid};

	identify(e, &thread);
	e->own = e->tgid == c->own_pid;
	e->cpu_ns = 0;
	if (e->schedstat >= 0) {
		close(e->schedstat);
		c->schedstats--;
		e->schedstat = -1;
	}
	struct entry *first = find(c, e->tgid);
	if (first && first != e)
		first->alone = false;
	if (c->writer && !e->own)
		e->index = trace_writer_thread(c->writer, &thread);
}

static struct entry *make(struct tasks *c, uint32_t tid, uint32_t uid, uint32_t gid)
{
	struct entry *e = ALLOC(struct entry);

	e->tid = tid;
	e->schedstat = -1;
	map_put(&c->by_tid, tid, 0, c->all.count);
	vec_push(&c->all, e);
	declare(c, e, uid, gid);
	return e;
}

/* MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED) of the kernel's posix-timers.h. */
static clockid_t process_clock(uint32_t pid)
{
	return (clockid_t)(~pid << 3) | 2;
}

static uint64_t read_process_clock(uint32_t pid)
{
	struct timespec t;

	if (clock_gettime(process_clock(pid), &t))
		return 0;
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

static uint64_t read_schedstat(struct tasks *c, struct entry *e)
{
	char text[96];

	if (e->schedstat < 0 && c->schedstats < MAX_SCHEDSTATS) {
		snprintf(text, sizeof(text), "/proc/%u/schedstat", e->tid);
		e->schedstat = open(text, O_RDONLY | O_CLOEXEC);
		c->schedstats += e->schedstat >= 0;
	}
	ssize_t n = e->schedstat < 0 ? -1 : pread(e->schedstat, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return 0;
	text[n] = 0;
	return strtoull(text, NULL, 10);
}

static uint64_t read_cpu(struct tasks *c, struct entry *e)
{
	return e->alone ? read_process_clock(e->tid) : read_schedstat(c, e);
}

struct task tasks_look(struct tasks *c, uint32_t tid, uint32_t uid, uint32_t gid)
{
	struct task result = {0};

	if (!tid)
		return result;
	pthread_mutex_lock(&c->lock);
	struct entry *e = find(c, tid);
	if (!e)
		e = make(c, tid, uid, gid);
	if (c->writer && !e->own) {
		uint64_t cpu_ns = read_cpu(c, e);
		if (cpu_ns < e->cpu_ns) {
			declare(c, e, uid, gid);
			cpu_ns = read_cpu(c, e);
		}
		e->cpu_ns = cpu_ns;
		result.cpu_ns = cpu_ns;
	}
	result.index = e->index;
	result.own = e->own;
	pthread_mutex_unlock(&c->lock);
	return result;
}

/* --- how large the caller's call is --- */

static uint64_t sum_vectors(uint32_t tid, uint64_t address, uint64_t count)
{
	struct iovec vectors[64];
	struct iovec local = {vectors, sizeof(vectors)};
	struct iovec remote = {(void *)(uintptr_t)address, count * sizeof(struct iovec)};
	uint64_t sum = 0;

	if (!count || count > ARRAY_SIZE(vectors))
		return 0;
	local.iov_len = remote.iov_len;
	if (process_vm_readv((pid_t)tid, &local, 1, &remote, 1, 0) != (ssize_t)remote.iov_len)
		return 0;
	for (uint64_t i = 0; i < count; i++)
		sum += vectors[i].iov_len;
	return sum;
}

uint64_t tasks_call_size(uint32_t tid)
{
	auto_free char *path = xasprintf("/proc/%u/syscall", tid);
	auto_free char *text = read_text(path);
	long number;
	unsigned long long args[3];

	if (!text || sscanf(text, "%ld %llx %llx %llx", &number, &args[0], &args[1], &args[2]) != 4)
		return 0;
	switch (number) {
	case SYS_read:
	case SYS_write:
	case SYS_pread64:
	case SYS_pwrite64:
		return args[2];
	case SYS_readv:
	case SYS_writev:
	case SYS_preadv:
	case SYS_pwritev:
	case SYS_preadv2:
	case SYS_pwritev2:
		return sum_vectors(tid, args[1], args[2]);
	}
	return 0;
}

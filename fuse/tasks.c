/* SPDX-License-Identifier: MIT */
/*
 * The CPU clock of another thread. For a process of one thread it is the process's clock, which
 * clock_gettime() reads for anyone (0.25 us). A single thread of a process with several can only be
 * asked of /proc/TID/schedstat (0.5 us on a descriptor kept open), which lags by the time slice
 * that is running: the caller has blocked or is about to.
 */
#include "tasks.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cleanup.h"
#include "clock.h"
#include "io.h"
#include "map.h"
#include "vec.h"

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL /* Linux 6.9 */
#endif

#define MAX_KEPT    128 /* descriptors of /proc kept open */
#define PAGE        4096
#define FIRST_PIECE 128 /* bytes of a path */
#define REUSE_NS    NSEC_PER_SEC

struct entry {
	uint32_t tid, tgid;
	uint32_t index;
	bool own;
	bool ended;             /* as far as a probe says; its number may be given again */
	bool alone;             /* the only thread of its process when it was first seen */
	int schedstat, syscall; /* of /proc/TID, kept open; -1 = not yet */
	/* Another thread under the same number has another birth, or has used less CPU time. */
	uint64_t born;    /* see birth() */
	uint64_t cpu_ns;  /* as last read */
	uint64_t seen_ns; /* when it last called */
};

struct tasks {
	pthread_mutex_t lock;
	struct map by_tid; /* tid -> index into all */
	VEC(struct entry *) all;
	struct trace_writer *writer;
	const struct capture_clock *clock;
	uint32_t own_pid;
	int *keepers[MAX_KEPT]; /* places in entries; the oldest is next */
	unsigned next_keeper;
	uint64_t closed; /* of those, so far */
};

static void let_go(struct tasks *c, int *fd)
{
	if (*fd < 0)
		return;
	close(*fd);
	*fd = -1;
	c->closed++;
}

/* A file of /proc/TID, opened once; the thread that has kept one for longest gives its place. */
static int keep_open(struct tasks *c, int *fd, uint32_t tid, const char *file)
{
	char path[64];

	if (*fd >= 0)
		return *fd;
	if (c->keepers[c->next_keeper])
		let_go(c, c->keepers[c->next_keeper]);
	snprintf(path, sizeof(path), "/proc/%u/%s", tid, file);
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	c->keepers[c->next_keeper] = fd;
	c->next_keeper = (c->next_keeper + 1) % MAX_KEPT;
	return *fd;
}

struct tasks *tasks_new(struct trace_writer *w, const struct capture_clock *clock)
{
	struct tasks *c = ALLOC(struct tasks);

	pthread_mutex_init(&c->lock, NULL);
	c->writer = w;
	c->clock = clock;
	c->own_pid = (uint32_t)getpid();
	return c;
}

void tasks_free(struct tasks *c)
{
	if (!c)
		return;
	vec_each (e, &c->all) {
		let_go(c, &(*e)->schedstat);
		let_go(c, &(*e)->syscall);
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

/*
 * A number that no other thread ever has (Linux 6.9; 0 = not known). /proc/TID/stat would tell the
 * start, but it waits for an execve() of the thread to end, which waits for us when it closes files.
 */
static uint64_t birth(uint32_t tid)
{
	auto_close int fd = pidfd_open((pid_t)tid, PIDFD_THREAD);
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) ? (uint64_t)st.st_ino : 0;
}

static void read_comm(uint32_t tid, char comm[16])
{
	auto_free char *path = xasprintf("/proc/%u/comm", tid);
	auto_free char *text = read_text(path);

	if (text)
		snprintf(comm, 16, "%s", text);
}

/* What /proc knows of it; of a thread that is gone, what was known before stays. */
static void identify(struct entry *e, struct trace_thread *thread)
{
	auto_free char *path = xasprintf("/proc/%u/status", e->tid);
	auto_free char *status = read_text(path);

	e->tgid = status ? status_number(status, "\nTgid:") : thread->tgid;
	e->alone = status && e->tgid == e->tid && status_number(status, "\nThreads:") == 1;
	e->born = birth(e->tid);
	thread->tgid = e->tgid;
	if (status && thread->uid == UINT32_MAX) {
		thread->uid = status_number(status, "\nUid:");
		thread->gid = status_number(status, "\nGid:");
	}
	read_comm(e->tid, thread->comm);
}

static struct entry *find(struct tasks *c, uint32_t tid)
{
	uint64_t *at = map_get(&c->by_tid, tid, 0);

	return at ? c->all.at[*at] : NULL;
}

static void declare(struct tasks *c, struct entry *e, struct trace_thread thread)
{
	identify(e, &thread);
	e->own = e->tgid == c->own_pid;
	e->ended = false;
	e->cpu_ns = 0;
	e->seen_ns = now_ns();
	let_go(c, &e->schedstat);
	let_go(c, &e->syscall);
	struct entry *first = find(c, e->tgid);
	if (first && first != e)
		first->alone = false;
	if (c->writer && !e->own)
		e->index = trace_writer_thread(c->writer, &thread);
}

static struct entry *make(struct tasks *c, struct trace_thread thread)
{
	struct entry *e = ALLOC(struct entry);

	e->tid = thread.tid;
	e->schedstat = e->syscall = -1;
	map_put(&c->by_tid, e->tid, 0, c->all.count);
	vec_push(&c->all, e);
	declare(c, e, thread);
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
	int fd = keep_open(c, &e->schedstat, e->tid, "schedstat");
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = 0;
	return strtoull(text, NULL, 10);
}

static uint64_t read_cpu(struct tasks *c, struct entry *e)
{
	if (c->clock)
		return c->clock->cpu_ns(c->clock->arg, e->tid);
	return e->alone ? read_process_clock(e->tid) : read_schedstat(c, e);
}

/* Numbers come round no faster than this; a thread that calls all the time is not asked again. */
static bool is_another(struct entry *e)
{
	uint64_t now = now_ns();
	bool looked = now - e->seen_ns < REUSE_NS;

	e->seen_ns = now;
	return !looked && birth(e->tid) != e->born;
}

struct task tasks_look(struct tasks *c, uint32_t tid, uint32_t uid, uint32_t gid)
{
	const struct trace_thread thread = {.tid = tid, .uid = uid, .gid = gid};
	struct task result = {0};

	if (!tid)
		return result;
	pthread_mutex_lock(&c->lock);
	struct entry *e = find(c, tid);
	if (!e)
		e = make(c, thread);
	if (c->writer && !e->own) {
		uint64_t cpu_ns = read_cpu(c, e);
		if (cpu_ns < e->cpu_ns || is_another(e)) {
			declare(c, e, thread);
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

uint32_t tasks_index(struct tasks *c, uint32_t tid, uint32_t tgid, const char *name)
{
	struct trace_thread thread = {
		.tid = tid, .tgid = tgid, .uid = UINT32_MAX, .gid = UINT32_MAX};

	if (name)
		snprintf(thread.comm, sizeof(thread.comm), "%s", name);
	pthread_mutex_lock(&c->lock);
	struct entry *e = find(c, tid);
	if (!e)
		e = make(c, thread);
	else if (e->ended && name)
		declare(c, e, thread);
	uint32_t index = e->index;
	pthread_mutex_unlock(&c->lock);
	return index;
}

void tasks_ended(struct tasks *c, uint32_t tid)
{
	pthread_mutex_lock(&c->lock);
	struct entry *e = find(c, tid);
	if (e)
		e->ended = true;
	pthread_mutex_unlock(&c->lock);
}

/* --- the call a thread is in --- */

#define CALL_ARGS 6

struct call {
	long number;
	unsigned long long args[CALL_ARGS];
};

/* "NUMBER 0xARG 0xARG ... SP PC"; by hand, because sscanf() takes longer than the kernel does. */
static bool parse_call(const char *text, struct call *ret)
{
	char *end;

	ret->number = strtol(text, &end, 10);
	if (end == text)
		return false; /* "running" */
	for (unsigned i = 0; i < CALL_ARGS; i++) {
		unsigned long long value = 0;
		if (end[0] != ' ' || end[1] != '0')
			return false;
		for (end += 3; isxdigit((unsigned char)*end); end++)
			value = value << 4 | (unsigned)(*end <= '9' ? *end - '0' : *end - 'a' + 10);
		ret->args[i] = value;
	}
	return true;
}

/*
 * Without the lock, because the kernel may let the reader wait for a thread that has been preempted
 * on its way to sleep. If a descriptor was closed meanwhile it may have been this one: not known.
 */
static bool read_call(struct tasks *c, uint32_t tid, struct call *ret)
{
	char text[192];
	int fd = -1;

	pthread_mutex_lock(&c->lock);
	struct entry *e = find(c, tid);
	if (e)
		fd = keep_open(c, &e->syscall, tid, "syscall");
	uint64_t closed = c->closed;
	pthread_mutex_unlock(&c->lock);
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
	pthread_mutex_lock(&c->lock);
	bool same = c->closed == closed;
	pthread_mutex_unlock(&c->lock);
	if (n <= 0 || !same)
		return false;
	text[n] = 0;
	return parse_call(text, ret);
}

static uint64_t sum_vectors(uint32_t tid, uint64_t address, uint64_t count)
{
	struct iovec vectors[64];
	struct iovec local = {vectors, count * sizeof(struct iovec)};
	struct iovec remote = {(void *)(uintptr_t)address, count * sizeof(struct iovec)};
	uint64_t sum = 0;

	if (!count || count > ARRAY_SIZE(vectors))
		return 0;
	if (process_vm_readv((pid_t)tid, &local, 1, &remote, 1, 0) != (ssize_t)remote.iov_len)
		return 0;
	for (uint64_t i = 0; i < count; i++)
		sum += vectors[i].iov_len;
	return sum;
}

uint64_t tasks_call_size(struct tasks *c, uint32_t tid)
{
	struct call call;

	if (!read_call(c, tid, &call))
		return 0;
	switch (call.number) {
	case SYS_read:
	case SYS_write:
	case SYS_pread64:
	case SYS_pwrite64:
		return call.args[2];
	case SYS_readv:
	case SYS_writev:
	case SYS_preadv:
	case SYS_pwritev:
	case SYS_preadv2:
	case SYS_pwritev2:
		return sum_vectors(tid, call.args[1], call.args[2]);
	}
	return 0;
}

/* Bytes at `address`, up to the end of a page; how many. */
static size_t read_piece(uint32_t tid, uint64_t address, char *out, size_t room)
{
	size_t size = min_u64(room, PAGE - address % PAGE);
	struct iovec local = {out, size};
	struct iovec remote = {(void *)(uintptr_t)address, size};
	ssize_t n = process_vm_readv((pid_t)tid, &local, 1, &remote, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

/* The string at `address`, as far as it can be read: mostly short, so little at first. */
static void read_string(uint32_t tid, uint64_t address, char out[PATH_MAX])
{
	size_t have = 0, room = FIRST_PIECE;

	out[0] = 0;
	while (have < PATH_MAX - 1) {
		size_t n = read_piece(tid, address + have, out + have, room);
		if (!n || memchr(out + have, 0, n))
			return;
		have += n;
		out[have] = 0;
		room = PATH_MAX - 1 - have;
	}
}

/* What the path that a thread passed ends in, in `path`; "" for an empty one. */
static const char *last_component(uint32_t tid, uint64_t address, char path[PATH_MAX])
{
	read_string(tid, address, path);
	size_t len = strlen(path);
	while (len > 1 && path[len - 1] == '/')
		path[--len] = 0;
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Which argument of a call for attributes is its path: -1 = it has none, -2 = another call. */
static int stat_path(const struct call *call)
{
	switch (call->number) {
#ifdef SYS_stat
	case SYS_stat:
	case SYS_lstat:
		return 0;
#endif
	case SYS_fstat:
		return -1;
	case SYS_newfstatat:
	case SYS_statx:
		return 1;
	}
	return -2;
}

bool tasks_call_stats(struct tasks *c, uint32_t tid, const char *name)
{
	char path[PATH_MAX];
	struct call call;
	int at = read_call(c, tid, &call) ? stat_path(&call) : -2;

	if (at < 0)
		return at == -1;
	const char *last = last_component(tid, call.args[at], path);
	return !*last || !strcmp(last, name) || !strcmp(last, ".") || !strcmp(last, "..");
}

/* Asked without a log too, where nobody has made the thread known. */
static void know(struct tasks *c, uint32_t tid)
{
	pthread_mutex_lock(&c->lock);
	if (!find(c, tid))
		make(c, (struct trace_thread){.tid = tid});
	pthread_mutex_unlock(&c->lock);
}

bool tasks_call_changes_owner(struct tasks *c, uint32_t tid)
{
	struct call call;

	know(c, tid);
	if (!read_call(c, tid, &call))
		return false;
#ifdef SYS_chown
	if (call.number == SYS_chown || call.number == SYS_lchown)
		return true;
#endif
	return call.number == SYS_fchown || call.number == SYS_fchownat;
}

bool tasks_call_reads_link(struct tasks *c, uint32_t tid)
{
	struct call call;

	if (!read_call(c, tid, &call))
		return true;
#ifdef SYS_readlink
	if (call.number == SYS_readlink)
		return true;
#endif
	return call.number == SYS_readlinkat;
}

/* SPDX-License-Identifier: MIT */
/* What the probe reports of a child that makes known calls; the order of the ring's reader. */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <limits.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "cleanup.h"
#include "clock.h"
#include "drain.h"
#include "probe.h"
#include "vec.h"

/* --- the ring's reader --- */

#define RING 4096u
#define BUSY 0x80000000u
#define GONE 0x40000000u

struct fake {
	unsigned long consumer, producer;
	char data[2 * RING];
	VEC(uint64_t) taken;
	struct drain drain;
};

static uint64_t fake_time(const void *record, size_t size)
{
	uint64_t at_ns;

	memcpy(&at_ns, record, sizeof(at_ns));
	return at_ns;
}

static void fake_take(const void *record, size_t size, void *arg)
{
	struct fake *f = arg;

	vec_push(&f->taken, fake_time(record, size));
}

static void fake_init(struct fake *f)
{
	*f = (struct fake){0};
	f->drain.ring = (struct drain_ring){&f->consumer, &f->producer, f->data, RING};
	f->drain.time = fake_time;
	f->drain.take = fake_take;
	f->drain.arg = f;
}

static void fake_done(struct fake *f)
{
	drain_done(&f->drain);
	vec_free(&f->taken);
}

/* Reserve a record of `size` bytes; returns where its header is. */
static unsigned long fake_put(struct fake *f, uint64_t at_ns, uint32_t size, uint32_t state)
{
	unsigned long at = f->producer, place = at % RING;
	uint32_t head = size | state;

	memcpy(f->data + place, &head, sizeof(head));
	/* The kernel maps the ring twice in a row; here what runs over the end is copied. */
	memcpy(f->data + place + 8, &at_ns, sizeof(at_ns));
	f->producer += (size + 8 + 7) / 8 * 8;
	return place;
}

TEST(records_come_in_the_order_of_time)
{
	struct fake f;

	fake_init(&f);
	fake_put(&f, 30, 8, 0);
	fake_put(&f, 10, 24, 0);
	fake_put(&f, 99, 16, GONE);
	fake_put(&f, 20, 16, 0);
	CHECK_EQ(drain_round(&f.drain, 25), 3);
	CHECK_EQ(f.taken.count, 2);
	CHECK_EQ(f.consumer, f.producer);
	fake_put(&f, 26, 16, 0);
	drain_round(&f.drain, 40);
	CHECK_EQ(f.taken.count, 4);
	for (size_t i = 0; i < f.taken.count; i++)
		CHECK_EQ(f.taken.at[i], ((uint64_t[]){10, 20, 26, 30})[i]);
	CHECK_EQ(f.drain.given, 4);
	fake_done(&f);
}

TEST(nothing_is_given_out_while_an_earlier_place_is_not_filled)
{
	struct fake f;

	fake_init(&f);
	fake_put(&f, 10, 8, 0);
	unsigned long place = fake_put(&f, 11, 8, BUSY);
	fake_put(&f, 12, 8, 0);
	CHECK_EQ(drain_round(&f.drain, 100), 1);
	CHECK_EQ(f.taken.count, 0);
	f.data[place + 3] = 0;
	CHECK_EQ(drain_round(&f.drain, 100), 2);
	CHECK_EQ(f.taken.count, 3);
	fake_done(&f);
}

TEST(a_ring_that_wraps_around_many_times)
{
	struct fake f;
	uint64_t next = 0;

	fake_init(&f);
	for (int round = 0; round < 500; round++) {
		/* Sizes that divide the ring: the copy behind its end is not made here. */
		for (int i = 0; i < 7; i++)
			fake_put(&f, ++next ^ 1, 24, 0);
		drain_round(&f.drain, next - 3);
	}
	drain_end(&f.drain);
	CHECK_EQ(f.taken.count, 3500);
	bool sorted = true;
	for (size_t i = 1; i < f.taken.count; i++)
		sorted &= f.taken.at[i - 1] <= f.taken.at[i];
	CHECK(sorted);
	CHECK(f.drain.peak_bytes >= 7 * 32);
	fake_done(&f);
}

/* --- the table --- */

TEST(calls_are_known_by_number)
{
	CHECK_EQ(probe_call_name(SYS_fsync), "fsync");
	CHECK_EQ(probe_call_name(SYS_getpid), (const char *)NULL);
	CHECK_EQ(probe_call_name(100000), (const char *)NULL);
	CHECK(probe_call_sets(SYS_sync_file_range) & PROBE_HIDDEN);
	CHECK(!(probe_call_sets(SYS_fsync) & PROBE_HIDDEN));
	CHECK(probe_call_sets(SYS_fsync) & PROBE_AUDIT);
	CHECK_EQ(probe_call_sets(SYS_getpid), 0);
}

/* --- a child that makes known calls --- */

#define WITH_WAITS 0x80 /* beside the set */

struct seen {
	struct probe_record r;
	char path[PROBE_PATHS][PATH_MAX];
};

struct scene {
	char dir[64];
	struct probe *probe;
	pthread_mutex_t lock;
	VEC(struct seen *) list;
	VEC(struct probe_wait) waits;
	bool in_order;
	uint64_t last_ns;
	pid_t child;
	struct probe_stats stats;
};

static void see(const struct probe_record *r, void *arg)
{
	struct scene *s = arg;
	struct seen *seen = ALLOC(struct seen);

	seen->r = *r;
	for (unsigned i = 0; i < PROBE_PATHS; i++)
		snprintf(seen->path[i], PATH_MAX, "%s", probe_path(r, i));
	pthread_mutex_lock(&s->lock);
	s->in_order &= r->exit_ns >= s->last_ns;
	s->last_ns = r->exit_ns;
	vec_push(&s->list, seen);
	pthread_mutex_unlock(&s->lock);
}

static void see_wait(const struct probe_wait *w, void *arg)
{
	struct scene *s = arg;

	s->in_order &= w->run_ns >= s->last_ns;
	s->last_ns = w->run_ns;
	vec_push(&s->waits, *w);
}

/* Run `what` in a child that is watched from its first call on. */
static bool scene_run(struct scene *s, unsigned set, void (*what)(const struct scene *s))
{
	struct error err = {0};
	int ends[2];
	char word = 'g';

	*s = (struct scene){.dir = "/tmp/test-probe-XXXXXX", .in_order = true};
	pthread_mutex_init(&s->lock, NULL);
	if (!CHECK(mkdtemp(s->dir)) || !CHECK(!pipe(ends)))
		return false;
	struct probe_options options = {
		.set = set, .dir = s->dir, .record = see, .clocks = true, .arg = s};
	if (set & WITH_WAITS)
		options.wait = see_wait;
	if (probe_open(&s->probe, &options, &err)) {
		rmdir(s->dir);
		check_skip(err.text);
		return false;
	}
	s->child = fork();
	if (!s->child) {
		if (read(ends[0], &word, 1) != 1 || chdir(s->dir))
			_exit(1);
		what(s);
		_exit(0);
	}
	CHECK_EQ(probe_watch(s->probe, s->child, &err), 0);
	CHECK_EQ(write(ends[1], &word, 1), 1);
	close(ends[0]);
	close(ends[1]);
	int status = -1;
	waitpid(s->child, &status, 0);
	CHECK_EQ(status, 0);
	probe_stop(s->probe, &s->stats);
	CHECK_EQ(s->stats.lost, 0);
	CHECK_EQ(s->stats.records, s->list.count + s->waits.count);
	CHECK(s->in_order);
	return true;
}

static void scene_done(struct scene *s)
{
	probe_close(s->probe);
	vec_each (seen, &s->list)
		free(*seen);
	vec_free(&s->list);
	vec_free(&s->waits);
	auto_free char *command = xasprintf("rm -r %s", s->dir);
	CHECK_EQ(system(command), 0);
}

/* The n-th record of a call, from 0; a record of zeros if there is none. */
static const struct seen *nth(const struct scene *s, unsigned nr, unsigned n)
{
	static const struct seen none;

	vec_each (seen, &s->list)
		if ((*seen)->r.kind == PROBE_CALL && (*seen)->r.nr == nr && !n--)
			return *seen;
	CHECK(!"the call was not reported");
	return &none;
}

static unsigned count(const struct scene *s, enum probe_kind kind, unsigned nr)
{
	unsigned n = 0;

	vec_each (seen, &s->list)
		n += (*seen)->r.kind == kind && (kind != PROBE_CALL || (*seen)->r.nr == nr);
	return n;
}

static void file_calls(const struct scene *s)
{
	char data[4096] = "x";
	struct iovec iov[3] = {{data, 100}, {data, 200}, {data, 300}};
	auto_free char *other = xasprintf("%s/b", s->dir);
	int fd = open("a", O_RDWR | O_CREAT, 0644);

	if (write(fd, data, 4096) != 4096 || pwrite(fd, data, 10, 5000) != 10)
		_exit(2);
	if (pwritev(fd, iov, 3, 8192) != 600 || fdatasync(fd))
		_exit(3);
	struct flock lock = {.l_type = F_WRLCK, .l_start = 7, .l_len = 9};
	if (fcntl(fd, F_SETLK, &lock) || rename("a", other) || close(fd))
		_exit(4);
	/* Not on the device, not below the directory. */
	close(open("/proc/self/stat", O_RDONLY));
	access("/proc/self", R_OK);
	access(other, R_OK);
	fsync(-1);
}

TEST(each_call_with_its_arguments_and_file)
{
	struct scene s;
	struct stat st;

	if (!scene_run(&s, PROBE_ALL, file_calls))
		return;
	const struct seen *o = nth(&s, SYS_openat, 0);
	CHECK_EQ(o->path[0], "a");
	CHECK_EQ(o->r.path_size[0], 1);
	CHECK(o->r.result >= 3);
	stat(s.dir, &st);
	CHECK_EQ(o->r.file[0].ino, st.st_ino);
	auto_free char *path = xasprintf("%s/b", s.dir);
	stat(path, &st);
	CHECK_EQ(o->r.file[1].ino, st.st_ino);
	CHECK_EQ(o->r.tgid, s.child);
	CHECK(o->r.exit_ns > o->r.enter_ns);
	const struct seen *p = nth(&s, SYS_pwrite64, 0);
	CHECK_EQ(p->r.args[3], 5000);
	CHECK_EQ(p->r.result, 10);
	CHECK_EQ(p->r.file[0].ino, st.st_ino);
	CHECK_EQ(p->r.file[0].mode, S_IFREG | 0644);
	CHECK_EQ(p->r.file[0].pos, 4096);
	CHECK_EQ(p->r.file[0].flags & O_ACCMODE, O_RDWR);
	CHECK_EQ(nth(&s, SYS_pwritev, 0)->r.bytes, 600);
	CHECK_EQ(nth(&s, SYS_fcntl, 0)->r.lock.start, 7);
	CHECK_EQ(nth(&s, SYS_fcntl, 0)->r.lock.size, 9);
	CHECK_EQ(nth(&s, SYS_rename, 0)->path[0], "a");
	CHECK_EQ(nth(&s, SYS_rename, 0)->path[1], path);
	CHECK_EQ(count(&s, PROBE_CALL, SYS_openat), 1);
	CHECK_EQ(count(&s, PROBE_CALL, SYS_access), 1);
	CHECK_EQ(count(&s, PROBE_CALL, SYS_close), 1);
	CHECK_EQ(count(&s, PROBE_CALL, SYS_fsync), 0);
	scene_done(&s);
}

static void hidden_calls(const struct scene *s)
{
	int fd = open("a", O_RDWR | O_CREAT, 0644);
	struct iovec iov = {(char[512]){""}, 512};

	if (ftruncate(fd, 8192) || sync_file_range(fd, 4096, 100, SYNC_FILE_RANGE_WRITE))
		_exit(2);
	if (posix_fadvise(fd, 0, 4096, POSIX_FADV_DONTNEED) || readahead(fd, 0, 4096) < 0)
		_exit(3);
	if (pwritev2(fd, &iov, 1, 0, RWF_DSYNC) != 512 || syncfs(fd))
		_exit(4);
	char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	map[100] = 1;
	if (msync(map, 8192, MS_SYNC) || madvise(map, 8192, MADV_WILLNEED) || munmap(map, 8192))
		_exit(5);
	/* Neither of the mount nor of any file. */
	map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(map, 8192);
	pid_t pid = fork();
	if (!pid) {
		fsync(fd);
		sync_file_range(fd, 0, 1, 0);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

TEST(what_fuse_does_not_see_and_nothing_else)
{
	static const unsigned once[] = {SYS_fadvise64, SYS_readahead, SYS_pwritev2, SYS_syncfs,
		SYS_mmap, SYS_msync, SYS_madvise, SYS_munmap};
	struct scene s;

	if (!scene_run(&s, PROBE_HIDDEN, hidden_calls))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(once); i++)
		if (!CHECK_EQ(count(&s, PROBE_CALL, once[i]), 1))
			printf("  %s\n", probe_call_name(once[i]));
	CHECK_EQ(count(&s, PROBE_CALL, SYS_sync_file_range), 2);
	CHECK_EQ(count(&s, PROBE_CALL, SYS_fsync), 0);
	CHECK_EQ(count(&s, PROBE_FORK, 0), 1);
	CHECK_EQ(count(&s, PROBE_EXIT, 0), 2);
	uint64_t ino = nth(&s, SYS_fadvise64, 0)->r.file[0].ino;
	CHECK_EQ(nth(&s, SYS_munmap, 0)->r.file[0].ino, ino);
	CHECK_EQ(nth(&s, SYS_msync, 0)->r.file[0].ino, ino);
	CHECK_EQ(nth(&s, SYS_pwritev2, 0)->r.args[5], RWF_DSYNC);
	CHECK(nth(&s, SYS_sync_file_range, 1)->r.tgid != (uint32_t)s.child);
	scene_done(&s);
}

static void ring_calls(const struct scene *s)
{
	struct io_uring ring;
	struct io_uring_cqe *cqe;
	int fd = open("a", O_RDWR | O_CREAT, 0644);

	if (io_uring_queue_init(8, &ring, 0) || io_uring_register_files(&ring, &fd, 1))
		_exit(2);
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
	io_uring_prep_write(sqe, fd, "0123456789", 10, 4096);
	io_uring_sqe_set_data64(sqe, 77);
	io_uring_sqe_set_flags(sqe, IOSQE_IO_LINK);
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_fsync(sqe, 0, IORING_FSYNC_DATASYNC);
	io_uring_sqe_set_data64(sqe, 78);
	io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
	if (io_uring_submit(&ring) != 2 || io_uring_wait_cqe_nr(&ring, &cqe, 2))
		_exit(3);
	io_uring_queue_exit(&ring);
}

static const struct seen *request(const struct scene *s, enum probe_kind kind, uint64_t data)
{
	static const struct seen none;

	vec_each (seen, &s->list)
		if ((*seen)->r.kind == kind && (*seen)->r.args[kind == PROBE_AIO ? 1 : 2] == data)
			return *seen;
	CHECK(!"the request was not reported");
	return &none;
}

TEST(requests_of_io_uring)
{
	struct scene s;

	if (!scene_run(&s, PROBE_HIDDEN, ring_calls))
		return;
	const struct probe_record *w = &request(&s, PROBE_URING, 77)->r;
	CHECK_EQ(w->args[0], IORING_OP_WRITE);
	CHECK(w->args[1] & IOSQE_IO_LINK);
	CHECK_EQ(w->args[3], 4096);
	CHECK_EQ(w->args[4], 10);
	CHECK_EQ(w->result, 10);
	CHECK_EQ(w->tid, s.child);
	const struct probe_record *f = &request(&s, PROBE_URING, 78)->r;
	CHECK_EQ(f->args[0], IORING_OP_FSYNC);
	CHECK_EQ(f->args[5], IORING_FSYNC_DATASYNC);
	CHECK_EQ(f->file[0].ino, w->file[0].ino);
	CHECK(f->exit_ns >= w->exit_ns);
	CHECK_EQ(count(&s, PROBE_URING, 0), 2);
	CHECK_EQ(nth(&s, SYS_io_uring_enter, 0)->r.args[1], 2);
	scene_done(&s);
}

static void aio_calls(const struct scene *s)
{
	aio_context_t ctx = 0;
	struct io_event events[3];
	int fd = open("a", O_RDWR | O_CREAT, 0644);
	struct iocb list[3] = {
		{.aio_data = 7,
			.aio_lio_opcode = IOCB_CMD_PWRITE,
			.aio_fildes = (uint32_t)fd,
			.aio_buf = (uintptr_t) "0123456789",
			.aio_nbytes = 10,
			.aio_offset = 100},
		{.aio_data = 8, .aio_lio_opcode = IOCB_CMD_FDSYNC, .aio_fildes = (uint32_t)fd},
		{.aio_data = 9, .aio_lio_opcode = IOCB_CMD_FDSYNC, .aio_fildes = 999},
	};
	struct iocb *batch[3] = {&list[0], &list[1], &list[2]};

	/* The third is refused, so two are accepted. */
	if (syscall(SYS_io_setup, 8, &ctx) || syscall(SYS_io_submit, ctx, 3, batch) != 2 ||
		syscall(SYS_io_getevents, ctx, 2, 2, events, NULL) != 2)
		_exit(2);
}

TEST(requests_of_libaio)
{
	struct scene s;

	if (!scene_run(&s, PROBE_HIDDEN, aio_calls))
		return;
	const struct probe_record *w = &request(&s, PROBE_AIO, 7)->r;
	CHECK_EQ(w->args[0], IOCB_CMD_PWRITE);
	CHECK_EQ(w->args[3], 100);
	CHECK_EQ(w->args[4], 10);
	CHECK_EQ(request(&s, PROBE_AIO, 8)->r.file[0].ino, w->file[0].ino);
	CHECK_EQ(count(&s, PROBE_AIO, 0), 2);
	CHECK_EQ(nth(&s, SYS_io_submit, 0)->r.result, 2);
	scene_done(&s);
}

static void long_paths(const struct scene *s)
{
	auto_free char *part = xasprintf("%0200d", 7);

	for (int i = 0; i < 10; i++)
		if (mkdir(part, 0755) || chdir(part))
			_exit(2);
	auto_free char *path = xasprintf("%s", s->dir);
	for (int i = 0; i < 10; i++) {
		char *longer = xasprintf("%s/%s", path, part);
		free(path);
		path = longer;
	}
	access(path, R_OK);
}

TEST(paths_of_any_length)
{
	struct scene s;

	if (!scene_run(&s, PROBE_AUDIT, long_paths))
		return;
	CHECK_EQ(count(&s, PROBE_CALL, SYS_mkdir), 10);
	const struct seen *a = nth(&s, SYS_access, 0);
	CHECK_EQ(a->r.result, 0);
	CHECK_EQ(a->r.path_size[0], strlen(s.dir) + 2010);
	CHECK_EQ(a->r.flags, 0);
	CHECK_EQ(strlen(a->path[0]), a->r.path_size[0]);
	scene_done(&s);
}

static void computing(const struct scene *s)
{
	int fd = open("a", O_RDWR | O_CREAT, 0644);

	sync_file_range(fd, 0, 1, 0);
	for (uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 20 * NSEC_PER_MSEC;
		clock_ns(CLOCK_THREAD_CPUTIME_ID) < until;)
		;
	usleep(20000);
	sync_file_range(fd, 0, 1, 0);
	sync_file_range(fd, 0, 1, 0);
}

TEST(cpu_time_between_two_calls)
{
	struct scene s;

	if (!scene_run(&s, PROBE_HIDDEN, computing))
		return;
	uint64_t at[3];
	for (unsigned i = 0; i < 3; i++)
		at[i] = nth(&s, SYS_sync_file_range, i)->r.cpu_ns;
	CHECK(at[1] - at[0] > 19 * NSEC_PER_MSEC);
	CHECK(at[1] - at[0] < 26 * NSEC_PER_MSEC);
	CHECK(at[2] - at[1] < 200 * NSEC_PER_USEC);
	scene_done(&s);
}

static void wait_for_each_other(const struct scene *s)
{
	int ends[2];
	char word;

	if (pipe(ends))
		_exit(2);
	pid_t pid = fork();
	if (!pid) {
		for (int i = 0; i < 10; i++)
			if (read(ends[0], &word, 1) != 1)
				_exit(3);
		_exit(0);
	}
	for (int i = 0; i < 10; i++) {
		usleep(3000);
		if (write(ends[1], "w", 1) != 1)
			_exit(4);
	}
	waitpid(pid, NULL, 0);
	sync();
}

static unsigned waits(const struct scene *s, enum probe_cause cause, long call, long waker_call)
{
	unsigned n = 0;

	vec_each (w, &s->waits)
		n += w->cause == cause && w->call == call + 1 && w->waker_call == waker_call + 1;
	return n;
}

TEST(who_waits_for_whom)
{
	struct scene s;

	if (!scene_run(&s, PROBE_HIDDEN | WITH_WAITS, wait_for_each_other))
		return;
	CHECK(waits(&s, PROBE_CAUSE_TIMER, SYS_clock_nanosleep, -1) >= 5);
	CHECK(waits(&s, PROBE_CAUSE_THREAD, SYS_read, SYS_write) >= 1);
	CHECK_EQ(waits(&s, PROBE_CAUSE_UNKNOWN, SYS_read, -1), 0);
	unsigned ended = 0;
	uint64_t child_ns = 0, parent_ns = 0, slept_ns = 0;
	vec_each (w, &s.waits) {
		bool child = w->tid != (uint32_t)s.child;
		*(child ? &child_ns : &parent_ns) += w->since_ns + w->blocked_ns + w->queued_ns;
		slept_ns += w->cause == PROBE_CAUSE_TIMER ? w->blocked_ns : 0;
		ended += w->cause == PROBE_CAUSE_END;
		CHECK(w->cpu_ns + w->served_ns <= w->since_ns + 1000);
		if (w->cause == PROBE_CAUSE_THREAD && child)
			CHECK_EQ(w->waker, (uint32_t)s.child);
	}
	CHECK_EQ(ended, 2);
	CHECK(slept_ns >= 10 * 3 * NSEC_PER_MSEC);
	CHECK(child_ns >= slept_ns && parent_ns >= child_ns);
	scene_done(&s);
}

static void many_calls(const struct scene *s)
{
	for (int process = 0; process < 4; process++) {
		if (fork())
			continue;
		int fd = open("a", O_RDWR | O_CREAT, 0644);
		for (int i = 0; i < 5000; i++)
			if (pwrite(fd, "x", 1, i) != 1)
				_exit(2);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
}

TEST(many_processes_lose_nothing_and_stay_in_order)
{
	struct scene s;

	if (!scene_run(&s, PROBE_ALL, many_calls))
		return;
	CHECK_EQ(count(&s, PROBE_CALL, SYS_pwrite64), 20000);
	scene_done(&s);
}

TEST(refusals)
{
	struct error err = {0};
	struct probe *p;
	struct probe_options options = {.set = PROBE_ALL, .dir = "/nowhere", .record = see};

	if (probe_possible(&err)) {
		check_skip(err.text);
		return;
	}
	CHECK_EQ(probe_open(&p, &options, &err), -ENOENT);
	CHECK(strstr(err.text, "/nowhere") != NULL);
	options.dir = NULL;
	if (!CHECK_EQ(probe_open(&p, &options, &err), 0))
		return;
	CHECK_EQ(probe_watch(p, 0x3fffff, &err), -ESRCH);
	probe_close(p);
}

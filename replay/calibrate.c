/* SPDX-License-Identifier: MIT */
/*
 * A trial is one operation with what must be done before and after it so that it can be done again.
 * The blocking call and the ring take turns, so that noise hits both alike; medians are compared.
 *
 * Whether a worker thread did the call is counted, not guessed from times: each item of work wakes
 * a worker once, and the kernel counts voluntary context switches of these threads (they are tasks
 * of this process, named iou-wrk-TID) where everybody may read them.
 */
#include "calibrate.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <liburing.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "cleanup.h"
#include "clock.h"
#include "io.h"
#include "step.h"
#include "vec.h"

#define ROUNDS        200
#define WARM_UP       4
#define FEW_ROUNDS    9
#define TRIAL_NS      (30 * NSEC_PER_MSEC)
#define TRIAL_MAX_NS  (120 * NSEC_PER_MSEC) /* if there are only a few rounds so far */
#define ALL_MAX_NS    (700 * NSEC_PER_MSEC)
#define BLOCK         8192 /* a database page */
#define FILE_SIZE     (UINT64_C(1) << 20)
#define MOSTLY_INLINE 4 /* inline: fewer than 1 of so many calls went to a worker */

_Static_assert(OP_LIMIT <= 64, "a set of operations fits in 64 bits");

/* Handle slots in the calibration's own table. */
enum { HANDLE_FILE, HANDLE_DIRECT, HANDLE_DIR, HANDLE_OTHER };

enum act {
	ACT_NONE,
	ACT_LOOKUP,
	ACT_GETATTR,
	ACT_MKDIR,
	ACT_RMDIR,
	ACT_CREATE,
	ACT_TMPFILE,
	ACT_OPEN,
	ACT_RELEASE,
	ACT_UNLINK,
	ACT_SYMLINK,
	ACT_UNLINK_SYMLINK,
	ACT_RENAME,
	ACT_RENAME_BACK,
	ACT_LINK,
	ACT_UNLINK_LINK,
	ACT_OPENDIR,
	ACT_RELEASEDIR,
	ACT_READ,
	ACT_WRITE,
	ACT_READ_DIRECT,
	ACT_WRITE_DIRECT,
	ACT_FSYNC,
	ACT_FDATASYNC,
	ACT_FSYNCDIR,
	ACT_SETXATTR,
	ACT_GETXATTR,
	ACT_ALLOCATE,
	ACT_PUNCH,
	ACT_GROW,
	ACT_SHRINK,
	ACT_COUNT,
};

#define NAMED(...)                                                                                 \
	.args = &(const struct step_args)                                                          \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static const struct step acts[ACT_COUNT] = {
	[ACT_LOOKUP] = {.op = OP_lookup, NAMED(.name = "file")},
	[ACT_GETATTR] = {.op = OP_getattr, .handle = HANDLE_FILE},
	[ACT_MKDIR] = {.op = OP_mkdir, NAMED(.name = "d", .mode = 0700)},
	[ACT_RMDIR] = {.op = OP_rmdir, NAMED(.name = "d")},
	[ACT_CREATE] = {.op = OP_create,
		.handle = HANDLE_OTHER,
		.flags = O_RDWR,
		NAMED(.name = "new", .mode = 0600)},
	[ACT_TMPFILE] = {.op = OP_tmpfile,
		.handle = HANDLE_OTHER,
		.flags = O_RDWR,
		NAMED(.mode = 0600)},
	[ACT_OPEN] = {.op = OP_open,
		.handle = HANDLE_OTHER,
		.flags = O_RDWR,
		NAMED(.name = "file")},
	[ACT_RELEASE] = {.op = OP_release, .handle = HANDLE_OTHER},
	[ACT_UNLINK] = {.op = OP_unlink, NAMED(.name = "new")},
	[ACT_SYMLINK] = {.op = OP_symlink, NAMED(.name = "s", .value = "file")},
	[ACT_UNLINK_SYMLINK] = {.op = OP_unlink, NAMED(.name = "s")},
	[ACT_RENAME] = {.op = OP_rename, NAMED(.name = "file", .name2 = "moved")},
	[ACT_RENAME_BACK] = {.op = OP_rename, NAMED(.name = "moved", .name2 = "file")},
	[ACT_LINK] = {.op = OP_link, NAMED(.name = "file", .name2 = "l")},
	[ACT_UNLINK_LINK] = {.op = OP_unlink, NAMED(.name = "l")},
	[ACT_OPENDIR] = {.op = OP_opendir, .handle = HANDLE_OTHER, NAMED(.name = ".")},
	[ACT_RELEASEDIR] = {.op = OP_releasedir, .handle = HANDLE_OTHER},
	[ACT_READ] = {.op = OP_read, .handle = HANDLE_FILE, .size = BLOCK},
	[ACT_WRITE] = {.op = OP_write,
		.handle = HANDLE_FILE,
		.size = BLOCK,
		.content = CONTENT_RANDOM},
	[ACT_READ_DIRECT] = {.op = OP_read, .handle = HANDLE_DIRECT, .size = BLOCK},
	[ACT_WRITE_DIRECT] = {.op = OP_write,
		.handle = HANDLE_DIRECT,
		.size = BLOCK,
		.content = CONTENT_RANDOM},
	[ACT_FSYNC] = {.op = OP_fsync, .handle = HANDLE_FILE},
	[ACT_FDATASYNC] = {.op = OP_fdatasync, .handle = HANDLE_FILE},
	[ACT_FSYNCDIR] = {.op = OP_fsyncdir, .handle = HANDLE_DIR},
	[ACT_SETXATTR] = {.op = OP_setxattr,
		.handle = HANDLE_FILE,
		NAMED(.attribute = "user.fsreel", .value = "1234", .value_size = 4)},
	[ACT_GETXATTR] = {.op = OP_getxattr,
		.handle = HANDLE_FILE,
		.size = 64,
		NAMED(.attribute = "user.fsreel")},
	[ACT_ALLOCATE] = {.op = OP_fallocate,
		.handle = HANDLE_FILE,
		.flags = FALLOC_FL_KEEP_SIZE,
		.offset = FILE_SIZE,
		.size = 8 * BLOCK},
	[ACT_PUNCH] = {.op = OP_fallocate,
		.handle = HANDLE_FILE,
		.flags = FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE,
		.offset = FILE_SIZE,
		.size = 8 * BLOCK},
	[ACT_GROW] = {.op = OP_truncate, .handle = HANDLE_FILE, .size = FILE_SIZE + BLOCK},
	[ACT_SHRINK] = {.op = OP_truncate, .handle = HANDLE_FILE, .size = FILE_SIZE},
};

struct trial {
	enum act before[2];
	enum act measured;
	enum act after[2];
};

static const struct trial trials[] = {
	{.measured = ACT_LOOKUP},
	{.measured = ACT_GETATTR},
	{.measured = ACT_MKDIR, .after = {ACT_RMDIR}},
	{.before = {ACT_MKDIR}, .measured = ACT_RMDIR},
	{.before = {ACT_CREATE, ACT_RELEASE}, .measured = ACT_UNLINK},
	{.measured = ACT_SYMLINK, .after = {ACT_UNLINK_SYMLINK}},
	{.measured = ACT_RENAME, .after = {ACT_RENAME_BACK}},
	{.measured = ACT_LINK, .after = {ACT_UNLINK_LINK}},
	{.measured = ACT_OPEN, .after = {ACT_RELEASE}},
	{.measured = ACT_CREATE, .after = {ACT_RELEASE, ACT_UNLINK}},
	{.measured = ACT_TMPFILE, .after = {ACT_RELEASE}},
	{.measured = ACT_READ},
	{.measured = ACT_WRITE},
	{.measured = ACT_READ_DIRECT},
	{.measured = ACT_WRITE_DIRECT},
	{.before = {ACT_OPEN}, .measured = ACT_RELEASE},
	{.before = {ACT_WRITE}, .measured = ACT_FSYNC},
	{.before = {ACT_WRITE}, .measured = ACT_FDATASYNC},
	{.measured = ACT_OPENDIR, .after = {ACT_RELEASEDIR}},
	{.before = {ACT_OPENDIR}, .measured = ACT_RELEASEDIR},
	{.measured = ACT_FSYNCDIR},
	{.measured = ACT_SETXATTR},
	{.before = {ACT_SETXATTR}, .measured = ACT_GETXATTR},
	{.measured = ACT_ALLOCATE, .after = {ACT_PUNCH}},
	{.measured = ACT_GROW, .after = {ACT_SHRINK}},
};

/* Where trials are made: a directory of their own, and a ring. */
struct bench {
	int root_fd; /* borrowed: the target */
	char name[64];
	int dir_fd;
	struct replay_context ctx;
	struct io_uring ring;
	bool has_ring;
	uint64_t round;
};

static int64_t call_ring(struct bench *b, const struct step *step)
{
	struct io_uring_sqe prepared = {0};
	struct open_how how;
	struct io_uring_cqe *cqe;

	if (!step_uring_prep(&prepared, &b->ctx, step, &how))
		return -EOPNOTSUPP;
	*io_uring_get_sqe(&b->ring) = prepared;
	int r = io_uring_submit_and_wait(&b->ring, 1);
	while (r == -EINTR || r == 0)
		r = io_uring_submit_and_wait(&b->ring, 1);
	/* A signal can end the wait when the call is made already; its result must not be left. */
	if (r > 0)
		do
			r = io_uring_wait_cqe(&b->ring, &cqe);
		while (r == -EINTR);
	if (r < 0)
		return r;
	int64_t res = cqe->res;
	io_uring_cqe_seen(&b->ring, cqe);
	return step_uring_done(&b->ctx, step, res);
}

/* Reads and writes go round the file, so that they are not all of one page. */
static struct step step_of(const struct bench *b, enum act act)
{
	struct step step = acts[act];

	if (step.op == OP_read || step.op == OP_write)
		step.offset = b->round * BLOCK % FILE_SIZE;
	return step;
}

static int64_t play(struct bench *b, const enum act list[2])
{
	for (unsigned i = 0; i < 2 && list[i] != ACT_NONE; i++) {
		struct step step = step_of(b, list[i]);
		int64_t r = step_sync(&b->ctx, &step);
		if (r < 0)
			return r;
	}
	return 0;
}

/* One measured call; ret_ns only when it succeeded. */
static int64_t measure(struct bench *b, const struct trial *t, bool in_ring, uint64_t *ret_ns)
{
	struct step step = step_of(b, t->measured);

	b->round++;
	int64_t r = play(b, t->before);
	if (r < 0)
		return r;
	uint64_t start = now_ns();
	r = in_ring ? call_ring(b, &step) : step_sync(&b->ctx, &step);
	uint64_t took = now_ns() - start;
	if (r < 0)
		return r;
	*ret_ns = took;
	return play(b, t->after);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t median(uint64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare_u64);
	return values[count / 2];
}

/* Voluntary context switches of one task of this process; 0 if it is not `name`. */
static uint64_t switches_of(const char *task, const char *name)
{
	auto_free char *comm_path = xasprintf("/proc/self/task/%s/comm", task);
	auto_free char *comm = read_text(comm_path);
	if (!comm || strcmp(comm, name) != 0)
		return 0;
	auto_free char *status_path = xasprintf("/proc/self/task/%s/status", task);
	auto_free char *status = read_text(status_path);
	static const char key[] = "\nvoluntary_ctxt_switches:";
	const char *at = status ? strstr(status, key) : NULL;
	return at ? strtoull(at + sizeof(key) - 1, NULL, 10) : 0;
}

/* How often workers of this thread's rings went to sleep so far: about once per piece of work. */
static uint64_t worker_switches(void)
{
	auto_closedir DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	uint64_t sum = 0;
	char name[32];

	/* The kernel cuts names at 15 characters. */
	snprintf(name, sizeof(name), "iou-wrk-%ld", syscall(SYS_gettid));
	name[15] = '\0';
	while (tasks && (entry = readdir(tasks)))
		sum += switches_of(entry->d_name, name);
	return sum;
}

static bool go_on(int rounds, uint64_t took_ns)
{
	if (rounds == ROUNDS)
		return false;
	return rounds == 0 || took_ns < (rounds < FEW_ROUNDS ? TRIAL_MAX_NS : TRIAL_NS);
}

/* Both ways by turns. The number of pairs measured, or -errno if the operation does not work here. */
static int take_turns(struct bench *b, const struct trial *t, uint64_t *sync_ns, uint64_t *ring_ns)
{
	uint64_t start = now_ns();
	int count = 0;

	while (go_on(count, now_ns() - start)) {
		int64_t r = measure(b, t, false, &sync_ns[count]);
		if (r >= 0)
			r = measure(b, t, true, &ring_ns[count]);
		if (r < 0)
			return (int)r;
		count++;
	}
	return count;
}

/* "write", "write (direct)" */
static void row_name(enum op op, bool direct, char name[24])
{
	snprintf(name, 24, "%s%s", op_name(op), direct ? " (direct)" : "");
}

static void try_one(struct bench *b, const struct trial *t, struct result_run *run)
{
	uint64_t sync_ns[ROUNDS], ring_ns[ROUNDS];

	for (unsigned i = 0; i < WARM_UP; i++)
		if (measure(b, t, i % 2, &sync_ns[0]) < 0)
			return;
	uint64_t before = worker_switches();
	int count = take_turns(b, t, sync_ns, ring_ns);
	if (count <= 0)
		return;
	uint64_t punted = worker_switches() - before;
	struct result_calibration row = {
		.sync_ns = median(sync_ns, (size_t)count),
		.ring_ns = median(ring_ns, (size_t)count),
		.inline_ = punted * MOSTLY_INLINE < (uint64_t)count,
	};
	row_name((enum op)acts[t->measured].op, acts[t->measured].handle == HANDLE_DIRECT, row.op);
	vec_push(&run->calibration, row);
}

/* A file of FILE_SIZE bytes in a handle slot. */
static int make_file(struct bench *b, const char *name, uint32_t handle, unsigned flags)
{
	const struct step_args args = {.name = name, .mode = 0600};
	struct step create = {.op = OP_create, .handle = handle, .flags = O_RDWR | flags};
	struct step write = acts[ACT_WRITE];

	create.args = &args;
	write.handle = handle;
	int r = (int)step_sync(&b->ctx, &create);
	for (write.offset = 0; r >= 0 && write.offset < FILE_SIZE; write.offset += BLOCK)
		r = (int)step_sync(&b->ctx, &write);
	return r;
}

/* What the trials work on. A target without O_DIRECT has no trials of it. */
static int make_files(struct bench *b)
{
	struct step opendir = acts[ACT_OPENDIR];

	opendir.handle = HANDLE_DIR;
	int r = make_file(b, "file", HANDLE_FILE, 0);
	if (r >= 0)
		(void)make_file(b, "direct", HANDLE_DIRECT, O_DIRECT);
	return r < 0 ? r : (int)step_sync(&b->ctx, &opendir);
}

static void bench_done(struct bench *b)
{
	if (b->has_ring)
		io_uring_queue_exit(&b->ring);
	files_free(b->ctx.files);
	free(b->ctx.buffer);
	if (b->dir_fd >= 0)
		close(b->dir_fd);
	if (b->name[0]) {
		auto_free char *path = xasprintf("/proc/self/fd/%d/%s", b->root_fd, b->name);
		(void)remove_tree(path);
	}
}
#define auto_bench __attribute__((cleanup(bench_done)))

static int bench_init(struct bench *b, const struct payload *payload)
{
	char name[64];

	snprintf(name, sizeof(name), ".fsreel-calibration-%ld", (long)getpid());
	if (mkdirat(b->root_fd, name, 0700) < 0)
		return -errno;
	memcpy(b->name, name, sizeof(name));
	b->dir_fd = openat(b->root_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (b->dir_fd < 0)
		return -errno;
	b->ctx.payload = payload;
	b->ctx.buffer = xaligned(4096, PAYLOAD_SIZE);
	int r = files_new(&b->ctx.files, b->dir_fd, NULL);
	return r < 0 ? r : make_files(b);
}

/* As engine_ring() sets up its own, because the flags change what a call costs. */
static bool ring_init(struct io_uring *ring)
{
	return io_uring_queue_init(
		       4, ring, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN) == 0 ||
	       io_uring_queue_init(4, ring, 0) == 0;
}

int calibrate(int root_fd, const struct payload *payload, uint64_t ops, struct result_run *run,
	struct error *err)
{
	struct bench bench auto_bench = {.root_fd = root_fd, .dir_fd = -1};
	uint64_t deadline = now_ns() + ALL_MAX_NS;

	bench.has_ring = ring_init(&bench.ring);
	if (!bench.has_ring)
		return 0;
	int r = bench_init(&bench, payload);
	if (r < 0)
		return error_errno(err, r, "cannot calibrate in the target");
	for (size_t i = 0; i < ARRAY_SIZE(trials) && now_ns() < deadline; i++) {
		enum op op = (enum op)acts[trials[i].measured].op;
		if ((ops >> op & 1) && step_uring_has(op))
			try_one(&bench, &trials[i], run);
	}
	return 0;
}

struct result_calibration *calibration_of(const struct result_run *run, enum op op, bool direct)
{
	char name[24];

	row_name(op, direct, name);
	vec_each (row, &run->calibration)
		if (!strcmp(row->op, name))
			return row;
	return NULL;
}

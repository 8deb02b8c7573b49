/* SPDX-License-Identifier: MIT */
/* Traces made to do harm: nothing outside the root changes, nothing grows without bound. */
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "cleanup.h"
#include "clock.h"
#include "io.h"
#include "maker.h"
#include "replay.h"

static char dir[] = "/dev/shm/test-hostile-XXXXXX";

static void remove_dir(void)
{
	remove_tree(dir);
}

static char *in_dir(const char *name)
{
	static bool made;

	if (!made && mkdtemp(dir))
		atexit(remove_dir);
	made = true;
	return xasprintf("%s/%s", dir, name);
}

/* What must stay as it is: a directory outside the root with a file in it. */
static char *victim_dir(void)
{
	char *victim = in_dir("victim");
	auto_free char *file = xasprintf("%s/file", victim);

	remove_tree(victim);
	CHECK_EQ(mkdir(victim, 0700), 0);
	auto_close int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK_EQ(ftruncate(fd, 1234), 0);
	return victim;
}

static void check_victim(const char *victim)
{
	auto_free char *file = xasprintf("%s/file", victim);
	struct stat st;

	CHECK_EQ(stat(file, &st), 0);
	CHECK_EQ(st.st_size, 1234);
	CHECK_EQ(st.st_mode, S_IFREG | 0600);
	CHECK_EQ(st.st_nlink, 1);
	CHECK(st.st_mtime > 1000000000);
	CHECK_EQ(stat(victim, &st), 0);
	CHECK_EQ(st.st_mode, S_IFDIR | 0700);
	CHECK_EQ(st.st_nlink, 2);
	CHECK_EQ(rmdir(victim), -1);
	CHECK_EQ(unlink(file), 0);
	CHECK_EQ(rmdir(victim), 0); /* there was nothing else in it */
}

static void trace_open(struct maker *m, unsigned threads)
{
	auto_free char *path = in_dir("trace");

	maker_open(m, path, threads);
}

/* In all engines and orders; returns the last one's result. */
static int replay(struct maker *m)
{
	static const enum replay_engine engines[] = {ENGINE_LANES, ENGINE_RING, ENGINE_LANES};
	static const enum replay_order orders[] = {ORDER_RESOURCE, ORDER_RESOURCE, ORDER_STRICT};
	auto_free char *path = in_dir("trace"), *root = in_dir("root");
	int r = 0;

	maker_close(m);
	for (unsigned i = 0; i < ARRAY_SIZE(engines); i++) {
		struct replay_options options = {.order = orders[i], .engine = engines[i]};
		struct result_run run = {0};
		struct trace_reader *trace;
		struct error err = {0};
		remove_tree(root);
		CHECK_EQ(mkdir(root, 0755), 0);
		auto_close int root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (!CHECK_EQ(trace_reader_open(&trace, path, &err), 0))
			return -1;
		r = replay_prepare(trace, root_fd, &options, &err);
		if (r == 0)
			r = replay_run(trace, root_fd, &options, &run, &err);
		CHECK(r == 0 || err.text[0]);
		char first[256];
		if (r == 0)
			replay_verify_state(trace, root_fd, first, &err);
		result_run_done(&run);
		trace_reader_close(trace);
	}
	remove_tree(root);
	return r;
}

/* Everything that can be done to file `id` and below it, as if all of it had succeeded. */
static void put_abuse(struct maker *m, uint64_t id, bool is_dir)
{
	maker_put(m, .op = OP_chmod, .thread = 1, .file = id, .mode = 06777);
	maker_put(m, .op = OP_utimens, .thread = 1, .file = id, .mtime = 7, .flags = 2);
	maker_put(m, .op = OP_setxattr, .thread = 1, .file = id, .name = maker_text("user.x"),
		.value = maker_text("y"));
	maker_put(m, .op = OP_truncate, .thread = 1, .file = id, .size = 1);
	maker_put(m, .op = OP_link, .thread = 1, .file = id, .dir = 1, .name = maker_text("link"));
	maker_put(m, .op = OP_open, .thread = 1, .file = id, .handle = id * 10,
		.flags = O_RDWR | O_TRUNC);
	maker_put(m, .op = OP_write, .thread = 1, .file = id, .handle = id * 10, .size = 9,
		.result = 9);
	if (!is_dir)
		return;
	maker_put(m, .op = OP_create, .thread = 1, .dir = id, .name = maker_text("file"),
		.file = id + 1, .handle = id * 10 + 1, .flags = O_RDWR | O_TRUNC, .mode = 0666);
	maker_put(m, .op = OP_mkdir, .thread = 1, .dir = id, .name = maker_text("new"),
		.file = id + 2, .mode = 0777);
	maker_put(m, .op = OP_tmpfile, .thread = 1, .dir = id, .file = id + 3,
		.handle = id * 10 + 2, .flags = O_RDWR, .mode = 0666);
	maker_put(m, .op = OP_rename, .thread = 1, .dir = id, .name = maker_text("file"), .dir2 = 1,
		.name2 = maker_text("stolen"), .file = id + 1);
	maker_put(m, .op = OP_unlink, .thread = 1, .dir = id, .name = maker_text("file"),
		.file = id + 1);
}

/* The trace hides that a directory or file is a link to the outside: `how` it came there. */
enum planting { PLANT_BY_FAILURE, PLANT_BY_RENAME, PLANT_BY_EXCHANGE };

static void plant(struct maker *m, enum planting how, uint64_t id, const char *target)
{
	struct text name = maker_text("d"), other = maker_text("e");

	switch (how) {
	case PLANT_BY_FAILURE: /* said to fail, but will succeed */
		maker_put(m, .op = OP_rmdir, .thread = 1, .dir = 1, .name = name, .file = id,
			.result = -1);
		maker_put(m, .op = OP_unlink, .thread = 1, .dir = 1, .name = name, .file = id,
			.result = -1);
		maker_put(m, .op = OP_symlink, .thread = 1, .dir = 1, .name = name, .file = 900,
			.value = maker_text(target), .result = -17);
		break;
	case PLANT_BY_RENAME:
	case PLANT_BY_EXCHANGE:
		maker_put(m, .op = OP_symlink, .thread = 1, .dir = 1, .name = other, .file = 900,
			.value = maker_text(target));
		maker_put(m, .op = OP_rmdir, .thread = 1, .dir = 1, .name = name, .file = id,
			.result = -1);
		maker_put(m, .op = OP_rename, .thread = 1, .dir = 1, .name = other, .dir2 = 1,
			.name2 = name, .file = 900,
			.flags = how == PLANT_BY_EXCHANGE ? RENAME_EXCHANGE : 0, .result = -13);
		break;
	}
}

TEST(planted_links_are_no_way_out)
{
	static const enum planting ways[] = {PLANT_BY_FAILURE, PLANT_BY_RENAME, PLANT_BY_EXCHANGE};

	for (unsigned i = 0; i < 2 * ARRAY_SIZE(ways); i++) {
		bool is_dir = i % 2;
		auto_free char *victim = victim_dir(), *file = xasprintf("%s/file", victim);
		struct maker m;
		trace_open(&m, 1);
		uint64_t id = is_dir ? maker_dir(&m, 1, "d") : maker_file(&m, 1, "d", 10);
		plant(&m, ways[i / 2], id, is_dir ? victim : file);
		put_abuse(&m, id, is_dir);
		CHECK_EQ(replay(&m), 0);
		check_victim(victim);
	}
}

/* What is kept of a file whose last name goes may be a link: it is used, never followed. */
TEST(what_is_kept_of_a_file_is_not_followed)
{
	auto_free char *victim = victim_dir(), *file = xasprintf("%s/file", victim);
	struct maker m;

	trace_open(&m, 1);
	uint64_t id = maker_file(&m, 1, "d", 10);
	plant(&m, PLANT_BY_FAILURE, id, file);
	maker_put(&m, .op = OP_unlink, .thread = 1, .dir = 1, .name = maker_text("d"), .file = id);
	put_abuse(&m, id, false);
	CHECK_EQ(replay(&m), 0);
	check_victim(victim);
}

TEST(directories_in_circles_end)
{
	struct maker m;

	trace_open(&m, 2);
	uint64_t a = maker_dir(&m, 1, "a"), b = maker_dir(&m, a, "b"), c = maker_dir(&m, b, "c");
	for (unsigned i = 0; i < 20; i++) {
		maker_put(&m, .op = OP_rename, .thread = 1, .dir = 1, .name = maker_text("a"),
			.dir2 = c, .name2 = maker_text("a"), .file = a);
		maker_put(&m, .op = OP_rename, .thread = 2, .dir = a, .name = maker_text("b"),
			.dir2 = b, .name2 = maker_text("b"), .file = b, .file2 = b);
		put_abuse(&m, 1000 + i * 10, true);
		maker_put(&m, .op = OP_mkdir, .thread = 2, .dir = c, .name = maker_text("x"),
			.file = 500 + i);
		maker_put(&m, .op = OP_rename, .thread = 1, .dir = c, .name = maker_text("a"),
			.dir2 = 1, .name2 = maker_text("a"), .file = a);
	}
	CHECK_EQ(replay(&m), 0);
}

/* Beyond any path's length, and deeper than the table of directories follows. */
TEST(depth_is_bounded)
{
	uint64_t start = now_ns();
	struct maker m;

	trace_open(&m, 1);
	for (uint64_t i = 1; i <= 1500; i++)
		maker_put(&m, .op = OP_mkdir, .thread = 1, .dir = i, .name = maker_text("d"),
			.file = i + 1, .mode = 0755);
	CHECK_EQ(replay(&m), 0);
	CHECK(now_ns() - start < 30 * NSEC_PER_SEC);
}

TEST(threads_and_calls_in_flight_are_bounded)
{
	struct maker m;
	struct event ev = {.op = OP_statfs, .file = 1, .start_ns = 10, .took_ns = 1000};

	trace_open(&m, 2000);
	for (ev.thread = 1; ev.thread <= 2000; ev.thread++)
		maker_event(&m, &ev);
	CHECK(replay(&m) < 0); /* all at once: refused, in words */

	/* One after the other they need one lane. */
	trace_open(&m, 50000);
	for (uint32_t i = 1; i <= 50000; i++)
		maker_put(&m, .op = OP_statfs, .thread = i, .file = 1);
	CHECK_EQ(replay(&m), 0);
}

static void put_numbers(struct maker *m, uint64_t file, uint64_t n)
{
	maker_put(m, .op = OP_write, .thread = 1, .file = file, .handle = 1, .offset = n, .size = 1,
		.result = 1);
	maker_put(m, .op = OP_write, .thread = 1, .file = file, .handle = 1, .size = n,
		.result = (int64_t)n);
	maker_put(m, .op = OP_read, .thread = 1, .file = file, .handle = 1, .offset = n, .size = n,
		.result = (int64_t)(n & INT64_MAX));
	maker_put(m, .op = OP_truncate, .thread = 1, .file = file, .handle = 1, .size = n,
		.result = -27);
	maker_put(m, .op = OP_fallocate, .thread = 1, .file = file, .handle = 1, .offset = n,
		.size = n, .result = -28);
	maker_put(m, .op = OP_copy_file_range, .thread = 1, .file = file, .handle = 1, .offset = n,
		.file2 = file, .handle2 = 1, .offset2 = n, .size = n, .result = (int64_t)n);
	maker_put(m, .op = OP_setlk, .thread = 1, .file = file, .handle = 1, .owner = n,
		.mode = F_WRLCK, .offset = n, .size = n, .result = -22);
	maker_put(m, .op = OP_lseek, .thread = 1, .file = file, .handle = 1, .offset = n, .mode = 3,
		.result = -6);
	maker_put(m, .op = OP_getxattr, .thread = 1, .file = file, .name = maker_text("user.x"),
		.size = n, .result = -61);
	maker_put(m, .op = OP_readdir, .thread = 1, .file = file, .handle = 1, .offset = n,
		.size = n, .result = -20);
	maker_put(m, .op = OP_write, .file = file, .handle = 1, .offset = n, .size = n,
		.result = (int64_t)n, .event_flags = EVENT_DERIVED);
}

TEST(numbers_of_any_size_are_survived)
{
	struct maker m;

	trace_open(&m, 1);
	uint64_t file = maker_file(&m, 1, "f", 100);
	maker_put(&m, .op = OP_open, .thread = 1, .file = file, .handle = 1, .flags = O_RDWR);
	for (unsigned bit = 39; bit < 64; bit += 8) {
		put_numbers(&m, file, (UINT64_C(1) << bit) - 1);
		put_numbers(&m, file, UINT64_C(1) << bit);
	}
	put_numbers(&m, file, UINT64_MAX);
	CHECK_EQ(replay(&m), 0);
	struct rusage used;
	getrusage(RUSAGE_SELF, &used);
	CHECK(used.ru_maxrss < 1 << 20); /* KiB */
}

TEST(handles_without_number_and_of_nothing_are_refused)
{
	struct maker m;

	trace_open(&m, 1);
	uint64_t file = maker_file(&m, 1, "f", 100);
	for (uint64_t i = 1; i <= 16000; i++) /* more than there are slots for */
		maker_put(&m, .op = OP_open, .thread = 1, .file = file, .handle = i);
	maker_put(
		&m, .op = OP_unlink, .thread = 1, .dir = 1, .name = maker_text("f"), .file = file);
	maker_put(&m, .op = OP_release, .thread = 1, .file = file, .handle = 5);
	maker_put(
		&m, .op = OP_write, .thread = 1, .file = file, .handle = 5, .size = 1, .result = 1);
	for (uint64_t i = 0; i < 3000; i++) { /* more than descriptors are kept for */
		maker_put(&m, .op = OP_mknod, .thread = 1, .dir = 1, .name = maker_text("n"),
			.file = 100 + i, .mode = S_IFREG | 0600);
		maker_put(&m, .op = OP_unlink, .thread = 1, .dir = 1, .name = maker_text("n"),
			.file = 100 + i);
		maker_put(&m, .op = OP_getattr, .thread = 1, .file = 100 + i);
	}
	maker_put(&m, .op = OP_mknod, .thread = 1, .dir = 1, .name = maker_text("sda"),
		.file = 5000, .mode = S_IFBLK | 0666, .rdev = 0x800);
	maker_put(&m, .op = OP_open, .thread = 1, .file = 5000, .handle = 90000, .flags = O_RDWR);
	CHECK_EQ(replay(&m), 0);
}

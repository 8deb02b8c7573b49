/* SPDX-License-Identifier: MIT */
/* Whole replays on the ring: with one loop and with several, it does what the threads do. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "cleanup.h"
#include "engine.h"
#include "io.h"
#include "maker.h"
#include "vec.h"

#define LANES  12
#define ROUNDS 10
#define PAGE   8192

static char dir[32] = "/dev/shm/test-ring-XXXXXX"; /* hundreds of syncs */

static void remove_dir(void)
{
	remove_tree(dir);
}

static char *in_dir(const char *name)
{
	static bool made;

	if (!made && !mkdtemp(dir)) {
		snprintf(dir, sizeof(dir), "/tmp/test-ring-XXXXXX");
		CHECK(mkdtemp(dir) != NULL);
	}
	if (!made)
		atexit(remove_dir);
	made = true;
	return xasprintf("%s/%s", dir, name);
}

/*
 * Each thread: a file of its own that grows and is synced, a name that all threads make and remove
 * by turns, locks handed from thread to thread on a shared file, and calls without a form in the ring.
 */
static void put_round(struct maker *m, unsigned thread, unsigned round, uint64_t shared_handle)
{
	const uint64_t own = 100 + thread, passing = 1000 + round * LANES + thread;

	maker_put(m, .op = OP_write, .thread = thread, .file = own, .handle = own,
		.offset = round * PAGE, .size = PAGE, .result = PAGE, .content = 10);
	maker_put(m, .op = OP_fdatasync, .thread = thread, .file = own, .handle = own);
	maker_put(m, .op = OP_setlk, .thread = thread, .file = 2, .handle = shared_handle,
		.owner = thread, .mode = F_WRLCK, .size = 1);
	maker_put(m, .op = OP_create, .thread = thread, .dir = 1, .name = maker_text("passing"),
		.file = passing, .handle = passing, .flags = O_RDWR | O_EXCL,
		.mode = S_IFREG | 0600);
	maker_put(m, .op = OP_read, .thread = thread, .file = 2, .handle = shared_handle,
		.offset = 4096, .size = 4096, .result = 4096);
	maker_put(m, .op = OP_chmod, .thread = thread, .file = passing, .handle = passing,
		.mode = 0640);
	maker_put(m, .op = OP_unlink, .thread = thread, .dir = 1, .name = maker_text("passing"),
		.file = passing);
	maker_put(m, .op = OP_release, .thread = thread, .file = passing, .handle = passing);
	maker_put(m, .op = OP_setlk, .thread = thread, .file = 2, .handle = shared_handle,
		.owner = thread, .mode = F_UNLCK, .size = 1);
}

/* `cpu_ns`: used by each thread between its first two calls. */
static void make_trace(const char *path, uint64_t cpu_ns)
{
	struct maker m;
	char name[16];

	maker_open(&m, path, LANES);
	CHECK_EQ(maker_file(&m, TREE_ROOT, "shared", 65536), 2);
	for (unsigned t = 1; t <= LANES; t++) {
		snprintf(name, sizeof(name), "own%u", t);
		maker_put(&m, .op = OP_create, .thread = t, .dir = 1, .name = maker_text(name),
			.file = 100 + t, .handle = 100 + t, .flags = O_RDWR, .mode = S_IFREG | 0600,
			.cpu_ns = 1);
		maker_put(&m, .op = OP_open, .thread = t, .file = 2, .handle = 200 + t,
			.flags = O_RDWR, .cpu_ns = 1 + cpu_ns);
	}
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned t = 1; t <= LANES; t++)
			put_round(&m, t, round, 200 + t);
	maker_close(&m);
}

static void replay(struct replay_options options, uint64_t cpu_ns, struct result_run *run)
{
	auto_free char *path = in_dir("trace"), *root = in_dir("root");
	struct trace_reader *trace;
	struct error err = {0};
	char first[256];

	make_trace(path, cpu_ns);
	remove_tree(root);
	CHECK_EQ(mkdir(root, 0755), 0);
	auto_close int root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*run = (struct result_run){0};
	if (!CHECK_EQ(trace_reader_open(&trace, path, &err), 0))
		return;
	CHECK_EQ(replay_prepare(trace, root_fd, &options, &err), 0);
	CHECK_EQ(replay_calibrate(root_fd, &options, run, &err), 0);
	if (!CHECK_EQ(replay_run(trace, root_fd, &options, run, &err), 0))
		printf("# %s\n", err.text);
	CHECK_EQ(run->divergences, 0);
	vec_each (d, &run->divergence)
		printf("# %s: %s\n", d->op, d->first);
	CHECK_EQ(replay_verify_state(trace, root_fd, first, &err), 0);
	trace_reader_close(trace);
}

#define STEPS (2 * LANES + 9 * LANES * ROUNDS)

static void check_run(const struct replay_options *options)
{
	struct result_run run;

	if (!step_uring_has(OP_read)) {
		check_skip("no io_uring here");
		return;
	}
	replay(*options, 0, &run);
	CHECK_EQ(run.operations, STEPS);
	CHECK_EQ(run.syncs, LANES * ROUNDS);
	result_run_done(&run);
}

TEST(one_loop)
{
	check_run(&(const struct replay_options){.order = ORDER_RESOURCE, .engine = ENGINE_RING});
}

TEST(loops_that_wait_for_each_other)
{
	check_run(&(const struct replay_options){
		.order = ORDER_RESOURCE, .engine = ENGINE_RING, .loops = 3});
	check_run(&(const struct replay_options){
		.order = ORDER_STRICT, .engine = ENGINE_RING, .loops = 2});
	/* Steps of a lane arrive from whichever loop took them out of the window. */
	for (unsigned i = 0; i < 10; i++)
		check_run(&(const struct replay_options){.order = ORDER_RESOURCE,
			.engine = ENGINE_RING,
			.loops = 2,
			.window = 64 << i % 3});
}

TEST(more_loops_than_lanes)
{
	check_run(&(const struct replay_options){
		.order = ORDER_RESOURCE, .engine = ENGINE_RING, .loops = 1000});
}

TEST(a_window_smaller_than_the_lanes)
{
	check_run(&(const struct replay_options){
		.order = ORDER_RESOURCE, .engine = ENGINE_RING, .window = 16});
	check_run(&(const struct replay_options){
		.order = ORDER_RESOURCE, .engine = ENGINE_RING, .window = 16, .loops = 2});
}

/* Long thoughts go to the pool and are thought side by side, short ones stay in the loop. */
TEST(think_time_is_spent)
{
	static const uint64_t thoughts[] = {3000, 2000000};

	for (size_t i = 0; i < ARRAY_SIZE(thoughts) && step_uring_has(OP_read); i++) {
		struct result_run run;
		replay(
			(struct replay_options){
				.order = ORDER_RESOURCE, .engine = ENGINE_RING, .mode = MODE_PACED},
			thoughts[i], &run);
		const struct result_class *think = result_run_class(&run, RESULT_OP_THINK, "");
		CHECK(run.cpu_ns >= LANES * thoughts[i]);
		CHECK(think->critical_ns >= thoughts[i] / 2);
		result_run_done(&run);
	}
}

TEST(the_choice_is_lanes_for_blocking_threads)
{
	struct result_run run;

	replay((struct replay_options){.order = ORDER_RESOURCE}, 0, &run);
	CHECK_EQ((const char *)run.engine, "auto:lanes");
	vec_each (row, &run.calibration)
		CHECK(!row->ring);
	result_run_done(&run);
}

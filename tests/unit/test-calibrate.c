/* SPDX-License-Identifier: MIT */
/* Calibrating in a directory: a row for each operation asked for, in time, and nothing left. */
#include "calibrate.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>

#include "check.h"
#include "cleanup.h"
#include "clock.h"
#include "io.h"
#include "step.h"

static unsigned entries(const char *path)
{
	auto_closedir DIR *dir = opendir(path);
	unsigned count = 0;

	while (dir && readdir(dir))
		count++;
	return count;
}

TEST(measures_what_is_asked_for)
{
	auto_free char *path = make_temp_dir(NULL);
	auto_close int fd = open(path, O_RDONLY | O_DIRECTORY);
	struct payload *payload = payload_new();
	struct result_run run = {0};
	const uint64_t ops = UINT64_C(1) << OP_read | UINT64_C(1) << OP_rename |
	                     UINT64_C(1) << OP_fsync | UINT64_C(1) << OP_chmod;

	CHECK_EQ(calibrate(fd, payload, ops, &run, NULL), 0);
	if (!step_uring_has(OP_read)) {
		check_skip("no io_uring here");
	} else {
		CHECK(calibration_of(&run, OP_read, false)->sync_ns > 0);
		CHECK(calibration_of(&run, OP_read, false)->ring_ns > 0);
		/* These never finish in the submitting thread, on any file system. */
		CHECK(!calibration_of(&run, OP_rename, false)->inline_);
		CHECK(!calibration_of(&run, OP_fsync, false)->inline_);
		/* Where there is O_DIRECT, reads have another row. */
		CHECK_EQ(run.calibration.count, calibration_of(&run, OP_read, true) ? 4 : 3);
	}
	CHECK_EQ(entries(path), 2);
	result_run_done(&run);
	payload_free(payload);
	CHECK_EQ(remove_tree(path), 0);
}

TEST(all_operations_in_about_a_second)
{
	auto_free char *path = make_temp_dir(NULL);
	auto_close int fd = open(path, O_RDONLY | O_DIRECTORY);
	struct payload *payload = payload_new();
	struct result_run run = {0};
	uint64_t start = now_ns();

	CHECK_EQ(calibrate(fd, payload, ~UINT64_C(0), &run, NULL), 0);
	CHECK(now_ns() - start < 5 * NSEC_PER_SEC);
	CHECK_EQ(entries(path), 2);
	result_run_done(&run);
	payload_free(payload);
	CHECK_EQ(remove_tree(path), 0);
}

static void ring_the_bell(int number)
{
	(void)number;
}

/* A signal while a call is in the ring: its descriptor must not be left open. */
TEST(signals_leave_nothing_open)
{
	auto_free char *path = make_temp_dir(NULL);
	auto_close int fd = open(path, O_RDONLY | O_DIRECTORY);
	struct payload *payload = payload_new();
	const uint64_t ops = UINT64_C(1) << OP_create | UINT64_C(1) << OP_tmpfile |
	                     UINT64_C(1) << OP_mkdir | UINT64_C(1) << OP_unlink;
	const struct itimerval often = {{0, 150}, {0, 150}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = ring_the_bell}, before;
	unsigned open_before = entries("/proc/self/fd");

	sigaction(SIGALRM, &action, &before);
	setitimer(ITIMER_REAL, &often, NULL);
	for (unsigned i = 0; i < 10; i++) {
		struct result_run run = {0};
		CHECK_EQ(calibrate(fd, payload, ops, &run, NULL), 0);
		result_run_done(&run);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	CHECK_EQ(entries("/proc/self/fd"), open_before);
	CHECK_EQ(entries(path), 2);
	payload_free(payload);
	CHECK_EQ(remove_tree(path), 0);
}

/* SPDX-License-Identifier: MIT */
/*
 * What the ring costs on this target: each operation as a blocking call against the same call
 * through io_uring, one at a time, measured alternately in a directory that is removed again.
 *
 * io_uring hands what it cannot finish at once to worker threads, and what that is depends on the
 * file system: a buffered overwrite stays in the submitting thread on xfs and goes to a worker on
 * ext4, btrfs and tmpfs, which costs 7 to 11 us. An engine that did not know would call the one file
 * system slower than the other.
 */
#ifndef CALIBRATE_H
#define CALIBRATE_H

#include "op.h"
#include "payload.h"
#include "result.h"

/*
 * Adds a row to run->calibration for each operation of `ops` (bits: 1 << enum op) that has a form in
 * the ring and works here; reads and writes have a second one with O_DIRECT where the target takes
 * it. Without io_uring on this machine there are none. Takes at most about a second.
 */
int calibrate(int root_fd, const struct payload *payload, uint64_t ops, struct result_run *run,
	struct error *err);

/* The row of an operation, or NULL. */
struct result_calibration *calibration_of(const struct result_run *run, enum op op, bool direct);

#endif

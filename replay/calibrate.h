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

#include "payload.h"
#include "result.h"

/*
 * Adds a row to run->calibration for each operation of `ops` that has a form in the ring and works
 * here; without io_uring on this machine there are none. `direct`: files are opened with O_DIRECT
 * if the target takes it. Takes at most about a second, and less than 50 ms per operation.
 */
int calibrate(int root_fd, const struct payload *payload, uint64_t ops, bool direct,
	struct result_run *run, struct error *err);

#endif

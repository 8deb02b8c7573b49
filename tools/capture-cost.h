/* SPDX-License-Identifier: MIT */
/*
 * What the pass-through costs its caller in CPU time: request, two switches, reply, payload.
 *
 * A trace knows the CPU time that a thread used between two calls. On the mount that includes this
 * cost; a replay must not spend it again as if it were the application's.
 */
#ifndef CAPTURE_COST_H
#define CAPTURE_COST_H

#include "base.h"

struct capture_cost {
	uint64_t call_ns; /* of any call */
	uint64_t kib_ns;  /* and of each KiB that is read or written */
};

/* Measured with a nameless file in the directory `dir_fd` of a mounted pass-through; where that
 * cannot be made, with calls that carry no data. Takes some ten milliseconds. */
struct capture_cost capture_cost_measure(int dir_fd);

#endif

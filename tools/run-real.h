/* SPDX-License-Identifier: MIT */
/* The real workload, once, on a target that is made: what predictions are held against. */
#ifndef RUN_REAL_H
#define RUN_REAL_H

#include "result.h"
#include "target.h"
#include "workload.h"

/*
 * prepare, settle, run, sync, check: the three parts of the workload in a process each. Fills `run`
 * (zeroed by the caller). A workload that fails is no error of this function: run->failure says
 * what happened. An error is an interruption, or a target that cannot be synced.
 */
int run_real(const struct workload_spec *spec, struct target *t, uint64_t repeat,
	struct result_run *run, struct error *err);

#endif

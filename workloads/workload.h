/* SPDX-License-Identifier: MIT */
/*
 * A workload gets a directory and settings, never a file system.
 *
 *   prepare(dir)  makes the data set; not timed, not captured
 *   run(dir)      the timed part: forks its clients, waits for them, fills the outcome
 *   check(dir)    is the data sound afterwards? (integrity checks)
 *
 * All three may be called in different processes. A new workload is one file and one row in
 * workloads.c.
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <assert.h>
#include <stdio.h>

#include "clock.h"
#include "error.h"
#include "hist.h"
#include "param.h"
#include "phase.h"
#include "table.h"

#define OUTCOME_STEPS 64

/* A part of the run that is timed by itself. */
struct outcome_step {
	char name[24];
	uint64_t elapsed_ns;
	uint64_t rows, checksum; /* of what it yielded; the same on every file system */
	uint64_t plan;           /* hash of how the database went about it; 0: it has no plan */
	char unfinished[64];     /* "timeout after 60 s"; empty: it finished */
	char note[64];           /* what a reader should know about it, or empty */
};

/* Plain data: it travels through shared memory. */
struct outcome {
	uint64_t operations; /* the workload's own unit: transactions, rows, files; grows during
	                        the run, for whoever watches */
	uint64_t planned;    /* what operations will be at the end */
	uint64_t elapsed_ns; /* of the timed part */
	uint64_t failures;
	struct hist latency; /* per operation */
	char metric_name[32], metric_unit[16];
	double metric_value;
	uint64_t step_count;
	struct outcome_step steps[OUTCOME_STEPS];
};

/* The next step begins, as a phase in a trace of `dir`. More of them than there is room for are a
 * bug. */
static inline struct outcome_step *outcome_step(
	struct outcome *o, const char *dir, const char *name)
{
	phase_mark(dir, name);
	assert(o->step_count < OUTCOME_STEPS);
	struct outcome_step *step = &o->steps[o->step_count++];
	snprintf(step->name, sizeof(step->name), "%s", name);
	return step;
}

/* For those whose metric is operations per second. */
static inline void outcome_rate(struct outcome *o)
{
	o->metric_value =
		(double)o->operations * (double)NSEC_PER_SEC / (double)max_u64(o->elapsed_ns, 1);
}

struct workload {
	const char *name;
	const char *summary; /* one line */
	const char *missing; /* what this build lacks to run it, and the remedy; NULL: nothing */
	const struct param *params;
	size_t param_count;
	size_t settings_size;
	int (*prepare)(const void *settings, const char *dir, struct error *err);
	int (*run)(const void *settings, const char *dir, struct outcome *ret, struct error *err);
	int (*check)(const void *settings, const char *dir, struct error *err);
};

/* A workload with its settings: SPEC = NAME[:key=value,...]. */
struct workload_spec {
	const struct workload *workload;
	void *settings;
	char *text; /* normalised SPEC */
};

int workload_parse(struct workload_spec *ret, const char *spec, struct error *err);
void workload_spec_done(struct workload_spec *spec);

/* NULL if there is no such workload. */
const struct workload *workload_by_name(const char *name);
struct table *workloads_table(void);
/* Keys, defaults and meaning of one workload. */
struct table *workload_params_table(const struct workload *w);

#endif

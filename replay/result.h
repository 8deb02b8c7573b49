/* SPDX-License-Identifier: MIT */
/*
 * The results file: every run on every target, as JSON, both ways.
 *
 * Names in it are stable (docs/design.md). Times are integers in nanoseconds. Every member of the
 * structs below is written under its own name; an object that has nothing to say is null.
 */
#ifndef RESULT_H
#define RESULT_H

#include <jansson.h>

#include "blockstat.h"
#include "error.h"
#include "vec.h"

enum run_kind { RUN_REPLAY, RUN_REAL };
extern const char *const run_kind_names[]; /* NULL-terminated */

/* Pseudo-operations on the critical path, so that the classes add up to the elapsed time exactly.
 */
#define RESULT_OP_THINK "(think)" /* CPU time of the application between two operations */
#define RESULT_OP_DISPATCH                                                                         \
	"(dispatch)" /* from the end of the last predecessor to the start of the call */
/* Not on any path: the latency of one operation of a real run, in the workload's own unit. */
#define RESULT_OP_WORKLOAD "(operation)"

/* One operation on one class of file. */
struct result_class {
	char op[24];         /* op_name(), or a pseudo-operation */
	char file_class[16]; /* file_class_name(); "" for pseudo-operations */
	uint64_t count, bytes;
	uint64_t total_ns;    /* sum of latencies over all lanes */
	uint64_t critical_ns; /* the part of it on the executed critical path */
	uint64_t p50_ns, p90_ns, p99_ns, max_ns;
};

/* Blocking call against the ring for one operation on one target, measured at the start. */
struct result_calibration {
	char op[24];
	uint64_t sync_ns, ring_ns; /* medians */
	bool inline_;              /* the ring completes it without a worker thread */
	bool ring;                 /* what the engine used in this run */
};

struct result_divergence {
	char op[24];
	uint64_t count;
	char *first; /* the first case in words */
};

/* A part of a run that was timed by itself: a phase, a query. Replays know name and time alone. */
struct result_step {
	char name[24];
	uint64_t elapsed_ns;
	char plan[20];           /* equal where the database went about it alike; "": no plan */
	uint64_t rows;           /* of what it yielded */
	char checksum[20];       /* the same; "": it yields nothing */
	char *unfinished, *note; /* why it was given up, what is to be known about it; or NULL */
};

struct result_run {
	enum run_kind kind;
	char *target;  /* the user's TARGET text or its --label */
	char *options; /* mount options really in effect */
	char *unsafe;  /* why a crash may lose what was synced ("barrier=0"); NULL if it may not */
	uint64_t repeat;
	char mode[16], order[16], engine[16]; /* replays only */
	char *failure;                        /* NULL if the run finished */
	uint64_t elapsed_ns;
	uint64_t settle_ns;  /* syncfs after the run, not part of elapsed_ns */
	uint64_t operations; /* replay: calls issued; real: the workload's own count */
	uint64_t divergences;
	uint64_t syncs;  /* fsync, fdatasync and O_DSYNC writes issued */
	uint64_t cpu_ns; /* user + system time of the replaying or working process and its children
	                  */
	/* Events that the replay leaves out: made by the kernel for itself, and closes before the last. */
	uint64_t skipped;
	uint64_t
		raced; /* reads that overlapped with a change of the file's size: counts not compared */
	uint64_t mapped_read,
		mapped_written; /* bytes of mapped files, replayed as reads and writes */
	char metric_name[32], metric_unit[16];
	double metric_value; /* real runs; 0 with an empty name otherwise */
	struct blockstat device;
	VEC(struct result_step) steps; /* of workloads that have such, or mark phases */
	VEC(struct result_class) classes;
	VEC(struct result_calibration) calibration;
	VEC(struct result_divergence) divergence;
};

struct result_prediction {
	char *target;
	char mode[16];
	uint64_t predicted_ns, measured_ns;
	double error; /* (predicted - measured) / measured */
};

/* One row of the ranking: median and 95 % interval of the median of the elapsed times. */
struct result_rank {
	char *target;
	enum run_kind kind; /* of the runs that were ranked, the same in all rows */
	char mode[16];
	uint64_t repeats;
	uint64_t median_ns, low_ns, high_ns;
};

struct results {
	char *trace_path, *trace_sha256;
	uint64_t trace_events;
	char *workload;      /* SPEC, or the command */
	char *unfinished;    /* why runs are missing: "interrupted after 3 of 18 runs"; NULL if none
	                      * are */
	json_t *environment; /* host, kernel, CPUs, fsreel version, device, command line */
	VEC(struct result_run) runs;
	VEC(struct result_prediction) predictions;
	VEC(struct result_rank) ranking;
};

void result_run_done(struct result_run *run);
/* The row for (op, file_class), added if it is not there; good until the next call. */
struct result_class *result_run_class(
	struct result_run *run, const char *op, const char *file_class);

/* Two runs of one step that yielded different things; false if there are none. */
struct result_conflict {
	const struct result_run *a, *b;
	const struct result_step *step; /* of b */
};
bool results_conflict(const struct results *r, struct result_conflict *ret);
/* Did a run fail, a replay diverge, or a step yield different things? */
bool results_wrong(const struct results *r);

struct results *results_new(void); /* environment filled in */
void results_free(struct results *r);
/* Put the command line into the environment. */
void results_command(struct results *r, int argc, char **argv);

/* Only some of the `planned` runs are there, because of `why`. */
void results_unfinished(struct results *r, const char *why, size_t planned);

/* Can `path` be written? Asked before the work that leads to results. */
int results_writable(const char *path, struct error *err);
/* Write to a temporary file beside `path` and rename: readers see the old file or the new one. What
 * is not a regular file (a pipe, /dev/stdout) is written to directly. */
int results_write(const struct results *r, const char *path, struct error *err);
/* Read a file that may come from a stranger; the error names the place. Control characters in its
 * strings are replaced, so that they can be shown on a terminal. */
int results_read(struct results **ret, const char *path, struct error *err);
/* The same tree as written, for --json. Caller owns it. */
json_t *results_json(const struct results *r);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Replaying a trace below a directory: the one door to this folder.
 *
 *   trace -> compile (steps and waits, streaming) -> engine (lanes or ring) -> result
 *
 * Nothing in a trace can reach outside root_fd: every name is one component, opened relative to a
 * directory that was itself reached from root_fd, with RESOLVE_BENEATH and without following links.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include "error.h"
#include "reader.h"
#include "result.h"

enum replay_order {
	ORDER_THREAD, /* program order of each thread; between threads only what must exist: files,
	                 * names and handles are made before they are used and used before their end,
	                 * locks released before they are granted again */
	ORDER_RESOURCE, /* thread order + order on what files and directories hold: writes of the same
	                 * pages, syncs, sizes, attributes, failed look-ups */
	ORDER_STRICT,   /* one operation at a time, in the order of the trace */
};

enum replay_mode {
	MODE_FULL,  /* no think time: the stress number */
	MODE_PACED, /* the CPU time of each thread between its operations is spent again; an error
	             * if the trace has none */
};

enum replay_engine {
	ENGINE_AUTO,  /* ring for traces of asynchronous calls, lanes for all others: see auto.c */
	ENGINE_LANES, /* a thread per captured thread, the blocking calls that the application made
	               */
	ENGINE_RING,  /* event loops on io_uring */
	ENGINE_NULL,  /* no system call at all: the engine's own cost */
};

/* NULL-terminated, indexed by the enums; for options and results. */
extern const char *const replay_order_names[];
extern const char *const replay_mode_names[];
extern const char *const replay_engine_names[];

struct replay_options {
	enum replay_order order;
	enum replay_mode mode;
	enum replay_engine engine;
	unsigned window;   /* steps in memory; 0 = the default */
	uint64_t loops;    /* of the ring; 0 = one; at most as many as lanes */
	bool keep_owners;  /* chown as in the trace (root only) */
	bool no_direct;    /* drop O_DIRECT where the target refuses it */
	const char *label; /* phase name for the progress line */
};

/* Make the trace's starting state in the empty directory root_fd. */
int replay_prepare(struct trace_reader *trace, int root_fd, const struct replay_options *options,
	struct error *err);

/*
 * For the engines that may use the ring: measure what it costs here, into run->calibration. It makes
 * and removes files, so it comes before the caches are dropped and counters are read.
 */
int replay_calibrate(int root_fd, const struct replay_options *options, struct result_run *run,
	struct error *err);

/*
 * Replay every event once. `run` is the caller's, zero but for its calibration, and gets elapsed
 * time, counts, classes and divergences; a divergence is not an error of this function. Rewinds the
 * reader.
 */
int replay_run(struct trace_reader *trace, int root_fd, const struct replay_options *options,
	struct result_run *run, struct error *err);

/* Compare the tree below root_fd with the one the trace ends with (names, types, sizes, modes).
 * Returns the number of differences, described in `first`, or -errno. */
int replay_verify_state(
	struct trace_reader *trace, int root_fd, char first[256], struct error *err);

#endif

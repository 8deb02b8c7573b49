/* SPDX-License-Identifier: MIT */
/*
 * One capture from start to end: mount the pass-through, run something on it, write the trace.
 *
 * It happens in a child process of its own (the recorder), which owns the mount, the worker threads
 * and the trace, so that the caller's process never has threads or another mount namespace, and can
 * call again. Signals: SIGTERM ends the command and then the capture; SIGINT is the command's.
 */
#ifndef CAPTURE_RUN_H
#define CAPTURE_RUN_H

#include "capture-audit.h"
#include "capture-cost.h"
#include "capture-probe.h"
#include "capture.h"
#include "error.h"
#include "workload.h"

enum on_full {
	ON_FULL_STOP,  /* the trace ends, the command goes on */
	ON_FULL_ABORT, /* the command is ended too */
};

struct capture_job {
	const char *dir;   /* the real directory; NULL = the current one */
	const char *mount; /* where everybody sees the mount; NULL = over `dir`, privately */
	const char *trace; /* NULL: plain pass-through, nothing is logged */
	bool strict_meta, strip_direct;
	int audit_fd;   /* keep the calls here, for capture_audit_show(); 0 = no audit */
	bool keep_data; /* --content=full */
	bool anonymize;
	const char *key; /* file with the key of the hashes; NULL: one that nobody will know */
	enum on_full on_full;
	enum probe_wish probe;

	/* One of the two. */
	char **command;                       /* NULL-terminated */
	const struct workload_spec *workload; /* prepared in `dir` already; run() on the mount */
};

/* Plain data: it comes out of the recorder through shared memory. */
struct capture_result {
	int status; /* the command's exit status, 128 + n if signal n ended it; 0 for a workload */
	bool truncated; /* the trace could not be written to its end */
	bool taken;     /* somebody else unmounted the pass-through before the command had ended */
	struct capture_stats stats;
	struct trace_totals totals; /* 0 without a trace */
	struct outcome outcome;     /* of a workload */
	struct capture_cost cost;   /* of the pass-through to its callers */
	struct capture_audit audit; /* if asked for */
	struct capture_probe_result probe;
};

/* What can be refused before anything is prepared: 0 or -errno. capture_run() begins with it too. */
int capture_check(const struct capture_job *job, struct error *err);

/*
 * 0 when the command or workload ran, whatever its status, else -errno with `err` set, nothing left
 * mounted and no trace left behind.
 */
int capture_run(const struct capture_job *job, struct capture_result *ret, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* fsreel capture: run a command or a workload on the pass-through and log every call. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "audit-log.h"
#include "capture-run.h"
#include "child.h"
#include "cleanup.h"
#include "cmd.h"
#include "interrupt.h"
#include "probe.h"
#include "progress.h"
#include "units.h"

static const char *const content_names[] = {"class", "full", NULL};
static const char *const on_full_names[] = {"stop", "abort", NULL};
static const char *const probe_names[] = {"auto", "yes", "no", NULL};

struct request {
	struct capture_job job;
	const char *workload;
	unsigned on_full, probe, content;
	bool no_log, audit, json;
};

static int check_audit(const struct request *q, struct error *err)
{
	if (q->json && !q->audit)
		return error_set(err, 0, "--json is for the table of --audit");
	if (q->audit && q->no_log)
		return error_set(err, 0, "--audit and --no-log exclude each other");
	return q->audit ? probe_possible(err) : 0;
}

static int parse(
	const struct command *cmd, int argc, char **argv, struct request *q, struct error *err)
{
	const struct opt opts[] = {
		{"output", 'o', OPT_STRING, &q->job.trace, "FILE.reel", "write the trace here"},
		{"dir", 0, OPT_STRING, &q->job.dir, "DIR",
			"the directory to capture; default: the current one"},
		{"mount", 0, OPT_STRING, &q->job.mount, "DIR",
			"mount here, for all to see; default: over --dir, seen by COMMAND only"},
		{"workload", 0, OPT_STRING, &q->workload, "SPEC",
			"run this workload (fsreel workloads) instead of a command"},
		{"no-log", 0, OPT_FLAG, &q->no_log, NULL,
			"pass through only: the baseline for what logging costs"},
		{"audit", 0, OPT_FLAG, &q->audit, NULL,
			"count the calls in the kernel too, and show whether all are in the trace"},
		{"json", 0, OPT_FLAG, &q->json, NULL, "print the audit as JSON"},
		{"strict-meta", 0, OPT_FLAG, &q->job.strict_meta, NULL,
			"let the kernel cache no attributes and names: every stat is logged"},
		{"strip-direct", 0, OPT_FLAG, &q->job.strip_direct, NULL,
			"log O_DIRECT, but do without it below"},
		{"content", 0, OPT_CHOICE, &q->content, "class|full",
			"of data: keep the class, or all of it, with what files had at first",
			content_names},
		{"anonymize", 0, OPT_FLAG, &q->job.anonymize, NULL,
			"replace names by hashes that keep what reports need"},
		{"key", 0, OPT_STRING, &q->job.key, "FILE",
			"anonymize with this key, so that names of several traces agree"},
		{"on-full", 0, OPT_CHOICE, &q->on_full, "stop|abort",
			"when the trace cannot grow: stop logging, or end the command too",
			on_full_names},
		{"probe", 0, OPT_CHOICE, &q->probe, "auto|yes|no",
			"log what FUSE does not see, too, by BPF: if possible, or fail, or not",
			probe_names},
	};
	int first = cmd_parse(cmd, opts, ARRAY_SIZE(opts), argc, argv, true, 0, INT32_MAX, err);

	if (first < 0 || first == CMD_HELP_SHOWN)
		return first;
	q->job.keep_data = q->content;
	q->job.on_full = (enum on_full)q->on_full;
	q->job.probe = (enum probe_wish)q->probe;
	q->job.command = first < argc ? argv + first : NULL;
	if (!q->job.command == !q->workload)
		return error_set(
			err, 0, "say what to run: either --workload SPEC, or -- COMMAND [ARG...]");
	if (q->job.anonymize && q->job.keep_data)
		return error_set(
			err, 0, "--anonymize hides names, not data: it excludes --content=full");
	if (q->job.key && !q->job.anonymize)
		return error_set(err, 0, "--key is for --anonymize");
	if (!q->job.trace == !q->no_log)
		return error_set(err, 0,
			q->no_log ? "-o and --no-log exclude each other"
				  : "where to? name the trace with -o FILE.reel");
	return check_audit(q, err) ? -EINVAL : first;
}

/* What went wrong with the capture, whether or not remarks are wanted. */
static void print_faults(const struct capture_job *job, const struct capture_result *res)
{
	struct unit_text lost;

	if (res->totals.lost)
		fprintf(stderr, "fsreel: the trace is not complete: %s events were lost%s\n",
			format_count(res->totals.lost, &lost),
			res->truncated ? " because the file could not be written any more" : "");
	if (res->taken)
		fprintf(stderr,
			"fsreel: the trace is not complete: the mount was taken away while the "
			"command ran (umount?); what it did below the path after that is not in "
			"it\n");
	if (res->stats.refused)
		fprintf(stderr,
			"fsreel: %" PRIu64 " opens failed with 'Too many open files in system': "
			"the recorder may have no more descriptors; raise its limit (ulimit -Hn), "
			"or run as root\n",
			res->stats.refused);
	if (res->stats.escapes)
		fprintf(stderr,
			"fsreel: %" PRIu64 " times a symbolic link led out of the directory: what "
			"is read and written there is not in the trace\n",
			res->stats.escapes);
	if (job->trace && !res->stats.events && !res->totals.lost)
		fprintf(stderr,
			"fsreel: nothing was called below %s: the trace is empty. The command's "
			"own "
			"working directory was not changed; start it there, or name files below "
			"it\n",
			job->dir ? job->dir : "the current directory");
}

static void print_summary(const struct capture_job *job, const struct capture_result *res)
{
	const struct trace_totals *t = &res->totals;
	struct unit_text a, b, c, d;

	if (!job->trace) {
		progress_note("fsreel: %s passed through, nothing logged",
			format_things(res->stats.requests, "request", &a));
		return;
	}
	progress_note("fsreel: %s: %s, %s (%.1f bytes/event), %s, %s", job->trace,
		format_things(t->events, "event", &a), format_bytes(t->file_bytes, &b),
		t->events ? (double)t->file_bytes / (double)t->events : 0.0,
		format_things(t->threads - min_u64(t->threads, 1), "thread", &d),
		format_ns(t->elapsed_ns, &c));
	if (!res->probe.ran && job->probe == PROBE_AUTO)
		progress_note("fsreel: no probe: sync_file_range, posix_fadvise and other calls "
			      "that FUSE does not see are not in the trace: %s",
			res->probe.why_not);
	if (!res->stats.allow_mmap)
		progress_note("fsreel: this kernel cannot map files shared on direct I/O; only "
			      "*-shm files could be mapped");
}

static const char *dir_of(const struct capture_job *job)
{
	return job->dir ? job->dir : ".";
}

static int prepare(void *arg, struct error *err)
{
	const struct capture_job *job = arg;

	return job->workload->workload->prepare(job->workload->settings, dir_of(job), err);
}

static int check(void *arg, struct error *err)
{
	const struct capture_job *job = arg;

	return job->workload->workload->check(job->workload->settings, dir_of(job), err);
}

/* What is not captured runs in a process of its own, which ^C ends. */
static int capture_workload(struct request *q, struct capture_result *res, struct error *err)
{
	struct workload_spec spec;
	int r = workload_parse(&spec, q->workload, err);

	if (r)
		return r;
	q->job.workload = &spec;
	interrupt_catch();
	r = capture_check(&q->job, err);
	if (!r)
		r = child_run(prepare, &q->job, NULL, err);
	if (!r)
		r = capture_run(&q->job, res, err);
	if (!r)
		r = child_run(check, &q->job, NULL, err);
	if (!r)
		progress_note("fsreel: %s: %.1f %s, %" PRIu64 " operations, %" PRIu64 " failed",
			spec.text, res->outcome.metric_value, res->outcome.metric_unit,
			res->outcome.operations, res->outcome.failures);
	workload_spec_done(&spec);
	return r;
}

static int show_audit(const struct request *q, const struct capture_result *res, struct error *err)
{
	const struct capture_job *job = &q->job;
	const char *mount = job->mount ? job->mount : job->dir ? job->dir : ".";

	return capture_audit_show(&res->audit, job->audit_fd, job->trace, mount, q->json, err);
}

static int run(const struct command *cmd, int argc, char **argv, struct error *err)
{
	struct request q = {0};
	struct capture_result res = {0};
	int r = parse(cmd, argc, argv, &q, err);

	if (r < 0 || r == CMD_HELP_SHOWN)
		return r < 0 ? r : EXIT_GOOD;
	auto_close int audit_fd = q.audit ? audit_log_create(q.job.trace, err) : -1;
	if (q.audit && audit_fd < 0)
		return audit_fd;
	q.job.audit_fd = q.audit ? audit_fd : 0;
	r = q.workload ? capture_workload(&q, &res, err) : capture_run(&q.job, &res, err);
	if (r < 0)
		return r;
	print_summary(&q.job, &res);
	print_faults(&q.job, &res);
	r = q.audit ? show_audit(&q, &res, err) : true;
	if (r < 0)
		return r;
	bool good = r && !res.totals.lost && !res.truncated && !res.taken && !res.outcome.failures;
	return res.status ? res.status : good ? EXIT_GOOD : EXIT_WRONG;
}

const struct command cmd_capture = {
	.name = "capture",
	.usage = "-o FILE.reel [--dir DIR] (--workload SPEC | -- COMMAND [ARG...])",
	.summary = "run something on a pass-through file system and log every call",
	.run = run,
};

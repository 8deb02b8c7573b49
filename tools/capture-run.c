/* SPDX-License-Identifier: MIT */
/*
 *   caller ──fork──► recorder ──fork──► command or workload
 *                      │                   waits for "go", changes into the mount, runs
 *                      ├ mounts of its own (or a guard), trial mount for META
 *                      ├ trace, its TREE, mount, "go", wait
 *                      └ unmount, END of the trace
 *
 * The command is forked before any thread exists. If the recorder dies, its mount answers ENOTCONN
 * and the caller, who adopts whatever the command has started, kills all of it: nothing is written
 * past the log. If the caller dies, the recorder ends the command and finishes the trace.
 */
#include "capture-run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "anonymize.h"
#include "capture-meta.h"
#include "claim.h"
#include "cleanup.h"
#include "clock.h"
#include "interrupt.h"
#include "io.h"
#include "namespace.h"
#include "orphans.h"
#include "probe.h"
#include "progress.h"
#include "spawn.h"
#include "vec.h"

#define LOOK_INTERVAL_MS 100 /* is the trace still being written? */

/* Between the processes. */
struct shared {
	struct capture_result result;
	struct error err;
	int r;
	bool finished; /* the recorder came to its end */
	pid_t guard;   /* of the mount, 0 = none: outlives the recorder */
	struct error workload_err;
	int workload_r;
	int exec_errno;
};

struct recorder {
	const struct capture_job *job;
	struct shared *shared;
	char *dir, *start_dir; /* real paths: what is captured, where the caller stands */
	pid_t child;
	int go; /* the child waits for a byte here */
	struct mount_guard guard;
	struct trace_writer *writer;
	struct anonymizer *anonymizer;
	struct capture *capture;
	struct audit_recording *audit;
	struct capture_probe *probe;
};

/* --- before anything is started --- */

static bool is_in(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return !strncmp(path, dir, len) && (path[len] == '/' || !path[len]);
}

static int check_trace_place(const char *trace, const char *dir, struct error *err)
{
	auto_free char *copy = xstrdup(trace);
	char *slash = strrchr(copy, '/');

	if (slash)
		*slash = 0;
	auto_free char *place = realpath(!slash ? "." : slash == copy ? "/" : copy, NULL);
	if (!place)
		return error_errno(err, errno, "cannot write %s", trace);
	auto_free char *real_dir = realpath(dir, NULL);
	if (real_dir && is_in(place, real_dir))
		return error_set(err, EINVAL,
			"the trace %s would lie inside the directory it is made of (%s); "
			"choose another place with -o",
			trace, real_dir);
	return 0;
}

int capture_check(const struct capture_job *job, struct error *err)
{
	const char *dir = job->dir ? job->dir : ".";
	struct claim claim;
	int r = 0;

	if (job->command) {
		auto_free char *program = find_program(job->command[0]);
		if (!program && !strchr(job->command[0], '/'))
			return error_set(err, ENOENT, "%s: no such program", job->command[0]);
	}
	if (job->trace)
		r = check_trace_place(job->trace, dir, err);
	if (!r && job->trace && job->mount)
		r = check_trace_place(job->trace, job->mount, err);
	if (!r)
		r = capture_possible(job->mount ? job->mount : dir, err);
	/* The recorder claims it for good; but not after somebody else's directory has been prepared. */
	if (!r)
		r = claim_take(&claim, dir, err);
	if (!r)
		claim_drop(&claim);
	return r;
}

/* --- the child: command or workload --- */

/* The place under the mount that corresponds to where the caller stands, if it does. */
static char *working_dir(const struct recorder *rec)
{
	const char *mount = rec->job->mount ? rec->job->mount : rec->dir;

	if (!is_in(rec->start_dir, rec->dir))
		return xstrdup(rec->start_dir);
	return xasprintf("%s%s", mount, rec->start_dir + strlen(rec->dir));
}

static void run_workload(const struct recorder *rec)
{
	const struct workload_spec *spec = rec->job->workload;
	struct shared *s = rec->shared;
	const char *mount = rec->job->mount ? rec->job->mount : rec->dir;

	s->workload_r =
		spec->workload->run(spec->settings, mount, &s->result.outcome, &s->workload_err);
	_exit(s->workload_r ? 1 : 0);
}

static void child_main(const struct recorder *rec, int go)
{
	auto_free char *where = working_dir(rec);
	const char *what = rec->job->workload ? rec->job->workload->workload->name
	                                      : basename(rec->job->command[0]);
	char word;

	/* The trace names threads by what they are when they first come to the mount. */
	prctl(PR_SET_NAME, what);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(go, &word, 1) != 1)
		_exit(127);
	close(go);
	interrupt_release();
	if (chdir(where)) {
		rec->shared->exec_errno = errno;
		_exit(126);
	}
	if (rec->job->workload)
		run_workload(rec);
	execvp(rec->job->command[0], rec->job->command);
	rec->shared->exec_errno = errno;
	_exit(errno == ENOENT ? 127 : 126);
}

static int start_child(struct recorder *rec, struct error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return error_errno(err, errno, "pipe");
	rec->child = fork();
	if (rec->child < 0)
		return error_errno(err, errno, "cannot start another process");
	if (!rec->child) {
		close(ends[1]);
		child_main(rec, ends[0]);
	}
	close(ends[0]);
	rec->go = ends[1];
	return 0;
}

/* The terminal sends ^C to everyone in the foreground; other senders mean the command. */
static bool terminal_tells_everyone(void)
{
	return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static void pass_signal_on(pid_t pid, int *seen)
{
	int number = interrupted();

	if (!number || (number == SIGINT && terminal_tells_everyone()))
		return;
	*seen = number;
	kill(pid, number);
}

/* What the command does below the path of a mount that is not there any more is not in the trace. */
static void look_after_mount(struct recorder *rec)
{
	if (!rec->shared->result.taken && capture_taken(rec->capture))
		rec->shared->result.taken = true;
}

static void look_after_trace(struct recorder *rec)
{
	struct shared *s = rec->shared;

	look_after_mount(rec);
	if (!rec->writer || s->result.truncated || !trace_writer_failed(rec->writer))
		return;
	s->result.truncated = true;
	if (rec->job->on_full == ON_FULL_ABORT)
		kill(rec->child, SIGTERM);
}

/* Until the child has ended; its status as a shell would give it. */
static int wait_child(struct recorder *rec)
{
	auto_close int pidfd = (int)syscall(SYS_pidfd_open, rec->child, 0);
	struct pollfd ended = {pidfd, POLLIN, 0};
	int status = 0, seen = 0;

	for (;;) {
		pid_t pid = waitpid(rec->child, &status, pidfd < 0 ? 0 : WNOHANG);
		if (pid == rec->child)
			break;
		int n = pid < 0 ? -1 : poll(&ended, 1, LOOK_INTERVAL_MS);
		if (n < 0 && errno == EINTR)
			pass_signal_on(rec->child, &seen);
		look_after_trace(rec);
	}
	rec->child = 0;
	look_after_mount(rec);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* --- after the command --- */

/* "name (pid)" of up to three processes that share this mount namespace with us, our own aside. */
static void name_others(char *out, size_t size)
{
	auto_closedir DIR *all = opendir("/proc");
	struct dirent *entry;
	struct stat ours, ns;
	int named = 0;

	out[0] = '\0';
	if (stat("/proc/self/ns/mnt", &ours))
		return;
	while (all && named < 3 && (entry = readdir(all))) {
		auto_free char *ns_path = xasprintf("/proc/%s/ns/mnt", entry->d_name);
		auto_free char *name_path = xasprintf("/proc/%s/comm", entry->d_name);
		int pid = atoi(entry->d_name);
		if (!pid || pid == getpid() || stat(ns_path, &ns) || ns.st_ino != ours.st_ino)
			continue;
		auto_free char *name = read_text(name_path);
		if (!name)
			continue;
		size_t used = strlen(out);
		snprintf(out + used, size - used, "%s%s (%d)", named++ ? ", " : ": ", name, pid);
	}
}

/*
 * The command has ended, but a process that it left behind may still work on the mount: a server in
 * the background, say. Taking the mount away would fail its calls, so go on until nobody uses it.
 */
static void wait_for_others(struct recorder *rec)
{
	char others[128];

	if (interrupted() || !capture_release(rec->capture))
		return;
	name_others(others, sizeof(others));
	progress_note(
		"fsreel: %s has ended, but processes still use %s%s; the capture goes on until "
		"they end, or ^C ends it",
		rec->job->command ? rec->job->command[0] : "the workload", rec->dir,
		rec->job->mount ? "" : others);
	while (!interrupted() && capture_release(rec->capture)) {
		poll(NULL, 0, LOOK_INTERVAL_MS);
		look_after_trace(rec);
	}
}

/* --- the recorder --- */

static struct capture_options options_of(const struct recorder *rec, struct trace_writer *w)
{
	return (struct capture_options){
		.source = rec->dir,
		.mount_point = rec->job->mount,
		.writer = w,
		.strict_meta = rec->job->strict_meta,
		.strip_direct = rec->job->strip_direct,
		.clock = w ? capture_probe_clock(rec->probe) : NULL,
		.keep_data = rec->job->keep_data,
	};
}

/* A trial mount: what the kernel can do, and what a call costs its caller. */
static int trial(struct recorder *rec, struct capture_stats *ret, struct error *err)
{
	struct capture_options options = options_of(rec, NULL);
	struct capture *c;
	int r = capture_mount(&c, &options, err);

	if (r)
		return r;
	int above = open(capture_path(c), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rec->shared->result.cost = capture_cost_measure(above);
	close(above);
	return capture_unmount(c, ret, err);
}

static int open_trace(struct recorder *rec, struct error *err)
{
	struct capture_result *result = &rec->shared->result;
	struct capture_stats stats;
	int r = trial(rec, &stats, err);

	if (r || !rec->job->trace)
		return r;
	if (rec->job->anonymize)
		r = anonymizer_new(&rec->anonymizer, rec->job->key, err);
	if (!r)
		r = capture_probe_open(&rec->probe, rec->job->probe,
			rec->job->mount ? rec->job->mount : rec->dir, &result->probe, err);
	if (r)
		return r;
	json_t *meta = capture_meta(rec->job, rec->dir, &stats, result);
	r = trace_writer_open(&rec->writer, rec->job->trace, meta, err);
	json_decref(meta);
	if (!r && rec->job->keep_data)
		trace_writer_keep_data(rec->writer);
	if (!r && rec->anonymizer)
		trace_writer_anonymize(rec->writer, rec->anonymizer);
	return r;
}

static int mount_dir(struct recorder *rec, struct error *err)
{
	struct capture_options options = options_of(rec, rec->writer);
	int r = capture_mount(&rec->capture, &options, err);

	return r ? r : capture_probe_start(rec->probe, rec->capture, rec->writer, rec->child, err);
}

static int start_audit(struct recorder *rec, struct error *err)
{
	struct capture_audit *audit = &rec->shared->result.audit;
	struct stat st;

	if (!rec->job->audit_fd)
		return 0;
	if (stat(capture_path(rec->capture), &st))
		return error_errno(err, errno, "the mount on %s", capture_path(rec->capture));
	audit->device = probe_device(st.st_dev);
	audit->epoch_ns = trace_writer_epoch_ns(rec->writer);
	audit->others = rec->job->mount;
	return audit_recording_start(&rec->audit, rec->job->audit_fd, capture_path(rec->capture),
		audit->device, rec->child, err);
}

static int run_child(struct recorder *rec, struct error *err)
{
	struct shared *s = rec->shared;

	if (write(rec->go, "g", 1) != 1)
		return error_errno(err, errno, "cannot start the command");
	s->result.status = wait_child(rec);
	if (s->exec_errno)
		return error_errno(err, s->exec_errno, "cannot run %s",
			rec->job->command ? rec->job->command[0] : "the workload");
	if (rec->job->workload && s->workload_r) {
		*err = s->workload_err;
		return error_wrap(err, "workload on the mount");
	}
	if (rec->job->workload && s->result.status)
		return error_set(err, EIO, "the workload ended with status %d", s->result.status);
	return 0;
}

static int place_mount(struct recorder *rec, struct error *err)
{
	const char *where = rec->job->mount ? rec->job->mount : rec->dir;

	rec->guard.line = -1;
	if (!rec->job->mount && !namespace_private())
		return 0;
	int r = mount_guard_start(&rec->guard, where, err);
	rec->shared->guard = r ? 0 : rec->guard.pid;
	return r;
}

/*
 * From now on this process is one that only its tasks reach: signals that programs send to their
 * parent or that follow from a limit do not end it (a write beyond RLIMIT_FSIZE fails instead), and
 * the command, run by the same ordinary user, cannot look into it or change it. The command has been
 * forked already and has all of that as it was.
 */
static void wall_off(void)
{
	static const int strays[] = {
		SIGQUIT, SIGUSR1, SIGPIPE, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGXCPU, SIGXFSZ};

	for (size_t i = 0; i < ARRAY_SIZE(strays); i++)
		signal(strays[i], SIG_IGN);
	prctl(PR_SET_DUMPABLE, 0);
}

static int record(struct recorder *rec, struct error *err)
{
	rec->dir = realpath(rec->job->dir ? rec->job->dir : ".", NULL);
	if (!rec->dir)
		return error_errno(
			err, errno, "directory '%s'", rec->job->dir ? rec->job->dir : ".");
	rec->start_dir = realpath(".", NULL);
	if (!rec->start_dir)
		return error_errno(err, errno, "the current directory");
	int r = place_mount(rec, err);
	if (!r)
		r = start_child(rec, err);
	if (!r)
		wall_off();
	if (!r)
		r = open_trace(rec, err);
	if (!r)
		r = mount_dir(rec, err);
	if (!r)
		r = start_audit(rec, err);
	return r ? r : run_child(rec, err);
}

/* Undo in reverse; the first error is the one to tell. */
static int finish(struct recorder *rec, int r, struct error *err)
{
	struct shared *s = rec->shared;
	struct error *next = r ? NULL : err;

	if (rec->child > 0) {
		kill(rec->child, SIGKILL);
		waitpid(rec->child, NULL, 0);
	}
	if (rec->capture && !r)
		wait_for_others(rec);
	capture_probe_stop(rec->probe, &s->result.probe);
	if (rec->capture) {
		int r2 = capture_unmount(rec->capture, &s->result.stats, next);
		r = r ? r : r2;
	}
	audit_recording_stop(rec->audit, &s->result.audit);
	mount_guard_dismiss(&rec->guard);
	if (rec->writer) {
		int r2 = trace_writer_close(rec->writer, &s->result.totals, r ? NULL : err);
		if (r2 && !s->result.truncated)
			r = r ? r : r2;
		if (r && !s->result.stats.events)
			unlink(rec->job->trace);
	}
	anonymizer_free(rec->anonymizer);
	capture_probe_close(rec->probe);
	free(rec->dir);
	free(rec->start_dir);
	return r;
}

static void recorder_main(const struct capture_job *job, struct shared *s)
{
	struct recorder rec = {.job = job, .shared = s, .go = -1, .guard.line = -1};

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	interrupt_catch();
	int r = record(&rec, &s->err);
	s->r = finish(&rec, r, &s->err);
	s->finished = true;
	_exit(0);
}

/* --- the caller --- */

static int wait_recorder(const struct orphans *orphans, pid_t pid)
{
	int status = 0, seen = 0;

	while (orphans_wait(orphans, pid, &status) < 0 && errno == EINTR)
		pass_signal_on(pid, &seen);
	return status;
}

/* The recorder is dead and its mount with it: end whatever would go on without a record. */
static int clean_up_after(const struct capture_job *job, const struct shared *s,
	const struct orphans *orphans, int status, struct error *err)
{
	bool killed = orphans_kill(orphans, s->guard, NULL, 0);

	if (s->guard)
		kill(s->guard, MOUNT_GUARD_SIGNAL);
	return error_set(err, EIO, "the recorder was ended by signal %d%s%s%s", WTERMSIG(status),
		killed ? "; what ran on its mount was killed" : "", job->trace ? "; " : "",
		job->trace ? "the trace can be read up to a second before that" : "");
}

static int run_recorder(const struct capture_job *job, struct shared *s, struct error *err)
{
	struct orphans orphans;

	fflush(NULL);
	interrupt_catch();
	orphans_adopt(&orphans);
	pid_t pid = fork();
	if (!pid)
		recorder_main(job, s);
	int status = pid > 0 ? wait_recorder(&orphans, pid) : 0;
	int r = s->r;
	if (pid < 0)
		r = error_errno(err, errno, "cannot start the recorder");
	else if (!s->finished)
		r = clean_up_after(job, s, &orphans, status, err);
	else if (r)
		*err = s->err;
	orphans_release(&orphans);
	return r;
}

int capture_run(const struct capture_job *job, struct capture_result *ret, struct error *err)
{
	int r = capture_check(job, err);

	if (r)
		return r;
	struct shared *s =
		mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		return error_errno(err, errno, "shared memory");
	r = run_recorder(job, s, err);
	if (s->finished)
		*ret = s->result;
	munmap(s, sizeof(*s));
	return r;
}

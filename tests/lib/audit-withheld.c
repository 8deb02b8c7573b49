/* SPDX-License-Identifier: MIT */
/*
 * audit-withheld SOURCE MOUNT FILE.reel
 *
 * Captures and audits a program of its own, then audits the same run again and again, each time with
 * one event of the trace left out, or given twice, or changed. The audit must find nothing the first
 * time and something every other time.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "audit-log.h"
#include "audit.h"
#include "capture.h"
#include "probe.h"
#include "reader.h"
#include "vec.h"

#define MIB (1u << 20)

static void need(bool held, const char *what)
{
	if (held)
		return;
	perror(what);
	exit(1);
}

/* --- the program --- */

static void use_data(void)
{
	char *data = xcalloc(1, 3 * MIB);
	struct iovec parts[2] = {{data, 100}, {data + 100, 5000}};
	int fd = open("data", O_CREAT | O_RDWR, 0644);

	need(fd >= 0 && write(fd, data, 3 * MIB) == 3 * MIB, "write");
	need(pwritev(fd, parts, 2, 777) == 5100, "pwritev");
	need(pread(fd, data, 4096, 8192) == 4096, "pread");
	need(!lseek(fd, 0, SEEK_SET) && read(fd, data, 512) == 512, "read");
	need(!fsync(fd) && !fdatasync(fd) && !ftruncate(fd, 100000), "fsync");
	need(!fallocate(fd, 0, 0, 200000), "fallocate");
	need(!fcntl(fd, F_SETLK, &(struct flock){.l_type = F_WRLCK, .l_len = 10}), "lock");
	need(!flock(fd, LOCK_EX), "flock");
	need(pwrite(-1, data, 1, 0) < 0 && !write(fd, data, 0), "nothing");
	close(fd);
	free(data);
}

static void use_names(void)
{
	struct stat st;
	char target[64];
	int dir = (mkdir("dir", 0755), open("dir", O_RDONLY | O_DIRECTORY));

	need(dir >= 0 && !renameat(AT_FDCWD, "data", dir, "moved"), "rename");
	need(!linkat(dir, "moved", dir, "other", 0) && !unlinkat(dir, "moved", 0), "link");
	need(!symlink("dir/other", "link") && readlink("link", target, 64) == 9, "symlink");
	need(stat("absent", &st) < 0 && !stat("dir/other", &st), "stat");
	need(!chmod("dir/other", 0600) && !utimensat(dir, "other", NULL, 0), "chmod");
	need(!setxattr("dir/other", "user.a", "b", 1, 0), "setxattr");
	need(getxattr("dir/other", "user.a", target, 1) == 1, "getxattr");
	need(!fsync(dir) && !truncate("dir/other", 5), "fsyncdir");
	close(dir);
	need(open("dir/other", O_RDONLY) >= 0, "left open");
}

static int program(int go, const char *mount)
{
	char word;

	if (read(go, &word, 1) != 1 || chdir(mount))
		return 1;
	use_data();
	use_names();
	return 0;
}

/* --- its capture --- */

static void take(const struct probe_record *r, void *log)
{
	audit_log_put(log, r);
}

static struct audit_options capture(char **argv, int log_fd)
{
	struct audit_options result = {.dir = realpath(argv[2], NULL)};
	struct audit_log *log = audit_log_writer(log_fd);
	const struct capture_options options = {.source = argv[1], .mount_point = argv[2]};
	struct capture_options with_trace = options;
	struct probe_stats lost;
	struct trace_writer *w;
	struct capture *c;
	struct probe *p;
	struct error err;
	struct stat st;
	int line[2], status = 0;

	need(!pipe2(line, O_CLOEXEC), "pipe");
	pid_t pid = fork();
	if (!pid)
		exit(program(line[0], argv[2]));
	json_t *meta = json_object();
	need(!trace_writer_open(&w, argv[3], meta, &err), err.text);
	json_decref(meta);
	with_trace.writer = w;
	need(!capture_mount(&c, &with_trace, &err), err.text);
	need(!stat(argv[2], &st), "stat");
	result.device = probe_device(st.st_dev);
	result.epoch_ns = trace_writer_epoch_ns(w);
	const struct probe_options watch = {
		.set = PROBE_AUDIT,
		.dir = argv[2],
		.device = result.device,
		.record = take,
		.arg = log,
	};
	need(!probe_open(&p, &watch, &err) && !probe_watch(p, pid, &err), err.text);
	need(write(line[1], "g", 1) == 1 && waitpid(pid, &status, 0) == pid, "program");
	need(!capture_unmount(c, NULL, &err), err.text);
	probe_stop(p, &lost);
	probe_close(p);
	need(!status && !lost.lost && !audit_log_close(log), "program");
	need(!trace_writer_close(w, NULL, &err), err.text);
	return result;
}

/* --- again and again --- */

enum fault { NONE, WITHHELD, DOUBLED, OTHER_THREAD, OTHER_RESULT, OTHER_OFFSET, FAULTS };

static const char *const faults[] = {
	"nothing", "left out", "doubled", "by another thread", "with another result", "elsewhere"};

static void give(struct audit *a, struct event ev, struct trace_thread thread, enum fault fault)
{
	if (fault == WITHHELD)
		return;
	thread.tid += fault == OTHER_THREAD;
	ev.result += fault == OTHER_RESULT ? 1 : 0;
	ev.offset += fault == OTHER_OFFSET;
	audit_event(a, &ev, ev.thread ? &thread : NULL);
	if (fault == DOUBLED)
		audit_event(a, &ev, ev.thread ? &thread : NULL);
}

/* Cases with `fault` in the event number `at`, which is then in *ret. */
static uint64_t audit_with(const struct audit_options *o, const char *trace, int log_fd, size_t at,
	enum fault fault, struct event *ret)
{
	struct audit *a = audit_new(o);
	struct audit_log *log = audit_log_reader(log_fd);
	const struct probe_record *r;
	struct trace_reader *reader;
	struct error err;
	struct event ev;
	size_t n = 0;

	need(!trace_reader_open(&reader, trace, &err), err.text);
	int more = trace_reader_next(reader, &ev, &err);
	while (audit_log_next(log, &r, &err) > 0 || (more > 0 && (r = NULL, true))) {
		for (; more > 0 && (!r || audit_event_end_ns(a, &ev) <= r->exit_ns); n++) {
			give(a, ev, *trace_reader_thread(reader, ev.thread),
				n == at ? fault : NONE);
			if (n == at)
				*ret = ev;
			more = trace_reader_next(reader, &ev, &err);
		}
		if (r)
			audit_call(a, r);
	}
	audit_finish(a);
	uint64_t wrong = audit_wrong(a);
	for (size_t i = 0; fault == NONE && audit_case(a, i); i++)
		puts(audit_case(a, i));
	trace_reader_close(reader);
	audit_log_close(log);
	audit_free(a);
	return wrong;
}

/* The number of the last flush: the program's end closes what it left open. */
static size_t last_flush(const char *trace)
{
	struct trace_reader *reader;
	struct error err;
	struct event ev;
	size_t last = 0;

	need(!trace_reader_open(&reader, trace, &err), err.text);
	for (size_t n = 0; trace_reader_next(reader, &ev, &err) > 0; n++)
		last = ev.op == OP_flush ? n : last;
	trace_reader_close(reader);
	return last;
}

/* What no call tells: how often the end of a process closes a file, results that the kernel may
 * change, and what it does by itself. */
static bool may_pass(enum fault fault, const struct event *ev, bool is_last)
{
	bool moves = ev->op == OP_read || ev->op == OP_write;
	bool releases = ev->op == OP_release || ev->op == OP_releasedir;
	bool derived = ev->event_flags & EVENT_DERIVED;
	/* A close that ends a lock: an event, but no request. */
	bool drops = ev->op == OP_setlk && ev->mode == F_UNLCK;
	bool asks = ev->op == OP_getattr || ev->op == OP_readlink || ev->op == OP_getxattr;

	switch (fault) {
	case NONE:
		break;
	case WITHHELD:
		return is_last || drops;
	case DOUBLED:
		return is_last || drops || (derived && ev->op == OP_getxattr);
	case OTHER_THREAD:
		return !ev->thread || releases || derived;
	case OTHER_RESULT:
		return releases || is_last || drops || asks || derived;
	case OTHER_OFFSET:
	case FAULTS:
		return !moves;
	}
	return false;
}

int main(int argc, char **argv)
{
	struct error err;
	struct event ev = {0};
	unsigned tried = 0, missed = 0;

	need(argc == 4, "usage");
	need(!probe_possible(&err), err.text);
	int log_fd = audit_log_create(argv[3], &err);
	struct audit_options options = capture(argv, log_fd);
	need(!audit_with(&options, argv[3], log_fd, SIZE_MAX, NONE, &ev), "the audit of the run");
	size_t last = last_flush(argv[3]);
	for (size_t at = 0;; at++) {
		ev.op = 0;
		for (int fault = WITHHELD; fault < FAULTS; fault++) {
			uint64_t wrong =
				audit_with(&options, argv[3], log_fd, at, (enum fault)fault, &ev);
			if (!ev.op)
				break;
			tried++;
			if (wrong || may_pass((enum fault)fault, &ev, at == last))
				continue;
			printf("event %zu, %s, %s: not noticed\n", at, op_name(ev.op),
				faults[fault]);
			missed++;
		}
		if (!ev.op)
			break;
	}
	printf("%u faults tried, %u not noticed\n", tried, missed);
	return missed || !tried;
}

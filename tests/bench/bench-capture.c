/* SPDX-License-Identifier: MIT */
/*
 * What the pass-through costs over the directory below, and what logging costs over the plain
 * pass-through: wall time and CPU time (client and daemon together) of three loops, as the median of
 * ratios of batches that ran one after the other.
 *
 *	bench-capture [DIR [ROUNDS]]       DIR: where to work, default /var/tmp
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture.h"
#include "cleanup.h"
#include "clock.h"
#include "io.h"
#include "units.h"
#include "vec.h"

enum mode { NATIVE, PLAIN, LOGGED, MODES };

static const char *const mode_dirs[MODES] = {"native", "plain", "logged"};

struct batch {
	double wall_ns, cpu_ns; /* per operation */
};

struct loop {
	const char *name;
	unsigned operations; /* in one batch */
	void (*run)(unsigned operations);
};

static void stop(const char *what)
{
	perror(what);
	_exit(1);
}

/* --- the loops; in the current directory --- */

static void commit_loop(unsigned operations)
{
	static char page[8192];
	int fd = open("data", O_CREAT | O_RDWR, 0644);

	if (fd < 0)
		stop("data");
	for (unsigned i = 0; i < operations; i++) {
		memset(page, (int)i, sizeof(page) / 2);
		if (pwrite(fd, page, sizeof(page), (off_t)(i % 512) * 8192) < 0 || fdatasync(fd))
			stop("write");
	}
	close(fd);
}

static void name_loop(unsigned operations)
{
	char name[32];
	struct stat st;

	for (unsigned i = 0; i < operations; i++) {
		snprintf(name, sizeof(name), "file%u", i % 7);
		int fd = open(name, O_CREAT | O_WRONLY, 0644);
		if (fd < 0 || write(fd, name, sizeof(name)) < 0)
			stop(name);
		close(fd);
		if (rename(name, "renamed") || stat("renamed", &st) || unlink("renamed"))
			stop("rename");
	}
}

static void must(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
		fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
		_exit(1);
	}
}

static void sqlite_loop(unsigned operations)
{
	char sql[160];
	sqlite3 *db;

	if (sqlite3_open("bank", &db) != SQLITE_OK)
		stop("bank");
	must(db, "pragma journal_mode=wal");
	must(db, "pragma synchronous=full");
	must(db, "create table if not exists account(id integer primary key, balance)");
	must(db, "create table if not exists history(account, delta, filler)");
	must(db, "insert or ignore into account values(1, 0), (2, 0), (3, 0)");
	for (unsigned i = 0; i < operations; i++) {
		snprintf(sql, sizeof(sql),
			"begin; update account set balance = balance + %u where id = %u;"
			"insert into history values(%u, %u, hex(randomblob(40))); commit",
			i, i % 3 + 1, i % 3 + 1, i);
		must(db, sql);
	}
	sqlite3_close(db);
}

static const struct loop loops[] = {
	{"pwrite 8 KiB + fdatasync", 60, commit_loop},
	{"create write rename stat unlink", 60, name_loop},
	{"SQLite transaction (WAL, full)", 40, sqlite_loop},
};

/* --- measuring --- */

static uint64_t cpu_of(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? 0 : clock_ns(clock);
}

static struct batch run_batch(const struct loop *loop, pid_t daemon)
{
	uint64_t cpu = cpu_of(daemon) + clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t start = now_ns();

	loop->run(loop->operations);
	uint64_t wall = now_ns() - start;
	cpu = cpu_of(daemon) + clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	return (struct batch){(double)wall / loop->operations, (double)cpu / loop->operations};
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_size);
	return values[count / 2];
}

static void print_ratio(
	const struct batch (*rounds)[MODES], size_t count, enum mode over, enum mode under)
{
	auto_free double *wall = ALLOC_ARRAY(double, count);
	auto_free double *cpu = ALLOC_ARRAY(double, count);

	for (size_t i = 0; i < count; i++) {
		wall[i] = rounds[i][over].wall_ns / rounds[i][under].wall_ns;
		cpu[i] = rounds[i][over].cpu_ns / rounds[i][under].cpu_ns;
	}
	printf("  %s/%s: wall %.3f, CPU %.3f", mode_dirs[over], mode_dirs[under],
		median(wall, count), median(cpu, count));
}

static void print_loop(const struct loop *loop, const struct batch (*rounds)[MODES], size_t count)
{
	struct unit_text wall, cpu;

	printf("%s\n", loop->name);
	for (enum mode m = 0; m < MODES; m++) {
		auto_free double *w = ALLOC_ARRAY(double, count);
		auto_free double *c = ALLOC_ARRAY(double, count);
		for (size_t i = 0; i < count; i++) {
			w[i] = rounds[i][m].wall_ns;
			c[i] = rounds[i][m].cpu_ns;
		}
		printf("  %-7s %10s wall, %10s CPU per operation\n", mode_dirs[m],
			format_ns((uint64_t)median(w, count), &wall),
			format_ns((uint64_t)median(c, count), &cpu));
	}
	print_ratio(rounds, count, PLAIN, NATIVE);
	print_ratio(rounds, count, LOGGED, PLAIN);
	puts("");
	fflush(stdout);
}

static void client(const char *top, pid_t daemon, size_t count)
{
	auto_free struct batch(*rounds)[MODES] = xcalloc(count, sizeof(*rounds));

	for (size_t l = 0; l < ARRAY_SIZE(loops); l++) {
		for (size_t i = 0; i < count + 1; i++)
			for (unsigned k = 0; k < MODES; k++) {
				enum mode m = (enum mode)((i + k) % MODES);
				auto_free char *dir = xasprintf("%s/%s", top, mode_dirs[m]);
				if (chdir(dir))
					stop(dir);
				/* The first round only warms up; each later one overwrites. */
				rounds[i ? i - 1 : 0][m] = run_batch(&loops[l], daemon);
			}
		print_loop(&loops[l], (const struct batch(*)[MODES])rounds, count);
	}
}

static struct capture *mount_mode(const char *top, enum mode m, struct trace_writer *w)
{
	auto_free char *dir = xasprintf("%s/%s", top, mode_dirs[m]);
	struct capture_options options = {.source = dir, .writer = w};
	struct capture *c = NULL;
	struct error err;

	if (!capture_mount(&c, &options, &err))
		return c;
	fprintf(stderr, "%s\n", err.text);
	exit(77);
}

static void make_dirs(const char *top)
{
	for (enum mode m = 0; m < MODES; m++) {
		auto_free char *dir = xasprintf("%s/%s", top, mode_dirs[m]);
		if (mkdir(dir, 0755))
			stop(dir);
	}
}

static int serve(const char *top, pid_t child, int go)
{
	auto_free char *trace = xasprintf("%s/trace.reel", top);
	struct trace_writer *w;
	struct error err;
	int status;

	if (trace_writer_open(&w, trace, NULL, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	struct capture *plain = mount_mode(top, PLAIN, NULL);
	struct capture *logged = mount_mode(top, LOGGED, w);
	if (write(go, "g", 1) != 1)
		stop("pipe");
	waitpid(child, &status, 0);
	capture_unmount(plain, NULL, &err);
	capture_unmount(logged, NULL, &err);
	trace_writer_close(w, NULL, &err);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	auto_free char *top = xasprintf("%s/bench-capture-XXXXXX", argc > 1 ? argv[1] : "/var/tmp");
	size_t rounds = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 60;
	int ends[2];
	char word;

	if (geteuid() || unshare(CLONE_NEWNS) ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		fputs("needs root\n", stderr);
		return 77;
	}
	if (!mkdtemp(top) || pipe(ends))
		stop(top);
	make_dirs(top);
	pid_t daemon = getpid(), child = fork();
	if (!child) {
		if (read(ends[0], &word, 1) == 1)
			client(top, daemon, rounds ? rounds : 1);
		fflush(stdout);
		_exit(0);
	}
	int status = serve(top, child, ends[1]);
	remove_tree(top);
	return status;
}

/* SPDX-License-Identifier: MIT */
/*
 * The engines side by side with fio, which replays the same reads, writes and fdatasyncs from a log
 * of its own: lanes against ioengine=psync, ring against ioengine=io_uring. As many lanes as fio has
 * jobs, one call of each in flight.
 *
 * Whole processes are measured, start and parsing included, by turns: CPU time (workers of the kernel
 * included) and time by the clock, per call; on a file system that counts them, journal commits.
 *
 * bench-ring [CALLS [DIR [LOAD]]]: 200,000 calls in /dev/shm by default. DIR on ext4 or xfs has
 * direct I/O as well. LOAD: only this one.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blockstat.h"
#include "cleanup.h"
#include "clock.h"
#include "io.h"
#include "maker.h"
#include "progress.h"
#include "replay.h"
#include "rng.h"
#include "vec.h"

#define FILES     4 /* per lane */
#define FILE_SIZE (UINT64_C(2) << 20)
#define PAGE      UINT64_C(8192)
#define ROUNDS    5

static char *dir;

/* What is replayed: in the directory of its own, as a trace and as a job file for fio. */
struct load {
	const char *name;
	unsigned lanes;
	uint64_t calls;
	bool direct;
	unsigned syncs_percent;
	char *root, *trace, *jobs;
	uint64_t syncs;
};

enum contender { LANES, FIO_PSYNC, RING, FIO_IO_URING, CONTENDERS };

static const char *const contender_names[] = {"lanes", "fio psync", "ring", "fio io_uring"};

struct cost {
	double cpu_us, wall_us; /* per call */
	double commits;         /* per sync */
};

static void must(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

/* ---- the load ---- */

struct call {
	enum op op;
	unsigned file;
	uint64_t offset;
};

/* Pages of 8 KiB: a third of what is no sync is written. */
static struct call next_call(const struct load *load, struct rng *rng)
{
	struct call c = {
		OP_read, (unsigned)rng_below(rng, FILES), rng_below(rng, FILE_SIZE / PAGE) * PAGE};

	if (rng_below(rng, 100) < load->syncs_percent)
		c.op = OP_fdatasync;
	else if (rng_below(rng, 3) == 0)
		c.op = OP_write;
	return c;
}

static void put_event(struct maker *m, const struct load *load, const struct call *c, unsigned lane)
{
	const uint64_t id = lane * FILES + c->file;
	struct event ev = {.op = c->op, .thread = lane + 1, .file = id + 2, .handle = id + 1};

	if (c->op != OP_fdatasync) {
		ev.offset = c->offset;
		ev.size = PAGE;
		ev.result = (int64_t)PAGE;
		ev.content = 10;
		ev.flags = load->direct ? O_DIRECT : 0;
	}
	if (c->op == OP_write)
		ev.flags = 0; /* of the call */
	maker_put_next(m, ev);
}

static void put_line(FILE *log, const struct load *load, const struct call *c, unsigned lane)
{
	fprintf(log, "%s/file%u-%u ", load->root, lane, c->file);
	if (c->op == OP_fdatasync)
		fprintf(log, "datasync 0 0\n");
	else
		fprintf(log, "%s %" PRIu64 " %" PRIu64 "\n", c->op == OP_read ? "read" : "write",
			c->offset, PAGE);
}

static void put_files(FILE *log, const struct load *load, unsigned lane, const char *action)
{
	for (unsigned f = 0; f < FILES; f++)
		fprintf(log, "%s/file%u-%u %s\n", load->root, lane, f, action);
}

static FILE *create(char *path)
{
	FILE *file = fopen(path, "w");

	must(file, path);
	free(path);
	return file;
}

static void begin_trace(struct maker *m, const struct load *load)
{
	char name[32];

	maker_open(m, load->trace, load->lanes);
	for (unsigned i = 0; i < load->lanes * FILES; i++) {
		snprintf(name, sizeof(name), "file%u-%u", i / FILES, i % FILES);
		maker_file(m, TREE_ROOT, name, FILE_SIZE);
	}
	for (unsigned i = 0; i < load->lanes * FILES; i++)
		maker_put(m, .op = OP_open, .thread = i / FILES + 1, .file = i + 2, .handle = i + 1,
			.flags = (unsigned)(O_RDWR | (load->direct ? O_DIRECT : 0)));
}

/* The same calls for both, in the same order in each lane. */
static void make_load(struct load *load)
{
	auto_free FILE **logs = ALLOC_ARRAY(FILE *, load->lanes);
	struct maker m;
	struct rng rng;

	load->root = xasprintf("%s/%s", dir, load->name);
	load->trace = xasprintf("%s.reel", load->root);
	load->jobs = xasprintf("%s.fio", load->root);
	must(mkdir(load->root, 0755) == 0, load->root);
	FILE *jobs = create(xstrdup(load->jobs));
	fprintf(jobs, "[global]\nreplay_no_stall=1\nthread=1\niodepth=1\ndirect=%d\n",
		load->direct);
	for (unsigned lane = 0; lane < load->lanes; lane++) {
		fprintf(jobs, "[l%u]\nread_iolog=%s.log%u\n", lane, load->root, lane);
		logs[lane] = create(xasprintf("%s.log%u", load->root, lane));
		fprintf(logs[lane], "fio version 2 iolog\n");
		put_files(logs[lane], load, lane, "add");
		put_files(logs[lane], load, lane, "open");
	}
	fclose(jobs);
	begin_trace(&m, load);
	rng_init(&rng, 1);
	for (uint64_t i = 0; i < load->calls; i++) {
		unsigned lane = (unsigned)(i % load->lanes);
		struct call c = next_call(load, &rng);
		load->syncs += c.op == OP_fdatasync;
		put_event(&m, load, &c, lane);
		put_line(logs[lane], load, &c, lane);
	}
	maker_close(&m);
	for (unsigned lane = 0; lane < load->lanes; lane++) {
		put_files(logs[lane], load, lane, "close");
		fclose(logs[lane]);
	}
}

/* ---- the contenders ---- */

static int with_reader(const struct load *load, const struct replay_options *options, bool prepare)
{
	auto_close int root_fd = open(load->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct result_run run = {0};
	struct trace_reader *trace;
	struct error err = {0};

	int r = trace_reader_open(&trace, load->trace, &err);
	if (r == 0 && prepare)
		r = replay_prepare(trace, root_fd, options, &err);
	else if (r == 0)
		r = replay_run(trace, root_fd, options, &run, &err);
	if (r < 0 || run.divergences) {
		fprintf(stderr, "bench-ring: %s\n", r < 0 ? err.text : run.divergence.at[0].first);
		return 1;
	}
	trace_reader_close(trace);
	return 0;
}

static void become(enum contender who, const struct load *load)
{
	struct replay_options options = {.order = ORDER_RESOURCE};

	if (who == LANES || who == RING) {
		options.engine = who == RING ? ENGINE_RING : ENGINE_LANES;
		_exit(with_reader(load, &options, false));
	}
	execlp("fio", "fio", "--output=/dev/null",
		who == FIO_PSYNC ? "--ioengine=psync" : "--ioengine=io_uring", load->jobs, NULL);
	_exit(127);
}

static uint64_t cpu_ns(const struct rusage *u)
{
	return (uint64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * NSEC_PER_SEC +
	       (uint64_t)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * NSEC_PER_USEC;
}

static struct cost measure(enum contender who, const struct load *load)
{
	struct blockstat before, after;
	struct rusage usage;
	struct stat st;
	int status;

	must(stat(dir, &st) == 0, dir);
	blockstat_read(st.st_dev, &before);
	uint64_t start = now_ns();
	fflush(stdout);
	pid_t pid = fork();
	must(pid >= 0, "fork");
	if (pid == 0)
		become(who, load);
	must(wait4(pid, &status, 0, &usage) == pid, "wait4");
	uint64_t took = now_ns() - start;
	blockstat_read(st.st_dev, &after);
	if (status != 0) {
		fprintf(stderr, "bench-ring: %s failed\n", contender_names[who]);
		exit(1);
	}
	double calls = (double)load->calls;
	return (struct cost){(double)cpu_ns(&usage) / calls / 1e3, (double)took / calls / 1e3,
		(double)(after.commits - before.commits) / (double)max_u64(load->syncs, 1)};
}

/* ---- the comparison ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double values[ROUNDS])
{
	qsort(values, ROUNDS, sizeof(*values), by_value);
	return values[ROUNDS / 2];
}

/* Medians of the ratios of each round. */
static void compare(
	const struct load *load, struct cost costs[CONTENDERS][ROUNDS], enum contender ours)
{
	const enum contender theirs = ours + 1;
	double cpu[ROUNDS], wall[ROUNDS], our_cpu[ROUNDS], their_cpu[ROUNDS], low, high;

	for (unsigned i = 0; i < ROUNDS; i++) {
		our_cpu[i] = costs[ours][i].cpu_us;
		their_cpu[i] = costs[theirs][i].cpu_us;
		cpu[i] = their_cpu[i] / our_cpu[i];
		wall[i] = costs[theirs][i].wall_us / costs[ours][i].wall_us;
	}
	double cpu_ratio = median(cpu);
	low = cpu[0];
	high = cpu[ROUNDS - 1];
	printf("%-16s %3u  %-5s : %-12s CPU per call %6.2f : %6.2f us, %.2f x less (%.2f .. %.2f); "
	       "rate %.2f x\n",
		load->name, load->lanes, contender_names[ours], contender_names[theirs],
		median(our_cpu), median(their_cpu), cpu_ratio, low, high, median(wall));
}

static void print_commits(const struct load *load, struct cost costs[CONTENDERS][ROUNDS])
{
	if (!load->syncs || costs[LANES][0].commits <= 0)
		return;
	printf("%-16s %3u  journal commits per sync:", load->name, load->lanes);
	for (unsigned who = 0; who < CONTENDERS; who++) {
		double commits[ROUNDS];
		for (unsigned i = 0; i < ROUNDS; i++)
			commits[i] = costs[who][i].commits;
		printf("%s %s %.3f", who ? "," : "", contender_names[who], median(commits));
	}
	printf("\n");
}

static void bench(struct load *load)
{
	struct cost costs[CONTENDERS][ROUNDS];
	const struct replay_options options = {0};

	make_load(load);
	if (with_reader(load, &options, true) != 0)
		exit(1);
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned who = 0; who < CONTENDERS; who++)
			costs[who][round] = measure((enum contender)who, load);
	compare(load, costs, LANES);
	compare(load, costs, RING);
	print_commits(load, costs);
	free(load->root);
	free(load->trace);
	free(load->jobs);
}

static bool takes_direct(void)
{
	auto_free char *path = xasprintf("%s/probe", dir);
	auto_close int fd = open(path, O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);
	struct blockstat stat;
	struct stat st;

	unlink(path);
	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	blockstat_read(st.st_dev, &stat);
	return stat.valid; /* not on tmpfs, where it means nothing */
}

int main(int argc, char **argv)
{
	uint64_t calls = argc > 1 ? strtoull(argv[1], NULL, 10) : 200000;
	struct load loads[] = {
		{.name = "cached", .lanes = 1, .calls = calls, .syncs_percent = 0},
		{.name = "database", .lanes = 1, .calls = calls, .syncs_percent = 14},
		{.name = "database-many", .lanes = 32, .calls = calls, .syncs_percent = 14},
		{.name = "direct", .lanes = 32, .calls = calls, .direct = true},
	};

	if (system("fio --version >/dev/null 2>&1") != 0) {
		printf("needs fio\n");
		return 77;
	}
	dir = xasprintf("%s/bench-ring-XXXXXX", argc > 2 ? argv[2] : "/dev/shm");
	must(mkdtemp(dir), dir);
	progress_quiet(true);
	printf("fsreel : fio, medians of %d rounds\n", ROUNDS);
	for (size_t i = 0; i < ARRAY_SIZE(loads); i++)
		if ((!loads[i].direct || takes_direct()) &&
			(argc < 4 || !strcmp(argv[3], loads[i].name)))
			bench(&loads[i]);
	must(remove_tree(dir) == 0, dir);
	free(dir);
	return 0;
}

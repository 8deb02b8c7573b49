/* SPDX-License-Identifier: MIT */
/*
 * The engine's own cost, side by side with doing without an engine.
 *
 *   null    CPU time per step of reading, compiling with all orders, dispatching and accounting
 *   lanes   one lane, and several, on tmpfs against a bare loop of the same calls in as many threads,
 *           alternating
 *   memory  the same at ten times the length
 *
 * bench-replay [EVENTS [FILE]]: length of the long trace, 1,000,000 by default; with FILE only write it.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "clock.h"
#include "io.h"
#include "maker.h"
#include "payload.h"
#include "progress.h"
#include "replay.h"
#include "rng.h"
#include "vec.h"

#define FILES     10
#define FILE_SIZE (UINT64_C(4) << 20)
#define PAGE      8192
#define ROUNDS    7
#define MAX_LANES 4

static char dir[] = "/dev/shm/bench-replay-XXXXXX";

static char *in_dir(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

struct call {
	enum op op;
	unsigned file;
	uint64_t offset;
};

/* The mix of a database: 57 % reads, 29 % writes, 14 % fdatasync, pages of 8 KiB. */
static struct call next_call(struct rng *rng)
{
	uint64_t dice = rng_below(rng, 100);
	struct call c = {
		OP_read, (unsigned)rng_below(rng, FILES), rng_below(rng, FILE_SIZE / PAGE) * PAGE};

	if (dice >= 86)
		c.op = OP_fdatasync;
	else if (dice >= 57)
		c.op = OP_write;
	return c;
}

static struct event event_of(const struct call *c, uint64_t file, uint64_t handle, unsigned thread)
{
	struct event ev = {.op = c->op, .thread = thread, .file = file, .handle = handle};

	if (c->op == OP_fdatasync)
		return ev;
	ev.offset = c->offset;
	ev.size = PAGE;
	ev.result = PAGE;
	ev.content = 10;
	return ev;
}

/* Each thread has all files open; the threads take turns. */
static void make_trace(const char *path, unsigned threads, uint64_t calls)
{
	uint64_t ids[FILES], handle = 0;
	struct maker m;
	struct rng rng;
	char name[16];

	maker_open(&m, path, threads);
	for (unsigned i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "file%u", i);
		ids[i] = maker_file(&m, TREE_ROOT, name, FILE_SIZE);
	}
	for (unsigned t = 1; t <= threads; t++)
		for (unsigned i = 0; i < FILES; i++)
			maker_put(&m, .op = OP_open, .thread = t, .file = ids[i],
				.handle = ++handle, .flags = O_RDWR);
	rng_init(&rng, 1);
	for (uint64_t i = 0; i < calls; i++) {
		unsigned t = (unsigned)(i % threads);
		struct call c = next_call(&rng);
		maker_put_next(&m, event_of(&c, ids[c.file], t * FILES + c.file + 1, t + 1));
	}
	maker_close(&m);
}

static void fail(const struct error *err)
{
	fprintf(stderr, "bench-replay: %s\n", err->text);
	exit(1);
}

static void replay_once(const char *path, int root_fd, const struct replay_options *options,
	bool prepare, struct result_run *run)
{
	struct error err = {0};
	struct trace_reader *trace;

	if (trace_reader_open(&trace, path, &err) < 0)
		fail(&err);
	if (prepare && replay_prepare(trace, root_fd, options, &err) < 0)
		fail(&err);
	*run = (struct result_run){0};
	if (replay_run(trace, root_fd, options, run, &err) < 0)
		fail(&err);
	trace_reader_close(trace);
}

/* ---- null ---- */

struct numbers {
	double cpu_ns; /* per step */
	uint64_t rss;  /* bytes, of a process that does nothing else */
};

static void null_child(const char *path, enum replay_order order, int out)
{
	const struct replay_options options = {.order = order, .engine = ENGINE_NULL};
	auto_close int root_fd = open(dir, O_RDONLY | O_DIRECTORY);
	struct result_run run;
	struct rusage usage;

	replay_once(path, root_fd, &options, false, &run);
	getrusage(RUSAGE_SELF, &usage);
	struct numbers n = {
		(double)run.cpu_ns / (double)run.operations, (uint64_t)usage.ru_maxrss * 1024};
	if (write_all(out, &n, sizeof(n)) < 0)
		_exit(1);
	_exit(0);
}

static struct numbers null_run(const char *path, enum replay_order order)
{
	struct numbers n = {0};
	int ends[2], status;

	if (pipe(ends) < 0)
		exit(1);
	pid_t pid = fork();
	if (pid == 0)
		null_child(path, order, ends[1]);
	close(ends[1]);
	if (read_full(ends[0], &n, sizeof(n)) != sizeof(n) || waitpid(pid, &status, 0) < 0)
		exit(1);
	close(ends[0]);
	return n;
}

static void bench_null(const char *path, const char *what)
{
	static const enum replay_order orders[] = {ORDER_THREAD, ORDER_RESOURCE, ORDER_STRICT};

	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		struct numbers best = null_run(path, orders[i]);
		for (unsigned round = 1; round < ROUNDS; round++) {
			struct numbers n = null_run(path, orders[i]);
			best.cpu_ns = n.cpu_ns < best.cpu_ns ? n.cpu_ns : best.cpu_ns;
		}
		printf("%-24s %-9s %7.1f ns CPU per step, %5.1f MiB resident\n", what,
			replay_order_names[orders[i]], best.cpu_ns, (double)best.rss / 1048576.0);
	}
}

/* ---- lanes ---- */

struct cost {
	double wall_ns, cpu_ns; /* per call */
};

/* Every `step`th call of a list, by one thread. */
struct bare {
	const struct call *list;
	uint64_t first, step, calls, failures;
	const int *fds;
	const struct payload *payload;
	pthread_t thread;
};

static void *bare_main(void *arg)
{
	struct bare *b = arg;
	auto_free void *buffer = xaligned(4096, PAYLOAD_SIZE);

	for (uint64_t i = b->first; i < b->calls; i += b->step) {
		const struct call *c = &b->list[i];
		int fd = b->fds[c->file];
		ssize_t n =
			c->op == OP_fdatasync ? fdatasync(fd)
			: c->op == OP_read
				? pread(fd, buffer, PAGE, (off_t)c->offset)
				: pwrite(fd,
					  payload_at(b->payload, CONTENT_RANDOM, c->offset, PAGE),
					  PAGE, (off_t)c->offset);
		b->failures += n < 0;
	}
	return NULL;
}

/* One thread is this one: a program without others pays less for a call. */
static uint64_t bare_run(struct bare *bares, unsigned threads)
{
	uint64_t failures = 0;

	for (unsigned t = 1; t < threads; t++)
		if (pthread_create(&bares[t].thread, NULL, bare_main, &bares[t]))
			exit(1);
	bare_main(&bares[0]);
	for (unsigned t = 1; t < threads; t++)
		pthread_join(bares[t].thread, NULL);
	for (unsigned t = 0; t < threads; t++)
		failures += bares[t].failures;
	return failures;
}

static struct cost bare_loop(uint64_t calls, unsigned threads)
{
	struct payload *payload = payload_new();
	auto_free struct call *list = ALLOC_ARRAY(struct call, calls);
	struct bare bares[MAX_LANES];
	int fds[FILES];
	struct rng rng;

	for (unsigned i = 0; i < FILES; i++) {
		auto_free char *path = xasprintf("%s/root/file%u", dir, i);
		fds[i] = open(path, O_RDWR | O_CLOEXEC);
	}
	rng_init(&rng, 1);
	for (uint64_t i = 0; i < calls; i++)
		list[i] = next_call(&rng);
	for (unsigned t = 0; t < threads; t++)
		bares[t] = (struct bare){list, t, threads, calls, 0, fds, payload, 0};
	uint64_t start = now_ns(), cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (bare_run(bares, threads))
		exit(1);
	uint64_t took = now_ns() - start;
	cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	for (unsigned i = 0; i < FILES; i++)
		close(fds[i]);
	payload_free(payload);
	return (struct cost){(double)took / (double)calls, (double)cpu / (double)calls};
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_ratio(const char *what, double *ratios)
{
	qsort(ratios, ROUNDS, sizeof(*ratios), by_value);
	printf("%-24s %.3f (median of %d pairs, %.3f .. %.3f)\n", what, ratios[ROUNDS / 2], ROUNDS,
		ratios[0], ratios[ROUNDS - 1]);
}

static void bench_lanes(unsigned lanes, uint64_t calls)
{
	const struct replay_options options = {.order = ORDER_RESOURCE, .engine = ENGINE_LANES};
	auto_free char *root = in_dir("root"), *path = in_dir("lanes.reel");
	double rates[ROUNDS], cpus[ROUNDS];
	struct result_run run;

	if (mkdir(root, 0755) < 0)
		exit(1);
	make_trace(path, lanes, calls);
	auto_close int root_fd = open(root, O_RDONLY | O_DIRECTORY);
	for (unsigned i = 0; i < ROUNDS; i++) {
		replay_once(path, root_fd, &options, i == 0, &run);
		if (run.divergences)
			exit(1);
		struct cost bare = bare_loop(calls, lanes);
		rates[i] = bare.wall_ns * (double)run.operations / (double)run.elapsed_ns;
		cpus[i] = (double)run.cpu_ns / (double)run.operations / bare.cpu_ns;
		if (i + 1 == ROUNDS)
			printf("%u lanes: bare loop %.0f ns, replay %.0f ns per call\n", lanes,
				bare.wall_ns, (double)run.elapsed_ns / (double)run.operations);
		result_run_done(&run);
	}
	print_ratio("rate, lanes : bare loop", rates);
	print_ratio("CPU, with compiling", cpus);
	if (remove_tree(root) < 0)
		exit(1);
}

int main(int argc, char **argv)
{
	uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;

	if (argc > 2) {
		make_trace(argv[2], 10, events);
		return 0;
	}
	if (!mkdtemp(dir))
		return 1;
	progress_quiet(true);
	auto_free char *shorter = in_dir("short.reel"), *longer = in_dir("long.reel");
	make_trace(shorter, 10, events / 10);
	make_trace(longer, 10, events);
	bench_null(shorter, "null, 10 lanes, short");
	bench_null(longer, "null, 10 lanes, long");
	bench_lanes(1, events / 10);
	bench_lanes(MAX_LANES, events / 10);
	return remove_tree(dir) < 0;
}

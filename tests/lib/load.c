/* SPDX-License-Identifier: MIT */
/*
 * Works on files below the working directory and counts what it did, for comparison with a trace:
 *
 *	load COUNTS SECONDS PROCESSES THREADS KEEP FILES [MODE]
 *
 * Each thread makes, writes, renames, reads and removes small files in 64 directories, KEEP of them
 * alive at a time (mode "files"), or writes, reads, syncs and cuts a file of its own (mode "data"), or
 * both by turns ("mixed"); until SECONDS are over or FILES rounds are done, 0 = no limit. COUNTS is a file outside; it is
 * mapped, so what was counted is there whoever is killed. As text: "load COUNTS" prints it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"
#include "clock.h"
#include "rng.h"

#define DIRS  64
#define BLOCK 4096
#define SPAN  64 /* blocks of a thread's file of data */

enum call { CREATE, WRITE, READ, FSYNC, RENAME, UNLINK, TRUNCATE, CALLS };

static const char *const names[] = {
	"create", "write", "read", "fsync", "rename", "unlink", "truncate"};

/* Begun and ended, so that what a kill cuts off lies between the two. */
struct counts {
	_Atomic uint64_t begun[CALLS], ended[CALLS];
	_Atomic uint64_t failed;
	_Atomic int first_errno;
};

struct hand {
	struct counts *counts;
	struct rng rng;
	unsigned process, number, keep, at;
	uint64_t end_ns, rounds;
	bool files, data;
	int fd;
	char block[BLOCK * 4];
};

static bool done(struct hand *h, enum call call, bool good)
{
	int expected = 0, code = errno;

	if (good) {
		h->counts->ended[call]++;
		return true;
	}
	h->counts->begun[call]--;
	h->counts->failed++;
	atomic_compare_exchange_strong(&h->counts->first_errno, &expected, code);
	return false;
}

/* A macro, so that it has begun before the call is made. */
#define DO(h, call, how)                                                                           \
	({                                                                                         \
		(h)->counts->begun[call]++;                                                        \
		done(h, call, how);                                                                \
	})

static void path_of(const struct hand *h, unsigned file, bool moved, char out[64])
{
	snprintf(out, 64, "d%u/%c%u-%u-%u", (file + moved) % DIRS, moved ? 'm' : 'f', h->process,
		h->number, file);
}

static void remove_one(struct hand *h, unsigned file)
{
	char moved[64];

	path_of(h, file, true, moved);
	DO(h, UNLINK, unlink(moved) == 0);
}

static void round_of_files(struct hand *h)
{
	char path[64], moved[64];

	path_of(h, h->at, false, path);
	path_of(h, h->at, true, moved);
	h->counts->begun[CREATE]++;
	int fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0644);
	if (!done(h, CREATE, fd >= 0))
		return;
	DO(h, WRITE, pwrite(fd, h->block, 100, 0) == 100);
	close(fd);
	if (!DO(h, RENAME, rename(path, moved) == 0))
		return;
	fd = open(moved, O_RDONLY);
	DO(h, READ, pread(fd, h->block, 100, 0) == 100);
	close(fd);
	if (h->at >= h->keep)
		remove_one(h, h->at - h->keep);
	h->at++;
}

static void round_of_data(struct hand *h)
{
	off_t at = (off_t)rng_below(&h->rng, SPAN) * BLOCK;
	size_t size = 1 + rng_below(&h->rng, sizeof(h->block));

	DO(h, WRITE, pwrite(h->fd, h->block, size, at) == (ssize_t)size);
	DO(h, READ, pread(h->fd, h->block, size, at) == (ssize_t)size);
	if (rng_below(&h->rng, 50) == 0)
		DO(h, FSYNC, fsync(h->fd) == 0);
	if (rng_below(&h->rng, 100) == 0)
		DO(h, TRUNCATE, ftruncate(h->fd, at) == 0);
}

static void open_data(struct hand *h)
{
	char name[64];

	snprintf(name, sizeof(name), "data%u-%u", h->process, h->number);
	h->counts->begun[CREATE]++;
	h->fd = open(name, O_CREAT | O_EXCL | O_RDWR, 0644);
	done(h, CREATE, h->fd >= 0);
}

static void *work(void *arg)
{
	struct hand *h = arg;

	rng_init(&h->rng, h->process * 1000u + h->number);
	for (size_t i = 0; i < sizeof(h->block); i++)
		h->block[i] = (char)rng_next(&h->rng);
	if (h->data)
		open_data(h);
	for (uint64_t i = 0; (!h->end_ns || now_ns() < h->end_ns) && (!h->rounds || i < h->rounds);
		i++) {
		if (h->files)
			round_of_files(h);
		if (h->data)
			round_of_data(h);
	}
	while (h->keep && h->at) {
		remove_one(h, --h->at);
		h->keep--;
	}
	if (h->data)
		close(h->fd);
	return NULL;
}

static int process(const struct hand *plan, unsigned number, unsigned threads)
{
	struct hand *hands = calloc(threads, sizeof(*hands));
	pthread_t *ids = calloc(threads, sizeof(*ids));

	if (!hands || !ids)
		abort();
	for (unsigned i = 0; i < threads; i++) {
		hands[i] = *plan;
		hands[i].process = number;
		hands[i].number = i;
		if (pthread_create(&ids[i], NULL, work, &hands[i]))
			abort();
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	free(hands);
	free(ids);
	return 0;
}

static struct counts *map_counts(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, sizeof(struct counts))) {
		perror(path);
		exit(2);
	}
	struct counts *c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (c == MAP_FAILED)
		abort();
	return c;
}

static int print(const struct counts *c)
{
	for (int i = 0; i < CALLS; i++)
		printf("%s %llu %llu\n", names[i], (unsigned long long)c->ended[i],
			(unsigned long long)c->begun[i]);
	if (c->failed)
		printf("failed %llu: %s\n", (unsigned long long)c->failed,
			strerror(c->first_errno));
	return c->failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc == 2)
		return print(map_counts(argv[1]));
	if (argc < 7) {
		fprintf(stderr, "usage: load COUNTS SECONDS PROCESSES THREADS KEEP FILES [MODE]\n");
		return 2;
	}
	const char *mode = argc > 7 ? argv[7] : "mixed";
	double seconds = atof(argv[2]);
	struct hand plan = {
		.counts = map_counts(argv[1]),
		.end_ns = seconds > 0 ? now_ns() + (uint64_t)(seconds * NSEC_PER_SEC) : 0,
		.keep = (unsigned)atoi(argv[5]),
		.rounds = strtoull(argv[6], NULL, 10),
		.files = strcmp(mode, "data") != 0,
		.data = strcmp(mode, "files") != 0,
	};
	char dir[16];

	for (int i = 0; i < DIRS && plan.files; i++) {
		snprintf(dir, sizeof(dir), "d%d", i);
		mkdir(dir, 0755);
	}
	for (unsigned i = 0; i < (unsigned)atoi(argv[3]); i++)
		if (fork() == 0)
			_exit(process(&plan, i, (unsigned)atoi(argv[4])));
	while (wait(NULL) > 0)
		continue;
	return print(plan.counts);
}

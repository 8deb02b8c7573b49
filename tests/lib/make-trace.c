/* SPDX-License-Identifier: MIT */
/* A trace to order, for cases that need one which no workload here makes: see `kinds`. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"
#include "maker.h"

#define PAGE      UINT64_C(8192)
#define FILE_SIZE (UINT64_C(4) << 20)
#define DEPTH     32

struct order {
	unsigned threads, rounds;
};

/* Each thread appends pages to a file of its own, each page made durable: a log per client. */
static void appends(struct maker *m, const struct order *o)
{
	char name[32];

	for (unsigned t = 1; t <= o->threads; t++) {
		snprintf(name, sizeof(name), "log%u", t);
		maker_put(m, .op = OP_create, .thread = t, .dir = TREE_ROOT,
			.name = maker_text(name), .file = 100 + t, .handle = t, .flags = O_RDWR,
			.mode = S_IFREG | 0600);
	}
	for (unsigned i = 0; i < o->rounds; i++)
		for (unsigned t = 1; t <= o->threads; t++) {
			maker_put(m, .op = OP_write, .thread = t, .file = 100 + t, .handle = t,
				.offset = i * PAGE, .size = PAGE, .result = (int64_t)PAGE,
				.content = 10);
			maker_put(m, .op = OP_fdatasync, .thread = t, .file = 100 + t, .handle = t);
		}
}

static void put_mixed(struct maker *m, unsigned t, uint64_t id, const char *a, const char *b)
{
	const uint64_t dir = 100 + t;

	maker_put(m, .op = OP_lookup, .thread = t, .dir = dir, .name = maker_text(a), .result = -2);
	maker_put(m, .op = OP_create, .thread = t, .dir = dir, .name = maker_text(a), .file = id,
		.handle = id, .flags = O_RDWR | O_EXCL, .mode = S_IFREG | 0640);
	maker_put(m, .op = OP_write, .thread = t, .file = id, .handle = id, .size = 20000,
		.result = 20000, .content = 5);
	maker_put(m, .op = OP_setxattr, .thread = t, .file = id, .handle = id,
		.name = maker_text("user.a"), .value = maker_text("value"));
	maker_put(m, .op = OP_read, .thread = t, .file = id, .handle = id, .offset = 16384,
		.size = PAGE, .result = 20000 - 16384);
	maker_put(m, .op = OP_truncate, .thread = t, .file = id, .handle = id, .size = 5000);
	maker_put(m, .op = OP_fsync, .thread = t, .file = id, .handle = id);
	maker_put(m, .op = OP_getattr, .thread = t, .file = id, .handle = id);
	maker_put(m, .op = OP_chmod, .thread = t, .file = id, .mode = 0600);
	maker_put(
		m, .op = OP_link, .thread = t, .file = id, .dir = TREE_ROOT, .name = maker_text(b));
	maker_put(m, .op = OP_rename, .thread = t, .dir = TREE_ROOT, .name = maker_text(b),
		.dir2 = dir, .name2 = maker_text("current"), .file = id);
	maker_put(m, .op = OP_release, .thread = t, .file = id, .handle = id);
	maker_put(m, .op = OP_unlink, .thread = t, .dir = dir, .name = maker_text(a), .file = id);
}

/* Each thread makes, fills, renames and removes files, half of it in a directory that all share. */
static void mixed(struct maker *m, const struct order *o)
{
	char a[32], b[32];

	for (unsigned t = 1; t <= o->threads; t++) {
		snprintf(a, sizeof(a), "dir%u", t);
		maker_put(m, .op = OP_mkdir, .thread = t, .dir = TREE_ROOT, .name = maker_text(a),
			.file = 100 + t, .mode = S_IFDIR | 0755);
	}
	for (unsigned i = 0; i < o->rounds; i++)
		for (unsigned t = 1; t <= o->threads; t++) {
			uint64_t id = 10000 + i * o->threads + t;
			snprintf(a, sizeof(a), "file%u", i);
			snprintf(b, sizeof(b), "new-%u-%u", t, i);
			put_mixed(m, t, id, a, b);
		}
}

/* Each thread keeps DEPTH direct reads in flight in one file, as libaio and io_uring do. */
static void direct(struct maker *m, const struct order *o)
{
	const uint64_t file = maker_file(m, TREE_ROOT, "data", FILE_SIZE);

	for (unsigned t = 1; t <= o->threads; t++)
		maker_put(m, .op = OP_open, .thread = t, .file = file, .handle = t,
			.flags = O_RDWR | O_DIRECT);
	uint64_t start = m->now_ns + 1000;
	for (unsigned i = 0; i < o->rounds; i++)
		for (unsigned t = 1; t <= o->threads; t++) {
			const struct event ev = {.op = OP_read,
				.thread = t,
				.file = file,
				.handle = t,
				.offset = i * 37 * PAGE % FILE_SIZE,
				.size = PAGE,
				.flags = O_RDWR | O_DIRECT,
				.result = (int64_t)PAGE,
				.start_ns = start + i * UINT64_C(1000) + t,
				.took_ns = DEPTH * 1000 - 500};
			maker_event(m, &ev);
		}
}

static const struct {
	const char *name;
	void (*make)(struct maker *m, const struct order *o);
} kinds[] = {
	{"appends", appends},
	{"mixed", mixed},
	{"direct", direct},
};

int main(int argc, char **argv)
{
	struct maker m;

	if (argc != 5) {
		fprintf(stderr, "usage: make-trace KIND THREADS ROUNDS FILE.reel\n");
		return 2;
	}
	const struct order o = {(unsigned)atoi(argv[2]), (unsigned)atoi(argv[3])};
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(argv[1], kinds[i].name) != 0)
			continue;
		maker_open(&m, argv[4], o.threads);
		kinds[i].make(&m, &o);
		maker_close(&m);
		return 0;
	}
	fprintf(stderr, "make-trace: no kind '%s'\n", argv[1]);
	return 2;
}

/* SPDX-License-Identifier: MIT */
/*
 * What looking at written data costs, and how good the look is.
 *
 *   bench-content             ns per KiB of class and hash, beside memcpy and zstd level 1, in turns
 *   bench-content FILE...     for each file: how far the classes of its pages are from what zstd makes
 *                             of the same pages; exit status 1 if it is more than a class and a half
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "cleanup.h"
#include "clock.h"
#include "content.h"
#include "io.h"
#include "rng.h"
#include "vec.h"

#define ROUNDS    15
#define ROOM      (UINT64_C(256) << 10) /* looked at again and again */
#define BYTES     (UINT64_C(4) << 20)   /* by one pass */
#define PAGE      8192
#define FILE_MOST (UINT64_C(64) << 20)

static uint8_t *room, *copy;
static ZSTD_CCtx *zstd;
static volatile uint64_t sink;

static void do_class(const uint8_t *p, size_t size)
{
	sink += content_classify(p, size);
}

static void do_hash(const uint8_t *p, size_t size)
{
	sink += content_hash(p, size);
}

static void do_both(const uint8_t *p, size_t size)
{
	enum content content;

	sink += content_look(p, size, &content) + content;
}

static void do_memcpy(const uint8_t *p, size_t size)
{
	memcpy(copy, p, size);
	sink += copy[size - 1];
}

static void do_zstd(const uint8_t *p, size_t size)
{
	sink += ZSTD_compressCCtx(zstd, copy, 2 * ROOM, p, size, 1);
}

static const struct {
	const char *name;
	void (*look)(const uint8_t *p, size_t size);
} looks[] = {
	{"class", do_class},
	{"hash", do_hash},
	{"both", do_both},
	{"memcpy", do_memcpy},
	{"zstd-1", do_zstd},
};

/* Text of words in an order without a pattern. */
static void fill_text(uint8_t *p, size_t size, struct rng *rng)
{
	static const char *const words[] = {"select ", "the ", "of ", "balance ", "account ",
		"where ", "branch ", "teller ", "update ", "set ", "and ", "history "};

	for (size_t i = 0; i < size;) {
		const char *word = words[rng_below(rng, ARRAY_SIZE(words))];
		size_t n = min_u64(strlen(word), size - i);
		memcpy(p + i, word, n);
		i += n;
	}
}

static void fill_room(const char *what)
{
	struct rng rng;

	rng_init(&rng, 7);
	if (!strcmp(what, "zeros"))
		content_fill(CONTENT_ZERO, 1, room, ROOM);
	else if (!strcmp(what, "random"))
		content_fill(CONTENT_RANDOM, 1, room, ROOM);
	else if (!strcmp(what, "half"))
		content_fill(CONTENT_WORDS + 4, 1, room, ROOM);
	else
		fill_text(room, ROOM, &rng);
}

/* ns per KiB. The kernel has just copied what is written, so it lies in a cache near the CPU. */
static double pass(void (*look)(const uint8_t *p, size_t size), size_t size)
{
	uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (uint64_t at = 0; at < BYTES; at += size)
		look(room + at % ROOM, size);
	return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) * 1024 / BYTES;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void measure(const char *what, size_t size)
{
	double all[ARRAY_SIZE(looks)][ROUNDS];

	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < ARRAY_SIZE(looks); i++)
			all[i][round] = pass(looks[i].look, size);
	printf("%-7s %7zu", what, size);
	for (size_t i = 0; i < ARRAY_SIZE(looks); i++) {
		qsort(all[i], ROUNDS, sizeof(double), by_value);
		printf(" %8.1f", all[i][ROUNDS / 2]);
	}
	putchar('\n');
}

static void measure_all(void)
{
	static const char *const kinds[] = {"zeros", "text", "half", "random"};
	static const size_t sizes[] = {512, 4096, 8192, 16384, 131072};

	printf("ns per KiB, CPU time, median of %d rounds\n%-7s %7s", ROUNDS, "data", "bytes");
	for (size_t i = 0; i < ARRAY_SIZE(looks); i++)
		printf(" %8s", looks[i].name);
	putchar('\n');
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		fill_room(kinds[k]);
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
			measure(kinds[k], sizes[i]);
	}
}

/* ---- quality ---- */

/* Eighths of its size that data of a class takes. */
static double eighths(enum content c)
{
	return c <= CONTENT_REPEATED ? 0 : (double)(c - CONTENT_WORDS);
}

struct fit {
	double classes, zstd, error; /* sums over the pages */
	unsigned pages, wild;        /* pages that are off by more than three classes */
};

static void fit_page(struct fit *f, const uint8_t *p, size_t size)
{
	double class = eighths(content_classify(p, size));
	double real =
		8.0 * (double)ZSTD_compressCCtx(zstd, copy, 2 * ROOM, p, size, 1) / (double)size;

	real = real > 8 ? 8 : real;
	f->classes += class;
	f->zstd += real;
	f->error += class > real ? class - real : real - class;
	f->wild += class > real + 3 || class < real - 3;
	f->pages++;
}

static int fit_file(const char *path)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t page[PAGE];
	struct fit f = {0};
	ssize_t n;

	if (fd < 0) {
		fprintf(stderr, "%s cannot be opened\n", path);
		return 2;
	}
	while (f.pages < FILE_MOST / PAGE && (n = read_full(fd, page, PAGE)) >= 512)
		fit_page(&f, page, (size_t)n);
	if (!f.pages)
		return 0;
	double off = (f.classes - f.zstd) / f.pages;
	printf("%-40s %6u pages: classes say %.2f of 8, zstd %.2f; off by %+.2f, a page by %.2f, "
	       "%u wild\n",
		path, f.pages, f.classes / f.pages, f.zstd / f.pages, off, f.error / f.pages,
		f.wild);
	return off > 1.5 || off < -1.5;
}

int main(int argc, char **argv)
{
	int r = 0;

	room = xaligned(4096, ROOM);
	copy = xaligned(4096, 2 * ROOM);
	zstd = ZSTD_createCCtx();
	for (int i = 1; i < argc; i++)
		r |= fit_file(argv[i]);
	if (argc == 1)
		measure_all();
	ZSTD_freeCCtx(zstd);
	free(room);
	free(copy);
	return r;
}

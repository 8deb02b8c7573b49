/* SPDX-License-Identifier: MIT */
/*
 * Files whose bytes follow from a seed, so that what is on the disk afterwards can be compared with
 * what should be there.
 *
 * Data paths return 0 (or a count) or -errno; functions with `err` say which file it was.
 */
#ifndef FILES_H
#define FILES_H

#include "error.h"
#include "rng.h"

/* No request may be larger than this. */
#define PATTERN_CHUNK (UINT64_C(1) << 20)

/* What a file holds: unpredictable bytes, or a few among many that repeat, as in source text. */
enum pattern_kind { PATTERN_RANDOM, PATTERN_TEXT };

struct pattern {
	unsigned char *bytes;
};

/* Safe to use from several processes afterwards. */
void pattern_init(struct pattern *ret, enum pattern_kind kind, uint64_t seed);
void pattern_done(struct pattern *p);
#define auto_pattern __attribute__((cleanup(pattern_done)))

/* The bytes of file `id` from `offset` on, PATTERN_CHUNK of them; page-aligned if `offset` is. */
const void *pattern_at(const struct pattern *p, uint64_t id, uint64_t offset);
/* Write `size` bytes of file `id` at `offset`, `chunk` bytes per call. */
int pattern_write(const struct pattern *p, int fd, uint64_t id, uint64_t offset, uint64_t size,
	uint64_t chunk);
/* Fails unless `path` holds exactly `size` bytes of file `id`. */
int pattern_check(
	const struct pattern *p, const char *path, uint64_t id, uint64_t size, struct error *err);

/* A page-aligned buffer of PATTERN_CHUNK bytes; free(). */
void *chunk_buffer(void);
/* Read to the end of the file, `chunk` bytes per call into `buffer`. Bytes read, or -errno. */
int64_t file_read_all(int fd, void *buffer, uint64_t chunk);
/* A descriptor, or -errno. */
int file_open(const char *path, int flags, struct error *err);
/* A directory that must not be there yet. */
int file_make_dir(const char *path, struct error *err);
/* Fails unless both hold the same bytes. */
int file_compare(const char *a, const char *b, struct error *err);
/* Fails unless `path` has that many files below it, directories not counted. */
int file_expect_count(const char *path, uint64_t count, struct error *err);
/* Let this process open `count` files more than usual. */
int file_allow(uint64_t count, struct error *err);

/* A distribution of sizes: `permille` of all are smaller than `size`; from 0 to 1000, rising. */
struct size_point {
	unsigned permille, size;
};
uint64_t size_draw(const struct size_point *points, struct rng *rng);

#endif

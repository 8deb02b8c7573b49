/* SPDX-License-Identifier: MIT */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "io.h"
#include "vec.h"

#define PAGE 4096

/*
 * File `id` starts on page id * STRIDE of a ring of PERIOD pages. Its prime length makes files and
 * the parts of a file differ from one another, also where their distance is a power of two.
 */
#define PERIOD 509
#define STRIDE 101

/* In text, one word of eight is unpredictable: packers make about a fourth of it. */
static const char words[8][9] = {"static i", "nt retur", "n struct", " error *", "\tif (ret",
	") {\n\t\t", "/* a * b", ";\n}\n\n#in"};

void pattern_init(struct pattern *ret, enum pattern_kind kind, uint64_t seed)
{
	size_t size = PERIOD * PAGE;
	struct rng rng;

	rng_init(&rng, seed + 1);
	ret->bytes = xaligned(PAGE, (size + PATTERN_CHUNK + PAGE - 1) / PAGE * PAGE);
	for (size_t i = 0; i < size; i += 8) {
		uint64_t random = rng_next(&rng);
		if (kind == PATTERN_TEXT && i / 8 % 8)
			memcpy(ret->bytes + i, words[random % 8], 8);
		else
			memcpy(ret->bytes + i, &random, 8);
	}
	memcpy(ret->bytes + size, ret->bytes, PATTERN_CHUNK);
}

void pattern_done(struct pattern *p)
{
	free(p->bytes);
}

const void *pattern_at(const struct pattern *p, uint64_t id, uint64_t offset)
{
	return p->bytes + (id % PERIOD * STRIDE * PAGE + offset) % (PERIOD * PAGE);
}

int pattern_write(const struct pattern *p, int fd, uint64_t id, uint64_t offset, uint64_t size,
	uint64_t chunk)
{
	for (uint64_t end = offset + size; offset < end; offset += chunk) {
		const void *data = pattern_at(p, id, offset);
		int r = pwrite_all(fd, data, min_u64(chunk, end - offset), (off_t)offset);
		if (r)
			return r;
	}
	return 0;
}

int pattern_check(
	const struct pattern *p, const char *path, uint64_t id, uint64_t size, struct error *err)
{
	auto_free char *buffer = chunk_buffer();
	uint64_t offset = 0;
	ssize_t n;
	auto_close int fd = file_open(path, O_RDONLY, err);

	if (fd < 0)
		return fd;
	while ((n = pread_full(fd, buffer, PATTERN_CHUNK, (off_t)offset)) > 0) {
		if (memcmp(buffer, pattern_at(p, id, offset), (size_t)n))
			return error_set(err, EIO,
				"%s: wrong data within %zd bytes at offset %" PRIu64, path, n,
				offset);
		offset += (uint64_t)n;
	}
	if (n < 0)
		return error_errno(err, (int)-n, "%s", path);
	if (offset != size)
		return error_set(err, EIO, "%s holds %" PRIu64 " bytes instead of %" PRIu64, path,
			offset, size);
	return 0;
}

void *chunk_buffer(void)
{
	return xaligned(PAGE, PATTERN_CHUNK);
}

int64_t file_read_all(int fd, void *buffer, uint64_t chunk)
{
	int64_t size = 0;

	for (;;) {
		ssize_t n = read(fd, buffer, chunk);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : size;
		size += n;
	}
}

int file_open(const char *path, int flags, struct error *err)
{
	int fd = open(path, flags | O_CLOEXEC, 0666);

	return fd < 0 ? error_errno(err, errno, "cannot open %s", path) : fd;
}

int file_make_dir(const char *path, struct error *err)
{
	if (!mkdir(path, 0777))
		return 0;
	if (errno == EEXIST)
		return error_set(err, EEXIST,
			"%s is there already; a workload needs a directory without earlier data",
			path);
	return error_errno(err, errno, "cannot make %s", path);
}

int file_compare(const char *a, const char *b, struct error *err)
{
	auto_free void *of_a = chunk_buffer();
	auto_free void *of_b = chunk_buffer();
	auto_close int fd_a = file_open(a, O_RDONLY, err);
	auto_close int fd_b = fd_a < 0 ? -1 : file_open(b, O_RDONLY, err);
	ssize_t n, m;

	if (fd_a < 0 || fd_b < 0)
		return fd_a < 0 ? fd_a : fd_b;
	do {
		n = read_full(fd_a, of_a, PATTERN_CHUNK);
		m = read_full(fd_b, of_b, PATTERN_CHUNK);
		if (n < 0 || m < 0)
			return error_errno(err, (int)-(n < 0 ? n : m), "%s", n < 0 ? a : b);
		if (n != m || memcmp(of_a, of_b, (size_t)n))
			return error_set(err, EIO, "%s and %s differ", a, b);
	} while (n > 0);
	return 0;
}

static int file_count(const char *path, uint64_t *ret, struct error *err)
{
	char *const roots[] = {(char *)path, NULL};
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOSTAT | FTS_NOCHDIR, NULL);
	int r = 0;

	if (!fts)
		return error_errno(err, errno, "%s", path);
	for (FTSENT *e; !r && (e = fts_read(fts));) {
		if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR)
			r = error_errno(err, e->fts_errno, "%s", e->fts_path);
		*ret += e->fts_info != FTS_D && e->fts_info != FTS_DP;
	}
	fts_close(fts);
	return r;
}

int file_expect_count(const char *path, uint64_t count, struct error *err)
{
	uint64_t found = 0;
	int r = file_count(path, &found, err);

	if (!r && found != count)
		r = error_set(err, EIO, "%s holds %" PRIu64 " files instead of %" PRIu64, path,
			found, count);
	return r;
}

int file_allow(uint64_t count, struct error *err)
{
	enum { USUAL = 64 };
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = max_u64(limit.rlim_cur, count + USUAL);
	if (setrlimit(RLIMIT_NOFILE, &limit))
		return error_errno(err, errno, "cannot open %" PRIu64 " files at once", count);
	return 0;
}

uint64_t size_draw(const struct size_point *points, struct rng *rng)
{
	enum { RESOLUTION = 1000 };
	uint64_t x = rng_below(rng, 1000 * RESOLUTION);

	while (x >= points[1].permille * RESOLUTION)
		points++;
	uint64_t width = (points[1].permille - points[0].permille) * RESOLUTION;
	x -= points[0].permille * RESOLUTION;
	return points[0].size + (points[1].size - points[0].size) * x / width;
}

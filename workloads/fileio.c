/* SPDX-License-Identifier: MIT */
/*
 * Random reads and writes of whole blocks, as sysbench's fileio test does them, over a few large
 * files or many small ones.
 *
 * The files are opened once and shared by all threads. sysbench counts the fsyncs among its events;
 * here only reads and writes are requests. A written block differs from the prepared one, but not
 * by who writes it, so that threads may meet on a block and the result is still known.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "all.h"
#include "cleanup.h"
#include "clock.h"
#include "crew.h"
#include "files.h"
#include "io.h"
#include "vec.h"

#define PAGE 4096

struct fileio {
	uint64_t threads, files, total, block, requests, reads, fsync_every, seed;
	unsigned direct, fsync_at_end, datasync;
};

static const char *const no_yes[] = {"no", "yes", NULL};
static const char *const sync_calls[] = {"fsync", "fdatasync", NULL};

static const struct param params[] = {
	{"threads", PARAM_NUMBER, offsetof(struct fileio, threads), "1", 1, 64, NULL,
		"how many read and write at once"},
	{"files", PARAM_NUMBER, offsetof(struct fileio, files), "16", 1, 100000, NULL,
		"files of equal size"},
	{"total", PARAM_SIZE, offsetof(struct fileio, total), "64M", 1, 0, NULL,
		"bytes of all files together"},
	{"block", PARAM_SIZE, offsetof(struct fileio, block), "16k", 1, PATTERN_CHUNK, NULL,
		"bytes of a read or write"},
	{"requests", PARAM_NUMBER, offsetof(struct fileio, requests), "1000", 1, 0, NULL,
		"reads and writes of each thread"},
	{"reads", PARAM_NUMBER, offsetof(struct fileio, reads), "60", 0, 100, NULL,
		"percent of the requests that are reads"},
	{"direct", PARAM_CHOICE, offsetof(struct fileio, direct), "yes", 0, 0, no_yes,
		"pass by the page cache (O_DIRECT)"},
	{"fsync_every", PARAM_NUMBER, offsetof(struct fileio, fsync_every), "100", 0, 0, NULL,
		"requests of a thread, after which it syncs every file; 0 = never"},
	{"fsync_at_end", PARAM_CHOICE, offsetof(struct fileio, fsync_at_end), "yes", 0, 0, no_yes,
		"sync every file at the end"},
	{"fsync_call", PARAM_CHOICE, offsetof(struct fileio, datasync), "fsync", 0, 0, sync_calls,
		"which call syncs"},
	{"seed", PARAM_NUMBER, offsetof(struct fileio, seed), "1", 0, 0, NULL,
		"of the generator that chooses the blocks"},
};

/* What the run shares: descriptors that the threads inherit. */
struct job {
	struct fileio s;
	struct pattern pattern;
	int *fds;
};

/* One block, one request. */
struct request {
	bool write;
	uint64_t file, offset;
};

static uint64_t blocks_per_file(const struct fileio *s)
{
	return s->total / s->files / s->block;
}

static struct request next_request(const struct fileio *s, struct rng *rng)
{
	struct request rq;

	rq.write = rng_below(rng, 100) >= s->reads;
	rq.file = rng_below(rng, s->files);
	rq.offset = rng_below(rng, blocks_per_file(s)) * s->block;
	return rq;
}

static void start_requests(struct rng *ret, const struct fileio *s, uint64_t thread)
{
	rng_init(ret, s->seed * 1000003 + thread);
}

/* What the bytes of a block follow from. */
static uint64_t block_id(uint64_t file, bool written)
{
	return file * 2 + written;
}

static char *file_path(const char *dir, uint64_t file)
{
	return xasprintf("%s/fileio/test_file.%" PRIu64, dir, file);
}

static int check_settings(const struct fileio *s, struct error *err)
{
	if (!blocks_per_file(s))
		return error_set(err, EINVAL,
			"fileio: %" PRIu64 " bytes in %" PRIu64
			" files leave less than a block of %" PRIu64 " for each",
			s->total, s->files, s->block);
	if (s->direct && s->block % PAGE)
		return error_set(err, EINVAL,
			"fileio: with direct=yes, block must be a multiple of %d", PAGE);
	return 0;
}

static int make_file(const struct fileio *s, const struct pattern *p, const char *dir,
	uint64_t file, struct error *err)
{
	auto_free char *path = file_path(dir, file);
	auto_close int fd = file_open(path, O_WRONLY | O_CREAT | O_EXCL, err);

	if (fd < 0)
		return fd;
	int r = pattern_write(
		p, fd, block_id(file, false), 0, blocks_per_file(s) * s->block, PATTERN_CHUNK);
	return r ? error_errno(err, -r, "%s", path) : 0;
}

static int fileio_prepare(const void *settings, const char *dir, struct error *err)
{
	const struct fileio *s = settings;
	auto_free char *top = xasprintf("%s/fileio", dir);
	auto_pattern struct pattern pattern;

	pattern_init(&pattern, PATTERN_RANDOM, s->seed);
	int r = check_settings(s, err);
	if (!r)
		r = file_make_dir(top, err);
	for (uint64_t i = 0; i < s->files && !r; i++)
		r = make_file(s, &pattern, dir, i, err);
	return r;
}

static int sync_all(const struct job *job)
{
	for (uint64_t i = 0; i < job->s.files; i++)
		if (job->s.datasync ? fdatasync(job->fds[i]) : fsync(job->fds[i]))
			return -errno;
	return 0;
}

static int do_request(const struct job *job, const struct request *rq, void *buffer)
{
	int fd = job->fds[rq->file];
	uint64_t size = job->s.block;

	if (rq->write)
		return pattern_write(
			&job->pattern, fd, block_id(rq->file, true), rq->offset, size, size);
	ssize_t n = pread(fd, buffer, size, (off_t)rq->offset);
	return n < 0 ? -errno : (uint64_t)n == size ? 0 : -EIO;
}

static int client_work(struct client *self, struct error *err)
{
	const struct job *job = self->settings;
	const struct fileio *s = &job->s;
	auto_free void *buffer = chunk_buffer();
	struct rng rng;
	int r = 0;

	start_requests(&rng, s, self->number);
	crew_ready(self);
	for (uint64_t i = 0; i < s->requests && !r; i++) {
		struct request rq = next_request(s, &rng);
		uint64_t start_ns = now_ns();
		r = do_request(job, &rq, buffer);
		hist_add(&self->latency, now_ns() - start_ns);
		self->operations++;
		if (!r && s->fsync_every && (i + 1) % s->fsync_every == 0)
			r = sync_all(job);
	}
	return r ? error_errno(err, -r, "fileio") : 0;
}

static int open_files(struct job *job, const char *dir, struct error *err)
{
	int r = file_allow(job->s.files, err);

	for (uint64_t i = 0; i < job->s.files && !r; i++) {
		auto_free char *path = file_path(dir, i);
		job->fds[i] = file_open(path, O_RDWR | (job->s.direct ? O_DIRECT : 0), err);
		r = job->fds[i] < 0 ? job->fds[i] : 0;
	}
	return r;
}

static int finish_files(struct job *job, int r, struct error *err)
{
	if (!r && job->s.fsync_at_end) {
		r = sync_all(job);
		r = r ? error_errno(err, -r, "cannot sync the files") : 0;
	}
	for (uint64_t i = 0; i < job->s.files; i++)
		cleanup_close(&job->fds[i]);
	return r;
}

static int fileio_run(const void *settings, const char *dir, struct outcome *ret, struct error *err)
{
	struct job job = {.s = *(const struct fileio *)settings};
	uint64_t start_ns = now_ns();

	*ret = (struct outcome){
		.planned = job.s.threads * job.s.requests,
		.metric_name = "requests",
		.metric_unit = "requests/s",
	};
	job.fds = ALLOC_ARRAY(int, job.s.files);
	for (uint64_t i = 0; i < job.s.files; i++)
		job.fds[i] = -1;
	pattern_init(&job.pattern, PATTERN_RANDOM, job.s.seed);
	int r = open_files(&job, dir, err);
	if (!r)
		r = crew_run(job.s.threads, &job, dir, client_work, ret, err);
	phase_mark(dir, "end");
	r = finish_files(&job, r, err);
	ret->elapsed_ns = now_ns() - start_ns;
	outcome_rate(ret);
	pattern_done(&job.pattern);
	free(job.fds);
	return r;
}

/* Which blocks were written, one byte each; caller frees. */
static char *written_blocks(const struct fileio *s)
{
	char *written = xcalloc(s->files, blocks_per_file(s));
	struct rng rng;

	for (uint64_t t = 0; t < s->threads; t++) {
		start_requests(&rng, s, t);
		for (uint64_t i = 0; i < s->requests; i++) {
			struct request rq = next_request(s, &rng);
			if (rq.write)
				written[rq.file * blocks_per_file(s) + rq.offset / s->block] = 1;
		}
	}
	return written;
}

static int check_file(const struct fileio *s, const struct pattern *p, const char *dir,
	uint64_t file, const char *written, struct error *err)
{
	auto_free char *path = file_path(dir, file);
	auto_free char *buffer = chunk_buffer();
	uint64_t end = blocks_per_file(s) * s->block;
	auto_close int fd = file_open(path, O_RDONLY, err);

	if (fd < 0)
		return fd;
	for (uint64_t at = 0; at < end; at += s->block) {
		uint64_t id = block_id(file, *written++);
		ssize_t n = pread_full(fd, buffer, s->block, (off_t)at);
		if (n < 0)
			return error_errno(err, (int)-n, "%s", path);
		if ((uint64_t)n != s->block || memcmp(buffer, pattern_at(p, id, at), s->block))
			return error_set(err, EIO,
				"%s: the block at offset %" PRIu64 " is not what was written", path,
				at);
	}
	if (lseek(fd, 0, SEEK_END) != (off_t)end)
		return error_set(err, EIO, "%s is not %" PRIu64 " bytes long", path, end);
	return 0;
}

static int fileio_check(const void *settings, const char *dir, struct error *err)
{
	const struct fileio *s = settings;
	auto_free char *top = xasprintf("%s/fileio", dir);
	auto_free char *written = written_blocks(s);
	auto_pattern struct pattern pattern;
	int r = 0;

	pattern_init(&pattern, PATTERN_RANDOM, s->seed);
	for (uint64_t i = 0; i < s->files && !r; i++)
		r = check_file(s, &pattern, dir, i, written + i * blocks_per_file(s), err);
	return r ? r : file_expect_count(top, s->files, err);
}

const struct workload workload_fileio = {
	.name = "fileio",
	.summary = "random reads and writes of blocks with O_DIRECT, as sysbench's fileio",
	.params = params,
	.param_count = ARRAY_SIZE(params),
	.settings_size = sizeof(struct fileio),
	.prepare = fileio_prepare,
	.run = fileio_run,
	.check = fileio_check,
};

/* SPDX-License-Identifier: MIT */
/*
 * What fs_mark does: each thread creates files, writes, syncs and closes them. Names, flags and the
 * order of calls are fs_mark's, one mkdir attempt per file included; the data is random where
 * fs_mark writes zeros, so that it can be checked.
 *
 * Where fs_mark calls sync(), this calls syncfs(): another file system's dirty data is not this
 * one's cost. A capture sees neither.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "all.h"
#include "cleanup.h"
#include "clock.h"
#include "crew.h"
#include "files.h"
#include "vec.h"

struct fsmark {
	uint64_t threads, files, size, chunk, dirs, subdirs, per_subdir, seed;
	unsigned sync;
};

/* In the order of fs_mark's -S 0 to -S 6. */
static const char *const sync_names[] = {"none", "each", "syncfs-first", "reverse",
	"syncfs-reverse", "forward", "syncfs-forward", NULL};

static const struct sync_method {
	bool each;   /* before close */
	bool syncfs; /* when all files are written */
	enum { AFTER_NONE, AFTER_FIRST, AFTER_REVERSE, AFTER_FORWARD } after;
} sync_methods[] = {
	{false, false, AFTER_NONE},
	{true, false, AFTER_NONE},
	{false, true, AFTER_FIRST},
	{false, false, AFTER_REVERSE},
	{false, true, AFTER_REVERSE},
	{false, false, AFTER_FORWARD},
	{false, true, AFTER_FORWARD},
};

static const struct param params[] = {
	{"threads", PARAM_NUMBER, offsetof(struct fsmark, threads), "1", 1, 64, NULL,
		"how many create files at once (-t)"},
	{"files", PARAM_NUMBER, offsetof(struct fsmark, files), "500", 1, 10000000, NULL,
		"files of each thread (-n)"},
	{"size", PARAM_SIZE, offsetof(struct fsmark, size), "16k", 0, 0, NULL,
		"bytes of a file (-s)"},
	{"chunk", PARAM_SIZE, offsetof(struct fsmark, chunk), "16k", 1, PATTERN_CHUNK, NULL,
		"bytes of a write (-w)"},
	{"sync", PARAM_CHOICE, offsetof(struct fsmark, sync), "each", 0, 0, sync_names,
		"fsync each file before close, or all afterwards (-S 0 to 6)"},
	{"dirs", PARAM_NUMBER, offsetof(struct fsmark, dirs), "1", 1, 64, NULL,
		"directories, which the threads take in turn (-d)"},
	{"subdirs", PARAM_NUMBER, offsetof(struct fsmark, subdirs), "0", 0, 1000, NULL,
		"subdirectories of each (-D); 0 = files lie in it"},
	{"per_subdir", PARAM_NUMBER, offsetof(struct fsmark, per_subdir), "100", 1, 0, NULL,
		"files in one subdirectory before the next is used (-N)"},
	{"seed", PARAM_NUMBER, offsetof(struct fsmark, seed), "1", 0, 0, NULL,
		"of the names and the data"},
};

/* Where file `number` of a thread lies and what it is called. */
struct place {
	uint64_t id;
	char dir[4096], path[4160];
};

static void find_place(struct place *ret, const struct fsmark *s, const char *dir, uint64_t thread,
	uint64_t number)
{
	static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct rng rng;
	char name[25];

	ret->id = thread * s->files + number;
	rng_init(&rng, s->seed + ret->id * 1000003);
	for (unsigned i = 0; i < 24; i++)
		name[i] = letters[rng_below(&rng, 36)];
	name[24] = '\0';
	int n = snprintf(ret->dir, sizeof(ret->dir), "%s/fsmark/%02" PRIu64, dir, thread % s->dirs);
	if (s->subdirs)
		snprintf(ret->dir + n, sizeof(ret->dir) - (size_t)n, "/%02" PRIx64,
			number / s->per_subdir % s->subdirs);
	snprintf(
		ret->path, sizeof(ret->path), "%s/%08" PRIx64 "~~~~~~~~%s", ret->dir, number, name);
}

static int fsmark_prepare(const void *settings, const char *dir, struct error *err)
{
	const struct fsmark *s = settings;
	auto_free char *top = xasprintf("%s/fsmark", dir);
	int r = file_make_dir(top, err);

	for (uint64_t i = 0; i < s->dirs && !r; i++) {
		auto_free char *path = xasprintf("%s/%02" PRIu64, top, i);
		r = file_make_dir(path, err);
	}
	return r;
}

static int create_file(
	const struct fsmark *s, const struct pattern *p, const struct place *at, struct error *err)
{
	if (mkdir(at->dir, 0777) && errno != EEXIST)
		return error_errno(err, errno, "cannot make %s", at->dir);
	auto_close int fd = file_open(at->path, O_RDWR | O_CREAT | O_TRUNC, err);
	if (fd < 0)
		return fd;
	int r = pattern_write(p, fd, at->id, 0, s->size, s->chunk);
	if (!r && sync_methods[s->sync].each && fsync(fd))
		r = -errno;
	return r ? error_errno(err, -r, "%s", at->path) : 0;
}

static int sync_file(const char *path, int (*sync)(int fd), struct error *err)
{
	auto_close int fd = file_open(path, O_RDONLY, err);

	if (fd < 0)
		return fd;
	return sync(fd) ? error_errno(err, errno, "cannot sync %s", path) : 0;
}

static int sync_afterwards(const struct client *self, struct error *err)
{
	const struct fsmark *s = self->settings;
	const struct sync_method *m = &sync_methods[s->sync];
	uint64_t count = m->after == AFTER_NONE ? 0 : m->after == AFTER_FIRST ? 1 : s->files;
	struct place at;
	if (count && s->threads == 1)
		phase_mark(self->dir, "sync");
	int r = m->syncfs ? sync_file(self->dir, syncfs, err) : 0;

	for (uint64_t i = 0; i < count && !r; i++) {
		uint64_t number = m->after == AFTER_REVERSE ? s->files - 1 - i : i;
		find_place(&at, s, self->dir, self->number, number);
		r = sync_file(at.path, fsync, err);
	}
	return r;
}

static int client_work(struct client *self, struct error *err)
{
	const struct fsmark *s = self->settings;
	auto_pattern struct pattern pattern;
	struct place at;
	int r = 0;

	pattern_init(&pattern, PATTERN_RANDOM, s->seed);
	crew_ready(self);
	for (uint64_t i = 0; i < s->files && !r; i++) {
		find_place(&at, s, self->dir, self->number, i);
		uint64_t start_ns = now_ns();
		r = create_file(s, &pattern, &at, err);
		hist_add(&self->latency, now_ns() - start_ns);
		self->operations++;
	}
	return r ? r : sync_afterwards(self, err);
}

static int fsmark_run(const void *settings, const char *dir, struct outcome *ret, struct error *err)
{
	const struct fsmark *s = settings;

	*ret = (struct outcome){
		.planned = s->threads * s->files,
		.metric_name = "files",
		.metric_unit = "files/s",
	};
	int r = crew_run(s->threads, s, dir, client_work, ret, err);
	outcome_rate(ret);
	return r;
}

static int fsmark_check(const void *settings, const char *dir, struct error *err)
{
	const struct fsmark *s = settings;
	auto_free char *top = xasprintf("%s/fsmark", dir);
	auto_pattern struct pattern pattern;
	struct place at;
	int r = 0;

	pattern_init(&pattern, PATTERN_RANDOM, s->seed);
	for (uint64_t id = 0; id < s->threads * s->files && !r; id++) {
		find_place(&at, s, dir, id / s->files, id % s->files);
		r = pattern_check(&pattern, at.path, id, s->size, err);
	}
	return r ? r : file_expect_count(top, s->threads * s->files, err);
}

const struct workload workload_fsmark = {
	.name = "fsmark",
	.summary = "create, write, sync and close files, as fs_mark does",
	.params = params,
	.param_count = ARRAY_SIZE(params),
	.settings_size = sizeof(struct fsmark),
	.prepare = fsmark_prepare,
	.run = fsmark_run,
	.check = fsmark_check,
};

/* SPDX-License-Identifier: MIT */
/*
 * The phases of bonnie++: write a file from front to back, rewrite it block by block, read it; then
 * create, stat and delete many small files.
 *
 * bonnie++ stats and deletes in the order in which the directory lists its files, which is another
 * one on each file system. Here "sequential" is the order in which they were created.
 *
 * A phase that is run alone finds what the earlier ones leave behind; prepare() made it, and the
 * caches are dropped between the two. So `phases=read` reads from the device, replayed or real.
 * Within one run posix_fadvise() can drop the cache, but a capture does not see it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "all.h"
#include "cleanup.h"
#include "files.h"
#include "io.h"
#include "vec.h"

#define PAGE 4096

struct stream {
	uint64_t size, chunk, files, file_size, dirs, seed;
	unsigned phases, cache, order;
};

enum phase {
	WRITE = 1,
	REWRITE = 2,
	READ = 4,
	DATA = WRITE | REWRITE | READ,
	CREATE = 8,
	STAT = 16,
	DELETE = 32,
	FILES = CREATE | STAT | DELETE,
};

static const char *const phase_names[] = {
	"all", "data", "write", "rewrite", "read", "files", "create", "stat", "delete", NULL};
static const unsigned phase_sets[] = {
	DATA | FILES, DATA, WRITE, REWRITE, READ, FILES, CREATE, STAT, DELETE};

enum { CACHE_KEEP, CACHE_DROP, CACHE_DIRECT };
static const char *const caches[] = {"keep", "drop", "direct", NULL};

enum { SEQUENTIAL, RANDOM };
static const char *const orders[] = {"sequential", "random", NULL};

static const struct param params[] = {
	{"phases", PARAM_CHOICE, offsetof(struct stream, phases), "all", 0, 0, phase_names,
		"what is run and timed; what comes before is prepared"},
	{"size", PARAM_SIZE, offsetof(struct stream, size), "64M", 1, 0, NULL,
		"bytes of the large file, cut to whole chunks"},
	{"chunk", PARAM_SIZE, offsetof(struct stream, chunk), "8k", 1, PATTERN_CHUNK, NULL,
		"bytes of a read or write"},
	{"cache", PARAM_CHOICE, offsetof(struct stream, cache), "keep", 0, 0, caches,
		"pass by it (O_DIRECT), or drop it after each phase (which no capture sees)"},
	{"files", PARAM_NUMBER, offsetof(struct stream, files), "1000", 1, 10000000, NULL,
		"small files"},
	{"file_size", PARAM_SIZE, offsetof(struct stream, file_size), "0", 0, PATTERN_CHUNK, NULL,
		"at most so large (evenly distributed)"},
	{"dirs", PARAM_NUMBER, offsetof(struct stream, dirs), "1", 1, 10000, NULL,
		"directories for them"},
	{"order", PARAM_CHOICE, offsetof(struct stream, order), "sequential", 0, 0, orders,
		"of stat and delete, and of the names in create"},
	{"seed", PARAM_NUMBER, offsetof(struct stream, seed), "1", 0, 0, NULL,
		"of names, sizes and data"},
};

struct work {
	const struct stream *s;
	struct outcome *out; /* NULL in prepare() */
	struct pattern pattern;
	char *top, *data;
	void *buffer;
	uint64_t *order; /* of the small files */
	uint64_t data_ns, file_ns;
};

static unsigned phase_set(const struct stream *s)
{
	return phase_sets[s->phases];
}

static uint64_t chunks(const struct stream *s)
{
	return s->size / s->chunk;
}

/* Fisher and Yates. */
static uint64_t *make_order(const struct stream *s)
{
	uint64_t *order = ALLOC_ARRAY(uint64_t, s->files);
	struct rng rng;

	rng_init(&rng, s->seed + 7);
	for (uint64_t i = 0; i < s->files; i++) {
		uint64_t j = s->order == RANDOM ? rng_below(&rng, i + 1) : i;
		order[i] = order[j];
		order[j] = i;
	}
	return order;
}

static void work_init(
	struct work *ret, const struct stream *s, const char *dir, struct outcome *out)
{
	*ret = (struct work){
		.s = s,
		.out = out,
		.top = xasprintf("%s/stream", dir),
		.data = xasprintf("%s/stream/data", dir),
		.buffer = chunk_buffer(),
		.order = make_order(s),
	};
	pattern_init(&ret->pattern, PATTERN_RANDOM, s->seed);
}

static void work_done(struct work *w)
{
	pattern_done(&w->pattern);
	free(w->order);
	free(w->buffer);
	free(w->data);
	free(w->top);
}
#define auto_work __attribute__((cleanup(work_done)))

static void count_operation(struct work *w, uint64_t start_ns)
{
	if (!w->out)
		return;
	hist_add(&w->out->latency, now_ns() - start_ns);
	w->out->operations++;
}

/* --- the large file --- */

static int read_chunk(struct work *w, int fd, uint64_t offset)
{
	ssize_t n = pread_full(fd, w->buffer, w->s->chunk, (off_t)offset);

	return n < 0 ? (int)n : (uint64_t)n == w->s->chunk ? 0 : -EIO;
}

static int do_chunk(struct work *w, enum phase phase, int fd, uint64_t offset)
{
	bool rewritten = phase == REWRITE;
	int r = phase == WRITE ? 0 : read_chunk(w, fd, offset);

	if (r || phase == READ)
		return r;
	return pattern_write(&w->pattern, fd, rewritten, offset, w->s->chunk, w->s->chunk);
}

static int end_data_phase(const struct work *w, enum phase phase, int fd)
{
	if (phase != READ && fsync(fd))
		return -errno;
	return w->s->cache == CACHE_DROP ? -posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) : 0;
}

static int data_phase(struct work *w, enum phase phase, struct error *err)
{
	int flags = phase == WRITE     ? O_WRONLY | O_CREAT | O_EXCL
	            : phase == REWRITE ? O_RDWR
	                               : O_RDONLY;
	auto_close int fd =
		file_open(w->data, flags | (w->s->cache == CACHE_DIRECT ? O_DIRECT : 0), err);
	int r = 0;

	if (fd < 0)
		return fd;
	for (uint64_t i = 0; i < chunks(w->s) && !r; i++) {
		uint64_t start_ns = now_ns();
		r = do_chunk(w, phase, fd, i * w->s->chunk);
		count_operation(w, start_ns);
	}
	if (!r)
		r = end_data_phase(w, phase, fd);
	return r ? error_errno(err, -r, "%s", w->data) : 0;
}

/* --- the small files --- */

/* bonnie++'s names: a rising number and some letters, in random order the letters first. */
static char *small_path(const struct work *w, uint64_t file)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	char more[13] = "";
	struct rng rng;

	rng_init(&rng, w->s->seed * 1000003 + file);
	for (uint64_t i = 0, n = rng_below(&rng, sizeof(more)); i < n; i++)
		more[i] = letters[rng_below(&rng, sizeof(letters) - 1)];
	uint64_t dir = file / ((w->s->files + w->s->dirs - 1) / w->s->dirs);
	if (w->s->order == RANDOM)
		return xasprintf("%s/%05" PRIu64 "/%s%010" PRIx64, w->top, dir, more, file);
	return xasprintf("%s/%05" PRIu64 "/%010" PRIx64 "%s", w->top, dir, file, more);
}

static uint64_t small_size(const struct stream *s, uint64_t file)
{
	struct rng rng;

	rng_init(&rng, s->seed * 1000033 + file);
	return rng_below(&rng, s->file_size + 1);
}

static uint64_t small_id(uint64_t file)
{
	return file + 2;
}

static int create_small(struct work *w, uint64_t file, const char *path)
{
	auto_close int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	return pattern_write(
		&w->pattern, fd, small_id(file), 0, small_size(w->s, file), PATTERN_CHUNK);
}

static int stat_small(struct work *w, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!st.st_size)
		return 0;
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ssize_t n = read_full(fd, w->buffer, (size_t)st.st_size);
	return n < 0 ? (int)n : n == st.st_size ? 0 : -EIO;
}

static int do_small(struct work *w, enum phase phase, uint64_t file, const char *path)
{
	if (phase == CREATE)
		return create_small(w, file, path);
	if (phase == STAT)
		return stat_small(w, path);
	return unlink(path) ? -errno : 0;
}

static int files_phase(struct work *w, enum phase phase, struct error *err)
{
	for (uint64_t i = 0; i < w->s->files; i++) {
		/* Names are given out in a rising order; they are random in themselves. */
		uint64_t file = phase == CREATE ? i : w->order[i];
		auto_free char *path = small_path(w, file);
		uint64_t start_ns = now_ns();
		int r = do_small(w, phase, file, path);
		if (r)
			return error_errno(err, -r, "%s", path);
		count_operation(w, start_ns);
	}
	return 0;
}

/* --- all of them --- */

static const char *phase_name_of(enum phase phase)
{
	size_t i = 0;

	while (phase_sets[i] != phase)
		i++;
	return phase_names[i];
}

static int do_phase(struct work *w, enum phase phase, struct error *err)
{
	struct outcome_step *step =
		w->out ? outcome_step(w->out, w->top, phase_name_of(phase)) : NULL;
	uint64_t start_ns = now_ns();
	int r = phase & DATA ? data_phase(w, phase, err) : files_phase(w, phase, err);
	uint64_t took_ns = now_ns() - start_ns;

	*(phase & DATA ? &w->data_ns : &w->file_ns) += took_ns;
	if (step)
		step->elapsed_ns = took_ns;
	return r;
}

static int do_phases(struct work *w, unsigned set, struct error *err)
{
	int r = 0;

	for (unsigned phase = WRITE; phase <= DELETE && !r; phase <<= 1)
		if (set & phase)
			r = do_phase(w, phase, err);
	return r;
}

static int check_settings(const struct stream *s, struct error *err)
{
	if (!chunks(s))
		return error_set(err, EINVAL, "stream: size is smaller than chunk");
	if (s->cache == CACHE_DIRECT && s->chunk % PAGE)
		return error_set(err, EINVAL,
			"stream: with cache=direct, chunk must be a multiple of %d", PAGE);
	return 0;
}

/* What must be there before the first of the phases can run. */
static unsigned phases_before(unsigned set)
{
	unsigned before = 0;

	if (set & DATA && !(set & WRITE))
		before |= WRITE;
	if (set & FILES && !(set & CREATE))
		before |= CREATE;
	return before;
}

static int make_dirs(const struct work *w, struct error *err)
{
	int r = file_make_dir(w->top, err);

	for (uint64_t i = 0; i < w->s->dirs && !r; i++) {
		auto_free char *path = xasprintf("%s/%05" PRIu64, w->top, i);
		r = file_make_dir(path, err);
	}
	return r;
}

static int stream_prepare(const void *settings, const char *dir, struct error *err)
{
	auto_work struct work w;

	work_init(&w, settings, dir, NULL);
	int r = check_settings(w.s, err);
	if (!r)
		r = make_dirs(&w, err);
	return r ? r : do_phases(&w, phases_before(phase_set(w.s)), err);
}

static double per_second(double amount, uint64_t ns)
{
	return amount * (double)NSEC_PER_SEC / (double)max_u64(ns, 1);
}

static void set_metric(const struct work *w, unsigned set, struct outcome *ret)
{
	bool data = set & DATA;
	/* Rewriting moves every byte twice. */
	unsigned passes = !!(set & WRITE) + 2 * !!(set & REWRITE) + !!(set & READ);
	double mib = (double)(chunks(w->s) * w->s->chunk * passes) / (1 << 20);
	double files = (double)w->s->files * __builtin_popcount(set & FILES);

	snprintf(ret->metric_name, sizeof(ret->metric_name), "%s", data ? "throughput" : "files");
	snprintf(ret->metric_unit, sizeof(ret->metric_unit), "%s", data ? "MiB/s" : "files/s");
	ret->metric_value = data ? per_second(mib, w->data_ns) : per_second(files, w->file_ns);
}

static int stream_run(const void *settings, const char *dir, struct outcome *ret, struct error *err)
{
	const struct stream *s = settings;
	unsigned set = phase_set(s);
	auto_work struct work w;

	*ret = (struct outcome){
		.planned = chunks(s) * (uint64_t)__builtin_popcount(set & DATA) +
	                   s->files * (uint64_t)__builtin_popcount(set & FILES),
	};
	work_init(&w, s, dir, ret);
	uint64_t start_ns = now_ns();
	int r = do_phases(&w, set, err);
	ret->elapsed_ns = now_ns() - start_ns;
	set_metric(&w, set, ret);
	return r;
}

static int stream_check(const void *settings, const char *dir, struct error *err)
{
	const struct stream *s = settings;
	unsigned set = phase_set(s);
	uint64_t small = set & FILES && !(set & DELETE) ? s->files : 0;
	auto_work struct work w;
	int r = 0;

	work_init(&w, s, dir, NULL);
	if (set & DATA)
		r = pattern_check(&w.pattern, w.data, !!(set & REWRITE), chunks(s) * s->chunk, err);
	for (uint64_t i = 0; i < small && !r; i++) {
		auto_free char *path = small_path(&w, i);
		r = pattern_check(&w.pattern, path, small_id(i), small_size(s, i), err);
	}
	return r ? r : file_expect_count(w.top, small + !!(set & DATA), err);
}

const struct workload workload_stream = {
	.name = "stream",
	.summary =
		"write, rewrite and read a file; create, stat and delete many: bonnie++'s phases",
	.params = params,
	.param_count = ARRAY_SIZE(params),
	.settings_size = sizeof(struct stream),
	.prepare = stream_prepare,
	.run = stream_run,
	.check = stream_check,
};

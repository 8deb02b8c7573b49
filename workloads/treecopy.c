/* SPDX-License-Identifier: MIT */
/*
 * Copies a tree of source code as `cp -a` does: directories, files, modes and times. The tree is
 * made by prepare() in the shape of a kernel's, or is any other that lies somewhere. Each thread
 * makes a copy of its own, all at the same time.
 *
 * cp clones files where the file system can; this writes their data, or asks for
 * copy_file_range(), which clones on some.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "all.h"
#include "cleanup.h"
#include "clock.h"
#include "crew.h"
#include "files.h"
#include "io.h"
#include "vec.h"

/* As in Linux 6.1: 78,579 files in 4,775 directories, 16.5 kB on average, half below 3.9 kB. */
#define FILES_PER_DIR 16
static const struct size_point kernel_sizes[] = {{0, 0}, {50, 254}, {100, 446}, {150, 687},
	{200, 959}, {250, 1280}, {300, 1621}, {350, 2038}, {400, 2525}, {450, 3129}, {500, 3874},
	{550, 4787}, {600, 5910}, {650, 7264}, {700, 9044}, {750, 11416}, {800, 14833},
	{850, 19906}, {900, 28759}, {950, 48093}, {980, 83945}, {990, 124858}, {995, 191202},
	{1000, 1120270}};

struct treecopy {
	uint64_t threads, files, chunk, seed;
	unsigned method;
	char source[PATH_MAX];
};

enum { METHOD_WRITE, METHOD_RANGE };
static const char *const methods[] = {"write", "copy_file_range", NULL};

static const struct param params[] = {
	{"threads", PARAM_NUMBER, offsetof(struct treecopy, threads), "1", 1, 64, NULL,
		"copies made at once"},
	{"files", PARAM_NUMBER, offsetof(struct treecopy, files), "1000", 1, 10000000, NULL,
		"files of the generated tree"},
	{"source", PARAM_TEXT, offsetof(struct treecopy, source), "", 0, PATH_MAX, NULL,
		"copy this tree instead of a generated one"},
	{"method", PARAM_CHOICE, offsetof(struct treecopy, method), "write", 0, 0, methods,
		"read and write, or let the kernel copy"},
	{"chunk", PARAM_SIZE, offsetof(struct treecopy, chunk), "128k", 1, PATTERN_CHUNK, NULL,
		"bytes of a read and write"},
	{"seed", PARAM_NUMBER, offsetof(struct treecopy, seed), "1", 0, 0, NULL,
		"of the generated tree"},
};

static char *source_path(const struct treecopy *s, const char *dir)
{
	return *s->source ? xstrdup(s->source) : xasprintf("%s/treecopy/source", dir);
}

static char *copy_path(const char *dir, unsigned thread)
{
	return xasprintf("%s/treecopy/copy%02u", dir, thread);
}

/* --- the generated tree --- */

/* Every directory but the first lies in one that was made before. Caller frees. */
static char *make_subdir(char *const *dirs, size_t count, struct rng *rng, struct error *err)
{
	auto_free char *path = xasprintf("%s/dir%04zu", dirs[rng_below(rng, count)], count);

	return file_make_dir(path, err) ? NULL : take_ptr(path);
}

static int make_files(const struct treecopy *s, const char *dir, uint64_t first, struct rng *rng,
	const struct pattern *p, struct error *err)
{
	static const char *const endings[] = {".c", ".c", ".c", ".h", ".h", ".rst", "", ".yaml"};
	uint64_t end = min_u64(first + FILES_PER_DIR, s->files);
	int r = 0;

	for (uint64_t i = first; i < end && !r; i++) {
		uint64_t size = size_draw(kernel_sizes, rng);
		auto_free char *path = xasprintf("%s/file%05" PRIu64 "%s", dir, i,
			endings[rng_below(rng, ARRAY_SIZE(endings))]);
		auto_close int fd = file_open(path, O_WRONLY | O_CREAT | O_EXCL, err);
		r = fd < 0 ? fd : pattern_write(p, fd, i, 0, size, PATTERN_CHUNK);
		if (r && fd >= 0)
			error_errno(err, -r, "%s", path);
	}
	return r;
}

static int make_tree(const struct treecopy *s, const char *top, struct error *err)
{
	size_t count = (s->files + FILES_PER_DIR - 1) / FILES_PER_DIR, made = 0;
	char **dirs = ALLOC_ARRAY(char *, count);
	auto_pattern struct pattern pattern;
	struct rng rng;

	rng_init(&rng, s->seed);
	pattern_init(&pattern, PATTERN_TEXT, s->seed);
	int r = file_make_dir(top, err);
	while (!r && made < count) {
		dirs[made] = made ? make_subdir(dirs, made, &rng, err) : xstrdup(top);
		if (!dirs[made])
			r = -EIO;
		else
			r = make_files(s, dirs[made], made * FILES_PER_DIR, &rng, &pattern, err);
		made += !r;
	}
	for (size_t i = 0; i < count; i++)
		free(dirs[i]);
	free(dirs);
	return r;
}

static int treecopy_prepare(const void *settings, const char *dir, struct error *err)
{
	const struct treecopy *s = settings;
	auto_free char *top = xasprintf("%s/treecopy", dir);
	auto_free char *source = source_path(s, dir);
	struct stat st;
	int r = file_make_dir(top, err);

	if (r || !*s->source)
		return r ? r : make_tree(s, source, err);
	if (*source != '/')
		return error_set(
			err, EINVAL, "treecopy: source=%s does not begin with a slash", source);
	if (stat(source, &st) || !S_ISDIR(st.st_mode))
		return error_set(err, ENOTDIR, "treecopy: source=%s is not a directory", source);
	return 0;
}

/* --- walking it --- */

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* For each entry, in the same order everywhere: visit(), with where its copy is. */
static int walk(const char *source, const char *copy,
	int (*visit)(const FTSENT *e, const char *copy, void *arg, struct error *err), void *arg,
	struct error *err)
{
	char *const roots[] = {(char *)source, NULL};
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, by_name);
	int r = 0;

	if (!fts)
		return error_errno(err, errno, "%s", source);
	for (FTSENT *e; !r && (e = fts_read(fts));) {
		auto_free char *path = xasprintf("%s%s", copy, e->fts_path + strlen(source));
		if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR || e->fts_info == FTS_NS)
			r = error_errno(err, e->fts_errno, "%s", e->fts_path);
		else
			r = visit(e, path, arg, err);
	}
	if (!r && errno) /* fts_read() clears it at the end of the tree */
		r = error_errno(err, errno, "%s", source);
	fts_close(fts);
	return r;
}

/* --- copying --- */

static int copy_by_write(int from, int to, void *buffer, uint64_t chunk)
{
	for (;;) {
		ssize_t n = read(from, buffer, chunk);
		if (n <= 0)
			return n ? -errno : 0;
		int r = write_all(to, buffer, (size_t)n);
		if (r)
			return r;
	}
}

static int copy_by_range(int from, int to)
{
	enum { AT_MOST = 1 << 30 };

	for (;;) {
		ssize_t n = copy_file_range(from, NULL, to, NULL, AT_MOST, 0);
		if (n <= 0)
			return n ? -errno : 0;
	}
}

/* Owners too, where that is allowed. */
static int copy_attributes(int fd, const struct stat *st)
{
	const struct timespec times[] = {st->st_atim, st->st_mtim};

	if (futimens(fd, times))
		return -errno;
	if (fchown(fd, st->st_uid, st->st_gid) && errno != EPERM)
		return -errno;
	return fchmod(fd, st->st_mode & 07777) ? -errno : 0;
}

struct worker {
	struct client *self;
	const struct treecopy *s;
	void *buffer;
};

static int copy_file(const struct worker *w, const FTSENT *e, const char *copy, struct error *err)
{
	auto_close int from = file_open(e->fts_accpath, O_RDONLY | O_NOFOLLOW, err);
	if (from < 0)
		return from;
	auto_close int to = file_open(copy, O_WRONLY | O_CREAT | O_EXCL, err);
	if (to < 0)
		return to;
	int r = w->s->method == METHOD_RANGE ? copy_by_range(from, to)
	                                     : copy_by_write(from, to, w->buffer, w->s->chunk);
	if (!r)
		r = copy_attributes(to, e->fts_statp);
	return r ? error_errno(err, -r, "cannot copy %s to %s", e->fts_path, copy) : 0;
}

static int copy_link(const FTSENT *e, const char *copy, struct error *err)
{
	char target[PATH_MAX];
	ssize_t n = readlink(e->fts_accpath, target, sizeof(target) - 1);

	if (n < 0)
		return error_errno(err, errno, "%s", e->fts_path);
	target[n] = '\0';
	return symlink(target, copy) ? error_errno(err, errno, "%s", copy) : 0;
}

/* When all it holds is there. */
static int finish_dir(const FTSENT *e, const char *copy, struct error *err)
{
	auto_close int fd = file_open(copy, O_RDONLY | O_DIRECTORY, err);

	if (fd < 0)
		return fd;
	int r = copy_attributes(fd, e->fts_statp);
	return r ? error_errno(err, -r, "%s", copy) : 0;
}

static int copy_entry(const FTSENT *e, const char *copy, void *arg, struct error *err)
{
	struct worker *w = arg;
	uint64_t start_ns = now_ns();

	if (e->fts_info == FTS_D)
		return file_make_dir(copy, err);
	if (e->fts_info == FTS_DP)
		return finish_dir(e, copy, err);
	if (e->fts_info == FTS_SL || e->fts_info == FTS_SLNONE)
		return copy_link(e, copy, err);
	if (e->fts_info != FTS_F || !S_ISREG(e->fts_statp->st_mode))
		return error_set(
			err, ENOTSUP, "%s is neither a file, a directory nor a link", e->fts_path);
	int r = copy_file(w, e, copy, err);
	hist_add(&w->self->latency, now_ns() - start_ns);
	w->self->operations++;
	return r;
}

static int client_work(struct client *self, struct error *err)
{
	const struct treecopy *s = self->settings;
	auto_free char *source = source_path(s, self->dir);
	auto_free char *copy = copy_path(self->dir, self->number);
	auto_free void *buffer = chunk_buffer();
	struct worker w = {self, s, buffer};

	crew_ready(self);
	return walk(source, copy, copy_entry, &w, err);
}

static int treecopy_run(
	const void *settings, const char *dir, struct outcome *ret, struct error *err)
{
	const struct treecopy *s = settings;

	*ret = (struct outcome){
		.planned = *s->source ? 0 : s->threads * s->files,
		.metric_name = "files",
		.metric_unit = "files/s",
	};
	int r = crew_run(s->threads, s, dir, client_work, ret, err);
	outcome_rate(ret);
	return r;
}

/* --- checking --- */

static bool same_attributes(const struct stat *a, const struct stat *b)
{
	return a->st_mode == b->st_mode && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       (!S_ISREG(a->st_mode) || a->st_size == b->st_size);
}

static int check_entry(const FTSENT *e, const char *copy, void *arg, struct error *err)
{
	uint64_t *files = arg;
	struct stat st;

	if (e->fts_info == FTS_D)
		return 0; /* its times were set last; it comes again */
	if (lstat(copy, &st))
		return error_errno(err, errno, "%s", copy);
	if (S_ISLNK(st.st_mode) && e->fts_info != FTS_F)
		return (*files)++, 0;
	if (!same_attributes(&st, e->fts_statp))
		return error_set(
			err, EIO, "%s differs from %s in size, mode or time", copy, e->fts_path);
	if (e->fts_info != FTS_F)
		return 0;
	(*files)++;
	return file_compare(e->fts_accpath, copy, err);
}

static int treecopy_check(const void *settings, const char *dir, struct error *err)
{
	const struct treecopy *s = settings;
	auto_free char *source = source_path(s, dir);
	int r = 0;

	for (unsigned t = 0; t < s->threads && !r; t++) {
		auto_free char *copy = copy_path(dir, t);
		uint64_t files = 0;
		r = walk(source, copy, check_entry, &files, err);
		if (!r && !*s->source && files != s->files)
			r = error_set(err, EIO, "%s holds %" PRIu64 " files instead of %" PRIu64,
				source, files, s->files);
		if (!r)
			r = file_expect_count(copy, files, err);
	}
	return r;
}

const struct workload workload_treecopy = {
	.name = "treecopy",
	.summary = "copy a tree of source code, by one thread or several at once",
	.params = params,
	.param_count = ARRAY_SIZE(params),
	.settings_size = sizeof(struct treecopy),
	.prepare = treecopy_prepare,
	.run = treecopy_run,
	.check = treecopy_check,
};

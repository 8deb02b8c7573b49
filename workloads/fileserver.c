/* SPDX-License-Identifier: MIT */
/*
 * Two loads of filebench: the file server and the mail directory ("varmail"). Each thread goes
 * through a list of actions again and again, on files that it picks at random.
 *
 * filebench's threads pick from one set of files and step aside where they meet, so that no two
 * runs are the same. Here every thread has its own files, which lie among those of the others in
 * the same directories: what it does follows from the seed alone. The same model that chooses the
 * actions then knows what must be on the disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "all.h"
#include "cleanup.h"
#include "clock.h"
#include "crew.h"
#include "files.h"
#include "vec.h"

struct fileserver {
	uint64_t threads, files, loops, mean_size, append, width, chunk, full, seed;
};

/* One action on one file. Those that neither stat nor END open it, do what is said, and close it. */
struct action {
	enum { MAKE, USE, END } file; /* is it there before, is it there after? */
	enum { ADD_NOTHING, ADD_WHOLE, ADD_SOME } add;
	bool stat, read, sync;
};

/* What tells the two loads apart. */
struct load {
	const char *dir;
	const struct action *actions;
	size_t action_count;
};

static const struct action server_actions[] = {
	{.file = MAKE, .add = ADD_WHOLE},
	{.file = USE, .add = ADD_SOME},
	{.file = USE, .read = true},
	{.file = END},
	{.file = USE, .stat = true},
};
static const struct load server = {"fileserver", server_actions, ARRAY_SIZE(server_actions)};

static const struct action mail_actions[] = {
	{.file = END},
	{.file = MAKE, .add = ADD_SOME, .sync = true},
	{.file = USE, .read = true, .add = ADD_SOME, .sync = true},
	{.file = USE, .read = true},
};
static const struct load mail = {"varmail", mail_actions, ARRAY_SIZE(mail_actions)};

#define PARAMS(default_loops, default_size, default_width)                                         \
	{"threads", PARAM_NUMBER, offsetof(struct fileserver, threads), "1", 1, 64, NULL,          \
		"how many work at once, each with files of its own"},                              \
		{"files", PARAM_NUMBER, offsetof(struct fileserver, files), "200", 5, 10000000,    \
			NULL, "files that a thread knows"},                                        \
		{"full", PARAM_NUMBER, offsetof(struct fileserver, full), "80", 20, 80, NULL,      \
			"percent of them that are there at the start"},                            \
		{"loops", PARAM_NUMBER, offsetof(struct fileserver, loops), default_loops, 1, 0,   \
			NULL, "rounds of each thread through the actions"},                        \
		{"size", PARAM_SIZE, offsetof(struct fileserver, mean_size), default_size, 1,      \
			1 << 30, NULL, "mean size of a file (gamma distribution, shape 1.5)"},     \
		{"append", PARAM_SIZE, offsetof(struct fileserver, append), "16k", 1, 1 << 30,     \
			NULL, "at most so much is appended (evenly distributed)"},                 \
		{"width", PARAM_NUMBER, offsetof(struct fileserver, width), default_width, 1, 0,   \
			NULL, "files in a directory, directories in the one above"},               \
		{"chunk", PARAM_SIZE, offsetof(struct fileserver, chunk), "1M", 1, PATTERN_CHUNK,  \
			NULL, "largest read and write"},                                           \
	{                                                                                          \
		"seed", PARAM_NUMBER, offsetof(struct fileserver, seed), "1", 0, 0, NULL,          \
			"of the generator that chooses files and sizes"                            \
	}

static const struct param server_params[] = {PARAMS("200", "128k", "20")};
static const struct param mail_params[] = {PARAMS("200", "16k", "1000000")};

/* Sizes in thousandths of the mean. */
static const struct size_point gamma_sizes[] = {{0, 0}, {50, 118}, {100, 195}, {150, 265},
	{200, 334}, {250, 403}, {300, 473}, {350, 546}, {400, 623}, {450, 704}, {500, 788},
	{550, 880}, {600, 981}, {650, 1094}, {700, 1221}, {750, 1367}, {800, 1546}, {850, 1768},
	{900, 2080}, {950, 2602}, {990, 3786}, {999, 5391}, {1000, 9840}};

/* --- what a thread knows about its files --- */

struct file {
	uint64_t size;
	uint64_t generation; /* how often it was made */
};

struct model {
	const struct fileserver *s;
	unsigned thread;
	struct rng rng;
	struct file *files;
	uint64_t *order; /* all files: first those that are there, then the others */
	uint64_t present;
};

static uint64_t draw_size(struct model *m)
{
	return max_u64(1, size_draw(gamma_sizes, &m->rng) * m->s->mean_size / 1000);
}

static void model_init(struct model *ret, const struct fileserver *s, unsigned thread)
{
	*ret = (struct model){
		.s = s,
		.thread = thread,
		.files = ALLOC_ARRAY(struct file, s->files),
		.order = ALLOC_ARRAY(uint64_t, s->files),
		.present = s->files * s->full / 100,
	};
	rng_init(&ret->rng, s->seed * 1000003 + thread);
	for (uint64_t i = 0; i < s->files; i++)
		ret->order[i] = i;
	for (uint64_t i = 0; i < ret->present; i++)
		ret->files[i].size = draw_size(ret);
}

static void model_done(struct model *m)
{
	free(m->files);
	free(m->order);
}
#define auto_model __attribute__((cleanup(model_done)))

static void swap(uint64_t *a, uint64_t *b)
{
	uint64_t a_was = *a;

	*a = *b;
	*b = a_was;
}

/* An action, with the file that was chosen for it, as it is before. */
struct step {
	const struct action *action;
	uint64_t file, id;
	uint64_t size, add;
};

static uint64_t choose_file(struct model *m, const struct action *a)
{
	if (a->file == MAKE) {
		uint64_t i = m->present + rng_below(&m->rng, m->s->files - m->present);
		swap(&m->order[i], &m->order[m->present]);
		return m->order[m->present++];
	}
	uint64_t i = rng_below(&m->rng, m->present);
	if (a->file == USE)
		return m->order[i];
	swap(&m->order[i], &m->order[--m->present]);
	return m->order[m->present];
}

/* What the bytes of a file follow from: other ones each time it is made. */
static uint64_t file_id(const struct model *m, uint64_t file)
{
	return (file * m->s->threads + m->thread) * 31 + m->files[file].generation;
}

static struct step next_step(struct model *m, const struct action *a)
{
	uint64_t number = choose_file(m, a);
	struct file *f = &m->files[number];

	if (a->file == MAKE)
		*f = (struct file){.generation = f->generation + 1};
	struct step step = {
		.action = a,
		.file = number,
		.id = file_id(m, number),
		.size = f->size,
		.add = a->add == ADD_WHOLE  ? draw_size(m)
	               : a->add == ADD_SOME ? 1 + rng_below(&m->rng, m->s->append)
	                                    : 0,
	};
	f->size += step.add;
	return step;
}

/* The files of all threads, in turn, fill one directory after the other. */
static char *file_path(const struct model *m, const char *top, uint64_t file)
{
	uint64_t number = file * m->s->threads + m->thread;
	uint64_t leaf = number / m->s->width;

	return xasprintf("%s/%04" PRIu64 "/%04" PRIu64 "/%08" PRIu64, top, leaf / m->s->width,
		leaf % m->s->width, number);
}

/* --- doing it --- */

static int make_dirs(const struct fileserver *s, const char *top, struct error *err)
{
	uint64_t leaves = (s->threads * s->files + s->width - 1) / s->width;
	int r = file_make_dir(top, err);

	for (uint64_t i = 0; i < leaves && !r; i++) {
		auto_free char *upper = xasprintf("%s/%04" PRIu64, top, i / s->width);
		auto_free char *path = xasprintf("%s/%04" PRIu64, upper, i % s->width);
		if (i % s->width == 0)
			r = file_make_dir(upper, err);
		if (!r)
			r = file_make_dir(path, err);
	}
	return r;
}

static int make_file(const struct model *m, const struct pattern *p, const char *top, uint64_t file,
	struct error *err)
{
	auto_free char *path = file_path(m, top, file);
	auto_close int fd = file_open(path, O_WRONLY | O_CREAT | O_EXCL, err);

	if (fd < 0)
		return fd;
	int r = pattern_write(p, fd, file_id(m, file), 0, m->files[file].size, m->s->chunk);
	return r ? error_errno(err, -r, "%s", path) : 0;
}

static int prepare(
	const struct load *load, const struct fileserver *s, const char *dir, struct error *err)
{
	auto_free char *top = xasprintf("%s/%s", dir, load->dir);
	auto_pattern struct pattern pattern;
	int r = make_dirs(s, top, err);

	pattern_init(&pattern, PATTERN_RANDOM, s->seed);
	for (unsigned t = 0; t < s->threads && !r; t++) {
		auto_model struct model m;
		model_init(&m, s, t);
		for (uint64_t i = 0; i < m.present && !r; i++)
			r = make_file(&m, &pattern, top, i, err);
	}
	return r;
}

struct worker {
	struct model model;
	struct pattern pattern;
	char *top;
	void *buffer; /* for reads */
};

static int work_on(const struct worker *w, int fd, const struct step *step)
{
	uint64_t chunk = w->model.s->chunk;
	int64_t n = step->action->read ? file_read_all(fd, w->buffer, chunk) : 0;

	if (n < 0 || (step->action->read && (uint64_t)n != step->size))
		return n < 0 ? (int)n : -EIO;
	int r = pattern_write(&w->pattern, fd, step->id, step->size, step->add, chunk);
	return !r && step->action->sync && fsync(fd) ? -errno : r;
}

static int do_step(const struct worker *w, const struct step *step, struct error *err)
{
	const struct action *a = step->action;
	auto_free char *path = file_path(&w->model, w->top, step->file);
	struct stat st;

	if (a->file == END)
		return unlink(path) ? error_errno(err, errno, "cannot remove %s", path) : 0;
	if (a->stat)
		return stat(path, &st) ? error_errno(err, errno, "stat %s", path) : 0;
	int flags = (a->add ? O_RDWR : O_RDONLY) | (a->file == MAKE ? O_CREAT | O_EXCL : 0);
	auto_close int fd = file_open(path, flags, err);
	int r = fd < 0 ? fd : work_on(w, fd, step);
	return r && fd >= 0 ? error_errno(err, -r, "%s", path) : r;
}

static int do_loops(
	struct client *self, const struct load *load, struct worker *w, struct error *err)
{
	for (uint64_t i = 0; i < w->model.s->loops * load->action_count; i++) {
		struct step step = next_step(&w->model, &load->actions[i % load->action_count]);
		uint64_t start_ns = now_ns();
		int r = do_step(w, &step, err);
		if (r)
			return r;
		hist_add(&self->latency, now_ns() - start_ns);
		self->operations++;
	}
	return 0;
}

static int client_work(struct client *self, const struct load *load, struct error *err)
{
	const struct fileserver *s = self->settings;
	struct worker w = {
		.top = xasprintf("%s/%s", self->dir, load->dir), .buffer = chunk_buffer()};

	model_init(&w.model, s, self->number);
	pattern_init(&w.pattern, PATTERN_RANDOM, s->seed);
	crew_ready(self);
	int r = do_loops(self, load, &w, err);
	pattern_done(&w.pattern);
	model_done(&w.model);
	free(w.buffer);
	free(w.top);
	return r;
}

static int run(const struct load *load, int (*work)(struct client *self, struct error *err),
	const struct fileserver *s, const char *dir, struct outcome *ret, struct error *err)
{
	*ret = (struct outcome){
		.planned = s->threads * s->loops * load->action_count,
		.metric_name = "actions",
		.metric_unit = "actions/s",
	};
	int r = crew_run(s->threads, s, dir, work, ret, err);
	outcome_rate(ret);
	return r;
}

static int check_thread(
	struct model *m, const struct load *load, const char *top, struct error *err)
{
	auto_pattern struct pattern pattern;
	int r = 0;

	pattern_init(&pattern, PATTERN_RANDOM, m->s->seed);
	for (uint64_t i = 0; i < m->s->loops * load->action_count; i++)
		next_step(m, &load->actions[i % load->action_count]);
	for (uint64_t i = 0; i < m->present && !r; i++) {
		uint64_t file = m->order[i];
		auto_free char *path = file_path(m, top, file);
		r = pattern_check(&pattern, path, file_id(m, file), m->files[file].size, err);
	}
	return r;
}

static int check(
	const struct load *load, const struct fileserver *s, const char *dir, struct error *err)
{
	auto_free char *top = xasprintf("%s/%s", dir, load->dir);
	uint64_t count = 0;
	int r = 0;

	for (unsigned t = 0; t < s->threads && !r; t++) {
		auto_model struct model m;
		model_init(&m, s, t);
		r = check_thread(&m, load, top, err);
		count += m.present;
	}
	return r ? r : file_expect_count(top, count, err);
}

/* --- the two --- */

static int server_prepare(const void *settings, const char *dir, struct error *err)
{
	return prepare(&server, settings, dir, err);
}

static int server_work(struct client *self, struct error *err)
{
	return client_work(self, &server, err);
}

static int server_run(const void *settings, const char *dir, struct outcome *ret, struct error *err)
{
	return run(&server, server_work, settings, dir, ret, err);
}

static int server_check(const void *settings, const char *dir, struct error *err)
{
	return check(&server, settings, dir, err);
}

static int mail_prepare(const void *settings, const char *dir, struct error *err)
{
	return prepare(&mail, settings, dir, err);
}

static int mail_work(struct client *self, struct error *err)
{
	return client_work(self, &mail, err);
}

static int mail_run(const void *settings, const char *dir, struct outcome *ret, struct error *err)
{
	return run(&mail, mail_work, settings, dir, ret, err);
}

static int mail_check(const void *settings, const char *dir, struct error *err)
{
	return check(&mail, settings, dir, err);
}

const struct workload workload_fileserver = {
	.name = "fileserver",
	.summary =
		"create, append to, read, delete and stat whole files, as filebench's file server",
	.params = server_params,
	.param_count = ARRAY_SIZE(server_params),
	.settings_size = sizeof(struct fileserver),
	.prepare = server_prepare,
	.run = server_run,
	.check = server_check,
};

const struct workload workload_varmail = {
	.name = "varmail",
	.summary =
		"delete, deliver, extend and read mails, each write synced, as filebench's varmail",
	.params = mail_params,
	.param_count = ARRAY_SIZE(mail_params),
	.settings_size = sizeof(struct fileserver),
	.prepare = mail_prepare,
	.run = mail_run,
	.check = mail_check,
};

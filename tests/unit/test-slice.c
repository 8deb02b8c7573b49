/* SPDX-License-Identifier: MIT */
/*
 * Random calls are really made in a directory and traced with their results; then any part of the
 * trace must come out the same when it is replayed by itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "check.h"
#include "cleanup.h"
#include "clock.h"
#include "consistency.h"
#include "io.h"
#include "maker.h"
#include "replay.h"
#include "rng.h"
#include "slice.h"
#include "vec.h"

#define DIRS    3 /* the root and two in it */
#define NAMES   5
#define HANDLES 6
#define CALLS   500

static char dir[] = "/dev/shm/test-slice-XXXXXX";

static void remove_dir(void)
{
	remove_tree(dir);
}

static char *in_dir(const char *name)
{
	static bool made;

	if (!made && mkdtemp(dir))
		atexit(remove_dir);
	made = true;
	return xasprintf("%s/%s", dir, name);
}

/* ---- making random calls ---- */

struct actor {
	struct maker m;
	struct rng rng;
	int dirs[DIRS];
	uint64_t dir_ids[DIRS];
	uint64_t names[DIRS][NAMES]; /* which file has the name; 0 = none */
	struct {
		int fd;
		uint64_t id, file;
	} handles[HANDLES];
	uint64_t next_id;
};

static const char *const name_texts[NAMES] = {"a.db", "b.db-wal", "c", "d", "e"};

struct place {
	unsigned dir, name;
};

static struct place any_place(struct actor *a)
{
	return (struct place){
		(unsigned)rng_below(&a->rng, DIRS), (unsigned)rng_below(&a->rng, NAMES)};
}

static uint64_t *id_at(struct actor *a, struct place p)
{
	return &a->names[p.dir][p.name];
}

static const char *text_at(struct place p)
{
	return name_texts[p.name];
}

static void put(struct actor *a, struct event ev, int64_t result)
{
	ev.thread = 1 + (uint32_t)rng_below(&a->rng, 3);
	ev.result = result < 0 ? -errno : result;
	maker_put_next(&a->m, ev);
}

static void act_lookup(struct actor *a)
{
	struct place p = any_place(a);
	struct stat st;

	put(a,
		(struct event){.op = OP_lookup,
			.dir = a->dir_ids[p.dir],
			.name = maker_text(text_at(p)),
			.file = *id_at(a, p)},
		fstatat(a->dirs[p.dir], text_at(p), &st, AT_SYMLINK_NOFOLLOW));
}

static void act_open(struct actor *a)
{
	struct place p = any_place(a);
	size_t h = rng_below(&a->rng, HANDLES);
	bool new = !*id_at(a, p);
	int flags = O_RDWR | (rng_below(&a->rng, 4) ? 0 : O_TRUNC);

	if (a->handles[h].id)
		return;
	int fd = openat(a->dirs[p.dir], text_at(p), flags | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		abort();
	if (new)
		*id_at(a, p) = a->next_id++;
	a->handles[h].fd = fd;
	a->handles[h].id = a->next_id++;
	a->handles[h].file = *id_at(a, p);
	put(a,
		(struct event){.op = OP_create,
			.dir = a->dir_ids[p.dir],
			.name = maker_text(text_at(p)),
			.file = *id_at(a, p),
			.handle = a->handles[h].id,
			.flags = (uint64_t)flags,
			.mode = S_IFREG | 0644},
		0);
}

static void act_close(struct actor *a)
{
	size_t h = rng_below(&a->rng, HANDLES);

	if (!a->handles[h].id)
		return;
	put(a,
		(struct event){
			.op = OP_release, .file = a->handles[h].file, .handle = a->handles[h].id},
		close(a->handles[h].fd));
	a->handles[h].id = 0;
}

static void act_transfer(struct actor *a)
{
	static char data[20000];
	size_t h = rng_below(&a->rng, HANDLES);
	struct event ev = {.op = rng_below(&a->rng, 2) ? OP_read : OP_write,
		.file = a->handles[h].file,
		.handle = a->handles[h].id,
		.offset = rng_below(&a->rng, 30000),
		.size = 1 + rng_below(&a->rng, sizeof(data)),
		.content = 5};

	if (!ev.handle)
		return;
	off_t at = (off_t)ev.offset;
	put(a, ev,
		ev.op == OP_read ? pread(a->handles[h].fd, data, ev.size, at)
				 : pwrite(a->handles[h].fd, data, ev.size, at));
}

static void act_truncate(struct actor *a)
{
	size_t h = rng_below(&a->rng, HANDLES);
	uint64_t size = rng_below(&a->rng, 40000);

	if (a->handles[h].id)
		put(a,
			(struct event){.op = OP_truncate,
				.file = a->handles[h].file,
				.handle = a->handles[h].id,
				.size = size},
			ftruncate(a->handles[h].fd, (off_t)size));
}

static void act_unlink(struct actor *a)
{
	struct place p = any_place(a);

	put(a,
		(struct event){.op = OP_unlink,
			.dir = a->dir_ids[p.dir],
			.name = maker_text(text_at(p)),
			.file = *id_at(a, p)},
		unlinkat(a->dirs[p.dir], text_at(p), 0));
	*id_at(a, p) = 0;
}

static void act_rename(struct actor *a)
{
	struct place p = any_place(a), q = any_place(a);
	int r = renameat(a->dirs[p.dir], text_at(p), a->dirs[q.dir], text_at(q));

	put(a,
		(struct event){.op = OP_rename,
			.dir = a->dir_ids[p.dir],
			.name = maker_text(text_at(p)),
			.dir2 = a->dir_ids[q.dir],
			.name2 = maker_text(text_at(q)),
			.file = *id_at(a, p),
			.file2 = *id_at(a, q)},
		r);
	if (r < 0 || *id_at(a, p) == *id_at(a, q))
		return;
	*id_at(a, q) = *id_at(a, p);
	*id_at(a, p) = 0;
}

static void act_link(struct actor *a)
{
	struct place p = any_place(a), q = any_place(a);

	if (!*id_at(a, p))
		return;
	int r = linkat(a->dirs[p.dir], text_at(p), a->dirs[q.dir], text_at(q), 0);
	put(a,
		(struct event){.op = OP_link,
			.file = *id_at(a, p),
			.dir = a->dir_ids[q.dir],
			.name = maker_text(text_at(q))},
		r);
	if (!r)
		*id_at(a, q) = *id_at(a, p);
}

static void act_rmdir(struct actor *a)
{
	unsigned d = 1 + (unsigned)rng_below(&a->rng, DIRS - 1);

	/* Empty or not: the root of it stays open here, so it must not really go. */
	for (unsigned n = 0; n < NAMES; n++)
		if (a->names[d][n]) {
			put(a,
				(struct event){.op = OP_rmdir,
					.dir = TREE_ROOT,
					.name = maker_text(d == 1 ? "one" : "two"),
					.file = a->dir_ids[d]},
				unlinkat(a->dirs[0], d == 1 ? "one" : "two", AT_REMOVEDIR));
			return;
		}
}

static void act_chmod(struct actor *a)
{
	struct place p = any_place(a);

	if (*id_at(a, p))
		put(a, (struct event){.op = OP_chmod, .file = *id_at(a, p), .mode = 0640},
			fchmodat(a->dirs[p.dir], text_at(p), 0640, 0));
}

static void (*const acts[])(struct actor *a) = {act_lookup, act_open, act_open, act_open, act_close,
	act_transfer, act_transfer, act_transfer, act_transfer, act_truncate, act_unlink,
	act_rename, act_link, act_rmdir, act_chmod};

static void make_trace(const char *path, uint64_t seed)
{
	auto_free char *root = in_dir("real");
	struct actor a = {.next_id = 100};

	rng_init(&a.rng, seed);
	remove_tree(root);
	CHECK_EQ(mkdir(root, 0755), 0);
	maker_open(&a.m, path, 3);
	a.dirs[0] = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	a.dir_ids[0] = TREE_ROOT;
	for (unsigned d = 1; d < DIRS; d++) {
		const char *name = d == 1 ? "one" : "two";
		CHECK_EQ(mkdirat(a.dirs[0], name, 0755), 0);
		a.dirs[d] = openat(a.dirs[0], name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		a.dir_ids[d] = maker_dir(&a.m, TREE_ROOT, name);
	}
	for (int i = 0; i < CALLS; i++)
		acts[rng_below(&a.rng, ARRAY_SIZE(acts))](&a);
	for (unsigned h = 0; h < HANDLES; h++)
		if (a.handles[h].id)
			close(a.handles[h].fd);
	for (unsigned d = 0; d < DIRS; d++)
		close(a.dirs[d]);
	maker_close(&a.m);
}

/* ---- slices ---- */

static int slice(
	const char *from, const char *to, const struct slice_options *o, struct slice_stats *stats)
{
	struct trace_reader *r;
	struct error err = {0};

	if (!CHECK_EQ(trace_reader_open(&r, from, &err), 0))
		return -1;
	int result = slice_write(r, to, o, stats, &err);
	trace_reader_close(r);
	return result;
}

static uint64_t contradictions(struct trace_reader *r)
{
	struct consistency *c = consistency_new();
	struct tree_entry entry;
	struct event ev;
	struct error err = {0};
	uint64_t count = 0;

	while (trace_reader_tree(r, &entry, &err) > 0)
		consistency_tree(c, &entry);
	while (trace_reader_next(r, &ev, &err) > 0)
		consistency_event(c, &ev);
	CHECK(trace_reader_health(r)->complete);
	for (enum contradiction what = 0; what < CONTRADICTION_COUNT; what++)
		count += consistency_count(c, what);
	consistency_free(c);
	return count;
}

/* Replayed in an empty directory, all comes out as it did. */
static bool replays(const char *path)
{
	const struct replay_options options = {.order = ORDER_RESOURCE, .engine = ENGINE_LANES};
	auto_free char *root = in_dir("root");
	struct result_run run = {0};
	struct trace_reader *r;
	struct error err = {0};
	char first[256];

	remove_tree(root);
	CHECK_EQ(mkdir(root, 0755), 0);
	auto_close int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK_EQ(trace_reader_open(&r, path, &err), 0);
	bool good = CHECK_EQ(contradictions(r), 0);
	good &= CHECK_EQ(replay_prepare(r, fd, &options, &err), 0);
	good &= CHECK_EQ(replay_run(r, fd, &options, &run, &err), 0);
	good &= CHECK_EQ(run.divergences, 0);
	vec_each (d, &run.divergence)
		printf("# %s: %s\n", d->op, d->first);
	good &= CHECK_EQ(replay_verify_state(r, fd, first, &err), 0);
	result_run_done(&run);
	trace_reader_close(r);
	return good;
}

static void random_options(
	struct rng *rng, struct slice_options *o, struct opt_list *paths, struct opt_list *threads)
{
	static const char *globs[] = {"one", "*.db", "*-wal", "two/c"};
	static const char *tids[] = {"101", "102", "10[13]"};
	uint64_t a = rng_below(rng, CALLS * 100), b = rng_below(rng, CALLS * 100);

	*o = (struct slice_options){.to_ns = UINT64_MAX, .paths = paths, .threads = threads};
	if (rng_below(rng, 3)) {
		o->from_ns = min_u64(a, b);
		o->to_ns = max_u64(a, b);
	}
	paths->at = &globs[rng_below(rng, ARRAY_SIZE(globs))];
	paths->count = rng_below(rng, 2);
	threads->at = &tids[rng_below(rng, ARRAY_SIZE(tids))];
	threads->count = rng_below(rng, 2);
	for (unsigned i = 0; rng_below(rng, 3) == 0 && i < 4; i++)
		o->ops[op_by_name((const char *const[]){"read", "write", "lookup", "unlink",
			"rename", "link"}[rng_below(rng, 6)])] = true;
}

TEST(every_part_of_a_trace_replays_by_itself)
{
	auto_free char *whole = in_dir("whole.reel"), *part = in_dir("part.reel");
	struct opt_list paths = {0}, threads = {0};
	struct slice_options o;
	struct slice_stats stats;
	struct rng rng;

	rng_init(&rng, 11);
	for (uint64_t seed = 0; seed < 24; seed++) {
		if (seed % 4 == 0)
			make_trace(whole, seed);
		random_options(&rng, &o, &paths, &threads);
		CHECK_EQ(slice(whole, part, &o, &stats), 0);
		CHECK(!stats.cut_short && stats.totals.lost == 0);
		if (!replays(part)) {
			printf("# seed %d: from %d to %d, path %s, thread %s\n", (int)seed,
				(int)o.from_ns, (int)o.to_ns, paths.count ? paths.at[0] : "-",
				threads.count ? threads.at[0] : "-");
			return;
		}
	}
}

TEST(a_slice_of_all_is_all)
{
	auto_free char *whole = in_dir("whole.reel"), *part = in_dir("part.reel");
	struct opt_list none = {0};
	struct slice_options o = {.to_ns = UINT64_MAX, .paths = &none, .threads = &none};
	struct trace_reader *a, *b;
	struct error err = {0};
	struct slice_stats stats;
	struct event x, y;
	uint64_t events = 0;

	make_trace(whole, 77);
	CHECK_EQ(slice(whole, part, &o, &stats), 0);
	CHECK_EQ(trace_reader_open(&a, whole, &err), 0);
	CHECK_EQ(trace_reader_open(&b, part, &err), 0);
	while (trace_reader_next(a, &x, &err) > 0 && trace_reader_next(b, &y, &err) > 0) {
		CHECK_EQ(x.op, y.op);
		CHECK_EQ(x.start_ns, y.start_ns);
		CHECK_EQ(x.took_ns, y.took_ns);
		CHECK_EQ(x.cpu_ns, y.cpu_ns);
		CHECK_EQ(x.result, y.result);
		CHECK_EQ(x.file, y.file);
		CHECK_EQ(x.name.size, y.name.size);
		events++;
	}
	CHECK_EQ(stats.kept, events);
	CHECK_EQ(stats.made_up, 0);
	trace_reader_close(a);
	trace_reader_close(b);
}

TEST(an_anonymous_slice_replays_too)
{
	auto_free char *whole = in_dir("whole.reel"), *part = in_dir("part.reel");
	struct opt_list none = {0};
	struct slice_options o = {.to_ns = UINT64_MAX, .paths = &none, .threads = &none};
	struct slice_stats stats;
	struct error err = {0};

	CHECK_EQ(anonymizer_new(&o.anonymizer, NULL, &err), 0);
	make_trace(whole, 5);
	CHECK_EQ(slice(whole, part, &o, &stats), 0);
	replays(part);
	anonymizer_free(o.anonymizer);
}

/* Nonsense in, nonsense out, and nothing worse. */
TEST(a_hostile_trace_is_sliced)
{
	auto_free char *whole = in_dir("whole.reel"), *part = in_dir("part.reel");
	struct opt_list paths = {0}, threads = {0};
	struct slice_options o;
	struct slice_stats stats;
	struct rng rng;

	rng_init(&rng, 23);
	for (int round = 0; round < 15; round++) {
		struct maker m;
		maker_open(&m, whole, 3);
		for (uint64_t i = 0, d = TREE_ROOT; i < rng_below(&rng, 8); i++)
			d = rng_below(&rng, 2) ? maker_dir(&m, d, "a")
			                       : maker_file(&m, d, "b", 1000);
		for (int i = 0; i < 2000; i++)
			maker_put_random(&m, &rng, 3);
		maker_close(&m);
		random_options(&rng, &o, &paths, &threads);
		CHECK_EQ(slice(whole, part, &o, &stats), 0);
	}
}

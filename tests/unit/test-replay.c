/* SPDX-License-Identifier: MIT */
/* Whole replays in a directory: nothing gets out of it, nothing is lost from the account. */
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
#include "io.h"
#include "maker.h"
#include "replay.h"
#include "rng.h"
#include "vec.h"

static char dir[] = "/tmp/test-replay-XXXXXX";

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

static void trace_open(struct maker *m, unsigned threads)
{
	auto_free char *path = in_dir("trace");

	maker_open(m, path, threads);
}

/* What a test looks at after a replay: the run, and the directory that it was made in. */
struct outcome {
	struct result_run run;
	int prepared, result;
	struct error err;
	char first[256]; /* of the differences of the final state */
	int differences;
	int root_fd;
};

static void replay(struct maker *m, const struct replay_options *options, struct outcome *o)
{
	auto_free char *path = in_dir("trace"), *root = in_dir("root");
	struct trace_reader *trace;

	maker_close(m);
	*o = (struct outcome){0};
	remove_tree(root);
	CHECK_EQ(mkdir(root, 0755), 0);
	o->root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!CHECK_EQ(trace_reader_open(&trace, path, &o->err), 0))
		return;
	o->prepared = replay_prepare(trace, o->root_fd, options, &o->err);
	if (o->prepared == 0)
		o->result = replay_run(trace, o->root_fd, options, &o->run, &o->err);
	if (o->prepared == 0 && o->result == 0)
		o->differences = replay_verify_state(trace, o->root_fd, o->first, &o->err);
	trace_reader_close(trace);
}

static void outcome_done(struct outcome *o)
{
	result_run_done(&o->run);
	close(o->root_fd);
}

static const struct replay_options in_lanes = {.order = ORDER_RESOURCE, .engine = ENGINE_LANES};

static uint64_t divergences(const struct outcome *o, const char *op)
{
	vec_each (d, &o->run.divergence)
		if (!strcmp(d->op, op))
			return d->count;
	return 0;
}

static void check_clean(const struct outcome *o)
{
	CHECK_EQ(o->prepared, 0);
	CHECK_EQ(o->result, 0);
	CHECK_EQ(o->run.divergences, 0);
	vec_each (d, &o->run.divergence)
		printf("# %s: %s\n", d->op, d->first);
	CHECK_EQ(o->differences, 0);
	CHECK_EQ(o->first, "");
}

/* A little of everything that has a file, by one thread. */
static void put_file_life(
	struct maker *m, unsigned thread, const char *name, const char *other, uint64_t id)
{
	maker_put(m, .op = OP_lookup, .thread = thread, .dir = 1, .name = maker_text(name),
		.result = -2);
	maker_put(m, .op = OP_create, .thread = thread, .dir = 1, .name = maker_text(name),
		.file = id, .handle = id, .flags = O_RDWR, .mode = S_IFREG | 0640);
	maker_put(m, .op = OP_write, .thread = thread, .file = id, .handle = id, .size = 100000,
		.result = 100000, .content = 5);
	maker_put(m, .op = OP_read, .thread = thread, .file = id, .handle = id, .offset = 99000,
		.size = 4096, .result = 1000);
	maker_put(m, .op = OP_fdatasync, .thread = thread, .file = id, .handle = id);
	maker_put(m, .op = OP_truncate, .thread = thread, .file = id, .handle = id, .size = 5000);
	maker_put(m, .op = OP_chmod, .thread = thread, .file = id, .mode = 0600);
	maker_put(
		m, .op = OP_utimens, .thread = thread, .file = id, .mtime = 1000000000, .flags = 2);
	maker_put(m, .op = OP_setlk, .thread = thread, .file = id, .handle = id, .owner = 77,
		.mode = F_WRLCK, .offset = 1, .size = 1);
	maker_put(m, .op = OP_setlk, .thread = thread, .file = id, .handle = id, .owner = 77,
		.mode = F_UNLCK, .offset = 1, .size = 1);
	maker_put(m, .op = OP_rename, .thread = thread, .dir = 1, .name = maker_text(name),
		.dir2 = 1, .name2 = maker_text(other), .file = id);
	maker_put(m, .op = OP_getattr, .thread = thread, .file = id);
	maker_put(m, .op = OP_release, .thread = 0, .file = id, .handle = id);
}

TEST(a_file_lives_its_life_again)
{
	struct outcome o;
	struct maker m;
	struct stat st;

	trace_open(&m, 1);
	put_file_life(&m, 1, "a", "b", 10);
	replay(&m, &in_lanes, &o);
	check_clean(&o);
	CHECK_EQ(o.run.operations, 13);
	CHECK_EQ(o.run.syncs, 1);
	CHECK_EQ(fstatat(o.root_fd, "b", &st, 0), 0);
	CHECK_EQ(st.st_size, 5000);
	CHECK_EQ(st.st_mode, S_IFREG | 0600);
	CHECK_EQ(st.st_mtime, 1);
	outcome_done(&o);
}

TEST(directories_links_and_names)
{
	struct outcome o;
	struct maker m;

	trace_open(&m, 1);
	uint64_t d = maker_dir(&m, 1, "d");
	uint64_t f = maker_file(&m, d, "f", 3);
	maker_put(&m, .op = OP_mkdir, .thread = 1, .dir = d, .name = maker_text("e"), .file = 20,
		.mode = S_IFDIR | 0700);
	maker_put(&m, .op = OP_link, .thread = 1, .file = f, .dir = 20, .name = maker_text("g"));
	maker_put(&m, .op = OP_symlink, .thread = 1, .dir = 20, .name = maker_text("s"), .file = 21,
		.value = maker_text("../f"));
	maker_put(&m, .op = OP_readlink, .thread = 1, .file = 21, .result = 4);
	maker_put(&m, .op = OP_rename, .thread = 1, .dir = d, .name = maker_text("e"), .dir2 = 1,
		.name2 = maker_text("moved"), .file = 20);
	maker_put(&m, .op = OP_opendir, .thread = 1, .file = 20, .handle = 5);
	maker_put(&m, .op = OP_readdir, .thread = 1, .file = 20, .handle = 5, .size = 4096,
		.result = 4);
	maker_put(&m, .op = OP_fsyncdir, .thread = 1, .file = 20, .handle = 5);
	maker_put(&m, .op = OP_releasedir, .thread = 1, .file = 20, .handle = 5);
	maker_put(&m, .op = OP_unlink, .thread = 1, .dir = 20, .name = maker_text("s"), .file = 21);
	maker_put(&m, .op = OP_mkdir, .thread = 1, .dir = 20, .name = maker_text("x"), .file = 22,
		.mode = 0755);
	maker_put(&m, .op = OP_rmdir, .thread = 1, .dir = 20, .name = maker_text("x"), .file = 22);
	maker_put(&m, .op = OP_mkdir, .thread = 1, .dir = 20, .name = maker_text("x"),
		.result = -13); /* the capture was refused, the replay will not be */
	replay(&m, &in_lanes, &o);
	CHECK_EQ(o.result, 0);
	CHECK_EQ(o.run.divergences, 1);
	CHECK_EQ(divergences(&o, "mkdir"), 1);
	CHECK_EQ(o.run.divergence.at[0].first,
		"event 13 on moved/x: expected Permission denied, got 0");
	CHECK_EQ(o.differences, 1);
	CHECK_EQ(o.first, "moved/x: it should not be there");
	outcome_done(&o);
}

TEST(the_starting_state_is_made_whole)
{
	const struct tree_extent data[] = {{0, 4096}, {1 << 20, 8192}};
	const struct tree_xattr attributes[] = {{maker_text("user.color"), maker_text("blue")}};
	struct error err = {0};
	struct outcome o;
	struct maker m;
	struct stat st;
	char value[16];

	trace_open(&m, 1);
	uint64_t d = maker_dir(&m, 1, "d");
	struct tree_entry e = {.id = 30,
		.parent = d,
		.name = maker_text("sparse"),
		.mode = S_IFREG | S_ISUID | 0755,
		.size = 2 << 20,
		.mtime_ns = 5000000000,
		.content = 10,
		.extents = data,
		.extent_count = 2,
		.xattrs = attributes,
		.xattr_count = 1};
	trace_writer_tree(m.writer, &e, &err);
	e = (struct tree_entry){.id = 30,
		.parent = 1,
		.name = maker_text("again"),
		.again = true,
		.mode = S_IFREG | S_ISUID | 0755};
	trace_writer_tree(m.writer, &e, &err);
	e = (struct tree_entry){.id = 31,
		.parent = 1,
		.name = maker_text("link"),
		.mode = S_IFLNK | 0777,
		.target = maker_text("/etc")};
	trace_writer_tree(m.writer, &e, &err);
	e = (struct tree_entry){
		.id = 32, .parent = 1, .name = maker_text("null"), .mode = S_IFCHR | 0666};
	trace_writer_tree(m.writer, &e, &err);
	replay(&m, &in_lanes, &o);
	CHECK_EQ(o.prepared, 0);
	CHECK_EQ(fstatat(o.root_fd, "again", &st, 0), 0);
	CHECK_EQ(st.st_nlink, 2);
	CHECK_EQ(st.st_size, 2 << 20);
	CHECK(st.st_blocks * 512 < 1 << 20);  /* the holes are holes */
	CHECK_EQ(st.st_mode, S_IFREG | 0755); /* not set-uid */
	CHECK_EQ(st.st_mtime, 5);
	auto_close int fd = openat(o.root_fd, "again", O_RDONLY);
	CHECK(fgetxattr(fd, "user.color", value, sizeof(value)) == 4);
	CHECK_EQ(fstatat(o.root_fd, "null", &st, 0), geteuid() ? -1 : 0);
	CHECK(geteuid() || st.st_rdev == 0); /* of the type, but no device */
	outcome_done(&o);
}

static void refuse_entry(struct tree_entry e)
{
	struct error err = {0};
	struct outcome o;
	struct maker m;

	trace_open(&m, 1);
	trace_writer_tree(m.writer, &e, &err);
	replay(&m, &in_lanes, &o);
	CHECK(o.prepared < 0);
	outcome_done(&o);
}

TEST(entries_that_lead_elsewhere_are_refused)
{
	refuse_entry((struct tree_entry){
		.id = 2, .parent = 1, .name = maker_text(".."), .mode = S_IFDIR | 0755});
	refuse_entry((struct tree_entry){
		.id = 2, .parent = 1, .name = maker_text("../out"), .mode = S_IFREG | 0644});
	refuse_entry((struct tree_entry){
		.id = 2, .parent = 9, .name = maker_text("f"), .mode = S_IFREG | 0644});
	CHECK(access("/tmp/out", F_OK) < 0);
}

/*
 * The trace says that a link to the outside could not be made, then goes on as if a file of that
 * name were there. The link will be made: nothing may follow it.
 */
TEST(links_to_the_outside_are_not_followed)
{
	auto_free char *victim = in_dir("victim");
	struct outcome o;
	struct maker m;
	struct stat st;

	trace_open(&m, 1);
	int fd = open(victim, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK_EQ(ftruncate(fd, 1234), 0);
	close(fd);
	uint64_t f = maker_file(&m, 1, "f", 0);
	maker_put(&m, .op = OP_unlink, .thread = 1, .dir = 1, .name = maker_text("f"), .file = f,
		.result = -1);
	maker_put(&m, .op = OP_symlink, .thread = 1, .dir = 1, .name = maker_text("f"), .file = 50,
		.value = maker_text(victim), .result = -17);
	maker_put(&m, .op = OP_chmod, .thread = 1, .file = f, .mode = 0777);
	maker_put(&m, .op = OP_truncate, .thread = 1, .file = f, .size = 0);
	maker_put(&m, .op = OP_setxattr, .thread = 1, .file = f, .name = maker_text("user.x"),
		.value = maker_text("y"));
	maker_put(&m, .op = OP_utimens, .thread = 1, .file = f, .mtime = 7, .flags = 2);
	maker_put(
		&m, .op = OP_open, .thread = 1, .file = f, .handle = 1, .flags = O_RDWR | O_TRUNC);
	maker_put(&m, .op = OP_write, .thread = 1, .file = f, .handle = 1, .size = 9, .result = 9);
	replay(&m, &in_lanes, &o);
	CHECK_EQ(o.result, 0);
	CHECK_EQ(divergences(&o, "symlink"), 1);
	CHECK_EQ(divergences(&o, "chmod"), 1);
	CHECK_EQ(divergences(&o, "truncate"), 1);
	CHECK_EQ(divergences(&o, "setxattr"), 1);
	CHECK_EQ(divergences(&o, "open"), 1);
	CHECK_EQ(divergences(&o, "write"), 1);
	CHECK_EQ(stat(victim, &st), 0);
	CHECK_EQ(st.st_size, 1234);
	CHECK_EQ(st.st_mode, S_IFREG | 0600);
	CHECK(st.st_mtime > 7);
	outcome_done(&o);
}

static uint64_t critical_sum(const struct result_run *run)
{
	uint64_t sum = 0;

	vec_each (c, &run->classes)
		sum += c->critical_ns;
	return sum;
}

/* Eight threads in turn on one file, each step needing the one before: nothing is lost or counted
 * twice on the way from lane to lane. */
static void put_relay(struct maker *m, unsigned threads, unsigned rounds)
{
	uint64_t f = maker_file(m, 1, "db", 1 << 20);

	for (unsigned t = 1; t <= threads; t++)
		maker_put(m, .op = OP_open, .thread = t, .file = f, .handle = t, .flags = O_RDWR);
	for (unsigned i = 0; i < rounds; i++) {
		unsigned t = i % threads + 1;
		maker_put(m, .op = OP_write, .thread = t, .file = f, .handle = t, .offset = 8192,
			.size = 8192, .result = 8192, .content = 10);
		if (i % 5 == 0)
			maker_put(m, .op = OP_fdatasync, .thread = t, .file = f, .handle = t);
	}
	for (unsigned t = 1; t <= threads; t++)
		maker_put(m, .op = OP_release, .thread = t, .file = f, .handle = t);
}

TEST(the_critical_path_adds_up_to_the_nanosecond)
{
	for (unsigned order = ORDER_THREAD; order <= ORDER_STRICT; order++) {
		struct replay_options options = {.order = order, .engine = ENGINE_LANES};
		struct outcome o;
		struct maker m;
		trace_open(&m, 8);
		put_relay(&m, 8, 4000);
		replay(&m, &options, &o);
		check_clean(&o);
		CHECK(o.run.elapsed_ns > 0);
		CHECK_EQ(critical_sum(&o.run), o.run.elapsed_ns);
		CHECK_EQ(o.run.operations, 4000 + 800 + 16);
		outcome_done(&o);
	}
}

TEST(a_small_window_changes_nothing_but_memory)
{
	struct replay_options options = {
		.order = ORDER_RESOURCE, .engine = ENGINE_LANES, .window = 16};
	struct outcome o;
	struct maker m;

	trace_open(&m, 8);
	put_relay(&m, 8, 4000);
	replay(&m, &options, &o);
	check_clean(&o);
	CHECK_EQ(critical_sum(&o.run), o.run.elapsed_ns);
	outcome_done(&o);
}

TEST(the_engine_without_calls_accounts_too)
{
	struct replay_options options = {.order = ORDER_RESOURCE, .engine = ENGINE_NULL};
	struct outcome o;
	struct maker m;

	trace_open(&m, 8);
	put_relay(&m, 8, 4000);
	replay(&m, &options, &o);
	CHECK_EQ(o.result, 0);
	CHECK_EQ(o.run.divergences, 0);
	CHECK_EQ(o.run.operations, 4000 + 800 + 16);
	CHECK_EQ(critical_sum(&o.run), o.run.elapsed_ns);
	outcome_done(&o);
}

/* Two threads, the lock goes back and forth; without its order one would be refused. */
TEST(locks_are_handed_over_in_order)
{
	struct outcome o;
	struct maker m;

	trace_open(&m, 2);
	uint64_t f = maker_file(&m, 1, "db", 0);
	for (unsigned t = 1; t <= 2; t++)
		maker_put(&m, .op = OP_open, .thread = t, .file = f, .handle = t, .flags = O_RDWR);
	for (unsigned i = 0; i < 500; i++) {
		unsigned t = i % 2 + 1;
		maker_put(&m, .op = OP_setlk, .thread = t, .file = f, .handle = t, .owner = t,
			.mode = F_WRLCK);
		maker_put(&m, .op = OP_setlk, .thread = 3 - t, .file = f, .handle = 3 - t,
			.owner = 3 - t, .mode = F_WRLCK, .result = -11);
		maker_put(&m, .op = OP_setlk, .thread = t, .file = f, .handle = t, .owner = t,
			.mode = F_UNLCK);
	}
	replay(&m, &in_lanes, &o);
	check_clean(&o);
	outcome_done(&o);
}

/* Every refusal comes while the lock is held, however many lanes were refused. */
TEST(many_lanes_are_refused_in_order)
{
	struct outcome o;
	struct maker m;

	trace_open(&m, 5);
	uint64_t f = maker_file(&m, 1, "db", 0);
	for (unsigned t = 1; t <= 5; t++)
		maker_put(&m, .op = OP_open, .thread = t, .file = f, .handle = t, .flags = O_RDWR);
	for (unsigned i = 0; i < 200; i++) {
		unsigned holder = i % 5 + 1;
		maker_put(&m, .op = OP_setlk, .thread = holder, .file = f, .handle = holder,
			.owner = holder, .mode = F_WRLCK);
		for (unsigned t = 1; t <= 5; t++)
			if (t != holder)
				maker_put(&m, .op = OP_setlk, .thread = t, .file = f, .handle = t,
					.owner = t, .mode = F_WRLCK, .result = -11);
		maker_put(&m, .op = OP_setlk, .thread = holder, .file = f, .handle = holder,
			.owner = holder, .mode = F_UNLCK);
	}
	replay(&m, &in_lanes, &o);
	check_clean(&o);
	outcome_done(&o);
}

/* A refusal that is in the trace before the lock that caused it: they overlapped. It must not leave
 * a lock behind that nobody gives back. */
TEST(a_refusal_never_takes_the_lock)
{
	struct outcome o;
	struct maker m;

	trace_open(&m, 2);
	uint64_t f = maker_file(&m, 1, "db", 0);
	for (unsigned t = 1; t <= 2; t++)
		maker_put(&m, .op = OP_open, .thread = t, .file = f, .handle = t, .flags = O_RDWR);
	struct event refused = {.op = OP_setlk, .thread = 1, .file = f, .handle = 1, .owner = 1};
	struct event taken = {.op = OP_setlk, .thread = 2, .file = f, .handle = 2, .owner = 2};
	refused.mode = taken.mode = F_WRLCK;
	refused.result = -11;
	taken.start_ns = m.now_ns + 100;
	taken.took_ns = 100;
	refused.start_ns = taken.start_ns + 50;
	refused.took_ns = 20;
	maker_event(&m, &refused);
	maker_event(&m, &taken);
	maker_put(&m, .op = OP_setlk, .thread = 2, .file = f, .handle = 2, .owner = 2,
		.mode = F_UNLCK);
	replay(&m, &in_lanes, &o);
	CHECK_EQ(o.result, 0);
	CHECK(o.run.elapsed_ns < 5 * NSEC_PER_SEC); /* the patience for a lock is 10 s */
	outcome_done(&o);
}

/* Each has what the other wants. The replay waits for no lock in the kernel, so nothing refuses it
 * there; a signal may have ended the wait as well. */
TEST(a_deadlock_is_refused_again)
{
	struct outcome o;
	struct maker m;

	trace_open(&m, 2);
	uint64_t f = maker_file(&m, 1, "db", 0);
	for (unsigned t = 1; t <= 2; t++)
		maker_put(&m, .op = OP_open, .thread = t, .file = f, .handle = t, .flags = O_RDWR);
	for (unsigned i = 0; i < 20; i++) {
		for (unsigned t = 1; t <= 2; t++)
			maker_put(&m, .op = OP_setlk, .thread = t, .file = f, .handle = t,
				.owner = t, .mode = F_WRLCK, .offset = t, .size = 1);
		maker_put(&m, .op = OP_setlk, .thread = 2, .file = f, .handle = 2, .owner = 2,
			.mode = F_WRLCK, .offset = 1, .size = 1, .result = i % 2 ? -35 : -4);
		for (unsigned t = 2; t; t--)
			maker_put(&m, .op = OP_setlk, .thread = t, .file = f, .handle = t,
				.owner = t, .mode = F_UNLCK);
	}
	replay(&m, &in_lanes, &o);
	check_clean(&o);
	CHECK(o.run.elapsed_ns < 5 * NSEC_PER_SEC);
	outcome_done(&o);
}

TEST(devices_are_made_by_their_type_alone)
{
	struct error err = {0};
	struct outcome o;
	struct maker m;
	struct stat st;

	if (geteuid())
		return;
	trace_open(&m, 1);
	struct tree_entry e = {
		.id = 2, .parent = 1, .name = maker_text("before"), .mode = S_IFCHR | 0600};
	CHECK_EQ(trace_writer_tree(m.writer, &e, &err), 0);
	maker_put(&m, .op = OP_mknod, .thread = 1, .dir = 1, .name = maker_text("after"), .file = 3,
		.mode = S_IFBLK | 0640, .rdev = 0x800);
	replay(&m, &in_lanes, &o);
	check_clean(&o);
	CHECK_EQ(fstatat(o.root_fd, "before", &st, 0), 0);
	CHECK_EQ(st.st_mode, S_IFCHR | 0600);
	CHECK_EQ(st.st_rdev, 0);
	CHECK_EQ(fstatat(o.root_fd, "after", &st, 0), 0);
	CHECK_EQ(st.st_mode, S_IFBLK | 0640);
	CHECK_EQ(st.st_rdev, 0);
	outcome_done(&o);
}

TEST(think_time_is_spent_and_accounted)
{
	struct replay_options options = {
		.order = ORDER_RESOURCE, .engine = ENGINE_LANES, .mode = MODE_PACED};
	struct outcome o;
	struct maker m;

	trace_open(&m, 1);
	for (unsigned i = 1; i <= 5; i++)
		maker_put(&m, .op = OP_statfs, .thread = 1, .file = 1, .cpu_ns = i * 2000000);
	replay(&m, &options, &o);
	check_clean(&o);
	const struct result_class *think = result_run_class(&o.run, RESULT_OP_THINK, "");
	CHECK(think->critical_ns >= 8000000);
	CHECK_EQ(critical_sum(&o.run), o.run.elapsed_ns);
	outcome_done(&o);
}

TEST(a_difference_is_shown_with_its_place)
{
	struct outcome o;
	struct maker m;

	trace_open(&m, 1);
	uint64_t f = maker_file(&m, 1, "short", 100);
	maker_put(&m, .op = OP_open, .thread = 1, .file = f, .handle = 1);
	maker_put(&m, .op = OP_read, .thread = 1, .file = f, .handle = 1, .size = 8192,
		.result = 8192);
	maker_put(&m, .op = OP_write, .thread = 1, .file = f, .handle = 1, .size = 1, .result = 1);
	replay(&m, &in_lanes, &o);
	CHECK_EQ(o.run.divergences, 2);
	CHECK_EQ(o.run.divergence.at[0].first, "event 2 on short: expected 8192, got 100");
	CHECK_EQ(o.run.divergence.at[1].first,
		"event 3 on short: expected 1, got Bad file descriptor");
	outcome_done(&o);
}

/* It ends, adds up, and stays where it is. */
TEST(random_events_are_survived)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct replay_options options = {.order = (enum replay_order)(seed % 3),
			.engine = ENGINE_LANES,
			.window = seed % 2 ? 16 : 0};
		struct outcome o;
		struct maker m;
		struct rng rng;
		trace_open(&m, 4);
		rng_init(&rng, seed);
		for (unsigned i = 0; i < 5000; i++)
			maker_put_random(&m, &rng, 4);
		replay(&m, &options, &o);
		CHECK_EQ(o.result, 0);
		CHECK(o.run.operations > 100);
		CHECK_EQ(critical_sum(&o.run), o.run.elapsed_ns);
		CHECK(o.differences >= 0);
		outcome_done(&o);
	}
}

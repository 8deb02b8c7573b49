/* SPDX-License-Identifier: MIT */
/* Events into steps: what becomes of them, and of those that cannot be believed. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "cleanup.h"
#include "compile.h"
#include "io.h"
#include "maker.h"
#include "rng.h"
#include "vec.h"

static char dir[] = "/tmp/test-compile-XXXXXX";

static void remove_dir(void)
{
	remove_tree(dir);
}

/* One test's trace, and its compiler once it is written. */
struct bench {
	struct maker maker;
	struct trace_reader *trace;
	struct compiler *compiler;
	struct files *files;
	struct replay_options options;
	struct draft draft;
	struct step step;
	int root_fd;
	uint64_t steps;
	char path[64];
};

static void bench_open(struct bench *b, unsigned threads)
{
	static bool made;

	if (!made && mkdtemp(dir))
		atexit(remove_dir);
	made = true;
	*b = (struct bench){.options.order = ORDER_RESOURCE};
	snprintf(b->path, sizeof(b->path), "%s/trace", dir);
	maker_open(&b->maker, b->path, threads);
}

static bool bench_compile(struct bench *b)
{
	struct error err = {0};

	maker_close(&b->maker);
	b->root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (trace_reader_open(&b->trace, b->path, &err) < 0 ||
		files_new(&b->files, b->root_fd, &err) < 0 ||
		compiler_new(&b->compiler, b->trace, &b->options, b->files, 100, &err) < 0) {
		printf("%s\n", err.text);
		return CHECK(false);
	}
	return true;
}

/* The next step as "lane op waits", or "" at the end. */
static const char *next(struct bench *b)
{
	static char text[256];
	struct error err = {0};
	const struct step *s = &b->step;

	b->draft.step = &b->step;
	int r = compiler_next(b->compiler, b->steps, &b->draft, &err);

	text[0] = '\0';
	if (r != 1) {
		CHECK_EQ(r, 0);
		return text;
	}
	b->steps++;
	size_t at = (size_t)snprintf(text, sizeof(text), "%u %s", s->lane, op_name(s->op));
	for (unsigned i = 0; i < s->wait_count; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, " %u:%u", s->waits[i].lane,
			s->waits[i].progress);
	return text;
}

static uint64_t unresolved(const struct bench *b, enum op op)
{
	const struct divergence *d = compiler_unresolved(b->compiler)->op[op];

	return d ? d->count : 0;
}

static void bench_close(struct bench *b)
{
	compiler_free(b->compiler);
	files_free(b->files);
	trace_reader_close(b->trace);
	close(b->root_fd);
}

TEST(a_file_made_by_one_thread_is_used_by_another)
{
	struct bench b;

	bench_open(&b, 2);
	maker_put(&b.maker, .op = OP_create, .thread = 1, .dir = 1, .name = maker_text("f"),
		.file = 10, .handle = 1, .flags = O_RDWR, .mode = S_IFREG | 0600);
	maker_put(&b.maker, .op = OP_write, .thread = 1, .file = 10, .handle = 1, .size = 100,
		.result = 100);
	maker_put(&b.maker, .op = OP_open, .thread = 2, .file = 10, .handle = 2);
	maker_put(&b.maker, .op = OP_read, .thread = 2, .file = 10, .handle = 2, .size = 100,
		.result = 100);
	maker_put(&b.maker, .op = OP_release, .thread = 0, .file = 10, .handle = 1);
	maker_put(&b.maker, .op = OP_unlink, .thread = 2, .dir = 1, .name = maker_text("f"),
		.file = 10);
	maker_put(&b.maker, .op = OP_statfs, .thread = 1, .file = 1);
	if (!bench_compile(&b))
		return;
	CHECK_EQ(next(&b), "0 create");
	CHECK_EQ(next(&b), "0 write");
	CHECK_EQ(next(&b), "1 open 0:1");
	CHECK_EQ(b.draft.args.dir, SLOT_ROOT);
	CHECK_EQ(b.draft.name.size, 1);
	CHECK_EQ(next(&b), "1 read 0:2");
	CHECK_EQ(next(&b), "0 release"); /* of no thread: in the lane of its last user */
	CHECK_EQ(next(&b), "1 unlink 0:3");
	CHECK_EQ(next(&b), "0 statfs");
	CHECK_EQ(next(&b), "");
	bench_close(&b);
}

TEST(a_path_is_the_one_that_holds_at_this_point)
{
	struct bench b;

	bench_open(&b, 1);
	uint64_t sub = maker_dir(&b.maker, 1, "sub");
	uint64_t file = maker_file(&b.maker, sub, "old", 0);
	maker_put(&b.maker, .op = OP_rename, .thread = 1, .dir = sub, .name = maker_text("old"),
		.dir2 = 1, .name2 = maker_text("new"), .file = file);
	maker_put(&b.maker, .op = OP_getattr, .thread = 1, .file = file);
	if (!bench_compile(&b))
		return;
	next(&b);
	CHECK(b.draft.args.dir != SLOT_ROOT);
	CHECK_EQ(b.draft.args.dir2, SLOT_ROOT);
	CHECK_EQ(next(&b), "0 getattr");
	CHECK(b.step.bits & STEP_BY_PATH);
	CHECK_EQ(b.draft.args.dir, SLOT_ROOT);
	CHECK(b.draft.name.size == 3 && !memcmp(b.draft.name.data, "new", 3));
	bench_close(&b);
}

TEST(a_file_without_a_name_is_reached_through_what_is_open)
{
	struct bench b;

	bench_open(&b, 1);
	uint64_t file = maker_file(&b.maker, 1, "f", 0);
	maker_put(&b.maker, .op = OP_open, .thread = 1, .file = file, .handle = 1);
	maker_put(&b.maker, .op = OP_unlink, .thread = 1, .dir = 1, .name = maker_text("f"),
		.file = file);
	maker_put(&b.maker, .op = OP_getattr, .thread = 1, .file = file);
	maker_put(&b.maker, .op = OP_release, .thread = 1, .file = file, .handle = 1);
	maker_put(&b.maker, .op = OP_getattr, .thread = 1, .file = file);
	if (!bench_compile(&b))
		return;
	CHECK_EQ(next(&b), "0 open");
	CHECK_EQ(next(&b), "0 unlink");
	CHECK_EQ(next(&b), "0 getattr");
	CHECK(!(b.step.bits & STEP_BY_PATH));
	CHECK_EQ(next(&b), "0 release");
	/* By what was kept of it when its name went. */
	CHECK_EQ(next(&b), "0 getattr");
	CHECK(b.draft.step->bits & STEP_KEPT);
	CHECK_EQ(next(&b), "");
	CHECK_EQ(unresolved(&b, OP_getattr), 0);
	bench_close(&b);
}

TEST(calls_in_flight_together_get_lanes_of_their_own)
{
	struct bench b;
	struct event ev = {.op = OP_read, .thread = 1, .handle = 1, .size = 1, .result = 1};

	bench_open(&b, 1);
	ev.file = maker_file(&b.maker, 1, "f", 100);
	maker_put(&b.maker, .op = OP_open, .thread = 1, .file = ev.file, .handle = 1);
	ev.start_ns = 1000;
	ev.took_ns = 500;
	maker_event(&b.maker, &ev);
	ev.start_ns = 1100;
	maker_event(&b.maker, &ev);
	ev.start_ns = 2000;
	maker_event(&b.maker, &ev);
	if (!bench_compile(&b))
		return;
	CHECK_EQ(compiler_survey(b.compiler)->lane_count, 2);
	CHECK_EQ(next(&b), "0 open");
	CHECK_EQ(next(&b), "0 read");
	CHECK_EQ(next(&b), "1 read 0:1");
	CHECK_EQ(next(&b), "0 read 1:1"); /* began when both had ended */
	bench_close(&b);
}

TEST(threads_that_follow_one_another_share_a_lane)
{
	struct bench b;

	bench_open(&b, 3);
	for (unsigned t = 1; t <= 3; t++)
		maker_put(&b.maker, .op = OP_statfs, .thread = t, .file = 1);
	if (!bench_compile(&b))
		return;
	CHECK_EQ(compiler_survey(b.compiler)->lane_count, 1);
	for (unsigned t = 1; t <= 3; t++)
		CHECK_EQ(next(&b), "0 statfs");
	bench_close(&b);
}

TEST(what_the_kernel_did_by_itself_is_left_out)
{
	struct bench b;

	bench_open(&b, 1);
	uint64_t file = maker_file(&b.maker, 1, "f", 0);
	maker_put(&b.maker, .op = OP_lookup, .thread = 1, .dir = 1, .name = maker_text("f"),
		.file = file, .event_flags = EVENT_DERIVED);
	maker_put(&b.maker, .op = OP_lookup, .thread = 1, .dir = 1, .name = maker_text("g"),
		.result = -2);
	maker_put(&b.maker, .op = OP_open, .thread = 1, .file = file, .handle = 1);
	maker_put(&b.maker, .op = OP_write, .thread = 0, .file = file, .handle = 1, .size = 4096,
		.result = 4096);
	maker_put(&b.maker, .op = OP_flush, .thread = 1, .file = file, .handle = 1);
	if (!bench_compile(&b))
		return;
	CHECK_EQ(next(&b), "0 lookup");
	CHECK_EQ(next(&b), "0 open");
	CHECK_EQ(next(&b), "");
	CHECK_EQ(compiler_survey(b.compiler)->derived, 2);
	CHECK_EQ(compiler_survey(b.compiler)->flushes, 1);
	bench_close(&b);
}

/* Faults and writeback of mapped files stand for what the program read and wrote there. */
TEST(what_a_probe_saw_is_replayed_unless_it_is_a_note)
{
	struct bench b;

	bench_open(&b, 2);
	uint64_t file = maker_file(&b.maker, TREE_ROOT, "a", 8192);
	maker_put(&b.maker, .op = OP_open, .thread = 1, .file = file, .handle = 1, .flags = O_RDWR);
	maker_put(&b.maker, .op = OP_write, .thread = 1, .file = file, .handle = 1, .size = 4096,
		.result = 4096);
	maker_put(&b.maker, .op = OP_fork, .thread = 1, .owner = 2);
	maker_put(&b.maker, .op = OP_mmap, .thread = 1, .file = file, .handle = 1, .size = 4096);
	maker_put(&b.maker, .op = OP_sync_file_range, .thread = 2, .file = file, .handle = 1,
		.size = UINT64_C(1) << 40, .flags = 2);
	maker_put(&b.maker, .op = OP_fadvise, .thread = 2, .file = file, .handle = 1, .mode = 3);
	maker_put(
		&b.maker, .op = OP_readahead, .thread = 2, .file = file, .handle = 1, .size = 4096);
	maker_put(&b.maker, .op = OP_syncfs, .thread = 2, .file = file, .handle = 1);
	maker_put(&b.maker, .op = OP_sync, .thread = 1, .file = TREE_ROOT);
	maker_put(&b.maker, .op = OP_exit, .thread = 2);
	if (!bench_compile(&b))
		return;
	CHECK_EQ(next(&b), "0 open");
	CHECK_EQ(next(&b), "0 write");
	CHECK_EQ(next(&b), "1 sync_file_range 0:2");
	CHECK_EQ(b.step.flags, 2);
	CHECK_EQ(next(&b), "1 fadvise");
	CHECK_EQ(b.step.mode, 3);
	CHECK_EQ(next(&b), "1 readahead");
	CHECK_EQ(next(&b), "1 syncfs");
	CHECK(b.step.bits & STEP_SYNCS);
	CHECK_EQ(next(&b), "0 sync 1:4");
	CHECK_EQ(next(&b), "");
	CHECK_EQ(compiler_survey(b.compiler)->derived, 0);
	bench_close(&b);
}

TEST(a_phase_begins_when_the_last_has_ended_everywhere)
{
	struct bench b;

	bench_open(&b, 2);
	maker_put(&b.maker, .op = OP_statfs, .thread = 1, .file = 1);
	maker_put(&b.maker, .op = OP_statfs, .thread = 2, .file = 1);
	maker_put(&b.maker, .op = OP_phase, .thread = 1, .name = maker_text("load"));
	maker_put(&b.maker, .op = OP_statfs, .thread = 2, .file = 1);
	maker_put(&b.maker, .op = OP_statfs, .thread = 2, .file = 1);
	if (!bench_compile(&b))
		return;
	CHECK_EQ(next(&b), "0 statfs");
	CHECK_EQ(next(&b), "1 statfs");
	CHECK_EQ(next(&b), "0 phase 1:1");
	CHECK_EQ(next(&b), "1 statfs 0:2");
	CHECK_EQ(next(&b), "1 statfs");
	CHECK_EQ(next(&b), "");
	bench_close(&b);
}

TEST(what_was_read_ahead_on_advice_is_not_read_twice)
{
	struct bench b;

	bench_open(&b, 1);
	uint64_t file = maker_file(&b.maker, TREE_ROOT, "a", 65536);
	maker_put(&b.maker, .op = OP_open, .thread = 1, .file = file, .handle = 1);
	maker_put(&b.maker, .op = OP_fadvise, .thread = 1, .file = file, .handle = 1,
		.offset = 8000, .size = 8192, .mode = POSIX_FADV_WILLNEED);
	maker_put(&b.maker, .op = OP_read, .thread = 1, .file = file, .handle = 1, .offset = 4096,
		.size = 8192, .result = 8192, .event_flags = EVENT_DERIVED);
	maker_put(&b.maker, .op = OP_read, .thread = 1, .file = file, .handle = 1, .offset = 32768,
		.size = 4096, .result = 4096, .event_flags = EVENT_DERIVED);
	maker_put(&b.maker, .op = OP_read, .thread = 1, .file = file, .handle = 1, .offset = 8192,
		.size = 4096, .result = 4096);
	if (!bench_compile(&b))
		return;
	CHECK_EQ(next(&b), "0 open");
	CHECK_EQ(next(&b), "0 fadvise");
	CHECK_EQ(next(&b), "0 read"); /* a page fault */
	CHECK_EQ(b.step.offset, 32768);
	CHECK_EQ(next(&b), "0 read"); /* the program's own */
	CHECK_EQ(b.step.offset, 8192);
	CHECK_EQ(next(&b), "");
	bench_close(&b);
}

TEST(pages_of_mapped_files_are_read_and_written)
{
	struct bench b;
	struct event ev = {.op = OP_write,
		.thread = 0,
		.handle = 1,
		.event_flags = EVENT_DERIVED,
		.size = 4096,
		.result = 4096};

	bench_open(&b, 2);
	ev.file = maker_file(&b.maker, 1, "f", 4096);
	maker_put(&b.maker, .op = OP_open, .thread = 2, .file = ev.file, .handle = 1,
		.flags = O_RDWR);
	maker_put(&b.maker, .op = OP_read, .thread = 1, .file = ev.file, .handle = 1, .size = 4096,
		.result = 4096, .event_flags = EVENT_DERIVED);
	/* During the fsync that causes it, and it needs no lane of its own. */
	ev.start_ns = b.maker.now_ns + 10;
	ev.took_ns = 10;
	maker_event(&b.maker, &ev);
	ev = (struct event){.op = OP_fsync, .thread = 1, .file = ev.file, .handle = 1};
	ev.start_ns = b.maker.now_ns - 5;
	ev.took_ns = 50;
	maker_event(&b.maker, &ev);
	maker_put(&b.maker, .op = OP_open, .thread = 2, .file = ev.file, .handle = 2,
		.flags = O_RDWR | O_APPEND);
	maker_put(&b.maker, .op = OP_write, .file = ev.file, .handle = 2, .size = 4096,
		.result = 4096, .event_flags = EVENT_DERIVED);
	if (!bench_compile(&b))
		return;
	CHECK_EQ(compiler_survey(b.compiler)->mapped_read, 4096);
	CHECK_EQ(compiler_survey(b.compiler)->mapped_written, 8192);
	CHECK_EQ(next(&b), "0 open");
	CHECK_EQ(next(&b), "1 read 0:1");
	CHECK_EQ(next(&b), "1 write");
	CHECK_EQ(next(&b), "1 fsync");
	CHECK_EQ(next(&b), "0 open");
	CHECK_EQ(next(&b), "0 write 1:3");
	CHECK_EQ(b.draft.step->flags, 0x20); /* RWF_NOAPPEND */
	CHECK_EQ(next(&b), "");
	bench_close(&b);
}

TEST(a_file_without_a_name_is_given_one_through_its_handle)
{
	struct bench b;

	bench_open(&b, 1);
	maker_put(&b.maker, .op = OP_tmpfile, .thread = 1, .dir = 1, .file = 10, .handle = 1,
		.flags = O_RDWR, .mode = S_IFREG | 0600);
	maker_put(&b.maker, .op = OP_link, .thread = 1, .file = 10, .dir = 1,
		.name = maker_text("f"));
	if (!bench_compile(&b))
		return;
	CHECK_EQ(next(&b), "0 tmpfile");
	CHECK_EQ(next(&b), "0 link");
	CHECK(!(b.draft.step->bits & STEP_BY_PATH));
	CHECK_EQ(b.draft.name2.size, 1);
	CHECK_EQ(b.draft.args.dir2, SLOT_ROOT);
	bench_close(&b);
}

static void hostile_name(const char *data, size_t size)
{
	struct bench b;
	const struct text name = {data, size};

	bench_open(&b, 1);
	maker_put(&b.maker, .op = OP_mkdir, .thread = 1, .dir = 1, .name = name, .file = 5,
		.mode = 0755);
	maker_put(&b.maker, .op = OP_unlink, .thread = 1, .dir = 1, .name = name);
	maker_put(&b.maker, .op = OP_rename, .thread = 1, .dir = 1, .name = maker_text("ok"),
		.dir2 = 1, .name2 = name);
	/* Nor may it be the way to a file that is named otherwise. */
	maker_put(&b.maker, .op = OP_chmod, .thread = 1, .file = 5, .mode = 0777);
	if (!bench_compile(&b))
		return;
	CHECK_EQ(next(&b), "");
	CHECK_EQ(unresolved(&b, OP_mkdir), 1);
	CHECK_EQ(unresolved(&b, OP_unlink), 1);
	CHECK_EQ(unresolved(&b, OP_rename), 1);
	CHECK_EQ(unresolved(&b, OP_chmod), 1);
	bench_close(&b);
}

TEST(names_that_lead_elsewhere_are_refused)
{
	char long_name[300];

	memset(long_name, 'x', sizeof(long_name));
	hostile_name("..", 2);
	hostile_name(".", 1);
	hostile_name("", 0);
	hostile_name("a/b", 3);
	hostile_name("/etc/passwd", 11);
	hostile_name("a\0b", 3);
	hostile_name(long_name, 256);
}

TEST(numbers_out_of_range_are_refused)
{
	struct bench b;

	bench_open(&b, 1);
	uint64_t file = maker_file(&b.maker, 1, "f", 0);
	maker_put(&b.maker, .op = OP_open, .thread = 1, .file = file, .handle = 1);
	maker_put(&b.maker, .op = OP_write, .thread = 1, .file = file, .handle = 1,
		.offset = UINT64_C(1) << 63, .size = 1, .result = 1);
	maker_put(&b.maker, .op = OP_write, .thread = 1, .file = file, .handle = 1,
		.size = UINT64_C(1) << 40, .result = 1);
	maker_put(&b.maker, .op = OP_truncate, .thread = 1, .file = file, .handle = 1,
		.size = UINT64_MAX);
	maker_put(&b.maker, .op = OP_read, .thread = 1, .file = file, .handle = 1,
		.offset = INT64_MAX, .size = 1, .result = INT64_MAX);
	if (!bench_compile(&b))
		return;
	CHECK_EQ(next(&b), "0 open");
	CHECK_EQ(next(&b), "0 read"); /* absurd, but the kernel can answer it */
	CHECK_EQ(next(&b), "");
	CHECK_EQ(unresolved(&b, OP_write), 2);
	CHECK_EQ(unresolved(&b, OP_truncate), 1);
	bench_close(&b);
}

TEST(things_that_never_were_are_counted)
{
	struct bench b;

	bench_open(&b, 1);
	uint64_t file = maker_file(&b.maker, 1, "f", 0);
	maker_put(&b.maker, .op = OP_read, .thread = 1, .file = file, .handle = 99, .size = 1);
	maker_put(&b.maker, .op = OP_fsync, .thread = 1, .file = file);
	maker_put(&b.maker, .op = OP_getattr, .thread = 1, .file = 12345);
	maker_put(&b.maker, .op = OP_mkdir, .thread = 1, .dir = 777, .name = maker_text("d"),
		.file = 20);
	maker_put(&b.maker, .op = OP_mkdir, .thread = 1, .dir = file, .name = maker_text("d"),
		.file = 21);
	maker_put(&b.maker, .op = OP_open, .thread = 1, .file = file, .handle = 1);
	maker_put(&b.maker, .op = OP_open, .thread = 1, .file = file, .handle = 1);
	maker_put(&b.maker, .op = OP_setxattr, .thread = 1, .file = file,
		.name = maker_text("security.capability"), .value = maker_text("x"));
	if (!bench_compile(&b))
		return;
	CHECK_EQ(next(&b), "0 open");
	CHECK_EQ(next(&b), "");
	CHECK_EQ(unresolved(&b, OP_read), 1);
	CHECK_EQ(unresolved(&b, OP_fsync), 1);
	CHECK_EQ(unresolved(&b, OP_getattr), 1);
	CHECK_EQ(unresolved(&b, OP_mkdir), 2);
	CHECK_EQ(unresolved(&b, OP_open), 1);
	CHECK_EQ(unresolved(&b, OP_setxattr), 1);
	CHECK_EQ(compiler_unresolved(b.compiler)->op[OP_read]->first,
		"event 1 cannot be replayed: its handle was never opened");
	bench_close(&b);
}

/* A directory that is moved below itself has no way to the root; no loop, no crash. */
TEST(a_directory_below_itself_is_not_reached)
{
	struct bench b;

	bench_open(&b, 1);
	uint64_t a = maker_dir(&b.maker, 1, "a");
	uint64_t sub = maker_dir(&b.maker, a, "b");
	maker_put(&b.maker, .op = OP_rename, .thread = 1, .dir = 1, .name = maker_text("a"),
		.dir2 = sub, .name2 = maker_text("a"), .file = a);
	maker_put(&b.maker, .op = OP_mkdir, .thread = 1, .dir = sub, .name = maker_text("c"),
		.file = 50);
	maker_put(&b.maker, .op = OP_mkdir, .thread = 1, .dir = a, .name = maker_text("c"),
		.file = 51);
	if (!bench_compile(&b))
		return;
	while (*next(&b))
		continue;
	CHECK(b.steps <= 3);
	bench_close(&b);
}

/* Slots are used again, so a long trace of short-lived files needs few of them. */
TEST(slots_are_used_again)
{
	struct bench b;
	const unsigned rounds = 20000;
	uint32_t highest = 0;

	bench_open(&b, 1);
	for (unsigned i = 0; i < rounds; i++) {
		maker_put(&b.maker, .op = OP_create, .thread = 1, .dir = 1, .name = maker_text("f"),
			.file = 10 + i, .handle = 1 + i, .flags = O_RDWR, .mode = S_IFREG | 0600);
		maker_put(&b.maker, .op = OP_release, .thread = 1, .file = 10 + i, .handle = 1 + i);
		maker_put(&b.maker, .op = OP_unlink, .thread = 1, .dir = 1, .name = maker_text("f"),
			.file = 10 + i);
	}
	if (!bench_compile(&b))
		return;
	while (*next(&b))
		if (b.step.op == OP_create && b.step.handle > highest)
			highest = b.step.handle;
	CHECK_EQ(b.steps, 3 * rounds);
	CHECK(highest < 4);
	bench_close(&b);
}

/* Whatever a trace says: lanes count up, and waits point back. */
TEST(random_events_give_sound_plans)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		uint32_t done[PLAN_MAX_LANES] = {0};
		struct bench b;
		struct rng rng;
		bench_open(&b, 4);
		b.options.order = (enum replay_order)(seed % 3);
		rng_init(&rng, seed);
		for (unsigned i = 0; i < 20000; i++)
			maker_put_random(&b.maker, &rng, 4);
		if (!bench_compile(&b))
			return;
		uint32_t lanes = compiler_survey(b.compiler)->lane_count;
		const struct step *s = &b.step;
		while (*next(&b)) {
			bool sound = s->lane < lanes && s->progress == ++done[s->lane];
			for (unsigned i = 0; i < s->wait_count; i++)
				sound &= s->waits[i].lane < lanes && s->waits[i].lane != s->lane &&
				         s->waits[i].progress > 0 &&
				         s->waits[i].progress <= done[s->waits[i].lane];
			if (!CHECK(sound))
				return;
		}
		CHECK(b.steps > 1000);
		bench_close(&b);
	}
}

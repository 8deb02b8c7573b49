/* SPDX-License-Identifier: MIT */
/*
 * A trace from the day the format was fixed, in tests/golden: it must be read as it was, and what
 * is written now must read the same. With UPDATE_GOLDEN=1 in the environment both files are made
 * anew; do that only when operations were added, and look at the difference.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "cleanup.h"
#include "io.h"
#include "paths.h"
#include "print.h"
#include "reader.h"
#include "vec.h"
#include "writer.h"

#define GOLDEN TEST_DATA "/../golden/"

#define NAME(s)                                                                                    \
	{                                                                                          \
		s, sizeof(s) - 1                                                                   \
	}

static const struct tree_extent extents[] = {{0, 4096}, {65536, 100}};
static const struct tree_xattr xattrs[] = {
	{NAME("user.color"), NAME("red")}, {NAME("user.bytes"), NAME("\x00\xff\"\\")}};

static const struct tree_entry entries[] = {
	{.id = 1, .mode = S_IFDIR | 0755, .uid = 1000, .gid = 1000, .mtime_ns = 1},
	{.id = 2, .parent = 1, .name = NAME("data"), .mode = S_IFDIR | 0700},
	{.id = 3,
		.parent = 2,
		.name = NAME("bank.db"),
		.mode = S_IFREG | 0644,
		.size = 1 << 20,
		.content = 5,
		.extents = extents,
		.extent_count = 2,
		.xattrs = xattrs,
		.xattr_count = 2,
		.mtime_ns = UINT64_C(1700000000123456789)},
	{.id = 4,
		.parent = 1,
		.name = NAME("link"),
		.mode = S_IFLNK | 0777,
		.target = NAME("data/bank.db")},
	{.id = 5, .parent = 1, .name = NAME("pipe\n\x1b[31m"), .mode = S_IFIFO | 0600},
	{.id = 6, .parent = 1, .name = NAME("null"), .mode = S_IFCHR | 0666, .rdev = 0x103},
	{.id = 3, .parent = 1, .name = NAME("again"), .again = true},
};

/* A value of each kind that differs from event to event. */
static uint64_t number_for(uint8_t kind, unsigned turn)
{
	static const uint64_t numbers[KIND_COUNT] = {[KIND_FILE] = 3,
		[KIND_HANDLE] = 1,
		[KIND_OFFSET] = 4096,
		[KIND_SIZE] = 512,
		[KIND_FLAGS] = 2,
		[KIND_MODE] = 0644,
		[KIND_NUMBER] = 1000,
		[KIND_TIME] = UINT64_C(1700000000000000000),
		[KIND_CONTENT] = 1,
		[KIND_HASH] = 99};

	switch (kind) {
	case KIND_FILE:
		return turn % 5 + 1;
	case KIND_CONTENT:
		return turn % 11;
	default:
		return turn % 7 ? numbers[kind] * (turn % 4 + 1) : turn % 2 ? UINT64_MAX : 0;
	}
}

static void fill_event(struct event *ev, enum op op, unsigned turn)
{
	static const struct text names[] = {NAME("bank.db-journal"), NAME("x"), NAME("tab\there"),
		NAME("caf\xc3\xa9"), NAME("")};
	const struct op_desc *d = &op_descs[op];

	*ev = (struct event){.op = op,
		.thread = turn % 3,
		.event_flags = turn % 9 ? 0 : turn % 4,
		.start_ns = 1000000 + turn * UINT64_C(123457),
		.took_ns = 1000 + turn * 37,
		.cpu_ns = 5000 * (turn + 1),
		.result = turn % 5 ? (int64_t)turn : -(int64_t)turn};
	for (unsigned a = 0; a < d->arg_count; a++) {
		const struct op_arg *arg = &d->args[a];
		if (arg_is_text(arg))
			*event_text(ev, arg) = names[(turn + a) % ARRAY_SIZE(names)];
		else
			*event_number(ev, arg) = number_for(arg->kind, turn + a);
	}
}

#define ROUNDS 12 /* over the table of operations */
#define ROUND                                                                                      \
	60 /* turns: in each, an operation meets the same files, so that no directory gets into itself */

static void write_sample(const char *path)
{
	struct trace_writer *w;
	struct error err = {0};
	struct event ev;
	json_t *meta = json_pack("{s:s,s:i}", "workload", "golden", "cpus", 2);

	if (!CHECK_EQ(trace_writer_open(&w, path, meta, &err), 0))
		return;
	json_decref(meta);
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		CHECK_EQ(trace_writer_tree(w, &entries[i], &err), 0);
	for (uint32_t t = 0; t < 2; t++)
		trace_writer_thread(w, &(struct trace_thread){4711 + t, 4711, 1000, 1000,
					       "sqlite\x07"
					       "3"});
	struct trace_buffer *b = trace_buffer_new(w);
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned turn = 0;
		for (unsigned op = 0; op < OP_LIMIT; op++) {
			if (!op_descs[op].name)
				continue;
			fill_event(&ev, (enum op)op, round * ROUND + turn++);
			trace_put(b, &ev);
		}
	}
	CHECK_EQ(trace_writer_close(w, NULL, &err), 0);
}

static void print_meta(FILE *out, struct trace_reader *r)
{
	json_dumpf(trace_reader_meta(r), out, JSON_SORT_KEYS);
	fputc('\n', out);
}

/* All of a trace as text, and each event as JSON too. */
static char *describe(const char *path)
{
	struct trace_reader *r = NULL;
	struct error err = {0};
	struct tree_entry entry;
	struct event ev;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct paths *paths = paths_new();

	if (!CHECK_EQ(trace_reader_open(&r, path, &err), 0)) {
		fprintf(out, "%s\n", err.text);
		fclose(out);
		paths_free(paths);
		return text;
	}
	print_meta(out, r);
	while (trace_reader_tree(r, &entry, &err) > 0) {
		paths_tree(paths, &entry);
		print_tree_entry(out, &entry, paths);
	}
	while (trace_reader_next(r, &ev, &err) > 0) {
		print_event(out, &ev, paths, trace_reader_thread(r, ev.thread));
		paths_event(paths, &ev);
	}
	CHECK(trace_reader_health(r)->complete);
	fclose(out);
	paths_free(paths);
	trace_reader_close(r);
	return text;
}

static char *read_whole(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = xcalloc(1, 1 << 20);

	if (CHECK(f != NULL)) {
		size_t n = fread(text, 1, (1 << 20) - 1, f);
		text[n] = '\0';
		fclose(f);
	}
	return text;
}

static void update(void)
{
	write_sample(GOLDEN "sample.reel");
	auto_free char *text = describe(GOLDEN "sample.reel");
	FILE *f = fopen(GOLDEN "sample.txt", "w");

	if (CHECK(f != NULL)) {
		fputs(text, f);
		fclose(f);
	}
}

TEST(the_golden_trace_reads_as_it_did)
{
	if (getenv("UPDATE_GOLDEN"))
		update();
	auto_free char *got = describe(GOLDEN "sample.reel");
	auto_free char *want = read_whole(GOLDEN "sample.txt");
	CHECK_EQ(got, want);
}

TEST(what_is_written_now_reads_the_same)
{
	struct error err = {0};
	char *dir = make_temp_dir(&err);
	auto_free char *path = xasprintf("%s/now.reel", dir);

	write_sample(path);
	auto_free char *got = describe(path);
	auto_free char *want = read_whole(GOLDEN "sample.txt");
	CHECK_EQ(got, want);
	remove_tree(dir);
	free(dir);
}

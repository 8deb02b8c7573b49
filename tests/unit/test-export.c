/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "cleanup.h"
#include "export.h"
#include "io.h"
#include "maker.h"
#include "rng.h"
#include "vec.h"

/* A private directory with the trace that `make` makes. */
struct place {
	char *dir, *trace, *out;
	struct trace_reader *reader;
};

static struct place place_of(void (*make)(struct maker *m))
{
	struct error err = {0};
	struct maker m;
	struct place p = {.dir = make_temp_dir(&err)};

	p.trace = xasprintf("%s/x.reel", p.dir);
	p.out = xasprintf("%s/out", p.dir);
	maker_open(&m, p.trace, 2);
	make(&m);
	maker_close(&m);
	if (!CHECK_EQ(trace_reader_open(&p.reader, p.trace, &err), 0))
		abort();
	return p;
}

static void place_done(struct place *p)
{
	trace_reader_close(p->reader);
	remove_tree(p->dir);
	free(p->dir);
	free(p->trace);
	free(p->out);
}

static void go(struct place *p, const char *format, struct export *ret)
{
	struct error err = {0};

	if (!CHECK_EQ(export_trace(ret, exporter_by_name(format), p->reader, p->out, &err), 0))
		fprintf(stderr, "%s\n", err.text);
}

/* ---- perfetto ---- */

/* Calls of one thread that overlap in every way, and calls of another one that do not. */
static void overlapping(struct maker *m)
{
	static const struct {
		uint64_t start, end;
	} times[] = {{100, 200}, {200, 300}, {250, 350}, {150, 400}, {390, 400}, {300, 500}};
	const uint64_t file = maker_file(m, TREE_ROOT, "data", 4096);

	maker_put(m, .op = OP_open, .thread = 1, .file = file, .handle = 1);
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		const struct event ev = {.op = OP_read,
			.thread = 1,
			.file = file,
			.handle = 1,
			.size = 4096,
			.result = 4096,
			.start_ns = 1000 + times[i].start,
			.took_ns = times[i].end - times[i].start};
		maker_event(m, &ev);
	}
	maker_put(m, .op = OP_getattr, .thread = 2, .file = file);
}

static uint64_t ns_of(const json_t *event, const char *key)
{
	return (uint64_t)(json_number_value(json_object_get(event, key)) * 1000 + 0.5);
}

/* Of one track, apart or inside each other? */
static bool clash(const json_t *a, const json_t *b)
{
	uint64_t a0 = ns_of(a, "ts"), a1 = a0 + ns_of(a, "dur");
	uint64_t b0 = ns_of(b, "ts"), b1 = b0 + ns_of(b, "dur");
	bool apart = a1 <= b0 || b1 <= a0;
	bool inside = (a0 <= b0 && b1 <= a1) || (b0 <= a0 && a1 <= b1);

	return json_equal(json_object_get(a, "tid"), json_object_get(b, "tid")) && !apart &&
	       !inside;
}

static const char *phase(const json_t *event)
{
	return json_string_value(json_object_get(event, "ph"));
}

TEST(tracks_hold_no_overlapping_calls)
{
	struct place p = place_of(overlapping);
	struct export x;
	json_error_t why;
	unsigned calls = 0, clashes = 0;

	go(&p, "perfetto", &x);
	json_t *all = json_load_file(p.out, 0, &why);
	json_t *events = json_object_get(all, "traceEvents"), *a, *b;
	size_t i, k;
	json_array_foreach(events, i, a)
	{
		if (*phase(a) != 'X')
			continue;
		calls++;
		json_array_foreach(events, k, b) clashes += *phase(b) == 'X' && clash(a, b);
	}
	CHECK_EQ(calls, 8);
	CHECK_EQ(clashes, 0);
	json_decref(all);
	place_done(&p);
}

static void long_and_busy(struct maker *m)
{
	const uint64_t file = maker_file(m, TREE_ROOT, "data", 4096);
	const uint64_t hour = UINT64_C(3600) * 1000000000;
	const struct event calls[] = {
		{.op = OP_getattr, .thread = 2, .file = file, .start_ns = 1, .took_ns = 999},
		{.op = OP_getattr, .thread = 2, .file = file, .start_ns = hour / 2, .took_ns = 5},
		/* In flight for all of the time. */
		{.op = OP_getattr, .thread = 1, .file = file, .took_ns = hour},
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		maker_event(m, &calls[i]);
}

/* The mean over slices that were doubled often is what it was. */
TEST(calls_in_flight_are_counted)
{
	struct place p = place_of(long_and_busy);
	struct export x;
	json_error_t why;
	double highest = 0;
	size_t i, points = 0;
	json_t *event;

	go(&p, "perfetto", &x);
	json_t *all = json_load_file(p.out, 0, &why);
	json_array_foreach(json_object_get(all, "traceEvents"), i, event)
	{
		json_t *calls = json_object_get(json_object_get(event, "args"), "calls");
		if (*phase(event) != 'C' || !calls)
			continue;
		points++;
		double n = json_number_value(calls);
		highest = n > highest ? n : highest;
	}
	CHECK(highest > 0.99 && highest < 1.01);
	CHECK(points >= 2 && points < 10);
	json_decref(all);
	place_done(&p);
}

/* ---- fio ---- */

static void put_io(struct maker *m, uint64_t file, unsigned thread, enum op op, int64_t result)
{
	const bool data = op == OP_read || op == OP_write;

	maker_put(m, .op = op, .thread = thread, .file = file, .handle = file,
		.offset = 8192 * data, .size = data ? 4096 : 0, .result = result);
}

static void for_fio(struct maker *m)
{
	const uint64_t dir = maker_dir(m, TREE_ROOT, "my dir");
	const uint64_t a = maker_file(m, dir, "a\nb", 5000), b = maker_file(m, dir, "same", 0);

	put_io(m, a, 1, OP_write, 4096);
	put_io(m, a, 2, OP_read, 4096);
	put_io(m, a, 2, OP_read, 0);
	put_io(m, a, 1, OP_fdatasync, 0);
	maker_put(
		m, .op = OP_unlink, .thread = 1, .dir = dir, .name = maker_text("same"), .file = b);
	put_io(m, b, 1, OP_fsync, 0);
	/* Another file of that name. */
	maker_put(m, .op = OP_create, .thread = 1, .dir = dir, .name = maker_text("same"),
		.file = 90, .handle = 90, .mode = S_IFREG);
	put_io(m, 90, 1, OP_write, 100);
	put_io(m, 90, 1, OP_write, -5);
}

static char *part_of(const struct place *p, const char *name)
{
	auto_free char *path = xasprintf("%s/%s", p->out, name);

	return read_text(path);
}

TEST(fio_gets_what_it_can_say)
{
	struct place p = place_of(for_fio);
	struct export x;

	go(&p, "fio", &x);
	auto_free char *log1 = part_of(&p, "thread-1.log"), *log2 = part_of(&p, "thread-2.log");
	auto_free char *setup = part_of(&p, "setup.log");
	CHECK_EQ(log2, "fio version 3 iolog\n"
		       "0 my%20dir%2fa%0ab add\n0 my%20dir%2fa%0ab open\n"
		       "0 my%20dir%2fa%0ab read 8192 4096");
	CHECK(log1 && strstr(log1, "my%20dir%2fsame sync 0 0\n"));
	CHECK(log1 && strstr(log1, "my%20dir%2fsame%90 write 8192 100"));
	/* Large enough for what is read; what is not read need not be there. */
	CHECK(setup && strstr(setup, "my%20dir%2fa%0ab write 0 12288\n"));
	CHECK_EQ(x.unsaid[OP_read], 1);
	CHECK_EQ(x.unsaid[OP_write], 1);
	CHECK_EQ(x.unsaid[OP_unlink], 1);
	CHECK_EQ(x.unsaid[OP_fsync], 0);
	place_done(&p);
}

/* ---- sqlite ---- */

static int64_t answer(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s = NULL;
	int64_t n = -1;

	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
		n = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return n;
}

static void odd_names(struct maker *m)
{
	maker_put(m, .op = OP_lookup, .thread = 1, .dir = TREE_ROOT, .name = {"\xff\0'", 3},
		.result = -2);
	maker_put(m, .op = OP_lookup, .thread = 1, .dir = TREE_ROOT, .name = maker_text("it's"),
		.result = -2);
}

TEST(sqlite_keeps_every_byte)
{
	struct place p = place_of(odd_names);
	struct export x;
	sqlite3 *db = NULL;

	go(&p, "sqlite", &x);
	CHECK_EQ(sqlite3_open(p.out, &db), SQLITE_OK);
	CHECK_EQ(answer(db, "SELECT count(*) FROM events WHERE name = x'ff0027'"), 1);
	CHECK_EQ(answer(db, "SELECT count(*) FROM events WHERE name = 'it''s'"), 1);
	CHECK_EQ(answer(db, "SELECT failed FROM op_latency WHERE operation = 'lookup'"), 2);
	CHECK_EQ(answer(db, "SELECT p99_ns FROM op_latency"), 50);
	CHECK_EQ(answer(db, "SELECT count(*) FROM file_time"), 1);
	CHECK_EQ(answer(db, "SELECT count(*) FROM class_time"), 1);
	CHECK_EQ(answer(db, "SELECT count(*) FROM per_second"), 1);
	sqlite3_close(db);
	place_done(&p);
}

/* ---- all ---- */

static void anything(struct maker *m)
{
	struct rng rng;

	rng_init(&rng, 7);
	for (int i = 0; i < 3000; i++)
		maker_put_random(m, &rng, 2);
}

TEST(any_trace_can_be_exported)
{
	for (const struct exporter *const *e = exporters; *e; e++) {
		struct place p = place_of(anything);
		struct export x;
		go(&p, (*e)->name, &x);
		CHECK(x.events > 2000);
		place_done(&p);
	}
}

TEST(nothing_is_left_behind_on_failure)
{
	struct place p = place_of(odd_names);
	struct error err = {0};
	struct export x;
	auto_free char *nowhere = xasprintf("%s/no/where", p.dir);

	for (const struct exporter *const *e = exporters; *e; e++) {
		CHECK(export_trace(&x, *e, p.reader, nowhere, &err) < 0);
		/* A directory is in the way. */
		CHECK(export_trace(&x, *e, p.reader, p.dir, &err) < 0);
	}
	auto_free char *part = xasprintf("%s.part", p.dir);
	CHECK(access(part, F_OK) < 0);
	place_done(&p);
}

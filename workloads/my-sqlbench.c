/* SPDX-License-Identifier: MIT */
/*
 * The eight tests of MySQL's sql-bench, written anew after what they do: each makes its tables,
 * works on them and drops them. One client; which rows follows from the seed.
 *
 * The tests say themselves how many rows a statement must yield; the rows and a hash of them are
 * kept with the step, so runs on different file systems can be compared. The run is the server's
 * start, the tests and the server's end, because all of it is in a capture; each test is a step of
 * its own, and the metric counts the tests alone.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "all.h"
#include "cleanup.h"
#include "sqlbench.h"

enum { SIZE_TINY, SIZE_SMALL, SIZE_FULL, SIZES };

static const char *const sizes[] = {
	[SIZE_TINY] = "tiny",
	[SIZE_SMALL] = "small",
	[SIZE_FULL] = "full",
	NULL,
};

/* `loops` at full size are those of the comparison of 2007. What `rows` are: alter-table: in the
 * table; ATIS: percent of the larger tables; select: rounds of queries (`loops` are the rows);
 * wisconsin: in the largest table, a power of ten. */
static const struct {
	struct sqlbench_test test;
	struct {
		uint64_t loops, rows;
	} sizes[SIZES];
} tests[] = {
	{{"alter-table", sqlbench_alter_table}, {{3, 20}, {20, 100}, {100, 1000}}},
	{{"ATIS", sqlbench_atis}, {{1, 2}, {5, 20}, {1000, 100}}},
	{{"big-tables", sqlbench_big_tables}, {{5, 0}, {50, 0}, {10000, 0}}},
	{{"connect", sqlbench_connect}, {{5, 0}, {200, 0}, {100000, 0}}},
	{{"create", sqlbench_create}, {{4, 0}, {40, 0}, {30000, 0}}},
	{{"insert", sqlbench_insert}, {{20, 0}, {300, 0}, {100000, 0}}},
	{{"select", sqlbench_select}, {{60, 2}, {600, 10}, {10000, 100}}},
	{{"wisconsin", sqlbench_wisconsin}, {{1, 100}, {2, 1000}, {100, 10000}}},
};

static const char *const test_names[] = {"all", "alter-table", "ATIS", "big-tables", "connect",
	"create", "insert", "select", "wisconsin", NULL};

struct settings {
	uint64_t loops, seed;
	unsigned test, size; /* test: 0 is all of them */
	struct mydb_settings db;
};

static const struct param params[] = {
	{"test", PARAM_CHOICE, offsetof(struct settings, test), "all", 0, 0, test_names,
		"one of the eight, or all in this order"},
	{"size", PARAM_CHOICE, offsetof(struct settings, size), "small", 0, 0, sizes,
		"full: as in the published comparison"},
	{"loops", PARAM_NUMBER, offsetof(struct settings, loops), "0", 0, 1000000, NULL,
		"loop count instead of that of the size; 0: by the size"},
	{"seed", PARAM_NUMBER, offsetof(struct settings, seed), "1", 0, 0, NULL,
		"of the generator that chooses rows"},
	MYDB_PARAMS(struct settings),
};

/* --- prepare --- */

static int make_database(
	const void *settings, const struct mydb *my, MYSQL *db, const char *dir, struct error *err)
{
	return mydb_exec(db, "create database test", err);
}

static int sqlbench_prepare(const void *settings, const char *dir, struct error *err)
{
	const struct settings *s = settings;

	return mydb_prepare(dir, &s->db, make_database, s, err);
}

/* --- run --- */

static int run_test(const struct settings *s, const struct mydb *my, size_t which,
	struct outcome *out, struct error *err)
{
	struct sqlbench b = {
		.my = my,
		.engine = mydb_engines[s->db.engine],
		.loops = s->loops ? s->loops : tests[which].sizes[s->size].loops,
		.rows = tests[which].sizes[s->size].rows,
		.outcome = out,
		.step = outcome_step(out, my->server.data_dir, tests[which].test.name),
		.err = err,
	};
	uint64_t start_ns = now_ns();

	rng_init(&b.rng, s->seed);
	sqlbench_open(&b);
	if (!b.r)
		tests[which].test.run(&b);
	sqlbench_close(&b);
	b.step->elapsed_ns = now_ns() - start_ns;
	return b.r ? error_wrap(err, "test %s", tests[which].test.name) : 0;
}

static int run_tests(
	const struct settings *s, const struct mydb *my, struct outcome *out, struct error *err)
{
	uint64_t start_ns = now_ns();
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tests) && !r; i++)
		if (!s->test || s->test == i + 1)
			r = run_test(s, my, i, out, err);
	out->elapsed_ns = now_ns() - start_ns;
	outcome_rate(out);
	return r;
}

static int sqlbench_run(
	const void *settings, const char *dir, struct outcome *ret, struct error *err)
{
	const struct settings *s = settings;
	auto_mydb struct mydb my = {0};
	uint64_t start_ns = now_ns();

	*ret = (struct outcome){
		.metric_name = "statements",
		.metric_unit = "statements/s",
	};
	int r = mydb_attach(&my, dir, &s->db, 1, err);
	phase_mark(dir, "start");
	if (!r)
		r = mydb_start(&my, true, err);
	if (!r) {
		r = run_tests(s, &my, ret, err);
		phase_mark(dir, "stop");
		r = r ? server_blame(&my.server, err) : mydb_stop(&my, err);
	}
	ret->elapsed_ns = now_ns() - start_ns;
	return r;
}

/* --- check --- */

/* What was made was dropped, and the server's own tables are sound. */
static int check_tables(MYSQL *db, struct error *err)
{
	int64_t left = 0;
	int r = mydb_number(db,
		"select count(*) from information_schema.tables where table_schema = 'test'", &left,
		err);

	if (!r && left)
		r = error_set(err, EIO, "%" PRId64 " tables were dropped and are there", left);
	return r ? r : mydb_check_table(db, "mysql.db", err);
}

static int sqlbench_check(const void *settings, const char *dir, struct error *err)
{
	const struct settings *s = settings;
	auto_mydb struct mydb my = {0};
	MYSQL *db = NULL;

	int r = mydb_attach(&my, dir, &s->db, 1, err);
	if (!r)
		r = mydb_start(&my, true, err);
	if (!r)
		r = mydb_connect(&my, "test", &db, err);
	if (!r)
		r = check_tables(db, err);
	mydb_cleanup_db(&db);
	return r ? r : mydb_stop(&my, err);
}

const struct workload workload_my_sqlbench = {
	.name = "my-sqlbench",
	.summary = "the eight tests of sql-bench on MariaDB or MySQL",
	.params = params,
	.param_count = ARRAY_SIZE(params),
	.settings_size = sizeof(struct settings),
	.prepare = sqlbench_prepare,
	.run = sqlbench_run,
	.check = sqlbench_check,
};

/* SPDX-License-Identifier: MIT */
/* The tests of my-sqlbench that are about tables and connections, not about what is in them. */
#include <inttypes.h>
#include <string.h>

#include "cleanup.h"
#include "sqlbench.h"
#include "vec.h"

/* --- alter-table: columns come and go in many small steps --- */

#define FIRST_COLUMNS   8
#define COLUMNS_PER_ADD 10

static void fill_narrow_table(struct sqlbench *b)
{
	for (uint64_t i = 1; i <= b->rows; i++)
		sqlbench_do(b,
			"insert into bench values (%" PRIu64 ", 1, 2, 3, 4, 5, 6, %" PRIu64 ")", i,
			i % 7);
}

static void add_columns(struct sqlbench *b, uint64_t last)
{
	for (uint64_t next = FIRST_COLUMNS + 1; next <= last && !b->r; next += COLUMNS_PER_ADD) {
		uint64_t count = min_u64(COLUMNS_PER_ADD, last - next + 1);
		auto_free char *list = sqlbench_list("add i", next, count, " integer");
		sqlbench_do(b, "alter table bench %s", list);
	}
	sqlbench_rows(b, last, "show columns from bench");
}

static void drop_columns(struct sqlbench *b, uint64_t last)
{
	while (last > FIRST_COLUMNS && !b->r) {
		uint64_t count = min_u64(COLUMNS_PER_ADD, last - FIRST_COLUMNS);
		last -= count;
		auto_free char *list = sqlbench_list("drop i", last + 1, count, "");
		sqlbench_do(b, "alter table bench %s", list);
	}
	sqlbench_rows(b, FIRST_COLUMNS, "show columns from bench");
}

void sqlbench_alter_table(struct sqlbench *b)
{
	uint64_t last = b->loops * COLUMNS_PER_ADD;
	auto_free char *columns = sqlbench_list("i", 1, FIRST_COLUMNS, " integer not null");

	sqlbench_do(b, "create table bench (%s) engine = %s", columns, b->engine);
	fill_narrow_table(b);
	add_columns(b, last);
	for (unsigned i = 1; i <= FIRST_COLUMNS; i++)
		sqlbench_do(b, "create index bench_ind%u on bench (i%u)", i, i);
	for (unsigned i = 1; i <= FIRST_COLUMNS; i++)
		sqlbench_do(b, "drop index bench_ind%u on bench", i);
	drop_columns(b, last);
	sqlbench_number(b, (int64_t)(b->rows * (b->rows + 1) / 2), "select sum(i1) from bench");
	sqlbench_do(b, "drop table bench");
}

/* --- create: many tables at once, then one after the other --- */

static const char plain_columns[] = "i integer not null, d double, f float, s char(10),"
				    " v varchar(100), primary key (i)";
static const char keyed_columns[] = "i integer not null, d double, f float, s char(10),"
				    " v varchar(100), primary key (i), key (d), key (f), key (s)";

static void create_and_drop(struct sqlbench *b, const char *columns)
{
	for (uint64_t i = 1; i <= b->loops && !b->r; i++) {
		sqlbench_do(b, "create table bench_%" PRIu64 " (%s) engine = %s", i, columns,
			b->engine);
		sqlbench_do(b, "drop table bench_%" PRIu64, i);
	}
}

void sqlbench_create(struct sqlbench *b)
{
	for (uint64_t i = 1; i <= b->loops && !b->r; i++)
		sqlbench_do(b, "create table bench_%" PRIu64 " (%s) engine = %s", i, plain_columns,
			b->engine);
	sqlbench_rows(b, b->loops, "show tables");
	for (uint64_t i = 1; i <= b->loops && !b->r; i++)
		sqlbench_number(b, 0, "select count(*) from bench_%" PRIu64, i);
	for (uint64_t i = 1; i <= b->loops && !b->r; i++)
		sqlbench_do(b, "drop table bench_%" PRIu64, i);
	create_and_drop(b, plain_columns);
	create_and_drop(b, keyed_columns);
}

/* --- connect: short conversations --- */

#define ASKS_PER_LOOP 10
#define BLOB_SIZE     65000

static void connect_loop(struct sqlbench *b, const char *sql, int64_t want)
{
	for (uint64_t i = 0; i < b->loops && !b->r; i++) {
		sqlbench_close(b);
		sqlbench_open(b);
		if (sql)
			sqlbench_number(b, want, "%s", sql);
	}
}

static void ask_loop(struct sqlbench *b, const char *sql, uint64_t rows)
{
	for (uint64_t i = 0; i < b->loops * ASKS_PER_LOOP && !b->r; i++)
		sqlbench_rows(b, rows, "%s", sql);
}

static void blob_loop(struct sqlbench *b)
{
	auto_free char *blob = xcalloc(1, BLOB_SIZE + 1);

	memset(blob, 'A', BLOB_SIZE);
	sqlbench_do(b, "create table bench2 (a blob) engine = %s", b->engine);
	sqlbench_do(b, "insert into bench2 values ('%s')", blob);
	for (uint64_t i = 0; i < b->loops && !b->r; i++)
		sqlbench_rows(b, 1, "select a from bench2");
	sqlbench_number(b, BLOB_SIZE, "select length(a) from bench2");
	sqlbench_do(b, "drop table bench2");
}

void sqlbench_connect(struct sqlbench *b)
{
	connect_loop(b, NULL, 0);
	connect_loop(b, "select 1", 1);
	ask_loop(b, "select 1", 1);
	sqlbench_do(b,
		"create table bench1 (a int not null, i int, s char(10), primary key (a))"
		" engine = %s",
		b->engine);
	sqlbench_do(b, "insert into bench1 values (1, 100, 'AAA')");
	sqlbench_do(b, "insert into bench1 values (2, 200, 'BBB')");
	connect_loop(b, "select i from bench1 where a = 1", 100);
	ask_loop(b, "select a, i, s from bench1 where a = 1", 1);
	ask_loop(b, "select a, i, s from bench1", 2);
	ask_loop(b, "select a + a, sum(i + a), s from bench1 group by a, s", 2);
	sqlbench_do(b, "drop table bench1");
	blob_loop(b);
}

/* --- big-tables: rows of a thousand columns --- */

#define WIDE_COLUMNS 1000

static void insert_wide(struct sqlbench *b, const char *names, const char *values)
{
	sqlbench_do(b, "delete from bench1");
	for (uint64_t i = 0; i < b->loops && !b->r; i++)
		sqlbench_do(b, "insert into bench1 %s values (%s)", names, values);
	sqlbench_number(
		b, (int64_t)(b->loops * WIDE_COLUMNS), "select sum(i%u) from bench1", WIDE_COLUMNS);
}

void sqlbench_big_tables(struct sqlbench *b)
{
	auto_free char *columns = sqlbench_list("i", 1, WIDE_COLUMNS, " integer");
	auto_free char *names = sqlbench_list("i", 1, WIDE_COLUMNS, "");
	auto_free char *values = sqlbench_list("", 1, WIDE_COLUMNS, "");
	auto_free char *named = xasprintf("(%s)", names);

	sqlbench_do(b, "create table bench1 (%s) engine = %s", columns, b->engine);
	sqlbench_do(b, "insert into bench1 values (%s)", values);
	for (uint64_t i = 0; i < b->loops && !b->r; i++)
		sqlbench_rows(b, 1, "select * from bench1");
	for (uint64_t i = 0; i < b->loops && !b->r; i++)
		sqlbench_rows(b, 1, "select %s from bench1", names);
	insert_wide(b, "", values);
	insert_wide(b, named, values);
	sqlbench_do(b, "drop table bench1");
}

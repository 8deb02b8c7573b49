/* SPDX-License-Identifier: MIT */
/* The tests of my-sqlbench on one table: insert and select. */
#include <inttypes.h>

#include "cleanup.h"
#include "sqlbench.h"
#include "vec.h"

/* --- insert: rows in three orders, and whatever can be done to them --- */

#define WHOLE_TABLE_READS 10
#define ROWS_PER_INSERT   250
#define MANY_KEYS         16

/* In the end the ids are those from 0 to 3 * loops - 1. */
static void insert_in_three_orders(struct sqlbench *b)
{
	static const char insert[] = "insert into bench1 (id, id2, id3, dummy1) values (%" PRIu64
				     ", %" PRIu64 ", %" PRIu64 ", 'ABCDEFGHIJ')";
	uint64_t n = b->loops;
	auto_free uint64_t *shuffled = sqlbench_shuffled(b, n);

	for (uint64_t id = 0; id < n && !b->r; id++)
		sqlbench_do(b, insert, id, id, id);
	for (uint64_t id = 2 * n; id-- > n && !b->r;)
		sqlbench_do(b, insert, id, id, id);
	for (uint64_t i = 0; i < n && !b->r; i++)
		sqlbench_do(
			b, insert, 2 * n + shuffled[i], 2 * n + shuffled[i], 2 * n + shuffled[i]);
	for (uint64_t id = 0; id < n && !b->r; id++)
		sqlbench_duplicate(b, insert, id, id, id);
}

static void read_whole_table(struct sqlbench *b)
{
	static const char *const orders[] = {
		"",
		"order by id, id2",
		"order by id desc, id2 desc",
		"order by id3",
		"order by dummy1, id3",
	};

	for (size_t i = 0; i < ARRAY_SIZE(orders); i++)
		for (unsigned k = 0; k < WHOLE_TABLE_READS; k++)
			sqlbench_rows(b, 3 * b->loops, "select id, id2, id3, dummy1 from bench1 %s",
				orders[i]);
}

static void read_ranges(struct sqlbench *b)
{
	uint64_t rows = 3 * b->loops;

	for (uint64_t i = 0; i < b->loops / 10 && !b->r; i++) {
		uint64_t from = rng_below(&b->rng, rows), to = from + rows / 100;
		uint64_t count = min_u64(to, rows - 1) - from + 1;
		sqlbench_rows(b, count,
			"select id3 from bench1 where id between %" PRIu64 " and %" PRIu64, from,
			to);
		sqlbench_number(b, (int64_t)count,
			"select count(*) from bench1 where id3 between %" PRIu64 " and %" PRIu64,
			from, to);
		sqlbench_number(b, (int64_t)min_u64(to, rows - 1),
			"select max(id) from bench1 where id <= %" PRIu64, to);
		sqlbench_number(b, (int64_t)from,
			"select min(id3) from bench1 where id3 >= %" PRIu64, from);
	}
	sqlbench_number(b, (int64_t)rows, "select count(distinct id) from bench1");
	sqlbench_number(b, 1, "select count(distinct dummy1) from bench1");
	sqlbench_number(b, 0, "select min(id2 + 0) from bench1");
}

static void read_by_key(struct sqlbench *b)
{
	for (uint64_t i = 0; i < b->loops && !b->r; i++) {
		uint64_t id = rng_below(&b->rng, 3 * b->loops);
		sqlbench_number(b, (int64_t)id, "select id3 from bench1 where id = %" PRIu64, id);
		sqlbench_number(b, (int64_t)id,
			"select id3 from bench1 where id = %" PRIu64 " and id2 = %" PRIu64, id, id);
		sqlbench_rows(b, 0, "select id from bench1 where id = %" PRIu64, 3 * b->loops + id);
	}
	for (unsigned i = 0; i < WHOLE_TABLE_READS; i++)
		sqlbench_rows(b, b->loops / 10,
			"select a.id from bench1 a, bench1 b where a.id = b.id3 and a.id < "
			"%" PRIu64,
			b->loops / 10);
}

static void update_rows(struct sqlbench *b)
{
	uint64_t rows = 3 * b->loops;

	for (uint64_t i = 0; i < b->loops && !b->r; i++) {
		uint64_t id = rng_below(&b->rng, rows);
		sqlbench_do(b,
			"update bench1 set dummy1 = 'updated' where id = %" PRIu64
			" and id2 = %" PRIu64,
			id, id);
	}
	/* Key values move away and come back. */
	for (uint64_t i = 0; i < b->loops / 2 && !b->r; i++) {
		uint64_t id = rng_below(&b->rng, rows);
		sqlbench_do(b, "update bench1 set id3 = -1 where id3 = %" PRIu64, id);
		sqlbench_do(b, "update bench1 set id3 = %" PRIu64 " where id3 = -1", id);
	}
	for (unsigned i = 0; i < 3; i++) {
		sqlbench_do(b, "update bench1 set id3 = -1 - id3");
		sqlbench_do(b, "update bench1 set id3 = -1 - id3");
	}
	sqlbench_number(b, (int64_t)(rows * (rows - 1) / 2), "select sum(id3) from bench1");
}

static void copy_rows(struct sqlbench *b)
{
	static const char *const keys[] = {
		"primary key (id, id2)", "primary key (id, id2), key (id3)"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		sqlbench_do(b,
			"create table bench2 (id int not null, id2 int not null, id3 int not null,"
			" dummy1 char(30), %s) engine = %s",
			keys[i], b->engine);
		sqlbench_do(b, "insert into bench2 select * from bench1");
		sqlbench_number(b, (int64_t)(3 * b->loops), "select count(*) from bench2");
		sqlbench_do(b, "drop table bench2");
	}
}

static void delete_rows(struct sqlbench *b)
{
	for (uint64_t id = 0; id < b->loops && !b->r; id++)
		sqlbench_do(b, "delete from bench1 where id3 = %" PRIu64, id);
	sqlbench_do(b, "delete from bench1 where id < %" PRIu64, 2 * b->loops);
	sqlbench_number(b, (int64_t)b->loops, "select count(*) from bench1");
	sqlbench_do(b, "delete from bench1");
	sqlbench_do(b, "drop table bench1");
}

/* Each row is in sixteen indexes. */
static void insert_with_many_keys(struct sqlbench *b)
{
	auto_free char *columns = sqlbench_list("field", 1, MANY_KEYS, " int not null");
	struct bytes keys = {0};

	for (unsigned i = 1; i <= MANY_KEYS; i++)
		sqlbench_put(&keys, ", index index%u (field%u)", i, i);
	put_u8(&keys, 0);
	sqlbench_do(
		b, "create table bench1 (%s%s) engine = %s", columns, (char *)keys.data, b->engine);
	bytes_free(&keys);
	for (uint64_t i = 0; i < b->loops && !b->r; i++) {
		auto_free char *values = sqlbench_list("", i, MANY_KEYS, "");
		sqlbench_do(b, "insert into bench1 values (%s)", values);
	}
	sqlbench_do(b, "update bench1 set field1 = field1 + 1");
	sqlbench_number(
		b, (int64_t)(b->loops * (b->loops + 1) / 2), "select sum(field1) from bench1");
	sqlbench_do(b, "delete from bench1 where field2 < %" PRIu64, b->loops / 2);
	sqlbench_do(b, "drop table bench1");
}

static void insert_many_at_once(struct sqlbench *b)
{
	sqlbench_do(b,
		"create table bench1 (id int not null, id2 int not null, id3 int not null,"
		" dummy1 char(30), primary key (id, id2)) engine = %s",
		b->engine);
	for (uint64_t id = 0; id < b->loops && !b->r; id += ROWS_PER_INSERT) {
		uint64_t count = min_u64(ROWS_PER_INSERT, b->loops - id);
		auto_free char *rows = sqlbench_list("(", id, count, ", 1, 2, 'ABCDEFGHIJ')");
		sqlbench_do(b, "insert into bench1 values %s", rows);
	}
	sqlbench_number(b, (int64_t)b->loops, "select count(*) from bench1");
	sqlbench_do(b, "drop table bench1");
}

void sqlbench_insert(struct sqlbench *b)
{
	sqlbench_do(b,
		"create table bench1 (id int not null, id2 int not null, id3 int not null,"
		" dummy1 char(30), primary key (id, id2), index ix_id3 (id3)) engine = %s",
		b->engine);
	insert_in_three_orders(b);
	read_whole_table(b);
	read_ranges(b);
	read_by_key(b);
	update_rows(b);
	copy_rows(b);
	delete_rows(b);
	insert_with_many_keys(b);
	insert_many_at_once(b);
}

/* --- select: one table with compound keys --- */

#define REGIONS 6
#define GROUPS  100

static void fill_regions(struct sqlbench *b)
{
	sqlbench_do(b,
		"create table bench1 (region char(1) not null, idn int not null,"
		" rev_idn int not null, grp int not null, primary key (region, idn),"
		" unique (region, rev_idn), unique (region, grp, idn)) engine = %s",
		b->engine);
	for (uint64_t id = 0; id < b->loops && !b->r; id++)
		sqlbench_do(b,
			"insert into bench1 values ('%c', %" PRIu64 ", %" PRIu64 ", %" PRIu64 ")",
			(int)('A' + id % REGIONS), id, b->loops - id, id / REGIONS % GROUPS);
}

/* Rows of region r with an id below `limit`. */
static uint64_t in_region(uint64_t limit, unsigned r)
{
	return (limit + REGIONS - 1 - r) / REGIONS;
}

static void select_in_regions(struct sqlbench *b, uint64_t limit)
{
	for (unsigned r = 0; r < REGIONS; r++) {
		char region = (char)('A' + r);
		uint64_t all = in_region(b->loops, r), some = in_region(limit, r);
		sqlbench_rows(b, all, "select idn from bench1 where region = '%c'", region);
		sqlbench_rows(b, some,
			"select idn from bench1 where region = '%c' and idn < %" PRIu64, region,
			limit);
		sqlbench_rows(b, some,
			"select grp, idn from bench1 where region = '%c' and rev_idn > %" PRIu64
			" order by grp, idn",
			region, b->loops - limit);
		sqlbench_number(b, (int64_t)all,
			"select count(*) from bench1 where region = '%c' and idn >= 0", region);
		sqlbench_number(b, (int64_t)some,
			"select count(*) from bench1 where region = '%c' and idn + 0 < %" PRIu64,
			region, limit);
		sqlbench_rows(b, min_u64(GROUPS, all),
			"select grp, count(*) from bench1 where region = '%c' group by grp",
			region);
	}
}

static void select_aggregates(struct sqlbench *b)
{
	uint64_t groups = min_u64(GROUPS, in_region(b->loops, 0));

	sqlbench_rows(b, min_u64(REGIONS, b->loops),
		"select region, count(*), min(idn), max(idn) from bench1 group by region");
	sqlbench_number(b, (int64_t)b->loops, "select count(*) from bench1");
	sqlbench_number(b, (int64_t)min_u64(REGIONS, b->loops),
		"select count(distinct region) from bench1");
	sqlbench_number(b, (int64_t)b->loops, "select count(distinct idn) from bench1");
	sqlbench_number(b, (int64_t)groups, "select count(distinct grp) from bench1");
	sqlbench_rows(b, min_u64(REGIONS, b->loops),
		"select region, count(distinct grp) from bench1 group by region");
	sqlbench_rows(
		b, groups, "select grp, count(distinct region), sum(idn) from bench1 group by grp");
	sqlbench_number(b, (int64_t)(b->loops - 1), "select max(idn) from bench1");
	sqlbench_number(b, 1, "select min(rev_idn) from bench1");
}

void sqlbench_select(struct sqlbench *b)
{
	fill_regions(b);
	for (uint64_t i = 1; i <= b->rows && !b->r; i++) {
		select_in_regions(b, b->loops * i / (b->rows + 1));
		select_aggregates(b);
	}
	sqlbench_do(b, "drop table bench1");
}

/* SPDX-License-Identifier: MIT */
#include "sbtest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "cleanup.h"
#include "vec.h"

#define INSERT_ROWS 200 /* per statement */

/* "01234567890-12345678901-..." to fill `text`. */
static void random_groups(struct rng *rng, char *text, size_t size)
{
	for (size_t used = 0; used < size; used += 12)
		snprintf(text + used, size - used, "%011" PRIu64 "%s",
			rng_below(rng, UINT64_C(100000000000)), used + 12 < size ? "-" : "");
}

void sbtest_random_row(struct rng *rng, uint64_t rows, struct sbtest_row *ret)
{
	ret->id = 1 + rng_below(rng, rows);
	ret->k = 1 + rng_below(rng, rows);
	random_groups(rng, ret->c, sizeof(ret->c));
	random_groups(rng, ret->pad, sizeof(ret->pad));
}

static const char schema[] =
	"create table sbtest%" PRIu64 " (id integer not null, k integer not null default 0,"
	" c char(120) not null default '', pad char(60) not null default '',"
	" primary key (id), key k_%" PRIu64 " (k)) engine = %s";

/* Rows from `first` on, in one statement. */
static int insert_rows(MYSQL *db, uint64_t table, uint64_t first, uint64_t rows, struct rng *rng,
	struct error *err)
{
	struct bytes sql = {0};
	struct sbtest_row row;

	for (uint64_t id = first; id < first + INSERT_ROWS && id <= rows; id++) {
		sbtest_random_row(rng, rows, &row);
		auto_free char *head = xasprintf("insert into sbtest%" PRIu64 " values ", table);
		auto_free char *text = xasprintf("%s(%" PRIu64 ", %" PRIu64 ", '%s', '%s')",
			id == first ? head : ", ", id, row.k, row.c, row.pad);
		put_bytes(&sql, text, strlen(text));
	}
	put_u8(&sql, 0);
	int r = mydb_exec(db, (const char *)sql.data, err);
	bytes_free(&sql);
	return r;
}

int sbtest_make(MYSQL *db, uint64_t table, const char *engine, uint64_t rows, uint64_t seed,
	struct error *err)
{
	auto_free char *create = xasprintf(schema, table, table, engine);
	struct rng rng;
	int r = mydb_exec(db, create, err);

	rng_init(&rng, seed * 1000003 + table);
	for (uint64_t id = 1; id <= rows && !r; id += INSERT_ROWS)
		r = insert_rows(db, table, id, rows, &rng, err);
	return r;
}

/* SPDX-License-Identifier: MIT */
/* The tables of sysbench's OLTP test: sbtest1, sbtest2, ... Their rows follow from a seed. */
#ifndef SBTEST_H
#define SBTEST_H

#include "mydb.h"
#include "rng.h"

#define SBTEST_C_GROUPS   10 /* of 11 digits, 119 characters with the hyphens */
#define SBTEST_PAD_GROUPS 5

struct sbtest_row {
	uint64_t id, k;
	char c[12 * SBTEST_C_GROUPS], pad[12 * SBTEST_PAD_GROUPS];
};

/* Any of `rows` rows, with new values. */
void sbtest_random_row(struct rng *rng, uint64_t rows, struct sbtest_row *ret);

/* Make and fill sbtest`table` in the database of the connection. */
int sbtest_make(MYSQL *db, uint64_t table, const char *engine, uint64_t rows, uint64_t seed,
	struct error *err);

#endif

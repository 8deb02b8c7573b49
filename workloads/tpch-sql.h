/* SPDX-License-Identifier: MIT */
/*
 * TPC-H in SQL: tables, keys, indexes, and the 22 queries with their parameters.
 *
 * The queries are in a dialect that PostgreSQL and SQLite share, but for extract(year from x), so
 * that one can be held against the other.
 */
#ifndef TPCH_SQL_H
#define TPCH_SQL_H

#include "tpch.h"

#define TPCH_QUERIES 22

/* One statement each; the lists end with NULL. */
extern const char *const tpch_schema[];       /* in the order of enum tpch_table */
extern const char *const tpch_primary_keys[]; /* "table (columns)" */
extern const char *const tpch_foreign_keys[]; /* "table (columns) table" */
extern const char *const tpch_indexes[];

/* Query `number`, from 1: with the parameters of the specification's validation, or drawn by the
 * seed from the ranges it gives. Caller frees. */
char *tpch_query(const struct tpch *t, unsigned number, bool drawn);

/* What a query yielded, whatever the order of its rows, and however the server writes numbers:
 * they count as rounded to four decimals. Blanks at the end of a cell do not count. */
struct tpch_answer {
	uint64_t rows, checksum;
	uint64_t row; /* the one that cells are added to */
};
/* NULL: SQL's null. */
void tpch_answer_cell(struct tpch_answer *a, const char *text);
void tpch_answer_row(struct tpch_answer *a);

/* FNV-1a, 64 bits; start with TPCH_HASH. */
#define TPCH_HASH UINT64_C(0xcbf29ce484222325)
uint64_t tpch_hash(uint64_t hash, const char *text);

#endif

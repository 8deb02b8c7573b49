/* SPDX-License-Identifier: MIT */
/*
 * The data of TPC-H: eight tables of a wholesale supplier, by the rules of its specification, at
 * any scale.
 *
 * Every row follows from the seed, its table and its number alone, so a table can be made from any
 * place on, twice, or by several threads.
 */
#ifndef TPCH_H
#define TPCH_H

#include "base.h"

enum tpch_table {
	TPCH_REGION,
	TPCH_NATION,
	TPCH_SUPPLIER,
	TPCH_CUSTOMER,
	TPCH_PART,
	TPCH_PARTSUPP,
	TPCH_ORDERS,
	TPCH_LINEITEM,
	TPCH_TABLES,
};
extern const char *const tpch_table_names[];

#define TPCH_FIRST_DAY 0    /* days count from 1992-01-01 */
#define TPCH_TODAY     1263 /* 1995-06-17: what was received until then has been shipped */
#define TPCH_LAST_DAY  2556 /* 1998-12-31 */

struct tpch {
	uint64_t seed, thousandths; /* thousandths: the scale factor times 1000 */
	uint64_t suppliers, customers, parts, orders, clerks;
	uint64_t odd_suppliers;                /* that many with complaints, and with praise */
	char *prose;                           /* what comments are cut from */
	char dates[TPCH_LAST_DAY + 1][10 + 1]; /* "1992-01-01" */
};

void tpch_init(struct tpch *ret, uint64_t thousandths, uint64_t seed);
void tpch_done(struct tpch *t);
#define auto_tpch __attribute__((cleanup(tpch_done)))

/* A unit is a row, but the four suppliers of a part, and all lines of an order. */
uint64_t tpch_units(const struct tpch *t, enum tpch_table table);

#define TPCH_UNIT_MAX 2048 /* bytes */
/* Unit `number`, from 0, as lines of COPY's text format: tabs between columns, none with a blank at
 * its end. Returns the bytes written; no NUL follows. */
size_t tpch_unit(
	const struct tpch *t, enum tpch_table table, uint64_t number, char out[TPCH_UNIT_MAX]);

/* Days from 1992-01-01 of the first of month `months` from January 1992 on. */
unsigned tpch_month(unsigned months);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What the tests of my-sqlbench share. A test sends statements one after the other on a connection;
 * the first error stays, and nothing is sent after it.
 */
#ifndef SQLBENCH_H
#define SQLBENCH_H

#include "bytes.h"
#include "mydb.h"
#include "rng.h"
#include "workload.h"

struct sqlbench {
	const struct mydb *my;
	MYSQL *db; /* in a database without tables */
	const char *engine;
	uint64_t loops, rows; /* of the test; see my-sqlbench.c */
	struct rng rng;
	struct outcome *outcome;
	struct outcome_step *step; /* sums up what the statements yield */
	int r;
	struct error *err;
};

/* A test leaves no table behind. */
struct sqlbench_test {
	const char *name;
	void (*run)(struct sqlbench *b);
};

void sqlbench_alter_table(struct sqlbench *b);
void sqlbench_atis(struct sqlbench *b);
void sqlbench_big_tables(struct sqlbench *b);
void sqlbench_connect(struct sqlbench *b);
void sqlbench_create(struct sqlbench *b);
void sqlbench_insert(struct sqlbench *b);
void sqlbench_select(struct sqlbench *b);
void sqlbench_wisconsin(struct sqlbench *b);

/* One statement; what it yields is fetched. Returns the number of rows. */
uint64_t sqlbench_do(struct sqlbench *b, const char *fmt, ...) attr_printf(2, 3);
/* Fails unless the statement yields that many rows. */
void sqlbench_rows(struct sqlbench *b, uint64_t want, const char *fmt, ...) attr_printf(3, 4);
/* Fails unless the statement yields this number. */
void sqlbench_number(struct sqlbench *b, int64_t want, const char *fmt, ...) attr_printf(3, 4);
/* Fails unless the statement is refused, because its key is there already. */
void sqlbench_duplicate(struct sqlbench *b, const char *fmt, ...) attr_printf(2, 3);

/* A connection of its own, and back. */
void sqlbench_open(struct sqlbench *b);
void sqlbench_close(struct sqlbench *b);

/* The numbers from 0 to count - 1 in random order; the caller frees. */
uint64_t *sqlbench_shuffled(struct sqlbench *b, uint64_t count);

/* Text behind what is there, without its end; put_u8(to, 0) ends it. */
void sqlbench_put(struct bytes *to, const char *fmt, ...) attr_printf(2, 3);

/* "HEAD1, HEAD2, ..., HEADn" with any numbers from `first` on; the caller frees. */
char *sqlbench_list(const char *head, uint64_t first, uint64_t count, const char *tail);

#endif

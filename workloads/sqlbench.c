/* SPDX-License-Identifier: MIT */
#include "sqlbench.h"

#include <errno.h>
#include <inttypes.h>
#include <mysqld_error.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "vec.h"

/* --- what statements yield --- */

struct answer {
	uint64_t rows, hash;
	int64_t number; /* first column of the first row */
	bool refused;   /* the key was there already */
};

/* FNV-1a. Rows are added up: no test asks for an order of those that compare equal. */
static uint64_t hash_row(const MYSQL_ROW row, const unsigned long *sizes, unsigned columns)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (unsigned i = 0; i < columns; i++)
		for (unsigned long k = 0; k <= sizes[i]; k++)
			hash = (hash ^ (k < sizes[i] ? (uint8_t)row[i][k] : 0xff)) *
			       UINT64_C(0x100000001b3);
	return hash;
}

static void read_answer(MYSQL_RES *result, struct answer *ret)
{
	unsigned columns = mysql_num_fields(result);
	MYSQL_ROW row;

	for (; (row = mysql_fetch_row(result)); ret->rows++) {
		if (!ret->rows)
			ret->number = row[0] ? strtoll(row[0], NULL, 10) : 0;
		ret->hash += hash_row(row, mysql_fetch_lengths(result), columns);
	}
}

static int failed(struct sqlbench *b, const char *sql)
{
	b->r = error_set(b->err, EIO, "%.80s: %s", sql, mysql_error(b->db));
	return b->r;
}

static int ask(struct sqlbench *b, const char *sql, struct answer *ret)
{
	if (mysql_real_query(b->db, sql, strlen(sql))) {
		ret->refused = mysql_errno(b->db) == ER_DUP_ENTRY;
		return ret->refused ? 0 : failed(b, sql);
	}
	MYSQL_RES *result = mysql_store_result(b->db);
	if (result)
		read_answer(result, ret);
	mysql_free_result(result);
	return mysql_errno(b->db) ? failed(b, sql) : 0;
}

/* --- statements --- */

/* The text of it stays in *ret_sql for messages; the caller frees it. */
attr_printf(3, 0) static struct answer
	statement(struct sqlbench *b, char **ret_sql, const char *fmt, va_list args)
{
	struct answer answer = {0};
	uint64_t start_ns = now_ns();

	if (b->r)
		return answer;
	if (vasprintf(ret_sql, fmt, args) < 0)
		abort();
	if (ask(b, *ret_sql, &answer))
		return answer;
	hist_add(&b->outcome->latency, now_ns() - start_ns);
	b->outcome->operations++;
	b->step->rows += answer.rows;
	b->step->checksum += answer.hash;
	return answer;
}

attr_printf(3, 4) static void wrong(struct sqlbench *b, const char *sql, const char *fmt, ...)
{
	char what[80];
	va_list args;

	if (b->r)
		return;
	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	b->r = error_set(b->err, EIO, "wrong answer: '%.80s' yields %s", sql, what);
}

uint64_t sqlbench_do(struct sqlbench *b, const char *fmt, ...)
{
	auto_free char *sql = NULL;
	va_list args;

	va_start(args, fmt);
	struct answer answer = statement(b, &sql, fmt, args);
	va_end(args);
	if (answer.refused)
		failed(b, sql);
	return answer.rows;
}

void sqlbench_rows(struct sqlbench *b, uint64_t want, const char *fmt, ...)
{
	auto_free char *sql = NULL;
	va_list args;

	va_start(args, fmt);
	struct answer answer = statement(b, &sql, fmt, args);
	va_end(args);
	if (answer.rows != want)
		wrong(b, sql, "%" PRIu64 " rows, not %" PRIu64, answer.rows, want);
}

void sqlbench_number(struct sqlbench *b, int64_t want, const char *fmt, ...)
{
	auto_free char *sql = NULL;
	va_list args;

	va_start(args, fmt);
	struct answer answer = statement(b, &sql, fmt, args);
	va_end(args);
	if (answer.rows != 1)
		wrong(b, sql, "%" PRIu64 " rows, not 1", answer.rows);
	else if (answer.number != want)
		wrong(b, sql, "%" PRId64 ", not %" PRId64, answer.number, want);
}

void sqlbench_duplicate(struct sqlbench *b, const char *fmt, ...)
{
	auto_free char *sql = NULL;
	va_list args;

	va_start(args, fmt);
	struct answer answer = statement(b, &sql, fmt, args);
	va_end(args);
	if (!answer.refused)
		wrong(b, sql, "a second row with the same key");
}

void sqlbench_open(struct sqlbench *b)
{
	if (!b->r)
		b->r = mydb_connect(b->my, "test", &b->db, b->err);
}

void sqlbench_close(struct sqlbench *b)
{
	mydb_cleanup_db(&b->db);
	b->db = NULL;
}

/* --- values --- */

uint64_t *sqlbench_shuffled(struct sqlbench *b, uint64_t count)
{
	uint64_t *list = ALLOC_ARRAY(uint64_t, max_u64(count, 1));

	for (uint64_t i = 0; i < count; i++) {
		uint64_t other = rng_below(&b->rng, i + 1);
		list[i] = list[other];
		list[other] = i;
	}
	return list;
}

void sqlbench_put(struct bytes *to, const char *fmt, ...)
{
	auto_free char *text = NULL;
	va_list args;

	va_start(args, fmt);
	int size = vasprintf(&text, fmt, args);
	va_end(args);
	if (size < 0)
		abort();
	put_bytes(to, text, (size_t)size);
}

char *sqlbench_list(const char *head, uint64_t first, uint64_t count, const char *tail)
{
	struct bytes text = {0};

	for (uint64_t i = first; i < first + count; i++)
		sqlbench_put(&text, "%s%s%" PRIu64 "%s", i > first ? ", " : "", head, i, tail);
	put_u8(&text, 0);
	return (char *)text.data;
}

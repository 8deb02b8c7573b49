/* SPDX-License-Identifier: MIT */
/*
 * tpch-answers THOUSANDTHS SEED (validation|drawn): what SQLite answers to the 22 queries on the
 * same rows, one line each: name, rows, checksum, as a results file has them. A second opinion on
 * PostgreSQL's answers.
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "tpch-sql.h"
#include "vec.h"

static void must(sqlite3 *db, int status, const char *what)
{
	if (status == SQLITE_OK || status == SQLITE_DONE || status == SQLITE_ROW)
		return;
	fprintf(stderr, "tpch-answers: %s: %s\n", what, sqlite3_errmsg(db));
	exit(1);
}

static void exec(sqlite3 *db, const char *sql)
{
	must(db, sqlite3_exec(db, sql, NULL, NULL, NULL), sql);
}

/* A line of the generator into the columns of `insert`. */
static void insert_line(sqlite3 *db, sqlite3_stmt *insert, char *line)
{
	char *cell;

	for (int i = 1; (cell = strsep(&line, "\t")); i++)
		must(db, sqlite3_bind_text(insert, i, cell, -1, SQLITE_TRANSIENT), "bind");
	must(db, sqlite3_step(insert), "insert");
	sqlite3_reset(insert);
}

static void insert_unit(sqlite3 *db, sqlite3_stmt *insert, char *text)
{
	char *line;

	while ((line = strsep(&text, "\n")) && *line)
		insert_line(db, insert, line);
}

static void load_table(sqlite3 *db, const struct tpch *t, enum tpch_table table)
{
	static const int columns[] = {3, 4, 7, 8, 9, 5, 9, 16};
	static const char marks[] = "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?";
	auto_free char *sql = xasprintf("insert into %s values (%.*s)", tpch_table_names[table],
		2 * columns[table] - 1, marks);
	sqlite3_stmt *insert = NULL;
	char unit[TPCH_UNIT_MAX + 1];

	exec(db, tpch_schema[table]);
	must(db, sqlite3_prepare_v2(db, sql, -1, &insert, NULL), sql);
	for (uint64_t i = 0; i < tpch_units(t, table); i++) {
		unit[tpch_unit(t, table, i, unit)] = '\0';
		insert_unit(db, insert, unit);
	}
	sqlite3_finalize(insert);
}

static void load(sqlite3 *db, const struct tpch *t)
{
	exec(db, "pragma case_sensitive_like = on");
	exec(db, "begin");
	for (unsigned table = 0; table < TPCH_TABLES; table++)
		load_table(db, t, table);
	for (unsigned i = 0; tpch_primary_keys[i]; i++) {
		auto_free char *sql =
			xasprintf("create unique index key%u on %s", i, tpch_primary_keys[i]);
		exec(db, sql);
	}
	for (unsigned i = 0; tpch_indexes[i]; i++)
		exec(db, tpch_indexes[i]);
	exec(db, "commit");
	exec(db, "analyze");
}

/* "extract(year from x)" as SQLite has it. Caller frees. */
static char *translate(const char *sql)
{
	static const char from[] = "extract(year from ";
	char *text = xstrdup(sql), *at;

	while ((at = strstr(text, from))) {
		const char *column = at + strlen(from);
		int size = (int)strcspn(column, ")");
		char *next = xasprintf("%.*scast(substr(%.*s, 1, 4) as integer)%s",
			(int)(at - text), text, size, column, column + size + 1);
		free(text);
		text = next;
	}
	return text;
}

static void answer(sqlite3 *db, const struct tpch *t, unsigned number, bool drawn)
{
	auto_free char *theirs = tpch_query(t, number, drawn);
	auto_free char *sql = translate(theirs);
	struct tpch_answer a = {0};
	sqlite3_stmt *query = NULL;
	int status;

	must(db, sqlite3_prepare_v2(db, sql, -1, &query, NULL), sql);
	while ((status = sqlite3_step(query)) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(query); i++)
			tpch_answer_cell(&a, (const char *)sqlite3_column_text(query, i));
		tpch_answer_row(&a);
	}
	must(db, status, sql);
	sqlite3_finalize(query);
	printf("q%u %" PRIu64 " %016" PRIx64 "\n", number, a.rows, a.checksum);
}

int main(int argc, char **argv)
{
	auto_tpch struct tpch t = {0};
	sqlite3 *db = NULL;

	if (argc != 4) {
		fprintf(stderr, "usage: tpch-answers THOUSANDTHS SEED (validation|drawn)\n");
		return 2;
	}
	tpch_init(&t, strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
	must(db, sqlite3_open(":memory:", &db), "open");
	load(db, &t);
	for (unsigned i = 1; i <= TPCH_QUERIES; i++)
		answer(db, &t, i, !strcmp(argv[3], "drawn"));
	sqlite3_close(db);
	return 0;
}

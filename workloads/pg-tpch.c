/* SPDX-License-Identifier: MIT */
/*
 * TPC-H on PostgreSQL: load, keys, indexes, statistics, 22 queries, one after the other and each
 * timed by itself.
 *
 * Rows are made while they are loaded, so that nothing is read but the database. Between loading
 * and asking the server is started anew, and the kernel forgets what it holds of its files, or the
 * queries would read nothing from the device. What would let two runs take different paths is off:
 * parallel workers, the compiler for expressions, scans that start where another one is.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "all.h"
#include "bytes.h"
#include "cleanup.h"
#include "clock.h"
#include "postgres.h"
#include "tpch-sql.h"
#include "vec.h"

#define COPY_CHUNK (256 << 10)

/* Smaller files are not worth an open() to drop them from the cache. */
#define SMALLEST_DROPPED (64 << 10)

/* What PostgreSQL calls the end of a statement by statement_timeout. */
#define SQLSTATE_CANCELED "57014"

enum part { PART_LOAD = 1, PART_QUERIES = 2 };

struct settings {
	uint64_t scale, seed, queries, timeout;
	unsigned part, parameters, cache;
	struct postgres_settings db;
};

static const char *const parts[] = {"all", "load", "queries", NULL};
static const unsigned part_sets[] = {PART_LOAD | PART_QUERIES, PART_LOAD, PART_QUERIES};
static const char *const parameter_names[] = {"validation", "drawn", NULL};
static const char *const caches[] = {"drop", "keep", NULL};

static const struct param params[] = {
	{"scale", PARAM_MILLI, offsetof(struct settings, scale), "0.01", 1, 100000, NULL,
		"scale factor; 1 is 1 GB of text"},
	{"part", PARAM_CHOICE, offsetof(struct settings, part), "all", 0, 0, parts,
		"what is run and timed; before queries alone, the database is prepared"},
	{"queries", PARAM_SET, offsetof(struct settings, queries), "all", 1, TPCH_QUERIES, NULL,
		"which of the 22"},
	{"timeout", PARAM_MILLI, offsetof(struct settings, timeout), "600", 0, 1000000000, NULL,
		"seconds after which a query is given up; 0 = never"},
	{"parameters", PARAM_CHOICE, offsetof(struct settings, parameters), "validation", 0, 0,
		parameter_names, "of the queries: those that validate, or drawn by the seed"},
	{"cache", PARAM_CHOICE, offsetof(struct settings, cache), "drop", 0, 0, caches,
		"the database's files, between load and queries"},
	{"seed", PARAM_NUMBER, offsetof(struct settings, seed), "1", 0, 0, NULL,
		"of the generator of the data"},
	POSTGRES_PARAMS(struct settings),
};

static const char *const server_settings[] = {
	"default_statistics_target=1000",
	"jit=off",
	"max_parallel_workers_per_gather=0",
	"max_parallel_maintenance_workers=0",
	"synchronize_seqscans=off",
	NULL,
};

struct work {
	const struct settings *s;
	struct tpch data;
	struct postgres pg;
	PGconn *db;
	struct outcome *out; /* NULL where nothing is timed */
	struct outcome_step *step;
	uint64_t step_start_ns, query_ns;
	struct bytes chunk;
};

static void work_init(struct work *ret, const struct settings *s, struct outcome *out)
{
	*ret = (struct work){.s = s, .out = out};
	tpch_init(&ret->data, s->scale, s->seed);
}

static void work_done(struct work *w)
{
	PQfinish(w->db);
	postgres_done(&w->pg);
	tpch_done(&w->data);
	bytes_free(&w->chunk);
}
#define auto_work __attribute__((cleanup(work_done)))

/* --- steps --- */

static void step_begin(struct work *w, const char *name)
{
	if (w->out)
		w->step = outcome_step(w->out, w->pg.server.data_dir, name);
	w->step_start_ns = now_ns();
}

static void step_end(struct work *w)
{
	uint64_t took_ns = now_ns() - w->step_start_ns;

	if (!w->out)
		return;
	w->step->elapsed_ns = took_ns;
	hist_add(&w->out->latency, took_ns);
	w->out->operations++;
}

/* --- the server --- */

static int start(struct work *w, bool durable, struct error *err)
{
	int r = postgres_start(&w->pg, durable, err);

	return r ? r : postgres_connect(&w->pg, &w->db, err);
}

static int stop(struct work *w, struct error *err)
{
	PQfinish(w->db);
	w->db = NULL;
	return postgres_stop(&w->pg, err);
}

static int drop_file(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)where;
	if (type != FTW_F || st->st_size < SMALLEST_DROPPED)
		return 0;
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? errno : posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

/* While the server is down, and its last checkpoint has made every page clean. */
static void drop_cache(struct work *w)
{
	enum { DESCRIPTORS = 16 };
	int r = 0;

	if (w->s->cache)
		return;
	r = nftw(w->pg.server.data_dir, drop_file, DESCRIPTORS, FTW_PHYS);
	if (r && w->step)
		snprintf(w->step->note, sizeof(w->step->note), "the cache was not dropped: %s",
			strerror(r < 0 ? errno : r));
}

static int restart(struct work *w, struct error *err)
{
	step_begin(w, "restart");
	int r = stop(w, err);
	if (!r)
		drop_cache(w);
	if (!r)
		r = start(w, true, err);
	step_end(w);
	return r;
}

/* --- load --- */

static int send_chunk(struct work *w, struct error *err)
{
	int sent = PQputCopyData(w->db, (const char *)w->chunk.data, (int)w->chunk.size);

	w->chunk.size = 0;
	return sent == 1 ? 0 : postgres_fail(w->db, "copy", err);
}

static int send_rows(struct work *w, enum tpch_table table, struct error *err)
{
	uint64_t count = tpch_units(&w->data, table);
	int r = 0;

	for (uint64_t i = 0; i < count && !r; i++) {
		bytes_reserve(&w->chunk, TPCH_UNIT_MAX);
		w->chunk.size +=
			tpch_unit(&w->data, table, i, (char *)w->chunk.data + w->chunk.size);
		if (w->chunk.size >= COPY_CHUNK)
			r = send_chunk(w, err);
	}
	return r ? r : send_chunk(w, err);
}

/* After the last row has gone one way or the other: did all of it succeed? */
static int end_copy(struct work *w, struct error *err)
{
	int r = 0;

	for (PGresult *result; (result = PQgetResult(w->db)); PQclear(result))
		if (!r && PQresultStatus(result) != PGRES_COMMAND_OK)
			r = postgres_fail(w->db, "copy", err);
	return r;
}

static int load_table(struct work *w, enum tpch_table table, struct error *err)
{
	auto_free char *name = xasprintf("load %s", tpch_table_names[table]);
	auto_free char *copy = xasprintf("copy %s from stdin", tpch_table_names[table]);

	step_begin(w, name);
	int r = postgres_exec(w->db, tpch_schema[table], err);
	if (!r)
		r = postgres_copy(w->db, copy, PGRES_COPY_IN, err);
	if (!r)
		r = send_rows(w, table, err);
	if (!r && PQputCopyEnd(w->db, NULL) != 1)
		r = postgres_fail(w->db, copy, err);
	if (!r)
		r = end_copy(w, err);
	step_end(w);
	return r;
}

static int load_tables(struct work *w, struct error *err)
{
	int r = 0;

	for (unsigned table = 0; table < TPCH_TABLES && !r; table++)
		r = load_table(w, table, err);
	if (r)
		return r;
	step_begin(w, "load checkpoint");
	r = postgres_exec(w->db, "checkpoint", err);
	step_end(w);
	return r;
}

/* "alter table nation add foreign key (n_regionkey) references region" */
static int add_key(struct work *w, const char *kind, const char *key, struct error *err)
{
	int table = (int)strcspn(key, " ");
	const char *columns = key + table + 1;
	int size = (int)strcspn(columns, ")") + 1;
	const char *other = columns + size;
	auto_free char *sql = xasprintf("alter table %.*s add %s key %.*s%s%s", table, key, kind,
		size, columns, *other ? " references" : "", other);

	return postgres_exec(w->db, sql, err);
}

static int make_keys(struct work *w, struct error *err)
{
	int r = 0;

	for (unsigned i = 0; tpch_primary_keys[i] && !r; i++)
		r = add_key(w, "primary", tpch_primary_keys[i], err);
	for (unsigned i = 0; tpch_foreign_keys[i] && !r; i++)
		r = add_key(w, "foreign", tpch_foreign_keys[i], err);
	return r ? r : postgres_exec(w->db, "checkpoint", err);
}

static int make_indexes(struct work *w, struct error *err)
{
	int r = 0;

	for (unsigned i = 0; tpch_indexes[i] && !r; i++)
		r = postgres_exec(w->db, tpch_indexes[i], err);
	return r ? r : postgres_exec(w->db, "checkpoint", err);
}

static int analyze(struct work *w, struct error *err)
{
	return postgres_exec(w->db, "analyze", err);
}

static const struct {
	const char *name;
	int (*make)(struct work *w, struct error *err);
} load_steps[] = {{"keys", make_keys}, {"indexes", make_indexes}, {"analyze", analyze}};

static int load(struct work *w, struct error *err)
{
	int r = load_tables(w, err);

	for (size_t i = 0; i < ARRAY_SIZE(load_steps) && !r; i++) {
		step_begin(w, load_steps[i].name);
		r = load_steps[i].make(w, err);
		step_end(w);
	}
	return r;
}

/* --- queries --- */

static void keep_answer(struct outcome_step *step, const PGresult *result)
{
	struct tpch_answer answer = {0};

	for (int row = 0; row < PQntuples(result); row++) {
		for (int column = 0; column < PQnfields(result); column++)
			tpch_answer_cell(&answer, PQgetisnull(result, row, column)
							  ? NULL
							  : PQgetvalue(result, row, column));
		tpch_answer_row(&answer);
	}
	step->rows = answer.rows;
	step->checksum = answer.checksum;
}

/* How the server goes about it, without its guesses of costs. */
static int keep_plan(struct work *w, const char *query, struct error *err)
{
	auto_free char *sql = xasprintf("explain (costs off) %s", query);
	PGresult *plan = PQexec(w->db, sql);
	uint64_t hash = TPCH_HASH;
	int r = 0;

	if (PQresultStatus(plan) != PGRES_TUPLES_OK)
		r = postgres_fail(w->db, "explain", err);
	for (int i = 0; i < PQntuples(plan); i++)
		hash = tpch_hash(tpch_hash(hash, PQgetvalue(plan, i, 0)), "\n");
	PQclear(plan);
	w->step->plan = hash;
	return r;
}

/* The answer, or that there is none in time. */
static int keep_result(struct work *w, const PGresult *result, const char *name, struct error *err)
{
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	if (PQresultStatus(result) == PGRES_TUPLES_OK)
		keep_answer(w->step, result);
	else if (state && !strcmp(state, SQLSTATE_CANCELED))
		snprintf(w->step->unfinished, sizeof(w->step->unfinished), "timeout after %g s",
			(double)w->s->timeout / 1000);
	else
		return postgres_fail(w->db, name, err);
	return 0;
}

static int set_timeout(struct work *w, uint64_t ms, struct error *err)
{
	auto_free char *sql = xasprintf("set statement_timeout = %" PRIu64, ms);

	return postgres_exec(w->db, sql, err);
}

static int run_query(struct work *w, unsigned number, struct error *err)
{
	auto_free char *sql = tpch_query(&w->data, number, w->s->parameters);
	auto_free char *name = xasprintf("q%u", number);
	int r = set_timeout(w, w->s->timeout, err);

	if (r)
		return r;
	step_begin(w, name);
	PGresult *result = PQexec(w->db, sql);
	step_end(w);
	w->query_ns += w->step->elapsed_ns;
	r = keep_result(w, result, name, err);
	PQclear(result);
	if (!r)
		r = set_timeout(w, 0, err);
	return r ? r : keep_plan(w, sql, err);
}

static int run_queries(struct work *w, struct error *err)
{
	int r = 0;

	for (unsigned i = 1; i <= TPCH_QUERIES && !r; i++)
		if (w->s->queries >> i & 1)
			r = run_query(w, i, err);
	return r;
}

/* --- the three parts --- */

static int tpch_prepare(const void *settings, const char *dir, struct error *err)
{
	const struct settings *s = settings;
	bool loaded = !(part_sets[s->part] & PART_LOAD);
	auto_work struct work w;

	work_init(&w, s, NULL);
	int r = postgres_create(&w.pg, dir, &s->db, err);
	w.pg.more = server_settings;
	if (r || !loaded)
		return r;
	r = start(&w, false, err);
	if (!r)
		r = load(&w, err);
	return r ? r : stop(&w, err);
}

static int run_parts(struct work *w, struct error *err)
{
	unsigned set = part_sets[w->s->part];

	step_begin(w, "start");
	int r = start(w, true, err);
	step_end(w);
	if (!r && set & PART_LOAD)
		r = load(w, err);
	if (!r && set == (PART_LOAD | PART_QUERIES))
		r = restart(w, err);
	if (!r && set & PART_QUERIES)
		r = run_queries(w, err);
	if (r)
		return server_blame(&w->pg.server, err);
	step_begin(w, "stop");
	r = stop(w, err);
	step_end(w);
	return r;
}

/* Queries per hour; without queries, how often an hour would do for the loading. */
static void set_metric(struct outcome *o, const struct work *w)
{
	bool queries = part_sets[w->s->part] & PART_QUERIES;
	uint64_t ns = queries ? w->query_ns : o->elapsed_ns;
	int count = queries ? __builtin_popcountll(w->s->queries) : 1;

	snprintf(o->metric_name, sizeof(o->metric_name), queries ? "qph" : "lph");
	snprintf(o->metric_unit, sizeof(o->metric_unit), queries ? "queries/h" : "loads/h");
	o->metric_value = count * 3600 * (double)NSEC_PER_SEC / (double)max_u64(ns, 1);
}

static uint64_t planned_steps(const struct settings *s)
{
	unsigned set = part_sets[s->part];

	return 2 + (set & PART_LOAD ? TPCH_TABLES + 1 + ARRAY_SIZE(load_steps) : 0) +
	       (set & PART_QUERIES ? (uint64_t)__builtin_popcountll(s->queries) : 0) +
	       (set == (PART_LOAD | PART_QUERIES));
}

static int tpch_run(const void *settings, const char *dir, struct outcome *ret, struct error *err)
{
	const struct settings *s = settings;
	auto_work struct work w;

	*ret = (struct outcome){.planned = planned_steps(s)};
	work_init(&w, s, ret);
	uint64_t start_ns = now_ns();
	int r = postgres_attach(&w.pg, dir, &s->db, 1, err);
	w.pg.more = server_settings;
	if (!r)
		r = run_parts(&w, err);
	ret->elapsed_ns = now_ns() - start_ns;
	set_metric(ret, &w);
	return r;
}

/* --- check --- */

/* Columns of type char(n) come back with blanks at their end. Returns the new size. */
static size_t strip_blanks(char *row, size_t size)
{
	char *to = row;

	for (size_t i = 0; i < size; i++) {
		if (row[i] == '\t' || row[i] == '\n')
			while (to > row && to[-1] == ' ')
				to--;
		*to++ = row[i];
	}
	return (size_t)(to - row);
}

/* How many lines, and the sum of their hashes: a heap does not keep the order of its rows. */
struct lines {
	uint64_t count, sum;
};

static void add_line(struct lines *l, char *text, size_t size)
{
	text[size - 1] = '\0';
	l->count++;
	l->sum += tpch_hash(TPCH_HASH, text);
}

static void made_lines(const struct work *w, enum tpch_table table, struct lines *ret)
{
	char unit[TPCH_UNIT_MAX];

	for (uint64_t i = 0; i < tpch_units(&w->data, table); i++) {
		char *end = unit + tpch_unit(&w->data, table, i, unit);
		for (char *at = unit, *next; at < end; at = next) {
			next = (char *)memchr(at, '\n', (size_t)(end - at)) + 1;
			add_line(ret, at, (size_t)(next - at));
		}
	}
}

static int stored_lines(struct work *w, struct lines *ret, struct error *err)
{
	char *row = NULL;
	int size;

	while ((size = PQgetCopyData(w->db, &row, 0)) > 0) {
		add_line(ret, row, strip_blanks(row, (size_t)size));
		PQfreemem(row);
	}
	return size == -1 ? end_copy(w, err) : postgres_fail(w->db, "copy", err);
}

/* Everything that was loaded is there, and as it was. */
static int check_table(struct work *w, enum tpch_table table, struct error *err)
{
	const char *name = tpch_table_names[table];
	auto_free char *copy = xasprintf("copy %s to stdout", name);
	struct lines want = {0}, got = {0};
	int r = postgres_copy(w->db, copy, PGRES_COPY_OUT, err);

	if (!r)
		r = stored_lines(w, &got, err);
	made_lines(w, table, &want);
	if (!r && got.count != want.count)
		r = error_set(err, EIO, "%s has %" PRIu64 " rows instead of %" PRIu64, name,
			got.count, want.count);
	if (!r && got.sum != want.sum)
		r = error_set(err, EIO, "the rows of %s are not those that were loaded", name);
	return r;
}

static int tpch_check(const void *settings, const char *dir, struct error *err)
{
	const struct settings *s = settings;
	auto_work struct work w;

	work_init(&w, s, NULL);
	int r = postgres_attach(&w.pg, dir, &s->db, 1, err);
	w.pg.more = server_settings;
	if (!r)
		r = start(&w, true, err);
	for (unsigned table = 0; table < TPCH_TABLES && !r; table++)
		r = check_table(&w, table, err);
	if (!r)
		r = postgres_integrity(w.db, err);
	return r ? r : stop(&w, err);
}

const struct workload workload_pg_tpch = {
	.name = "pg-tpch",
	.summary = "a warehouse on PostgreSQL (TPC-H): load, keys, indexes, 22 queries",
	.params = params,
	.param_count = ARRAY_SIZE(params),
	.settings_size = sizeof(struct settings),
	.prepare = tpch_prepare,
	.run = tpch_run,
	.check = tpch_check,
};

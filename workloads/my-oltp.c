/* SPDX-License-Identifier: MIT */
/*
 * The transaction of sysbench's OLTP test on MariaDB or MySQL: point and range selects, two
 * updates, and a row deleted and inserted again. Which rows follows from the seed alone.
 *
 * Engines without transactions lock the table instead, as sysbench did when they were common. A
 * deadlock rolls a transaction back; the same one is tried again.
 *
 * The run is the server's start, the clients and the server's end, because all of it is in a
 * capture; its metric counts the clients' part alone. An orderly end writes and syncs what InnoDB
 * has in memory; MyISAM never syncs its data.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "all.h"
#include "cleanup.h"
#include "clock.h"
#include "crew.h"
#include "mydb.h"
#include "rng.h"
#include "sbtest.h"
#include "vec.h"

#define POINT_SELECTS 10
#define MAX_TRIES     1000

enum mode { MODE_READ_WRITE, MODE_READ_ONLY, MODE_WRITE_ONLY };

struct oltp {
	uint64_t clients, transactions, tables, rows, range, seed;
	unsigned mode;
	struct mydb_settings db;
};

static const char *const modes[] = {
	[MODE_READ_WRITE] = "read-write",
	[MODE_READ_ONLY] = "read-only",
	[MODE_WRITE_ONLY] = "write-only",
	NULL,
};

static const struct param params[] = {
	{"clients", PARAM_NUMBER, offsetof(struct oltp, clients), "1", 1, 1000, NULL,
		"processes, each with a connection"},
	{"transactions", PARAM_NUMBER, offsetof(struct oltp, transactions), "200", 1, 0, NULL,
		"transactions of each client"},
	{"tables", PARAM_NUMBER, offsetof(struct oltp, tables), "1", 1, 1000, NULL,
		"each transaction uses one of them"},
	{"rows", PARAM_NUMBER, offsetof(struct oltp, rows), "10000", 1, 100000000, NULL,
		"of each table"},
	{"range", PARAM_NUMBER, offsetof(struct oltp, range), "100", 1, 100000, NULL,
		"rows of a range select"},
	{"mode", PARAM_CHOICE, offsetof(struct oltp, mode), "read-write", 0, 0, modes,
		"which statements of a transaction are run"},
	{"seed", PARAM_NUMBER, offsetof(struct oltp, seed), "1", 0, 0, NULL,
		"of the generator that chooses rows and values"},
	MYDB_PARAMS(struct oltp),
};

/* What a run hands to its clients. */
struct job {
	const struct oltp *settings;
	const struct mydb *my;
};

static bool is_transactional(const struct oltp *s)
{
	switch ((enum mydb_engine)s->db.engine) {
	case MYDB_INNODB:
	case MYDB_ROCKSDB:
		return true;
	case MYDB_MYISAM:
	case MYDB_ARIA:
		return false;
	}
	return false;
}

/* --- prepare --- */

static int load(
	const void *settings, const struct mydb *my, MYSQL *db, const char *dir, struct error *err)
{
	const struct oltp *s = settings;
	int r = mydb_exec(db, "create database test", err);

	if (!r)
		r = mydb_exec(db, "use test", err);
	for (uint64_t i = 1; i <= s->tables && !r; i++)
		r = sbtest_make(db, i, mydb_engines[s->db.engine], s->rows, s->seed, err);
	return r;
}

static int oltp_prepare(const void *settings, const char *dir, struct error *err)
{
	const struct oltp *s = settings;

	return mydb_prepare(dir, &s->db, load, s, err);
}

/* --- run --- */

/* A transaction under way. The first error stays, and nothing more is sent. */
struct turn {
	const struct oltp *settings;
	MYSQL *db;
	struct rng rng;
	uint64_t table;
	int r;
	struct error *err;
};

attr_printf(2, 3) static void say(struct turn *t, const char *fmt, ...)
{
	char sql[512];
	va_list args;

	if (t->r)
		return;
	va_start(args, fmt);
	vsnprintf(sql, sizeof(sql), fmt, args);
	va_end(args);
	t->r = mydb_exec(t->db, sql, t->err);
}

static uint64_t random_id(struct turn *t)
{
	return 1 + rng_below(&t->rng, t->settings->rows);
}

static void read_rows(struct turn *t)
{
	static const struct {
		const char *what, *order;
	} ranges[] = {
		{"c", ""},
		{"sum(k)", ""},
		{"c", " order by c"},
		{"distinct c", " order by c"},
	};

	for (unsigned i = 0; i < POINT_SELECTS; i++)
		say(t, "select c from sbtest%" PRIu64 " where id = %" PRIu64, t->table,
			random_id(t));
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		uint64_t id = random_id(t);
		say(t,
			"select %s from sbtest%" PRIu64 " where id between %" PRIu64 " and %" PRIu64
			"%s",
			ranges[i].what, t->table, id, id + t->settings->range - 1, ranges[i].order);
	}
}

static void write_rows(struct turn *t)
{
	uint64_t counted = random_id(t), changed = random_id(t);
	struct sbtest_row row;

	sbtest_random_row(&t->rng, t->settings->rows, &row);
	say(t, "update sbtest%" PRIu64 " set k = k + 1 where id = %" PRIu64, t->table, counted);
	say(t, "update sbtest%" PRIu64 " set c = '%s' where id = %" PRIu64, t->table, row.c,
		changed);
	sbtest_random_row(&t->rng, t->settings->rows, &row);
	say(t, "delete from sbtest%" PRIu64 " where id = %" PRIu64, t->table, row.id);
	say(t, "insert into sbtest%" PRIu64 " values (%" PRIu64 ", %" PRIu64 ", '%s', '%s')",
		t->table, row.id, row.k, row.c, row.pad);
}

static int try_transaction(struct turn *t)
{
	const struct oltp *s = t->settings;
	bool transactional = is_transactional(s);

	t->r = 0;
	t->table = 1 + rng_below(&t->rng, s->tables);
	if (transactional)
		say(t, "begin");
	else
		say(t, "lock tables sbtest%" PRIu64 " %s", t->table,
			s->mode == MODE_READ_ONLY ? "read" : "write");
	if (s->mode != MODE_WRITE_ONLY)
		read_rows(t);
	if (s->mode != MODE_READ_ONLY)
		write_rows(t);
	say(t, transactional ? "commit" : "unlock tables");
	return t->r;
}

static int transaction(struct turn *t)
{
	struct rng start = t->rng;
	int r = try_transaction(t);

	for (unsigned i = 0; i < MAX_TRIES && r == -EAGAIN; i++) {
		mydb_exec(t->db, "rollback", NULL);
		t->rng = start;
		r = try_transaction(t);
	}
	return r;
}

static int client_work(struct client *self, struct error *err)
{
	const struct job *job = self->settings;
	const struct oltp *s = job->settings;
	auto_mysql MYSQL *db = NULL;

	int r = mydb_connect(job->my, "test", &db, err);
	struct turn turn = {.settings = s, .db = db, .err = err};
	rng_init(&turn.rng, s->seed * 1000003 + self->number);
	crew_ready(self);
	for (uint64_t i = 0; i < s->transactions && !r; i++) {
		uint64_t start_ns = now_ns();
		r = transaction(&turn);
		if (r)
			break;
		hist_add(&self->latency, now_ns() - start_ns);
		self->operations++;
	}
	return r;
}

static int oltp_run(const void *settings, const char *dir, struct outcome *ret, struct error *err)
{
	const struct oltp *s = settings;
	auto_mydb struct mydb my = {0};
	const struct job job = {s, &my};
	uint64_t start_ns = now_ns();

	*ret = (struct outcome){
		.planned = s->clients * s->transactions,
		.metric_name = "tps",
		.metric_unit = "transactions/s",
	};
	int r = mydb_attach(&my, dir, &s->db, s->clients, err);
	phase_mark(dir, "start");
	if (!r)
		r = mydb_start(&my, true, err);
	if (!r) {
		r = crew_run(s->clients, &job, dir, client_work, ret, err);
		outcome_rate(ret);
		phase_mark(dir, "stop");
		r = r ? server_blame(&my.server, err) : mydb_stop(&my, err);
	}
	ret->elapsed_ns = now_ns() - start_ns;
	return r;
}

/* --- check --- */

static int check_table(const struct oltp *s, MYSQL *db, uint64_t table, struct error *err)
{
	auto_free char *name = xasprintf("sbtest%" PRIu64, table);
	auto_free char *count =
		xasprintf("select count(*) from %s where id between 1 and %" PRIu64, name, s->rows);
	int64_t rows = 0;
	int r = mydb_check_table(db, name, err);

	if (!r)
		r = mydb_number(db, count, &rows, err);
	if (!r && (uint64_t)rows != s->rows)
		r = error_set(err, EIO, "table %s holds %" PRId64 " of %" PRIu64 " rows", name,
			rows, s->rows);
	return r;
}

static int oltp_check(const void *settings, const char *dir, struct error *err)
{
	const struct oltp *s = settings;
	auto_mydb struct mydb my = {0};
	MYSQL *db = NULL;

	int r = mydb_attach(&my, dir, &s->db, 1, err);
	if (!r)
		r = mydb_start(&my, true, err);
	if (!r)
		r = mydb_connect(&my, "test", &db, err);
	for (uint64_t i = 1; i <= s->tables && !r; i++)
		r = check_table(s, db, i, err);
	mydb_cleanup_db(&db);
	return r ? r : mydb_stop(&my, err);
}

const struct workload workload_my_oltp = {
	.name = "my-oltp",
	.summary = "reads and writes on MariaDB or MySQL, as sysbench's OLTP test",
	.params = params,
	.param_count = ARRAY_SIZE(params),
	.settings_size = sizeof(struct oltp),
	.prepare = oltp_prepare,
	.run = oltp_run,
	.check = oltp_check,
};

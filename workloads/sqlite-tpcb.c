/* SPDX-License-Identifier: MIT */
/*
 * A bank in the manner of TPC-B on SQLite: each transaction moves money on one account, one teller
 * and one branch, and writes it down in the history.
 *
 * Clients are processes with a connection each. Which accounts they touch follows from the seed
 * alone; only the order in which SQLite lets them write does not. A transaction begins with BEGIN
 * IMMEDIATE, because a reader that becomes a writer later can fail without a remedy.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "all.h"
#include "cleanup.h"
#include "clock.h"
#include "crew.h"
#include "rng.h"
#include "sqlite.h"
#include "vec.h"

#define TELLERS_PER_BRANCH 10
#define LARGEST_DELTA      5000

struct tpcb {
	uint64_t clients, transactions, scale, accounts, seed;
	struct sqlite_settings db;
};

static const struct param params[] = {
	{"clients", PARAM_NUMBER, offsetof(struct tpcb, clients), "1", 1, 1000, NULL,
		"processes, each with a connection"},
	{"transactions", PARAM_NUMBER, offsetof(struct tpcb, transactions), "1000", 1, 0, NULL,
		"transactions of each client"},
	{"scale", PARAM_NUMBER, offsetof(struct tpcb, scale), "1", 1, 10000, NULL,
		"branches, with 10 tellers each"},
	{"accounts", PARAM_NUMBER, offsetof(struct tpcb, accounts), "100000", 1, 10000000, NULL,
		"accounts of each branch"},
	{"seed", PARAM_NUMBER, offsetof(struct tpcb, seed), "1", 0, 0, NULL,
		"of the generator that chooses accounts and amounts"},
	SQLITE_PARAMS(struct tpcb),
};

/* clang-format off */
static const char schema[] =
	"create table branches (bid integer primary key, bbalance integer, filler text);"
	"create table tellers (tid integer primary key, bid integer, tbalance integer, filler text);"
	"create table accounts (aid integer primary key, bid integer, abalance integer, filler text);"
	"create table history (tid integer, bid integer, aid integer, delta integer, mtime integer,"
	"	filler text);";

static const char fill[] =
	"with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < %" PRIu64 ")"
	" insert into %s select i, %s 0, printf('%%0%dd', i) from n";

enum { BEGIN, ACCOUNT, BALANCE, TELLER, BRANCH, HISTORY, COMMIT, STATEMENTS };

static const char *const statements[STATEMENTS] = {
	[BEGIN] = "begin immediate",
	[ACCOUNT] = "update accounts set abalance = abalance + ?4 where aid = ?1",
	[BALANCE] = "select abalance from accounts where aid = ?1",
	[TELLER] = "update tellers set tbalance = tbalance + ?4 where tid = ?2",
	[BRANCH] = "update branches set bbalance = bbalance + ?4 where bid = ?3",
	[HISTORY] = "insert into history values (?2, ?3, ?1, ?4, ?5, '0123456789012345678901')",
	[COMMIT] = "commit",
};
/* clang-format on */

static int fill_table(sqlite3 *db, const char *table, uint64_t rows, const char *more_columns,
	int filler, struct error *err)
{
	auto_free char *sql = xasprintf(fill, rows, table, more_columns, filler);

	return sqlite_exec(db, sql, err);
}

static int tpcb_prepare(const void *settings, const char *dir, struct error *err)
{
	const struct tpcb *s = settings;
	auto_sqlite sqlite3 *db = NULL;
	auto_free char *branch_of_account = xasprintf("i / %" PRIu64 ",", s->accounts);
	int r = sqlite_create(&db, &s->db, dir, err);

	if (!r)
		r = sqlite_exec(db, "begin", err);
	if (!r)
		r = sqlite_exec(db, schema, err);
	if (!r)
		r = fill_table(db, "branches", s->scale, "", 88, err);
	if (!r)
		r = fill_table(db, "tellers", s->scale * TELLERS_PER_BRANCH, "i / 10,", 84, err);
	if (!r)
		r = fill_table(db, "accounts", s->scale * s->accounts, branch_of_account, 84, err);
	return r ? r : sqlite_exec(db, "commit", err);
}

static int transaction(sqlite3_stmt *const stmts[], const struct tpcb *s, struct rng *rng,
	uint64_t number, struct error *err)
{
	const int64_t values[] = {
		(int64_t)rng_below(rng, s->scale * s->accounts),
		(int64_t)rng_below(rng, s->scale * TELLERS_PER_BRANCH),
		(int64_t)rng_below(rng, s->scale),
		(int64_t)rng_below(rng, 2 * LARGEST_DELTA + 1) - LARGEST_DELTA,
		(int64_t)number,
	};

	for (unsigned i = 0; i < STATEMENTS; i++) {
		int used = sqlite3_bind_parameter_count(stmts[i]);
		int r = sqlite_run(stmts[i], values, used, err);
		if (r)
			return r;
	}
	return 0;
}

static int transactions(
	struct client *self, sqlite3 *db, sqlite3_stmt *const stmts[], struct error *err)
{
	const struct tpcb *s = self->settings;
	struct rng rng;

	rng_init(&rng, s->seed * 1000003 + self->number);
	crew_ready(self);
	for (uint64_t i = 0; i < s->transactions; i++) {
		uint64_t start_ns = now_ns();
		int r = transaction(stmts, s, &rng, i, err);
		if (r && r != -EBUSY)
			return r;
		if (r) {
			self->failures++;
			sqlite3_exec(db, "rollback", NULL, NULL, NULL);
			continue;
		}
		hist_add(&self->latency, now_ns() - start_ns);
		self->operations++;
	}
	return 0;
}

static int client_work(struct client *self, struct error *err)
{
	const struct tpcb *s = self->settings;
	auto_sqlite sqlite3 *db = NULL;
	sqlite3_stmt *stmts[STATEMENTS] = {0};
	int r = sqlite_open(&db, &s->db, self->dir, err);

	for (unsigned i = 0; i < STATEMENTS && !r; i++)
		r = sqlite_prepare(db, statements[i], &stmts[i], err);
	if (!r)
		r = transactions(self, db, stmts, err);
	for (unsigned i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(stmts[i]);
	return r;
}

static int tpcb_run(const void *settings, const char *dir, struct outcome *ret, struct error *err)
{
	const struct tpcb *s = settings;

	*ret = (struct outcome){
		.planned = s->clients * s->transactions,
		.metric_name = "tps",
		.metric_unit = "transactions/s",
	};
	int r = crew_run(s->clients, s, dir, client_work, ret, err);
	outcome_rate(ret);
	return r;
}

/* Money is neither made nor lost, and every transaction is in the history once. */
static int tpcb_check(const void *settings, const char *dir, struct error *err)
{
	static const char *const sums[] = {
		"select coalesce(sum(delta), 0) from history",
		"select sum(abalance) from accounts",
		"select sum(tbalance) from tellers",
		"select sum(bbalance) from branches",
	};
	const struct tpcb *s = settings;
	auto_sqlite sqlite3 *db = NULL;
	int64_t sum[ARRAY_SIZE(sums)], rows = 0;

	int r = sqlite_open(&db, &s->db, dir, err);
	if (!r)
		r = sqlite_integrity(db, err);
	for (size_t i = 0; i < ARRAY_SIZE(sums) && !r; i++)
		r = sqlite_number(db, sums[i], &sum[i], err);
	if (!r)
		r = sqlite_number(db, "select count(*) from history", &rows, err);
	for (size_t i = 1; i < ARRAY_SIZE(sums) && !r; i++)
		if (sum[i] != sum[0])
			r = error_set(err, EIO,
				"the bank does not balance: '%s' is %" PRId64
				", the history says %" PRId64,
				sums[i], sum[i], sum[0]);
	if (!r && (uint64_t)rows != s->clients * s->transactions)
		r = error_set(err, EIO, "the history holds %" PRId64 " of %" PRIu64 " transactions",
			rows, s->clients * s->transactions);
	return r;
}

const struct workload workload_sqlite_tpcb = {
	.name = "sqlite-tpcb",
	.summary = "a bank on SQLite (TPC-B): short transactions, each made durable",
	.params = params,
	.param_count = ARRAY_SIZE(params),
	.settings_size = sizeof(struct tpcb),
	.prepare = tpcb_prepare,
	.run = tpcb_run,
	.check = tpcb_check,
};

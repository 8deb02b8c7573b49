/* SPDX-License-Identifier: MIT */
/*
 * pgbench's TPC-B on PostgreSQL: same tables, statements and protocol, but a fixed seed and a fixed
 * number of transactions, so that pgbench itself can run on the same data.
 *
 * The run is the server's start, a checkpoint, the clients, a checkpoint and the server's end,
 * because all of it is in a capture; its metric counts the clients' part alone.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "all.h"
#include "cleanup.h"
#include "clock.h"
#include "crew.h"
#include "postgres.h"
#include "rng.h"
#include "vec.h"

#define TELLERS_PER_BRANCH 10
#define LARGEST_DELTA      5000

enum mode { MODE_TPCB, MODE_SIMPLE_UPDATE, MODE_SELECT_ONLY };

struct tpcb {
	uint64_t clients, transactions, scale, accounts, seed;
	unsigned mode;
	struct postgres_settings db;
};

static const char *const modes[] = {
	[MODE_TPCB] = "tpcb",
	[MODE_SIMPLE_UPDATE] = "simple-update",
	[MODE_SELECT_ONLY] = "select-only",
	NULL,
};

static const struct param params[] = {
	{"clients", PARAM_NUMBER, offsetof(struct tpcb, clients), "1", 1, 1000, NULL,
		"processes, each with a connection"},
	{"transactions", PARAM_NUMBER, offsetof(struct tpcb, transactions), "1000", 1, 0, NULL,
		"transactions of each client"},
	{"scale", PARAM_NUMBER, offsetof(struct tpcb, scale), "1", 1, 10000, NULL,
		"branches, with 10 tellers each"},
	{"accounts", PARAM_NUMBER, offsetof(struct tpcb, accounts), "100000", 1, 100000, NULL,
		"accounts of each branch"},
	{"mode", PARAM_CHOICE, offsetof(struct tpcb, mode), "tpcb", 0, 0, modes,
		"the whole transaction, without tellers and branches, or one select"},
	{"seed", PARAM_NUMBER, offsetof(struct tpcb, seed), "1", 0, 0, NULL,
		"of the generator that chooses accounts and amounts"},
	POSTGRES_PARAMS(struct tpcb),
};

/* What a run hands to its clients. */
struct job {
	const struct tpcb *settings;
	const struct postgres *pg;
};

/* --- prepare --- */

/* clang-format off */
static const char schema[] =
	"create table pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));"
	"create table pgbench_tellers (tid int not null, bid int, tbalance int, filler char(84));"
	"create table pgbench_accounts (aid int not null, bid int, abalance int, filler char(84));"
	"create table pgbench_branches (bid int not null, bbalance int, filler char(88));";

static const char fill[] =
	"insert into pgbench_branches select i, 0, null from generate_series(1, %" PRIu64 ") i;"
	"insert into pgbench_tellers select i, (i - 1) / 10 + 1, 0, null from generate_series(1, %" PRIu64 ") i;"
	"insert into pgbench_accounts select i, (i - 1) / %" PRIu64 " + 1, 0, '' from generate_series(1, %" PRIu64 ") i;";

static const char keys[] =
	"alter table pgbench_branches add primary key (bid);"
	"alter table pgbench_tellers add primary key (tid);"
	"alter table pgbench_accounts add primary key (aid);";
/* clang-format on */

static int load(const struct tpcb *s, PGconn *db, struct error *err)
{
	auto_free char *rows = xasprintf(
		fill, s->scale, s->scale * TELLERS_PER_BRANCH, s->accounts, s->scale * s->accounts);
	int r = postgres_exec(db, schema, err);

	if (!r)
		r = postgres_exec(db, rows, err);
	if (!r)
		r = postgres_exec(db, keys, err);
	/* Not in a transaction, so each by itself; hint bits would be set during the run. */
	if (!r)
		r = postgres_exec(db, "vacuum analyze", err);
	return r ? r : postgres_exec(db, "checkpoint", err);
}

static int tpcb_prepare(const void *settings, const char *dir, struct error *err)
{
	const struct tpcb *s = settings;
	auto_postgres struct postgres pg = {0};
	PGconn *db = NULL;

	int r = postgres_create(&pg, dir, &s->db, err);
	if (!r)
		r = postgres_start(&pg, false, err);
	if (!r)
		r = postgres_connect(&pg, &db, err);
	if (!r)
		r = load(s, db, err);
	PQfinish(db);
	return r ? r : postgres_stop(&pg, err);
}

/* --- run --- */

/* pgbench's statements, in its order; each is one round trip. */
static int transaction(PGconn *db, const struct tpcb *s, struct rng *rng, struct error *err)
{
	uint64_t aid = 1 + rng_below(rng, s->scale * s->accounts);
	uint64_t tid = 1 + rng_below(rng, s->scale * TELLERS_PER_BRANCH);
	uint64_t bid = 1 + rng_below(rng, s->scale);
	int64_t delta = (int64_t)rng_below(rng, 2 * LARGEST_DELTA + 1) - LARGEST_DELTA;
	const struct {
		enum mode last; /* the modes from the first to this one have it */
		char *sql;
	} statements[] = {
		{MODE_SIMPLE_UPDATE, xstrdup("begin")},
		{MODE_SIMPLE_UPDATE, xasprintf("update pgbench_accounts set abalance = abalance + "
					       "%" PRId64 " where aid = %" PRIu64,
					     delta, aid)},
		{MODE_SELECT_ONLY,
			xasprintf(
				"select abalance from pgbench_accounts where aid = %" PRIu64, aid)},
		{MODE_TPCB, xasprintf("update pgbench_tellers set tbalance = tbalance + %" PRId64
				      " where tid = %" PRIu64,
				    delta, tid)},
		{MODE_TPCB, xasprintf("update pgbench_branches set bbalance = bbalance + %" PRId64
				      " where bid = %" PRIu64,
				    delta, bid)},
		{MODE_SIMPLE_UPDATE,
			xasprintf("insert into pgbench_history (tid, bid, aid, delta, mtime) "
				  "values (%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRId64
				  ", current_timestamp)",
				tid, bid, aid, delta)},
		{MODE_SIMPLE_UPDATE, xstrdup("end")},
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(statements); i++) {
		if (!r && s->mode <= statements[i].last)
			r = postgres_exec(db, statements[i].sql, err);
		free(statements[i].sql);
	}
	return r;
}

static int client_work(struct client *self, struct error *err)
{
	const struct job *job = self->settings;
	const struct tpcb *s = job->settings;
	auto_pgconn PGconn *db = NULL;
	struct rng rng;

	int r = postgres_connect(job->pg, &db, err);
	rng_init(&rng, s->seed * 1000003 + self->number);
	crew_ready(self);
	for (uint64_t i = 0; i < s->transactions && !r; i++) {
		uint64_t start_ns = now_ns();
		r = transaction(db, s, &rng, err);
		if (r)
			break;
		hist_add(&self->latency, now_ns() - start_ns);
		self->operations++;
	}
	return r;
}

/* Both borders of the clients' part are checkpoints: no page is dirty, and the first change of each
 * is logged in full. */
static int measured_part(
	const struct job *job, const char *dir, struct outcome *ret, struct error *err)
{
	auto_pgconn PGconn *db = NULL;
	int r = postgres_connect(job->pg, &db, err);

	if (!r)
		r = postgres_exec(db, "checkpoint", err);
	if (!r)
		r = crew_run(job->settings->clients, job, dir, client_work, ret, err);
	outcome_rate(ret);
	phase_mark(dir, "checkpoint");
	return r ? r : postgres_exec(db, "checkpoint", err);
}

static int tpcb_run(const void *settings, const char *dir, struct outcome *ret, struct error *err)
{
	const struct tpcb *s = settings;
	auto_postgres struct postgres pg = {0};
	const struct job job = {s, &pg};
	uint64_t start_ns = now_ns();

	*ret = (struct outcome){
		.planned = s->clients * s->transactions,
		.metric_name = "tps",
		.metric_unit = "transactions/s",
	};
	int r = postgres_attach(&pg, dir, &s->db, s->clients, err);
	phase_mark(dir, "start");
	if (!r)
		r = postgres_start(&pg, true, err);
	if (!r) {
		r = measured_part(&job, dir, ret, err);
		phase_mark(dir, "stop");
		r = r ? server_blame(&pg.server, err) : postgres_stop(&pg, err);
	}
	ret->elapsed_ns = now_ns() - start_ns;
	return r;
}

/* --- check --- */

/* Money is neither made nor lost, and every transaction is in the history once. */
static int check_bank(const struct tpcb *s, PGconn *db, struct error *err)
{
	static const char *const sums[] = {
		"select coalesce(sum(delta), 0) from pgbench_history",
		"select sum(abalance) from pgbench_accounts",
		"select sum(tbalance) from pgbench_tellers",
		"select sum(bbalance) from pgbench_branches",
	};
	uint64_t planned = s->mode == MODE_SELECT_ONLY ? 0 : s->clients * s->transactions;
	int64_t history = 0, sum = 0, rows = 0;
	int r = postgres_number(db, sums[0], &history, err);

	for (size_t i = 1; i < ARRAY_SIZE(sums) && !r; i++) {
		int64_t want = i == 1 || s->mode == MODE_TPCB ? history : 0;
		r = postgres_number(db, sums[i], &sum, err);
		if (!r && sum != want)
			r = error_set(err, EIO,
				"the bank does not balance: '%s' is %" PRId64
				" instead of %" PRId64,
				sums[i], sum, want);
	}
	if (!r)
		r = postgres_number(db, "select count(*) from pgbench_history", &rows, err);
	if (!r && (uint64_t)rows != planned)
		r = error_set(err, EIO, "the history holds %" PRId64 " of %" PRIu64 " transactions",
			rows, planned);
	return r;
}

static int tpcb_check(const void *settings, const char *dir, struct error *err)
{
	const struct tpcb *s = settings;
	auto_postgres struct postgres pg = {0};
	PGconn *db = NULL;

	int r = postgres_attach(&pg, dir, &s->db, 1, err);
	if (!r)
		r = postgres_start(&pg, true, err);
	if (!r)
		r = postgres_connect(&pg, &db, err);
	if (!r)
		r = check_bank(s, db, err);
	if (!r)
		r = postgres_integrity(db, err);
	PQfinish(db);
	return r ? r : postgres_stop(&pg, err);
}

const struct workload workload_pg_tpcb = {
	.name = "pg-tpcb",
	.summary = "a bank on PostgreSQL (TPC-B), as pgbench runs it",
	.params = params,
	.param_count = ARRAY_SIZE(params),
	.settings_size = sizeof(struct tpcb),
	.prepare = tpcb_prepare,
	.run = tpcb_run,
	.check = tpcb_check,
};

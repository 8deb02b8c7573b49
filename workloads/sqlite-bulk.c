/* SPDX-License-Identifier: MIT */
/*
 * Filling and reworking a SQLite database in bulk: load rows, index them, change some, vacuum.
 * Large writes, few syncs: what a restore, an import or a migration does.
 */
#include <errno.h>
#include <inttypes.h>

#include "all.h"
#include "cleanup.h"
#include "clock.h"
#include "rng.h"
#include "sqlite.h"
#include "vec.h"

struct bulk {
	uint64_t rows, batch, updates, seed;
	unsigned vacuum;
	struct sqlite_settings db;
};

static const char *const no_yes[] = {"no", "yes", NULL};

static const struct param params[] = {
	{"rows", PARAM_NUMBER, offsetof(struct bulk, rows), "100000", 1, 1000000000, NULL,
		"rows to load"},
	{"batch", PARAM_NUMBER, offsetof(struct bulk, batch), "10000", 0, 0, NULL,
		"rows per transaction; 0 = all in one"},
	{"updates", PARAM_NUMBER, offsetof(struct bulk, updates), "20000", 0, 1000000000, NULL,
		"random rows to change afterwards"},
	{"vacuum", PARAM_CHOICE, offsetof(struct bulk, vacuum), "yes", 0, 0, no_yes,
		"rewrite the database at the end"},
	{"seed", PARAM_NUMBER, offsetof(struct bulk, seed), "1", 0, 0, NULL,
		"of the generator that chooses rows and values"},
	SQLITE_PARAMS(struct bulk),
};

static const char schema[] = "create table items (id integer primary key, owner integer, "
			     "price integer, version integer, note text)";
static const char insert[] = "insert into items values (?1, ?2, ?3, 0, printf('%060d', ?3))";
static const char update[] =
	"update items set price = ?3, owner = ?2, version = version + 1 where id = ?1";
static const char indexes[] = "create index items_by_owner on items (owner, id);"
			      "create index items_by_price on items (price)";

static int bulk_prepare(const void *settings, const char *dir, struct error *err)
{
	const struct bulk *s = settings;
	auto_sqlite sqlite3 *db = NULL;
	int r = sqlite_create(&db, &s->db, dir, err);

	return r ? r : sqlite_exec(db, schema, err);
}

/* One pass over the table: load it in order, or change random rows. */
struct pass {
	const char *sql;
	bool random;
	uint64_t rows;
};

static int one_batch(sqlite3_stmt *stmt, const struct bulk *s, const struct pass *pass,
	struct rng *rng, uint64_t first, uint64_t count, struct error *err)
{
	sqlite3 *db = sqlite3_db_handle(stmt);
	int r = sqlite_exec(db, "begin immediate", err);

	for (uint64_t i = first; i < first + count && !r; i++) {
		const int64_t values[] = {
			(int64_t)(pass->random ? rng_below(rng, s->rows) : i),
			(int64_t)rng_below(rng, 1000),
			(int64_t)rng_below(rng, 1000000000),
		};
		r = sqlite_run(stmt, values, ARRAY_SIZE(values), err);
	}
	return r ? r : sqlite_exec(db, "commit", err);
}

static int run_pass(sqlite3 *db, const struct bulk *s, const struct pass *pass, struct rng *rng,
	struct outcome *out, struct error *err)
{
	uint64_t batch = s->batch ? s->batch : s->rows;
	auto_stmt sqlite3_stmt *stmt = NULL;
	int r = sqlite_prepare(db, pass->sql, &stmt, err);

	for (uint64_t done = 0; done < pass->rows && !r;) {
		uint64_t count = min_u64(batch, pass->rows - done);
		uint64_t start_ns = now_ns();
		r = one_batch(stmt, s, pass, rng, done, count, err);
		hist_add(&out->latency, now_ns() - start_ns);
		done += count;
		out->operations += count;
	}
	return r;
}

static int all_passes(
	sqlite3 *db, const struct bulk *s, const char *dir, struct outcome *out, struct error *err)
{
	const struct pass load = {insert, false, s->rows};
	const struct pass change = {update, true, s->updates};
	struct rng rng;

	rng_init(&rng, s->seed);
	phase_mark(dir, "load");
	int r = run_pass(db, s, &load, &rng, out, err);
	phase_mark(dir, "index");
	if (!r)
		r = sqlite_exec(db, indexes, err);
	phase_mark(dir, "update");
	if (!r)
		r = run_pass(db, s, &change, &rng, out, err);
	if (r || !s->vacuum)
		return r;
	phase_mark(dir, "vacuum");
	return sqlite_exec(db, "vacuum", err);
}

static int bulk_run(const void *settings, const char *dir, struct outcome *ret, struct error *err)
{
	const struct bulk *s = settings;
	uint64_t start_ns = now_ns();
	sqlite3 *db = NULL;

	*ret = (struct outcome){
		.planned = s->rows + s->updates,
		.metric_name = "rows",
		.metric_unit = "rows/s",
	};
	int r = sqlite_open(&db, &s->db, dir, err);
	if (!r)
		r = all_passes(db, s, dir, ret, err);
	phase_mark(dir, "close");
	sqlite_close(db); /* checkpoints the WAL: part of the work */
	ret->elapsed_ns = now_ns() - start_ns;
	outcome_rate(ret);
	return r;
}

static int expect_number(
	sqlite3 *db, const char *sql, uint64_t want, const char *what, struct error *err)
{
	int64_t got;
	int r = sqlite_number(db, sql, &got, err);

	if (!r && (uint64_t)got != want)
		r = error_set(
			err, EIO, "the table holds %" PRId64 " of %" PRIu64 " %s", got, want, what);
	return r;
}

static int bulk_check(const void *settings, const char *dir, struct error *err)
{
	const struct bulk *s = settings;
	auto_sqlite sqlite3 *db = NULL;
	int r = sqlite_open(&db, &s->db, dir, err);

	if (!r)
		r = sqlite_integrity(db, err);
	if (!r)
		r = expect_number(db, "select count(*) from items", s->rows, "rows", err);
	if (!r)
		r = expect_number(db, "select sum(version) from items", s->updates, "updates", err);
	return r;
}

const struct workload workload_sqlite_bulk = {
	.name = "sqlite-bulk",
	.summary = "load, index, update and vacuum a SQLite table in large transactions",
	.params = params,
	.param_count = ARRAY_SIZE(params),
	.settings_size = sizeof(struct bulk),
	.prepare = bulk_prepare,
	.run = bulk_run,
	.check = bulk_check,
};

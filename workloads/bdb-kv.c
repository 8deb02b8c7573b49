/* SPDX-License-Identifier: MIT */
/*
 * Transactions on Berkeley DB, the library: records are read, money moves from one record to
 * another, a record is deleted and put back, and the history is told what happened, all in one
 * commit. Which records follows from the seed alone.
 *
 *   DIR/bdb/accounts.db  number -> balance and filler (B-tree)
 *   DIR/bdb/history.db   client and number of the transaction -> what moved (B-tree)
 *   DIR/bdb/log.*        write-ahead log
 *   DIR/bdb/__db.*       cache, locks and log buffer, if they are to be files
 *
 * Clients are threads of one process, because the cache is by default its private memory: that is
 * how the engine in MySQL ran it, too. Two of them may wait for each other; the library ends one
 * transaction, and it is tried again with the same records.
 *
 * The library would choose the page size by the file system's block size; here it is a setting.
 */
#include <db.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "all.h"
#include "cleanup.h"
#include "rng.h"
#include "vec.h"

#define LOAD_ROWS      1000 /* per transaction while loading */
#define LARGEST_AMOUNT 5000
#define MAX_TRIES      1000
#define MAX_LOCKS      20000
#define VALUE_MAX      16384

enum sync { SYNC_FSYNC, SYNC_DSYNC, SYNC_WRITE, SYNC_NONE };
enum regions { REGIONS_PRIVATE, REGIONS_FILE };

struct kv {
	uint64_t clients, transactions, records, value_size, gets, puts, dels;
	uint64_t checkpoint, cache, log_size, seed;
	unsigned sync, page_size, regions;
};

static const char *const syncs[] = {
	[SYNC_FSYNC] = "sync",
	[SYNC_DSYNC] = "dsync",
	[SYNC_WRITE] = "write-nosync",
	[SYNC_NONE] = "nosync",
	NULL,
};
static const char *const regions[] = {
	[REGIONS_PRIVATE] = "private",
	[REGIONS_FILE] = "file",
	NULL,
};
static const char *const page_sizes[] = {
	"512", "1024", "2048", "4096", "8192", "16384", "32768", "65536", NULL};

static const struct param params[] = {
	{"clients", PARAM_NUMBER, offsetof(struct kv, clients), "1", 1, 256, NULL,
		"threads of one process"},
	{"transactions", PARAM_NUMBER, offsetof(struct kv, transactions), "1000", 1, 0, NULL,
		"transactions of each client"},
	{"records", PARAM_NUMBER, offsetof(struct kv, records), "10000", 2, 1000000000, NULL,
		"in the database"},
	{"value_size", PARAM_SIZE, offsetof(struct kv, value_size), "200", 8, VALUE_MAX, NULL,
		"bytes of a record"},
	{"gets", PARAM_NUMBER, offsetof(struct kv, gets), "10", 0, 1000, NULL,
		"records that a transaction reads"},
	{"puts", PARAM_NUMBER, offsetof(struct kv, puts), "2", 0, 1000, NULL,
		"records that it changes, two at a time"},
	{"dels", PARAM_NUMBER, offsetof(struct kv, dels), "1", 0, 1000, NULL,
		"records that it deletes and puts back"},
	{"sync", PARAM_CHOICE, offsetof(struct kv, sync), "sync", 0, 0, syncs,
		"at a commit the log is synced, written with O_DSYNC, only written, or left in "
		"memory"},
	{"page_size", PARAM_CHOICE, offsetof(struct kv, page_size), "4096", 0, 0, page_sizes,
		"bytes of a database page"},
	{"checkpoint", PARAM_NUMBER, offsetof(struct kv, checkpoint), "500", 0, 0, NULL,
		"commits of all clients between two checkpoints; 0 = only at the end"},
	{"cache_size", PARAM_SIZE, offsetof(struct kv, cache), "8M", 64 << 10, UINT64_C(1) << 40,
		NULL, "page cache"},
	{"log_file_size", PARAM_SIZE, offsetof(struct kv, log_size), "10M", 1 << 20, 4000000000,
		NULL, "of each file of the log"},
	{"regions", PARAM_CHOICE, offsetof(struct kv, regions), "private", 0, 0, regions,
		"cache and locks in memory, or in files that are mapped"},
	{"seed", PARAM_NUMBER, offsetof(struct kv, seed), "1", 0, 0, NULL,
		"of the generator that chooses records and values"},
};

/* --- records --- */

struct account_value {
	int64_t balance;
	char filler[VALUE_MAX];
};

struct history_key {
	uint32_t client;
	uint32_t number[2]; /* 64 bits, most significant first */
};

struct move {
	uint64_t from, to;
	int64_t amount;
};

static DBT dbt_of(void *data, size_t size)
{
	return (DBT){
		.data = data,
		.size = (u_int32_t)size,
		.ulen = (u_int32_t)size,
		.flags = DB_DBT_USERMEM,
	};
}

static size_t value_bytes(const struct kv *s)
{
	return s->value_size;
}

/* --- errors --- */

/* What the library said first in this thread; it calls back before a function fails. */
static _Thread_local char first_words[200];

static void keep_words(const DB_ENV *env, const char *prefix, const char *message)
{
	(void)env;
	(void)prefix;
	if (!*first_words)
		snprintf(first_words, sizeof(first_words), "%s", message);
}

static int bdb_error(int code, const char *what, struct error *err)
{
	int r = error_set(err, code > 0 ? code : EIO, "Berkeley DB: %s: %s%s%s", what,
		db_strerror(code), *first_words ? ": " : "", first_words);

	*first_words = '\0';
	return r;
}

/* --- environment --- */

struct bank {
	DB_ENV *env;
	DB *accounts, *history;
};

static char *bank_dir(const char *dir)
{
	return xasprintf("%s/bdb", dir);
}

static int set_up(DB_ENV *env, const struct kv *s, bool durable)
{
	int r = env->set_cachesize(
		env, (u_int32_t)(s->cache >> 30), (u_int32_t)(s->cache & ((1u << 30) - 1)), 1);

	if (!r)
		r = env->set_lg_max(env, (u_int32_t)s->log_size);
	if (!r)
		r = env->set_lk_detect(env, DB_LOCK_MINWRITE);
	if (!r)
		r = env->set_lk_max_locks(env, MAX_LOCKS);
	if (!r)
		r = env->set_lk_max_objects(env, MAX_LOCKS);
	if (!r && durable && s->sync == SYNC_DSYNC)
		r = env->log_set_config(env, DB_LOG_DSYNC, 1);
	if (!r && (!durable || s->sync == SYNC_NONE))
		r = env->set_flags(env, DB_TXN_NOSYNC, 1);
	else if (!r && s->sync == SYNC_WRITE)
		r = env->set_flags(env, DB_TXN_WRITE_NOSYNC, 1);
	return r;
}

static int open_table(struct bank *b, const struct kv *s, const char *file, DB **ret)
{
	int r = db_create(ret, b->env, 0);

	if (!r)
		r = (*ret)->set_pagesize(
			*ret, (u_int32_t)strtoul(page_sizes[s->page_size], NULL, 10));
	return r ? r
	         : (*ret)->open(*ret, NULL, file, NULL, DB_BTREE,
			   DB_CREATE | DB_AUTO_COMMIT | DB_THREAD, 0644);
}

/* Recovers, so what a crash left is in order. `durable`: false while loading. */
static int bank_open(
	struct bank *ret, const struct kv *s, const char *dir, bool durable, struct error *err)
{
	auto_free char *home = bank_dir(dir);
	u_int32_t where = s->regions == REGIONS_PRIVATE ? DB_PRIVATE : 0;

	*ret = (struct bank){0};
	int r = db_env_create(&ret->env, 0);
	if (r)
		return bdb_error(r, "open", err);
	ret->env->set_errcall(ret->env, keep_words);
	r = set_up(ret->env, s, durable);
	if (!r)
		r = ret->env->open(ret->env, home,
			DB_CREATE | DB_INIT_MPOOL | DB_INIT_LOG | DB_INIT_LOCK | DB_INIT_TXN |
				DB_THREAD | DB_RECOVER | where,
			0644);
	if (!r)
		r = open_table(ret, s, "accounts.db", &ret->accounts);
	if (!r)
		r = open_table(ret, s, "history.db", &ret->history);
	return r ? bdb_error(r, "open", err) : 0;
}

/* Everything is in its place and synced then. Safe on what bank_open() left half done. */
static int bank_close(struct bank *b, struct error *err)
{
	int r = 0, e;

	if (b->history && b->accounts)
		r = b->env->txn_checkpoint(b->env, 0, 0, DB_FORCE);
	if (b->history && (e = b->history->close(b->history, 0)))
		r = r ? r : e;
	if (b->accounts && (e = b->accounts->close(b->accounts, 0)))
		r = r ? r : e;
	if (b->env && (e = b->env->close(b->env, 0)))
		r = r ? r : e;
	*b = (struct bank){0};
	return r ? bdb_error(r, "close", err) : 0;
}

/* --- prepare --- */

static int load_some(struct bank *b, const struct kv *s, uint64_t first, struct rng *rng)
{
	struct account_value value = {0};
	DB_TXN *txn;
	int r = b->env->txn_begin(b->env, NULL, &txn, 0);

	if (r)
		return r;
	for (uint64_t i = first; i < first + LOAD_ROWS && i < s->records && !r; i++) {
		uint64_t key = htobe64(i);
		DBT k = dbt_of(&key, sizeof(key)), v = dbt_of(&value, value_bytes(s));
		for (size_t at = 0; at + 8 <= sizeof(value.filler) && at < s->value_size; at += 8)
			memcpy(value.filler + at, &(uint64_t){rng_next(rng)}, 8);
		r = b->accounts->put(b->accounts, txn, &k, &v, 0);
	}
	if (r)
		txn->abort(txn);
	return r ? r : txn->commit(txn, 0);
}

static int load(struct bank *b, const struct kv *s, struct error *err)
{
	struct rng rng;
	int r = 0;

	rng_init(&rng, s->seed);
	for (uint64_t i = 0; i < s->records && !r; i += LOAD_ROWS)
		r = load_some(b, s, i, &rng);
	if (!r)
		r = b->env->txn_checkpoint(b->env, 0, 0, DB_FORCE);
	if (!r)
		r = b->env->log_archive(b->env, NULL, DB_ARCH_REMOVE);
	return r ? bdb_error(r, "load", err) : 0;
}

static int kv_prepare(const void *settings, const char *dir, struct error *err)
{
	const struct kv *s = settings;
	auto_free char *home = bank_dir(dir);
	struct bank bank;

	if (mkdir(home, 0755))
		return error_errno(err, errno, "cannot make %s", home);
	int r = bank_open(&bank, s, dir, false, err);
	if (!r)
		r = load(&bank, s, err);
	int closed = bank_close(&bank, r ? NULL : err);
	return r ? r : closed;
}

/* --- run --- */

struct run {
	const struct kv *settings;
	struct bank bank;
	struct outcome *outcome; /* operations: all commits, atomic */
	bool stop;               /* somebody failed; atomic */
};

struct worker {
	struct run *run;
	pthread_t thread;
	uint32_t number;
	struct rng rng;
	struct hist latency;
	struct account_value value; /* too large for a stack */
	int r;
	struct error err;
};

static uint64_t any_record(struct worker *w)
{
	return rng_below(&w->rng, w->run->settings->records);
}

static int get_account(struct worker *w, DB_TXN *txn, uint64_t number, u_int32_t flags)
{
	DB *db = w->run->bank.accounts;
	uint64_t key = htobe64(number);
	DBT k = dbt_of(&key, sizeof(key)), v = dbt_of(&w->value, value_bytes(w->run->settings));

	return db->get(db, txn, &k, &v, flags);
}

static int put_account(struct worker *w, DB_TXN *txn, uint64_t number)
{
	DB *db = w->run->bank.accounts;
	uint64_t key = htobe64(number);
	DBT k = dbt_of(&key, sizeof(key)), v = dbt_of(&w->value, value_bytes(w->run->settings));

	return db->put(db, txn, &k, &v, 0);
}

static int add_to_account(struct worker *w, DB_TXN *txn, uint64_t number, int64_t amount)
{
	int r = get_account(w, txn, number, DB_RMW);

	w->value.balance += amount;
	return r ? r : put_account(w, txn, number);
}

static int replace_account(struct worker *w, DB_TXN *txn, uint64_t number)
{
	DB *db = w->run->bank.accounts;
	uint64_t key = htobe64(number);
	DBT k = dbt_of(&key, sizeof(key));
	int r = get_account(w, txn, number, DB_RMW);

	if (!r)
		r = db->del(db, txn, &k, 0);
	return r ? r : put_account(w, txn, number);
}

/* The moves of one transaction are one record. */
static int write_history(struct worker *w, DB_TXN *txn, uint64_t number, const struct move *moves)
{
	DB *db = w->run->bank.history;
	struct history_key key = {
		htobe32(w->number), {htobe32((uint32_t)(number >> 32)), htobe32((uint32_t)number)}};
	size_t count = w->run->settings->puts / 2;
	DBT k = dbt_of(&key, sizeof(key));
	DBT v = dbt_of((void *)moves, count * sizeof(*moves));

	return db->put(db, txn, &k, &v, DB_NOOVERWRITE);
}

static int do_steps(struct worker *w, DB_TXN *txn, uint64_t number, struct move *moves)
{
	const struct kv *s = w->run->settings;
	int r = 0;

	for (uint64_t i = 0; i < s->gets && !r; i++)
		r = get_account(w, txn, any_record(w), 0);
	for (uint64_t i = 0; i < s->puts / 2 && !r; i++) {
		moves[i].from = any_record(w);
		moves[i].to = any_record(w);
		moves[i].amount = 1 + (int64_t)rng_below(&w->rng, LARGEST_AMOUNT);
		r = add_to_account(w, txn, moves[i].from, -moves[i].amount);
		if (!r)
			r = add_to_account(w, txn, moves[i].to, moves[i].amount);
	}
	for (uint64_t i = 0; i < s->dels && !r; i++)
		r = replace_account(w, txn, any_record(w));
	return r ? r : write_history(w, txn, number, moves);
}

static int try_transaction(struct worker *w, uint64_t number, struct move *moves)
{
	DB_ENV *env = w->run->bank.env;
	DB_TXN *txn;
	int r = env->txn_begin(env, NULL, &txn, 0);

	if (r)
		return r;
	r = do_steps(w, txn, number, moves);
	if (r)
		txn->abort(txn);
	return r ? r : txn->commit(txn, 0);
}

static int transaction(struct worker *w, uint64_t number, struct move *moves)
{
	struct rng start = w->rng;
	int r = try_transaction(w, number, moves);

	for (unsigned i = 0; i < MAX_TRIES && r == DB_LOCK_DEADLOCK; i++) {
		w->rng = start;
		r = try_transaction(w, number, moves);
	}
	return r;
}

static int work(struct worker *w)
{
	const struct kv *s = w->run->settings;
	DB_ENV *env = w->run->bank.env;
	auto_free struct move *moves = ALLOC_ARRAY(struct move, s->puts / 2 + 1);
	int r = 0;

	for (uint64_t i = 0; i < s->transactions && !r; i++) {
		uint64_t start_ns = now_ns();
		if (__atomic_load_n(&w->run->stop, __ATOMIC_RELAXED))
			return 0;
		r = transaction(w, i, moves);
		if (r)
			break;
		uint64_t done =
			__atomic_add_fetch(&w->run->outcome->operations, 1, __ATOMIC_RELAXED);
		if (s->checkpoint && done % s->checkpoint == 0)
			r = env->txn_checkpoint(env, 0, 0, 0);
		hist_add(&w->latency, now_ns() - start_ns);
	}
	return r;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	char name[16];

	snprintf(name, sizeof(name), "client %u", w->number);
	prctl(PR_SET_NAME, name);
	int r = work(w);
	if (r) {
		__atomic_store_n(&w->run->stop, true, __ATOMIC_RELAXED);
		w->r = bdb_error(r, name, &w->err);
	}
	return NULL;
}

static int start_workers(
	struct run *run, struct worker *workers, uint64_t *ret_started, struct error *err)
{
	int r = 0;

	for (; *ret_started < run->settings->clients && !r; *ret_started += !r) {
		struct worker *w = &workers[*ret_started];
		w->run = run;
		w->number = (uint32_t)*ret_started;
		rng_init(&w->rng, run->settings->seed * 1000003 + w->number);
		r = pthread_create(&w->thread, NULL, worker_main, w);
	}
	if (r)
		__atomic_store_n(&run->stop, true, __ATOMIC_RELAXED);
	return r ? error_errno(err, r, "cannot start a thread") : 0;
}

static int measured_part(struct run *run, struct error *err)
{
	struct worker *workers = ALLOC_ARRAY(struct worker, run->settings->clients);
	uint64_t started = 0, start_ns = now_ns();
	int r = start_workers(run, workers, &started, err);

	for (uint64_t i = 0; i < started; i++) {
		pthread_join(workers[i].thread, NULL);
		hist_merge(&run->outcome->latency, &workers[i].latency);
		if (!r && workers[i].r) {
			r = workers[i].r;
			*err = workers[i].err;
		}
	}
	run->outcome->elapsed_ns = now_ns() - start_ns;
	outcome_rate(run->outcome);
	free(workers);
	return r;
}

static int kv_run(const void *settings, const char *dir, struct outcome *ret, struct error *err)
{
	const struct kv *s = settings;
	struct run run = {.settings = s, .outcome = ret};
	uint64_t start_ns = now_ns();

	*ret = (struct outcome){
		.planned = s->clients * s->transactions,
		.metric_name = "tps",
		.metric_unit = "transactions/s",
	};
	phase_mark(dir, "start");
	int r = bank_open(&run.bank, s, dir, true, err);
	phase_mark(dir, "run");
	if (!r)
		r = measured_part(&run, err);
	phase_mark(dir, "stop");
	int closed = bank_close(&run.bank, r ? NULL : err);
	ret->elapsed_ns = now_ns() - start_ns;
	return r ? r : closed;
}

/* --- check --- */

/* Calls see() with each record of a table, in the order of the keys. */
static int each_record(DB *db, int (*see)(void *arg, const DBT *key, const DBT *value), void *arg)
{
	DBT key = {.flags = DB_DBT_REALLOC}, value = {.flags = DB_DBT_REALLOC};
	DBC *cursor;
	int r = db->cursor(db, NULL, &cursor, 0);

	if (r)
		return r;
	while (!r && !(r = cursor->get(cursor, &key, &value, DB_NEXT)))
		r = see(arg, &key, &value);
	cursor->close(cursor);
	free(key.data);
	free(value.data);
	return r == DB_NOTFOUND ? 0 : r;
}

/* What the accounts must hold by the history. */
struct ledger {
	uint64_t records, accounts, transactions, wrong;
	int64_t *balances;
};

static int see_history(void *arg, const DBT *key, const DBT *value)
{
	struct ledger *a = arg;
	struct move move;

	(void)key;
	a->transactions++;
	for (size_t at = 0; at + sizeof(move) <= value->size; at += sizeof(move)) {
		memcpy(&move, (const char *)value->data + at, sizeof(move));
		if (move.from >= a->records || move.to >= a->records)
			return EIO;
		a->balances[move.from] -= move.amount;
		a->balances[move.to] += move.amount;
	}
	return 0;
}

static int see_account(void *arg, const DBT *key, const DBT *value)
{
	struct ledger *a = arg;
	uint64_t number = UINT64_MAX;
	int64_t balance = 0;

	if (key->size == sizeof(number) && value->size >= sizeof(balance)) {
		memcpy(&number, key->data, sizeof(number));
		memcpy(&balance, value->data, sizeof(balance));
		number = be64toh(number);
	}
	a->accounts++;
	a->wrong += number >= a->records || a->balances[number] != balance;
	return 0;
}

static int check_bank(struct bank *b, const struct kv *s, struct error *err)
{
	auto_free int64_t *balances = ALLOC_ARRAY(int64_t, s->records);
	struct ledger a = {.records = s->records, .balances = balances};
	uint64_t planned = s->clients * s->transactions;
	int r = each_record(b->history, see_history, &a);

	if (!r)
		r = each_record(b->accounts, see_account, &a);
	if (r)
		return bdb_error(r, "check", err);
	if (a.transactions != planned)
		return error_set(err, EIO,
			"the history holds %" PRIu64 " of %" PRIu64 " transactions", a.transactions,
			planned);
	if (a.accounts != s->records)
		return error_set(err, EIO, "%" PRIu64 " of %" PRIu64 " records are there",
			a.accounts, s->records);
	return a.wrong ? error_set(err, EIO,
				 "%" PRIu64 " records do not hold what the history says", a.wrong)
	               : 0;
}

/* The library's own check of a file's structure; it wants the file for itself. */
static int verify(const char *dir, const char *file, struct error *err)
{
	auto_free char *path = xasprintf("%s/bdb/%s", dir, file);
	DB *db;
	int r = db_create(&db, NULL, 0);

	if (!r) {
		db->set_errcall(db, keep_words);
		r = db->verify(db, path, NULL, NULL, 0); /* the handle is gone after it */
	}
	return r ? bdb_error(r, file, err) : 0;
}

/* Recovery, if it is needed, and nothing more. */
static int recover(const struct kv *s, const char *dir, struct error *err)
{
	struct bank bank;
	int r = bank_open(&bank, s, dir, true, err);
	int closed = bank_close(&bank, r ? NULL : err);

	return r ? r : closed;
}

static int audit(const struct kv *s, const char *dir, struct error *err)
{
	struct bank bank;
	int r = bank_open(&bank, s, dir, true, err);

	if (!r)
		r = check_bank(&bank, s, err);
	int closed = bank_close(&bank, r ? NULL : err);
	return r ? r : closed;
}

/* Structure first: to read what is damaged may take the library forever. */
static int kv_check(const void *settings, const char *dir, struct error *err)
{
	int r = recover(settings, dir, err);

	if (!r)
		r = verify(dir, "accounts.db", err);
	if (!r)
		r = verify(dir, "history.db", err);
	if (!r)
		r = audit(settings, dir, err);
	return r ? error_wrap(err, "%s/bdb", dir) : 0;
}

const struct workload workload_bdb_kv = {
	.name = "bdb-kv",
	.summary = "transactions on Berkeley DB, the library: get, put, delete, commit",
	.params = params,
	.param_count = ARRAY_SIZE(params),
	.settings_size = sizeof(struct kv),
	.prepare = kv_prepare,
	.run = kv_run,
	.check = kv_check,
};

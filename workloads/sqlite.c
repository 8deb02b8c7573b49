/* SPDX-License-Identifier: MIT */
#include "sqlite.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cleanup.h"
#include "vec.h"

#define DATABASE "data.db"

const char *const sqlite_journal_modes[] = {
	"delete", "truncate", "persist", "memory", "wal", "off", NULL};
const char *const sqlite_synchronous[] = {"off", "normal", "full", "extra", NULL};
const char *const sqlite_page_sizes[] = {
	"512", "1024", "2048", "4096", "8192", "16384", "32768", "65536", NULL};
const char *const sqlite_checkpoints[] = {"passive", "restart", "truncate", NULL};

/* SQLite's error as ours: what failed, SQLite's words, and the system's where there was one. */
static int sqlite_error(sqlite3 *db, int code, const char *what, struct error *err)
{
	int primary = code & 0xff;
	int system = db ? sqlite3_system_errno(db) : 0;
	int value = primary == SQLITE_FULL                               ? ENOSPC
	            : primary == SQLITE_BUSY || primary == SQLITE_LOCKED ? EBUSY
	            : system                                             ? system
	                                                                 : EIO;

	if (system && primary != SQLITE_BUSY && primary != SQLITE_FULL)
		return error_errno(err, value, "SQLite: %s: %s", what, sqlite3_errmsg(db));
	return error_set(
		err, value, "SQLite: %s: %s", what, db ? sqlite3_errmsg(db) : sqlite3_errstr(code));
}

/*
 * SQLite's own handler sleeps up to 100 ms at a time, so that with several writers the disk is idle
 * and who is served is luck. This one is short, and never the same for two processes.
 */
static int wait_for_lock(void *unused, int attempt)
{
	enum { FIRST_US = 50, LONGEST_US = 1000, GIVE_UP_US = 60000000 };
	unsigned us = attempt < 5 ? FIRST_US << attempt : LONGEST_US;
	unsigned jitter = ((unsigned)getpid() * 2654435761U ^ (unsigned)attempt * 40503U) >> 8;

	(void)unused;
	us = us / 2 + jitter % (us / 2);
	nanosleep(&(struct timespec){.tv_nsec = (long)us * 1000}, NULL);
	return attempt < 2 * GIVE_UP_US / LONGEST_US;
}

static int set_journal_mode(sqlite3 *db, const char *mode, struct error *err)
{
	auto_free char *sql = xasprintf("pragma journal_mode=%s", mode);
	auto_stmt sqlite3_stmt *stmt = NULL;

	int r = sqlite_prepare(db, sql, &stmt, err);
	if (r)
		return r;
	int code = sqlite3_step(stmt);
	if (code != SQLITE_ROW)
		return sqlite_error(db, code, sql, err);
	const char *got = (const char *)sqlite3_column_text(stmt, 0);
	if (!got || strcmp(got, mode))
		return error_set(err, ENOTSUP,
			"SQLite refuses journal_mode=%s here and stays with %s%s", mode,
			got ? got : "?",
			strcmp(mode, "wal") ? ""
					    : "; shared memory may not work in this directory");
	return 0;
}

/*
 * A passive checkpoint lets other writers append meanwhile, so with several of them the WAL is
 * never complete, keeps growing, and every commit tries again: what is measured is luck. The other
 * modes wait for the writers once and start over.
 */
static int checkpoint_when_full(void *arg, sqlite3 *db, const char *name, int pages)
{
	static const int modes[] = {
		SQLITE_CHECKPOINT_PASSIVE,
		SQLITE_CHECKPOINT_RESTART,
		SQLITE_CHECKPOINT_TRUNCATE,
	};
	const struct sqlite_settings *s = arg;

	if (s->wal_autocheckpoint && (uint64_t)pages >= s->wal_autocheckpoint)
		sqlite3_wal_checkpoint_v2(db, name, modes[s->checkpoint], NULL, NULL);
	return SQLITE_OK;
}

static int apply_settings(sqlite3 *db, const struct sqlite_settings *s, struct error *err)
{
	auto_free char *size = xasprintf("pragma page_size=%s", sqlite_page_sizes[s->page_size]);
	auto_free char *rest = xasprintf("pragma synchronous=%s; pragma cache_size=-%" PRIu64
					 "; pragma mmap_size=%" PRIu64,
		sqlite_synchronous[s->synchronous], s->cache_size >> 10, s->mmap_size);
	int r = sqlite_exec(db, size, err);

	if (!r)
		r = set_journal_mode(db, sqlite_journal_modes[s->journal_mode], err);
	sqlite3_wal_hook(db, checkpoint_when_full, (void *)s);
	return r ? r : sqlite_exec(db, rest, err);
}

int sqlite_open(
	sqlite3 **ret, const struct sqlite_settings *settings, const char *dir, struct error *err)
{
	auto_free char *path = xasprintf("%s/" DATABASE, dir);
	auto_sqlite sqlite3 *db = NULL;

	sqlite3_free(sqlite3_temp_directory);
	sqlite3_temp_directory = sqlite3_mprintf("%s", dir);
	int code = sqlite3_open(path, &db);
	if (code)
		return sqlite_error(db, code, path, err);
	sqlite3_extended_result_codes(db, 1);
	sqlite3_busy_handler(db, wait_for_lock, NULL);
	int r = apply_settings(db, settings, err);
	if (!r)
		*ret = take_ptr(db);
	return r;
}

int sqlite_create(
	sqlite3 **ret, const struct sqlite_settings *settings, const char *dir, struct error *err)
{
	auto_free char *path = xasprintf("%s/" DATABASE, dir);

	if (!access(path, F_OK))
		return error_set(err, EEXIST, "%s is there already; use an empty directory", path);
	return sqlite_open(ret, settings, dir, err);
}

void sqlite_close(sqlite3 *db)
{
	sqlite3_close_v2(db);
}

int sqlite_exec(sqlite3 *db, const char *sql, struct error *err)
{
	int code = sqlite3_exec(db, sql, NULL, NULL, NULL);

	return code ? sqlite_error(db, code, sql, err) : 0;
}

int sqlite_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret, struct error *err)
{
	int code = sqlite3_prepare_v2(db, sql, -1, ret, NULL);

	return code ? sqlite_error(db, code, sql, err) : 0;
}

int sqlite_run(sqlite3_stmt *stmt, const int64_t *values, int count, struct error *err)
{
	int code;

	for (int i = 0; i < count; i++)
		sqlite3_bind_int64(stmt, i + 1, values[i]);
	while ((code = sqlite3_step(stmt)) == SQLITE_ROW)
		;
	int r = code == SQLITE_DONE
	                ? 0
	                : sqlite_error(sqlite3_db_handle(stmt), code, sqlite3_sql(stmt), err);
	sqlite3_reset(stmt);
	return r;
}

int sqlite_number(sqlite3 *db, const char *sql, int64_t *ret, struct error *err)
{
	auto_stmt sqlite3_stmt *stmt = NULL;
	int r = sqlite_prepare(db, sql, &stmt, err);

	if (r)
		return r;
	int code = sqlite3_step(stmt);
	if (code != SQLITE_ROW)
		return sqlite_error(db, code, sql, err);
	*ret = sqlite3_column_int64(stmt, 0);
	return 0;
}

int sqlite_integrity(sqlite3 *db, struct error *err)
{
	auto_stmt sqlite3_stmt *stmt = NULL;
	int r = sqlite_prepare(db, "pragma integrity_check(1)", &stmt, err);

	if (r)
		return r;
	int code = sqlite3_step(stmt);
	if (code != SQLITE_ROW)
		return sqlite_error(db, code, "integrity check", err);
	const char *text = (const char *)sqlite3_column_text(stmt, 0);
	if (!text || strcmp(text, "ok"))
		return error_set(err, EIO, "the database is damaged: %s", text ? text : "?");
	return 0;
}

void sqlite_cleanup_db(sqlite3 **db)
{
	sqlite_close(*db);
}

void sqlite_cleanup_stmt(sqlite3_stmt **stmt)
{
	sqlite3_finalize(*stmt);
}

/* SPDX-License-Identifier: MIT */
/* What the SQLite workloads share: settings, opening, running statements, checking. */
#ifndef SQLITE_H
#define SQLITE_H

#include <sqlite3.h>

#include "error.h"
#include "param.h"

struct sqlite_settings {
	unsigned journal_mode, synchronous, page_size, checkpoint; /* indexes into the choices */
	uint64_t cache_size, mmap_size;                            /* bytes */
	uint64_t wal_autocheckpoint;                               /* pages */
};

extern const char *const sqlite_journal_modes[];
extern const char *const sqlite_synchronous[];
extern const char *const sqlite_page_sizes[];
extern const char *const sqlite_checkpoints[];

/* The rows of these settings for a workload whose struct `type` has them as its member `db`. */
#define SQLITE_PARAMS(type)                                                                        \
	{"journal_mode", PARAM_CHOICE, offsetof(type, db.journal_mode), "wal", 0, 0,               \
		sqlite_journal_modes, "how a transaction is made atomic"},                         \
		{"synchronous", PARAM_CHOICE, offsetof(type, db.synchronous), "full", 0, 0,        \
			sqlite_synchronous, "how often SQLite syncs"},                             \
		{"page_size", PARAM_CHOICE, offsetof(type, db.page_size), "4096", 0, 0,            \
			sqlite_page_sizes, "bytes of a database page"},                            \
		{"cache_size", PARAM_SIZE, offsetof(type, db.cache_size), "2000k", 16 << 10, 0,    \
			NULL, "page cache of each connection"},                                    \
		{"mmap_size", PARAM_SIZE, offsetof(type, db.mmap_size), "0", 0, 0, NULL,           \
			"read this much of the file through a mapping"},                           \
		{"wal_autocheckpoint", PARAM_NUMBER, offsetof(type, db.wal_autocheckpoint),        \
			"1000", 0, 1 << 30, NULL,                                                  \
			"pages in the WAL before a checkpoint; 0 = never"},                        \
	{                                                                                          \
		"checkpoint", PARAM_CHOICE, offsetof(type, db.checkpoint), "restart", 0, 0,        \
			sqlite_checkpoints,                                                        \
			"how; passive is SQLite's own way, and may never end the WAL"              \
	}

/* A new database: an error if there is one. Otherwise as sqlite_open(). */
int sqlite_create(
	sqlite3 **ret, const struct sqlite_settings *settings, const char *dir, struct error *err);
/*
 * Open the database `dir`/data.db as the settings say; temporary files go to `dir` too.
 * An error if SQLite falls back to another journal mode. Waits for other connections' locks for up
 * to a minute. `settings` must live as long as the connection.
 */
int sqlite_open(
	sqlite3 **ret, const struct sqlite_settings *settings, const char *dir, struct error *err);
/* Closing the last connection checkpoints the WAL. NULL is fine. */
void sqlite_close(sqlite3 *db);

int sqlite_exec(sqlite3 *db, const char *sql, struct error *err);
int sqlite_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret, struct error *err);
/* Bind `count` integers, run to the end, reset. 0 or -errno: -EBUSY after the minute is over. */
int sqlite_run(sqlite3_stmt *stmt, const int64_t *values, int count, struct error *err);
/* The one number that `sql` yields. */
int sqlite_number(sqlite3 *db, const char *sql, int64_t *ret, struct error *err);
/* Fails with the first complaint of "pragma integrity_check". */
int sqlite_integrity(sqlite3 *db, struct error *err);

/* For locals: auto_sqlite sqlite3 *db = NULL; auto_stmt sqlite3_stmt *s = NULL; */
void sqlite_cleanup_db(sqlite3 **db);
void sqlite_cleanup_stmt(sqlite3_stmt **stmt);
#define auto_sqlite __attribute__((cleanup(sqlite_cleanup_db)))
#define auto_stmt   __attribute__((cleanup(sqlite_cleanup_stmt)))

#endif

/* SPDX-License-Identifier: MIT */
/* What the PostgreSQL workloads share: settings, a private server, running statements. */
#ifndef POSTGRES_H
#define POSTGRES_H

#include <libpq-fe.h>

#include "error.h"
#include "param.h"
#include "server.h"

struct postgres_settings {
	uint64_t version;
	unsigned wal_sync_method, synchronous_commit, full_page_writes, wal_segment, checksums;
	uint64_t shared_buffers, max_wal_size; /* bytes */
	char more[256];
};

extern const char *const postgres_sync_methods[];
extern const char *const postgres_commits[];
extern const char *const postgres_segments[];
extern const char *const postgres_switch[]; /* off, on */

/* The rows of these settings for a workload whose struct `type` has them as its member `db`; they
 * come last, because `set` takes the rest of the SPEC. */
#define POSTGRES_PARAMS(type)                                                                      \
	{"version", PARAM_NUMBER, offsetof(type, db.version), "0", 0, 99, NULL,                    \
		"major version of the server; 0 = the newest that is installed"},                  \
		{"wal_sync_method", PARAM_CHOICE, offsetof(type, db.wal_sync_method), "fdatasync", \
			0, 0, postgres_sync_methods, "how the WAL is made durable"},               \
		{"synchronous_commit", PARAM_CHOICE, offsetof(type, db.synchronous_commit), "on",  \
			0, 0, postgres_commits, "off: a commit does not wait for the disk"},       \
		{"full_page_writes", PARAM_CHOICE, offsetof(type, db.full_page_writes), "on", 0,   \
			0, postgres_switch,                                                        \
			"the first change of a page after a checkpoint logs all of it"},           \
		{"wal_segment", PARAM_CHOICE, offsetof(type, db.wal_segment), "16M", 0, 0,         \
			postgres_segments, "size of a WAL file"},                                  \
		{"checksums", PARAM_CHOICE, offsetof(type, db.checksums), "off", 0, 0,             \
			postgres_switch, "of data pages"},                                         \
		{"shared_buffers", PARAM_SIZE, offsetof(type, db.shared_buffers), "64M",           \
			128 << 10, UINT64_C(1) << 40, NULL, "page cache of the server"},           \
		{"max_wal_size", PARAM_SIZE, offsetof(type, db.max_wal_size), "1G", 2 << 20,       \
			UINT64_C(1) << 40, NULL, "WAL between two checkpoints, about"},            \
	{                                                                                          \
		"set", PARAM_REST, offsetof(type, db.more), "", 0, sizeof(((type *)0)->db.more),   \
			NULL, "more settings of the server, NAME=value,NAME=value; the last key"   \
	}

/* A server on DIR/postgres and who asks it. */
struct postgres {
	struct server server;
	const struct postgres_settings *settings;
	uint64_t clients;
	const char *const *more; /* NAME=value..., NULL: the workload's own; the user's prevail */
	char *bin;               /* where the programs of this version are */
};

/* Make the data directory of `pg`, not durably: the caller of prepare() sees to that. */
int postgres_create(struct postgres *pg, const char *dir, const struct postgres_settings *settings,
	struct error *err);
/* For a directory that postgres_create() has filled. */
int postgres_attach(struct postgres *pg, const char *dir, const struct postgres_settings *settings,
	uint64_t clients, struct error *err);
/* Start the server and wait until it answers. `durable`: false while loading. */
int postgres_start(struct postgres *pg, bool durable, struct error *err);
int postgres_stop(struct postgres *pg, struct error *err);
/* Kill what runs and free; safe on a zeroed struct. */
void postgres_done(struct postgres *pg);

/* To the database "postgres" as its owner. */
int postgres_connect(const struct postgres *pg, PGconn **ret, struct error *err);
/* One or more statements; their results are dropped. */
int postgres_exec(PGconn *db, const char *sql, struct error *err);
/* Start a COPY: `way` is PGRES_COPY_IN or PGRES_COPY_OUT. */
int postgres_copy(PGconn *db, const char *sql, ExecStatusType way, struct error *err);
/* The error of what was asked last, in one line after `what`. Returns -EIO. */
int postgres_fail(PGconn *db, const char *what, struct error *err);
/* The one number that `sql` yields. */
int postgres_number(PGconn *db, const char *sql, int64_t *ret, struct error *err);
/* The database's own checks of heaps and indexes (amcheck), where it has them. */
int postgres_integrity(PGconn *db, struct error *err);

void postgres_cleanup_db(PGconn **db);
#define auto_postgres __attribute__((cleanup(postgres_done)))
#define auto_pgconn   __attribute__((cleanup(postgres_cleanup_db)))

#endif

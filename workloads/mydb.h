/* SPDX-License-Identifier: MIT */
/* What the MariaDB and MySQL workloads share: settings, a private server, running statements. */
#ifndef MYDB_H
#define MYDB_H

#include <mysql.h>

#include "error.h"
#include "param.h"
#include "server.h"

enum mydb_engine { MYDB_INNODB, MYDB_MYISAM, MYDB_ARIA, MYDB_ROCKSDB };

struct mydb_settings {
	unsigned engine; /* enum mydb_engine */
	unsigned durable, flush_log, flush_method, page_size, native_aio, log_buffering,
		doublewrite, binlog;
	uint64_t buffer_pool, log_size; /* bytes */
	char more[256];
};

extern const char *const mydb_engines[];
extern const char *const mydb_durable[];
extern const char *const mydb_flush_log[];
extern const char *const mydb_flush_methods[];
extern const char *const mydb_page_sizes[];
extern const char *const mydb_switch[]; /* off, on */

/* The rows of these settings for a workload whose struct `type` has them as its member `db`; they
 * come last, because `set` takes the rest of the SPEC. */
#define MYDB_PARAMS(type)                                                                          \
	{"engine", PARAM_CHOICE, offsetof(type, db.engine), "innodb", 0, 0, mydb_engines,          \
		"of the tables; the Berkeley DB engine is in no server any more, Aria is near "    \
		"it"},                                                                             \
		{"durable", PARAM_CHOICE, offsetof(type, db.durable), "yes", 0, 0, mydb_durable,   \
			"no: nothing waits for the disk, only the file system's own work is "      \
			"left"},                                                                   \
		{"innodb_flush_log_at_trx_commit", PARAM_CHOICE, offsetof(type, db.flush_log),     \
			"1", 0, 0, mydb_flush_log,                                                 \
			"1: a commit is durable; 2: written; 0: once a second"},                   \
		{"innodb_flush_method", PARAM_CHOICE, offsetof(type, db.flush_method), "O_DIRECT", \
			0, 0, mydb_flush_methods, "how data and log are written and synced"},      \
		{"innodb_page_size", PARAM_CHOICE, offsetof(type, db.page_size), "16384", 0, 0,    \
			mydb_page_sizes, "bytes of a page"},                                       \
		{"innodb_use_native_aio", PARAM_CHOICE, offsetof(type, db.native_aio), "on", 0, 0, \
			mydb_switch, "io_uring or libaio; off: threads"},                          \
		{"innodb_log_file_buffering", PARAM_CHOICE, offsetof(type, db.log_buffering),      \
			"on", 0, 0, mydb_switch,                                                   \
			"off: the log without page cache, but never on FUSE or btrfs"},            \
		{"innodb_doublewrite", PARAM_CHOICE, offsetof(type, db.doublewrite), "on", 0, 0,   \
			mydb_switch, "write pages twice, against torn ones"},                      \
		{"innodb_buffer_pool_size", PARAM_SIZE, offsetof(type, db.buffer_pool), "32M",     \
			5 << 20, UINT64_C(1) << 40, NULL, "page cache of InnoDB"},                 \
		{"innodb_log_file_size", PARAM_SIZE, offsetof(type, db.log_size), "16M", 4 << 20,  \
			UINT64_C(1) << 40, NULL, "redo log"},                                      \
		{"binlog", PARAM_CHOICE, offsetof(type, db.binlog), "off", 0, 0, mydb_switch,      \
			"a binary log, synced at each commit"},                                    \
	{                                                                                          \
		"set", PARAM_REST, offsetof(type, db.more), "", 0, sizeof(((type *)0)->db.more),   \
			NULL, "more options of the server, NAME=value,NAME=value; the last key"    \
	}

/* A server on DIR/mariadb and who asks it. */
struct mydb {
	struct server server;
	const struct mydb_settings *settings;
	uint64_t clients;
	char *program, *data, *socket;
};

/* Make the data directory of `my`, not durably: the caller of prepare() sees to that. */
int mydb_create(
	struct mydb *my, const char *dir, const struct mydb_settings *settings, struct error *err);
/* Fill a database with what `settings`, of the workload, say; `db` is connected to "mysql". */
typedef int mydb_fill(
	const void *settings, const struct mydb *my, MYSQL *db, const char *dir, struct error *err);
/* All of prepare(): mydb_create(), and `fill` on a server that is started for it, not durably. */
int mydb_prepare(const char *dir, const struct mydb_settings *settings, mydb_fill *fill,
	const void *arg, struct error *err);
/* For a directory that mydb_create() has filled. */
int mydb_attach(struct mydb *my, const char *dir, const struct mydb_settings *settings,
	uint64_t clients, struct error *err);
/* Start the server and wait until it answers. `durable`: false while loading. */
int mydb_start(struct mydb *my, bool durable, struct error *err);
int mydb_stop(struct mydb *my, struct error *err);
/* Kill what runs and free; safe on a zeroed struct. */
void mydb_done(struct mydb *my);

/* As root; `database` may be NULL. */
int mydb_connect(const struct mydb *my, const char *database, MYSQL **ret, struct error *err);
/* One statement; its result is read and dropped. -EAGAIN if the server rolled the transaction back
 * for a deadlock. */
int mydb_exec(MYSQL *db, const char *sql, struct error *err);
/* The one number that `sql` yields. */
int mydb_number(MYSQL *db, const char *sql, int64_t *ret, struct error *err);
/* CHECKSUM TABLE, of every row. */
int mydb_checksum(MYSQL *db, const char *table, uint64_t *ret, struct error *err);
/* CHECK TABLE. */
int mydb_check_table(MYSQL *db, const char *table, struct error *err);

void mydb_cleanup_db(MYSQL **db);
#define auto_mydb  __attribute__((cleanup(mydb_done)))
#define auto_mysql __attribute__((cleanup(mydb_cleanup_db)))

#endif

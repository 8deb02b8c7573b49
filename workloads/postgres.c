/* SPDX-License-Identifier: MIT */
/*
 * What would make two runs differ is off or fixed: autovacuum, checkpoints by time, the locale,
 * the WAL writer's rounds, and writeback hints, which a pass-through cannot see (sync_file_range).
 */
#include "postgres.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "spawn.h"
#include "vec.h"

#define DATA_DIR "postgres"
#define OWNER    "postgres" /* the role, whoever runs the server */

/* Beside the clients: autovacuum launcher, superusers. */
#define MORE_CONNECTIONS 10

static const struct server_kind kind = {
	.name = "PostgreSQL",
	.program = "postgres",
	.user = "postgres",
	.package = "the package postgresql",
	.stop_signal = SIGINT, /* "fast": clients are cut off, then a checkpoint */
};

const char *const postgres_sync_methods[] = {
	"fdatasync", "fsync", "open_datasync", "open_sync", NULL};
enum { COMMIT_OFF, COMMIT_LOCAL, COMMIT_ON };
const char *const postgres_commits[] = {
	[COMMIT_OFF] = "off",
	[COMMIT_LOCAL] = "local",
	[COMMIT_ON] = "on",
	NULL,
};
const char *const postgres_segments[] = {"1M", "2M", "4M", "8M", "16M", "32M", "64M", NULL};
const char *const postgres_switch[] = {"off", "on", NULL};

/* --- which version --- */

/* The directory of programs of version `wanted`, or of the newest (0). Caller frees. */
static char *find_bin(uint64_t wanted, struct error *err)
{
	glob_t found = {0};
	uint64_t best = 0;
	char *bin = NULL;

	glob("/usr/lib/postgresql/*/bin/postgres", 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *path = found.gl_pathv[i];
		uint64_t version = strtoull(path + strlen("/usr/lib/postgresql/"), NULL, 10);
		if (version < best || (wanted && version != wanted))
			continue;
		best = version;
		free(bin);
		bin = xasprintf("%.*s", (int)(strlen(path) - strlen("/postgres")), path);
	}
	globfree(&found);
	auto_free char *elsewhere = bin || wanted ? NULL : find_program(kind.program);
	if (elsewhere)
		bin = xasprintf("%.*s", (int)(strrchr(elsewhere, '/') - elsewhere), elsewhere);
	if (!bin && wanted)
		error_set(err, ENOENT,
			"PostgreSQL %" PRIu64 " is not installed; install postgresql-%" PRIu64,
			wanted, wanted);
	else if (!bin)
		error_set(err, ENOENT, "PostgreSQL is not installed; install %s", kind.package);
	return bin;
}

static int find(struct postgres *pg, const char *dir, const struct postgres_settings *settings,
	struct error *err)
{
	*pg = (struct postgres){.settings = settings, .clients = 1};
	pg->bin = find_bin(settings->version, err);
	if (!pg->bin)
		return -ENOENT;
	return server_init(&pg->server, &kind, dir, DATA_DIR, err);
}

int postgres_create(struct postgres *pg, const char *dir, const struct postgres_settings *settings,
	struct error *err)
{
	int r = find(pg, dir, settings, err);

	if (r)
		return r;
	auto_free char *initdb = xasprintf("%s/initdb", pg->bin);
	auto_free char *version = xasprintf("%s/PG_VERSION", pg->server.data_dir);
	const char *segment = postgres_segments[settings->wal_segment];
	auto_free char *segsize = xasprintf("--wal-segsize=%d", atoi(segment));
	const char *argv[] = {initdb, "-D", pg->server.data_dir, "-U", OWNER, "-A", "trust", "-E",
		"UTF8", "--no-locale", "--no-sync", segsize,
		settings->checksums ? "--data-checksums" : NULL, NULL};

	if (!access(version, F_OK))
		return error_set(err, EEXIST, "%s is there already; use an empty directory",
			pg->server.data_dir);
	return server_run(&pg->server, argv, err);
}

int postgres_attach(struct postgres *pg, const char *dir, const struct postgres_settings *settings,
	uint64_t clients, struct error *err)
{
	int r = find(pg, dir, settings, err);

	pg->clients = clients;
	return r;
}

void postgres_done(struct postgres *pg)
{
	server_kill(&pg->server);
	free(pg->bin);
	pg->bin = NULL;
}

/* --- start and stop --- */

/* "-c" and NAME=value, again and again; strings are owned. */
struct arguments {
	VEC(char *) list;
};

static void add_setting(struct arguments *a, char *setting)
{
	vec_push(&a->list, xstrdup("-c"));
	vec_push(&a->list, setting);
}

static void add_own(struct arguments *a, const struct postgres *pg, bool durable)
{
	static const char *const fixed[] = {
		"listen_addresses=",
		"autovacuum=off",
		"checkpoint_timeout=1d",
		"checkpoint_flush_after=0",
		"bgwriter_flush_after=0",
		"backend_flush_after=0",
		"wal_writer_flush_after=0",
		"dynamic_shared_memory_type=sysv", /* dies with the IPC namespace */
		"logging_collector=off",
		"min_wal_size=80MB",
	};

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		add_setting(a, xstrdup(fixed[i]));
	add_setting(a, xasprintf("unix_socket_directories=%s", pg->server.run_dir));
	add_setting(a, xasprintf("max_connections=%" PRIu64, pg->clients + MORE_CONNECTIONS));
	add_setting(a, xasprintf("fsync=%s", durable ? "on" : "off"));
	for (const char *const *one = pg->more; one && *one; one++)
		add_setting(a, xstrdup(*one));
}

static void add_settings(struct arguments *a, const struct postgres_settings *s)
{
	auto_free char *more = xstrdup(s->more);
	char *rest = more;

	add_setting(a, xasprintf("wal_sync_method=%s", postgres_sync_methods[s->wal_sync_method]));
	add_setting(a, xasprintf("synchronous_commit=%s", postgres_commits[s->synchronous_commit]));
	if (s->synchronous_commit != COMMIT_OFF) /* else it is who makes commits durable */
		add_setting(a, xstrdup("wal_writer_delay=10s"));
	add_setting(a, xasprintf("full_page_writes=%s", postgres_switch[s->full_page_writes]));
	add_setting(a, xasprintf("shared_buffers=%" PRIu64 "kB", s->shared_buffers >> 10));
	add_setting(a, xasprintf("max_wal_size=%" PRIu64 "MB", s->max_wal_size >> 20));
	for (char *one = strsep(&rest, ","); one; one = strsep(&rest, ","))
		if (*one)
			add_setting(a, xstrdup(one));
}

/* 1 when it accepts connections. */
static int is_ready(void *arg, struct error *err)
{
	const struct postgres *pg = arg;
	PGconn *db = NULL;

	(void)err;
	if (postgres_connect(pg, &db, NULL))
		return 0;
	PQfinish(db);
	return 1;
}

int postgres_start(struct postgres *pg, bool durable, struct error *err)
{
	struct arguments a = {0};

	vec_push(&a.list, xasprintf("%s/%s", pg->bin, kind.program));
	vec_push(&a.list, xstrdup("-D"));
	vec_push(&a.list, xstrdup(pg->server.data_dir));
	add_own(&a, pg, durable);
	add_settings(&a, pg->settings);
	vec_push(&a.list, NULL);
	int r = server_start(&pg->server, (const char *const *)a.list.at, err);
	vec_each (s, &a.list)
		free(*s);
	vec_free(&a.list);
	return r ? r : server_wait(&pg->server, is_ready, pg, err);
}

int postgres_stop(struct postgres *pg, struct error *err)
{
	return server_stop(&pg->server, err);
}

/* --- asking it --- */

/* libpq's message ends its lines; ours is one. */
int postgres_fail(PGconn *db, const char *what, struct error *err)
{
	auto_free char *text = xstrdup(PQerrorMessage(db));

	for (char *c = text; *c; c++)
		if (*c == '\n')
			*c = c[1] ? ' ' : '\0';
	return error_set(err, EIO, "PostgreSQL: %s%s%s", what, *what ? ": " : "", text);
}

static void no_notice(void *arg, const char *message)
{
	(void)arg;
	(void)message;
}

int postgres_connect(const struct postgres *pg, PGconn **ret, struct error *err)
{
	/* All that an environment variable could change otherwise. */
	static const char *const names[] = {"host", "port", "user", "dbname", "options",
		"client_encoding", "sslmode", "gssencmode", "connect_timeout", NULL};
	const char *values[] = {pg->server.run_dir, "5432", OWNER, "postgres", "", "UTF8",
		"disable", "disable", "60", NULL};
	auto_pgconn PGconn *db = PQconnectdbParams(names, values, 0);

	if (PQstatus(db) != CONNECTION_OK)
		return postgres_fail(db, "", err);
	PQsetNoticeProcessor(db, no_notice, NULL);
	*ret = take_ptr(db);
	return 0;
}

int postgres_exec(PGconn *db, const char *sql, struct error *err)
{
	PGresult *result = PQexec(db, sql);
	ExecStatusType status = PQresultStatus(result);

	PQclear(result);
	if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
		return 0;
	return postgres_fail(db, sql, err);
}

int postgres_copy(PGconn *db, const char *sql, ExecStatusType way, struct error *err)
{
	PGresult *result = PQexec(db, sql);
	ExecStatusType status = PQresultStatus(result);

	PQclear(result);
	return status == way ? 0 : postgres_fail(db, sql, err);
}

int postgres_number(PGconn *db, const char *sql, int64_t *ret, struct error *err)
{
	PGresult *result = PQexec(db, sql);
	int r = 0;

	if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1)
		r = postgres_fail(db, sql, err);
	else
		*ret = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
	PQclear(result);
	return r;
}

int postgres_integrity(PGconn *db, struct error *err)
{
	static const char available[] =
		"select count(*) from pg_available_extensions where name = 'amcheck'";
	static const char indexes[] =
		"select count(bt_index_parent_check(c.oid, true)) from pg_class c"
		" join pg_am a on a.oid = c.relam where a.amname = 'btree' and c.relkind = 'i'";
	static const char heaps[] =
		"select count(*) from pg_class c, verify_heapam(c.oid) where c.relkind = 'r'";
	int64_t count = 0;
	int r = postgres_number(db, available, &count, err);

	if (r || !count)
		return r;
	r = postgres_exec(db, "create extension if not exists amcheck", err);
	if (!r)
		r = postgres_number(db, indexes, &count, err);
	if (!r && PQserverVersion(db) >= 140000)
		r = postgres_number(db, heaps, &count, err);
	else
		count = 0;
	if (!r && count)
		r = error_set(err, EIO, "amcheck finds %" PRId64 " damaged rows", count);
	return r;
}

void postgres_cleanup_db(PGconn **db)
{
	PQfinish(*db);
}

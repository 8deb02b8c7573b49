/* SPDX-License-Identifier: MIT */
/*
 * Tables restored from a dump, as people do it: mariadb-dump has written the statements, the client
 * program `mariadb` sends them. Or the same tables made by a client's inserts, as sysbench does.
 *
 *   prepare  fills `restored`, notes rows and checksums, dumps it to DIR/dump.sql, drops its tables
 *   run      server; the dump is copied out of DIR, restored from there; server's end
 *   check    rows and checksums are those of before, and every table is sound
 *
 * The dump is read from outside, so that the restore only writes here; the copy is a step of its own
 * and not in the metric.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "all.h"
#include "cleanup.h"
#include "io.h"
#include "sbtest.h"
#include "spawn.h"
#include "vec.h"

#define RESTORED "restored"
#define CREATED  "created"

enum mode { MODE_RESTORE, MODE_CREATE, MODE_BOTH };

struct settings {
	uint64_t tables, rows, seed;
	unsigned mode;
	struct mydb_settings db;
};

static const char *const modes[] = {
	[MODE_RESTORE] = "restore",
	[MODE_CREATE] = "create",
	[MODE_BOTH] = "both",
	NULL,
};

static const struct param params[] = {
	{"rows", PARAM_NUMBER, offsetof(struct settings, rows), "20000", 1, 100000000, NULL,
		"of each table; 1000000 and 2000000 in the comparison of 2004"},
	{"tables", PARAM_NUMBER, offsetof(struct settings, tables), "1", 1, 1000, NULL,
		"one after the other"},
	{"mode", PARAM_CHOICE, offsetof(struct settings, mode), "restore", 0, 0, modes,
		"restore a dump, create the same tables by inserts, or first this, then that"},
	{"seed", PARAM_NUMBER, offsetof(struct settings, seed), "1", 0, 0, NULL,
		"of the generator that chooses values"},
	MYDB_PARAMS(struct settings),
};

/* --- client programs --- */

/* MariaDB's name, and that of MySQL. Caller frees. */
static char *find_client(const char *mariadb, const char *mysql, struct error *err)
{
	char *path = find_program(mariadb);

	path = path ? path : find_program(mysql);
	if (!path)
		error_set(err, ENOENT, "%s is not installed; install the package mariadb-client",
			mariadb);
	return path;
}

static int dump(const struct mydb *my, const char *path, struct error *err)
{
	auto_free char *program = find_client("mariadb-dump", "mysqldump", err);
	auto_free char *server = xasprintf("--socket=%s", my->socket);
	auto_free char *result = xasprintf("--result-file=%s", path);
	const char *const argv[] = {program, "--no-defaults", "--user=root", server, result,
		"--skip-dump-date", RESTORED, NULL};

	return program ? spawn_run(argv, NULL, err) : -ENOENT;
}

static int restore(const struct mydb *my, const char *path, struct error *err)
{
	auto_free char *program = find_client("mariadb", "mysql", err);
	auto_free char *server = xasprintf("--socket=%s", my->socket);
	const char *const argv[] = {"sh", "-c",
		"exec \"$1\" --no-defaults --user=root \"$2\" " RESTORED " <\"$3\"", "sh", program,
		server, path, NULL};

	return program ? spawn_run(argv, NULL, err) : -ENOENT;
}

/* --- tables --- */

static int make_tables(const struct settings *s, MYSQL *db, const char *database, struct error *err)
{
	int r = mysql_select_db(db, database)
	                ? error_set(err, EIO, "%s: %s", database, mysql_error(db))
	                : 0;

	for (uint64_t i = 1; i <= s->tables && !r; i++)
		r = sbtest_make(db, i, mydb_engines[s->db.engine], s->rows, s->seed, err);
	return r;
}

static int drop_tables(const struct settings *s, MYSQL *db, struct error *err)
{
	int r = 0;

	for (uint64_t i = 1; i <= s->tables && !r; i++) {
		auto_free char *sql = xasprintf("drop table " RESTORED ".sbtest%" PRIu64, i);
		r = mydb_exec(db, sql, err);
	}
	return r;
}

/* What a table holds, in words that are compared. Caller frees; NULL on failure. */
static char *describe(MYSQL *db, const char *database, uint64_t table, struct error *err)
{
	auto_free char *name = xasprintf("%s.sbtest%" PRIu64, database, table);
	auto_free char *count = xasprintf("select count(*) from %s", name);
	int64_t rows = 0;
	uint64_t checksum = 0;
	int r = mydb_number(db, count, &rows, err);

	if (!r)
		r = mydb_checksum(db, name, &checksum, err);
	return r ? NULL : xasprintf("%" PRId64 " rows with the checksum %" PRIu64, rows, checksum);
}

static char *notes_path(const char *dir)
{
	return xasprintf("%s/tables.txt", dir);
}

/* A line for each table. */
static int write_notes(const struct settings *s, MYSQL *db, const char *dir, struct error *err)
{
	auto_free char *path = notes_path(dir);
	auto_fclose FILE *file = fopen(path, "we");

	if (!file)
		return error_errno(err, errno, "%s", path);
	for (uint64_t i = 1; i <= s->tables; i++) {
		auto_free char *text = describe(db, RESTORED, i, err);
		if (!text)
			return err && err->code ? -err->code : -EIO;
		fprintf(file, "%s\n", text);
	}
	return fflush(file) ? error_errno(err, errno, "%s", path) : 0;
}

static int compare_table(
	MYSQL *db, const char *database, uint64_t table, const char *want, struct error *err)
{
	auto_free char *name = xasprintf("%s.sbtest%" PRIu64, database, table);
	auto_free char *got = describe(db, database, table, err);

	if (!got)
		return err && err->code ? -err->code : -EIO;
	if (strcmp(got, want) != 0)
		return error_set(err, EIO, "%s holds %s, not %s", name, got, want);
	return mydb_check_table(db, name, err);
}

static int compare_notes(const struct settings *s, MYSQL *db, const char *database, const char *dir,
	struct error *err)
{
	auto_free char *path = notes_path(dir);
	auto_fclose FILE *file = fopen(path, "re");
	auto_free char *line = NULL;
	size_t size = 0;
	int r = 0;

	if (!file)
		return error_errno(err, errno, "%s", path);
	for (uint64_t i = 1; i <= s->tables && !r; i++) {
		ssize_t length = getline(&line, &size, file);
		if (length <= 0)
			return error_set(err, EIO, "%s is too short", path);
		line[length - 1] = '\0';
		r = compare_table(db, database, i, line, err);
	}
	return r;
}

/* --- prepare --- */

static char *dump_path(const char *dir)
{
	return xasprintf("%s/dump.sql", dir);
}

static int fill_and_dump(
	const void *settings, const struct mydb *my, MYSQL *db, const char *dir, struct error *err)
{
	const struct settings *s = settings;
	auto_free char *path = dump_path(dir);
	int r = mydb_exec(db, "create database " RESTORED, err);

	if (!r)
		r = mydb_exec(db, "create database " CREATED, err);
	if (!r)
		r = make_tables(s, db, RESTORED, err);
	if (!r)
		r = write_notes(s, db, dir, err);
	if (!r)
		r = dump(my, path, err);
	return r ? r : drop_tables(s, db, err);
}

static int restore_prepare(const void *settings, const char *dir, struct error *err)
{
	const struct settings *s = settings;

	return mydb_prepare(dir, &s->db, fill_and_dump, s, err);
}

/* --- run --- */

static int copy_out(const char *from, const char *to, struct error *err)
{
	auto_close int in = open(from, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		return error_errno(err, errno, "%s", from);
	auto_close int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r = out < 0 ? -errno : copy_rest(in, out);
	return r ? error_errno(err, r, "cannot copy %s to %s", from, to) : 0;
}

/* One of the two ways to make the tables; the metric counts it. */
static int timed_part(const struct settings *s, const struct mydb *my, enum mode mode,
	const char *path, struct outcome *out, struct error *err)
{
	auto_mysql MYSQL *db = NULL;
	struct outcome_step *step = outcome_step(out, my->server.data_dir, modes[mode]);
	uint64_t start_ns = now_ns();
	int r;

	if (mode == MODE_CREATE) {
		r = mydb_connect(my, NULL, &db, err);
		r = r ? r : make_tables(s, db, CREATED, err);
	} else {
		r = restore(my, path, err);
	}
	step->elapsed_ns = now_ns() - start_ns;
	step->rows = s->rows * s->tables;
	out->operations += step->rows;
	out->elapsed_ns += step->elapsed_ns;
	hist_add(&out->latency, step->elapsed_ns);
	return r;
}

static int measured_part(const struct settings *s, const struct mydb *my, const char *dir,
	struct outcome *out, struct error *err)
{
	auto_free char *from = dump_path(dir);
	auto_free char *path = xasprintf("%s/dump.sql", my->server.run_dir);
	int r = 0;

	if (s->mode != MODE_CREATE) {
		struct outcome_step *step = outcome_step(out, dir, "read dump");
		uint64_t start_ns = now_ns();
		r = copy_out(from, path, err);
		step->elapsed_ns = now_ns() - start_ns;
	}
	if (!r && s->mode != MODE_RESTORE)
		r = timed_part(s, my, MODE_CREATE, path, out, err);
	if (!r && s->mode != MODE_CREATE)
		r = timed_part(s, my, MODE_RESTORE, path, out, err);
	outcome_rate(out);
	return r;
}

static int restore_run(
	const void *settings, const char *dir, struct outcome *ret, struct error *err)
{
	const struct settings *s = settings;
	auto_mydb struct mydb my = {0};
	uint64_t start_ns = now_ns();

	*ret = (struct outcome){
		.planned = s->rows * s->tables * (s->mode == MODE_BOTH ? 2 : 1),
		.metric_name = "rows",
		.metric_unit = "rows/s",
	};
	int r = mydb_attach(&my, dir, &s->db, 1, err);
	phase_mark(dir, "start");
	if (!r)
		r = mydb_start(&my, true, err);
	if (!r) {
		r = measured_part(s, &my, dir, ret, err);
		phase_mark(dir, "stop");
		r = r ? server_blame(&my.server, err) : mydb_stop(&my, err);
	}
	ret->elapsed_ns = now_ns() - start_ns;
	return r;
}

/* --- check --- */

static int restore_check(const void *settings, const char *dir, struct error *err)
{
	const struct settings *s = settings;
	auto_mydb struct mydb my = {0};
	MYSQL *db = NULL;

	int r = mydb_attach(&my, dir, &s->db, 1, err);
	if (!r)
		r = mydb_start(&my, true, err);
	if (!r)
		r = mydb_connect(&my, NULL, &db, err);
	if (!r && s->mode != MODE_CREATE)
		r = compare_notes(s, db, RESTORED, dir, err);
	if (!r && s->mode != MODE_RESTORE)
		r = compare_notes(s, db, CREATED, dir, err);
	mydb_cleanup_db(&db);
	return r ? r : mydb_stop(&my, err);
}

const struct workload workload_my_restore = {
	.name = "my-restore",
	.summary = "tables restored from a dump on MariaDB or MySQL",
	.params = params,
	.param_count = ARRAY_SIZE(params),
	.settings_size = sizeof(struct settings),
	.prepare = restore_prepare,
	.run = restore_run,
	.check = restore_check,
};

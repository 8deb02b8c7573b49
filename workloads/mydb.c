/* SPDX-License-Identifier: MIT */
/*
 * MariaDB, or MySQL where that is what is installed. DIR/mariadb holds the data directory and, on
 * the same file system, the one for temporary files.
 *
 * InnoDB looks at the file system it finds: its log loses O_DIRECT on FUSE and btrfs. So the log is
 * buffered everywhere unless asked otherwise, and a capture does what the real runs do.
 */
#include "mydb.h"

#include <errmsg.h>
#include <errno.h>
#include <inttypes.h>
#include <mysqld_error.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "io.h"
#include "spawn.h"
#include "vec.h"

#define NOSYNC "libfsreel-nosync.so"

/* Beside the clients. */
#define MORE_CONNECTIONS 10

static const struct server_kind kind = {
	.name = "MariaDB",
	.program = "mariadbd",
	.user = "mysql",
	.package = "the package mariadb-server",
	.stop_signal = SIGTERM,
};

const char *const mydb_engines[] = {
	[MYDB_INNODB] = "innodb",
	[MYDB_MYISAM] = "myisam",
	[MYDB_ARIA] = "aria",
	[MYDB_ROCKSDB] = "rocksdb",
	NULL,
};
const char *const mydb_durable[] = {"no", "yes", NULL};
const char *const mydb_flush_log[] = {"0", "1", "2", "3", NULL};
const char *const mydb_flush_methods[] = {
	"fsync", "O_DSYNC", "O_DIRECT", "O_DIRECT_NO_FSYNC", "littlesync", "nosync", NULL};
const char *const mydb_page_sizes[] = {"4096", "8192", "16384", "32768", "65536", NULL};
const char *const mydb_switch[] = {"off", "on", NULL};

/* --- command lines --- */

/* Strings are owned. */
struct arguments {
	VEC(char *) list;
};

static void arguments_done(struct arguments *a)
{
	vec_each (s, &a->list)
		free(*s);
	vec_free(&a->list);
}
#define auto_arguments __attribute__((cleanup(arguments_done)))

#define add(a, ...) vec_push(&(a)->list, xasprintf(__VA_ARGS__))

/* What the server and the program that makes its data directory must agree on. "loose": MySQL does
 * not know all of it. */
static void add_shared(struct arguments *a, const struct mydb *my, bool durable)
{
	const struct mydb_settings *s = my->settings;

	add(a, "--no-defaults");
	add(a, "--datadir=%s", my->data);
	add(a, "--tmpdir=%s/tmp", my->server.data_dir);
	add(a, "--innodb-page-size=%s", mydb_page_sizes[s->page_size]);
	add(a, "--innodb-log-file-size=%" PRIu64, s->log_size);
	add(a, "--innodb-buffer-pool-size=%" PRIu64, s->buffer_pool);
	/* An io_uring would sync past the library that keeps calls from doing it. */
	add(a, "--innodb-use-native-aio=%s", mydb_switch[s->durable && s->native_aio]);
	add(a, "--innodb-flush-method=%s",
		durable ? mydb_flush_methods[s->flush_method] : "nosync");
	if (!durable)
		add(a, "--loose-sync-frm=off");
}

static void add_own(struct arguments *a, const struct mydb *my)
{
	add(a, "--socket=%s", my->socket);
	add(a, "--pid-file=%s/pid", my->server.run_dir);
	add(a, "--max-connections=%" PRIu64, my->clients + MORE_CONNECTIONS);
	add(a, "--skip-networking");
	add(a, "--skip-name-resolve");
	add(a, "--loose-mysqlx=off");
	add(a, "--loose-performance-schema=off");
	/* Work at times of its own choice. */
	add(a, "--loose-innodb-buffer-pool-dump-at-shutdown=off");
	add(a, "--loose-innodb-buffer-pool-load-at-startup=off");
	add(a, "--loose-innodb-stats-auto-recalc=off");
}

static void add_settings(struct arguments *a, const struct mydb_settings *s)
{
	auto_free char *more = xstrdup(s->more);
	char *rest = more;

	add(a, "--innodb-flush-log-at-trx-commit=%s", mydb_flush_log[s->flush_log]);
	add(a, "--innodb-doublewrite=%s", mydb_switch[s->doublewrite]);
	add(a, "--loose-innodb-log-file-buffering=%s", mydb_switch[s->log_buffering]);
	if (s->engine == MYDB_ROCKSDB)
		add(a, "--plugin-load-add=ha_rocksdb");
	if (s->binlog) {
		add(a, "--log-bin=binlog");
		add(a, "--server-id=1");
		add(a, "--sync-binlog=1");
	} else {
		add(a, "--skip-log-bin");
	}
	for (char *one = strsep(&rest, ","); one; one = strsep(&rest, ","))
		if (*one)
			add(a, "--%s", one);
}

/* --- data directory --- */

static int find(
	struct mydb *my, const char *dir, const struct mydb_settings *settings, struct error *err)
{
	*my = (struct mydb){.settings = settings, .clients = 1};
	my->program = find_program(kind.program);
	if (!my->program)
		my->program = find_program("mysqld");
	if (!my->program)
		return error_set(
			err, ENOENT, "%s is not installed; install %s", kind.name, kind.package);
	int r = server_init(&my->server, &kind, dir, "mariadb", err);
	if (r)
		return r;
	my->data = xasprintf("%s/data", my->server.data_dir);
	my->socket = xasprintf("%s/socket", my->server.run_dir);
	return 0;
}

/* The system tables: MariaDB has a program of its own for it. */
static int initialize(struct mydb *my, struct error *err)
{
	auto_free char *install = find_program("mariadb-install-db");
	auto_arguments struct arguments a = {0};

	add(&a, "%s", install ? install : my->program);
	add_shared(&a, my, false);
	if (install) {
		add(&a, "--auth-root-authentication-method=normal");
		add(&a, "--skip-test-db");
		add(&a, "--skip-name-resolve");
	} else {
		add(&a, "--initialize-insecure");
	}
	vec_push(&a.list, NULL);
	return server_run(&my->server, (const char *const *)a.list.at, err);
}

int mydb_create(
	struct mydb *my, const char *dir, const struct mydb_settings *settings, struct error *err)
{
	int r = find(my, dir, settings, err);

	if (r)
		return r;
	auto_free char *tmp = xasprintf("%s/tmp", my->server.data_dir);
	const char *const mkdir[] = {"mkdir", tmp, NULL};
	if (!access(my->data, F_OK))
		return error_set(
			err, EEXIST, "%s is there already; use an empty directory", my->data);
	r = server_run(&my->server, mkdir, err);
	return r ? r : initialize(my, err);
}

int mydb_attach(struct mydb *my, const char *dir, const struct mydb_settings *settings,
	uint64_t clients, struct error *err)
{
	int r = find(my, dir, settings, err);

	my->clients = clients;
	return r;
}

void mydb_done(struct mydb *my)
{
	server_kill(&my->server);
	free(my->program);
	free(my->data);
	free(my->socket);
	my->program = my->data = my->socket = NULL;
}

/* --- start and stop --- */

int mydb_connect(const struct mydb *my, const char *database, MYSQL **ret, struct error *err)
{
	auto_mysql MYSQL *db = mysql_init(NULL);
	unsigned timeout = 60;

	if (!db)
		return error_set(err, ENOMEM, "MariaDB: out of memory");
	mysql_options(db, MYSQL_OPT_CONNECT_TIMEOUT, &timeout);
	if (!mysql_real_connect(db, NULL, "root", "", database, 0, my->socket, 0))
		return error_set(err, EIO, "MariaDB: %s", mysql_error(db));
	*ret = take_ptr(db);
	return 0;
}

/* 1 when it accepts connections. */
static int is_ready(void *arg, struct error *err)
{
	MYSQL *db = NULL;

	(void)err;
	if (mydb_connect(arg, NULL, &db, NULL))
		return 0;
	mysql_close(db);
	return 1;
}

/* In the build tree, then where it is installed. Caller frees. */
static char *find_nosync(struct error *err)
{
	auto_free char *program = realpath("/proc/self/exe", NULL);
	char *slash = program ? strrchr(program, '/') : NULL;

	if (slash)
		*slash = '\0';
	auto_free char *built =
		xasprintf("%s/../workloads/" NOSYNC, program ? program : LIBRARY_DIR);
	if (!access(built, R_OK))
		return take_ptr(built);
	if (!access(LIBRARY_DIR "/" NOSYNC, R_OK))
		return xstrdup(LIBRARY_DIR "/" NOSYNC);
	error_set(err, ENOENT,
		"durable=no needs " NOSYNC ", which is neither at %s nor in " LIBRARY_DIR
		"; build fsreel again, or install it",
		built);
	return NULL;
}

static bool has_mapped(const char *pid, const char *library)
{
	auto_free char *path = xasprintf("/proc/%s/maps", pid);
	auto_fclose FILE *maps = fopen(path, "re");
	auto_free char *line = NULL;
	size_t size = 0;

	while (maps && getline(&line, &size, maps) > 0)
		if (strstr(line, library))
			return true;
	return false;
}

/* The dynamic linker only warns of what it cannot load, and the server would sync after all. */
static int check_nosync(const struct mydb *my, struct error *err)
{
	auto_free char *pid_path = xasprintf("%s/pid", my->server.run_dir);
	auto_free char *pid = read_text(pid_path);

	if (pid && has_mapped(pid, NOSYNC))
		return 0;
	return error_set(err, EIO,
		"%s did not load %s, so durable=no would not hold; set TMPDIR to a file system "
		"mounted without noexec",
		kind.name, my->server.preload);
}

int mydb_start(struct mydb *my, bool durable, struct error *err)
{
	auto_arguments struct arguments a = {0};

	if (!my->settings->durable && !my->server.preload) {
		auto_free char *library = find_nosync(err);
		int r = library ? server_preload(&my->server, library, err) : -ENOENT;
		if (r)
			return r;
	}
	add(&a, "%s", my->program);
	add_shared(&a, my, durable);
	add_own(&a, my);
	add_settings(&a, my->settings);
	vec_push(&a.list, NULL);
	int r = server_start(&my->server, (const char *const *)a.list.at, err);
	if (!r)
		r = server_wait(&my->server, is_ready, my, err);
	return !r && my->server.preload ? check_nosync(my, err) : r;
}

int mydb_stop(struct mydb *my, struct error *err)
{
	return server_stop(&my->server, err);
}

/* --- asking it --- */

static int mydb_error(MYSQL *db, const char *what, struct error *err)
{
	unsigned number = mysql_errno(db);
	bool again = number == ER_LOCK_DEADLOCK || number == ER_LOCK_WAIT_TIMEOUT;

	return error_set(err, again ? EAGAIN : EIO, "MariaDB: %.60s: %s", what, mysql_error(db));
}

int mydb_exec(MYSQL *db, const char *sql, struct error *err)
{
	if (mysql_real_query(db, sql, strlen(sql)))
		return mydb_error(db, sql, err);
	MYSQL_RES *result = mysql_store_result(db);
	mysql_free_result(result);
	return mysql_errno(db) ? mydb_error(db, sql, err) : 0;
}

/* Column `column` of the first row. */
static int number_in(MYSQL *db, const char *sql, unsigned column, int64_t *ret, struct error *err)
{
	MYSQL_RES *result = NULL;
	MYSQL_ROW row = NULL;
	int r = 0;

	if (!mysql_real_query(db, sql, strlen(sql)))
		result = mysql_store_result(db);
	if (result && column < mysql_num_fields(result))
		row = mysql_fetch_row(result);
	if (row && row[column])
		*ret = strtoll(row[column], NULL, 10);
	else
		r = mydb_error(db, sql, err);
	mysql_free_result(result);
	return r;
}

int mydb_number(MYSQL *db, const char *sql, int64_t *ret, struct error *err)
{
	return number_in(db, sql, 0, ret, err);
}

int mydb_checksum(MYSQL *db, const char *table, uint64_t *ret, struct error *err)
{
	auto_free char *sql = xasprintf("checksum table %s extended", table);
	int64_t checksum = 0;
	int r = number_in(db, sql, 1, &checksum, err);

	if (!r)
		*ret = (uint64_t)checksum;
	return r;
}

int mydb_check_table(MYSQL *db, const char *table, struct error *err)
{
	auto_free char *sql = xasprintf("check table %s extended", table);
	MYSQL_ROW row;
	int r = 0;

	if (mysql_real_query(db, sql, strlen(sql)))
		return mydb_error(db, sql, err);
	MYSQL_RES *result = mysql_store_result(db);
	if (!result)
		return mydb_error(db, sql, err);
	/* Table, Op, Msg_type, Msg_text. An engine that has no check says so in a note. */
	while (!r && (row = mysql_fetch_row(result)))
		if (!strcmp(row[2], "error") || !strcmp(row[2], "warning") ||
			(!strcmp(row[2], "status") && strcmp(row[3], "OK")))
			r = error_set(err, EIO, "table %s is damaged: %s", table, row[3]);
	mysql_free_result(result);
	return r;
}

void mydb_cleanup_db(MYSQL **db)
{
	if (*db)
		mysql_close(*db);
}

/* --- what prepare() is made of --- */

int mydb_prepare(const char *dir, const struct mydb_settings *settings, mydb_fill *fill,
	const void *arg, struct error *err)
{
	auto_mydb struct mydb my = {0};
	MYSQL *db = NULL;

	int r = mydb_create(&my, dir, settings, err);
	if (!r)
		r = mydb_start(&my, false, err);
	if (!r)
		r = mydb_connect(&my, "mysql", &db, err);
	if (!r)
		r = fill(arg, &my, db, dir, err);
	mydb_cleanup_db(&db);
	return r ? r : mydb_stop(&my, err);
}

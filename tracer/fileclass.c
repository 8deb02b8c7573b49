/* SPDX-License-Identifier: MIT */
#include "fileclass.h"

#include <fnmatch.h>
#include <string.h>

#define HEX  "[0-9A-F]"
#define HEX8 HEX HEX HEX HEX HEX HEX HEX HEX

/* The first row that fits counts. */
static const struct {
	const char *pattern;
	enum file_class class;
} patterns[] = {
	/* SQLite */
	{"*-wal", FILE_WAL},
	{"*-journal", FILE_JOURNAL},
	{"*-mj????????*", FILE_JOURNAL}, /* super-journal of several databases */
	{"*-shm", FILE_SHM},
	{"etilqs_*", FILE_TEMP},
	/* PostgreSQL; relations are in is_relation() */
	{"xlogtemp.*", FILE_WAL},
	{HEX8 HEX8 HEX8, FILE_WAL},
	{HEX8 HEX8 HEX8 ".*", FILE_WAL}, /* .partial, .backup, .ready */
	{"0" HEX HEX HEX, FILE_STATUS},  /* clog, multixact, subtrans, commit_ts, notify */
	{"pgsql_tmp*", FILE_TEMP},
	{"t[0-9]*_[0-9]*", FILE_TEMP}, /* temporary relations */
	{"pg_control", FILE_CONTROL},
	{"pg_filenode.map*", FILE_CONTROL},
	{"pg_internal.init*", FILE_CONTROL},
	{"PG_VERSION", FILE_CONTROL},
	{"postmaster.*", FILE_CONTROL},
	{"postgresql.*conf", FILE_CONTROL},
	{"pg_*.conf", FILE_CONTROL},
	{"replorigin_checkpoint*", FILE_CONTROL},
	{"pgstat.*", FILE_CONTROL},
	/* InnoDB, MyISAM, Aria */
	{"ib_logfile*", FILE_WAL},
	{"#ib_redo*", FILE_WAL},
	{"#ib_*.dblwr", FILE_DOUBLEWRITE},
	{"ib_doublewrite*", FILE_DOUBLEWRITE},
	{"*-bin.[0-9]*", FILE_BINLOG},
	{"binlog.[0-9]*", FILE_BINLOG},
	{"*-bin.index", FILE_BINLOG},
	{"binlog.index", FILE_BINLOG},
	{"aria_log.*", FILE_WAL},
	{"aria_log_control", FILE_CONTROL},
	{"ddl_recovery*.log", FILE_CONTROL},
	{"tc.log", FILE_WAL},
	{"ibtmp*", FILE_TEMP},
	{"#sql*", FILE_TEMP},
	{"ibdata*", FILE_DATABASE}, /* undo and doublewrite of MariaDB live in it too */
	{"undo_[0-9]*", FILE_UNDO},
	{"undo[0-9]*", FILE_UNDO},
	{"*.ibu", FILE_UNDO},
	{"*.ibd", FILE_DATABASE},
	{"*.MAD", FILE_DATABASE},
	{"*.MYD", FILE_DATABASE},
	{"*.MAI", FILE_INDEX},
	{"*.MYI", FILE_INDEX},
	{"*.frm", FILE_CONTROL},
	{"*.sdi", FILE_CONTROL},
	{"db.opt", FILE_CONTROL},
	/* Berkeley DB */
	{"log.[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]", FILE_WAL},
	{"__db.[0-9][0-9][0-9]", FILE_SHM}, /* regions: cache, locks, log buffer */
	{"__db.rep*", FILE_CONTROL},
	{"__db.register", FILE_CONTROL},
	{"__dbq.*", FILE_DATABASE}, /* extents of a queue */
	/* anything */
	{"*.db", FILE_DATABASE},
	{"*.sqlite", FILE_DATABASE},
	{"*.sqlite3", FILE_DATABASE},
	{"*.db3", FILE_DATABASE},
	{"*.wal", FILE_WAL},
	{"*.journal", FILE_JOURNAL},
	{"*.tmp", FILE_TEMP},
	{"*.temp", FILE_TEMP},
	{"*.err", FILE_LOG},
	{"*.log", FILE_LOG},
};

static const char *const names[FILE_CLASS_COUNT] = {
	[FILE_OTHER] = "other",
	[FILE_DATABASE] = "database",
	[FILE_INDEX] = "index",
	[FILE_WAL] = "wal",
	[FILE_JOURNAL] = "journal",
	[FILE_UNDO] = "undo",
	[FILE_DOUBLEWRITE] = "doublewrite",
	[FILE_BINLOG] = "binlog",
	[FILE_STATUS] = "status",
	[FILE_CONTROL] = "control",
	[FILE_SHM] = "shm",
	[FILE_LOG] = "log",
	[FILE_TEMP] = "temp",
	[FILE_DIRECTORY] = "directory",
};

/* PostgreSQL's: three digits or more, a fork perhaps, a segment perhaps. */
static bool is_relation(const char *name)
{
	static const char *const forks[] = {"_fsm", "_vm", "_init"};
	size_t digits = strspn(name, "0123456789");
	const char *rest = name + digits;

	if (digits < 3 || *name == '0')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(forks); i++)
		if (!strncmp(rest, forks[i], strlen(forks[i])))
			rest += strlen(forks[i]);
	if (*rest == '.' && rest[1])
		rest += 1 + strspn(rest + 1, "0123456789");
	return !*rest;
}

enum file_class file_class_of(struct text name)
{
	char copy[256];

	if (!name.size || name.size >= sizeof(copy))
		return FILE_OTHER;
	memcpy(copy, name.data, name.size);
	copy[name.size] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		if (!fnmatch(patterns[i].pattern, copy, 0))
			return patterns[i].class;
	return is_relation(copy) ? FILE_DATABASE : FILE_OTHER;
}

const char *file_class_name(enum file_class class)
{
	return (unsigned)class < FILE_CLASS_COUNT ? names[class] : "?";
}

enum file_class file_class_by_name(const char *name)
{
	for (unsigned i = 0; i < FILE_CLASS_COUNT; i++)
		if (!strcmp(names[i], name))
			return (enum file_class)i;
	return FILE_CLASS_COUNT;
}

/* SPDX-License-Identifier: MIT */
#include "fileclass.h"

#include <fnmatch.h>
#include <string.h>

#define HEX    "[0-9A-F]"
#define HEX8   HEX HEX HEX HEX HEX HEX HEX HEX
#define DIGIT  "[0-9]"
#define DIGIT5 DIGIT DIGIT DIGIT DIGIT DIGIT
#define DIGIT6 DIGIT5 DIGIT

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
	/* PostgreSQL; relations and status files are told by functions below */
	{"xlogtemp.*", FILE_WAL},
	{HEX8 HEX8 HEX8, FILE_WAL},
	{HEX8 HEX8 HEX8 ".*", FILE_WAL}, /* .partial, .backup, .ready */
	{HEX8 ".history", FILE_WAL},
	{HEX8 HEX8 HEX8 HEX8 HEX8 ".summary", FILE_STATUS},
	{"pgsql_tmp*", FILE_TEMP},
	{"i" DIGIT "*of" DIGIT "*.p" DIGIT "*", FILE_TEMP}, /* batches of a parallel hash join */
	{"o" DIGIT "*of" DIGIT "*.p" DIGIT "*", FILE_TEMP},
	{"t" DIGIT "*_" DIGIT "*", FILE_TEMP}, /* temporary relations */
	{"pg_control", FILE_CONTROL},
	{"pg_filenode.map*", FILE_CONTROL},
	{"pg_internal.init*", FILE_CONTROL},
	{"PG_VERSION", FILE_CONTROL},
	{"postmaster.*", FILE_CONTROL},
	{"postgresql.*conf*", FILE_CONTROL},
	{"pg_*.conf", FILE_CONTROL},
	{"backup_label*", FILE_CONTROL},
	{"tablespace_map*", FILE_CONTROL},
	{"recovery.*", FILE_CONTROL},
	{"standby.signal", FILE_CONTROL},
	{"replorigin_checkpoint*", FILE_CONTROL},
	{"pgstat.*", FILE_CONTROL},
	{"global.stat", FILE_CONTROL},
	{"global.tmp", FILE_CONTROL},
	{"db_" DIGIT "*.stat", FILE_CONTROL},
	{"db_" DIGIT "*.tmp", FILE_CONTROL},
	{"pgss_query_texts.stat", FILE_CONTROL},
	{"mmap." DIGIT "*", FILE_SHM},
	{"current_logfiles*", FILE_LOG},
	/* RocksDB; its LOG is for people, its *.log is not */
	{DIGIT6 ".log", FILE_WAL},
	{DIGIT6 ".sst", FILE_DATABASE},
	{DIGIT6 ".blob", FILE_DATABASE},
	{"LOG", FILE_LOG},
	{"LOG.old*", FILE_LOG},
	{"MANIFEST-" DIGIT6, FILE_CONTROL},
	{"OPTIONS-" DIGIT6 "*", FILE_CONTROL},
	{DIGIT6 ".dbtmp", FILE_CONTROL},
	{"CURRENT", FILE_CONTROL},
	{"IDENTITY", FILE_CONTROL},
	{"LOCK", FILE_CONTROL},
	/* InnoDB, MyISAM, Aria and what is around them */
	{"ib_logfile*", FILE_WAL},
	{"#ib_redo*", FILE_WAL},
	{"#ib_*.dblwr", FILE_DOUBLEWRITE},
	{"#ib_*.bdblwr", FILE_DOUBLEWRITE},
	{"ib_doublewrite*", FILE_DOUBLEWRITE},
	{"*-bin." DIGIT "*", FILE_BINLOG},
	{"binlog." DIGIT "*", FILE_BINLOG},
	{"*-bin.index", FILE_BINLOG},
	{"binlog.index", FILE_BINLOG},
	{"*-bin.state", FILE_BINLOG},
	{"binlog.state", FILE_BINLOG},
	{"binlog.~rec~", FILE_BINLOG},
	{"aria_log.*", FILE_WAL},
	{"aria_log_control", FILE_CONTROL},
	{"maria_log_control", FILE_CONTROL},
	{"ddl_recovery*.log", FILE_CONTROL},
	{"tc.log", FILE_WAL},
	{"ibtmp*", FILE_TEMP},
	{"temp_*.ibt", FILE_TEMP},
	{"#sql*", FILE_TEMP},
	{"*.TM[DM]", FILE_TEMP},    /* of a repair */
	{"ibdata*", FILE_DATABASE}, /* undo and doublewrite of MariaDB live in it too */
	{"undo_" DIGIT "*", FILE_UNDO},
	{"undo" DIGIT "*", FILE_UNDO},
	{"*.ibu", FILE_UNDO},
	{"*.ibd", FILE_DATABASE},
	{"*.MAD", FILE_DATABASE},
	{"*.MYD", FILE_DATABASE},
	{"*.CSV", FILE_DATABASE},
	{"*.ARZ", FILE_DATABASE},
	{"*.MAI", FILE_INDEX},
	{"*.MYI", FILE_INDEX},
	{"*.CSM", FILE_CONTROL},
	{"*.MRG", FILE_CONTROL},
	{"*.frm", FILE_CONTROL},
	{"*.frm~", FILE_CONTROL},
	{"*.TR[GN]", FILE_CONTROL}, /* triggers */
	{"*.par", FILE_CONTROL},
	{"*.isl", FILE_CONTROL},
	{"*.cfg", FILE_CONTROL},
	{"*.sdi", FILE_CONTROL},
	{"db.opt", FILE_CONTROL},
	{"auto.cnf", FILE_CONTROL},
	{"mysqld-auto.cnf", FILE_CONTROL},
	{"m*_upgrade_info", FILE_CONTROL},
	{"m*.info", FILE_CONTROL}, /* master.info, multi-master.info */
	{"relay-log.info", FILE_CONTROL},
	{"ib_buffer_pool*", FILE_CONTROL}, /* which pages to load at the next start */
	/* Berkeley DB */
	{"log." DIGIT5 DIGIT5, FILE_WAL},
	{"__db." DIGIT DIGIT DIGIT, FILE_SHM}, /* regions: cache, locks, log buffer */
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

/* What every installation has: such names say nothing of whose it is. */
static const char *const usual[] = {
	/* PostgreSQL */
	"base",
	"global",
	"pg_commit_ts",
	"pg_dynshmem",
	"pg_logical",
	"pg_multixact",
	"pg_notify",
	"pg_replslot",
	"pg_serial",
	"pg_snapshots",
	"pg_stat",
	"pg_stat_tmp",
	"pg_subtrans",
	"pg_tblspc",
	"pg_twophase",
	"pg_wal",
	"pg_xact",
	"archive_status",
	"members",
	"offsets",
	"mappings",
	"snapshots",
	"postmaster.pid",
	"postmaster.opts",
	"postgresql.conf",
	"postgresql.auto.conf",
	"pg_hba.conf",
	"pg_ident.conf",
	"current_logfiles",
	/* MariaDB, MySQL */
	"mysql",
	"performance_schema",
	"information_schema",
	"sys",
	"#innodb_redo",
	"#innodb_temp",
	"ib_buffer_pool",
	"auto.cnf",
	"ddl_recovery-backup.log",
	/* anywhere */
	"lost+found",
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

/* PostgreSQL's clog, multixact, subtrans, notify and two-phase state: hexadecimal numbers with zeros in
 * front, or with a letter. A relation's has neither. */
static bool is_status(const char *name)
{
	size_t size = strspn(name, "0123456789ABCDEF");
	bool letter = strcspn(name, "ABCDEF") < size;
	bool digit = strcspn(name, "0123456789") < size;

	return !name[size] && size >= 4 && size <= 16 &&
	       (*name == '0' || (letter && digit && size <= 5));
}

/* ---- which characters of a name matter ---- */

/* One character against what is not a star; *ret_next behind that in the pattern. */
static bool one_fits(const char *pattern, char c, const char **ret_next)
{
	char single[64], text[2] = {c, '\0'};
	const char *end = strchr(pattern, ']');

	*ret_next = pattern + 1;
	if (*pattern != '[')
		return *pattern == c || *pattern == '?';
	size_t size = end ? (size_t)(end - pattern) + 1 : sizeof(single);
	if (size >= sizeof(single))
		return false;
	memcpy(single, pattern, size);
	single[size] = '\0';
	*ret_next = end + 1;
	return !fnmatch(single, text, 0);
}

/* As fnmatch(), noting what the pattern spells out and what its stars stand for. */
static bool fits(const char *pattern, const char *name, bool *kept)
{
	const char *next;

	if (*pattern != '*') {
		if (!*pattern || !*name)
			return !*pattern && !*name;
		*kept = true;
		return one_fits(pattern, *name, &next) && fits(next, name + 1, kept + 1);
	}
	for (size_t i = 0;; i++) {
		if (fits(pattern + 1, name + i, kept + i))
			return true;
		if (!name[i])
			return false;
		kept[i] = false;
	}
}

static bool is_usual(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		if (!strcmp(usual[i], name))
			return true;
	return false;
}

bool file_class_mark(struct text name, bool *kept)
{
	char copy[256];

	if (!name.size || name.size >= sizeof(copy) || memchr(name.data, '\0', name.size))
		return false;
	memcpy(copy, name.data, name.size);
	copy[name.size] = '\0';
	memset(kept, true, name.size);
	if (is_usual(copy))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		if (fits(patterns[i].pattern, copy, kept))
			return true;
	bool known = is_relation(copy) || is_status(copy);
	memset(kept, known, name.size);
	return known;
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
	return is_relation(copy) ? FILE_DATABASE : is_status(copy) ? FILE_STATUS : FILE_OTHER;
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

/* SPDX-License-Identifier: MIT */
#include "fileclass.h"

#include <fnmatch.h>
#include <string.h>

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
	/* PostgreSQL: WAL segments are 24 hexadecimal digits, relations are numbers */
	{"xlogtemp.*", FILE_WAL},
	{"[0-9A-F][0-9A-F][0-9A-F][0-9A-F][0-9A-F][0-9A-F][0-9A-F][0-9A-F]"
	 "[0-9A-F][0-9A-F][0-9A-F][0-9A-F][0-9A-F][0-9A-F][0-9A-F][0-9A-F]"
	 "[0-9A-F][0-9A-F][0-9A-F][0-9A-F][0-9A-F][0-9A-F][0-9A-F][0-9A-F]",
		FILE_WAL},
	{"pgsql_tmp*", FILE_TEMP},
	{"[1-9][0-9][0-9][0-9]*[0-9]_fsm", FILE_DATABASE},
	{"[1-9][0-9][0-9][0-9]*[0-9]_vm", FILE_DATABASE},
	{"[1-9][0-9][0-9][0-9]*[0-9]", FILE_DATABASE},
	/* InnoDB and MariaDB */
	{"ib_logfile*", FILE_WAL},
	{"#ib_redo*", FILE_WAL},
	{"*-bin.[0-9]*", FILE_WAL}, /* binary log */
	{"aria_log.*", FILE_WAL},
	{"ibtmp*", FILE_TEMP},
	{"#sql*", FILE_TEMP},
	{"ibdata*", FILE_DATABASE},
	{"undo_*", FILE_JOURNAL},
	{"undo[0-9]*", FILE_JOURNAL},
	{"*.ibd", FILE_DATABASE},
	{"*.MA[DI]", FILE_DATABASE},
	{"*.MY[DI]", FILE_DATABASE},
	/* anything */
	{"*.db", FILE_DATABASE},
	{"*.sqlite", FILE_DATABASE},
	{"*.sqlite3", FILE_DATABASE},
	{"*.db3", FILE_DATABASE},
	{"*.wal", FILE_WAL},
	{"*.journal", FILE_JOURNAL},
	{"*.tmp", FILE_TEMP},
	{"*.temp", FILE_TEMP},
};

static const char *const names[FILE_CLASS_COUNT] = {
	[FILE_OTHER] = "other",
	[FILE_DATABASE] = "database",
	[FILE_WAL] = "wal",
	[FILE_JOURNAL] = "journal",
	[FILE_SHM] = "shm",
	[FILE_TEMP] = "temp",
	[FILE_DIRECTORY] = "directory",
};

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
	return FILE_OTHER;
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

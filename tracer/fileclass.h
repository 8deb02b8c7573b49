/* SPDX-License-Identifier: MIT */
/* What role a file plays for its application, told by its name: database, WAL, journal, ... */
#ifndef FILECLASS_H
#define FILECLASS_H

#include "event.h"

enum file_class {
	FILE_OTHER,
	FILE_DATABASE, /* tables; indexes too where they have no files of their own */
	FILE_INDEX,
	FILE_WAL,         /* what is written before the data are: WAL, redo log */
	FILE_JOURNAL,     /* what the data were before: SQLite's rollback journal */
	FILE_UNDO,        /* the same of InnoDB */
	FILE_DOUBLEWRITE, /* pages on their way to their place */
	FILE_BINLOG,      /* what others are to repeat */
	FILE_STATUS,      /* which transactions are committed: PostgreSQL's clog and the like */
	FILE_CONTROL,     /* small files about the rest: pg_control, table definitions */
	FILE_SHM,
	FILE_LOG, /* for people */
	FILE_TEMP,
	FILE_DIRECTORY,
	FILE_CLASS_COUNT,
};

/* Of a regular file, by the patterns in fileclass.c (the last component of its name). */
enum file_class file_class_of(struct text name);
/*
 * Which characters of the name its class hangs on: kept[i] for each. Those that are not may become any
 * other letters without a change of class. Also for names that say nothing of a class but are the same
 * in every installation of a database. False, with nothing kept: nothing is known of such a name.
 */
bool file_class_mark(struct text name, bool *kept);
const char *file_class_name(enum file_class class);
/* FILE_CLASS_COUNT if there is no such name. */
enum file_class file_class_by_name(const char *name);

#endif

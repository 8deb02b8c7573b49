/* SPDX-License-Identifier: MIT */
/* What role a file plays for its application, told by its name: database, WAL, journal, ... */
#ifndef FILECLASS_H
#define FILECLASS_H

#include "event.h"

enum file_class {
	FILE_OTHER,
	FILE_DATABASE,
	FILE_WAL,
	FILE_JOURNAL,
	FILE_SHM,
	FILE_TEMP,
	FILE_DIRECTORY,
	FILE_CLASS_COUNT,
};

/* Of a regular file, by the patterns in fileclass.c (the last component of its name). */
enum file_class file_class_of(struct text name);
const char *file_class_name(enum file_class class);
/* FILE_CLASS_COUNT if there is no such name. */
enum file_class file_class_by_name(const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/* Command-line options as rows: parsing, --help and the manual's OPTIONS come from the same table.
 */
#ifndef OPT_H
#define OPT_H

#include <stdio.h>

#include "error.h"

struct opt_list {
	const char **at;
	size_t count, capacity;
};

enum opt_type {
	OPT_FLAG,   /* bool: present or not */
	OPT_STRING, /* const char *: points into argv */
	OPT_LIST,   /* struct opt_list: the option may be repeated */
	OPT_NUMBER, /* uint64_t: plain decimal */
	OPT_SIZE,   /* uint64_t: bytes, with k/M/G/T */
	OPT_CHOICE, /* unsigned: index into `choices` */
};

struct opt {
	const char *name; /* without the dashes */
	char letter;      /* 0 = none */
	enum opt_type type;
	void *value;                /* where it goes; its type by the enum */
	const char *arg;            /* the argument's name in the help; NULL for flags */
	const char *help;           /* one line */
	const char *const *choices; /* OPT_CHOICE: NULL-terminated */
};

/*
 * Parse argv[1..]. `in_order`: stop at the first word that is not an option (for commands that run
 * another command); otherwise options and operands mix freely, as GNU programs have it, and
 * operands are moved to the end. "--" ends the options. Returns the index of the first operand, or
 * -errno.
 */
int opt_parse(const struct opt *opts, size_t count, int argc, char **argv, bool in_order,
	struct error *err);

/* The aligned option lines of --help. */
void opt_help(const struct opt *opts, size_t count, FILE *out);

#endif

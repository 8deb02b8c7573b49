/* SPDX-License-Identifier: MIT */
/*
 * NAME[:key=value,...] specifications as rows over a settings struct.
 *
 * Each row says where in the struct a key lives; defaults, parsing, listing and errors follow from
 * it.
 */
#ifndef PARAM_H
#define PARAM_H

#include "error.h"

enum param_type {
	PARAM_NUMBER, /* uint64_t within [min, max] */
	PARAM_SIZE,   /* uint64_t bytes, with k/M/G/T, within [min, max] */
	PARAM_MILLI,  /* uint64_t thousandths within [min, max], written as "0.25" */
	PARAM_SET,    /* uint64_t bits: "all", or numbers within [min, max], max < 64, and ranges of
	                 them: "1,3,6-9"; goes on over commas until the next key */
	PARAM_CHOICE, /* unsigned: index into choices */
	PARAM_TEXT,   /* char[max], NUL-terminated, at least min bytes long; ends at a comma */
	PARAM_REST,   /* like PARAM_TEXT, but takes all that follows, commas too: the last key */
};

struct param {
	const char *key;
	enum param_type type;
	size_t offset;              /* into the settings struct */
	const char *initial;        /* the default, as a user would write it */
	uint64_t min, max;          /* numbers and sizes; max 0 = no limit. Texts: see above */
	const char *const *choices; /* PARAM_CHOICE: NULL-terminated */
	const char *help;           /* one line */
};

/* Set every key to its default. A default that does not parse is a bug (assert). */
void param_defaults(const struct param *params, size_t count, void *settings);

/* "key=value,key=value" into settings; empty or NULL is fine. `what` names the spec in errors. */
int param_parse(const struct param *params, size_t count, const char *text, void *settings,
	const char *what, struct error *err);

/* "key=value,..." of every key that differs from its default; caller frees. */
char *param_format(const struct param *params, size_t count, const void *settings);

/* One value as text; caller frees. */
char *param_value(const struct param *p, const void *settings);

#endif

/* SPDX-License-Identifier: MIT */
/* Rows and columns for people (aligned text) and for programs (JSON). */
#ifndef TABLE_H
#define TABLE_H

#include <jansson.h>
#include <stdio.h>

#include "base.h"

struct table;

enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct table *table_new(void);
void table_free(struct table *t);

/* Columns first, then cells row by row, left to right. `key` names the column in JSON. */
void table_column(struct table *t, const char *title, const char *key, enum table_align align);
/* A text cell; it is the same in JSON. */
void table_text(struct table *t, const char *fmt, ...) attr_printf(2, 3);
/* A number: `fmt` is how people see it, `value` (stolen) is what JSON says. */
void table_value(struct table *t, json_t *value, const char *fmt, ...) attr_printf(3, 4);
/* A time, a count, a size; people see it with its unit. Not known: "-", and null in JSON. */
void table_ns(struct table *t, uint64_t ns);
void table_count(struct table *t, bool known, uint64_t n);
void table_bytes(struct table *t, bool known, uint64_t n);

/* Print it this many columns to the right; 0 by default. */
void table_indent(struct table *t, int columns);

/* Text with a header line; the last column is not padded. */
void table_print(const struct table *t, FILE *out);
/* To stdout, as text or as JSON. */
void table_show(const struct table *t, bool json);
/* An array of objects; the caller owns it. */
json_t *table_json(const struct table *t);

#endif

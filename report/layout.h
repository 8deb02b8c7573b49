/* SPDX-License-Identifier: MIT */
/* Headings, wrapped sentences and tables of the text report. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdio.h>

#include "table.h"

struct layout {
	FILE *out;
	unsigned width; /* columns */
	bool color;
};

/* A blank line and a heading in bold. */
void layout_heading(const struct layout *l, const char *title);
/* A paragraph, broken at blanks; the first line starts with `lead` at column `indent`, the others
 * below what follows it. */
void layout_text(const struct layout *l, unsigned indent, const char *lead, const char *fmt, ...)
	attr_printf(4, 5);
/* The same for what the reader must not miss: red where there is colour. */
void layout_warning(const struct layout *l, unsigned indent, const char *lead, const char *fmt, ...)
	attr_printf(4, 5);
/* Prints it indented by two and frees it. */
void layout_table(const struct layout *l, struct table *t);

/* Text of any length, put together piece by piece; zero is empty. */
struct phrase {
	char text[1024];
};
void phrase_add(struct phrase *p, const char *fmt, ...) attr_printf(2, 3);
/* The words between item `index` and the one before it in a list of `count`. */
const char *phrase_joint(size_t index, size_t count);

/* `name` in at most `room` columns; what does not fit is cut in the middle. */
const char *layout_short(const char *name, unsigned room, char out[64]);
/* "####" for `part` of a bar `room` columns wide; at least one, if part > 0. */
const char *layout_bar(double part, unsigned room, char out[64]);

#endif

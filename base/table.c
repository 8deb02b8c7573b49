/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "units.h"
#include "vec.h"

struct column {
	char *title, *key;
	enum table_align align;
};

struct cell {
	char *text;
	json_t *value;
};

struct table {
	VEC(struct column) columns;
	VEC(struct cell) cells;
	int indent;
};

struct table *table_new(void)
{
	return ALLOC(struct table);
}

void table_free(struct table *t)
{
	if (!t)
		return;
	vec_each (c, &t->columns) {
		free(c->title);
		free(c->key);
	}
	vec_each (cell, &t->cells) {
		free(cell->text);
		json_decref(cell->value);
	}
	vec_free(&t->columns);
	vec_free(&t->cells);
	free(t);
}

void table_column(struct table *t, const char *title, const char *key, enum table_align align)
{
	assert(!t->cells.count);
	vec_push(&t->columns, (struct column){xstrdup(title), xstrdup(key), align});
}

/* JSON is UTF-8, but a file's name need not be: such bytes become '?'. */
static json_t *text_value(const char *text)
{
	json_t *value = json_string(text);

	if (value)
		return value;
	char *copy = xstrdup(text);
	for (char *p = copy; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	value = json_string(copy);
	free(copy);
	return value;
}

void table_text(struct table *t, const char *fmt, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		abort();
	va_end(args);
	vec_push(&t->cells, (struct cell){text, text_value(text)});
}

void table_value(struct table *t, json_t *value, const char *fmt, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		abort();
	va_end(args);
	vec_push(&t->cells, (struct cell){text, value});
}

void table_indent(struct table *t, int columns)
{
	t->indent = columns;
}

static void table_known(struct table *t, bool known, uint64_t n, const char *text)
{
	table_value(t, known ? json_integer((json_int_t)n) : json_null(), "%s", known ? text : "-");
}

void table_ns(struct table *t, uint64_t ns)
{
	struct unit_text text;

	table_known(t, true, ns, format_ns(ns, &text));
}

void table_count(struct table *t, bool known, uint64_t n)
{
	struct unit_text text;

	table_known(t, known, n, format_count(n, &text));
}

void table_bytes(struct table *t, bool known, uint64_t n)
{
	struct unit_text text;

	table_known(t, known, n, format_bytes(n, &text));
}

/* Terminal columns of a UTF-8 string: every byte that does not continue a character. */
static int text_width(const char *s)
{
	int width = 0;

	for (; *s; s++)
		width += ((unsigned char)*s & 0xc0) != 0x80;
	return width;
}

static int column_width(const struct table *t, size_t column)
{
	int width = text_width(t->columns.at[column].title);

	for (size_t i = column; i < t->cells.count; i += t->columns.count) {
		int w = text_width(t->cells.at[i].text);
		width = w > width ? w : width;
	}
	return width;
}

static void print_cell(const char *text, int width, enum table_align align, bool last, FILE *out)
{
	int pad = width - text_width(text);

	if (align == TABLE_RIGHT)
		fprintf(out, "%*s%s", pad, "", text);
	else
		fprintf(out, "%s%*s", text, last ? 0 : pad, "");
	fputs(last ? "\n" : "  ", out);
}

static void print_row(const struct table *t, const char *const *texts, const int *widths, FILE *out)
{
	size_t n = t->columns.count;

	fprintf(out, "%*s", t->indent, "");
	for (size_t i = 0; i < n; i++)
		print_cell(texts[i], widths[i], t->columns.at[i].align, i + 1 == n, out);
}

void table_print(const struct table *t, FILE *out)
{
	size_t n = t->columns.count;
	VEC(int) widths = {0};
	VEC(const char *) row = {0};

	assert(n && t->cells.count % n == 0);
	for (size_t i = 0; i < n; i++) {
		vec_push(&widths, column_width(t, i));
		vec_push(&row, t->columns.at[i].title);
	}
	print_row(t, row.at, widths.at, out);
	for (size_t i = 0; i < t->cells.count; i++) {
		row.at[i % n] = t->cells.at[i].text;
		if (i % n + 1 == n)
			print_row(t, row.at, widths.at, out);
	}
	vec_free(&widths);
	vec_free(&row);
}

json_t *table_json(const struct table *t)
{
	json_t *rows = json_array();
	json_t *row = NULL;

	for (size_t i = 0; i < t->cells.count; i++) {
		if (i % t->columns.count == 0) {
			row = json_object();
			json_array_append_new(rows, row);
		}
		json_object_set(row, t->columns.at[i % t->columns.count].key, t->cells.at[i].value);
	}
	return rows;
}

void table_show(const struct table *t, bool json)
{
	if (!json) {
		table_print(t, stdout);
		return;
	}
	json_t *rows = table_json(t);
	json_dumpf(rows, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(rows);
}

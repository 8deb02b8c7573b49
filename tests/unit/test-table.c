/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <stdlib.h>

#include "check.h"
#include "cleanup.h"

static struct table *sample(void)
{
	struct table *t = table_new();

	table_column(t, "NAME", "name", TABLE_LEFT);
	table_column(t, "N", "count", TABLE_RIGHT);
	table_column(t, "NOTE", "note", TABLE_LEFT);
	table_text(t, "ext%d", 4);
	table_value(t, json_integer(1234), "%s", "1,234");
	table_text(t, "ok");
	table_text(t, "m\xc3\xbcsli");
	table_value(t, json_null(), "-");
	table_text(t, "%s", "");
	return t;
}

TEST(text_is_aligned)
{
	struct table *t = sample();
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	table_print(t, out);
	fclose(out);
	CHECK_EQ(text, "NAME       N  NOTE\n"
		       "ext4   1,234  ok\n"
		       "m\xc3\xbcsli      -  \n");
	free(text);
	table_free(t);
}

TEST(json_has_values_not_text)
{
	struct table *t = sample();
	json_t *rows = table_json(t);
	json_t *expected = json_pack("[{s:s,s:i,s:s},{s:s,s:n,s:s}]", "name", "ext4", "count", 1234,
		"note", "ok", "name", "m\xc3\xbcsli", "count", "note", "");

	CHECK(expected && json_equal(rows, expected));
	json_decref(expected);
	json_decref(rows);
	table_free(t);
}

/* JSON is UTF-8; a name on disk need not be. The cell must not vanish. */
TEST(bytes_that_are_not_utf8)
{
	struct table *t = table_new();

	table_column(t, "NAME", "name", TABLE_LEFT);
	table_text(t, "a\xff");
	json_t *rows = table_json(t);
	CHECK(json_object_get(json_array_get(rows, 0), "name") != NULL);
	json_decref(rows);
	table_free(t);
}

TEST(no_rows)
{
	struct table *t = table_new();

	table_column(t, "NAME", "name", TABLE_LEFT);
	json_t *rows = table_json(t);
	CHECK_EQ(json_array_size(rows), 0);
	json_decref(rows);
	table_free(t);
	table_free(NULL);
}

TEST(cells_with_units_know_what_is_not_known)
{
	struct table *t = table_new();

	table_column(t, "TIME", "ns", TABLE_RIGHT);
	table_column(t, "N", "n", TABLE_RIGHT);
	table_column(t, "SIZE", "bytes", TABLE_RIGHT);
	table_ns(t, 1500000);
	table_count(t, true, 1234);
	table_bytes(t, false, 99);
	json_t *rows = table_json(t);
	auto_free char *json = json_dumps(rows, JSON_COMPACT);
	CHECK_EQ(json, "[{\"ns\":1500000,\"n\":1234,\"bytes\":null}]");
	json_decref(rows);
	table_free(t);
}

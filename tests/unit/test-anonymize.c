/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "anonymize.h"
#include "check.h"
#include "fileclass.h"
#include "rng.h"
#include "vec.h"
#include "writer.h"

static struct anonymizer *new_anonymizer(void)
{
	struct anonymizer *a = NULL;
	struct error err = {0};

	if (anonymizer_new(&a, NULL, &err) < 0)
		abort();
	return a;
}

static struct text text(const char *s)
{
	return (struct text){s, strlen(s)};
}

/* A copy, to be freed. */
static char *hidden(struct anonymizer *a, const char *name)
{
	struct text t = anonymize_name(a, text(name));

	return xasprintf("%.*s", (int)t.size, t.data);
}

static bool ends(const char *s, const char *end)
{
	return strlen(s) >= strlen(end) && !strcmp(s + strlen(s) - strlen(end), end);
}

TEST(names_keep_their_class_and_nothing_else)
{
	static const struct {
		const char *name, *kept, *secret;
	} rows[] = {
		{"bank.db", ".db", "bank"},
		{"bank.db-wal", ".db-wal", "bank"},
		{"bank.db-journal", ".db-journal", "bank"},
		{"bank.db-mj01234567", "-mj01234567", "bank"},
		{"bank.db-shm", ".db-shm", "bank"},
		{"customers.ibd", ".ibd", "customers"},
		{"customers#P#p0.ibd", ".ibd", "customers"},
		{"orders.frm", ".frm", "orders"},
		{"orders.MYD", ".MYD", "orders"},
		{"acme-bin.000001", "-bin.000001", "acme"},
		{"acme-bin.index", "-bin.index", "acme"},
		{"acme.err", ".err", "acme"},
		{"report.json", ".json", "report"},
		{".secret", "", "secret"},
		{"no-extension-at-all", "", "extension"},
		{"longextension.abcdefgh", "", "abcdefgh"},
		{"etilqs_a1b2c3d4", "", "a1b2c3d4"},
	};
	struct anonymizer *a = new_anonymizer();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *out = hidden(a, rows[i].name);
		CHECK(ends(out, rows[i].kept));
		CHECK(!strstr(out, rows[i].secret));
		CHECK_EQ(file_class_of(text(out)), file_class_of(text(rows[i].name)));
		free(out);
	}
	anonymizer_free(a);
}

TEST(names_that_only_a_database_gives_stay)
{
	static const char *const names[] = {"pg_wal", "base", "16384", "16384_fsm", "16384.1",
		"000000010000000000000001", "0000", "pg_control", "PG_VERSION", "ibdata1",
		"ib_logfile0", "#ib_redo12", "#ib_16384_0.dblwr", "undo_001", "binlog.000001",
		"aria_log.00000001", "aria_log_control", "postgresql.conf", "postmaster.pid",
		"pg_filenode.map", "t3_16390", "pgsql_tmp123.0", "lost+found", "mysql", ".", ".."};
	struct anonymizer *a = new_anonymizer();

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *out = hidden(a, names[i]);
		CHECK_EQ((const char *)out, names[i]);
		free(out);
	}
	anonymizer_free(a);
}

TEST(hashes_are_stable_and_those_of_relatives_agree)
{
	struct anonymizer *a = new_anonymizer(), *b = new_anonymizer();
	char *db = hidden(a, "bank.db"), *again = hidden(a, "bank.db");
	char *wal = hidden(a, "bank.db-wal"), *other = hidden(b, "bank.db");

	CHECK_EQ((const char *)again, db);
	CHECK(!strncmp(wal, db, strlen(db)) && !strcmp(wal + strlen(db), "-wal"));
	CHECK(strcmp(other, db));
	free(db);
	free(again);
	free(wal);
	free(other);
	anonymizer_free(a);
	anonymizer_free(b);
}

/* Random names of letters that patterns are made of. */
TEST(any_name_keeps_its_class_and_stays_a_name)
{
	static const char letters[] = "abdejlnopqrstuwx01239ADFIMYX._-#";
	struct anonymizer *a = new_anonymizer();
	struct rng rng;
	char name[300];

	rng_init(&rng, 3);
	for (int i = 0; i < 20000; i++) {
		size_t size = 1 + rng_below(&rng, rng_below(&rng, 20) ? 20 : NAME_MAX);
		for (size_t k = 0; k < size; k++)
			name[k] = letters[rng_below(&rng, sizeof(letters) - 1)];
		name[size] = '\0';
		struct text out = anonymize_name(a, text(name));
		CHECK(out.size > 0 && out.size <= NAME_MAX && !memchr(out.data, '/', out.size));
		if (!CHECK_EQ(file_class_of(out), file_class_of(text(name))))
			printf("  %s -> %.*s\n", name, (int)out.size, out.data);
	}
	memset(name, 'x', sizeof(name));
	name[299] = '\0';
	CHECK_EQ(anonymize_name(a, text(name)).size, 299);
	anonymizer_free(a);
}

TEST(links_attributes_and_threads_are_hidden_too)
{
	struct anonymizer *a = new_anonymizer();
	char acl[] = "\x02\0\0\0", value[] = "top secret value";
	struct tree_xattr xattrs[] = {
		{{"user.project", 12}, {value, strlen(value)}},
		{{"system.posix_acl_access", 23}, {acl, 4}},
	};
	struct tree_entry e = {.id = 2,
		.name = text("current"),
		.target = text("../acme/bank.db"),
		.xattrs = xattrs,
		.xattr_count = 2};
	struct trace_thread t = {.tid = 1, .comm = "acme-server"};

	anonymize_entry(a, &e);
	CHECK(e.target.size > 9 && !memcmp(e.target.data, "../", 3));
	CHECK(!memcmp(e.target.data + e.target.size - 3, ".db", 3));
	CHECK(!memmem(e.target.data, e.target.size, "acme", 4));
	CHECK(!memcmp(e.xattrs[0].name.data, "user.", 5));
	CHECK(!memmem(e.xattrs[0].name.data, e.xattrs[0].name.size, "project", 7));
	CHECK_EQ(e.xattrs[0].value.size, strlen(value));
	CHECK(memcmp(e.xattrs[0].value.data, value, strlen(value)));
	CHECK_EQ(e.xattrs[1].value.size, 4);
	CHECK_BYTES(e.xattrs[1].value.data, acl, 4);
	CHECK_EQ(e.xattrs[1].name.size, 23);
	anonymize_thread(a, &t);
	CHECK(!strstr(t.comm, "acme") && strlen(t.comm) == 13);
	anonymizer_free(a);
}

TEST(meta_keeps_numbers_and_what_is_harmless)
{
	json_t *meta = json_pack("{s:s,s:s,s:i,s:b,s:{s:b,s:s},s:[s,s]}", "host", "acme", "kernel",
		"6.1", "cpus", 4, "strip_direct", 1, "features", "mmap", 1, "path", "/acme",
		"command", "acme", "--bank");
	json_t *out = anonymize_meta(meta);

	CHECK(!json_object_get(out, "host") && !json_object_get(out, "command"));
	CHECK_EQ(json_string_value(json_object_get(out, "kernel")), "6.1");
	CHECK_EQ(json_integer_value(json_object_get(out, "cpus")), 4);
	CHECK(json_is_true(json_object_get(out, "anonymized")));
	CHECK_EQ(json_object_size(json_object_get(out, "features")), 1);
	json_decref(out);
	json_decref(meta);
}

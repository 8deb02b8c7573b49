/* SPDX-License-Identifier: MIT */
#include "param.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

struct settings {
	uint64_t clients;
	unsigned journal;
	uint64_t bytes;
	uint64_t scale, queries;
	char set[8], run[16];
};

static const char *const journals[] = {"wal", "delete", NULL};
static const struct param rows[] = {
	{"clients", PARAM_NUMBER, offsetof(struct settings, clients), "4", 1, 64, NULL, "clients"},
	{"journal", PARAM_CHOICE, offsetof(struct settings, journal), "wal", 0, 0, journals,
		"mode"},
	{"size", PARAM_SIZE, offsetof(struct settings, bytes), "1M", 4096, 0, NULL, "bytes"},
	{"scale", PARAM_MILLI, offsetof(struct settings, scale), "0.01", 1, 100000, NULL, "scale"},
	{"queries", PARAM_SET, offsetof(struct settings, queries), "all", 1, 22, NULL, "which"},
	{"set", PARAM_TEXT, offsetof(struct settings, set), "", 0, 8, NULL, "a word"},
	{"run", PARAM_REST, offsetof(struct settings, run), "true", 1, 16, NULL, "a command"},
};

static int parse(const char *text, struct settings *s, struct error *err)
{
	*err = (struct error){0};
	param_defaults(rows, ARRAY_SIZE(rows), s);
	return param_parse(rows, ARRAY_SIZE(rows), text, s, "bench", err);
}

TEST(defaults)
{
	static const char *const nothing[] = {NULL, "", ","};
	struct settings s;
	struct error err;

	for (size_t i = 0; i < ARRAY_SIZE(nothing); i++) {
		CHECK_EQ(parse(nothing[i], &s, &err), 0);
		CHECK_EQ(s.clients, 4);
		CHECK_EQ(s.journal, 0);
		CHECK_EQ(s.bytes, 1048576);
	}
}

TEST(values)
{
	struct settings s;
	struct error err;

	CHECK_EQ(parse("journal=DELETE,size=8k,clients=64", &s, &err), 0);
	CHECK_EQ(s.clients, 64);
	CHECK_EQ(s.journal, 1);
	CHECK_EQ(s.bytes, 8192);
}

TEST(thousandths)
{
	static const struct {
		const char *text, *back;
		uint64_t value;
	} good[] = {{"scale=1", "1", 1000}, {"scale=0.25", "0.25", 250}, {"scale=.005", "0.005", 5},
		{"scale=10.", "10", 10000}, {"scale=30.100", "30.1", 30100}};
	static const char *const bad[] = {"scale=", "scale=.", "scale=0.0001", "scale=0",
		"scale=101", "scale=1e3", "scale=-1", "scale=99999999999999999999"};
	struct settings s;
	struct error err;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		CHECK_EQ(parse(good[i].text, &s, &err), 0);
		CHECK_EQ(s.scale, good[i].value);
		char *text = param_value(&rows[3], &s);
		CHECK_EQ(text, good[i].back);
		free(text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(parse(bad[i], &s, &err) < 0);
	parse("scale=101", &s, &err);
	CHECK_EQ(err.text, "bench: scale=101 is not between 0.001 and 100");
}

TEST(sets_go_on_over_commas)
{
	static const char *const bad[] = {"queries=", "queries=0", "queries=23", "queries=1,x",
		"queries=1,3-2", "queries=1-", "queries=1,,2", "queries=-3"};
	struct settings s;
	struct error err;

	CHECK_EQ(parse("queries=1,3,6-9,clients=8", &s, &err), 0);
	CHECK_EQ(s.queries, 1 << 1 | 1 << 3 | 0xf << 6);
	CHECK_EQ(s.clients, 8);
	char *text = param_format(rows, ARRAY_SIZE(rows), &s);
	CHECK_EQ(text, "clients=8,queries=1,3,6-9");
	free(text);
	CHECK_EQ(parse("queries=1-22", &s, &err), 0);
	text = param_value(&rows[4], &s);
	CHECK_EQ(text, "all");
	free(text);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(parse(bad[i], &s, &err) < 0);
}

TEST(texts_end_at_a_comma_or_never)
{
	struct settings s;
	struct error err;

	CHECK_EQ(parse("", &s, &err), 0);
	CHECK_EQ(s.set, "");
	CHECK_EQ(s.run, "true");
	CHECK_EQ(parse("set=a=b,size=8k,run=cp {a,b},c=1", &s, &err), 0);
	CHECK_EQ(s.set, "a=b");
	CHECK_EQ(s.bytes, 8192);
	CHECK_EQ(s.run, "cp {a,b},c=1");
}

TEST(errors_say_what_and_where)
{
	static const struct {
		const char *text, *say;
		int code;
	} cases[] = {
		{"clients", "key=value", EINVAL},
		{"clients=", "clients", EINVAL},
		{"clients=0", "between 1 and 64", ERANGE},
		{"clients=65", "between 1 and 64", ERANGE},
		{"clients=-1", "clients", EINVAL},
		{"client=3", "'clients'", EINVAL},
		{"qqqqqqqqqq=3", "fsreel workloads bench", EINVAL},
		{"journal=off", "wal, delete", EINVAL},
		{"size=1", "4096", ERANGE},
		{"size=x", "size", EINVAL},
		{"size=8k,clients,run=a=b", "'clients' is not key=value", EINVAL},
		{"set=12345678", "set is longer than 7 bytes", ERANGE},
		{"run=", "run is empty", EINVAL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct settings s;
		struct error err;
		CHECK_EQ(parse(cases[i].text, &s, &err), -cases[i].code);
		CHECK(!strncmp(err.text, "bench: ", 7));
		if (!CHECK(strstr(err.text, cases[i].say) != NULL))
			fprintf(stderr, "\t%s -> %s\n", cases[i].text, err.text);
	}
}

TEST(format_gives_back_what_differs)
{
	struct settings s;
	struct error err;

	CHECK_EQ(parse("size=8k,clients=4,journal=delete", &s, &err), 0);
	char *text = param_format(rows, ARRAY_SIZE(rows), &s);
	CHECK_EQ(text, "journal=delete,size=8192");
	struct settings again;
	CHECK_EQ(parse(text, &again, &err), 0);
	CHECK(again.clients == s.clients && again.journal == s.journal && again.bytes == s.bytes);
	free(text);
	CHECK_EQ(parse("set=,run=a,b,clients=5", &s, &err), 0);
	text = param_format(rows, ARRAY_SIZE(rows), &s);
	CHECK_EQ(text, "run=a,b,clients=5");
	free(text);
}

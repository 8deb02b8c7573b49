/* SPDX-License-Identifier: MIT */
#include "units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

TEST(sizes)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {
		{"0", 0},
		{"512", 512},
		{"64k", 65536},
		{"64K", 65536},
		{"2G", UINT64_C(2) << 30},
		{"1.5M", 1572864},
		{"3MiB", 3145728},
		{"3MB", 3145728},
		{"4T", UINT64_C(4) << 40},
	};
	static const char *const bad[] = {
		"", "k", "-1", "1x", "1kk", "1k ", "nan", "inf", "1e30", "16777216T"};
	uint64_t v = 1;
	struct error err;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		CHECK_EQ(parse_size(good[i].text, &v, "--size", &err), 0);
		CHECK_EQ(v, good[i].bytes);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		v = 77;
		if (!CHECK(parse_size(bad[i], &v, "--size", &err) < 0))
			fprintf(stderr, "\taccepted: '%s'\n", bad[i]);
		CHECK_EQ(v, 77);
		CHECK(!strncmp(err.text, "--size: ", 8));
	}
}

TEST(numbers)
{
	static const char *const bad[] = {
		"", " ", "-1", " -1", "+", "1.5", "0x10", "1 ", "18446744073709551616"};
	uint64_t v = 0;
	struct error err;

	CHECK_EQ(parse_number("18446744073709551615", 0, UINT64_MAX, &v, "n", &err), 0);
	CHECK(v == UINT64_MAX);
	CHECK_EQ(parse_number("5", 5, 5, &v, "n", &err), 0);
	CHECK_EQ(v, 5);
	CHECK_EQ(parse_number("4", 5, 9, &v, "n", &err), -ERANGE);
	CHECK_EQ(parse_number("10", 5, 9, &v, "n", &err), -ERANGE);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (!CHECK_EQ(parse_number(bad[i], 0, UINT64_MAX, &v, "n", &err), -EINVAL))
			fprintf(stderr, "\taccepted: '%s'\n", bad[i]);
	CHECK_EQ(v, 5);
}

TEST(times)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{0, "0 ns"},
		{999, "999 ns"},
		{1000, "1.00 us"},
		{12345, "12.3 us"},
		{123456, "123 us"},
		{4560000000, "4.56 s"},
	};
	struct unit_text t;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CHECK_EQ(format_ns(cases[i].ns, &t), cases[i].text);
	format_ns(UINT64_MAX, &t);
}

TEST(bytes_and_counts)
{
	struct unit_text t;

	CHECK_EQ(format_bytes(0, &t), "0 B");
	CHECK_EQ(format_bytes(1023, &t), "1023 B");
	CHECK_EQ(format_bytes(1536, &t), "1.5 KiB");
	CHECK_EQ(format_bytes(UINT64_C(300) << 20, &t), "300 MiB");
	CHECK_EQ(format_count(0, &t), "0");
	CHECK_EQ(format_count(999, &t), "999");
	CHECK_EQ(format_count(1000, &t), "1,000");
	CHECK_EQ(format_count(1234567, &t), "1,234,567");
	CHECK_EQ(format_things(0, "event", &t), "0 events");
	CHECK_EQ(format_things(1, "event", &t), "1 event");
	CHECK_EQ(format_things(1234, "event", &t), "1,234 events");
	CHECK_EQ(format_count(UINT64_MAX, &t), "18,446,744,073,709,551,615");
}

TEST(nearest)
{
	static const char *const names[] = {"capture", "replay", "report"};
	size_t n = ARRAY_SIZE(names), stride = sizeof(names[0]);
	char long_word[300];

	CHECK_EQ(nearest_name("captrue", names, n, stride), "capture");
	CHECK_EQ(nearest_name("repaly", names, n, stride), "replay");
	CHECK_EQ(nearest_name("xyzzy", names, n, stride), NULL);
	CHECK_EQ(nearest_name("", names, n, stride), NULL);
	memset(long_word, 'a', sizeof(long_word) - 1);
	long_word[sizeof(long_word) - 1] = '\0';
	CHECK_EQ(nearest_name(long_word, names, n, stride), NULL);
}

TEST(seconds_are_parsed)
{
	struct error err = {0};
	uint64_t ns = 0;

	CHECK_EQ(parse_seconds("0.25", &ns, "--from", &err), 0);
	CHECK_EQ(ns, 250000000);
	CHECK_EQ(parse_seconds("12", &ns, "--from", &err), 0);
	CHECK_EQ(ns, UINT64_C(12000000000));
	CHECK(parse_seconds("-1", &ns, "--from", &err) < 0);
	CHECK(parse_seconds("1s", &ns, "--from", &err) < 0);
	CHECK(parse_seconds("", &ns, "--from", &err) < 0);
	CHECK(strstr(err.text, "--from: '' is not a time in seconds"));
}

/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct check_test *first;
static struct check_test **last = &first;
static bool failed, skipped; /* the test that is running */

void check_register(struct check_test *test)
{
	*last = test;
	last = &test->next;
}

bool check_true(bool held, const char *what, const char *file, int line)
{
	if (!held) {
		fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
		failed = true;
	}
	return held;
}

bool check_int(long long a, long long b, const char *what, const char *file, int line)
{
	if (!check_true(a == b, what, file, line))
		fprintf(stderr, "\t%lld (%#llx) against %lld (%#llx)\n", a, a, b, b);
	return a == b;
}

bool check_double(double a, double b, const char *what, const char *file, int line)
{
	bool same = !(a < b) && !(a > b);

	if (!check_true(same, what, file, line))
		fprintf(stderr, "\t%.17g against %.17g\n", a, b);
	return same;
}

bool check_string(const char *a, const char *b, const char *what, const char *file, int line)
{
	bool same = a && b ? !strcmp(a, b) : a == b;

	if (!check_true(same, what, file, line))
		fprintf(stderr, "\t\"%s\"\n\t\"%s\"\n", a ? a : "(null)", b ? b : "(null)");
	return same;
}

bool check_bytes(
	const void *a, const void *b, size_t size, const char *what, const char *file, int line)
{
	const uint8_t *x = a, *y = b;
	size_t i = 0;

	while (i < size && x[i] == y[i])
		i++;
	if (!check_true(i == size, what, file, line))
		fprintf(stderr, "\tbyte %zu of %zu: %02x against %02x\n", i, size, x[i], y[i]);
	return i == size;
}

void check_skip(const char *why)
{
	printf("skip: %s\n", why);
	skipped = true;
}

static bool chosen(const struct check_test *test, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], test->name))
			return true;
	return argc == 1;
}

int main(int argc, char **argv)
{
	unsigned ran = 0, bad = 0, left_out = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (struct check_test *test = first; test; test = test->next) {
		if (!chosen(test, argc, argv))
			continue;
		failed = skipped = false;
		test->run();
		printf("%s %s\n", failed ? "FAILED" : skipped ? "skipped" : "ok", test->name);
		ran++;
		bad += failed;
		left_out += skipped && !failed;
	}
	if (!ran)
		fputs("no such test\n", stderr);
	if (bad || !ran)
		return 1;
	return left_out == ran ? 77 : 0;
}

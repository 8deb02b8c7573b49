/* SPDX-License-Identifier: MIT */
/*
 * Unit tests in one file per module, linked with check.c, which holds main().
 *
 *   TEST(what_it_shows)
 *   {
 *           CHECK(ready);                   // any condition
 *           CHECK_EQ(count, 3);             // integers, doubles and strings, printed when unequal
 *           if (!CHECK(p != NULL))          // a check tells whether it held
 *                   return;
 *   }
 *
 * A failed check prints its place and the test goes on. `test-NAME WORD...` runs the tests named.
 */
#ifndef CHECK_H
#define CHECK_H

#include "base.h"

struct check_test {
	const char *name;
	void (*run)(void);
	struct check_test *next;
};

void check_register(struct check_test *test);
bool check_true(bool held, const char *what, const char *file, int line);
bool check_int(long long a, long long b, const char *what, const char *file, int line);
bool check_double(double a, double b, const char *what, const char *file, int line);
/* Equal also if both are NULL. */
bool check_string(const char *a, const char *b, const char *what, const char *file, int line);
bool check_bytes(
	const void *a, const void *b, size_t size, const char *what, const char *file, int line);
/* This test cannot run here, and why; if all tests of a program say so its status is 77. */
void check_skip(const char *why);

/* Defines a test; it registers itself before main(). Tests run in the order of the file. */
#define TEST(id)                                                                                   \
	static void test_##id(void);                                                               \
	__attribute__((constructor)) static void register_##id(void)                               \
	{                                                                                          \
		static struct check_test test = {#id, test_##id, NULL};                            \
		check_register(&test);                                                             \
	}                                                                                          \
	static void test_##id(void)

#define CHECK(cond) check_true(!!(cond), #cond, __FILE__, __LINE__)
#define CHECK_EQ(a, b)                                                                             \
	_Generic((a),                                                                              \
		char *: check_string,                                                              \
		const char *: check_string,                                                        \
		double: check_double,                                                              \
		default: check_int)(a, b, #a " == " #b, __FILE__, __LINE__)
#define CHECK_BYTES(a, b, size) check_bytes(a, b, size, #a " == " #b, __FILE__, __LINE__)

#endif

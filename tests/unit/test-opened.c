/* SPDX-License-Identifier: MIT */
/* A number that is given again keeps its earlier meaning for calls made then. */
#include "check.h"
#include "opened.h"

static uint64_t handle_at(struct opened *o, uint64_t number, uint64_t at_ns)
{
	struct opened_file found = {0};

	return opened_find(o, number, at_ns, &found) ? found.handle : 0;
}

TEST(a_number_means_what_it_meant_at_the_time)
{
	struct opened *o = opened_new();

	opened_add(o, 0x1000, (struct opened_file){2, 1}, 100);
	opened_add(o, 0x2000, (struct opened_file){3, 2}, 150);
	opened_add(o, 0x1000, (struct opened_file){4, 3}, 200);
	opened_add(o, 0x1000, (struct opened_file){5, 4}, 300);
	CHECK_EQ(handle_at(o, 0x1000, 99), 0);
	CHECK_EQ(handle_at(o, 0x1000, 100), 1);
	CHECK_EQ(handle_at(o, 0x1000, 199), 1);
	CHECK_EQ(handle_at(o, 0x1000, 250), 3);
	CHECK_EQ(handle_at(o, 0x1000, 301), 4);
	CHECK_EQ(handle_at(o, 0x2000, 301), 2);
	CHECK_EQ(handle_at(o, 0x3000, 301), 0);
	opened_free(o);
}

TEST(what_is_long_past_is_not_known_rather_than_wrong)
{
	struct opened *o = opened_new();

	for (uint64_t i = 1; i <= 20000; i++)
		opened_add(o, 0x1000, (struct opened_file){2, i}, i * 10);
	CHECK_EQ(handle_at(o, 0x1000, 200000), 20000);
	CHECK_EQ(handle_at(o, 0x1000, 199995), 19999);
	CHECK_EQ(handle_at(o, 0x1000, 10), 0);
	opened_free(o);
}

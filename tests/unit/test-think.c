/* SPDX-License-Identifier: MIT */
#include "think.h"

#include "check.h"

static void note(struct think *t, enum op call, uint64_t cpu_ns, int count)
{
	while (count--)
		think_note(t, call, cpu_ns);
}

/* Histograms know a value to 1 of 16. */
static bool near(uint64_t a, uint64_t b)
{
	return a >= b && a <= b + b / 16;
}

TEST(the_least_after_a_kind_of_call_is_the_cost)
{
	struct think t = {0};

	note(&t, OP_write, 9000, 500);
	note(&t, OP_setlk, 4800, 500);
	CHECK(near(think_call_cost(&t, 4000), 4800));
	think_done(&t);
}

TEST(an_application_that_always_computes_is_not_believed)
{
	struct think t = {0};

	note(&t, OP_write, 50000, 500);
	CHECK_EQ(think_call_cost(&t, 4000), 6000);
	note(&t, OP_read, 1000, 500);
	CHECK_EQ(think_call_cost(&t, 4000), 4000);
	think_done(&t);
}

TEST(few_calls_say_nothing)
{
	struct think t = {0};

	CHECK_EQ(think_call_cost(&t, 4000), 4000);
	note(&t, OP_write, 9000, 99);
	CHECK_EQ(think_call_cost(&t, 4000), 4000);
	note(&t, OP_write, 5000, 30000);
	note(&t, OP_setlk, 4500, 200);
	CHECK(near(think_call_cost(&t, 4000), 5000));
	CHECK_EQ(think_call_cost(&t, 0), 0);
	think_done(&t);
}

TEST(what_a_probe_leaves_is_little_and_known_from_the_trace)
{
	struct think t = {0};

	CHECK_EQ(think_residue(&t), 0);
	for (int i = 0; i < 1000; i++) {
		think_note(&t, OP_write, 600);
		think_note(&t, OP_fdatasync, 5000);
	}
	CHECK(think_residue(&t) > 550 && think_residue(&t) < 650);
	think_done(&t);
	for (int i = 0; i < 1000; i++)
		think_note(&t, OP_write, 20000);
	CHECK_EQ(think_residue(&t), 1000);
	think_done(&t);
}

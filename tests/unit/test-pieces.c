/* SPDX-License-Identifier: MIT */
#include "pieces.h"

#include <errno.h>

#include "check.h"

#define MIB (UINT64_C(1) << 20)

static struct event piece(uint64_t offset, uint64_t size, int64_t result)
{
	return (struct event){.op = OP_write,
		.handle = 3,
		.offset = offset,
		.size = size,
		.result = result,
		.start_ns = 1000 + offset / MIB,
		.cpu_ns = 10 + offset / MIB};
}

TEST(pieces_of_a_call_become_one_event)
{
	struct pieces *p = pieces_new(NULL);
	struct event a = piece(0, MIB, MIB), b = piece(MIB, MIB, MIB), c = piece(2 * MIB, 100, 100);

	CHECK(pieces_add(p, 7, 2 * MIB + 100, &a));
	CHECK(pieces_any(p));
	CHECK(pieces_add(p, 7, 0, &b));
	CHECK(!pieces_add(p, 7, 0, &c));
	CHECK(!pieces_any(p));
	CHECK_EQ(c.offset, 0);
	CHECK_EQ(c.size, 2 * MIB + 100);
	CHECK_EQ(c.result, (int64_t)(2 * MIB + 100));
	CHECK_EQ(c.start_ns, 1000);
	CHECK_EQ(c.cpu_ns, 10);
	CHECK_EQ(c.event_flags, EVENT_JOINED);
	pieces_free(p);
}

TEST(whole_calls_in_a_row_stay_apart)
{
	struct pieces *p = pieces_new(NULL);
	struct event a = piece(0, MIB, MIB), b = piece(MIB, MIB, MIB);

	CHECK(!pieces_add(p, 7, MIB, &a));
	CHECK(!pieces_add(p, 7, MIB, &b));
	CHECK_EQ(b.size, MIB);
	CHECK_EQ(b.event_flags, 0);
	pieces_free(p);
}

TEST(threads_do_not_mix)
{
	struct pieces *p = pieces_new(NULL);
	struct event a = piece(0, MIB, MIB), other = piece(MIB, MIB, MIB);

	CHECK(pieces_add(p, 7, 2 * MIB, &a));
	CHECK(!pieces_add(p, 8, MIB, &other));
	CHECK_EQ(other.event_flags, 0);
	CHECK(pieces_any(p));
	pieces_free(p);
}

TEST(an_error_or_a_short_count_ends_the_call)
{
	struct pieces *p = pieces_new(NULL);
	struct event a = piece(0, MIB, MIB), full = piece(MIB, MIB, -ENOSPC);

	CHECK(pieces_add(p, 7, 3 * MIB, &a));
	CHECK(!pieces_add(p, 7, 0, &full));
	CHECK_EQ(full.result, (int64_t)MIB);
	CHECK_EQ(full.size, 3 * MIB);

	struct event b = piece(0, MIB, MIB), part = piece(MIB, MIB, 17);
	CHECK(pieces_add(p, 7, 3 * MIB, &b));
	CHECK(!pieces_add(p, 7, 0, &part));
	CHECK_EQ(part.result, (int64_t)MIB + 17);
	pieces_free(p);
}

TEST(what_is_left_of_a_cut_call_comes_out)
{
	struct pieces *p = pieces_new(NULL);
	struct event a = piece(0, MIB, MIB), next = piece(MIB, 10, 10),
		     elsewhere = piece(0, 10, 10);
	struct event left;

	CHECK(pieces_add(p, 7, 4 * MIB, &a));
	CHECK(!pieces_take(p, 8, NULL, &left));
	CHECK(!pieces_take(p, 7, &next, &left));
	CHECK(pieces_take(p, 7, &elsewhere, &left));
	CHECK_EQ(left.result, (int64_t)MIB);
	CHECK(!pieces_take(p, 0, NULL, &left));
	pieces_free(p);
}

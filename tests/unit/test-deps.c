/* SPDX-License-Identifier: MIT */
/* Small histories and the waits that must, and must not, come of them. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "deps.h"

#define LANES 4

static struct deps *d;
static uint64_t started_ns;

static void begin(uint32_t lane, uint64_t start_ns)
{
	started_ns = start_ns;
	deps_begin(d, lane, start_ns);
}

/* End the step 10 ns later and say what it waits for: "1:3 2:7" is lane 1 at 3 and lane 2 at 7. */
static const char *end_at(uint64_t end_ns)
{
	static char text[256];
	const struct wait *waits;
	uint16_t count;
	size_t at = 0;

	deps_end(d, end_ns, &waits, &count);
	text[0] = '\0';
	for (uint16_t i = 0; i < count; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u:%u", i ? " " : "",
			waits[i].lane, waits[i].progress);
	return text;
}

static const char *end(void)
{
	return end_at(started_ns + 10);
}

static const struct deps_range *page(uint64_t n, bool at_end)
{
	static struct deps_range range;

	range = (struct deps_range){7, n * 4096, 4096, n * 4096, at_end};
	return &range;
}

TEST(uses_come_after_the_make_and_before_the_end)
{
	struct life file = {0};

	d = deps_new(ORDER_THREAD, LANES, 100);
	begin(0, 0);
	deps_life(d, &file, DEPS_MAKE);
	CHECK_EQ(end(), "");
	begin(1, 20);
	deps_life(d, &file, DEPS_USE);
	CHECK_EQ(end(), "0:1");
	begin(2, 20);
	deps_life(d, &file, DEPS_USE);
	CHECK_EQ(end(), "0:1");
	begin(1, 40);
	deps_life(d, &file, DEPS_USE);
	CHECK_EQ(end(), ""); /* lane 1 knows that already */
	begin(3, 60);
	deps_life(d, &file, DEPS_END);
	CHECK_EQ(end(), "0:1 1:2 2:1");
	begin(1, 80);
	deps_life(d, &file, DEPS_MAKE); /* the same name again */
	CHECK_EQ(end(), "3:1");
	life_done(&file);
	deps_free(d);
}

/* The call could not have succeeded otherwise, so it holds for overlapping calls too. */
TEST(lifetimes_hold_for_calls_that_overlap)
{
	struct life file = {0};

	d = deps_new(ORDER_THREAD, LANES, 100);
	begin(0, 0);
	deps_life(d, &file, DEPS_MAKE);
	end_at(100);
	begin(1, 50);
	deps_life(d, &file, DEPS_USE);
	CHECK_EQ(end_at(150), "0:1");
	life_done(&file);
	deps_free(d);
}

TEST(a_lane_never_waits_for_itself)
{
	struct life file = {0};
	struct contents c = {0};

	d = deps_new(ORDER_RESOURCE, LANES, 100);
	for (uint64_t t = 0; t < 1000; t += 20) {
		begin(2, t);
		deps_life(d, &file, t % 60 ? DEPS_USE : DEPS_MAKE);
		deps_write(d, &c, page(t / 60, true));
		deps_look(d, &c);
		CHECK_EQ(end(), "");
	}
	life_done(&file);
	contents_done(&c);
	deps_free(d);
}

TEST(writes_wait_only_for_writes_of_the_same_pages)
{
	struct contents c = {0};

	d = deps_new(ORDER_RESOURCE, LANES, 100);
	begin(0, 0);
	deps_write(d, &c, page(1, false));
	end();
	begin(1, 20);
	deps_write(d, &c, page(2, false));
	CHECK_EQ(end(), "");
	begin(2, 40);
	deps_write(d, &c, page(1, false));
	CHECK_EQ(end(), "0:1");
	begin(3, 60);
	deps_read(d, &c, page(2, false));
	CHECK_EQ(end(), "1:1");
	contents_done(&c);
	deps_free(d);
}

TEST(overlapping_calls_may_overlap_again)
{
	struct contents c = {0};

	d = deps_new(ORDER_RESOURCE, LANES, 100);
	begin(0, 0);
	deps_write(d, &c, page(1, false));
	end_at(100);
	begin(1, 50); /* started before the first had ended */
	deps_write(d, &c, page(1, false));
	CHECK_EQ(end_at(150), "");
	contents_done(&c);
	deps_free(d);
}

TEST(a_sync_waits_for_the_writes_that_had_ended)
{
	struct contents c = {0};

	d = deps_new(ORDER_RESOURCE, LANES, 100);
	begin(0, 0);
	deps_write(d, &c, page(1, false));
	end(); /* ends at 10 */
	begin(1, 5);
	deps_write(d, &c, page(2, false));
	end_at(100);
	begin(2, 50);
	deps_look(d, &c);
	CHECK_EQ(end_at(120), "0:1"); /* the write of lane 1 was still under way */
	begin(3, 110);
	deps_look(d, &c);
	CHECK_EQ(end_at(130), "0:1 1:1");
	begin(0, 200); /* what comes after a sync stays after it */
	deps_write(d, &c, page(3, false));
	CHECK_EQ(end_at(210), "3:1");
	contents_done(&c);
	deps_free(d);
}

TEST(a_sync_of_everything_waits_for_all_that_had_ended)
{
	struct contents a = {0}, b = {0};

	d = deps_new(ORDER_RESOURCE, LANES, 100);
	begin(0, 0);
	deps_write(d, &a, page(1, false));
	end(); /* ends at 10 */
	begin(1, 0);
	deps_write(d, &b, page(2, false));
	end_at(20);
	begin(2, 5);
	deps_write(d, &b, page(3, false));
	end_at(100);
	begin(3, 50);
	deps_everything(d);
	CHECK_EQ(end_at(60), "0:1 1:1");
	contents_done(&a);
	contents_done(&b);
	deps_free(d);
}

/* One write of the lane had ended, its latest had not: only the former counts. */
TEST(a_long_write_does_not_hide_the_one_before_it)
{
	struct contents c = {0};

	d = deps_new(ORDER_RESOURCE, LANES, 100);
	begin(0, 0);
	deps_write(d, &c, page(1, false));
	end(); /* 10 */
	begin(0, 20);
	deps_write(d, &c, page(2, false));
	end_at(500);
	begin(1, 100);
	deps_look(d, &c);
	CHECK_EQ(end_at(600), "0:1");
	contents_done(&c);
	deps_free(d);
}

TEST(cutting_a_file_off_is_after_all_uses_before_all_later)
{
	struct contents c = {0};
	struct life file = {0};

	d = deps_new(ORDER_RESOURCE, LANES, 100);
	for (uint32_t lane = 0; lane < 2; lane++) {
		begin(lane, lane * 20);
		deps_life(d, &file, DEPS_USE);
		deps_read(d, &c, page(lane, false));
		end();
	}
	begin(2, 60);
	deps_resize(d, &c, &file);
	CHECK_EQ(end(), "0:1 1:1");
	begin(3, 80);
	deps_read(d, &c, page(9, false));
	CHECK_EQ(end(), "2:1");
	life_done(&file);
	contents_done(&c);
	deps_free(d);
}

TEST(who_saw_the_end_of_the_file_is_before_who_moves_it)
{
	struct contents c = {0};

	d = deps_new(ORDER_RESOURCE, LANES, 100);
	begin(0, 0);
	deps_read(d, &c, page(5, true));
	end();
	begin(1, 20);
	deps_write(d, &c, page(6, true));
	CHECK_EQ(end(), "0:1");
	begin(2, 40);
	deps_read(d, &c, page(7, true));
	CHECK_EQ(end(), "1:1");
	contents_done(&c);
	deps_free(d);
}

static const struct deps_lock *lock_of(uint64_t owner, bool exclusive, bool unlock, bool granted)
{
	static struct deps_lock lock;

	lock = (struct deps_lock){owner, 100, 109, exclusive, unlock, false, granted};
	return &lock;
}

TEST(a_lock_is_granted_after_the_release_that_made_it_possible)
{
	struct contents c = {0};

	d = deps_new(ORDER_RESOURCE, LANES, 100);
	begin(0, 0);
	deps_lock(d, &c, lock_of(1, true, false, true));
	CHECK_EQ(end(), "");
	begin(1, 20);
	deps_lock(d, &c, lock_of(2, true, false, false)); /* refused: lock 1 is held */
	CHECK_EQ(end(), "0:1");
	begin(0, 40);
	deps_lock(d, &c, lock_of(1, false, true, true));
	CHECK_EQ(end(), "1:1"); /* not before lane 1 was refused */
	begin(2, 60);
	deps_lock(d, &c, lock_of(3, true, false, true));
	CHECK_EQ(end(), "0:2");
	contents_done(&c);
	deps_free(d);
}

TEST(a_part_of_a_lock_stays_when_the_rest_goes)
{
	struct contents c = {0};
	struct deps_lock first = *lock_of(1, false, true, true),
			 rest = *lock_of(2, true, false, false);

	d = deps_new(ORDER_RESOURCE, LANES, 100);
	begin(0, 0);
	deps_lock(d, &c, lock_of(1, true, false, true));
	end();
	begin(0, 20);
	first.end = 104;
	deps_lock(d, &c, &first);
	end();
	begin(1, 40);
	rest.start = rest.end = 107;
	deps_lock(d, &c, &rest); /* refused by what is left */
	CHECK_EQ(end(), "0:1");
	begin(0, 60);
	deps_lock(d, &c, lock_of(1, false, true, true));
	CHECK_EQ(end(), "1:1");
	begin(2, 80);
	rest.granted = true;
	deps_lock(d, &c, &rest);
	CHECK_EQ(end(), "0:3");
	contents_done(&c);
	deps_free(d);
}

TEST(shared_locks_do_not_order_each_other)
{
	struct contents c = {0};

	d = deps_new(ORDER_RESOURCE, LANES, 100);
	begin(0, 0);
	deps_lock(d, &c, lock_of(1, false, false, true));
	end();
	begin(1, 20);
	deps_lock(d, &c, lock_of(2, false, false, true));
	CHECK_EQ(end(), "");
	begin(0, 40);
	deps_lock(d, &c, lock_of(1, false, true, true));
	end();
	begin(1, 60);
	deps_lock(d, &c, lock_of(2, false, true, true));
	CHECK_EQ(end(), "");
	begin(2, 80);
	deps_lock(d, &c, lock_of(3, true, false, true));
	CHECK_EQ(end(), "0:2 1:2");
	contents_done(&c);
	deps_free(d);
}

TEST(thread_order_knows_no_contents)
{
	struct contents c = {0};

	d = deps_new(ORDER_THREAD, LANES, 100);
	begin(0, 0);
	deps_write(d, &c, page(1, true));
	end();
	begin(1, 20);
	deps_write(d, &c, page(1, true));
	deps_look(d, &c);
	CHECK_EQ(end(), "");
	contents_done(&c);
	deps_free(d);
}

TEST(strict_order_is_one_after_the_other)
{
	d = deps_new(ORDER_STRICT, LANES, 100);
	begin(0, 0);
	CHECK_EQ(end(), "");
	begin(1, 0);
	CHECK_EQ(end(), "0:1");
	begin(2, 0);
	CHECK_EQ(end(), "1:1");
	begin(2, 0);
	CHECK_EQ(end(), "");
	begin(0, 0);
	CHECK_EQ(end(), "2:2");
	deps_free(d);
}

/* Far more pages than the table holds, all unfinished: a second writer still finds the first. */
TEST(a_crowded_table_of_writers_loses_nothing)
{
	const uint64_t pages = 200000;
	struct contents c = {0};
	uint64_t lost = 0;

	d = deps_new(ORDER_RESOURCE, LANES, 10 * pages);
	for (uint64_t i = 0; i < pages; i++) {
		begin(0, i * 20);
		deps_write(d, &c, page(i, false));
		end();
	}
	for (uint64_t i = 0; i < 1000; i++) {
		const struct wait *waits;
		uint16_t count;
		begin(1, pages * 20 + i * 20);
		deps_write(d, &c, page(i, false));
		deps_end(d, pages * 20 + i * 20 + 10, &waits, &count);
		/* Earlier waits of this lane may cover it. */
		static uint32_t covered;
		if (count)
			covered = waits[0].progress;
		lost += covered < i + 1;
	}
	CHECK_EQ(lost, 0);
	contents_done(&c);
	deps_free(d);
}

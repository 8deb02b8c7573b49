/* SPDX-License-Identifier: MIT */
#include "locks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "rng.h"

static const int files[2];
static int granted_to, granted_result;

static void answer(void *waiter, int result)
{
	granted_to = *(const int *)waiter;
	granted_result = result;
}

/* What was told under the mutex, a letter each: Granted, Refused, Dropped. */
static char told[64];

static void tell_letter(char letter)
{
	size_t n = strlen(told);

	if (n + 1 < sizeof(told))
		told[n] = letter;
}

static void decided(void *call, int result)
{
	tell_letter(result ? 'R' : 'G');
}

static void dropped(void *call, const struct lock_range *lock)
{
	tell_letter('D');
}

static const struct lock_events events = {decided, dropped, answer};

static bool never(void *waiter)
{
	return false;
}

static bool always(void *waiter)
{
	return true;
}

static struct lock_range range(uint64_t owner, short type, uint64_t start, uint64_t end)
{
	return (struct lock_range){.owner = owner, .type = type, .start = start, .end = end};
}

static int set(struct locks *l, struct lock_range want)
{
	struct lock_answers tell = {0};
	int r = locks_set(l, files, &want, NULL, true, &tell);

	locks_answer(l, &tell);
	return r;
}

TEST(ranges_of_one_owner_split_and_join)
{
	struct locks *l = locks_new(&events);
	struct lock_range all = range(2, F_WRLCK, 0, UINT64_MAX), found;

	CHECK_EQ(set(l, range(1, F_WRLCK, 0, 99)), 0);
	CHECK_EQ(set(l, range(1, F_UNLCK, 40, 59)), 0);
	CHECK_EQ(set(l, range(2, F_WRLCK, 40, 59)), 0);
	CHECK_EQ(set(l, range(2, F_WRLCK, 39, 39)), -EAGAIN);
	CHECK_EQ(set(l, range(2, F_UNLCK, 0, UINT64_MAX)), 0);
	CHECK_EQ(set(l, range(1, F_WRLCK, 40, 59)), 0);
	CHECK(locks_test(l, files, &all, &found));
	CHECK_EQ(found.start, 0);
	CHECK_EQ(found.end, 99);
	CHECK(!locks_test(l, &files[1], &all, &found));
	locks_free(l);
}

TEST(readers_share_and_a_change_of_type_needs_the_others_gone)
{
	struct locks *l = locks_new(&events);

	CHECK_EQ(set(l, range(1, F_RDLCK, 0, 9)), 0);
	CHECK_EQ(set(l, range(2, F_RDLCK, 5, 20)), 0);
	CHECK_EQ(set(l, range(1, F_WRLCK, 0, 9)), -EAGAIN);
	CHECK_EQ(set(l, range(1, F_WRLCK, 0, 4)), 0);
	CHECK_EQ(set(l, range(2, F_UNLCK, 0, 20)), 0);
	CHECK_EQ(set(l, range(1, F_WRLCK, 0, 9)), 0);
	locks_free(l);
}

static int wait_for(struct locks *l, struct lock_range want, int *waiter)
{
	struct lock_answers tell = {0};
	int r = locks_wait(l, files, &want, waiter, never, &tell);

	locks_answer(l, &tell);
	return r;
}

static bool is_number(const void *waiter, const void *key)
{
	return *(const int *)waiter == *(const int *)key;
}

TEST(waiters_are_told_in_their_order_or_cancelled)
{
	struct locks *l = locks_new(&events);
	struct lock_range late = range(9, F_WRLCK, 0, 0);
	struct lock_answers tell = {0};
	int first = 1, second = 2;

	CHECK_EQ(set(l, range(7, F_WRLCK, 0, 9)), 0);
	CHECK_EQ(wait_for(l, range(8, F_WRLCK, 3, 3), &first), -EINPROGRESS);
	CHECK_EQ(wait_for(l, range(9, F_WRLCK, 3, 3), &second), -EINPROGRESS);
	CHECK_EQ(locks_wait(l, files, &late, &second, always, &tell), -EINTR);
	granted_to = 0;
	CHECK_EQ(set(l, range(7, F_UNLCK, 4, 9)), 0);
	CHECK_EQ(granted_to, 0);
	CHECK_EQ(set(l, range(7, F_UNLCK, 0, 9)), 0);
	CHECK_EQ(granted_to, 1);
	CHECK_EQ(granted_result, 0);
	locks_cancel(l, &second, is_number);
	CHECK_EQ(granted_to, 2);
	CHECK_EQ(granted_result, -EINTR);
	granted_to = 0;
	locks_cancel(l, &second, is_number);
	CHECK_EQ(granted_to, 0);
	locks_free(l);
}

TEST(a_circle_of_waiters_is_refused)
{
	struct locks *l = locks_new(&events);
	int waiter = 1;

	for (uint64_t owner = 1; owner <= 3; owner++)
		CHECK_EQ(set(l, range(owner, F_WRLCK, owner, owner)), 0);
	CHECK_EQ(wait_for(l, range(1, F_WRLCK, 2, 2), &waiter), -EINPROGRESS);
	CHECK_EQ(wait_for(l, range(2, F_WRLCK, 3, 3), &waiter), -EINPROGRESS);
	CHECK_EQ(wait_for(l, range(3, F_WRLCK, 1, 1), &waiter), -EDEADLK);
	locks_free(l);
}

TEST(closing_gives_up_what_the_owner_or_the_open_file_had)
{
	struct locks *l = locks_new(&events);
	struct lock_answers tell = {0};
	struct lock_range want = range(5, F_WRLCK, 0, 0), held = range(4, F_WRLCK, 0, 5);

	held.handle = &granted_to;
	CHECK_EQ(set(l, held), 0);
	CHECK_EQ(locks_set(l, files, &want, NULL, false, &tell), -ERESTART);
	locks_drop_owner(l, &files[1], 4, NULL, &tell); /* closes another file: a process then */
	CHECK_EQ(locks_set(l, files, &want, NULL, false, &tell), -EAGAIN);
	locks_drop_handle(l, files, &granted_to, NULL, &tell);
	CHECK_EQ(locks_set(l, files, &want, NULL, false, &tell), 0);
	locks_drop_owner(l, files, 5, NULL, &tell);
	CHECK_EQ(set(l, range(6, F_WRLCK, 0, 0)), 0);
	locks_free(l);
}

/* Seen only when the first lock in the way has gone: as the kernel does. */
TEST(a_deadlock_may_show_later)
{
	struct locks *l = locks_new(&events);
	int second = 2, third = 3;

	CHECK_EQ(set(l, range(1, F_WRLCK, 0, 0)), 0);
	CHECK_EQ(set(l, range(2, F_WRLCK, 9, 13)), 0);
	CHECK_EQ(set(l, range(3, F_WRLCK, 17, 21)), 0);
	CHECK_EQ(wait_for(l, range(3, F_WRLCK, 0, 15), &third), -EINPROGRESS);
	CHECK_EQ(wait_for(l, range(2, F_WRLCK, 17, 21), &second), -EINPROGRESS);
	granted_to = 0;
	CHECK_EQ(set(l, range(1, F_UNLCK, 0, 0)), 0);
	CHECK_EQ(granted_to, 3);
	CHECK_EQ(granted_result, -EDEADLK);
	CHECK_EQ(set(l, range(3, F_UNLCK, 0, 99)), 0);
	CHECK_EQ(granted_to, 2);
	CHECK_EQ(granted_result, 0);
	locks_free(l);
}

TEST(flock_is_apart_and_gives_up_before_it_asks)
{
	struct locks *l = locks_new(&events);
	struct lock_range a = range(1, F_RDLCK, 0, UINT64_MAX),
			  b = range(2, F_RDLCK, 0, UINT64_MAX);

	a.is_flock = b.is_flock = true;
	CHECK_EQ(set(l, range(3, F_WRLCK, 0, UINT64_MAX)), 0);
	CHECK_EQ(set(l, a), 0);
	CHECK_EQ(set(l, b), 0);
	a.type = F_WRLCK;
	CHECK_EQ(set(l, a), -EAGAIN);
	b.type = F_WRLCK;
	CHECK_EQ(set(l, b), 0); /* the read lock of the first is gone */
	locks_free(l);
}

/* What ends a lock is told before the grant that it makes possible. */
TEST(decisions_are_told_in_their_order)
{
	struct locks *l = locks_new(&events);
	struct lock_range a = range(1, F_RDLCK, 0, UINT64_MAX),
			  b = range(2, F_WRLCK, 0, UINT64_MAX);
	struct lock_answers tell = {0};
	int waiter = 1;

	memset(told, 0, sizeof(told));
	CHECK_EQ(set(l, range(7, F_WRLCK, 0, 9)), 0);
	CHECK_EQ(set(l, range(8, F_WRLCK, 0, 9)), -EAGAIN);
	CHECK_EQ(wait_for(l, range(8, F_WRLCK, 3, 3), &waiter), -EINPROGRESS);
	CHECK_EQ(told, "GR");
	locks_drop_owner(l, files, 7, NULL, &tell);
	CHECK_EQ(told, "GRDG");
	locks_answer(l, &tell);
	locks_drop_owner(l, files, 7, NULL, &tell); /* has nothing */
	CHECK_EQ(told, "GRDG");

	memset(told, 0, sizeof(told));
	a.is_flock = b.is_flock = true;
	a.handle = &waiter;
	CHECK_EQ(set(l, a), 0);
	CHECK_EQ(wait_for(l, b, &waiter), -EINPROGRESS);
	locks_drop_handle(l, files, &waiter, NULL, &tell);
	CHECK_EQ(told, "GGG");
	locks_answer(l, &tell);
	b.type = F_RDLCK;
	CHECK_EQ(set(l, b), 0); /* gives up the other type first */
	CHECK_EQ(told, "GGGDG");
	locks_free(l);
}

/* Against the plainest model there is: an array of who holds each byte. */
TEST(random_calls_agree_with_a_model)
{
	enum { BYTES = 24, OWNERS = 3, CALLS = 20000 };
	short held[OWNERS][BYTES];
	struct locks *l = locks_new(&events);
	struct rng rng;
	bool agree = true;

	rng_init(&rng, 7);
	for (int o = 0; o < OWNERS; o++)
		for (int i = 0; i < BYTES; i++)
			held[o][i] = F_UNLCK;
	for (int n = 0; n < CALLS && agree; n++) {
		static const short types[] = {F_RDLCK, F_WRLCK, F_UNLCK};
		uint64_t start = rng_below(&rng, BYTES),
			 end = start + rng_below(&rng, BYTES - start);
		uint64_t owner = rng_below(&rng, OWNERS);
		short type = types[rng_below(&rng, 3)];
		bool free = true;
		for (uint64_t o = 0; o < OWNERS; o++)
			for (uint64_t i = start; i <= end; i++)
				if (o != owner && type != F_UNLCK && held[o][i] != F_UNLCK &&
					(type == F_WRLCK || held[o][i] == F_WRLCK))
					free = false;
		agree = CHECK_EQ(set(l, range(owner + 1, type, start, end)), free ? 0 : -EAGAIN);
		for (uint64_t i = start; free && i <= end; i++)
			held[owner][i] = type;
	}
	locks_free(l);
}

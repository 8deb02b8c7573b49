/* SPDX-License-Identifier: MIT */
/* Waiting for a lane's progress: nobody is let go too early, nobody is forgotten. */
#include "gate.h"

#include <sched.h>

#include "check.h"

TEST(what_has_passed_is_not_waited_for)
{
	struct gate gate;
	struct gate_waiter waiter;

	gate_init(&gate);
	CHECK(gate_advance(&gate, 3) == NULL);
	CHECK(!gate_wait(&gate, &waiter, 3));
	CHECK(gate_advance(&gate, 4) == NULL);
	gate_done(&gate);
}

TEST(only_those_whose_need_is_reached_are_let_go)
{
	struct gate gate;
	struct gate_waiter early, late, same;

	gate_init(&gate);
	CHECK(gate_wait(&gate, &late, 5));
	CHECK(gate_wait(&gate, &early, 2));
	CHECK(gate_wait(&gate, &same, 2));
	CHECK(gate_advance(&gate, 1) == NULL);
	struct gate_waiter *gone = gate_advance(&gate, 2);
	CHECK(gone && gone->next && !gone->next->next);
	CHECK(gone != &late && gone->next != &late);
	CHECK(gate_advance(&gate, 4) == NULL);
	CHECK(gate_advance(&gate, 6) == &late);
	gate_done(&gate);
}

/* Two threads that wait for each other at every step. */
#define STEPS 20000

struct runner {
	struct gate gate;
	struct gate_waiter waiter;
	_Atomic bool released;
	_Atomic bool wrong;
	uint32_t held;
};

static struct runner runners[2];

static void *run(void *arg)
{
	struct runner *self = arg;
	struct runner *other = &runners[self == &runners[0]];

	for (uint32_t i = 1; i <= STEPS; i++) {
		struct gate_waiter *gone = gate_advance(&self->gate, i);
		if (gone && (gone != &other->waiter || gone->next || gone->need > i))
			atomic_store(&self->wrong, true);
		if (gone)
			atomic_store(&other->released, true);
		atomic_store(&self->released, false);
		if (!gate_wait(&other->gate, &self->waiter, i))
			continue;
		self->held++;
		while (!atomic_load(&self->released))
			sched_yield();
	}
	return NULL;
}

TEST(no_waiter_is_forgotten)
{
	pthread_t thread;

	gate_init(&runners[0].gate);
	gate_init(&runners[1].gate);
	CHECK_EQ(pthread_create(&thread, NULL, run, &runners[1]), 0);
	run(&runners[0]);
	pthread_join(thread, NULL);
	for (unsigned i = 0; i < 2; i++) {
		CHECK(!atomic_load(&runners[i].wrong));
		CHECK_EQ(atomic_load(&runners[i].gate.progress), STEPS);
		gate_done(&runners[i].gate);
	}
	/* Nobody is more than one step ahead, so one of them is held up all the time. */
	CHECK(runners[0].held + runners[1].held > STEPS / 100);
}

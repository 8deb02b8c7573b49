/* SPDX-License-Identifier: MIT */
/*
 * How far a lane is, and who waits for it to get further. Waking is targeted: a lane that finishes a
 * step learns which waiters that step lets go, and nobody else is disturbed.
 *
 * Any thread may wait; only the thread that runs the lane advances its gate.
 */
#ifndef GATE_H
#define GATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base.h"

struct gate_waiter {
	struct gate_waiter *next;
	uint32_t need; /* progress that lets it go */
};

/* On a cache line of its own: each lane writes its gate all the time. */
struct gate {
	_Alignas(64) _Atomic uint32_t progress; /* steps finished */
	_Atomic uint32_t lowest;                /* need among the waiters; UINT32_MAX: none */
	pthread_mutex_t lock;                   /* of the list */
	struct gate_waiter *waiters;
};

void gate_init(struct gate *g);
void gate_done(struct gate *g);

/*
 * False if the gate has passed `need` already. True: the waiter is in its list now and must stay
 * where it is until gate_advance() gives it back.
 */
bool gate_wait(struct gate *g, struct gate_waiter *waiter, uint32_t need);

/* Progress is now so much. The waiters that this lets go, as a list; NULL: none. */
struct gate_waiter *gate_advance(struct gate *g, uint32_t progress);

#endif

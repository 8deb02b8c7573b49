/* SPDX-License-Identifier: MIT */
/*
 * Reading a BPF ring buffer in the order of time.
 *
 * The kernel's ring is in the order in which places in it were reserved. A record states its time
 * after that, so a later place may bear an earlier time, but all that is reserved after a look at
 * the ring is younger than that look. So: read the clock, read all that is there, and what has a
 * time before the clock's is complete and can be given out in order. A place that was reserved and
 * not filled yet stops the reading; then nothing is known about what is behind it.
 *
 * Not thread-safe: one thread drains.
 */
#ifndef DRAIN_H
#define DRAIN_H

#include "base.h"
#include "vec.h"

/* The ring as the kernel maps it. */
struct drain_ring {
	unsigned long *consumer_pos;
	const unsigned long *producer_pos;
	const char *data; /* `size` bytes, mapped twice in a row */
	size_t size;      /* a power of two */
};

/* The time that orders a record of this size; what is given out. */
typedef uint64_t (*drain_time_fn)(const void *record, size_t size);
typedef void (*drain_take_fn)(const void *record, size_t size, void *arg);

struct drain_item {
	uint64_t at_ns;
	size_t at, size; /* in `held` */
};

struct drain {
	struct drain_ring ring;
	drain_time_fn time;
	drain_take_fn take;
	void *arg;
	uint64_t until_ns; /* all that has an earlier time has been given out */
	uint64_t given;    /* records */
	size_t peak_bytes; /* the fullest the ring was found */

	char *held; /* copies of what was read and is not given out yet */
	size_t held_size, held_room;
	VEC(struct drain_item) items; /* by time */
};

/*
 * Read what is in the ring, give out what is complete. `now_ns`: CLOCK_MONOTONIC, read before the
 * call. Returns how many records were read.
 */
size_t drain_round(struct drain *d, uint64_t now_ns);
/* Give out all that was read; nothing more will come. */
void drain_end(struct drain *d);
void drain_done(struct drain *d);

#endif

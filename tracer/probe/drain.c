/* SPDX-License-Identifier: MIT */
#include "drain.h"

#include <string.h>

#define HEADER   8u         /* u32 length and flags, u32 for the kernel */
#define BUSY     (1u << 31) /* reserved, not filled yet */
#define DISCARD  (1u << 30) /* given up */
#define NO_LIMIT UINT64_MAX

static size_t rounded(uint32_t length)
{
	return (length + HEADER + 7) & ~(size_t)7;
}

/* Into `items` by time: nearly always at the end. */
static void place(struct drain *d, struct drain_item item)
{
	vec_push(&d->items, item);
	size_t i = d->items.count - 1;
	while (i > 0 && d->items.at[i - 1].at_ns > item.at_ns) {
		d->items.at[i] = d->items.at[i - 1];
		i--;
	}
	d->items.at[i] = item;
}

static void hold(struct drain *d, const void *record, size_t size)
{
	size_t need = (size + 7) & ~(size_t)7;

	if (d->held_size + need > d->held_room) {
		d->held_room = d->held_room * 2 + need + 65536;
		d->held = xrealloc(d->held, d->held_room, 1);
	}
	memcpy(d->held + d->held_size, record, size);
	place(d, (struct drain_item){d->time(record, size), d->held_size, size});
	d->held_size += need;
}

/* True if it came to the end of what was there at the start. */
static bool read_ring(struct drain *d, size_t *ret_count)
{
	const struct drain_ring *ring = &d->ring;
	unsigned long at = *ring->consumer_pos;
	unsigned long end = __atomic_load_n(ring->producer_pos, __ATOMIC_ACQUIRE);

	if (end - at > d->peak_bytes)
		d->peak_bytes = end - at;
	while (at < end) {
		const char *place_at = ring->data + (at & (ring->size - 1));
		uint32_t head = __atomic_load_n((const uint32_t *)place_at, __ATOMIC_ACQUIRE);
		if (head & BUSY)
			return false;
		uint32_t length = head & ~(BUSY | DISCARD);
		if (!(head & DISCARD)) {
			hold(d, place_at + HEADER, length);
			++*ret_count;
		}
		at += rounded(length);
		__atomic_store_n(ring->consumer_pos, at, __ATOMIC_RELEASE);
	}
	return true;
}

/* Move what is left to the front of the buffer. */
static void compact(struct drain *d, size_t given)
{
	size_t left = d->items.count - given;

	if (!given)
		return;
	memmove(d->items.at, d->items.at + given, left * sizeof(*d->items.at));
	d->items.count = left;
	if (!left) {
		d->held_size = 0;
		return;
	}
	size_t first = d->items.at[0].at;
	vec_each (item, &d->items)
		first = first < item->at ? first : item->at;
	memmove(d->held, d->held + first, d->held_size - first);
	d->held_size -= first;
	vec_each (item, &d->items)
		item->at -= first;
}

static void give(struct drain *d, uint64_t until_ns)
{
	size_t n = 0;

	while (n < d->items.count && d->items.at[n].at_ns < until_ns) {
		const struct drain_item *item = &d->items.at[n++];
		d->take(d->held + item->at, item->size, d->arg);
	}
	d->given += n;
	compact(d, n);
}

size_t drain_round(struct drain *d, uint64_t now_ns)
{
	size_t count = 0;

	if (!read_ring(d, &count))
		return count;
	give(d, now_ns);
	d->until_ns = now_ns;
	return count;
}

void drain_end(struct drain *d)
{
	give(d, NO_LIMIT);
}

void drain_done(struct drain *d)
{
	free(d->held);
	d->held = NULL;
	vec_free(&d->items);
}

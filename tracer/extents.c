/* SPDX-License-Identifier: MIT */
#include "extents.h"

#include <string.h>

static uint64_t end_of(const struct tree_extent *x)
{
	return x->offset + x->size;
}

/* The first stretch that ends at or after `offset`. */
static size_t first_from(const struct extents *e, uint64_t offset)
{
	size_t low = 0, high = e->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (end_of(&e->at[mid]) < offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Put `with` stretches in the place of those from `first` to before `last`. */
static void splice(
	struct extents *e, size_t first, size_t last, const struct tree_extent *new, size_t with)
{
	size_t tail = e->count - last;

	while (e->capacity < first + with + tail)
		vec_grow_((void **)&e->at, &e->capacity, sizeof(*e->at));
	if (tail)
		memmove(e->at + first + with, e->at + last, tail * sizeof(*e->at));
	if (with)
		memcpy(e->at + first, new, with * sizeof(*e->at));
	e->count = first + with + tail;
}

/* Take the neighbour in too: rather too much data than too little. */
static void crowd(struct extents *e, size_t i)
{
	size_t first = i + 1 < e->count ? i : i - 1;
	struct tree_extent one = {e->at[first].offset, 0};

	one.size = end_of(&e->at[first + 1]) - one.offset;
	splice(e, first, first + 2, &one, 1);
}

void extents_add(struct extents *e, uint64_t offset, uint64_t size)
{
	uint64_t end = offset + size;
	size_t first = first_from(e, offset), last = first;

	if (!size || end < offset)
		return;
	for (; last < e->count && e->at[last].offset <= end; last++) {
		offset = min_u64(offset, e->at[last].offset);
		end = max_u64(end, end_of(&e->at[last]));
	}
	struct tree_extent one = {offset, end - offset};
	splice(e, first, last, &one, 1);
	if (e->count > EXTENTS_MAX)
		crowd(e, first);
}

void extents_remove(struct extents *e, uint64_t offset, uint64_t size)
{
	uint64_t end = size > UINT64_MAX - offset ? UINT64_MAX : offset + size;
	struct tree_extent parts[2];
	size_t first = first_from(e, offset), last = first, n = 0;

	if (!size || first == e->count)
		return;
	if (e->at[first].offset < offset)
		parts[n++] = (struct tree_extent){e->at[first].offset,
			min_u64(offset, end_of(&e->at[first])) - e->at[first].offset};
	for (; last < e->count && e->at[last].offset < end; last++)
		if (end_of(&e->at[last]) > end)
			parts[n++] = (struct tree_extent){end, end_of(&e->at[last]) - end};
	if (last > first)
		splice(e, first, last, parts, n);
}

uint64_t extents_within(const struct extents *e, uint64_t offset, uint64_t size)
{
	uint64_t end = size > UINT64_MAX - offset ? UINT64_MAX : offset + size, sum = 0;

	for (size_t i = first_from(e, offset); i < e->count && e->at[i].offset < end; i++)
		sum += min_u64(end, end_of(&e->at[i])) -
		       min_u64(min_u64(end, end_of(&e->at[i])), max_u64(offset, e->at[i].offset));
	return sum;
}

void extents_done(struct extents *e)
{
	free(e->at);
	*e = (struct extents){0};
}

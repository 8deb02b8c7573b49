/* SPDX-License-Identifier: MIT */
/* Where a file has data: stretches in order, none of which touch. */
#ifndef EXTENTS_H
#define EXTENTS_H

#include "tree.h"
#include "vec.h"

/* Zero is empty. More stretches than this become one with the hole between them. */
#define EXTENTS_MAX 65536
struct extents {
	struct tree_extent *at;
	size_t count, capacity;
};

void extents_add(struct extents *e, uint64_t offset, uint64_t size);
void extents_remove(struct extents *e, uint64_t offset, uint64_t size);
/* How many bytes of this range are data. */
uint64_t extents_within(const struct extents *e, uint64_t offset, uint64_t size);
void extents_done(struct extents *e);

#endif

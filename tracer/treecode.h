/* SPDX-License-Identifier: MIT */
/* Entries of the starting state as bytes: the payload of TREE frames. */
#ifndef TREECODE_H
#define TREECODE_H

#include "bytes.h"
#include "tree.h"

/* More of either in one entry is refused by the reader. */
#define TREE_EXTENTS_MAX 65536
#define TREE_XATTRS_MAX  4096

void tree_encode(const struct tree_entry *entry, struct bytes *out);

/* Room that a decoded entry points into. Zero is empty. */
struct tree_room {
	struct tree_extent *extents;
	struct tree_xattr *xattrs;
};

/* One entry from untrusted bytes; strings point into them, the rest into `room`. False if malformed. */
bool tree_decode(struct cursor *c, struct tree_entry *ret, struct tree_room *room);
void tree_room_free(struct tree_room *room);

#endif

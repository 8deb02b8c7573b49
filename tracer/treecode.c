/* SPDX-License-Identifier: MIT */
#include "treecode.h"

#include <string.h>

#include "format.h"
#include "vec.h"

enum { ENTRY_AGAIN = 1 };

static void put_text(struct bytes *out, const struct text *t)
{
	put_varint(out, t->size);
	put_bytes(out, t->data, t->size);
}

static void get_text(struct cursor *c, struct text *t)
{
	uint64_t size = get_varint(c);

	if (size > TEXT_MAX)
		c->bad = true;
	t->data = (const char *)get_bytes(c, size);
	t->size = t->data ? size : 0;
}

void tree_encode(const struct tree_entry *e, struct bytes *out)
{
	uint64_t end = 0;

	put_varint(out, e->id);
	put_varint(out, e->parent);
	put_text(out, &e->name);
	put_u8(out, e->again ? ENTRY_AGAIN : 0);
	if (e->again)
		return;
	const uint64_t numbers[] = {
		e->mode, e->uid, e->gid, e->size, e->rdev, e->mtime_ns, e->content};
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		put_varint(out, numbers[i]);
	put_text(out, &e->target);
	put_varint(out, e->extent_count);
	for (size_t i = 0; i < e->extent_count; i++) {
		put_varint(out, e->extents[i].offset - end);
		put_varint(out, e->extents[i].size);
		end = e->extents[i].offset + e->extents[i].size;
	}
	put_varint(out, e->xattr_count);
	for (size_t i = 0; i < e->xattr_count; i++) {
		put_text(out, &e->xattrs[i].name);
		put_text(out, &e->xattrs[i].value);
	}
}

/* Extents lie in order, apart, and within the file. */
static bool extents_decode(struct cursor *c, struct tree_entry *e, struct tree_room *room)
{
	uint64_t count = get_varint(c), end = 0;

	if (count > TREE_EXTENTS_MAX || count > cursor_left(c))
		return false;
	room->extents = xrealloc(room->extents, count, sizeof(*room->extents));
	for (uint64_t i = 0; i < count; i++) {
		uint64_t gap = get_varint(c), size = get_varint(c);
		if (c->bad || gap > e->size - end || size > e->size - end - gap)
			return false;
		room->extents[i] = (struct tree_extent){end + gap, size};
		end += gap + size;
	}
	e->extents = room->extents;
	e->extent_count = count;
	return true;
}

static bool xattrs_decode(struct cursor *c, struct tree_entry *e, struct tree_room *room)
{
	uint64_t count = get_varint(c);

	if (count > TREE_XATTRS_MAX || count > cursor_left(c))
		return false;
	room->xattrs = xrealloc(room->xattrs, count, sizeof(*room->xattrs));
	for (uint64_t i = 0; i < count; i++) {
		get_text(c, &room->xattrs[i].name);
		get_text(c, &room->xattrs[i].value);
	}
	e->xattrs = room->xattrs;
	e->xattr_count = count;
	return true;
}

bool tree_decode(struct cursor *c, struct tree_entry *e, struct tree_room *room)
{
	memset(e, 0, sizeof(*e));
	e->id = get_varint(c);
	e->parent = get_varint(c);
	get_text(c, &e->name);
	e->again = get_u8(c) & ENTRY_AGAIN;
	if (e->again || c->bad)
		return !c->bad;
	uint64_t *const numbers[] = {
		&e->mode, &e->uid, &e->gid, &e->size, &e->rdev, &e->mtime_ns, &e->content};
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		*numbers[i] = get_varint(c);
	get_text(c, &e->target);
	return !c->bad && e->size <= INT64_MAX && extents_decode(c, e, room) &&
	       xattrs_decode(c, e, room) && !c->bad;
}

void tree_room_free(struct tree_room *room)
{
	free(room->extents);
	free(room->xattrs);
	*room = (struct tree_room){0};
}

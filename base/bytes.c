/* SPDX-License-Identifier: MIT */
#include "bytes.h"

#include <endian.h>
#include <string.h>

#include "vec.h"

const uint8_t *get_bytes(struct cursor *c, size_t size)
{
	const uint8_t *at = c->pos;

	if (c->bad || size > cursor_left(c)) {
		c->bad = true;
		c->pos = c->end;
		return NULL;
	}
	c->pos += size;
	return at;
}

uint8_t get_u8(struct cursor *c)
{
	const uint8_t *p = get_bytes(c, 1);

	return p ? *p : 0;
}

uint16_t get_u16(struct cursor *c)
{
	const uint8_t *p = get_bytes(c, 2);
	uint16_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return le16toh(v);
}

uint32_t get_u32(struct cursor *c)
{
	const uint8_t *p = get_bytes(c, 4);
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

uint64_t get_u64(struct cursor *c)
{
	const uint8_t *p = get_bytes(c, 8);
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

uint64_t get_varint_slow(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (c->pos == c->end)
			break;
		uint8_t byte = *c->pos++;
		if (shift == 63 && byte > 1)
			break;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return v;
	}
	c->bad = true;
	c->pos = c->end;
	return 0;
}

void bytes_reserve(struct bytes *b, size_t more)
{
	if (b->capacity - b->size >= more)
		return;
	size_t capacity = b->capacity ? b->capacity : 256;
	while (capacity - b->size < more)
		capacity *= 2;
	b->data = xrealloc(b->data, capacity, 1);
	b->capacity = capacity;
}

void bytes_free(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){0};
}

void put_bytes(struct bytes *b, const void *data, size_t size)
{
	if (!size)
		return;
	bytes_reserve(b, size);
	memcpy(b->data + b->size, data, size);
	b->size += size;
}

void put_u8(struct bytes *b, uint8_t v)
{
	put_bytes(b, &v, sizeof(v));
}

void put_u16(struct bytes *b, uint16_t v)
{
	v = htole16(v);
	put_bytes(b, &v, sizeof(v));
}

void put_u32(struct bytes *b, uint32_t v)
{
	v = htole32(v);
	put_bytes(b, &v, sizeof(v));
}

void put_u64(struct bytes *b, uint64_t v)
{
	v = htole64(v);
	put_bytes(b, &v, sizeof(v));
}

void put_varint(struct bytes *b, uint64_t v)
{
	bytes_reserve(b, 10);
	while (v >= 0x80) {
		b->data[b->size++] = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	b->data[b->size++] = (uint8_t)v;
}

/* SPDX-License-Identifier: MIT */
/*
 * Bounded reading of untrusted bytes and growing output of bytes.
 *
 * A cursor never reads past its end: a get that does not fit yields 0 and sets `bad`, which stays
 * set, so a decoder checks once at its end. All integers are little-endian; varints are LEB128.
 */
#ifndef BYTES_H
#define BYTES_H

#include "base.h"

struct cursor {
	const uint8_t *pos;
	const uint8_t *end;
	bool bad;
};

static inline struct cursor cursor_of(const void *data, size_t size)
{
	return (struct cursor){data, (const uint8_t *)data + size, false};
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->pos);
}

uint8_t get_u8(struct cursor *c);
uint16_t get_u16(struct cursor *c);
uint32_t get_u32(struct cursor *c);
uint64_t get_u64(struct cursor *c);
/* Multi-byte part of get_varint(). */
uint64_t get_varint_slow(struct cursor *c);
/* `size` bytes in place, or NULL (and bad) when fewer are left. */
const uint8_t *get_bytes(struct cursor *c, size_t size);

static inline uint64_t get_varint(struct cursor *c)
{
	if (c->pos < c->end && *c->pos < 0x80)
		return *c->pos++;
	return get_varint_slow(c);
}

static inline int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static inline uint64_t zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

/* A growing buffer; out of memory aborts, as everywhere (see vec.h). */
struct bytes {
	uint8_t *data;
	size_t size;
	size_t capacity;
};

void bytes_reserve(struct bytes *b, size_t more);
void bytes_free(struct bytes *b);
void put_u8(struct bytes *b, uint8_t v);
void put_u16(struct bytes *b, uint16_t v);
void put_u32(struct bytes *b, uint32_t v);
void put_u64(struct bytes *b, uint64_t v);
void put_varint(struct bytes *b, uint64_t v);
void put_bytes(struct bytes *b, const void *data, size_t size);

#endif

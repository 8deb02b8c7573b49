/* SPDX-License-Identifier: MIT */
#include "bytes.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "rng.h"

TEST(fixed_width_is_little_endian)
{
	static const uint8_t expected[] = {1, 3, 2, 7, 6, 5, 4, 8, 7, 6, 5, 4, 3, 2, 1};
	struct bytes b = {0};

	put_u8(&b, 1);
	put_u16(&b, 0x0203);
	put_u32(&b, 0x04050607);
	put_u64(&b, UINT64_C(0x0102030405060708));
	CHECK_EQ(b.size, sizeof(expected));
	CHECK_BYTES(b.data, expected, sizeof(expected));

	struct cursor c = cursor_of(b.data, b.size);
	CHECK_EQ(get_u8(&c), 1);
	CHECK_EQ(get_u16(&c), 0x0203);
	CHECK_EQ(get_u32(&c), 0x04050607);
	CHECK_EQ(get_u64(&c), UINT64_C(0x0102030405060708));
	CHECK(!c.bad && !cursor_left(&c));
	bytes_free(&b);
	CHECK(!b.data && !b.size && !b.capacity);
}

TEST(varints_of_every_length_come_back)
{
	for (unsigned bit = 0; bit <= 64; bit++) {
		uint64_t edge = bit == 64 ? UINT64_MAX : UINT64_C(1) << bit;
		for (uint64_t v = edge - 1; v != edge + 2; v++) {
			struct bytes b = {0};
			put_varint(&b, v);
			struct cursor c = cursor_of(b.data, b.size);
			CHECK_EQ(get_varint(&c), v);
			CHECK(!c.bad && !cursor_left(&c));
			bytes_free(&b);
		}
	}
}

TEST(a_varint_cut_anywhere_is_bad)
{
	struct bytes b = {0};

	put_varint(&b, UINT64_MAX);
	CHECK_EQ(b.size, 10);
	for (size_t cut = 0; cut < b.size; cut++) {
		/* An exact-size heap block, so that a read past the end is seen by ASan. */
		uint8_t *copy = malloc(cut ? cut : 1);
		memcpy(copy, b.data, cut);
		struct cursor c = cursor_of(copy, cut);
		CHECK_EQ(get_varint(&c), 0);
		CHECK(c.bad);
		free(copy);
	}
	bytes_free(&b);
}

TEST(a_varint_that_does_not_fit_is_bad)
{
	static const uint8_t eleven[] = {
		0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01};
	static const uint8_t bit_64[] = {
		0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02};
	struct cursor c = cursor_of(eleven, sizeof(eleven));

	get_varint(&c);
	CHECK(c.bad);
	c = cursor_of(bit_64, sizeof(bit_64));
	get_varint(&c);
	CHECK(c.bad);
}

TEST(bad_stays_bad_and_yields_zero)
{
	static const uint8_t data[] = {1, 2, 3};
	struct cursor c = cursor_of(data, sizeof(data));

	CHECK_EQ(get_u32(&c), 0);
	CHECK(c.bad);
	get_u8(&c);
	CHECK(c.bad);
	c = cursor_of(data, sizeof(data));
	CHECK(get_bytes(&c, 4) == NULL);
	CHECK(c.bad);
	c = cursor_of(data, sizeof(data));
	CHECK(get_bytes(&c, SIZE_MAX) == NULL);
	CHECK(c.bad);
	c = cursor_of(data, sizeof(data));
	CHECK(get_bytes(&c, 3) == data);
	CHECK(!c.bad && !cursor_left(&c));
}

TEST(zigzag_keeps_small_numbers_small)
{
	CHECK_EQ(zigzag(0), 0);
	CHECK_EQ(zigzag(-1), 1);
	CHECK_EQ(zigzag(1), 2);
	CHECK_EQ(unzigzag(zigzag(INT64_MIN)), INT64_MIN);
	CHECK_EQ(unzigzag(zigzag(INT64_MAX)), INT64_MAX);
}

TEST(random_sequences_come_back)
{
	struct rng rng;
	struct bytes b = {0};

	rng_init(&rng, 7);
	for (int i = 0; i < 10000; i++) {
		uint64_t v = rng_next(&rng);
		put_varint(&b, v >> rng_below(&rng, 64));
	}
	rng_init(&rng, 7);
	struct cursor c = cursor_of(b.data, b.size);
	bool same = true;
	for (int i = 0; i < 10000; i++) {
		uint64_t expected = rng_next(&rng);
		expected >>= rng_below(&rng, 64);
		same = same && get_varint(&c) == expected;
	}
	CHECK(same);
	CHECK(!c.bad && !cursor_left(&c));
	bytes_free(&b);
}

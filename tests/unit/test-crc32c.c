/* SPDX-License-Identifier: MIT */
#include "check.h"
#include "crc32c.h"
#include "rng.h"

TEST(known_values)
{
	const uint8_t zeros[32] = {0};

	CHECK_EQ(crc32c(0, "123456789", 9), 0xe3069283);
	CHECK_EQ(crc32c(0, zeros, 32), 0x8a9136aa);
	CHECK_EQ(crc32c(0, "", 0), 0);
}

TEST(instruction_and_table_agree_in_any_pieces)
{
	uint8_t data[1000];
	struct rng rng;

	rng_init(&rng, 3);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)rng_next(&rng);
	for (size_t size = 0; size < 100; size++)
		CHECK_EQ(crc32c(0, data + size, size), crc32c_table(0, data + size, size));
	uint32_t whole = crc32c(0, data, sizeof(data));
	for (size_t cut = 0; cut <= sizeof(data); cut += 37)
		CHECK_EQ(crc32c(crc32c(0, data, cut), data + cut, sizeof(data) - cut), whole);
}
